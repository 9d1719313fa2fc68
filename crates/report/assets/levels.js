// What a scheme's areas and thresholds stood at over simulated time, from the levels of `series`.

const areaLevels = {
  sequential_log_blocks: "sequential log", sequential_log_limit: "sequential log, most",
  random_log_blocks: "random log", random_log_limit: "random log, most",
  hot_log_blocks: "hot log", cold_log_blocks: "cold log", isolation_blocks: "isolation area",
  buffer_zone_blocks: "buffer zone",
};
const shareLevels = { page_mapped_pages: "mapped by pages", block_mapped_pages: "mapped by blocks" };
// Name, axis, what a stored 1 is worth less, and what the number means: most have a Greek letter in
// their paper.
const controlLevels = {
  delta_permille: ["Delta", "Delta (merges per allocation)", 1000,
    "Delta (δ) of ADAPT: switch and partial merges per sequential log block allocated in the last "
    + "interval. High: what was taken for sequential was, and the sequential area grows."],
  phi_pages: ["Phi", "Phi (pages per full merge)", 1,
    "Phi (φ) of ADAPT: pages copied per full merge of a random log block in the last interval. "
    + "High: full merges are dear, and the random area grows."],
  theta_pages: ["Theta", "Theta (pages per request)", 1,
    "Theta (θ) of ADAPT: how many pages a request has at least, or exceeds, to be taken for "
    + "sequential. It flips between two values when delta is very low."],
  history_bytes: ["History", "History table (bytes)", 1,
    "ADAPT's table of past requests, by which it predicts what is written next."],
  history_hit_permille: ["History hits", "Prediction hit rate (share)", 1000,
    "How often the history table of ADAPT was right in the last interval."],
  group_logs_permille: ["Group logs", "Log blocks per group (mean)", 1000,
    "Log blocks that a group of data blocks may use, mean over the groups (N-K mapping)."],
  placement_lifespan: ["Lifespan", "Lifespan (host pages)", 1,
    "Host pages written from opening a block of short-lived data to its collection, on average, "
    + "which SepBIT divides pages by."],
  placement_groups: ["Groups", "Groups", 1,
    "Groups that MiDAS has: those with a size and the last. One: there is no model, or it failed."],
  expected_waf_permille: ["Expected WAF", "Expected WAF", 1000,
    "Write amplification that the model of MiDAS expected of the groups of the last epoch that they "
    + "were in force all through."],
  epoch_waf_permille: ["Epoch WAF", "Epoch WAF", 1000,
    "Write amplification in that epoch."],
  best_waf_permille: ["Best WAF", "Best WAF", 1000,
    "Write amplification that the model of MiDAS expects of the best groups it found last, whether "
    + "they came into force or not."],
  longest_chain: ["Chain", "Longest chain (blocks)", 1,
    "Replacement blocks that hang on one logical block: a read may look through all of them."],
};

const levelIn = (window, name) => window.levels?.[name] ?? null;
const hasLevel = (run, name) => run.series.some((window) => levelIn(window, name) !== null);
// The shown runs that told any of these levels, as views of a chart: a view per run.
const runsWith = (names) => new Map(
  among((run) => names.some((name) => hasLevel(run, name)))
    .map((index) => [String(index), labels[index]]));

// The levels of one run, a step curve each, in the run's colour.
function levelsOfRun(run, names, title, choice) {
  const told = Object.keys(names).filter((name) => hasLevel(runs[run], name));
  const windows = runs[run].series.filter((window) => told.some((n) => levelIn(window, n) !== null));
  const time = timeAxis();
  const { factor, unit } = time;
  const values = windows.flatMap((w) => told.map((name) => levelIn(w, name)));
  const levels = freeAxis(title, values.filter((value) => value !== null), { most: 8, choice });
  const look = (place) => ({
    ...lineLook(run), dash: place % DASHES.length, symbol: SYMBOLS[place % SYMBOLS.length],
  });
  const traces = told.map((name, place) => lineTrace(
    run, windows.map((w) => w.t_start_s / factor),
    windows.map((w) => levels.place(levelIn(w, name))),
    windows.map((w) => `${(w.t_start_s / factor).toPrecision(4)} ${unit}: `
      + `${grouped(levelIn(w, name) ?? 0)}`), "hv", names[name], look(place)));
  return {
    traces, legend: told.map((name, place) => ({ name: names[name], line: look(place) })),
    layout: { xaxis: time.axis, yaxis: levels.axis }, scale: levels.scale, time,
    rows: [["t_start_s", "t_end_s", ...told],
      ...windows.map((w) => [w.t_start_s, w.t_end_s, ...told.map((name) => levelIn(w, name))])],
  };
}

const chartOfRuns = (names, axis, empty) => ({
  views: () => runsWith(Object.keys(names)),
  build: (view, choices) => (view === undefined ? lacking(empty)
    : levelsOfRun(Number(view), names, axis, choices.scale)),
  drawn: followZoom,
});

charts.set("areas", chartOfRuns(
  areaLevels, "Log area (blocks)", "No scheme that is shown divides its log into areas."));
charts.set("shares", chartOfRuns(shareLevels, "Logical space (pages)",
  "No scheme that is shown maps some pages by pages, others by blocks."));

charts.set("controls", {
  views: Object.fromEntries(Object.entries(controlLevels)
    .filter(([name]) => runs.some((run) => hasLevel(run, name)))
    .map(([name, [title]]) => [name, title])),
  build(view, choices) {
    if (view === undefined) return { empty: "No scheme here adapts by such numbers." };
    const [, axis, scale, note] = controlLevels[view];
    const value = (_, window) => {
      const level = levelIn(window, view);
      return level === null ? null : level / scale;
    };
    const built = seriesChart({
      field: view, axis, describe: grouped, value, choice: choices.scale,
    });
    return { ...built, note };
  },
  drawn: followZoom,
});
