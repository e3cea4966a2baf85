/*
 * fuzz_json.c - JSON from outside: files of golden values (--golden), with the models
 * that they ask for, suites, the requests that a worker reads, and what a compiler is kept to have
 * said (bench estimate). Bytes that begin with '@' are edits of the JSON after them, for files that
 * are well-formed and wrong:
 *
 *   '@', number of edits, for each two bytes that choose a value and one for what
 *   takes its place
 */
#include "tests/fuzz/fuzz.h"

#include "harness/campaign/suites_priv.h"
#include "harness/estimate/estimate_priv.h"
#include "harness/jobs/jobs.h"
#include "harness/verify/golden_priv.h"

/* Elements of an output above which it is not compared: that is a matter of time. */
#define MOST_ELEMENTS 100000

/* ---- golden values ------------------------------------------------------------------ */

/* Compares zeros with all that the file says of the outputs. */
static void compare(const golden_file *golden, const model *m)
{
    const golden_check check = {golden, json_array()};
    const char *name;
    for (size_t i = 0; golden_output(golden, i, &name); i++) {
        const model_variable *v = model_find(m, name);
        fuzz_require(v != NULL, "an output that the model does not have");
        const int64_t count = tg_type_elements(&v->shape);
        if (count > MOST_ELEMENTS)
            continue;
        double *zeros = calloc((size_t)count + 1, sizeof *zeros);
        fuzz_require(zeros != NULL, "no memory");
        golden_compare_output(&check, name, zeros, (size_t)count);
        free(zeros);
    }
    json_decref(check.rows);
}

/* As a worker does: its model, and whether that computes what the file describes. */
static void ask_model(const golden_file *golden)
{
    res_experiment what = {.phase = "train", .layout = "nhwc"};
    bn_status st = {0};
    model *m = NULL;
    bn_code code = golden_configure(golden, &what, &st);
    if (code == BN_OK) {
        model_options options = job_model_options(&what, "");
        options.keep_stages = true;
        code = model_new(what.model, &options, &m, &st);
    }
    if (code == BN_OK)
        code = golden_supports(golden, m, &st);
    fuzz_status(code, &st);
    if (code == BN_OK)
        compare(golden, m);
    model_free(m);
}

static void try_golden(const uint8_t *data, size_t size)
{
    bn_status st = {0};
    golden_file golden;
    bn_code code = golden_parse("golden.json", (const char *)data, size, &golden, &st);
    fuzz_status(code, &st);
    if (code == BN_OK)
        ask_model(&golden);
    golden_free(&golden);
}

/* ---- requests -------------------------------------------------------------------------- */

/* An experiment that was read is written and read again: nothing may change. */
static void try_experiment(const json_t *json)
{
    bn_status st = {0};
    res_experiment first, second;
    bn_code code = res_experiment_from_json(json, &first, &st);
    fuzz_status(code, &st);
    if (code != BN_OK)
        return;
    const char *seed = json_string_value(json_object_get(json, "seed"));
    fuzz_require(!seed || strspn(seed, "0123456789") == strlen(seed), "a seed that is no number");
    json_t *written = res_experiment_to_json(&first);
    fuzz_require(res_experiment_from_json(written, &second, &st) == BN_OK,
                 "an experiment that cannot be read back");
    fuzz_require(memcmp(&first, &second, sizeof first) == 0, "an experiment changed on its way");
    json_decref(written);
}

static void try_request(const json_t *json)
{
    bn_status st = {0};
    job_experiment e;
    bn_code code = job_experiment_from_json(json, &e, &st);
    fuzz_status(code, &st);
    if (code != BN_OK)
        return;
    size_t options = 0, flags = 0;
    while (options < CLI_MAX_REPEATS && e.how.runtime_option[options])
        options++;
    while (flags < CLI_MAX_REPEATS && e.how.xla_flag[flags])
        flags++;
    fuzz_require(!e.how.runtime_option[options] && !e.how.xla_flag[flags], "lists without an end");
    fuzz_require(e.how.label && e.how.pin && e.how.cache_dir && e.how.store,
                 "a member that is missing");
}

/* ---- suites ------------------------------------------------------------------------------ */

static void try_suite(const uint8_t *data, size_t size)
{
    bn_status st = {0};
    bn_text text = {0};
    suite_spec suite;
    bn_text_append(&text, (const char *)data, size);
    bn_text_putc(&text, '\0');
    bn_code code = suite_parse("suite.json", text.data, &suite, &st);
    fuzz_status(code, &st);
    fuzz_require(code == BN_OK || strncmp(st.message, "suite.json:", 11) == 0,
                 "a fault without its place");
    fuzz_require(code != BN_OK ||
                     (suite.name && json_array_size(json_object_get(suite.json, "matrix")) > 0),
                 "a suite of nothing");
    suite_close(&suite);
    bn_text_free(&text);
}

/* ---- estimates ------------------------------------------------------------------------------ */

/* Valid input can be shown, whatever else it holds. */
static void try_estimate(json_t *json)
{
    static const res_format formats[] = {RES_TABLE_TEXT, RES_TABLE_MARKDOWN, RES_TABLE_CSV};
    res_experiment what;
    bn_text out = {0};
    if (!estimate_sound(json))
        return;
    res_experiment_usual(&what);
    json_t *line = json_pack(
        "{si si si so ss ss ss ss si sf si so so sb sO}", "step", 0, "number", 1, "of", 1,
        "experiment", res_experiment_to_json(&what), "topology", "v4:1x1x1", "layouts", "auto",
        "graph", "step", "module", "bench_step", "nodes", 1, "flops", 1.0, "text_bytes", 1, "class",
        res_json_text(res_json_get_text(json, "class")), "message",
        res_json_text(res_json_get_text(json, "message")), "cached", 1, "estimate", json);
    fuzz_require(line != NULL, "no line");
    estimate_time_line(line);
    json_t *lines = json_pack("[o]", line);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        estimate_table(lines, formats[i], &out);
        estimate_scopes(lines, formats[i], &out);
        estimate_with_published(lines, formats[i], &out);
    }
    estimate_notes(lines, &out);
    fuzz_require(out.length > 0, "no table");
    json_decref(lines);
    bn_text_free(&out);
}

/* ---- edits ------------------------------------------------------------------------------- */

#define MOST_EDITS 8

/* Values inside of AT, on all levels. */
static size_t count_values(json_t *at)
{
    const char *key;
    json_t *member;
    size_t count = json_object_size(at) + json_array_size(at);
    json_object_foreach(at, key, member)
    {
        count += count_values(member);
    }
    for (size_t i = 0; i < json_array_size(at); i++)
        count += count_values(json_array_get(at, i));
    return count;
}

/* Puts VALUE in place of the value numbered *NUMBER inside of AT, NULL for none at all;
 * counts *NUMBER down. */
static bool replace(json_t *at, size_t *number, json_t *value)
{
    const char *key;
    json_t *member;
    void *next;
    json_object_foreach_safe(at, next, key, member)
    {
        if ((*number)-- == 0)
            return value ? json_object_set(at, key, value) == 0 : json_object_del(at, key) == 0;
        if (replace(member, number, value))
            return true;
    }
    for (size_t i = 0; i < json_array_size(at); i++) {
        if ((*number)-- == 0)
            return value ? json_array_set(at, i, value) == 0 : json_array_remove(at, i) == 0;
        if (replace(json_array_get(at, i), number, value))
            return true;
    }
    return false;
}

static json_t *another_value(unsigned which)
{
    static const char *const values[] = {
        "0",
        "-1",
        "1",
        "2147483648",
        "9223372036854775807",
        "1e308",
        "-1e308",
        "1e-320",
        "4294967296",
        "null",
        "true",
        "\"\"",
        "[]",
        "{}",
        "[1]",
        "[1, 2, 3, 4]",
        "3",
        "\"AdamW\"",
        "\"SGD\"",
        "\"a\"",
        "[0]",
    };
    which %= sizeof values / sizeof *values + 1;
    return which ? json_loads(values[which - 1], JSON_DECODE_ANY, NULL) : NULL;
}

/* The text that DATA edits (malloc), or NULL where that is no JSON. */
static char *edited(const uint8_t *data, size_t size)
{
    const size_t edits = size > 1 ? data[1] % MOST_EDITS : 0, head = 2 + 3 * edits;
    json_t *json = size > head ? json_loadb((const char *)data + head, size - head, 0, NULL) : NULL;
    for (size_t i = 0; json && i < edits; i++) {
        const uint8_t *edit = data + 2 + 3 * i;
        size_t count = count_values(json), number = (size_t)edit[0] | (size_t)edit[1] << 8;
        number %= count + 1;
        json_t *value = another_value(edit[2]);
        replace(json, &number, value);
        json_decref(value);
    }
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    return text;
}

/* ---- all ------------------------------------------------------------------------------------ */

static void try_all(const uint8_t *data, size_t size)
{
    json_t *json = json_loadb((const char *)data, size, 0, NULL);
    try_golden(data, size);
    try_suite(data, size);
    if (json) {
        try_estimate(json);
        try_experiment(json);
        try_request(json);
    }
    json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = size && data[0] == '@' ? edited(data, size) : NULL;
    if (text)
        try_all((const uint8_t *)text, strlen(text));
    else
        try_all(data, size);
    free(text);
    return 0;
}
