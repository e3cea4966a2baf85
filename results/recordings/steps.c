/*
 * steps.c - the steady steps of a recording.
 */
#include "results/recordings/recordings_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Fewer steps do not show when they became steady. */
#define LEAST_STEADY  8
/* Batches that the search for warm-up divides the steps into; the most steps of one. */
#define LEAST_BATCHES 12
#define MOST_BATCH    5
/* Steps that differ by less are no warm-up. */
#define SAME          0.03
/* In multiples of the median: slower batches are cut to this in the search for warm-up. */
#define MOST_MEDIANS  4.0
/* Steps that execute the same programs as so many of all are usual; if fewer than half of them
 * are, nothing is usual. Those that cost the device so much more or less are like them: they look
 * at a loss, say. */
#define USUAL         0.1
#define LEAST_USUAL   0.5
#define LIKE_COST     0.1
/* What the program marks in a larger share of its steps is a part of a step. */
#define FOREIGN       0.25
/* Programs that an error names. */
#define NAMED         3
/* A loop that keeps compiling: at least so many programs in the later half of the executions, and
 * at least this share of these executions or of their time. One share suffices: a step may have a
 * thousand executions and compile once. */
#define LEAST_LATE    2
#define LATE_SHARE    0.01
#define LATE_TIME     0.05

void rec_steps_free(rec_steps *steps)
{
    if (!steps)
        return;
    if (steps->sequence) {
        free(steps->sequence->order);
        free(steps->sequence->programs);
        free(steps->sequence->costs);
    }
    free(steps->sequence);
    free(steps->list);
    free(steps->programs);
    free(steps->row_of);
    free(steps->begins);
    free(steps->plain);
    free(steps->times_ns);
    free(steps->outside);
    free(steps->before);
    free(steps->threads);
    free(steps);
}

const char *rec_found_name(rec_found found)
{
    static const char *const names[] = {
#define X(member, name) name,
        REC_FOUNDS(X)
#undef X
    };
    return names[found];
}

const char *rec_part_name(rec_part part)
{
    static const char *const names[] = {
#define X(member, name) name,
        REC_PARTS(X)
#undef X
    };
    return names[part];
}

/* ---- the executions of one device
 * --------------------------------------------------------------------------
 */

/* The device with most executions, of those with ID unless that is negative; the number of devices
 * stands for an unknown one. An execution on several devices counts for each of them. */
static bn_code choose_device(const rec_process *p, int64_t id, uint32_t *device, bn_status *st)
{
    uint32_t *counts = calloc(p->device_count + 1, sizeof *counts);
    bool found = false;
    if (!counts)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory to look for steps");
    for (size_t i = 0; i < p->execution_count; i++) {
        const rec_execution *e = &p->executions[i];
        for (uint32_t d = 0; !e->failed && d < e->devices; d++) {
            const uint32_t on = p->spans[e->spans + d].device;
            counts[on == REC_NONE ? p->device_count : on]++;
        }
    }
    for (uint32_t d = 0; d <= p->device_count; d++) {
        const bool is_asked = id < 0 || (d < p->device_count && p->devices[d].id == id);
        if (is_asked && counts[d] && (!found || counts[d] > counts[*device])) {
            *device = d;
            found = true;
        }
    }
    free(counts);
    if (found)
        return BN_OK;
    return id < 0 ? bn_fail(st, BN_NOT_FOUND, "process %u executed nothing", p->pid)
                  : bn_fail(st, BN_NOT_FOUND, "process %u executed nothing on a device %lld",
                            p->pid, (long long)id);
}

static double cost_of(const rec_span *span, const rec_execution *e)
{
    return (double)(span->complete_ns ? span->complete_ns - span->start_ns
                                      : e->end_ns - e->begin_ns);
}

/* Gives each execution the median cost of its program: a program does the same work each time, and
 * an execution that interference slowed down is no larger part of a step. */
static bn_code use_median_costs(rec_sequence *q, bn_status *st)
{
    const size_t programs = q->process->program_count;
    uint32_t *starts = calloc(programs + 2, sizeof *starts);
    double *sorted = malloc(((size_t)q->count + 1) * sizeof *sorted);
    if (starts && sorted) {
        for (uint32_t i = 0; i < q->count; i++)
            starts[q->programs[i] + 2]++;
        for (size_t p = 2; p < programs + 2; p++)
            starts[p] += starts[p - 1];
        for (uint32_t i = 0; i < q->count; i++)
            sorted[starts[q->programs[i] + 1]++] = q->costs[i];
        /* Now the costs of program P are in sorted[starts[P]] to sorted[starts[P + 1] - 1]. */
        for (size_t p = 0; p < programs; p++)
            if (starts[p + 1] > starts[p])
                sorted[starts[p]] = res_median(sorted + starts[p], starts[p + 1] - starts[p]);
        for (uint32_t i = 0; i < q->count; i++)
            q->costs[i] = sorted[starts[q->programs[i]]];
    }
    const bool made = starts && sorted;
    free(starts);
    free(sorted);
    return made ? BN_OK : bn_fail(st, BN_OUT_OF_MEMORY, "no memory to look for steps");
}

static bool in_window(const rec_options *options, const rec_execution *e)
{
    return e->begin_ns >= options->from_ns && (!options->to_ns || e->begin_ns < options->to_ns);
}

/* Fills Q with the executions on DEVICE, an index or REC_NONE for an unknown one. */
static bn_code make_sequence(const rec_process *p, const rec_options *options, uint32_t device,
                             rec_sequence *q, bn_status *st)
{
    const size_t most = p->execution_count + 1;
    q->process = p;
    q->device = device;
    q->order = malloc(most * sizeof *q->order);
    q->programs = malloc(most * sizeof *q->programs);
    q->costs = malloc(most * sizeof *q->costs);
    if (!q->order || !q->programs || !q->costs)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory to look for steps");
    for (uint32_t i = 0; i < p->execution_count; i++) {
        const rec_execution *e = &p->executions[i];
        const rec_span *span = rec_span_on(p, e, device);
        if (e->failed || !span || !in_window(options, e))
            continue;
        q->order[q->count] = i;
        q->programs[q->count] = e->program;
        q->costs[q->count++] = cost_of(span, e);
    }
    return use_median_costs(q, st);
}

/* ---- steps of marks --------------------------------------------------------------------- */

static uint64_t begin_at(const rec_steps *s, uint32_t at)
{
    return s->process->executions[s->order[at]].begin_ns;
}

/* When the work of the executions FROM..TO had ended on their devices; 0: unknown. */
static uint64_t completion_of(const rec_steps *s, uint32_t from, uint32_t to)
{
    const rec_process *p = s->process;
    uint64_t last = 0;
    for (uint32_t i = from; i < to; i++) {
        const rec_execution *e = &p->executions[s->order[i]];
        for (uint32_t d = 0; d < e->devices; d++)
            if (p->spans[e->spans + d].complete_ns > last)
                last = p->spans[e->spans + d].complete_ns;
    }
    return last;
}

static bn_code make_steps(rec_steps *s, const rec_marks *marks, bn_status *st)
{
    s->marks = marks->count;
    s->how = marks->found;
    s->mark_name = marks->name;
    s->mark_program = marks->state.program;
    s->state_bytes = marks->state.bytes;
    s->unclear = marks->state.unclear;
    s->unclear_every = marks->state.unclear_every;
    s->list = calloc(marks->count + 1, sizeof *s->list);
    s->begins = calloc(marks->count + 1, sizeof *s->begins);
    s->plain = calloc(marks->count + 1, sizeof *s->plain);
    s->times_ns = calloc(marks->count + 1, sizeof *s->times_ns);
    if (!s->list || !s->begins || !s->plain || !s->times_ns)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the steps");
    for (size_t i = 0; i < marks->count; i++) {
        const rec_mark *mark = &marks->list[i];
        s->begins[i] = mark->at;
        s->times_ns[i] = mark->time_ns ? mark->time_ns : begin_at(s, mark->at);
    }
    for (size_t i = 0; i + 1 < marks->count; i++) {
        const uint32_t from = s->begins[i], to = s->begins[i + 1];
        const uint64_t begin = s->times_ns[i], end = s->times_ns[i + 1];
        s->found++;
        if (!marks->list[i].whole || end <= begin || to <= from) {
            s->unlike++;
            continue;
        }
        const uint64_t complete = completion_of(s, from, to);
        s->list[s->count++] = (rec_step){.number = (uint32_t)i,
                                         .first = from,
                                         .executions = to - from,
                                         .begin_ns = begin,
                                         .wall_ns = end - begin,
                                         .complete_ns = complete,
                                         .ahead = complete > end};
    }
    return BN_OK;
}

/* ---- steps that are left out ---------------------------------------------------------- */

/* Leaves out the steps in which something was compiled, by another thread perhaps and from an
 * earlier step on. Calls and steps are in order of time. */
static void drop_compiles(rec_steps *s)
{
    const rec_process *p = s->process;
    size_t kept = 0, call = 0;
    uint64_t until = 0; /* the latest end of the compilations that began before this step's end */
    for (size_t i = 0; i < s->count; i++) {
        const rec_step *step = &s->list[i];
        const uint64_t end = step->begin_ns + step->wall_ns;
        for (; call < p->call_count && p->calls[call].begin_ns < end; call++) {
            const rec_call *c = &p->calls[call];
            if (c->kind != REC_CALL_COMPILE || c->end_ns <= step->begin_ns)
                continue;
            until = c->end_ns > until ? c->end_ns : until;
            s->compile_ns += c->end_ns - c->begin_ns;
        }
        if (until > step->begin_ns)
            s->with_compiles++;
        else
            s->list[kept++] = *step;
    }
    s->count = kept;
}

/* Leaves out the steps in which the program says that it did something else. What it says in most
 * of them is a part of a step. */
static bn_code drop_phases(rec_steps *s, bn_status *st)
{
    bool *other = calloc(s->count + 1, sizeof *other);
    size_t kept = 0, others = 0;
    if (!other)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the steps");
    for (size_t i = 0; i < s->count; i++) {
        const rec_step *step = &s->list[i];
        other[i] =
            rec_phase_between(s, step->begin_ns, step->begin_ns + step->wall_ns) != REC_RUN_STEPS;
        others += other[i];
    }
    const bool any = FOREIGN * (double)s->count >= (double)others;
    for (size_t i = 0; any && i < s->count; i++)
        if (!other[i])
            s->list[kept++] = s->list[i];
    if (any) {
        s->unlike += others;
        s->count = kept;
    }
    free(other);
    return BN_OK;
}

/* What a step executes, in any order. */
typedef struct signature {
    uint64_t hash;
    double cost; /* device time, by the medians of its programs */
    uint32_t executions;
    uint32_t step; /* index */
} signature;

static int by_signature(const void *a, const void *b)
{
    const signature *x = a, *y = b;
    return rec_order(x->hash, y->hash, x->step, y->step);
}

static signature signature_of(const rec_steps *s, const rec_names *names, uint32_t step)
{
    const rec_step *of = &s->list[step];
    signature made = {0, 0, of->executions, step};
    for (uint32_t i = of->first; i < of->first + of->executions; i++) {
        const uint32_t kind = names->kind[s->sequence->programs[i]];
        made.hash += XXH3_64bits(&kind, sizeof kind);
        made.cost += s->sequence->costs[i];
    }
    return made;
}

/* Leaves out the steps that execute other programs than most: those with an evaluation in them.
 * Without completions nobody knows whether that is a long one, so all steps stay. */
static bn_code drop_unlike(rec_steps *s, const rec_names *names, bn_status *st)
{
    signature *list = malloc((s->count + 1) * sizeof *list);
    bool *usual = calloc(s->count + 1, sizeof *usual);
    size_t kept = 0, most = 0, all = 0;
    double cost = 0; /* of a usual step */
    if (!list || !usual) {
        free(list);
        free(usual);
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the steps");
    }
    for (uint32_t i = 0; i < s->count; i++)
        list[i] = signature_of(s, names, i);
    qsort(list, s->count, sizeof *list, by_signature);
    for (size_t from = 0, to; from < s->count; from = to) {
        for (to = from; to < s->count && list[to].hash == list[from].hash;)
            to++;
        if (to - from > most) {
            most = to - from;
            s->executions_per_step = list[from].executions;
            cost = list[(from + to) / 2].cost;
        }
        const bool is_usual = (double)(to - from) >= USUAL * (double)s->count;
        for (size_t i = from; is_usual && i < to; i++)
            usual[list[i].step] = true;
    }
    for (size_t i = 0; i < s->count; i++) {
        usual[list[i].step] = usual[list[i].step] || fabs(list[i].cost - cost) <= LIKE_COST * cost;
        all += usual[list[i].step];
    }
    const bool any = s->completions && (double)all >= LEAST_USUAL * (double)s->count;
    for (size_t i = 0; any && i < s->count; i++)
        if (usual[i])
            s->list[kept++] = s->list[i];
    if (any) {
        s->unlike += s->count - kept;
        s->count = kept;
    }
    free(list);
    free(usual);
    return BN_OK;
}

/* Which they are and their mean, before warm-up is cut. */
static void note_whole(rec_steps *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->count; i++) {
        s->plain[s->list[i].number] = true;
        sum += (double)s->list[i].wall_ns;
    }
    s->whole_count = s->count;
    s->whole_ns = s->count ? sum / (double)s->count : (double)NAN;
}

/* Leaves out the steps that the plugin's profiler slowed down. */
static void drop_profiled(rec_steps *s)
{
    const rec_profile *profile = &s->process->profile;
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        const rec_step *step = &s->list[i];
        const bool within =
            profile->begin_ns < step->begin_ns + step->wall_ns && profile->end_ns > step->begin_ns;
        if (within)
            s->profiled++;
        else
            s->list[kept++] = *step;
    }
    s->count = kept;
}

/* Leaves out the steps in which the recording paused: nobody knows what else was in them. */
static void drop_paused(rec_steps *s)
{
    const rec_process *p = s->process;
    size_t kept = 0, pause = 0;
    for (size_t i = 0; i < s->count; i++) {
        const rec_step *step = &s->list[i];
        while (pause < p->pause_count && p->pauses[pause].to_ns <= step->begin_ns)
            pause++;
        if (pause < p->pause_count && p->pauses[pause].from_ns < step->begin_ns + step->wall_ns)
            s->paused++;
        else
            s->list[kept++] = *step;
    }
    s->count = kept;
}

/*
 * How many of the first of COUNT values are warm-up: so many that the standard error of the mean of
 * the others is least, at most half of them (K. P. White, "An effective truncation heuristic for
 * bias reduction in simulation output", Simulation 69, 1997: the marginal standard error rule).
 */
static size_t warmup_length(const double *values, size_t count)
{
    double sum = 0, squares = 0, least = (double)INFINITY;
    size_t best = 0;
    for (size_t first = count; first-- > 0;) {
        const double n = (double)(count - first);
        sum += values[first];
        squares += values[first] * values[first];
        if (first > count / 2)
            continue;
        const double error = (squares - sum * sum / n) / (n * n);
        /* Of equal errors, the shortest warm-up. */
        if (error <= least) {
            least = error;
            best = first;
        }
    }
    return best;
}

/* Duration of step I: from the end of the step before to its own end on the device, where both are
 * known and no step between them was left out; else its wall time. A host that runs ahead changes
 * the wall time only. */
static double step_duration(const rec_steps *s, size_t i)
{
    const rec_step *step = &s->list[i], *before = i ? step - 1 : NULL;
    const bool ends = !s->by_completion && before && before->complete_ns &&
                      step->complete_ns > before->complete_ns &&
                      before->begin_ns + before->wall_ns == step->begin_ns;
    return (double)(ends ? step->complete_ns - before->complete_ns : step->wall_ns);
}

/* The median duration of the steps FROM..TO. ROOM has space for as many values. */
static double median_time(const rec_steps *s, size_t from, size_t to, double *room)
{
    for (size_t i = from; i < to; i++)
        room[i - from] = step_duration(s, i);
    return res_median(room, to - from);
}

/* Applies the rule to medians of batches of successive steps, which no single slow step changes.
 * Keeps all steps where those before the cut took about as long as those after it. */
static bn_code drop_warmup(rec_steps *s, bn_status *st)
{
    double *medians = malloc((s->count + 1) * sizeof *medians);
    double *room = malloc((s->count + 1) * sizeof *room);
    const size_t most = s->count / LEAST_BATCHES, each = most > MOST_BATCH ? MOST_BATCH : most;
    if (medians && room && s->count >= LEAST_STEADY) {
        const size_t batch = each ? each : 1, batches = s->count / batch;
        const double median = median_time(s, 0, s->count, room);
        /* Minus the median, so that squares keep their digits. */
        for (size_t i = 0; i < batches; i++)
            medians[i] =
                fmin(median_time(s, i * batch, (i + 1) * batch, room), MOST_MEDIANS * median) -
                median;
        s->warming = batch * warmup_length(medians, batches);
        const double before = s->warming ? median_time(s, 0, s->warming, room) : 0;
        const double after = median_time(s, s->warming, s->count, room);
        if (fabs(before - after) < SAME * after)
            s->warming = 0;
        s->count -= s->warming;
        memmove(s->list, s->list + s->warming, s->count * sizeof *s->list);
    }
    const bool done = medians && room;
    free(medians);
    free(room);
    return done ? BN_OK : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the steps");
}

/* ---- errors -------------------------------------------------------- */

/* Appends the NAMED programs with most executions, as --step-program takes them. */
static void put_programs(const rec_sequence *q, bn_text *out)
{
    const rec_process *p = q->process;
    uint32_t *counts = calloc(p->program_count + 1, sizeof *counts);
    for (uint32_t i = 0; counts && i < q->count; i++)
        counts[q->programs[i]]++;
    for (size_t n = 0; counts && n < NAMED; n++) {
        size_t most = 0;
        for (size_t i = 1; i < p->program_count; i++)
            most = counts[i] > counts[most] ? i : most;
        if (!counts[most])
            break;
        const rec_program *program = &p->programs[most];
        bn_text_printf(out, "%s%s (%u times)", n ? ", " : "",
                       program->name[0] ? program->name : program->hash, counts[most]);
        counts[most] = 0;
    }
    free(counts);
}

bool rec_compiles_late(const rec_process *p, rec_late_compiles *late)
{
    const size_t count = p->execution_count, middle = count / 2, last = count - count / 4;
    *late = (rec_late_compiles){.executions = (uint32_t)(count - middle)};
    const uint64_t from = middle ? p->executions[middle - 1].end_ns : 0;
    const uint64_t quarter = last ? p->executions[last - 1].end_ns : 0;
    const uint64_t end = count ? p->executions[count - 1].end_ns : 0;
    bool goes_on = false; /* into the last quarter, which a long warm-up does not reach */
    double taken_ns = 0;
    for (size_t i = 0; i < p->call_count; i++) {
        const rec_call *c = &p->calls[i];
        if (c->kind != REC_CALL_COMPILE || c->failed || c->begin_ns < from ||
            c->program >= p->program_count)
            continue;
        const rec_program *program = &p->programs[c->program];
        late->compiles++;
        goes_on = goes_on || c->begin_ns >= quarter;
        taken_ns += (double)(c->end_ns - c->begin_ns);
        if (!late->program || program->compile_ns > late->program->compile_ns)
            late->program = program;
    }
    return goes_on && late->compiles >= LEAST_LATE &&
           (late->compiles >= LATE_SHARE * late->executions ||
            (end > from && taken_ns >= LATE_TIME * (double)(end - from)));
}

/* Does not suggest --step-program: each step compiles another program. */
static bn_code fail_still_compiling(const rec_steps *s, const char *path,
                                    const rec_late_compiles *late, bn_status *st)
{
    const char *name = late->program->name[0] ? late->program->name : late->program->hash;
    return bn_fail(st, BN_NOT_FOUND,
                   "no steady steps: process %u still compiles, %u programs in the later half of "
                   "its executions, which are %u (the longest: %s)%s; bench doctor %s shows why it "
                   "compiles again",
                   s->process->pid, late->compiles, late->executions, name,
                   s->found ? "" : ", so no sequence of programs repeats", path);
}

static bn_code fail_no_period(const rec_sequence *q, bn_status *st)
{
    bn_text names = {0};
    put_programs(q, &names);
    bn_fail(st, BN_NOT_FOUND,
            "no steps in the %u executions of process %u: no sequence of programs repeats; name "
            "the program that begins a step with --step-program: %s",
            q->count, q->process->pid, names.data ? names.data : "NAME");
    bn_text_free(&names);
    return BN_NOT_FOUND;
}

static bn_code fail_no_steady_steps(const rec_steps *s, bn_status *st)
{
    if (s->with_compiles || s->profiled)
        return bn_fail(
            st, BN_NOT_FOUND,
            "no steady steps: of %zu steps %zu compile, %zu were profiled, %zu are unlike "
            "the others; record more steps",
            s->found, s->with_compiles, s->profiled, s->unlike);
    return bn_fail(st, BN_NOT_FOUND, "no steady steps: %zu were found; record more steps",
                   s->found);
}

/* ---- the search ------------------------------------------------------------------------- */

static bn_code choose_process(const rec_recording *r, const rec_options *options,
                              const rec_process **process, bn_status *st)
{
    *process = rec_process_find(r, options->pid);
    if (!*process)
        return bn_fail(st, BN_NOT_FOUND, "%s: no process %u in it", r->path, options->pid);
    if ((*process)->execution_count == 0)
        return bn_fail(st, BN_NOT_FOUND, "%s: process %u executed nothing", r->path,
                       (*process)->pid);
    return BN_OK;
}

/* Leaves out the steps that are not steady. */
static bn_code keep_steady(rec_steps *s, const rec_names *names, bool keep_warmup, bn_status *st)
{
    if (!keep_warmup) {
        drop_compiles(s);
        drop_profiled(s);
        drop_paused(s);
    }
    bn_code code = drop_phases(s, st);
    if (code == BN_OK)
        code = drop_unlike(s, names, st);
    if (code != BN_OK)
        return code;
    rec_ahead_find(s);
    note_whole(s);
    return keep_warmup ? BN_OK : drop_warmup(s, st);
}

/* Finds the steps in S's sequence, and leaves out those that are not steady. */
static bn_code find_steady(rec_steps *s, const char *path, const rec_options *options,
                           const rec_names *names, bn_status *st)
{
    const rec_sequence *q = s->sequence;
    rec_marks marks = {0};
    rec_late_compiles late;
    const bool compiles = rec_compiles_late(s->process, &late);
    const bool spread = options->steps > 0 && q->count > 0 && q->count % options->steps == 0;
    bn_code code = spread ? rec_marks_spread(q, options->steps, &marks, st)
                          : rec_marks_find(q, names, options, &marks, st);
    if (code == BN_OK && marks.count < 2)
        code = options->step_program
                   ? bn_fail(st, BN_NOT_FOUND,
                             "--step-program %s: it is executed once only, so there is no step",
                             options->step_program)
               : compiles ? fail_still_compiling(s, path, &late, st)
                          : fail_no_period(q, st);
    if (code == BN_OK)
        code = make_steps(s, &marks, st);
    free(marks.list);
    if (code == BN_OK)
        code = keep_steady(s, names, options->keep_warmup, st);
    if (code != BN_OK || s->count > 0)
        return code;
    return compiles ? fail_still_compiling(s, path, &late, st) : fail_no_steady_steps(s, st);
}

bn_code rec_steps_find(const rec_recording *recording, const rec_options *options,
                       rec_steps **steps, bn_status *st)
{
    rec_steps *s = bn_zalloc(1, sizeof *s);
    rec_sequence *q = bn_zalloc(1, sizeof *q);
    rec_names names = {0};
    uint32_t device = 0;
    *steps = NULL;
    s->unclear = s->mark_program = REC_NONE;
    s->sequence = q;
    bn_code code = choose_process(recording, options, &s->process, st);
    if (code == BN_OK)
        code = choose_device(s->process, options->device, &device, st);
    if (code == BN_OK) {
        s->device = device < s->process->device_count ? device : REC_NONE;
        s->kept = options->keep_warmup;
        s->cpu_clocks = s->process->cpu_clocks;
        s->completions = s->process->completions;
        code = make_sequence(s->process, options, s->device, q, st);
        s->order = q->order;
        s->order_count = q->count;
    }
    if (code == BN_OK)
        code = rec_names_make(s->process, &names, st);
    if (code == BN_OK)
        code = find_steady(s, recording->path, options, &names, st);
    if (code == BN_OK)
        code = rec_step_programs_make(s, &names, st);
    if (code == BN_OK)
        code = rec_run_make(recording, &names, s, st);
    if (code == BN_OK && options->variant)
        code = rec_variant_keep(s, &names, options->variant, st);
    rec_names_free(&names);
    if (code == BN_OK)
        code = rec_ledger_fill(s, st);
    if (code == BN_OK)
        code = rec_step_threads_make(s, st);
    if (code != BN_OK) {
        rec_steps_free(s);
        return code;
    }
    *steps = s;
    return BN_OK;
}
