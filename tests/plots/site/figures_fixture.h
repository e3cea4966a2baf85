/*
 * figures_fixture.h - a store of one build and one night whose figures try what tables refuse, cut
 * off, or do not tell.
 */
#ifndef BENCH_TESTS_FIGURES_FIXTURE_H
#define BENCH_TESTS_FIGURES_FIXTURE_H

#include "tests/support/results_fixture.h"
#include "tests/support/test_runtime.h"

/* A cell: what its processes say, in runs of so many. Its name says what is to become of it. */
typedef struct figures_cell {
    const char *model;
    int processes, a_run;
    double wall_ms, device_ms;   /* device: from 0.95 to 1.05 of it */
    double overhead_ms, vary_ms; /* overhead: from VARY less to VARY more */
    int unknown;                 /* processes without a device time */
    int from_disk;               /* processes whose programs came from there */
    int busier;                  /* the first so many were measured under other conditions */
} figures_cell;

static const figures_cell figures_cells[] = {
    {"plain", 3, 3, 20, 9, 1, 0.01, 0, 1, 0},
    {"alone", 1, 1, 20, 9, 1, 0.01, 0, 0, 0},
    {"runs", 9, 3, 20, 9, 1, 0.3, 0, 0, 0},
    {"cut", 3, 3, 20, 21.5, 0, 0.5, 0, 0, 0},
    {"cut_overhead", 3, 3, 20, 21.5, 1, 0.01, 0, 0, 0},
    {"far", 3, 3, 20, 30, 0, 0.5, 0, 0, 0},
    {"contrary", 3, 3, 20, 12, -1, 0.01, 0, 0, 0},
    {"below", 3, 3, 20, 9, 0.1, 0.4, 0, 0, 0},
    {"negative_alone", 1, 1, 20, 9, -0.2, 0, 0, 0, 0},
    {"few", 4, 4, 20, 9, 1, 0.01, 3, 0, 0},
    {"most", 4, 4, 20, 9, 1, 0.01, 1, 0, 0},
    {"conditions", 5, 5, 20, 9, 1, 0.01, 0, 0, 2},
    {"failed", 4, 2, 20, 9, 1, 0.01, 0, 4, 0},
};
#define FIGURES_CELLS (sizeof figures_cells / sizeof *figures_cells)

static inline void figures_provenance(res_record *record, const figures_cell *cell, int process)
{
    char group[64];
    json_decref(record->provenance);
    record->provenance =
        json_pack("{s{ss ss ss} s{ss ss}}", "runtime", "sha256", FIXTURE_DIGEST, "label", "build",
                  "platform_version", "cpu", "host", "hostname", "bench1", "cpu",
                  process < cell->busier ? "another processor" : "a processor");
    assert_non_null(record->provenance);
    snprintf(group, sizeof group, "%s-%d", cell->model, process / cell->a_run);
    if (cell->processes > 1)
        fixture_group(record, group, process % cell->a_run + 1);
}

static inline void figures_write(const char *store, size_t which, int process)
{
    const figures_cell *cell = &figures_cells[which];
    /* -1, 0, 1, and over again; runs differ a little, too. */
    const double place = process % 3 - 1, run = 1 + 0.01 * (process / 3);
    const fixture_case c = {"cpu",
                            cell->model,
                            "train",
                            "lazy",
                            1,
                            4,
                            (uint64_t)(2e6 * (1 + 0.01 * place)),
                            (uint64_t)(1e6 * cell->wall_ms * run * (1 + 0.02 * place)),
                            1e6 * cell->device_ms * run * (1 + 0.05 * place),
                            10};
    res_record *record = fixture_record(&c, 12);
    res_execution *x = &record->executions[0];
    bn_status st = {0};
    snprintf(record->id, sizeof record->id, "20260101T%02d%02zu%02d.000000000Z-bench1-1-%d",
             2 + process / 3, which, process, process);
    figures_provenance(record, cell, process);
    x->overhead_ns = 1e6 * (cell->overhead_ms + cell->vary_ms * place);
    x->from_disk = process < cell->from_disk;
    if (process < cell->unknown) {
        x->device_source = BN_DEVICE_TIME_UNAVAILABLE;
        x->device_ns = x->device_low_ns = x->device_high_ns = x->overhead_ns = (double)NAN;
    }
    if (strcmp(cell->model, "failed") == 0 && process == 0) {
        record->status = BN_TIMEOUT;
        assert_ok(res_record_reserve_steps(record, 0, 0, &st), &st);
    }
    assert_ok(res_store_write(store, record, NULL, 0, &st), &st);
    res_record_free(record);
}

static inline void figures_store(const char *store)
{
    for (size_t i = 0; i < FIGURES_CELLS; i++)
        for (int p = 0; p < figures_cells[i].processes; p++)
            figures_write(store, i, p);
}

#endif
