#!/bin/sh
# Installs Debian packages that tests need, as root or with sudo.
#   tests/install.sh PACKAGE|PROGRAM=PACKAGE...    those of programs only where the program is not there
set -eu
PATH=$PATH:/usr/sbin

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# One at a time, from the look on: what another step installs is there as a whole, or not yet.
exec 9<"$0"
flock 9
missing=
for wanted; do
    case $wanted in
        *=*) command -v "${wanted%%=*}" >/dev/null && continue ;;
    esac
    missing="$missing ${wanted#*=}"
done
[ -n "$missing" ] || exit 0
echo "installing Debian's$missing"
as_root apt-get update -qq
# shellcheck disable=SC2086 # names of packages, apart
as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends $missing >/dev/null
