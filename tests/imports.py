#!/usr/bin/env python3
"""Refuses circles of imports between the files of a crate.

    python3 tests/imports.py crates/lab/src crates/cli/src

A file imports another where it names it, from `crate` or from `super`, in code that is compiled for
users; `mod` lines say where files are and import nothing. Tests may look where they like. Prints
the floors of each crate, the lowest first; exit code 1 where there is a circle.
"""

import re
import sys
from pathlib import Path

PATH = re.compile(r"\b(crate|super)((?:::\w+)*)(::\{)?(?<=[:\w{])(?<!\bcrate)(?<!\bsuper)")


def without_tests_and_comments(text):
    """The code up to its unit tests: they stand last in every file."""
    text = text.split("#[cfg(test)]\nmod ", 1)[0]
    return re.sub(r'//[^\n]*|"(?:\\.|[^"\\])*"', "", text)


def braces(text, start):
    """The names of a list in braces that begins at `start`, those within each other joined."""
    depth, word, prefix, found = 0, "", [], []
    for letter in text[start:]:
        if letter == "{":
            prefix.append(word.strip())
            depth, word = depth + 1, ""
        elif letter in ",}":
            if word.strip():
                found.append("".join(prefix[1:]) + word.strip().split(" as ")[0])
            word = ""
            if letter == "}":
                prefix.pop()
                depth -= 1
                if depth == 0:
                    return found
        else:
            word += letter
    return found


def named(text):
    """Every path from `crate` or `super` in a file, as a list of names."""
    for match in PATH.finditer(text):
        base = match.group(1), [part for part in match.group(2).split("::") if part]
        if match.group(3):
            for one in braces(text, match.end() - 1):
                yield base[0], base[1] + one.split("::")
        else:
            yield base


def module_of(file, root):
    parts = list(file.relative_to(root).with_suffix("").parts)
    if parts[-1] in ("mod", "lib", "main"):
        parts.pop()
    return tuple(parts)


def imports(root):
    """For every file of a crate those that it imports."""
    files = {module_of(file, root): file for file in sorted(root.rglob("*.rs"))}
    found = {}
    for module, file in files.items():
        if file.stem == "tests":
            continue
        others = set()
        for base, names in named(without_tests_and_comments(file.read_text())):
            path = list(names)
            if base == "super":
                above = list(module[:-1])
                while path[:1] == ["super"]:
                    above, path = above[:-1], path[1:]
                path = above + path
            known = [tuple(path[:end]) for end in range(len(path), 0, -1)]
            other = next((one for one in known if one in files), ())
            if other != module:
                others.add(other)
        found[module] = others
    return found


def floors(found):
    """Floors from the lowest, and what is left because it is in a circle or stands on one."""
    left, stack = dict(found), []
    while True:
        floor = sorted(one for one in left if not left[one] & set(left))
        if not floor:
            return stack, left
        stack.append(floor)
        for one in floor:
            del left[one]


def main():
    wrong = False
    for argument in sys.argv[1:]:
        stack, left = floors(imports(Path(argument)))
        print(f"{argument}: {len(stack)} floors")
        for number, floor in enumerate(stack):
            print(f"  {number}: {', '.join('::'.join(one) or 'crate' for one in floor)}")
        for one, others in left.items():
            wrong = True
            circle = ", ".join("::".join(other) or "crate" for other in others if other in left)
            print(f"  circle: {'::'.join(one) or 'crate'} imports {circle}")
    sys.exit(1 if wrong else 0)


main()
