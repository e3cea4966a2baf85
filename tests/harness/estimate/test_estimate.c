/* test_estimate.c - lines of estimates: figures, clocks, published times, what goes to the
 * simulator, the picture, what is kept. */
#include "tests/harness/estimate/estimate_fixture.h"

#include <fcntl.h>
#include <math.h>

static void amounts_have_three_digits(void **state)
{
    (void)state;
    static const struct {
        double amount;
        const char *unit, *text;
    } rows[] = {{0, "B", "0 B"},         {7, "B", "7 B"},         {0.5, "s", "0.50 s"},
                {999, "", "999"},        {999.6, "B", "1.00 kB"}, {12345, "", "12.3 k"},
                {1.5e9, "B", "1.50 GB"}, {-1, "B", "-"},          {148.2, "s", "148 s"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bn_text text = {0};
        estimate_put_amount(&text, rows[i].amount, rows[i].unit);
        assert_string_equal(text.data, rows[i].text);
        bn_text_free(&text);
    }
}

static void unknown_figures_are_reported(void **state)
{
    (void)state;
    json_t *line = line_of(0, "step", "v4:1x1x1", 2.1e6);
    assert_true(estimate_figure(line, NULL, "cycles") == 2.1e6);
    assert_true(estimate_figure(line, "memory", "temp") == 5000);
    assert_true(estimate_figure(line, "memory", "peak") == -1);
    assert_true(estimate_figure(line, "nothing", "peak") == -1);
    json_t *list = json_pack("[oo]", line, line_of(0, "update", "v4:1x1x1", 1e6));
    assert_true(estimate_sum(list, 0, 2, NULL, "cycles") == 3.1e6);
    assert_true(estimate_sum(list, 0, 2, "memory", "peak") == -1);
    assert_int_equal(estimate_step_end(list, 0), 2);
    json_array_append_new(list, line_of(1, "step", "v4:1x1x1", 1));
    assert_int_equal(estimate_step_end(list, 0), 2);
    json_decref(list);
}

static void a_step_executes_programs_more_than_once(void **state)
{
    (void)state;
    bn_text out = {0};
    json_t *list =
        json_pack("[oo]", line_of(0, "a", "v4:1x1x1", 1e6), line_of(0, "b", "v4:1x1x1", 2e6));
    assert_true(estimate_times(json_array_get(list, 0)) == 1);
    json_object_set_new(json_array_get(list, 0), "times_a_step", json_integer(3));
    assert_true(estimate_times(json_array_get(list, 0)) == 3);
    assert_true(estimate_sum(list, 0, 2, NULL, "cycles") == 3e6);
    assert_true(estimate_sum_of_step(list, 0, 2, "cycles") == 5e6);
    assert_true(estimate_sum_of_step(list, 0, 2, "nothing") == -1);
    estimate_table(list, RES_TABLE_TEXT, &out);
    assert_non_null(strstr(out.data, "a, 3 a step"));
    const char *all = strstr(out.data, " all ");
    assert_non_null(all);
    assert_non_null(strstr(all, " 5.00 "));
    assert_null(strstr(all, " 3.00 "));
    bn_text_free(&out);
    json_decref(list);
}

static void a_clock_makes_milliseconds(void **state)
{
    (void)state;
    const char *source = NULL;
    json_t *line = line_of(0, "step", "v4:1x1x1/megacore", 18.82e6);
    const double ms = json_number_value(json_object_get(line, "estimated_ms"));
    assert_true(ms > 17.92 && ms < 17.93);
    json_decref(line);
    line = line_of(0, "step", "v40:1x1x1", 18.82e6);
    assert_true(json_is_null(json_object_get(line, "estimated_ms")));
    json_decref(line);
    assert_true(estimate_clock("v6e:1x1", &source) == 0);
    assert_true(estimate_clock("v5e:2x2", &source) == 1.5);
    assert_non_null(strstr(source, "scaling-book"));
    assert_true(estimate_clock("v5p:1x1x1", &source) == 1.75);
    assert_non_null(strstr(source, "scaling-book"));
    /* 3.5e6 cycles at 1.75e9 a second. */
    line = line_of(0, "step", "v5p:1x1x1", 3.5e6);
    assert_true(json_number_value(json_object_get(line, "estimated_ms")) == 2);
    json_decref(line);
}

static void published_times_are_of_one_setup(void **state)
{
    (void)state;
    estimate_time found = {0};
    res_experiment what;
    json_t *line = line_of(0, "step", "v4:1x1x1/megacore", 1);
    assert_true(estimate_what(line, &what));
    assert_true(estimate_published(&what, "v4:1x1x1/megacore", NULL, &found));
    assert_true(found.ms == 17.85 && !found.wall);
    assert_non_null(strstr(found.source, "4475"));
    assert_false(estimate_published(&what, "v4:1x1x1", NULL, &found));
    assert_false(estimate_published(&what, "v4:1x1x1/megacore", "step", &found));
    /* Another optimizer is another program; ResNet50's own has a name, too. */
    snprintf(what.optimizer, sizeof what.optimizer, "adamw");
    assert_false(estimate_published(&what, "v4:1x1x1/megacore", NULL, &found));
    snprintf(what.optimizer, sizeof what.optimizer, "sgd");
    assert_true(estimate_published(&what, "v4:1x1x1/megacore", NULL, &found));
    static const struct {
        res_axis_id axis;
        const char *other, *usual;
    } axes[] = {{RES_AXIS_DROPOUT, "off", "default"},
                {RES_AXIS_SCAN, "on", "off"},
                {RES_AXIS_REMAT, "layer", "none"},
                {RES_AXIS_OFFLOAD, "activations", "none"},
                {RES_AXIS_SETTINGS, "xla_flag=1", ""}};
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        res_axis_set_value(&res_axes[axes[i].axis], axes[i].other, 0, &what);
        assert_false(estimate_published(&what, "v4:1x1x1/megacore", NULL, &found));
        res_axis_set_value(&res_axes[axes[i].axis], axes[i].usual, 0, &what);
        assert_true(estimate_published(&what, "v4:1x1x1/megacore", NULL, &found));
    }
    what.graphs = 5;
    assert_true(estimate_published(&what, "v4:1x1x1/megacore", "forward", &found));
    assert_true(found.ms == 9.6 && !found.scope);
    /* The published update had no momentum, and ours has. */
    assert_false(estimate_published(&what, "v4:1x1x1/megacore", "update", &found));
    what.batch = 64;
    assert_false(estimate_published(&what, "v4:1x1x1/megacore", "forward", &found));
    what.batch = 32;
    what.image = 64;
    assert_false(estimate_published(&what, "v4:1x1x1/megacore", "forward", &found));
    json_decref(line);
}

/* Others than ResNet50's are of hosts that waited. */
static void published_times_of_hosts_say_so(void **state)
{
    (void)state;
    estimate_time found = {0};
    res_experiment what;
    res_experiment_usual(&what);
    snprintf(what.model, sizeof what.model, "vgg16");
    snprintf(what.phase, sizeof what.phase, "infer");
    what.batch = 4;
    what.image = 224;
    snprintf(what.optimizer, sizeof what.optimizer, "adamw"); /* inference has none */
    assert_true(estimate_published(&what, "v4:1x1x1/megacore", NULL, &found));
    assert_true(found.ms == 5.98695 && found.wall);
    assert_non_null(strstr(found.source, "87741"));
    snprintf(what.model, sizeof what.model, "vit_small_patch16_224");
    snprintf(what.phase, sizeof what.phase, "train");
    what.batch = 128;
    assert_true(estimate_published(&what, "v3:2x2", NULL, &found));
    assert_true(found.ms > 226.05 && found.ms < 226.06 && found.wall);
    snprintf(what.optimizer, sizeof what.optimizer, "sgd"); /* its own is AdamW */
    assert_false(estimate_published(&what, "v3:2x2", NULL, &found));
}

static void what_is_not_a_result_is_noticed(void **state)
{
    (void)state;
    static const char *const bad[] = {"{}",
                                      "{\"class\": 1}",
                                      "{\"class\": \"ok\"}",
                                      "{\"class\": \"ok\", \"cycles\": -1}",
                                      "{\"class\": \"ok\", \"cycles\": 1, \"copies\": {}}",
                                      "[]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *value = json_loads(bad[i], 0, NULL);
        assert_false(estimate_sound(value));
        json_decref(value);
    }
    assert_false(estimate_sound(NULL));
    json_t *good = result_of(5);
    assert_true(estimate_sound(good));
    /* Each list that a line in JSON has. */
    static const char *const lists[] = {"copies", "collectives", "loops",  "branches",
                                        "scopes", "costly",      "silent", "layouts"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        json_object_del(good, lists[i]);
        assert_false(estimate_sound(good));
        json_object_set_new(good, lists[i], json_array());
    }
    assert_true(estimate_sound(good));
    json_decref(good);
}

static void the_simulator_is_given_one_time_a_graph(void **state)
{
    (void)state;
    char path[256];
    bn_status st = {0};
    json_error_t error;
    temporary(path);
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    json_t *lines =
        json_pack("[ooo]", line_of(0, "step", "v4:1", 2.1e6), line_of(1, "forward", "v4:1", 1.05e6),
                  line_of(2, "step", "v4:1", 2.1e6));
    assert_ok(estimate_into_sim(lines, path, &st), &st);
    json_t *settings = json_load_file(path, 0, &error);
    assert_string_equal(json_string_value(json_object_get(settings, "preset")), "tpu-v4");
    assert_string_equal(json_string_value(json_object_get(settings, "stated")),
                        "bench_step:2000.000000;bench_forward:1000.000000");
    /* Other steps have modules of these names, and other cuts have others. */
    assert_string_equal(json_string_value(json_object_get(settings, "kind")),
                        "v4:1, estimated times of resnet50 train b32 f32");
    assert_true(json_is_true(json_object_get(settings, "stated_only")));
    json_decref(settings);
    json_array_append_new(lines, line_of(3, "forward", "v4:1", 1e6));
    assert_fails(estimate_into_sim(lines, path, &st), BN_INVALID, "graphs called forward", &st);
    json_array_clear(lines);
    assert_fails(estimate_into_sim(lines, path, &st), BN_INVALID, "nothing was estimated", &st);
    /* A missing time is no usage error: the step does not fit, or the clock is unknown. */
    json_array_append_new(lines, line_of(0, "step", "v6e:1x1", 1e6));
    assert_fails(estimate_into_sim(lines, path, &st), BN_NOT_SUPPORTED, "no estimated time", &st);
    json_array_clear(lines);
    json_array_append_new(lines, line_of(0, "step", "v4:1", 1e6));
    json_object_set_new(json_array_get(lines, 0), "class", json_string(ESTIMATE_MEMORY));
    assert_fails(estimate_into_sim(lines, path, &st), BN_NOT_SUPPORTED, "no estimated time", &st);
    json_decref(lines);
    unlink(path);
}

/* A line of llama with DEPTH layers (0: its own number), as one loop or not. */
static json_t *layered(int step, int depth, const char *scan, double cycles)
{
    json_t *line = line_of(step, "step", "v5e:1x1", cycles);
    json_t *what = json_object_get(line, "experiment"), *found = json_object_get(line, "estimate");
    json_object_set_new(what, "model", json_string("llama"));
    json_object_set_new(what, "depth", json_integer(depth));
    json_object_set_new(what, "scan", json_string(scan));
    json_object_set_new(line, "text_bytes", json_integer(2000));
    json_object_set_new(line, "trace_ns", json_integer(7000));
    json_object_set_new(found, "compile_cpu_s", json_real(3));
    json_object_set_new(found, "serialized_bytes", json_integer(5000000));
    return line;
}

/* The file PATH, which is removed. */
static char *taken(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    bn_status st = {.code = BN_OK};
    assert_ok(bn_regular_read(path, &text, &size, &st), &st);
    unlink(path);
    return text;
}

static void figures_over_depth_are_drawn(void **state)
{
    (void)state;
    char path[300];
    bn_status st = {.code = BN_OK};
    temporary(path);
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    strcat(path, ".gp");
    /* llama's own number of layers is 4. */
    json_t *lines = json_pack("[oooo]", layered(0, 8, "off", 3e6), layered(1, 0, "off", 1.5e6),
                              layered(2, 0, "on", 6e6), layered(3, 8, "on", 9e6));
    assert_ok(estimate_picture(lines, path, &st), &st);
    char *text = taken(path);
    static const char *const said[] = {"$panel4_0 << EOD\n4 1\n8 2\n",
                                       "$panel4_1 << EOD\n4 4\n8 6\n",
                                       "estimated time (ms)",
                                       "$panel3_0 << EOD\n4 0.005\n8 0.005\n",
                                       "$panel2_1 << EOD\n4 7\n8 7\n",
                                       "$panel1_1 << EOD\n4 2\n8 2\n",
                                       "unrolled",
                                       "scanned",
                                       "v5e:1x1, llama full train",
                                       "Estimated by the compiler"};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (!strstr(text, said[i]))
            fail_msg("no '%s' in\n%s", said[i], text);
    free(text);
    /* Without a clock of all of them there are cycles; what does not fit has no time. */
    json_object_set_new(json_array_get(lines, 3), "estimated_ms", json_null());
    json_object_set_new(json_array_get(lines, 0), "class", json_string(ESTIMATE_MEMORY));
    assert_ok(estimate_picture(lines, path, &st), &st);
    text = taken(path);
    assert_non_null(strstr(text, "estimated Mcycles"));
    assert_non_null(strstr(text, "$panel4_0 << EOD\n4 1.5\n\nNaN NaN"));
    assert_non_null(strstr(text, "$panel4_1 << EOD\n4 6\n8 9\n"));
    free(text);
    json_array_remove(lines, 3);
    json_array_remove(lines, 0);
    assert_fails(estimate_picture(lines, path, &st), BN_NOT_FOUND, "two values of layers", &st);
    json_array_clear(lines);
    assert_fails(estimate_picture(lines, path, &st), BN_NOT_FOUND, "nothing was estimated", &st);
    json_decref(lines);
}

/* That is known before anything is compiled. */
static void a_picture_needs_two_numbers_of_layers(void **state)
{
    static job_experiment list[3]; /* large */
    bn_status st = {.code = BN_OK};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        res_experiment_usual(&list[i].what);
        snprintf(list[i].what.model, sizeof list[i].what.model, "llama");
    }
    list[1].what.depth = 4; /* llama's own number */
    list[2].what.depth = 8;
    assert_fails(estimate_picture_check(list, 1, &st), BN_INVALID, "two values of layers", &st);
    assert_fails(estimate_picture_check(list, 2, &st), BN_INVALID, "two values of layers", &st);
    assert_ok(estimate_picture_check(list, 3, &st), &st);
}

static void what_was_compiled_is_kept_by_all_it_depends_on(void **state)
{
    (void)state;
    char folder[256], command[300];
    static const char *const option[] = {"a=1", NULL}, *const none[] = {NULL};
    temporary(folder);
    assert_non_null(mkdtemp(folder));
    const int fd = open(folder, O_RDONLY | O_DIRECTORY);
    estimate_key key = {.sha256 = "0123",
                        .topology = "v4:1",
                        .option = none,
                        .flag = none,
                        .text = "module",
                        .length = 6};
    json_t *result = result_of(7);
    assert_null(estimate_cache_get(fd, &key));
    estimate_cache_put(fd, &key, result);
    json_t *again = estimate_cache_get(fd, &key);
    assert_true(json_equal(again, result));
    estimate_key others[7] = {key, key, key, key, key, key, key};
    others[0].sha256 = "0124";
    others[1].topology = "v4:2";
    others[2].option = option;
    others[3].flag = option;
    others[4].length = 5;
    others[5].format = "hlo";
    others[6].text = NULL;
    others[6].digest = "0123";
    for (size_t i = 0; i < 7; i++)
        assert_null(estimate_cache_get(fd, &others[i]));
    char digest[BN_SHA256_TEXT];
    bn_sha256("module", 6, digest);
    const estimate_key of_file = {.sha256 = "0123",
                                  .topology = "v4:1",
                                  .option = none,
                                  .flag = none,
                                  .format = "mlir",
                                  .digest = digest};
    json_t *same = estimate_cache_get(fd, &of_file);
    assert_true(json_equal(same, result));
    json_decref(same);
    setenv("LIBTPU_INIT_ARGS", "--x", 1);
    assert_null(estimate_cache_get(fd, &key));
    unsetenv("LIBTPU_INIT_ARGS");
    estimate_cache_put(-1, &key, result);
    assert_null(estimate_cache_get(-1, &key));
    json_decref(again);
    json_decref(result);
    close(fd);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* ---- records ------------------------------------------------------------------------ */

static void a_step_becomes_a_record(void **state)
{
    (void)state;
    res_collection all, estimates;
    bn_text text = {0}, csv = {0};
    keep(json_pack("[oo]", line_of(0, "forward", "v4:1x1x1/megacore", 2.1e6),
                   line_of(0, "update", "v4:1x1x1/megacore", 1.05e6)),
         1, &all);
    const res_record *r = all.records[0];
    assert_string_equal(r->experiment.runtime, "libtpu.so v4:1x1x1 megacore (estimated)");
    assert_true(res_is_estimate(&r->experiment));
    assert_int_equal(r->status, BN_OK);
    assert_false(res_record_good(r)); /* nothing was measured */
    assert_true(isnan(res_step_device_ns(r)) && isnan(res_record_measures(r).device_ns));
    assert_int_equal(r->execution_count, 2);
    assert_int_equal(r->executions[0].temp_bytes, 5000);
    const json_t *estimate = res_record_estimate(r);
    assert_true(res_estimate_number(estimate, "cycles") == 3.15e6);
    assert_true(fabs(res_estimate_number(estimate, "ms") - 3) < 1e-9);
    assert_true(isnan(res_estimate_number(estimate, "memory_bytes")));
    assert_string_equal(json_string_value(json_object_get(estimate, "topology")),
                        "v4:1x1x1/megacore");
    res_estimates_split(&all, &estimates);
    assert_int_equal(all.count, 0);
    assert_int_equal(estimates.count, 1);
    res_table("estimates", &estimates, RES_TABLE_TEXT, &text);
    static const char *const said[] = {"Estimated, not measured",
                                       "estimated cycles",
                                       "(estimated)",
                                       "3.15 M",
                                       "3.00 ms",
                                       "forward",
                                       "all"};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (!strstr(text.data, said[i]))
            fail_msg("no '%s' in\n%s", said[i], text.data);
    if (strstr(text.data, "Too low"))
        fail_msg("nothing is lacking in\n%s", text.data);
    res_table("estimates", &estimates, RES_TABLE_CSV, &csv);
    assert_non_null(strstr(csv.data, ",estimated_cycles,"));
    bn_text_free(&text);
    bn_text_free(&csv);
    res_collection_free(&estimates);
    res_collection_free(&all);
}

static void a_step_without_an_estimate_becomes_one_too(void **state)
{
    (void)state;
    res_collection all;
    bn_text text = {0};
    json_t *line = line_of(0, "step", "v4:1x1x1/megacore", 1);
    json_object_set_new(line, "class", json_string(ESTIMATE_MEMORY));
    json_object_set_new(line, "message", json_string("it needs more"));
    json_object_set_new(line, "estimate", json_pack("{ss}", "class", ESTIMATE_MEMORY));
    estimate_time_line(line);
    keep(json_pack("[o]", line), 1, &all);
    assert_int_equal(all.records[0]->status, BN_OUT_OF_MEMORY);
    assert_string_equal(all.records[0]->message, "out-of-device-memory: it needs more");
    assert_true(isnan(res_estimate_number(res_record_estimate(all.records[0]), "cycles")));
    res_table("estimates", &all, RES_TABLE_TEXT, &text);
    assert_non_null(strstr(text.data, ESTIMATE_MEMORY));
    bn_text_free(&text);
    res_collection_free(&all);
}

static void half_a_step_becomes_none(void **state)
{
    (void)state;
    res_collection all;
    json_t *line = line_of(0, "forward", "v4:1x1x1/megacore", 1e6);
    json_object_set_new(line, "number", json_integer(1));
    json_object_set_new(line, "of", json_integer(3));
    keep(json_pack("[o]", line), 0, &all);
    res_collection_free(&all);
    line = line_of(0, "step", "v9:1", 1e6);
    json_object_set_new(line, "class", json_string(ESTIMATE_TOPOLOGY));
    keep(json_pack("[o]", line), 0, &all);
    res_collection_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_have_three_digits),
        cmocka_unit_test(unknown_figures_are_reported),
        cmocka_unit_test(a_step_executes_programs_more_than_once),
        cmocka_unit_test(a_clock_makes_milliseconds),
        cmocka_unit_test(published_times_are_of_one_setup),
        cmocka_unit_test(published_times_of_hosts_say_so),
        cmocka_unit_test(what_is_not_a_result_is_noticed),
        cmocka_unit_test(the_simulator_is_given_one_time_a_graph),
        cmocka_unit_test(figures_over_depth_are_drawn),
        cmocka_unit_test(a_picture_needs_two_numbers_of_layers),
        cmocka_unit_test(what_was_compiled_is_kept_by_all_it_depends_on),
        cmocka_unit_test(a_step_becomes_a_record),
        cmocka_unit_test(a_step_without_an_estimate_becomes_one_too),
        cmocka_unit_test(half_a_step_becomes_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
