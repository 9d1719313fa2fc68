// Pinned runs side by side, whatever the filters say; and the beginning of it all.

// So many columns are read side by side.
const PINS_MAX = 12;

function togglePin(run) {
  const pinned = state.pins.includes(run);
  if (!pinned && state.pins.length === PINS_MAX) {
    say(`${PINS_MAX} runs are pinned already; let one go first.`);
    return;
  }
  state.pins = pinned ? state.pins.filter((one) => one !== run) : [...state.pins, run];
  say(`${nameOf(run)} ${pinned ? "is let go" : "is pinned"}.`);
  changed();
}

// The change from the first pinned run, as the command `diff` tells it.
function change(from, to) {
  if (from === null || to === null || from === to || from === 0) return "";
  const share = (to - from) / from;
  return `${share > 0 ? "+" : ""}${quantityText("fraction", share)}`;
}

function pinRow(column) {
  const values = state.pins.map((run) =>
    (column.kind === "metric" ? column.values[run] : column.codes[run]));
  const differs = values.some((value) => value !== values[0]);
  if (element("pins-differ").checked && !differs) return [];
  if (column.kind === "metric" && values.every((value) => value === null || value === 0)) return [];
  // Of several runs the keys in which they differ; the rest is in their commands.
  if (column.kind === "key" && (state.pins.length > 1 ? !differs
    : wordOf(column, state.pins[0]) === "")) return [];
  const present = values.filter((value) => value !== null);
  const wanted = { lower: Math.min, higher: Math.max }[column.better];
  const best = differs && wanted ? wanted(...present) : undefined;
  const cells = state.pins.map((run, place) => {
    const cell = make("td", { textContent: wordOf(column, run) });
    if (column.kind === "key") cell.className = "word";
    else {
      Object.assign(cell.dataset, { metric: column.path, run });
      if (values[place] === best && best !== undefined) cell.className = "best";
    }
    return cell;
  });
  const changes = column.kind === "metric" && column.path !== "warnings"
    ? values.map((value) => change(values[0], value)) : [];
  changes.forEach((text, place) => {
    if (place > 0) cells[place].append(make("small", {}, text || "="));
  });
  const made = make("tr", { title: column.path, className: differs ? "differs" : "" },
    make("th", { scope: "row", textContent: column.label }), ...cells);
  return [made];
}

function drawPins() {
  element("no-pins").hidden = state.pins.length > 0;
  element("pins").hidden = state.pins.length === 0;
  const table = element("side-by-side");
  const heads = state.pins.map((run) => {
    const away = make("button", { type: "button", textContent: "×" });
    away.setAttribute("aria-label", `Let ${nameOf(run)} go`);
    away.addEventListener("click", () => togglePin(run));
    return make("th", { scope: "col" }, `${nameOf(run)} `, away);
  });
  table.tHead.replaceChildren(
    make("tr", {}, make("th", { scope: "col", textContent: "Metric" }), ...heads));
  const rows = [];
  let section = "";
  for (const column of embedded.columns) {
    const made = pinRow(column);
    if (made.length > 0 && column.section !== section) {
      section = column.section;
      rows.push(make("tr", { className: "group" },
        make("th", { colSpan: state.pins.length + 1, scope: "rowgroup" },
          make("span", { textContent: section }))));
    }
    rows.push(...made);
  }
  table.tBodies[0].replaceChildren(...rows);
  element("told").replaceChildren(...state.pins.map((run) => {
    const command = commandOf(run);
    const file = columns.get("file");
    return make("div", { className: "told" },
      make("h3", { textContent: nameOf(run) }),
      ...warningsOf(run).map((text) => make("p", { className: "warning", textContent: text })),
      make("p", {}, file ? `From ${wordOf(file, run)}. ` : "",
        command ? "Made by:" : "The result tells no command."),
      ...(command ? [make("code", { textContent: command }), copyButton(run)] : []));
  }));
}

element("pins-differ").addEventListener("change", drawPins);
element("unpin").addEventListener("click", () => {
  state.pins = [];
  changed();
});

element("x-log").checked = state.log.x;
element("y-log").checked = state.log.y;
state.table = FIRST_COLUMNS.filter((path) => columns.has(path));
offer(element("x"), numeric, undefined, state.x);
offer(element("y"), numeric, undefined, state.y);
offer(element("colour"), embedded.columns, "all alike", state.colour);
offer(element("add-filter"), embedded.columns, "choose …");
FIRST_FILTERS.filter((path) => columns.has(path)).forEach(addFilter);
update();
firstDrawn.then(listen);
