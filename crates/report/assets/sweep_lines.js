// A metric against an axis: a line per value of a second one, a picture per value of a third.

charts.set("lines", {
  build(view, choices) {
    const [metric, across, series, panels] = ["metric", "across", "series", "panels"].map(chosen);
    if (!across) return { empty: "No axis has two values." };
    const runs = measuredRuns(metric);
    const by = [panels, series].map((axis) => (axis === across ? null : axis));
    if (by[0] === by[1]) by[0] = null;
    const placed = axisPlaces(across, runs, element("across-log").checked, narrowScreen.matches ? 4 : 6);
    if (!runs.some(placed.has)) return { empty: "No point that is left has this metric and a place on this axis." };
    const pictures = cellsOf(runs, [by[0]]);
    const lines = cellsOf(runs, [by[1]]);
    if (pictures.length > PICTURES_MAX || lines.length > LINES_MAX) {
      return { empty: `More than ${LINES_MAX} lines or ${PICTURES_MAX} pictures cannot be told apart: `
        + "filter, or choose another axis." };
    }
    const cells = cellsOf(runs, [...by, across])
      .map((cell) => ({ ...cell, ...spread(metric, cell.runs), at: placed.has(cell.runs[0]) }));
    const values = cells.flatMap((cell) => [cell.least, cell.most]);
    const levels = metricAxis(metric, values, choices.scale, 7);
    const frame = grid(pictures.length, pictures.length > 1 ? 270 : narrowScreen.matches ? 320 : 400);
    const name = (code) => (by[1] ? wordName(by[1], code) : metric.label);
    const traces = [];
    const layout = { height: frame.height, annotations: [] };
    for (const [index, picture] of pictures.entries()) {
      const cell = frame.at(index);
      const [x, y] = [`x${cell.suffix}`, `y${cell.suffix}`];
      layout[`xaxis${cell.suffix}`] = { ...placed.layout, domain: cell.x, anchor: y,
        ...(cell.last ? {} : { title: {} }) };
      layout[`yaxis${cell.suffix}`] = { ...levels.axis, domain: cell.y, anchor: x,
        ...(cell.first ? {} : { title: {} }) };
      if (by[0]) {
        layout.annotations.push(heading(cell, `${by[0].label} = ${wordName(by[0], picture.codes[0])}`));
      }
      for (const line of lines) {
        const code = line.codes[0];
        const own = cells.filter((one) => one.codes[0] === picture.codes[0] && one.codes[1] === code);
        const look = by[1] ? code : 0;
        traces.push(...linesOf(own, { x, y, look, name: name(code), placed, levels, metric, across }));
      }
    }
    const without = cells.filter((cell) => !cell.at);
    const notes = [meansOver(cells, [across, ...by])];
    if (without.length > 0) {
      const names = [...new Set(without.map((cell) => name(cell.codes[1])))].join(", ");
      notes.push(`Without a number of ${across.label}: ${names}, drawn as a level.`);
    }
    return {
      traces, layout, scale: levels.scale, note: notes.filter(Boolean).join(" ") || undefined,
      legend: by[1] ? lines.map(({ codes: [code] }) => ({ name: name(code), line: lineLook(code) })) : [],
      rows: [
        [...[by[0], by[1], across].filter(Boolean).map((axis) => axis.path), metric.path, "least", "most", "points"],
        ...cells.map(({ codes, mean, least, most, points }) => [
          ...[by[0], by[1], across].flatMap((axis, at) => (axis ? [axis.words[codes[at]]] : [])),
          mean, least, most, points,
        ]),
      ],
    };
  },
});

// A line with its band, or a level where there is no place on the axis.
function linesOf(cells, { x, y, look, name, placed, levels, metric, across }) {
  const text = (value) => quantityText(metric.quantity, value);
  const hover = (cell) => `${escaped(across.label)}: ${escaped(wordName(across, cell.codes[2]))}<br>`
    + `${escaped(fullName(metric))}: ${text(cell.mean)}`
    + (cell.points > 1 ? `<br>${text(cell.least)} to ${text(cell.most)} of ${cell.points} points` : "");
  const traces = [];
  const drawn = cells.filter((cell) => cell.at);
  const at = drawn.map((cell) => placed.place(cell.codes[2]));
  if (drawn.some((cell) => cell.points > 1)) {
    traces.push({
      type: "scatter", mode: "lines", xaxis: x, yaxis: y, name, legendKey: name, hoverinfo: "skip",
      x: [...at, ...[...at].reverse()],
      y: [...drawn.map((cell) => levels.place(cell.most)),
        ...drawn.map((cell) => levels.place(cell.least)).reverse()],
      fill: "toself", fillcolor: `${lineLook(look).colour}38`, line: { width: 0 }, band: true,
    });
  }
  if (drawn.length > 0) {
    traces.push({
      ...lineTrace(look, at, drawn.map((cell) => levels.place(cell.mean)), drawn.map(hover), "linear",
        escaped(name), lineLook(look)),
      xaxis: x, yaxis: y, legendKey: name,
    });
  }
  for (const cell of cells.filter((one) => !one.at)) {
    const level = levels.place(cell.mean);
    const { colour } = lineLook(look);
    traces.push({
      type: "scatter", mode: "lines+markers", xaxis: x, yaxis: y, name, legendKey: name, level: true,
      x: placed.ends, y: [level, level], line: { color: colour, dash: "dot", width: 2 },
      marker: { symbol: `${lineLook(look).symbol}-open`, size: 8, color: colour },
      customdata: [hover(cell), hover(cell)],
      hovertemplate: `<b>${escaped(name)}</b><br>%{customdata}<extra></extra>`,
    });
  }
  return traces;
}
