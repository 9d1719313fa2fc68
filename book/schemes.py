"""The pages of schemes: header of the source, row of the table, settings, measured card."""

import re
from pathlib import Path

from tables import cell, code, source, table

SOURCES = Path(__file__).resolve().parent.parent / "crates" / "schemes" / "src"
SECTIONS = ["Idea", "Paper", "Structures", "Read", "Write", "Reclaim", "Recovery", "Deviations", "Settings"]


def table_of_schemes(program):
    rows = [
        [f"[`{row['name']}`](schemes/{row['name']}.md)", cell(row["family"].replace("_", " ")),
         cell(row["title"]), cell(f"{row['authors']} {row['year']}"),
         ", ".join(f"`:{preset}`" for preset in row["presets"])]
        for row in program.list("schemes")
    ]
    return table(["scheme", "family", "title", "who, when", "presets"], rows)


def header(name):
    """The sections at the top of a scheme's file, in its order."""
    lines = []
    for line in (SOURCES / f"{name}.rs").read_text().splitlines():
        if not line.startswith("//!"):
            break
        lines.append(line.removeprefix("//!").removeprefix(" "))
    parts = re.split(r"^# (.+)$", "\n".join(lines), flags=re.M)
    assert not parts[0].strip(), f"{name}: text before the first section"
    sections = dict(zip(parts[1::2], (part.strip() for part in parts[2::2])))
    # A scheme may have more of them.
    fixed = [title for title in sections if title in SECTIONS]
    assert fixed == SECTIONS, f"{name}: sections {list(sections)}"
    return sections


def prose(text):
    """Comments of Rust as Markdown: links to items become their names, chapters links."""
    text = re.sub(r"\[`([^`\]]+)`\](\([^)]*\))?", r"`\1`", text)
    return re.sub(r"`docs/papers/([\w.]+\.md)(#[\w-]+)?`", r"[docs/papers/\1](../papers/\1\2)", text)


def scheme_pages(program, results):
    """Page by name, in the order of the table."""
    runs = {run["scheme"]: run for run in results}
    if results:
        missing = {row["name"] for row in program.list("schemes")} - set(runs)
        assert not missing, f"schemes without a run: {missing}"
    return {row["name"]: page(row, program, runs) for row in program.list("schemes")}


def page(row, program, runs):
    name = row["name"]
    sections = header(name)
    year = "" if str(row["year"]) in row["venue"] else f" {row['year']}"
    parts = [f"# {name}", f"*{row['title']}.* {row['authors']}, {row['venue']}{year}; "
             f"sections {row['sections']}.", prose(sections["Idea"])]
    parts.append(table(["classified as in DFTL 2014, Table 1", ""], [
        ["family", cell(row["family"].replace("_", " "))],
        ["kind", cell(row["kind"])],
        ["what one map entry covers", cell(row["granularity"])],
        ["how update blocks are divided", cell(row["update_blocks"])],
        ["data blocks to update blocks", cell(row["associativity"])],
        ["full merges", cell(row["full_merge"])],
        ["presets", ", ".join(f"`{name}:{preset}`" for preset in row["presets"]) or "none"],
    ]))
    if name in runs:
        parts.append("## Measured\n\n" + card(name, runs))
    for title in list(sections)[1:-1]:
        parts.append(f"## {title}\n\n{prose(sections[title])}")
        if title == "Deviations" and row["deviations"]:
            parts.append("In short: " + cell("; ".join(row["deviations"])) + ".")
    parts.append(f"## Settings\n\n{prose(sections['Settings'])}")
    keys = [key for key in program.list("keys") if key["key"].startswith(name + ".")]
    if keys:
        rows = [[code(key["key"]), cell(key["meaning"]), code(key["default"]), cell(key["legal"]),
                 source(key["source"], "../")] for key in keys]
        parts.append(table(["key", "meaning", "default", "legal", "source"], rows))
    parts.append(f"Source: `crates/schemes/src/{name}.rs`, with its parts beside it.")
    return "\n\n".join(parts) + "\n"


def time(nanos):
    return f"{nanos / 1e6:.3g} ms" if nanos < 1e9 else f"{nanos / 1e9:,.1f} s"


def size(number):
    return f"{number / 1024:,.0f} KiB"


def response(run):
    return run["latency_ns"]["all"]["system"]


# Causes that some scheme of the table has a column for; the others are few and on its page.
CAUSES = ["gc", "translate", "gc_map_update", "gc_map_block", "merge", "migrate", "convert"]


def table_of_cards(results):
    """All schemes side by side; without results, where they come from."""
    if not results:
        return "`make book` runs them all and puts a table here."
    rows = [
        [f"[`{run['scheme']}`](schemes/{run['scheme']}.md)", f"{run['waf']:.3f}",
         *(f"{run['waf_by_cause'][cause]:.3f}" if run["waf_by_cause"][cause] else "" for cause in CAUSES),
         time(response(run)["mean"]), time(response(run)["percentile"]["99.000000"]),
         f"{run['flash']['total_erases']:,}", size(run["ram_bytes"]["total"])]
        for run in results
    ]
    heads = ["scheme", "WAF", *(f"`{cause}`" for cause in CAUSES), "mean", "p99", "erases", "memory"]
    command = f"```text takes-long\n{results[0]['made']['command']}\n```"
    return f"{table(heads, rows)}\n\n{command}"


def card(name, runs):
    """The scheme's numbers beside those of the page map, from one comparison of all schemes."""
    shown = [name] if name == "ideal_page" else [name, "ideal_page"]
    rows = [
        ["write amplification", lambda run: f"{run['waf']:.3f}"],
        ["mean response", lambda run: time(response(run)["mean"])],
        ["p99 response", lambda run: time(response(run)["percentile"]["99.000000"])],
        ["blocks erased", lambda run: f"{run['flash']['total_erases']:,}"],
        ["full merges", lambda run: f"{run['merges']['full']:,}"],
        ["SRAM", lambda run: size(run["ram_bytes"]["sram"])],
        ["memory of all kinds", lambda run: size(run["ram_bytes"]["total"])],
    ]
    numbers = table(["", *(f"`{one}`" for one in shown)],
                    [[title, *(of(runs[one]) for one in shown)] for title, of in rows])
    causes = [cause for cause in runs[name]["waf_by_cause"]
              if any(runs[one]["waf_by_cause"][cause] for one in shown)]
    shares = table(["programs per host page", *(f"`{one}`" for one in shown)],
                   [[f"by `{cause}`", *(f"{runs[one]['waf_by_cause'][cause]:.3f}" for one in shown)]
                    for cause in causes])
    warnings = "".join(f"\n\n> {cell(warning)}" for warning in runs[name]["warnings"])
    return (f"{numbers}\n\n{shares}\n\nAll schemes side by side, on the workload of `make demo`:\n\n"
            f"```text takes-long\n{runs[name]['made']['command']}\n```{warnings}")
