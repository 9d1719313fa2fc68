"""The page of a calibration opens without a fault, wide and narrow, and shows its numbers."""

import json
import time

import page
import pytest
from selenium.webdriver.common.by import By


@pytest.fixture
def found(results):
    return results[0]


@pytest.mark.both_widths
def test_every_view_of_every_chart(fresh, found, shots):
    curves = {(probe["pattern"], probe["bytes"]) for probe in found["probes"]}
    buttons = fresh.find_elements(By.CSS_SELECTOR, ".controls button")
    views = [button for button in buttons if button.get_attribute("data-view")]
    # A single curve needs no choice.
    assert len(views) == (3 * len(curves) if len(curves) > 1 else 0), len(views)
    for button in views:
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
    assert {"probes.0.measured.mean_ns", "probes.0.simulated.iops", "parameters.0.base"} <= shown
    for cell in cells:
        value, path = values[cell["path"]], cell["path"]
        if path.startswith("parameters."):
            unit = values[f"parameters.{path.split('.')[1]}.unit"]
            path = "latency_ns" if unit == "ns" else "bandwidth_bytes_per_s"
        elif path.endswith(".iops"):
            path = "iops"
        assert page.same(cell["text"], path, value), (cell, value)


def test_embedded_json_is_what_was_found(opened, found):
    text = opened.execute_script("return document.getElementById('results').textContent")
    assert json.loads(text) == found


def test_measured_and_simulated_stand_in_pairs(opened, found):
    script = "return [...document.querySelectorAll('#rate .legend li')].map((l) => l.textContent.trim())"
    names = opened.execute_script(script)
    assert [name.split()[-1] for name in names] == ["measured", "simulated"], names


def test_every_sentence_and_every_job_that_was_left_out_is_told(opened, found):
    said = opened.execute_script("return document.querySelector('main').textContent")
    for sentence in found["words"] + [why for _, why in found["left_out"]]:
        assert sentence in said
    unknown = [one for one in found["parameters"] if one["interval"] is None]
    script = "return [...document.querySelectorAll('#parameters .note')].map((note) => note.textContent)"
    notes = [note for note in opened.execute_script(script) if note.startswith("Not identifiable")]
    for one in unknown:
        assert any(one["key"] in note and one["why"] in note for note in notes), (one, notes)
