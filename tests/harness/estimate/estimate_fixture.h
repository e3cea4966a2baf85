/* estimate_fixture.h - lines of estimates as the command makes them, and the records of such lines.
 */
#ifndef BENCH_TESTS_ESTIMATE_FIXTURE_H
#define BENCH_TESTS_ESTIMATE_FIXTURE_H

#include "tests/support/test_runtime.h"

#include "harness/estimate/estimate_priv.h"
#include "results/records/estimates.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A result as a worker sends it, of CYCLES. */
static inline json_t *result_of(double cycles)
{
    return json_pack("{ss ss sf sf sf s[] s[] s[] s[] s[] s[] s[] s[] s{sI sn}}", "class", "ok",
                     "message", "", "cycles", cycles, "copy_cycles", cycles / 10, "layout_cycles",
                     0.0, "copies", "collectives", "loops", "branches", "scopes", "costly",
                     "silent", "layouts", "memory", "temp", (json_int_t)5000, "peak");
}

/* A line of graph LABEL, NUMBER of step STEP, on TOPOLOGY. */
static inline json_t *line_of(int step, const char *label, const char *topology, double cycles)
{
    char module[80];
    res_experiment what;
    res_experiment_usual(&what);
    snprintf(what.model, sizeof what.model, "resnet50");
    snprintf(what.phase, sizeof what.phase, "train");
    what.batch = 32;
    snprintf(module, sizeof module, "bench_%s", label);
    json_t *line = json_pack("{si so ss ss ss ss ss sf so}", "step", step, "experiment",
                             res_experiment_to_json(&what), "topology", topology, "layouts",
                             "default", "graph", label, "module", module, "class", "ok", "flops",
                             1e9, "estimate", result_of(cycles));
    assert_non_null(line);
    estimate_time_line(line);
    return line;
}

/* A pattern for mkstemp and mkdtemp. */
static inline void temporary(char path[256])
{
    const char *parent = getenv("TMPDIR");
    snprintf(path, 256, "%s/test_estimate.XXXXXX", parent ? parent : P_tmpdir);
}

/* ALL has the records that estimate_keep writes of LINES, which it releases, on a v4 of two cores.
 */
static inline void keep(json_t *lines, size_t wanted, res_collection *all)
{
    static job_experiment experiment; /* large */
    char folder[256], command[300];
    bn_status st = {.code = BN_OK};
    temporary(folder);
    assert_non_null(mkdtemp(folder));
    const estimate_options options = {.store = folder};
    const estimate_task task = {.experiment = &experiment, .topology = "v4:1x1x1/megacore"};
    estimate_run run = {.options = &options, .lines = lines};
    snprintf(experiment.what.runtime, sizeof experiment.what.runtime, "/somewhere/libtpu.so");
    snprintf(run.path, sizeof run.path, "/somewhere/libtpu.so");
    memset(run.sha256, 'a', sizeof run.sha256 - 1);
    res_store_begin();
    assert_ok(estimate_keep(&run, &task, 0, &st), &st);
    assert_int_equal(run.kept, wanted);
    assert_ok(res_store_load(folder, all, &st), &st);
    res_store_vet_end();
    assert_int_equal(all->count, wanted);
    assert_int_equal(all->damaged_count, 0);
    json_decref(lines);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

#endif
