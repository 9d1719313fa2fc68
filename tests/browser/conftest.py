"""The browser, and the report under test, for every check in this folder."""

import json
import os
import pathlib
import tempfile

import drives
import page
import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

ARGUMENTS = [
    "--headless=new",
    # A picture of the whole page has none, and would lack their room.
    "--hide-scrollbars",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_addoption(parser):
    parser.addoption("--report", type=pathlib.Path)
    parser.addoption("--results", type=pathlib.Path)
    # The program, whose drive is looked at in the place of a report.
    parser.addoption("--drive", type=pathlib.Path)
    parser.addoption("--shots", type=pathlib.Path, required=True)


def runs_below(folder):
    """Every run in the JSON files of a folder, each once, in the order of the names."""
    runs = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            runs += runs_below(entry)
        elif entry.suffix == ".json":
            found = json.loads(entry.read_text())
            found = found if isinstance(found, list) else [found]
            runs += [one for one in found if one.get("schema") == "ftlab/1"]
    return list({json.dumps(run, sort_keys=True): run for run in runs}.values())


def read_results(path):
    """What a page was made from: a file, or a folder full of runs."""
    return runs_below(path) if path.is_dir() else json.loads(path.read_text())


def own_checks(path):
    """The file with the checks of the page that these results were made for; none: a report."""
    if path.is_dir():
        return "test_sweep.py" if (path / "sweep.json").exists() else "test_explore.py"
    found = read_results(path)
    if isinstance(found, dict) and "map_cache" in found and "lru_stack" in found:
        return "test_inspection.py"
    if isinstance(found, dict) and found.get("schema") == "ftlab-calibration/1":
        return "test_calibration.py"
    if isinstance(found, list) and all("verdict" in claim for claim in found):
        return "test_reproduction.py"
    return None


def pytest_ignore_collect(collection_path, config):
    """The pages of inspections, calibrations, reproductions and many runs have checks of their own, and none of a report's."""
    name = collection_path.name
    if not name.startswith("test_"):
        return None
    if config.getoption("drive"):
        return name not in {"test_live.py", "test_every_page.py"} or None
    own = own_checks(config.getoption("results"))
    if own is None:
        others = {"test_inspection.py", "test_calibration.py", "test_reproduction.py", "test_explore.py", "test_sweep.py",
                  "test_live.py"}
        return name in others or None
    # A reproduction is many pages, which its own checks open one after another.
    every = set() if own == "test_reproduction.py" else {"test_every_page.py"}
    return name not in {own, *every} or None


@pytest.fixture(scope="session")
def served(pytestconfig):
    """A drive that serves, and is written to all the time."""
    with drives.written_to(pytestconfig.getoption("drive")) as drive:
        yield drive


@pytest.fixture(scope="session")
def report(pytestconfig, request):
    if pytestconfig.getoption("drive"):
        return request.getfixturevalue("served").page
    return pytestconfig.getoption("report")


@pytest.fixture(scope="session")
def results(pytestconfig):
    found = read_results(pytestconfig.getoption("results"))
    return found if isinstance(found, list) else [found]


@pytest.fixture(scope="session")
def shots(pytestconfig):
    return pytestconfig.getoption("shots")


@pytest.fixture(scope="session")
def browser():
    """One browser for all checks; each opens the page anew."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        for argument in [*ARGUMENTS, f"--user-data-dir={profile}"]:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        yield driver
        driver.quit()


# Tests at one width stand together, so that the page is opened once for all that only look at it.
def pytest_configure(config):
    config.addinivalue_line("markers", "both_widths: what is looked at depends on the width")


# What every page must do, and what the width decides, is looked at on a screen and on a telephone; the rest
# on the telephone as well with FTLAB_ALL_WIDTHS (`make test-long`).
def pytest_generate_tests(metafunc):
    if "width" in metafunc.fixturenames:
        decides = metafunc.definition.get_closest_marker("both_widths") is not None
        every = decides or metafunc.module.__name__ == "test_every_page" or os.environ.get("FTLAB_ALL_WIDTHS")
        metafunc.parametrize("width", [1400, 420] if every else [1400], indirect=True, scope="module")


# Those that only look come before those that open the page anew, which leave nothing to look at.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    def group(item):
        return item.module.__name__, getattr(item, "callspec", None) and item.callspec.params.get("width")

    groups = list(dict.fromkeys(group(item) for item in items))
    items.sort(key=lambda item: (groups.index(group(item)), "fresh" in item.fixturenames))


@pytest.fixture(scope="module")
def width(request):
    return request.param


@pytest.fixture
def opened(width, browser, report):
    """The page for a test that only looks at it; `opened.width` tells how wide."""
    page.show(browser, report, width)
    return browser


@pytest.fixture
def fresh(width, browser, report):
    """The page opened anew, for a test that listens to it or changes it."""
    browser.shown = None
    page.show(browser, report, width)
    yield browser
    browser.shown = None
