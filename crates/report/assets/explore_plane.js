// The plane: a point per run over two numbers of it, coloured by a third thing.

// More words than this are no legend any more: numbers are put into classes, of other words the
// rarest are taken together.
const GROUPS_MAX = 24;
const CLASSES = 6;
const OTHERS = "others";
// A ring around a pinned run, and how pale a run outside of the box is.
const RING = 15;
const OUTSIDE = 0.12;

const numeric = embedded.columns.filter((column) =>
  isNumeric(column) && new Set(everyRun.map((run) => numberOf(column, run))).size > 1);

// Whether a number differs between runs by so much that a linear axis shows a few of them only, and
// next to none is lost on a logarithmic one.
function spreads(column) {
  if (!column) return false;
  const values = everyRun.map((run) => numberOf(column, run)).filter((value) => value !== null);
  const positive = values.filter((value) => value > 0);
  if (positive.length < 0.95 * values.length) return false;
  const [least, most] = [Math.min, Math.max].map((of) => positive.reduce((a, b) => of(a, b)));
  return most / least > 50;
}

// What is drawn first.
{
  const usable = (path) => numeric.some((column) => column.path === path);
  const pick = (...wanted) => wanted.find(usable) ?? numeric[0]?.path ?? null;
  state.x = pick("waf", "flash.total_erases");
  state.y = pick("latency_ns.all.system.mean", "service_time_ns.total");
  for (const axis of ["x", "y"]) state.log[axis] = spreads(columns.get(state[axis]));
  state.colour = ["axis.scheme", "scheme", "workload.name"].find((path) => columns.has(path)) ?? "";
}

// Runs by colour: [{ name, look, runs }], in the order of the legend.
function groupsOf(runs) {
  const column = columns.get(state.colour);
  if (!column) return [{ name: "runs", look: 0, runs }];
  if (column.kind === "key" && column.words.length <= GROUPS_MAX) {
    return column.words.map((word, look) => ({
      name: cut(word) || "none", look, runs: runs.filter((run) => column.codes[run] === look),
    })).filter((group) => group.runs.length > 0);
  }
  return isNumeric(column) ? classesOf(column, runs) : commonest(column, runs);
}

// Numbers in classes of about as many runs each; equal numbers are in one class.
function classesOf(column, runs) {
  const known = runs.filter((run) => numberOf(column, run) !== null)
    .sort((one, two) => numberOf(column, one) - numberOf(column, two));
  const classes = [];
  for (const [place, run] of known.entries()) {
    const last = classes.at(-1);
    const full = last && place >= Math.ceil((classes.length * known.length) / CLASSES);
    const same = last && numberOf(column, last.at(-1)) === numberOf(column, run);
    if (!last || (full && !same)) classes.push([run]);
    else last.push(run);
  }
  const text = (run) => wordOf(column, run);
  const groups = classes.map((members, look) => {
    const [from, to] = [text(members[0]), text(members.at(-1))];
    return { name: from === to ? from : `${from} to ${to}`, look, runs: members };
  });
  const without = runs.filter((run) => numberOf(column, run) === null);
  if (without.length > 0) groups.push({ name: "none", look: classes.length, runs: without });
  return groups;
}

function commonest(column, runs) {
  const counts = new Map();
  for (const run of everyRun) {
    counts.set(column.codes[run], (counts.get(column.codes[run]) ?? 0) + 1);
  }
  // Of all runs, so that a filter changes no colour.
  const kept = [...counts].sort((one, two) => two[1] - one[1] || one[0] - two[0])
    .slice(0, GROUPS_MAX - 1).map(([code]) => code);
  const groups = kept.map((code, look) => ({
    name: cut(column.words[code]) || "none", look, runs: runs.filter((run) => column.codes[run] === code),
  }));
  const known = new Set(kept);
  const rest = runs.filter((run) => !known.has(column.codes[run]));
  groups.push({ name: OTHERS, look: kept.length, runs: rest });
  return groups.filter((group) => group.runs.length > 0);
}

// How an axis is told: factor and name of its unit, from all runs, so that a filter changes neither.
function axisUnit(column) {
  return unitOf(column, everyRun.map((run) => numberOf(column, run)));
}

function planeAxis(which, column, values, most) {
  const [factor, unit] = axisUnit(column);
  const log = state.log[which];
  const title = `${fullName(column)}${unit && !log ? ` (${unit})` : ""}${log ? " (logarithmic)" : ""}`;
  if (log) {
    const text = (value) => (unit === "" ? shortCount(value)
      : quantityText(column.quantity, value * factor).replace(/\.?0+(?= )/, ""));
    return logAxis(title, values, most, text);
  }
  return { title: { text: title }, nticks: most, ...(unit === "" ? { tickformat: ".3~s" } : {}) };
}

// A number of a run in the unit of its axis; null where a logarithmic axis has no place for it.
function placed(which, column, run) {
  const value = numberOf(column, run);
  if (value === null || (state.log[which] && value <= 0)) return null;
  return value / axisUnits[which][0];
}
// Of the axes that are drawn.
let axisUnits = {};

charts.set("points", {
  build() {
    const [x, y] = [columns.get(state.x), columns.get(state.y)];
    if (!x || !y) return { empty: "No number differs between these runs." };
    axisUnits = { x: axisUnit(x), y: axisUnit(y) };
    const left = filtered();
    const at = (run) => [placed("x", x, run), placed("y", y, run)];
    const drawn = left.filter((run) => at(run).every((value) => value !== null));
    if (left.length === 0) return { empty: "No run is left by the filters." };
    if (drawn.length === 0) {
      return { empty: "No run that is left has both numbers, or they are no place on such an axis." };
    }
    const groups = groupsOf(drawn);
    const size = drawn.length > 1000 ? 6 : 8;
    const traces = groups.map(({ name, look, runs }) => ({
      type: "scatter", mode: "markers", name, x: runs.map((run) => at(run)[0]),
      y: runs.map((run) => at(run)[1]), legendKey: name, runs,
      marker: {
        color: colourOf(look), symbol: SYMBOLS[look % SYMBOLS.length], size, opacity: 0.8,
        line: { color: cssColour("paper"), width: 0.5 },
      },
      ...(boxed() ? {
        selectedpoints: runs.flatMap((run, place) => (inBox(run) ? [place] : [])),
        selected: { marker: { opacity: 0.9 } }, unselected: { marker: { opacity: OUTSIDE } },
      } : {}),
      customdata: runs.map((run) => `${fullName(x)}: ${wordOf(x, run)}<br>${fullName(y)}: `
        + `${wordOf(y, run)}${columns.has(state.colour)
          ? `<br>${fullName(columns.get(state.colour))}: ${escaped(wordOf(columns.get(state.colour), run))}`
          : ""}`),
      text: runs.map((run) => nameOf(run).replaceAll("<", "&lt;")),
      hovertemplate: "<b>%{text}</b><br>%{customdata}<extra></extra>",
    }));
    traces.push(rings(state.pins.filter((run) => drawn.includes(run)), at));
    const [xs, ys] = [0, 1].map((axis) => drawn.map((run) => at(run)[axis]));
    const narrow = narrowScreen.matches;
    const missing = left.length - drawn.length;
    return {
      traces, buttons: ["toImage", "select2d", "zoom2d", "pan2d", "resetScale2d"],
      legend: groups.map(({ name, look }) =>
        ({ name, dot: { colour: colourOf(look), symbol: SYMBOLS[look % SYMBOLS.length] } })),
      note: missing > 0 ? `${missing} of ${left.length} runs lack one of the two numbers, or have `
        + "none that a logarithmic axis has a place for." : undefined,
      layout: {
        height: narrow ? 340 : 480, dragmode: "select", selections: boxShape(),
        xaxis: planeAxis("x", x, xs, narrow ? 4 : 9), yaxis: planeAxis("y", y, ys, narrow ? 6 : 9),
      },
      rows: [["run", state.x, state.y, ...(state.colour ? [state.colour] : [])],
        ...drawn.map((run) => [run + 1, rawOf(x, run), rawOf(y, run),
          ...(state.colour ? [rawOf(columns.get(state.colour), run)] : [])])],
    };
  },
});

// Plotly reads a few tags in the texts under the pointer.
const escaped = (text) => cut(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;");

function rings(pinned, at) {
  return {
    type: "scatter", mode: "markers+text", name: "pinned", hoverinfo: "skip", legendKey: "pinned",
    x: pinned.map((run) => at(run)[0]), y: pinned.map((run) => at(run)[1]),
    cliponaxis: false, text: pinned.map(numberName), textposition: "top center", textfont: { size: 11 },
    marker: { symbol: "circle-open", size: RING, color: cssColour("ink"), line: { width: 2 } },
    // Neither chosen nor paled by a box.
    unselected: { marker: { opacity: 1 } }, selected: { marker: { opacity: 1 } },
  };
}

// The box as it is drawn: an end that is open is that of the plane.
function boxShape() {
  const { x0, x1, y0, y1 } = state.box;
  if ([x0, x1, y0, y1].some((end) => end === null)) return [];
  const [fx, fy] = [axisUnits.x[0], axisUnits.y[0]];
  return [{
    type: "rect", xref: "x", yref: "y", x0: x0 / fx, x1: x1 / fx, y0: y0 / fy, y1: y1 / fy,
    line: { color: cssColour("link"), width: 1.5, dash: "dot" },
  }];
}
