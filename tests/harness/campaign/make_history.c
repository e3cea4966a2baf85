/*
 * make_history.c - a store of many nights whose changes are known, for tests of history.
 *
 *   make_history STORE CELLS FIRST END SEED
 *
 * Writes nights FIRST to END - 1 of CELLS cells through res_store_write, one record a
 * cell and night, and on standard output what is true of each cell, tab-separated:
 * model, phase, mode, the night of its change (-1: none), the ratio, whether a new build
 * came that night. What is true depends on CELLS and SEED alone, so that parts of a
 * store can be made by several processes.
 *
 * A night's median is log-normal about its level (0.8 %) and independent of the others;
 * 1 % of nights lie 5 to 50 % above, 1.5 % fail. A build lasts three nights. Two of
 * three cells have one change between nights 150 and 850 of 1,000 (or in those parts of
 * fewer), of 2 to 10 %, up or down; four of five come with a new build.
 */
#include "tests/support/results_fixture.h"

#include <time.h>

#define NIGHTS_A_BUILD 3
#define STEPS          12
#define FULL_NIGHTS    1000

typedef struct truth {
    fixture_case what;
    char model[16];
    int change; /* night; -1: none */
    double ratio;
} truth;

/* A number in [0, 1) that depends on its arguments alone. */
static double draw(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t state = seed * 0x9E3779B97F4A7C15u + a * 0xBF58476D1CE4E5B9u + b + 1;
    for (int i = 0; i < 8; i++)
        fixture_uniform(&state);
    return fixture_uniform(&state);
}

static truth truth_of(uint64_t seed, int cell, int nights)
{
    static const char *const modes[] = {"eager", "lazy", "capture"};
    truth t = {.change = -1, .ratio = 1};
    const uint64_t key = 1000000007u + (uint64_t)cell;
    snprintf(t.model, sizeof t.model, "model%02d", cell / 6);
    t.what = (fixture_case){.runtime = "cpu",
                            .phase = cell / 3 % 2 ? "infer" : "train",
                            .mode = modes[cell % 3],
                            .graphs = 1,
                            .batch = 4,
                            .nodes = 1309};
    t.what.wall_ns = (uint64_t)(5e6 + 1e8 * draw(seed, key, 0));
    t.what.trace_ns = t.what.wall_ns / 50;
    t.what.device_ns = 0.8 * (double)t.what.wall_ns;
    if (cell % 3 == 2)
        return t;
    t.change = (int)(nights * (0.15 + 0.7 * draw(seed, key, 1)));
    t.change -= t.change % NIGHTS_A_BUILD - (cell % 5 == 4);
    t.ratio = exp(log(1.02) + (log(1.10) - log(1.02)) * draw(seed, key, 2));
    if (draw(seed, key, 3) < 0.4)
        t.ratio = 1 / t.ratio;
    return t;
}

/* How far from its level this night is. */
static double noise(uint64_t seed, int cell, int night)
{
    const uint64_t a = (uint64_t)cell, b = 16 * (uint64_t)night;
    const double radius = sqrt(-2 * log(1 - draw(seed, a, b)));
    const double normal = radius * cos(6.283185307179586 * draw(seed, a, b + 1));
    const bool outlier = draw(seed, a, b + 2) < 0.01;
    return exp(0.008 * normal) * (outlier ? 1.05 + 0.45 * draw(seed, a, b + 3) : 1);
}

static void set_provenance(res_record *record, int night)
{
    char sha256[BN_SHA256_TEXT], label[32];
    const int build = night / NIGHTS_A_BUILD;
    snprintf(label, sizeof label, "commit-%04d", build);
    bn_sha256(label, strlen(label), sha256);
    json_decref(record->provenance);
    record->provenance =
        json_pack("{s{ss ss ss ss} s{ss ss}}", "runtime", "path", "/opt/runtimes/cpu/plugin.so",
                  "sha256", sha256, "label", label, "platform_version", "cpu", "host", "hostname",
                  "bench1", "cpu", "simulated by a test");
    assert_non_null(record->provenance);
}

/* The phases of the process: it compiled in its first step, and measured nothing but its steps. */
static void set_phases(res_record *record)
{
    uint64_t warmup_ns = 0, steps_ns = 0;
    const uint64_t compile_ns = record->warmup_wall_ns[0], around_ns = 600000000;
    for (size_t i = 1; i < record->warmup_count; i++)
        warmup_ns += record->warmup_wall_ns[i];
    for (size_t i = 0; i < record->step_count; i++)
        steps_ns += record->wall_ns[i];
    assert_int_equal(
        json_object_set_new(
            record->provenance, "phases",
            json_pack("{sI sI sI sI sI sI sI}", "wall_ns",
                      (json_int_t)(around_ns + compile_ns + warmup_ns + steps_ns), "others_ns",
                      (json_int_t)0, "initialization_ns", (json_int_t)400000000, "preparation_ns",
                      (json_int_t)100000000, "compile_ns", (json_int_t)compile_ns, "warmup_ns",
                      (json_int_t)warmup_ns, "measuring_ns", (json_int_t)steps_ns)),
        0);
}

static void set_id(res_record *record, int cell, int night)
{
    /* 2022-01-01 02:00 UTC, so that 1,000 nights are past; a quarter of a minute a cell. */
    const time_t seconds = 1641002400 + (time_t)night * 86400 + cell * 15;
    char stamp[24];
    struct tm utc;
    gmtime_r(&seconds, &utc);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", &utc);
    snprintf(record->id, sizeof record->id, "%s.%09dZ-bench1-%d-0", stamp, cell, 100 + cell);
}

static void write_night(const char *store, uint64_t seed, const truth *t, int cell, int night)
{
    static const bn_code failures[] = {BN_TIMEOUT, BN_CRASH, BN_COMPILE};
    fixture_case now = t->what;
    bn_status st = {0};
    const double factor =
        noise(seed, cell, night) * (t->change >= 0 && night >= t->change ? t->ratio : 1);
    const double fate = draw(seed, (uint64_t)cell, 16 * (uint64_t)night + 4);
    now.model = t->model;
    now.wall_ns = (uint64_t)((double)t->what.wall_ns * factor);
    now.device_ns = t->what.device_ns * factor;
    res_record *record = fixture_record(&now, STEPS);
    set_id(record, cell, night);
    set_provenance(record, night);
    set_phases(record);
    if (fate < 0.015) {
        record->status = failures[(int)(fate * 200)];
        snprintf(record->message, sizeof record->message, "planted");
        assert_int_equal(res_record_reserve_steps(record, 0, 0, NULL), BN_OK);
        json_object_del(json_object_get(record->provenance, "runtime"), "sha256");
        json_object_del(record->provenance, "phases");
    }
    if (res_store_write(store, record, NULL, 0, &st) != BN_OK) {
        fprintf(stderr, "%s\n", st.message);
        exit(1);
    }
    res_record_free(record);
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fputs("make_history STORE CELLS FIRST END SEED\n", stderr);
        return 2;
    }
    const int cells = atoi(argv[2]), first = atoi(argv[3]), end = atoi(argv[4]);
    const uint64_t seed = (uint64_t)atoi(argv[5]);
    /* Changes stand where a store of all nights has them. */
    const int nights = end <= 100 ? 100 : FULL_NIGHTS;
    res_store_begin();
    for (int cell = 0; cell < cells; cell++) {
        const truth t = truth_of(seed, cell, nights);
        printf("%s\t%s\t%s\t%d\t%.6f\t%d\n", t.model, t.what.phase, t.what.mode, t.change, t.ratio,
               t.change >= 0 && t.change % NIGHTS_A_BUILD == 0);
        for (int night = first; night < end; night++)
            write_night(argv[1], seed, &t, cell, night);
    }
    return 0;
}
