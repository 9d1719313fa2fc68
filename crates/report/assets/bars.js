// Bars of runs: one per run, a segment per part, or only the sums.

// A sign before a run's name that has its colour and its marker.
const SIGNS = {
  circle: "●", square: "■", diamond: "◆", cross: "✚", x: "✖", "triangle-up": "▲",
  "triangle-down": "▼", star: "★",
};
const signed = (index) => {
  const { colour, symbol } = lineLook(index);
  return `<span style="color:${colour}">${SIGNS[symbol]}</span> ${labels[index]}`;
};

// A bar per shown run: its name, what stands before it, and its place among the values of a part.
const barsOfRuns = () => shown().map(
  (index) => ({ place: index, name: labels[index], text: signed(index) }));

// Horizontal bars, stacked by parts: [{ name, values, look, key }].
function barTraces(parts, describe, bars = barsOfRuns()) {
  return parts.map((part) => ({
    type: "bar", orientation: "h", name: part.name, y: bars.map((bar) => bar.name),
    x: bars.map((bar) => part.values[bar.place]), marker: fillOf(part.look),
    customdata: bars.map((bar) => describe(part, part.values[bar.place], bar.place)),
    hovertemplate: "%{customdata}<extra></extra>", legendKey: part.key ?? part.name,
  }));
}

function barLegend(parts) {
  const entries = new Map();
  for (const part of parts) entries.set(part.key ?? part.name, part.look);
  return [...entries].map(([name, look]) => ({ name, fill: look }));
}

function barLayout(axis, bars = barsOfRuns()) {
  const names = bars.map((bar) => bar.name);
  const row = names.length > 8 ? 30 : 44;
  return {
    barmode: "stack", bargap: 0.3, height: 112 + row * names.length, xaxis: axis,
    yaxis: {
      type: "category", categoryorder: "array", categoryarray: names,
      range: [names.length - 0.5, -0.5], tickmode: "array", tickvals: names,
      ticktext: bars.map((bar) => bar.text), ticks: "", showgrid: false,
    },
  };
}

// A mark per run at its sum, with the sum beside it: lengths say nothing on a logarithmic axis.
function sumsChart({ sums, steps, title, factor, unit, rows, choice }) {
  const drawn = shown();
  const axis = freeAxis(title, drawn.map((index) => sums[index]), {
    most: narrowScreen.matches ? 3 : 6, choice, factor, unit,
    text: (value) => withUnit(steps, value),
  });
  const layout = barLayout({ ...axis.axis, nticks: narrowScreen.matches ? 4 : 6 });
  const [low, high] = layout.xaxis.range;
  // The text beside a mark takes some 70 px.
  layout.xaxis.range = [low, high + (high - low) * (narrowScreen.matches ? 0.4 : 0.2)];
  return {
    traces: drawn.map((index) => ({
      type: "scatter", mode: "markers+text", name: labels[index], y: [labels[index]],
      x: [axis.place(sums[index])], cliponaxis: false,
      marker: { symbol: lineLook(index).symbol, size: 12, color: lineLook(index).colour },
      text: [`\u00a0${withUnit(steps, sums[index])}`], textposition: "middle right",
      hovertemplate: `<b>${labels[index]}</b><br>${withUnit(steps, sums[index])}<extra></extra>`,
    })),
    layout, legend: [], rows, scale: axis.scale,
  };
}

// A chart of horizontal bars: one per run, a segment per part that any run uses; the same as shares
// of each run; and the sums alone.
function stackedChart(options) {
  const { parts, unit, steps = COUNT_STEPS, title, empty, header, total = "total" } = options;
  const { shares = false, totals = false, choice } = options;
  const used = parts
    .map((part, index) => ({ look: index, ...part, raw: part.values ?? runs.map(part.value) }))
    .filter((part) => part.raw.some((value) => value > 0));
  if (used.length === 0) return { empty };
  const drawn = shown();
  if (drawn.length === 0) return { empty: ALL_HIDDEN };
  const sums = runs.map((_, run) => used.reduce((sum, part) => sum + part.raw[run], 0));
  const rows = [["scheme", ...used.map((part) => `${part.column ?? part.name} (${header})`), total],
    ...drawn.map((run) => [labels[run], ...used.map((part) => part.raw[run]), sums[run]])];
  const largest = Math.max(...drawn.map((run) => sums[run]));
  const [factor, name] = stepFor(steps, largest);
  if (totals) return sumsChart({ sums, steps, title, factor, unit: name || unit, rows, choice });
  const size = (run) => (shares ? (sums[run] || 1) / 100 : factor);
  for (const part of used) part.values = part.raw.map((value, run) => value / size(run));
  const describe = (part, _, run) => {
    const share = sums[run] > 0 ? (100 * part.raw[run]) / sums[run] : 0;
    return `<b>${labels[run]}</b><br>${part.name}: ${withUnit(steps, part.raw[run])}`
      + `<br>${share.toFixed(1)} % of ${withUnit(steps, sums[run])}`;
  };
  const axisTitle = `${title} (${name || unit})`;
  let axis = steps === COUNT_STEPS ? countAxis(axisTitle, largest)
    : { title: { text: axisTitle }, rangemode: "tozero" };
  if (shares) axis = { title: { text: `${title} (%)` } };
  const ends = sums.map((sum, run) => sum / size(run));
  const layout = barLayout({ ...axis, nticks: narrowScreen.matches ? 4 : 6 });
  // The sum stands at the end of its bar and takes some 70 px, whatever the axis says.
  const room = narrowScreen.matches ? 1.4 : 1.2;
  layout.xaxis.range = [0, (Math.max(...drawn.map((run) => ends[run])) || 1) * room];
  layout.annotations = drawn.map((run) => ({
    x: ends[run], y: labels[run], text: withUnit(steps, sums[run]), xanchor: "left", xshift: 4,
    showarrow: false, align: "left",
  }));
  return { traces: barTraces(used, describe), layout, legend: barLegend(used), rows };
}

// The chart with its views. Where the sums of runs lie so far
// apart that the short bars vanish, the sums are shown first.
function stackedViews(options) {
  const build = (view, choices) => stackedChart({
    ...options(), shares: view === "share", totals: view === "total", choice: choices.scale,
  });
  return {
    views: { sum: "By part", share: "Shares", total: "Sums" },
    // The data are the same under each view.
    oneFile: true,
    initial() {
      const { parts } = options();
      const values = runs.map((run, index) => parts.reduce(
        (sum, part) => sum + (part.values ? part.values[index] : part.value(run)), 0));
      const sums = values.filter((sum) => sum > 0);
      return Math.max(...sums) > FAR * Math.min(...sums) ? "total" : "sum";
    },
    build,
  };
}
