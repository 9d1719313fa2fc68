// What is shown: filters, axes, box. Everything that the user changes ends in `changed`.

// A key with more words is no list to tick any more.
const WORDS_MAX = 100;
// Of a sweep what was varied.
const FIRST_FILTERS = embedded.sweep?.axes.filter((path) => columns.get(path).words.length > 1)
  ?? ["scheme", "workload.name", "device"];

const plane = element("points");

// Brings everything that depends on what is left up to date, but for the plane.
function update() {
  const left = filtered();
  const chosen = left.filter(inBox);
  const count = (runs) => runs.toLocaleString("en-US");
  element("shown").textContent = `${count(left.length)} of ${count(total)} runs`
    + (boxed() ? `, ${count(chosen.length)} of them in the box` : "");
  countWords();
  showBox();
  drawRuns(chosen);
  drawPins();
  remember();
}

// Plotly tells of the box that it is given as if it had been drawn just now.
let drawing = false;

function changed() {
  update();
  drawing = true;
  // What hangs on the filters beside the plane.
  if (embedded.sweep) redrawSweep();
  drawFigure(plane).then(() => {
    drawing = false;
    listen();
  });
}

// Hears of boxes and clicks; plotly forgets who listens when there is nothing to draw.
function listen() {
  const plot = plane.querySelector(".plot");
  if (plot.hidden || !plot.removeAllListeners) return;
  for (const event of ["plotly_selected", "plotly_deselect", "plotly_click"]) {
    plot.removeAllListeners(event);
  }
  plot.on("plotly_selected", (event) => {
    if (drawing || !event?.range) return;
    const ends = (axis) => [...event.range[axis]].sort((one, two) => one - two)
      .map((end) => end * axisUnits[axis][0]);
    [state.box.x0, state.box.x1] = ends("x");
    [state.box.y0, state.box.y1] = ends("y");
    changed();
  });
  plot.on("plotly_deselect", () => {
    if (!drawing && boxed()) clearBox();
  });
  plot.on("plotly_click", (event) => {
    const point = event.points.find((one) => one.data.runs);
    if (point) togglePin(point.data.runs[point.pointIndex]);
  });
}

// One change a frame, however fast somebody types.
let waiting = null;
function soon() {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(changed);
}

function clearBox() {
  for (const field of element("box").querySelectorAll("input")) field.value = "";
  state.box = { x0: null, x1: null, y0: null, y1: null };
  changed();
}

// The fields of the box, in the units of the axes.
function showBox() {
  element("box").hidden = !state.x || !state.y;
  const labels = element("box").querySelectorAll("label span");
  for (const [place, axis] of ["x", "y"].entries()) {
    const column = columns.get(state[axis]);
    if (!column) continue;
    const [factor, unit] = axisUnit(column);
    labels[place].textContent = `${fullName(column)}${unit && ` (${unit})`}`;
    for (const end of [`${axis}0`, `${axis}1`]) {
      const field = element("box").querySelector(`[data-end=${end}]`);
      if (document.activeElement === field) continue;
      const value = state.box[end];
      field.value = value === null ? "" : Number((value / factor).toPrecision(6));
    }
  }
  element("clear-box").disabled = !boxed();
}

for (const field of element("box").querySelectorAll("input")) {
  field.addEventListener("input", () => {
    const { end } = field.dataset;
    const [factor] = axisUnit(columns.get(state[end[0]]));
    state.box[end] = field.value === "" ? null : Number(field.value) * factor;
    soon();
  });
}
element("clear-box").addEventListener("click", clearBox);
element("plane").addEventListener("keydown", (event) => {
  if (event.key === "Escape" && boxed()) clearBox();
});

for (const axis of ["x", "y"]) {
  element(axis).addEventListener("change", () => {
    state[axis] = element(axis).value;
    state.box[`${axis}0`] = state.box[`${axis}1`] = null;
    state.log[axis] = element(`${axis}-log`).checked = spreads(columns.get(state[axis]));
    changed();
  });
  element(`${axis}-log`).addEventListener("change", () => {
    state.log[axis] = element(`${axis}-log`).checked;
    changed();
  });
}
element("colour").addEventListener("change", () => {
  state.colour = element("colour").value;
  changed();
});
element("search").addEventListener("input", () => {
  state.search = element("search").value;
  soon();
});
element("add-filter").addEventListener("change", () => {
  const path = element("add-filter").value;
  element("add-filter").value = "";
  if (path === "" || state.filters.has(path)) return;
  addFilter(path);
  changed();
  element("facets").lastElementChild.querySelector("input")?.focus();
});
element("clear").addEventListener("click", () => {
  state.search = element("search").value = "";
  for (const path of [...state.filters.keys()]) removeFilter(path);
  FIRST_FILTERS.filter((path) => columns.has(path)).forEach(addFilter);
  clearBox();
});

function removeFilter(path) {
  state.filters.delete(path);
  element("facets").querySelector(`[data-path="${CSS.escape(path)}"]`)?.remove();
}

function addFilter(path) {
  const column = columns.get(path);
  const remove = make("button", { type: "button", textContent: "×" });
  remove.setAttribute("aria-label", `Remove the filter by ${fullName(column)}`);
  remove.addEventListener("click", () => {
    removeFilter(path);
    changed();
    element("add-filter").focus();
  });
  const facet = make("fieldset", {}, make("legend", {}, `${fullName(column)} `, remove));
  facet.dataset.path = path;
  if (column.kind === "key" && column.words.length <= WORDS_MAX) wordFilter(facet, column);
  else if (isNumeric(column)) rangeFilter(facet, column);
  else textFilter(facet, column);
  element("facets").append(facet);
}

function wordFilter(facet, column) {
  const filter = { kind: "words", off: new Set() };
  state.filters.set(column.path, filter);
  const boxes = column.words.map((word, code) => {
    const box = make("input", { type: "checkbox", checked: true, value: word });
    box.addEventListener("change", () => {
      if (box.checked) filter.off.delete(code);
      else filter.off.add(code);
      changed();
    });
    return box;
  });
  const all = (on) => {
    const button = make("button", { type: "button", textContent: on ? "all" : "none" });
    button.addEventListener("click", () => {
      filter.off = new Set(on ? [] : boxes.keys());
      for (const box of boxes) box.checked = on;
      changed();
    });
    return button;
  };
  const list = boxes.map((box, code) =>
    make("label", { title: column.words[code] }, box,
      make("span", { textContent: column.words[code] || "none" }), make("small")));
  facet.append(all(true), " ", all(false), make("div", { className: "words" }, ...list));
}

// Behind every word, how many runs have it that the other filters leave.
function countWords() {
  for (const [path, filter] of state.filters) {
    if (filter.kind !== "words") continue;
    const column = columns.get(path);
    const counts = column.words.map(() => 0);
    for (const run of filtered(path)) counts[column.codes[run]] += 1;
    const facet = element("facets").querySelector(`[data-path="${CSS.escape(path)}"]`);
    facet.querySelectorAll("small").forEach((small, code) => {
      small.textContent = counts[code].toLocaleString("en-US");
    });
  }
}

function rangeFilter(facet, column) {
  const filter = { kind: "range", from: null, to: null };
  state.filters.set(column.path, filter);
  const values = everyRun.map((run) => numberOf(column, run)).filter((value) => value !== null);
  const [factor, unit] = unitOf(column, values);
  const [least, most] = [Math.min, Math.max].map((of) => values.reduce((a, b) => of(a, b)));
  const field = (end, hint) => {
    const input = make("input", { type: "number", step: "any" });
    input.placeholder = String(Number((hint / factor).toPrecision(4)));
    input.addEventListener("input", () => {
      filter[end] = input.value === "" ? null : Number(input.value) * factor;
      soon();
    });
    return make("label", {}, `${end} `, input);
  };
  facet.append(field("from", least), " ", field("to", most), make("small", {}, ` ${unit}`));
}

function textFilter(facet, column) {
  const filter = { kind: "text", text: "" };
  state.filters.set(column.path, filter);
  const input = make("input", { type: "search" });
  input.addEventListener("input", () => {
    filter.text = input.value;
    soon();
  });
  facet.append(make("label", {}, "contains ", input));
}
