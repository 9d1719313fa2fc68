"""The page of a drive, while fio writes to it: what it shows is what the drive counts."""

import re
import signal
import subprocess
import time
from contextlib import contextmanager

import drives
import page
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait


def until(browser, script, seconds=20):
    """Waits until a script says something."""
    return WebDriverWait(browser, seconds).until(lambda driver: driver.execute_script(script))


@contextmanager
def quiet(served, browser):
    """The writer stands still, and the page shows the last that it wrote."""
    served.writer.send_signal(signal.SIGSTOP)
    try:
        # What is under way is served, and then looked at.
        time.sleep(1)
        requests = sum(column[-1] for column in served.told("live.json")["looks"]["requests"].values())
        tiles = "return document.getElementById('tiles').textContent"
        until(browser, f"{tiles}.includes('{requests:,} in all')")
        # The map is asked for behind the boxes.
        time.sleep(1.5)
        yield
    finally:
        served.writer.send_signal(signal.SIGCONT)


TILES = """
return Object.fromEntries([...document.querySelectorAll('#tiles div')].map((tile) =>
  [...tile.children].map((part) => part.textContent)).map(([name, ...text]) => [name, text]));
"""


def test_the_boxes_tell_what_the_drive_counts(opened, served):
    with quiet(served, opened):
        looks = served.told("live.json")["looks"]
        tiles = opened.execute_script(TILES)
    requests = sum(column[-1] for column in looks["requests"].values())
    programs = sum(column[-1] for column in looks["programs"].values())
    assert tiles["Requests"][1] == f"{requests:,} in all" and requests > 0
    waf = page.same(tiles["Write amplification"][1].split()[0], "waf", programs / looks["write_pages"][-1])
    assert waf, tiles
    assert tiles["Erases"][1] == f"{looks['erases'][-1]:,} in all"
    assert tiles["Free blocks"][0] == f"{looks['free_blocks'][-1]:,}"
    hits = looks["map_hits"][-1] / looks["map_lookups"][-1]
    assert page.same(" ".join(tiles["Map-cache hits"][1].split()[:2]), "hits", hits), tiles


STATES = """
return [...document.querySelectorAll('#states tbody tr')].map((row) =>
  [...row.children].map((cell) => cell.textContent.replaceAll(',', '')));
"""


def test_the_map_of_blocks_is_the_flash(opened, served):
    with quiet(served, opened):
        blocks = served.told("blocks.json")
        rows = opened.execute_script(STATES)
    assert sum(int(row[1]) for row in rows) == blocks["blocks"]
    assert sum(int(row[2]) for row in rows) == sum(blocks["valid"])
    assert sum(int(row[3]) for row in rows) == sum(blocks["stale"])
    assert {row[0] for row in rows} >= {"data", "map", "erased"}


COLOURS = """
const canvas = document.getElementById('cells');
const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
const found = {};
for (let at = 0; at < data.length; at += 4) {
  const colour = `${data[at]},${data[at + 1]},${data[at + 2]}`;
  found[colour] = (found[colour] ?? 0) + 1;
}
return found;
"""
VALID, STALE, MAP = "0,114,178", "230,159,0", "0,158,115"


@pytest.mark.both_widths
def test_the_map_is_painted_by_state_and_by_wear(fresh, shots):
    painted = fresh.execute_script(COLOURS)
    assert all(painted.get(colour, 0) > 50 for colour in [VALID, STALE, MAP]), painted
    fresh.execute_script("document.querySelector('[data-colour=wear]').click()")
    worn = fresh.execute_script(COLOURS)
    assert VALID not in worn and STALE not in worn
    wide = "const box = document.getElementById('cells').getBoundingClientRect(); return [box.width, box.height]"
    width, height = fresh.execute_script(wide)
    assert 0.75 * min(fresh.execute_script("return innerWidth"), 1200) < width and 100 < height < 700
    page.screenshot(fresh, shots / f"wear-{fresh.execute_script('return innerWidth')}.png")
    legend = fresh.execute_script("return document.getElementById('cell-legend').textContent")
    assert "from" in legend or "erases" in legend


def test_a_block_is_told_under_the_pointer_and_by_keys(fresh):
    canvas = fresh.find_element("id", "cells")
    cell = "return document.getElementById('cell').textContent"
    fresh.execute_script("arguments[0].scrollIntoView({ block: 'center' })", canvas)
    ActionChains(fresh).move_to_element(canvas).perform()
    assert fresh.execute_script(cell).startswith("Block ")
    canvas.send_keys(Keys.ARROW_RIGHT)
    before = fresh.execute_script(cell).split(":")[0]
    canvas.send_keys(Keys.ARROW_RIGHT)
    after = fresh.execute_script(cell).split(":")[0]
    number = lambda text: int(text.removeprefix("Block ").replace(",", ""))
    assert number(after) == number(before) + 1


RECLAIM = """
return {
  story: document.getElementById('story').textContent,
  squares: document.querySelector('#victims svg').querySelectorAll('rect').length,
  moved: document.querySelector('#victims svg').querySelectorAll('path').length,
  note: document.querySelector('#victims .note').textContent,
  rows: document.querySelectorAll('#list tbody tr').length,
  following: document.getElementById('following').textContent,
};
"""


def test_a_collection_is_seen_page_by_page(fresh, served):
    until(fresh, "return !document.getElementById('reclaim').hidden")
    fresh.find_element("id", "hold").click()
    time.sleep(1)
    shown = fresh.execute_script(RECLAIM)
    assert shown["squares"] == served.told("blocks.json")["pages_per_block"]
    assert "erased" in shown["story"] and "simulated time" in shown["story"]
    words = shown["note"].split(", ")
    moved = next(word for word in words if "moved" in word).split()[0]
    assert shown["moved"] == (0 if moved == "none" else int(moved)), shown
    assert shown["rows"] >= 2
    # Held, it stays.
    time.sleep(1.5)
    assert fresh.execute_script(RECLAIM) == shown
    fresh.find_element("id", "older").click()
    older = fresh.execute_script(RECLAIM)
    assert older["story"] != shown["story"] and "stays" in older["following"]
    fresh.find_element("id", "newer").click()
    assert fresh.execute_script(RECLAIM)["story"] == shown["story"]
    fresh.find_element("id", "hold").click()
    until(fresh, f"return document.getElementById('story').textContent !== {shown['story']!r}")


def test_what_bounds_the_curves_is_said_in_words(opened, served):
    told = served.told("live.json")
    words = opened.execute_script("return document.getElementById('looks').textContent")
    seconds, looks = told["every_ms"] / 1000, told["looks_max"]
    for part in [f"every {seconds:g} s", f"at most {looks:,} looks", "600 s", "every second one goes"]:
        assert part in words, (part, words)
    scripts = opened.execute_script("return [...document.scripts].map((one) => one.textContent).join('')")
    constant = lambda name: int(re.search(rf"const {name} = (\d+);", scripts)[1])
    assert f"this page {constant('LOOKS_MAX'):,}" in words
    assert f"at most {constant('STEPS_MAX')} steps" in words and f"last {constant('RECLAIMS_MAX')} are" in words


def test_curves_grow_while_it_is_written_to(fresh):
    last = "return Number(document.querySelector('#throughput tbody tr:last-child th')?.textContent ?? 0)"
    fresh.execute_script("document.querySelector('#throughput details').open = true")
    before = until(fresh, last)
    until(fresh, f"{last} > {before + 2}")
    # What was chosen stays chosen, and what was hidden hidden.
    fresh.find_element("css selector", "#throughput [data-view=requests]").click()
    until(fresh, "return document.querySelectorAll('#throughput .legend button').length === 2")
    button = fresh.find_element("css selector", "#throughput .legend button")
    button.click()
    time.sleep(1.5)
    # Pages that redraw themselves leave what is pressed in its place.
    assert button.get_attribute("aria-pressed") == "false"
    pressed = "return document.querySelector('#throughput {}').getAttribute('aria-pressed')"
    assert fresh.execute_script(pressed.format("[data-view=requests]")) == "true"
    assert fresh.execute_script(pressed.format(".legend button")) == "false"
    names = "return [...document.querySelectorAll('#waf .legend button')].map((b) => b.textContent)"
    causes = fresh.execute_script(names)
    assert {"host", "gc", "translate"} <= set(causes), causes


def test_a_copy_by_nbdcopy_is_seen(browser, pytestconfig, tmp_path):
    image = tmp_path / "image"
    image.write_bytes(bytes(range(256)) * (drives.SIZE_MIB * drives.MIB // 256))
    drive = drives.Drive(pytestconfig.getoption("drive"), tmp_path)
    try:
        browser.shown = None
        page.open_page(browser, drive.page, 1400)
        page.wait_until_drawn(browser)
        subprocess.run(["nbdcopy", image, drive.url], check=True, timeout=60)
        until(browser, f"return document.getElementById('tiles').textContent.includes('{drives.SIZE_MIB} MiB in all')")
    finally:
        drive.end()
        browser.shown = None
        browser.get("about:blank")


def test_a_drive_that_is_gone_is_told(browser, pytestconfig, tmp_path):
    drive = drives.Drive(pytestconfig.getoption("drive"), tmp_path)
    try:
        browser.shown = None
        page.open_page(browser, drive.page, 1400)
        page.wait_until_drawn(browser)
        assert browser.execute_script("return document.getElementById('trouble').hidden")
        drive.end()
        until(browser, "return document.getElementById('trouble').textContent.includes('has not answered')")
    finally:
        drive.end()
        browser.shown = None
        browser.get("about:blank")
