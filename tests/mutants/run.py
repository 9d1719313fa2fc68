"""Mutation score of rooms: make test-mutants ROOM=NAME; what it means says docs/mutants.md.

Every mutant of cargo-mutants in a room's sources is judged by the tests of that room, each alone:
the quick ones first, those that never come to the mutant not at all. Those of equivalent.txt change
nothing and are not judged. What was judged is kept in target/mutants/ROOM.json, and a run goes on
where the last one ended; a mutant that survived is judged again once there are other tests.
"""

import argparse
import hashlib
import json
import os
import threading
import time
from pathlib import Path

import build
import equivalent
import rooms
import sample
import trial

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "target/mutants"
HEADINGS = [
    "room", "mutants", "viable", "killed", "timeouts", "survived", "equivalent", "left out", "open"]


class Record:
    """What is known of a room's mutants, by title; nothing of other sources."""

    def __init__(self, path, files):
        sources = hashlib.sha256()
        for file in files:
            sources.update((ROOT / file).read_bytes())
        self.path = path
        self.known = {"sources": sources.hexdigest(), "verdicts": {}}
        if path.exists():
            known = json.loads(path.read_text())
            if known["sources"] == self.known["sources"]:
                self.known = known
        self.verdicts = self.known["verdicts"]
        self.lock = threading.Lock()

    def of(self, mutants):
        """Verdicts by number; None where nobody judged yet."""
        return {number: self.verdicts.get(mutant["title"]) for number, mutant in mutants.items()}

    def expect_nothing_of(self, titles):
        """Ends the run if a test once noticed one of these, which are said to change nothing."""
        for title in titles:
            word, who, *_ = self.verdicts.get(title) or ("survived", None)
            if word != "survived":
                raise SystemExit(f"{equivalent.LIST} lists {title}, which {who} notices ({word})")

    def tell(self, title, verdict):
        with self.lock:
            self.verdicts[title] = verdict
            self.path.write_text(json.dumps(self.known, indent=1, sort_keys=True))


def numbered(mutants):
    """Mutants by number from 1 on, each with a title of its own."""
    seen, named = {}, {}
    for number, mutant in enumerate(mutants, 1):
        name = build.name_of(mutant)
        seen[name] = seen.get(name, 0) + 1
        mutant["title"] = name if seen[name] == 1 else f"{name} ({seen[name]})"
        named[number] = mutant
    return named


def by_whom(number, verdict, tests):
    """The test that noticed a mutant; None where it survived."""
    is_it = lambda test: str(test) == verdict[1] and number in test.reaches
    return next(filter(is_it, tests), None)


def sampled(mutants, count):
    """So many of them, always the same while they are there: by a digest of their titles."""
    digest = lambda pair: hashlib.sha256(pair[1]["title"].encode()).digest()
    return dict(sorted(mutants.items(), key=digest)[:count])


class Session:
    """Mutants of some rooms in one copy, compiled once."""

    def __init__(self, names, arguments):
        self.arguments = arguments
        self.rooms = {name: rooms.room(name, ROOT) for name in names}
        self.files = {name: rooms.files(room, ROOT) for name, room in self.rooms.items()}
        files = sorted({file for files in self.files.values() for file in files})
        self.mutants = numbered(build.listed(ROOT, arguments.tool, files))
        titles = {mutant["title"] for mutant in self.mutants.values()}
        self.equivalent = equivalent.among(titles, files, ROOT)
        if arguments.sample:
            # More than that: some do not compile.
            told = {number: mutant for number, mutant in self.mutants.items()
                    if mutant["title"] not in self.equivalent}
            self.mutants = sampled(told, arguments.sample * 5 // 4)
        packages = sorted({f"ftlab-{file.split('/')[1]}" for file in files})
        self.copy = build.Copy(ROOT, FOLDER, packages)
        begun = time.monotonic()
        self.viable, refused, self.outside = self.copy.viable(self.mutants)
        if arguments.sample:
            self.viable = sampled(self.viable, arguments.sample)
        print(f"{len(self.mutants)} mutants, {len(refused)} do not compile, "
              f"{len(self.outside)} are left out")
        trials = [trial for name in self.rooms for trial in self.rooms[name].trials
                  if self.of(name, self.viable)]
        self.programs = self.copy.programs(trials)
        print(f"compiled in {time.monotonic() - begun:.0f} s", flush=True)
        self.until = time.monotonic() + arguments.seconds
        # Mutants that were judged, each with the test that noticed it.
        self.judged = []

    def of(self, name, mutants):
        """Those in a room's sources."""
        files = self.files[name]
        return {number: mutant for number, mutant in mutants.items() if mutant["file"] in files}

    def judge(self, name):
        """Judges a room's mutants and tells the survivors; its row of the table."""
        compiled = self.of(name, self.viable)
        same = {number for number, mutant in compiled.items() if mutant["title"] in self.equivalent}
        viable = {number: mutant for number, mutant in compiled.items() if number not in same}
        record = Record(FOLDER / f"{name}.json", self.files[name])
        record.expect_nothing_of([compiled[number]["title"] for number in same])
        tests = []
        if viable and time.monotonic() < self.until:
            tests = self.tests(self.rooms[name])
            self.judge_open(viable, tests, record)
        verdicts = record.of(viable)
        if tests:
            self.judged += [(viable[number], by_whom(number, verdict, tests))
                            for number, verdict in verdicts.items() if verdict]
        for number, verdict in verdicts.items():
            if verdict and verdict[0] == "survived":
                mutant = viable[number]
                line = mutant["span"]["start"]["line"]
                print(f"survived {verdict[1]} tests: {mutant['title']} [line {line}]")
        words = [verdict[0] for verdict in verdicts.values() if verdict]
        judged = [words.count(word) for word in ("killed", "timeout", "survived")]
        return [name, len(self.of(name, self.mutants)), len(compiled), *judged, len(same),
                len(self.of(name, self.outside)), len(viable) - sum(judged)]

    def tests(self, room):
        """The room's tests, the quickest first, with what they come to."""
        found = {}
        for one in room.trials:
            program = self.programs[one.package, one.target]
            for test in trial.tests_of(one, program, self.copy.tree):
                found.setdefault((test.program, test.name, test.only), test)
        tests, begun = list(found.values()), time.monotonic()
        trial.reach(tests, FOLDER / "reached", self.arguments.workers, self.arguments.longest)
        took, longest = time.monotonic() - begun, self.arguments.longest
        longer = [test for test in tests if test.seconds > longest]
        if longer:
            print(f"{len(longer)} tests of more than {longest:g} s judge nothing: "
                  "other mutants than those told may be noticed as well")
            tests = [test for test in tests if test.seconds <= longest]
        alone = sum(test.seconds for test in tests)
        print(f"{len(tests)} tests, {alone:.0f} s one by one, {took:.0f} s now; the longest:")
        for test in tests[-3:]:
            print(f"{test.seconds:6.1f} s {test}", flush=True)
        return sample.in_turn(tests) if self.arguments.sample else tests

    def judge_open(self, viable, tests, record):
        """Judges those that nobody judged yet, and those that survived other tests than these."""
        names = "\n".join(sorted(str(test) for test in tests))
        now = hashlib.sha256(names.encode()).hexdigest()
        known = record.of(viable)
        is_open = lambda verdict: not verdict or (verdict[0] == "survived" and verdict[2] != now)
        numbers = [number for number, verdict in known.items() if is_open(verdict)]

        def told(number, verdict):
            record.tell(viable[number]["title"], [*verdict, now])

        trial.judge_all(numbers, tests, self.arguments.workers, self.until, told)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rooms", nargs="*")
    parser.add_argument("--tool", required=True, help="cargo-mutants")
    parser.add_argument("--seconds", type=float, default=1e9, help="judge no longer than this")
    parser.add_argument("--longest", type=float, default=1e9,
                        help="tests that take longer alone judge nothing, seconds")
    parser.add_argument("--sample", type=int, help="so many mutants, by default of all rooms")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    names = arguments.rooms or (rooms.all_names(ROOT) if arguments.sample else [])
    if not names:
        parser.error("which room?")
    FOLDER.mkdir(parents=True, exist_ok=True)
    session = Session(names, arguments)
    rows = [session.judge(name) for name in names]
    if arguments.sample and not arguments.rooms:
        sample.write(session.judged)
    print("| " + " | ".join(HEADINGS) + " |")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


if __name__ == "__main__":
    main()
