"""Each check is shown a page with the fault that it is there for, and must find it."""

import page
import pytest


@pytest.fixture
def broken(browser, report, tmp_path):
    """Opens a copy of the report with something added at its end."""

    def open_broken(addition):
        path = tmp_path / "broken.html"
        path.write_text(report.read_text() + addition)
        page.open_page(browser, path, 1280)
        page.wait_until_drawn(browser)
        return browser, path

    return open_broken


def test_an_error_in_a_script_is_found(broken):
    browser, _ = broken("<script>nothing.here()</script>")
    assert any("nothing is not defined" in fault for fault in page.console_faults(browser))


def test_a_request_is_found(broken):
    browser, path = broken("<img src='missing.png' alt=''>")
    assert any("missing.png" in fault for fault in page.network_faults(browser, path))


def test_a_wide_page_is_found(broken):
    browser, _ = broken("<div style='width: 2000px'>wide</div>")
    assert page.width_faults(browser) != []


def test_a_wrong_number_is_found(broken, results):
    cell = "document.querySelector('[data-metric=\"flash.total_erases\"]')"
    browser, _ = broken(f"<script>{cell}.textContent = '123,456,789'</script>")
    faults = page.number_faults(browser, results)
    assert len(faults) == 1 and "flash.total_erases" in faults[0]


def test_a_missing_number_is_found(broken, results):
    browser, _ = broken(
        "<script>document.querySelectorAll('[data-metric=waf]').forEach((c) => c.remove())</script>"
    )
    assert page.number_faults(browser, results) == [
        f"run {run} does not show waf" for run in range(len(results))
    ]


def test_a_chart_without_marks_is_found(broken):
    browser, _ = broken(
        "<script>document.querySelectorAll('.empty').forEach((e) => { e.hidden = true })</script>"
        "<style>.plot { display: none !important }</style>"
    )
    faults = page.chart_faults(browser)
    assert any("px" in fault for fault in faults) and any("nothing" in fault for fault in faults)


def test_labels_that_cover_each_other_are_found(broken):
    browser, _ = broken(
        "<ul data-chart='x' id='x'></ul><script>{"
        "const figure = document.getElementById('cdf');"
        "const legend = figure.querySelector('.legend');"
        "legend.hidden = false;"
        "for (const text of ['one', 'two']) {"
        " const button = document.createElement('button'); button.textContent = text;"
        " button.style.position = 'absolute'; button.style.left = '50px';"
        " legend.append(button); }"
        "document.getElementById('x').remove(); }</script>"
    )
    assert "cdf: 'one' covers 'two'" in page.overlap_faults(browser)


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
