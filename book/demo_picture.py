#!/usr/bin/env python3
"""Draws the picture of README: the schemes of `make demo`, their response and what they program.

    book/demo_picture.py RESULTS.json OUT.svg

Light and dark stand in the file, since nobody else's colours reach a picture in a README.
"""

import json
import sys
from pathlib import Path

SCHEMES = ["ideal_page", "dftl", "superblock", "adapt", "last", "fast"]
# Causes of one colour, and what it stands for.
SHARES = [("host", ["host"]), ("gc", ["gc"]),
          ("map", ["translate", "gc_map_update", "gc_map_block", "checkpoint"]), ("merge", ["merge"])]
STYLE = """
text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
.head { font-weight: 600 } .value { font-size: 12px } .axis { stroke: #8c959f }
.time { fill: #5b7c99 } .host { fill: #b8c2cc } .gc { fill: #4a90d9 } .map { fill: #3fa66b } .merge { fill: #e0a02f }
@media (prefers-color-scheme: dark) {
text { fill: #d1d7e0 } .axis { stroke: #656c76 }
.time { fill: #7f9fbd } .host { fill: #5d6772 } .gc { fill: #3b78bd } .map { fill: #328a58 } .merge { fill: #b9821f } }
"""
ROW, TOP, LEFT, RIGHT, WIDTH = 30, 40, 96, 440, 250


def bars(runs):
    """Both charts, a row per scheme."""
    slowest = max(mean(run) for run in runs)
    largest = max(run["waf"] for run in runs)
    for row, run in enumerate(runs):
        y = TOP + ROW * row
        yield f'<text x="{LEFT - 8}" y="{y + 14}" text-anchor="end">{run["scheme"]}</text>'
        length = WIDTH * mean(run) / slowest
        yield bar("time", LEFT, y, length)
        yield f'<text class="value" x="{LEFT + length + 6:.1f}" y="{y + 14}">{mean(run):.1f} ms</text>'
        x = RIGHT
        for name, causes in SHARES:
            length = WIDTH * sum(run["waf_by_cause"][cause] for cause in causes) / largest
            yield bar(name, x, y, length)
            x += length
        yield f'<text class="value" x="{x + 6:.1f}" y="{y + 14}">{run["waf"]:.2f}</text>'


def bar(name, x, y, length):
    return f'<rect class="{name}" x="{x:.1f}" y="{y}" width="{length:.1f}" height="19"/>'


def mean(run):
    """Response time in milliseconds."""
    return run["latency_ns"]["all"]["system"]["mean"] / 1e6


def legend(y):
    x = RIGHT
    for name, _ in SHARES:
        yield f'<rect class="{name}" x="{x}" y="{y}" width="12" height="12"/>'
        yield f'<text class="value" x="{x + 17}" y="{y + 11}">{name}</text>'
        x += 64


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    found = {run["scheme"]: run for run in json.loads(Path(sys.argv[1]).read_text())}
    runs = [found[name] for name in SCHEMES]
    for run in runs:
        shown = sum(run["waf_by_cause"][cause] for _, causes in SHARES for cause in causes)
        assert abs(shown - run["waf"]) < 1e-9, f"{run['scheme']}: a cause has no colour"
    bottom = TOP + ROW * len(runs)
    axes = [f'<path class="axis" d="M{x} {TOP - 6}V{bottom - 5}"/>' for x in (LEFT, RIGHT)]
    heads = [f'<text class="head" x="{LEFT}" y="20">mean response time</text>',
             f'<text class="head" x="{RIGHT}" y="20">programs per page written, by cause</text>']
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 740 {bottom + 24}" role="img">',
             "<title>Six schemes on one workload</title>", f"<style>{STYLE}</style>",
             *heads, *axes, *bars(runs), *legend(bottom + 4), "</svg>"]
    Path(sys.argv[2]).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
