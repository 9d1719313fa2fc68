"""The pages of a reproduction: index, a page per experiment; each short, whole, and linked."""

import html.parser
import json
import shutil
import time
import urllib.parse

import page
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from test_every_page import FOCUS

WIDE = 1400
NARROW = 420
# No page is higher at the wide width.
HEIGHT_MAX = 15_000


@pytest.fixture(scope="module")
def folder(report):
    return report.parent


@pytest.fixture(scope="module")
def pages(folder, results):
    """The index, then a page of every experiment in the order of the claims."""
    names = list(dict.fromkeys(claim["experiment"] for claim in results))
    return [folder / "report.html", *(folder / name / "report.html" for name in names)]


def embedded(path):
    """What a page embeds."""
    _, rest = path.read_text().split('<script type="application/json" id="results">', 1)
    return json.loads(rest.split("</script>", 1)[0])


@pytest.fixture(scope="module")
def by_form(pages):
    """For every form of picture a page and the names of such pictures in it."""
    found = {}
    for path in pages[1:]:
        for figure in embedded(path)["experiments"][0]["figures"]:
            has_value = any(value not in (None, []) for row in figure["values"] for value in row)
            if has_value and figure["form"] != "table":
                found.setdefault(figure["form"], (path, figure["id"]))
    assert {"bars", "lines", "cdf"} <= found.keys()
    return found


def opened(browser, path, width=WIDE, dark=False):
    browser.shown = None
    page.open_page(browser, path, width, dark=dark)
    page.wait_until_drawn(browser)


def faults(browser, folder, path):
    found = page.console_faults(browser) + page.width_faults(browser)
    found += page.network_faults(browser, path, [folder / "plotly.js"])
    if browser.execute_script("return document.querySelector('[data-chart]') !== null"):
        found += page.chart_faults(browser) + page.overlap_faults(browser)
    return found


ROWS = """
return [...document.querySelectorAll('tr.claim[id]')].map((row) => ({
  name: row.id, verdict: row.dataset.verdict, words: row.querySelector('.verdict').textContent,
  text: row.querySelector('th span').textContent, why: row.querySelector('.why')?.textContent ?? '',
  told: row.querySelector('.what')?.textContent ?? '', seen: row.querySelector('th').innerText,
}));
"""


def test_every_page_is_short_and_shows_its_claims(browser, folder, pages, results, shots):
    heights = {}
    for path in pages:
        opened(browser, path)
        heights[path.parent.name] = browser.execute_script(
            "return document.documentElement.scrollHeight"
        )
        # Pages of many pictures draw what comes near.
        browser.execute_script("document.querySelectorAll('[data-chart]').forEach((c) => c.scrollIntoView())")
        time.sleep(0.1)
        assert page.console_faults(browser) == [], path
        assert page.width_faults(browser) == [], path
        # What is behind a disclosure has no text that is seen.
        browser.execute_script("document.querySelectorAll('.ours').forEach((one) => { one.open = true; })")
        rows = browser.execute_script(ROWS)
        own = [claim for claim in results if claim["experiment"] == path.parent.name]
        assert {row["name"] for row in rows} == {claim["name"] for claim in own}, path
        for row in rows:
            claim = next(one for one in own if one["name"] == row["name"])
            assert row["verdict"] == claim["verdict"]
            assert row["words"] == claim["verdict"].replace("_", " ") or "not judged" in row["words"]
            assert row["text"] == claim["text"]
            assert " ".join(claim["explanation"].split()) in " ".join(row["why"].split())
            # What a number is stands there in words, and no expression is in sight.
            if claim["measured"] is not None:
                assert len(row["told"]) > len("Measured:") or "Measured:" in row["told"], row
            assert "('" not in row["seen"] and "(w ~" not in row["seen"], row
    (shots / "heights.json").write_text(json.dumps(heights, indent=1))
    assert max(heights.values()) <= HEIGHT_MAX, heights


def test_layout_wide_and_narrow_light_and_dark(browser, folder, pages, by_form, shots):
    for form, path in [("index", pages[0]), *((form, path) for form, (path, _) in by_form.items())]:
        for width, dark in [(WIDE, False), (NARROW, True)]:
            opened(browser, path, width, dark)
            page.screenshot(browser, shots / f"{form}-{width}.png")
            assert faults(browser, folder, path) == [], (path, width)


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.places = [], set()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "id" in attrs:
            self.places.add(attrs["id"])
        if tag == "a":
            self.links.append(attrs["href"])


def test_links_lead_somewhere(folder, pages):
    read = {}
    for path in pages:
        read[path] = Links()
        text = path.read_text()
        read[path].feed(text[: text.index('<script type="application/json"')])
    followed = 0
    for path, found in read.items():
        for link in found.links:
            address, place = urllib.parse.urldefrag(link)
            target = (path.parent / urllib.parse.unquote(address)).resolve() if address else path
            assert target.exists(), f"{path} links to {link}"
            if place and target in read:
                assert urllib.parse.unquote(place) in read[target].places, f"{path}: {link}"
            followed += 1
    assert followed > 5 * len(pages)
    order = [link for link in read[pages[1]].links if link.startswith("../") and "#" not in link]
    assert pages[2].parent.name in order[0], "the next one"


def visible(browser, selector):
    script = "return [...document.querySelectorAll(arguments[0])].filter((r) => !r.hidden).length"
    return browser.execute_script(script, selector)


def test_the_index_finds_experiments_by_verdict_and_word(browser, pages, results):
    opened(browser, pages[0])
    assert visible(browser, "tr.experiment") == len(pages) - 1
    headlines = [claim for claim in results if claim["headline"]]
    assert visible(browser, "tr.claim") == len(headlines)
    for verdict in ["fails", "not_judged"]:
        browser.execute_script(f"document.querySelector('#verdicts [value={verdict}]').click()")
    held = [claim for claim in results if claim["verdict"] == "holds"]
    assert visible(browser, "tr.claim") == sum(claim in held for claim in headlines)
    assert visible(browser, "tr.experiment") == len({claim["experiment"] for claim in held})
    box = browser.find_element(By.CSS_SELECTOR, "#verdicts [type=search]")
    word = held[-1]["text"][:-1]
    box.send_keys(word)
    assert 1 <= visible(browser, "tr.experiment") < len(pages) - 1
    links = browser.find_elements(By.CSS_SELECTOR, ".found:not([hidden]) a")
    assert held[-1]["name"] in [link.get_attribute("href").split("#")[1] for link in links]
    box.send_keys("no claim has these words")
    assert visible(browser, "tr.experiment") == visible(browser, "tr.claim") == 0
    assert "0 of" in browser.find_element(By.CSS_SELECTOR, "#verdicts [role=status]").text


def test_a_page_finds_its_claims_and_shows_the_run_behind_a_number(browser, pages, results):
    path = max(pages[1:], key=lambda one: one.stat().st_size)
    opened(browser, path)
    own = [claim for claim in results if claim["experiment"] == path.parent.name]
    assert visible(browser, "tr.claim") == len(own)
    browser.find_element(By.CSS_SELECTOR, "#verdicts [type=search]").send_keys("no such words")
    assert visible(browser, "tr.claim") == 0
    opened(browser, path)
    link = browser.find_element(By.CSS_SELECTOR, ".parts a")
    browser.execute_script("arguments[0].click()", link)
    time.sleep(0.2)
    script = "return document.getElementById(arguments[0]).closest('details').open"
    place = urllib.parse.unquote(link.get_attribute("href").split("#")[1])
    assert browser.execute_script(script, place)


def test_what_the_keyboard_reaches_is_seen_and_marked(browser, pages, by_form):
    for path in [pages[0], by_form["lines"][0]]:
        opened(browser, path)
        body = browser.find_element(By.TAG_NAME, "body")
        for _ in range(20):
            body.send_keys(Keys.TAB)
            found = browser.execute_script(FOCUS)
            assert not found["nobody"] and found["seen"] and found["marked"], (path, found)
            body = browser.switch_to.active_element


def test_values_drawn_are_those_of_the_page(browser, by_form):
    """Columns and lines carry the values that the page embeds, group by group."""
    script = """
    const embedded = JSON.parse(document.getElementById('results').textContent);
    const figures = embedded.experiments.flatMap((one) => one.figures);
    return figures.filter((one) => one.form === 'bars' || one.form === 'lines').map((one) => {
      const plot = document.querySelector(`#fig-${one.id} .plot`);
      const found = Object.fromEntries((plot.data ?? []).map((trace) => [trace.name, trace.y]));
      return one.series.map((name, index) =>
        [found[name] ?? null, one.values.map((row) => row[index])]);
    });"""
    compared = 0
    for path in {by_form["bars"][0], by_form["lines"][0]}:
        opened(browser, path)
        for picture in browser.execute_script(script):
            for drawn, values in picture:
                numbers = [value for value in values if isinstance(value, (int, float))]
                if numbers:
                    assert [y for y in drawn if y is not None] == pytest.approx(numbers)
                    compared += 1
    assert compared


def test_data_of_a_picture_of_each_form_downloads(browser, by_form, tmp_path):
    for path, name in by_form.values():
        opened(browser, path)
        click = f"document.querySelector('#fig-{name} .download').click()"
        header, *rows = page.downloaded(browser, click, tmp_path / f"ftlab-fig-{name}.csv")
        assert header[-1] in ["published", "cumulative_fraction"] or "series" in header
        assert rows and all(len(row) == len(header) for row in rows)


def test_a_page_without_its_folder_has_its_data_as_tables(browser, by_form, tmp_path):
    path, name = by_form["bars"]
    alone = tmp_path / "alone.html"
    shutil.copy(path, alone)
    opened(browser, alone)
    card = browser.find_element(By.ID, f"fig-{name}")
    assert "plotly.js" in card.find_element(By.CSS_SELECTOR, ".note").text
    assert card.find_elements(By.CSS_SELECTOR, ".data tbody tr")
    assert browser.find_elements(By.CSS_SELECTOR, "tr.claim")
