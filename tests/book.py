#!/usr/bin/env python3
"""Checks a book: its links, and that its examples do what they say.

    tests/book.py sources FOLDER FTLAB [PAGE.md ...]    pages as `book/generate.py` makes them
    tests/book.py pages FOLDER                          pages as mdBook makes them

Of sources every link must lead to a page, a heading or a file, every page must be in the summary,
and every block of `sh` (of other pages given, too) is run with `bash -eu`, the blocks of a page one
after another in an empty folder, and must end with 0. A block that shows a command and is not run
says `takes-long`. Of pages every link and every anchor must be there.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FENCE = re.compile(r"^```(.*?)\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)")
# Two cores are what there is; an example that takes longer than this is none.
WORKERS, SECONDS = 2, 120


def anchor(heading):
    """The id that mdBook gives a heading."""
    text = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", lambda found: found[1] or "", heading)
    kept = (letter for letter in text.strip().lower() if letter.isalnum() or letter in " -_")
    return "".join(kept).replace(" ", "-")


def plain(text):
    """A page without its code, in blocks and in lines."""
    return re.sub(r"`[^`\n]+`", "`code`", FENCE.sub("", text))


def broken_links(folder):
    pages = {path: path.read_text() for path in folder.rglob("*.md")}
    heads = {path: {anchor(head) for head in re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.M)}
             for path, text in pages.items()}
    summary = {(folder / link).resolve() for link in LINK.findall(pages[folder / "SUMMARY.md"])}
    for path in pages:
        if path.name != "SUMMARY.md" and path.resolve() not in summary:
            yield f"{path}: not in the summary"
    for path, text in pages.items():
        for link in LINK.findall(plain(text)):
            target, _, head = link.partition("#")
            if urlsplit(link).scheme:
                continue
            to = (path.parent / target).resolve() if target else path.resolve()
            if not to.exists():
                yield f"{path}: nothing at {link}"
            elif head and head not in heads.get(folder / to.relative_to(folder.resolve()), set()):
                yield f"{path}: no heading {link}"


def blocks(page):
    """The blocks of a page that are to be run, and what is wrong with those that are not."""
    run, wrong = [], []
    for info, text in FENCE.findall(page.read_text()):
        words = info.split()
        if words[:1] == ["sh"]:
            run.append(text)
        elif re.search(r"^ftlab ", text, re.M) and words[1:] != ["takes-long"]:
            wrong.append(f"{page}: a block of {info or 'nothing'} shows a command")
    return run, wrong


def run_examples(page, ftlab):
    """Runs the blocks of a page: what went wrong, and the seconds that it took."""
    scripts, wrong = blocks(page)
    began = time.monotonic()
    path = f"{ftlab.parent}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        for script in scripts:
            try:
                done = subprocess.run(
                    ["bash", "-euo", "pipefail", "-c", script], cwd=folder, env={**os.environ, "PATH": path},
                    capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
            except subprocess.TimeoutExpired:
                wrong.append(f"{page}: longer than {SECONDS} s:\n{script}")
                break
            if done.returncode != 0:
                wrong.append(f"{page}: exit code {done.returncode}:\n{script}\n{done.stdout[-500:]}{done.stderr}")
                break
    return page, len(scripts), wrong, time.monotonic() - began


def sources(folder, ftlab, more):
    wrong = list(broken_links(folder / "src"))
    pages = [page for page in sorted((folder / "src").rglob("*.md")) if "papers/" not in str(page)]
    with ThreadPoolExecutor(WORKERS) as workers:
        done = list(workers.map(lambda page: run_examples(page, ftlab), [*pages, *more]))
    examples = sum(count for _, count, _, _ in done)
    for page, count, found, seconds in sorted(done, key=lambda one: -one[3]):
        wrong += found
        if seconds > 5:
            print(f"{seconds:5.1f} s  {count} examples of {page.name}")
    assert examples >= 30, f"only {examples} examples found"
    print(f"{examples} examples run, {len(pages)} pages")
    return wrong


class Page(HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.ids.add(value)
            elif name in ("href", "src") and value and tag != "base":
                self.links.append(value)


def pages(folder):
    found = {path.resolve(): Page(path.read_text()) for path in folder.rglob("*.html")}
    assert len(found) > 40, f"only {len(found)} pages"
    wrong, links = [], 0
    for path, page in found.items():
        # The page of a server that finds nothing, whose links begin at its root.
        if path.name == "404.html":
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            links += 1
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not to.exists():
                wrong.append(f"{path}: nothing at {link}")
            elif parts.fragment and to in found and unquote(parts.fragment) not in found[to].ids:
                wrong.append(f"{path}: no anchor {link}")
    print(f"{links} links of {len(found)} pages lead somewhere")
    return wrong


def main():
    match sys.argv[1:]:
        case ["sources", folder, ftlab, *more]:
            wrong = sources(Path(folder), Path(ftlab).resolve(), [Path(page) for page in more])
        case ["pages", folder]:
            wrong = pages(Path(folder))
        case _:
            sys.exit(__doc__)
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()
