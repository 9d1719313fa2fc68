#!/usr/bin/env python3
"""Makes the sources of the book: pages written by hand, and what the program says of itself.

    book/generate.py FTLAB OUT [--cards RESULTS.json]

A line `<!-- NAME -->` in a page gives way to what `MAKERS` makes of that name: tables of
`ftlab list`, fields of `ftlab schema`, the help of every command, a picture. A page per scheme comes
from the header of its source, its row, its settings and, with --cards, its numbers in RESULTS.json.
Nothing that the program knows is written down a second time.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from fields import columns, fields  # noqa: E402
from schemes import scheme_pages, table_of_cards, table_of_schemes  # noqa: E402
from tables import cell, code, source, table  # noqa: E402

HERE = Path(__file__).resolve().parent
PLACE = re.compile(r"^<!-- (.+) -->$", re.M)


class Program:
    """What the command prints, asked once."""

    def __init__(self, path, cards):
        self.path = Path(path).resolve()
        # A run of every scheme, or nothing.
        self.results = json.loads(cards.read_text()) if cards else []
        self.known = {}

    def text(self, *arguments):
        if arguments not in self.known:
            run = subprocess.run([self.path, *arguments], check=True, capture_output=True)
            self.known[arguments] = run.stdout.decode()
        return self.known[arguments]

    def list(self, what):
        return json.loads(self.text("list", what, "--json"))

    def schema(self, what):
        return json.loads(self.text("schema", what))


def listed(program, what, columns):
    """A table of `ftlab list`: columns by name, their headings, which of them are code."""
    rows = program.list(what)
    heads = [head for _, head, _ in columns]
    body = [[(code if as_code else cell)(row[name]) for name, _, as_code in columns] for row in rows]
    return table(heads, body)


def devices(program):
    rows = [
        [code(row["name"]), cell(row["about"]), f"{row['logical_bytes'] / 2**30:.3g} GiB", cell(row["source"])]
        for row in program.list("devices")
    ]
    return table(["device", "what it is", "exports", "source of its numbers"], rows)


def device_fields(program):
    """Every setting of a device file's own groups, and how many bundled devices state it."""
    texts = [path.read_text() for path in devices_folder().glob("*.toml")]
    stated = {}
    for text in texts:
        group = ""
        for line in text.splitlines():
            if section := re.match(r"\[(\w+)\]", line):
                group = section[1]
            elif key := re.match(r"(\w+) *=", line):
                name = f"{group}.{key[1]}"
                stated[name] = stated.get(name, 0) + 1
    parts = []
    for group in ["device", "timing", "energy", "io", "nand", "wear", "host", "gc"]:
        rows = [
            [code(row["key"].split(".")[1]), cell(row["meaning"]), cell(row["legal"]), default(row),
             source(row["source"]), str(stated.get(row["key"], 0))]
            for row in program.list("keys")
            if row["key"].startswith(group + ".") and row["key"] != "device.name"
        ]
        heads = ["field", "meaning", "legal", "where it is not stated", "origin of that", f"stated by, of {len(texts)}"]
        parts.append(f"### `[{group}]`\n\n" + table(heads, rows))
    return "\n\n".join(parts)


MUST = {"device.endurance_cycles"}


def default(row):
    """What holds where a device file is silent; some may not be."""
    key, model = row["key"], {"read": "per_operation", "program": "per_operation", "erase": "per_operation",
                              "millivolts": "current", "flash_microamperes": "current"}
    if key in ("device.endurance_cycles", "energy.model"):
        return "must be stated"
    group, name = key.split(".")
    if group == "energy" and name in model:
        return f"must be stated under `{model[name]}`"
    return code(row["default"])


def devices_folder():
    return HERE.parent / "crates" / "lab" / "config" / "devices"


def device_file(_, name):
    """A device file as it is bundled."""
    return "```toml\n" + (devices_folder() / f"{name}.toml").read_text() + "```"


def settings(program):
    """The groups that all schemes share; a scheme's own stand on its page."""
    schemes = {row["name"] for row in program.list("schemes")}
    groups = {}
    for row in program.list("keys"):
        groups.setdefault(row["key"].split(".")[0], []).append(row)
    parts = []
    for group, rows in groups.items():
        if group in schemes:
            continue
        body = [
            [code(row["key"]), cell(row["meaning"]), code(row["default"]), cell(row["legal"]), source(row["source"])]
            for row in rows
        ]
        parts.append(f"## {group}\n\n" + table(["key", "meaning", "default", "legal", "source"], body))
    return "\n\n".join(parts)


def commands(program):
    """The help of every command, as it is printed."""
    def below(words):
        text = program.text(*words, "--help")
        found = re.search(r"^Commands:\n(.*?)\n\n", text, re.S | re.M)
        names = re.findall(r"^  ([a-z][a-z-]*) ", found[1], re.M) if found else []
        names = [name for name in names if name != "help"]
        if words:
            yield words, text
        for name in names:
            yield from below((*words, name))

    part = lambda words, text: f"## ftlab {' '.join(words)}\n\n```text\n{text.rstrip()}\n```"
    return "\n\n".join(part(words, text) for words, text in below(()))


def output(program, arguments):
    """What a command prints, in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([program.path, *arguments.split()], check=True, capture_output=True, cwd=folder)
    return f"```text\n{run.stdout.decode().rstrip()}\n```"


def copied(out):
    """Puts the chapters of the papers and the claims into the book: title by path."""
    docs = HERE.parent / "docs"
    titles = {}
    for page in [docs / "papers" / "README.md", *sorted((docs / "papers").glob("*.md")),
                 docs / "claims.md", *sorted((docs / "claims").glob("*.md"))]:
        # mdBook has no page of the name README.
        path = str(page.relative_to(docs)).replace("README", "index")
        if path not in titles:
            text = page.read_text().replace("](README.md)", "](index.md)")
            (out / path).parent.mkdir(parents=True, exist_ok=True)
            (out / path).write_text(text)
            titles[path] = text.splitlines()[0].removeprefix("# ")
    return titles


def pages_of_papers(titles):
    inner = lambda path: "  " if "/" in path and not path.endswith("index.md") else ""
    return "\n".join(f"  {inner(path)}- [{title}]({path})" for path, title in titles.items())


def picture(_, name):
    """A picture within the page, so that it takes the colours of the reader's theme."""
    return (HERE / "pictures" / f"{name}.svg").read_text().strip()


MAKERS = {
    "table of schemes": table_of_schemes,
    "table of cards": lambda program: table_of_cards(program.results),
    "table of devices": devices,
    "fields of a device file": device_fields,
    "settings": settings,
    "commands": commands,
    "fields of results": lambda program: fields(program.schema("results")),
    "columns of rows": lambda program: columns(program.schema("rows")),
    "table of formats": lambda program: listed(program, "formats", [
        ("name", "format", True), ("columns", "columns", True), ("time_unit", "unit of time", False),
        ("size_unit", "unit of sizes", False), ("origin", "where it comes from", False)]),
    "table of workloads": lambda program: listed(program, "workloads", [
        ("name", "workload", True), ("about", "what it is", False), ("source", "source", False)]),
    "table of buffers": lambda program: listed(program, "buffers", [
        ("name", "buffer", True), ("leaves", "what leaves when room is needed", False),
        ("title", "paper", False), ("authors", "authors", False), ("year", "year", False)]),
    "table of schedulers": lambda program: listed(program, "schedulers", [
        ("name", "scheduler", True), ("about", "what it does", False)]),
    "table of placements": lambda program: ", ".join(f"`{row['name']}`" for row in program.list("placements")),
    "table of victims": lambda program: ", ".join(f"`{row['name']}`" for row in program.list("victims")),
    "table of experiments": lambda program: listed(program, "experiments", [
        ("name", "experiment", True), ("paper", "paper", False), ("item", "item", False),
        ("title", "what it shows", False), ("claims", "claims", False)]),
    "device": device_file,
    "output": output,
    "picture": picture,
}


def filled(text, program, schemes, papers):
    def make(found):
        name, _, argument = found[1].partition(": ")
        if name == "pages of schemes":
            return "\n".join(f"  - [{name}](schemes/{name}.md)" for name in schemes)
        if name == "pages of papers":
            return pages_of_papers(papers)
        if name not in MAKERS:
            sys.exit(f"book: nothing makes '{found[0]}'")
        return MAKERS[name](program, argument) if argument else MAKERS[name](program)

    return PLACE.sub(make, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ftlab")
    parser.add_argument("out", type=Path)
    parser.add_argument("--cards", type=Path, help="results.json with a run of every scheme")
    typed = parser.parse_args()
    program = Program(typed.ftlab, typed.cards)
    shutil.rmtree(typed.out, ignore_errors=True)
    pages = scheme_pages(program, program.results)
    papers = copied(typed.out / "src")
    for source in sorted(path for path in (HERE / "src").rglob("*") if path.is_file()):
        target = typed.out / "src" / source.relative_to(HERE / "src")
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            target.write_text(filled(source.read_text(), program, list(pages), papers))
        else:
            shutil.copy(source, target)
    (typed.out / "src" / "schemes").mkdir(exist_ok=True)
    for name, text in pages.items():
        (typed.out / "src" / "schemes" / f"{name}.md").write_text(text)
    for what in ["results", "rows"]:
        schema = program.text("schema", what)
        (typed.out / "src" / f"{what}.schema.json").write_text(schema)
    for file in ["book.toml", "book.css"]:
        shutil.copy(HERE / file, typed.out / file)


if __name__ == "__main__":
    main()
