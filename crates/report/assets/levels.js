// What a scheme's areas and thresholds stood at over simulated time, from the levels of `series`.

const areaLevels = {
  sequential_log_blocks: "sequential log", sequential_log_limit: "sequential log, most",
  random_log_blocks: "random log", random_log_limit: "random log, most",
  hot_log_blocks: "hot log", cold_log_blocks: "cold log", isolation_blocks: "isolation area",
  buffer_zone_blocks: "buffer zone",
};
const shareLevels = { page_mapped_pages: "mapped by pages", block_mapped_pages: "mapped by blocks" };
const controlLevels = {
  delta_permille: ["Delta", "Delta (share of allocations)", 1000],
  phi_pages: ["Phi", "Phi (pages per full merge)", 1],
  theta_pages: ["Theta", "Theta (pages per request)", 1],
  history_bytes: ["History", "History table (bytes)", 1],
  history_hit_permille: ["History hits", "Prediction hit rate (share)", 1000],
  group_logs_permille: ["Group logs", "Log blocks per group (mean)", 1000],
  longest_chain: ["Chain", "Longest chain (blocks)", 1],
};

const levelIn = (window, name) => window.levels?.[name] ?? null;
const hasLevel = (run, name) => run.series.some((window) => levelIn(window, name) !== null);
// The runs that told any of these levels, as views of a chart: a view per run.
const runsWith = (names) => Object.fromEntries(runs.flatMap((run, index) => (
  names.some((name) => hasLevel(run, name)) ? [[String(index), labels[index]]] : [])));

// The levels of one run, a step curve each.
function levelsOfRun(run, names, axis) {
  const shown = Object.keys(names).filter((name) => hasLevel(runs[run], name));
  const windows = runs[run].series.filter((window) => shown.some((n) => levelIn(window, n) !== null));
  const [factor, unit] = timeScale(windows.at(-1).t_end_s);
  const traces = shown.map((name, look) => lineTrace(
    look, windows.map((w) => w.t_start_s / factor), windows.map((w) => levelIn(w, name)),
    windows.map((w) => `${(w.t_start_s / factor).toPrecision(4)} ${unit}: `
      + `${grouped(levelIn(w, name) ?? 0)}`), "hv", names[name]));
  const most = Math.max(...windows.flatMap((w) => shown.map((name) => levelIn(w, name) ?? 0)));
  return {
    traces, legend: shown.map((name, look) => ({ name: names[name], line: lineLook(look) })),
    layout: {
      xaxis: { title: { text: `Simulated time (${unit})` }, nticks: narrowScreen.matches ? 5 : 12 },
      yaxis: padded(countAxis(axis, Math.max(most, 1)), Math.max(most, 1)),
    },
    rows: [["t_start_s", "t_end_s", ...shown],
      ...windows.map((w) => [w.t_start_s, w.t_end_s, ...shown.map((name) => levelIn(w, name))])],
  };
}

const chartOfRuns = (names, axis, empty) => ({
  views: runsWith(Object.keys(names)),
  build: (view) => (view === undefined ? { empty } : levelsOfRun(Number(view), names, axis)),
});

charts.set("areas", chartOfRuns(
  areaLevels, "Log area (blocks)", "No scheme here divides its log into areas."));
charts.set("shares", chartOfRuns(
  shareLevels, "Logical space (pages)", "No scheme here maps some pages by pages, others by blocks."));

charts.set("controls", {
  views: Object.fromEntries(Object.entries(controlLevels)
    .filter(([name]) => runs.some((run) => hasLevel(run, name)))
    .map(([name, [title]]) => [name, title])),
  build(view) {
    if (view === undefined) return { empty: "No scheme here adapts by such numbers." };
    const [, axis, scale] = controlLevels[view];
    const value = (window) => {
      const level = levelIn(window, view);
      return level === null ? null : level / scale;
    };
    return seriesChart({ field: view, axis, describe: grouped, value });
  },
});
