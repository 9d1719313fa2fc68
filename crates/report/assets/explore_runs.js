// The runs that are explored: what is known of each, how it is written, and which are left.

const total = embedded.runs;
const everyRun = Array.from({ length: total }, (_, run) => run);
const columns = new Map(embedded.columns.map((column) => [column.path, column]));
const element = (id) => document.getElementById(id);

const RATE_STEPS = [[1, "B/s"], [1e3, "kB/s"], [1e6, "MB/s"], [1e9, "GB/s"]];
// How a quantity is scaled: a factor to the unit of its steps, and these.
const QUANTITY_STEPS = {
  nanoseconds: [1, TIME_STEPS], seconds: [1e9, TIME_STEPS], bytes: [1, BYTE_STEPS],
  bytes_per_second: [1, RATE_STEPS], microjoules: [1, ENERGY_STEPS],
};

// Four significant digits, thousands grouped, as in format.rs.
function significant(value) {
  if (value === 0) return "0";
  const decimals = (number) => (number === 0 ? 0
    : Math.min(Math.max(3 - Math.floor(Math.log10(Math.abs(number))), 0), 12));
  const rounded = Number(value.toFixed(decimals(value)));
  const [whole, fraction] = value.toFixed(decimals(rounded)).split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (fraction ? `.${fraction}` : "");
}

function quantityText(quantity, value) {
  if (value === null || value === undefined) return "n/a";
  if (quantity === "count") return significant(Math.round(value)).replace(/\..*/, "");
  if (quantity === "ratio") return significant(value);
  if (quantity === "fraction") return `${significant(value * 100)} %`;
  if (quantity === "per_second") return `${significant(value)} /s`;
  const [factor, steps] = QUANTITY_STEPS[quantity];
  const scaled = value * factor;
  // Rounded first, so that 999.96 µs becomes 1.000 ms.
  const [step, unit] = stepFor(steps, Number(Math.abs(scaled).toPrecision(4)));
  const text = significant(scaled / step);
  const whole = quantity === "bytes" && text.includes(".");
  return `${whole ? text.replace(/\.?0+$/, "") : text} ${unit}`;
}

// The unit in which an axis or a range of such values is told: what one of it is, and its name.
function unitOf(column, values) {
  if (column.quantity === "fraction") return [0.01, "%"];
  if (column.quantity === "per_second") return [1, "/s"];
  if (!(column.quantity in QUANTITY_STEPS)) return [1, ""];
  const [factor, steps] = QUANTITY_STEPS[column.quantity];
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value ?? 0)), 0);
  const [step, unit] = stepFor(steps, largest * factor);
  return [step / factor, unit];
}

const isNumeric = (column) => column.kind === "metric" || column.numbers !== undefined;
const numberOf = (column, run) => (column.kind === "metric" ? column.values[run]
  : column.numbers?.[column.codes[run]] ?? null);
const wordOf = (column, run) => (column.kind === "metric"
  ? quantityText(column.quantity, column.values[run]) : column.words[column.codes[run]]);
// As the results hold it.
const rawOf = (column, run) => (column.kind === "metric" ? column.values[run] ?? ""
  : column.words[column.codes[run]]);
const fullName = (column) => (column.kind === "metric"
  ? `${column.section}, ${column.label}` : column.label);

// What a run is called: its number on this page, and what it ran where that differs.
// Points of a sweep are called by its axes.
const named = (embedded.sweep?.axes ?? ["scheme", "workload.name"])
  .map((path) => columns.get(path)).filter(Boolean);
const numberName = (run) => `#${run + 1}`;
// Of a long specification the beginning is enough.
const NAME_MAX = 40;
const cut = (text) => (text.length > NAME_MAX ? `${text.slice(0, NAME_MAX)}…` : text);
const nameOf = (run) =>
  [`${numberName(run)}${named[0] ? ` ${wordOf(named[0], run)}` : ""}`,
    ...named.slice(1).filter((column) => !embedded.sweep || wordOf(column, run) !== "")
      .map((column) => `${embedded.sweep ? `${column.label} ` : ""}${cut(wordOf(column, run))}`)].join(", ");
const commandOf = (run) => embedded.commands.words[embedded.commands.codes[run]];
const warningsOf = (run) =>
  embedded.warnings.runs[run].map((place) => embedded.warnings.words[place]);

// What the user chose.
const state = {
  search: "", filters: new Map(), x: null, y: null, colour: "", log: { x: false, y: false },
  // Ends in the units of the results; null: no end.
  box: { x0: null, x1: null, y0: null, y1: null },
  table: [], sort: null, rows: 100, pins: [],
};

const boxed = () => Object.values(state.box).some((end) => end !== null);

// The words of a run in lower case, made once, for the search.
let searched = null;
function searchText(run) {
  const keys = () => embedded.columns.filter((column) => column.kind === "key");
  searched ??= everyRun.map((one) =>
    [numberName(one), ...keys().map((column) => wordOf(column, one))].join("\n").toLowerCase());
  return searched[run];
}

function passes(filter, column, run) {
  if (filter.kind === "words") return !filter.off.has(column.codes[run]);
  if (filter.kind === "text") {
    return wordOf(column, run).toLowerCase().includes(filter.text.trim().toLowerCase());
  }
  if (filter.from === null && filter.to === null) return true;
  const value = numberOf(column, run);
  return value !== null && value >= (filter.from ?? -Infinity) && value <= (filter.to ?? Infinity);
}

// The runs that the filters leave, all of them or all but one.
function filtered(except) {
  const wanted = state.search.trim().toLowerCase();
  const filters = [...state.filters].filter(([path]) => path !== except)
    .map(([path, filter]) => [filter, columns.get(path)]);
  return everyRun.filter((run) => (wanted === "" || searchText(run).includes(wanted))
    && filters.every(([filter, column]) => passes(filter, column, run)));
}

function inBox(run) {
  const { x0, x1, y0, y1 } = state.box;
  const within = (path, from, to) => {
    if (from === null && to === null) return true;
    const value = numberOf(columns.get(path), run);
    return value !== null && value >= (from ?? -Infinity) && value <= (to ?? Infinity);
  };
  return within(state.x, x0, x1) && within(state.y, y0, y1);
}

// Options by section; `first` stands before them, without a value.
function offer(select, offered, first, chosen) {
  select.replaceChildren();
  if (first !== undefined) select.append(new Option(first, ""));
  const groups = new Map();
  for (const column of offered) {
    groups.set(column.section, [...(groups.get(column.section) ?? []), column]);
  }
  for (const [section, members] of groups) {
    const group = document.createElement("optgroup");
    group.label = section;
    group.append(...members.map((column) => new Option(column.label, column.path)));
    select.append(group);
  }
  if (chosen !== undefined) select.value = chosen;
}

function make(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

// Says something to those who see the page and to those who hear it.
function say(text) {
  element("said").textContent = text;
}

async function copyCommand(run) {
  const command = commandOf(run);
  if (command === "") return say(`The result of ${nameOf(run)} tells no command.`);
  try {
    await navigator.clipboard.writeText(command);
  } catch {
    // Without the permission: by way of a field that is selected.
    const field = make("textarea", { value: command });
    document.body.append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    if (!copied) return say(`Copying is not allowed here; the command: ${command}`);
  }
  return say(`Copied: the command of ${nameOf(run)}.`);
}

function copyButton(run) {
  const button = make("button", { type: "button", textContent: "Copy command" });
  button.title = commandOf(run) || "The result tells no command.";
  button.disabled = commandOf(run) === "";
  button.dataset.copy = run;
  button.addEventListener("click", () => copyCommand(run).then(() => {
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy command"; }, 1500);
  }));
  return button;
}
