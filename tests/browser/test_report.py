"""The report opens without a fault, wide and narrow, and shows the numbers of its results."""

import time

import page
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

WIDE = 1280


def test_every_view_of_every_chart(fresh):
    buttons = fresh.find_elements(By.CSS_SELECTOR, ".controls button")
    assert buttons, "charts with several views have buttons"
    for button in buttons:
        # Not every view has a choice of axes.
        if not button.is_displayed():
            continue
        fresh.execute_script("arguments[0].click()", button)
        time.sleep(0.05)
        assert button.get_attribute("aria-pressed") == "true"
        assert page.chart_faults(fresh) == []
        assert page.overlap_faults(fresh) == []
    assert page.console_faults(fresh) == []


@pytest.mark.both_widths
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
    opened.execute_script("document.querySelector('#programs [data-view=sum]')?.click()")
    time.sleep(0.05)
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
    opened.execute_script("document.querySelector('#stages [data-view=sum]')?.click()")
    time.sleep(0.05)
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


@pytest.mark.both_widths
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
    button = browser.find_element(By.CSS_SELECTOR, "#cdf .download")
    wanted = [
        [run["scheme"], *map(float, point)] for run in results for point in run["cdf"]["all"]
    ]
    if not page.has_curves(results):
        assert not button.is_displayed()
        return
    click = "document.querySelector('#cdf .download').click()"
    header, *rows = page.downloaded(browser, click, tmp_path / "ftlab-cdf-all.csv")
    assert header == ["scheme", "response_ns", "cumulative_fraction"]
    found = [[row[0].split(" #")[0], float(row[1]), float(row[2])] for row in rows]
    assert found == wanted


def settled(browser):
    page.wait_until_drawn(browser)
    return browser.execute_script(STATE)


# What charts and table show: names of traces or bars in order, and columns.
STATE = """
const names = (id) => (document.querySelector(`#${id} .plot`).data ?? []).map((t) => t.name);
const head = [...document.querySelectorAll('#summary thead th[data-column]')];
return {
  curves: names('percentiles'),
  bars: document.querySelector('#programs .plot').layout?.yaxis.categoryarray ?? [],
  columns: head.filter((cell) => !cell.hidden).map((cell) => cell.textContent),
  address: location.hash,
};
"""


def names(results):
    """The name of each run, as the page gives it."""
    return page_labels([run["scheme"] for run in results])


def page_labels(schemes):
    found = []
    for index, scheme in enumerate(schemes):
        again = f" #{schemes[: index + 1].count(scheme)}" if schemes.count(scheme) > 1 else ""
        found.append(scheme + again)
    return found


def shows(state, wanted):
    """Whether curves, bars and columns are those of the wanted runs, in this order."""
    return [state["curves"] or wanted, state["bars"] or wanted, state["columns"]] == [wanted] * 3


def test_the_bar_of_runs_hides_isolates_and_moves_everywhere(fresh, report, results):
    labels = names(results)
    assert shows(settled(fresh), labels)
    bar = fresh.find_element(By.ID, "runs")
    if len(results) == 1:
        assert not bar.is_displayed()
        return
    chips = bar.find_elements(By.CSS_SELECTOR, ".run")
    chips[1].click()
    state = settled(fresh)
    assert shows(state, labels[:1] + labels[2:]) and state["address"] == "#&hide=1"
    chips[1].click()
    assert shows(settled(fresh), labels)
    only = bar.find_elements(By.CSS_SELECTOR, ".only")
    fresh.execute_script("arguments[0].click()", only[1])
    assert shows(settled(fresh), [labels[1]])
    fresh.execute_script("arguments[0].click()", only[1])
    assert shows(settled(fresh), labels)
    # By keyboard: the second run before the first; hidden by the space bar; isolated.
    chips[1].send_keys(Keys.SHIFT + Keys.ARROW_LEFT)
    turned = [labels[1], labels[0], *labels[2:]]
    assert shows(settled(fresh), turned)
    focused = fresh.execute_script("return document.activeElement.textContent")
    assert focused == labels[1], "the moved run keeps the focus"
    fresh.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    fresh.switch_to.active_element.send_keys(Keys.SPACE)
    state = settled(fresh)
    assert shows(state, [labels[1], *labels[2:]])
    # The address brings all of it back.
    fresh.get("about:blank")
    fresh.get(report.as_uri() + state["address"])
    assert shows(settled(fresh), [labels[1], *labels[2:]])
    fresh.switch_to.active_element.send_keys("o")
    fresh.find_element(By.ID, "reset-runs").click()
    state = settled(fresh)
    assert shows(state, labels) and state["address"] == ""
    assert page.console_faults(fresh) == []


def test_all_runs_hidden_is_said(fresh, results):
    if len(results) == 1:
        return
    for chip in fresh.find_elements(By.CSS_SELECTOR, "#runs .run"):
        fresh.execute_script("arguments[0].click()", chip)
    page.wait_until_drawn(fresh)
    script = """return [...document.querySelectorAll('[data-chart]:not([hidden]) .empty')]
      .map((empty) => empty.hidden ? '' : empty.textContent)"""
    assert set(fresh.execute_script(script)) == {
        "Every run is hidden; the bar at the top shows them again."
    }
    assert page.console_faults(fresh) == []


def test_a_run_has_one_colour_everywhere(opened, results):
    script = """
    const named = new Map();
    for (const plot of document.querySelectorAll('[data-chart] .plot')) {
      for (const trace of plot.data ?? []) {
        if (trace.type !== 'scatter' || !trace.line) continue;
        named.set(trace.name, [...(named.get(trace.name) ?? []), trace.line.color]);
      }
    }
    const chips = [...document.querySelectorAll('#runs .run')].map((chip) =>
      [chip.textContent, chip.querySelector('line').getAttribute('stroke')]);
    return [Object.fromEntries(named), Object.fromEntries(chips)];"""
    curves, chips = opened.execute_script(script)
    for label in names(results):
        colours = {*curves.get(label, []), *([chips[label]] if chips else [])}
        assert len(colours) <= 1, (label, colours)


def test_a_row_orders_the_runs(fresh, results):
    labels = names(results)
    values = [run["flash"]["total_programs"] for run in results]
    sort = fresh.find_element(By.CSS_SELECTOR, "[data-path='flash.total_programs'] .sort")
    if len(results) == 1:
        assert not sort.is_enabled()
        return
    ascending = sorted(range(len(labels)), key=lambda run: values[run])
    descending = sorted(range(len(labels)), key=lambda run: -values[run])
    for order in [ascending, descending, range(len(labels))]:
        fresh.execute_script("arguments[0].click()", sort)
        assert shows(settled(fresh), [labels[run] for run in order])
    choice = fresh.find_element(By.ID, "order")
    choice.find_element(By.CSS_SELECTOR, "[value='flash.total_programs']").click()
    assert shows(settled(fresh), [labels[run] for run in ascending])
    assert sort.get_attribute("aria-pressed") == "true"


def test_numbers_are_told_as_times_of_a_baseline(fresh, results):
    script = """return [...document.querySelectorAll('#summary td')].map((cell) => [
      cell.firstElementChild.dataset.metric, Number(cell.dataset.column),
      cell.querySelector('.times').textContent])"""
    schemes = [run["scheme"] for run in results]
    choice = fresh.find_elements(By.ID, "baseline")
    assert len(choice) == (1 if len(results) > 1 else 0)
    flat = [dict(page.flatten(run)) for run in results]
    bases = [schemes.index("ideal_page")] if choice and "ideal_page" in schemes else []
    if choice:
        bases.append(len(results) - 1)
    for place, base in enumerate(bases):
        if base == len(results) - 1 and place == len(bases) - 1:
            choice[0].find_element(By.CSS_SELECTOR, f"[value='{base}']").click()
        told = 0
        for path, run, text in fresh.execute_script(script):
            value, of = flat[run].get(path), flat[base].get(path)
            if text:
                told += 1
                assert float(text.rstrip("×").replace(",", "")) == pytest.approx(
                    value / of, rel=6e-3, abs=6e-4
                )
            else:
                assert value is None or not of or path.startswith("latency_ns")
        assert told > 0
    if choice:
        choice[0].find_element(By.CSS_SELECTOR, "[value='-1']").click()
        assert not any(text for _, _, text in fresh.execute_script(script))


def test_head_and_names_of_the_summary_stay(fresh):
    script = """
    const box = document.querySelector('#summary .scroll');
    box.scrollTo(200, 300);
    const { top, left } = box.getBoundingClientRect();
    const head = box.querySelector('thead th').getBoundingClientRect();
    const row = [...box.querySelectorAll('tbody th[scope=row]')].at(-1).getBoundingClientRect();
    return [box.scrollTop > 0, head.top - top, head.left - left, row.left - left];"""
    scrolled, *offsets = fresh.execute_script(script)
    assert scrolled
    assert all(0 <= offset <= 2 for offset in offsets)


def test_zoom_holds_for_all_charts_over_time(fresh, results):
    ends = [run["series"][-1]["t_end_s"] for run in results if run["series"]]
    box = fresh.find_element(By.ID, "span")
    assert box.is_displayed() == bool(ends)
    if not ends:
        return
    ranges = """return [...document.querySelectorAll('#time [data-chart]:not([hidden]) .plot')]
      .filter((plot) => plot.data).map((plot) => plot.layout.xaxis.range)"""
    whole = fresh.execute_script(ranges)
    assert all(range == whole[0] for range in whole)
    middle = whole[0][1] / 2
    zoom = "Plotly.relayout(document.querySelector('#time .plot'), {'xaxis.range': [0, arguments[0]]})"
    fresh.execute_script(zoom.replace("'xaxis.range': [0, arguments[0]]",
                                      "'xaxis.range[0]': 0, 'xaxis.range[1]': arguments[0]"), middle)
    time.sleep(0.2)
    page.wait_until_drawn(fresh)
    for found in fresh.execute_script(ranges):
        assert found == pytest.approx([0, middle])
    assert "from=0&to=" in fresh.execute_script("return location.hash")
    first, last = box.find_elements(By.CSS_SELECTOR, "input")
    assert float(last.get_attribute("value")) == pytest.approx(middle, rel=1e-5)
    first.clear()
    first.send_keys(str(middle / 2) + Keys.ENTER)
    page.wait_until_drawn(fresh)
    for found in fresh.execute_script(ranges):
        assert found == pytest.approx([middle / 2, middle], rel=1e-5)
    box.find_element(By.CSS_SELECTOR, "button").click()
    page.wait_until_drawn(fresh)
    assert fresh.execute_script(ranges) == whole


def test_percentiles_of_windows_are_those_of_the_json(fresh, results):
    script = """
    const plot = document.querySelector('#series_response .plot');
    return [(plot.data ?? []).map((t) => [t.name, t.y]), plot.layout?.yaxis.title.text];"""
    if fresh.execute_script("return document.querySelector('#series_response').hidden"):
        return
    for of in ["read", "write"]:
        for view, key in [("p50", "50.000000"), ("p99", "99.000000"), ("p99_9", "99.900000")]:
            for button in (f"[data-view={view}]", f"[data-of={of}]"):
                found = fresh.find_element(By.CSS_SELECTOR, f"#series_response {button}")
                fresh.execute_script("arguments[0].click()", found)
                time.sleep(0.05)
            drawn, title = fresh.execute_script(script)
            drawn = dict(drawn)
            for label, run in zip(names(results), results, strict=True):
                wanted = run["series_latency_ns"][of]["percentile"][key]
                if not any(wanted):
                    continue
                unit = title.split("(")[1].rstrip(")")
                factor = 1 if unit == "logarithmic" else page.UNITS["stages_ns"][unit]
                assert [y * factor for y in drawn[label] if y is not None] == pytest.approx(
                    [value for value in wanted if value is not None]
                )


def test_the_curve_of_what_is_slow_holds_every_point(opened, results):
    script = "return document.querySelector('#ccdf .plot').data?.map((t) => [t.x, t.y])"
    drawn = opened.execute_script(script) or []
    curves = [run["ccdf"]["all"] for run in results if len(run["ccdf"]["all"]) > 1]
    if not any(point[0] > 0 for curve in curves for point in curve):
        assert drawn == []
        return
    for (x, y), curve in zip(drawn, curves, strict=True):
        assert x == [curve[0][0]] + [point[0] for point in curve]
        assert y == pytest.approx([1] + [point[1] for point in curve[:-1]] + [curve[-2][1]])


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
