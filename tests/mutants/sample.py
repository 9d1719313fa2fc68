"""The fixed sample of mutants that CI judges: make test-mutants-sample.

sample.json says what each mutant does, where, and which test noticed it when `make test-mutants SAMPLE=40`
drew it. Here each is judged by that test alone, without cargo-mutants: a place is found again by the text
of its line and its function. One that is no longer noticed is a fault, and so is a sample of which too
little is there any more.
"""

import json
import os
from pathlib import Path

import build
import embed
import rooms
import trial

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "target/mutants"
FILE = Path(__file__).with_name("sample.json")
# Of the mutants of the sample; sources change, and a sample is drawn anew now and then.
LEFT_LEAST = 0.75
# Of what the quickest test of most needs.
SECONDS_LEAST = 2
# Who is asked first when a sample is drawn: unit tests say where a fault is, and the fewer programs
# there are, the less is compiled. The schemes' own would be all schemes once more.
ASKED_FIRST = [
    ("ftlab-flash", "lib"), ("ftlab-ftl", "lib"), ("ftlab-engine", "schemes"), ("ftlab-engine", "device")]
# Who is asked last: they say that something moved, not that it was right before, and need crates of
# others to say so.
SNAPSHOTS = ["numbers", "sizes"]


def candidates(text, line, function):
    """Where lines of this text begin (number and bytes before it) in functions of this name."""
    source = embed.Source(text, "")
    for number, there in enumerate(source.lines):
        if there.strip() != line:
            continue
        indent = len(there) - len(there.lstrip())
        start = source.starts[number] + indent
        node = source.root.descendant_for_byte_range(start, start)
        if function is None or function in functions_around(source, node):
            yield number + 1, indent


def functions_around(source, node):
    found = [above for above in source.ancestors(node) if above.type == "function_item"]
    return [above.child_by_field_name("name").text.decode() for above in found]


def place_of(mutant):
    """How a mutant's place is found again."""
    text = (ROOT / mutant["file"]).read_text()
    start = mutant["span"]["start"]
    there = text.splitlines(keepends=True)[start["line"] - 1]
    function = ((mutant.get("function") or {}).get("function_name") or "").split("::")[-1] or None
    line, indent = there.strip(), len(there) - len(there.lstrip())
    numbers = [number for number, _ in candidates(text, line, function)]
    if start["line"] not in numbers:
        function = None
        numbers = [number for number, _ in candidates(text, line, function)]
    return {
        "file": mutant["file"],
        "function": function,
        "line": line,
        "nth": numbers.index(start["line"]),
        "at": start["column"] - 1 - indent,
        "genre": mutant["genre"],
        "replacement": mutant["replacement"],
    }


def found_again(place):
    """The mutant at its place, as cargo-mutants would tell it; None where it is no more."""
    path = ROOT / place["file"]
    if not path.exists():
        return None
    there = list(candidates(path.read_text(), place["line"], place["function"]))
    if len(there) <= place["nth"]:
        return None
    line, indent = there[place["nth"]]
    column = indent + place["at"] + 1
    span = {"start": {"line": line, "column": column}, "end": {"line": line, "column": column + 1}}
    return {**place, "span": span}


def in_turn(tests):
    """Those of a room in the order in which a sample asks them; within a program as they come."""
    turn = {program: number for number, program in enumerate(ASKED_FIRST)}
    is_snapshot = lambda test: test.name.split("::")[0] in SNAPSHOTS
    program = lambda test: turn.get((test.package, test.target), len(turn))
    return sorted(tests, key=lambda test: (is_snapshot(test), program(test)))


def write(judged):
    """Keeps a sample: pairs of a mutant and the test that noticed it, or None."""
    entries = []
    for mutant, test in judged:
        noticed = test and {"package": test.package, "target": test.target, "name": test.name, "only": test.only}
        entries.append({"title": mutant["title"], **place_of(mutant), "noticed_by": noticed})
    entries.sort(key=lambda entry: entry["title"])
    FILE.write_text(json.dumps(entries, indent=1) + "\n")
    print(f"{FILE.relative_to(ROOT)}: {len(entries)} mutants")


def main():
    if stray := rooms.outside(ROOT):
        raise SystemExit("in no room of tests/mutants/rooms.py: " + ", ".join(stray))
    entries = json.loads(FILE.read_text())
    noticed = [entry for entry in entries if entry["noticed_by"]]
    mutants = {number: found_again(entry) for number, entry in enumerate(entries, 1)}
    gone = [entries[number - 1]["title"] for number, mutant in mutants.items() if mutant is None]
    for title in gone:
        print(f"no longer there: {title}")
    if len(entries) - len(gone) < LEFT_LEAST * len(entries):
        raise SystemExit("too little of the sample is left: `make test-mutants SAMPLE=40` draws another")
    judged = {number: entries[number - 1]["noticed_by"] for number, mutant in mutants.items()
              if mutant and entries[number - 1]["noticed_by"]}
    # A few tests run once each: there is more to compile than to run, and nobody looks for a line.
    os.environ.setdefault("CARGO_PROFILE_TEST_OPT_LEVEL", "0")
    os.environ.setdefault("CARGO_PROFILE_TEST_DEBUG", "none")
    copy = build.Copy(ROOT, FOLDER, [])
    names = {by["name"].split("::")[-1] for by in judged.values()}
    placed = copy.make({number: mutants[number] for number in judged}, names)
    if missing := set(judged) - set(placed):
        titles = [entries[number - 1]["title"] for number in missing]
        raise SystemExit("cannot be put into the sources: " + ", ".join(titles))
    programs = copy.programs({rooms.Trial(by["package"], by["target"]) for by in judged.values()})
    survived = [number for number, by in judged.items() if not notices(copy, programs, number, by)]
    for number in survived:
        print(f"not noticed any more by {judged[number]['name']}: {entries[number - 1]['title']}")
    print(f"{len(judged) - len(survived)} of {len(entries)} mutants are noticed, "
          f"{len(entries) - len(noticed)} were not when the sample was drawn, {len(gone)} are gone")
    if survived:
        raise SystemExit(1)


PASSED = {}


def notices(copy, programs, number, by):
    """Whether the test that noticed it notices it still, and passes without it."""
    key = tuple(by.values())
    test = trial.Test(programs[by["package"], by["target"]], by["name"], by["only"],
                      copy.tree / "crates" / by["package"].removeprefix("ftlab-"))
    if key not in PASSED:
        PASSED[key] = test.timed()
    return test.run({"FTLAB_MUTANT": str(number)}, trial.limit(max(PASSED[key], SECONDS_LEAST))) is not True


if __name__ == "__main__":
    main()
