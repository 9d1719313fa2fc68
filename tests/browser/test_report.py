"""The report opens without a fault, wide and narrow, and shows the numbers of its results."""

import csv
import time

import page
import pytest
from selenium.webdriver.common.by import By

WIDE = 1280


def test_every_view_of_every_chart(fresh):
    buttons = fresh.find_elements(By.CSS_SELECTOR, ".controls button")
    assert buttons, "charts with several views have buttons"
    for button in buttons:
        fresh.execute_script("arguments[0].click()", button)
        time.sleep(0.05)
        assert button.get_attribute("aria-pressed") == "true"
        assert page.chart_faults(fresh) == []
        assert page.overlap_faults(fresh) == []
    assert page.console_faults(fresh) == []


def test_details_open_without_widening_the_page(fresh, shots):
    fresh.execute_script("document.querySelectorAll('details').forEach((d) => { d.open = true })")
    page.screenshot(fresh, shots / f"details-{fresh.width}.png")
    assert page.width_faults(fresh) == []


def test_numbers_equal_the_json(opened, results):
    assert page.number_faults(opened, results) == []


def test_embedded_json_is_the_results(opened, results):
    script = "return JSON.parse(document.getElementById('results').textContent)"
    assert opened.execute_script(script) == results


def test_bars_add_up_to_the_totals(opened, results):
    """The lengths that plotly drew, not the numbers that it was given a table of."""
    script = "return document.querySelector('#programs .plot').data?.map((trace) => trace.x)"
    traces = opened.execute_script(script) or []
    for run, result in enumerate(results):
        assert sum(trace[run] for trace in traces) == result["flash"]["total_programs"]


def drawn_bars(browser, figure):
    """Per run, the sum of what plotly drew, in the unit of the axis; and that axis' title."""
    script = (
        f"const plot = document.querySelector('#{figure} .plot');"
        "return plot && [plot.data.map((trace) => trace.x), plot.layout.xaxis.title.text]"
    )
    drawn = browser.execute_script(script)
    if drawn is None:
        return None, None
    traces, title = drawn
    return [sum(values) for values in zip(*traces, strict=True)], title


def test_stages_add_up_to_the_mean_response(opened, results):
    sums, title = drawn_bars(opened, "stages")
    if not any(sum(run["stages_ns"].values()) > 0 for run in results):
        assert sums is None, "no run has stages, so there is no chart of them"
        return
    unit = page.UNITS["stages_ns"][title.split("(")[-1].rstrip(")")]
    for result, drawn in zip(results, sums, strict=True):
        stages = sum(result["stages_ns"].values())
        assert drawn * unit == pytest.approx(stages)
        assert stages == pytest.approx(result["latency_ns"]["all"]["system"]["mean"])
    opened.execute_script("document.querySelector('#stages [data-view=share]').click()")
    time.sleep(0.05)
    shares, _ = drawn_bars(opened, "stages")
    assert shares == pytest.approx(
        [100.0 if sum(run["stages_ns"].values()) > 0 else 0.0 for run in results]
    )


def test_the_slowest_are_shown_with_their_stages_and_stories(fresh, results):
    """The lengths that plotly drew of every view, and a row per slow request."""
    told = [(run, run["tail"]) for run in results if "tail" in run]
    if not told:
        assert fresh.execute_script("return document.getElementById('slowest')") is None
        return
    groups = ["slowest_1_percent", "slowest_0_1_percent"]
    stages = [
        sum(part["stages_ns"].values())
        for run, tail in told
        for part in [run, *(tail[group] for group in groups)]
    ]
    own = [sum(tail[group]["work_ns"].values()) for _, tail in told for group in groups]
    ahead = [sum(tail[group]["ahead"]["work_ns"].values()) for _, tail in told for group in groups]
    for view, wanted in [("time", stages), ("own", own), ("ahead", ahead), ("share", stages)]:
        fresh.execute_script(f"document.querySelector('#tail [data-view={view}]').click()")
        time.sleep(0.05)
        sums, title = drawn_bars(fresh, "tail")
        if view == "share":
            assert sums == pytest.approx([100.0 if value > 0 else 0.0 for value in wanted])
        elif any(wanted):
            unit = page.UNITS["stages_ns"][title.split("(")[-1].rstrip(")")]
            assert [drawn * unit for drawn in sums] == pytest.approx(wanted)
    for run, tail in told:
        for group in groups:
            mean = tail[group]["response_ns_mean"]
            assert sum(tail[group]["stages_ns"].values()) == pytest.approx(mean)
    rows = fresh.find_elements(By.CSS_SELECTOR, "#slowest details[open] tbody tr:not(.story)")
    stories = fresh.find_elements(By.CSS_SELECTOR, "#slowest .story p")
    worst = [one for _, tail in told for one in tail["worst"]]
    for row, story, one in zip(rows, stories, worst, strict=True):
        cells = [cell.text for cell in row.find_elements(By.TAG_NAME, "td")]
        assert cells[0] == f"{one['index']:,}"
        assert cells[2] == one["op"]
        assert cells[6] == f"{one['ahead']['requests']:,}"
        assert story.text.startswith(("Waited ", "Spent ")) and story.text.endswith(".")
        assert story.rect["width"] < fresh.width, "it is read without scrolling"


PANELS = ["system_ns", "device_ns", "queue_depth", "gc_page_copies", "erases"]


def probes(results):
    """The runs that were probed: place among the results, and what was seen."""
    runs = [(index, run["probe"]) for index, run in enumerate(results) if "probe" in run]
    return [(index, probe) for index, probe in runs if probe["requests"]["index"]]


def test_the_microscope_shows_the_probed_requests(opened, results):
    script = "return document.querySelector('#requests .plot')?.data?.map((t) => [t.x, t.y])"
    drawn = opened.execute_script(script)
    if not any("probe" in run for run in results):
        assert opened.execute_script("return document.getElementById('probe')") is None
        return
    wanted = []
    for _, probe in probes(results):
        requests = probe["requests"]
        for panel in PANELS:
            # A logarithmic axis has no place for zero.
            values = [None if panel.endswith("_ns") and v == 0 else v for v in requests[panel]]
            wanted.append([requests["index"], values])
    assert (drawn or []) == wanted


def test_the_timeline_shows_every_operation(fresh, results):
    script = "return document.querySelector('#timeline .plot').data?.map((t) => t.x)"
    for index, probe in probes(results):
        button = f"document.querySelector('#timeline [data-view=\"{index}\"]').click()"
        fresh.execute_script(button)
        time.sleep(0.05)
        spans = probe["timeline"]
        traces = fresh.execute_script(script) or []
        assert sum(len(x) for x in traces) == 3 * len(spans["unit"])
        if not spans["unit"]:
            continue
        axis = fresh.execute_script(
            "return document.querySelector('#timeline .plot').layout.xaxis.title.text"
        )
        unit = page.UNITS["stages_ns"][axis.split("(")[1].split(",")[0]]
        lengths = sum(x[at + 1] - x[at] for x in traces for at in range(0, len(x), 3))
        busy = sum(spans["end_ns"]) - sum(spans["start_ns"])
        assert lengths * unit == pytest.approx(busy)


def test_curves_hold_every_point(opened, results):
    script = "return document.querySelector('#cdf .plot').data?.map((t) => [t.name, t.x.length])"
    drawn = [length for _, length in opened.execute_script(script) or []]
    # One more than in the results: the step up from zero.
    wanted = [len(run["cdf"]["all"]) + 1 for run in results if run["cdf"]["all"]]
    assert drawn == (wanted if page.has_curves(results) else [])


def test_data_of_a_chart_downloads(browser, report, results, tmp_path):
    page.open_page(browser, report, WIDE)
    page.wait_until_drawn(browser)
    behaviour = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
    button = browser.find_element(By.CSS_SELECTOR, "#cdf .download")
    wanted = [
        [run["scheme"], *map(float, point)] for run in results for point in run["cdf"]["all"]
    ]
    if not page.has_curves(results):
        assert not button.is_displayed()
        return
    browser.execute_script("arguments[0].click()", button)
    file = tmp_path / "ftlab-cdf-all.csv"
    deadline = time.monotonic() + 20
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    with file.open(newline="") as text:
        header, *rows = csv.reader(text)
    assert header == ["scheme", "response_ns", "cumulative_fraction"]
    found = [[row[0].split(" #")[0], float(row[1]), float(row[2])] for row in rows]
    assert found == wanted


def test_legend_hides_a_scheme(browser, report):
    page.open_page(browser, report, WIDE)
    page.wait_until_drawn(browser)
    buttons = browser.find_elements(By.CSS_SELECTOR, "#percentiles .legend button")
    script = "return document.querySelector('#percentiles .plot').data?.map((t) => t.visible)"
    for index, button in enumerate(buttons):
        browser.execute_script("arguments[0].click()", button)
        assert browser.execute_script(script)[index] is False
    sentence = browser.find_element(By.CSS_SELECTOR, "#percentiles .empty")
    assert buttons or sentence.is_displayed()


def test_configuration_can_be_searched(browser, report):
    page.open_page(browser, report, WIDE)
    page.wait_until_drawn(browser)
    browser.execute_script("document.querySelector('#configuration details').open = true")
    nothing = browser.find_element(By.ID, "config-none")
    assert not nothing.is_displayed()
    browser.find_element(By.ID, "config-search").send_keys("no key has this text")
    assert nothing.is_displayed()


def test_configuration_can_be_reduced_to_differences(browser, report, results):
    page.open_page(browser, report, WIDE)
    page.wait_until_drawn(browser)
    browser.execute_script("document.querySelector('#configuration details').open = true")
    boxes = browser.find_elements(By.ID, "config-differences")
    assert len(boxes) == (1 if len(results) > 1 else 0)
    for box in boxes:
        box.click()
        flat = [dict(page.flatten_config(run["config"])) for run in results]
        keys = {key for config in flat for key in config}
        differ = {key for key in keys if any(c.get(key) != flat[0].get(key) for c in flat)}
        rows = browser.find_elements(By.CSS_SELECTOR, "#config tbody tr:not([hidden]) th")
        assert {row.text for row in rows} == differ


def test_dark_scheme(browser, report, shots):
    colours = []
    for dark in (False, True):
        page.open_page(browser, report, WIDE, dark=dark)
        page.wait_until_drawn(browser)
        script = "return getComputedStyle(document.body).backgroundColor"
        colours.append(browser.execute_script(script))
    page.screenshot(browser, shots / "dark.png")
    assert colours[0] != colours[1]
    assert page.console_faults(browser) == []
