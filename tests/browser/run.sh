#!/bin/sh
# Opens a report in a headless browser and checks it against the results it was made from; so with
# the page of `ftlab trace inspect --html` and its JSON.
#   tests/browser/run.sh REPORT.html RESULTS.json
# Screenshots go to target/browser/. Installs what is missing: Debian's chromium, a Python venv.
set -eu

if [ $# -ne 2 ]; then
    echo "usage: $0 REPORT.html RESULTS.json" >&2
    exit 2
fi
for file in "$1" "$2"; do
    if [ ! -f "$file" ]; then
        echo "$0: no such file: $file" >&2
        exit 2
    fi
done
report=$(realpath "$1")
results=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
root=$(dirname "$(dirname "$here")")
venv=$root/target/browser-venv
shots=$root/target/browser/$(basename "$report" .html)

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

install_packages() {
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

if [ ! -x /usr/bin/chromium ] || [ ! -x /usr/bin/chromedriver ]; then
    echo "installing Debian's chromium"
    install_packages chromium chromium-driver fonts-liberation
fi
# The venv is made anew when the pinned versions change.
if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
    rm -rf "$venv"
    mkdir -p "$(dirname "$venv")"
    python3 -m venv "$venv" || { install_packages python3-venv; python3 -m venv "$venv"; }
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$venv/requirements.txt"
fi

rm -rf "$shots"
mkdir -p "$shots"
exec "$venv/bin/python" -B -m pytest -q -p no:cacheprovider --rootdir "$here" "$here" \
    --report "$report" --results "$results" --shots "$shots"
