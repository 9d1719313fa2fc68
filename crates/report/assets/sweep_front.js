// Two metrics of every combination of values, and those that no other beats in both.

// Less is better where a metric does not say.
const wantsMore = (metric) => metric.better === "higher";

// Those that nothing else beats: at least as good in both, better in one.
function frontOf(cells, x, y) {
  const [signX, signY] = [x, y].map((metric) => (wantsMore(metric) ? -1 : 1));
  const order = [...cells].sort((one, two) =>
    signX * (one.x.mean - two.x.mean) || signY * (one.y.mean - two.y.mean));
  const front = [];
  for (const cell of order) {
    const last = front.at(-1);
    if (!last || signY * cell.y.mean < signY * last.y.mean
      || (cell.y.mean === last.y.mean && cell.x.mean === last.x.mean)) front.push(cell);
  }
  return front;
}

// A text in lines that fit under the pointer.
function folded(text) {
  const room = narrowScreen.matches ? 40 : 76;
  const lines = [""];
  for (const word of text.split(" ")) {
    if (lines.at(-1).length + word.length > room && lines.at(-1) !== "") lines.push("");
    lines[lines.length - 1] += `${lines.at(-1) === "" ? "" : " "}${word}`;
  }
  return lines.map((line) => line.replaceAll("&", "&amp;").replaceAll("<", "&lt;")).join("<br>");
}

const combination = (run) => axes.filter((axis) => axis !== seedAxis && axis.words[axis.codes[run]] !== "")
  .map((axis) => `${axis.label}=${cut(axis.words[axis.codes[run]])}`).join(" ");

charts.set("front", {
  build(view, choices) {
    const [x, y, series] = ["front-x", "front-y", "series"].map(chosen);
    if (!x || !y) return { empty: "No run has a metric." };
    if (x === y) return { empty: "Both metrics are the same: choose two." };
    const left = filtered();
    const runs = left.filter((run) => x.values[run] !== null && y.values[run] !== null);
    if (runs.length === 0) return { empty: "No point that is left has both metrics." };
    const cells = cellsOf(runs, axes.filter((axis) => axis !== seedAxis))
      .map((cell) => ({ ...cell, x: spread(x, cell.runs), y: spread(y, cell.runs) }));
    const front = frontOf(cells, x, y);
    const narrow = narrowScreen.matches;
    const [acrossAxis, upAxis] = [["x", x], ["y", y]].map(([side, metric]) =>
      metricAxis(metric, cells.map((cell) => cell[side].mean), choices.scale, narrow ? 3 : 7));
    const at = (cell) => [acrossAxis.place(cell.x.mean), upAxis.place(cell.y.mean)];
    const hover = (cell) => {
      const own = (metric, { mean, least, most, points }) => `${escaped(fullName(metric))}: `
        + quantityText(metric.quantity, mean) + (points > 1 && least < most
        ? ` (${quantityText(metric.quantity, least)} to ${quantityText(metric.quantity, most)})` : "");
      const first = commandOf(cell.runs[0]);
      const command = cell.runs.length > 1 ? `The first of ${cell.runs.length} points:` : "Made by:";
      return `${own(x, cell.x)}<br>${own(y, cell.y)}${first && `<br>${command}<br>${folded(first)}`}`;
    };
    const groups = cellsOf(runs, [series]).map(({ codes: [code] }) => code);
    const nameOfGroup = (code) => (series ? wordName(series, code) : "points");
    const lookOf = (code) => (groups.length > LINES_MAX ? 0 : series ? code : 0);
    const traces = [{
      type: "scatter", mode: "lines", name: "front", legendKey: "front", hoverinfo: "skip", front: true,
      x: front.map((cell) => at(cell)[0]), y: front.map((cell) => at(cell)[1]),
      line: { color: cssColour("ink"), width: 1.5, dash: "dot", shape: wantsMore(x) ? "vh" : "hv" },
    }];
    for (const code of groups) {
      const own = cells.filter((cell) => !series || series.codes[cell.runs[0]] === code);
      const look = lookOf(code);
      traces.push({
        type: "scatter", mode: "markers", name: nameOfGroup(code), legendKey: nameOfGroup(code),
        x: own.map((cell) => at(cell)[0]), y: own.map((cell) => at(cell)[1]), cells: own,
        marker: {
          color: colourOf(look), symbol: SYMBOLS[look % SYMBOLS.length],
          size: own.map((cell) => (front.includes(cell) ? 12 : 7)),
          opacity: own.map((cell) => (front.includes(cell) ? 1 : 0.45)),
          line: { width: own.map((cell) => (front.includes(cell) ? 1.5 : 0)), color: cssColour("ink") },
        },
        text: own.map((cell) => escaped(combination(cell.runs[0]))), customdata: own.map(hover),
        hovertemplate: "<b>%{text}</b><br>%{customdata}<extra></extra>",
      });
    }
    const wanted = [x, y].map((metric) => `${wantsMore(metric) ? "more" : "less"} of ${fullName(metric)}`);
    const missing = left.length - runs.length;
    return {
      traces, scale: acrossAxis.scale ?? upAxis.scale,
      note: `Better is ${wanted.join(" and ")}; nothing beats ${front.length} of ${cells.length}`
        + `${missing > 0 ? `; ${missing} points lack one of both` : ""}.`,
      legend: groups.length > LINES_MAX ? [] : groups.map((code) => ({
        name: nameOfGroup(code),
        dot: { colour: colourOf(lookOf(code)), symbol: SYMBOLS[lookOf(code) % SYMBOLS.length] },
      })),
      layout: { height: narrow ? 340 : 440, xaxis: acrossAxis.axis, yaxis: upAxis.axis },
      rows: [
        [...axes.filter((axis) => axis !== seedAxis).map((axis) => axis.path), x.path, y.path, "points",
          "not_beaten", "made.command"],
        ...cells.map((cell) => [
          ...axes.filter((axis) => axis !== seedAxis).map((axis) => axis.words[axis.codes[cell.runs[0]]]),
          cell.x.mean, cell.y.mean, cell.runs.length, front.includes(cell) ? "yes" : "no",
          commandOf(cell.runs[0]),
        ]),
      ],
    };
  },
  // Plotly forgets who listens when there is nothing to draw.
  drawn(plot) {
    plot.removeAllListeners("plotly_click");
    plot.on("plotly_click", (event) => {
      const point = event.points.find((one) => one.data.cells);
      if (point) togglePin(point.data.cells[point.pointIndex].runs[0]);
    });
  },
});
