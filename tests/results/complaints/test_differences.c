/*
 * test_differences.c - the steps and programs of two recordings next to each other, whose
 * differences are known.
 */
#include "results/complaints/differences.h"
#include "tests/results/recordings/recording_fixture.h"

/* What a step is made of. Each time varies by JITTER of itself. */
typedef struct shape {
    uint64_t seed;
    int steps;
    double jitter;
    uint64_t work_ns, send_ns, device_ns, rest_ns;
    uint32_t arguments; /* of the step's program, at least 1 */
    bool update;        /* a second program */
    uint64_t code;      /* of the step's program */
    const char *name;   /* NULL: jit_step */
    int every;          /* each so manyth step is of another variant; 0: none */
} shape;

static const shape usual = {.seed = 1,
                            .steps = 60,
                            .jitter = 0.1,
                            .work_ns = 2 * MS,
                            .send_ns = 100 * US,
                            .device_ns = 3 * MS,
                            .rest_ns = MS,
                            .arguments = 2,
                            .code = 7};

static uint64_t vary(const shape *s, uint64_t *random, uint64_t ns)
{
    return (uint64_t)((double)ns * (1 + s->jitter * (2 * fixture_uniform(random) - 1)));
}

static void play_shape(play *p, const shape *s)
{
    const char *name = s->name ? s->name : "jit_step";
    uint64_t random = s->seed, arguments[8] = {0}, result;
    play_begin(p);
    const play_program step = play_compile(p, name, s->code, 1, 1, 20 * MS);
    const play_program variant =
        s->every ? play_compile(p, name, s->code + 50, 1, 1, 20 * MS) : step;
    const play_program update = s->update ? play_compile(p, "jit_update", 99, 1, 1, 20 * MS) : step;
    for (uint32_t i = 0; i < s->arguments; i++)
        arguments[i] = play_send(p, 0, 24, US);
    for (int i = 0; i < s->steps; i++) {
        const run r = {.call_ns = 50 * US,
                       .device_ns = vary(s, &random, s->device_ns),
                       .arguments = arguments,
                       .argument_count = s->arguments};
        play_work(p, 0, vary(s, &random, s->work_ns));
        play_destroy(p, play_send(p, 0, 4096, vary(s, &random, s->send_ns)), 0);
        play_execute(p, s->every && i % s->every == 0 ? &variant : &step, r, &result);
        play_destroy(p, result, 0);
        if (s->update)
            play_execute(p, &update, (run){.call_ns = 50 * US, .device_ns = MS}, NULL);
        play_wait(p, 0, 0);
        play_rest(p, 0, vary(s, &random, s->rest_ns));
    }
}

/* Two recordings, their steps and their differences. */
typedef struct both {
    rec_recording *recording[2];
    rec_steps *steps[2];
    rec_differences d;
} both;

static both compare(const shape *a, const shape *b)
{
    static play p;
    bn_status st = {0};
    both out = {.steps = {NULL}};
    const shape *const shapes[] = {a, b};
    for (int i = 0; i < 2; i++) {
        char folder[300];
        const rec_options options = {.device = -1};
        play_shape(&p, shapes[i]);
        out.recording[i] = play_open(&p, folder, sizeof folder);
        assert_ok(rec_check_steps(out.recording[i], &options, &out.steps[i], &st), &st);
    }
    assert_ok(rec_differences_make(out.steps[0], out.steps[1], &out.d, &st), &st);
    return out;
}

static void drop(both *o)
{
    rec_differences_free(&o->d);
    for (int i = 0; i < 2; i++) {
        rec_steps_free(o->steps[i]);
        rec_close(o->recording[i]);
    }
}

static void near(double value, double expected, double within)
{
    if (!(fabs(value - expected) <= within))
        fail_msg("%.0f is not within %.0f of %.0f", value, within, expected);
}

/* The parts' changes sum to that of the wall. */
static void sums_up(const rec_differences *d)
{
    double sum = 0;
    for (int i = 0; i < REC_PART_COUNT; i++)
        sum += d->part[i].more_ns.estimate;
    near(sum, d->wall.more_ns.estimate, 1);
}

/* The change of the program NAME. */
static const rec_program_change *program_of(const rec_differences *d, const char *name)
{
    for (size_t i = 0; i < d->program_count; i++) {
        const rec_program_change *p = &d->programs[i];
        const int side = p->b == REC_NONE ? 0 : 1;
        const uint32_t row = side ? p->b : p->a;
        const rec_steps *s = d->steps[side];
        if (strcmp(s->process->programs[s->programs[row].program].name, name) == 0)
            return p;
    }
    fail_msg("no program %s", name);
    return NULL;
}

static void test_the_same_run_has_no_difference(void **state)
{
    (void)state;
    both o = compare(&usual, &usual);
    assert_false(o.d.differ);
    near(o.d.wall.more_ns.estimate, 0, 0);
    near(o.d.wall.a_ns, o.d.wall.b_ns, 0);
    for (int i = 0; i < REC_PART_COUNT; i++)
        assert_false(o.d.part[i].claimed);
    assert_int_equal(o.d.program_count, 1);
    for (size_t i = 0; i < o.d.finding_count; i++)
        assert_true(rec_finding_of(&o.d, &o.d.findings[i], 0) &&
                    rec_finding_of(&o.d, &o.d.findings[i], 1) && !o.d.findings[i].cost.claimed);
    drop(&o);
}

/* Of pairs of runs that differ by chance only, few show a difference: 5 % by the wall time, and
 * 5 % by any other time. */
static void test_chance_is_rarely_a_difference(void **state)
{
    (void)state;
    enum { PAIRS = 100 };
    int differ = 0, wall = 0;
    for (uint64_t i = 0; i < PAIRS; i++) {
        shape a = usual, b = usual;
        a.seed = 1000 + 2 * i;
        b.seed = 1001 + 2 * i;
        both o = compare(&a, &b);
        differ += o.d.differ;
        wall += o.d.wall.claimed;
        sums_up(&o.d);
        drop(&o);
    }
    if (differ > 18 || wall > 11)
        fail_msg("%d of %d differ, %d by the wall time", differ, PAIRS, wall);
}

static void test_longer_transfers_are_named(void **state)
{
    (void)state;
    shape b = usual;
    b.seed = 2;
    b.send_ns = 1100 * US;
    both o = compare(&usual, &b);
    assert_true(o.d.differ && o.d.wall.claimed && o.d.part[REC_PART_TRANSFER].claimed);
    near(o.d.wall.more_ns.estimate, 1e6, 2e5);
    near(o.d.part[REC_PART_TRANSFER].more_ns.estimate, 1e6, 5e4);
    assert_true(o.d.wall.more_ns.low > 7e5 && o.d.wall.more_ns.high < 13e5);
    sums_up(&o.d);
    assert_false(o.d.part[REC_PART_IDLE].claimed || o.d.busy.claimed);
    json_t *json = rec_differences_json(&o.d);
    assert_true(json_is_true(json_object_get(json, "differ")));
    const char *text = json_string_value(json_object_get(json, "words"));
    assert_non_null(strstr(text, "transfers"));
    assert_null(strstr(text, rec_part_name(REC_PART_IDLE)));
    json_decref(json);
    drop(&o);
}

static void test_a_longer_program_and_a_new_one(void **state)
{
    (void)state;
    shape b = usual;
    b.seed = 3;
    b.device_ns = 4 * MS;
    b.update = true;
    b.code = 8;
    both o = compare(&usual, &b);
    const rec_program_change *step = program_of(&o.d, "jit_step");
    const rec_program_change *update = program_of(&o.d, "jit_update");
    assert_int_equal(o.d.program_count, 2);
    assert_true(step->a == 0 && step->b != REC_NONE && step->device.claimed);
    near(step->device.more_ns.estimate, 1e6, 2e5);
    assert_true(update->a == REC_NONE);
    near(update->device.b_ns, 1e6, 1e3);
    near(update->device.a_ns, 0, 0);
    near(o.d.busy.more_ns.estimate, 2e6, 2e5);
    drop(&o);
}

static void test_variants_are_one_program(void **state)
{
    (void)state;
    shape b = usual;
    b.every = 3;
    both o = compare(&usual, &b);
    assert_int_equal(o.steps[1]->programs[0].variants, 2);
    assert_int_equal(o.d.program_count, 1);
    near(o.d.programs[0].device.more_ns.estimate, 0, 0); /* as long, and in each step */
    drop(&o);
}

static void test_another_argument_is_the_same_program(void **state)
{
    (void)state;
    shape b = usual, c = usual;
    b.arguments = 3;
    b.code = 8;
    both o = compare(&usual, &b);
    assert_int_equal(o.d.program_count, 1);
    assert_true(o.d.programs[0].a == 0 && o.d.programs[0].b == 0);
    drop(&o);
    c.name = "jit_other";
    c.code = 9;
    o = compare(&usual, &c);
    assert_int_equal(o.d.program_count, 2);
    assert_true(o.d.programs[0].a == REC_NONE && o.d.programs[1].b == REC_NONE && o.d.differ);
    drop(&o);
}

static void test_few_steps_claim_nothing(void **state)
{
    (void)state;
    shape b = usual;
    b.steps = 8;
    b.send_ns = 5 * MS;
    both o = compare(&usual, &b);
    assert_true(o.steps[1]->count < 9);
    assert_false(o.d.differ || o.d.wall.claimed);
    assert_true(isnan(o.d.wall.more_ns.low));
    near(o.d.part[REC_PART_TRANSFER].more_ns.estimate, 4900e3, 5e5);
    drop(&o);
}

static void test_findings_that_are_gone_and_new(void **state)
{
    (void)state;
    shape b = usual;
    b.rest_ns = 10 * US;
    b.send_ns = 3 * MS;
    both o = compare(&usual, &b);
    int gone = 0, new = 0;
    for (size_t i = 0; i < o.d.finding_count; i++) {
        const rec_finding_change *f = &o.d.findings[i];
        gone += f->rule == REC_RULE_INPUT && f->a != REC_NONE && f->b == REC_NONE;
        new += f->rule == REC_RULE_TRANSFERS && f->a == REC_NONE && f->b != REC_NONE;
    }
    assert_int_equal(gone, 1);
    assert_int_equal(new, 1);
    drop(&o);
}

/* ---- pairs of programs ------------------------------------------------------------------------
 */

static void compile(play *p, const char *name, uint64_t code, uint32_t arguments, int times)
{
    uint64_t given[8] = {0};
    const play_program made = play_compile(p, name, code, 1, 1, MS);
    for (uint32_t i = 0; i < arguments; i++)
        given[i] = play_send(p, 0, 24, US);
    for (int i = 0; i < times; i++)
        play_execute(
            p, &made,
            (run){.call_ns = US, .device_ns = US, .arguments = given, .argument_count = arguments},
            NULL);
}

static const rec_program_pair *pair_of(const rec_program_pairs *pairs, const char *name, size_t *of)
{
    const rec_program_pair *last = NULL;
    *of = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        const rec_program_pair *one = &pairs->list[i];
        if (strncmp((one->a ? one->a : one->b)->program->name, name, strlen(name)) == 0) {
            last = one;
            ++*of;
        }
    }
    return last;
}

static void test_programs_are_paired_by_name_and_structure(void **state)
{
    static play p;
    char folder[300];
    size_t count;
    rec_program_pairs pairs;
    (void)state;
    play_begin(&p);
    compile(&p, "jit_f", 1, 1, 5);
    compile(&p, "jit_f", 2, 2, 3);
    compile(&p, "jit_f", 3, 2, 2); /* a variant */
    compile(&p, "jit_g", 4, 2, 1); /* gets an argument */
    compile(&p, "jit_h", 5, 1, 1); /* of these two nobody knows which is which */
    compile(&p, "jit_h", 6, 2, 1);
    compile(&p, "graph.7", 7, 1, 1); /* PyTorch/XLA's numbers are no names */
    compile(&p, "jit_left", 8, 1, 1);
    rec_recording *a = play_open(&p, folder, sizeof folder);
    play_begin(&p);
    compile(&p, "jit_f", 3, 2, 9);
    compile(&p, "jit_f", 2, 2, 3);
    compile(&p, "jit_f", 11, 1, 5);
    compile(&p, "jit_g", 14, 3, 1);
    compile(&p, "jit_h", 15, 3, 1);
    compile(&p, "jit_h", 16, 4, 1);
    compile(&p, "graph.9", 17, 1, 1);
    compile(&p, "jit_new", 18, 0, 1);
    rec_recording *b = play_open(&p, folder, sizeof folder);
    rec_program_pairs_make(a, b, &pairs);

    const rec_program_pair *f = pair_of(&pairs, "jit_f", &count);
    assert_int_equal(count, 2);
    /* The second has more arguments. Its code is A's most frequent one, though B runs another one
     * more often. */
    assert_true(f->a->arguments == 2 && f->b->arguments == 2);
    assert_int_equal(f->a->programs, 2);
    assert_string_equal(f->of_a->hash, f->of_b->hash);
    assert_string_not_equal(f->b->program->hash, f->of_b->hash);
    const rec_program_pair *g = pair_of(&pairs, "jit_g", &count);
    assert_true(count == 1 && g->a->arguments == 2 && g->b->arguments == 3);
    (void)pair_of(&pairs, "jit_h", &count);
    assert_int_equal(count, 4);
    const rec_program_pair *graph = pair_of(&pairs, "graph.", &count);
    assert_true(count == 1 && graph->a && graph->b);
    const rec_program_pair *gone = pair_of(&pairs, "jit_left", &count);
    assert_true(count == 1 && gone->a && !gone->b);
    const rec_program_pair *new = pair_of(&pairs, "jit_new", &count);
    assert_true(count == 1 && !new->a &&new->b);
    rec_program_pairs_free(&pairs);
    rec_close(a);
    rec_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_run_has_no_difference),
        cmocka_unit_test(test_chance_is_rarely_a_difference),
        cmocka_unit_test(test_longer_transfers_are_named),
        cmocka_unit_test(test_a_longer_program_and_a_new_one),
        cmocka_unit_test(test_variants_are_one_program),
        cmocka_unit_test(test_another_argument_is_the_same_program),
        cmocka_unit_test(test_few_steps_claim_nothing),
        cmocka_unit_test(test_findings_that_are_gone_and_new),
        cmocka_unit_test(test_programs_are_paired_by_name_and_structure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
