"""The page of a sweep: lines, maps, front and sensitivity against the rows of its table."""

import csv
import json
import time
from collections import defaultdict

import page
import pytest
from selenium.webdriver.common.keys import Keys

WIDE = 1280
MEAN = "latency_ns.all.system.mean"


@pytest.fixture(scope="session")
def folder(pytestconfig):
    return pytestconfig.getoption("results")


@pytest.fixture(scope="session")
def rows(folder):
    """The points with a result, with the values as they were written behind the sweep's names."""
    points = json.loads((folder / "sweep.json").read_text())
    with (folder / "results.csv").open(newline="") as text:
        table = list(csv.DictReader(text))
    for point, row in zip(points["points"], table, strict=True):
        row.update((name, value or "") for name, value in zip(points["names"], point["values"]))
    return [row for row in table if row["status"] == "done"]


def choose(browser, control, value):
    script = (
        "const select = document.getElementById(arguments[0]); select.value = arguments[1];"
        "select.dispatchEvent(new Event('change'))"
    )
    browser.execute_script(script, control, value)
    time.sleep(0.3)


def data(browser, chart):
    """The rows behind a chart, as its table shows them."""
    script = """
    const details = document.querySelector(`#${arguments[0]} details`);
    details.open = true;
    await new Promise((done) => setTimeout(done, 100));
    const found = [...details.querySelectorAll('tr')].map((row) =>
      [...row.cells].map((cell) => cell.textContent));
    details.open = false;
    return found;"""
    head, *body = browser.execute_script(script, chart)
    return [dict(zip(head, line, strict=True)) for line in body]


def means(rows, names, metric):
    """Mean, least and most of a metric over the points that have the same values."""
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(float(row[metric]))
    return {key: (sum(own) / len(own), min(own), max(own), len(own)) for key, own in groups.items()}


def told(found, names, metric):
    """The same as a chart tells it."""
    return {
        tuple(row[f"axis.{name}"] for name in names): tuple(
            float(row[column]) for column in [metric, "least", "most", "points"]
        )
        for row in found
    }


def agree(one, two):
    assert one.keys() == two.keys()
    for key, numbers in one.items():
        assert numbers == pytest.approx(two[key]), key


def test_lines_are_means_with_their_bands(opened, rows):
    names = ["op", "scheme", "cache"]
    agree(told(data(opened, "lines"), names, MEAN), means(rows, names, MEAN))
    traces = opened.execute_script("""return document.querySelector('#lines .plot').data.map((t) =>
      ({ band: t.band === true, level: t.level === true, panel: t.xaxis, x: t.x, y: t.y, name: t.legendKey }))""")
    assert len({trace["panel"] for trace in traces}) == 2, "a picture for each over-provisioning"
    lines = [trace for trace in traces if not trace["band"] and not trace["level"]]
    assert {trace["name"] for trace in lines} == {"dftl", "tpftl"}
    # The cache in bytes, as numbers.
    assert all(trace["x"] == [8192, 32768, 131072] for trace in lines)
    assert {trace["name"] for trace in traces if trace["level"]} == {"fast"}, "it has no cache"
    bands = [trace for trace in traces if trace["band"]]
    assert len(bands) == len(lines) and all(len(trace["x"]) == 6 for trace in bands)
    assert "over seed: 2 points each" in opened.find_element("css selector", "#lines .note").text


def test_a_map_has_a_cell_for_each_combination(opened, rows):
    cached = [row for row in rows if row["cache"]]
    names = ["scheme", "op", "cache"]
    agree(told(data(opened, "map"), names, MEAN), means(cached, names, MEAN))
    cells = opened.execute_script("""return document.querySelector('#map .plot').data
      .flatMap((trace) => trace.cells.map((cell) => cell.mean))""")
    assert sorted(cells) == pytest.approx(sorted(one[0] for one in means(cached, names, MEAN).values()))
    assert "have no value of one of both axes" in opened.find_element("css selector", "#map .note").text


def beaten(one, two):
    return two[0] <= one[0] and two[1] <= one[1] and (two[0] < one[0] or two[1] < one[1])


def test_the_front_is_what_nothing_beats(opened, rows):
    names = ["scheme", "cache", "op"]
    memory, response = means(rows, names, "ram_bytes.sram"), means(rows, names, MEAN)
    places = {key: (memory[key][0], response[key][0]) for key in memory}
    wanted = {
        key for key, one in places.items() if not any(beaten(one, two) for two in places.values())
    }
    found = data(opened, "front")
    assert len(found) == len(places)
    front = {tuple(row[f"axis.{name}"] for name in names) for row in found if row["not_beaten"] == "yes"}
    assert front == wanted and 0 < len(front) < len(places)
    commands = {row["made.command"] for row in rows}
    assert all(row["made.command"] in commands for row in found)
    hovers = opened.execute_script("""return document.querySelector('#front .plot').data
      .flatMap((trace) => trace.customdata ?? [])""")
    assert all("ftlab run" in hover for hover in hovers)


def test_sensitivity_is_drawn_as_it_was_computed(opened):
    own = opened.execute_script("""return JSON.parse(document.getElementById('results').textContent)
      .sweep""")
    found = data(opened, "effects")
    for one in own["sensitivity"]:
        shares = {row["axes"]: float(row["share"]) for row in found if row["metric"] == one["metric"]}
        for axis, share in one["alone"]:
            assert shares[own["axes"][axis].removeprefix("axis.")] == share
    note = opened.find_element("css selector", "#effects .note").text
    assert note.startswith("Not every combination is there"), "one scheme has no cache"
    mode = "return document.querySelector('#effects .plot').layout.barmode"
    assert opened.execute_script(mode) == "group", "shares that overlap are not stacked"


def test_filters_rule_the_charts(fresh, rows):
    box = "#facets [data-path='axis.seed'] input[value='2']"
    fresh.execute_script(f'document.querySelector("{box}").click()')
    time.sleep(0.5)
    left = [row for row in rows if row["seed"] == "1"]
    names = ["op", "scheme", "cache"]
    agree(told(data(fresh, "lines"), names, MEAN), means(left, names, MEAN))
    assert not fresh.find_element("css selector", "#lines .note").text.startswith("Means")
    fresh.execute_script(
        "document.querySelector('#facets [data-path=\"axis.scheme\"] button:nth-of-type(2)').click()"
    )
    time.sleep(0.5)
    for chart in ["lines", "map", "front"]:
        assert fresh.find_element("css selector", f"#{chart} .empty").is_displayed(), chart
    assert page.console_faults(fresh) == []


def test_every_choice_is_drawn_and_stands_in_the_address(fresh, rows, report):
    for metric in ["waf", "flash.total_erases", "ram_bytes.sram"]:
        choose(fresh, "metric", metric)
        for across in ["axis.op", "axis.scheme", "axis.seed", "axis.cache"]:
            choose(fresh, "across", across)
            choose(fresh, "map-x", across)
            assert page.chart_faults(fresh) == []
            assert page.overlap_faults(fresh) == [], (metric, across)
    choose(fresh, "panels", "")
    names = ["scheme", "cache"]
    agree(told(data(fresh, "lines"), names, "ram_bytes.sram"), means(rows, names, "ram_bytes.sram"))
    choose(fresh, "front-x", "waf")
    address = fresh.execute_script("return location.href")
    assert "front-x=waf" in address
    fresh.get("about:blank")
    fresh.get(address)
    page.wait_until_drawn(fresh)
    picked = "return [...arguments].map((id) => document.getElementById(id).value)"
    assert fresh.execute_script(picked, "metric", "panels", "front-x") == ["ram_bytes.sram", "", "waf"]
    assert page.console_faults(fresh) == []


def test_points_are_listed_with_their_axes_and_commands(opened, rows):
    head = opened.execute_script("""return [...document.querySelectorAll('#rows thead th[data-path]')]
      .slice(0, 4).map((cell) => cell.dataset.path)""")
    assert head == ["axis.scheme", "axis.cache", "axis.op", "axis.seed"]
    commands = opened.execute_script("""return [...document.querySelectorAll('#rows [data-copy]')]
      .map((button) => button.title)""")
    assert commands == [row["made.command"] for row in rows]


def test_a_mark_of_the_front_is_pinned_by_a_click(fresh, rows):
    script = """
    const plot = document.querySelector('#front .plot');
    const trace = plot.data.find((one) => one.cells);
    plot.emit('plotly_click', { points: [{ data: trace, pointIndex: 0 }] });
    return trace.cells[0].runs[0];"""
    run = fresh.execute_script(script)
    time.sleep(0.3)
    shown = fresh.find_element("css selector", "#told code").text
    assert shown == rows[run]["made.command"]


def test_the_keyboard_is_enough(fresh):
    fresh.execute_script("document.getElementById('across').focus()")
    before = fresh.execute_script("return document.getElementById('across').value")
    fresh.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    time.sleep(0.3)
    assert fresh.execute_script("return document.getElementById('across').value") != before
    script = """return [...document.querySelectorAll('main button, main input, main select')]
      .filter((one) => !(one.textContent.trim() || one.ariaLabel || one.labels?.length)).length"""
    assert fresh.execute_script(script) == 0, "every control has a name"


def test_lines_download_as_csv(browser, report, rows, tmp_path):
    page.open_page(browser, report, WIDE)
    page.wait_until_drawn(browser)
    click = "document.querySelector('#lines .download').click()"
    header, *lines = page.downloaded(browser, click, tmp_path / "ftlab-lines.csv")
    found = [dict(zip(header, line, strict=True)) for line in lines]
    names = ["op", "scheme", "cache"]
    agree(told(found, names, MEAN), means(rows, names, MEAN))
