#!/bin/sh
# Stands in for the compiler of our crates under `make test`: lints what it compiles. Programs of tests that take longer to
# be optimised than to run are not: unit tests, tests of devices and of traces, and the worked examples. The crates that
# these run on are optimised as ever, and so are the unit tests of flash and of traces, which compare with slow models.
case " $* " in
    *" --crate-name ftlab_flash "* | *" --crate-name ftlab_trace "*) ;;
    *" --crate-name ftlab_"*" --test "* | *" --crate-name device "*" --test "* | *" --crate-name trace "*" --test "* | \
        *" --crate-name schemes "*" --test "*)
        set -- "$@" -C opt-level=0
        ;;
esac
exec clippy-driver "$@"
