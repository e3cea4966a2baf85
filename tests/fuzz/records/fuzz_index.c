/* fuzz_index.c - lines of a store's index, which is next to the records: what is taken has an id
 * that names a file, and an experiment whose fields fit. */
#include "tests/fuzz/fuzz.h"

#include <math.h>

#include "results/records/index_priv.h"
#include "results/records/records.h"

static void read_line(const char *line, size_t length)
{
    bn_status st = {.code = BN_OK};
    res_summary summary;
    bn_arena *memory = bn_arena_new(4096);
    res_pools pools = {.memory = memory}; /* borrowed, and forgotten when the pools are freed */
    res_line_key key;
    fuzz_require(memory != NULL, "no memory");
    if (res_line_key_parse(line, &key))
        fuzz_touch(key.file, key.file_length);
    res_fault fault;
    if (res_listing_damaged(line, length, &fault, &st))
        fuzz_status(BN_FORMAT, &st);
    st = (bn_status){.code = BN_OK};
    bn_code code = res_line_parse(line, length, &pools, &summary, &st);
    fuzz_status(code, &st);
    if (code == BN_OK) {
        const res_experiment **list = res_pools_experiments(&pools);
        const double times[] = {summary.wall_ns, summary.trace_ns, summary.device_ns,
                                summary.overhead_ns, summary.compile_ns};
        const res_origin *o = summary.origin;
        fuzz_require(list != NULL, "no memory");
        fuzz_require(summary.repetition >= 0 && summary.repetition <= RES_MOST_REPETITIONS,
                     "a repetition that is none");
        fuzz_require(summary.experiment < pools.experiments.count,
                     "an experiment that is not there");
        res_experiment checked = *list[summary.experiment];
        fuzz_require(res_experiment_check(&checked, NULL) == BN_OK, "an experiment out of range");
        fuzz_require(memcmp(&checked, list[summary.experiment], sizeof checked) == 0,
                     "an experiment with texts that are not plain");
        fuzz_require(bn_is_plain(o->label) && bn_is_plain(o->version) && bn_is_plain(o->host),
                     "an origin that is not plain");
        fuzz_require(o->sha256[0] == '\0' ||
                         (strlen(o->sha256) == 64 && strspn(o->sha256, "0123456789abcdef") == 64),
                     "a digest that is none");
        for (size_t i = 0; i < sizeof times / sizeof *times; i++)
            fuzz_require(isnan(times[i]) || fabs(times[i]) <= 9007199254740992.0,
                         "a time out of range");
        fuzz_require(!(summary.wall_ns <= 0), "a step that took no time");
        fuzz_require(strchr(summary.id, '/') == NULL && summary.id[0] != '\0',
                     "an id that is a path");
    }
    res_pools_free(&pools);
    bn_arena_free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* As in a file: terminated, a line at a time. */
    char *text = malloc(size + 2);
    fuzz_require(text != NULL, "no memory");
    memcpy(text, data, size);
    for (size_t i = 0; i < size; i++)
        text[i] = text[i] ? text[i] : ' ';
    text[size] = '\n';
    text[size + 1] = '\0';
    for (char *line = text; *line;) {
        const size_t length = (size_t)(strchr(line, '\n') - line) + 1;
        read_line(line, length);
        line += length;
    }
    free(text);
    return 0;
}
