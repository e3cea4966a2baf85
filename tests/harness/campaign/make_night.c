/*
 * make_night.c - other nights out of one that was measured, for tests of nights.
 *
 *   make_night FROM TO SECONDS FACTOR [SHA256 [LABEL [RUNTIME [SETTINGS]]]]
 *
 * Copies each record of folder FROM to TO, dated SECONDS later (negative: earlier), with step times
 * FACTOR times as long; 0: as they were measured. Else each process is off by about 0.5 %, drawn
 * from SECONDS and FACTOR. SHA256, LABEL, RUNTIME and SETTINGS replace those of the record; "-" leaves one.
 */
#include "tests/support/results_fixture.h"

#include <time.h>

static void move(res_record *r, double seconds)
{
    const time_t when = (time_t)(floor(res_id_time(r->id)) + seconds);
    const char *rest = strchr(r->id, '.');
    char stamp[32], id[RES_TEXT];
    struct tm utc;
    assert_non_null(rest);
    assert_non_null(gmtime_r(&when, &utc));
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", &utc);
    snprintf(id, sizeof id, "%s%s", stamp, rest);
    snprintf(r->id, sizeof r->id, "%s", id);
}

static void slow_down(res_record *r, double factor, uint64_t *seed)
{
    const double own = factor * exp(0.005 * fixture_normal(seed));
    for (size_t i = 0; i < r->step_count; i++) {
        uint64_t *parts = r->part_ns + i * BN_PART_COUNT, sum = 0;
        /* Steps of a busy machine would differ by more than nights: all have one length. */
        r->wall_ns[i] = (uint64_t)(1e7 * own) + i;
        for (int p = 0; p < BN_PART_COUNT; p++)
            sum += parts[p] = p == BN_PART_WAIT ? 0 : 1000;
        parts[BN_PART_WAIT] = r->wall_ns[i] - sum;
    }
}

static bool given(int count, char **words, int i)
{
    return i < count && strcmp(words[i], "-") != 0;
}

static void rename_build(res_record *r, int count, char **words)
{
    json_t *runtime = json_object_get(r->provenance, "runtime");
    if (given(count, words, 5))
        json_object_set_new(runtime, "sha256", json_string(words[5]));
    if (given(count, words, 6))
        json_object_set_new(runtime, "label", json_string(words[6]));
    if (given(count, words, 7)) {
        memset(r->experiment.runtime, 0, sizeof r->experiment.runtime);
        snprintf(r->experiment.runtime, sizeof r->experiment.runtime, "%s", words[7]);
    }
    if (given(count, words, 8)) {
        memset(r->experiment.settings, 0, sizeof r->experiment.settings);
        snprintf(r->experiment.settings, sizeof r->experiment.settings, "%s", words[8]);
    }
}

int main(int argc, char **argv)
{
    res_collection all;
    bn_status st = {0};
    if (argc < 5) {
        fputs("make_night FROM TO SECONDS FACTOR [SHA256 [LABEL [RUNTIME [SETTINGS]]]]\n", stderr);
        return 2;
    }
    const double seconds = atof(argv[3]), factor = atof(argv[4]);
    uint64_t seed = (uint64_t)(1e6 * factor) * 7919 + (uint64_t)(int64_t)seconds + 12345;
    res_store_begin();
    if (res_store_load(argv[1], &all, &st) != BN_OK) {
        fprintf(stderr, "%s\n", st.message);
        return 1;
    }
    for (size_t i = 0; i < all.count; i++) {
        move(all.records[i], seconds);
        if (factor > 0)
            slow_down(all.records[i], factor, &seed);
        rename_build(all.records[i], argc, argv);
        if (res_store_write(argv[2], all.records[i], NULL, 0, &st) != BN_OK) {
            fprintf(stderr, "%s\n", st.message);
            return 1;
        }
    }
    res_collection_free(&all);
    return 0;
}
