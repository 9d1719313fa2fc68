// Draws every chart of the page.

// Only buttons that work offline: plotly's own set has one that sends data to a server.
const config = {
  responsive: true, displaylogo: false,
  modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
};

// Puts one view of a chart on the page; resolves when plotly has drawn it.
function draw(figure, chart, view) {
  const part = (name) => figure.querySelector(`.${name}`);
  const plot = part("plot");
  const built = chart.build(view);
  const nothing = Boolean(built.empty);
  part("empty").hidden = !nothing;
  part("empty").textContent = built.empty ?? "";
  plot.hidden = nothing;
  part("note").hidden = !built.note;
  part("note").textContent = built.note ?? "";
  figure.querySelector("figcaption").hidden = nothing;
  part("legend").hidden = nothing;
  part("download").hidden = nothing;
  if (nothing) {
    Plotly.purge(plot);
    return Promise.resolve();
  }
  const name = view ? `${figure.id}-${view}` : figure.id;
  part("download").onclick = () => download(`ftlab-${name}.csv`, built.rows);
  drawLegend(part("legend"), plot, built.legend);
  const layout = themed(built.layout);
  return Plotly.react(plot, built.traces, layout, {
    ...config, displayModeBar: narrowScreen.matches ? false : "hover",
    ...(built.buttons ? { modeBarButtons: [built.buttons] } : {}),
  }).then(() => {
    plot.style.minHeight = `${layout.height}px`;
  });
}

// The buttons that choose a view; the chosen one stays chosen when the page is redrawn.
function drawControls(figure, chart, view) {
  const controls = figure.querySelector(".controls");
  controls.replaceChildren(...Object.entries(chart.views).map(([key, text]) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.dataset.view = key;
    button.setAttribute("aria-pressed", String(key === view));
    button.addEventListener("click", () => {
      figure.dataset.view = key;
      for (const other of controls.children) {
        other.setAttribute("aria-pressed", String(other === button));
      }
      draw(figure, chart, key);
    });
    return button;
  }));
}

function drawFigure(figure) {
  const chart = charts.get(figure.dataset.chart);
  if (!chart.views) return draw(figure, chart);
  const view = figure.dataset.view ?? Object.keys(chart.views)[0];
  drawControls(figure, chart, view);
  return draw(figure, chart, view);
}

// A page of many charts draws each when it comes near; one of few draws all at once.
const AT_ONCE_MAX = 30;
const nearby = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    nearby.unobserve(target);
    drawFigure(target);
  }
}, { rootMargin: "1200px" });

function drawAll() {
  delete document.documentElement.dataset.ready;
  const figures = [...document.querySelectorAll("[data-chart]")];
  const later = figures.length > AT_ONCE_MAX;
  if (later) figures.forEach((figure) => nearby.observe(figure));
  return Promise.all(later ? [] : figures.map(drawFigure)).then(() => {
    document.documentElement.dataset.ready = "true";
  });
}

const firstDrawn = drawAll();
// Colours and tick counts follow the scheme of light and the width.
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
narrowScreen.addEventListener("change", drawAll);
