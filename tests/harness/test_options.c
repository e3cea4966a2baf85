/* test_options.c - the rows of options: values, defaults, refusals, help and manual. */
#include "results/tables/tables.h"
#include "tests/harness/options_fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void parse_fails(const cli_command *command, char *one, char *two, const char *text)
{
    bn_status st = {0};
    cli_call call;
    char *argv[] = {one, two};
    assert_fails(read_line(command, argv, two ? 2 : 1, &call, &st), BN_INVALID, text, &st);
}

static void options_take_values_and_defaults(void **state)
{
    (void)state;
    char *argv[] = {"--model", "resnet18",         "--steps=7", "--runtime-option",
                    "a=1",     "--runtime-option", "b=2",       "--verbose"};
    json_t *echo = parse(&command_run, argv, 8);
    assert_string_equal(text_of(echo, "model"), "resnet18");
    assert_string_equal(text_of(echo, "mode"), "lazy");
    assert_int_equal(json_integer_value(json_object_get(echo, "steps")), 7);
    assert_true(json_is_true(json_object_get(echo, "verbose")));
    const json_t *pairs = json_object_get(echo, "runtime-option");
    assert_int_equal(json_array_size(pairs), 2);
    assert_string_equal(json_string_value(json_array_get(pairs, 1)), "b=2");
    json_decref(echo);
}

static void options_refuse_nonsense(void **state)
{
    (void)state;
    parse_fails(&command_run, "--fast", NULL, "--fast");
    parse_fails(&command_table, "--steps", "3", "--steps");
    parse_fails(&command_run, "--steps", "many", "'many'");
    parse_fails(&command_run, "--steps", "0", "from 1");
    parse_fails(&command_run, "--min-time", "-1", "-1");
    parse_fails(&command_run, "--min-time", "nan", "nan");
    parse_fails(&command_run, "--model", NULL, "--model");
    parse_fails(&command_run, "--verbose=1", NULL, "--verbose");
    parse_fails(&command_run, "--runtime-option", "x", "NAME=VALUE");
}

/* The default matrix is that of bench run: suites begin with it. */
static void a_matrix_alone_is_that_of_bench_run(void **state)
{
    (void)state;
    job_matrix *usual = bn_arena_zalloc(memory, sizeof *usual);
    job_matrix_usual(usual, memory);
    json_t *alone = job_matrix_echo(usual), *run = parse(&command_run, NULL, 0), *value;
    const char *name;
    size_t count = 0;
    json_object_foreach(alone, name, value)
    {
        if (!json_equal(value, json_object_get(run, name)))
            fail_msg("--%s differs", name);
        count++;
    }
    assert_true(count > RES_AXIS_COUNT);
    json_decref(alone);
    json_decref(run);
}

static void every_option_is_in_help_and_man(void **state)
{
    (void)state;
    bn_text help = {0}, man = {0};
    const cli_table *run = cli_rows(&command_run);
    cli_help(run, &help);
    cli_man(run, &man);
    for (size_t i = 0; i < run->count; i++) {
        char name[64];
        bn_text dashed = {0};
        for (const char *at = run->rows[i].name; *at; at++)
            bn_text_printf(&dashed, "%s%c", *at == '-' ? "\\" : "", *at);
        snprintf(name, sizeof name, "  --%s%s", run->rows[i].name,
                 run->rows[i].argument ? " " : "");
        assert_non_null(strstr(help.data, name));
        snprintf(name, sizeof name, ".B \\-\\-%s", dashed.data);
        assert_non_null(strstr(man.data, name));
        bn_text_free(&dashed);
    }
    /* Each command has its own. */
    bn_text_clear(&man);
    cli_man(cli_rows(&command_table), &man);
    assert_non_null(strstr(man.data, ".B \\-\\-table "));
    assert_null(strstr(man.data, ".B \\-\\-steps "));
    bn_text_free(&help);
    bn_text_free(&man);
}

/* A number alone would leave open whether it is of seconds. */
static void defaults_of_times_have_units(void **state)
{
    (void)state;
    static const struct {
        const cli_command *command;
        const char *help, *man;
    } cases[] = {{&command_run, " [1 s]\n", "(default: 1 s)"},
                 {&command_run, " [1800 s]\n", "(default: 1800 s)"},
                 {&compare_command, " [0 s]\n", "(default: 0 s)"},
                 {&command_history, " [12 h]\n", "(default: 12 h)"},
                 /* Other numbers have none. */
                 {&command_run, " [60]\n", "(default: 60)"},
                 {&command_history, " [0.05]\n", "(default: 0.05)"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bn_text help = {0}, man = {0};
        cli_help(cli_rows(cases[i].command), &help);
        cli_man(cli_rows(cases[i].command), &man);
        if (!strstr(help.data, cases[i].help) || !strstr(man.data, cases[i].man))
            fail_msg("no '%s' or no '%s'", cases[i].help, cases[i].man);
        bn_text_free(&help);
        bn_text_free(&man);
    }
}

static const cli_command *const all[] = {
    &command_run,     &compare_command,        &suite_command,    &night_command,
    &verify_command,  &selftest_command,       &command_table,    &command_report,
    &command_history, &command_metrics,        &command_list,     &command_export,
    &command_import,  &command_export_weights, &command_doctor,   &explain_command,
    &command_diff,    &study_command,          &scopes_command,   &estimate_command,
    &command_graph,   &command_record,         &command_steps,    &selftest_replay_command,
    &cli_completion};
#define ALL (sizeof all / sizeof *all)

/* A file of defaults is judged by what rows say that they take. */
static void formats_say_what_they_take(void **state)
{
    (void)state;
    size_t formats = 0;
    for (size_t c = 0; c < ALL; c++) {
        const cli_table *table = cli_rows(all[c]);
        for (size_t i = 0; i < table->count; i++) {
            const cli_option *row = &table->rows[i];
            /* --format of export and import is called --to and --from. */
            if (strcmp(row->name, "format") != 0)
                continue;
            formats++;
            assert_non_null(row->choices);
            assert_true(bn_is_choice(row->fallback, row->choices));
            for (const char *at = row->choices; *at; at += strspn(at, ", ")) {
                char word[32];
                const size_t length = strcspn(at, ",");
                snprintf(word, sizeof word, "%.*s", (int)length, at);
                if (!strstr(row->text, word))
                    fail_msg("the help of --format does not say %s: %s", word, row->text);
                at += length;
            }
        }
    }
    assert_true(formats > 10);
    assert_string_equal(cli_output_table()->rows[0].choices, RES_FORMAT_NAMES);
}

/* Each command has each option once, reads its own defaults, and says how to call it. */
static void commands_are_whole(void **state)
{
    (void)state;
    for (size_t c = 0; c < ALL; c++) {
        const cli_table *table = cli_rows(all[c]);
        for (size_t i = 0; i < table->count; i++)
            for (size_t k = 0; k < i; k++)
                if (strcmp(table->rows[i].name, table->rows[k].name) == 0)
                    fail_msg("bench %s has --%s twice", all[c]->name, table->rows[i].name);
        for (size_t i = 0; i < table->count; i++)
            assert_true(table->rows[i].offset < all[c]->size);
        json_t *echo = parse(all[c], NULL, 0);
        assert_int_equal(json_object_size(echo), table->count);
        assert_non_null(json_object_get(echo, "help"));
        assert_non_null(json_object_get(echo, "quiet"));
        assert_non_null(strstr(all[c]->usage, all[c]->name));
        json_decref(echo);
    }
}

static void two_hyphens_end_the_options(void **state)
{
    (void)state;
    bn_status st = {0};
    cli_call call;
    char *list[] = {"--", "models"};
    assert_ok(read_line(&command_list, list, 2, &call, &st), &st);
    assert_int_equal(call.word_count, 1);
    assert_string_equal(call.words[0], "models");
    assert_null(call.words[1]);
}

/* Options depend on what is run: models, a program or a recording. */
static void programs_and_recordings_have_their_own(void **state)
{
    (void)state;
    static const struct {
        char *argv[4];
        const char *text;
    } wrong[] = {
        {{"--recording", "r", "--program", "p"}, "--program"},
        {{"--recording", "r", "--model", "gpt2"}, "--model"},
        {{"--program", "p", "--mode", "lazy"}, "--mode"},
        {{"--recording", "r", "--argument", "f32[]"}, "--argument"},
        {{"--cost", "roofline", "--steps", "3"}, "--cost"},
        {{"--step-program", "x", "--steps", "3"}, "--step-program"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bn_status st = {0};
        cli_call call;
        char *argv[4];
        memcpy(argv, wrong[i].argv, sizeof argv);
        assert_fails(read_line(&compare_command, argv, 4, &call, &st), BN_INVALID, wrong[i].text,
                     &st);
    }
    char *argv[] = {"--recording", "r", "--process", "4711"};
    bn_status st = {0};
    cli_call call;
    assert_ok(read_line(&compare_command, argv, 4, &call, &st), &st);
    assert_string_equal(cli_given(&call, JOB_ABOUT_WORK), "recording");
    assert_null(cli_given(&call, JOB_ABOUT_PAIRS));
    json_t *echo = cli_echo(call.table, call.options);
    assert_string_equal(text_of(echo, "recording"), "r");
    assert_int_equal(json_integer_value(json_object_get(echo, "process")), 4711);
    assert_string_equal(text_of(echo, "cost"), "recorded");
    json_decref(echo);
    char *replay[] = {"--step-program", "x", "--model", "mine"};
    echo = parse(&selftest_replay_command, replay, 4);
    assert_string_equal(text_of(echo, "step-program"), "x");
    assert_string_equal(text_of(echo, "model"), "mine");
    json_decref(echo);
}

/* Of a program that is recorded, no word is ours. */
static void a_program_has_its_own_options(void **state)
{
    (void)state;
    bn_status st = {0};
    cli_call call;
    char *plain[] = {"--limit=2M", "python", "--output", "-h"};
    assert_ok(read_line(&command_record, plain, 4, &call, &st), &st);
    assert_int_equal(call.word_count, 3);
    assert_string_equal(call.words[0], "python");
    assert_string_equal(call.words[2], "-h");
    assert_false(cli_was_given(&call, "help"));
    assert_false(cli_was_given(&call, "output"));
    json_t *echo = cli_echo(call.table, call.options);
    assert_true(json_real_value(json_object_get(echo, "limit")) == 2097152);
    json_decref(echo);
    char *behind[] = {"--output", "x", "--", "--", "-h"};
    assert_ok(read_line(&command_record, behind, 5, &call, &st), &st);
    assert_int_equal(call.word_count, 2);
    assert_string_equal(call.words[0], "--");
    echo = cli_echo(call.table, call.options);
    assert_string_equal(text_of(echo, "output"), "x");
    assert_string_equal(text_of(echo, "runtime"), "auto");
    assert_true(json_real_value(json_object_get(echo, "limit")) == 1073741824);
    json_decref(echo);
}

static void sizes_have_units(void **state)
{
    (void)state;
    static const struct {
        char *text;
        double bytes;
    } cases[] = {{"--limit=65536", 65536}, {"--limit=64K", 65536}, {"--limit=1.5G", 1610612736}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *argv[] = {cases[i].text};
        json_t *echo = parse(&command_record, argv, 1);
        assert_true(json_real_value(json_object_get(echo, "limit")) == cases[i].bytes);
        json_decref(echo);
    }
    parse_fails(&command_record, "--limit", "10", "65536");
    parse_fails(&command_record, "--limit", "10X", "'10X'");
    parse_fails(&command_record, "--limit", "-1G", "'-1G'");
    parse_fails(&command_record, "--limit", "9999999999T", "4194304T");
}

/* A number alone is of seconds, and of hours where nights are meant. */
static void times_have_units(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        double seconds, hours;
    } cases[] = {{"3", 3, 3},        {"500ms", 0.5, 0.5 / 3600}, {"90s", 90, 0.025},
                 {"90m", 5400, 1.5}, {"36h", 129600, 36},        {"0.5", 0.5, 0.5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *argv[] = {"--min-time", (char *)(uintptr_t)cases[i].word};
        char *night[] = {"--night-hours", argv[1]};
        json_t *run = parse(&command_run, argv, 2), *history = parse(&command_history, night, 2);
        const double seconds = json_real_value(json_object_get(run, "min-time"));
        const double hours = json_real_value(json_object_get(history, "night-hours"));
        assert_true(fabs(seconds - cases[i].seconds) < 1e-12 * cases[i].seconds);
        assert_true(fabs(hours - cases[i].hours) < 1e-12 * cases[i].hours);
        json_decref(run);
        json_decref(history);
    }
    parse_fails(&command_history, "--night-hours", "12x", "'12x'");
    parse_fails(&command_report, "--night-hours", "-1h", "'-1h'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(options_take_values_and_defaults, begin, end),
        cmocka_unit_test_setup_teardown(options_refuse_nonsense, begin, end),
        cmocka_unit_test_setup_teardown(a_matrix_alone_is_that_of_bench_run, begin, end),
        cmocka_unit_test(every_option_is_in_help_and_man),
        cmocka_unit_test(defaults_of_times_have_units),
        cmocka_unit_test(formats_say_what_they_take),
        cmocka_unit_test_setup_teardown(commands_are_whole, begin, end),
        cmocka_unit_test_setup_teardown(two_hyphens_end_the_options, begin, end),
        cmocka_unit_test_setup_teardown(programs_and_recordings_have_their_own, begin, end),
        cmocka_unit_test_setup_teardown(a_program_has_its_own_options, begin, end),
        cmocka_unit_test_setup_teardown(sizes_have_units, begin, end),
        cmocka_unit_test_setup_teardown(times_have_units, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
