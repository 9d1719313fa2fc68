// The axes of a sweep: which there are, what is chosen of them, and means over what is not.

const axes = embedded.sweep.axes.map((path) => columns.get(path));
const seedAxis = axes[embedded.sweep.seed] ?? null;
// Those that tell points apart.
const varied = axes.filter((axis) => axis.words.length > 1);
const metricsOffered = embedded.columns.filter((column) => column.kind === "metric");
// As many lines, pictures or cells of a side are read apart.
const LINES_MAX = 24;
const PICTURES_MAX = 12;
const CELLS_MAX = 40;

const chosen = (id) => columns.get(element(id).value) ?? null;
const wordName = (axis, code) => cut(axis.words[code]) || "none";
const isNumbered = (axis) => axis.numbers !== undefined;

// What is shown first: numbers across, schemes as lines, what is left as pictures.
const CONTROLS = ["metric", "across", "series", "panels", "map-x", "map-y", "front-x", "front-y"];
{
  const metric = (...wanted) => wanted.find((path) => columns.get(path)?.kind === "metric")
    ?? metricsOffered[0]?.path;
  const free = varied.filter((axis) => axis !== seedAxis);
  const across = free.find(isNumbered) ?? free.find((axis) => axis.path !== "axis.scheme")
    ?? varied[0];
  const series = free.find((axis) => axis.path === "axis.scheme" && axis !== across)
    ?? free.find((axis) => axis !== across);
  const panels = free.find((axis) =>
    axis !== across && axis !== series && axis.words.length <= PICTURES_MAX / 2);
  const up = panels ?? free.find((axis) => axis !== across) ?? varied.find((axis) => axis !== across);
  const mean = metric("latency_ns.all.system.mean");
  offer(element("metric"), metricsOffered, undefined, mean);
  offer(element("across"), varied, undefined, across?.path);
  offer(element("series"), varied, "nothing", series?.path ?? "");
  offer(element("panels"), varied, "nothing", panels?.path ?? "");
  offer(element("map-x"), varied, undefined, across?.path);
  offer(element("map-y"), varied, undefined, up?.path);
  offer(element("front-x"), metricsOffered, undefined, metric("ram_bytes.sram", "ram_bytes.total", "waf"));
  offer(element("front-y"), metricsOffered, undefined, mean);
}

// Numbers that multiply rather than add are read on a logarithmic axis.
const multiplies = (axis) => {
  const known = axis && isNumbered(axis) ? axis.numbers.filter((number) => number !== null) : [];
  return known.length > 2 && known.every((number) => number > 0) && known.at(-1) / known[0] >= 8;
};
element("across-log").checked = multiplies(chosen("across"));

// What is chosen stands in the address, so that a link shows the same.
function readAddress() {
  if (!location.hash.startsWith("#drawn&")) return;
  for (const [id, value] of new URLSearchParams(location.hash.slice("#drawn&".length))) {
    const control = element(id);
    if (id === "across-log") control.checked = value === "1";
    else if (CONTROLS.includes(id) && [...control.options].some((one) => one.value === value)) {
      control.value = value;
    }
  }
}

function writeAddress() {
  const all = CONTROLS.map((id) => [id, element(id).value]);
  all.push(["across-log", element("across-log").checked ? "1" : "0"]);
  history.replaceState(null, "", `#drawn&${new URLSearchParams(all)}`);
}

const redrawSweep = () => Promise.all(["lines", "map", "front"].map((id) => element(id))
  .filter((figure) => !figure.hidden).map(drawFigure));

readAddress();
for (const id of [...CONTROLS, "across-log"]) {
  element(id).addEventListener("change", () => {
    if (id === "across") element("across-log").checked = multiplies(chosen("across"));
    writeAddress();
    redrawSweep();
  });
}
window.addEventListener("hashchange", () => {
  readAddress();
  redrawSweep();
});

// Runs that have the same values of some axes: [{ codes, runs }], in the order of these.
function cellsOf(runs, by) {
  const cells = new Map();
  for (const run of runs) {
    const codes = by.map((axis) => axis?.codes[run] ?? 0);
    const key = codes.join();
    if (!cells.has(key)) cells.set(key, { codes, runs: [] });
    cells.get(key).runs.push(run);
  }
  const order = (one, two) => one.codes.map((code, at) => code - two.codes[at]).find((sign) => sign) ?? 0;
  return [...cells.values()].sort(order);
}

// Mean, least and most of a metric.
function spread(metric, runs) {
  const values = runs.map((run) => metric.values[run]);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const [least, most] = [Math.min, Math.max].map((of) => values.reduce((a, b) => of(a, b)));
  return { mean, least, most, points: values.length };
}

const measuredRuns = (metric) => filtered().filter((run) => metric.values[run] !== null);

// Over what a mean is made, in words; empty where each is of one point.
function meansOver(cells, shown) {
  const over = varied.filter((axis) => !shown.includes(axis)
    && cells.some(({ runs }) => runs.some((run) => axis.codes[run] !== axis.codes[runs[0]])));
  if (over.length === 0) return "";
  const counts = cells.map(({ runs }) => runs.length);
  const [few, many] = [Math.min(...counts), Math.max(...counts)];
  const points = few === many ? `${few} points each` : `${few} to ${many} points, not all of as many`;
  return `Means are over ${over.map((axis) => axis.label).join(", ")}: ${points}.`;
}

// How numbers of a metric stand on an axis: see freeAxis.
function metricAxis(metric, values, choice, most) {
  const [factor, unit] = unitOf(metric, values);
  const text = (value) => quantityText(metric.quantity, value).replace(/(\.\d*?)0+(?=\D|$)/, "$1")
    .replace(/\.(?=\D|$)/, "");
  return freeAxis(fullName(metric), values, { most, choice, text, factor, unit });
}

// Where the values of an axis stand: numbers as such, words side by side.
function axisPlaces(axis, runs, log, most) {
  const codes = [...new Set(runs.map((run) => axis.codes[run]))].sort((one, two) => one - two)
    .filter((code) => !isNumbered(axis) || axis.numbers[code] !== null);
  const numbered = isNumbered(axis);
  const logarithmic = numbered && log && codes.every((code) => axis.numbers[code] > 0);
  const place = (code) => (numbered ? axis.numbers[code] : codes.indexOf(code));
  const places = codes.map(place);
  const stride = Math.ceil(codes.length / most);
  const ticks = codes.filter((_, at) => at % stride === 0);
  const scale = logarithmic ? Math.log10 : (value) => value;
  const [low, high] = [scale(places[0]), scale(places.at(-1))];
  const air = (high - low || 1) * 0.06;
  return {
    place, has: (run) => codes.includes(axis.codes[run]), ends: [places[0], places.at(-1)],
    layout: {
      ...(logarithmic ? { type: "log" } : { type: "linear" }), range: [low - air, high + air],
      tickmode: "array", tickvals: ticks.map(place),
      ticktext: ticks.map((code) => tickName(axis, code)),
      title: { text: `${axis.label}${logarithmic ? " (logarithmic)" : ""}` },
    },
  };
}

const TICK_MAX = 14;
function tickName(axis, code) {
  const word = axis.words[code] || "none";
  return escaped(word.length > TICK_MAX ? `${word.slice(0, TICK_MAX)}…` : word);
}

// Side by side or below each other: the place of each picture in the plot.
function grid(number, height) {
  const across = narrowScreen.matches ? 1 : Math.min(number, number === 4 ? 2 : 3);
  const down = Math.ceil(number / across);
  const whole = down * height;
  const [gapX, gapY] = [across > 1 ? 0.07 : 0, 74 / whole];
  const [wide, high] = [(1 - gapX * (across - 1)) / across, (1 - gapY * (down - 1) - 24 / whole) / down];
  const at = (index) => {
    const [x, y] = [index % across, Math.floor(index / across)];
    const top = 1 - 24 / whole - y * (high + gapY);
    return {
      x: [x * (wide + gapX), x * (wide + gapX) + wide], y: [Math.max(0, top - high), top],
      first: x === 0, last: index + across >= number, suffix: index === 0 ? "" : String(index + 1),
    };
  };
  return { at, height: whole, across };
}

// What stands above a picture.
const heading = (cell, text) => ({
  text: escaped(text), xref: "paper", yref: "paper", x: (cell.x[0] + cell.x[1]) / 2, y: cell.y[1],
  xanchor: "center", yanchor: "bottom", showarrow: false, font: { size: 13, color: cssColour("ink") },
});
