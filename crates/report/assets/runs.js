// The runs that a report compares, and their names in every chart.

const runs = embedded;
const labels = runs.map((run, index) => {
  const same = runs.filter((other) => other.scheme === run.scheme);
  if (same.length === 1) return run.scheme;
  return `${run.scheme} #${runs.slice(0, index + 1).filter((o) => o.scheme === run.scheme).length}`;
});
