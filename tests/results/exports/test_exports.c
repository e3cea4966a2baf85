/*
 * test_exports.c - what all exports share: names of experiments, times, files, and what is
 * refused. Needs no plugin.
 */
#include "tests/results/exports/exports_fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- names --------------------------------------------------------------------------- */

static void names_are_the_same_for_two_builds_and_tell_devices_apart(void **state)
{
    (void)state;
    res_collection all = sample();
    bn_text name = {0}, other = {0};
    strcpy(all.records[0]->experiment.runtime, "/builds/a/plugin one.so");
    res_export_name(all.records[0], ':', &name);
    assert_string_equal(name.data, "resnet50/train/lazy/variant:full/graphs:2/batch:4/image:64/"
                                   "dtype:f32/layout:nhwc/runtime:plugin_one.so");
    strcpy(all.records[0]->experiment.runtime, "/builds/b/plugin one.so");
    res_export_name(all.records[0], ':', &other);
    assert_string_equal(name.data, other.data);
    bn_text_clear(&name);
    res_export_name(all.records[1], '=', &name);
    assert_non_null(strstr(name.data, "/trace_cost_ns=17000/"));
    assert_string_equal(strrchr(name.data, '/'), "/simulated");
    bn_text_clear(&name);
    res_export_label(all.records[1], &name);
    assert_string_equal(name.data, "simulated, emulated front end of 17000 ns a node");

    char commit[RES_COMMIT_TEXT];
    res_export_commit(all.records[0], commit);
    assert_string_equal(commit, "0123abcd");
    res_export_commit(all.records[1], commit);
    assert_string_equal(commit, "5feceb66ffc86f38d952786c6d696c79c2dbc239");
    /* Other texts than digests are no commits. */
    json_object_set_new(json_object_get(all.records[1]->provenance, "runtime"), "sha256",
                        json_string("../../zz"));
    res_export_commit(all.records[1], commit);
    assert_string_equal(commit, "0000000000000000000000000000000000000000");
    bn_text_free(&name);
    bn_text_free(&other);
    drop(&all);
}

static void names_have_no_blanks_of_any_alphabet(void **state)
{
    (void)state;
    res_collection all = sample();
    bn_text name = {0};
    strcpy(all.records[0]->experiment.model, "a\tb\xc2\xa0"
                                             "c\xe2\x80\x89"
                                             "d\xe2\x80\xa8"
                                             "e\xc3\xa9\xe2\x80\x94");
    res_export_name(all.records[0], ':', &name);
    /* Other characters than blanks stay, in as many bytes. */
    assert_int_equal(strncmp(name.data, "a_b__c___d___e\xc3\xa9\xe2\x80\x94/train/", 26), 0);
    bn_text_free(&name);
    drop(&all);
}

/* Invisible characters would make two names of one. */
static void names_have_plain_signs_only(void **state)
{
    (void)state;
    res_collection all = sample();
    bn_text name = {0};
    strcpy(all.records[0]->experiment.model, "a\x1b"
                                             "b\xc2\x9b"
                                             "c\xe2\x80\xae"
                                             "d\xff");
    res_export_name(all.records[0], ':', &name);
    assert_int_equal(strncmp(name.data, "a_b__c___d_/train/", 18), 0);
    bn_text_free(&name);
    drop(&all);
}

static void safe_is(const char *text, const char *wanted)
{
    bn_text safe = {0};
    res_export_put_safe(&safe, text, "._-", "", 40);
    assert_string_equal(safe.data, wanted);
    bn_text_free(&safe);
}

/* The digits are of the SHA-256 of the text, as sha256sum has it. */
static void parts_of_paths_are_safe(void **state)
{
    (void)state;
    safe_is("host-1.example", "host-1.example");
    safe_is("..", "_._5ec1f7e7");
    safe_is("../../x", "_._.._x_9cdf6a50");
    safe_is("a\x1b", "a__1f858a18");
    safe_is("", "__e3b0c442");
    safe_is("nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
            "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn_174f1403");
}

/* Settings may be as long as flags of a compiler are; two of them differ in one character. */
static void give_long_settings(res_collection *all)
{
    for (size_t i = 0; i < 2; i++) {
        res_experiment *e = &all->records[i]->experiment;
        memset(e->settings, 'x', sizeof e->settings - 1);
        e->settings[sizeof e->settings - 2] = i == 0 ? '=' : '_';
        e->trace_cost_ns = 0;
        all->records[i]->simulated = false;
    }
}

static void names_of_files_are_short_and_stay_two(void **state)
{
    (void)state;
    res_collection all = sample();
    give_long_settings(&all);
    res_export xla = made(&all, "xla"), asv = made(&all, "asv");
    json_t *baseline = json_of(file_with(&xla, "baseline.yml")), *value;
    json_t *list = json_of(file_with(&asv, "results/benchmarks.json"));
    const char *name;
    assert_int_equal(json_object_size(baseline), 2);
    json_object_foreach(baseline, name, value)
    {
        assert_int_equal(strlen(name), 160);
    }
    assert_int_equal(json_object_size(list), 4); /* the failure and the version */
    json_object_foreach(list, name, value)
    {
        assert_true(strlen(name) <= 200);
    }
    json_decref(baseline);
    json_decref(list);
    res_export_free(&xla);
    res_export_free(&asv);
    drop(&all);
}

/* "a=1" and "a_1" are letters, digits and underscores alike, and not one baseline. */
static void ids_of_xla_tell_characters_apart(void **state)
{
    (void)state;
    res_collection all = sample();
    give_long_settings(&all);
    strcpy(all.records[0]->experiment.settings, "a=1");
    strcpy(all.records[1]->experiment.settings, "a_1");
    res_export xla = made(&all, "xla");
    json_t *baseline = json_of(file_with(&xla, "baseline.yml"));
    assert_int_equal(json_object_size(baseline), 2);
    assert_non_null(json_object_get(baseline, "resnet50_train_lazy_variant_full_graphs_2_batch_4_"
                                              "image_64_dtype_f32_layout_nhwc_settings_a_1_"
                                              "runtime_cpu"));
    json_decref(baseline);
    res_export_free(&xla);
    drop(&all);
}

static void times_are_those_of_ids(void **state)
{
    (void)state;
    res_collection all = sample();
    char date[32];
    strcpy(all.records[0]->id, "20261121T061605.250000000Z-vm-1-0");
    assert_true(res_export_time(all.records[0]) == 1795241765.25);
    res_export_date(all.records[0], date);
    assert_string_equal(date, "2026-11-21T06:16:05+00:00");
    strcpy(all.records[0]->id, "odd");
    assert_true(res_export_time(all.records[0]) == 0);
    drop(&all);
}

/* ---- files ---------------------------------------------------------------------------- */

static void exports_overwrite_by_force_only(void **state)
{
    (void)state;
    char folder[512], output[600];
    bn_status st = {0};
    res_collection all = sample();
    fixture_folder(folder, sizeof folder, "exports");
    snprintf(output, sizeof output, "%s/a.json", folder);
    res_export file = made(&all, "hyperfine"), tree = made(&all, "asv");
    assert_int_equal(res_export_write(&file, output, false, &st), BN_OK);
    assert_int_equal(res_export_write(&file, output, false, &st), BN_INVALID);
    assert_non_null(strstr(st.message, output));
    assert_int_equal(res_export_write(&file, output, true, &st), BN_OK);
    snprintf(output, sizeof output, "%s/tree/deep", folder);
    assert_int_equal(res_export_write(&tree, output, false, &st), BN_OK);
    /* If one of the files exists, the whole folder is unchanged. */
    snprintf(output, sizeof output, "%s/tree/deep/results/benchmarks.json", folder);
    assert_int_equal(unlink(output), 0);
    snprintf(output, sizeof output, "%s/tree/deep", folder);
    assert_int_equal(res_export_write(&tree, output, false, &st), BN_INVALID);
    snprintf(output, sizeof output, "%s/tree/deep/results/benchmarks.json", folder);
    assert_int_not_equal(access(output, F_OK), 0);
    /* Unless somebody wants that. */
    snprintf(output, sizeof output, "%s/tree/deep", folder);
    assert_int_equal(res_export_write(&tree, output, true, &st), BN_OK);
    snprintf(output, sizeof output, "%s/tree/deep/results/benchmarks.json", folder);
    assert_int_equal(access(output, F_OK), 0);
    res_export_free(&file);
    res_export_free(&tree);
    drop(&all);
}

/* Whatever a writer makes a name of: it is within the folder, or nothing is written. */
static void names_outside_of_the_folder_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {
        "../outside", "results/../../outside", "/outside", "results//x", ".", "results/.",
        "results/",   "a\x1b[31m/x",           "a\nb",     "\xc2\x9b",   ""};
    char folder[256], output[300], outside[300], longest[4001];
    bn_status st = {0};
    fixture_folder(folder, sizeof folder, "exports");
    snprintf(output, sizeof output, "%s/inner", folder);
    snprintf(outside, sizeof outside, "%s/outside", folder);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        res_export export = {.folder = true};
        bn_text_puts(res_export_add(&export, "good"), "good");
        bn_text_puts(res_export_add(&export, "%s", names[i]), "bad");
        assert_int_equal(res_export_write(&export, output, false, &st), BN_FORMAT);
        assert_int_equal(access(output, F_OK), -1);
        assert_int_equal(access(outside, F_OK), -1);
        res_export_free(&export);
    }
    /* A name is not cut in silence: two files would become one. */
    memset(longest, 'n', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    res_export export = {.folder = true};
    bn_text_puts(res_export_add(&export, "%s", longest), "bad");
    assert_int_equal(strlen(export.files[0].path), 4000);
    assert_int_equal(res_export_write(&export, output, false, &st), BN_FORMAT);
    res_export_free(&export);
}

static void formats_and_empty_stores_are_refused(void **state)
{
    (void)state;
    bn_status st = {0};
    res_export export;
    res_collection all = sample(), none = {0};
    assert_int_equal(res_export_make(&all, "xml", &export, &st), BN_INVALID);
    assert_non_null(strstr(st.message, "google-benchmark"));
    res_export_free(&export);
    assert_int_equal(res_export_make(&none, "xspace", &export, &st), BN_INVALID);
    assert_non_null(strstr(st.message, "xspace"));
    res_export_free(&export);
    drop(&all);
}

/* The second file meets a full disk: a limit on the size of files is as good as one. */
static void what_could_not_be_finished_is_taken_back(void **state)
{
    (void)state;
    bn_status st = {0};
    char output[300], path[400];
    struct rlimit before;
    res_export export = {.folder = true};
    fixture_folder(output, sizeof output, "half");
    bn_text_puts(res_export_add(&export, "one/small.json"), "{}\n");
    bn_text *large = res_export_add(&export, "two/deep/large.json");
    for (int i = 0; i < 5000; i++)
        bn_text_puts(large, "0123456789");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit little = {.rlim_cur = 16384, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    const bn_code code = res_export_write(&export, output, false, &st);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(code, BN_IO);
    assert_non_null(strstr(st.message, "File too large"));
    static const char *const gone[] = {"one", "two"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", output, gone[i]);
        assert_int_equal(access(path, F_OK), -1);
    }
    /* So the same export can be tried again. */
    assert_int_equal(res_export_write(&export, output, false, &st), BN_OK);
    res_export_free(&export);
}

/* Whether a file of EXPORT has TEXT. */
static bool says(const res_export *export, const char *text)
{
    for (size_t i = 0; i < export->count; i++)
        if (export->files[i].bytes.data && strstr(export->files[i].bytes.data, text))
            return true;
    return false;
}

/* A failure of an experiment that is good, too: before it, after it, with samples and without. */
static void a_failure_among_good_ones_is_in_every_export(void **state)
{
    (void)state;
    bn_text names = {0};
    res_export_names(&names);
    char *rest = names.data;
    for (const char *format; (format = strtok_r(rest, ", ", &rest));) {
        for (int turn = 0; turn < 4; turn++) {
            res_collection all = sample();
            res_record *failed = all.records[2], *good = all.records[0];
            strcpy(failed->experiment.mode, good->experiment.mode);
            json_decref(failed->provenance);
            failed->provenance = json_deep_copy(good->provenance);
            if (turn % 2) {
                char id[sizeof good->id];
                memcpy(id, good->id, sizeof id);
                memcpy(good->id, failed->id, sizeof id);
                memcpy(failed->id, id, sizeof id);
                all.records[0] = failed;
                all.records[2] = good;
            }
            for (size_t x = 0; turn / 2 && x < failed->execution_count; x++)
                failed->executions[x].pjrt_count = 0;
            failed->warmup_count = turn / 2 ? 0 : failed->warmup_count;
            res_export export = made(&all, format);
            const bool named = says(&export, failed->id) && says(&export, "out-of-memory");
            if (named == (export.left_out == 1) || export.left_out != !strcmp(format, "xspace"))
                fail_msg("%s, turn %d: named %d, left out %zu", format, turn, named,
                         export.left_out);
            if (strcmp(format, "asv") == 0)
                assert_true(says(&export, "\"bench_failures\": [{\"name\":"));
            res_export_free(&export);
            drop(&all);
        }
    }
    bn_text_free(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_among_good_ones_is_in_every_export),
        cmocka_unit_test(names_are_the_same_for_two_builds_and_tell_devices_apart),
        cmocka_unit_test(names_have_no_blanks_of_any_alphabet),
        cmocka_unit_test(names_have_plain_signs_only),
        cmocka_unit_test(parts_of_paths_are_safe),
        cmocka_unit_test(names_outside_of_the_folder_are_refused),
        cmocka_unit_test(names_of_files_are_short_and_stay_two),
        cmocka_unit_test(ids_of_xla_tell_characters_apart),
        cmocka_unit_test(times_are_those_of_ids),
        cmocka_unit_test(exports_overwrite_by_force_only),
        cmocka_unit_test(what_could_not_be_finished_is_taken_back),
        cmocka_unit_test(formats_and_empty_stores_are_refused),
    };
    res_store_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
