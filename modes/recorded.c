/*
 * recorded.c - a step of several programs that others wrote, with the flow of values between them:
 * a replay of what a framework was seen to execute. Nothing of the framework is left of it but,
 * where that is asked for, its time; else the host is never late. Programs stay as many as they
 * were.
 *
 * Between steps the inputs lie on the device. Within a step a value lives to the step's end, or
 * until an execution consumes it; where the device has no room for all of them, only until the last
 * execution that takes it is submitted.
 */
#include "modes/mode_priv.h"

#include <stdlib.h>
#include <string.h>

typedef struct recorded {
    const mode_sequence *of;
    mode_pace pace;
    mode_program **programs; /* [part] */
    size_t value_count;
    rt_buffer **values;   /* [value]; NULL: not there now */
    size_t *heir;         /* [value]: the input that it is in the next step, or MODE_NO_VALUE */
    bool *renewed;        /* [input]: consumed in each step, and nobody's heir */
    mode_argument *types; /* [input]: as the first program that takes it wants it to lie */
    /* Of each run: its first result, and which arguments a probe must not consume. */
    size_t *first_result;
    size_t
        *last_use; /* [value]: the last run that takes it; the one that makes it where none does */
    bool frugal;   /* the device has no room for all results of a step */
    int64_t **probe_keep;
    size_t *probe_keep_count;
    /* While the first step finds out what is consumed. */
    bool known;
    uintptr_t *addresses; /* [argument of the run in hand] */
    bool *consumed;       /* [argument of the run in hand] */
} recorded;

/* ---- before the executions ----------------------------------------------------------- */

static bn_code send_inputs(mode *m, recorded *r, bn_status *st)
{
    bn_part before = mode_clock(m, BN_PART_INPUT);
    bn_code code = BN_OK;
    for (size_t i = 0; i < r->of->input_count && code == BN_OK; i++) {
        if (!r->values[i])
            code = mode_send(m, r->of->inputs[i].host, &r->types[i], &r->values[i], st);
    }
    mode_clock(m, before);
    return code;
}

/* ---- the host's time -------------------------------------------------------------------- */

static void keep_busy(mode *m, bn_part part, uint64_t ns)
{
    if (ns == 0)
        return;
    bn_part before = mode_clock(m, part);
    bn_wait_busily(ns);
    mode_clock(m, before);
}

/* A probe is of executions alone. */
static bool is_paced(const mode *m, const recorded *r)
{
    return r->pace == MODE_PACED && m->probe_repeat == 0;
}

static bn_code await_all(mode *m, bn_status *st)
{
    bn_part before = mode_clock(m, BN_PART_WAIT);
    bn_code code = mode_await_events(m, &m->events, st);
    mode_clock(m, before);
    return code;
}

/* The host's time before run INDEX. Of the first one only what came behind the wait is the
 * step's: the rest was behind the last one of the step before. */
static bn_code act(mode *m, const recorded *r, size_t index, bn_status *st)
{
    const mode_run *run = &r->of->runs[index];
    bn_code code = BN_OK;
    if (index > 0)
        keep_busy(m, BN_PART_TRACE, run->overlapped_ns);
    if (index > 0 && run->waits)
        code = await_all(m, st);
    keep_busy(m, BN_PART_TRACE, run->alone_ns);
    keep_busy(m, BN_PART_OTHER, run->idle_ns);
    return code;
}

/* ---- one execution ---------------------------------------------------------------------- */

static bn_code bind(mode *m, const recorded *r, const mode_run *run, bn_status *st)
{
    const mode_program *p = r->programs[run->part];
    bn_code code = BN_OK;
    mode_dispatch_reserve(m, p);
    for (size_t i = 0; i < p->input_count && code == BN_OK; i++) {
        m->arguments.items[i] = r->values[run->arguments[i]];
        if (!m->arguments.items[i])
            code = bn_fail(st, BN_INVALID, "%s: argument %zu, value %zu, is not there",
                           p->row->view.label, i, run->arguments[i]);
        /* Plugins execute arguments of another layout than the program's. Asked once. */
        else if (!r->known && p->argument_types &&
                 !mode_buffer_has_layout(m, m->arguments.items[i], &p->argument_types[i]))
            code = bn_fail(st, BN_NOT_SUPPORTED,
                           "%s: argument %zu, value %zu, has another layout than the program takes",
                           p->row->view.label, i, run->arguments[i]);
    }
    return code;
}

/* Which arguments of run INDEX may not be consumed: those that were not when it was recorded; and
 * in a probe, which repeats it, also those that no result replaces. */
static void choose_kept(mode *m, const recorded *r, size_t index)
{
    const mode_run *run = &r->of->runs[index];
    const bool probing = m->probe_repeat > 0;
    m->keep = probing ? r->probe_keep[index] : run->keep;
    m->keep_count = probing ? r->probe_keep_count[index] : run->keep_count;
}

static bool is_kept(const mode_run *run, size_t argument)
{
    for (size_t i = 0; i < run->keep_count; i++)
        if (run->keep[i] == (int64_t)argument)
            return true;
    return false;
}

/* Notes what the first execution of run INDEX has consumed. */
static void learn(mode *m, recorded *r, size_t index)
{
    const mode_run *run = &r->of->runs[index];
    mode_program *p = r->programs[run->part];
    mode_learn_donors(m, p, (rt_buffer *const *)m->arguments.items, r->addresses,
                      (rt_buffer *const *)m->results.items, r->consumed);
    r->probe_keep_count[index] = 0; /* a first step that failed may have filled it */
    for (size_t i = 0; i < p->input_count; i++) {
        const size_t value = run->arguments[i];
        bool fed = false;
        for (size_t o = 0; o < p->output_count; o++)
            fed = fed || p->donor[o] == (int32_t)i;
        if (is_kept(run, i) || (r->consumed[i] && !fed))
            r->probe_keep[index][r->probe_keep_count[index]++] = (int64_t)i;
        if (r->consumed[i] && value < r->of->input_count)
            r->renewed[value] = true;
    }
}

/* Releases VALUE if no run after INDEX takes it, nor the next step. */
static void let_go(mode *m, recorded *r, size_t value, size_t index)
{
    if (value < r->of->input_count || r->heir[value] != MODE_NO_VALUE ||
        r->last_use[value] != index || !r->values[value])
        return;
    rt_buffer_release(m->client, r->values[value]);
    r->values[value] = NULL;
}

/* Releases the values that run INDEX was the last to take. */
static void let_go_of_run(mode *m, recorded *r, size_t index)
{
    const mode_run *run = &r->of->runs[index];
    const mode_program *p = r->programs[run->part];
    bn_part before = mode_clock(m, BN_PART_RELEASE);
    for (size_t i = 0; i < p->input_count; i++)
        let_go(m, r, run->arguments[i], index);
    for (size_t o = 0; o < p->output_count; o++)
        let_go(m, r, r->first_result[index] + o, index);
    mode_clock(m, before);
}

static bn_code run_one(mode *m, recorded *r, size_t index, bn_status *st)
{
    const mode_run *run = &r->of->runs[index];
    mode_program *p = r->programs[run->part];
    bn_code code = is_paced(m, r) ? act(m, r, index, st) : BN_OK;
    if (code == BN_OK)
        code = bind(m, r, run, st);
    if (code != BN_OK)
        return code;
    choose_kept(m, r, index);
    if (!r->known)
        mode_addresses(m, (rt_buffer *const *)m->arguments.items, p->input_count, r->addresses);
    code = mode_dispatch(m, p, st);
    if (code != BN_OK)
        return code;
    for (size_t o = 0; o < p->output_count; o++)
        r->values[r->first_result[index] + o] = m->results.items[o];
    if (!r->known)
        learn(m, r, index);
    if (r->frugal)
        let_go_of_run(m, r, index);
    if (r->pace == MODE_AWAITED && (code = await_all(m, st)) != BN_OK)
        bn_context(st, "executing %s", p->row->view.label);
    return code;
}

/* ---- the end of a step ---------------------------------------------------------------------- */

/* Whether each result can be the input that it becomes. Asked once. */
static bn_code check_heirs(mode *m, const recorded *r, bn_status *st)
{
    for (size_t v = r->of->input_count; v < r->value_count; v++)
        if (r->heir[v] != MODE_NO_VALUE &&
            !(mode_buffer_has_type(m, r->values[v], &r->types[r->heir[v]]) &&
              mode_buffer_has_layout(m, r->values[v], &r->types[r->heir[v]])))
            return bn_fail(
                st, BN_INVALID,
                "value %zu is of another type or layout than input %zu, which it becomes", v,
                r->heir[v]);
    return BN_OK;
}

static void retire(mode *m, rt_buffer *buffer)
{
    if (buffer)
        mode_list_push(&m->retired, buffer);
}

/* Results become the inputs of the next step, or are released. */
static void pass_on(mode *m, recorded *r)
{
    for (size_t i = 0; i < r->of->input_count; i++)
        if (r->renewed[i]) {
            retire(m, r->values[i]);
            r->values[i] = NULL;
        }
    for (size_t v = r->of->input_count; v < r->value_count; v++) {
        if (r->heir[v] != MODE_NO_VALUE) {
            retire(m, r->values[r->heir[v]]);
            r->values[r->heir[v]] = r->values[v];
        } else if (r->values[v]) {
            mode_list_push(&m->temporaries, r->values[v]);
        }
        r->values[v] = NULL;
    }
}

/* After a failure: releases what the step made; what it consumed is sent anew. */
static void drop_step(mode *m, recorded *r)
{
    bn_status ignored = {.code = BN_OK};
    if (mode_await_events(m, &m->events, &ignored) != BN_OK)
        m->events.count = 0; /* the step has failed already, with its own reason */
    for (size_t v = 0; v < r->value_count; v++) {
        const bool input = v < r->of->input_count;
        if (!r->values[v] || (input && !rt_buffer_is_deleted(m->client, r->values[v])))
            continue;
        rt_buffer_release(m->client, r->values[v]);
        r->values[v] = NULL;
    }
}

/* Whether the device cannot hold all results of a step at once. What takes over an argument's
 * memory needs none, and is known after the first step. */
static bool is_frugal(mode *m, const recorded *r)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < r->of->run_count; i++)
        if (__builtin_add_overflow(bytes, mode_result_bytes(r->programs[r->of->runs[i].part]),
                                   &bytes))
            return true;
    return !mode_has_room(m, bytes);
}

static bn_code recorded_step(mode *m, const mode_call *call, bn_status *st)
{
    recorded *r = m->own;
    bn_code code = BN_OK;
    (void)call;
    if (!r->known && m->probe_repeat > 0)
        return bn_fail(st, BN_INVALID, "a first step comes before a probe");
    mode_clock(m, BN_PART_BIND);
    code = send_inputs(m, r, st);
    for (size_t i = 0; i < r->of->run_count && code == BN_OK; i++)
        code = run_one(m, r, i, st);
    if (code == BN_OK && is_paced(m, r))
        keep_busy(m, BN_PART_TRACE, r->of->runs[0].overlapped_ns);
    m->keep = NULL;
    m->keep_count = 0;
    if (code == BN_OK && !r->known)
        code = check_heirs(m, r, st);
    if (code == BN_OK) {
        pass_on(m, r);
        if (!r->known)
            r->frugal = is_frugal(m, r);
        r->known = true;
    } else {
        drop_step(m, r);
    }
    mode_clock(m, BN_PART_OTHER);
    return code;
}

/* ---- life --------------------------------------------------------------------------- */

static void recorded_end(mode *m)
{
    recorded *r = m->own;
    if (!r)
        return;
    for (size_t v = 0; v < r->value_count && r->values; v++)
        rt_buffer_release(m->client, r->values[v]);
    for (size_t i = 0; i < r->of->part_count && r->programs; i++)
        mode_program_release(r->programs[i]);
    for (size_t i = 0; i < r->of->run_count && r->probe_keep; i++)
        free(r->probe_keep[i]);
    free(r->programs);
    free(r->values);
    free(r->heir);
    free(r->renewed);
    free(r->types);
    free(r->first_result);
    free(r->last_use);
    free(r->probe_keep);
    free(r->probe_keep_count);
    free(r->addresses);
    free(r->consumed);
    free(r);
}

static const mode_kind queued_kind = {
    .name = MODE_REPLAY,
    .summary = "the programs of a recorded step, one behind the other",
    .step = recorded_step,
    .end = recorded_end,
};
static const mode_kind awaited_kind = {
    .name = MODE_REPLAY_AWAITED,
    .summary = "the programs of a recorded step, each awaited",
    .step = recorded_step,
    .end = recorded_end,
};
static const mode_kind paced_kind = {
    .name = MODE_REPLAY_PACED,
    .summary = "the programs of a recorded step, with the host's time between them",
    .step = recorded_step,
    .end = recorded_end,
};

/* Counts the values, and the arguments of the program that takes most. Each run takes only values
 * that are there before it. */
static bn_code check_runs(const mode_sequence *s, size_t *values, size_t *most, bn_status *st)
{
    *values = s->input_count;
    *most = 0;
    for (size_t i = 0; i < s->run_count; i++) {
        const mode_run *run = &s->runs[i];
        if (run->part >= s->part_count)
            return bn_fail(st, BN_INVALID, "execution %zu is of program %zu of %zu", i, run->part,
                           s->part_count);
        const mode_part *part = &s->parts[run->part];
        for (size_t k = 0; k < part->argument_count; k++)
            if (run->arguments[k] >= *values)
                return bn_fail(st, BN_INVALID,
                               "execution %zu takes value %zu, and there are %zu before it", i,
                               run->arguments[k], *values);
        for (size_t k = 0; k < run->keep_count; k++)
            if (run->keep[k] < 0 || (uint64_t)run->keep[k] >= part->argument_count ||
                (k && run->keep[k] <= run->keep[k - 1]))
                return bn_fail(st, BN_INVALID, "execution %zu keeps argument %lld of %zu", i,
                               (long long)run->keep[k], part->argument_count);
        if (part->argument_count > *most)
            *most = part->argument_count;
        *values += part->result_count;
    }
    return BN_OK;
}

static bn_code choose_heirs(recorded *r, bn_status *st)
{
    for (size_t v = 0; v < r->value_count; v++)
        r->heir[v] = MODE_NO_VALUE;
    for (size_t i = 0; i < r->of->input_count; i++) {
        const size_t v = r->of->inputs[i].heir_of;
        if (v == MODE_NO_VALUE)
            continue;
        if (v < r->of->input_count || v >= r->value_count || r->heir[v] != MODE_NO_VALUE)
            return bn_fail(st, BN_INVALID, "input %zu cannot become value %zu", i, v);
        r->heir[v] = i;
    }
    return BN_OK;
}

static bn_code make_room(recorded *r, bn_status *st)
{
    const mode_sequence *s = r->of;
    size_t most;
    bn_code code = check_runs(s, &r->value_count, &most, st);
    if (code != BN_OK) {
        r->value_count = 0;
        return code;
    }
    r->programs = bn_zalloc(s->part_count, sizeof(mode_program *));
    r->values = bn_zalloc(r->value_count, sizeof(rt_buffer *));
    r->heir = bn_zalloc(r->value_count, sizeof *r->heir);
    r->renewed = bn_zalloc(s->input_count, sizeof *r->renewed);
    r->types = bn_zalloc(s->input_count, sizeof *r->types);
    r->first_result = bn_zalloc(s->run_count, sizeof *r->first_result);
    r->last_use = bn_zalloc(r->value_count, sizeof *r->last_use);
    r->probe_keep = bn_zalloc(s->run_count, sizeof(int64_t *));
    r->probe_keep_count = bn_zalloc(s->run_count, sizeof *r->probe_keep_count);
    r->addresses = bn_zalloc(most, sizeof *r->addresses);
    r->consumed = bn_zalloc(most, sizeof *r->consumed);
    size_t next = s->input_count;
    for (size_t i = 0; i < s->run_count; i++) {
        const mode_part *part = &s->parts[s->runs[i].part];
        r->first_result[i] = next;
        for (size_t k = 0; k < part->argument_count; k++)
            r->last_use[s->runs[i].arguments[k]] = i;
        for (size_t o = 0; o < part->result_count; o++)
            r->last_use[next++] = i;
        r->probe_keep[i] = bn_alloc(part->argument_count * sizeof(int64_t));
    }
    return choose_heirs(r, st);
}

static bn_code compile_parts(mode *m, recorded *r, bn_status *st)
{
    for (size_t i = 0; i < r->of->part_count; i++) {
        const mode_part *part = &r->of->parts[i];
        mode_argument *declared = NULL;
        size_t count;
        bool readable;
        bn_code code = mode_signature_read(&part->program, &declared, &count, &readable, st);
        free(declared);
        if (code == BN_OK)
            code = mode_program_from_part(m, part, &r->programs[i], st);
        if (code != BN_OK)
            return bn_context(st, "program %s", part->label);
        mode_program *p = r->programs[i];
        if (p->output_count != part->result_count)
            return bn_fail(st, BN_PLUGIN,
                           "program %s has %zu results here, and had %zu when it was recorded",
                           part->label, p->output_count, part->result_count);
        for (size_t o = 0; o < p->output_count; o++)
            p->donor[o] = -1;
    }
    return BN_OK;
}

/* Inputs lie as the first program wants them that takes them; that others want them otherwise shows
 * in the first step. */
static bn_code choose_layouts(recorded *r, bn_status *st)
{
    const mode_sequence *s = r->of;
    for (size_t i = 0; i < s->input_count; i++)
        r->types[i] = s->inputs[i].type;
    for (size_t i = s->run_count; i-- > 0;) {
        const mode_run *run = &s->runs[i];
        const mode_program *p = r->programs[run->part];
        for (size_t k = 0; p->argument_types && k < p->input_count; k++) {
            const size_t value = run->arguments[k];
            if (value >= s->input_count)
                continue;
            if (!mode_same_type(&p->argument_types[k], &s->inputs[value].type))
                return bn_fail(st, BN_INVALID,
                               "program %s: input %zu is of another type than argument %zu of the "
                               "compiled program",
                               p->row->view.label, value, k);
            r->types[value].laid_out = p->argument_types[k].laid_out;
            memcpy(r->types[value].order, p->argument_types[k].order, sizeof r->types[value].order);
        }
    }
    return BN_OK;
}

static bn_code build(mode *m, const mode_sequence *sequence, mode_pace pace, bn_status *st)
{
    recorded *r = m->own = bn_zalloc(1, sizeof *r);
    r->of = sequence;
    r->pace = pace;
    bn_code code = make_room(r, st);
    if (code == BN_OK)
        code = compile_parts(m, r, st);
    if (code == BN_OK)
        code = choose_layouts(r, st);
    r->frugal = true; /* until the first step has shown what takes over memory */
    return code == BN_OK ? send_inputs(m, r, st) : code;
}

bn_code mode_create_sequence(rt_client *client, const mode_options *options,
                             const mode_sequence *sequence, mode_pace pace, mode **out,
                             bn_status *st)
{
    static const mode_kind *const kinds[] = {
        [MODE_QUEUED] = &queued_kind, [MODE_AWAITED] = &awaited_kind, [MODE_PACED] = &paced_kind};
    mode *m = NULL;
    bn_code code = mode_create_kind(kinds[pace], client, options, &m, st);
    if (code == BN_OK)
        code = build(m, sequence, pace, st);
    if (code != BN_OK) {
        mode_destroy(m);
        return code;
    }
    *out = m;
    return BN_OK;
}

rt_buffer *mode_sequence_input(const mode *m, size_t index)
{
    const recorded *r = m->own;
    return r->values[index];
}
