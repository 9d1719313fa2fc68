// The map of blocks: a cell each, filled from below by valid pages and then by stale ones.

const canvas = document.getElementById("cells");
const STATES = {
  d: ["data", "#0072B2"], l: ["log", "#CC79A7"], m: ["map", "#009E73"], ".": ["erased", null],
  x: ["out of use", "ink"],
};
const STALE = "#E69F00";
const WEAR = ["#fde9c8", "#fbc97f", "#f2a25a", "#d9733f", "#b04a2f", "#7a2b22"];
// Rings around what the reclaim that is shown erased, and where its pages went: seen on every fill.
const [VICTIM, TARGET] = ["#e8175d", "#00c2a8"];
const map = {
  colour: "state", at: null, cell: 0, columns: 1, erased: new Set(), written: new Set(),
  // Blocks of the reclaim that is shown.
  victims: [], targets: [],
};

const pagesOf = (blocks) => blocks.pages_per_block * blocks.per_cell;

// Which cells changed since the picture before.
function compare(before, now) {
  const [erased, written] = [new Set(), new Set()];
  if (before && before.states.length === now.states.length) {
    for (let at = 0; at < now.states.length; at++) {
      if (now.erases[at] !== before.erases[at]) erased.add(at);
      else if (now.valid[at] + now.stale[at] !== before.valid[at] + before.stale[at]) written.add(at);
    }
  }
  return [erased, written];
}

function showBlocks(blocks) {
  [map.erased, map.written] = compare(live.blocks, blocks);
  live.blocks = blocks;
  drawBlocks();
}

// So large that all are seen without scrolling, where that can be.
function layOut(width, count) {
  const wanted = Math.floor(Math.sqrt((width * 380) / count));
  map.cell = Math.max(5, Math.min(26, wanted));
  map.columns = Math.max(1, Math.floor(width / map.cell));
  return Math.ceil(count / map.columns) * map.cell;
}

function drawBlocks() {
  const { blocks } = live;
  const width = canvas.parentElement.clientWidth - 26;
  if (!blocks || width <= 0) return;
  const height = layOut(width, blocks.states.length);
  const scale = window.devicePixelRatio || 1;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const look = { ink: cssColour("ink"), line: cssColour("line"), panel: cssColour("panel") };
  const draw = map.colour === "wear" ? drawWear : drawState;
  for (let at = 0; at < blocks.states.length; at++) draw(pen, at, placeOf(at), look);
  if (marked()) {
    for (const at of map.written) ring(pen, placeOf(at), cssColour("link"), 1.5);
    for (const at of map.erased) ring(pen, placeOf(at), look.ink, 1.5);
  }
  for (const block of map.targets) ring(pen, placeOf(cellOf(block)), TARGET, 2.5);
  for (const block of map.victims) ring(pen, placeOf(cellOf(block)), VICTIM, 2.5);
  if (map.at !== null) ring(pen, placeOf(map.at), cssColour("fails"), 2.5);
  describeBlocks();
}

// Where there is little room a ring would hide what is within, which counts more.
const marked = () => map.cell >= 10;
const cellOf = (block) => Math.floor(block / live.blocks.per_cell);
const placeOf = (at) => [(at % map.columns) * map.cell, Math.floor(at / map.columns) * map.cell];

function ring(pen, [x, y], colour, width) {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.strokeRect(x + 1, y + 1, map.cell - 3, map.cell - 3);
}

function drawState(pen, at, [x, y], look) {
  const { states, valid, stale } = live.blocks;
  const size = map.cell - 1;
  const [, colour] = STATES[states[at]];
  pen.fillStyle = look.panel;
  pen.fillRect(x, y, size, size);
  if (colour === "ink") {
    pen.strokeStyle = look.ink;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x + 1, y + 1);
    pen.lineTo(x + size - 1, y + size - 1);
    pen.moveTo(x + size - 1, y + 1);
    pen.lineTo(x + 1, y + size - 1);
    pen.stroke();
    return;
  }
  // Whole points, which are sharp; what is there at all has one.
  const share = (pages) => Math.round((size * pages) / pagesOf(live.blocks));
  const dead = stale[at] > 0 ? Math.max(1, share(stale[at])) : 0;
  const used = Math.max(share(valid[at] + stale[at]), dead);
  pen.fillStyle = colour ?? look.line;
  pen.fillRect(x, y + size - used + dead, size, used - dead);
  pen.fillStyle = STALE;
  pen.fillRect(x, y + size - used, size, dead);
  if (!marked()) return;
  pen.strokeStyle = look.line;
  pen.lineWidth = 0.5;
  pen.strokeRect(x + 0.25, y + 0.25, size - 0.5, size - 0.5);
}

const wearStep = (erases) => {
  const { min, max } = live.blocks.wear;
  const room = Math.max(1, max - (min ?? 0));
  return Math.min(WEAR.length - 1, Math.floor(((erases - (min ?? 0)) / room) * (WEAR.length - 0.001)));
};

function drawWear(pen, at, [x, y]) {
  pen.fillStyle = WEAR[wearStep(live.blocks.erases[at])];
  pen.fillRect(x, y, map.cell - 1, map.cell - 1);
}

function square(paint) {
  const svg = svgElement("svg", { width: 14, height: 14, viewBox: "0 0 14 14", "aria-hidden": "true" });
  svg.append(...paint.map(([name, attributes]) => svgElement(name, attributes)));
  return svg;
}

const filled = (colour) => square([["rect", {
  x: 0.5, y: 0.5, width: 13, height: 13, fill: colour, stroke: cssColour("line"),
}]]);

const edged = (colour) => square([["rect", {
  x: 1, y: 1, width: 12, height: 12, fill: "none", stroke: colour, "stroke-width": 2,
}]]);

function legendOf(list, entries) {
  list.replaceChildren(...entries.map(([swatch, text]) => {
    const item = document.createElement("li");
    item.append(swatch, text);
    return item;
  }));
}

const STATE_ORDER = ["d", "l", "m", ".", "x"];

function describeBlocks() {
  const { blocks } = live;
  const { min, max, mean } = blocks.wear;
  const present = STATE_ORDER.filter((state) => blocks.states.includes(state));
  const marks = [
    ...(marked() ? [[edged(cssColour("link")), "written since the picture before"],
      [edged(cssColour("ink")), "erased since then"]] : []),
    [edged(VICTIM), "erased by what is shown below"], [edged(TARGET), "its pages went there"],
  ];
  if (map.colour === "wear") {
    const step = Math.max(1, max - min) / WEAR.length;
    const bounds = max - min < WEAR.length
      ? [...new Set([min, max])].map((erases) => [filled(WEAR[wearStep(erases)]), `${grouped(erases)} erases`])
      : WEAR.map((colour, place) => [filled(colour), `from ${grouped(Math.ceil(min + place * step))}`]);
    legendOf(document.getElementById("cell-legend"), [...bounds, ...marks]);
  } else {
    const kinds_ = present.filter((state) => "dlm".includes(state))
      .map((state) => [filled(STATES[state][1]), `valid ${STATES[state][0]} pages`]);
    legendOf(document.getElementById("cell-legend"), [
      ...kinds_, [filled(STALE), "stale pages"], [filled(cssColour("panel")), "free pages"],
      ...(present.includes("x")
        ? [[square([["path", { d: "M2 2L12 12M12 2L2 12", stroke: cssColour("ink") }]]), "out of use"]] : []),
      ...marks,
    ]);
  }
  const size = blocks.per_cell === 1 ? "A cell is a block" : `A cell is ${grouped(blocks.per_cell)} blocks`;
  document.getElementById("cell-caption").textContent = `${size} of ${grouped(blocks.pages_per_block)} `
    + `pages, in the order of their numbers; ${grouped(blocks.blocks)} blocks, `
    + `${grouped(blocks.erased_blocks)} erased. Erases of a block since the device was made: `
    + `${grouped(min ?? 0)} to ${grouped(max)}, mean ${grouped(mean)}.`;
  tellStates(blocks, present);
  if (map.at !== null) tellCell();
}

// The same in numbers.
function tellStates(blocks, present) {
  const rows = present.map((state) => {
    const cells = [...blocks.states].flatMap((one, at) => (one === state ? [at] : []));
    const sum = (column) => cells.reduce((total, at) => total + column[at], 0);
    const worn = cells.reduce((most, at) => Math.max(most, blocks.erases[at]), 0);
    const many = cells.length * blocks.per_cell;
    return [STATES[state][0], Math.min(many, blocks.blocks), sum(blocks.valid), sum(blocks.stale), worn];
  });
  document.querySelector("#states tbody").replaceChildren(...rows.map(([name, ...numbers]) => {
    const row = document.createElement("tr");
    const head = document.createElement("th");
    head.textContent = name;
    row.append(head, ...numbers.map((number) => {
      const cell = document.createElement("td");
      cell.textContent = grouped(number);
      return cell;
    }));
    return row;
  }));
  canvas.setAttribute("aria-label", `Map of blocks: ${rows.map(([name, many]) =>
    `${grouped(many)} ${name}`).join(", ")}`);
}

function tellCell() {
  const { blocks } = live;
  const [at, many] = [map.at, blocks.per_cell];
  const free = pagesOf(blocks) - blocks.valid[at] - blocks.stale[at];
  const name = many === 1 ? `Block ${grouped(at)}` : `Blocks ${grouped(at * many)} to ${grouped(at * many + many - 1)}`;
  document.getElementById("cell").textContent = `${name}: ${STATES[blocks.states[at]][0]}, `
    + `${grouped(blocks.valid[at])} valid pages, ${grouped(blocks.stale[at])} stale, ${grouped(free)} free; `
    + `erased ${grouped(blocks.erases[at])} times.`;
}

function pointAt(at) {
  if (!live.blocks || at < 0 || at >= live.blocks.states.length) return;
  map.at = at;
  drawBlocks();
}

canvas.addEventListener("pointermove", (event) => {
  const column = Math.floor(event.offsetX / map.cell);
  if (column < map.columns) pointAt(Math.floor(event.offsetY / map.cell) * map.columns + column);
});
canvas.addEventListener("pointerleave", () => {
  map.at = null;
  drawBlocks();
});
canvas.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -map.columns, ArrowDown: map.columns }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  pointAt(map.at === null ? 0 : map.at + step);
});
for (const button of document.querySelectorAll("[data-colour]")) {
  button.addEventListener("click", () => {
    map.colour = button.dataset.colour;
    for (const other of document.querySelectorAll("[data-colour]")) {
      other.setAttribute("aria-pressed", String(other === button));
    }
    drawBlocks();
  });
}
window.addEventListener("resize", drawBlocks);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawBlocks);
