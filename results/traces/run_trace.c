/*
 * run_trace.c - the timelines of a run in Chrome's trace event format, a row a process, and the
 * choice of a file's format.
 */
#include "results/traces/run_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A row that is being written. */
typedef struct row_out {
    res_trace *trace;
    uint64_t number;    /* of the row, which viewers show as a process */
    uint64_t flow_base; /* flows of rows before */
    uint64_t flows;
} row_out;

/* ---- slices ------------------------------------------------------------------------------- */

static void put_step(const run_slice *s, bn_text *out)
{
    bn_text_puts(out, ",\"cat\":\"step\",\"args\":{");
    for (int p = 0; p < BN_PART_COUNT; p++)
        bn_text_printf(out, "%s\"%s_ns\":%llu", p ? "," : "", bn_part_name((bn_part)p),
                       (unsigned long long)s->part_ns[p]);
    bn_text_printf(out, ",\"step_num\":%llu}}", (unsigned long long)s->span->value);
}

static void put_bytes(bn_timeline *row, const run_slice *s, bn_text *out)
{
    const bool compile = s->span->kind == BN_SPAN_COMPILE;
    char *program = res_trace_quote(bn_timeline_name(row, s->span));
    bn_text_printf(out, ",\"cat\":\"call\",\"args\":{\"bytes\":%llu%s%s}}",
                   (unsigned long long)s->span->value, compile ? ",\"program\":" : "",
                   compile ? program : "");
    free(program);
}

/* The members of a slice after its times. */
static void put_rest(bn_timeline *row, const run_slice *s, bn_text *out)
{
    static const char *const categories[RUN_LANE_END] = {[RUN_LANE_PARTS] = "part",
                                                         [RUN_LANE_CALLS] = "execute",
                                                         [RUN_LANE_DEVICE] = "device",
                                                         [RUN_LANE_PROFILE] = "profile"};
    if (!s->span)
        bn_text_puts(out, ",\"cat\":\"device\",\"cname\":\"grey\"}");
    else if (s->lane == RUN_LANE_STEPS)
        put_step(s, out);
    else if (s->lane == RUN_LANE_CALLS && s->span->kind != BN_SPAN_EXECUTE)
        put_bytes(row, s, out);
    else if (s->lane == RUN_LANE_ANNOTATIONS)
        bn_text_printf(out, ",\"cat\":\"%s\"}",
                       s->span->kind == BN_SPAN_SCOPE ? "scope" : "annotation");
    else
        bn_text_printf(out, ",\"cat\":\"%s\"}", categories[s->lane]);
}

typedef struct visiting {
    row_out *out;
    bn_timeline *row;
} visiting;

static void put_slice(void *context, const run_slice *s)
{
    const visiting *v = context;
    res_trace *trace = v->out->trace;
    char *name = res_trace_quote(s->name);
    res_trace_slice(trace, name, v->out->number, s->lane, s->begin_ns, s->end_ns);
    put_rest(v->row, s, &trace->text);
    free(name);
    if (s->flow > 0) {
        res_trace_flow(trace, s->lane == RUN_LANE_DEVICE, v->out->number, s->lane, s->begin_ns,
                       v->out->flow_base + s->flow);
        v->out->flows = s->flow;
    }
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void put_names(row_out *out, bn_timeline *row)
{
    const bn_timeline_about *about = bn_timeline_describe(row);
    char name[600];
    snprintf(name, sizeof name, "%s, process %lld (pid %lld): %s", about->mode,
             (long long)about->process, (long long)about->pid, about->title);
    res_trace_name(out->trace, "process_name", out->number, 0, name);
    for (run_lane lane = RUN_LANE_STEPS; lane < RUN_LANE_END; lane++) {
        if (res_run_lane_most(row, lane) == 0)
            continue;
        res_run_lane_name(row, lane, name, sizeof name);
        res_trace_name(out->trace, "thread_name", out->number, lane, name);
    }
}

/* Description of ROW besides its spans (new reference). */
static json_t *about_json(bn_timeline *row, size_t number)
{
    const bn_timeline_about *a = bn_timeline_describe(row);
    return json_pack("{sI ss* ss* ss* sI sI sI sI sI sI sI sb sb}", "row", (json_int_t)number,
                     "experiment", a->title, "mode", a->mode, "profile", a->profile, "process",
                     (json_int_t)a->process, "pid", (json_int_t)a->pid, "thread",
                     (json_int_t)a->thread, "first_steps", (json_int_t)a->first, "every",
                     (json_int_t)a->every, "steps", (json_int_t)a->steps_ran, "steps_shown",
                     (json_int_t)a->steps_shown, "out_of_room", a->full, "simulated", a->simulated);
}

static json_t *other_json(bn_timeline *const *rows, size_t count, size_t left_out)
{
    static const char about[] =
        "Steps of bench's own runs, when they ran. Times are of the machine's monotonic clock, "
        "from "
        "the first event on. Parts of the ledger, calls and annotations are the host's. An "
        "execution on the device begins with its call, or when the one before it has ended, and "
        "ends when the plugin said so, or the wait for it. The profile is the plugin's own.";
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, about_json(rows[i], i + 1));
    return json_pack("{ss so sI}", "about", about, "rows", list, "rows_left_out",
                     (json_int_t)left_out);
}

static void put_rows(res_trace *trace, bn_timeline *const *rows, size_t count, size_t left_out)
{
    row_out out = {.trace = trace};
    trace->from_ns = res_run_first_ns(rows, count);
    res_trace_head(trace, other_json(rows, count, left_out));
    for (size_t i = 0; i < count; i++) {
        visiting v = {&out, rows[i]};
        out.number = i + 1;
        out.flow_base += out.flows;
        out.flows = 0;
        put_names(&out, rows[i]);
        res_run_walk(rows[i], put_slice, &v);
    }
    res_trace_tail(trace);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* How many of ROWS fit into a file. */
static size_t fitting(bn_timeline *const *rows, size_t count)
{
    size_t spans = 0;
    for (size_t i = 0; i < count; i++) {
        spans += bn_timeline_count(rows[i]);
        if (spans > RES_TRACE_MOST_SPANS && i > 0)
            return i;
    }
    return count;
}

bn_code res_trace_write_run(bn_timeline *const *rows, size_t count, const char *path, bool replace,
                            size_t *left_out, bn_status *st)
{
    res_trace trace = {.st = st};
    const size_t some = fitting(rows, count);
    if (left_out)
        *left_out = count - some;
    trace.code = bn_writer_begin(path, &trace.writer, st);
    if (trace.code == BN_OK && res_trace_is_space(path)) {
        res_run_xspace(rows, some, &trace.text);
        trace.code = bn_writer_add(trace.writer, trace.text.data, trace.text.length, st);
    } else if (trace.code == BN_OK) {
        put_rows(&trace, rows, some, count - some);
    }
    bn_text_free(&trace.text);
    if (trace.code == BN_OK)
        return bn_writer_finish(trace.writer, replace, st);
    bn_writer_drop(trace.writer);
    return trace.code;
}
