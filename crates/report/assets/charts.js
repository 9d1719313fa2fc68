// The charts of a report: one or more runs side by side.

// A logarithmic axis has no place for zero.
const ALL_ZERO = "Every such request took 0 ns.";
const RESPONSE_TITLE = "System response time (logarithmic)";

const get = (run, path) => path.reduce((value, key) => value?.[key], run) ?? 0;
const readable = (key) => key.replaceAll("_", " ");
const each = (build) => runs.map((run, index) => build(run, index));

// A chart of horizontal bars: one per run, a segment per part that any run uses.
function stackedChart(options) {
  const { parts, unit, steps = COUNT_STEPS, title, empty, header, total = "total" } = options;
  // Bars of equal length show shares; labelled bars end in their sum.
  const { shares = false, labelled = false } = options;
  const used = parts
    .map((part, index) => ({ look: index, ...part, raw: part.values ?? runs.map(part.value) }))
    .filter((part) => part.raw.some((value) => value > 0));
  if (used.length === 0) return { empty };
  const sums = runs.map((_, run) => used.reduce((sum, part) => sum + part.raw[run], 0));
  const largest = Math.max(...sums);
  const [factor, name] = stepFor(steps, largest);
  const scale = (run) => (shares ? (sums[run] || 1) / 100 : factor);
  for (const part of used) part.values = part.raw.map((value, run) => value / scale(run));
  const describe = (part, _, run) => {
    const share = sums[run] > 0 ? (100 * part.raw[run]) / sums[run] : 0;
    return `<b>${labels[run]}</b><br>${part.name}: ${withUnit(steps, part.raw[run])}`
      + `<br>${share.toFixed(1)} % of ${withUnit(steps, sums[run])}`;
  };
  const axisTitle = `${title} (${name || unit})`;
  let axis = steps === COUNT_STEPS ? countAxis(axisTitle, largest)
    : { title: { text: axisTitle }, rangemode: "tozero" };
  if (shares) axis = { title: { text: `${title} (%)` } };
  const ends = sums.map((sum, run) => sum / scale(run));
  const layout = barLayout({ ...axis, nticks: narrowScreen.matches ? 4 : 6 });
  if (labelled) {
    // The label takes some 70 px, whatever the axis says.
    const room = narrowScreen.matches ? 1.4 : 1.2;
    layout.xaxis.range = [0, Math.max(...ends) * room];
    layout.annotations = sums.map((sum, run) => ({
      x: ends[run], y: labels[run], text: withUnit(steps, sum), xanchor: "left", xshift: 4,
      showarrow: false, align: "left",
    }));
  }
  return {
    traces: barTraces(used, describe), layout,
    legend: barLegend(used),
    rows: [["scheme", ...used.map((part) => `${part.column ?? part.name} (${header})`), total],
      ...each((_, run) => [labels[run], ...used.map((part) => part.raw[run]), sums[run]])],
  };
}

const causes = Object.keys(runs[0]?.flash.programs ?? {});
const byCause = (operation) => causes.map((cause) => ({
  name: readable(cause), value: (run) => run.flash[operation][cause],
}));

charts.set("cdf", {
  views: { all: "All requests", read: "Reads", write: "Writes" },
  build(view) {
    const drawn = runs.flatMap((run, index) => (run.cdf[view].length > 0 ? [index] : []));
    if (drawn.length === 0) return { empty: "No such request was measured." };
    // The first point is led up from zero, so that a curve of one point is a step, not a dot.
    const points = (index) => {
      const [first] = runs[index].cdf[view];
      return [[first[0], 0], ...runs[index].cdf[view]];
    };
    const traces = drawn.map((index) => lineTrace(
      index, points(index).map((point) => point[0]), points(index).map((point) => 100 * point[1]),
      points(index).map((point) => `${(100 * point[1]).toFixed(2)} % within ${duration(point[0])}`),
      "hv"));
    const times = drawn.flatMap((index) => runs[index].cdf[view].map((point) => point[0]));
    if (!times.some((time) => time > 0)) return { empty: ALL_ZERO };
    return {
      traces, legend: lineLegend(drawn),
      layout: {
        height: narrowScreen.matches ? 300 : 380,
        xaxis: durationAxis(RESPONSE_TITLE, times, narrowScreen.matches ? 4 : 9),
        yaxis: { title: { text: "Requests finished (%)" }, range: [-2, 103], dtick: 20 },
      },
      rows: [["scheme", "response_ns", "cumulative_fraction"],
        ...drawn.flatMap((index) =>
          runs[index].cdf[view].map((point) => [labels[index], ...point]))],
    };
  },
});

charts.set("percentiles", {
  views: { all: "All requests", read: "Reads", write: "Writes" },
  build(view) {
    const summary = (index) => runs[index].latency_ns[view].system;
    const drawn = runs.flatMap((_, index) => (summary(index).N > 0 ? [index] : []));
    if (drawn.length === 0) return { empty: "No such request was measured." };
    const keys = Object.keys(summary(drawn[0]).percentile);
    const ticks = keys.map((key) => `p${Number(key)}`);
    const traces = drawn.map((index) => lineTrace(
      index, ticks, keys.map((key) => summary(index).percentile[key] || null),
      keys.map((key) => `p${Number(key)}: ${duration(summary(index).percentile[key])}`)));
    const times = drawn.flatMap((index) => Object.values(summary(index).percentile));
    if (!times.some((time) => time > 0)) return { empty: ALL_ZERO };
    return {
      traces, legend: lineLegend(drawn),
      layout: {
        xaxis: { type: "category", title: { text: "Percentile of requests (%)" } },
        yaxis: durationAxis(RESPONSE_TITLE, times, 8),
      },
      rows: [["scheme", ...ticks.map((tick) => `${tick}_ns`)],
        ...drawn.map((index) => [labels[index], ...Object.values(summary(index).percentile)])],
    };
  },
});

const phaseViews = {
  mean: ["Mean", (summary) => summary.mean],
  p99: ["p99", (summary) => summary.percentile["99.000000"]],
  p99_9: ["p99.9", (summary) => summary.percentile["99.900000"]],
};
charts.set("phases", {
  views: Object.fromEntries(Object.entries(phaseViews).map(([key, [name]]) => [key, name])),
  build(view) {
    const [name, of] = phaseViews[view];
    const drawn = runs.flatMap((run, index) => ((run.phases ?? []).length > 0 ? [index] : []));
    if (drawn.length === 0) return { empty: "The workload has no parts." };
    const ticks = runs[drawn[0]].phases.map((phase, number) => `${number + 1}: ${phase.name}`);
    const times = (index) => runs[index].phases.map((phase) => of(phase.latency_ns.all));
    const traces = drawn.map((index) => lineTrace(
      index, ticks, times(index).map((time) => time || null),
      times(index).map((time, part) => `${ticks[part]}: ${name} ${duration(time)}`)));
    const all = drawn.flatMap(times);
    if (!all.some((time) => time > 0)) return { empty: ALL_ZERO };
    return {
      traces, legend: lineLegend(drawn),
      layout: {
        xaxis: { type: "category", title: { text: "Part of the workload" } },
        yaxis: durationAxis(RESPONSE_TITLE, all, 8),
      },
      rows: [["scheme", ...ticks.map((tick) => `${tick} (${view}, ns)`)],
        ...drawn.map((index) => [labels[index], ...times(index)])],
    };
  },
});

const stageNames = {
  driver_queue: "driver queue", host_link: "host link", controller: "controller",
  buffer: "write buffer", map: "map", flash: "flash cells", channel: "channel",
};
charts.set("stages", {
  views: { time: "Time", share: "Share" },
  build: (view) => stackedChart({
    parts: Object.entries(stageNames).map(([key, name]) => ({
      name, column: key, value: (run) => run.stages_ns[key],
    })),
    steps: TIME_STEPS, title: "Mean response time", header: "ns", labelled: true,
    shares: view === "share", empty: "No time by stage was recorded.",
  }),
});

const servicePaths = [["flash", "read"], ["flash", "program"], ["flash", "erase"], ["transfer"],
  ["bus_wait"], ["controller"], ["ram"], ["pcm_read"], ["pcm_wait"], ["search"]];
charts.set("service", {
  build: () => stackedChart({
    parts: servicePaths.map((path) => ({
      name: readable(path.join(" ")), value: (run) => get(run.service_time_ns, path) ?? 0,
    })),
    steps: TIME_STEPS, title: "Device time", header: "ns",
    empty: "No device time was recorded.",
  }),
});

charts.set("reads", {
  build: () => stackedChart({
    parts: byCause("reads"), unit: "pages", title: "Flash reads", header: "pages",
    empty: "No page was read from flash.",
  }),
});

charts.set("programs", {
  build: () => stackedChart({
    parts: byCause("programs"), unit: "pages", title: "Flash programs", header: "pages",
    empty: "No page was programmed.",
  }),
});

charts.set("erases", {
  build: () => stackedChart({
    parts: ["data", "map", "log"].map((role) => ({
      name: `${role} blocks`, value: (run) => run.flash.erases[role],
    })),
    unit: "blocks", title: "Erases", header: "erases",
    empty: "No block was erased during the measured part.",
  }),
});

charts.set("merges", {
  build: () => stackedChart({
    parts: ["switch", "partial", "full"].map((kind) => ({
      name: kind, value: (run) => run.merges[kind],
    })),
    unit: "blocks", title: "Blocks reclaimed", header: "merges",
    empty: "No block was merged or collected during the measured part.",
  }),
});

charts.set("associativity", {
  build() {
    const counts = (index) => runs[index].merges.associativity_histogram;
    const drawn = runs.flatMap((_, index) => (counts(index).some((n) => n > 0) ? [index] : []));
    if (drawn.length === 0) return { empty: "No merge rebuilt a data block." };
    const traces = drawn.map((index) => lineTrace(
      index, counts(index).map((_, blocks) => blocks), counts(index),
      counts(index).map((n, blocks) => `${grouped(n)} merges rebuilt ${blocks} data blocks`)));
    const largest = Math.max(...drawn.flatMap(counts));
    const widest = Math.max(...drawn.map((index) => counts(index).length - 1));
    return {
      traces, legend: lineLegend(drawn),
      layout: {
        xaxis: padded(countAxis("Data blocks rebuilt (blocks per merge)", widest), widest),
        yaxis: padded(countAxis("Merges (count)", largest), largest),
      },
      rows: [["scheme", "data_blocks_per_merge", "merges"],
        ...drawn.flatMap((index) => counts(index).map((n, blocks) => [labels[index], blocks, n]))],
    };
  },
});

charts.set("cache", {
  build: () => stackedChart({
    parts: ["hits", "misses"].map((kind) => ({ name: kind, value: (run) => run.map_cache[kind] })),
    unit: "count", title: "Look-ups of the map", header: "look-ups",
    empty: "No scheme here looks anything up in a cached map.",
  }),
});

// A chart over simulated time: one value per window, null where a window has none.
function seriesChart({ field, value, axis, describe, logarithmic }) {
  if (runs.every((run) => run.series.length === 0)) {
    return { empty: "The run was too short to be cut into windows." };
  }
  // A run without a single value has no curve, and no place in the legend.
  const drawn = runs.flatMap((run, index) => (
    run.series.some((w) => value(w) !== null) ? [index] : []));
  const all = drawn.flatMap((index) => runs[index].series.map(value)).filter((v) => v !== null);
  if (!all.some((v) => v > 0)) return { empty: `${axis}: zero in every window.` };
  const end = drawn.reduce((last, index) => Math.max(last, runs[index].series.at(-1).t_end_s), 0);
  const [factor, unit] = timeScale(end);
  const middle = (w) => (w.t_start_s + w.t_end_s) / 2 / factor;
  const traces = drawn.map((index) => lineTrace(
    index, runs[index].series.map(middle), runs[index].series.map(value),
    runs[index].series.map((w) => `${(w.t_start_s / factor).toPrecision(4)} to `
      + `${(w.t_end_s / factor).toPrecision(4)} ${unit}<br>${axis}: ${describe(value(w) ?? 0)}`)));
  const largest = all.reduce((a, b) => Math.max(a, b), 0);
  return {
    traces, legend: lineLegend(drawn),
    layout: {
      xaxis: { title: { text: `Simulated time (${unit})` }, nticks: narrowScreen.matches ? 5 : 12 },
      yaxis: logarithmic ? durationAxis(`${axis} (logarithmic)`, all, 8) : countAxis(axis, largest),
    },
    rows: [["scheme", "t_start_s", "t_end_s", field],
      ...drawn.flatMap((index) => runs[index].series.map(
        (w) => [labels[index], w.t_start_s, w.t_end_s, value(w)]))],
  };
}

charts.set("series_response", {
  views: { response_ns_mean: "Mean", response_ns_max: "Longest" },
  build: (view) => seriesChart({
    field: view, logarithmic: true, describe: duration,
    axis: view === "response_ns_mean" ? "Mean response time" : "Longest response time",
    value: (w) => (w.requests > 0 && w[view] > 0 ? w[view] : null),
  }),
});

const activities = {
  gc_page_copies: ["Pages copied", "Pages copied (per window)"],
  erases: ["Erases", "Blocks erased (per window)"],
  free_blocks_min: ["Free blocks", "Fewest free blocks (count)"],
  host_pages_written: ["Host writes", "Host writes (pages per window)"],
};
charts.set("series_activity", {
  views: Object.fromEntries(Object.entries(activities).map(([key, names]) => [key, names[0]])),
  build: (view) => seriesChart({
    field: view, axis: activities[view][1], describe: grouped, value: (w) => w[view],
  }),
});

charts.set("wear", {
  build() {
    const drawn = runs.flatMap((run, index) => (run.wear.erase_max > 0
      && run.wear.histogram.length > 0 ? [index] : []));
    if (drawn.length === 0) return { empty: "No block was erased, so there is no wear to show." };
    const curve = (index) => {
      const buckets = runs[index].wear.histogram;
      const blocks = buckets.reduce((sum, bucket) => sum + bucket.blocks, 0);
      let below = 0;
      const points = buckets.map((bucket) => {
        below += bucket.blocks;
        return [bucket.erases_to, (100 * below) / blocks];
      });
      return [[buckets[0].erases_from, 0], ...points];
    };
    const traces = drawn.map((index) => lineTrace(
      index, curve(index).map((point) => point[0]), curve(index).map((point) => point[1]),
      curve(index).map(
        (p) => `${p[1].toFixed(2)} % of blocks erased at most ${grouped(p[0])} times`),
      "hv"));
    const most = Math.max(...drawn.map((index) => runs[index].wear.erase_max));
    return {
      traces, legend: lineLegend(drawn),
      layout: {
        xaxis: padded(countAxis("Erases (per block)", most), most),
        yaxis: { title: { text: "Blocks (%)" }, range: [-2, 103], dtick: 20 },
      },
      rows: [["scheme", "erases_from", "erases_to", "blocks"],
        ...drawn.flatMap((index) => runs[index].wear.histogram.map(
          (b) => [labels[index], b.erases_from, b.erases_to, b.blocks]))],
    };
  },
});

const energyPaths = [["flash", "read"], ["flash", "program"], ["flash", "erase"],
  ["dram", "access"], ["dram", "refresh"], ["pcm", "read"], ["pcm", "write"], ["search"]];
charts.set("energy", {
  build: () => stackedChart({
    parts: energyPaths.map((path) => ({
      name: path.join(" ").replace("dram", "DRAM").replace("pcm", "PCM"),
      value: (run) => get(run.energy_uj, path),
    })),
    steps: ENERGY_STEPS, title: "Energy", header: "uJ", empty: "No energy was recorded.",
  }),
});

const memories = { sram: "SRAM", dram: "DRAM", pcm: "PCM", host: "host memory" };
charts.set("memory", {
  build() {
    const parts = new Map();
    each((run, index) => {
      for (const [name, { bytes, memory }] of Object.entries(run.ram_bytes.structures)) {
        const id = `${memory} ${name}`;
        const part = parts.get(id) ?? {
          name: `${readable(name)} in ${memories[memory] ?? memory}`,
          column: `${name} in ${memory}`, key: memories[memory] ?? memory,
          look: Math.max(0, Object.keys(memories).indexOf(memory)), values: runs.map(() => 0),
        };
        part.values[index] = bytes;
        parts.set(id, part);
      }
    });
    const ordered = [...parts.values()].sort((a, b) => a.look - b.look);
    return stackedChart({
      parts: ordered, steps: BYTE_STEPS, title: "Memory", header: "bytes",
      empty: "No structure in memory was reported.",
    });
  },
});
