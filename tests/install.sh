#!/bin/sh
# Installs Debian packages that tests need, as root or with sudo.
#   tests/install.sh PACKAGE...
set -eu

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

echo "installing Debian's $*"
as_root apt-get update -qq
as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null
