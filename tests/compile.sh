#!/bin/sh
# Stands in for the compiler of our crates under `make test`: lints what it compiles. Programs of tests that take longer to
# be optimised than to run are not: unit tests of the parts, the schemes and the device, and the worked examples. The
# crates that these examples run on are optimised as ever.
case " $* " in
    *" --crate-name ftlab_ftl "*" --test "* | *" --crate-name ftlab_schemes "*" --test "* | \
        *" --crate-name ftlab_ssd "*" --test "* | *" --crate-name schemes "*" --test "*)
        set -- "$@" -C opt-level=0
        ;;
esac
exec clippy-driver "$@"
