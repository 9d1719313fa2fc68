"""What every page must do, wide and narrow: open without a fault, and fit."""

import page


def test_no_console_message_and_no_request(fresh, report):
    assert page.console_faults(fresh) == []
    assert page.network_faults(fresh, report) == []


def test_layout(opened, shots):
    page.screenshot(opened, shots / f"{opened.width}.png")
    assert page.chart_faults(opened) == []
    assert page.width_faults(opened) == []
    assert page.overlap_faults(opened) == []
