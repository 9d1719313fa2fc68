#!/bin/sh
# Makes a Python venv with what a file of requirements names; anew when that file changes.
#   tests/venv.sh FOLDER REQUIREMENTS.txt
set -eu

venv=$1
wanted=$2
if cmp -s "$wanted" "$venv/requirements.txt"; then exit 0; fi
rm -rf "$venv"
mkdir -p "$(dirname "$venv")"
python3 -m venv "$venv" || { "$(dirname "$0")/install.sh" python3-venv; python3 -m venv "$venv"; }
"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$wanted"
cp "$wanted" "$venv/requirements.txt"
