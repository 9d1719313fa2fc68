// What all charts share: theme, colours that colour-blind readers tell apart, legend, download.

// Okabe and Ito's palette less its yellow, which no reader sees on white; "ink" is the text's
// colour. Dash, marker and pattern differ as well, so that colour is never the only sign.
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "ink"];
const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
const STROKES = ["", "6 4", "2 3", "6 3 2 3", "10 4", "10 3 2 3"];
const SYMBOLS = [
  "circle", "square", "diamond", "cross", "x", "triangle-up", "triangle-down", "star",
];
const PATTERNS = ["", "/", "\\", "x", "-", "|", "+", "."];

// Parts of something (causes, stages) are filled areas in pale colours (Tol's "light" ones) with a
// pattern each, so that none is taken for a run; 7 by 8 of them, unique for 56 parts.
const FILLS = ["#77AADD", "#EE8866", "#EEDD88", "#FFAABB", "#44BB99", "#BBCC33", "#99DDFF"];

// What each chart shows: { views, choices, initial, build(view, choices) }. `views` (a function of
// them, where they change) are { key: name } or a Map of such, `choices` more groups of such: { group: { key: name } },
// `initial` names the view that is shown first where that is not the first one. `build` returns
// either { empty: sentence } or { traces, layout, legend, rows }, rows being its data for the CSV;
// `scale` as well where the reader may choose between a logarithmic and a linear axis, `time` where
// the horizontal axis is simulated time, `note` for a sentence below the plot.
// `buttons` are those of plotly's that it has in place of the usual ones.
const charts = new Map();
// What is done when all is known that can be shown, and nothing is drawn yet.
const beforeDrawing = [];
// What the page was made from.
const embedded = JSON.parse(document.getElementById("results").textContent);

const narrowScreen = window.matchMedia("(max-width: 600px)");
const cssColour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

function colourOf(index) {
  const colour = COLOURS[index % COLOURS.length];
  return colour === "ink" ? cssColour("ink") : colour;
}

// The fill of the part at an index, whatever the chart.
function fillOf(look) {
  return {
    color: FILLS[look % FILLS.length], line: { color: cssColour("paper"), width: 1 },
    pattern: {
      shape: PATTERNS[look % PATTERNS.length], fgcolor: "#1c1c1c", fillmode: "overlay", size: 7,
      solidity: 0.12, bgcolor: FILLS[look % FILLS.length],
    },
  };
}

// The look of the run at an index in every chart of lines; unique for 42 runs.
function lineLook(index) {
  const turn = Math.floor(index / COLOURS.length);
  return {
    colour: colourOf(index),
    dash: ((index % COLOURS.length) + turn) % DASHES.length,
    symbol: SYMBOLS[index % SYMBOLS.length],
  };
}

function lineTrace(
  index, x, y, hover, shape = "linear", name = labels[index], look = lineLook(index),
) {
  return {
    type: "scatter", mode: "lines+markers", name, x, y,
    line: { color: look.colour, dash: DASHES[look.dash], width: 2, shape },
    marker: { symbol: look.symbol, size: 7, color: look.colour, maxdisplayed: 10 },
    customdata: hover, hovertemplate: `<b>${name}</b><br>%{customdata}<extra></extra>`,
    legendKey: name,
  };
}

function themed(layout) {
  const axis = {
    automargin: true, gridcolor: cssColour("grid"), linecolor: cssColour("line"), zeroline: false,
    showline: true, ticks: "outside", ticklen: 5, tickcolor: cssColour("line"),
  };
  const titled = (own) => ({
    ...axis, ...own, title: { ...own.title, standoff: 10, font: { size: 12 } },
  });
  return {
    height: 300, autosize: true, showlegend: false,
    ...layout,
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "closest",
    font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: cssColour("ink") },
    // Plotly's own buttons, which narrow screens lack, stand above the plot.
    margin: { l: 12, r: 24, t: narrowScreen.matches ? 12 : 36, b: 12 },
    modebar: {
      bgcolor: "rgba(0,0,0,0)", color: cssColour("faint"), activecolor: cssColour("ink"),
    },
    // A finger that scrolls the page must not zoom a chart.
    dragmode: narrowScreen.matches ? false : layout.dragmode ?? "zoom",
    hoverlabel: { align: "left" },
    // A chart of several panels has an axis for each.
    ...Object.fromEntries(Object.entries(layout)
      .filter(([key]) => /^[xy]axis\d*$/.test(key)).map(([key, own]) => [key, titled(own)])),
  };
}

const SVG = "http://www.w3.org/2000/svg";

function svgElement(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

// A sample of the line or the fill, as it looks in the chart.
function swatch(entry) {
  const svg = svgElement("svg", { width: 34, height: 14, "aria-hidden": "true" });
  if (entry.dot) {
    svg.setAttribute("viewBox", "10 0 14 14");
    svg.setAttribute("width", 14);
    svg.append(symbolShape(entry.dot.symbol, entry.dot.colour));
    return svg;
  }
  if (entry.line) {
    const { colour, dash } = entry.line;
    svg.append(svgElement("line", {
      x1: 0, x2: 34, y1: 7, y2: 7, stroke: colour, "stroke-width": 2.5,
      "stroke-dasharray": STROKES[dash],
    }));
    svg.append(symbolShape(entry.line.symbol, colour));
    return svg;
  }
  if (entry.lane) {
    const { colour, width } = entry.lane;
    svg.append(svgElement("rect", { y: 7 - width / 2, width: 34, height: width, fill: colour }));
    return svg;
  }
  const look = entry.bar ?? entry.fill;
  const filled = entry.bar === undefined;
  svg.append(svgElement("rect", {
    width: 34, height: 14, fill: filled ? FILLS[look % FILLS.length] : colourOf(look),
  }));
  svg.style.opacity = entry.opacity ?? 1;
  const strokes = {
    "/": "M-4 14L10 0M6 14L20 0M16 14L30 0M26 14L40 0",
    "\\": "M-4 0L10 14M6 0L20 14M16 0L30 14M26 0L40 14", "-": "M0 4H34M0 10H34",
    "|": "M5 0V14M13 0V14M21 0V14M29 0V14", ".": "M4 7h2M12 7h2M20 7h2M28 7h2",
  };
  strokes.x = strokes["/"] + strokes["\\"];
  strokes["+"] = strokes["-"] + strokes["|"];
  const path = strokes[PATTERNS[look % PATTERNS.length]];
  if (path) {
    svg.append(svgElement("path", {
      d: path, fill: "none", stroke: filled ? "#1c1c1c" : cssColour("paper"),
      "stroke-width": filled ? 0.8 : 1.5,
    }));
  }
  return svg;
}

function symbolShape(symbol, colour) {
  const paths = {
    circle: "M17 3a4 4 0 1 0 .01 0Z", square: "M13 3h8v8h-8Z", diamond: "M17 2l5 5-5 5-5-5Z",
    cross: "M15 3h4v2h2v4h-2v2h-4v-2h-2v-4h2Z",
    x: "M13 4l2-2 2 3 2-3 2 2-3 3 3 3-2 2-2-3-2 3-2-2 3-3Z",
    "triangle-up": "M17 2l5 9h-10Z", "triangle-down": "M17 12l5-9h-10Z",
    star: "M17 1l1.5 4.5h4.5l-3.6 2.8 1.3 4.7-3.7-2.8-3.7 2.8 1.3-4.7-3.6-2.8h4.5Z",
  };
  return svgElement("path", { d: paths[symbol], fill: colour });
}

// A legend of our own, below the plot: it wraps, and never covers a curve or a label. An entry
// with an `act` does that; any other shows or hides its traces in this chart, and stays so.
function drawLegend(figure, plot, entries) {
  const list = figure.querySelector(".legend");
  // One that stays as it is stays there: a page that redraws itself must not take a button away from
  // under a finger.
  const made = entries.some((entry) => entry.act) ? null
    : JSON.stringify([entries, cssColour("ink")]);
  if (made !== null && list.made === made) return;
  list.made = made;
  const focused = [...list.querySelectorAll("button")].indexOf(document.activeElement);
  list.replaceChildren();
  for (const entry of entries) {
    const item = document.createElement("li");
    list.append(item);
    // Points are shown and hidden by the filters of their page.
    if (entry.act === null || entry.dot) {
      item.append(swatch(entry), entry.name);
      continue;
    }
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", String(Boolean(entry.act) || !figure.hiddenKeys.has(entry.name)));
    button.title = entry.act ? "Hide in all charts" : "Show or hide";
    button.append(swatch(entry), entry.name);
    button.addEventListener("click", entry.act ?? (() => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      if (shown) figure.hiddenKeys.delete(entry.name);
      else figure.hiddenKeys.add(entry.name);
      const traces = plot.data.flatMap((trace, index) =>
        trace.legendKey === entry.name ? [index] : []);
      Plotly.restyle(plot, { visible: shown }, traces);
    }));
    item.append(button);
  }
  const buttons = list.querySelectorAll("button");
  if (focused >= 0) buttons[Math.min(focused, buttons.length - 1)]?.focus();
}

function csvText(rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

function download(name, rows) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csvText(rows)], { type: "text/csv" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Most rows that a table beside a chart shows.
const TABLE_ROWS_MAX = 1000;

// The rows of the CSV as a table, for readers who see no picture or want a number.
function drawTable(box, [header, ...rows]) {
  const table = document.createElement("table");
  const words = header.map((_, place) => rows.some((cells) => typeof cells[place] === "string"));
  const row = (cells, name) => {
    const line = document.createElement("tr");
    cells.forEach((value, place) => {
      const cell = document.createElement(place === 0 ? "th" : name);
      cell.textContent = typeof value === "number" ? String(value) : value ?? "";
      if (words[place]) cell.className = "word";
      line.append(cell);
    });
    return line;
  };
  table.createTHead().append(row(header, "th"));
  table.createTBody().append(...rows.slice(0, TABLE_ROWS_MAX).map((cells) => row(cells, "td")));
  box.replaceChildren(table);
  if (rows.length > TABLE_ROWS_MAX) {
    const more = document.createElement("p");
    more.className = "note";
    more.textContent = `The first ${grouped(TABLE_ROWS_MAX)} of ${grouped(rows.length)} rows; the `
      + "CSV holds all.";
    box.append(more);
  }
}
