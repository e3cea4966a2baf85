/* test_suite.c - suites: their files, what is wrong in them and where, experiments, shards,
 * order, identities. */
#define _GNU_SOURCE /* environ */
#include "tests/support/test_runtime.h"

#include "harness/campaign/suites_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

extern const cli_command suite_command;

/* Of all command lines. */
static bn_arena *memory;

/* The command line's options, with a store that does not exist. */
static suite_options command_line(char **argv, int argc)
{
    static char *first[] = {"smoke"};
    suite_options o;
    cli_call call;
    bn_status st = {0};
    char *line[32];
    memcpy(line, first, sizeof first);
    for (int i = 0; i < argc; i++)
        line[i + 1] = argv[i];
    assert_ok(cli_read_alone(&suite_command, argc + 1, line, &o, memory, &call, &st), &st);
    bn_text_free(&call.replaced);
    o.store = "no-such-store";
    return o;
}

static void open_text(suite_spec *suite, const char *text, const suite_options *o)
{
    bn_status st = {0};
    assert_ok(suite_parse("/suites/a.json", text, suite, &st), &st);
    assert_ok(suite_expand(suite, o, &st), &st);
    for (size_t i = 0; i < suite->count; i++)
        suite->items[i].sha256 = "00";
}

#define HEAD "{\"bench_suite\": 1, \"name\": \"a\", "

static bn_code read_and_expand(const char *text, suite_spec *suite, bn_status *st)
{
    const suite_options o = command_line(NULL, 0);
    bn_code code = suite_parse("a.json", text, suite, st);
    return code == BN_OK ? suite_expand(suite, &o, st) : code;
}

/* WANTED: the place in the file, and the names and values that the message is about. */
static void fails_at(const char *text, const char *wanted)
{
    suite_spec suite;
    bn_status st = {0};
    assert_fails(read_and_expand(text, &suite, &st), BN_INVALID, wanted, &st);
    suite_close(&suite);
}

static void errors_name_their_position(void **state)
{
    (void)state;
    fails_at("{\n \"name\": }", "a.json:2:10: ");
    fails_at("[]", "a.json:1:1: ");
    fails_at("{\"name\": \"a\", \"matrix\": [{}]}", "bench_suite");
    fails_at("{\"bench_suite\": 2}", "a.json:1:17: /bench_suite: ");
    fails_at(HEAD "\"matrix\": []}", "/matrix: ");
    fails_at(HEAD "\"matrix\": {}}", "/matrix: ");
    fails_at(HEAD "\n\"matrix\": [{\"models\": [\"gpt2\",\n  \"resnet51\"]}]}",
             "a.json:3:3: /matrix/0/models/1: |'resnet51'| resnet50?");
    fails_at(HEAD "\n\"matrix\": [{\"\\u006dodels\": 3}]}", "a.json:2:28: /matrix/0/models: ");
    fails_at(HEAD "\n \"matrix\": [{\"model\": \"gpt2\"}]}",
             "a.json:2:14: /matrix/0/model: | models?");
    fails_at(HEAD "\"matrx\": []}", "/matrx: | matrix?");
    fails_at(HEAD "\"matrix\": [{\"zzzz\": 1}]}", "/matrix/0/zzzz: ");
    fails_at(HEAD "\"matrix\": [{\"exlude\": []}]}", " exclude?| models");
    fails_at(HEAD "\"matrix\": [{\"runtimes\": [{\"name\": \"cpu\", \"optons\": {}}]}]}",
             " options?| name, label");
    fails_at(HEAD "\"matrix\": [{\"modes\": \"jit\"}]}", "'jit'| capture?");
    fails_at(HEAD "\"matrix\": [{\"device_time\": \"slop\"}]}",
             "'slop'| slope?| auto, slope, none");
    fails_at(HEAD "\"steps/a~b\": 1}", "a.json:1:33: /steps~1a~0b: ");
    fails_at(HEAD "\"matrix\": [{\"models\": []}]}", "/matrix/0/models: | 1 to 48 ");
    fails_at(HEAD "\"matrix\": [{\"batches\": [1, -1]}]}", "/matrix/0/batches/1: |0 to 1000000|-1");
    fails_at(HEAD "\"matrix\": [{\"batches\": 1.5}]}", "1.5");
    fails_at(HEAD "\"matrix\": [{\"graphs\": [4]}]}", "1, 2, 3 or 5 |not 4");
    fails_at(HEAD "\"defaults\": {\"steps\": \"3\"}}", "/defaults/steps: ");
    fails_at(HEAD "\"defaults\": {\"layout\": \"x\"}}", "/defaults/layout: ");
    fails_at(HEAD "\"defaults\": {\"include\": []}}", "/defaults/include: ");
    fails_at(HEAD "\"matrix\": [{\"runtimes\": [{\"label\": \"x\"}]}]}", "/matrix/0/runtimes/0: ");
    fails_at(HEAD "\"matrix\": [{\"runtimes\": [{\"name\": \"cpu\", \"options\": {\"a\": []}}]}]}",
             "/matrix/0/runtimes/0/options/a: ");
    fails_at(HEAD "\"matrix\": [{\"exclude\": [{\"steps\": 3}]}]}", "/matrix/0/exclude/0/steps: ");
    fails_at(HEAD "\"matrix\": [{\"exclude\": [{}]}]}", "/matrix/0/exclude/0: ");
    fails_at(HEAD "\"name\": \"b\"}", "a.json:1:");
    /* Faults that only the combinations show. */
    fails_at(HEAD "\"matrix\": [{\"modes\": \"lazy\", \"graphs\": 5}]}", "/matrix/0: ");
    fails_at(HEAD "\"matrix\": [{\"exclude\": [{\"models\": \"all\"}]}]}", "/matrix: ");
}

static void times_have_units(void **state)
{
    (void)state;
    suite_spec suite;
    const suite_options o = command_line(NULL, 0);
    open_text(&suite,
              HEAD
              "\"defaults\": {\"runtimes\": \"sim\", \"modes\": \"lazy\", \"timeout\": \"10m\"},"
              "\"matrix\": [{\"models\": \"gpt2\", \"min_time\": \"500ms\"},"
              "{\"models\": \"gpt2\", \"phases\": \"infer\", \"min_time\": 0.25}]}",
              &o);
    assert_true(suite.items[0].e.how.timeout == 600 && suite.items[0].e.how.min_time == 0.5);
    assert_true(suite.items[suite.count - 1].e.how.min_time == 0.25);
    suite_close(&suite);
    fails_at(HEAD "\"defaults\": {\"min_time\": \"3x\"}}",
             "/defaults/min_time: |'3x'|0 to 1000000000|\"500ms\", \"90s\"");
    fails_at(HEAD "\"defaults\": {\"timeout\": -1}}", "-1");
    fails_at(HEAD "\"defaults\": {\"timeout\": [1]}}", "/defaults/timeout");
    fails_at(HEAD "\"defaults\": {\"steps\": \"3s\"}}", "/defaults/steps: ");
}

static void faults_next_to_a_recording_are_reported(void **state)
{
    (void)state;
    fails_at(HEAD "\n\"matrix\": [{\"recording\": \"no/such\"}]}",
             "a.json:2:12: /matrix/0: recording no/such: ");
    fails_at(HEAD "\n\"matrix\": [{\"recording\": \"r\", \"models\": \"gpt2\"}]}",
             "a.json:2:31: /matrix/0/models: |'models'");
    fails_at(HEAD "\"matrix\": [{\"recording\": \"r\", \"include\": [{\"in_flight\": 2}]}]}",
             "/matrix/0/include/0/in_flight: ");
    fails_at(HEAD "\"matrix\": [{\"step_program\": \"x\"}]}",
             "/matrix/0/step_program: |'recording'");
    fails_at(HEAD "\"matrix\": [{\"include\": [{\"cost\": \"roofline\"}]}]}",
             "/matrix/0/include/0/cost: |'recording'");
    fails_at(HEAD "\"matrix\": [{\"include\": [{\"recording\": \"r\"}]}]}",
             "/matrix/0/include/0/recording: ");
    fails_at(HEAD "\"defaults\": {\"recording\": \"r\"}}", "/defaults/recording: ");
    fails_at(HEAD "\"matrix\": [{\"recording\": \"r\", \"cost\": \"dear\"}]}",
             "/matrix/0/cost: |'dear'|recorded, roofline");
    fails_at(HEAD "\"matrix\": [{\"recording\": \"r\", \"process\": -1}]}",
             "/matrix/0/process: |0 to 4294967295");
    fails_at(HEAD "\"matrix\": [{\"recording\": \"/\", \"step\": \"0123\"}]}",
             "/matrix/0: |'0123'");
    fails_at(HEAD "\"matrix\": [{\"recording\": [\"r\"]}]}", "/matrix/0/recording: ");
    fails_at(HEAD "\"matrix\": [{\"modes\": \"replay\"}]}", "/matrix/0: --mode: |'replay'|eager");
    fails_at(HEAD "\"matrix\": [{\"recording\": \"r\", \"modes\": \"fast\"}]}",
             "/matrix/0/modes: |'fast'");
    fails_at(HEAD "\"matrix\": [{\"device_time\": \"dear\"}]}",
             "/matrix/0/device_time: |'dear'|auto, slope, none");
}

/* A folder that is there, and no recording: the environment's fault, with the place. */
static void a_folder_without_a_recording_is_reported(void **state)
{
    (void)state;
    char path[] = "/tmp/suite-recording.XXXXXX", text[256];
    suite_spec suite;
    bn_status st = {0};
    assert_non_null(mkdtemp(path));
    snprintf(text, sizeof text, HEAD "\"matrix\": [{\"recording\": \"%s\"}]}", path);
    assert_fails(read_and_expand(text, &suite, &st), BN_NOT_FOUND,
                 "a.json: /matrix/0: recording /tmp/suite-recording.", &st);
    suite_close(&suite);
    rmdir(path);
}

/* Titles of the suite's experiments, a line each. */
static void titles_are(const suite_spec *suite, const char *want)
{
    bn_text text = {0};
    bn_text_puts(&text, "");
    for (size_t i = 0; i < suite->count; i++)
        bn_text_printf(&text, "%s\n", suite->items[i].title);
    assert_string_equal(text.data, want);
    bn_text_free(&text);
}

static void matrices_become_experiments(void **state)
{
    (void)state;
    suite_spec s;
    const suite_options o = command_line(NULL, 0);
    open_text(
        &s,
        HEAD
        "\"defaults\": {\"variants\": \"small\", \"steps\": 4, \"seed\": 7, \"repetitions\": 1},"
        "\"matrix\": ["
        "{\"models\": [\"resnet18\", \"gpt2\"], \"phases\": [\"train\", \"infer\"],"
        " \"steps\": 9, \"batches\": [2, 3],"
        " \"exclude\": [{\"models\": \"gpt2\", \"phases\": [\"train\"]},"
        "               {\"batches\": 3, \"models\": [\"resnet18\"]}],"
        " \"include\": [{\"models\": \"gpt2\", \"modes\": \"capture\", \"phases\": "
        "\"train\", \"graphs\": 5, \"batches\": 3, \"repetitions\": 2}]},"
        "{\"models\": \"resnet18\", \"batches\": 2, \"repetitions\": 3,"
        " \"runtimes\": [\"cpu\", {\"name\": \"../p.so\", \"label\": \"new\","
        " \"options\": {\"n\": 1, \"t\": true}, \"xla_flags\": {\"f\": \"g\"}}]}]}",
        &o);
    titles_are(&s, "resnet18.small train lazy batch 2 f32 on cpu\n"
                   "resnet18.small infer lazy batch 2 f32 on cpu\n"
                   "gpt2.small infer lazy batch 2 f32 on cpu\n"
                   "gpt2.small infer lazy batch 3 f32 on cpu\n"
                   "gpt2.small train capture graphs 5 batch 3 f32 on cpu\n"
                   "resnet18.small train lazy batch 2 f32 on p.so [new]\n");
    /* The same experiment of two matrices stands once, with the most repetitions. */
    assert_int_equal(s.items[0].repetitions, 3);
    assert_int_equal(s.items[1].repetitions, 1);
    assert_int_equal(s.items[4].repetitions, 2);
    assert_int_equal(s.items[0].e.how.steps, 9);
    assert_int_equal(s.items[5].e.how.steps, 4);
    assert_int_equal(s.items[5].e.what.seed, 7);
    assert_string_equal(s.items[5].e.what.runtime, "/suites/../p.so");
    assert_string_equal(s.items[5].e.what.settings, "n=1 t=true f=g");
    assert_string_equal(s.items[5].e.how.runtime_option[1], "t=true");
    assert_string_equal(s.items[0].e.what.layout, "auto");
    assert_string_equal(s.items[0].resolved.layout, "nhwc");
    suite_close(&s);
}

static void the_command_line_replaces_runtimes(void **state)
{
    (void)state;
    suite_spec s;
    char *argv[] = {"--runtime", "./new.so,sim", "--label", "c0ffee", "--repetitions", "2"};
    const suite_options o = command_line(argv, 6);
    open_text(&s, HEAD "\"matrix\": [{\"runtimes\": [\"cpu\", \"tpu\"]}]}", &o);
    titles_are(&s, "resnet50 train lazy f32 on new.so [c0ffee]\n"
                   "resnet50 train lazy f32 on sim [c0ffee]\n");
    assert_int_equal(s.items[1].repetitions, 2);
    suite_close(&s);
}

/* 17 models, 2 phases, 2 modes, 2 repetitions. */
static const char big[] =
    HEAD "\"matrix\": [{\"models\": \"all\", \"modes\": [\"lazy\", \"capture\"],"
         "\"phases\": [\"train\", \"infer\"], \"repetitions\": 2}]}";

/* Each axis that a suite names is in what its records say they were asked for. */
static void records_say_what_was_asked_for(void **state)
{
    (void)state;
    const suite_options o = command_line(NULL, 0);
    suite_spec s;
    open_text(&s,
              HEAD "\"matrix\": [{\"models\": \"llama\", \"inputs\": [\"transfer\", \"prefetch\"],"
                   " \"depths\": [2, 3], \"batches\": 5}]}",
              &o);
    assert_int_equal(s.count, 4);
    const json_t *echo = s.items[3].e.echo;
    const json_t *input = json_object_get(echo, "input");
    assert_int_equal(json_array_size(input), 1);
    assert_string_equal(json_string_value(json_array_get(input, 0)), "transfer,prefetch");
    assert_string_equal(json_string_value(json_object_get(echo, "depth")), "2,3");
    assert_string_equal(json_string_value(json_object_get(echo, "batch")), "5");
    assert_string_equal(json_string_value(json_object_get(echo, "phase")), "train");
    suite_close(&s);
}

static void shards_are_a_partition(void **state)
{
    (void)state;
    suite_spec s;
    suite_plan whole, part;
    bn_status st = {0};
    const suite_options o = command_line(NULL, 0);
    open_text(&s, big, &o);
    const suite_shard all = {.index = 1, .of = 1};
    assert_ok(suite_plan_make(&s, &o, &all, &whole, &st), &st);
    assert_int_equal(whole.count, 2 * s.count);
    int *seen = calloc(whole.count, sizeof *seen);
    size_t used = 0;
    for (int i = 1; i <= 5; i++) {
        const suite_shard shard = {.index = i, .of = 5};
        assert_ok(suite_plan_make(&s, &o, &shard, &part, &st), &st);
        used += part.count > 0;
        for (size_t k = 0; k < part.count; k++)
            for (size_t j = 0; j < whole.count; j++)
                seen[j] += strcmp(whole.runs[j].identity, part.runs[k].identity) == 0;
        suite_plan_free(&part);
    }
    for (size_t j = 0; j < whole.count; j++)
        assert_int_equal(seen[j], 1);
    assert_true(used >= 4);
    free(seen);
    suite_plan_free(&whole);
    suite_close(&s);
}

static void shards_keep_together_and_move_little(void **state)
{
    (void)state;
    suite_spec s;
    const suite_options o = command_line(NULL, 0);
    size_t moved = 0;
    open_text(&s, big, &o);
    for (size_t i = 0; i < s.count; i++) {
        res_experiment other = s.items[i].resolved;
        const int before = suite_shard_of(&other, 4), after = suite_shard_of(&other, 5);
        assert_true(before == after || after == 5);
        moved += before != after;
        strcpy(other.mode, "eager");
        strcpy(other.runtime, "/elsewhere.so");
        other.graphs = 5;
        assert_int_equal(suite_shard_of(&other, 4), before);
    }
    assert_true(moved > 0 && moved < s.count / 2);
    suite_close(&s);
}

/* ARRAY: "ID COUNT MIN MAX STEP", "-": not set. */
static bn_code of_array(const char *array, const char *task, const char *tasks, suite_shard *shard,
                        bn_status *st)
{
    static const char *const names[] = {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT",
                                        "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX",
                                        "SLURM_ARRAY_TASK_STEP"};
    char words[5][24] = {"-", "-", "-", "-", "-"};
    sscanf(array, "%23s %23s %23s %23s %23s", words[0], words[1], words[2], words[3], words[4]);
    for (int i = 0; i < 5; i++)
        if (strcmp(words[i], "-") == 0)
            unsetenv(names[i]);
        else
            setenv(names[i], words[i], 1);
    if (task) {
        setenv("SLURM_PROCID", task, 1);
        setenv("SLURM_NTASKS", tasks, 1);
    } else {
        unsetenv("SLURM_PROCID");
        unsetenv("SLURM_NTASKS");
    }
    return suite_shard_find(NULL, shard, st);
}

static void elements_of_an_array_are_shards(void **state)
{
    (void)state;
    static const struct {
        const char *array, *task, *tasks;
        int index, of; /* 0: refused */
    } rows[] = {
        {"1 4 1 4 1", NULL, NULL, 1, 4},
        {"4 4 1 4 1", NULL, NULL, 4, 4},
        {"0 1 0 0 1", NULL, NULL, 1, 1},
        {"6 4 0 6 2", NULL, NULL, 4, 4},
        {"4 3 0 5 2", NULL, NULL, 3, 3}, /* --array=0-5:2 */
        {"2 2 1 2 1", "1", "3", 5, 6},
        {"1 2 1 2 1", "0", "1", 1, 2},
        {"7 3 5 7 -", NULL, NULL, 3, 3},
        {"- - - - -", "1", "3", 2, 3},
        {"3 3 1 7 1", NULL, NULL, 0, 0}, /* --array=1,3,7 */
        {"7 3 1 7 1", NULL, NULL, 0, 0},
        {"2 4 1 7 2", NULL, NULL, 0, 0},
        {"5 4 1 4 1", NULL, NULL, 0, 0},
        {"0 4 1 4 1", NULL, NULL, 0, 0},
        {"1 - 1 4 1", NULL, NULL, 0, 0},
        {"1 4 - 4 1", NULL, NULL, 0, 0},
        {"x 4 1 4 1", NULL, NULL, 0, 0},
        {"-1 4 1 4 1", NULL, NULL, 0, 0},
        {"1 4x 1 4 1", NULL, NULL, 0, 0},
        {"1 4 1 4 0", NULL, NULL, 0, 0},
        {"1 4 1 4 1", "4", "4", 0, 0},
        {"1 4000 1 4000 1", "0", "2", 0, 0},
        {"1 99999999999999999999 1 4 1", NULL, NULL, 0, 0},
        {"2 3 0 - 9223372036854775807", NULL, NULL, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        suite_shard shard;
        bn_status st = {0};
        const bn_code code = of_array(rows[i].array, rows[i].task, rows[i].tasks, &shard, &st);
        if (rows[i].of == 0)
            assert_int_equal(code, BN_INVALID);
        else
            assert_ok(code, &st);
        if (rows[i].of && (shard.index != rows[i].index || shard.of != rows[i].of))
            fail_msg("array %s: shard %d of %d", rows[i].array, shard.index, shard.of);
    }
    suite_shard shard;
    bn_status st = {0};
    assert_ok(suite_shard_find("2/3", &shard, &st), &st); /* who says it is right */
    assert_int_equal(shard.of, 3);
    of_array("- - - - -", NULL, NULL, &shard, &st);
}

/* The shard where the environment is ALL. */
static bn_code find_in(char **all, suite_shard *shard, bn_status *st)
{
    char **own = environ;
    environ = all;
    const bn_code code = suite_shard_find(NULL, shard, st);
    environ = own;
    return code;
}

/* Each of the variables is refused by its name, whatever is wrong with it. */
static void wrong_numbers_are_refused_by_name(void **state)
{
    (void)state;
    static const char *const names[] = {"SLURM_ARRAY_TASK_ID",   "SLURM_ARRAY_TASK_COUNT",
                                        "SLURM_ARRAY_TASK_MIN",  "SLURM_ARRAY_TASK_MAX",
                                        "SLURM_ARRAY_TASK_STEP", "SLURM_PROCID",
                                        "SLURM_NTASKS",          "PMI_RANK",
                                        "OMPI_COMM_WORLD_SIZE"};
    static const char *const good[] = {"1", "4", "1", "4", "1", "0", "2", "0", "2"};
    static const char *const wrong[] = {"x",  "-1", "",    "1x",
                                        " 1", "1 ", "0x1", "99999999999999999999"};
    suite_shard shard;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
            bn_status st = {0};
            for (size_t k = 0; k < 7; k++)
                setenv(names[k], good[k], 1);
            setenv(names[i], wrong[w], 1);
            assert_fails(suite_shard_find(NULL, &shard, &st), BN_INVALID, names[i], &st);
            unsetenv(names[i]);
        }
    /* A missing one among others, too. */
    for (size_t i = 0; i < 3; i++) {
        bn_status st = {0};
        for (size_t k = 0; k < 5; k++)
            setenv(names[k], good[k], 1);
        unsetenv(names[i]);
        assert_fails(suite_shard_find(NULL, &shard, &st), BN_INVALID, names[i], &st);
    }
    for (size_t k = 0; k < 7; k++)
        unsetenv(names[k]);
    /* Twice the same is no matter, and two values are nobody's. */
    char id[] = "SLURM_ARRAY_TASK_ID=2", count[] = "SLURM_ARRAY_TASK_COUNT=2",
         least[] = "SLURM_ARRAY_TASK_MIN=1", step[] = "SLURM_ARRAY_TASK_STEP=1",
         other[] = "SLURM_ARRAY_TASK_STEP=2";
    char *same[] = {id, step, count, least, step, NULL};
    char *twice[] = {id, step, count, least, other, NULL};
    bn_status st = {0};
    assert_ok(find_in(same, &shard, &st), &st);
    assert_int_equal(shard.index, 2);
    assert_fails(find_in(twice, &shard, &st), BN_INVALID, "SLURM_ARRAY_TASK_STEP", &st);
}

/* Slurm's variables in a batch script, a shell of salloc, and a task of srun. */
static void only_srun_makes_tasks(void **state)
{
    (void)state;
    static const char *const names[] = {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID",
                                        "SLURM_NTASKS", "PMI_RANK",      "PMI_SIZE"};
    static const struct {
        const char *set[6];
        int index, of; /* 0: refused */
    } rows[] = {
        {{"7", NULL, "0", "4", NULL, NULL}, 0, 0},         /* a batch script of four tasks */
        {{"7", "4294967290", "0", "4", NULL, NULL}, 0, 0}, /* salloc's shell is a step, too */
        {{"7", NULL, "0", "1", NULL, NULL}, 1, 1},
        {{"7", NULL, "0", NULL, NULL, NULL}, 1, 1}, /* --nodes alone */
        {{"7", NULL, NULL, "4", NULL, NULL}, 1, 1}, /* within salloc */
        {{"7", "0", "0", "4", NULL, NULL}, 1, 4},
        {{"7", "3", "3", "4", NULL, NULL}, 4, 4},
        {{"7", "0", "0", "1", NULL, NULL}, 1, 1},
        {{"7", NULL, "0", "4", "1", "2"}, 2, 2},   /* mpirun in a batch script */
        {{"7", "0", "2", NULL, NULL, NULL}, 0, 0}, /* of how many? */
        {{NULL, NULL, NULL, NULL, "1", NULL}, 0, 0},
        {{"7", "0", "1", "2", "0", NULL}, 2, 2}, /* Slurm says it */
        {{"7", "x", "0", "2", NULL, NULL}, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        suite_shard shard;
        bn_status st = {0};
        for (size_t k = 0; k < 6; k++)
            if (rows[i].set[k])
                setenv(names[k], rows[i].set[k], 1);
            else
                unsetenv(names[k]);
        const bn_code code = suite_shard_find(NULL, &shard, &st);
        if (rows[i].of == 0)
            assert_int_equal(code, BN_INVALID);
        else
            assert_ok(code, &st);
        if (rows[i].of && (shard.index != rows[i].index || shard.of != rows[i].of))
            fail_msg("row %zu: shard %d of %d", i, shard.index, shard.of);
        if (i < 2)
            assert_non_null(strstr(st.message, "srun"));
        /* An element of an array is none of its tasks. */
        if (i == 0) {
            st = (bn_status){0};
            setenv("SLURM_ARRAY_TASK_ID", "1", 1);
            setenv("SLURM_ARRAY_TASK_COUNT", "2", 1);
            setenv("SLURM_ARRAY_TASK_MIN", "1", 1);
            assert_fails(suite_shard_find(NULL, &shard, &st), BN_INVALID, "srun", &st);
            unsetenv("SLURM_ARRAY_TASK_ID");
            unsetenv("SLURM_ARRAY_TASK_COUNT");
            unsetenv("SLURM_ARRAY_TASK_MIN");
        }
    }
    for (size_t k = 0; k < 6; k++)
        unsetenv(names[k]);
}

/* A store that cannot be asked is not whole. */
static void what_is_owed_is_asked_of_the_store(void **state)
{
    (void)state;
    suite_spec s;
    suite_owed owed;
    suite_options o = command_line(NULL, 0);
    const suite_shard one = {.index = 1, .of = 1}, split = {.index = 1, .of = 3};
    open_text(&s, big, &o);
    o.shard = NULL;
    suite_owed_find(&s, &o, &one, &owed);
    assert_false(owed.asked);
    suite_owed_free(&owed);
    o.shard = "none";
    suite_owed_find(&s, &o, &one, &owed);
    assert_true(owed.asked && owed.why.code == BN_OK && owed.count == owed.whole.count);
    assert_int_equal(suite_owed_say(&owed, &s, &o, CLI_EXIT_OK), CLI_EXIT_FAILED);
    assert_int_equal(suite_owed_say(&owed, &s, &o, CLI_EXIT_INTERRUPTED), CLI_EXIT_INTERRUPTED);
    suite_owed_free(&owed);
    suite_owed_find(&s, &o, &split, &owed);
    assert_int_equal(suite_owed_say(&owed, &s, &o, CLI_EXIT_OK), CLI_EXIT_OK);
    json_t *parsed = suite_owed_to_json(&owed);
    assert_int_equal(json_integer_value(json_object_get(parsed, "processes")), owed.count);
    assert_int_equal(json_array_size(json_object_get(parsed, "shards")), 3);
    assert_int_equal(json_array_size(json_object_get(parsed, "experiments")), owed.count);
    json_decref(parsed);
    suite_owed_free(&owed);
    o.store = "/dev/null"; /* no folder */
    suite_owed_find(&s, &o, &one, &owed);
    assert_true(owed.asked && owed.why.code != BN_OK);
    assert_int_not_equal(suite_owed_say(&owed, &s, &o, CLI_EXIT_OK), CLI_EXIT_OK);
    parsed = suite_owed_to_json(&owed);
    assert_true(json_is_false(json_object_get(parsed, "known")));
    assert_true(json_is_null(json_object_get(parsed, "processes")));
    assert_true(json_is_string(json_object_get(parsed, "message")));
    json_decref(parsed);
    suite_owed_free(&owed);
    suite_owed_find(&s, &o, &split, &owed);
    assert_int_equal(suite_owed_say(&owed, &s, &o, CLI_EXIT_OK), CLI_EXIT_OK);
    suite_owed_free(&owed);
    suite_close(&s);
}

static void shards_come_from_launchers(void **state)
{
    (void)state;
    suite_shard shard;
    bn_status st = {0};
    static const char *const names[] = {
        "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK",     "PMI_SIZE",     "PMIX_RANK",
        "SLURM_PROCID",         "SLURM_NTASKS",         "SLURM_JOB_ID", "SLURM_STEP_ID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    assert_ok(suite_shard_find(NULL, &shard, &st), &st);
    assert_int_equal(shard.of, 1);
    setenv("SLURM_PROCID", "2", 1);
    setenv("SLURM_NTASKS", "4", 1);
    assert_ok(suite_shard_find(NULL, &shard, &st), &st);
    assert_int_equal(shard.index, 3);
    assert_int_equal(shard.of, 4);
    setenv("PMI_RANK", "0", 1);
    setenv("PMI_SIZE", "2", 1);
    assert_ok(suite_shard_find(NULL, &shard, &st), &st);
    assert_string_equal(shard.source, "PMI_RANK");
    assert_ok(suite_shard_find("none", &shard, &st), &st);
    assert_int_equal(shard.of, 1);
    assert_ok(suite_shard_find("8/8", &shard, &st), &st);
    assert_int_equal(shard.index, 8);
    setenv("PMI_RANK", "2", 1);
    assert_fails(suite_shard_find(NULL, &shard, &st), BN_INVALID, "PMI_RANK=2", &st);
    static const char *const wrong[] = {"0/2", "3/2", "1", "1/", "/2", "1/2x", "a/b", "-1/2", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bn_status refused = {0};
        assert_fails(suite_shard_find(wrong[i], &shard, &refused), BN_INVALID, "--shard takes I/N",
                     &refused);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    /* Those that do not tell how many there are: of tasks, which another pair may, and of arrays.
     */
    static const char *const untold[] = {
        "PMIX_RANK",          "PALS_RANKID",         "ALPS_APP_PE",     "FLUX_TASK_RANK",
        "JSM_NAMESPACE_RANK", "MV2_COMM_WORLD_RANK", "PBS_ARRAY_INDEX", "PBS_ARRAYID",
        "SGE_TASK_ID",        "LSB_JOBINDEX"};
    for (size_t i = 0; i < sizeof untold / sizeof *untold; i++) {
        bn_status refused = {0};
        setenv(untold[i], i == 9 ? "1" : "0", 1);
        assert_fails(suite_shard_find(NULL, &shard, &refused), BN_INVALID, untold[i], &refused);
        setenv("PMI_RANK", "1", 1);
        setenv("PMI_SIZE", "2", 1);
        if (i < 6)
            assert_ok(suite_shard_find(NULL, &shard, &refused), &refused);
        else
            assert_fails(suite_shard_find(NULL, &shard, &refused), BN_INVALID, untold[i], &refused);
        assert_ok(suite_shard_find("1/2", &shard, &refused), &refused);
        unsetenv("PMI_RANK");
        unsetenv("PMI_SIZE");
        unsetenv(untold[i]);
    }
    setenv("SGE_TASK_ID", "undefined", 1);
    setenv("LSB_JOBINDEX", "0", 1);
    assert_ok(suite_shard_find(NULL, &shard, &st), &st);
    unsetenv("SGE_TASK_ID");
    unsetenv("LSB_JOBINDEX");
}

static void rounds_are_shuffled_the_same_way_each_time(void **state)
{
    (void)state;
    suite_spec s;
    suite_plan plan, again;
    bn_status st = {0};
    const suite_options o = command_line(NULL, 0);
    const suite_shard all = {.index = 1, .of = 1};
    size_t in_file_order = 0, same_in_both = 0;
    open_text(&s, big, &o);
    assert_ok(suite_plan_make(&s, &o, &all, &plan, &st), &st);
    assert_ok(suite_plan_make(&s, &o, &all, &again, &st), &st);
    for (size_t i = 0; i < plan.count; i++) {
        assert_string_equal(plan.runs[i].identity, again.runs[i].identity);
        assert_int_equal(plan.runs[i].repetition, i < s.count ? 1 : 2);
    }
    for (size_t i = 0; i < s.count; i++) {
        in_file_order += plan.runs[i].item == &s.items[i];
        same_in_both += plan.runs[i].item == plan.runs[s.count + i].item;
    }
    assert_true(in_file_order < s.count / 4 && same_in_both < s.count / 4);
    suite_plan_free(&plan);
    suite_plan_free(&again);
    suite_close(&s);
}

static void filters_look_at_titles(void **state)
{
    (void)state;
    char *argv[] = {"--filter", "resnet*capture", "--filter", "bert*", "--exclude", "graphs [35]"};
    const suite_options o = command_line(argv, 6), none = command_line(NULL, 0);
    assert_true(suite_wanted("resnet18 train capture f32 on cpu", &o));
    assert_true(suite_wanted("bert infer lazy f32 on cpu", &o));
    assert_false(suite_wanted("resnet18 train lazy f32 on cpu", &o));
    assert_false(suite_wanted("resnet18 train capture graphs 3 f32 on cpu", &o));
    assert_true(suite_wanted("resnet18 train capture graphs 2 f32 on cpu", &o));
    assert_true(suite_wanted("anything", &none));
}

static void identities_differ_where_experiments_do(void **state)
{
    (void)state;
    res_experiment e = {.model = "gpt2", .batch = 2, .seed = 1};
    char first[BN_SHA256_TEXT], other[BN_SHA256_TEXT];
    res_identity(&e, "ab", 1, first);
    res_identity(&e, "ab", 1, other);
    assert_string_equal(first, other);
    assert_int_equal(strlen(first), 64);
    res_identity(&e, "ab", 2, other);
    assert_string_not_equal(first, other);
    res_identity(&e, "ac", 1, other);
    assert_string_not_equal(first, other);
    e.seed = 2;
    res_identity(&e, "ab", 1, other);
    assert_string_not_equal(first, other);
    e.seed = 1;
    strcpy(e.settings, "a=1");
    res_identity(&e, "ab", 1, other);
    assert_string_not_equal(first, other);
}

/* Which plugin a framework loads for that name is known once it has run, and so is no part of what
 * a suite plans. */
static void a_plugin_of_the_frameworks_own_is_no_part_of_it(void **state)
{
    (void)state;
    char planned[BN_SHA256_TEXT], other[BN_SHA256_TEXT];
    res_record *r = res_record_new();
    assert_non_null(r);
    strcpy(r->experiment.model, "gpt2");
    strcpy(r->experiment.runtime, "cuda");
    assert_false(res_has_own_plugin(&r->experiment) || res_plugin_unforeseen(&r->experiment));
    strcpy(r->experiment.front_end, "jax");
    assert_true(res_has_own_plugin(&r->experiment) && res_plugin_unforeseen(&r->experiment));
    res_identity(&r->experiment, "", 3, planned);
    json_decref(r->provenance);
    r->provenance = json_pack("{s{ss} s{si}}", "runtime", "sha256", "ab", "suite", "repetition", 3);
    assert_true(res_record_identity(r, other));
    assert_string_equal(planned, other);
    /* Of a failure nobody knows it. */
    json_object_del(json_object_get(r->provenance, "runtime"), "sha256");
    assert_true(res_record_identity(r, other));
    assert_string_equal(planned, other);
    /* That of a TPU is found before it runs. */
    strcpy(r->experiment.runtime, "tpu");
    assert_true(res_has_own_plugin(&r->experiment));
    assert_false(res_plugin_unforeseen(&r->experiment));
    assert_false(res_record_identity(r, other));
    res_record_free(r);
}

static void records_know_their_identity(void **state)
{
    (void)state;
    char want[BN_SHA256_TEXT], have[BN_SHA256_TEXT];
    res_record *r = res_record_new();
    assert_non_null(r);
    strcpy(r->experiment.model, "gpt2");
    assert_false(res_record_identity(r, have));
    json_decref(r->provenance);
    r->provenance = json_pack("{s{ss} s{si}}", "runtime", "sha256", "ab", "suite", "repetition", 3);
    res_identity(&r->experiment, "ab", 3, want);
    assert_true(res_record_identity(r, have));
    assert_string_equal(want, have);
    assert_int_equal(res_record_repetition(r), 3);
    json_object_del(r->provenance, "suite");
    assert_false(res_record_identity(r, have));
    res_record_free(r);
}

static int begin(void **state)
{
    (void)state;
    memory = bn_arena_new(4096);
    return memory ? 0 : -1;
}

static void what_is_too_deep_or_no_file_is_refused(void **state)
{
    (void)state;
    suite_spec suite;
    bn_status st = {0};
    bn_text text = {0};
    char path[300];
    const char *tmp = getenv("TMPDIR");
    bn_text_puts(&text, HEAD "\"matrix\": ");
    for (int i = 0; i < BN_JSON_DEPTH; i++)
        bn_text_putc(&text, '[');
    for (int i = 0; i < BN_JSON_DEPTH; i++)
        bn_text_putc(&text, ']');
    bn_text_putc(&text, '}');
    fails_at(text.data, "a.json:");
    bn_text_free(&text);
    /* A pipe that nobody writes would be waited for. */
    snprintf(path, sizeof path, "%s/suite-pipe.%ld", tmp ? tmp : "/tmp", (long)getpid());
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(20);
    assert_fails(suite_open(path, &suite, &st), BN_INVALID, "suite-pipe.", &st);
    alarm(0);
    suite_close(&suite);
    unlink(path);
}

static int end(void **state)
{
    (void)state;
    bn_arena_free(memory);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_name_their_position),
        cmocka_unit_test(times_have_units),
        cmocka_unit_test(faults_next_to_a_recording_are_reported),
        cmocka_unit_test(a_folder_without_a_recording_is_reported),
        cmocka_unit_test(matrices_become_experiments),
        cmocka_unit_test(the_command_line_replaces_runtimes),
        cmocka_unit_test(records_say_what_was_asked_for),
        cmocka_unit_test(shards_are_a_partition),
        cmocka_unit_test(shards_keep_together_and_move_little),
        cmocka_unit_test(elements_of_an_array_are_shards),
        cmocka_unit_test(wrong_numbers_are_refused_by_name),
        cmocka_unit_test(only_srun_makes_tasks),
        cmocka_unit_test(what_is_owed_is_asked_of_the_store),
        cmocka_unit_test(shards_come_from_launchers),
        cmocka_unit_test(rounds_are_shuffled_the_same_way_each_time),
        cmocka_unit_test(filters_look_at_titles),
        cmocka_unit_test(identities_differ_where_experiments_do),
        cmocka_unit_test(a_plugin_of_the_frameworks_own_is_no_part_of_it),
        cmocka_unit_test(records_know_their_identity),
        cmocka_unit_test(what_is_too_deep_or_no_file_is_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
