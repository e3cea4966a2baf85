/*
 * test_cut.c - how a trace is cut into graphs: whole, by phases, at a read.
 * Needs no plugin.
 */
#include "runtime/graph/trace_priv.h"
#include "tests/support/test_runtime.h"

#include <stdlib.h>

/* A small training step, its variables, and what became of the last cut. */
typedef struct fixture {
    tg_trace *t;
    tg_tensor *x, *w, *mean, *loss;                       /* variables */
    tg_tensor *scaled, *hidden, *lost, *grad, *kept_mean; /* values of the step */
    tg_graph *const *graphs;
    size_t count;
} fixture;

static tg_tensor *variable(const char *name, int32_t rank)
{
    tg_type type = tg_type_make(TG_F32, rank, TG_DIMS(2, 3));
    tg_tensor *v = tg_variable_new(name, &type);
    assert_non_null(v);
    return v;
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->t = tg_trace_new();
    f->x = variable("x", 2);
    f->w = variable("w", 2);
    f->mean = variable("mean", 0);
    f->loss = variable("loss", 0);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    tg_variable_free(f->x);
    tg_variable_free(f->w);
    tg_variable_free(f->mean);
    tg_variable_free(f->loss);
    tg_trace_free(f->t);
    free(f);
    return 0;
}

/* loss = sum tanh(x / 2 * w); mean = 0.9 mean + 0.1 loss; w -= 0.1 dloss/dw. */
static void trace_forward(fixture *f)
{
    tg_trace_phase(f->t, TG_PHASE_INPUT);
    f->scaled = tg_mul(f->t, f->x, tg_scalar(f->t, TG_F32, 0.5));
    tg_trace_phase(f->t, TG_PHASE_FORWARD);
    f->hidden = tg_tanh(f->t, tg_mul(f->t, f->scaled, f->w));
    f->lost = tg_reduce_sum(f->t, f->hidden, 3);
    tg_assign(f->t, f->loss, f->lost);
    tg_trace_phase(f->t, TG_PHASE_STATISTICS);
    tg_tensor *part = tg_mul(f->t, f->lost, tg_scalar(f->t, TG_F32, 0.1));
    f->kept_mean = tg_add(f->t, tg_mul(f->t, f->mean, tg_scalar(f->t, TG_F32, 0.9)), part);
    tg_assign(f->t, f->mean, f->kept_mean);
}

static void trace_backward(fixture *f)
{
    tg_trace_phase(f->t, TG_PHASE_BACKWARD);
    tg_backward(f->t, f->lost, &f->w, 1, &f->grad);
    tg_trace_phase(f->t, TG_PHASE_UPDATE);
    tg_tensor *change = tg_mul(f->t, f->grad, tg_scalar(f->t, TG_F32, 0.1));
    tg_assign(f->t, f->w, tg_sub(f->t, f->w, change));
}

static void trace_step(fixture *f)
{
    tg_trace_begin(f->t);
    trace_forward(f);
    trace_backward(f);
    bn_status st = {0};
    assert_ok(tg_trace_status(f->t, &st), &st);
}

/* ---- what holds of every cut ----------------------------------------------------------- */

static bool has(tg_tensor *const *list, size_t count, const tg_tensor *tensor)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == tensor)
            return true;
    return false;
}

static bool puts_out(const tg_graph *g, const tg_tensor *value)
{
    return has(g->outputs, g->output_count, value);
}

static bool takes(const tg_graph *g, const tg_tensor *value)
{
    return has(g->inputs, g->input_count, value);
}

/* The entry value of a variable. */
static const tg_tensor *entry(const tg_tensor *v)
{
    return ((const tg_variable *)v)->entry;
}

/* Inputs exist when the graph runs: entries, or outputs of graphs before. MADE
 * lists the outputs of earlier cuts of the trace. */
static void assert_inputs_exist(const fixture *f, tg_tensor *const *made, size_t made_count)
{
    for (size_t i = 0; i < f->count; i++) {
        const tg_graph *g = f->graphs[i];
        for (size_t k = 0; k < g->input_count; k++) {
            bool known =
                tg_input_variable(g->inputs[k]) != NULL || has(made, made_count, g->inputs[k]);
            for (size_t before = 0; before < i; before++)
                known |= puts_out(f->graphs[before], g->inputs[k]);
            assert_true(known);
            for (size_t other = 0; other < k; other++)
                assert_ptr_not_equal(g->inputs[other], g->inputs[k]);
        }
    }
}

/* A donated input is a variable's entry, taken over by the same variable's new
 * value, and no later graph takes it. */
static void assert_donations_are_safe(const fixture *f)
{
    for (size_t i = 0; i < f->count; i++)
        for (size_t o = 0; o < f->graphs[i]->output_count; o++) {
            const tg_graph *g = f->graphs[i];
            if (g->donor[o] < 0)
                continue;
            const tg_tensor *given = g->inputs[g->donor[o]];
            assert_non_null(tg_input_variable(given));
            assert_ptr_equal(tg_input_variable(given), g->target[o]);
            for (size_t later = i + 1; later < f->count; later++)
                assert_false(takes(f->graphs[later], given));
        }
}

/* Each assigned variable gets its value from one output. */
static void assert_targets_are_met(const fixture *f)
{
    tg_tensor *value;
    for (size_t v = 0; v < tg_trace_assigned_count(f->t); v++) {
        const tg_tensor *assigned = tg_trace_assigned(f->t, v, &value);
        size_t met = 0;
        for (size_t i = 0; i < f->count; i++)
            for (size_t o = 0; o < f->graphs[i]->output_count; o++)
                if (f->graphs[i]->target[o] == assigned) {
                    met++;
                    assert_ptr_equal(f->graphs[i]->outputs[o], value);
                }
        assert_int_equal(met, 1);
    }
}

/* The text defines every value before it is used. */
static void assert_text_is_closed(const tg_graph *g)
{
    bn_text text = {0};
    tg_graph_lower(g, "part", &text);
    int64_t defined = 0;
    for (const char *at = text.data; (at = strstr(at, "\n    %")); at++)
        if (at[6] != 'x')
            assert_int_equal(strtoll(at + 6, NULL, 10), defined++);
    for (const char *at = text.data; (at = strchr(at, '%')); at++) {
        if (at[1] >= '0' && at[1] <= '9')
            assert_true(strtoll(at + 1, NULL, 10) < defined);
        if (strncmp(at, "%arg", 4) == 0)
            assert_true((size_t)strtoll(at + 4, NULL, 10) < g->input_count);
    }
    bn_text_free(&text);
}

static void cut(fixture *f, const unsigned groups[TG_PHASE_COUNT], tg_tensor *stop_at)
{
    bn_status st = {0};
    assert_ok(tg_trace_cut(f->t, groups, stop_at, &f->graphs, &f->count, &st), &st);
    assert_donations_are_safe(f);
    for (size_t i = 0; i < f->count; i++) {
        assert_text_is_closed(f->graphs[i]);
        for (size_t o = 0; o < f->graphs[i]->output_count; o++)
            assert_true(tg_node_operand_count(f->graphs[i]->outputs[o]->node) > 0);
    }
}

static void cut_end(fixture *f, const unsigned groups[TG_PHASE_COUNT])
{
    cut(f, groups, NULL);
    assert_inputs_exist(f, NULL, 0);
    assert_targets_are_met(f);
}

static const unsigned one[TG_PHASE_COUNT] = {0, 0, 0, 0, 0};
static const unsigned two[TG_PHASE_COUNT] = {0, 0, 0, 0, 1};
static const unsigned three[TG_PHASE_COUNT] = {0, 0, 0, 1, 2};
static const unsigned five[TG_PHASE_COUNT] = {0, 1, 2, 3, 4};

/* ---- by phases -------------------------------------------------------------------------- */

static void a_whole_step_is_one_graph(void **state)
{
    fixture *f = *state;
    trace_step(f);
    cut_end(f, one);
    assert_int_equal(f->count, 1);
    const tg_graph *g = f->graphs[0];
    assert_int_equal(g->input_count, 3);
    assert_ptr_equal(g->inputs[0], entry(f->x));
    assert_ptr_equal(g->inputs[1], entry(f->w));
    assert_ptr_equal(g->inputs[2], entry(f->mean));
    assert_int_equal(g->output_count, 3);
    assert_ptr_equal(g->target[0], f->loss);
    assert_int_equal(g->donor[0], -1); /* its old contents were not used */
    assert_ptr_equal(g->target[1], f->mean);
    assert_int_equal(g->donor[1], 2);
    assert_ptr_equal(g->target[2], f->w);
    assert_int_equal(g->donor[2], 1);
    assert_int_equal(g->first_phase, TG_PHASE_INPUT);
    assert_int_equal(g->last_phase, TG_PHASE_UPDATE);
}

static void two_groups_hand_the_gradient_over(void **state)
{
    fixture *f = *state;
    trace_step(f);
    cut_end(f, two);
    assert_int_equal(f->count, 2);
    const tg_graph *first = f->graphs[0], *update = f->graphs[1];
    assert_true(puts_out(first, f->lost) && puts_out(first, f->kept_mean) &&
                puts_out(first, f->grad));
    assert_int_equal(first->output_count, 3);
    assert_int_equal(update->input_count, 2);
    assert_true(takes(update, entry(f->w)) && takes(update, f->grad));
    /* w's memory goes over in the update alone: forward takes w, but not last. */
    for (size_t o = 0; o < first->output_count; o++)
        assert_true(first->donor[o] < 0 || first->target[o] == f->mean);
    assert_int_equal(update->output_count, 1);
    assert_true(update->donor[0] >= 0);
    assert_int_equal(update->first_phase, TG_PHASE_UPDATE);
}

static void three_groups_hand_residuals_over(void **state)
{
    fixture *f = *state;
    trace_step(f);
    cut_end(f, three);
    assert_int_equal(f->count, 3);
    const tg_graph *backward = f->graphs[1];
    assert_int_equal(backward->input_count, 2);
    assert_true(takes(backward, f->scaled) && takes(backward, f->hidden));
    assert_true(puts_out(f->graphs[0], f->scaled) && puts_out(f->graphs[0], f->hidden));
    assert_int_equal(backward->output_count, 1);
    assert_ptr_equal(backward->outputs[0], f->grad);
}

static void five_groups_follow_the_phases(void **state)
{
    fixture *f = *state;
    trace_step(f);
    cut_end(f, five);
    assert_int_equal(f->count, 5);
    for (unsigned p = 0; p < TG_PHASE_COUNT; p++) {
        assert_int_equal(f->graphs[p]->group, p);
        assert_int_equal(f->graphs[p]->first_phase, p);
        assert_int_equal(f->graphs[p]->last_phase, p);
    }
    assert_int_equal(f->graphs[0]->output_count, 1);
    assert_ptr_equal(f->graphs[0]->outputs[0], f->scaled);
    const tg_graph *statistics = f->graphs[2];
    assert_int_equal(statistics->input_count, 2);
    assert_true(takes(statistics, f->lost) && takes(statistics, entry(f->mean)));
    assert_int_equal(statistics->output_count, 1);
    assert_true(statistics->donor[0] >= 0);
    /* 0.1 was first used in statistics; the update makes its own. */
    assert_int_equal(f->graphs[4]->input_count, 2);
}

/* The old contents are used after the new ones were made: they are not given away. */
static void contents_in_use_are_not_donated(void **state)
{
    fixture *f = *state;
    tg_tensor *old = tg_convert(f->t, f->w, TG_F32);
    tg_trace_phase(f->t, TG_PHASE_FORWARD);
    tg_assign(f->t, f->w, tg_exp(f->t, old));
    tg_trace_phase(f->t, TG_PHASE_UPDATE);
    tg_assign(f->t, f->x, tg_mul(f->t, f->x, old));
    cut_end(f, two);
    assert_int_equal(f->count, 2);
    assert_ptr_equal(f->graphs[0]->target[0], f->w);
    assert_int_equal(f->graphs[0]->donor[0], -1);
    assert_true(takes(f->graphs[1], entry(f->w)));
    assert_true(f->graphs[1]->donor[0] >= 0);
}

/* Groups that put nothing out are not graphs. */
static void empty_groups_are_left_out(void **state)
{
    fixture *f = *state;
    trace_forward(f);
    cut_end(f, five);
    assert_int_equal(f->count, 3);
    tg_trace_begin(f->t);
    cut_end(f, one);
    assert_int_equal(f->count, 0);
    tg_trace_begin(f->t);
    tg_exp(f->t, f->x); /* of no use to anyone */
    cut_end(f, five);
    assert_int_equal(f->count, 0);
}

static void hashes_tell_cuts_apart(void **state)
{
    fixture *f = *state;
    const unsigned *const groupings[] = {one, two, three, five};
    tg_hash seen[16];
    size_t count = 0;
    for (size_t i = 0; i < 4; i++) {
        trace_step(f);
        cut_end(f, groupings[i]);
        size_t first = count;
        for (size_t g = 0; g < f->count; g++)
            seen[count++] = f->graphs[g]->hash;
        for (size_t a = 0; a < count; a++)
            for (size_t b = 0; b < a; b++)
                assert_false(tg_hash_equal(seen[a], seen[b]));
        /* The same step again gives the same. */
        trace_step(f);
        cut_end(f, groupings[i]);
        for (size_t g = 0; g < f->count; g++)
            assert_true(tg_hash_equal(f->graphs[g]->hash, seen[first + g]));
    }
}

static void data_against_the_phases_is_an_error(void **state)
{
    fixture *f = *state;
    bn_status st = {0};
    tg_trace_phase(f->t, TG_PHASE_UPDATE);
    tg_tensor *late = tg_exp(f->t, f->x);
    tg_trace_phase(f->t, TG_PHASE_FORWARD);
    tg_assign(f->t, f->w, tg_mul(f->t, late, f->w));
    assert_fails(tg_trace_cut(f->t, two, NULL, &f->graphs, &f->count, &st), BN_INVALID, "exp", &st);
    /* In one graph there is no order to break; nor where a constant is used. */
    cut_end(f, one);
    assert_int_equal(f->count, 1);
    tg_trace_begin(f->t);
    tg_trace_phase(f->t, TG_PHASE_UPDATE);
    late = tg_scalar(f->t, TG_F32, 2);
    tg_trace_phase(f->t, TG_PHASE_FORWARD);
    tg_assign(f->t, f->w, tg_mul(f->t, late, f->w));
    cut_end(f, two);
    assert_int_equal(f->count, 1);
}

/* ---- odd assignments ------------------------------------------------------------------------ */

static void a_value_can_go_to_two_variables(void **state)
{
    fixture *f = *state;
    tg_tensor *sum = tg_add(f->t, f->x, f->w);
    tg_assign(f->t, f->x, sum);
    tg_assign(f->t, f->w, sum);
    cut_end(f, one);
    assert_int_equal(f->graphs[0]->output_count, 2);
    assert_true(f->graphs[0]->donor[0] != f->graphs[0]->donor[1]);

    tg_trace_begin(f->t);
    sum = tg_add(f->t, f->x, f->w);
    tg_assign(f->t, f->x, sum);
    tg_assign(f->t, f->w, sum);
    cut_end(f, two);
    assert_int_equal(f->graphs[0]->output_count, 2);
}

/* A step can leave a variable as it was, or swap two. */
static void contents_can_be_handed_on(void **state)
{
    fixture *f = *state;
    bn_status st = {0};
    tg_tensor *x = tg_reshape(f->t, f->x, 2, TG_DIMS(2, 3));
    tg_tensor *w = tg_reshape(f->t, f->w, 2, TG_DIMS(2, 3));
    tg_assign(f->t, f->x, w);
    tg_assign(f->t, f->x, x);
    assert_ok(tg_trace_cut(f->t, one, NULL, &f->graphs, &f->count, &st), &st);
    assert_int_equal(f->count, 0);

    for (int grouped = 0; grouped < 2; grouped++) {
        tg_trace_begin(f->t);
        x = tg_reshape(f->t, f->x, 2, TG_DIMS(2, 3));
        w = tg_reshape(f->t, f->w, 2, TG_DIMS(2, 3));
        tg_assign(f->t, f->x, w);
        tg_assign(f->t, f->w, x);
        assert_ok(tg_trace_cut(f->t, grouped ? two : one, NULL, &f->graphs, &f->count, &st), &st);
        const tg_graph *last = f->graphs[f->count - 1];
        assert_int_equal(f->count, 1);
        assert_int_equal(last->input_count, 2);
        assert_int_equal(last->output_count, 2);
        assert_ptr_equal(last->outputs[0], w);
        assert_ptr_equal(last->target[0], f->x);
    }
}

/* ---- at a read --------------------------------------------------------------------------- */

static void assert_no_donation(const fixture *f)
{
    for (size_t i = 0; i < f->count; i++)
        for (size_t o = 0; o < f->graphs[i]->output_count; o++)
            assert_int_equal(f->graphs[i]->donor[o], -1);
}

/* The loss is read after the forward pass; the rest of the step follows. */
static void a_read_breaks_the_graph(void **state)
{
    fixture *f = *state;
    bn_status st = {0};
    trace_forward(f);
    tg_hash before = tg_trace_hash(f->t);
    cut(f, one, f->lost);
    assert_int_equal(f->count, 1);
    assert_no_donation(f);
    assert_inputs_exist(f, NULL, 0);
    tg_graph first = *f->graphs[0];
    assert_true(puts_out(&first, f->lost));
    assert_false(puts_out(&first, f->hidden));
    assert_true(tg_hash_equal(before, tg_trace_hash(f->t)));

    trace_backward(f);
    assert_ok(tg_trace_status(f->t, &st), &st);
    cut(f, one, NULL);
    assert_no_donation(f);
    assert_inputs_exist(f, first.outputs, first.output_count);
    assert_int_equal(f->count, 1);
    const tg_graph *rest = f->graphs[0];
    /* hidden was not kept: it is computed again, from the step's entry. */
    assert_true(takes(rest, entry(f->x)) && takes(rest, entry(f->w)));
    assert_false(takes(rest, f->hidden));
    assert_int_equal(rest->output_count, 1);
    assert_ptr_equal(rest->target[0], f->w);
    assert_false(tg_hash_equal(rest->hash, first.hash));
}

static void values_that_were_read_are_inputs_later(void **state)
{
    fixture *f = *state;
    bn_status st = {0};
    trace_forward(f);
    tg_tensor *there[16];
    size_t count = 0;
    for (size_t i = 0; i < 2; i++) {
        tg_tensor *read = i == 0 ? f->scaled : f->hidden;
        cut(f, one, read);
        assert_int_equal(f->count, 1);
        const tg_graph *g = f->graphs[0];
        assert_true(puts_out(g, read) && count + g->output_count <= 16);
        for (size_t o = 0; o < g->output_count; o++)
            there[count++] = g->outputs[o];
    }
    assert_true(takes(f->graphs[0], f->scaled));
    trace_backward(f);
    assert_ok(tg_trace_status(f->t, &st), &st);
    cut(f, one, NULL);
    assert_inputs_exist(f, there, count);
    const tg_graph *rest = f->graphs[0];
    assert_true(takes(rest, f->hidden) && takes(rest, f->scaled));
    assert_false(takes(rest, entry(f->x)));
    assert_true(takes(rest, entry(f->w))); /* for the update */
}

/* Two reads in a row, the second of something that the first computed. */
static void a_value_that_was_read_is_there(void **state)
{
    fixture *f = *state;
    trace_forward(f);
    cut(f, five, f->lost);
    assert_true(f->count >= 2);
    assert_true(puts_out(f->graphs[1], f->lost));
    cut(f, five, f->lost);
    assert_int_equal(f->count, 0);
    cut(f, one, f->hidden);
    assert_int_equal(f->count, 1);
    assert_true(puts_out(f->graphs[0], f->hidden));
    cut(f, one, NULL);
    assert_no_donation(f);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_whole_step_is_one_graph),        TEST(two_groups_hand_the_gradient_over),
        TEST(three_groups_hand_residuals_over), TEST(five_groups_follow_the_phases),
        TEST(contents_in_use_are_not_donated),  TEST(empty_groups_are_left_out),
        TEST(hashes_tell_cuts_apart),           TEST(data_against_the_phases_is_an_error),
        TEST(a_value_can_go_to_two_variables),  TEST(contents_can_be_handed_on),
        TEST(a_read_breaks_the_graph),          TEST(values_that_were_read_are_inputs_later),
        TEST(a_value_that_was_read_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
