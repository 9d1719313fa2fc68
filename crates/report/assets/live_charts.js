// The charts over time of a drive that serves. What it told so far is in `live`.

// Nothing was asked yet; what waits for the page waits for the first answer.
document.documentElement.dataset.live = "false";
// Columns of the drive's looks, as /live.json names them; all count since serving began.
const live = { looks: null, reclaims: [], blocks: null, told: null };
const LOOKS_MAX = 4800;
// Steps that a curve has at most: more are no more seen.
const STEPS_MAX = 240;
const RATE_STEPS = [[1, "B/s"], [1e3, "kB/s"], [1e6, "MB/s"], [1e9, "GB/s"]];
const NOT_YET = { empty: "Nothing was asked of the drive yet." };
const words = (name) => name.replaceAll("_", " ");

// The columns with a path of names; `walk` makes the same of each.
function mapColumns(columns, walk) {
  return Object.fromEntries(Object.entries(columns).map(([name, one]) =>
    [name, Array.isArray(one) ? walk(one) : mapColumns(one, walk)]));
}

function joined(before, more) {
  return Object.fromEntries(Object.entries(more).map(([name, one]) =>
    [name, Array.isArray(one) ? before[name].concat(one) : joined(before[name], one)]));
}

// Takes what is new; of too many looks every second one goes, as on the drive.
function remember(more) {
  live.looks = live.looks ? joined(live.looks, more) : more;
  if (live.looks.at_ms.length > LOOKS_MAX) {
    live.looks = mapColumns(live.looks, (column) => column.filter((_, place) => place % 2 === 1));
  }
}

// Places in the looks at which a curve has its steps: of the last minute, or of all.
function places(span) {
  const at = live.looks?.at_ms ?? [];
  const from = span === "minute" ? (at.at(-1) ?? 0) - 60_000 : 0;
  const first = Math.max(0, at.findIndex((ms) => ms >= from) - 1);
  const stride = Math.max(1, Math.ceil((at.length - first) / STEPS_MAX));
  const all = [];
  for (let place = at.length - 1; place >= first; place -= stride) all.unshift(place);
  return all;
}

const SPANS = { minute: "Last minute", all: "All" };

// What a column grew by in each step.
const growth = (column, steps) => steps.slice(1).map((at, place) => column[at] - column[steps[place]]);

function timeOf(steps) {
  const at = steps.map((place) => live.looks.at_ms[place] / 1000);
  const end = at.at(-1) ?? 0;
  const [factor, unit] = end >= 7200 ? [3600, "h"] : end >= 600 ? [60, "min"] : [1, "s"];
  const x = at.map((seconds) => seconds / factor);
  // A step reaches to the next; the first ends where the second look was.
  return {
    x, unit, at,
    axis: {
      title: { text: `Time since serving began (${unit})` }, nticks: narrowScreen.matches ? 5 : 8,
      range: [x[0] ?? 0, Math.max(x.at(-1) ?? 1, (x[0] ?? 0) + 1e-3)],
    },
  };
}

// A value for each step, drawn from its beginning to its end.
const stepped = (values) => [...values, values.at(-1) ?? null];

const kinds = {
  bytes: {
    axis: "Bytes a second", steps: RATE_STEPS, parts: ["read", "write"], names: ["read", "written"],
    header: "bytes_per_s",
  },
  requests: {
    axis: "Requests a second", steps: [[1, ""], [1e3, "k"], [1e6, "M"]],
    parts: ["read", "write", "trim", "flush"], names: ["reads", "writes", "trims", "flushes"],
    header: "requests_per_s",
  },
};

charts.set("throughput", {
  views: { bytes: "Bytes", requests: "Requests" },
  choices: { clock: { clients: "Clients' seconds", simulated: "Simulated seconds" }, span: SPANS },
  build(view, { clock, span }) {
    const steps = places(span);
    if (steps.length < 2) return NOT_YET;
    const kind = kinds[view];
    const time = timeOf(steps);
    const passed = clock === "simulated"
      ? growth(live.looks.simulated_ns, steps).map((ns) => ns / 1e9)
      : growth(live.looks.at_ms, steps).map((ms) => ms / 1000);
    const rates = kind.parts.map((part) => growth(live.looks[view][part], steps)
      .map((count, place) => (passed[place] > 0 ? count / passed[place] : 0)));
    const largest = rates.flat().reduce((a, b) => Math.max(a, b), 0);
    if (largest === 0) return NOT_YET;
    const [factor, unit] = stepFor(kind.steps, largest);
    const drawn = kind.parts.flatMap((_, part) => (rates[part].some((rate) => rate > 0) ? [part] : []));
    return {
      traces: drawn.map((part) => ({
        ...lineTrace(part, time.x, stepped(rates[part]).map((rate) => rate / factor),
          stepped(rates[part]).map((rate) => withUnit(kind.steps, rate)), "hv", kind.names[part]),
        mode: "lines",
      })),
      legend: drawn.map((part) => ({ name: kind.names[part], line: lineLook(part) })),
      layout: {
        xaxis: time.axis,
        yaxis: { title: { text: unit ? `${kind.axis} (${unit})` : kind.axis }, rangemode: "tozero" },
      },
      rows: [["to_s", ...kind.parts.map((part) => `${part}_${kind.header}`)],
        ...time.at.slice(1).map((at, place) => [at, ...rates.map((rate) => rate[place])])],
    };
  },
});

charts.set("waf", {
  choices: { span: SPANS },
  build(view, { span }) {
    const steps = places(span);
    if (steps.length < 2) return NOT_YET;
    const time = timeOf(steps);
    const written = growth(live.looks.write_pages, steps);
    if (!written.some((pages) => pages > 0)) return { empty: "The host wrote nothing in this time." };
    const causes = Object.keys(live.looks.programs);
    const shares = causes.map((cause) => growth(live.looks.programs[cause], steps)
      .map((pages, place) => (written[place] > 0 ? pages / written[place] : 0)));
    const used = causes.flatMap((_, cause) => (shares[cause].some((share) => share > 0) ? [cause] : []));
    return {
      traces: used.map((cause) => ({
        type: "scatter", mode: "lines", stackgroup: "causes", name: words(causes[cause]),
        x: time.x, y: stepped(shares[cause]), legendKey: words(causes[cause]),
        line: { color: cssColour("paper"), width: 0.5, shape: "hv" },
        fillcolor: FILLS[cause % FILLS.length],
        fillpattern: {
          shape: PATTERNS[cause % PATTERNS.length], fgcolor: "#1c1c1c", fillmode: "overlay", size: 7,
          solidity: 0.12, bgcolor: FILLS[cause % FILLS.length],
        },
        hovertemplate: `<b>${words(causes[cause])}</b><br>%{y:.3f}<extra></extra>`,
      })),
      legend: used.map((cause) => ({ name: words(causes[cause]), fill: cause })),
      layout: {
        xaxis: time.axis, hovermode: "x",
        yaxis: { title: { text: "Pages programmed per page written" }, rangemode: "tozero" },
      },
      rows: [["to_s", ...causes], ...time.at.slice(1).map((at, place) =>
        [at, ...shares.map((share) => share[place])])],
    };
  },
});

charts.set("free", {
  choices: { span: SPANS },
  build(view, { span }) {
    const steps = places(span);
    if (steps.length < 2) return NOT_YET;
    const time = timeOf(steps);
    const free = steps.map((place) => live.looks.free_blocks[place]);
    const threshold = live.told.free_blocks_threshold;
    const most = Math.max(threshold, ...free);
    const names = ["free blocks", "threshold"];
    return {
      traces: [free, free.map(() => threshold)].map((y, line) => ({
        ...lineTrace(line, time.x, y, y.map(grouped), "linear", names[line]), mode: "lines",
      })),
      legend: names.map((name, line) => ({ name, line: lineLook(line) })),
      layout: { xaxis: time.axis, yaxis: padded(countAxis("Blocks", most), most || 1) },
      rows: [["at_s", "free_blocks", "threshold"],
        ...time.at.map((at, place) => [at, free[place], threshold])],
    };
  },
});

charts.set("cache", {
  choices: { span: SPANS },
  build(view, { span }) {
    const steps = places(span);
    if (steps.length < 2) return NOT_YET;
    if (live.looks.map_lookups.at(-1) === 0) {
      return { empty: "Nothing was looked up in a cached map: this scheme may have none." };
    }
    const time = timeOf(steps);
    const lookups = growth(live.looks.map_lookups, steps);
    const hits = growth(live.looks.map_hits, steps);
    const shares = lookups.map((all, place) => (all > 0 ? (100 * hits[place]) / all : null));
    return {
      traces: [{
        ...lineTrace(0, time.x, stepped(shares), stepped(shares).map((share) =>
          (share === null ? "" : `${share.toFixed(2)} %`)), "hv", "hits"), mode: "lines",
      }],
      legend: [{ name: "hits", line: lineLook(0) }],
      layout: { xaxis: time.axis, yaxis: { title: { text: "Look-ups answered (%)" }, range: [-3, 103] } },
      rows: [["to_s", "lookups", "hits"],
        ...time.at.slice(1).map((at, place) => [at, lookups[place], hits[place]])],
    };
  },
});
