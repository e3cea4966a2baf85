#!/bin/bash
# close.sh - takes from others the right to write what bench runs next to its own file
# (docs/threat-model.md). git makes files as the umask has them.
#
#   setup/close.sh [FOLDER...]     suites and scripts of front ends, and these
#
# A folder that is not there, or is not the caller's own, is passed over.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

for folder in suites contrib/frontends contrib/marks "$@"; do
    [ ! -O "$folder" ] || find "$folder" ! -type l -perm /022 -exec chmod go-w {} +
done
