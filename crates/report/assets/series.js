// Charts over simulated time: what stood in each window. All show the same span of time.

// Where the axis of time ends: with the longest of the runs that are shown.
function timeAxis() {
  const ends = shown().map((index) => runs[index].series.at(-1)?.t_end_s ?? 0);
  const end = ends.reduce((a, b) => Math.max(a, b), 0);
  const [factor, unit] = timeScale(end);
  const [from, to] = arrangement.span ?? [-0.01 * end, 1.01 * end];
  return {
    factor, unit, end,
    axis: {
      title: { text: `Simulated time (${unit})` }, nticks: narrowScreen.matches ? 5 : 12,
      range: [from / factor, to / factor],
      // A reader's zoom is kept in the arrangement, not in the chart.
      uirevision: `${from} ${to}`,
    },
  };
}

const TOO_SHORT = "The run was too short to be cut into windows.";

// A chart with one value per window and run: `value(run, window, place)`, null where there is none.
// Values of a kind with units have `steps` of them; `far` is how many times the smallest value the
// largest is where the axis is logarithmic without being asked.
function seriesChart({ field, value, axis, describe, steps, far, choice }) {
  if (shown().length === 0) return { empty: ALL_HIDDEN };
  if (runs.every((run) => run.series.length === 0)) return { empty: TOO_SHORT };
  const column = (index) => runs[index].series.map(
    (window, place) => value(runs[index], window, place));
  // A run without a single value has no curve, and no place in the legend.
  const drawn = shown().filter((index) => column(index).some((v) => v !== null));
  const all = drawn.flatMap(column).filter((v) => v !== null);
  if (!all.some((v) => v > 0)) return { empty: `${axis}: zero in every window.` };
  const time = timeAxis();
  const { factor, unit } = time;
  const [size, name] = steps ? stepFor(steps, Math.max(...all)) : [1, ""];
  const levels = freeAxis(axis, all, {
    most: 8, choice, far, factor: size, unit: name,
    text: steps ? (value) => withUnit(steps, value) : shortCount,
  });
  const traces = drawn.map((index) => {
    const { series } = runs[index];
    const values = column(index);
    return lineTrace(
      index, series.map((w) => (w.t_start_s + w.t_end_s) / 2 / factor), values.map(levels.place),
      series.map((w, place) => `${(w.t_start_s / factor).toPrecision(4)} to `
        + `${(w.t_end_s / factor).toPrecision(4)} ${unit}<br>${axis}: `
        + (values[place] === null ? "none" : describe(values[place]))));
  });
  return {
    traces, legend: lineLegend(drawn), scale: levels.scale, time,
    layout: { xaxis: time.axis, yaxis: levels.axis },
    rows: [["scheme", "t_start_s", "t_end_s", field],
      ...drawn.flatMap((index) => column(index).map((one, place) => {
        const { t_start_s: from, t_end_s: to } = runs[index].series[place];
        return [labels[index], from, to, one];
      }))],
  };
}

const statistics = {
  mean: ["Mean", "Mean", (of, place) => of.mean[place]],
  p50: ["p50", "Median", (of, place) => of.percentile["50.000000"][place]],
  p99: ["p99", "p99", (of, place) => of.percentile["99.000000"][place]],
  p99_9: ["p99.9", "p99.9", (of, place) => of.percentile["99.900000"][place]],
  max: ["Longest", "Longest", (of, place) => of.max[place]],
};
// Results of versions before have the mean and the longest of all requests only.
const timesByWindow = runs.some((run) => run.series_latency_ns.all.N.length > 0);
const oldFields = { mean: "response_ns_mean", max: "response_ns_max" };
charts.set("series_response", {
  views: Object.fromEntries(Object.entries(statistics).flatMap(([key, [name]]) => (
    timesByWindow || key in oldFields ? [[key, name]] : []))),
  choices: { of: timesByWindow ? directions : { all: "All requests" } },
  build(view, choices) {
    const [, axis, at] = statistics[view];
    const value = (run, window, place) => {
      if (timesByWindow) return at(run.series_latency_ns[choices.of], place) ?? null;
      return window.requests > 0 ? window[oldFields[view]] : null;
    };
    return seriesChart({
      field: `response_ns_${view}`, describe: duration, steps: TIME_STEPS, far: NEAR,
      choice: choices.scale, value,
      axis: choices.of === "all" ? `${axis} response` : `${axis} of ${choices.of}s`,
    });
  },
  drawn: followZoom,
});

const activities = {
  gc_page_copies: ["Pages copied", "Pages copied (per window)"],
  erases: ["Erases", "Blocks erased (per window)"],
  free_blocks_min: ["Free blocks", "Fewest free blocks (count)"],
  host_pages_written: ["Host writes", "Host writes (pages per window)"],
};
charts.set("series_activity", {
  views: Object.fromEntries(Object.entries(activities).map(([key, names]) => [key, names[0]])),
  build: (view, choices) => seriesChart({
    field: view, axis: activities[view][1], describe: grouped, value: (_, window) => window[view],
    choice: choices.scale,
  }),
  drawn: followZoom,
});

// The span that all charts over time show; all of it where that is what is asked for.
function showSpan(from, to) {
  const { end } = timeAxis();
  const whole = from <= 0 && to >= end;
  arrange({ span: whole ? null : [Math.max(0, from), Math.min(to, end)] });
}

// What a reader marks or resets in one chart holds for all of them.
function followZoom(plot, { time }) {
  plot.removeAllListeners("plotly_relayout");
  plot.on("plotly_relayout", (change) => {
    const range = [change["xaxis.range[0]"], change["xaxis.range[1]"]];
    if (change["xaxis.autorange"]) showSpan(0, time.end);
    else if (range.every(Number.isFinite)) showSpan(...range.map((edge) => edge * time.factor));
  });
}

// The same by keyboard and finger: two fields and a button above the charts.
function zoomFields() {
  const box = document.getElementById("span");
  if (runs.every((run) => run.series.length === 0)) return;
  box.hidden = false;
  const [from, to] = box.querySelectorAll("input");
  const all = box.querySelector("button");
  const show = () => {
    const { factor, unit, end } = timeAxis();
    const digits = (value) => Number((value / factor).toPrecision(6));
    const span = arrangement.span ?? [0, end];
    [from.value, to.value] = span.map(digits);
    for (const field of [from, to]) Object.assign(field, { min: 0, max: digits(end), step: "any" });
    box.querySelector(".unit").textContent = unit;
    all.disabled = arrangement.span === null;
  };
  for (const field of [from, to]) {
    field.addEventListener("change", () => {
      const { factor } = timeAxis();
      const span = [from, to].map((one) => one.valueAsNumber * factor);
      // Half a number is none yet.
      if (span[0] < span[1]) showSpan(...span);
    });
  }
  all.addEventListener("click", () => arrange({ span: null }));
  followers.push(show);
}

zoomFields();
