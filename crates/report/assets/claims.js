// Which claims and experiments are shown: by verdict, and by a word in them.

const verdicts = document.getElementById("verdicts");
const lines = [...document.querySelectorAll("tr.experiment")];
const FOUND_MAX = 6;

// Claims by experiment, where the page lists experiments.
const claimsOf = new Map();
if (lines.length > 0) {
  for (const claim of JSON.parse(document.getElementById("results").textContent).claims) {
    if (!claimsOf.has(claim.experiment)) claimsOf.set(claim.experiment, []);
    claimsOf.get(claim.experiment).push(claim);
  }
}

// The claims of an experiment in which the word stands, below its name.
function tellFound(line, found, word) {
  const list = line.querySelector(".found");
  const told = word === "" ? [] : found.slice(0, FOUND_MAX);
  list.hidden = told.length === 0;
  list.replaceChildren(...told.map((claim) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = `${line.dataset.experiment}/report.html#${claim.name}`;
    link.textContent = claim.text;
    item.append(link, `: ${claim.verdict.replace("_", " ")}`);
    return item;
  }));
  if (found.length > told.length && told.length > 0) {
    const item = document.createElement("li");
    item.textContent = `and ${found.length - told.length} more`;
    list.append(item);
  }
}

function filterLine(line, chosen, word) {
  const claims = claimsOf.get(line.dataset.experiment) ?? [];
  const judged = claims.filter((claim) => chosen.has(claim.verdict));
  const found = judged.filter((claim) => claim.text.toLowerCase().includes(word));
  const heading = line.querySelector("a").textContent + line.querySelector("small").textContent;
  const named = heading.toLowerCase().includes(word);
  line.hidden = found.length === 0 && !(named && (judged.length > 0 || claims.length === 0));
  tellFound(line, found, word);
}

function filterClaims() {
  const chosen = new Set([...verdicts.querySelectorAll("input:checked")].map((box) => box.value));
  const word = verdicts.querySelector("input[type=search]").value.trim().toLowerCase();
  const rows = [...document.querySelectorAll("tr.claim")];
  for (const row of rows) {
    row.hidden = !chosen.has(row.dataset.verdict)
      || !row.textContent.toLowerCase().includes(word);
  }
  // What was looked for must not be found behind a disclosure.
  for (const ours of document.querySelectorAll(".ours")) {
    if (word !== "" && ours.querySelector("tr.claim:not([hidden])")) ours.open = true;
  }
  lines.forEach((line) => filterLine(line, chosen, word));
  for (const paper of document.querySelectorAll(".paper")) {
    paper.hidden = lines.every((line) => line.hidden || !paper.contains(line));
  }
  const [counted, name] = lines.length > 0 ? [lines, "experiments"] : [rows, "claims"];
  const left = counted.filter((one) => !one.hidden).length;
  verdicts.querySelector("[role=status]").textContent =
    left === counted.length ? "" : `${left} of ${counted.length} ${name}`;
}

// What a link leads to is shown, also where it stands behind a disclosure.
function disclose() {
  const target = document.getElementById(decodeURIComponent(window.location.hash.slice(1)));
  const closed = target?.closest("details:not([open])");
  if (!closed) return;
  closed.open = true;
  target.scrollIntoView();
}

if (verdicts) {
  verdicts.addEventListener("input", filterClaims);
  // A reload may keep what was typed.
  filterClaims();
}
window.addEventListener("hashchange", disclose);
disclose();
if (!document.querySelector("[data-chart]")) document.documentElement.dataset.ready = "true";
