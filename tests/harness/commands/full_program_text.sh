#!/bin/bash
# full_program_text.sh - the limits of the process that makes text of a program, as TAP: two minutes of
# time, whether it sleeps or works. A front end that stands for JAX is enough.
#
# needs: nothing
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
fake_front_ends

for way in sleep work; do
    printf 'ML\357R%s' "$way" >"$folder/$way.bc"
    begin=$SECONDS
    run graph "$folder/$way.bc"
    took=$((SECONDS - begin))
    report "byte code over which JAX would $way for ever" "$(
        fault_of 3
        grep -q "$folder/$way.bc: .*\(JAX took more than 120 seconds\|killed by signal \(9\|24\)\)" \
            "$folder/err" || echo "no word of the limit"
        [ "$took" -ge 100 ] || echo "ended after $took s already"
        [ "$took" -le 240 ] || echo "ended after $took s only"
        pgrep -f "$PWD/tests/harness/frontends/fake/jax/program_text.py" && echo "it still runs"
    )"
done
echo "1..$count"
