// Single requests under the microscope: request by request, and what each part of the device did.

const probed = () => among((run) => run.probe?.requests.index.length > 0);
const NOTHING_PROBED = "No request was probed: the workload ended before.";

const panels = [
  { key: "system_ns", title: "Response", time: true },
  { key: "device_ns", title: "Device time", time: true },
  { key: "queue_depth", title: "Queue depth" },
  { key: "gc_page_copies", title: "Pages copied" },
  { key: "erases", title: "Erases" },
];

// Panels one above the other, the first on top, sharing the axis of requests.
function panelAxes() {
  const share = 1 / panels.length;
  return Object.fromEntries(panels.map((panel, place) => {
    const values = probed().flatMap((index) => runs[index].probe.requests[panel.key]);
    const largest = values.reduce((a, b) => Math.max(a, b), 0);
    const some = values.some((value) => value > 0);
    const axis = panel.time && some ? durationAxis(panel.title, values, 4)
      : { ...countAxis(panel.title, largest), nticks: 4 };
    // Few ticks: a panel is low.
    if (!panel.time) axis.dtick = Math.max(1, 10 ** Math.floor(Math.log10(largest || 1)) / 2);
    if (!panel.time && largest / axis.dtick > 4) axis.dtick *= 4;
    if (!panel.time && largest < 4) Object.assign(axis, { dtick: 1, range: [0, 4] });
    const top = 1 - place * share;
    return [`yaxis${place === 0 ? "" : place + 1}`,
      { ...axis, domain: [top - 0.84 * share, top], anchor: "x" }];
  }));
}

function requestTraces(index) {
  const { requests } = runs[index].probe;
  const said = requests.index.map((number, at) => `request ${grouped(number)}: `
    + `${requests.op[at]} of ${grouped(requests.sectors[at])} sectors at `
    + `${grouped(requests.first_sector[at])}<br>response ${duration(requests.system_ns[at])}, `
    + `device ${duration(requests.device_ns[at])}<br>${grouped(requests.queue_depth[at])} before `
    + `it, ${grouped(requests.gc_page_copies[at])} pages copied, ${grouped(requests.erases[at])} `
    + "erases");
  return panels.map((panel, place) => {
    const values = requests[panel.key].map((value) => (panel.time && value === 0 ? null : value));
    const trace = lineTrace(index, requests.index, values, said);
    Object.assign(trace.line, { width: 1.5 });
    Object.assign(trace.marker, { size: 5 });
    return { ...trace, yaxis: `y${place === 0 ? "" : place + 1}` };
  });
}

charts.set("requests", {
  build() {
    const drawn = probed();
    if (drawn.length === 0) return lacking(NOTHING_PROBED);
    const columns = Object.keys(runs[drawn[0]].probe.requests);
    return {
      traces: drawn.flatMap(requestTraces), legend: lineLegend(drawn),
      layout: {
        height: 130 * panels.length + 60, ...panelAxes(),
        xaxis: {
          title: { text: "Request (number)" }, anchor: `y${panels.length}`, tickformat: "d",
          nticks: narrowScreen.matches ? 5 : 12,
        },
      },
      rows: [["scheme", ...columns], ...drawn.flatMap((index) => {
        const { requests } = runs[index].probe;
        return requests.index.map(
          (_, at) => [labels[index], ...columns.map((column) => requests[column][at])]);
      })],
    };
  },
});

// Causes that belong together share a colour, and a height in their lane.
const causeGroups = [
  { name: "host data", causes: ["host", "read_modify_write", "pad", "trim", "parity"], height: 1 },
  { name: "map", causes: ["translate", "checkpoint"], height: 0.72 },
  { name: "collection", causes: ["gc", "gc_map_block", "gc_map_update"], height: 0.86 },
  { name: "merges and moves", causes: ["merge", "migrate", "convert", "fold", "rebuild", "refresh", "dedup"], height: 0.58 },
  { name: "wear levelling", causes: ["wear"], height: 0.44 },
  { name: "recovery", causes: ["recover"], height: 0.3 },
];

// Channels first, then what hangs on them, each kind by number.
function unitsInOrder(timeline) {
  const kinds = ["controller", "ram", "pcm", "channel", "die", "plane"];
  const order = (unit) => {
    const [kind, number = "0"] = unit.split(" ");
    return kinds.indexOf(kind) * 1e6 + Number(number);
  };
  return [...new Set(timeline.unit)].sort((a, b) => order(a) - order(b));
}

// Bars as one thick line per group with gaps in it: thousands of bars stay one element.
function laneTrace(group, look, timeline, spans, scene) {
  const { lanes, origin, factor, room } = scene;
  const [x, y, said] = [[], [], []];
  for (const at of spans) {
    const [start, end] = [timeline.start_ns[at] - origin, timeline.end_ns[at] - origin];
    const more = timeline.planes[at] > 1 ? ` on ${timeline.planes[at]} planes` : "";
    const text = `<b>${timeline.unit[at]}</b><br>${timeline.work[at]}${more}, cause `
      + `${readable(timeline.cause[at])}<br>${duration(end - start)} from ${duration(start)} on`;
    x.push(start / factor, end / factor, null);
    const lane = lanes.get(timeline.unit[at]);
    y.push(lane, lane, null);
    said.push(text, text, "");
  }
  return {
    type: "scatter", mode: "lines", name: group.name, x, y, customdata: said,
    line: { color: FILLS[look], width: room * group.height, simplify: false },
    hovertemplate: "%{customdata}<extra></extra>", legendKey: group.name,
  };
}

function timelineChart(index) {
  const { timeline } = runs[index].probe;
  if (timeline.unit.length === 0) return { empty: "No part of the device worked meanwhile." };
  const units = unitsInOrder(timeline);
  const lanes = new Map(units.map((unit, lane) => [unit, lane]));
  const room = units.length > 24 ? 9 : Math.max(14, 30 - 4 * units.length);
  // Spans are in order of start; the first request may have waited long for the first of them.
  const origin = timeline.start_ns[0];
  const end = timeline.end_ns.reduce((a, b) => Math.max(a, b), 0) - origin;
  const [factor, unit] = stepFor(TIME_STEPS, end);
  const scene = { lanes, origin, factor, room };
  const used = causeGroups.flatMap((group, look) => {
    const spans = timeline.cause.flatMap(
      (cause, at) => (group.causes.includes(cause) ? [at] : []));
    return spans.length > 0 ? [{ group, look, spans }] : [];
  });
  return {
    traces: used.map(({ group, look, spans }) => laneTrace(group, look, timeline, spans, scene)),
    legend: used.map(({ group, look }) => (
      { name: group.name, lane: { colour: FILLS[look], width: 14 * group.height } })),
    note: timeline.left_out > 0 ? `The first ${grouped(timeline.unit.length)} `
      + `operations; ${grouped(timeline.left_out)} more found no room.` : "",
    layout: {
      height: 100 + (room + 6) * Math.max(units.length, 3),
      xaxis: {
        title: { text: `Time (${unit}, 0 is ${duration(origin)} into the run)` },
        nticks: narrowScreen.matches ? 4 : 12, range: [0, 1.01 * (end / factor)],
      },
      yaxis: {
        tickvals: units.map((_, lane) => lane), ticktext: units, ticks: "", showgrid: false,
        range: [units.length - 0.4, -0.6], tickfont: { size: units.length > 24 ? 10 : 12 },
      },
    },
    rows: [["unit", "start_ns", "end_ns", "work", "cause", "planes"], ...timeline.unit.map(
      (name, at) => [name, timeline.start_ns[at], timeline.end_ns[at], timeline.work[at],
        timeline.cause[at], timeline.planes[at]])],
  };
}

charts.set("timeline", {
  views: () => new Map(probed().map((index) => [String(index), labels[index]])),
  build: (view) => (view === undefined ? lacking(NOTHING_PROBED) : timelineChart(Number(view))),
});
