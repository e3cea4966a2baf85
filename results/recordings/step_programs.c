/*
 * step_programs.c - the programs and threads of the steady steps, and the steps' figures.
 */
#include "results/recordings/recordings_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An execution in a steady step. */
typedef struct use {
    uint32_t row;         /* what counts together: a program, or variants of one */
    uint32_t program, at; /* its place in the order */
    uint32_t within;      /* the step */
} use;

static int by_row(const void *a, const void *b)
{
    const use *x = a, *y = b;
    return rec_order(x->row, y->row, x->at, y->at);
}

/* A program with the place of its first use in a step. */
typedef struct placed {
    rec_step_program row;
    uint32_t within, of; /* OF: what its uses have as their row */
} placed;

static int by_place(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    return rec_order(x->within, y->within, x->row.program, y->row.program);
}

static const rec_execution *execution_at(const rec_steps *s, uint32_t at)
{
    return &s->process->executions[s->order[at]];
}

static const rec_span *span_at(const rec_steps *s, uint32_t at)
{
    return rec_steps_span(s, execution_at(s, at));
}

static double span_of(const rec_steps *s, uint32_t at)
{
    const rec_span *span = span_at(s, at);
    return span->complete_ns ? (double)(span->complete_ns - span->start_ns) : (double)NAN;
}

static double call_of(const rec_steps *s, uint32_t at)
{
    const rec_execution *e = execution_at(s, at);
    return (double)(e->end_ns - e->begin_ns);
}

/* The device had ended so long after the call's return. */
static double behind_of(const rec_steps *s, uint32_t at)
{
    const uint64_t complete = span_at(s, at)->complete_ns, end = execution_at(s, at)->end_ns;
    if (!complete)
        return (double)NAN;
    return complete > end ? (double)(complete - end) : 0;
}

/* The device had nothing to do for so long before it. */
static double gap_of(const rec_steps *s, uint32_t at)
{
    if (at == 0 || !span_at(s, at - 1)->complete_ns || !span_at(s, at)->complete_ns)
        return (double)NAN;
    const uint64_t before = span_at(s, at - 1)->complete_ns, start = span_at(s, at)->start_ns;
    return start > before ? (double)(start - before) : 0;
}

static double host_of(const rec_steps *s, uint32_t at)
{
    if (at == 0)
        return (double)NAN;
    const uint64_t before = execution_at(s, at - 1)->end_ns, begin = execution_at(s, at)->begin_ns;
    return begin > before ? (double)(begin - before) : 0;
}

/* The median of what OF says of COUNT uses, without those of which it says nothing. ROOM is for
 * COUNT values. */
static double median_of(const rec_steps *s, const use *uses, size_t count,
                        double (*of)(const rec_steps *, uint32_t), double *room)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        const double value = of(s, uses[i].at);
        if (!isnan(value))
            room[known++] = value;
    }
    return res_median(room, known);
}

/* The median over the steps of what the COUNT uses of one program take there together, over their
 * number. Completions of short executions are often reported together: each but the first then
 * takes no time of its own, and so may their median. Steps in which one was unknown do not count.
 */
static double share_of(const rec_steps *s, const use *uses, size_t count, double *room)
{
    size_t known = 0;
    for (size_t from = 0, to; from < count; from = to) {
        double sum = 0;
        for (to = from; to < count && uses[to].within == uses[from].within; to++)
            sum += span_of(s, uses[to].at);
        if (!isnan(sum))
            room[known++] = sum / (double)(to - from);
    }
    return res_median(room, known);
}

/* The profiler's times of PROGRAM. Names are all that a profile has, so two programs of one name
 * cannot be separated. NULL: there are none. */
static const rec_profile_program *profiled(const rec_process *p, uint32_t program)
{
    const char *name = p->programs[program].name;
    for (size_t i = 0; i < p->program_count; i++)
        if (i != program && p->programs[i].executions > 0 && strcmp(p->programs[i].name, name) == 0)
            return NULL;
    return name[0] ? rec_profile_find(&p->profile, name) : NULL;
}

static void add_kernels(rec_steps *s, rec_step_program *row)
{
    const rec_profile_program *known = profiled(s->process, row->program);
    const double nan = (double)NAN;
    row->kernels_ns = known ? known->busy_ns : nan;
    s->kernels_ns.estimate += row->times * row->kernels_ns;
    s->kernels_ns.low += row->times * (known ? known->low_ns : nan);
    s->kernels_ns.high += row->times * (known ? known->high_ns : nan);
}

/* Kernels may last a little longer under the profiler than without it. */
#define MOST_KERNELS 1.05

/* Kernels that take longer than the step are no device time: executions overlap on the device, or
 * the profiler slows it down. */
static void judge_kernels(rec_steps *s)
{
    const double nan = (double)NAN;
    const res_interval *kernels = &s->kernels_ns;
    const double least = isnan(kernels->low) ? kernels->estimate : kernels->low;
    if (!(least > MOST_KERNELS * rec_steps_wall(s).mean_ns))
        return;
    for (size_t i = 0; i < s->program_count; i++)
        s->programs[i].kernels_ns = nan;
    s->kernels_ns = (res_interval){nan, nan, nan};
    s->kernels_too_long = true;
}

/* Only kernels show what of an execution's time is not the device's work: no completion is reported
 * before its call has returned. */
static void add_overheads(rec_steps *s)
{
    for (size_t i = 0; i < s->program_count; i++) {
        rec_step_program *row = &s->programs[i];
        const double beyond = row->device_ns - row->kernels_ns;
        row->overhead_ns = isnan(beyond) ? beyond : fmax(0, beyond);
    }
}

double rec_step_program_device_ns(const rec_step_program *program)
{
    return isfinite(program->kernels_ns) ? program->kernels_ns : program->device_share_ns;
}

static uint32_t donated_by(const rec_process *p, uint32_t index)
{
    const rec_execution *e = &p->executions[index];
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->arguments; i++)
        count += rec_donated(p, index, rec_argument(p, e, 0, i));
    return count;
}

/* Executions and time of one of the variants among COUNT uses, into ROW: their number, the most
 * frequent, and the range of their device times. COUNTS, [program], has zeros, and has them again
 * at the end. ROOM is for COUNT values. */
static void tell_variants(const rec_steps *s, const use *uses, size_t count, uint32_t *counts,
                          double *room, rec_step_program *row)
{
    row->least_device_ns = row->most_device_ns = (double)NAN;
    for (size_t i = 0; i < count; i++) {
        row->variants += counts[uses[i].program]++ == 0;
        if (counts[uses[i].program] > counts[row->program])
            row->program = uses[i].program;
    }
    for (size_t i = 0; row->variants > 1 && i < count; i++) {
        if (counts[uses[i].program] == 0)
            continue;
        size_t known = 0;
        for (size_t k = i; k < count && counts[uses[i].program] > 0; k++) {
            if (uses[k].program != uses[i].program)
                continue;
            room[known] = span_of(s, uses[k].at);
            known += isnan(room[known]) ? 0 : 1;
            counts[uses[i].program]--;
        }
        const double median = known ? res_median(room, known) : (double)NAN;
        row->least_device_ns = fmin(row->least_device_ns, median);
        row->most_device_ns = fmax(row->most_device_ns, median);
    }
    for (size_t i = 0; i < count; i++)
        counts[uses[i].program] = 0;
}

/* The row of the COUNT uses of one program, or of its variants. */
static placed row_of(const rec_steps *s, const use *uses, size_t count, uint32_t *counts,
                     double *room)
{
    const rec_execution *first = execution_at(s, uses[0].at);
    double sum = 0;
    size_t known = 0;
    placed made = {.within = uses[0].at - s->list[uses[0].within].first};
    rec_step_program *row = &made.row;
    for (size_t i = 0; i < count; i++) {
        const double value = span_of(s, uses[i].at);
        known += isnan(value) ? 0 : 1;
        sum += isnan(value) ? 0 : value;
    }
    row->program = uses[0].program;
    tell_variants(s, uses, count, counts, room, row);
    row->executions = (uint32_t)count;
    row->times = (double)count / (double)s->count;
    row->device_ns = median_of(s, uses, count, span_of, room);
    row->device_share_ns = share_of(s, uses, count, room);
    row->device_step_ns = known ? sum / (double)known * row->times : (double)NAN;
    row->call_ns = median_of(s, uses, count, call_of, room);
    row->overhead_ns = (double)NAN;
    row->behind_ns = median_of(s, uses, count, behind_of, room);
    row->gap_before_ns = median_of(s, uses, count, gap_of, room);
    row->host_before_ns = median_of(s, uses, count, host_of, room);
    row->arguments = first->arguments;
    row->results = first->results;
    row->donated = donated_by(s->process, s->order[uses[0].at]);
    return made;
}

/* Programs that are in fewer of the steps may be variants of one. */
#define ALWAYS 0.9

/* Says of each use what counts together with it. */
static bool join_variants(const rec_steps *s, const rec_names *names, use *uses, size_t count)
{
    const size_t programs = s->process->program_count;
    uint32_t *steps = calloc(programs + 1, sizeof *steps); /* that have the program */
    uint32_t *last = malloc((programs + 1) * sizeof *last);
    for (size_t i = 0; last && i < programs; i++)
        last[i] = REC_NONE;
    for (size_t i = 0; steps && last && i < count; i++) {
        steps[uses[i].program] += last[uses[i].program] != uses[i].within;
        last[uses[i].program] = uses[i].within;
    }
    for (size_t i = 0; steps && last && i < count; i++) {
        const bool always = steps[uses[i].program] >= ALWAYS * (double)s->count;
        uses[i].row = always ? uses[i].program : (uint32_t)programs + names->kind[uses[i].program];
    }
    const bool made = steps && last;
    free(steps);
    free(last);
    return made;
}

static bn_code no_memory(bn_status *st)
{
    return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the programs of steps");
}

/* Puts ROWS in the order of a step, and says which one each program is of. */
static bool keep_rows(rec_steps *s, placed *rows, size_t made, const use *uses, size_t count)
{
    const size_t programs = s->process->program_count;
    uint32_t *place = malloc((programs + s->process->program_count + 1) * sizeof *place);
    s->programs = malloc((made + 1) * sizeof *s->programs);
    s->row_of = malloc((programs + 1) * sizeof *s->row_of);
    const bool room = place && s->programs && s->row_of;
    if (room) {
        qsort(rows, made, sizeof *rows, by_place);
        for (size_t i = 0; i < made; i++) {
            s->programs[i] = rows[i].row;
            place[rows[i].of] = (uint32_t)i;
        }
        for (size_t i = 0; i < programs; i++)
            s->row_of[i] = REC_NONE;
        for (size_t i = 0; i < count; i++)
            s->row_of[uses[i].program] = place[uses[i].row];
        s->program_count = made;
    }
    free(place);
    return room;
}

static bn_code make_rows(rec_steps *s, use *uses, size_t count, bn_status *st)
{
    double *room = malloc((count + 1) * sizeof *room);
    placed *rows = malloc((count + 1) * sizeof *rows);
    uint32_t *counts = calloc(s->process->program_count + 1, sizeof *counts);
    size_t made = 0;
    qsort(uses, count, sizeof *uses, by_row);
    for (size_t from = 0, to; room && rows && counts && from < count; from = to) {
        for (to = from + 1; to < count && uses[to].row == uses[from].row;)
            to++;
        rows[made] = row_of(s, uses + from, to - from, counts, room);
        rows[made++].of = uses[from].row;
    }
    const bool kept = room && rows && counts && keep_rows(s, rows, made, uses, count);
    for (size_t i = 0; kept && i < made; i++)
        add_kernels(s, &s->programs[i]);
    if (kept) {
        judge_kernels(s);
        add_overheads(s);
    }
    free(room);
    free(rows);
    free(counts);
    return kept ? BN_OK : no_memory(st);
}

bn_code rec_step_programs_make(rec_steps *steps, const rec_names *names, bn_status *st)
{
    size_t count = 0, at = 0;
    for (size_t i = 0; i < steps->count; i++)
        count += steps->list[i].executions;
    use *uses = malloc((count + 1) * sizeof *uses);
    if (!uses)
        return no_memory(st);
    for (size_t i = 0; i < steps->count; i++)
        for (uint32_t k = 0; k < steps->list[i].executions; k++) {
            const uint32_t place = steps->list[i].first + k;
            uses[at++] = (use){0, execution_at(steps, place)->program, place, (uint32_t)i};
        }
    const bn_code code = join_variants(steps, names, uses, count)
                             ? make_rows(steps, uses, count, st)
                             : no_memory(st);
    free(uses);
    return code;
}

/* ---- figures of all steps --------------------------------------------------------------- */

size_t rec_steps_samples(const rec_steps *steps)
{
    return steps->count / rec_cycle(steps);
}

rec_step rec_steps_sample(const rec_steps *steps, size_t index)
{
    const size_t cycle = rec_cycle(steps);
    const rec_step *list = steps->list + index * cycle;
    rec_step mean = list[0];
    if (cycle == 1)
        return mean;
    mean.busy_ns = mean.ready_ns = mean.wall_ns = 0;
    for (int k = 0; k < REC_PART_COUNT; k++) {
        uint64_t part = 0, gap = 0;
        for (size_t i = 0; i < cycle; i++) {
            part += list[i].part_ns[k];
            gap += list[i].gap_ns[k];
        }
        mean.part_ns[k] = part / cycle;
        mean.gap_ns[k] = gap / cycle;
        mean.wall_ns += mean.part_ns[k];
    }
    for (size_t i = 0; i < cycle; i++) {
        mean.busy_ns += list[i].busy_ns;
        mean.ready_ns += list[i].ready_ns;
    }
    mean.busy_ns /= cycle;
    mean.ready_ns /= cycle;
    return mean;
}

/* The 64-bit member at OFFSET of STEP. */
static uint64_t member_of(const rec_step *step, size_t offset)
{
    uint64_t value;
    memcpy(&value, (const char *)step + offset, sizeof value);
    return value;
}

static const rec_figure unknown_figure = {(double)NAN, (double)NAN, (double)NAN, (double)NAN};

/* The figure of VALUES, one for each steady step; overwrites VALUES. */
static rec_figure figure_of_values(const rec_steps *s, uint64_t *values)
{
    const size_t samples = rec_steps_samples(s), cycle = rec_cycle(s);
    rec_figure figure = {.mean_ns = res_mean(values, s->count)};
    for (size_t i = 0; i < samples; i++) {
        uint64_t sum = 0;
        for (size_t k = 0; k < cycle; k++)
            sum += values[i * cycle + k];
        values[i] = sum / cycle;
    }
    figure.median_ns = res_quantile(values, samples, 0.5);
    figure.p10_ns = res_quantile(values, samples, 0.1);
    figure.p90_ns = res_quantile(values, samples, 0.9);
    return figure;
}

/* The figure of the steps' member at OFFSET. */
static rec_figure figure_of(const rec_steps *s, size_t offset)
{
    uint64_t *values = calloc(s->count + 1, sizeof *values);
    if (!values)
        return unknown_figure;
    for (size_t i = 0; i < s->count; i++)
        values[i] = member_of(&s->list[i], offset);
    const rec_figure figure = figure_of_values(s, values);
    free(values);
    return figure;
}

rec_figure rec_steps_wall(const rec_steps *steps)
{
    return figure_of(steps, offsetof(rec_step, wall_ns));
}

rec_figure rec_steps_busy(const rec_steps *steps)
{
    return figure_of(steps, offsetof(rec_step, busy_ns));
}

rec_figure rec_steps_ready(const rec_steps *steps)
{
    return figure_of(steps, offsetof(rec_step, ready_ns));
}

rec_figure rec_steps_part(const rec_steps *steps, rec_part part)
{
    return figure_of(steps, offsetof(rec_step, part_ns) + part * sizeof(uint64_t));
}

rec_figure rec_steps_gap(const rec_steps *steps, rec_part part)
{
    return figure_of(steps, offsetof(rec_step, gap_ns) + part * sizeof(uint64_t));
}

/* ---- threads ---------------------------------------------------------------------------- */

/* Calls of a thread while the steps ran. */
typedef struct tally {
    uint32_t thread;
    bool is_ledgers;
    uint32_t executions, calls;
} tally;

static int by_work(const void *a, const void *b)
{
    const tally *x = a, *y = b;
    if (x->is_ledgers != y->is_ledgers)
        return x->is_ledgers ? -1 : 1;
    if (x->executions != y->executions)
        return x->executions > y->executions ? -1 : 1;
    return x->calls != y->calls ? (x->calls > y->calls ? -1 : 1)
                                : (x->thread > y->thread) - (x->thread < y->thread);
}

/* Puts the threads that belong to the steps first, in their order, into TALLIES; how many. */
static size_t choose_threads(const rec_steps *s, tally *tallies)
{
    const rec_process *p = s->process;
    const rec_step *last = &s->list[s->count - 1];
    const uint64_t from = s->list[0].begin_ns, to = last->begin_ns + last->wall_ns;
    size_t count = 0;
    for (uint32_t i = 0; i < p->thread_count; i++)
        tallies[i] = (tally){.thread = i, .is_ledgers = i == s->main_thread};
    for (size_t i = 0; i < p->execution_count; i++) {
        const rec_execution *e = &p->executions[i];
        if (e->begin_ns >= from && e->begin_ns < to && e->thread < p->thread_count)
            tallies[e->thread].executions++;
    }
    for (size_t i = 0; i < p->call_count; i++) {
        const rec_call *c = &p->calls[i];
        if (c->begin_ns >= from && c->begin_ns < to && c->thread < p->thread_count)
            tallies[c->thread].calls++;
    }
    qsort(tallies, p->thread_count, sizeof *tallies, by_work);
    while (count < p->thread_count &&
           (tallies[count].is_ledgers || tallies[count].executions || tallies[count].calls))
        count++;
    return count;
}

/* The work of a thread in each steady step. */
typedef struct doing {
    uint64_t *host_work, *dispatch, *calls;
    uint64_t end;   /* of its calls so far */
    size_t at;      /* the first step that had not ended when the last call began */
    uint32_t begun; /* executions */
} doing;

/* Takes in a call of the thread. They come by their begins. */
static void take_call(const rec_steps *s, doing *d, uint64_t begin, uint64_t end, bool executes)
{
    const uint64_t from = begin > d->end ? begin : d->end;
    while (d->at < s->count && s->list[d->at].begin_ns + s->list[d->at].wall_ns <= begin)
        d->at++;
    if (d->at < s->count && begin >= s->list[d->at].begin_ns) {
        d->begun += executes;
        if (end > from)
            (executes ? d->dispatch : d->calls)[d->at] += end - from;
    }
    d->end = end > d->end ? end : d->end;
}

/* All calls of THREAD. */
static void take_calls(const rec_steps *s, uint32_t thread, doing *d)
{
    const rec_process *p = s->process;
    size_t x = 0, c = 0;
    while (x < p->execution_count || c < p->call_count) {
        const rec_execution *e = x < p->execution_count ? &p->executions[x] : NULL;
        const rec_call *call = c < p->call_count ? &p->calls[c] : NULL;
        if (e && (!call || e->begin_ns <= call->begin_ns)) {
            if (e->thread == thread)
                take_call(s, d, e->begin_ns, e->end_ns, true);
            x++;
        } else {
            if (call->thread == thread)
                take_call(s, d, call->begin_ns, call->end_ns, false);
            c++;
        }
    }
}

static bn_code fill_thread(const rec_steps *s, rec_step_thread *row, doing *d, bn_status *st)
{
    rec_clock clock;
    const bool of_main = row->thread == s->process->main_thread;
    bn_code code = rec_clock_make(s->process, row->thread, of_main, &clock, st);
    if (code != BN_OK)
        return code;
    memset(d->dispatch, 0, s->count * sizeof *d->dispatch);
    memset(d->calls, 0, s->count * sizeof *d->calls);
    d->end = d->at = d->begun = 0;
    take_calls(s, row->thread, d);
    for (size_t i = 0; i < s->count; i++) {
        const rec_step *step = &s->list[i];
        const uint64_t before = rec_clock_at(&clock, step->begin_ns);
        d->host_work[i] = rec_clock_at(&clock, step->begin_ns + step->wall_ns) - before;
    }
    row->executions = (double)d->begun / (double)s->count;
    row->host_work = clock.count > 0 ? figure_of_values(s, d->host_work) : unknown_figure;
    row->dispatch = figure_of_values(s, d->dispatch);
    row->calls = figure_of_values(s, d->calls);
    rec_clock_free(&clock);
    return BN_OK;
}

bn_code rec_step_threads_make(rec_steps *steps, bn_status *st)
{
    const size_t most = steps->process->thread_count;
    tally *tallies = malloc((most + 1) * sizeof *tallies);
    uint64_t *room = malloc(3 * (steps->count + 1) * sizeof *room);
    bn_code code = BN_OK;
    const size_t count = tallies ? choose_threads(steps, tallies) : 0;
    const size_t known = count < REC_MOST_THREADS ? count : REC_MOST_THREADS;
    steps->threads = calloc(known + 1, sizeof *steps->threads);
    if (!tallies || !room || !steps->threads)
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the threads of steps");
    doing d = {room, room + steps->count, room + 2 * steps->count, 0, 0, 0};
    for (size_t i = 0; code == BN_OK && i < known; i++) {
        steps->threads[i].thread = tallies[i].thread;
        code = fill_thread(steps, &steps->threads[i], &d, st);
    }
    if (code == BN_OK) {
        steps->thread_count = known;
        steps->threads_unlisted = count - known;
    }
    free(tallies);
    free(room);
    return code;
}
