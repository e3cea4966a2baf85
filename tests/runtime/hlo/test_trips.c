/* test_trips.c - iteration counts of loops, and loops whose count is unknown. */
#include "tests/runtime/hlo/hlo_fixture.h"

static void loops_count_as_their_condition_says(void **state)
{
    (void)state;
    static const struct {
        int32_t start, step;
        const char *direction;
        int32_t limit;
        double trips; /* -1: unknown */
    } rows[] = {
        {0, 1, "LT", 8, 8},    {0, 3, "LT", 8, 3},  {0, 3, "LE", 9, 4},
        {8, -1, "GT", 0, 8},   {8, -2, "GE", 0, 5}, {0, 2, "NE", 8, 4},
        {8, -2, "NE", 0, 4},   {0, 3, "NE", 8, -1}, {5, 1, "LT", 5, 0},
        {9, 1, "LT", 5, 0},    {0, 0, "LT", 5, -1}, {0, -1, "LT", 5, -1},
        {3, 1, "EQ", 3, 1},    {2, 1, "EQ", 3, 0},  {3, 1, "NE", 3, 0},
        {0, 1, "LIKE", 3, -1}, {9, 1, "NE", 3, -1}, {0, 1, "LE", INT32_MAX, 2147483648.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        build *b = begin();
        loop(b, 0, rows[i].start, rows[i].step, rows[i].direction, rows[i].limit, 100);
        hlo_program *program = made(b);
        const hlo_report *r = hlo_program_report(program);
        const double counted = rows[i].trips < 0 ? 1 : rows[i].trips;
        assert_int_equal(r->loops.count, 1);
        assert_number(r->loops.list[0].times, rows[i].trips);
        assert_number(r->cycles, 100 * counted);
        assert_int_equal(r->loops.list[0].why[0] != '\0', rows[i].trips < 0);
        hlo_program_free(program);
        end(b);
    }
}

static void the_condition_runs_once_more_than_the_body(void **state)
{
    (void)state;
    build *b = begin();
    inst *w = loop(b, 0, 0, 1, "LT", 8, 100);
    takes(b, b->instructions[w->called_computation_ids[1]][3], 2); /* the comparison */
    hlo_program *program = made(b);
    const hlo_report *r = hlo_program_report(program);
    assert_number(r->cycles, 8 * 100 + 9 * 2);
    assert_number(r->loops.list[0].cycles, 818);
    hlo_program_free(program);
    end(b);
}

static void loops_within_loops_multiply(void **state)
{
    (void)state;
    build *b = begin();
    inst *outer = loop(b, 0, 0, 1, "LT", 3, 10);
    const size_t body = (size_t)outer->called_computation_ids[0];
    const int64_t root = b->computations[body].root_id;
    loop(b, body, 0, 1, "LT", 4, 5);
    b->computations[body].root_id = root;
    hlo_program *program = made(b);
    const hlo_report *r = hlo_program_report(program);
    assert_number(r->cycles, 3 * (10 + 4 * 5));
    assert_int_equal(r->loops.count, 2);
    assert_number(r->loops.list[1].times, 4);
    assert_number(r->loops.list[1].cycles, 60);
    hlo_program_free(program);
    end(b);
}

/* The limit is carried, and the body leaves it alone; it stands on the left. */
static void a_limit_may_be_carried(void **state)
{
    (void)state;
    build *b = begin();
    const size_t body = computation(b), condition = computation(b);
    inst *p = parameter(b, body, 0);
    inst *next = op(b, body, "add", constant(b, body, 2), element(b, body, p, 0), NULL);
    inst *same = op(b, body, "copy", element(b, body, p, 1), NULL, NULL);
    takes(b, op(b, body, "fusion", p, NULL, NULL), 7);
    op(b, body, "tuple", next, same, NULL);
    inst *q = parameter(b, condition, 0);
    compare(b, condition, element(b, condition, q, 1), element(b, condition, q, 0), "GT");
    inst *init = op(b, 0, "tuple", constant(b, 0, 0), constant(b, 0, 10), NULL);
    inst *copied = op(b, 0, "copy", init, NULL, NULL);
    calls(b, op(b, 0, "while", copied, NULL, NULL), body, condition);
    hlo_program *program = made(b);
    assert_number(hlo_program_report(program)->cycles, 35);
    hlo_program_free(program);
    end(b);
}

/* Compilers fuse the comparison, and the addition. */
static void counting_may_be_fused(void **state)
{
    (void)state;
    build *b = begin();
    const size_t body = computation(b), condition = computation(b), less = computation(b),
                 plus = computation(b);
    compare(b, less, parameter(b, less, 0), parameter(b, less, 1), "LT");
    op(b, plus, "add", op(b, plus, "bitcast", parameter(b, plus, 0), NULL, NULL),
       constant(b, plus, 1), NULL);
    inst *p = parameter(b, body, 0);
    inst *next = calls(b, op(b, body, "fusion", element(b, body, p, 0), NULL, NULL), plus, 0);
    takes(b, op(b, body, "fusion", p, NULL, NULL), 9);
    op(b, body, "tuple", next, NULL, NULL);
    inst *counter = element(b, condition, parameter(b, condition, 0), 0);
    calls(b, op(b, condition, "fusion", counter, constant(b, condition, 6), NULL), less, 0);
    inst *init = op(b, 0, "tuple", constant(b, 0, 1), NULL, NULL);
    calls(b, op(b, 0, "while", init, NULL, NULL), body, condition);
    hlo_program *program = made(b);
    const hlo_report *r = hlo_program_report(program);
    assert_number(r->loops.list[0].times, 5);
    assert_number(r->cycles, 45);
    hlo_program_free(program);
    end(b);
}

/* The loop of FIXTURE with one thing wrong; the reason must hold TEXT. */
static void assert_unknown(build *b, const char *text)
{
    hlo_program *program = made(b);
    const hlo_report *r = hlo_program_report(program);
    assert_int_equal(r->loops.count, 1);
    assert_number(r->loops.list[0].times, -1);
    if (!strstr(r->loops.list[0].why, text))
        fail_msg("'%s' does not say '%s'", r->loops.list[0].why, text);
    assert_number(r->cycles, 100); /* once */
    hlo_program_free(program);
    end(b);
}

static void unknown_counts_are_reported(void **state)
{
    (void)state;
    build *b = begin();
    inst *w = loop(b, 0, 0, 1, "LT", 8, 100);
    size_t condition = (size_t)w->called_computation_ids[1];
    inst *compare = b->instructions[condition][3];
    op(b, condition, "and", compare, compare, NULL);
    assert_unknown(b, "not one comparison");

    b = begin();
    w = loop(b, 0, 0, 1, "LT", 8, 100);
    b->instructions[w->called_computation_ids[0]][4]->opcode = "multiply";
    b->instructions[w->called_computation_ids[0]][5]->opcode = "multiply";
    assert_unknown(b, "does not add a constant");

    b = begin();
    w = loop(b, 0, 0, 1, "LT", 8, 100);
    b->instructions[0][0]->opcode = "iota"; /* what the counter starts from */
    assert_unknown(b, "does not start from a constant");

    b = begin();
    w = loop(b, 0, 0, 1, "LT", 8, 100);
    b->instructions[w->called_computation_ids[1]][2]->opcode = "iota";
    assert_unknown(b, "neither carried nor constant");
}

static void a_stated_number_serves_where_ours_is_unknown(void **state)
{
    (void)state;
    build *b = begin();
    inst *w = loop(b, 0, 0, 1, "LT", 8, 100);
    b->instructions[0][0]->opcode = "iota";
    configure(b, w, "{\"known_trip_count\":{\"n\":\"16\"}}");
    hlo_program *program = made(b);
    const hlo_report *r = hlo_program_report(program);
    assert_number(r->cycles, 1600);
    assert_string_equal(r->loops.list[0].why, "");
    hlo_program_free(program);
    end(b);
}

/* The numbers of instructions may be of their computation, with its own number above them. */
static void numbers_may_be_of_the_computation(void **state)
{
    (void)state;
    build *b = begin();
    loop(b, 0, 0, 1, "LT", 8, 100);
    for (size_t c = 0; c < b->module.n_computations; c++) {
        const Hlo__Wire__Computation *one = &b->computations[c];
        for (size_t k = 0; k < one->n_instructions; k++)
            one->instructions[k]->id |= (int64_t)(c + 1) << 32;
    }
    hlo_program *program = made(b);
    assert_number(hlo_program_report(program)->cycles, 800);
    hlo_program_free(program);
    end(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_count_as_their_condition_says),
        cmocka_unit_test(the_condition_runs_once_more_than_the_body),
        cmocka_unit_test(loops_within_loops_multiply),
        cmocka_unit_test(a_limit_may_be_carried),
        cmocka_unit_test(counting_may_be_fused),
        cmocka_unit_test(unknown_counts_are_reported),
        cmocka_unit_test(a_stated_number_serves_where_ours_is_unknown),
        cmocka_unit_test(numbers_may_be_of_the_computation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
