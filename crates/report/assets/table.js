// Tables follow the arrangement of the runs: columns and rows of hidden runs go, the others stand in
// its order. A row of the summary sorts the runs, and its numbers are told as times of the baseline.

const summary = document.querySelector("#summary table");
// By path: where a metric's row is, and its value by run; null where a run has none.
const metrics = new Map([...summary.querySelectorAll("tr[data-path]")].map((row) => {
  const values = runs.map(() => null);
  for (const cell of row.querySelectorAll("[data-metric]")) {
    if (cell.dataset.value !== "") values[cell.dataset.run] = Number(cell.dataset.value);
  }
  return [row.dataset.path, { row, values, better: row.dataset.better }];
}));

// The sign that a run has in every chart, before its name.
function sign(cell, index) {
  const { colour, symbol } = lineLook(index);
  cell.dataset.sign = SIGNS[symbol];
  cell.style.setProperty("--run", colour);
}

function arrangeTables() {
  const visible = shown();
  for (const head of document.querySelectorAll("th[data-column]")) sign(head, Number(head.dataset.column));
  for (const row of document.querySelectorAll("[data-row]")) sign(row.cells[0], Number(row.dataset.row));
  for (const row of document.querySelectorAll("tr:has(> [data-column])")) {
    const cells = new Map([...row.querySelectorAll(":scope > [data-column]")].map(
      (cell) => [Number(cell.dataset.column), cell]));
    for (const index of arrangement.order) {
      const cell = cells.get(index);
      cell.hidden = arrangement.hidden.has(index);
      row.append(cell);
    }
  }
  for (const cell of document.querySelectorAll("[data-columns]")) {
    cell.colSpan = Math.max(1, visible.length + Number(cell.dataset.columns));
  }
  for (const body of document.querySelectorAll("tbody:has(> [data-row])")) {
    const rows = [...body.querySelectorAll(":scope > [data-row]")];
    for (const index of arrangement.order) {
      const own = rows.filter((row) => Number(row.dataset.row) === index);
      own.forEach((row) => { row.hidden = arrangement.hidden.has(index); });
      body.append(...own);
    }
  }
}

// How many times the base a value is, to three digits.
function timesText(value, base) {
  if (value === null || base === null || base === 0) return "";
  return `${grouped(Number((value / base).toPrecision(3)))}×`;
}

function tellTimes() {
  for (const { row, values } of metrics.values()) {
    for (const cell of row.querySelectorAll(".times")) {
      const base = arrangement.baseline < 0 ? null : values[arrangement.baseline];
      cell.textContent = timesText(values[cell.closest("td").dataset.column], base);
    }
  }
  summary.classList.toggle("compared", arrangement.baseline >= 0);
}

// The metric by which the runs are sorted, and whether the highest is first.
let sorted = { path: null, highestFirst: false };

function sortBy(path, highestFirst) {
  sorted = { path, highestFirst };
  const { values } = metrics.get(path);
  sortRuns((index) => values[index], highestFirst);
}

// The better ones first; once more, the other way round; a third time, as given.
function turnSort(path) {
  const bestFirst = metrics.get(path).better === "higher";
  if (sorted.path !== path) sortBy(path, bestFirst);
  else if (sorted.highestFirst === bestFirst) sortBy(path, !bestFirst);
  else unsort();
}

function unsort() {
  sorted = { path: null, highestFirst: false };
  arrange({ order: AS_GIVEN });
}

// Runs moved by hand are not sorted any more.
function tellSort() {
  if (sorted.path) {
    const { values } = metrics.get(sorted.path);
    const sign = sorted.highestFirst ? -1 : 1;
    const found = arrangement.order.map((index) => values[index]).filter((v) => v !== null);
    if (found.some((value, at) => at > 0 && sign * (value - found[at - 1]) < 0)) sorted.path = null;
  }
  for (const [path, { row }] of metrics) {
    const button = row.querySelector(".sort");
    const by = path === sorted.path;
    button.setAttribute("aria-pressed", String(by));
    button.dataset.arrow = by ? (sorted.highestFirst ? "highest first" : "lowest first") : "";
  }
}

function summaryControls() {
  for (const [path, { row }] of metrics) {
    const button = row.querySelector(".sort");
    button.disabled = runs.length < 2;
    button.addEventListener("click", () => turnSort(path));
  }
  const choice = document.getElementById("baseline");
  choice?.append(new Option("no run", -1), ...labels.map((label, index) => new Option(label, index)));
  choice?.addEventListener("change", () => {
    Object.assign(arrangement, { baseline: Number(choice.value) });
    follow();
  });
  followers.push(arrangeTables, tellTimes, tellSort, () => {
    if (choice) choice.value = arrangement.baseline;
  });
}

summaryControls();
