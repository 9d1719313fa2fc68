"""The page of an inspection opens without a fault, wide and narrow, and shows its numbers."""

import json
import math
import time

import page
import pytest
from selenium.webdriver.common.by import By

WIDE = 1280


@pytest.fixture
def found(results):
    return results[0]


@pytest.mark.both_widths
def test_every_view_of_every_chart(fresh, shots):
    buttons = fresh.find_elements(By.CSS_SELECTOR, ".controls button")
    groups = "return [...document.querySelectorAll('.controls button')].map((b) => b.dataset.view)"
    views = [view for view in fresh.execute_script(groups) if view]
    assert len(views) == 15, views
    for button in buttons:
        # A scale is asked for only where the values of a view lie far apart.
        if not button.is_displayed():
            continue
        fresh.execute_script("arguments[0].click()", button)
        time.sleep(0.05)
        assert button.get_attribute("aria-pressed") == "true"
        assert page.chart_faults(fresh) == []
        assert page.overlap_faults(fresh) == []
    assert page.console_faults(fresh) == []
    page.screenshot(fresh, shots / f"views-{fresh.width}.png")


def test_numbers_equal_the_json(opened, found):
    values = dict(page.flat(found))
    cells = opened.execute_script(page.CELLS)
    shown = {cell["path"] for cell in cells}
    assert {"requests", "read_ratio", "footprint_pages", "interarrival.cv"} <= shown
    for cell in cells:
        value = values[cell["path"]]
        assert page.same(cell["text"], cell["path"], value), (cell, value)


def test_embedded_json_is_the_inspection(opened, found):
    # Read here: times since 1601 have more digits than the browser's numbers.
    script = "return document.getElementById('results').textContent"
    assert json.loads(opened.execute_script(script)) == found


def drawn(browser, figure):
    """Per trace of a chart, what plotly drew."""
    script = f"return document.querySelector('#{figure} .plot').data?.map((t) => [t.x, t.y])"
    return browser.execute_script(script) or []


def test_curves_are_those_of_the_json(fresh, found):
    for view in ["translation_pages", "entries"]:
        button = f"document.querySelector('#miss_ratios [data-view={view}]').click()"
        fresh.execute_script(button)
        time.sleep(0.05)
        curve = found["map_cache"][view]
        wanted = [[curve["sizes"], pytest.approx([100 * r for r in curve["miss_ratios"]])]]
        assert drawn(fresh, "miss_ratios") == (wanted if curve["lookups"] else [])
    stack = found["lru_stack"]
    wanted = [[stack["positions"], pytest.approx([100 * s for s in stack["shares_of_accesses"]])]]
    assert drawn(fresh, "lru_stack") == (wanted if stack["page_accesses"] else [])


def test_bars_add_up_to_all(opened, found):
    sums = sum(sum(y) for _, y in drawn(opened, "sizes"))
    assert sums == pytest.approx(100.0 if found["reads"] + found["writes"] else 0)
    sums = sum(sum(y) for _, y in drawn(opened, "updates"))
    assert sums == pytest.approx(100.0 if found["writes"] else 0)


def choose(browser, figure, view):
    """Shows a view of a chart; a chart that is left out has none."""
    script = f"document.querySelector('#{figure} [data-view={view}]')?.click()"
    browser.execute_script(script)
    time.sleep(0.1)


def test_load_is_requests_and_bytes_by_the_length_of_a_window(fresh, found):
    load = found["load_over_time"]
    others = [trims + flushes for trims, flushes in zip(load["trims"], load["flushes"], strict=True)]
    for view, columns in {
        "iops": [load["reads"], load["writes"], others],
        "bandwidth": [load["bytes_read"], load["bytes_written"]],
    }.items():
        choose(fresh, "load", view)
        lines = drawn(fresh, "load")
        if len(load["reads"]) < 2:
            assert lines == []
            continue
        # What the end cuts off is not drawn; the last whole window is led to its end.
        rates = [[count * 1e9 / load["window_ns"] for count in column[:-1]] for column in columns]
        rates = [[*column, column[-1]] for column in rates if any(column)]
        largest = max(map(max, rates))
        factor = 1
        if view == "bandwidth":
            factor = max(step for step in (1, 1e3, 1e6, 1e9) if step <= max(1, largest))
        assert len(lines) == len(rates)
        for (x, y), wanted in zip(lines, rates, strict=True):
            assert [value * factor for value in y] == pytest.approx(wanted)
            assert len(x) == len(y)
            assert x == sorted(x)


PICTURE = """
const done = arguments[0];
const plot = document.querySelector('#addresses .plot');
const place = plot.layout?.images?.[0];
if (!place) return done(null);
const shown = plot.querySelector('.imagelayer image');
const rendering = getComputedStyle(shown).imageRendering;
const image = new Image();
image.onload = () => {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [image.width, image.height];
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  const cells = [];
  for (let at = 0; at < data.length / 4; at += 1) {
    if (data[4 * at + 3] === 0) continue;
    cells.push([at % image.width, image.height - 1 - Math.floor(at / image.width), data[4 * at + 3]]);
  }
  done({ cells, rendering, top: place.y, high: place.sizey, bands: image.height });
};
image.src = place.source;
"""


def test_every_request_has_a_cell_of_addresses(fresh, found):
    grid = found["addresses_over_time"]
    for view, counts in {
        "all": [r + w for r, w in zip(grid["reads"], grid["writes"], strict=True)],
        "reads": grid["reads"],
        "writes": grid["writes"],
    }.items():
        choose(fresh, "addresses", view)
        traces = drawn(fresh, "addresses")
        if not traces:
            continue
        places = zip(grid["windows"], grid["bands"], counts, strict=True)
        wanted = {(window, band): count for window, band, count in places if count}
        # What stands under the pointer.
        [[_, middles]] = traces
        assert middles == [(band + 0.5) * grid["band_bytes"] for _, band in wanted]
        # What is seen: a pixel per cell, darker the more requests it has, enlarged without blur.
        picture = fresh.execute_async_script(PICTURE)
        shades = {(window, band): shade for window, band, shade in picture["cells"]}
        assert shades.keys() == wanted.keys()
        assert picture["rendering"] == "pixelated"
        assert picture["top"] == picture["high"] == picture["bands"] * grid["band_bytes"]
        by_count = sorted(wanted, key=lambda cell: wanted[cell])
        ordered = [shades[cell] for cell in by_count]
        assert ordered == sorted(ordered)
        assert len(set(ordered)) > 1 or len(set(wanted.values())) == 1
    assert sum(grid["reads"]) + sum(grid["writes"]) == found["reads"] + found["writes"]


def test_data_of_every_chart_downloads(browser, report, found, tmp_path):
    page.open_page(browser, report, WIDE)
    page.wait_until_drawn(browser)
    headers = {
        "sizes-bins": ["bytes_from", "bytes_to", "reads", "writes"],
        "addresses-all": ["from_ns", "from_bytes", "reads", "writes"],
        "arrivals": ["from_ns", "to_ns", "gaps"],
        "miss_ratios-entries": ["size_entries", "size_bytes", "misses", "miss_ratio"],
        "lru_stack": ["position", "share_of_accesses"],
        "footprint-time": ["time_ns", "requests", "footprint_pages", "written_footprint_pages"],
        "updates-pages": ["writes_from", "writes_to", "pages", "page_writes"],
        "working_set-by_accesses": ["page_accesses", "windows", "pages_mean", "pages_max"],
    }
    for name, header in headers.items():
        figure = name.split("-")[0]
        button = browser.find_element(By.CSS_SELECTOR, f"#{figure} .download")
        if not button.is_displayed():
            assert browser.find_element(By.CSS_SELECTOR, f"#{figure} .empty").is_displayed()
            continue
        click = f"document.querySelector('#{figure} .download').click()"
        first, *rows = page.downloaded(browser, click, tmp_path / f"ftlab-{name}.csv")
        assert first == header
        assert rows
        if name == "miss_ratios-entries":
            curve = found["map_cache"]["entries"]
            columns = [list(map(float, column)) for column in zip(*rows, strict=True)]
            assert columns == [
                curve["sizes"],
                [math.ceil(size * found["map_cache"]["entry_bytes"]) for size in curve["sizes"]],
                curve["misses"],
                curve["miss_ratios"],
            ]
