/*
 * requests.c - the latencies of requests: steps that carry no state.
 *
 * A request begins with its first call, and ends when its answer is there. Which calls are its own
 * is in the data flow:
 *
 *   Begin. The first of: its executions; what its thread compiles, and what any thread compiles for
 *          it, after the thread's execution before; the transfers, after that execution, of buffers
 *          that only this request takes.
 *   End.   The last read of what its executions made, and their completion. Only what begins before
 *          its thread's next request counts, if there is such an end: a result may be read again
 *          later. Else the request is queued, and ends with its reads whenever they are.
 *
 * So latencies of requests that are in flight at the same time overlap, each with its own queue.
 */
#include "results/recordings/recordings_priv.h"
#include "results/records/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Requests that a percentile needs: one of them is beyond it. */
#define LEAST_P90  10
#define LEAST_P99  100
/* Views of views that are followed to the buffer that an execution made. */
#define MOST_VIEWS 8
/* Where fewer requests have ended after their thread's next one's begin, there is no queue: their
 * results were read before, and the plugin told their completion late. In a queue, most have. */
#define QUEUE      0.5
/* A buffer that several requests take, or none. */
#define SHARED     (REC_NONE - 1)

typedef struct finder {
    const rec_steps *s;
    const rec_process *p;
    uint32_t *request_of; /* [execution]: REC_NONE: of none */
    uint32_t *taker;      /* [buffer]: the one request that takes it; SHARED; REC_NONE: none */
    uint32_t *first;      /* [program]: its first execution */
    uint64_t *last_end; /* [thread]: of its last execution so far; then its next request's begin */
    uint64_t *since;    /* [request]: nothing before is its own */
    uint64_t *calls;    /* [request]: begin of its last execution */
    uint32_t *thread;   /* [request] */
    uint64_t *next;     /* [request]: begin of its thread's next one */
    uint64_t *done;     /* [request]: when all its executions had ended; 0: unknown */
    uint64_t *read, *late; /* [request]: the last end of its reads before NEXT, and of all */
} finder;

static void free_finder(finder *f)
{
    free(f->request_of);
    free(f->taker);
    free(f->first);
    free(f->last_end);
    free(f->since);
    free(f->calls);
    free(f->thread);
    free(f->next);
    free(f->done);
    free(f->read);
    free(f->late);
}

static bool make_finder(finder *f, const rec_steps *s)
{
    const rec_process *p = s->process;
    const size_t most = s->marks + 1;
    *f = (finder){.s = s, .p = p};
    f->request_of = malloc((p->execution_count + 1) * sizeof *f->request_of);
    f->taker = malloc((p->buffer_count + 1) * sizeof *f->taker);
    f->first = malloc((p->program_count + 1) * sizeof *f->first);
    f->last_end = calloc(p->thread_count + 1, sizeof *f->last_end);
    f->since = calloc(most, sizeof *f->since);
    f->calls = calloc(most, sizeof *f->calls);
    f->thread = calloc(most, sizeof *f->thread);
    f->next = calloc(most, sizeof *f->next);
    f->done = calloc(most, sizeof *f->done);
    f->read = calloc(most, sizeof *f->read);
    f->late = calloc(most, sizeof *f->late);
    if (!f->request_of || !f->taker || !f->first || !f->last_end || !f->since || !f->calls ||
        !f->thread || !f->next || !f->done || !f->read || !f->late)
        return false;
    memset(f->request_of, 0xFF, p->execution_count * sizeof *f->request_of);
    memset(f->taker, 0xFF, p->buffer_count * sizeof *f->taker);
    memset(f->first, 0xFF, p->program_count * sizeof *f->first);
    for (size_t i = p->execution_count; i-- > 0;)
        f->first[p->executions[i].program] = (uint32_t)i;
    return true;
}

/* Where LAST_END has THREAD; all that are unknown share the last place. */
static size_t place_of(const finder *f, uint32_t thread)
{
    return thread < f->p->thread_count ? thread : f->p->thread_count;
}

/* ---- whose executions and buffers --------------------------------------------------------- */

/* The executions of request R end before this position. */
static uint32_t end_of(const rec_steps *s, size_t r)
{
    const uint64_t usual = (uint64_t)s->begins[r] + s->executions_per_step;
    if (r + 1 < s->marks)
        return s->begins[r + 1];
    return usual < s->order_count ? (uint32_t)usual : (uint32_t)s->order_count;
}

/* Whether execution E is of a program with the name of the steps'. */
static bool is_main(const finder *f, const rec_names *names, const rec_execution *e)
{
    return f->s->mark_program < f->p->program_count &&
           names->name[e->program] == names->name[f->s->mark_program];
}

/* Executions, threads and completions of all requests. */
static void take_executions(finder *f, const rec_names *names, rec_requests *out)
{
    const rec_steps *s = f->s;
    uint32_t at = 0;
    for (uint32_t r = 0; r < s->marks; r++) {
        rec_request *request = &out->list[r];
        bool named = false, ended = true;
        for (; at < s->begins[r]; at++) {
            const rec_execution *e = &f->p->executions[s->order[at]];
            f->last_end[place_of(f, e->thread)] = e->end_ns;
        }
        const uint32_t begin = at;
        for (; at < end_of(s, r); at++) {
            const rec_execution *e = &f->p->executions[s->order[at]];
            const uint64_t complete = rec_steps_span(s, e)->complete_ns;
            f->request_of[s->order[at]] = r;
            if (!named && (at == begin || is_main(f, names, e))) {
                request->program = e->program;
                f->thread[r] = e->thread;
                named = is_main(f, names, e);
            }
            ended = ended && complete;
            f->done[r] = complete > f->done[r] ? complete : f->done[r];
            f->calls[r] = e->begin_ns;
        }
        f->done[r] = ended ? f->done[r] : 0;
        request->begin_ns = f->p->executions[s->order[begin]].begin_ns;
        f->since[r] = f->last_end[place_of(f, f->thread[r])];
        for (uint32_t i = begin; i < at; i++) {
            const rec_execution *e = &f->p->executions[s->order[i]];
            f->last_end[place_of(f, e->thread)] = e->end_ns;
        }
    }
}

/* Which request takes each buffer. */
static void take_arguments(finder *f)
{
    for (uint32_t i = 0; i < f->p->execution_count; i++) {
        const rec_execution *e = &f->p->executions[i];
        const uint32_t own = f->request_of[i];
        for (uint32_t d = 0; d < e->devices; d++)
            for (uint32_t a = 0; a < e->arguments; a++) {
                const uint32_t buffer = rec_argument(f->p, e, d, a);
                if (buffer >= f->p->buffer_count)
                    continue;
                uint32_t *taker = &f->taker[buffer];
                *taker = *taker == REC_NONE ? (own == REC_NONE ? SHARED : own)
                         : *taker == own    ? own
                                            : SHARED;
            }
    }
}

/* ---- begins ------------------------------------------------------------------------------- */

/* The first request of THREAD whose last execution begins after TIME; the number of all: none. */
static uint32_t request_after(const finder *f, uint32_t thread, uint64_t time)
{
    uint32_t low = 0, high = (uint32_t)f->s->marks;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (f->calls[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    /* Threads take turns, so the next ones are looked at. */
    for (uint32_t r = low; r < f->s->marks && r < low + 64; r++)
        if (f->thread[r] == thread)
            return r;
    return (uint32_t)f->s->marks;
}

/* The request that CALL, a compilation, is of; the number of all: of none. */
static uint32_t compiled_for(const finder *f, const rec_call *call)
{
    const uint32_t execution =
        call->program < f->p->program_count ? f->first[call->program] : REC_NONE;
    const uint32_t own = execution == REC_NONE ? REC_NONE : f->request_of[execution];
    if (own != REC_NONE && call->begin_ns >= f->since[own] && call->begin_ns <= f->calls[own])
        return own;
    const uint32_t next = request_after(f, call->thread, call->begin_ns);
    /* What a thread compiles before its first request is the start. */
    return next < f->s->marks && f->since[next] > 0 && call->begin_ns >= f->since[next]
               ? next
               : (uint32_t)f->s->marks;
}

/* What was compiled for others before a first request is not its own: it begins later. */
static void cut_starts(finder *f)
{
    for (size_t i = 0; i < f->p->call_count; i++) {
        const rec_call *call = &f->p->calls[i];
        if (call->kind != REC_CALL_COMPILE || f->s->marks == 0 || call->begin_ns >= f->calls[0])
            continue;
        const uint32_t execution =
            call->program < f->p->program_count ? f->first[call->program] : REC_NONE;
        if ((execution == REC_NONE || f->request_of[execution] != 0) && call->end_ns > f->since[0])
            f->since[0] = call->end_ns;
    }
}

static void begin_with(rec_request *r, uint64_t begin_ns)
{
    r->begin_ns = begin_ns < r->begin_ns ? begin_ns : r->begin_ns;
}

static void take_calls(finder *f, rec_requests *out)
{
    uint64_t done = 0;
    cut_starts(f);
    for (size_t i = 0; i < f->p->call_count; i++) {
        const rec_call *call = &f->p->calls[i];
        if (call->kind == REC_CALL_COMPILE) {
            const uint32_t r = compiled_for(f, call);
            const uint64_t from = call->begin_ns > done ? call->begin_ns : done;
            if (r >= out->count)
                continue;
            begin_with(&out->list[r], call->begin_ns);
            out->list[r].compiles = true;
            out->compile_ns += call->end_ns > from ? call->end_ns - from : 0;
            done = call->end_ns > done ? call->end_ns : done;
        } else if (call->kind == REC_CALL_FROM_HOST && call->buffer < f->p->buffer_count) {
            const uint32_t r = f->taker[call->buffer];
            if (r < out->count && call->begin_ns >= f->since[r])
                begin_with(&out->list[r], call->begin_ns);
        }
    }
    for (size_t i = 0; i <= f->p->thread_count; i++)
        f->last_end[i] = UINT64_MAX;
    for (size_t r = out->count; r-- > 0;) {
        f->next[r] = f->last_end[place_of(f, f->thread[r])];
        f->last_end[place_of(f, f->thread[r])] = out->list[r].begin_ns;
    }
}

/* ---- ends --------------------------------------------------------------------------------- */

/* The execution that made what CALL reads, a view of it perhaps; REC_NONE: none did. */
static uint32_t maker_of(const rec_process *p, const rec_call *call)
{
    uint32_t buffer = call->buffer;
    for (int i = 0; i < MOST_VIEWS && buffer < p->buffer_count; i++) {
        const rec_buffer *b = &p->buffers[buffer];
        if (b->origin == REC_FROM_EXECUTION)
            return b->maker;
        if (b->origin != REC_FROM_CALL || b->maker >= p->call_count)
            return REC_NONE;
        buffer = p->calls[b->maker].of;
    }
    return REC_NONE;
}

/* When CALL, of execution E's result, had the bytes: not before they were made. */
static uint64_t read_end(const finder *f, const rec_call *call, const rec_execution *e)
{
    const uint64_t made = rec_steps_span(f->s, e)->complete_ns;
    uint64_t end = call->end_ns > call->complete_ns ? call->end_ns : call->complete_ns;
    return made > end ? made : end;
}

static void take_reads(finder *f)
{
    for (size_t i = 0; i < f->p->call_count; i++) {
        const rec_call *call = &f->p->calls[i];
        const uint32_t maker =
            rec_call_reads(call) && !call->failed ? maker_of(f->p, call) : REC_NONE;
        const uint32_t r = maker < f->p->execution_count ? f->request_of[maker] : REC_NONE;
        if (r >= f->s->marks)
            continue;
        const uint64_t end = read_end(f, call, &f->p->executions[maker]);
        f->late[r] = end > f->late[r] ? end : f->late[r];
        if (call->begin_ns < f->next[r])
            f->read[r] = end > f->read[r] ? end : f->read[r];
    }
}

/* When request R ends. */
static uint64_t end_time(const finder *f, size_t r)
{
    if (f->read[r])
        return f->read[r];
    if (f->done[r] && f->done[r] <= f->next[r])
        return f->done[r];
    return f->late[r] > f->done[r] ? f->late[r] : f->done[r];
}

static void end_requests(const finder *f, rec_requests *out)
{
    for (size_t r = 0; r < out->count; r++) {
        rec_request *request = &out->list[r];
        request->end_ns = end_time(f, r);
        request->queued = request->end_ns > f->next[r];
        out->compiling += request->compiles;
        out->queued += request->queued;
        out->told_late += request->queued && f->read[r];
        out->unended += request->end_ns == 0;
    }
    if (out->told_late < out->queued || (double)out->queued >= QUEUE * (double)out->count) {
        out->told_late = 0;
        return;
    }
    for (size_t r = 0; r < out->count; r++)
        if (out->list[r].queued) {
            out->list[r].end_ns = f->next[r];
            out->list[r].queued = false;
        }
    out->queued = 0;
}

/* ---- figures ------------------------------------------------------------------------------ */

/* The figures of COUNT latencies, as house quantiles: between neighbours they interpolate. */
static rec_latency latency_of(const uint64_t *ns, size_t count)
{
    const double nan = (double)NAN;
    rec_latency l = {count, nan, nan, nan, nan, 0};
    if (count == 0)
        return l;
    l.mean_ns = res_mean(ns, count);
    l.p50_ns = res_quantile(ns, count, 0.5);
    l.p90_ns = count >= LEAST_P90 ? res_quantile(ns, count, 0.9) : nan;
    l.p99_ns = count >= LEAST_P99 ? res_quantile(ns, count, 0.99) : nan;
    for (size_t i = 0; i < count; i++)
        l.behind_p99 += (double)ns[i] >= l.p99_ns;
    return l;
}

static int by_time(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* How much of the time from FROM to TO was recorded. */
static double recorded_ns(const rec_process *p, uint64_t from, uint64_t to)
{
    uint64_t left = to - from, done = from;
    for (size_t i = 0; i < p->pause_count; i++) {
        const uint64_t begin = p->pauses[i].from_ns > done ? p->pauses[i].from_ns : done;
        const uint64_t end = p->pauses[i].to_ns < to ? p->pauses[i].to_ns : to;
        left -= end > begin ? end - begin : 0;
        done = end > done ? end : done;
    }
    return (double)left;
}

/* Most requests in flight at once, and the time between those that do not overlap. ROOM is for
 * three values of each. */
static void count_flights(const rec_process *p, rec_requests *out, uint64_t *room)
{
    uint64_t *begins = room, *ends = room + out->count, *between = room + 2 * out->count;
    size_t count = 0, pauses = 0, ended = 0;
    for (size_t r = 0; r < out->count; r++)
        if (out->list[r].end_ns) {
            begins[count] = out->list[r].begin_ns;
            ends[count++] = out->list[r].end_ns;
        }
    qsort(begins, count, sizeof *begins, by_time);
    qsort(ends, count, sizeof *ends, by_time);
    for (size_t i = 0; i < count; i++) {
        while (ended < count && ends[ended] <= begins[i])
            ended++;
        const uint32_t now = (uint32_t)(i + 1 - ended);
        out->at_once = now > out->at_once ? now : out->at_once;
        if (i > 0 && ended == i)
            between[pauses++] = begins[i] - ends[i - 1];
    }
    out->window_ns = count ? recorded_ns(p, begins[0], ends[count - 1]) : (double)NAN;
    out->between_ns = res_quantile(between, pauses, 0.5);
}

/* A latency, and of which program. */
typedef struct taken {
    uint32_t program;
    uint64_t ns;
} taken;

static int by_program(const void *a, const void *b)
{
    const taken *x = a, *y = b;
    return rec_order(x->program, y->program, x->ns, y->ns);
}

/* Figures of each variant. */
static bool fill_shapes(rec_requests *out)
{
    taken *list = malloc((out->count + 1) * sizeof *list);
    uint64_t *room = malloc((out->count + 1) * sizeof *room);
    size_t count = 0;
    out->shapes = calloc(out->variants.count + 1, sizeof *out->shapes);
    const bool made = list && room && out->shapes;
    for (size_t r = 0; made && r < out->count; r++)
        if (out->list[r].end_ns)
            list[count++] =
                (taken){out->list[r].program, out->list[r].end_ns - out->list[r].begin_ns};
    if (made)
        qsort(list, count, sizeof *list, by_program);
    for (size_t i = 0; made && i < out->variants.count; i++) {
        size_t low = 0, high = count, number = 0;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (list[middle].program < out->variants.list[i].program)
                low = middle + 1;
            else
                high = middle;
        }
        for (; low < count && list[low].program == out->variants.list[i].program; low++)
            room[number++] = list[low].ns;
        out->shapes[i] = latency_of(room, number);
    }
    free(list);
    free(room);
    return made;
}

static bool fill_figures(const rec_process *process, rec_requests *out)
{
    uint64_t *room = malloc((3 * out->count + 1) * sizeof *room);
    size_t count = 0;
    if (!room)
        return false;
    for (size_t r = 0; r < out->count; r++)
        if (out->list[r].end_ns)
            room[count++] = out->list[r].end_ns - out->list[r].begin_ns;
    out->latency = latency_of(room, count);
    count_flights(process, out, room);
    free(room);
    return true;
}

/* ---- all of it ---------------------------------------------------------------------------- */

void rec_requests_free(rec_requests *requests)
{
    free(requests->list);
    free(requests->shapes);
    rec_variants_free(&requests->variants);
    *requests = (rec_requests){0};
}

static bool find_requests(const rec_steps *steps, const rec_names *names, rec_requests *out)
{
    finder f;
    bool made = make_finder(&f, steps);
    out->list = calloc(steps->marks + 1, sizeof *out->list);
    made = made && out->list;
    if (made) {
        out->count = steps->marks;
        take_executions(&f, names, out);
        take_arguments(&f);
        take_calls(&f, out);
        take_reads(&f);
        end_requests(&f, out);
    }
    free_finder(&f);
    return made && fill_figures(steps->process, out);
}

bn_code rec_requests_make(const rec_steps *steps, rec_requests *requests, bn_status *st)
{
    rec_names names = {0};
    *requests = (rec_requests){0};
    if (steps->how != REC_FOUND_NAME || steps->marks == 0)
        return BN_OK;
    bn_code code = rec_names_make(steps->process, &names, st);
    if (code == BN_OK && !find_requests(steps, &names, requests))
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu requests", steps->marks);
    rec_names_free(&names);
    if (code == BN_OK)
        code = rec_variants_make(steps, steps->mark_program, requests, &requests->variants, st);
    if (code == BN_OK && !fill_shapes(requests))
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu requests", steps->marks);
    return code;
}

/* ---- in words ----------------------------------------------------------------------------- */

static void put_end(const rec_requests *r, bn_text *out)
{
    if (r->unended)
        bn_text_printf(out, " The end of %zu is unknown, so they are in no percentile.",
                       r->unended);
    if (r->told_late)
        bn_text_printf(out,
                       " The completion of %zu was told after the next one began; they end with "
                       "its begin at the latest.",
                       r->told_late);
    if (r->queued)
        bn_text_printf(out,
                       " %zu had not ended when the next one began, and up to %u were in flight at "
                       "once: latencies then have the time in the queue in them, and sum to more "
                       "than the window.",
                       r->queued, r->at_once);
    else if (r->at_once > 1)
        bn_text_printf(out, " Up to %u, of several threads, were in flight at once.", r->at_once);
}

void rec_requests_put(const rec_requests *r, bn_text *out)
{
    if (r->count == 0)
        return;
    bn_text_printf(out, "%zu requests in ", r->count);
    rec_time_put(out, r->window_ns);
    if (r->window_ns > 0)
        bn_text_printf(out, ", %.4g a second", (double)r->latency.count / (r->window_ns / 1e9));
    bn_text_printf(out, "; none is left out. %zu (%.3g %%) compile, for ", r->compiling,
                   100 * (double)r->compiling / (double)r->count);
    rec_time_put(out, (double)r->compile_ns);
    bn_text_puts(out, " in all.");
    if (isfinite(r->latency.p99_ns))
        bn_text_printf(out, " Behind p99 are %zu requests.", r->latency.behind_p99);
    else
        bn_text_printf(out, " p99 is unknown with fewer than %d requests.", LEAST_P99);
    put_end(r, out);
    if (isfinite(r->between_ns)) {
        bn_text_puts(out, " Latency is from a request's first PJRT call on. Before it, and after "
                          "the end of the request before, ");
        rec_time_put(out, r->between_ns);
        bn_text_puts(out, " (median) are the host's, such as Python and tracing, or between "
                          "requests.");
    }
    bn_text_putc(out, '\n');
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void set_latency(json_t *o, const rec_latency *l)
{
    json_object_set_new(o, "p50_ns", res_json_real(l->p50_ns));
    json_object_set_new(o, "p90_ns", res_json_real(l->p90_ns));
    json_object_set_new(o, "p99_ns", res_json_real(l->p99_ns));
    json_object_set_new(o, "mean_ns", res_json_real(l->mean_ns));
    json_object_set_new(o, "behind_p99", json_integer((json_int_t)l->behind_p99));
}

static json_t *shapes_json(const rec_steps *steps, const rec_requests *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->variants.count; i++) {
        const rec_variant *variant = &r->variants.list[i];
        bn_text type = {0};
        rec_variant_put(steps, &r->variants, i, &type);
        json_t *o = json_pack("{s:s?, s:s, s:s, s:o, s:I, s:I}", "type", type.data, "program",
                              steps->process->programs[variant->program].name, "hash",
                              steps->process->programs[variant->program].hash, "value",
                              variant->value < 0 ? json_null() : json_integer(variant->value),
                              "requests", (json_int_t)r->shapes[i].count, "compile_ns",
                              (json_int_t)variant->compile_ns);
        set_latency(o, &r->shapes[i]);
        json_array_append_new(list, o);
        bn_text_free(&type);
    }
    return list;
}

static json_t *made_json(const rec_steps *steps, const rec_requests *r)
{
    json_t *o =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:s, s:o}", "count",
                  (json_int_t)r->count, "told_late", (json_int_t)r->told_late, "compiling",
                  (json_int_t)r->compiling, "compile_ns", (json_int_t)r->compile_ns, "queued",
                  (json_int_t)r->queued, "unended", (json_int_t)r->unended, "at_once",
                  (json_int_t)r->at_once, "window_ns", res_json_real(r->window_ns), "per_second",
                  res_json_real((double)r->latency.count / (r->window_ns / 1e9)), "between_ns",
                  res_json_real(r->between_ns), "varies", rec_varying_name(r->variants.varying),
                  "shapes", shapes_json(steps, r));
    set_latency(o, &r->latency);
    return o;
}

json_t *rec_requests_json(const rec_steps *steps)
{
    rec_requests r;
    bn_status ignored = {.code = BN_OK};
    json_t *o = rec_requests_make(steps, &r, &ignored) == BN_OK && r.count > 0
                    ? made_json(steps, &r)
                    : json_null();
    rec_requests_free(&r);
    return o;
}
