// How much of each metric's variance the axes explain, alone and by twos.

// Pairs below this share are told together.
const PAIR_LEAST = 0.02;

charts.set("effects", {
  build() {
    const all = embedded.sweep.sensitivity;
    if (all.length === 0) return { empty: "No metric that is looked at differs between the points." };
    const complete = all.every((one) => one.complete);
    const names = all.map((one) => `${one.metric}${one.logarithmic ? " (log)" : ""}`);
    const pairName = ([one, two]) => `${axes[one].label} and ${axes[two].label}`;
    const parts = axes.map((axis, at) => ({
      name: axis.label, look: at,
      values: all.map((one) => one.alone.find(([place]) => place === at)?.[1] ?? 0),
    }));
    if (complete) {
      const told = new Map();
      for (const one of all) {
        for (const pair of one.pairs) {
          if (pair[2] >= PAIR_LEAST) told.set(pairName(pair), pair);
        }
      }
      const pairShare = (one, name) => one.pairs.find((pair) => pairName(pair) === name)?.[2] ?? 0;
      for (const name of told.keys()) {
        parts.push({ name, look: parts.length, values: all.map((one) => pairShare(one, name)) });
      }
      const known = all.map((_, at) => parts.reduce((sum, part) => sum + part.values[at], 0));
      parts.push({
        name: "the rest", look: parts.length, values: known.map((sum) => Math.max(0, 1 - sum)),
      });
    }
    const used = parts.filter((part) => part.values.some((value) => value > 0.0005));
    const bar = complete ? 40 : 18 * used.length + 14;
    return {
      traces: used.map((part) => ({
        type: "bar", orientation: "h", name: part.name, legendKey: part.name, y: names,
        x: part.values.map((value) => value * 100), marker: fillOf(part.look),
        customdata: part.values.map((value, at) =>
          `<b>${escaped(names[at])}</b><br>${escaped(part.name)}: ${quantityText("fraction", value)}`),
        hovertemplate: "%{customdata}<extra></extra>",
      })),
      legend: used.map((part) => ({ name: part.name, fill: part.look })),
      layout: {
        height: 90 + bar * names.length, barmode: complete ? "stack" : "group", bargap: 0.3,
        xaxis: { title: { text: "Share of the variance (%)" }, range: [0, 101], nticks: 6 },
        yaxis: {
          type: "category", categoryorder: "array", categoryarray: names,
          range: [names.length - 0.5, -0.5], ticks: "", showgrid: false,
        },
      },
      note: complete
        ? "Every combination is there, so that shares add up. The rest is of more axes together, of "
          + "pairs that explain little, and of seeds where these are no axis."
        : "Not every combination is there, so that axes are not independent: shares overlap and do not "
          + "add up, and stand side by side.",
      rows: [
        ["metric", "logarithmic", "complete", "axes", "share"],
        ...all.flatMap((one) => [
          ...one.alone.map(([at, share]) =>
            [one.metric, String(one.logarithmic), String(one.complete), axes[at].label, share]),
          ...one.pairs.map((pair) =>
            [one.metric, String(one.logarithmic), String(one.complete), pairName(pair), pair[2]]),
        ]),
      ],
    };
  },
});
