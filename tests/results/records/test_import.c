/*
 * test_import.c - lines of pytorch/xla's benchmarks as records, and what is said of lines
 * that do not fit. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include "results/records/records_priv.h"
#include "results/tables/tables.h"

/* A line as the runner writes it, with places for what a test changes. */
#define LINE(model, xla, dynamo, test, batch, rest)                                                \
    "{\"model\": {\"suite_name\": \"torchbench\", \"model_name\": " model                          \
    "}, \"experiment\": {\"accelerator\": \"cuda\", \"accelerator_model\": \"One of Tesla "        \
    "V100\", "                                                                                     \
    "\"xla\": " xla ", \"xla_flags\": null, \"dynamo\": " dynamo ", \"test\": " test               \
    ", \"batch_size\": " batch "}, \"repeat\": 5, " rest "}\n"
#define TIMES                                                                                      \
    "\"iterations_per_run\": 1, \"metrics\": {\"total_time\": [15.5, 0.4, 0.3, 0.1, 0.2], "        \
    "\"per_iter_time\": [15.5, 0.4, 0.3, 0.1, 0.2]}, \"timestamp\": 1699680738.7234068"

static res_collection imported(const char *data)
{
    res_collection all = {0};
    bn_status st = {0};
    if (res_import_lines("file", data, &all, &st) != BN_OK)
        fail_msg("%s", st.message);
    return all;
}

static void assert_refused(const char *data, const char *why)
{
    res_collection all = {0};
    bn_status st = {0};
    assert_int_equal(res_import_lines("file", data, &all, &st), BN_FORMAT);
    if (!strstr(st.message, why))
        fail_msg("\"%s\" is not in \"%s\"", why, st.message);
    res_collection_free(&all);
}

static void modes_phases_and_names_are_theirs(void **state)
{
    (void)state;
    res_collection all = imported(
        LINE("\"BERT_pytorch\"", "\"PJRT\"", "null", "\"train\"", "16", TIMES)
            LINE("\"BERT_pytorch\"", "\"PJRT\"", "\"openxla\"", "\"eval\"", "null",
                 TIMES) "\n" LINE("\"alexnet\"", "null", "\"inductor\"", "\"eval\"", "4", TIMES)
                LINE("\"alexnet\"", "null", "null", "\"eval\"", "4", TIMES));
    static const char *const want[][3] = {{"bert_pytorch", "train", "lazy"},
                                          {"bert_pytorch", "infer", "capture"},
                                          {"alexnet", "infer", "inductor"},
                                          {"alexnet", "infer", "eager"}};
    assert_int_equal(all.count, 4);
    for (size_t i = 0; i < 4; i++) {
        const res_experiment *e = &all.records[i]->experiment;
        assert_string_equal(e->model, want[i][0]);
        assert_string_equal(e->phase, want[i][1]);
        assert_string_equal(e->mode, want[i][2]);
        assert_string_equal(e->runtime, "pytorch-xla on cuda, One of Tesla V100");
        /* Members that the line lacks are not made up. */
        assert_string_equal(e->dtype, "");
        assert_string_equal(e->variant, "");
        assert_int_equal(e->graphs, 0);
    }
    assert_int_equal(all.records[0]->experiment.batch, 16);
    assert_int_equal(all.records[1]->experiment.batch, 0);
    res_collection_free(&all);
}

static void times_are_warm_up_and_steps(void **state)
{
    (void)state;
    res_collection all = imported(LINE("\"m\"", "\"PJRT\"", "null", "\"train\"", "16", TIMES));
    const res_record *record = all.records[0];
    assert_int_equal(record->status, BN_OK);
    assert_int_equal(record->warmup_count, 3);
    assert_int_equal(record->step_count, 2);
    assert_int_equal(record->warmup_wall_ns[0], 15500000000u);
    assert_int_equal(record->wall_ns[0], 100000000u);
    assert_int_equal(record->wall_ns[1], 200000000u);
    assert_int_equal(record->part_ns[BN_PART_OTHER], 100000000u);
    assert_false(res_has_ledger(record));
    assert_int_equal(strncmp(record->id, "20231111T053218.723406000Z-import-", 34), 0);
    const json_t *source = json_object_get(record->provenance, "imported");
    const json_t *line = json_object_get(source, "line");
    assert_int_equal(json_integer_value(json_object_get(source, "line_number")), 1);
    assert_int_equal(json_integer_value(json_object_get(line, "repeat")), 5);
    res_collection_free(&all);
}

static void runs_of_many_steps_and_tracing(void **state)
{
    (void)state;
    res_collection all =
        imported(LINE("\"m\"", "\"PJRT\"", "null", "\"train\"", "16",
                      "\"iterations_per_run\": 10, \"metrics\": {\"total_time\": [9, 2], "
                      "\"trace_per_iter_time\": [0.5, 0.05]}"));
    const res_record *record = all.records[0];
    assert_int_equal(record->experiment.in_flight, 10);
    assert_int_equal(record->warmup_count, 1);
    assert_int_equal(record->wall_ns[0], 200000000u);
    assert_int_equal(record->part_ns[BN_PART_TRACE], 50000000u);
    assert_int_equal(record->part_ns[BN_PART_OTHER], 150000000u);
    assert_true(res_has_ledger(record));
    res_collection_free(&all);
}

static void failures_have_a_class(void **state)
{
    (void)state;
    static const struct {
        const char *metrics;
        bn_code status;
    } cases[] = {
        {"\"iterations_per_run\": 1, \"metrics\": {\"error\": \"SKIP\"}", BN_NOT_SUPPORTED},
        {"\"iterations_per_run\": 1, \"metrics\": {\"error\": \"Command timed out\"}", BN_TIMEOUT},
        {"\"iterations_per_run\": 1, \"metrics\": {\"error\": \"CUDA out of memory.\"}",
         BN_OUT_OF_MEMORY},
        {"\"iterations_per_run\": 1, \"metrics\": {\"error\": \"oh\\nno\"}", BN_EXECUTE},
        {"\"iterations_per_run\": 1, \"metrics\": {\"total_time\": null}", BN_EXECUTE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[1000];
        snprintf(line, sizeof line, LINE("\"m\"", "\"PJRT\"", "null", "\"train\"", "16", "%s"),
                 cases[i].metrics);
        res_collection all = imported(line);
        assert_int_equal(all.records[0]->status, cases[i].status);
        assert_true(all.records[0]->message[0] != '\0');
        assert_int_equal(all.records[0]->step_count, 0);
        res_collection_free(&all);
    }
}

static void lines_that_do_not_fit_are_named(void **state)
{
    (void)state;
    assert_refused("{}\n", "file:1: model");
    assert_refused("\n\n[1]\n", "file:3: ");
    assert_refused("{\"model\": \n", "file:1: ");
    assert_refused(LINE("null", "\"PJRT\"", "null", "\"train\"", "16", TIMES), "model.model_name");
    assert_refused(LINE("\"m\"", "null", "\"openxla\"", "\"train\"", "16", TIMES),
                   "experiment.dynamo \"openxla\"");
    assert_refused(LINE("\"m\"", "\"PJRT\"", "null", "\"test\"", "16", TIMES),
                   "experiment.test \"test\"");
    assert_refused(LINE("\"m\"", "\"PJRT\"", "null", "\"train\"", "-1", TIMES),
                   "experiment.batch_size");
    assert_refused(
        LINE("\"m\"", "\"PJRT\"", "null", "\"train\"", "1", "\"metrics\": {\"total_time\": [1]}"),
        "iterations_per_run");
    assert_refused(LINE("\"m\"", "\"PJRT\"", "null", "\"train\"", "1",
                        "\"iterations_per_run\": 1, \"metrics\": {\"total_time\": [1, \"2\"]}"),
                   "metrics.total_time[1]");
    assert_refused(LINE("\"m\"", "\"PJRT\"", "null", "\"train\"", "1",
                        "\"iterations_per_run\": 1, \"metrics\": {\"total_time\": [1, 1], "
                        "\"trace_per_iter_time\": [0.5, 1.5]}"),
                   "metrics.trace_per_iter_time[1]");
    assert_refused(
        LINE("\"m\"", "\"PJRT\"", "null", "\"train\"", "1", TIMES ", \"bench\": {\"id\": \"x\"}"),
        "export");
}

#define OTHER(name, value) ", \"" name "\": " value
#define M_LINE(rest)       LINE("\"m\"", "\"PJRT\"", "null", "\"train\"", "16", rest)

/* Python writes NaN, Infinity and -Infinity. They are kept, and texts with these words stay. */
static void numbers_of_python_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *written, *kept;
    } cases[] = {
        {"NaN", "{\"float\": \"NaN\"}"},
        {"Infinity", "{\"float\": \"Infinity\"}"},
        {"-Infinity", "{\"float\": \"-Infinity\"}"},
        {"[1, NaN,-Infinity]", "[1, {\"float\": \"NaN\"}, {\"float\": \"-Infinity\"}]"},
        {"\"NaN\"", "\"NaN\""},
        {"\"a \\\"NaN, -Infinity\"", "\"a \\\"NaN, -Infinity\""},
        {"\"\\\\\"", "\"\\\\\""},
        {"{\"Infinity\": NaN}", "{\"Infinity\": {\"float\": \"NaN\"}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[1000];
        snprintf(line, sizeof line, M_LINE(TIMES OTHER("error_rate", "%s")), cases[i].written);
        res_collection all = imported(line);
        const json_t *source = json_object_get(all.records[0]->provenance, "imported");
        json_t *want = json_loads(cases[i].kept, JSON_DECODE_ANY, NULL);
        assert_non_null(want);
        assert_true(
            json_equal(json_object_get(json_object_get(source, "line"), "error_rate"), want));
        assert_int_equal(all.records[0]->step_count, 2);
        json_decref(want);
        res_collection_free(&all);
    }
}

/* Where a figure is needed, none is made of them; a word that is cut off is none of them. */
static void numbers_of_python_are_no_times(void **state)
{
    (void)state;
    assert_refused(M_LINE(TIMES) M_LINE("\"iterations_per_run\": 1, \"metrics\": {\"total_time\": "
                                        "[1, NaN]}"),
                   "file:2: metrics.total_time[1]");
    assert_refused(M_LINE("\"iterations_per_run\": Infinity, \"metrics\": {\"total_time\": [1]}"),
                   "file:1: iterations_per_run");
    assert_refused(M_LINE("\"iterations_per_run\": 1, \"metrics\": {\"error\": NaN}"),
                   "file:1: metrics.error");
    assert_refused(LINE("NaN", "\"PJRT\"", "null", "\"train\"", "16", TIMES),
                   "file:1: model.model_name");
    assert_refused(LINE("\"m\"", "NaN", "null", "\"train\"", "16", TIMES),
                   "file:1: experiment.xla");
    assert_refused(LINE("\"m\"", "\"PJRT\"", "null", "\"train\"", "NaN", TIMES),
                   "file:1: experiment.batch_size");
    assert_refused(M_LINE(TIMES OTHER("x", "Na")), "file:1: ");
    assert_refused(M_LINE(TIMES OTHER("x", "-NaN")), "file:1: ");
    assert_refused(M_LINE(TIMES OTHER("x", "nan")), "file:1: ");
}

static void lines_are_whole_and_alone(void **state)
{
    (void)state;
    static const char good[] = M_LINE(TIMES);
    char text[1500];
    snprintf(text, sizeof text, "\xef\xbb\xbf%.*s\r\n\r\n%.*s", (int)sizeof good - 2, good,
             (int)sizeof good - 2, good);
    res_collection all = imported(text);
    assert_int_equal(all.count, 2);
    res_collection_free(&all);
    for (size_t cut = 1; cut < sizeof good - 2; cut += 7) {
        snprintf(text, sizeof text, "%s%.*s", good, (int)cut, good);
        assert_refused(text, "file:2: ");
    }
    snprintf(text, sizeof text, "%s%.*s {}\n", good, (int)sizeof good - 2, good);
    assert_refused(text, "file:2: ");
    snprintf(text, sizeof text, "%s# done\n", good);
    assert_refused(text, "file:2: ");
    assert_refused(M_LINE(TIMES OTHER("a", "1") OTHER("a", "2")), "file:1: ");
    assert_refused(M_LINE("\"iterations_per_run\": 1, \"metrics\": {\"error\": 3}"),
                   "file:1: metrics.error");
    assert_refused(M_LINE("\"iterations_per_run\": 1, \"metrics\": {\"total_time\": [1, 2], "
                          "\"trace_per_iter_time\": [1]}"),
                   "file:1: metrics.trace_per_iter_time");
}

/* The same lines a second time change nothing; a bad line leaves the store alone. */
/* Lines that say something else of their experiment are not of one experiment. */
static void what_else_a_line_says_is_a_setting(void **state)
{
    (void)state;
#define WITH(more) LINE("\"m\"", "\"PJRT\"", "null", "\"train\"", "16" more, TIMES)
    static const struct {
        const char *line, *settings;
    } cases[] = {{WITH(""), ""},
                 {WITH(OTHER("keep_model_data_on_cuda", "false") OTHER("new", "null")), ""},
                 {WITH(OTHER("torch_xla2", "true") OTHER("keep_model_data_on_cuda", "true")),
                  "keep_model_data_on_cuda torch_xla2"},
                 {WITH(OTHER("torch_xla2", "\"torch_export\"")), "torch_xla2=torch_export"},
                 {WITH(OTHER("threads", "4") OTHER("scale", "0.5")), "scale=0.5 threads=4"},
                 {LINE("\"m\"", "\"XRT\"", "null", "\"train\"", "16", TIMES), "xla=XRT"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        res_collection all = imported(cases[i].line);
        assert_string_equal(all.records[0]->experiment.settings, cases[i].settings);
        res_collection_free(&all);
    }
    assert_refused(WITH(OTHER("new", "[1]")), "experiment.new");
    assert_refused(WITH(OTHER("new", "NaN")), "experiment.new");
    assert_refused(LINE("\"m\"", "\"PJRT\"", "\"openxla_new\"", "\"train\"", "16", TIMES),
                   "experiment.dynamo");
}

static void a_store_takes_a_line_once(void **state)
{
    (void)state;
    static const char good[] = LINE("\"m\"", "\"PJRT\"", "null", "\"train\"", "16", TIMES)
        LINE("\"m\"", "\"PJRT\"", "\"openxla\"", "\"train\"", "16", TIMES);
    char folder[512], file[600], store[600];
    bn_status st = {0};
    res_imported done = {0};
    res_collection all;
    fixture_folder(folder, sizeof folder, "import");
    snprintf(file, sizeof file, "%s/lines.jsonl", folder);
    snprintf(store, sizeof store, "%s/store", folder);
    assert_int_equal(bn_file_write_atomic(file, good, strlen(good), &st), BN_OK);
    assert_int_equal(res_import("pytorch-xla", file, store, &done, &st), BN_OK);
    assert_int_equal(done.written, 2);
    assert_int_equal(res_import("pytorch-xla", file, store, &done, &st), BN_OK);
    assert_int_equal(done.written, 2);
    assert_int_equal(done.known, 2);
    assert_int_equal(res_store_load(store, &all, &st), BN_OK);
    assert_int_equal(all.count, 2);
    /* Spaced otherwise, or with other ends, they are the same lines; texts in them are not. */
    bn_text other = {0};
    bool in_text = false;
    for (const char *c = good; *c; c++) {
        in_text = in_text != (*c == '"');
        if (*c == '\n')
            bn_text_puts(&other, " \r\n");
        else if (*c != ' ' || in_text)
            bn_text_putc(&other, *c);
    }
    assert_int_equal(bn_file_write_atomic(file, other.data, other.length, &st), BN_OK);
    bn_text_free(&other);
    assert_int_equal(res_import("pytorch-xla", file, store, &done, &st), BN_OK);
    assert_int_equal(done.written, 2);
    assert_int_equal(done.known, 4);
    bn_text table = {0};
    res_table_speedup(&all, RES_TABLE_TEXT, &table);
    assert_non_null(strstr(table.data, "1.00x"));
    assert_null(strstr(table.data, "nan"));
    bn_text_free(&table);
    res_collection_free(&all);

    char bad[3000];
    snprintf(bad, sizeof bad, "%s{}\n", good);
    snprintf(store, sizeof store, "%s/other", folder);
    assert_int_equal(bn_file_write_atomic(file, bad, strlen(bad), &st), BN_OK);
    assert_int_equal(res_import("pytorch-xla", file, store, &done, &st), BN_FORMAT);
    assert_non_null(strstr(st.message, "lines.jsonl:3: "));
    assert_int_equal(res_store_load(store, &all, &st), BN_NOT_FOUND);
    assert_int_equal(res_import("asv", file, store, &done, &st), BN_INVALID);
    assert_int_equal(bn_file_write_atomic(file, "\n", 1, &st), BN_OK);
    assert_int_equal(res_import("pytorch-xla", file, store, &done, &st), BN_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes_phases_and_names_are_theirs),
        cmocka_unit_test(times_are_warm_up_and_steps),
        cmocka_unit_test(runs_of_many_steps_and_tracing),
        cmocka_unit_test(failures_have_a_class),
        cmocka_unit_test(lines_that_do_not_fit_are_named),
        cmocka_unit_test(numbers_of_python_are_read),
        cmocka_unit_test(numbers_of_python_are_no_times),
        cmocka_unit_test(lines_are_whole_and_alone),
        cmocka_unit_test(what_else_a_line_says_is_a_setting),
        cmocka_unit_test(a_store_takes_a_line_once),
    };
    res_store_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
