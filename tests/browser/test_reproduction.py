"""The page of a reproduction opens without a fault, and shows every claim and every picture."""

import csv
import time

import page
import pytest
from selenium.webdriver.common.by import By

WIDE = 1280


def test_dark(browser, report, shots):
    page.open_page(browser, report, WIDE, dark=True)
    page.wait_until_drawn(browser)
    page.screenshot(browser, shots / "dark.png")
    assert page.chart_faults(browser) == []


ROWS = """
return [...document.querySelectorAll('tr.claim[id]')].map((row) => ({
  name: row.id, verdict: row.dataset.verdict, words: row.querySelector('.verdict').textContent,
  text: row.querySelector('th span').textContent, why: row.querySelector('.why')?.textContent ?? '',
}));
"""


def test_every_claim_is_there_with_its_verdict(opened, results):
    rows = opened.execute_script(ROWS)
    assert [row["name"] for row in rows] == [claim["name"] for claim in results]
    for row, claim in zip(rows, results, strict=True):
        assert row["verdict"] == claim["verdict"]
        assert row["words"] == claim["verdict"].replace("_", " ")
        assert row["text"] == claim["text"]
        assert claim["explanation"] in row["why"].replace("\n", " ") or "\n" in claim["explanation"]


def test_headlines_stand_at_the_top(opened, results):
    script = "return [...document.querySelectorAll('#claims tr.claim')].map((r) => r.dataset.claim)"
    wanted = [claim["name"] for claim in results if claim["headline"]]
    assert opened.execute_script(script) == wanted


def test_links_lead_somewhere(opened):
    script = """return [...document.querySelectorAll('a[href^="#"]')]
      .map((link) => decodeURIComponent(link.hash.slice(1)))
      .filter((id) => !document.getElementById(id))"""
    assert opened.execute_script(script) == []


def visible(browser):
    script = "return [...document.querySelectorAll('tr.claim[id]')].filter((r) => !r.hidden).length"
    return browser.execute_script(script)


def test_claims_are_filtered_by_verdict_and_word(fresh, results):
    assert visible(fresh) == len(results)
    held = sum(claim["verdict"] == "holds" for claim in results)
    for verdict in ["fails", "not_judged"]:
        fresh.execute_script(f"document.querySelector('#verdicts [value={verdict}]').click()")
    assert visible(fresh) == held
    box = fresh.find_element(By.CSS_SELECTOR, "#verdicts [type=search]")
    box.send_keys("no claim has these words")
    assert visible(fresh) == 0


def test_values_drawn_are_those_of_the_page(opened):
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
    pictures = opened.execute_script(script)
    assert pictures
    for picture in pictures:
        for drawn, values in picture:
            numbers = [value for value in values if isinstance(value, (int, float))]
            if numbers:
                assert [y for y in drawn if y is not None] == pytest.approx(numbers)


def test_data_of_a_picture_of_each_form_downloads(browser, report, tmp_path):
    page.open_page(browser, report, WIDE)
    page.wait_until_drawn(browser)
    behaviour = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
    script = """
    const embedded = JSON.parse(document.getElementById('results').textContent);
    const figures = embedded.experiments.flatMap((one) => one.figures);
    const drawn = (one) => document.querySelector(`#fig-${one.id} .plot`)?.data?.length > 0;
    return ['bars', 'lines', 'stacked', 'cdf'].flatMap((form) =>
      figures.filter((one) => one.form === form && drawn(one)).slice(0, 1).map((one) => one.id));"""
    names = browser.execute_script(script)
    assert names
    for name in names:
        button = browser.find_element(By.CSS_SELECTOR, f"#fig-{name} .download")
        browser.execute_script("arguments[0].click()", button)
        file = tmp_path / f"ftlab-fig-{name}.csv"
        deadline = time.monotonic() + 20
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        with file.open(newline="") as text:
            header, *rows = csv.reader(text)
        assert header[-1] in ["published", "cumulative_fraction"] or "series" in header
        assert rows and all(len(row) == len(header) for row in rows)
