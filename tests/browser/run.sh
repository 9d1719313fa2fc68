#!/bin/sh
# Opens a report in a headless browser and checks it against the results it was made from; so with
# the pages of `ftlab trace inspect --html` and `ftlab calibrate --html` and their JSON, the pages of `ftlab reproduce` and claims.json, and the page of `ftlab explore` and the folder
# of its runs, and the page of a sweep and its folder.
#   tests/browser/run.sh REPORT.html RESULTS.json|RESULTS
# With --drive the page of a drive that `ftlab serve --http` serves, while fio writes to it.
#   tests/browser/run.sh --drive FTLAB
# Screenshots go to target/browser/. Installs what is missing: Debian's chromium, a Python venv.
set -eu

if [ $# -ne 2 ]; then
    echo "usage: $0 REPORT.html RESULTS.json|RESULTS, or $0 --drive FTLAB" >&2
    exit 2
fi
if [ "$1" = --drive ]; then
    set -- "$2" "$2" drive
fi
for file in "$1" "$2"; do
    if [ ! -e "$file" ]; then
        echo "$0: no such file or folder: $file" >&2
        exit 2
    fi
done
report=$(realpath "$1")
results=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
root=$(dirname "$(dirname "$here")")
venv=$root/target/browser-venv
shots=$root/target/browser/$(basename "$(dirname "$report")")-$(basename "$report" .html)

# Pages are tested side by side, and installed for once.
mkdir -p "$root/target"
(
    flock 9
    if [ ! -x /usr/bin/chromium ] || [ ! -x /usr/bin/chromedriver ]; then
        "$here/../install.sh" chromium chromium-driver fonts-liberation
    fi
    "$here/../venv.sh" "$venv" "$here/requirements.txt"
) 9>"$root/target/browser-venv.lock"

if [ "${3-}" = drive ]; then
    shots=$root/target/browser/drive
    "$here/../install.sh" fio=fio nbdcopy=libnbd-bin
    set -- --drive "$results"
else
    set -- --report "$report" --results "$results"
fi
rm -rf "$shots"
mkdir -p "$shots"
exec "$venv/bin/python" -B -m pytest -q -p no:cacheprovider --rootdir "$here" "$here" \
    "$@" --shots "$shots"
