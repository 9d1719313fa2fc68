#!/usr/bin/env bash
# A release binary whose compiler knows what runs do: target/pgo/ftlab. Trains on small runs of
# every scheme; needs rustup, for llvm-profdata of the compiler's own version.
set -euo pipefail
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
profdata="$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata"
[ -x "$profdata" ] || rustup component add llvm-tools

profiles="$PWD/target/pgo/profiles"
rm -rf "$profiles"
# With --target, what is built to run while building is not trained.
build() { RUSTFLAGS=$1 cargo build --release --locked -p ftlab --target "$host" --target-dir "target/pgo/$2"; }

build "-Cprofile-generate=$profiles" training
trained="target/pgo/training/$host/release/ftlab"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
train() { "$trained" compare --out "$out/$1" --quiet "${@:2}" >"$out/said" 2>&1 || { cat "$out/said"; exit 1; }; }
writes=randwrite:bs=2k,span=100%,count=200000
train all --schemes all --device dftl2014 --capacity 128MiB --set device.over_provisioning=0.25 \
    --precondition fill --timing asap --workload "$writes"
train mixed --schemes all --device dftl2014 --capacity 256MiB --set device.over_provisioning=0.25 \
    --set timing.profile=parallel --precondition fill --workload oltp_demo
"$trained" trace inspect oltp_demo --json >"$out/inspected"

"$profdata" merge -o "$profiles/merged.profdata" "$profiles"
build "-Cprofile-use=$profiles/merged.profdata" shipped
cp "target/pgo/shipped/$host/release/ftlab" target/pgo/ftlab
echo "target/pgo/ftlab"
