"""What every page must do, wide and narrow: open without a fault, and fit."""

import page
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

DARK_WIDTH = 420


def test_no_console_message_and_no_request(fresh, report):
    assert page.console_faults(fresh) == []
    assert page.network_faults(fresh, report) == []


def test_layout(opened, shots):
    page.screenshot(opened, shots / f"{opened.width}.png")
    assert page.chart_faults(opened) == []
    assert page.width_faults(opened) == []
    assert page.overlap_faults(opened) == []


def test_layout_in_the_dark(browser, report, shots):
    """Once: colours do not depend on the width, nor do places on colours."""
    browser.shown = None
    page.open_page(browser, report, DARK_WIDTH, dark=True)
    page.wait_until_drawn(browser)
    page.screenshot(browser, shots / f"{DARK_WIDTH}-dark.png")
    assert page.chart_faults(browser) == []
    assert page.width_faults(browser) == []
    assert page.overlap_faults(browser) == []


CARDS = """
return [...document.querySelectorAll('.charts')].map((grid) => {
  const { left, right } = grid.getBoundingClientRect();
  const cards = [...grid.querySelectorAll('[data-chart]')].map((card) => {
    const box = card.getBoundingClientRect();
    return {
      id: card.id, title: card.querySelector('h3').textContent, hidden: card.hidden,
      sentence: card.querySelector('.empty').textContent,
      top: box.top, left: box.left - left, right: right - box.right,
    };
  });
  const said = [...(grid.parentElement.querySelectorAll('.absent li'))].map((l) => l.textContent);
  return { cards, said };
});
"""


def test_no_card_is_empty_and_none_stands_alone_in_half_a_row(opened):
    for grid in opened.execute_script(CARDS):
        drawn = [card for card in grid["cards"] if not card["hidden"]]
        for card in drawn:
            assert card["sentence"] == "", f"{card['id']} is an empty card"
            beside = [other for other in drawn if other["top"] == card["top"]]
            assert min(other["left"] for other in beside) < 2
            assert min(other["right"] for other in beside) < 2, f"{card['id']} stands alone"
        for card in grid["cards"]:
            if card["hidden"]:
                wanted = f"Not drawn: {card['title']}. {card['sentence']}"
                assert card["sentence"] and wanted in grid["said"]


def test_every_chart_has_its_data_as_a_table(fresh):
    script = """
    for (const details of document.querySelectorAll('.data details')) details.open = true;
    await new Promise((done) => setTimeout(done, 200));
    return [...document.querySelectorAll('[data-chart]:not([hidden])')].map((card) => [
      card.id, card.querySelectorAll('thead th').length, card.querySelectorAll('tbody tr').length,
    ]);"""
    fresh.execute_script("document.querySelectorAll('[data-chart]').forEach((c) => c.scrollIntoView())")
    page.wait_until_drawn(fresh)
    for name, columns, rows in fresh.execute_script(script):
        drawn = fresh.execute_script(f"return document.getElementById('{name}').hiddenKeys !== undefined")
        assert not drawn or (columns > 1 and rows > 0), name
    assert page.width_faults(fresh) == []


FOCUS = """
const one = document.activeElement;
const box = one.getBoundingClientRect();
const [x, y] = [box.left + Math.min(box.width, 40) / 2, box.top + box.height / 2];
const there = document.elementFromPoint(x, y);
const seen = there !== null && (one.contains(there) || there.contains(one));
return {
  name: `${one.tagName} ${one.textContent.slice(0, 40)}`, nobody: one === document.body,
  // A box with its own scrolling may be higher than the window.
  seen: seen || one.matches('.scroll'), marked: getComputedStyle(one).outlineStyle !== 'none',
};
"""


def test_what_the_keyboard_reaches_is_seen_and_marked(fresh):
    # From the top, and backwards from the middle: a bar that stays must not cover the focus.
    # A page that shows what changes stands still for it.
    fresh.execute_script("document.getElementById('hold')?.click()")
    middle = "const all = document.querySelectorAll('.download'); all[all.length >> 1].focus()"
    for start, keys in [("", [Keys.TAB]), (middle, [Keys.SHIFT, Keys.TAB])]:
        fresh.execute_script(start)
        for step in range(30):
            chain = ActionChains(fresh)
            for key in keys[:-1]:
                chain.key_down(key)
            chain.send_keys(keys[-1])
            for key in keys[:-1]:
                chain.key_up(key)
            chain.perform()
            found = fresh.execute_script(FOCUS)
            if found["nobody"]:
                assert step > 8, "the page begins or ends there"
                break
            assert found["seen"] and found["marked"], found
