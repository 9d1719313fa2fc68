// The runs that a report compares: their names, and which of them are shown, in which order.
// Whoever changes that calls `arrange`; charts and tables follow.

const runs = embedded;
const labels = runs.map((run, index) => {
  const same = runs.filter((other) => other.scheme === run.scheme);
  if (same.length === 1) return run.scheme;
  return `${run.scheme} #${runs.slice(0, index + 1).filter((o) => o.scheme === run.scheme).length}`;
});

const AS_GIVEN = runs.map((_, index) => index);
const IDEAL = runs.length > 1 ? runs.findIndex((run) => run.scheme === "ideal_page") : -1;
const arrangement = {
  order: AS_GIVEN,
  hidden: new Set(),
  // The run whose numbers all others are told in; -1: none.
  baseline: IDEAL,
  // The span of simulated time that charts over time show, in seconds; null: all of it.
  span: null,
};
const shown = () => arrangement.order.filter((index) => !arrangement.hidden.has(index));
const ALL_HIDDEN = "Every run is hidden; the bar at the top shows them again.";

// What follows the arrangement besides charts.
const followers = [];
function follow() {
  followers.forEach((one) => one());
}

function arrange(change) {
  Object.assign(arrangement, change);
  follow();
  drawAll();
}

function toggleRun(index) {
  const hidden = new Set(arrangement.hidden);
  if (!hidden.delete(index)) hidden.add(index);
  arrange({ hidden });
}

// Only that run, or all again if it is the only one already.
function isolateRun(index) {
  const alone = shown().length === 1 && shown()[0] === index;
  arrange({ hidden: new Set(alone ? [] : AS_GIVEN.filter((other) => other !== index)) });
}

// Moves a run to a place among all.
function moveRun(index, place) {
  const order = arrangement.order.filter((other) => other !== index);
  order.splice(Math.max(0, Math.min(place, order.length)), 0, index);
  arrange({ order });
}

// By a value, lowest first unless told; runs without one come last, equal ones as given.
function sortRuns(value, highestFirst = false) {
  const sign = highestFirst ? -1 : 1;
  arrange({
    order: [...AS_GIVEN].sort((a, b) => {
      const [one, two] = [value(a), value(b)];
      if (one === null || two === null) return (one === null) - (two === null) || a - b;
      return sign * (one < two ? -1 : Number(one > two)) || a - b;
    }),
  });
}

// A legend of runs; an entry hides its run everywhere.
const lineLegend = (indices) => indices.map((index) => ({
  name: labels[index], line: lineLook(index),
  act: runs.length > 1 ? () => toggleRun(index) : null,
}));

// The arrangement as the part of the address behind the first `&`, which bookmarks and copies keep;
// before it stands the section.
function addressOf(section) {
  const { order, hidden, baseline, span } = arrangement;
  const parts = [section];
  if (order.some((index, place) => index !== place)) parts.push(`order=${order.join(",")}`);
  if (hidden.size > 0) parts.push(`hide=${[...hidden].sort((a, b) => a - b).join(",")}`);
  if (baseline !== IDEAL) parts.push(`times=${baseline < 0 ? "none" : baseline}`);
  if (span) parts.push(`from=${span[0]}`, `to=${span[1]}`);
  return parts.length > 1 || section ? `#${parts.join("&")}` : "#";
}

const sectionOfAddress = () => location.hash.slice(1).split("&")[0].replace(/^.*=.*$/, "");

// What an address asks for; whatever is no run of this page is left out.
function arrangementOf(address) {
  const asked = new URLSearchParams(address.replace(/^#/, ""));
  const numbers = (key) => (asked.get(key) ?? "").split(",").filter((text) => /^\d+$/.test(text))
    .map(Number).filter((index) => index < runs.length);
  const order = [...new Set([...numbers("order"), ...AS_GIVEN])];
  const times = asked.get("times");
  const span = [asked.get("from"), asked.get("to")].map((text) => Number.parseFloat(text));
  return {
    order, hidden: new Set(numbers("hide")),
    baseline: times === "none" ? -1 : numbers("times")[0] ?? IDEAL,
    span: span[0] >= 0 && span[1] > span[0] ? span : null,
  };
}
