"""What is raised, beside `KeyboardInterrupt` for a run that Ctrl-C ended."""


class UsageError(ValueError):
    """What was asked for, or a file that was read, is not legal: nothing was run.

    The text is that of the command (exit code 2): it names option, file, line or row, the value,
    and what is legal."""

    __module__ = "ftlab"


class RunError(RuntimeError):
    """The run itself failed: audit, device full or worn out, a file that cannot be written.

    The text is that of the command (exit code 1)."""

    __module__ = "ftlab"
