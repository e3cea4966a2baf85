/*
 * test_axes.c - the table of axes (results/records/axes.def): each axis shows up wherever an
 * experiment does, from the command line to the shard key.
 */
#include "harness/campaign/suites_priv.h"
#include "results/tables/tables.h"
#include "tests/harness/options_fixture.h"
#include "tests/support/results_fixture.h"
#include "tests/support/test_runtime.h"

#include <stdio.h>
#include <string.h>

#define FOR_AXES(axis)                                                                             \
    for (const res_axis *axis = res_axes; axis < res_axes + RES_AXIS_COUNT; axis++)

/* An experiment as complete as records are, and the same with another value of AXIS. */
static void two_experiments(const res_axis *axis, res_experiment *usual, res_experiment *other)
{
    char word[RES_TEXT];
    res_experiment_usual(usual);
    strcpy(usual->layout, "nhwc");
    *other = *usual;
    const char *names = axis->names ? axis->names : "another,still-another";
    for (size_t i = 0; res_axis_order(axis, usual, other) == 0; i++) {
        const bool some = res_axis_word(names, i, word);
        assert_true(some);
        res_axis_set_value(axis, word, res_axis_number(axis, usual) + 1, other);
    }
}

static void records_and_json_hold_each(void **state)
{
    (void)state;
    FOR_AXES(axis)
    {
        res_experiment usual, other, back;
        bn_status st = {0};
        two_experiments(axis, &usual, &other);
        json_t *json = res_experiment_to_json(&other);
        assert_non_null(json_object_get(json, axis->field.name));
        assert_ok(res_experiment_from_json(json, &back, &st), &st);
        assert_memory_equal(&back, &other, sizeof back);
        json_decref(json);
    }
}

static void identities_differ_in_each(void **state)
{
    (void)state;
    FOR_AXES(axis)
    {
        res_experiment usual, other;
        char a[BN_SHA256_TEXT], b[BN_SHA256_TEXT];
        two_experiments(axis, &usual, &other);
        res_identity(&usual, "ab", 1, a);
        res_identity(&other, "ab", 1, b);
        assert_string_not_equal(a, b);
    }
}

/* A seed makes no step slower; all else makes another row, in one order or the other. */
static void tables_sort_by_each(void **state)
{
    (void)state;
    FOR_AXES(axis)
    {
        res_experiment usual, other;
        two_experiments(axis, &usual, &other);
        const int order = res_experiment_order(&usual, &other);
        assert_int_equal(order, -res_experiment_order(&other, &usual));
        assert_int_equal(order == 0, axis->role == RES_ROLE_SEED);
    }
}

static void cells_differ_in_each_of_the_setup(void **state)
{
    (void)state;
    FOR_AXES(axis)
    {
        res_experiment usual, other;
        bn_text a = {0}, b = {0};
        two_experiments(axis, &usual, &other);
        const bool setup = axis->role == RES_ROLE_SETUP;
        assert_int_equal(res_setup_difference(&usual, &other) != 0, setup);
        res_setup_text(&usual, res_setup_all(), &a);
        res_setup_text(&other, res_setup_all(), &b);
        assert_int_equal(strcmp(a.data, b.data) != 0, setup);
        bn_text_free(&a);
        bn_text_free(&b);
    }
}

/* Layout and settings are the runtime's, and a seed goes without saying. */
static void titles_say_each_that_is_asked_for(void **state)
{
    (void)state;
    FOR_AXES(axis)
    {
        res_experiment usual, other;
        bn_text a = {0}, b = {0};
        two_experiments(axis, &usual, &other);
        const bool said = axis->id != RES_AXIS_LAYOUT && axis->id != RES_AXIS_SETTINGS &&
                          axis->role != RES_ROLE_SEED;
        res_experiment_title(&usual, &a);
        res_experiment_title(&other, &b);
        assert_int_equal(strcmp(a.data, b.data) != 0, said);
        bn_text_free(&a);
        bn_text_free(&b);
    }
}

static void tables_have_a_column_of_each(void **state)
{
    (void)state;
    const fixture_case c = {"cpu", "resnet18", "train", "lazy", 1, 1, 1000, 1000000, 9e5, 10};
    res_record *record = fixture_record(&c, 20);
    const res_collection all = {.records = &record, .count = 1};
    bn_text csv = {0}, json = {0};
    res_table_speedup(&all, RES_TABLE_CSV, &csv);
    res_table_speedup(&all, RES_TABLE_JSON, &json);
    *strchr(csv.data, '\n') = '\0';
    FOR_AXES(axis)
    {
        char name[80];
        if (axis->role == RES_ROLE_SEED)
            continue;
        snprintf(name, sizeof name, ",%s,", axis->field.name);
        assert_non_null(strstr(csv.data, name));
        snprintf(name, sizeof name, "\"%s\":", axis->field.name);
        assert_non_null(strstr(json.data, name));
    }
    bn_text_free(&csv);
    bn_text_free(&json);
    res_record_free(record);
}

static bool has_row(const cli_command *command, const res_axis *axis)
{
    const cli_table *table = cli_rows(command);
    bool found = false;
    for (size_t i = 0; i < table->count; i++)
        found = found || strcmp(table->rows[i].name, axis->option) == 0;
    return found;
}

static void options_help_and_manual_have_each(void **state)
{
    (void)state;
    static const cli_command *const commands[] = {&command_run, &compare_command, &command_history,
                                                  &command_report};
    bn_text help = {0}, man = {0};
    cli_help(cli_rows(&command_run), &help);
    cli_man(cli_rows(&command_run), &man);
    FOR_AXES(axis)
    {
        char name[80];
        if (!axis->option)
            continue;
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
            assert_true(has_row(commands[i], axis));
        snprintf(name, sizeof name, "  --%s ", axis->option);
        assert_non_null(strstr(help.data, name));
        bn_text roff = {0};
        bn_text_puts(&roff, ".B \\-\\-");
        for (const char *c = axis->option; *c; c++)
            bn_text_printf(&roff, *c == '-' ? "\\%c" : "%c", *c);
        assert_non_null(strstr(man.data, roff.data));
        bn_text_free(&roff);
    }
    /* An axis without an option is computed from others. */
    assert_null(res_axes[RES_AXIS_SETTINGS].option);
    bn_text_free(&help);
    bn_text_free(&man);
}

static void matrices_give_each_to_experiments(void **state)
{
    (void)state;
    FOR_AXES(axis)
    {
        memory = bn_arena_new(4096);
        char option[80], value[RES_TEXT] = "";
        res_experiment usual, other;
        two_experiments(axis, &usual, &other);
        if (!axis->option || axis->id == RES_AXIS_INPUT) {
            bn_arena_free(memory);
            continue;
        }
        bn_text word = {0};
        res_axis_put(axis, &other, &word);
        snprintf(value, sizeof value, "%s", word.data);
        bn_text_free(&word);
        snprintf(option, sizeof option, "--%s=%s", axis->option, value);
        char *argv[] = {option};
        const job_matrix *m = parse_matrix(argv, 1);
        assert_int_equal(m->axis[axis->id].count, 1);
        if (axis->field.kind == RES_KIND_TEXT)
            assert_string_equal(m->axis[axis->id].value[0].word, value);
        else
            assert_int_equal(m->axis[axis->id].value[0].number,
                             res_axis_number(axis, &other));
        bn_arena_free(memory);
    }
}

static void suites_have_a_member_of_each(void **state)
{
    (void)state;
    FOR_AXES(axis)
    {
        suite_member member;
        if (!axis->option)
            continue;
        assert_non_null(axis->suite);
        assert_true(suite_member_of(axis->suite, &member));
        assert_ptr_equal(member.axis, axis);
    }
}

/* Identities computed before the table of axes existed: suites of then are resumed. */
static void identities_are_those_of_before(void **state)
{
    (void)state;
    res_experiment e;
    char identity[BN_SHA256_TEXT];
    res_experiment_usual(&e);
    strcpy(e.model, "llama");
    strcpy(e.variant, "small");
    strcpy(e.phase, "infer");
    strcpy(e.layout, "nhwc");
    e.batch = 1;
    e.seq = 16;
    res_identity(&e, "ad1309ac822b1b24d51b7f9947c7c9fa9ef5d67f390584cbc3d1fa2428fed9c2", 1,
                 identity);
    assert_string_equal(identity,
                        "adff3a84e8f8ee6a06b50c29271ec59d5a01b3624d6fbf8cadc5d048a2d30d1e");
}

/* Ways and runtimes stand side by side in a table, so they are run by one shard. */
static void shards_are_dealt_by_each_cell(void **state)
{
    (void)state;
    FOR_AXES(axis)
    {
        res_experiment usual, other;
        bool differ = false;
        two_experiments(axis, &usual, &other);
        for (uint64_t seed = 1; seed <= 64; seed++) {
            if (axis->id != RES_AXIS_SEED)
                usual.seed = other.seed = seed;
            else
                usual.seed = seed, other.seed = seed + 100;
            differ = differ || suite_shard_of(&usual, 7) != suite_shard_of(&other, 7);
        }
        assert_int_equal(differ, axis->shard);
        if (axis->role == RES_ROLE_WAY || axis->role == RES_ROLE_BLOCK)
            assert_false(axis->shard);
        if (axis->role == RES_ROLE_CELL)
            assert_true(axis->shard);
    }
}

/* A record that was made before an axis reads as its usual value, and is the same experiment. */
static void later_axes_are_not_missed(void **state)
{
    (void)state;
    FOR_AXES(axis)
    {
        res_experiment usual, back;
        char a[BN_SHA256_TEXT], b[BN_SHA256_TEXT];
        bn_status st = {0};
        res_experiment_usual(&usual);
        json_t *json = res_experiment_to_json(&usual);
        json_object_del(json, axis->field.name);
        bn_code code = res_experiment_from_json(json, &back, &st);
        json_decref(json);
        assert_int_equal(code, axis->field.later ? BN_OK : BN_FORMAT);
        if (code != BN_OK)
            continue;
        res_identity(&usual, "ab", 1, a);
        res_identity(&back, "ab", 1, b);
        assert_string_equal(a, b);
    }
}

/* An axis that a newer bench has tells apart what would be one experiment here. */
static void an_axis_that_is_not_known_is_refused(void **state)
{
    (void)state;
    res_experiment usual, back;
    bn_status st = {0};
    res_experiment_usual(&usual);
    json_t *json = res_experiment_to_json(&usual);
    assert_ok(res_experiment_from_json(json, &back, &st), &st);
    json_object_set_new(json, "phase_of_the_moon", json_string("full"));
    assert_fails(res_experiment_from_json(json, &back, &st), BN_FORMAT, "phase_of_the_moon", &st);
    json_decref(json);
}

/* One answer for the doctor, tables, nights, identities and names. */
static void bench_is_its_own_front_end(void **state)
{
    (void)state;
    static const struct {
        const char *front_end;
        bool ours;
    } rows[] = {{"bench", true}, {"", true}, {"jax", false}, {"jax 0.10.2", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        res_experiment e;
        res_experiment_usual(&e);
        strcpy(e.runtime, "cuda");
        snprintf(e.front_end, sizeof e.front_end, "%s", rows[i].front_end);
        assert_int_equal(res_is_ours(&e), rows[i].ours);
        assert_int_equal(res_has_own_plugin(&e), !rows[i].ours);
        assert_int_equal(res_is_lazy(&e), rows[i].ours);
        assert_int_equal(strcmp(res_way_of(&e).text, "lazy") == 0, rows[i].ours);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_and_json_hold_each),
        cmocka_unit_test(identities_differ_in_each),
        cmocka_unit_test(tables_sort_by_each),
        cmocka_unit_test(cells_differ_in_each_of_the_setup),
        cmocka_unit_test(titles_say_each_that_is_asked_for),
        cmocka_unit_test(tables_have_a_column_of_each),
        cmocka_unit_test(options_help_and_manual_have_each),
        cmocka_unit_test(matrices_give_each_to_experiments),
        cmocka_unit_test(suites_have_a_member_of_each),
        cmocka_unit_test(identities_are_those_of_before),
        cmocka_unit_test(shards_are_dealt_by_each_cell),
        cmocka_unit_test(later_axes_are_not_missed),
        cmocka_unit_test(an_axis_that_is_not_known_is_refused),
        cmocka_unit_test(bench_is_its_own_front_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
