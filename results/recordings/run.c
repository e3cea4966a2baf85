/*
 * run.c - the whole run of a process: how much of it are steps, and what the rest is.
 *
 * Each moment belongs to one part. Until the first step begins it is the start, from the end of the
 * last one the end. Between two steps that are like most, all is the steps'. Another one gets as
 * much as a step takes, and what is beyond is an evaluation if other programs than a step's ran, a
 * checkpoint if half of the state or more was read, else something else. What was compiled counts
 * apart, wherever it was, and so does the rest of a time in which the recording paused.
 */
#include "results/recordings/recordings_priv.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* So much of the state is read for a checkpoint. */
#define CHECKPOINT 0.5

const char *rec_run_name(rec_run_part part)
{
    static const char *const names[] = {
#define X(member, name) name,
        REC_RUN_PARTS(X)
#undef X
    };
    return names[part];
}

void rec_run_ends(const rec_recording *recording, const rec_process *p, uint64_t *begun,
                  uint64_t *ended)
{
    const json_t *period = json_object_get(recording->about, "ended");
    const bool alone = recording->process_count == 1;
    *begun = alone ? (uint64_t)json_integer_value(json_object_get(period, "begun_ns")) : 0;
    *ended = alone ? (uint64_t)json_integer_value(json_object_get(period, "ended_ns")) : 0;
    if (*begun == 0 || *begun > p->begin_ns)
        *begun = p->begin_ns;
    if (*ended < p->last_ns || *ended > INT64_MAX)
        *ended = p->last_ns;
}

typedef struct counting {
    rec_steps *steps;
    const rec_process *p;
    const rec_names *names;
    bool *usual; /* [kind]: it is in a step */
    rec_spans compiles, apart; /* with pauses of the recording */
    uint64_t done; /* the device had ended all executions before AT */
    uint32_t at;
    size_t call; /* the next one to look at, for reads */
} counting;

/* When the step at mark NUMBER begins: with its first call, or where the host runs ahead, when the
 * device had ended what was before, if that is later. */
static uint64_t boundary(counting *c, size_t number)
{
    const rec_steps *s = c->steps;
    const uint32_t first = s->begins[number];
    for (; c->at < first && c->at < s->order_count; c->at++) {
        const uint64_t complete =
            rec_steps_span(s, &c->p->executions[s->order[c->at]])->complete_ns;
        c->done = complete > c->done ? complete : c->done;
    }
    const uint64_t begin = s->times_ns[number];
    return s->by_completion && c->done > begin ? c->done : begin;
}

/* The executions of the step at mark NUMBER: up to this position. */
static uint32_t end_of(const rec_steps *s, size_t number)
{
    if (number + 1 < s->marks)
        return s->begins[number + 1];
    const uint64_t end = (uint64_t)s->begins[number] + s->executions_per_step;
    return end < s->order_count ? (uint32_t)end : (uint32_t)s->order_count;
}

/* When the last step had ended: on the device, and for the caller. */
static uint64_t end_of_last(const rec_steps *s, const rec_process *p)
{
    uint64_t end = s->times_ns[s->marks - 1];
    for (uint32_t i = s->begins[s->marks - 1]; i < end_of(s, s->marks - 1); i++) {
        const rec_execution *e = &p->executions[s->order[i]];
        const uint64_t complete = rec_steps_span(s, e)->complete_ns;
        end = e->end_ns > end ? e->end_ns : end;
        end = complete > end ? complete : end;
    }
    return end;
}

static bool has_other_programs(const counting *c, size_t number)
{
    const rec_steps *s = c->steps;
    for (uint32_t i = s->begins[number]; i < end_of(s, number); i++)
        if (!c->usual[c->names->kind[s->sequence->programs[i]]])
            return true;
    return false;
}

/* Bytes that were read from FROM to TO, which never go back. */
static uint64_t read_between(counting *c, uint64_t from, uint64_t to)
{
    uint64_t bytes = 0;
    for (; c->call < c->p->call_count && c->p->calls[c->call].begin_ns < to; c->call++) {
        const rec_call *call = &c->p->calls[c->call];
        if (call->begin_ns < from || !rec_call_reads(call) || call->failed)
            continue;
        const uint32_t type =
            call->buffer < c->p->buffer_count ? c->p->buffers[call->buffer].type : REC_NONE;
        bytes += call->bytes || type == REC_NONE ? call->bytes : rec_type_bytes(&c->p->types[type]);
    }
    return bytes;
}

rec_run_part rec_phase_of(const char *name)
{
    static const struct {
        const char *begins;
        rec_run_part part;
    } known[] = {{"train", REC_RUN_STEPS},     {"step", REC_RUN_STEPS},
                 {"eval", REC_RUN_EVALUATION}, {"valid", REC_RUN_EVALUATION},
                 {"test", REC_RUN_EVALUATION}, {"checkpoint", REC_RUN_CHECKPOINT},
                 {"save", REC_RUN_CHECKPOINT}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncasecmp(name, known[i].begins, strlen(known[i].begins)) == 0)
            return known[i].part;
    return REC_RUN_OTHER;
}

/* Whether the mark M begins or ends what a step of training is no part of. */
static bool is_foreign(const rec_steps *s, const rec_marker *m)
{
    if (m->what == RECORD_PHASE_BEGINS || m->what == RECORD_PHASE_ENDS)
        return rec_phase_of(m->name) != REC_RUN_STEPS;
    return s->how == REC_FOUND_MARKS && strcmp(m->name, s->mark_name) != 0;
}

static bool begins(const rec_marker *m)
{
    return m->what == RECORD_STEP_BEGINS || m->what == RECORD_PHASE_BEGINS;
}

rec_run_part rec_phase_between(const rec_steps *steps, uint64_t from, uint64_t to)
{
    const rec_process *p = steps->process;
    size_t low = 0, high = p->mark_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (p->marks[middle].time_ns < from)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < p->mark_count && p->marks[low].time_ns < to; low++)
        if (is_foreign(steps, &p->marks[low]) &&
            (p->marks[low].time_ns > from || begins(&p->marks[low])))
            return rec_phase_of(p->marks[low].name) == REC_RUN_STEPS
                       ? REC_RUN_OTHER
                       : rec_phase_of(p->marks[low].name);
    return REC_RUN_STEPS;
}

static rec_run_part part_of(counting *c, size_t number, uint64_t from, uint64_t to)
{
    const rec_run_part said =
        rec_phase_between(c->steps, c->steps->times_ns[number],
                          number + 1 < c->steps->marks ? c->steps->times_ns[number + 1] : to);
    if (said != REC_RUN_STEPS)
        return said;
    const uint64_t bytes = read_between(c, from, to);
    const double state = (double)c->steps->state_bytes;
    return state > 0 && (double)bytes >= CHECKPOINT * state ? REC_RUN_CHECKPOINT
           : has_other_programs(c, number)                  ? REC_RUN_EVALUATION
                                                            : REC_RUN_OTHER;
}

/* What of the time counts for the part in which it is. */
static uint64_t together(const counting *c, uint64_t from, uint64_t to)
{
    return to - from - rec_spans_covered(&c->apart, from, to);
}

static void count(counting *c, rec_run *run)
{
    const rec_steps *s = c->steps;
    const double usual = rec_steps_wall(s).mean_ns;
    const uint64_t first = boundary(c, 0);
    uint64_t from = first;
    for (size_t i = 0; i < s->marks; i++) {
        uint64_t to = i + 1 < s->marks ? boundary(c, i + 1) : end_of_last(s, c->p);
        to = to > from ? to : from;
        const double all = (double)together(c, from, to);
        const double own = all < usual || s->plain[i] ? all : usual;
        run->part_ns[REC_RUN_STEPS] += own;
        run->part_ns[part_of(c, i, from, to)] += all - own;
        from = to;
    }
    run->begin_ns = run->begin_ns < first ? run->begin_ns : first;
    run->end_ns = run->end_ns > from ? run->end_ns : from;
    run->part_ns[REC_RUN_START] = (double)together(c, run->begin_ns, first);
    run->part_ns[REC_RUN_END] = (double)together(c, from, run->end_ns);
    run->part_ns[REC_RUN_COMPILE] =
        (double)rec_spans_covered(&c->compiles, run->begin_ns, run->end_ns);
    run->part_ns[REC_RUN_UNRECORDED] =
        (double)rec_spans_covered(&c->apart, run->begin_ns, run->end_ns) -
        run->part_ns[REC_RUN_COMPILE];
}

static bool compiles_in(const counting *c, size_t number)
{
    const rec_steps *s = c->steps;
    return rec_spans_covered(&c->compiles, s->times_ns[number], s->times_ns[number + 1]) > 0;
}

/* Says of each program whether it is executed outside of steps only. Steps that compile tell
 * nothing: what they execute for the first time may be theirs or not. */
static bool find_outside(const counting *c)
{
    rec_steps *s = c->steps;
    bool *within = calloc(c->names->name_count + 1, sizeof *within);
    bool *beyond = calloc(c->names->name_count + 1, sizeof *beyond);
    s->outside = calloc(c->p->program_count + 1, sizeof *s->outside);
    const bool made = within && beyond && s->outside;
    size_t number = 0;
    for (uint32_t i = 0; made && i < s->order_count; i++) {
        while (number + 1 < s->marks && s->begins[number + 1] <= i)
            number++;
        const uint32_t name = c->names->name[s->sequence->programs[i]];
        if (i < s->begins[0] || i >= end_of(s, number))
            beyond[name] = true;
        else if (s->plain[number] || number + 1 == s->marks)
            within[name] = true;
        else if (!compiles_in(c, number))
            beyond[name] = true;
    }
    for (size_t i = 0; made && i < c->p->program_count; i++)
        s->outside[i] = beyond[c->names->name[i]] && !within[c->names->name[i]];
    free(within);
    free(beyond);
    return made;
}

bn_code rec_run_make(const rec_recording *recording, const rec_names *names, rec_steps *steps,
                     bn_status *st)
{
    const rec_process *p = steps->process;
    counting c = {.steps = steps, .p = p, .names = names};
    bool made = (c.usual = calloc(names->kind_count + 1, sizeof *c.usual)) != NULL;
    for (size_t i = 0; made && i < p->call_count; i++)
        if (p->calls[i].kind == REC_CALL_COMPILE)
            made = rec_spans_add(&c.compiles, p->calls[i].begin_ns, p->calls[i].end_ns) &&
                   rec_spans_add(&c.apart, p->calls[i].begin_ns, p->calls[i].end_ns);
    for (size_t i = 0; made && i < p->pause_count; i++)
        made = rec_spans_add(&c.apart, p->pauses[i].from_ns, p->pauses[i].to_ns);
    rec_spans_merge(&c.compiles);
    rec_spans_merge(&c.apart);
    for (size_t i = 0; made && i < steps->count; i++)
        for (uint32_t k = 0; k < steps->list[i].executions; k++)
            c.usual[names->kind[steps->sequence->programs[steps->list[i].first + k]]] = true;
    steps->run = (rec_run){0};
    if (made) {
        rec_run_ends(recording, p, &steps->run.begin_ns, &steps->run.end_ns);
        count(&c, &steps->run);
        made = find_outside(&c);
    }
    free(c.usual);
    rec_spans_free(&c.compiles);
    rec_spans_free(&c.apart);
    return made ? BN_OK : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the parts of a run");
}
