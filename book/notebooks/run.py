#!/usr/bin/env python3
"""Runs the notebooks and looks at their pictures.

    book/notebooks/run.py OUT [--write] [NAME ...]

Each is executed in an empty folder and written to OUT as it then is, outputs included. It must end
without an error and with a picture, which must be that of `book/src/notebooks/NAME.svg` up to the
last digits of its numbers. With `--write` the picture becomes that file."""

import argparse
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

HERE = Path(__file__).parent
PICTURES = HERE.parent / "src" / "notebooks"
SECONDS = 300
# What says when and by what a picture was made.
METADATA = re.compile(r"<metadata>.*?</metadata>", re.S)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
NUMBER = re.compile(r"-?\d+\.\d+")
# Of the 72 to an inch that pictures are drawn in: a tenth of a line's width.
NEAR = 0.1


def executed(path):
    """The notebook with its outputs, run in an empty folder."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(HERE / "matplotlibrc", folder)
        NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": folder}},
                       extra_arguments=["--IPKernelApp.log_level=40"]).execute()
    return notebook


def last_picture(notebook):
    """The last picture that a cell of it shows, None where none does."""
    shown = [output["data"]["image/svg+xml"] for cell in notebook.cells if cell.cell_type == "code"
             for output in cell.outputs if "image/svg+xml" in output.get("data", {})]
    return METADATA.sub("", shown[-1]) if shown else None


def alike(one, other):
    """Whether two pictures have the same elements at the same places."""
    if NUMBER.sub("N", one) != NUMBER.sub("N", other):
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return all(abs(float(a) - float(b)) <= NEAR for a, b in pairs)


def complaint(path, out, write):
    """What is wrong with a notebook; None where nothing is."""
    try:
        notebook = executed(path)
    except CellExecutionError as error:
        return f"a cell fails:\n{COLOUR.sub('', str(error))}"
    nbformat.write(notebook, out / path.name)
    picture = last_picture(notebook)
    if picture is None:
        return "it shows no picture"
    (out / f"{path.stem}.svg").write_text(picture)
    kept = PICTURES / f"{path.stem}.svg"
    if write:
        kept.write_text(picture)
    elif not kept.exists() or not alike(kept.read_text(), picture):
        return f"its picture, {out / kept.name}, is not {kept}; if that is right, `make notebooks` writes it"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_intermixed_args()
    known = {path.stem: path for path in sorted(HERE.glob("*.ipynb"))}
    unknown = [name for name in arguments.names if name not in known]
    if unknown or not known:
        parser.error(f"no notebook {', '.join(unknown)}; there are {', '.join(known)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    PICTURES.mkdir(exist_ok=True)
    failed = 0
    for name in arguments.names or known:
        begin = time.monotonic()
        wrong = complaint(known[name], arguments.out, arguments.write)
        print(f"{name}: {wrong or ('written' if arguments.write else 'as it was')} ({time.monotonic() - begin:.1f} s)", flush=True)
        failed += wrong is not None
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
