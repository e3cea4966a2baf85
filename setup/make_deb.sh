#!/bin/bash
# make_deb.sh STAGE VERSION FILE.deb - a Debian package of what lies below STAGE/root. Called by make deb.
set -eu -o pipefail
stage=$1 version=$2 file=$3
root=$stage/root

# Which packages the program needs is read from its libraries; the tool wants a control file.
depends=$(
    cd "$stage"
    mkdir -p debian
    printf 'Source: bench\n\nPackage: bench\nArchitecture: any\n' >debian/control
    dpkg-shlibdeps -O root/usr/bin/bench root/usr/lib/bench/*.so 2>/dev/null |
        sed -n 's/^shlibs:Depends=//p'
)
[ -n "$depends" ] || { echo "make_deb: dpkg-shlibdeps found no packages that the program needs" >&2; exit 1; }
mkdir -p "$root/DEBIAN" "$(dirname "$file")"
cat >"$root/DEBIAN/control" <<CONTROL
Package: bench
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: the developers of bench <bench@localhost>
Depends: $depends
Recommends: gnuplot-nox
Section: utils
Priority: optional
Installed-Size: $(du -sk "$root" | cut -f 1)
Description: where the time of a machine-learning step goes on a PJRT runtime
 bench runs reference models step by step in eager, lazy and captured mode on
 any runtime with the PJRT C API, accounts for the time of every step, and
 compares builds of runtimes, from night to night or side by side.
CONTROL
dpkg-deb --root-owner-group -Zzstd --build "$root" "$file" >/dev/null
cd "$(dirname "$file")"
sha256sum "$(basename "$file")" >"$(basename "$file").sha256"
echo "made $file"
