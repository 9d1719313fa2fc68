#!/usr/bin/env bash
# Packs every crate, unpacks all into one workspace, and checks them against one another: nothing
# that a crate needs may lie outside its package.
set -euo pipefail
cd "$(dirname "$0")/.."

rm -rf target/packages/package
cargo package --locked --workspace --exclude ftlab-floors --exclude ftlab-fuzzing --allow-dirty --no-verify --target-dir target/packages
unpacked=target/packages/unpacked
rm -rf "$unpacked"
mkdir -p "$unpacked"
for package in target/packages/package/ftlab*.crate; do
    # With the time of now: what is packed has one time for all, by which cargo sees no change.
    tar xzmf "$package" -C "$unpacked"
done
cd "$unpacked"
cp ../../../Cargo.lock .
{
    echo '[workspace]'
    echo 'resolver = "3"'
    echo 'members = ["ftlab-*"]'
    echo '[patch.crates-io]'
    for folder in ftlab-*; do
        name=$(sed -n 's/^name = "\(.*\)"/\1/p' "$folder/Cargo.toml" | head -1)
        [ "$name" = ftlab-py ] || echo "$name = { path = \"$folder\" }"
    done
    # As where clippy looks, so that what others wrote is checked once for both.
    sed -n '/^\[profile\.dev/,/^$/p' ../../../Cargo.toml
} >Cargo.toml
cargo check --workspace --target-dir ../../../target
