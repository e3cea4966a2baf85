/*
 * test_layouts.c - automatic layouts between the graphs of a step: the same values, in the order
 * that the compiler chose, and the same text in each step.
 */
#include "tests/modes/fit_fixture.h"

#define ROWS    8
#define COLUMNS 16

/* A step whose first graph hands a transpose on: by rows it is a copy, else nothing at all. */
typedef struct turn {
    tg_tensor *x, *w; /* (ROWS, COLUMNS), (COLUMNS, ROWS) */
    bool reads;       /* reads a value between the graphs */
} turn;

static void turn_step(tg_trace *t, void *context)
{
    static const int swap[] = {1, 0};
    turn *u = context;
    tg_trace_phase(t, TG_PHASE_FORWARD);
    tg_tensor *turned = tg_transpose(t, tg_mul(t, u->x, u->x), swap);
    if (u->reads) {
        float host[ROWS * COLUMNS];
        tg_read(t, turned, host, sizeof host);
    }
    tg_trace_phase(t, TG_PHASE_UPDATE);
    tg_assign(t, u->w, tg_add(t, u->w, tg_mul(t, turned, turned)));
}

static tg_tensor *matrix_named(mode *m, const char *name, int64_t rows, int64_t columns)
{
    float host[ROWS * COLUMNS];
    bn_status st = {0};
    const int64_t dims[] = {rows, columns};
    const tg_type type = tg_type_make(TG_F32, 2, dims);
    tg_tensor *v = tg_variable_new(name, &type);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        host[i] = (float)i / 64;
    assert_ok(mode_write(m, v, host, &st), &st);
    return v;
}

/* Runs STEPS steps in a mode of NAME; what w holds then goes to W. Returns the mode. */
static mode *run_turns(const char *name, const mode_options *options, turn *u, int steps,
                       float w[ROWS * COLUMNS])
{
    bn_status st = {0};
    mode *m = mode_new(name, options);
    u->x = matrix_named(m, "x", ROWS, COLUMNS);
    u->w = matrix_named(m, "w", COLUMNS, ROWS);
    for (int i = 0; i < steps; i++)
        assert_ok(mode_step(m, &(mode_call){.function = turn_step, .context = u}, NULL, &st), &st);
    assert_ok(mode_drain(m, &st), &st);
    assert_ok(mode_read(m, u->w, w, ROWS * COLUMNS * sizeof *w, &st), &st);
    return m;
}

static void end_turns(mode *m, turn *u)
{
    mode_clear(m, u->x);
    mode_clear(m, u->w);
    tg_variable_free(u->x);
    tg_variable_free(u->w);
    mode_destroy(m);
}

static void the_next_graph_takes_what_the_compiler_chose(void **state)
{
    (void)state;
    float plain[ROWS * COLUMNS], laid_out[ROWS * COLUMNS];
    turn u = {0};
    size_t length;
    end_turns(run_turns("capture", &(mode_options){.graphs = 2}, &u, 3, plain), &u);
    mode *m = run_turns("capture", &(mode_options){.graphs = 2, .automatic_layouts = true}, &u, 3,
                        laid_out);
    assert_memory_equal(laid_out, plain, sizeof plain);
    assert_int_equal(mode_execution_count(m), 2);
    assert_int_equal(mode_counters(m)[BN_COUNTER_COMPILES], 2);
    const mode_execution *first = mode_execution_at(m, 0), *second = mode_execution_at(m, 1);
    assert_int_equal(first->handed_on, 0);
    assert_int_equal(second->handed_on, 1);
    assert_non_null(strstr(mode_execution_text(m, 0, &length), "mhlo.layout_mode = \"auto\""));
    /* A compiler that honours it turns the dimensions and copies nothing. */
    assert_int_equal(second->rearranged, 1);
    assert_non_null(strstr(mode_execution_text(m, 1, &length), "mhlo.layout_mode = \"{0,1}\""));
    end_turns(m, &u);
}

/* A result that is read may become a variable's value: it keeps the default layout. */
static void what_a_read_puts_out_lies_by_rows(void **state)
{
    (void)state;
    float plain[ROWS * COLUMNS], laid_out[ROWS * COLUMNS];
    turn u = {.reads = true};
    size_t length;
    end_turns(run_turns("capture", &(mode_options){.graphs = 2}, &u, 3, plain), &u);
    mode *m = run_turns("capture", &(mode_options){.graphs = 2, .automatic_layouts = true}, &u, 3,
                        laid_out);
    assert_memory_equal(laid_out, plain, sizeof plain);
    for (size_t i = 0; i < mode_execution_count(m); i++) {
        assert_null(strstr(mode_execution_text(m, i, &length), "layout_mode"));
        assert_int_equal(mode_execution_at(m, i)->handed_on, 0);
    }
    end_turns(m, &u);
}

/* Keys say what was compiled before; so a graph with a known hash and another history is another
 * program, and one with the same history is found again. */
static void keys_hold_the_graphs_before(void **state)
{
    (void)state;
    mode *m = mode_new("capture", &(mode_options){.graphs = 2, .automatic_layouts = true});
    fit f = fit_new(m);
    run_steps(m, &f, 2);
    const int64_t compiles = mode_counters(m)[BN_COUNTER_COMPILES];
    int variant = 1;
    bn_status st = {0};
    const mode_call call = {fit_step, &f, &variant, sizeof variant, NULL};
    assert_ok(mode_step(m, &call, NULL, &st), &st); /* another capture of the same graphs */
    assert_int_equal(mode_counters(m)[BN_COUNTER_CAPTURES], 2);
    assert_int_equal(mode_counters(m)[BN_COUNTER_COMPILES], compiles);
    assert_int_equal(compiles, 2);
    fit_free(m, &f);
    mode_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_graph_takes_what_the_compiler_chose),
        cmocka_unit_test(what_a_read_puts_out_lies_by_rows),
        cmocka_unit_test(keys_hold_the_graphs_before),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
