"""Mutants that change nothing that anybody could see, each with its reason: equivalent.txt."""

from pathlib import Path

LIST = Path(__file__).with_name("equivalent.txt")


def listed(path=LIST):
    """Reasons by title, line by line: the title as run.py prints it, a tab, the reason."""
    reasons = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        title, _, reason = line.partition("\t")
        if not title.strip() or not reason.strip():
            raise SystemExit(f"{path}:{number}: {line!r}, where a title, a tab and a reason stand")
        if title in reasons:
            raise SystemExit(f"{path}:{number}: {title} is listed twice")
        reasons[title] = reason
    return reasons


def among(titles, files, root, path=LIST):
    """Those of `titles`, all mutants of `files` (paths from `root`), that are listed. What is listed
    of these files, or of one that is gone, and is no mutant ends the run."""
    known = listed(path)
    files_of = {title: "crates/" + title.split(":")[0] for title in known}
    gone = [title for title, file in files_of.items()
            if title not in titles and (file in files or not (root / file).exists())]
    if gone:
        raise SystemExit("\n".join([f"{path} lists what is no mutant (any more):", *gone]))
    return set(known) & set(titles)
