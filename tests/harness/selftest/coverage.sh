# coverage.sh - what the scripts that run bench selftest coverage share. Sourced after tests/support/cli.sh.
# shellcheck shell=bash

# demands CODE ARGUMENT...: runs one table of a small model on the fake plugin, with the arguments,
# and Python CODE with `of`, its rows by figure.
demands() {
    local code=$1
    shift
    run selftest coverage --runtime "$fake" --model resnet18 --variant small --phase infer \
        --quick --tables 1 --seed 3 --format json "$@"
    fault_of 0
    holds "of = {r['figure']: r for r in records['rows'] if r['case'].startswith('resnet18')}
ratios = [of['A/A'], of['lazy against capture']]
for r in ratios:
    assert r['demanded_least'] == 0.9 and r['demanded_most'] is None, r
    assert r['verdict'] == 'not refuted' and r['half_width_verdict'] == 'not judged', r
assert of['wall, lazy']['demanded_least'] is None and not of['wall, lazy']['judged'], of
$code"
}
