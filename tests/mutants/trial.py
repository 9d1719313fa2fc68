"""Trials: which test asks for which mutants, and whether one of them notices a mutant."""

import hashlib
import os
import resource
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

# A mutant that loops or allocates without end is noticed too. Seconds are those of the processor,
# so that what else a machine does decides nothing; one that sleeps is given more of them.
MEMORY_MOST = 3 << 30
SLOWER_MOST = 4
SECONDS_MORE = 5
SLEEPS_MOST = 20


@dataclass
class Test:
    """One test of a program, by itself."""

    program: Path
    name: str
    only: str
    folder: Path
    package: str = ""
    target: str = ""
    seconds: float = 0.0
    reaches: set = field(default_factory=set)

    def __str__(self):
        return self.name + (f" ({self.only})" if self.only else "")

    def run(self, environment, seconds):
        """Whether it passes; None: it was not done in time."""
        variables = {**os.environ, **environment, "RUST_BACKTRACE": "0"}
        variables.pop("FTLAB_ONLY", None)
        if self.only:
            variables["FTLAB_ONLY"] = self.only

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MOST, MEMORY_MOST))
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))

        command = [self.program, "--exact", self.name, "--test-threads=1"]
        quiet = {stream: subprocess.DEVNULL for stream in ("stdin", "stdout", "stderr")}
        try:
            done = subprocess.run(command, cwd=self.folder, env=variables, preexec_fn=limit,
                                  timeout=SLEEPS_MOST * seconds, **quiet)
        except subprocess.TimeoutExpired:
            return None
        stopped = done.returncode in (-signal.SIGKILL, -signal.SIGXCPU)
        return None if stopped else done.returncode == 0

    def timed(self):
        """Seconds that it takes without a mutant; it has to pass."""
        begun = time.monotonic()
        if self.run({}, 600) is not True:
            raise SystemExit(f"{self} does not pass without a mutant")
        return time.monotonic() - begun


def limit(seconds):
    """How long a test that takes so long may take with a mutant."""
    return SLOWER_MOST * seconds + SECONDS_MORE


def tests_of(trial, program, tree):
    """The tests that a trial names."""
    command = [program, "--list", "--format", "terse"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    names = [line.removesuffix(": test") for line in out.splitlines() if line.endswith(": test")]
    module = lambda name: f"_{name.split('::')[0]}_"
    is_wanted = lambda name: not trial.names or any(f"_{n}_" in module(name) for n in trial.names)
    folder = tree / "crates" / trial.package.removeprefix("ftlab-")
    return [Test(program, name, trial.only, folder, trial.package, trial.target)
            for name in names if is_wanted(name)]


def reach(tests, folder, workers, longest):
    """Runs every test without a mutant, and notes which mutants it asks for, and how long it takes.
    What was noted of the same program is not noted again. One that takes longer than `longest` is
    stopped, and is said to take for ever."""
    folder.mkdir(parents=True, exist_ok=True)
    digests = {program: digest_of(program) for program in {test.program for test in tests}}

    def one(test):
        title = f"{digests[test.program]} {test.name} {test.only}"
        known = folder / hashlib.sha256(title.encode()).hexdigest()
        if not known.exists():
            path = known.with_suffix(".new")
            path.unlink(missing_ok=True)
            begun = time.monotonic()
            passed = test.run({"FTLAB_REACHED": str(path)}, min(longest, 600))
            if passed is None and longest < 600:
                test.seconds = float("inf")
                return
            if passed is not True:
                raise SystemExit(f"{test} does not pass without a mutant")
            with open(path, "a") as file:
                file.write(f"seconds {time.monotonic() - begun}\n")
            path.rename(known)
        *reached, seconds = known.read_text().splitlines()
        test.reaches = {int(number) for number in reached}
        test.seconds = float(seconds.removeprefix("seconds "))

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(one, tests))
    tests.sort(key=lambda test: test.seconds)


def digest_of(program):
    return hashlib.sha256(program.read_bytes()).hexdigest()


def judge(number, tests):
    """(`killed`, by whom), (`timeout`, by whom) or (`survived`, how many tests asked for it)."""
    asking = [test for test in tests if number in test.reaches]
    for test in asking:
        passed = test.run({"FTLAB_MUTANT": str(number)}, limit(test.seconds))
        if passed is None:
            return "timeout", str(test)
        if not passed:
            return "killed", str(test)
    return "survived", len(asking)


def judge_all(numbers, tests, workers, until, told):
    """Judges as many as there is time for; tells each verdict."""
    def one(number):
        if time.monotonic() < until:
            told(number, judge(number, tests))

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(one, numbers))
