/* test_hlo.c - optimized programs: sums of estimates, calls, copies, collectives, scopes, layouts.
 */
#include "tests/runtime/hlo/hlo_fixture.h"

static void estimates_of_the_entry_are_added(void **state)
{
    (void)state;
    build *b = begin();
    inst *x = parameter(b, 0, 0);
    inst *f =
        scoped(b, takes(b, op(b, 0, "fusion", x, NULL, NULL), 1000), "layer1/conv/convolution");
    const size_t inside = computation(b);
    takes(b, op(b, inside, "convolution", parameter(b, inside, 0), NULL, NULL), 700);
    calls(b, f, inside, 0); /* what is inside is in the fusion's own estimate */
    configure(b, op(b, 0, "fusion", f, NULL, NULL),
              "{\"window_config\":{\"estimated_cycles\":20}}");
    takes(b, op(b, 0, "fusion", f, NULL, NULL), 0); /* the cost model does not cover it */
    configure(b, op(b, 0, "sort", f, NULL, NULL), "{\"window_config\":{\"estimated_cycles\":");
    configure(b, op(b, 0, "sort", f, NULL, NULL),
              "{\"window_config\":{\"estimated_cycles\":\"many\"}}");
    inst *custom = op(b, 0, "custom-call", f, NULL, NULL);
    custom->custom_call_target = "Sharding";
    shaped(b, op(b, 0, "add", f, f, NULL), 0, true); /* of single numbers */
    op(b, 0, "tuple", f, NULL, NULL);
    hlo_program *program = made(b);
    const hlo_report *r = hlo_program_report(program);
    assert_number(r->cycles, 1020);
    assert_int_equal(r->estimated, 2);
    assert_int_equal(r->costly.count, 2);
    assert_number(r->costly.list[0].cycles, 1000);
    assert_number(r->costly.list[1].cycles, 20);
    assert_int_equal(r->silent.count, 3);
    assert_string_equal(r->silent.list[0].name, "sort");
    assert_number(r->silent.list[0].times, 2);
    assert_int_equal(r->copies.count + r->loops.count + r->collectives.count, 0);
    hlo_program_free(program);
    end(b);
}

static void copies_are_recorded_by_kind(void **state)
{
    (void)state;
    build *b = begin();
    inst *x = shaped(b, parameter(b, 0, 0), 2, false);
    takes(b, op(b, 0, "fusion", x, NULL, NULL), 100);
    takes(b, shaped(b, op(b, 0, "copy", x, NULL, NULL), 2, false), 5);
    takes(b, shaped(b, op(b, 0, "copy", x, NULL, NULL), 2, true), 7);
    takes(b, op(b, 0, "transpose", x, NULL, NULL), 3);
    const size_t moves = computation(b), computes = computation(b);
    inst *p = shaped(b, parameter(b, moves, 0), 3, false);
    shaped(b, op(b, moves, "copy", p, NULL, NULL), 3, true);
    takes(b, calls(b, op(b, 0, "fusion", x, NULL, NULL), moves, 0), 11);
    op(b, computes, "negate", op(b, computes, "copy", parameter(b, computes, 0), NULL, NULL), NULL,
       NULL);
    takes(b, calls(b, op(b, 0, "fusion", x, NULL, NULL), computes, 0), 13);
    op(b, 0, "copy-done", op(b, 0, "copy-start", x, NULL, NULL), NULL, NULL);
    hlo_program *program = made(b);
    const hlo_report *r = hlo_program_report(program);
    assert_number(r->cycles, 139);
    assert_number(r->copy_cycles, 26);
    assert_number(r->layout_cycles, 18);
    assert_int_equal(r->copies.count, 4);
    assert_string_equal(r->copies.list[0].what, "layout change"); /* the fusion, 11 cycles */
    assert_number(r->copies.list[0].cycles, 11);
    assert_string_equal(r->copies.list[2].what, "copy");
    assert_string_equal(r->copies.list[3].what, "transpose");
    assert_int_equal(r->silent.count, 1);
    assert_string_equal(r->silent.list[0].name, "copy-start");
    hlo_program_free(program);
    end(b);
}

static void calls_and_branches_are_walked(void **state)
{
    (void)state;
    build *b = begin();
    const size_t callee = computation(b), cheap = computation(b), dear = computation(b);
    inst *x = parameter(b, 0, 0);
    takes(b, op(b, callee, "fusion", parameter(b, callee, 0), NULL, NULL), 10);
    takes(b, op(b, cheap, "fusion", parameter(b, cheap, 0), NULL, NULL), 1);
    takes(b, op(b, dear, "fusion", parameter(b, dear, 0), NULL, NULL), 100);
    calls(b, op(b, 0, "call", x, NULL, NULL), callee, 0);
    calls(b, op(b, 0, "call", x, NULL, NULL), callee, 0);
    op(b, 0, "async-done", calls(b, op(b, 0, "async-start", x, NULL, NULL), callee, 0), NULL, NULL);
    calls(b, op(b, 0, "conditional", x, NULL, NULL), cheap, dear);
    /* A reduction's computation runs for each element; it is no part of the sum. */
    calls(b, op(b, 0, "reduce", x, NULL, NULL), dear, 0);
    hlo_program *program = made(b);
    const hlo_report *r = hlo_program_report(program);
    assert_number(r->cycles, 130);
    assert_int_equal(r->branches.count, 1);
    assert_number(r->branches.list[0].cycles, 100);
    assert_int_equal(r->silent.count, 1);
    hlo_program_free(program);
    end(b);
}

static void collectives_are_named(void **state)
{
    (void)state;
    build *b = begin();
    inst *x = parameter(b, 0, 0);
    op(b, 0, "all-reduce", x, NULL, NULL);
    op(b, 0, "all-gather-done", op(b, 0, "all-gather-start", x, NULL, NULL), NULL, NULL);
    takes(b, op(b, 0, "reduce-scatter", x, NULL, NULL), 40);
    hlo_program *program = made(b);
    const hlo_report *r = hlo_program_report(program);
    assert_int_equal(r->collectives.count, 3);
    assert_string_equal(r->collectives.list[0].what, "reduce-scatter");
    assert_number(r->collectives.list[1].cycles, -1);
    assert_number(r->cycles, 40);
    assert_int_equal(r->silent.count, 0);
    hlo_program_free(program);
    end(b);
}

static void scopes_are_summed(void **state)
{
    (void)state;
    build *b = begin();
    inst *x = parameter(b, 0, 0);
    scoped(b, takes(b, op(b, 0, "fusion", x, NULL, NULL), 10), "backward/layer1/convolution");
    scoped(b, takes(b, op(b, 0, "fusion", x, NULL, NULL), 30), "layer1/add");
    scoped(b, takes(b, op(b, 0, "fusion", x, NULL, NULL), 25), "backward/layer1/add");
    takes(b, op(b, 0, "fusion", x, NULL, NULL), 1);
    hlo_program *program = made(b);
    const hlo_report *r = hlo_program_report(program);
    assert_int_equal(r->scopes.count, 3);
    assert_string_equal(r->scopes.list[0].name, "backward/layer1");
    assert_number(r->scopes.list[0].cycles, 35);
    assert_string_equal(r->scopes.list[1].name, "layer1");
    assert_string_equal(r->scopes.list[2].name, "");
    hlo_program_free(program);
    end(b);
}

static Hlo__Wire__Part *part(build *b, size_t rank, bool first_fastest)
{
    Hlo__Wire__Part *p = room(b, sizeof *p);
    hlo__wire__part__init(p);
    p->dimensions = room(b, (rank + 1) * sizeof *p->dimensions);
    p->n_dimensions = rank;
    p->layout = layout(b, rank, first_fastest);
    return p;
}

static void layouts_of_results_are_written_as_xla_does(void **state)
{
    (void)state;
    build *b = begin();
    Hlo__Wire__Signature entry = HLO__WIRE__SIGNATURE__INIT;
    Hlo__Wire__Shape result = HLO__WIRE__SHAPE__INIT;
    Hlo__Wire__Tile tiles[2] = {HLO__WIRE__TILE__INIT, HLO__WIRE__TILE__INIT};
    Hlo__Wire__Tile *tile_list[2] = {&tiles[0], &tiles[1]};
    int64_t sizes[] = {8, 128, 2, INT64_MIN};
    Hlo__Wire__Part *parts[4] = {part(b, 2, true), part(b, 3, false), part(b, 0, true),
                                 part(b, 2, true)};
    parameter(b, 0, 0);
    tiles[0].dimensions = sizes;
    tiles[1].dimensions = sizes + 2;
    tiles[0].n_dimensions = tiles[1].n_dimensions = 2;
    parts[0]->layout->tiles = tile_list;
    parts[0]->layout->n_tiles = 2;
    parts[3]->layout->minor_to_major[0] = 7; /* there is no such dimension */
    result.parts = parts;
    result.n_parts = 4;
    entry.result = &result;
    b->module.entry = &entry;
    hlo_program *program = made(b);
    const hlo_report *r = hlo_program_report(program);
    assert_int_equal(r->layout_count, 4);
    assert_string_equal(r->layouts[0], "{0,1:T(8,128)(2,*)}");
    assert_string_equal(r->layouts[1], "{2,1,0}");
    assert_null(r->layouts[2]);
    assert_null(r->layouts[3]);
    hlo_program_free(program);
    end(b);
}

static void a_module_may_come_with_its_configuration(void **state)
{
    (void)state;
    build *b = begin();
    bn_status st = {0};
    hlo_program *program = NULL;
    takes(b, op(b, 0, "fusion", parameter(b, 0, 0), NULL, NULL), 12);
    assert_ok(read_as(b, "hlo_with_config", &program, &st), &st);
    assert_number(hlo_program_report(program)->cycles, 12);
    hlo_program_free(program);
    end(b);
}

static void bad_programs_are_refused(void **state)
{
    (void)state;
    build *b = begin();
    bn_status st = {0};
    hlo_program *program = NULL;
    parameter(b, 0, 0);
    assert_fails(hlo_program_read("mlir", "x", 1, &program, &st), BN_NOT_SUPPORTED, "'mlir'", &st);
    assert_fails(hlo_program_read("hlo", "\xff\xff", 2, &program, &st), BN_FORMAT, "HloModuleProto",
                 &st);
    assert_fails(hlo_program_read("hlo", "", 0, &program, &st), BN_FORMAT, "HloModuleProto", &st);
    assert_fails(hlo_program_read("hlo_with_config", "", 0, &program, &st), BN_FORMAT,
                 "HloModuleProto", &st);
    b->module.entry_id = 99;
    assert_fails(read_as(b, "hlo", &program, &st), BN_FORMAT, "no entry", &st);
    b->module.entry_id = 0;
    const size_t other = computation(b);
    calls(b, op(b, 0, "call", NULL, NULL, NULL), other, 0);
    inst *back = op(b, other, "call", NULL, NULL, NULL);
    back->called_computation_ids = room(b, sizeof(int64_t));
    back->n_called_computation_ids = 1; /* of the entry, 0 */
    assert_fails(read_as(b, "hlo", &program, &st), BN_FORMAT, "in circles", &st);
    assert_null(program);
    hlo_program_free(NULL);
    end(b);
}

/* Each of 40 computations calls the next one twice: 2^40 executions of the last. */
static void many_calls_cost_no_time(void **state)
{
    (void)state;
    build *b = begin();
    size_t in = 0;
    for (int i = 0; i < 40; i++) {
        const size_t next = computation(b);
        calls(b, op(b, in, "call", NULL, NULL, NULL), next, 0);
        calls(b, op(b, in, "call", NULL, NULL, NULL), next, 0);
        in = next;
    }
    takes(b, op(b, in, "fusion", NULL, NULL, NULL), 3);
    hlo_program *program = made(b);
    assert_number(hlo_program_report(program)->cycles, 3 * 1099511627776.0);
    hlo_program_free(program);
    end(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_of_the_entry_are_added),
        cmocka_unit_test(copies_are_recorded_by_kind),
        cmocka_unit_test(calls_and_branches_are_walked),
        cmocka_unit_test(collectives_are_named),
        cmocka_unit_test(scopes_are_summed),
        cmocka_unit_test(layouts_of_results_are_written_as_xla_does),
        cmocka_unit_test(a_module_may_come_with_its_configuration),
        cmocka_unit_test(bad_programs_are_refused),
        cmocka_unit_test(many_calls_cost_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
