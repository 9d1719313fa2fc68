// The charts of a report: one or more runs side by side.

// A logarithmic axis has no place for zero.
const ALL_ZERO = "Every such request took 0 ns.";
const NONE_SUCH = "No such request was measured.";
const RESPONSE_TITLE = "System response time (logarithmic)";

const get = (run, path) => path.reduce((value, key) => value?.[key], run) ?? 0;
const readable = (key) => key.replaceAll("_", " ");
const each = (build) => runs.map((run, index) => build(run, index));
// The runs to draw of those shown; the sentence where there are none.
const among = (has) => shown().filter((index) => has(runs[index]));
const lacking = (sentence) => ({ empty: shown().length === 0 ? ALL_HIDDEN : sentence });

const causes = Object.keys(runs[0]?.flash.programs ?? {});
const byCause = (operation) => causes.map((cause) => ({
  name: readable(cause), value: (run) => run.flash[operation][cause],
}));

const directions = { all: "All requests", read: "Reads", write: "Writes" };
charts.set("cdf", {
  views: directions,
  build(view) {
    const drawn = among((run) => run.cdf[view].length > 0);
    if (drawn.length === 0) return lacking(NONE_SUCH);
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
        height: 340,
        xaxis: durationAxis(RESPONSE_TITLE, times, narrowScreen.matches ? 4 : 6),
        yaxis: { title: { text: "Requests finished (%)" }, range: [-2, 103], dtick: 20 },
      },
      rows: [["scheme", "response_ns", "cumulative_fraction"],
        ...drawn.flatMap((index) =>
          runs[index].cdf[view].map((point) => [labels[index], ...point]))],
    };
  },
});

// Percent of a small share, as many digits as it needs.
const smallPercent = (share) => `${Number((100 * share).toPrecision(2))} %`;
charts.set("ccdf", {
  views: directions,
  build(view) {
    const drawn = among((run) => run.ccdf[view].length > 1);
    if (drawn.length === 0) return lacking(NONE_SUCH);
    // All took longer than nothing, so a curve begins at 1; the longest time ends the last step.
    const points = (index) => {
      const curve = runs[index].ccdf[view];
      return [[curve[0][0], 1], ...curve.slice(0, -1), [curve.at(-1)[0], curve.at(-2)[1]]];
    };
    const traces = drawn.map((index) => lineTrace(
      index, points(index).map((point) => point[0]), points(index).map((point) => point[1]),
      points(index).map((point) => `${smallPercent(point[1])} took longer than `
        + duration(point[0])), "hv"));
    const times = drawn.flatMap((index) => points(index).map((point) => point[0]));
    const shares = drawn.flatMap((index) => points(index).map((point) => point[1]));
    if (!times.some((time) => time > 0)) return { empty: ALL_ZERO };
    return {
      traces, legend: lineLegend(drawn),
      layout: {
        height: 340,
        xaxis: durationAxis(RESPONSE_TITLE, times, narrowScreen.matches ? 4 : 6),
        yaxis: logAxis("Requests that took longer (logarithmic)", shares, 8, smallPercent),
      },
      rows: [["scheme", "response_ns", "fraction_slower"],
        ...drawn.flatMap((index) =>
          runs[index].ccdf[view].map((point) => [labels[index], ...point]))],
    };
  },
});

charts.set("percentiles", {
  views: directions,
  build(view) {
    const summary = (index) => runs[index].latency_ns[view].system;
    const drawn = shown().filter((index) => summary(index).N > 0);
    if (drawn.length === 0) return lacking(NONE_SUCH);
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
    const drawn = among((run) => (run.phases ?? []).length > 0);
    if (drawn.length === 0) return lacking("The workload has no parts.");
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
charts.set("stages", stackedViews(() => ({
  parts: Object.entries(stageNames).map(([key, name]) => ({
    name, column: key, value: (run) => run.stages_ns[key],
  })),
  steps: TIME_STEPS, title: "Mean response time", header: "ns", total: "total",
  empty: "No time by stage was recorded.",
})));

const servicePaths = [["flash", "read"], ["flash", "program"], ["flash", "erase"], ["transfer"],
  ["bus_wait"], ["controller"], ["ram"], ["pcm_read"], ["pcm_wait"], ["search"]];
charts.set("service", stackedViews(() => ({
  parts: servicePaths.map((path) => ({
    name: readable(path.join(" ")), value: (run) => get(run.service_time_ns, path) ?? 0,
  })),
  steps: TIME_STEPS, title: "Device time", header: "ns",
  empty: "No device time was recorded.",
})));

charts.set("reads", stackedViews(() => ({
  parts: byCause("reads"), unit: "pages", title: "Flash reads", header: "pages",
  empty: "No page was read from flash.",
})));

charts.set("programs", stackedViews(() => ({
  parts: byCause("programs"), unit: "pages", title: "Flash programs", header: "pages",
  empty: "No page was programmed.",
})));

charts.set("erases", stackedViews(() => ({
  parts: ["data", "map", "log"].map((role) => ({
    name: `${role} blocks`, value: (run) => run.flash.erases[role],
  })),
  unit: "blocks", title: "Erases", header: "erases",
  empty: "No block was erased during the measured part.",
})));

charts.set("merges", stackedViews(() => ({
  parts: ["switch", "partial", "full"].map((kind) => ({
    name: kind, value: (run) => run.merges[kind],
  })),
  unit: "blocks", title: "Blocks reclaimed", header: "merges",
  empty: "No block was merged or collected during the measured part.",
})));

charts.set("associativity", {
  build(_, choices) {
    const counts = (index) => runs[index].merges.associativity_histogram;
    const drawn = shown().filter((index) => counts(index).some((n) => n > 0));
    if (drawn.length === 0) return lacking("No merge rebuilt a data block.");
    const merges = freeAxis("Merges (count)", drawn.flatMap(counts), {
      most: 8, choice: choices.scale,
    });
    const traces = drawn.map((index) => lineTrace(
      index, counts(index).map((_, blocks) => blocks), counts(index).map(merges.place),
      counts(index).map((n, blocks) => `${grouped(n)} merges rebuilt ${blocks} data blocks`)));
    const widest = Math.max(...drawn.map((index) => counts(index).length - 1));
    return {
      traces, legend: lineLegend(drawn),
      layout: {
        xaxis: padded(countAxis("Data blocks rebuilt (blocks per merge)", widest), widest),
        yaxis: merges.axis,
      },
      scale: merges.scale,
      rows: [["scheme", "data_blocks_per_merge", "merges"],
        ...drawn.flatMap((index) => counts(index).map((n, blocks) => [labels[index], blocks, n]))],
    };
  },
});

charts.set("cache", stackedViews(() => ({
  parts: ["hits", "misses"].map((kind) => ({ name: kind, value: (run) => run.map_cache[kind] })),
  unit: "count", title: "Look-ups of the map", header: "look-ups",
  empty: "No scheme here looks anything up in a cached map.",
})));

charts.set("wear", {
  build(_, choices) {
    const drawn = among((run) => run.wear.erase_max > 0 && run.wear.histogram.length > 0);
    if (drawn.length === 0) return lacking("No block was erased, so there is no wear to show.");
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
    const erases = freeAxis("Erases (per block)",
      drawn.flatMap((index) => curve(index).map((point) => point[0])),
      { most: narrowScreen.matches ? 4 : 7, choice: choices.scale });
    const traces = drawn.map((index) => lineTrace(
      index, curve(index).map((point) => erases.place(point[0])),
      curve(index).map((point) => point[1]), curve(index).map(
        (p) => `${p[1].toFixed(2)} % of blocks erased at most ${grouped(p[0])} times`),
      "hv"));
    return {
      traces, legend: lineLegend(drawn), scale: erases.scale,
      layout: {
        xaxis: erases.axis,
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
charts.set("energy", stackedViews(() => ({
  parts: energyPaths.map((path) => ({
    name: path.join(" ").replace("dram", "DRAM").replace("pcm", "PCM"),
    value: (run) => get(run.energy_uj, path),
  })),
  steps: ENERGY_STEPS, title: "Energy", header: "uJ", empty: "No energy was recorded.",
})));

const memories = { sram: "SRAM", dram: "DRAM", pcm: "PCM", host: "host memory" };
charts.set("memory", stackedViews(() => {
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
  return {
    parts: [...parts.values()].sort((a, b) => a.look - b.look), steps: BYTE_STEPS, title: "Memory",
    header: "bytes", empty: "No structure in memory was reported.",
  };
}));
