/* test_estimate_setup.c - what tells the steps of one call apart: names of rows, lines of the
 * picture; and the generations that the simulated device can be. */
#include "tests/support/test_runtime.h"

#include "harness/estimate/estimate_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Rows, notes and failures of a call have these titles. */
static void rows_of_different_steps_differ(void **state)
{
    (void)state;
    static const struct {
        const char *model, *variant;
        res_axis_id axis;
        const char *word;
        int number;
        const char *title;
    } rows[] = {
        {"resnet50", "full", RES_AXIS_OPTIMIZER, "sgd", 0, "resnet50 train b1 f32, sgd"},
        {"resnet50", "full", RES_AXIS_OPTIMIZER, "adamw", 0, "resnet50 train b1 f32, adamw"},
        {"resnet50", "full", RES_AXIS_DROPOUT, "off", 0, "resnet50 train b1 f32, dropout off"},
        /* A model's own sizes, 224 and 64 pixels, 64 and 16 tokens, are not said. */
        {"resnet50", "full", RES_AXIS_IMAGE, "", 224, "resnet50 train b1 f32"},
        {"resnet50", "full", RES_AXIS_IMAGE, "", 64, "resnet50 train b1 f32, image 64"},
        {"resnet50", "small", RES_AXIS_IMAGE, "", 64, "resnet50 small train b1 f32"},
        {"llama", "full", RES_AXIS_SEQ, "", 64, "llama train b1 f32"},
        {"llama", "full", RES_AXIS_SEQ, "", 512, "llama train b1 f32, seq 512"},
        {"llama", "small", RES_AXIS_SEQ, "", 16, "llama small train b1 f32"},
        {"llama", "small", RES_AXIS_SEQ, "", 64, "llama small train b1 f32, seq 64"},
        {"llama", "full", RES_AXIS_DEPTH, "", 8, "llama train b1 f32, depth 8"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char title[ESTIMATE_TITLE];
        res_experiment what;
        res_experiment_usual(&what);
        snprintf(what.model, sizeof what.model, "%s", rows[i].model);
        snprintf(what.variant, sizeof what.variant, "%s", rows[i].variant);
        what.batch = 1;
        res_axis_set_value(&res_axes[rows[i].axis], rows[i].word, rows[i].number, &what);
        json_t *line = json_pack("{so}", "experiment", res_experiment_to_json(&what));
        estimate_title(line, title, sizeof title);
        assert_string_equal(title, rows[i].title);
        json_decref(line);
    }
}

/* Step NUMBER: a scanned llama with DEPTH layers and rows of SEQ tokens, of CYCLES on a v5e. */
static json_t *layered(int number, int depth, int seq, const char *optimizer, double cycles)
{
    res_experiment what;
    res_experiment_usual(&what);
    snprintf(what.model, sizeof what.model, "llama");
    snprintf(what.optimizer, sizeof what.optimizer, "%s", optimizer);
    snprintf(what.scan, sizeof what.scan, "on");
    what.depth = depth;
    what.seq = seq;
    json_t *line =
        json_pack("{si so ss ss ss ss s{sf}}", "step", number, "experiment",
                  res_experiment_to_json(&what), "topology", "v5e:1x1", "layouts", "default",
                  "graph", "step", "class", "ok", "estimate", "cycles", cycles);
    assert_non_null(line);
    estimate_time_line(line);
    return line;
}

static void setups_have_lines_of_their_own(void **state)
{
    (void)state;
    char path[300], *text = NULL;
    size_t size = 0;
    bn_status st = {.code = BN_OK};
    const char *parent = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/test_estimate_setup.XXXXXX.gp", parent ? parent : P_tmpdir);
    const int fd = mkstemps(path, 3);
    assert_true(fd >= 0);
    close(fd);
    /* At 1.5 GHz 1.5e6 cycles take 1 ms. */
    json_t *lines = json_pack("[ooooo]", layered(0, 4, 64, "default", 1.5e6),
                              layered(1, 8, 64, "default", 3e6), layered(2, 4, 512, "default", 6e6),
                              layered(3, 8, 512, "default", 9e6), layered(4, 4, 64, "sgd", 12e6));
    assert_ok(estimate_picture(lines, path, &st), &st);
    assert_ok(bn_regular_read(path, &text, &size, &st), &st);
    unlink(path);
    /* In any order. */
    static const char *const said[] = {" << EOD\n4 1\n8 2\n", " << EOD\n4 4\n8 6\n",
                                       " << EOD\n4 8\n",      "seq 64, scanned",
                                       "seq 512, scanned",    "seq 64, sgd, scanned"};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (!strstr(text, said[i]))
            fail_msg("no '%s' in\n%s", said[i], text);
    free(text);
    json_decref(lines);
}

/* v2 and v3 have a clock and no preset, v6e has a preset and no clock. */
static void the_simulator_can_be_some_generations(void **state)
{
    (void)state;
    bn_status st = {.code = BN_OK};
    static const char *const can[] = {"v4:1x1x1/megacore", "v5e:1x1", "v5p:2x2x1"};
    for (size_t i = 0; i < sizeof can / sizeof *can; i++)
        assert_ok(estimate_into_sim_check(can[i], &st), &st);
    assert_fails(estimate_into_sim_check("v2:2x2", &st), BN_INVALID, "preset of v2:2x2", &st);
    assert_fails(estimate_into_sim_check("v3:2x2", &st), BN_INVALID, "v4, v5e, v5p", &st);
    assert_fails(estimate_into_sim_check("v6e:1x1", &st), BN_INVALID, "clock of v6e:1x1", &st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_different_steps_differ),
        cmocka_unit_test(setups_have_lines_of_their_own),
        cmocka_unit_test(the_simulator_can_be_some_generations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
