/*
 * checkup.c - the rules on a recording: the cost of each, and whether it is above its threshold.
 *
 * Gaps of the device are those of the ledger (results/recordings/ledger.c). A cost is the median
 * over the steady steps, with the interval of `bench steps`; that of compilations is a mean.
 */
#include "results/complaints/complaints_priv.h"
#include "results/findings/doctor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The host runs ahead where at least this share of the steps is submitted before the device has
 * finished the step before. */
#define AHEAD 0.5

const char *rec_rule_name(rec_rule rule)
{
    static const char *const names[] = {
        [REC_RULE_COMPILES] = "compiles",   [REC_RULE_READS] = "reads",
        [REC_RULE_HOST] = "host",           [REC_RULE_EXECUTIONS] = "executions",
        [REC_RULE_DISPATCH] = "dispatch",   [REC_RULE_INPUT] = "input",
        [REC_RULE_TRANSFERS] = "transfers", [REC_RULE_DONATION] = "donation",
        [REC_RULE_START] = "start"};
    return rule < REC_RULE_COUNT ? names[rule] : "";
}

typedef struct check {
    const rec_steps *steps;
    rec_checkup *out;
    rec_busy busy;
    double *values;                   /* [step]: room */
    double wall_ns, busy_ns, host_ns; /* medians of a step; HOST: the host's own work */
} check;

static rec_finding *add(check *c, rec_rule rule, res_interval cost_ns, double whole_ns)
{
    rec_finding *made = &c->out->list[c->out->count++];
    *made = (rec_finding){.rule = rule,
                          .cost_ns = cost_ns,
                          .share = cost_ns.estimate / whole_ns,
                          .count = 1,
                          .bytes = (double)NAN,
                          .hidden_ns = (double)NAN,
                          .before_ns = (double)NAN};
    return made;
}

/* Whether COST is above SHARE of WHOLE_NS, by its lower bound where it has one. */
static bool is_above(res_interval cost_ns, double share, double whole_ns)
{
    const double surely = isfinite(cost_ns.low) ? cost_ns.low : cost_ns.estimate;
    return surely > 0 && surely >= share * whole_ns;
}

/* A finding of RULE whose cost in each step is in VALUES, where that is above SHARE; else NULL. */
static rec_finding *judge(check *c, rec_rule rule, double share)
{
    const res_interval cost_ns = rec_steps_interval(c->steps, c->values);
    return is_above(cost_ns, share, c->wall_ns) ? add(c, rule, cost_ns, c->wall_ns) : NULL;
}

/* ---- gaps of the device -----------------------------------------------------------------------
 */

static void fill_gaps(check *c, rec_part part)
{
    for (size_t i = 0; i < c->steps->count; i++)
        c->values[i] = (double)c->steps->list[i].gap_ns[part];
}

/* Appends the program with the longest gap of the device before it. */
static void put_longest_gap(const rec_steps *s, bn_text *out)
{
    const rec_step_program *longest = NULL;
    for (size_t i = 0; i < s->program_count; i++) {
        const rec_step_program *row = &s->programs[i];
        const double gap = row->gap_before_ns * row->times;
        if (gap > 0 && (!longest || gap > longest->gap_before_ns * longest->times))
            longest = row;
    }
    if (!longest)
        return;
    bn_text_puts(out, "most of its gaps are before ");
    rec_program_put(s->process, longest->program, out);
}

/* Time that a step would save if the host ran a step ahead; 0 where it does already. */
static double saving_by_running_ahead(const check *c)
{
    if (c->out->answer.ahead_share >= AHEAD)
        return 0;
    return fmax(0, c->wall_ns - fmax(c->busy_ns, c->host_ns));
}

static void check_host(check *c)
{
    fill_gaps(c, REC_PART_HOST);
    rec_finding *made = judge(c, REC_RULE_HOST, RES_DOCTOR_SHARE);
    if (!made)
        return;
    put_longest_gap(c->steps, &made->where);
    const double hidden = fmin(made->cost_ns.estimate, saving_by_running_ahead(c));
    if (hidden > 0)
        made->hidden_ns = hidden;
}

static void check_input(check *c)
{
    if (!c->steps->cpu_clocks)
        return;
    fill_gaps(c, REC_PART_IDLE);
    rec_finding *made = judge(c, REC_RULE_INPUT, RES_DOCTOR_SHARE);
    if (!made)
        return;
    put_longest_gap(c->steps, &made->where);
    made->hidden_ns = fmin(made->cost_ns.estimate, c->wall_ns - made->cost_ns.estimate);
}

/* ---- reads and sends --------------------------------------------------------------------------
 */

/* Where a walk over calls in order of time is. */
typedef struct walk {
    size_t call, execution;
} walk;

/* When the next execution after TIME begins; 0: there is none. TIME never goes back. */
static uint64_t next_execution(const rec_steps *s, walk *at, uint64_t time)
{
    while (at->execution < s->order_count &&
           s->process->executions[s->order[at->execution]].begin_ns < time)
        at->execution++;
    return at->execution < s->order_count ? s->process->executions[s->order[at->execution]].begin_ns
                                          : 0;
}

/* The next call of STEP, in order; NULL: there is none more. */
static const rec_call *next_call(const rec_process *p, walk *at, const rec_step *step)
{
    const uint64_t end = step->begin_ns + step->wall_ns;
    while (at->call < p->call_count && p->calls[at->call].begin_ns < step->begin_ns)
        at->call++;
    return at->call < p->call_count && p->calls[at->call].begin_ns < end ? &p->calls[at->call++]
                                                                         : NULL;
}

/* The cost of STEP's reads: the device's idle time from a read to the next execution, but not more
 * than the host could have worked ahead. Adds to READ_COUNT; LAST_READ gets the buffer. */
static double cost_of_reads(const check *c, const rec_step *step, walk *at, uint32_t *read_count,
                            uint32_t *last_read)
{
    double lost = 0;
    uint64_t done = 0;
    for (const rec_call *call; (call = next_call(c->steps->process, at, step));) {
        if (!rec_call_reads(call) || call->failed)
            continue;
        const uint64_t next = next_execution(c->steps, at, call->begin_ns);
        ++*read_count;
        *last_read = call->buffer;
        lost += rec_idle_between(&c->busy, call->begin_ns > done ? call->begin_ns : done, next);
        done = next > done ? next : done;
    }
    const uint64_t *part = step->part_ns;
    /* Idle time counts as host time only in gaps: while the device works, the host may wait for it.
     */
    const double host =
        (double)(part[REC_PART_HOST] + part[REC_PART_DISPATCH] + part[REC_PART_TRANSFER] +
                 step->gap_ns[REC_PART_IDLE]);
    const double most = (double)step->wall_ns - fmax((double)step->busy_ns, host);
    return fmin(lost, fmax(most, 0));
}

/* "f32[], result 1 of jit_step" */
static void put_buffer(const rec_process *p, uint32_t index, bn_text *out)
{
    const rec_buffer *b = index < p->buffer_count ? &p->buffers[index] : NULL;
    if (!b)
        return;
    rec_type_put(p, b->type, out);
    if (b->origin != REC_FROM_EXECUTION || b->maker >= p->execution_count)
        return;
    bn_text_printf(out, ", result %u of ", b->result);
    rec_program_put(p, p->executions[b->maker].program, out);
}

static void check_reads(check *c)
{
    walk at = {0};
    uint32_t reads = 0, read = REC_NONE;
    for (size_t i = 0; i < c->steps->count; i++)
        c->values[i] = cost_of_reads(c, &c->steps->list[i], &at, &reads, &read);
    rec_finding *made = reads ? judge(c, REC_RULE_READS, RES_DOCTOR_SHARE) : NULL;
    if (!made)
        return;
    made->count = reads / (double)c->steps->count;
    put_buffer(c->steps->process, read, &made->where);
}

static void check_transfers(check *c)
{
    walk at = {0};
    double bytes = 0, sends = 0;
    uint32_t sent = REC_NONE;
    uint64_t most = 0;
    for (size_t i = 0; i < c->steps->count; i++) {
        uint64_t done = 0; /* threads may send at the same time, and a gap counts once */
        c->values[i] = 0;
        for (const rec_call *call;
             (call = next_call(c->steps->process, &at, &c->steps->list[i]));) {
            if (call->failed || (call->kind != REC_CALL_FROM_HOST && call->kind != REC_CALL_COPY))
                continue;
            c->values[i] += rec_idle_between(
                &c->busy, call->begin_ns > done ? call->begin_ns : done, call->end_ns);
            done = call->end_ns > done ? call->end_ns : done;
            bytes += (double)call->bytes;
            sends++;
            sent = call->bytes >= most ? call->buffer : sent;
            most = call->bytes >= most ? call->bytes : most;
        }
    }
    rec_finding *made = sends > 0 ? judge(c, REC_RULE_TRANSFERS, RES_DOCTOR_SHARE) : NULL;
    if (!made)
        return;
    made->count = sends / (double)c->steps->count;
    made->bytes = bytes / (double)c->steps->count;
    /* Into which of its buffers a manager of transfers sends is unknown. */
    if (sent == REC_NONE)
        return;
    bn_text_puts(&made->where, "the largest is ");
    put_buffer(c->steps->process, sent, &made->where);
}

/* ---- executions -------------------------------------------------------------------------------
 */

/* Whether PROGRAM is one of the steps' and has short executions. */
static bool is_short(const rec_steps *s, uint32_t program)
{
    for (size_t i = 0; i < s->program_count; i++)
        if (s->programs[i].program == program)
            return rec_step_program_is_short(&s->programs[i]);
    return false;
}

/* Whether any program of the steps has short executions. */
static bool has_short(const rec_steps *s)
{
    for (size_t i = 0; i < s->program_count; i++)
        if (rec_step_program_is_short(&s->programs[i]))
            return true;
    return false;
}

/* The fixed cost of an execution, and what of it no earlier work hides. */
typedef struct fixed_cost {
    double all_ns, exposed_ns;
} fixed_cost;

/* The fixed cost of the execution at AT: FIXED_NS, or the whole execution if it is short. */
static fixed_cost fixed_cost_of(const rec_steps *s, uint32_t at, double fixed_ns)
{
    const rec_execution *e = &s->process->executions[s->order[at]];
    const rec_span *span = rec_steps_span(s, e);
    if (span->complete_ns > span->start_ns && is_short(s, e->program)) {
        const double ns = (double)(span->complete_ns - span->start_ns);
        return (fixed_cost){fmax(ns, fixed_ns), ns};
    }
    const double call_ns = e->end_ns > span->start_ns ? (double)(e->end_ns - span->start_ns) : 0;
    return (fixed_cost){fixed_ns, fmin(fixed_ns, call_ns)};
}

/* The program with most executions of a step. */
static void put_most_executed(const rec_steps *s, bn_text *out)
{
    const rec_step_program *most = NULL;
    for (size_t i = 0; i < s->program_count; i++)
        if (!most || s->programs[i].times > most->times)
            most = &s->programs[i];
    if (!most || s->program_count < 2 || most->times < 1.5)
        return;
    bn_text_printf(out, "%.3g of them are ", most->times);
    rec_program_put(s->process, most->program, out);
}

/* Whether STEP reads what it computes. */
static bool reads_its_own(const rec_steps *s, const rec_step *step, walk *at)
{
    const rec_process *p = s->process;
    bool own = false;
    for (const rec_call *call; (call = next_call(p, at, step));) {
        const rec_buffer *read = rec_call_reads(call) && call->buffer < p->buffer_count
                                     ? &p->buffers[call->buffer]
                                     : NULL;
        own = own ||
              (read && read->origin == REC_FROM_EXECUTION && read->maker < p->execution_count &&
               p->executions[read->maker].begin_ns >= step->begin_ns);
    }
    return own;
}

/* The time in which STEP has submitted work and no kernel runs, by a profile. Of one step it may be
 * negative: kernels are those of the mean step. */
static double kernel_free(const check *c, const rec_step *step)
{
    return (double)step->busy_ns - c->out->answer.kernels_ns.estimate;
}

/* The saving of one execution instead of those of STEP: all of their fixed costs that nothing
 * hides. FIXED_NS is the cheapest program's. But one execution stays. Its cost hides where the host
 * runs ahead. It does not where the step waits for the device: a read of one of several results
 * then waits for all. While kernels run, by a profile, nothing is lost. */
static double cost_of_executions(const check *c, const rec_step *step, double fixed_ns, walk *at)
{
    const rec_steps *s = c->steps;
    const bool waits = reads_its_own(s, step, at) || !step->ahead;
    double sum = 0, all = 0;
    for (uint32_t k = 0; k < step->executions; k++) {
        const fixed_cost one = fixed_cost_of(s, step->first + k, fixed_ns);
        sum += one.exposed_ns;
        all += one.all_ns;
    }
    const double cost = waits ? fmax(sum - fixed_ns, 0) : fmin(sum, all - fixed_ns);
    return c->out->answer.dispatch_profiled ? fmax(fmin(cost, kernel_free(c, step)), 0) : cost;
}

/* Whether the saving by merging several executions is known. */
static bool merging_is_known(const check *c)
{
    return c->steps->executions_per_step > 1 && c->out->answer.overhead_known;
}

/* Fills the values with the saving of each step by merging. */
static void fill_savings(check *c)
{
    walk at = {0};
    for (size_t i = 0; i < c->steps->count; i++)
        c->values[i] = cost_of_executions(c, &c->steps->list[i],
                                          c->out->answer.overhead_ns.estimate, &at);
}

static void check_executions(check *c)
{
    if (!merging_is_known(c))
        return;
    fill_savings(c);
    rec_finding *made = judge(c, REC_RULE_EXECUTIONS, RES_DOCTOR_SHARE);
    if (!made)
        return;
    made->count = c->steps->executions_per_step;
    made->at_most = has_short(c->steps) && !c->out->answer.dispatch_profiled;
    put_most_executed(c->steps, &made->where);
}

/* The wait of step INDEX for submitted work: with a profile, which knows when kernels ran, all of
 * that time. Else how long calls went on after the device had ended, and at most the rest of them
 * that nothing hides, as far as the program does not run in them. */
static double cost_of_dispatch(const check *c, size_t index)
{
    const rec_answer *a = &c->out->answer;
    const rec_step *step = &c->steps->list[index];
    const double after_ns = (double)step->gap_ns[REC_PART_DISPATCH];
    return after_ns + (a->dispatch_profiled
                           ? kernel_free(c, step)
                           : rec_step_calls_ns(c->steps, index,
                                               a->overhead_known ? a->overhead_ns.estimate : 0));
}

/* Appends the program that most of that time is spent on. */
static void put_slowest(const check *c, bn_text *out)
{
    const rec_steps *s = c->steps;
    const rec_step_program *slowest = NULL;
    double most = 0;
    for (size_t i = 0; i < s->program_count; i++) {
        const rec_step_program *row = &s->programs[i];
        const double own_ns =
            c->out->answer.dispatch_profiled ? row->device_ns - row->kernels_ns : row->call_ns;
        if (own_ns * row->times > most) {
            most = own_ns * row->times;
            slowest = row;
        }
    }
    if (!slowest)
        return;
    bn_text_puts(out, "most of it of ");
    rec_program_put(s->process, slowest->program, out);
}

/* Of a step of several executions, only the part that merging them would not save, which only a
 * profile shows. */
static void check_dispatch(check *c)
{
    const rec_answer *a = &c->out->answer;
    if (merging_is_known(c) && !a->dispatch_profiled)
        return;
    if (merging_is_known(c))
        fill_savings(c);
    for (size_t i = 0; i < c->steps->count; i++)
        c->values[i] = cost_of_dispatch(c, i) - (merging_is_known(c) ? c->values[i] : 0);
    rec_finding *made = judge(c, REC_RULE_DISPATCH, RES_DOCTOR_OVERHEAD);
    if (!made)
        return;
    made->count = c->steps->executions_per_step;
    made->at_most = a->calls_ns > 0;
    put_slowest(c, &made->where);
}

/* ---- compilations and donation ----------------------------------------------------------------
 */

static bool check_compiles(check *c)
{
    bn_text where = {0};
    rec_late late;
    if (!rec_late_find(c->steps, &late, &where)) {
        bn_text_free(&where);
        return false;
    }
    const double mean_ns = late.steps > 0 ? late.wall_ns / late.steps : 0;
    if (late.compiles < 2 || !is_above(late.ns, RES_DOCTOR_COMPILES, mean_ns)) {
        bn_text_free(&where);
        return true;
    }
    rec_finding *made = add(c, REC_RULE_COMPILES, late.ns, mean_ns);
    made->count = late.compiles / late.steps;
    made->where = where;
    return true;
}

/* Programs that were compiled or loaded before the first of the steady steps. */
static void check_start(check *c)
{
    const rec_process *p = c->steps->process;
    const uint64_t end = c->steps->list[0].begin_ns;
    uint64_t done = 0;
    uint32_t programs = 0, loaded = 0;
    double sum = 0, loads = 0, before = 0;
    rec_walk at = {0};
    for (size_t i = 0; i < p->call_count && p->calls[i].begin_ns < end; i++) {
        if (p->calls[i].kind != REC_CALL_COMPILE || p->calls[i].failed)
            continue;
        before += rec_work_before(p, &at, &p->calls[i]);
        const double ns = rec_ns_after(&p->calls[i], &done);
        sum += ns;
        loads += p->calls[i].loaded ? ns : 0;
        loaded += p->calls[i].loaded;
        /* A program that was compiled ahead of time counts when it is loaded. */
        programs += p->calls[i].program != REC_NONE;
    }
    if (sum < RES_DOCTOR_START_NS)
        return;
    rec_finding *made =
        add(c, REC_RULE_START, (res_interval){sum, (double)NAN, (double)NAN}, (double)NAN);
    made->programs = programs;
    made->loaded = loaded;
    made->at_most = loaded < programs;
    made->before_ns = before;
    if (loaded == 0)
        return;
    bn_text_printf(&made->where, "%u of %u programs %s loaded, not compiled, in ", loaded, programs,
                   loaded == 1 ? "was" : "were");
    rec_time_put(&made->where, loads);
}

static bool check_donation(check *c)
{
    const double nan = (double)NAN;
    bn_text where = {0};
    rec_missed missed;
    const bool known = rec_missed_find(c->steps, &missed, &where);
    if (!known || missed.bytes < REC_DONATION_BYTES ||
        missed.bytes < REC_DONATION_SHARE * missed.all_bytes) {
        bn_text_free(&where);
        return known;
    }
    rec_finding *made = add(c, REC_RULE_DONATION, (res_interval){nan, nan, nan}, nan);
    made->share = missed.bytes / missed.all_bytes;
    made->count = missed.arguments;
    made->bytes = missed.bytes;
    made->where = where;
    return true;
}

/* ---- all of it --------------------------------------------------------------------------------
 */

/* Costs of a step by their size, then memory, then the start. */
static int by_cost(const void *a, const void *b)
{
    const rec_finding *x = a, *y = b;
    const int of_x = x->rule >= REC_RULE_DONATION ? (int)x->rule : 0;
    const int of_y = y->rule >= REC_RULE_DONATION ? (int)y->rule : 0;
    if (of_x != of_y)
        return of_x - of_y;
    return (x->cost_ns.estimate < y->cost_ns.estimate) -
           (x->cost_ns.estimate > y->cost_ns.estimate);
}

bn_code rec_check(const rec_steps *steps, rec_checkup *checkup, bn_status *st)
{
    *checkup = (rec_checkup){.steps = steps, .answer = rec_answer_make(steps)};
    check c = {.steps = steps,
               .out = checkup,
               .values = malloc((steps->count + 1) * sizeof *c.values),
               .wall_ns = checkup->answer.wall_ns.estimate,
               .busy_ns = checkup->answer.no_gaps_ns.estimate,
               .host_ns = checkup->answer.host_only_ns.estimate};
    bool made = c.values && steps->count > 0 && rec_busy_make(steps, &c.busy);
    if (made && steps->completions) {
        check_reads(&c);
        check_host(&c);
        check_executions(&c);
        check_dispatch(&c);
        check_input(&c);
        check_transfers(&c);
    }
    made = made && check_compiles(&c) && check_donation(&c);
    if (made)
        check_start(&c);
    qsort(checkup->list, checkup->count, sizeof *checkup->list, by_cost);
    free(c.busy.list);
    free(c.values);
    return made ? BN_OK : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu steps", steps->count);
}

void rec_checkup_free(rec_checkup *checkup)
{
    for (size_t i = 0; i < checkup->count; i++)
        bn_text_free(&checkup->list[i].where);
    *checkup = (rec_checkup){0};
}
