"""Compares the verdicts of a reproduction, read to the letter and at best, with the known ones.

    tests/verdicts.py CLAIMS.json KNOWN.txt            fails and shows what differs
    tests/verdicts.py CLAIMS.json KNOWN.txt --update   makes the found ones the known ones
"""

import difflib
import json
import pathlib
import sys


def main():
    claims, known = map(pathlib.Path, sys.argv[1:3])
    found = [
        f"{claim['verdicts']['literal']:<10} {claim['verdicts']['best']:<10} "
        f"{claim['kind']:<9} {claim['name']}\n"
        for claim in json.loads(claims.read_text())
    ]
    if sys.argv[3:] == ["--update"]:
        known.write_text("".join(found))
        return 0
    before = known.read_text().splitlines(keepends=True)
    difference = list(difflib.unified_diff(before, found, str(known), str(claims), n=0))
    sys.stdout.writelines(difference)
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
