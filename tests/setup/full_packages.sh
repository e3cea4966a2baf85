#!/bin/bash
# full_packages.sh - what travels to other machines, as TAP: make install into an empty folder, the Debian
# package unpacked, and the tarball of the sources, built. Each program runs from where it is then, with
# nothing of these sources next to it. Takes some minutes for compiling, and 1 GB in TMPDIR.
#
# needs: dpkg-dev, 1 GB in TMPDIR
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. tests/support/cli.sh
unset BENCH_RUNTIMES
export PJRT_SIM=values=none,device_us=200

# Options that came with `make` in the environment are those of these sources.
makes() { make V=0 "$@" >"$folder/made" 2>&1 || tail -n 5 "$folder/made"; }

# works PREFIX: faults of the program below it, run in an empty folder.
works() {
    local prefix=$1 here=$folder/here version
    rm -rf "$here" && mkdir "$here" && cd "$here" || return
    version=$("$prefix/bin/bench" --version)
    [ "$version" = "$("$bench" --version)" ] || echo "its version is $version"
    "$prefix/bin/bench" list runtimes --format csv >list
    grep -qF "$prefix/lib/bench/libpjrt_sim.so" list || echo "it has not its own simulated runtime"
    "$prefix/bin/bench" run resnet18 --variant small --phase infer --runtime sim --processes 1 --steps 3 \
        --warmup 8 --min-time 0s --device-time none --format csv >csv 2>err || tail -n 2 err
    grep -q resnet18 csv || echo "no table"
    "$prefix/bin/bench" suite smoke --dry-run 2>err | grep -q '0 done' || echo "no suite smoke"
    # A runtime without values is not what PyTorch computed; but the values are found.
    "$prefix/bin/bench" verify --model resnet18 --variant small --mode lazy --phase infer --runtime sim >out 2>err
    ! grep -q 'golden values are neither' err || echo "no golden values"
    "$prefix/bin/bench" record --output recording -- true 2>err || tail -n 1 err
    cd "$OLDPWD" || return
}

report "make install" "$(
    makes BUILD="$built" install DESTDIR="$folder/root" PREFIX=/opt/bench
    works "$folder/root/opt/bench"
    man -l "$folder/root/opt/bench/share/man/man1/bench.1" >/dev/null 2>"$folder/err" || ! command -v man >/dev/null ||
        cat "$folder/err"
)"
report "make uninstall leaves no file" "$(
    makes BUILD="$built" uninstall DESTDIR="$folder/root" PREFIX=/opt/bench
    find "$folder/root" -type f
)"

if command -v dpkg-shlibdeps >/dev/null; then
    report "make deb" "$(
        makes BUILD="$built" deb
        package=$(ls -t "$built"/dist/bench_*.deb | head -n 1)
        (cd "$built/dist" && sha256sum --quiet -c "$(basename "$package").sha256" 2>&1)
        dpkg-deb -f "$package" Depends | grep -q libhdf5 || echo "it depends on no library"
        dpkg -x "$package" "$folder/unpacked" 2>&1
        works "$folder/unpacked/usr"
    )"
else
    skip "make deb" "no dpkg-dev"
fi

if [ -d .git ] || git rev-parse --git-dir >/dev/null 2>&1; then
    report "make dist, which is built like a clone" "$(
        makes BUILD="$built" dist
        archive=$(ls -t "$built"/dist/bench-*.tar.gz | head -n 1)
        (cd "$built/dist" && sha256sum --quiet -c "$(basename "$archive").sha256" 2>&1)
        mkdir "$folder/sources" && tar -xzf "$archive" -C "$folder/sources" --strip-components 1 2>&1
        makes -C "$folder/sources" BUILD=build PJRT_INCLUDE="$PWD/third_party/include" -j"$(nproc)" QUIET='ASSET CC PROTO' all
        # As make run: a line an archive, and none a file.
        grep -E '^ +(ASSET|CC|PROTO) ' "$folder/made" | head -n 1
        grep -qE '^ +AR ' "$folder/made" || echo "no line of an archive"
        version=$("$folder/sources/build/bench" --version 2>&1)
        case $version in
        bench\ *-dirty) echo "its version is $version" ;;
        bench\ [0-9]*) ;;
        *) echo "no version: $version" ;;
        esac
    )"
else
    skip "make dist" "no repository"
fi

echo "1..$count"
