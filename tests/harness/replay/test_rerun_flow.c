/*
 * test_rerun_flow.c - which value goes where in a recorded step: processes are made by hand. Needs
 * no plugin and no recorder.
 */
#include "harness/replay/rerun_priv.h"
#include "tests/support/test_runtime.h"

enum { MOST = 64 };

/* A process whose executions are added one by one. All buffers are of one type but those that TYPE
 * says. */
typedef struct made {
    rec_process process;
    rec_type types[2];
    rec_execution executions[MOST];
    rec_buffer buffers[MOST];
    uint32_t operands[8 * MOST], order[MOST];
} made;

static const int64_t dims[] = {2, 3};

static void begin(made *m)
{
    *m = (made){.types = {{.type = 11, .rank = 2, .dims = dims}, {.type = 4}}};
    m->process.types = m->types;
    m->process.type_count = 2;
    m->process.executions = m->executions;
    m->process.buffers = m->buffers;
    m->process.buffer_count = MOST;
    m->process.operands = m->operands;
}

/* An execution of the buffers ARGUMENTS to RESULTS; both end with REC_NONE. */
static void add(made *m, const uint32_t *arguments, const uint32_t *results)
{
    const size_t index = m->process.execution_count++;
    rec_execution *x = &m->executions[index];
    *x = (rec_execution){.devices = 1, .operands = m->process.operand_count};
    for (; arguments[x->arguments] != REC_NONE; x->arguments++)
        m->operands[m->process.operand_count++] = arguments[x->arguments];
    for (; results[x->results] != REC_NONE; x->results++)
        m->operands[m->process.operand_count++] = results[x->results];
    m->order[index] = (uint32_t)index;
}
#define LIST(...) ((const uint32_t[]){__VA_ARGS__, REC_NONE})
#define NOTHING   ((const uint32_t[]){REC_NONE})

/* w, x -> g, l; then w, g -> the next w. */
static void parameters_go_on(void **state)
{
    (void)state;
    static made m;
    bn_status st = {0};
    rerun_flow f;
    begin(&m);
    add(&m, LIST(0, 1), LIST(2, 3));
    add(&m, LIST(0, 2), LIST(4));
    add(&m, LIST(4, 5), LIST(6, 7));
    add(&m, LIST(4, 6), LIST(8));
    assert_ok(rerun_flow_make(&m.process, m.order, 2, &f, &st), &st);
    assert_int_equal(f.input_count, 2);
    assert_int_equal(f.result_count, 3);
    assert_int_equal(f.inputs[0].from, 2); /* w */
    assert_int_equal(f.inputs[1].from, RERUN_NONE);
    assert_int_equal(rerun_flow_value(&f, 0, 0), 0);
    assert_int_equal(rerun_flow_value(&f, 0, 1), 1);
    assert_int_equal(rerun_flow_value(&f, 1, 0), 0);
    assert_int_equal(rerun_flow_value(&f, 1, 1), 2); /* g: the first result */
    rerun_flow_free(&f);
}

/* One buffer at two places is one input; a result at two places becomes one input only. */
static void buffers_may_stand_twice(void **state)
{
    (void)state;
    static made m;
    bn_status st = {0};
    rerun_flow f;
    begin(&m);
    add(&m, LIST(0, 0, 1), LIST(2));
    add(&m, LIST(2, 2, 2), LIST(3));
    assert_ok(rerun_flow_make(&m.process, m.order, 1, &f, &st), &st);
    assert_int_equal(f.input_count, 2);
    assert_int_equal(rerun_flow_value(&f, 0, 0), 0);
    assert_int_equal(rerun_flow_value(&f, 0, 1), 0);
    assert_int_equal(f.inputs[0].from, 0);
    assert_int_equal(f.inputs[1].from, RERUN_NONE);
    rerun_flow_free(&f);
}

/* What stays, what comes from elsewhere, and what is of another type goes nowhere. */
static void others_stay(void **state)
{
    (void)state;
    static made m;
    bn_status st = {0};
    rerun_flow f;
    begin(&m);
    m.buffers[4].type = 1;
    add(&m, LIST(0, 1, 2), LIST(4, 5));
    add(&m, LIST(0, 9, 4), LIST(6, 7));
    assert_ok(rerun_flow_make(&m.process, m.order, 1, &f, &st), &st);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(f.inputs[i].from, RERUN_NONE);
    rerun_flow_free(&f);
}

static void nothing_to_take_and_nothing_to_give(void **state)
{
    (void)state;
    static made m;
    bn_status st = {0};
    rerun_flow f;
    begin(&m);
    add(&m, NOTHING, LIST(0));
    add(&m, LIST(0), NOTHING);
    add(&m, NOTHING, LIST(1));
    add(&m, LIST(1), NOTHING);
    assert_ok(rerun_flow_make(&m.process, m.order, 2, &f, &st), &st);
    assert_int_equal(f.input_count, 0);
    assert_int_equal(rerun_flow_value(&f, 1, 0), 0);
    rerun_flow_free(&f);
}

static void what_cannot_be_followed_is_told(void **state)
{
    (void)state;
    static made m;
    bn_status st = {0};
    rerun_flow f;
    begin(&m);
    add(&m, LIST(0, 1), LIST(2));
    add(&m, LIST(2, 1), LIST(3));
    m.executions[0].devices = 2;
    assert_fails(rerun_flow_make(&m.process, m.order, 1, &f, &st), BN_NOT_SUPPORTED, "2 devices",
                 &st);
    rerun_flow_free(&f);
    m.executions[0].devices = 1;
    m.operands[1] = REC_NONE;
    assert_fails(rerun_flow_make(&m.process, m.order, 1, &f, &st), BN_FORMAT,
                 "does not tell argument 1 of execution 0", &st);
    rerun_flow_free(&f);
    m.operands[1] = MOST;
    assert_fails(rerun_flow_make(&m.process, m.order, 1, &f, &st), BN_FORMAT, "argument 1", &st);
    rerun_flow_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_go_on),
        cmocka_unit_test(buffers_may_stand_twice),
        cmocka_unit_test(others_stay),
        cmocka_unit_test(nothing_to_take_and_nothing_to_give),
        cmocka_unit_test(what_cannot_be_followed_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
