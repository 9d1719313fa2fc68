// Requests during which blocks were erased: which pages were moved before, and where to.

const RECLAIMS_MAX = 24;
const LISTED = 10;
const reclaims = { chosen: null, room: 0 };
const PAGES = { m: ["moved before the erase", "#0072B2"], s: ["stale", STALE], ".": ["never written", null] };
const several = (count, one, more = `${one}s`) => `${grouped(count)} ${count === 1 ? one : more}`;
const WHY = {
  gc: "collection", gc_map_block: "collection of map pages", merge: "merge", migrate: "move between areas",
  convert: "change of mapping", wear: "wear levelling", checkpoint: "checkpoint", trim: "trim records",
};
const why = (cause) => WHY[cause] ?? words(cause);

function showReclaims(more) {
  live.reclaims = [...live.reclaims, ...more].slice(-RECLAIMS_MAX);
  if (!live.reclaims.some((one) => one.number === reclaims.chosen)) reclaims.chosen = null;
  if (more.length > 0 || reclaims.drawn === undefined) drawReclaim();
}

const asked = (one) => (one.op === "flush" ? "a flush"
  : `a ${one.op} of ${withUnit(BYTE_STEPS, one.bytes)} at ${withUnit(BYTE_STEPS, one.offset)}`);

function drawReclaim() {
  const newest = live.reclaims.at(-1);
  document.getElementById("reclaim").hidden = !newest;
  document.getElementById("no-reclaim").hidden = Boolean(newest);
  if (!newest) return;
  const shown = live.reclaims.find((one) => one.number === reclaims.chosen) ?? newest;
  reclaims.drawn = shown.number;
  const place = live.reclaims.indexOf(shown);
  document.getElementById("older").disabled = place === 0;
  document.getElementById("newer").disabled = shown === newest;
  document.getElementById("following").textContent = reclaims.chosen === null
    ? "The newest one is shown as it comes." : "This one stays until it is no longer kept; Newer goes on.";
  const pages = shown.victims.reduce((sum, victim) =>
    sum + [...victim.pages].filter((page) => page === "s").length, 0);
  const untold = shown.erased - shown.victims.length;
  document.getElementById("story").textContent = `Request ${grouped(shown.request)}, ${asked(shown)}, `
    + `took ${duration(shown.response_ns)} of simulated time, as room was made during it: `
    + `${several(shown.erased, "block was", "blocks were")} erased, and `
    + `${several(shown.copied, "page was", "pages were")} moved. ${several(pages, "stale page")} became room`
    + (untold > 0 ? ` in the first ${shown.victims.length}, which are drawn.` : ".");
  const victims = document.getElementById("victims");
  victims.replaceChildren(...shown.victims.map(victimOf));
  // What stands below should not jump with every reclaim: room that was once needed is kept.
  reclaims.room = Math.max(reclaims.room, victims.offsetHeight);
  victims.style.minHeight = `${reclaims.room}px`;
  legendOf(document.getElementById("page-legend"), Object.values(PAGES)
    .map(([name, colour]) => [filled(colour ?? cssColour("panel")), name]));
  listReclaims(shown);
  map.victims = shown.victims.map((victim) => victim.block);
  map.targets = shown.victims.flatMap((victim) => victim.to.map(([block]) => block));
  drawBlocks();
}

function victimOf(victim) {
  const box = document.createElement("div");
  box.className = "victim";
  const count = (letter) => [...victim.pages].filter((page) => page === letter).length;
  const head = document.createElement("h3");
  head.textContent = `Block ${grouped(victim.block)}`;
  const text = document.createElement("p");
  text.className = "note";
  const to = victim.to.map(([block, pages]) => `${grouped(pages)} to block ${grouped(block)}`);
  const moved = count("m") > 0 ? `, ${grouped(count("m"))} moved (${to.join(", ")})` : ", none moved";
  text.textContent = `${why(victim.cause)}: ${several(victim.pages.length, "page")}${moved}, `
    + `${grouped(count("s"))} stale`
    + (count(".") > 0 ? `, ${grouped(count("."))} never written` : "");
  box.append(head, pagesPicture(victim.pages, text.textContent), text);
  return box;
}

// A square a page, in rows; a page that was moved has an arrow's head as well as a colour.
function pagesPicture(pages, label) {
  const [size, columns] = pages.length > 128 ? [9, 32] : [18, 16];
  const rows = Math.ceil(pages.length / columns);
  const svg = svgElement("svg", {
    viewBox: `0 0 ${columns * size} ${rows * size}`, width: columns * size, height: rows * size,
    role: "img", "aria-label": label,
  });
  [...pages].forEach((page, at) => {
    const [x, y] = [(at % columns) * size, Math.floor(at / columns) * size];
    svg.append(svgElement("rect", {
      x: x + 0.5, y: y + 0.5, width: size - 2, height: size - 2, fill: PAGES[page][1] ?? "none",
      stroke: cssColour("line"), "stroke-width": 0.5,
    }));
    if (page === "m") {
      const [left, top, arm] = [x + size * 0.3, y + size * 0.25, size * 0.2];
      svg.append(svgElement("path", {
        d: `M${left} ${top}l${arm} ${arm}l${-arm} ${arm}`, fill: "none", stroke: "#ffffff", "stroke-width": 1.2,
      }));
    }
  });
  return svg;
}

function listReclaims(shown) {
  const rows = live.reclaims.slice(-LISTED).reverse();
  if (!rows.includes(shown)) rows.push(shown);
  document.querySelector("#list tbody").replaceChildren(...rows.map((one) => {
    const row = document.createElement("tr");
    row.className = one === shown ? "differs" : "";
    const head = document.createElement("th");
    head.textContent = grouped(one.request);
    const causes = [...new Set(one.victims.map((victim) => why(victim.cause)))].join(", ");
    const cells = [[asked(one), "word"], [grouped(one.erased), ""], [grouped(one.copied), ""],
      [duration(one.response_ns), ""], [causes, "word"]];
    row.append(head, ...cells.map(([text, kind]) => {
      const cell = document.createElement("td");
      cell.textContent = text;
      cell.className = kind;
      return cell;
    }));
    return row;
  }));
}

function turnTo(step) {
  const shown = live.reclaims.findIndex((one) => one.number === reclaims.drawn);
  const next = live.reclaims[(shown < 0 ? live.reclaims.length - 1 : shown) + step];
  if (!next) return;
  reclaims.chosen = next === live.reclaims.at(-1) ? null : next.number;
  drawReclaim();
}
narrowScreen.addEventListener("change", () => {
  reclaims.room = 0;
  drawReclaim();
});
document.getElementById("older").addEventListener("click", () => turnTo(-1));
document.getElementById("newer").addEventListener("click", () => turnTo(1));
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawReclaim);
