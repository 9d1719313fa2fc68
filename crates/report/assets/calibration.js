// The charts of a calibration: a view per curve, which is a pattern and a size.

const found = embedded;
const sizeText = (bytes) => withUnit(BYTE_STEPS, bytes);
const timeText = (time) => (time === null ? "not known" : duration(time));
const curveOf = (probe) => `${probe.pattern}_${probe.bytes}`;
const curves = new Map();
for (const probe of found.probes) {
  const key = curveOf(probe);
  if (!curves.has(key)) curves.set(key, []);
  curves.get(key).push(probe);
}
for (const probes of curves.values()) probes.sort((a, b) => a.depth - b.depth);
const curveViews = Object.fromEntries(
  [...curves].map(([key, [probe]]) => [key, `${sizeText(probe.bytes)} ${probe.pattern}`]));

const sides = { measured: 0, simulated: 1 };
// One colour for what belongs together; measured is full, simulated dashed.
const lookOf = (place, side) => ({
  colour: colourOf(place), dash: sides[side], symbol: SYMBOLS[sides[side]],
});
// Lines: [{ name, place, side, x, y, hover }].
function pairedChart(lines, layout, rows) {
  const look = (line) => lookOf(line.place, line.side);
  return {
    traces: lines.map((line) =>
      lineTrace(line.place, line.x, line.y, line.hover, "linear", line.name, look(line))),
    legend: lines.map((line) => ({ name: line.name, line: look(line) })),
    layout, rows,
  };
}
const depthAxis = { type: "category", title: { text: "Requests in flight" } };
const depths = (probes) => probes.map((probe) => String(probe.depth));

const figures = {
  mean: (side) => side.mean_ns,
  p50: (side) => side.percentile_ns[0],
  p99: (side) => side.percentile_ns[3],
};
charts.set("latency", {
  views: curveViews,
  build(view) {
    const probes = curves.get(view);
    const lines = Object.entries(figures).flatMap(([figure, of], place) =>
      Object.keys(sides).map((side) => ({
        name: `${figure}, ${side}`, place, side, x: depths(probes),
        y: probes.map((probe) => of(probe[side])),
        hover: probes.map((probe) => `depth ${probe.depth}: ${timeText(of(probe[side]))}`),
      }))).filter((line) => line.y.some((time) => time !== null));
    const times = lines.flatMap((line) => line.y).filter((time) => time !== null);
    return pairedChart(lines, {
      height: 340, xaxis: depthAxis, yaxis: durationAxis("Response time (logarithmic)", times, 8),
    }, [["depth", ...lines.map((line) => `${line.name} (ns)`)],
      ...probes.map((probe, index) => [probe.depth, ...lines.map((line) => line.y[index])])]);
  },
});

charts.set("rate", {
  views: curveViews,
  build(view) {
    const probes = curves.get(view);
    const lines = Object.keys(sides).map((side) => ({
      name: side, place: 0, side, x: depths(probes), y: probes.map((probe) => probe[side].iops),
      hover: probes.map((probe) => `depth ${probe.depth}: ${shortCount(probe[side].iops)} requests `
        + `a second, ${(probe[side].iops * probe.bytes / 1e6).toPrecision(4)} MB/s`),
    }));
    const rates = lines.flatMap((line) => line.y);
    return pairedChart(lines, {
      height: 340, xaxis: depthAxis,
      yaxis: logAxis("Requests a second (logarithmic)", rates, 8, shortCount),
    }, [["depth", ...lines.map((line) => `${line.name} (requests a second)`)],
      ...probes.map((probe, index) => [probe.depth, ...lines.map((line) => line.y[index])])]);
  },
});

const shares = ["p50", "p90", "p95", "p99", "p99.9", "p99.99"];
charts.set("percentiles", {
  views: curveViews,
  build(view) {
    const probes = curves.get(view);
    const lines = probes.flatMap((probe, place) => Object.keys(sides).map((side) => ({
      name: `depth ${probe.depth}, ${side}`, place, side, x: shares,
      y: probe[side].percentile_ns,
      hover: shares.map((share, index) => `${share}: ${timeText(probe[side].percentile_ns[index])}`),
    }))).filter((line) => line.y.some((time) => time !== null));
    const times = lines.flatMap((line) => line.y).filter((time) => time !== null);
    if (!probes.some((probe) => probe.measured.percentile_ns.some((time) => time !== null))) {
      return { empty: "fio told no percentiles of these probes." };
    }
    return pairedChart(lines, {
      height: 340, xaxis: { type: "category", title: { text: "Percentile of requests (%)" } },
      yaxis: durationAxis("Response time (logarithmic)", times, 8),
    }, [["percentile", ...lines.map((line) => `${line.name} (ns)`)],
      ...shares.map((share, index) => [share, ...lines.map((line) => line.y[index])])]);
  },
});
