"""What the tests of the package share: the program that it must agree with, and small runs."""

import subprocess

import pytest

# A device of 64 MiB that is collected within a second.
SMALL = {
    "device": "slc_small",
    "capacity": "32MiB",
    "workload": "randrw:rwmixread=40,bs=4k,span=16MiB,count=20000,seed=5,rate_iops=2000",
    "precondition": "fill",
}
# Ten seconds of work and more, for what ends it before.
LONG = {**SMALL, "workload": "randwrite:bs=4k,span=16MiB,count=40000000,seed=5"}


def pytest_addoption(parser):
    parser.addoption("--program", required=True, help="target/release/ftlab")
    parser.addoption("--book", required=True, help="book/src")


@pytest.fixture
def program(request):
    """Runs the program with these words."""

    def run(*words, **options):
        command = [request.config.getoption("--program"), *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)

    return run


def words_of(options):
    """Options as words of the command line."""
    return [word for name, value in options.items() for word in (f"--{name}", value)]
