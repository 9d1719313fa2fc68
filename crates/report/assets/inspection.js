// The charts of a workload that was looked into.

const found = embedded;
const percent = (share) => 100 * share;
const shareText = (share) => `${percent(share).toFixed(2)} %`;
const fewTicks = () => (narrowScreen.matches ? 4 : 9);

// Lines by name: [{ name, x, y, hover, shape }].
function lineChart(lines, layout, rows) {
  return {
    traces: lines.map((line, index) =>
      lineTrace(index, line.x, line.y, line.hover, line.shape ?? "linear", line.name)),
    legend: lines.map((line, index) => ({ name: line.name, line: lineLook(index) })),
    layout, rows,
  };
}

// Columns side by side over categories: [{ name, values, hover }], stacked.
function columnChart(parts, categories, axes, rows) {
  const traces = parts.map((part, look) => ({
    type: "bar", name: part.name, x: categories, y: part.values,
    marker: {
      color: colourOf(look), line: { color: cssColour("paper"), width: 1 },
      pattern: {
        shape: PATTERNS[look], fgcolor: cssColour("paper"), fillmode: "overlay", size: 7,
        solidity: 0.25, bgcolor: colourOf(look),
      },
    },
    customdata: part.hover, hovertemplate: "%{customdata}<extra></extra>", legendKey: part.name,
  }));
  const layout = {
    barmode: "stack", bargap: 0.3, yaxis: axes.y,
    xaxis: {
      type: "category", title: { text: axes.x }, ticks: "", showgrid: false, tickangle: 0,
      // Every category where there is room, as many as fit where there is not.
      dtick: Math.ceil(categories.length / (narrowScreen.matches ? 5 : 8)),
    },
  };
  return { traces, layout, rows, legend: parts.map(({ name }, look) => ({ name, bar: look })) };
}

// A power of two, as short as an axis needs it.
const binaryCount = (value) => {
  const [step, unit] = [[2 ** 30, "Gi"], [2 ** 20, "Mi"], [2 ** 10, "Ki"], [1, ""]]
    .find(([least]) => value >= least);
  return `${value / step}${unit}`;
};

// Every power of two from the smallest to the largest size, with the reads and writes up to it.
function sizeBins() {
  const known = new Map(found.size_bins.map((bin) => [bin.bytes_to, bin]));
  const [first, last] = [found.size_bins[0].bytes_to, found.size_bins.at(-1).bytes_to];
  const bins = [];
  for (let to = first; to <= last; to *= 2) {
    const from = to === 1 ? 1 : to / 2 + 1;
    bins.push(known.get(to) ?? { bytes_from: from, bytes_to: to, reads: 0, writes: 0 });
  }
  return bins.map((bin) => ({
    ...bin, label: `≤ ${withUnit(BYTE_STEPS, bin.bytes_to)}`,
    what: `${grouped(bin.bytes_from)} to ${grouped(bin.bytes_to)} bytes`,
  }));
}

const classLimits = { small: "small, up to 4 KiB", medium: "medium, below 16 KiB", large: "large" };
charts.set("sizes", {
  views: { bins: "Powers of two", classes: "Three classes" },
  build(view) {
    const all = found.reads + found.writes;
    if (all === 0) return { empty: "There is no read and no write." };
    const binned = view === "bins";
    const rows = binned ? sizeBins() : found.size_classes.map((one) =>
      ({ ...one, label: one.class, what: classLimits[one.class] }));
    const part = (key) => ({
      name: key, values: rows.map((one) => percent(one[key] / all)),
      hover: rows.map((one) => `<b>${one.what}</b><br>${grouped(one[key])} ${key}, `
        + `${shareText(one[key] / all)} of all`),
    });
    const columns = binned ? ["bytes_from", "bytes_to", "reads", "writes"]
      : ["class", "bytes_min", "bytes_max", "reads", "writes"];
    return columnChart([part("reads"), part("writes")], rows.map((one) => one.label),
      { x: binned ? "Size (at most, doubling)" : "Class of size",
        y: { title: { text: "Requests (%)" }, rangemode: "tozero" } },
      [columns, ...rows.map((one) => columns.map((column) => one[column]))]);
  },
});

charts.set("arrivals", {
  build() {
    const { bins, gaps } = found.interarrival;
    if (gaps === 0) return { empty: "There are fewer than two requests." };
    if (bins.length === 0) return { empty: "All requests come at once." };
    // A step per bin, down to zero where bins between are empty and at both ends.
    const x = [bins[0].from_ns], y = [0], hover = [""];
    bins.forEach((bin, index) => {
      const text = `${duration(bin.from_ns)} to ${duration(bin.to_ns)}: ${grouped(bin.gaps)} gaps, `
        + shareText(bin.gaps / gaps);
      x.push(bin.from_ns, bin.to_ns + 1);
      y.push(percent(bin.gaps / gaps), percent(bin.gaps / gaps));
      hover.push(text, text);
      if (bins[index + 1]?.from_ns !== bin.to_ns + 1) {
        x.push(bin.to_ns + 1);
        y.push(0);
        hover.push("");
        if (bins[index + 1]) {
          x.push(bins[index + 1].from_ns);
          y.push(0);
          hover.push("");
        }
      }
    });
    return lineChart([{ name: "gaps between requests", x, y, hover }], {
      xaxis: durationAxis("Time from one request to the next (logarithmic)", x, fewTicks()),
      yaxis: { title: { text: "Gaps (%)" }, rangemode: "tozero" },
    }, [["from_ns", "to_ns", "gaps"], ...bins.map((bin) => [bin.from_ns, bin.to_ns, bin.gaps])]);
  },
});

const NO_ACCESS = "No page is read or written.";

charts.set("lru_stack", {
  build() {
    const { page_accesses: accesses, positions, shares_of_accesses: shares } = found.lru_stack;
    if (accesses === 0) return { empty: NO_ACCESS };
    const hover = positions.map((position, index) =>
      `${shareText(shares[index])} within ${grouped(position)} positions`);
    return lineChart(
      [{ name: "page accesses", x: positions, y: shares.map(percent), hover, shape: "hv" }], {
        height: narrowScreen.matches ? 300 : 380,
        xaxis: logAxis("Position in the LRU stack (pages, logarithmic)", positions, fewTicks(),
          shortCount),
        yaxis: { title: { text: "Page accesses (%)" }, range: [-2, 103], dtick: 20 },
      },
      [["position", "share_of_accesses"], ...positions.map((position, index) =>
        [position, shares[index]])]);
  },
});

const caches = {
  entries: { name: "cache of entries", unit: "entries", bytes: found.map_cache?.entry_bytes },
  translation_pages: {
    name: "cache of translation pages", unit: "translation pages", bytes: found.page_bytes,
  },
};
charts.set("miss_ratios", {
  views: { entries: "Entries", translation_pages: "Translation pages" },
  build(view) {
    const { sizes, misses, miss_ratios: ratios, lookups } = found.map_cache[view];
    if (lookups === 0) return { empty: NO_ACCESS };
    const { name, unit, bytes } = caches[view];
    const memory = (size) => withUnit(BYTE_STEPS, Math.ceil(size * bytes));
    const hover = sizes.map((size, index) => `${grouped(size)} ${unit}, ${memory(size)}: `
      + `${shareText(ratios[index])} miss, ${grouped(misses[index])} of ${grouped(lookups)}`);
    return lineChart([{ name, x: sizes, y: ratios.map(percent), hover, shape: "hv" }], {
      height: narrowScreen.matches ? 300 : 380,
      // Every tick in places of the cache, and below it in bytes.
      xaxis: logAxis(`Size (${unit}, and bytes; logarithmic)`, sizes, fewTicks(),
        (size) => `${shortCount(size)}<br>${memory(size)}`),
      yaxis: { title: { text: "Look-ups that miss (%)" }, rangemode: "tozero" },
    }, [[`size_${view}`, "size_bytes", "misses", "miss_ratio"], ...sizes.map((size, index) =>
      [size, Math.ceil(size * bytes), misses[index], ratios[index]])]);
  },
});

charts.set("footprint", {
  views: { time: "Over time", requests: "Over requests" },
  build(view) {
    const points = found.footprint_over_time;
    if (found.footprint_pages === 0) return { empty: NO_ACCESS };
    const byTime = view === "time";
    if (byTime && found.span_ns === 0) return { empty: "All requests come at once." };
    const [factor, unit] = timeScale(found.span_ns / 1e9);
    const x = points.map((point) => (byTime ? point.time_ns / 1e9 / factor : point.requests));
    const line = (name, key) => ({
      name, x, y: points.map((point) => point[key]), shape: "hv",
      hover: points.map((point) => `${grouped(point[key])} pages after `
        + `${grouped(point.requests)} requests, ${duration(point.time_ns)}`),
    });
    return lineChart(
      [line("read or written", "footprint_pages"), line("written", "written_footprint_pages")], {
        xaxis: byTime ? { title: { text: `Time (${unit})` }, nticks: 6 }
          : { ...countAxis("Requests (count)", points.at(-1).requests), nticks: 6 },
        yaxis: countAxis("Distinct pages (count)", found.footprint_pages),
      },
      [["time_ns", "requests", "footprint_pages", "written_footprint_pages"],
        ...points.map((point) => [point.time_ns, point.requests, point.footprint_pages,
          point.written_footprint_pages])]);
  },
});

charts.set("updates", {
  views: { pages: "Pages", page_writes: "Writes to them" },
  build(view) {
    const { bins, written_pages: pages, page_writes: writes } = found.update_frequency;
    if (pages === 0) return { empty: "No page is written." };
    const whole = view === "pages" ? pages : writes;
    const label = (bin) => (bin.writes_from === bin.writes_to ? `${bin.writes_to}`
      : `≤ ${binaryCount(bin.writes_to)}`);
    const part = {
      name: view === "pages" ? "written pages" : "page writes",
      values: bins.map((bin) => percent(bin[view] / whole)),
      hover: bins.map((bin) => `<b>written ${grouped(bin.writes_from)} to `
        + `${grouped(bin.writes_to)} times</b><br>${grouped(bin.pages)} pages, `
        + `${shareText(bin.pages / pages)}<br>${grouped(bin.page_writes)} page writes, `
        + shareText(bin.page_writes / writes)),
    };
    return columnChart([part], bins.map(label), {
      x: "Writes of a page (at most, doubling)",
      y: { title: { text: view === "pages" ? "Written pages (%)" : "Page writes (%)" },
        rangemode: "tozero" },
    }, [["writes_from", "writes_to", "pages", "page_writes"], ...bins.map((bin) =>
      [bin.writes_from, bin.writes_to, bin.pages, bin.page_writes])]);
  },
});

const windowKinds = {
  by_accesses: { key: "page_accesses", text: (length) => `${grouped(length)} page accesses`,
    axis: "Window (page accesses, logarithmic)", tick: shortCount },
  by_time: { key: "time_ns", text: duration, axis: "Window (logarithmic)", tick: duration },
};
charts.set("working_set", {
  views: { by_accesses: "By accesses", by_time: "By time" },
  build(view) {
    const rows = found.working_set[view];
    const kind = windowKinds[view];
    if (rows.every((row) => row.pages_max === 0)) {
      return { empty: "The trace is shorter than the shortest window." };
    }
    const x = rows.map((row) => row[kind.key]);
    const line = (name, key) => ({
      name, x, y: rows.map((row) => row[key] || null),
      hover: rows.map((row) => `${grouped(Number(row[key].toPrecision(6)))} distinct pages in `
        + `${kind.text(row[kind.key])}<br>${grouped(row.windows)} windows`),
    });
    const values = rows.flatMap((row) => [row.pages_mean, row.pages_max]);
    return lineChart([line("mean", "pages_mean"), line("most", "pages_max")], {
      xaxis: logAxis(kind.axis, x, fewTicks(), kind.tick),
      yaxis: logAxis("Distinct pages (logarithmic)", values, 8, shortCount),
    }, [[kind.key, "windows", "pages_mean", "pages_max"], ...rows.map((row) =>
      [row[kind.key], row.windows, row.pages_mean, row.pages_max])]);
  },
});
