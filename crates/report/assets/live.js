// Asks the drive twice a second, and shows what it tells.

const ASK_MS = 500;
const AGAIN_MS = 1000;
// What "now" is, in the boxes at the top.
const NOW_MS = 2000;
const asking = { held: false, started: null, failed: null };

async function told(path) {
  const answer = await fetch(path, { cache: "no-store" });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

// Everything anew when another drive answers under the same address.
function forget() {
  Object.assign(live, { looks: null, reclaims: [], blocks: null });
  reclaims.chosen = null;
}

async function ask() {
  const after = live.looks ? `after_ms=${live.looks.at_ms.at(-1)}&` : "";
  const now = await told(`live.json?${after}reclaim=${live.reclaims.at(-1)?.number ?? 0}`);
  if (asking.started !== null && asking.started !== now.started) {
    forget();
    asking.started = null;
    return;
  }
  asking.started = now.started;
  live.told = now;
  remember(now.looks);
  showReclaims(now.reclaims);
  showTiles();
  showBlocks(await told("blocks.json"));
  for (const figure of drawings) await drawFigure(figure);
  document.documentElement.dataset.live = "true";
}

function trouble(text) {
  const box = document.getElementById("trouble");
  box.hidden = !text;
  if (box.textContent !== text) box.textContent = text;
}

async function turn_() {
  let wait = ASK_MS;
  if (!asking.held && !document.hidden) {
    try {
      await ask();
      asking.failed = null;
      trouble(live.told.failure ? `The drive failed, and serves nothing any more: ${live.told.failure}` : "");
    } catch (error) {
      asking.failed ??= new Date();
      wait = AGAIN_MS;
      trouble(`The drive has not answered since ${asking.failed.toLocaleTimeString()}: it may have ended.`);
    }
  }
  setTimeout(turn_, wait);
}

// The step from a look some time ago to the last one.
function lately() {
  const at = live.looks.at_ms;
  const last = at.length - 1;
  let first = last;
  while (first > 0 && at[last] - at[first] < NOW_MS) first -= 1;
  return [first, last];
}

function showTiles() {
  const { looks } = live;
  const steps = lately();
  const seconds = (looks.at_ms[steps[1]] - looks.at_ms[steps[0]]) / 1000;
  const rate = (column) => (seconds > 0 ? growth(column, steps)[0] / seconds : 0);
  const sum = (of) => Object.values(looks.programs).reduce((total, column) => total + of(column), 0);
  const ratio = (part, whole) => (whole > 0 ? grouped(part / whole) : "n/a");
  const share = (part, whole) => (whole > 0 ? `${grouped((100 * part) / whole)} %` : "n/a");
  const grown = (column) => growth(column, steps)[0];
  const last = (column) => column.at(-1);
  const requests = Object.values(looks.requests);
  const tiles = [
    ["Requests", `${grouped(Math.round(requests.reduce((all, one) => all + rate(one), 0)))} a second`,
      `${grouped(requests.reduce((all, one) => all + last(one), 0))} in all`],
    ["Written", withUnit(RATE_STEPS, rate(looks.bytes.write)),
      `${withUnit(BYTE_STEPS, last(looks.bytes.write))} in all`],
    ["Read", withUnit(RATE_STEPS, rate(looks.bytes.read)),
      `${withUnit(BYTE_STEPS, last(looks.bytes.read))} in all`],
    ["Write amplification", ratio(sum(grown), grown(looks.write_pages)),
      `${ratio(sum(last), last(looks.write_pages))} since the start`],
    ["Erases", `${grouped(Math.round(rate(looks.erases)))} a second`, `${grouped(last(looks.erases))} in all`],
    ["Free blocks", grouped(last(looks.free_blocks)),
      `reclaiming below ${grouped(live.told.free_blocks_threshold)}`],
    ["Map-cache hits", share(grown(looks.map_hits), grown(looks.map_lookups)),
      `${share(last(looks.map_hits), last(looks.map_lookups))} since the start`],
    ["Simulated time", duration(last(looks.simulated_ns)),
      `in ${duration(last(looks.at_ms) * 1e6)} of the clients'`],
  ];
  const made = tiles.map(([name, now, whole]) => {
    const tile = document.createElement("div");
    const parts = [["dt", name], ["dd", now], ["dd", whole]].map(([kind, text]) => {
      const part = document.createElement(kind);
      part.textContent = text;
      return part;
    });
    tile.append(...parts);
    return tile;
  });
  document.getElementById("tiles").replaceChildren(...made);
  document.getElementById("looks").textContent =
    `The counts are looked at every ${grouped(live.told.every_ms / 1000)} s. The drive keeps at most `
    + `${grouped(live.told.looks_max)} looks (${duration(live.told.every_ms * live.told.looks_max * 1e6)}), this `
    + `page ${grouped(LOOKS_MAX)}: when there are more every second one goes, so that what is long ago is told more `
    + `coarsely, and nothing is cut off. A curve has at most ${grouped(STEPS_MAX)} steps. Of reclaims the last `
    + `${grouped(RECLAIMS_MAX)} are kept.`;
  document.getElementById("pace").textContent = live.told.timing === "off"
    ? "The drive answers as fast as it can; with --timing real:SCALE it takes its simulated time, and "
      + "single collections can be watched."
    : `The drive takes its simulated time (--timing ${live.told.timing}).`;
}

document.getElementById("hold").addEventListener("click", ({ target }) => {
  asking.held = !asking.held;
  target.setAttribute("aria-pressed", String(asking.held));
  target.textContent = asking.held ? "Go on" : "Hold";
});
// What is drawn first is drawn without data.
firstDrawn.then(turn_);
