"""Tables of Markdown."""

import re


def cell(value):
    """A value as text of a cell: bars would end it, brackets of types would vanish."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(cell(one) for one in value)
    return str(value).replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def code(value):
    """The same as code; nothing stays nothing."""
    if isinstance(value, bool):
        value = str(value).lower()
    text = str(value).replace("|", "\\|")
    return f"`{text}`" if text else ""


def source(value, up=""):
    """Where something comes from, chapters of the papers as links; `up` leads to the book's root."""
    link = lambda found: f"[{found[1]}{found[2]}]({up}papers/{found[1]}.md{found[2]})"
    return re.sub(r"docs/papers/(\w+)\.md((?:#[\w-]+)?)", link, cell(value))


def table(heads, rows):
    """A table; its cells are Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
