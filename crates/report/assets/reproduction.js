// The pictures of the experiments, in the papers' own forms, printed values beside measured ones.

const figures = embedded.experiments.flatMap((experiment) => experiment.figures);
const valueText = (value) =>
  (value === null || value === undefined ? "none" : grouped(Number(Number(value).toPrecision(5))));
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const NO_VALUES = "No run of this picture has a value.";

function valueAxis(figure, values) {
  if (figure.log_y && values.some((value) => value > 0)) {
    return logAxis(figure.y, values, narrowScreen.matches ? 5 : 9, grouped);
  }
  return { title: { text: figure.y }, rangemode: "tozero" };
}

// Measured columns look as everywhere; printed ones are the same, pale.
const PALE = 0.4;
function columnLook(look, printed) {
  return {
    color: colourOf(look), line: { color: cssColour("paper"), width: 1 },
    opacity: printed ? PALE : 1,
    pattern: {
      shape: PATTERNS[look % PATTERNS.length], fgcolor: cssColour("paper"), fillmode: "overlay",
      size: 7, solidity: 0.25, bgcolor: colourOf(look),
    },
  };
}

// Many or long names stand upright, so that they do not cover each other.
const turned = (names) =>
  names.join("").length + 2 * names.length > (narrowScreen.matches ? 24 : 56) ? -90 : 0;

function barFigure(figure) {
  const { groups, series, values, published } = figure;
  const ticks = groups.map(String);
  const all = [...values.flat(), ...published.flat()].filter(isNumber);
  if (all.length === 0) return { empty: NO_VALUES };
  const traces = [], legend = [];
  const add = (name, look, printed, column) => {
    if (!column.some(isNumber)) return;
    traces.push({
      type: "bar", name, x: ticks, y: column, marker: columnLook(look, printed),
      customdata: column.map((value, group) => `${ticks[group]}: ${valueText(value)}`),
      hovertemplate: `<b>${name}</b><br>%{customdata}<extra></extra>`, legendKey: name,
    });
    legend.push({ name, bar: look, opacity: printed ? PALE : 1 });
  };
  series.forEach((name, look) => {
    add(name, look, false, values.map((row) => row[look]));
    add(`${name}, published`, look, true, published.map((row) => row[look]));
  });
  return {
    traces, legend,
    layout: {
      barmode: "group", bargap: 0.25, height: 340, yaxis: valueAxis(figure, all),
      xaxis: {
        type: "category", title: { text: figure.x }, ticks: "", showgrid: false, dtick: 1,
        tickangle: turned(ticks),
      },
    },
    rows: [["group", "series", "measured", "published"],
      ...ticks.flatMap((tick, group) => series.map((name, index) =>
        [tick, name, values[group][index], published[group][index]]))],
  };
}

function lineFigure(figure) {
  const { groups, series, values, published } = figure;
  const all = [...values.flat(), ...published.flat()].filter(isNumber);
  if (all.length === 0) return { empty: NO_VALUES };
  const numeric = groups.every(isNumber);
  const traces = [], legend = [];
  series.forEach((name, look) => {
    const column = values.map((row) => row[look]);
    if (column.some(isNumber)) {
      traces.push(lineTrace(look, groups, column,
        column.map((value, group) => `${groups[group]}: ${valueText(value)}`), "linear", name));
      legend.push({ name, line: lineLook(look) });
    }
    const printed = published.map((row) => row[look]);
    if (printed.some(isNumber)) {
      const title = `${name}, published`;
      traces.push({
        type: "scatter", mode: "markers", name: title, x: groups, y: printed,
        marker: { symbol: "star", size: 12, color: colourOf(look) },
        customdata: printed.map((value, group) => `${groups[group]}: ${valueText(value)}`),
        hovertemplate: `<b>${title}</b><br>%{customdata}<extra></extra>`, legendKey: title,
      });
      legend.push({ name: title, line: { ...lineLook(look), symbol: "star" } });
    }
  });
  const xaxis = numeric && figure.log_x
    ? logAxis(figure.x, groups, 9, grouped)
    : {
      title: { text: figure.x },
      ...(numeric ? {} : { type: "category", dtick: 1, tickangle: turned(groups.map(String)) }),
    };
  return {
    traces, legend, layout: { height: 340, xaxis, yaxis: valueAxis(figure, all) },
    rows: [["x", "series", "measured", "published"],
      ...groups.flatMap((x, group) => series.map((name, index) =>
        [x, name, values[group][index], published[group][index]]))],
  };
}

function stackedFigure(figure) {
  const { groups, series, parts, values } = figure;
  const columns = groups.flatMap((group, row) => series.flatMap((name, column) =>
    (values[row][column] ? [{
      group: String(group), name, parts: values[row][column],
      published: figure.published[row][column],
    }] : [])));
  if (columns.length === 0) return { empty: NO_VALUES };
  const x = [columns.map((column) => column.group), columns.map((column) => column.name)];
  const traces = parts.map((part, look) => ({
    type: "bar", name: part, x, y: columns.map((column) => column.parts[look]),
    marker: {
      color: colourOf(look), line: { color: cssColour("paper"), width: 1 },
      pattern: {
        shape: PATTERNS[look % PATTERNS.length], fgcolor: cssColour("paper"), fillmode: "overlay",
        size: 7, solidity: 0.25, bgcolor: colourOf(look),
      },
    },
    customdata: columns.map((column) =>
      `${column.group}, ${column.name}: ${valueText(column.parts[look])}`),
    hovertemplate: `<b>${part}</b><br>%{customdata}<extra></extra>`, legendKey: part,
  }));
  const legend = parts.map((name, look) => ({ name, bar: look }));
  // What the source prints of a column, as a star at its height.
  const printed = columns.map((column) => column.published);
  if (printed.some(isNumber)) {
    const name = "published, all parts";
    traces.push({
      type: "scatter", mode: "markers", name, x, y: printed,
      marker: { symbol: "star", size: 12, color: cssColour("ink") },
      customdata: columns.map((column) =>
        `${column.group}, ${column.name}: ${valueText(column.published)}`),
      hovertemplate: `<b>${name}</b><br>%{customdata}<extra></extra>`, legendKey: name,
    });
    legend.push({ name, line: { colour: cssColour("ink"), dash: 2, symbol: "star" } });
  }
  return {
    traces, legend,
    layout: {
      barmode: "stack", bargap: 0.25, height: 360,
      yaxis: { title: { text: figure.y }, rangemode: "tozero" },
      xaxis: { type: "multicategory", title: { text: figure.x }, ticks: "", showgrid: false },
    },
    rows: [["group", "series", ...parts, "published"],
      ...columns.map((column) =>
        [column.group, column.name, ...column.parts, column.published])],
  };
}

function curveFigure(figure) {
  const drawn = figure.series.flatMap((name, index) =>
    (Array.isArray(figure.values[0][index]) && figure.values[0][index].length > 0
      ? [{ name, index, points: figure.values[0][index] }] : []));
  if (drawn.length === 0) return { empty: NO_VALUES };
  const times = drawn.flatMap((curve) => curve.points.map((point) => point[0]));
  const traces = drawn.map(({ name, index, points }) => {
    const from = [[points[0][0], 0], ...points];
    return lineTrace(index, from.map((point) => point[0]), from.map((point) => point[1]),
      from.map((point) => `${(100 * point[1]).toFixed(2)} % within ${duration(point[0])}`), "hv",
      name);
  });
  return {
    traces, legend: drawn.map(({ name, index }) => ({ name, line: lineLook(index) })),
    layout: {
      height: 340, yaxis: { title: { text: figure.y }, range: [-0.02, 1.03] },
      xaxis: durationAxis(figure.x || "System response time (logarithmic)", times,
        narrowScreen.matches ? 4 : 7),
    },
    rows: [["series", "response_ns", "cumulative_fraction"],
      ...drawn.flatMap(({ name, points }) => points.map((point) => [name, ...point]))],
  };
}

const FORMS = { bars: barFigure, lines: lineFigure, stacked: stackedFigure, cdf: curveFigure };
for (const figure of figures.filter((one) => one.form in FORMS)) {
  charts.set(`fig-${figure.id}`, { build: () => FORMS[figure.form](figure) });
}
