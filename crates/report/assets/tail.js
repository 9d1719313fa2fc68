// The slowest requests of each run beside all of them: their time by stage, and what the flash did.

const tailed = () => among((run) => run.tail);

const tailGroups = [
  {
    name: "all",
    of: (run) => ({ requests: run.latency_ns.all.system.N, stages_ns: run.stages_ns }),
  },
  { name: "1 %", of: (run) => run.tail.slowest_1_percent },
  { name: "0.1 %", of: (run) => run.tail.slowest_0_1_percent },
];

// Of each view: the groups that it shows, its parts, and the value of one.
const tailCauses = causes.map((cause) => [cause, readable(cause)]);
const tailViews = {
  share: {
    name: "Time by stage (share)", title: "Mean response time", groups: tailGroups, shares: true,
    parts: Object.entries(stageNames), value: (group, key) => group.stages_ns[key],
  },
  time: {
    name: "Time by stage", title: "Mean response time", groups: tailGroups,
    parts: Object.entries(stageNames), value: (group, key) => group.stages_ns[key],
  },
  own: {
    name: "Flash work for them", title: "Work of dies and channels per request",
    groups: tailGroups.slice(1), parts: tailCauses, value: (group, key) => group.work_ns[key],
  },
  ahead: {
    name: "Flash work for those in front", title: "Work of dies and channels per request",
    groups: tailGroups.slice(1), parts: tailCauses,
    value: (group, key) => group.ahead.work_ns[key],
  },
};

// A bar per run and group, a segment per part that any of them uses.
function tailChart({ title, groups, parts, value, shares = false }) {
  const bars = tailed().flatMap((index) => groups.map(({ name, of }) => (
    { label: `${labels[index]}, ${name}`, group: of(runs[index]) })));
  const used = parts
    .map(([key, name], look) => ({
      name, look, column: key, raw: bars.map(({ group }) => value(group, key)),
    }))
    .filter((part) => part.raw.some((time) => time > 0));
  if (used.length === 0) return lacking("None of it took any time.");
  const sums = bars.map((_, bar) => used.reduce((sum, part) => sum + part.raw[bar], 0));
  const largest = Math.max(...sums);
  const [factor, unit] = stepFor(TIME_STEPS, largest);
  const scale = (bar) => (shares ? (sums[bar] || 1) / 100 : factor);
  for (const part of used) part.values = part.raw.map((time, bar) => time / scale(bar));
  const describe = (part, _, bar) => {
    const share = sums[bar] > 0 ? (100 * part.raw[bar]) / sums[bar] : 0;
    return `<b>${bars[bar].label}</b> (${grouped(bars[bar].group.requests)} requests)`
      + `<br>${part.name}: ${duration(part.raw[bar])}`
      + `<br>${share.toFixed(1)} % of ${duration(sums[bar])}`;
  };
  const names = bars.map((bar) => bar.label);
  const places = names.map((name, place) => ({ place, name, text: name }));
  const room = narrowScreen.matches ? 1.4 : 1.15;
  const ends = sums.map((sum, bar) => sum / scale(bar));
  const row = bars.length > 12 ? 26 : 34;
  return {
    traces: barTraces(used, describe, places),
    legend: barLegend(used),
    layout: {
      ...barLayout({
        title: { text: `${title} (${shares ? "%" : unit})` }, nticks: narrowScreen.matches ? 4 : 6,
        range: [0, (shares ? 100 : Math.max(...ends)) * room],
      }, places),
      height: 112 + row * bars.length,
      annotations: sums.map((sum, bar) => ({
        x: ends[bar], y: names[bar], text: duration(sum), xanchor: "left", xshift: 4,
        showarrow: false, align: "left",
      })),
    },
    rows: [
      ["scheme and requests", "requests", ...used.map((part) => `${part.column} (ns)`), "total"],
      ...bars.map(({ label, group }, bar) => (
        [label, group.requests, ...used.map((part) => part.raw[bar]), sums[bar]])),
    ],
  };
}

charts.set("tail", {
  views: Object.fromEntries(Object.entries(tailViews).map(([key, { name }]) => [key, name])),
  build: (view) => tailChart(tailViews[view]),
});
