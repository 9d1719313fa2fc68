"""The program `ftlab`: `python -m ftlab run --scheme dftl ...`."""

import signal
import sys

from . import _ftlab


def main():
    """Runs the command of the words in `sys.argv` and ends Python with its exit code."""
    # Signals are the program's own affair: Python would only raise after it is done.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_ftlab.main(["ftlab", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
