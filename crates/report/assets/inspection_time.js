// What came when, and where: the load and the addresses of a workload over time.

const RATE_STEPS = [[1, "B/s"], [1e3, "kB/s"], [1e6, "MB/s"], [1e9, "GB/s"]];
const AT_ONCE = { empty: "All requests come at once." };

// The axis of simulated time, and what turns nanoseconds into places on it.
function timeAxis() {
  const [factor, unit] = timeScale(found.span_ns / 1e9);
  return {
    axis: { title: { text: `Time (${unit})` }, nticks: 6 },
    place: (nanoseconds) => nanoseconds / 1e9 / factor,
  };
}

const loadKinds = {
  iops: {
    axis: "Requests per second", steps: [[1, ""]], header: "iops", columns: [
      ["reads", (load) => load.reads], ["writes", (load) => load.writes],
      ["trims and flushes", (load) => load.trims.map((trims, place) => trims + load.flushes[place])],
    ],
    text: (rate) => `${grouped(Number(rate.toPrecision(4)))} a second`,
    short: shortCount, mean: "iops_mean", max: "iops_max",
  },
  bandwidth: {
    axis: "Bytes per second", steps: RATE_STEPS, header: "bytes_per_s", columns: [
      ["read", (load) => load.bytes_read], ["written", (load) => load.bytes_written],
    ],
    text: (rate) => withUnit(RATE_STEPS, rate), short: (rate) => withUnit(RATE_STEPS, rate),
    mean: "bytes_per_s_mean", max: "bytes_per_s_max",
  },
};
charts.set("load", {
  views: { iops: "Requests", bandwidth: "Bytes" },
  build(view, choices) {
    const load = found.load_over_time;
    const kind = loadKinds[view];
    // The last window is cut off by the end, and has no rate.
    const whole = load.reads.length - 1;
    if (whole < 1) return found.span_ns === 0 ? AT_ONCE : { empty: "There are too few requests." };
    const rate = (count) => (count * 1e9) / load.window_ns;
    const parts = kind.columns
      .map(([name, counts]) => ({ name, rates: counts(load).slice(0, whole).map(rate) }))
      .filter(({ rates }) => rates.some((one) => one > 0));
    if (parts.length === 0) return { empty: "No byte is read or written." };
    const all = parts.flatMap(({ rates }) => rates);
    const [factor, unit] = stepFor(kind.steps, all.reduce((a, b) => Math.max(a, b), 0));
    const height = freeAxis(kind.axis, all, {
      most: 6, choice: choices.scale, far: Infinity, text: kind.short, factor, unit,
    });
    const time = timeAxis();
    // A step per window, the last one as long as the others.
    const starts = [...parts[0].rates, 0].map((_, window) => window * load.window_ns);
    const lines = parts.map(({ name, rates }) => {
      const steps = [...rates, rates.at(-1)];
      return {
        name, shape: "hv", x: starts.map(time.place), y: steps.map(height.place),
        hover: steps.map((one, window) => `${kind.text(one)}<br>in `
          + `${duration(load.window_ns)} from ${duration(starts[window])} on`),
      };
    });
    const chart = lineChart(lines, {
      height: narrowScreen.matches ? 300 : 340, xaxis: time.axis, yaxis: height.axis,
    }, [["from_ns", "to_ns", ...parts.map(({ name }) => `${name.replaceAll(" ", "_")}_${kind.header}`)],
      ...starts.slice(0, -1).map((from, window) =>
        [from, from + load.window_ns, ...parts.map(({ rates }) => rates[window])])]);
    for (const trace of chart.traces) trace.line.width = 1.5;
    return {
      ...chart, scale: height.scale,
      note: `Over the whole time ${kind.text(load[kind.mean])}, in the busiest window `
        + `${kind.text(load[kind.max])}. A window is ${duration(load.window_ns)} long.`,
    };
  },
});

// Ticks at a power of two of bytes.
function bytesAxis(title, largest) {
  const step = 2 ** Math.ceil(Math.log2(largest / 6));
  const ticks = Array.from({ length: Math.floor(largest / step) + 1 }, (_, tick) => tick * step);
  return {
    title: { text: title }, range: [0, largest], tickmode: "array", tickvals: ticks,
    ticktext: ticks.map((tick) => (tick === 0 ? "0" : withUnit(BYTE_STEPS, tick))),
  };
}

// Shades from few to many; each begins at a power of the largest count.
const SHADES = [0.18, 0.34, 0.5, 0.66, 0.82, 1];
function shadesOf(most) {
  const from = SHADES.map((_, shade) => Math.ceil(most ** (shade / SHADES.length)));
  const bounds = [...new Set(from)].sort((a, b) => a - b);
  const opacities = bounds.map((_, shade) => SHADES[SHADES.length - bounds.length + shade]);
  const rgb = window.matchMedia("(prefers-color-scheme: dark)").matches ? [86, 180, 233] : [0, 114, 178];
  return bounds.map((least, shade) => ({
    least, largest: shade + 1 < bounds.length ? bounds[shade + 1] - 1 : most,
    rgba: [...rgb, Math.round(255 * opacities[shade])], colour: `rgba(${rgb},${opacities[shade]})`,
  }));
}

// A picture with a pixel per cell, which the browser enlarges without blurring it, whatever the
// density of the screen; the largest address is at the top.
function pictureOf(cells, shades, windows, bands) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [windows, bands];
  const context = canvas.getContext("2d");
  const picture = context.createImageData(windows, bands);
  for (const { window, band, count } of cells) {
    const shade = shades.find(({ largest }) => count <= largest);
    picture.data.set(shade.rgba, 4 * ((bands - 1 - band) * windows + window));
  }
  context.putImageData(picture, 0, 0);
  return canvas.toDataURL();
}

const placeViews = {
  all: ["Reads and writes", (reads, writes) => reads + writes, "requests"],
  reads: ["Reads", (reads) => reads, "reads"],
  writes: ["Writes", (_, writes) => writes, "writes"],
};
charts.set("addresses", {
  views: Object.fromEntries(Object.entries(placeViews).map(([key, [name]]) => [key, name])),
  build(view) {
    const grid = found.addresses_over_time;
    const [, count, word] = placeViews[view];
    const cells = grid.windows.map((window, place) => ({
      window, band: grid.bands[place], count: count(grid.reads[place], grid.writes[place]),
    })).filter((cell) => cell.count > 0);
    if (cells.length === 0) return { empty: view === "all" ? NO_ACCESS : `There are no ${word}.` };
    if (found.span_ns === 0) return AT_ONCE;
    const most = cells.reduce((largest, cell) => Math.max(largest, cell.count), 0);
    const shades = shadesOf(most);
    const time = timeAxis();
    const edge = Math.max(...grid.bands) + 1;
    const columns = Math.max(...grid.windows) + 1;
    const from = ({ window, band }) => [window * grid.window_ns, band * grid.band_bytes];
    // What stands under the pointer: the middles of the cells, which are not drawn.
    const middles = {
      type: "scatter", mode: "none",
      x: cells.map(({ window }) => time.place((window + 0.5) * grid.window_ns)),
      y: cells.map(({ band }) => (band + 0.5) * grid.band_bytes),
      customdata: cells.map((cell) => `${grouped(cell.count)} ${word}<br>in `
        + `${duration(grid.window_ns)} from ${duration(from(cell)[0])} on<br>in `
        + `${withUnit(BYTE_STEPS, grid.band_bytes)} from ${withUnit(BYTE_STEPS, from(cell)[1])} on`),
      hovertemplate: "%{customdata}<extra></extra>",
    };
    const range = ({ least, largest }) => (least === largest ? grouped(least)
      : `${grouped(least)} to ${grouped(largest)}`);
    return {
      traces: [middles],
      legend: shades.map((shade, place) => ({
        name: place === 0 ? `${range(shade)} ${word} a cell` : range(shade), act: null,
        lane: { colour: shade.colour, width: 14 },
      })),
      layout: {
        height: narrowScreen.matches ? 320 : 420,
        xaxis: { ...time.axis, range: [0, time.place(found.span_ns)] },
        yaxis: bytesAxis("Address", edge * grid.band_bytes),
        images: [{
          source: pictureOf(cells, shades, columns, edge), layer: "below", sizing: "stretch",
          xref: "x", yref: "y", x: 0, y: edge * grid.band_bytes,
          sizex: time.place(columns * grid.window_ns), sizey: edge * grid.band_bytes,
        }],
      },
      note: found.units.length > 1 ? `The addresses of ${found.units.length} units lie upon each `
        + "other, as each counts its own from 0; --unit shows one alone." : "",
      rows: [["from_ns", "from_bytes", "reads", "writes"], ...grid.windows.map((window, place) =>
        [...from({ window, band: grid.bands[place] }), grid.reads[place], grid.writes[place]])],
    };
  },
});
