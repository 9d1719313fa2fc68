// The table of the runs that are left, and its CSV.

const ROWS_STEP = 100;
const FIRST_COLUMNS = [
  ...(embedded.sweep?.axes ?? ["scheme", "workload.name", "device", "precondition.mode"]), "latency_ns.all.system.mean",
  "latency_ns.all.system.percentile.99.000000", "waf", "flash.total_erases",
];

// What is shown of a run: the chosen columns, and what filters, axes and colours are about.
function shownColumns() {
  const used = [...state.filters.keys(), state.x, state.y, state.colour];
  const paths = new Set([...state.table, ...used.filter((path) => columns.has(path))]);
  return embedded.columns.filter((column) => paths.has(column.path));
}

function sorted(runs) {
  const column = columns.get(state.sort?.path);
  if (!column) return runs;
  const sign = state.sort.down ? -1 : 1;
  // Words are in order already; what has no value comes last either way.
  const value = (run) => (column.kind === "metric" ? column.values[run] : column.codes[run]);
  return [...runs].sort((one, two) => {
    const [a, b] = [value(one), value(two)];
    if (a === null || b === null) return (a === null) - (b === null) || one - two;
    return sign * (a - b) || one - two;
  });
}

let listed = [];

function drawRuns(runs) {
  listed = sorted(runs);
  const shown = shownColumns();
  const head = make("tr", {}, make("th", { scope: "col", textContent: "Run" }),
    ...shown.map(headCell), make("th", { scope: "col", textContent: "Command" }));
  const table = element("rows");
  const focus = table.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(...listed.slice(0, state.rows).map((run) => row(run, shown)));
  // What was pressed stays where the keyboard is.
  if (focus) table.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus();
  element("none").hidden = listed.length > 0;
  const more = listed.length - state.rows;
  element("more").hidden = more <= 0;
  element("more").textContent =
    `Show ${Math.min(more, ROWS_STEP)} more of ${more.toLocaleString("en-US")}`;
  const left = embedded.columns.filter((column) => !shown.includes(column));
  offer(element("add-column"), left, "choose …");
}

function headCell(column) {
  const isSorted = state.sort?.path === column.path;
  const arrow = isSorted ? (state.sort.down ? " ↓" : " ↑") : "";
  const sort = make("button", {
    type: "button", className: "sort", textContent: `${column.label}${arrow}`,
    title: `Sort by ${fullName(column)}: ${column.path}`,
  });
  sort.dataset.key = `sort ${column.path}`;
  sort.addEventListener("click", () => {
    state.sort = { path: column.path, down: isSorted && !state.sort.down };
    update();
  });
  const cell = make("th", { scope: "col", className: column.kind === "key" ? "word" : "" });
  cell.setAttribute("aria-sort", !isSorted ? "none" : state.sort.down ? "descending" : "ascending");
  cell.dataset.path = column.path;
  if (column.kind === "metric") cell.append(make("small", {}, column.section));
  cell.append(sort);
  if (state.table.includes(column.path)) {
    const remove = make("button", { type: "button", textContent: "×" });
    remove.setAttribute("aria-label", `Remove the column ${fullName(column)}`);
    remove.addEventListener("click", () => {
      state.table = state.table.filter((path) => path !== column.path);
      update();
    });
    cell.append(" ", remove);
  }
  return cell;
}

function row(run, shown) {
  const pin = make("button", { type: "button", textContent: "Pin" });
  pin.setAttribute("aria-pressed", String(state.pins.includes(run)));
  pin.setAttribute("aria-label", `Pin ${nameOf(run)}`);
  pin.dataset.key = `pin ${run}`;
  pin.addEventListener("click", () => togglePin(run));
  const cells = shown.map((column) => {
    const word = wordOf(column, run);
    const cell = make("td", { textContent: word, className: column.kind === "key" ? "word" : "" });
    if (column.kind === "key") cell.title = word;
    else Object.assign(cell.dataset, { metric: column.path, run });
    return cell;
  });
  const made = make("tr", { className: state.pins.includes(run) ? "pinned" : "" },
    make("th", { scope: "row" }, pin, ` ${numberName(run)}`), ...cells,
    make("td", {}, copyButton(run)));
  made.dataset.run = run;
  return made;
}

element("more").addEventListener("click", () => {
  state.rows += ROWS_STEP;
  update();
});
element("add-column").addEventListener("change", () => {
  const path = element("add-column").value;
  if (path === "") return;
  state.table.push(path);
  update();
});
element("csv").addEventListener("click", () => {
  const shown = shownColumns();
  download("ftlab-runs.csv", [
    ["run", ...shown.map((column) => column.path), "made.command"],
    ...listed.map((run) =>
      [run + 1, ...shown.map((column) => rawOf(column, run)), commandOf(run)]),
  ]);
});
