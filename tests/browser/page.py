"""Opens a report and looks for faults; every function returns a list of them, in words."""

import base64
import csv
import json
import re
import time

from selenium.webdriver.support.ui import WebDriverWait

# What a unit of the page multiplies by to become the unit of the JSON (ns, s, uJ, bytes, 1).
UNITS = {
    "latency_ns": {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9},
    "service_time_ns": {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9},
    "stages_ns": {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9},
    "simulated_s": {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1},
    "energy_uj": {"nJ": 1e-3, "µJ": 1, "mJ": 1e3, "J": 1e6, "kJ": 1e9},
    "bandwidth_bytes_per_s": {"B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9},
    "iops": {"/s": 1},
    "load_over_time": {"/s": 1, "B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9},
}
BYTES = {unit: 1024**power for power, unit in enumerate(["B", "KiB", "MiB", "GiB", "TiB", "PiB"])}
PLAIN = {"": 1, "%": 0.01, "/s": 1, **BYTES}


def open_page(browser, path, width, height=900, dark=False):
    """Opens the file at a width in pixels and waits until every chart is drawn."""
    browser.shown = None
    browser.get_log("browser")
    browser.get_log("performance")
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    browser.get(path.as_uri())


def show(browser, path, width):
    """The page at a width, drawn; opened again only where another one stands there, or a changed one."""
    wanted = (path, width)
    if getattr(browser, "shown", None) != wanted:
        open_page(browser, path, width)
        wait_until_drawn(browser)
        browser.width = width
        browser.shown = wanted


def wait_until_drawn(browser):
    """Fails by a time-out when a script stopped before the last chart."""
    ready = """
    const { ready, live } = document.documentElement.dataset;
    return ready === 'true' && live !== 'false';
    """
    WebDriverWait(browser, 60).until(lambda driver: driver.execute_script(ready))


def downloaded(browser, click, path):
    """The rows of the CSV file at `path`, which the script `click` makes the page write."""
    behaviour = {"behavior": "allow", "downloadPath": str(path.parent)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
    browser.execute_script(click)
    deadline = time.monotonic() + 60
    # The browser takes the name with an empty file, which the whole one replaces.
    while not (path.exists() and path.stat().st_size):
        assert time.monotonic() < deadline, f"no {path.name} after a minute"
        time.sleep(0.1)
    with path.open(newline="") as text:
        return list(csv.reader(text))


def screenshot(browser, path):
    """The whole page, however long."""
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
    path.write_bytes(base64.b64decode(shot["data"]))


def console_faults(browser):
    return [entry["message"] for entry in browser.get_log("browser")]


def network_faults(browser, path, beside=()):
    """Requests for anything but the file itself, what it carries inside, and files beside it; of a page that
    is served, for anything elsewhere."""
    faults = []
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] != "Network.requestWillBeSent":
            continue
        url = message["params"]["request"]["url"]
        # The browser's own start page may still be loading.
        own = ("data:", "blob:", "chrome:", "chrome-untrusted:")
        files = [path.as_uri(), *(file.as_uri() for file in beside)]
        if path.as_uri().startswith("http://"):
            own = (*own, path.as_uri())
        if url not in files and not url.startswith(own):
            faults.append(f"asks for {url}")
    return faults


def width_faults(browser):
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    room = browser.execute_script("return document.documentElement.clientWidth")
    return [f"the page is {wide} px wide in a window of {room}"] if wide > room else []


CHARTS = """
return [...document.querySelectorAll('[data-chart]')].map((figure) => {
  const svg = figure.querySelector('.plot .main-svg');
  const box = svg ? svg.getBoundingClientRect() : { width: 0, height: 0 };
  const empty = figure.querySelector('.empty');
  const marks = [...figure.querySelectorAll('.plot .trace path')].filter((path) => {
    const mark = path.getBoundingClientRect();
    return mark.width + mark.height > 0;
  });
  marks.push(...figure.querySelectorAll('.plot .imagelayer image'));
  return {
    id: figure.id, width: box.width, height: box.height, marks: marks.length,
    sentence: empty.hidden ? '' : empty.textContent,
    caption: figure.querySelector('figcaption').textContent,
  };
});
"""


def chart_faults(browser):
    charts = browser.execute_script(CHARTS)
    faults = [] if charts else ["there is no chart"]
    for chart in charts:
        if not chart["caption"].strip():
            faults.append(f"{chart['id']} has no caption")
        if chart["sentence"]:
            continue
        if chart["width"] < 200 or chart["height"] < 100:
            faults.append(f"{chart['id']} is {chart['width']} by {chart['height']} px")
        if chart["marks"] == 0:
            faults.append(f"{chart['id']} draws nothing and does not say why")
    return faults


# Plotly measures text by its own box; a rotated title is boxed as it appears.
TEXTS = """
return [...document.querySelectorAll('[data-chart]')].map((figure) => {
  const box = (element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return { text: element.textContent, left, top, right, bottom };
  };
  // A long legend has its own scrolling; what it does not show covers nothing.
  const list = figure.querySelector('.legend').getBoundingClientRect();
  const seen = (button) => {
    const { top, bottom, right } = button.getBoundingClientRect();
    return right > 0 && top >= list.top - 1 && bottom <= list.bottom + 1;
  };
  const texts = '.xtick text, .ytick text, .xtitle, .ytitle, .g-xtitle text, .g-ytitle text';
  const plot = figure.querySelector('.plot');
  const inPlot = plot.hidden ? [] : [...new Set(plot.querySelectorAll(texts))].map(box);
  return {
    id: figure.id, figure: box(figure), plot: box(plot), texts: inPlot.filter((text) => text.text),
    legend: [...figure.querySelectorAll('.legend button')].filter(seen).map(box),
  };
});
"""


def overlap_faults(browser, tolerance=1):
    """Texts of one chart that cover each other or leave its frame."""
    faults = []
    for chart in browser.execute_script(TEXTS):
        for group in (chart["texts"], chart["legend"]):
            for index, one in enumerate(group):
                for two in group[index + 1 :]:
                    if overlap(one, two) > tolerance:
                        faults.append(f"{chart['id']}: {one['text']!r} covers {two['text']!r}")
        for frame, texts in (("plot", chart["texts"]), ("figure", chart["legend"])):
            for text in texts:
                if leaves(text, chart[frame], tolerance):
                    faults.append(f"{chart['id']}: {text['text']!r} leaves the {frame}")
    return faults


def overlap(one, two):
    """The smaller side of the rectangle that two boxes share; 0 when they share none."""
    across = min(one["right"], two["right"]) - max(one["left"], two["left"])
    down = min(one["bottom"], two["bottom"]) - max(one["top"], two["top"])
    return max(0, min(across, down))


def leaves(inner, outer, tolerance):
    """Whether a box is partly outside another, and so cut off."""
    return (
        inner["left"] < outer["left"] - tolerance
        or inner["top"] < outer["top"] - tolerance
        or inner["right"] > outer["right"] + tolerance
        or inner["bottom"] > outer["bottom"] + tolerance
    )


def flatten(value, path=""):
    """Dotted path to scalar, arrays left out: the columns of results.csv."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from flatten(member, f"{path}.{key}" if path else key)
    elif not isinstance(value, list):
        yield path, value


def flat(value, path=""):
    """Dotted path to scalar, places in arrays counted from 0."""
    if isinstance(value, (dict, list)):
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for key, member in members:
            yield from flat(member, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def has_curves(results):
    """Whether any response took time; else a sentence stands in for the logarithmic chart."""
    return any(point[0] > 0 for run in results for point in run["cdf"]["all"])


def flatten_config(value, path=""):
    """Dotted path to value, arrays included: the rows of the table of the configuration."""
    for key, member in value.items():
        inner = f"{path}.{key}" if path else key
        if isinstance(member, dict):
            yield from flatten_config(member, inner)
        else:
            yield inner, member


CELLS = """
return [...document.querySelectorAll('[data-metric]')].map((cell) => ({
  path: cell.dataset.metric, scheme: cell.dataset.scheme, run: Number(cell.dataset.run),
  text: cell.textContent.trim(),
}));
"""


def number_faults(browser, results):
    """Numbers on the page that differ from the JSON by more than their last digit."""
    flat = [dict(flatten(run)) for run in results]
    faults = []
    cells = browser.execute_script(CELLS)
    for run, values in enumerate(flat):
        shown = {cell["path"] for cell in cells if cell["run"] == run}
        needed = {"waf", "flash.total_erases", "latency_ns.all.system.mean"}
        faults += [f"run {run} does not show {path}" for path in needed - shown]
        for cell in (cell for cell in cells if cell["run"] == run):
            where = f"{cell['path']} of {cell['scheme']}"
            if cell["path"] not in values:
                faults.append(f"{where} is not in the JSON")
            elif cell["scheme"] != results[run]["scheme"]:
                faults.append(f"{where} is attributed to the wrong scheme")
            elif not same(cell["text"], cell["path"], values[cell["path"]]):
                faults.append(f"{where}: page {cell['text']!r}, JSON {values[cell['path']]!r}")
    return faults


def same(text, path, value):
    """Whether the text shows the value, to half of its last digit."""
    if value is None:
        return text == "n/a"
    match = re.fullmatch(r"(-?[\d,]+(?:\.(\d+))?)(?: (\S+))?", text)
    if not match:
        return False
    units = UNITS.get(path.split(".")[0], UNITS["latency_ns"] if path.endswith("_ns") else PLAIN)
    factor = units.get(match[3] or "", PLAIN[""] if text == "0" else None)
    if factor is None:
        return False
    shown = float(match[1].replace(",", ""))
    # Bytes have four digits but lose the zeros behind their point: the last one is told from those
    # before it.
    digits = len(match[2] or "")
    if match[3] in BYTES:
        digits = max(digits, 4 - len(str(int(abs(shown)))))
    slack = 0.5000001 * 10**-digits * factor
    return abs(shown * factor - value) <= slack + 1e-12 * abs(value)
