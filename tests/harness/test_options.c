/* test_options.c - the rows of options: values, defaults, refusals, help and manual. */
#include "tests/harness/options_fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void parse_fails(unsigned command, char *one, char *two, const char *text)
{
    options o;
    bn_status st = {0};
    const char *word[1];
    int words;
    char *argv[] = {one, two};
    assert_fails(options_parse(command, two ? 2 : 1, argv, memory, &o, word, 1, &words, &st),
                 BN_INVALID, text, &st);
}

static void options_take_values_and_defaults(void **state)
{
    (void)state;
    char *argv[] = {"--model", "resnet18",         "--steps=7", "--runtime-option",
                    "a=1",     "--runtime-option", "b=2",       "--verbose"};
    options o = parse(OPTION_RUN, argv, 8);
    assert_string_equal(o.matrix.axis[RES_AXIS_MODEL].value[0].word, "resnet18");
    assert_string_equal(o.matrix.axis[RES_AXIS_MODE].value[0].word, "lazy");
    assert_int_equal(o.matrix.steps, 7);
    assert_string_equal(o.matrix.runtime_option[1], "b=2");
    assert_null(o.matrix.runtime_option[2]);
    assert_true(o.output.verbose);
    json_t *echo = cli_echo(options_table(), OPTION_RUN, &o);
    assert_string_equal(json_string_value(json_object_get(echo, "model")), "resnet18");
    assert_int_equal(json_integer_value(json_object_get(echo, "steps")), 7);
    assert_int_equal(json_array_size(json_object_get(echo, "runtime-option")), 2);
    json_decref(echo);
}

static void options_refuse_nonsense(void **state)
{
    (void)state;
    parse_fails(OPTION_RUN, "--fast", NULL, "no option --fast");
    parse_fails(OPTION_TABLE, "--steps", "3", "does not take --steps");
    parse_fails(OPTION_RUN, "--steps", "many", "'many'");
    parse_fails(OPTION_RUN, "--steps", "0", "from 1");
    parse_fails(OPTION_RUN, "--min-time", "-1", "a time, 500ms");
    parse_fails(OPTION_RUN, "--min-time", "nan", "nan");
    parse_fails(OPTION_RUN, "--model", NULL, "needs a value");
    parse_fails(OPTION_RUN, "--verbose=1", NULL, "takes no value");
    parse_fails(OPTION_RUN, "--runtime-option", "x", "NAME=VALUE");
}

static void every_option_is_in_help_and_man(void **state)
{
    (void)state;
    static const char *const wanted[][2] = {{"model", "model"},     {"mode", "mode"},
                                            {"phase", "phase"},     {"batch", "batch"},
                                            {"image", "image"},     {"dtype", "dtype"},
                                            {"graphs", "graphs"},   {"runtime", "runtime"},
                                            {"steps", "steps"},     {"min-time", "min\\-time"},
                                            {"warmup", "warmup"},   {"in-flight", "in\\-flight"},
                                            {"pin", "pin"},         {"cache-dir", "cache\\-dir"},
                                            {"store", "store"},     {"format", "format"},
                                            {"timeout", "timeout"}, {"seed", "seed"},
                                            {"verbose", "verbose"}};
    bn_text help = {0}, man = {0};
    cli_help(options_table(), OPTION_RUN, &help);
    cli_man(options_table(), OPTION_RUN, &man);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char name[64];
        snprintf(name, sizeof name, "  --%s ", wanted[i][0]);
        assert_non_null(strstr(help.data, name));
        snprintf(name, sizeof name, ".B \\-\\-%s", wanted[i][1]);
        assert_non_null(strstr(man.data, name));
    }
    /* Each command has its own. */
    bn_text_clear(&man);
    cli_man(options_table(), OPTION_TABLE, &man);
    assert_non_null(strstr(man.data, ".B \\-\\-table "));
    assert_null(strstr(man.data, ".B \\-\\-steps"));
    bn_text_free(&help);
    bn_text_free(&man);
}

/* A number alone would leave open whether it is of seconds. */
static void defaults_of_times_have_units(void **state)
{
    (void)state;
    static const struct {
        uint32_t command;
        const char *help, *man;
    } cases[] = {{OPTION_RUN, " [1 s]\n", "(default: 1 s)"},
                 {OPTION_RUN, " [1800 s]\n", "(default: 1800 s)"},
                 {OPTION_COMPARE, " [0 s]\n", "(default: 0 s)"},
                 {OPTION_HISTORY, " [12 h]\n", "(default: 12 h)"},
                 /* Other numbers have none. */
                 {OPTION_RUN, " [60]\n", "(default: 60)"},
                 {OPTION_HISTORY, " [0.05]\n", "(default: 0.05)"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bn_text help = {0}, man = {0};
        cli_help(options_table(), cases[i].command, &help);
        cli_man(options_table(), cases[i].command, &man);
        if (!strstr(help.data, cases[i].help) || !strstr(man.data, cases[i].man))
            fail_msg("no '%s' or no '%s'", cases[i].help, cases[i].man);
        bn_text_free(&help);
        bn_text_free(&man);
    }
}

/* A file of defaults is judged by what rows say that they take. */
static void formats_say_what_they_take(void **state)
{
    (void)state;
    const cli_table *table = options_table();
    size_t formats = 0;
    for (size_t i = 0; i < table->count; i++) {
        const cli_option *row = &table->rows[i];
        /* --format of export and import is called --to and --from. */
        if (strcmp(row->name, "format") != 0)
            continue;
        formats++;
        assert_non_null(row->takes);
        assert_true(bn_is_choice(row->fallback, row->takes));
        for (const char *at = row->takes; *at; at += strspn(at, ", ")) {
            char word[32];
            const size_t length = strcspn(at, ",");
            snprintf(word, sizeof word, "%.*s", (int)length, at);
            if (!strstr(row->text, word))
                fail_msg("the help of --format does not say %s: %s", word, row->text);
            at += length;
        }
    }
    assert_true(formats > 1);
}

static void two_hyphens_end_the_options(void **state)
{
    (void)state;
    options o;
    bn_status st = {0};
    const char *word[4];
    int words;
    char *list[] = {"--", "models"};
    assert_ok(options_parse(OPTION_LIST, 2, list, memory, &o, word, 1, &words, &st), &st);
    assert_int_equal(words, 1);
    assert_string_equal(word[0], "models");
}

/* What is run says which options fit. */
static void programs_and_recordings_have_their_own(void **state)
{
    (void)state;
    static const struct {
        char *argv[4];
        const char *text;
    } wrong[] = {
        {{"--recording", "r", "--program", "p"}, "give --program or --recording, not both"},
        {{"--recording", "r", "--model", "gpt2"}, "--recording runs a step as it was recorded"},
        {{"--program", "p", "--mode", "lazy"}, "--program runs a text as it is, so --mode"},
        {{"--recording", "r", "--argument", "f32[]"}, "--argument is for --program"},
        {{"--cost", "roofline", "--steps", "3"}, "--cost is for --recording"},
        {{"--step-program", "x", "--steps", "3"}, "--step-program is for --recording"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        options o;
        bn_status st = {0};
        int words;
        char *argv[4];
        memcpy(argv, wrong[i].argv, sizeof argv);
        assert_fails(options_parse(OPTION_COMPARE, 4, argv, memory, &o, NULL, 0, &words, &st),
                     BN_INVALID, wrong[i].text, &st);
    }
    char *argv[] = {"--recording", "r", "--process", "4711"};
    options o = parse(OPTION_COMPARE, argv, 4);
    assert_string_equal(o.matrix.recorded.folder, "r");
    assert_int_equal(o.matrix.recorded.process, 4711);
    assert_string_equal(o.matrix.recorded.cost, "recorded");
    assert_string_equal(o.what, "recording");
    char *replay[] = {"--step-program", "x", "--model", "mine"};
    o = parse(OPTION_REPLAY, replay, 4);
    assert_string_equal(o.matrix.recorded.step_program, "x");
    assert_string_equal(o.matrix.recorded.name, "mine");
}

/* Of a program that is recorded, no word is ours. */
static void a_program_has_its_own_options(void **state)
{
    (void)state;
    options o;
    bn_status st = {0};
    const char *word[4];
    int words;
    char *plain[] = {"--limit=2M", "python", "--output", "-h"};
    assert_ok(options_parse(OPTION_RECORD, 4, plain, memory, &o, word, 4, &words, &st), &st);
    assert_int_equal(words, 3);
    assert_string_equal(word[0], "python");
    assert_string_equal(word[2], "-h");
    assert_null(o.recording.folder);
    assert_false(o.help);
    assert_true(o.recording.limit_bytes == 2097152);
    char *behind[] = {"--output", "x", "--", "--", "-h"};
    assert_ok(options_parse(OPTION_RECORD, 5, behind, memory, &o, word, 4, &words, &st), &st);
    assert_int_equal(words, 2);
    assert_string_equal(word[0], "--");
    assert_string_equal(o.recording.folder, "x");
    assert_string_equal(o.recording.runtime, "auto");
    assert_true(o.recording.limit_bytes == 1073741824);
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
        options o = parse(OPTION_RECORD, argv, 1);
        assert_true(o.recording.limit_bytes == cases[i].bytes);
    }
    parse_fails(OPTION_RECORD, "--limit", "10", "from 65536");
    parse_fails(OPTION_RECORD, "--limit", "10X", "a size, 512M or 2G");
    parse_fails(OPTION_RECORD, "--limit", "-1G", "a size, 512M or 2G");
    parse_fails(OPTION_RECORD, "--limit", "9999999999T", "4194304T");
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
        options o = parse(OPTION_RUN, argv, 2);
        assert_true(fabs(o.matrix.min_time - cases[i].seconds) < 1e-12 * cases[i].seconds);
        o = parse(OPTION_HISTORY, night, 2);
        assert_true(fabs(o.series.night_hours - cases[i].hours) < 1e-12 * cases[i].hours);
    }
    parse_fails(OPTION_HISTORY, "--night-hours", "12x", "a time, 12h, 90m or 12 for 12 hours");
    parse_fails(OPTION_PUBLISH, "--night-hours", "-1h", "a time");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(options_take_values_and_defaults, begin, end),
        cmocka_unit_test_setup_teardown(options_refuse_nonsense, begin, end),
        cmocka_unit_test(every_option_is_in_help_and_man),
        cmocka_unit_test(defaults_of_times_have_units),
        cmocka_unit_test(formats_say_what_they_take),
        cmocka_unit_test_setup_teardown(two_hyphens_end_the_options, begin, end),
        cmocka_unit_test_setup_teardown(programs_and_recordings_have_their_own, begin, end),
        cmocka_unit_test_setup_teardown(a_program_has_its_own_options, begin, end),
        cmocka_unit_test_setup_teardown(sizes_have_units, begin, end),
        cmocka_unit_test_setup_teardown(times_have_units, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
