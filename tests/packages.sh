#!/usr/bin/env bash
# Packs every crate. Whatever the compiler read of ours to build the program and the Python package (cargo
# keeps the list beside each of them) must be in the package of its crate, as it was read.
#   tests/packages.sh            behind `cargo build --release -p ftlab -p ftlab-py`
#   tests/packages.sh --alone    compiles what was packed as well, all in one workspace with nothing beside it
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

# By folder and a dot: what lies outside them all has an empty one.
declare -A folder_of
for manifest in crates/*/Cargo.toml; do
    name=$(sed -n 's/^name = "\(.*\)"/\1/p' "$manifest" | head -1)
    folder_of[$(basename "$(dirname "$manifest")").]=$(echo "$unpacked/$name"-[0-9]*)
done

# The program's version looks for git's commit, and does without.
lists=(target/release/ftlab.d target/release/lib_ftlab.d)
files=$(sed 's/^[^:]*: //; s/\\ /\x01/g' "${lists[@]}" | tr ' \001' '\n ' | grep -v '/logs/HEAD$' | sort -u)
missing=0
while read -r file; do
    inner=${file#"$PWD/crates/"}
    packed=${folder_of[${inner%%/*}.]-none}/${inner#*/}
    if ! cmp -s "$file" "$packed"; then
        echo "$file is read to build its crate, but not packed as $packed" >&2
        missing=$((missing + 1))
    fi
done <<<"$files"
if [ "$missing" -ne 0 ]; then
    exit 1
fi
echo "packed as they were compiled: $(wc -l <<<"$files") files"

[ "${1-}" = --alone ] || exit 0
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
