// What is shown stands in the fragment of the address, so that a reload keeps it and a link shares
// it. Names and words, not places: what the page does not have is passed over.

const VIEW = "#view=";

function viewNow() {
  const filters = [...state.filters].map(([path, filter]) => {
    if (filter.kind !== "words") return [path, { ...filter }];
    return [path, { off: [...filter.off].map((code) => columns.get(path).words[code]) }];
  });
  const { search, x, y, colour, log, box, table, sort, pins } = state;
  return { search, filters, x, y, colour, log, box, table, sort, pins };
}

// Called after every change; the view with which the page begins needs no words.
function remember() {
  if (state.begun === undefined) return;
  const view = JSON.stringify(viewNow());
  if (view !== state.begun) {
    window.history.replaceState(null, "", VIEW + encodeURIComponent(view));
  } else if (window.location.hash.startsWith(VIEW)) {
    window.history.replaceState(null, "", "#");
  }
}

function sharedView() {
  if (!window.location.hash.startsWith(VIEW)) return null;
  try {
    return JSON.parse(decodeURIComponent(window.location.hash.slice(VIEW.length)));
  } catch {
    say("The view in the address cannot be read.");
    return null;
  }
}

function restoreFilter(path, { off, text, from, to }) {
  const column = columns.get(path);
  addFilter(path);
  const filter = state.filters.get(path);
  const fields = element("facets").lastElementChild.querySelectorAll("input");
  if (filter.kind === "words") {
    filter.off = new Set((off ?? []).map((word) => column.words.indexOf(word)).filter((at) => at >= 0));
    fields.forEach((box, code) => { box.checked = !filter.off.has(code); });
  } else if (filter.kind === "text") {
    fields[0].value = filter.text = String(text ?? "");
  } else {
    const values = everyRun.map((run) => numberOf(column, run)).filter((value) => value !== null);
    const [factor] = unitOf(column, values);
    Object.assign(filter, { from: from ?? null, to: to ?? null });
    ["from", "to"].forEach((end, place) => {
      fields[place].value = filter[end] === null ? "" : filter[end] / factor;
    });
  }
}

function restore(view) {
  const has = (path) => columns.has(path);
  state.search = element("search").value = String(view.search ?? "");
  [...state.filters.keys()].forEach(removeFilter);
  for (const [path, filter] of view.filters ?? []) if (has(path)) restoreFilter(path, filter);
  for (const axis of ["x", "y"]) {
    if (!numeric.some((column) => column.path === view[axis])) continue;
    state[axis] = element(axis).value = view[axis];
    state.log[axis] = element(`${axis}-log`).checked = Boolean(view.log?.[axis]);
    for (const end of [`${axis}0`, `${axis}1`]) state.box[end] = view.box?.[end] ?? null;
  }
  if (view.colour === "" || has(view.colour)) state.colour = element("colour").value = view.colour;
  state.table = (view.table ?? []).filter(has);
  state.sort = view.sort && has(view.sort.path) ? view.sort : null;
  state.pins = (view.pins ?? []).filter((run) => everyRun.includes(run)).slice(0, PINS_MAX);
}

// A view that is asked for; `drawn` is when the plane can be drawn again.
function follow(drawn) {
  const view = sharedView();
  if (view) {
    restore(view);
    drawn.then(changed);
  } else {
    // A link within the page took the place of the view.
    remember();
  }
}

state.begun = JSON.stringify(viewNow());
if (sharedView()) follow(firstDrawn);
window.addEventListener("hashchange", () => follow(Promise.resolve()));
