#!/bin/bash
# check_places.sh - each op of graph.h has its macro in places.h, as TAP.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
ops=$(sed -nE 's/^tg_tensor \*(tg_[a-z0-9_]+)\(tg_trace \*trace.*/\1/p' runtime/graph/graph.h |
    grep -vx 'tg_stop_gradient' | sort)
macros=$(sed -nE 's/^#define (tg_[a-z0-9_]+)\(.*/\1/p' runtime/graph/places.h |
    grep -vx 'tg_backward\|tg_scan\|tg_read' | sort)
missing=$(comm -3 <(echo "$ops") <(echo "$macros"))
if [ -n "$ops" ] && [ -z "$missing" ]; then
    echo "ok 1 - each of $(wc -l <<<"$ops") ops notes its place"
else
    echo "not ok 1 - each op notes its place"
    printf '%s\n' "$missing" | sed 's/^/#   /'
fi
echo "1..1"
