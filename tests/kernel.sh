#!/bin/sh
# Fetches Debian's kernel for virtual machines and unpacks it, without installing it.
#   tests/kernel.sh FOLDER
set -eu

[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
folder=$1
[ -e "$folder/complete" ] && exit 0
here=$(dirname "$(realpath "$0")")
"$here/install.sh" qemu-system-x86 busybox-static cpio e2fsprogs
rm -rf "$folder"
mkdir -p "$folder"
package=$(apt-cache depends linux-image-cloud-amd64 |
    sed -n 's/.*Depends: \(linux-image-[0-9][^ ]*\)$/\1/p' | head -n 1)
[ -n "$package" ] || { echo "$0: Debian's linux-image-cloud-amd64 is not known here" >&2; exit 1; }
(cd "$folder" && apt-get download -qq "$package" && dpkg-deb -x ./*.deb . && rm -r ./*.deb lib usr)
touch "$folder/complete"
