// Numbers as people read them on axes and under the pointer. Mirrors the steps of format.rs.

const TIME_STEPS = [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]];
const ENERGY_STEPS = [[1e-3, "nJ"], [1, "µJ"], [1e3, "mJ"], [1e6, "J"], [1e9, "kJ"]];
const BYTE_STEPS = [0, 1, 2, 3, 4, 5].map(
  (power) => [1024 ** power, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"][power]]);
const COUNT_STEPS = [[1, ""]];

// The largest step that leaves at least 1 of the largest value; the plain unit for zero.
function stepFor(steps, largest) {
  const plain = steps.find(([factor]) => factor === 1);
  if (!(largest > 0)) return plain;
  return steps.filter(([factor]) => largest / factor >= 1).pop() ?? steps[0];
}

// One for all numbers: a page writes tens of thousands of them, and toLocaleString makes a format for each.
const GROUPS = new Intl.NumberFormat("en-US", { maximumFractionDigits: 3 });
const grouped = (value) => GROUPS.format(value);

function withUnit(steps, value) {
  const [factor, unit] = stepFor(steps, Math.abs(value));
  const scaled = Number((value / factor).toPrecision(4));
  return `${grouped(scaled)} ${unit}`.trim();
}

const duration = (nanoseconds) => withUnit(TIME_STEPS, nanoseconds);

// Ticks of a logarithmic axis: decades, or 1-2-5 where fewer than three fit.
function logTicks(smallest, largest, most) {
  const candidates = (factors) => {
    const ticks = [];
    for (let power = Math.floor(Math.log10(smallest)) - 1; 10 ** power <= largest * 10; power++) {
      for (const factor of factors) {
        const tick = factor * 10 ** power;
        if (tick >= smallest * 0.999 && tick <= largest * 1.001) ticks.push(tick);
      }
    }
    return ticks;
  };
  let ticks = candidates([1]);
  if (ticks.length < 3) ticks = candidates([1, 2, 5]);
  if (ticks.length < 3) ticks = candidates([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const stride = Math.ceil(ticks.length / most);
  return ticks.filter((_, index) => index % stride === 0);
}

// A logarithmic axis; `text` writes its ticks.
function logAxis(title, values, most, text) {
  const positive = values.filter((value) => value > 0);
  const smallest = positive.reduce((a, b) => Math.min(a, b), Infinity);
  const largest = positive.reduce((a, b) => Math.max(a, b), 0);
  // Some air on both sides, and at least half a decade, so that equal values are not an edge.
  const middle = Math.sqrt(smallest * largest);
  const low = Math.min(smallest / 1.15, middle / 1.8);
  const high = Math.max(largest * 1.15, middle * 1.8);
  const ticks = logTicks(low, high, most);
  return {
    type: "log", title: { text: title }, range: [Math.log10(low), Math.log10(high)],
    tickmode: "array", tickvals: ticks, ticktext: ticks.map(text),
  };
}

// A logarithmic axis of durations in nanoseconds.
function durationAxis(title, values, most) {
  return logAxis(title, values, most, duration);
}

// A count in few characters: 20k, 3M.
const shortCount = (value) => withUnit([[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"]], value).replace(" ", "");

// A linear axis of counts from zero: whole ticks for few, 12k for many. Ratios keep their fractions.
function countAxis(title, largest) {
  const axis = { title: { text: title }, rangemode: "tozero" };
  if (largest < 2 && largest % 1 !== 0) return axis;
  if (largest < 8) return { ...axis, dtick: 1, tickformat: "d" };
  return { ...axis, tickformat: largest < 1000 ? "d" : "~s" };
}

// The same axis with room for the markers at both of its ends.
function padded(axis, largest) {
  return { ...axis, range: [-0.03 * largest, 1.03 * largest] };
}

// How many times the smallest value the largest is before an axis is logarithmic unless the reader
// says otherwise, and before he is asked at all.
const FAR = 100;
const NEAR = 10;

// An axis that is logarithmic where values lie far apart, and otherwise as the reader chooses:
// { axis, scale, place }. `place` says where a value stands on it; zero, which no logarithm has,
// stands at a tick of its own below all others. Linear, values are told in `unit`s of `factor`.
function freeAxis(title, values, options) {
  const { most, choice, text = shortCount, factor = 1, unit = "", far = FAR } = options;
  const positive = values.filter((value) => value > 0);
  const smallest = positive.reduce((a, b) => Math.min(a, b), Infinity);
  const largest = positive.reduce((a, b) => Math.max(a, b), 0);
  const decides = largest > NEAR * smallest;
  const scale = decides ? choice ?? (largest > far * smallest ? "log" : "linear") : undefined;
  const said = (words) => (title.endsWith(")") ? title.replace(/\)$/, `, ${words})`)
    : `${title} (${words})`);
  if (scale !== "log") {
    const place = (value) => (value === null ? null : value / factor);
    const axis = countAxis(unit ? said(unit) : title, largest / factor);
    return { axis: padded(axis, largest / factor || 1), scale, place };
  }
  const floor = smallest / Math.max(2, (largest / smallest) ** (1 / 12));
  const zeros = values.some((value) => value === 0);
  const axis = logAxis(said("logarithmic"), zeros ? [floor, ...positive] : positive, most, text);
  if (zeros) {
    const above = axis.tickvals.filter((tick) => tick > floor * 1.5);
    Object.assign(axis, { tickvals: [floor, ...above], ticktext: ["0", ...above.map(text)] });
  }
  return { axis, scale, place: (value) => (value === 0 ? floor : value) };
}

// An axis of simulated time in seconds; returns the factor to divide seconds by as well.
function timeScale(largest) {
  if (largest >= 7200) return [3600, "h"];
  const steps = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]];
  return steps.find(([factor]) => largest >= factor) ?? [1e-9, "ns"];
}
