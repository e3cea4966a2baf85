/*
 * test_tables.c - the tables of known records, in all formats. Needs no plugin.
 *
 * `test_tables --print NAME FORMAT` prints a sample table ("record", "eager",
 * "failed" or "speedup"): for looking at.
 */
#include "tests/results/tables/tables_fixture.h"

static res_record *eager_record(void)
{
    res_record *record = fixture_record(&cases[RESNET_EAGER], 60);
    assert_int_equal(res_record_reserve_executions(record, 40, NULL), BN_OK);
    for (size_t i = 0; i < 40; i++) {
        res_execution *execution = &record->executions[i];
        snprintf(execution->graph, sizeof execution->graph, "op%02zu", i);
        execution->per_step = (int)(i % 4) + 1;
        execution->arguments = 2;
        execution->results = 1;
        execution->nodes = 1;
        execution->compile_ns = 12000000;
        execution->pjrt_ns = calloc(1, sizeof(uint64_t));
        assert_non_null(execution->pjrt_ns);
        execution->pjrt_count = 1;
        execution->pjrt_ns[0] = (i + 1) * 20000;
        strcpy(execution->device_note, "not measured for single ops");
    }
    return record;
}

static bn_text record_table(const res_record *record, res_format format)
{
    bn_text out = {0};
    res_table_record(record, format, &out);
    assert_non_null(out.data);
    return out;
}

static int print_sample(const char *name, const char *format_name)
{
    res_format format;
    bn_status st = {0};
    bn_text out = {0};
    if (res_format_parse(format_name, &format, &st) != BN_OK) {
        puts(st.message);
        return 2;
    }
    res_store_begin();
    res_collection all = sample_store();
    res_record *record = strcmp(name, "eager") == 0    ? eager_record()
                         : strcmp(name, "failed") == 0 ? all.records[BERT_CAPTURE]
                                                       : all.records[RESNET_CAPTURE_5];
    if (strcmp(name, "speedup") == 0)
        res_table_speedup(&all, format, &out);
    else
        res_table_record(record, format, &out);
    fputs(out.data, stdout);
    bn_text_free(&out);
    if (strcmp(name, "eager") == 0)
        res_record_free(record);
    res_collection_free(&all);
    return 0;
}

/* ---- one record ---------------------------------------------------------------- */

static void record_table_accounts_for_the_step(void **state)
{
    (void)state;
    res_record *record = fixture_record(&cases[RESNET_CAPTURE_5], 61);
    bn_text out = record_table(record, RES_TABLE_TEXT);
    assert_has(out.data, "resnet50, train, capture, 5 graphs\n");
    assert_has(out.data, "cpu, sha256 5feceb66ffc8\n");
    assert_has(out.data, "full, batch 4, image 64, f32, nhwc, serial\n");
    assert_has(out.data, "status    ok\n");
    assert_has(out.data, "median of 61 steps, p10 to p90 [");
    assert_has(out.data, " by 0 ns.");
    for (int p = 0; p < BN_PART_COUNT; p++)
        line_with(out.data, bn_part_name((bn_part)p), ".");

    /* The row that adds up says the same mean as the wall time's row. */
    double sum = 0, wall = 0, part = 0, total = 0;
    assert_int_equal(sscanf(line_with(out.data, "sum of parts", ""), "sum of parts %lf", &sum), 1);
    const char *line = line_with(out.data, "wall ", "100.0");
    assert_int_equal(sscanf(line, "wall %*f %*f %*f %*f %lf", &wall), 1);
    assert_true(sum == wall && sum > 31000);
    for (int p = 0; p < BN_PART_COUNT; p++) {
        char start[32];
        snprintf(start, sizeof start, "\n%s ", bn_part_name((bn_part)p));
        line = strstr(strstr(out.data, "Ledger"), start);
        assert_non_null(line);
        assert_int_equal(sscanf(line, "%*s %*f %*f %*f %*f %lf", &part), 1);
        total += part;
    }
    assert_true(fabs(total - wall) < 0.05 * (BN_PART_COUNT + 1)); /* rounding to 0.1 us */
    assert_has(line_with(out.data, "backward", "6.50 ms"), "2.00 ms");
    line_with(out.data, "forward", "3.24 s");
    line_with(out.data, "compiles", "5");
    assert_lacks(out.data, "cache_hits");

    record->part_ns[BN_PART_OTHER] += 7;
    bn_text_free(&out);
    out = record_table(record, RES_TABLE_TEXT);
    assert_has(out.data, " by 7 ns.");
    bn_text_free(&out);
    res_record_free(record);
}

/* The median of rounds' medians is not that of all steps: 15 of one round, 3 of each other. */
static void a_record_has_one_median(void **state)
{
    (void)state;
    static const uint64_t steps[] = {15, 3, 3};
    bn_status st = {0};
    res_record *record = fixture_record(&cases[RESNET_LAZY], 21);
    assert_int_equal(res_record_reserve_rounds(record, 3, &st), BN_OK);
    for (size_t i = 0; i < 3; i++)
        record->rounds[i] = (res_round){.steps = steps[i], .wall_ns = steps[i]};
    for (size_t i = 0; i < 21; i++) {
        const uint64_t more = (i < 15 ? 30000000 : 40000000) - record->wall_ns[i];
        record->part_ns[i * BN_PART_COUNT + BN_PART_WAIT] += more;
        record->wall_ns[i] += more;
    }
    bn_text out = record_table(record, RES_TABLE_TEXT);
    assert_has(out.data, "\nwall      40.0 ms a step: median of 3 rounds' medians, 21 steps, p10 ");
    assert_has(strstr(out.data, "Ledger of a step"), "\nwall          40000.0  30000.0  40000.0 ");
    assert_lacks(out.data, "95 %");
    bn_text_free(&out);
    json_t *json = res_record_to_json(record);
    const json_t *wall = json_object_get(json_object_get(json, "ledger"), "wall");
    assert_near(json_real_value(json_object_get(wall, "median_ns")), 40e6, 1e-3);
    json_decref(json);
    res_record_free(record);
}

/* Of many rounds it is no median: one round of four is far slower than the rest. */
static void a_record_of_many_rounds_says_what_is_averaged(void **state)
{
    (void)state;
    static const double rounds[] = {26e6, 27e6, 28e6, 29e6, 30e6, 31e6, 90e6, 91e6};
    res_record *record = fixture_rounds(&cases[RESNET_LAZY], rounds, 8, 5);
    bn_text out = record_table(record, RES_TABLE_TEXT);
    assert_has(out.data, " a step: mean of the middle half of 8 rounds' medians, 40 steps, p10 ");
    bn_text_free(&out);
    res_record_free(record);
}

/* ROW of a table, whose cells stand two spaces apart: whether CELL is one. */
static void assert_cell(const char *row, const char *cell)
{
    char text[80], line[400];
    snprintf(line, sizeof line, "%.*s", (int)strcspn(row, "\n"), row);
    snprintf(text, sizeof text, "  %s", cell);
    assert_has(line, text);
}

/* Noise puts the device time of a lone process above its step: its own table says what the table
 * of all records says of it. */
static void a_record_cuts_what_tables_cut(void **state)
{
    (void)state;
    res_record *record = fixture_record(&cases[RESNET_LAZY], 60);
    res_execution *x = &record->executions[0];
    x->device_ns = 27e6;
    x->device_low_ns = 20e6;
    x->device_high_ns = 40e6;
    const res_collection all = {.records = &record, .count = 1};
    res_speedup table;
    res_speedup_make(&all, &table);
    const res_figures *f = &table.rows[0].figures;
    assert_near(f->device.value.estimate, f->wall.value.estimate, 1e-3);
    assert_int_equal(f->refusal, RES_REFUSED_NOTHING);
    const char *device = res_time(f->device.value.estimate).text;
    bn_text pooled = {0}, out = record_table(record, RES_TABLE_TEXT);
    res_table_speedup(&all, RES_TABLE_TEXT, &pooled);
    assert_cell(line_with(pooled.data, "resnet50 ", "lazy"), device);
    assert_cell(line_with(strstr(out.data, "Executions"), "step ", "slope"), device);
    assert_lacks(out.data, "27.0 ms");
    assert_lacks(out.data, "40.0]");
    assert_has(out.data, res_device_remark_words(RES_DEVICE_CUT));
    bn_text_free(&pooled);
    bn_text_free(&out);
    /* An overhead next to it does not fit. */
    x->overhead_ns = 2e6;
    x->overhead_low_ns = -1e6;
    x->overhead_high_ns = 5e6;
    out = record_table(record, RES_TABLE_TEXT);
    assert_cell(line_with(strstr(out.data, "Executions"), "step ", "slope"), RES_UNKNOWN_TEXT);
    assert_lacks(out.data, "< 5.00 ms");
    bn_text_free(&out);
    res_speedup_free(&table);
    res_record_free(record);
}

static void many_executions_show_the_dearest(void **state)
{
    (void)state;
    res_record *record = eager_record();
    bn_text out = record_table(record, RES_TABLE_TEXT);
    const char *table = strstr(out.data, "\nExecutions");
    assert_non_null(table);
    assert_true(strstr(table, "op39") < strstr(table, "op35"));
    assert_has(line_with(table, "op39", ""), "3.20 ms"); /* 4 of 800 us */
    assert_has(line_with(table, "30 others", ""), " 64 ");
    assert_lacks(table, "\nop18");
    assert_has(out.data, " op00 and 39 more: ");
    bn_text_free(&out);
    res_record_free(record);
}

static void assert_narrow(const char *text)
{
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        if (res_bytes_columns(line, strcspn(line, "\n")) > RES_NARROW)
            fail_msg("wide: %.*s", (int)strcspn(line, "\n"), line);
}

/* The table of one run on a terminal. */
static void a_narrow_record_keeps_to_its_columns(void **state)
{
    (void)state;
    res_record *record = fixture_record(&cases[RESNET_CAPTURE_5], 60), *eager = eager_record();
    record->loss = 7e-4;
    strcpy(record->experiment.input, "synthetic");
    strcpy(record->experiment.lengths, "fixed");
    bn_text out = record_table(record, RES_TABLE_NARROW);
    assert_narrow(out.data);
    assert_has(out.data, "\nwall      ");
    /* Further lines stand below the first one. */
    assert_has(out.data, "\n          ");
    assert_has(out.data, "\nloss      0.0007 after the first round; training on one batch brings "
                         "it near\n          zero\n");
    bn_text_free(&out);
    snprintf(record->experiment.phase, sizeof record->experiment.phase, "infer");
    out = record_table(record, RES_TABLE_TEXT);
    assert_has(out.data, "\nloss      0.0007 after the first round\n");
    bn_text_free(&out);
    out = record_table(eager, RES_TABLE_NARROW);
    assert_narrow(out.data);
    bn_text_free(&out);
    res_record_free(eager);
    res_record_free(record);
}

static void failed_records_say_why(void **state)
{
    (void)state;
    res_record *record = fixture_record(&cases[RESNET_LAZY], 5);
    be_failed(record, BN_COMPILE, "convolution: rank 3");
    record->simulated = true;
    record->warmup_stationary = false;
    bn_text out = record_table(record, RES_TABLE_MARKDOWN);
    assert_has(out.data, "## resnet50, train, lazy, 1 graph\n\n");
    assert_has(out.data, "- **status**: compile-error: convolution: rank 3\n");
    assert_has(out.data, "- **runtime**: cpu (simulated, computing values)");
    assert_has(out.data, " limit");
    assert_has(out.data, "| step | 1 | 1309 |");
    assert_lacks(out.data, "Ledger");
    bn_text_free(&out);
    res_record_free(record);

    record = res_record_new();
    assert_non_null(record);
    for (int format = 0; format < 4; format++) {
        out = record_table(record, (res_format)format);
        bn_text_free(&out);
    }
    res_record_free(record);
}

static void record_json_is_the_documented_object(void **state)
{
    (void)state;
    res_record *record = fixture_record(&cases[RESNET_LAZY], 10);
    bn_text out = record_table(record, RES_TABLE_JSON);
    json_t *wanted = res_record_to_json(record);
    char *text = json_dumps(wanted, JSON_INDENT(2) | RES_JSON_SHOWN);
    assert_non_null(text);
    assert_int_equal(strncmp(out.data, text, strlen(text)), 0);
    assert_string_equal(out.data + strlen(text), "\n");
    free(text);
    json_decref(wanted);
    bn_text_free(&out);
    out = record_table(record, RES_TABLE_CSV);
    assert_has(out.data, "section,item,quantity,value\n");
    assert_has(out.data, "\nledger,trace,median_ns,2900000.0\n");
    assert_has(out.data, "\nexecutions,0,pjrt_ns,21000000.0\n");
    assert_has(out.data, "\nexecutions,0,code_bytes,\n");
    bn_text_free(&out);
    res_record_free(record);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--print") == 0)
        return print_sample(argv[2], argv[3]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(record_table_accounts_for_the_step),
        cmocka_unit_test(a_record_has_one_median),
        cmocka_unit_test(a_record_of_many_rounds_says_what_is_averaged),
        cmocka_unit_test(a_record_cuts_what_tables_cut),
        cmocka_unit_test(many_executions_show_the_dearest),
        cmocka_unit_test(a_narrow_record_keeps_to_its_columns),
        cmocka_unit_test(failed_records_say_why),
        cmocka_unit_test(record_json_is_the_documented_object),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
