#!/bin/sh
# Sweeps on a Dask cluster whose workers and client are killed, and on a Slurm of one node that is
# started here: `make test-cluster`. Needs a wheel of the package; installs Debian's slurm and munge,
# and what Python needs into target/cluster-venv.
#   tests/cluster/run.sh WHEEL [PYTEST OPTIONS]
set -eu

if [ $# -lt 1 ] || [ ! -f "$1" ]; then
    echo "usage: $0 WHEEL [PYTEST OPTIONS]" >&2
    exit 2
fi
wheel=$(realpath "$1")
shift
here=$(dirname "$(realpath "$0")")
root=$(dirname "$(dirname "$here")")
venv=$root/target/cluster-venv

for program in slurmctld slurmd sbatch munged; do
    if ! command -v "$program" >/dev/null && [ ! -x "/usr/sbin/$program" ]; then
        "$here/../install.sh" slurm-wlm slurm-wlm-basic-plugins munge
        break
    fi
done
if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
    rm -rf "$venv"
    python3 -m venv "$venv" || { "$here/../install.sh" python3-venv; python3 -m venv "$venv"; }
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$venv/requirements.txt"
fi
"$venv/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheel"
exec "$venv/bin/python" -B -m pytest -q -p no:cacheprovider --rootdir "$here" "$here" "$@"
