/*
 * plain.c - a program that others wrote, run as it stands: its arguments are kept
 * on the device, each step is one execution, and what it donates comes back as its
 * result or is sent anew.
 */
#include "modes/mode_priv.h"

#include <stdlib.h>
#include <string.h>

/* One argument between steps. */
typedef struct plain_argument {
    mode_argument type;
    const void *host; /* first contents, the caller's */
    rt_buffer *buffer;
    bool renewed; /* consumed by each execution, and by no result we know of */
} plain_argument;

typedef struct mode_plain {
    mode_program *program;
    plain_argument *arguments;
    size_t argument_count;
    rt_buffer **results; /* [result]; NULL where an argument took it over */
    int32_t *taker;      /* [result] argument that takes it over, or -1 */
    size_t result_count;
    int64_t *keep; /* arguments that a probe must not consume */
    size_t keep_count;
    bool known;           /* which arguments are consumed */
    uintptr_t *addresses; /* [argument] of the first execution */
    bool *consumed;       /* [argument] by it */
} mode_plain;

/* ---- a step ------------------------------------------------------------------------ */

static bn_code bind(mode *m, mode_plain *p, bn_status *st)
{
    bn_code code = BN_OK;
    mode_dispatch_reserve(m, p->program);
    for (size_t i = 0; i < p->argument_count && code == BN_OK; i++) {
        plain_argument *a = &p->arguments[i];
        if (!a->buffer) {
            bn_part before = mode_clock(m, BN_PART_INPUT);
            code = mode_send(m, a->host, &a->type, &a->buffer, st);
            mode_clock(m, before);
        }
        m->arguments.items[i] = a->buffer;
    }
    return code;
}

/* Arguments that are given away without saying to which result come anew before each step. */
static void note_addresses(mode *m, mode_plain *p)
{
    mode_addresses(m, (rt_buffer *const *)m->arguments.items, p->argument_count, p->addresses);
    for (size_t i = 0; i < p->argument_count; i++)
        if (p->arguments[i].type.donated)
            p->addresses[i] = 0;
}

/* Finds out which arguments the first execution consumed, and for which results, where the program
 * did not say it in a way that we can read. Only the plugin knows, and it is asked once. */
static void learn_consumed(mode *m, mode_plain *p)
{
    int32_t *donor = p->program->donor;
    /* Types of one size can share memory, but not contents. */
    for (size_t o = 0; o < p->result_count; o++)
        if (donor[o] >= 0 &&
            !mode_buffer_has_type(m, m->results.items[o], &p->arguments[donor[o]].type))
            donor[o] = -1;
    mode_learn_donors(m, p->program, (rt_buffer *const *)m->arguments.items, p->addresses,
                      (rt_buffer *const *)m->results.items, p->consumed);
    /* A result in another layout than the argument's cannot become the argument. */
    for (size_t o = 0; o < p->result_count && p->program->argument_types; o++)
        if (donor[o] >= 0 &&
            !mode_buffer_has_layout(m, m->results.items[o], &p->arguments[donor[o]].type))
            donor[o] = -1;
    memcpy(p->taker, donor, p->result_count * sizeof *donor);
    for (size_t i = 0; i < p->argument_count; i++) {
        plain_argument *a = &p->arguments[i];
        bool taken = false;
        for (size_t o = 0; o < p->result_count; o++)
            taken |= p->taker[o] == (int32_t)i;
        a->renewed = !taken && (a->type.donated || p->consumed[i]);
        if (a->renewed)
            p->keep[p->keep_count++] = (int64_t)i;
    }
    p->known = true;
}

static void retire(mode *m, rt_buffer *buffer)
{
    if (buffer)
        mode_list_push(&m->retired, buffer);
}

static void keep_results(mode *m, mode_plain *p)
{
    for (size_t o = 0; o < p->result_count; o++) {
        rt_buffer *result = m->results.items[o];
        rt_buffer **place = p->taker[o] >= 0 ? &p->arguments[p->taker[o]].buffer : &p->results[o];
        retire(m, *place);
        *place = result;
    }
    for (size_t i = 0; i < p->argument_count; i++)
        if (p->arguments[i].renewed) {
            retire(m, p->arguments[i].buffer);
            p->arguments[i].buffer = NULL;
        }
}

static bn_code plain_step(mode *m, const mode_call *call, bn_status *st)
{
    mode_plain *p = m->own;
    const bool first = !p->known;
    (void)call;
    mode_clock(m, BN_PART_BIND);
    bn_code code = bind(m, p, st);
    m->keep = m->probe_repeat > 0 ? p->keep : NULL;
    m->keep_count = m->probe_repeat > 0 ? p->keep_count : 0;
    if (code == BN_OK && first)
        note_addresses(m, p);
    if (code == BN_OK)
        code = mode_dispatch(m, p->program, st);
    mode_clock(m, BN_PART_BIND);
    if (code == BN_OK && first)
        learn_consumed(m, p);
    if (code == BN_OK)
        keep_results(m, p);
    for (size_t o = 0; code == BN_OK && first && p->program->result_types && o < p->result_count;
         o++)
        code = mode_check_tiles(m, mode_program_result(m, o), &p->program->result_types[o],
                                "result", o, st);
    mode_clock(m, BN_PART_OTHER);
    return code;
}

/* ---- life --------------------------------------------------------------------------- */

static void plain_end(mode *m)
{
    mode_plain *p = m->own;
    if (!p)
        return;
    for (size_t i = 0; i < p->argument_count && p->arguments; i++)
        rt_buffer_release(m->client, p->arguments[i].buffer);
    for (size_t o = 0; o < p->result_count && p->results; o++)
        rt_buffer_release(m->client, p->results[o]);
    mode_program_release(p->program);
    free(p->arguments);
    free(p->results);
    free(p->taker);
    free(p->keep);
    free(p->addresses);
    free(p->consumed);
    free(p);
}

static const mode_kind mode_plain_kind = {
    .name = "program",
    .summary = "a program as it stands",
    .step = plain_step,
    .end = plain_end,
};

/* Which result takes over which argument, by the text. */
static bn_code tie(mode_plain *p, bn_status *st)
{
    for (size_t o = 0; o < p->result_count; o++)
        p->taker[o] = p->program->donor[o] = -1;
    for (size_t i = 0; i < p->argument_count; i++) {
        const int32_t o = p->arguments[i].type.result;
        if (o < 0)
            continue;
        if ((size_t)o >= p->result_count || p->taker[o] >= 0)
            return bn_fail(st, BN_FORMAT, "argument %zu is to become result %d of %zu, which %s", i,
                           o, p->result_count,
                           (size_t)o >= p->result_count ? "is none" : "another one becomes");
        p->taker[o] = p->program->donor[o] = (int32_t)i;
    }
    return BN_OK;
}

static bn_code build(mode *m, const rt_program *program, const mode_argument *arguments,
                     size_t count, const void *const *host, bn_status *st)
{
    const mode_part part = {.label = "program", .program = *program, .argument_count = count};
    mode_plain *p = m->own = bn_zalloc(1, sizeof *p);
    bn_code code = mode_program_from_part(m, &part, &p->program, st);
    if (code != BN_OK)
        return code;
    p->result_count = p->program->output_count;
    p->arguments = bn_zalloc(count, sizeof *p->arguments);
    p->results = bn_zalloc(p->result_count, sizeof(rt_buffer *));
    p->taker = bn_zalloc(p->result_count, sizeof *p->taker);
    p->keep = bn_zalloc(count, sizeof *p->keep);
    p->addresses = bn_zalloc(count, sizeof *p->addresses);
    p->consumed = bn_zalloc(count, sizeof *p->consumed);
    p->argument_count = count;
    mode_argument *types = bn_zalloc(count, sizeof *types);
    if (count)
        memcpy(types, arguments, count * sizeof *types);
    code = mode_entry_check(p->program, types, count, st);
    for (size_t i = 0; i < count; i++)
        p->arguments[i] = (plain_argument){.type = types[i], .host = host[i]};
    free(types);
    if (code == BN_OK)
        code = tie(p, st);
    for (size_t i = 0; i < count && code == BN_OK; i++) {
        plain_argument *a = &p->arguments[i];
        code = mode_send(m, host[i], &a->type, &a->buffer, st);
        if (code == BN_OK)
            code = mode_check_tiles(m, a->buffer, &a->type, "argument", i, st);
    }
    return code;
}

bn_code mode_create_program(rt_client *client, const mode_options *options,
                            const rt_program *program, const mode_argument *arguments, size_t count,
                            const void *const *host, mode **out, bn_status *st)
{
    mode *m = NULL;
    bn_code code = mode_create_kind(&mode_plain_kind, client, options, &m, st);
    if (code == BN_OK)
        code = build(m, program, arguments, count, host, st);
    if (code != BN_OK) {
        mode_destroy(m);
        return code;
    }
    *out = m;
    return BN_OK;
}

bool mode_program_checked(const mode *m)
{
    const mode_plain *p = m->own;
    return p->program->argument_types != NULL;
}

size_t mode_program_result_count(const mode *m)
{
    const mode_plain *p = m->own;
    return p->result_count;
}

rt_buffer *mode_program_result(const mode *m, size_t index)
{
    const mode_plain *p = m->own;
    return p->taker[index] >= 0 ? p->arguments[p->taker[index]].buffer : p->results[index];
}
