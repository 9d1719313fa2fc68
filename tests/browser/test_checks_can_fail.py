"""Each check is shown a page with the fault that it is there for, and must find it where it found nothing before."""

import page
import pytest


# What a browser notes while it opens a page.
AT_ITS_END = "<script>nothing.here()</script><img src='missing.png' alt=''>"


@pytest.fixture(scope="module")
def broken(browser, report, tmp_path_factory):
    """A copy of the report with faults at its end, and its path; the tests add theirs to it."""
    path = tmp_path_factory.mktemp("broken") / "broken.html"
    path.write_text(report.read_text() + AT_ITS_END)
    page.open_page(browser, path, 1280)
    page.wait_until_drawn(browser)
    yield browser, path
    browser.shown = None


def found_anew(browser, fault, check):
    """What a check finds behind a script that it did not find before."""
    before = check()
    browser.execute_script(fault)
    return [found for found in check() if found not in before]


def test_an_error_in_a_script_is_found(broken):
    browser, _ = broken
    assert any("nothing is not defined" in fault for fault in page.console_faults(browser))


def test_a_request_is_found(broken):
    browser, path = broken
    assert any("missing.png" in fault for fault in page.network_faults(browser, path))


def test_a_wide_page_is_found(broken):
    browser, _ = broken
    wide = "document.body.insertAdjacentHTML('beforeend', '<div style=\"width: 2000px\">wide</div>')"
    assert found_anew(browser, wide, lambda: page.width_faults(browser)) != []


def test_a_wrong_number_is_found(broken, results):
    browser, _ = broken
    wrong = "document.querySelector('[data-metric=\"flash.total_erases\"]').textContent = '123,456,789'"
    faults = found_anew(browser, wrong, lambda: page.number_faults(browser, results))
    assert len(faults) == 1 and "flash.total_erases" in faults[0]


def test_a_missing_number_is_found(broken, results):
    browser, _ = broken
    missing = "document.querySelectorAll('[data-metric=waf]').forEach((cell) => cell.remove())"
    assert found_anew(browser, missing, lambda: page.number_faults(browser, results)) == [
        f"run {run} does not show waf" for run in range(len(results))
    ]


def test_labels_that_cover_each_other_are_found(broken):
    browser, _ = broken
    labels = """
    const legend = document.querySelector('#cdf .legend');
    legend.hidden = false;
    for (const text of ['one', 'two']) {
      const button = document.createElement('button');
      button.textContent = text;
      Object.assign(button.style, { position: 'absolute', left: '50px' });
      legend.append(button);
    }"""
    faults = found_anew(browser, labels, lambda: page.overlap_faults(browser))
    assert "cdf: 'one' covers 'two'" in faults


def test_a_chart_without_marks_is_found(broken):
    browser, _ = broken
    empty = """
    document.querySelectorAll('.empty').forEach((sentence) => { sentence.hidden = true });
    document.head.insertAdjacentHTML('beforeend', '<style>.plot { display: none !important }</style>');"""
    faults = found_anew(browser, empty, lambda: page.chart_faults(browser))
    assert any("px" in fault for fault in faults) and any("nothing" in fault for fault in faults)


@pytest.mark.parametrize(
    ("text", "path", "value", "expected"),
    [
        ("1.244", "waf", 1.24375, True),
        ("1.245", "waf", 1.24375, False),
        ("n/a", "waf", None, True),
        ("n/a", "waf", 1.0, False),
        ("131.2 µs", "latency_ns.all.system.mean", 131_232, True),
        ("131.2 ms", "latency_ns.all.system.mean", 131_232, False),
        ("131.2", "latency_ns.all.system.mean", 131_232, False),
        ("64.5 KiB", "ram_bytes.total", 66_048, True),
        ("64 KiB", "ram_bytes.total", 66_048, False),
        ("93.94 %", "map_cache.hit_ratio", 31 / 33, True),
        ("29,850", "flash.total_programs", 29_850, True),
        ("29,850", "flash.total_programs", 29_851, False),
    ],
)
def test_numbers_are_compared_with_their_units(text, path, value, expected):
    assert page.same(text, path, value) is expected
