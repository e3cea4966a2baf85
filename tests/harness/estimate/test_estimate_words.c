/*
 * test_estimate_words.c - notes on estimates: cut lists, remedies, peaks, and operations that are
 * left out; of lines and of records.
 */
#include "tests/harness/estimate/estimate_fixture.h"

#include <math.h>

/* The list is cut behind 2000 items; 3 are left, of which one has no cycles and one no times. */
static void cut_lists_keep_their_sums(void **state)
{
    (void)state;
    static hlo_item items[2003];
    for (size_t i = 0; i < 2003; i++)
        items[i] = (hlo_item){"layer1/x", "copy", "", 2, 1, ""};
    items[2000].cycles = 5;
    items[2001].cycles = -1;
    items[2002].cycles = 7;
    items[2002].times = -1;
    const hlo_items all = {items, 2003, 2003}, few = {items, 2000, 2000};
    json_t *line = line_of(0, "step", "v4:1x1x1", 4012), *found = json_object_get(line, "estimate");
    json_t *list = estimate_items(&all);
    assert_int_equal(json_array_size(list), 2001);
    json_t *wanted = json_pack("{ss ss ss sf sf ss si si si}", "name", "(rest)", "what", "",
                               "scope", "", "cycles", 12.0, "times", 2.0, "why", "", "count", 3,
                               "without_cycles", 1, "without_times", 1);
    assert_true(json_equal(json_array_get(list, 2000), wanted));
    json_object_set(found, "copies", list);
    json_object_set(found, "scopes", list);
    assert_int_equal(estimate_count(line, "copies", NULL), 2003);
    assert_int_equal(estimate_count(line, "copies", "cycles"), 1);
    assert_int_equal(estimate_count(line, "copies", "times"), 1);
    json_t *lines = json_pack("[O]", line);
    bn_text said = {0}, scopes = {0};
    estimate_notes(lines, &said);
    assert_non_null(strstr(said.data, " 2003 copies "));
    assert_non_null(strstr(said.data, " 2000 more"));
    /* 4012 cycles: 2000 times 2, and the rest of 12, so the shares are those of all. */
    estimate_scopes(lines, RES_TABLE_CSV, &scopes);
    assert_non_null(strstr(scopes.data, ",(rest),0.0000,0.3 %"));
    assert_non_null(strstr(scopes.data, ",layer1/x,0.0040,99.7 %"));
    bn_text_free(&said);
    bn_text_free(&scopes);
    json_decref(list);
    json_decref(wanted);
    list = estimate_items(&few);
    assert_int_equal(json_array_size(list), 2000);
    assert_null(json_object_get(json_array_get(list, 1999), "count"));
    json_decref(list);
    json_decref(lines);
    json_decref(line);
}

/* Only options that the model and the phase take are proposed. */
static void steps_that_do_not_fit_have_remedies(void **state)
{
    (void)state;
    static const struct {
        const char *model, *phase, *dtype, *remat, *offload, *text;
    } rows[] = {
        {"resnet50", "train", "f32", "none", "none", " --batch, --dtype bf16.\n"},
        {"resnet50", "train", "bf16", "none", "none", " --batch.\n"},
        {"llama", "train", "f32", "none", "none",
         " --batch, --dtype bf16, --scan on --remat layer, and with these --offload "
         "activations.\n"},
        {"llama", "train", "bf16", "layer", "none", " --batch, --offload activations.\n"},
        {"llama", "train", "bf16", "layer", "activations", " --batch.\n"},
        {"llama", "infer", "f32", "none", "none", " --batch, --dtype bf16.\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *line = line_of(0, "step", "v4:1x1x1", 1);
        json_t *what = json_object_get(line, "experiment"), *lines = json_pack("[o]", line);
        bn_text said = {0};
        json_object_set_new(what, "model", json_string(rows[i].model));
        json_object_set_new(what, "phase", json_string(rows[i].phase));
        json_object_set_new(what, "dtype", json_string(rows[i].dtype));
        json_object_set_new(what, "remat", json_string(rows[i].remat));
        json_object_set_new(what, "offload", json_string(rows[i].offload));
        json_object_set_new(line, "class", json_string(ESTIMATE_MEMORY));
        json_object_set_new(line, "message", json_string("it needs more"));
        estimate_notes(lines, &said);
        if (!strstr(said.data, rows[i].text))
            fail_msg("no '%s' in\n%s", rows[i].text, said.data);
        bn_text_free(&said);
        json_decref(lines);
    }
}

/* libtpu's peak includes the host's share; the table shows the device's. */
static void peaks_are_of_the_device(void **state)
{
    (void)state;
    assert_true(res_device_peak(12, 8) == 4 && res_device_peak(12, 0) == 12);
    assert_true(res_device_peak(12, -1) == 12 && res_device_peak(-1, 8) == -1);
    assert_true(res_device_peak(7, 8) == 7); /* it has nothing of the host's */
    json_t *line = line_of(0, "step", "v4:1x1x1", 1e6), *lines = json_pack("[o]", line);
    json_t *memory = json_object_get(json_object_get(line, "estimate"), "memory");
    json_object_set_new(memory, "peak", json_integer(9000000000));
    json_object_set_new(memory, "host_temp", json_integer(7900000000));
    bn_text text = {0}, csv = {0};
    estimate_table(lines, RES_TABLE_TEXT, &text);
    assert_non_null(strstr(text.data, "1.10 GB"));
    assert_null(strstr(text.data, "9.00 GB"));
    estimate_table(lines, RES_TABLE_CSV, &csv);
    assert_non_null(strstr(csv.data, ",9000000000,"));
    bn_text_free(&text);
    bn_text_free(&csv);
    json_decref(lines);
}

static double amount_at(const void *amounts, size_t index)
{
    return ((const double *)amounts)[index];
}

/* All that look for the most memory do it by this. */
static void the_largest_is_unknown_where_one_is(void **state)
{
    (void)state;
    static const double amounts[] = {3, 7, 0, -1, 9, (double)NAN, 2};
    assert_true(res_largest_known(amount_at, amounts, 0, 3) == 7);
    assert_true(res_largest_known(amount_at, amounts, 2, 3) == 0);
    assert_true(res_largest_known(amount_at, amounts, 0, 4) == -1);
    assert_true(res_largest_known(amount_at, amounts, 4, 6) == -1);
    assert_true(res_largest_known(amount_at, amounts, 6, 6) == -1);
}

/* Of a step of which one graph does not fit, the memory of the others is not the most. */
static void what_does_not_fit_has_no_memory(void **state)
{
    (void)state;
    res_collection all;
    bn_text text = {0}, rows = {0};
    json_t *fits = line_of(0, "forward", "v4:1x1x1/megacore", 2.1e6);
    json_t *larger = line_of(0, "backward", "v4:1x1x1/megacore", 1);
    json_object_set_new(json_object_get(json_object_get(fits, "estimate"), "memory"), "peak",
                        json_integer(7000));
    json_object_set_new(larger, "class", json_string(ESTIMATE_MEMORY));
    json_object_set_new(larger, "estimate", json_pack("{ss}", "class", ESTIMATE_MEMORY));
    estimate_time_line(larger);
    json_t *lines = json_pack("[oo]", fits, larger);
    assert_true(estimate_largest(lines, 0, 1, "memory", "temp") == 5000);
    assert_true(estimate_largest(lines, 0, 2, "memory", "temp") == -1);
    estimate_table(lines, RES_TABLE_TEXT, &text);
    assert_non_null(strstr(text.data, "5.00 kB"));
    assert_non_null(strstr(text.data, "7.00 kB"));
    const char *whole = strstr(text.data, " all ");
    assert_non_null(whole);
    assert_null(strstr(whole, "5.00 kB"));
    assert_null(strstr(whole, "7.00 kB"));
    keep(lines, 1, &all);
    res_table("estimates", &all, RES_TABLE_JSON, &rows);
    json_t *table = json_loads(rows.data, 0, NULL);
    const json_t *first = json_array_get(json_object_get(table, "rows"), 0);
    assert_string_equal(json_string_value(json_object_get(first, "graph")), "all");
    assert_true(isnan(res_estimate_number(first, "device_peak_bytes")));
    json_decref(table);
    bn_text_free(&text);
    bn_text_free(&rows);
    res_collection_free(&all);
}

/* A recorded step of one program that runs eight times: its row is of one run, so there is another
 * of the step. */
static void a_record_says_how_often_a_program_runs(void **state)
{
    (void)state;
    res_collection all;
    bn_text text = {0}, rows = {0}, csv = {0};
    json_t *line = line_of(0, "multiply", "v4:1x1x1/megacore", 2.1e6);
    json_object_set_new(line, "times_a_step", json_integer(8));
    keep(json_pack("[o]", line), 1, &all);
    res_table("estimates", &all, RES_TABLE_JSON, &rows);
    json_t *table = json_loads(rows.data, 0, NULL), *list = json_object_get(table, "rows");
    assert_int_equal(json_array_size(list), 2);
    const json_t *one = json_array_get(list, 0), *whole = json_array_get(list, 1);
    assert_true(res_estimate_number(one, "per_step") == 8);
    assert_true(res_estimate_number(one, "estimated_cycles") == 2.1e6);
    assert_string_equal(json_string_value(json_object_get(whole, "graph")), "all");
    assert_true(json_is_null(json_object_get(whole, "per_step")));
    assert_true(res_estimate_number(whole, "estimated_cycles") == 16.8e6);
    res_table("estimates", &all, RES_TABLE_TEXT, &text);
    assert_non_null(strstr(text.data, "a step"));
    assert_non_null(strstr(text.data, "16.8 M"));
    /* Both rows have all columns. */
    res_table("estimates", &all, RES_TABLE_CSV, &csv);
    assert_non_null(strstr(csv.data, ",multiply,8,"));
    assert_non_null(strstr(csv.data, ",all,,"));
    json_decref(table);
    bn_text_free(&text);
    bn_text_free(&rows);
    bn_text_free(&csv);
    res_collection_free(&all);
}

/* bert_pytorch was measured without its heads: only the scope bert counts. */
static void of_a_measured_part_its_scope_counts(void **state)
{
    (void)state;
    static const struct {
        const char *scope;
        double cycles;
    } scopes[] = {{"bert", 1e6}, {"bert.embedding.token", 2e6}, {"bert2", 4e6}, {"mask_lm", 8e6}};
    json_t *line = line_of(0, "step", "v4:1x1x1/megacore", 30e6);
    json_t *list = json_object_get(json_object_get(line, "estimate"), "scopes");
    json_t *experiment = json_object_get(line, "experiment"), *lines = json_pack("[o]", line);
    bn_text out = {0};
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        json_array_append_new(list,
                              json_pack("{ss ss ss sf sf ss}", "name", scopes[i].scope, "what", "",
                                        "scope", "", "cycles", scopes[i].cycles, "times", 1.0,
                                        "why", ""));
    json_object_set_new(experiment, "model", json_string("bert_pytorch"));
    json_object_set_new(experiment, "phase", json_string("infer"));
    json_object_set_new(experiment, "batch", json_integer(16));
    estimate_with_published(lines, RES_TABLE_CSV, &out);
    assert_non_null(strstr(out.data, ",scope bert,2.857,4.310,host,\"below, 0.66 of it\","));
    bn_text_free(&out);
    json_decref(lines);
}

/* Memories and FLOPs have more than ten digits. */
static void csv_has_all_digits(void **state)
{
    (void)state;
    json_t *line = line_of(0, "step", "v4:1x1x1", 12345678901234), *lines = json_pack("[o]", line);
    json_t *memory = json_object_get(json_object_get(line, "estimate"), "memory");
    json_object_set_new(memory, "peak", json_integer(33178255361));
    json_object_set_new(line, "flops", json_real(784123456789));
    bn_text csv = {0};
    estimate_table(lines, RES_TABLE_CSV, &csv);
    assert_non_null(strstr(csv.data, ",12345678901234,"));
    assert_non_null(strstr(csv.data, ",33178255361,"));
    assert_non_null(strstr(csv.data, ",784123456789,"));
    /* A clock is no whole number. */
    assert_non_null(strstr(csv.data, ",1.05,"));
    bn_text_free(&csv);
    json_decref(lines);
}

/* Records have the counts that make an estimate too low, and the memory, as the command's lines do.
 */
static void a_record_says_what_is_lacking(void **state)
{
    (void)state;
    res_collection all;
    bn_text text = {0}, rows = {0};
    json_t *line = line_of(0, "forward", "v4:1x1x1/megacore", 2.1e6);
    json_t *found = json_object_get(line, "estimate"), *memory = json_object_get(found, "memory");
    json_object_set_new(found, "loops", json_pack("[{sf} {sf}]", "times", -1.0, "times", 8.0));
    json_object_set_new(found, "collectives",
                        json_pack("[{sn} {sn} {sf}]", "cycles", "cycles", "cycles", 5.0));
    json_object_set_new(found, "silent", json_pack("[{sn}]", "cycles"));
    json_object_set_new(memory, "peak", json_integer(12000000000));
    json_object_set_new(memory, "host_temp", json_integer(7900000000));
    json_t *other = line_of(0, "update", "v4:1x1x1/megacore", 1.05e6);
    json_object_set_new(json_object_get(other, "estimate"), "silent", json_pack("[{} {}]"));
    keep(json_pack("[oo]", line, other), 1, &all);
    const json_t *estimate = res_record_estimate(all.records[0]);
    assert_true(res_estimate_number(estimate, "untold_loops") == 1);
    assert_true(res_estimate_number(estimate, "collectives") == 2);
    assert_true(res_estimate_number(estimate, "silent") == 3);
    const json_t *update = json_array_get(json_object_get(estimate, "graphs"), 1);
    assert_true(res_estimate_number(update, "untold_loops") == 0);
    assert_true(res_estimate_number(update, "silent") == 2);
    res_table("estimates", &all, RES_TABLE_TEXT, &text);
    assert_non_null(strstr(text.data, "in 1 of 1 steps"));
    res_table("estimates", &all, RES_TABLE_JSON, &rows);
    json_t *table = json_loads(rows.data, 0, NULL);
    const json_t *first = json_array_get(json_object_get(table, "rows"), 0);
    assert_true(res_estimate_number(first, "peak_bytes") == 12e9);
    assert_true(res_estimate_number(first, "device_peak_bytes") == 4.1e9);
    assert_true(res_estimate_number(first, "untold_loops") == 1);
    assert_true(res_estimate_number(first, "collectives") == 2);
    json_decref(table);
    bn_text_free(&text);
    bn_text_free(&rows);
    res_collection_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_lists_keep_their_sums),
        cmocka_unit_test(steps_that_do_not_fit_have_remedies),
        cmocka_unit_test(peaks_are_of_the_device),
        cmocka_unit_test(the_largest_is_unknown_where_one_is),
        cmocka_unit_test(what_does_not_fit_has_no_memory),
        cmocka_unit_test(a_record_says_how_often_a_program_runs),
        cmocka_unit_test(of_a_measured_part_its_scope_counts),
        cmocka_unit_test(csv_has_all_digits),
        cmocka_unit_test(a_record_says_what_is_lacking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
