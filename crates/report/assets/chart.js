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

// What each chart shows: { views, build(view) }; build returns either { empty: sentence } or
// { traces, layout, legend, rows }, rows being its data for the CSV, and perhaps `buttons`, those of
// plotly's that it has in place of the usual ones.
const charts = new Map();
// What the page was made from.
const embedded = JSON.parse(document.getElementById("results").textContent);

const narrowScreen = window.matchMedia("(max-width: 600px)");
const cssColour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

function colourOf(index) {
  const colour = COLOURS[index % COLOURS.length];
  return colour === "ink" ? cssColour("ink") : colour;
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

function lineTrace(index, x, y, hover, shape = "linear", name = labels[index]) {
  const look = lineLook(index);
  return {
    type: "scatter", mode: "lines+markers", name, x, y,
    line: { color: look.colour, dash: DASHES[look.dash], width: 2, shape },
    marker: { symbol: look.symbol, size: 7, color: look.colour, maxdisplayed: 10 },
    customdata: hover, hovertemplate: `<b>${name}</b><br>%{customdata}<extra></extra>`,
    legendKey: name,
  };
}

const lineLegend = (indices) =>
  indices.map((index) => ({ name: labels[index], line: lineLook(index) }));

// A horizontal bar per run, stacked by parts: [{ name, values (one per run), look, key }].
function barTraces(parts, describe) {
  return parts.map((part) => ({
    type: "bar", orientation: "h", name: part.name, y: labels, x: part.values,
    marker: {
      color: colourOf(part.look), line: { color: cssColour("paper"), width: 1 },
      pattern: {
        shape: PATTERNS[part.look % PATTERNS.length], fgcolor: cssColour("paper"),
        fillmode: "overlay", size: 7, solidity: 0.25, bgcolor: colourOf(part.look),
      },
    },
    customdata: part.values.map((value, index) => describe(part, value, index)),
    hovertemplate: "%{customdata}<extra></extra>", legendKey: part.key ?? part.name,
  }));
}

function barLegend(parts) {
  const entries = new Map();
  for (const part of parts) entries.set(part.key ?? part.name, part.look);
  return [...entries].map(([name, look]) => ({ name, bar: look }));
}

function barLayout(axis) {
  const row = runs.length > 8 ? 30 : 44;
  return {
    barmode: "stack", bargap: 0.3, height: 112 + row * runs.length, xaxis: axis,
    yaxis: {
      type: "category", categoryorder: "array", categoryarray: labels, autorange: "reversed",
      dtick: 1, ticks: "", showgrid: false,
    },
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
  svg.append(svgElement("rect", { width: 34, height: 14, fill: colourOf(entry.bar) }));
  svg.style.opacity = entry.opacity ?? 1;
  const strokes = {
    "/": "M-4 14L10 0M6 14L20 0M16 14L30 0M26 14L40 0",
    "\\": "M-4 0L10 14M6 0L20 14M16 0L30 14M26 0L40 14", "-": "M0 4H34M0 10H34",
    "|": "M5 0V14M13 0V14M21 0V14M29 0V14", ".": "M4 7h2M12 7h2M20 7h2M28 7h2",
  };
  strokes.x = strokes["/"] + strokes["\\"];
  strokes["+"] = strokes["-"] + strokes["|"];
  const path = strokes[PATTERNS[entry.bar % PATTERNS.length]];
  if (path) {
    svg.append(svgElement("path", { d: path, stroke: cssColour("paper"), "stroke-width": 1.5 }));
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

// A legend of our own, below the plot: it wraps, and never covers a curve or a label.
function drawLegend(list, plot, entries) {
  list.replaceChildren();
  for (const entry of entries) {
    const item = document.createElement("li");
    list.append(item);
    // Points are shown and hidden by the filters of their page.
    if (entry.dot) {
      item.append(swatch(entry), entry.name);
      continue;
    }
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    button.title = "Show or hide";
    button.append(swatch(entry), entry.name);
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      const traces = plot.data.flatMap((trace, index) =>
        trace.legendKey === entry.name ? [index] : []);
      Plotly.restyle(plot, { visible: shown }, traces);
    });
    item.append(button);
  }
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
