// Draws every chart of the page.

// A page of a folder has plotly beside it; moved elsewhere it has its tables alone.
const hasPlotly = typeof Plotly !== "undefined";
const ALONE = "plotly.js is not where it was beside this page: the data stand below.";

// Only buttons that work offline: plotly's own set has one that sends data to a server.
const config = {
  responsive: true, displaylogo: false,
  modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
};

const drawings = [...document.querySelectorAll("[data-chart]")];
const viewsOf = (chart) => {
  const views = (typeof chart.views === "function" ? chart.views() : chart.views) ?? {};
  return views instanceof Map ? views : new Map(Object.entries(views));
};

// The chosen view, while the chart has it.
function viewOf(figure, chart) {
  const keys = [...viewsOf(chart).keys()];
  if (keys.includes(figure.dataset.view)) return figure.dataset.view;
  return chart.initial?.() ?? keys[0];
}

// What was chosen in the other groups of controls, by group.
function choicesOf(figure, chart) {
  const chosen = Object.entries(chart.choices ?? {}).map(([group, options]) =>
    [group, figure.dataset[group] ?? Object.keys(options)[0]]);
  return { ...Object.fromEntries(chosen), scale: figure.dataset.scale };
}

// Why a chart has nothing to show under any view; null where it has something.
function absence(chart) {
  const keys = [...viewsOf(chart).keys()];
  const choices = choicesOf({ dataset: {} }, chart);
  let reason = null;
  for (const view of keys.length > 0 ? keys : [undefined]) {
    const { empty } = chart.build(view, choices);
    if (!empty) return null;
    reason ??= empty;
  }
  return reason;
}

// Leaves out the charts that have nothing to show, and names them and the reason below the others.
function leaveOut() {
  for (const figure of drawings) {
    const reason = absence(charts.get(figure.dataset.chart));
    const cards = figure.closest(".charts");
    // One that stands by itself says so in its place.
    if (cards === null) continue;
    figure.hidden = reason !== null;
    if (reason === null) continue;
    figure.querySelector(".empty").hidden = false;
    figure.querySelector(".empty").textContent = reason;
    if (!cards.nextElementSibling?.matches(".absent")) {
      const list = document.createElement("ul");
      list.className = "absent";
      cards.after(list);
    }
    const item = document.createElement("li");
    const title = document.createElement("b");
    title.textContent = figure.querySelector("h3").textContent;
    item.append("Not drawn: ", title, `. ${reason}`);
    cards.nextElementSibling.append(item);
  }
}

// A card that would stand alone in its row takes all of it.
function fillRows() {
  for (const cards of document.querySelectorAll(".charts")) {
    let row = [];
    const end = () => {
      if (row.length % 2 === 1) row.at(-1).classList.add("alone");
      row = [];
    };
    for (const figure of cards.querySelectorAll("[data-chart]:not([hidden])")) {
      if (getComputedStyle(figure).gridColumnEnd === "-1") end();
      else row.push(figure);
    }
    end();
  }
}

// Puts one view of a chart on the page; resolves when plotly has drawn it.
function draw(figure, chart, view) {
  const part = (name) => figure.querySelector(`.${name}`);
  const plot = part("plot");
  const choices = choicesOf(figure, chart);
  const built = chart.build(view, choices);
  const nothing = Boolean(built.empty);
  figure.hiddenKeys ??= new Set();
  drawControls(figure, chart, view, built.scale);
  part("empty").hidden = !nothing;
  part("empty").textContent = built.empty ?? "";
  plot.hidden = nothing;
  part("note").hidden = !built.note;
  part("note").textContent = built.note ?? "";
  for (const name of ["legend", "data"]) part(name).hidden = nothing;
  figure.querySelector("figcaption").hidden = nothing;
  if (nothing) {
    if (hasPlotly) Plotly.purge(plot);
    return Promise.resolve();
  }
  const shown = Object.keys(chart.choices ?? {}).map((group) => choices[group]);
  const name = [figure.id, ...(view && !chart.oneFile ? [view] : []), ...shown].join("-");
  part("download").onclick = () => download(`ftlab-${name}.csv`, built.rows);
  const table = part("table");
  const fill = () => table.open && drawTable(table.querySelector(".scroll"), built.rows);
  table.ontoggle = fill;
  fill();
  if (!hasPlotly) {
    plot.hidden = true;
    part("note").hidden = false;
    part("note").textContent = [ALONE, built.note].filter(Boolean).join(" ");
    table.open = true;
    return Promise.resolve();
  }
  drawLegend(figure, plot, built.legend);
  for (const trace of built.traces) {
    if (figure.hiddenKeys.has(trace.legendKey)) trace.visible = false;
  }
  const layout = themed({ uirevision: `${view} ${shown} ${built.scale}`, ...built.layout });
  return Plotly.react(plot, built.traces, layout, {
    ...config, displayModeBar: narrowScreen.matches ? false : "hover",
    ...(built.buttons ? { modeBarButtons: [built.buttons] } : {}),
  }).then(() => {
    plot.style.minHeight = `${layout.height}px`;
    chart.drawn?.(plot, built);
  });
}

const SCALES = { log: "Logarithmic", linear: "Linear" };

// A group of buttons, of which one is chosen; made anew only where its options change, so that
// whichever has the focus keeps it.
function buttonGroup(figure, group, options) {
  const controls = figure.querySelector(".controls");
  let set = controls.querySelector(`[data-group="${group}"]`);
  if (!set) {
    set = document.createElement("div");
    set.setAttribute("role", "group");
    set.dataset.group = group;
    controls.append(set);
  }
  const wanted = JSON.stringify(options);
  if (set.made === wanted) return set;
  set.made = wanted;
  set.replaceChildren(...options.map(([key, text]) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.dataset[group] = key;
    button.addEventListener("click", () => {
      figure.dataset[group] = key;
      drawFigure(figure);
    });
    return button;
  }));
  return set;
}

// The buttons that choose what is shown; what is chosen stays chosen when the page is redrawn.
function drawControls(figure, chart, view, scale) {
  const chosen = { ...choicesOf(figure, chart), view, scale };
  const groups = [["view", [...viewsOf(chart)]], ...Object.entries(chart.choices ?? {})
    .map(([group, options]) => [group, Object.entries(options)])];
  // Once there, it comes back with the view that has it.
  if (scale || figure.querySelector("[data-group=scale]")) {
    groups.push(["scale", Object.entries(SCALES)]);
  }
  for (const [group, options] of groups) {
    const set = buttonGroup(figure, group, options);
    set.hidden = options.length < 2 || chosen[group] === undefined;
    for (const button of set.children) {
      button.setAttribute("aria-pressed", String(chosen[group] === button.dataset[group]));
    }
  }
}

function drawFigure(figure) {
  const chart = charts.get(figure.dataset.chart);
  return draw(figure, chart, viewOf(figure, chart));
}

// A page of many charts draws each when it comes near; one of few draws all, near ones first.
const AT_ONCE_MAX = 30;
const nearby = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    nearby.unobserve(target);
    drawFigure(target);
  }
}, { rootMargin: "1200px" });

const distance = (figure) => {
  const { top, bottom } = figure.getBoundingClientRect();
  return Math.max(0, top - window.innerHeight, -bottom);
};

// Draws what is shown; a later call takes the place of one that is not done yet.
let turn = 0;
async function drawAll() {
  delete document.documentElement.dataset.ready;
  turn += 1;
  const mine = turn;
  const shown = drawings.filter((figure) => !figure.hidden);
  if (shown.length > AT_ONCE_MAX) {
    shown.forEach((figure) => nearby.observe(figure));
  } else {
    const places = new Map(shown.map((figure) => [figure, distance(figure)]));
    for (const figure of shown.sort((a, b) => places.get(a) - places.get(b))) {
      await drawFigure(figure);
      // Between two charts the reader may do something.
      if (places.get(figure) > 0) await new Promise((resolve) => setTimeout(resolve));
      if (mine !== turn) return;
    }
  }
  document.documentElement.dataset.ready = "true";
}

leaveOut();
fillRows();
beforeDrawing.forEach((prepare) => prepare());
const firstDrawn = drawAll();
// Colours and tick counts follow the scheme of light and the width.
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
narrowScreen.addEventListener("change", drawAll);
