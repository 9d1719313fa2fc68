// A metric over two axes, a map per value of a third: cells that are bars, as wide as they are far
// apart, with the number in each. Values stand side by side in their order, numbers too.

charts.set("map", {
  build(view, choices) {
    const [metric, across, up, series] = ["metric", "map-x", "map-y", "series"].map(chosen);
    if (varied.length < 2) return { empty: "Fewer than two axes have two values." };
    if (across === up) return { empty: "Both axes are the same: choose two." };
    const third = series === across || series === up ? null : series;
    const all = measuredRuns(metric);
    // No value, no place: an axis may not be for every scheme.
    const runs = all.filter((run) => [across, up].every((axis) => axis.words[axis.codes[run]] !== ""));
    if (runs.length === 0) return { empty: "No point that is left has this metric and both axes." };
    const codes = (axis) => [...new Set(runs.map((run) => axis.codes[run]))].sort((a, b) => a - b);
    const [columnsAcross, rowsUp] = [codes(across), codes(up)];
    const maps = cellsOf(runs, [third]);
    if (maps.length > PICTURES_MAX || Math.max(columnsAcross.length, rowsUp.length) > CELLS_MAX) {
      return { empty: `More than ${PICTURES_MAX} maps or ${CELLS_MAX} cells of a side cannot be told `
        + "apart: filter, or choose other axes." };
    }
    const cells = cellsOf(runs, [third, up, across])
      .map((cell) => ({ ...cell, ...spread(metric, cell.runs) }));
    const { coloured, scale, coloraxis } = colouring(metric, cells, choices.scale);
    const height = Math.max(200, 110 + 30 * rowsUp.length);
    const frame = grid(maps.length, height);
    const layout = {
      height: frame.height + (narrowScreen.matches ? 60 : 0), annotations: [], barmode: "overlay", bargap: 0, coloraxis,
      uniformtext: { minsize: 9, mode: "hide" },
    };
    const traces = [];
    for (const [index, map] of maps.entries()) {
      const place = frame.at(index);
      const [x, y] = [`x${place.suffix}`, `y${place.suffix}`];
      const side = (axis, of, most) => {
        const stride = Math.ceil(of.length / most);
        const ticks = [...of.keys()].filter((at) => at % stride === 0);
        return {
          type: "linear", range: [-0.5, of.length - 0.5], showgrid: false, tickmode: "array",
          tickvals: ticks, ticktext: ticks.map((at) => tickName(axis, of[at])),
          title: { text: axis.label },
        };
      };
      layout[`xaxis${place.suffix}`] = {
        ...side(across, columnsAcross, narrowScreen.matches ? 4 : Math.max(3, Math.floor(12 / frame.across))),
        domain: place.x, anchor: y, ...(place.last ? {} : { title: {} }),
      };
      layout[`yaxis${place.suffix}`] = {
        ...side(up, rowsUp, 12), domain: place.y, anchor: x, ...(place.first ? {} : { title: {} }),
      };
      if (third) {
        layout.annotations.push(heading(place, `${third.label} = ${wordName(third, map.codes[0])}`));
      }
      for (const [at, code] of rowsUp.entries()) {
        const own = cells.filter((cell) => cell.codes[0] === map.codes[0] && cell.codes[1] === code);
        if (own.length === 0) continue;
        traces.push({
          type: "bar", xaxis: x, yaxis: y, name: up.words[code], legendKey: "map", cells: own,
          x: own.map((cell) => columnsAcross.indexOf(cell.codes[2])), width: own.map(() => 1),
          base: own.map(() => at - 0.5), y: own.map(() => 1),
          marker: {
            color: own.map((cell) => coloured(cell.mean)), coloraxis: "coloraxis",
            line: { width: 1, color: cssColour("paper") },
          },
          text: own.map((cell) => quantityText(metric.quantity, cell.mean)), textposition: "inside",
          insidetextanchor: "middle", textangle: 0, cliponaxis: true,
          customdata: own.map((cell) => `${third ? `<b>${escaped(wordName(third, map.codes[0]))}</b><br>` : ""}`
            + `${escaped(across.label)}: ${escaped(wordName(across, cell.codes[2]))}<br>`
            + `${escaped(up.label)}: ${escaped(wordName(up, code))}<br>${escaped(fullName(metric))}: `
            + `${quantityText(metric.quantity, cell.mean)}${cell.points > 1
              ? ` (${quantityText(metric.quantity, cell.least)} to ${quantityText(metric.quantity, cell.most)})` : ""}`),
          hovertemplate: "%{customdata}<extra></extra>",
        });
      }
    }
    const missing = maps.length * columnsAcross.length * rowsUp.length - cells.length;
    const lost = all.length - runs.length;
    const note = [
      meansOver(cells, [across, up, third]),
      lost > 0 ? `${lost} of ${all.length} points have no value of one of both axes.` : "",
      missing > 0 ? `${missing} combinations have no result: their places are empty.` : "",
    ].filter(Boolean).join(" ");
    return {
      traces, layout, legend: [], scale, note: note || undefined,
      rows: [
        [...[third, up, across].filter(Boolean).map((axis) => axis.path), metric.path, "least", "most", "points"],
        ...cells.map((cell) => [
          ...[third, up, across].flatMap((axis, at) => (axis ? [axis.words[cell.codes[at]]] : [])),
          cell.mean, cell.least, cell.most, cell.points,
        ]),
      ],
    };
  },
});

// Colours that grow lighter with the number, for every eye (Cividis' course).
const SHADES = [[0, "#00224e"], [0.25, "#3a4a6b"], [0.5, "#7c7b78"], [0.75, "#bcae6c"], [1, "#fee838"]];

// What of a number is coloured, and the bar that tells colours.
function colouring(metric, cells, choice) {
  const means = cells.map((cell) => cell.mean);
  const [least, most] = [Math.min(...means), Math.max(...means)];
  const decides = least > 0 && most > NEAR * least;
  const scale = decides ? choice ?? (most > FAR * least ? "log" : "linear") : undefined;
  const coloured = scale === "log" ? Math.log10 : (value) => value;
  const ends = [coloured(least), coloured(most)];
  const ticks = least === most ? [ends[0]] : [0, 0.5, 1].map((part) => ends[0] + part * (ends[1] - ends[0]));
  const told = (tick) => quantityText(metric.quantity, scale === "log" ? 10 ** tick : tick);
  const flat = narrowScreen.matches;
  const coloraxis = {
    colorscale: SHADES, cmin: ends[0], cmax: least === most ? ends[0] + 1 : ends[1],
    colorbar: {
      tickmode: "array", tickvals: ticks, ticktext: ticks.map(told), thickness: 12, outlinewidth: 0,
      ...(flat ? { orientation: "h", y: -0.02, yanchor: "top", len: 0.8, ypad: 60 } : { len: 1 }),
    },
  };
  return { coloured, scale, coloraxis };
}
