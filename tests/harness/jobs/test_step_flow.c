/*
 * test_step_flow.c - which value goes where in a recorded step: processes are made by hand. Needs
 * no plugin and no recorder.
 */
#include "harness/jobs/step_priv.h"
#include "tests/support/test_runtime.h"

enum { MOST = 64 };

/* A process whose executions are added one by one. All buffers are of one type but those that TYPE
 * says. */
typedef struct made {
    rec_process process;
    rec_type types[2];
    rec_execution executions[MOST];
    rec_buffer buffers[MOST];
    rec_span spans[MOST];
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
    m->process.spans = m->spans;
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
    job_flow f;
    begin(&m);
    add(&m, LIST(0, 1), LIST(2, 3));
    add(&m, LIST(0, 2), LIST(4));
    add(&m, LIST(4, 5), LIST(6, 7));
    add(&m, LIST(4, 6), LIST(8));
    assert_ok(job_flow_make(&m.process, m.order, 2, &f, &st), &st);
    assert_int_equal(f.input_count, 2);
    assert_int_equal(f.result_count, 3);
    assert_int_equal(f.inputs[0].from, 2); /* w */
    assert_int_equal(f.inputs[1].from, JOB_FLOW_NONE);
    assert_int_equal(job_flow_value(&f, 0, 0), 0);
    assert_int_equal(job_flow_value(&f, 0, 1), 1);
    assert_int_equal(job_flow_value(&f, 1, 0), 0);
    assert_int_equal(job_flow_value(&f, 1, 1), 2); /* g: the first result */
    job_flow_free(&f);
}

/* One buffer at two places is one input; a result at two places becomes one input only. */
static void buffers_may_stand_twice(void **state)
{
    (void)state;
    static made m;
    bn_status st = {0};
    job_flow f;
    begin(&m);
    add(&m, LIST(0, 0, 1), LIST(2));
    add(&m, LIST(2, 2, 2), LIST(3));
    assert_ok(job_flow_make(&m.process, m.order, 1, &f, &st), &st);
    assert_int_equal(f.input_count, 2);
    assert_int_equal(job_flow_value(&f, 0, 0), 0);
    assert_int_equal(job_flow_value(&f, 0, 1), 0);
    assert_int_equal(f.inputs[0].from, 0);
    assert_int_equal(f.inputs[1].from, JOB_FLOW_NONE);
    job_flow_free(&f);
}

/* Values that stay, come from elsewhere or have another type do not flow. */
static void others_stay(void **state)
{
    (void)state;
    static made m;
    bn_status st = {0};
    job_flow f;
    begin(&m);
    m.buffers[4].type = 1;
    add(&m, LIST(0, 1, 2), LIST(4, 5));
    add(&m, LIST(0, 9, 4), LIST(6, 7));
    assert_ok(job_flow_make(&m.process, m.order, 1, &f, &st), &st);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(f.inputs[i].from, JOB_FLOW_NONE);
    job_flow_free(&f);
}

static void nothing_to_take_and_nothing_to_give(void **state)
{
    (void)state;
    static made m;
    bn_status st = {0};
    job_flow f;
    begin(&m);
    add(&m, NOTHING, LIST(0));
    add(&m, LIST(0), NOTHING);
    add(&m, NOTHING, LIST(1));
    add(&m, LIST(1), NOTHING);
    assert_ok(job_flow_make(&m.process, m.order, 2, &f, &st), &st);
    assert_int_equal(f.input_count, 0);
    assert_int_equal(job_flow_value(&f, 1, 0), 0);
    job_flow_free(&f);
}

static void values_that_cannot_be_followed_are_reported(void **state)
{
    (void)state;
    static made m;
    bn_status st = {0};
    job_flow f;
    begin(&m);
    add(&m, LIST(0, 1), LIST(2));
    add(&m, LIST(2, 1), LIST(3));
    m.operands[1] = REC_NONE;
    assert_fails(job_flow_make(&m.process, m.order, 1, &f, &st), BN_FORMAT,
                 "argument 1 of execution 0", &st);
    job_flow_free(&f);
    m.operands[1] = MOST;
    assert_fails(job_flow_make(&m.process, m.order, 1, &f, &st), BN_FORMAT, "argument 1", &st);
    job_flow_free(&f);
}

static void what_is_made_too_late_is_refused(void **state)
{
    (void)state;
    static made m;
    bn_status st = {0};
    job_flow f;
    begin(&m);
    add(&m, LIST(0, 3), LIST(1));
    add(&m, LIST(1), LIST(2, 3));
    add(&m, LIST(2, 4), LIST(5));
    add(&m, LIST(5), LIST(6, 7));
    assert_fails(job_flow_make(&m.process, m.order, 2, &f, &st), BN_FORMAT, "execution 1", &st);
    job_flow_free(&f);
}

/* Two devices of one client, and one of another. */
static void put_devices(made *m)
{
    static rec_device devices[] = {{.client = 7}, {.client = 7}, {.client = 8}};
    m->process.devices = devices;
    m->process.device_count = 3;
}

/* Execution INDEX of M runs on COUNT devices from FIRST on. */
static void run_on(made *m, size_t index, uint32_t first, uint32_t count)
{
    rec_execution *x = &m->executions[index];
    x->devices = count;
    x->spans = (uint32_t)m->process.span_count;
    for (uint32_t d = 0; d < count; d++)
        m->spans[m->process.span_count++] =
            (rec_span){.device = first == REC_NONE ? REC_NONE : first + d};
}

/* The step of the COUNT executions at M's order needs DEVICES, as its execution RUN does first. */
static void needs(made *m, size_t count, size_t devices, size_t run)
{
    size_t first;
    assert_int_equal(job_flow_devices(&m->process, m->order, count, &first), devices);
    assert_int_equal(first, run);
}

static void devices_of_a_step_are_counted(void **state)
{
    (void)state;
    static made m;
    begin(&m);
    put_devices(&m);
    for (int i = 0; i < 4; i++)
        add(&m, LIST(0), LIST(1));
    for (size_t i = 0; i < 4; i++)
        run_on(&m, i, 0, 1);
    needs(&m, 2, 1, JOB_FLOW_NONE);
    /* Another client's device is not the step's. */
    run_on(&m, 1, 2, 1);
    m.order[1] = 2;
    m.order[2] = 3;
    needs(&m, 2, 1, JOB_FLOW_NONE);
    /* Its own client's is, unless the execution failed, or was before or after the step. */
    run_on(&m, 1, 1, 1);
    needs(&m, 2, 2, JOB_FLOW_NONE);
    m.executions[1].failed = true;
    needs(&m, 2, 1, JOB_FLOW_NONE);
    m.executions[1].failed = false;
    m.order[0] = 2;
    m.order[1] = 3;
    needs(&m, 1, 1, JOB_FLOW_NONE);
}

static void executions_on_several_devices_are_named(void **state)
{
    (void)state;
    static made m;
    begin(&m);
    put_devices(&m);
    for (int i = 0; i < 4; i++)
        add(&m, LIST(0), LIST(1));
    for (size_t i = 0; i < 4; i++)
        run_on(&m, i, 0, 1);
    run_on(&m, 1, 0, 2);
    needs(&m, 2, 2, 1);
    /* Devices without a description count, too. */
    for (size_t i = 0; i < 4; i++)
        run_on(&m, i, REC_NONE, 4);
    needs(&m, 2, 4, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_go_on),
        cmocka_unit_test(buffers_may_stand_twice),
        cmocka_unit_test(others_stay),
        cmocka_unit_test(nothing_to_take_and_nothing_to_give),
        cmocka_unit_test(values_that_cannot_be_followed_are_reported),
        cmocka_unit_test(what_is_made_too_late_is_refused),
        cmocka_unit_test(devices_of_a_step_are_counted),
        cmocka_unit_test(executions_on_several_devices_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
