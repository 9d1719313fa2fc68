// The bar at the top: a chip per run that hides, isolates and moves it, by mouse, finger and
// keyboard; and the arrangement in the page's address.

const bar = document.getElementById("runs");
const chips = bar.querySelector("ul");

function chipOf(index) {
  const item = document.createElement("li");
  item.dataset.chip = index;
  item.draggable = true;
  const toggle = document.createElement("button");
  const only = document.createElement("button");
  for (const button of [toggle, only]) button.type = "button";
  toggle.className = "run";
  toggle.title = "Show or hide; O: only this run; Shift and an arrow, or dragging: move it";
  toggle.setAttribute("aria-keyshortcuts", "O Shift+ArrowLeft Shift+ArrowRight");
  toggle.addEventListener("click", () => toggleRun(index));
  only.className = "only";
  only.textContent = "only";
  only.setAttribute("aria-label", `Only ${labels[index]}`);
  only.addEventListener("click", () => isolateRun(index));
  item.append(toggle, only);
  item.addEventListener("keydown", (event) => onKey(event, index));
  item.addEventListener("dragstart", (event) => {
    event.dataTransfer.setData("text/plain", labels[index]);
    event.dataTransfer.effectAllowed = "move";
    bar.dragged = index;
  });
  item.addEventListener("dragover", (event) => {
    if (bar.dragged !== undefined) event.preventDefault();
  });
  item.addEventListener("drop", (event) => {
    event.preventDefault();
    moveRun(bar.dragged, arrangement.order.indexOf(index));
  });
  item.addEventListener("dragend", () => { bar.dragged = undefined; });
  return item;
}

function onKey(event, index) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0;
  const chip = (at) => chips.querySelector(`[data-chip="${at}"] .run`);
  if (event.key === "o" || event.key === "O") {
    isolateRun(index);
  } else if (step !== 0) {
    const place = arrangement.order.indexOf(index) + step;
    if (event.shiftKey) moveRun(index, place);
    chip(event.shiftKey ? index : arrangement.order[place] ?? index).focus();
  } else {
    return;
  }
  event.preventDefault();
}

// Chips stand in the order of the runs; whichever has the focus keeps it.
function showChips() {
  const items = arrangement.order.map((index) => chips.querySelector(`[data-chip="${index}"]`));
  const focused = document.activeElement;
  chips.replaceChildren(...items);
  if (chips.contains(focused)) focused.focus({ preventScroll: true });
  for (const item of items) {
    const index = Number(item.dataset.chip);
    const toggle = item.querySelector(".run");
    toggle.setAttribute("aria-pressed", String(!arrangement.hidden.has(index)));
    toggle.replaceChildren(swatch({ line: lineLook(index) }), labels[index]);
  }
  const count = shown().length;
  bar.querySelector(".status").textContent = count === runs.length
    ? `${runs.length} runs` : `${count} of ${runs.length} runs`;
  const changed = arrangement.hidden.size > 0
    || arrangement.order.some((index, place) => index !== place);
  document.getElementById("reset-runs").disabled = !changed;
}

// Anything that the table has a row for sorts the runs, their names too.
function orderControl() {
  const choice = document.getElementById("order");
  choice.append(new Option("as given", "given"), new Option("by name", "name"));
  for (const body of summary.tBodies) {
    const group = document.createElement("optgroup");
    group.label = body.querySelector(".group span").textContent;
    for (const row of body.querySelectorAll("tr[data-path]")) {
      group.append(new Option(row.querySelector(".sort").textContent, row.dataset.path));
    }
    if (group.children.length > 0) choice.append(group);
  }
  choice.append(new Option("by hand", "hand", false, false));
  choice.lastElementChild.hidden = true;
  choice.addEventListener("change", () => {
    if (choice.value === "given") unsort();
    else if (choice.value === "name") sortRuns((index) => labels[index]);
    else sortBy(choice.value, metrics.get(choice.value).better === "higher");
  });
  return () => {
    const given = arrangement.order.every((index, place) => index === place);
    const named = arrangement.order.map((index) => labels[index]);
    const byName = named.every((name, at) => at === 0 || named[at - 1] <= name);
    choice.value = sorted.path ?? (given ? "given" : byName ? "name" : "hand");
  };
}

function writeAddress() {
  const address = addressOf(sectionOfAddress());
  if (address !== (location.hash || "#")) history.replaceState(null, "", address);
}

function goTo(section) {
  const target = document.getElementById(section);
  if (!target) return;
  target.scrollIntoView();
  target.tabIndex = -1;
  target.focus({ preventScroll: true });
}

// A link within the page changes the section of the address and leaves the arrangement.
function keepAddress() {
  for (const link of document.querySelectorAll('a[href^="#"]')) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const section = link.getAttribute("href").slice(1);
      history.pushState(null, "", addressOf(section));
      goTo(section);
    });
  }
  window.addEventListener("popstate", () => {
    arrange(arrangementOf(location.hash));
    goTo(sectionOfAddress());
  });
  followers.push(writeAddress);
}

// What is jumped to must not end below the bar.
function keepClear() {
  const set = () => document.documentElement.style.setProperty(
    "--bar", `${bar.hidden ? 0 : bar.offsetHeight}px`);
  new ResizeObserver(set).observe(bar);
  set();
}

if (runs.length > 1) {
  bar.hidden = false;
  chips.append(...AS_GIVEN.map(chipOf));
  document.getElementById("reset-runs").addEventListener(
    "click", () => { sorted.path = null; arrange({ order: AS_GIVEN, hidden: new Set() }); });
  followers.push(showChips, orderControl());
}
keepClear();
keepAddress();
beforeDrawing.push(() => {
  Object.assign(arrangement, arrangementOf(location.hash));
  follow();
  if (location.hash) goTo(sectionOfAddress());
});
// Chips show colours, which follow the scheme of light.
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", follow);
