"""The page of many runs: what is shown of them, what filters and box leave, what is pinned."""

import re
import time
from collections import Counter

import page
import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

WIDE = 1280
MEAN = "latency_ns.all.system.mean"


@pytest.fixture(scope="session")
def flat(results):
    """Of each run its scalars; what nothing was measured of is none."""
    runs = [dict(page.flatten(run)) | {"warnings": len(run["warnings"])} for run in results]
    for run in runs:
        for which in ["all", "read", "write"]:
            if run[f"latency_ns.{which}.system.N"] == 0:
                run.update((path, None) for path in run if path.startswith(f"latency_ns.{which}."))
    return runs


def shown(browser):
    """How many runs the filters leave, and how many of these are in the box."""
    text = browser.find_element(By.ID, "shown").text.replace(",", "")
    return [int(number) for number in re.findall(r"^(\d+) of|(\d+) of them" , text) for number in number if number]


def choose(browser, control, path):
    script = (
        "const select = document.getElementById(arguments[0]); select.value = arguments[1];"
        "select.dispatchEvent(new Event('change'))"
    )
    browser.execute_script(script, control, path)
    time.sleep(0.2)


def points(browser):
    """The runs that plotly drew."""
    script = """return (document.querySelector('#points .plot').data ?? [])
      .flatMap((trace) => trace.runs ?? [])"""
    return sorted(browser.execute_script(script))


def rows(browser):
    script = "return [...document.querySelectorAll('#rows tbody tr')].map((r) => Number(r.dataset.run))"
    return browser.execute_script(script)


def type_into(browser, selector, text):
    field = browser.find_element(By.CSS_SELECTOR, selector)
    field.clear()
    field.send_keys(text)
    time.sleep(0.3)


def test_every_run_is_there_once(opened, results, flat):
    script = "return JSON.parse(document.getElementById('results').textContent)"
    embedded = opened.execute_script(script)
    assert embedded["runs"] == len(results)
    columns = {column["path"]: column for column in embedded["columns"]}
    for path in ["waf", MEAN, "flash.total_erases", "wear.erase_max"]:
        assert columns[path]["values"] == [run[path] for run in flat], path
    for path in ["scheme", "workload.name", "device", "config.gc.threshold"]:
        if path in columns:
            words = [columns[path]["words"][code] for code in columns[path]["codes"]]
            assert words == [str(run.get(path, "")) for run in flat], path
    commands = [embedded["commands"]["words"][code] for code in embedded["commands"]["codes"]]
    assert commands == [run["made"]["command"] for run in results]


def test_numbers_equal_the_json(opened, flat):
    cells = opened.execute_script(page.CELLS)
    assert {cell["path"] for cell in cells} >= {"waf", MEAN, "flash.total_erases"}
    for cell in cells:
        value = flat[cell["run"]][cell["path"]]
        assert page.same(cell["text"], cell["path"], value), (cell, value)


def test_points_are_the_runs_with_both_numbers(opened, flat):
    wanted = [run for run, one in enumerate(flat) if (one["waf"] or 0) > 0 and (one[MEAN] or 0) > 0]
    assert points(opened) == wanted
    script = """return document.querySelector('#points .plot').data.flatMap((trace) =>
      (trace.runs ?? []).map((run, place) => [run, trace.x[place]]))"""
    drawn = dict(opened.execute_script(script))
    assert [drawn[run] for run in wanted] == pytest.approx([flat[run]["waf"] for run in wanted])


def test_a_word_is_filtered_out_and_counted(fresh, flat):
    schemes = Counter(run["scheme"] for run in flat)
    scheme, count = schemes.most_common(1)[0]
    box = f"#facets [data-path=scheme] input[value='{scheme}']"
    beside = fresh.find_element(By.XPATH, f"//*[@data-path='scheme']//label[input[@value='{scheme}']]")
    assert beside.text.split()[-1].replace(",", "") == str(count)
    fresh.execute_script(f"document.querySelector(\"{box}\").click()")
    time.sleep(0.2)
    assert shown(fresh) == [len(flat) - count]
    assert all(flat[run]["scheme"] != scheme for run in points(fresh) + rows(fresh))
    fresh.find_element(By.ID, "clear").click()
    time.sleep(0.2)
    assert shown(fresh) == [len(flat)]


def test_a_search_looks_at_every_word(fresh, results):
    scheme = results[0]["scheme"]
    type_into(fresh, "#search", f" {scheme.upper()} ")
    assert 0 < shown(fresh)[0] <= len(results)
    assert shown(fresh)[0] >= sum(run["scheme"] == scheme for run in results)
    type_into(fresh, "#search", "no run has these words")
    assert shown(fresh) == [0] and rows(fresh) == []
    assert fresh.find_element(By.CSS_SELECTOR, "#points .empty").is_displayed()
    assert fresh.find_element(By.ID, "none").is_displayed()
    type_into(fresh, "#search", " ")
    assert points(fresh) != []
    assert page.console_faults(fresh) == []


def test_a_range_of_a_number_filters(fresh, flat):
    choose(fresh, "add-filter", "waf")
    type_into(fresh, "[data-path=waf] label:nth-of-type(1) input", "1.5")
    wanted = sum(run["waf"] is not None and run["waf"] >= 1.5 for run in flat)
    assert shown(fresh) == [wanted]
    type_into(fresh, "[data-path=waf] label:nth-of-type(2) input", "3")
    wanted = sum(run["waf"] is not None and 1.5 <= run["waf"] <= 3 for run in flat)
    assert shown(fresh) == [wanted]


def test_a_box_that_is_typed_leaves_its_runs(fresh, flat):
    type_into(fresh, "[data-end=x0]", "1.2")
    type_into(fresh, "[data-end=x1]", "4")
    wanted = [run for run, one in enumerate(flat) if one["waf"] is not None and 1.2 <= one["waf"] <= 4]
    assert shown(fresh) == [len(flat), len(wanted)]
    assert rows(fresh) == wanted[:100]
    script = """return document.querySelector('#points .plot').data.flatMap((trace) =>
      (trace.selectedpoints ?? []).map((place) => trace.runs[place]))"""
    assert set(fresh.execute_script(script)) <= set(wanted)
    fresh.find_element(By.ID, "clear-box").click()
    time.sleep(0.2)
    assert shown(fresh) == [len(flat)]


def test_a_box_that_is_drawn_leaves_its_runs(browser, report, flat):
    """Over a logarithmic and a linear axis; the drawn box stays where it was drawn."""
    browser.shown = None
    page.show(browser, report, WIDE)
    for log in [True, False]:
        box = browser.find_element(By.ID, "x-log")
        if box.is_selected() != log:
            browser.execute_script("arguments[0].click()", box)
            time.sleep(0.5)
        area = browser.find_element(By.CSS_SELECTOR, "#points .nsewdrag")
        browser.execute_script("arguments[0].scrollIntoView({ block: 'center' })", area)
        width, height = area.size["width"], area.size["height"]
        actions = ActionChains(browser).move_to_element_with_offset(area, -width // 3, -height // 4)
        actions.click_and_hold().move_by_offset(width // 3, height // 2).release().perform()
        time.sleep(0.5)
        ends = {
            end: float(browser.find_element(By.CSS_SELECTOR, f"[data-end={end}]").get_attribute("value"))
            for end in ["x0", "x1", "y0", "y1"]
        }
        title = browser.find_element(By.CSS_SELECTOR, "#box label:nth-of-type(3) span").text
        unit = page.UNITS["latency_ns"][re.search(r"\((\S+)\)$", title)[1]]
        inside = sum(
            run["waf"] is not None and run[MEAN] is not None
            and ends["x0"] <= run["waf"] <= ends["x1"]
            and ends["y0"] * unit <= run[MEAN] <= ends["y1"] * unit
            for run in flat
        )
        assert ends["x0"] < ends["x1"] and ends["y0"] < ends["y1"]
        assert shown(browser) == [len(flat), inside]
        drawn = "return document.querySelector('#points .plot').layout.selections[0]"
        selection = browser.execute_script(drawn)
        assert sorted([selection["x0"], selection["x1"]]) == pytest.approx(
            [ends["x0"], ends["x1"]], rel=1e-4
        )
        outline = browser.find_elements(By.CSS_SELECTOR, "#points .selectionlayer path, #points .select-outline")
        assert outline, "the box is drawn"
    assert page.console_faults(browser) == []
    browser.shown = None


@pytest.mark.both_widths
def test_axes_and_colour_are_chosen(fresh, flat, shots):
    choose(fresh, "x", "flash.total_erases")
    choose(fresh, "y", "wear.erase_max")
    for axis in ["x", "y"]:
        box = fresh.find_element(By.ID, f"{axis}-log")
        if box.is_selected():
            fresh.execute_script("arguments[0].click()", box)
    time.sleep(0.3)
    assert points(fresh) == list(range(len(flat)))
    colours = "return [...document.querySelectorAll('#colour option')].map((o) => o.value)"
    for path in ["", "waf", "scheme", "file", *fresh.execute_script(colours)[-3:]]:
        choose(fresh, "colour", path)
        assert points(fresh) == list(range(len(flat))), path
        assert page.overlap_faults(fresh) == []
    settings = """return [...document.querySelectorAll("#x optgroup[label='Settings'] option")]
      .map((option) => option.value)"""
    for path in fresh.execute_script(settings)[:3]:
        choose(fresh, "x", path)
        assert page.chart_faults(fresh) == [], path
        assert page.overlap_faults(fresh) == [], path
    page.screenshot(fresh, shots / f"settings-{fresh.width}.png")
    assert page.console_faults(fresh) == []


def test_rows_are_sorted_by_a_click_on_a_heading(fresh, flat):
    head = f"#rows th[data-path='{MEAN}']"
    for direction, sign in [("ascending", 1), ("descending", -1)]:
        button = fresh.find_element(By.CSS_SELECTOR, f"{head} .sort")
        fresh.execute_script("arguments[0].click()", button)
        time.sleep(0.2)
        assert fresh.find_element(By.CSS_SELECTOR, head).get_attribute("aria-sort") == direction
        known = [run for run, one in enumerate(flat) if one[MEAN] is not None]
        wanted = sorted(known, key=lambda run: (sign * flat[run][MEAN], run))
        assert rows(fresh)[: len(wanted)] == wanted[:100]


@pytest.mark.both_widths
def test_pinned_runs_stay_whatever_the_filters_say(fresh, flat, shots):
    for run in [0, 1, 2]:
        button = fresh.find_element(By.CSS_SELECTOR, f"tr[data-run='{run}'] button")
        fresh.execute_script("arguments[0].click()", button)
    time.sleep(0.2)
    type_into(fresh, "#search", "no run has these words")
    cells = fresh.execute_script("""return [...document.querySelectorAll('#side-by-side [data-metric]')]
      .map((cell) => ({ path: cell.dataset.metric, run: Number(cell.dataset.run),
        text: cell.firstChild.textContent.trim(),
        change: cell.querySelector('small')?.textContent }))""")
    assert {cell["run"] for cell in cells} == {0, 1, 2}
    assert {cell["path"] for cell in cells} >= {"waf", MEAN, "flash.total_programs"}
    for cell in cells:
        first, value = flat[0][cell["path"]], flat[cell["run"]][cell["path"]]
        assert page.same(cell["text"], cell["path"], value), (cell, value)
        if cell["run"] == 0 or cell["path"] == "warnings":
            assert cell["change"] is None
        elif first and value is not None and first != value:
            assert page.same(cell["change"].lstrip("+"), "waf", (value - first) / first), cell
            assert cell["change"].startswith("+") == (value > first)
        elif first == value:
            assert cell["change"] == "="
    page.screenshot(fresh, shots / f"pinned-{fresh.width}.png")
    assert page.width_faults(fresh) == []
    differ = fresh.find_element(By.ID, "pins-differ")
    fresh.execute_script("arguments[0].click()", differ)
    left = fresh.find_elements(By.CSS_SELECTOR, "#side-by-side tbody tr:not(.group)")
    assert all("differs" in row.get_attribute("class") for row in left)
    fresh.execute_script("document.getElementById('unpin').click()")
    assert not fresh.find_element(By.ID, "pins").is_displayed()
    assert page.console_faults(fresh) == []


def test_the_keyboard_is_enough(fresh, flat):
    """A run is pinned, and a box is set and left, without a pointer."""
    pin = fresh.find_element(By.CSS_SELECTOR, "tr[data-run='0'] button")
    fresh.execute_script("arguments[0].focus()", pin)
    fresh.switch_to.active_element.send_keys(Keys.ENTER)
    time.sleep(0.3)
    focused = fresh.switch_to.active_element
    assert focused.get_attribute("data-key") == "pin 0", "the focus stays where it was"
    assert focused.get_attribute("aria-pressed") == "true"
    fresh.execute_script("document.querySelector('[data-end=x0]').focus()")
    fresh.switch_to.active_element.send_keys("2")
    time.sleep(0.3)
    assert len(shown(fresh)) == 2
    fresh.switch_to.active_element.send_keys(Keys.ESCAPE)
    time.sleep(0.3)
    assert shown(fresh) == [len(flat)]
    script = """return [...document.querySelectorAll('main button, main input, main select')]
      .filter((one) => one.tabIndex < 0).length"""
    assert fresh.execute_script(script) == 0
    script = """return [...document.querySelectorAll('main button, main input, main select')]
      .filter((one) => !(one.textContent.trim() || one.ariaLabel || one.labels?.length)).length"""
    assert fresh.execute_script(script) == 0, "every control has a name"


def test_the_command_of_a_run_is_copied(fresh, results):
    script = """
    const taken = [];
    Object.defineProperty(navigator, 'clipboard', {
      configurable: true, value: { writeText: async (text) => { window.copied = text; } },
    });"""
    fresh.execute_script(script)
    button = fresh.find_element(By.CSS_SELECTOR, "tr[data-run='1'] [data-copy]")
    fresh.execute_script("arguments[0].click()", button)
    time.sleep(0.2)
    assert fresh.execute_script("return window.copied") == results[1]["made"]["command"]
    assert "Copied" in fresh.find_element(By.ID, "said").text


def test_rows_download_as_csv(browser, report, results, flat, tmp_path):
    page.open_page(browser, report, WIDE)
    page.wait_until_drawn(browser)
    type_into(browser, "[data-end=x0]", "1.2")
    choose(browser, "add-column", "flash.total_programs")
    click = "document.getElementById('csv').click()"
    header, *lines = page.downloaded(browser, click, tmp_path / "ftlab-runs.csv")
    found = [dict(zip(header, line, strict=True)) for line in lines]
    wanted = [run for run, one in enumerate(flat) if (one["waf"] or 0) >= 1.2]
    assert [int(row["run"]) - 1 for row in found] == wanted
    for run, row in zip(wanted, found, strict=True):
        assert float(row["waf"]) == flat[run]["waf"]
        assert int(row["flash.total_programs"]) == flat[run]["flash.total_programs"]
        assert row["made.command"] == results[run]["made"]["command"]


def test_the_view_stands_in_the_address(browser, report, flat):
    """A reload keeps what was chosen, and so does a link that somebody else opens."""
    page.open_page(browser, report, WIDE)
    page.wait_until_drawn(browser)
    begun = shown(browser)
    assert "#" not in browser.current_url
    choose(browser, "x", "flash.total_programs")
    type_into(browser, "#search", "dftl")
    browser.execute_script("document.querySelector('tr[data-run] button').click()")
    time.sleep(0.3)
    script = """return [document.getElementById('x').value, document.getElementById('search').value,
      document.getElementById('shown').textContent,
      [...document.querySelectorAll('#side-by-side thead th')].map((cell) => cell.textContent)]"""
    chosen = browser.execute_script(script)
    assert chosen[0] == "flash.total_programs" and len(chosen[3]) == 2
    assert shown(browser) != begun
    link = browser.current_url
    for again in [lambda: browser.refresh(), lambda: browser.get("about:blank") or browser.get(link)]:
        again()
        page.wait_until_drawn(browser)
        assert browser.execute_script(script) == chosen
    # A link within the page does not lose it.
    browser.execute_script("document.querySelector('header nav a').click()")
    time.sleep(0.3)
    assert browser.execute_script(script) == chosen and browser.current_url == link
    browser.execute_script("document.getElementById('clear').click()")
    browser.execute_script("document.getElementById('unpin').click()")
    browser.refresh()
    page.wait_until_drawn(browser)
    assert browser.execute_script(script)[1] == ""
    assert page.console_faults(browser) == []
