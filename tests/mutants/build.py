"""The copy with mutants: made from the sources as they are, compiled once."""

import json
import os
import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import embed

COPIED = ["Cargo.toml", "Cargo.lock", "crates", "tests/floors", "tests/fuzzing"]
GROUND = "crates/flash/src"
HERE = Path(__file__).parent


def listed(root, tool, files):
    """What cargo-mutants would do to these files."""
    command = [tool, "mutants", "--list", "--json", "--no-config"]
    for file in files:
        command += ["--file", file]
    out = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    return [mutant for mutant in json.loads(out) if not is_of_check(mutant)]


def is_of_check(mutant):
    """Whether it is in a check of our own structures, which answers with what is wrong in words: a
    device that is sound passes, whatever a check leaves out."""
    answer = (mutant.get("function") or {}).get("return_type") or ""
    return answer.replace(" ", "") == "->Result<(),String>"


def name_of(mutant):
    """File, function, and what is done: without numbers of lines, which every change moves."""
    where, _, what = mutant["name"].partition(": ")
    file = where.split(":")[0].removeprefix("crates/")
    return f"{file}: {what}"


class Copy:
    """A folder with the sources and the mutants that compile."""

    def __init__(self, root, folder, packages):
        self.root, self.tree, self.target = root, folder / "tree", folder / "build"
        self.packages = packages
        self.locked = []
        self.written = set()

    def write(self, path, text):
        """Only what differs: the compiler goes by times."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.written.add(path)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)

    def make(self, mutants, tests=None):
        """Writes the copy with numbered mutants, and no tests but those of the names in `tests`, if
        any are given, nor what only the others need; the numbers of the mutants that could be
        embedded."""
        by_file, placed, manifests = defaultdict(list), [], []
        # Who needs less has another lock, whose versions are the same.
        self.locked = ["--locked"] if tests is None else []
        for number, mutant in mutants.items():
            by_file[mutant["file"]].append((number, mutant))
        command = ["git", "ls-files", "-co", "--exclude-standard", *COPIED]
        names = subprocess.run(command, cwd=self.root, check=True, capture_output=True, text=True)
        for name in sorted(set(names.stdout.split())):
            source = self.root / name
            if not source.exists():
                continue
            if not name.endswith((".rs", ".toml", ".lock")):
                copied = self.tree / name
                copied.parent.mkdir(parents=True, exist_ok=True)
                self.written.add(copied)
                if not copied.exists() or copied.read_bytes() != source.read_bytes():
                    shutil.copy(source, copied)
                continue
            if tests is not None and name.endswith("/Cargo.toml"):
                manifests.append(name)
                continue
            text = source.read_text()
            if name in by_file:
                ground = name.startswith(GROUND)
                asks = "crate::mutants::on" if ground else "::ftlab_flash::mutants::on"
                text, here = embed.embed(text, asks, by_file[name])
                placed += here
            if tests is not None and name.endswith(".rs"):
                text = embed.with_tests(text, tests)
            if name == f"{GROUND}/lib.rs":
                text += "\n/// Mutants.\npub mod mutants;\n"
            self.write(self.tree / name, text)
        self.write(self.tree / GROUND / "mutants.rs", (HERE / "on.rs").read_text())
        for path in self.tree.rglob("*.rs"):
            if path not in self.written:
                path.unlink()
        for name in manifests:
            copied = self.tree / name
            self.write(copied, needed((self.root / name).read_text(), copied.parent))
        return placed

    def cargo(self, *arguments):
        environment = {**os.environ, "RUSTFLAGS": "--cap-lints=allow", "CARGO_INCREMENTAL": "0"}
        environment.pop("RUSTC_WORKSPACE_WRAPPER", None)
        how = [*self.locked, "--message-format=json", "--target-dir", self.target]
        run = subprocess.run(["cargo", *arguments, *how], cwd=self.tree, env=environment,
                             capture_output=True, text=True)
        lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
        return run, lines

    def viable(self, mutants):
        """Leaves out, round by round, what the compiler refuses; (viable, refused, left out)."""
        left, refused = dict(mutants), {}
        placed = self.make(left)
        outside = {number: left.pop(number) for number in list(left) if number not in set(placed)}
        for _ in range(40):
            packages = [word for name in self.packages for word in ("-p", name)]
            run, lines = self.cargo("check", *packages)
            if run.returncode == 0:
                return left, refused, outside
            guilty = {number for line in lines for number in self.guilty(line, left)} & set(left)
            if not guilty:
                words = [line["message"]["rendered"] for line in lines if "message" in line]
                raise SystemExit("what the compiler refuses is no mutant's:\n" + "\n".join(words))
            refused.update({number: left.pop(number) for number in guilty})
            self.make(left)
        raise SystemExit("the compiler refuses mutants without end")

    def guilty(self, line, mutants):
        """The mutants that an error is about: those of the smallest text around it, else those of
        its line, else those of its function; lines are those of the sources."""
        message = line.get("message", {})
        if line.get("reason") != "compiler-message" or message.get("level") != "error":
            return
        for span in message["spans"]:
            text = (self.tree / span["file_name"]).read_bytes()
            within = innermost(text, span["byte_start"], span["byte_end"])
            if not span["is_primary"]:
                continue
            if within:
                yield from within
                continue
            here = {number: mutant for number, mutant in mutants.items()
                    if mutant["file"] == span["file_name"]}
            of_line = [number for number, mutant in here.items()
                       if mutant["span"]["start"]["line"] == span["line_start"]]
            of_function = [number for number, mutant in here.items()
                           if is_in_function(mutant, span["line_start"])]
            yield from of_line or of_function

    def programs(self, trials):
        """Compiles the test programs; path by (package, target)."""
        programs = {}
        for package in sorted({trial.package for trial in trials}):
            targets = sorted({trial.target for trial in trials if trial.package == package})
            words = [word for target in targets
                     for word in (["--lib"] if target == "lib" else ["--test", target])]
            run, lines = self.cargo("test", "--no-run", "-p", package, *words)
            if run.returncode != 0:
                raise SystemExit(run.stderr[-4000:])
            for line in lines:
                if line.get("executable") and line["profile"]["test"]:
                    kind = line["target"]["kind"][0]
                    target = "lib" if kind == "lib" else line["target"]["name"]
                    programs[package, target] = Path(line["executable"])
        return programs


def needed(manifest, folder):
    """A manifest without what only tests would need that are not in this folder."""
    sources = "\n".join(path.read_text() for path in folder.rglob("*.rs"))
    head, section, rest = manifest.partition("[dev-dependencies]\n")
    lines, more, behind = rest.partition("\n[")
    def is_named(line):
        name = re.match(r"[\w-]+", line)
        return not name or re.search(rf"\b{name[0].replace('-', '_')}\b", sources)
    kept = "\n".join(line for line in lines.split("\n") if is_named(line))
    return head + section + kept + more + behind


def is_in_function(mutant, line):
    span = (mutant.get("function") or {}).get("span")
    return span is not None and span["start"]["line"] <= line <= span["end"]["line"]


def innermost(text, start, end):
    """The mutants of the smallest embedded text around a place."""
    stack, at = [], 0
    while True:
        at = text.find(b"/*", at)
        if at < 0 or at > start:
            break
        if text[at + 2 : at + 3] == b"<":
            stack.append([int(n) for n in text[at + 3 : text.find(b"*/", at)].split(b",")])
        elif text[at + 2 : at + 3] == b">" and text[at + 3 : at + 4].isdigit():
            stack.pop()
        at += 2
    return stack[-1] if stack else []
