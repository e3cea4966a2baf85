/*
 * build.c - events become a process: what stands about it here, programs and buffers in the other
 * files. When all were taken, completions find their executions, executions and calls are put in
 * order of their begin, and each device's work is laid end to end.
 */
#include "results/recordings/recordings_priv.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of plugins are small: more are no recording. */
#define MOST_PLUGINS 64
#define MOST_ERRORS  100

/* ---- what stands about the process ------------------------------------------------------ */

/* The plugin NUMBER, and those before it, as far as they are not there; NULL: no such number. */
static rec_plugin *plugin_of(rec_builder *b, uint64_t number)
{
    rec_process *p = b->process;
    if (number >= MOST_PLUGINS)
        return NULL;
    while (p->plugin_count <= number) {
        rec_plugin *plugin =
            rec_build_more(b, &p->plugins, &p->plugin_count, &b->room.plugins, sizeof *p->plugins);
        if (!plugin)
            return NULL;
        *plugin = (rec_plugin){.path = "", .platform = "", .platform_version = ""};
    }
    return &p->plugins[number];
}

static bool build_plugin(rec_builder *b, const rec_item *item)
{
    const uint64_t *field = item->event.field;
    rec_plugin *plugin = plugin_of(b, field[0]);
    if (!plugin)
        return false;
    plugin->major = (uint32_t)field[1];
    plugin->minor = (uint32_t)field[2];
    plugin->table_bytes = field[3];
    plugin->path = rec_build_text(b, item->words, item->size);
    return true;
}

static bool build_device(rec_builder *b, const rec_item *item)
{
    rec_process *p = b->process;
    const uint64_t *field = item->event.field;
    if (field[0] == 0)
        return false;
    const uint32_t index = (uint32_t)p->device_count;
    rec_device *device =
        rec_build_more(b, &p->devices, &p->device_count, &b->room.devices, sizeof *p->devices);
    if (!device || !rec_map_put(&b->devices, field[0], index)) {
        b->failed = true;
        return false;
    }
    device->id = (int64_t)field[1];
    device->plugin = field[2] < p->plugin_count ? (uint32_t)field[2] : REC_NONE;
    device->client = field[3];
    device->bytes = field[4];
    device->text = rec_build_text(b, item->words, item->size);
    return true;
}

/* Appends TEXT to LIST, which ends with NULL. */
static void append(rec_builder *b, const char ***list, size_t *count, size_t *capacity,
                   const char *text)
{
    if (!bn_reserve(list, *count + 2, capacity, sizeof **list)) {
        b->failed = true;
        return;
    }
    (*list)[(*count)++] = text;
    (*list)[*count] = NULL;
}

static bool text_of_plugin(rec_builder *b, uint64_t number, bool version, const char *text)
{
    rec_plugin *plugin = plugin_of(b, number);
    if (!plugin)
        return false;
    *(version ? &plugin->platform_version : &plugin->platform) = text;
    return true;
}

static bool text_of_thread(rec_builder *b, uint64_t number, const char *text)
{
    const uint32_t index = number <= UINT32_MAX ? rec_build_thread(b, (uint32_t)number) : REC_NONE;
    if (index == REC_NONE)
        return false;
    b->process->threads[index].name = text;
    return true;
}

static bool build_text(rec_builder *b, const rec_item *item)
{
    const uint64_t what = item->event.field[0], of = item->event.field[1];
    const char *text = rec_build_text(b, item->words, item->size);
    switch (what) {
    case RECORD_TEXT_COMMAND:
        if (of != b->command_count)
            return false;
        append(b, &b->command, &b->command_count, &b->room.command, text);
        return true;
    case RECORD_TEXT_PLATFORM:
    case RECORD_TEXT_PLATFORM_VERSION:
        return text_of_plugin(b, of, what == RECORD_TEXT_PLATFORM_VERSION, text);
    case RECORD_TEXT_THREAD:
        return text_of_thread(b, of, text);
    case RECORD_TEXT_FRAMEWORK:
        append(b, &b->frameworks, &b->framework_count, &b->room.frameworks, text);
        return true;
    case RECORD_TEXT_ERROR:
        if (b->error_count < MOST_ERRORS)
            append(b, &b->errors, &b->error_count, &b->room.errors, text);
        return true;
    case RECORD_TEXT_LIE:
        if (b->lie_count < MOST_ERRORS)
            append(b, &b->lies, &b->lie_count, &b->room.lies, text);
        return true;
    case RECORD_TEXT_NOTE:
        if (b->note_count < MOST_ERRORS)
            append(b, &b->notes, &b->note_count, &b->room.notes, text);
        return true;
    default:
        return false;
    }
}

static bool build_complete(rec_builder *b, const rec_item *item)
{
    const uint64_t *field = item->event.field;
    if (field[0] == 0 || field[1] >= REC_NONE || item->event.time > REC_MOST_TIME)
        return false;
    rec_completion *completion = rec_build_more(b, &b->completions, &b->completion_count,
                                                &b->room.completions, sizeof *b->completions);
    if (completion)
        *completion = (rec_completion){field[0], item->event.time, (uint32_t)field[1]};
    return completion != NULL;
}

static bool build_wait(rec_builder *b, const rec_item *item)
{
    return rec_build_call(b, item, REC_CALL_WAIT) != NULL;
}

static bool build_executable_end(rec_builder *b, const rec_item *item)
{
    b->process->strays += rec_map_get(&b->executables, item->event.field[0]) == REC_NONE;
    rec_map_remove(&b->executables, item->event.field[0]);
    return true;
}

bool rec_build_event(rec_builder *builder, const rec_item *item)
{
    static bool (*const makers[RECORD_KINDS])(rec_builder *, const rec_item *) = {
        [RECORD_TEXT] = build_text,
        [RECORD_PLUGIN] = build_plugin,
        [RECORD_DEVICE] = build_device,
        [RECORD_COMPILE] = rec_build_compile,
        [RECORD_EXECUTABLE] = rec_build_executable,
        [RECORD_EXECUTE] = rec_build_execute,
        [RECORD_COMPLETE] = build_complete,
        [RECORD_BUFFER] = rec_build_buffer,
        [RECORD_BUFFER_END] = rec_build_buffer_end,
        [RECORD_TO_HOST] = rec_build_transfer,
        [RECORD_TO_DEVICE] = rec_build_transfer,
        [RECORD_WAIT] = build_wait,
        [RECORD_EXECUTABLE_END] = build_executable_end,
        [RECORD_DELAY] = rec_build_delay,
        [RECORD_MARK] = rec_build_mark,
        [RECORD_PART] = rec_build_part,
    };
    const uint8_t kind = item->event.kind;
    return kind < RECORD_KINDS && makers[kind] && makers[kind](builder, item);
}

/* ---- completions ------------------------------------------------------------------------ */

static void place_completions(rec_builder *b)
{
    rec_process *p = b->process;
    for (size_t i = 0; i < b->completion_count; i++) {
        const rec_completion *c = &b->completions[i];
        const uint32_t execution = rec_map_get(&b->number_executions, c->number);
        const uint32_t call = rec_map_get(&b->number_calls, c->number);
        if (execution != REC_NONE && c->device < p->executions[execution].devices &&
            c->time >= p->executions[execution].begin_ns) {
            p->spans[p->executions[execution].spans + c->device].complete_ns = c->time;
            p->completions = true;
        } else if (execution == REC_NONE && call != REC_NONE &&
                   c->time >= p->calls[call].begin_ns) {
            p->calls[call].complete_ns = c->time;
        }
    }
}

/* ---- order -------------------------------------------------------------------------------------
 */

typedef struct rank {
    uint64_t begin;
    uint32_t index;
} rank;

static int by_begin(const void *a, const void *b)
{
    const rank *x = a, *y = b;
    return rec_order(x->begin, y->begin, x->index, y->index);
}

/* Makes the array ITEMS of COUNT items of ITEM_BYTES one in the order of RANKS, and WHERE[i] the
 * new place of item i. */
static bool arrange(char *items, size_t count, size_t item_bytes, rank *ranks, uint32_t *where)
{
    char *copy = malloc(count * item_bytes + 1);
    if (!copy)
        return false;
    memcpy(copy, items, count * item_bytes);
    qsort(ranks, count, sizeof *ranks, by_begin);
    for (size_t i = 0; i < count; i++) {
        memcpy(items + i * item_bytes, copy + ranks[i].index * item_bytes, item_bytes);
        where[ranks[i].index] = (uint32_t)i;
    }
    free(copy);
    return true;
}

static uint32_t moved(const uint32_t *where, uint32_t index)
{
    return index == REC_NONE ? REC_NONE : where[index];
}

static bool order_executions(rec_process *p, rank *ranks, uint32_t *where)
{
    const size_t count = p->execution_count;
    for (size_t i = 0; i < count; i++)
        ranks[i] = (rank){p->executions[i].begin_ns, (uint32_t)i};
    if (count && !arrange((char *)p->executions, count, sizeof *p->executions, ranks, where))
        return false;
    for (size_t i = 0; i < p->span_count; i++)
        p->spans[i].execution = moved(where, p->spans[i].execution);
    for (size_t i = 0; i < p->buffer_count; i++) {
        rec_buffer *buffer = &p->buffers[i];
        buffer->last_use = moved(where, buffer->last_use);
        if (buffer->origin == REC_FROM_EXECUTION)
            buffer->maker = moved(where, buffer->maker);
    }
    return true;
}

static bool order_calls(rec_process *p, rank *ranks, uint32_t *where)
{
    const size_t count = p->call_count;
    for (size_t i = 0; i < count; i++)
        ranks[i] = (rank){p->calls[i].begin_ns, (uint32_t)i};
    if (count && !arrange((char *)p->calls, count, sizeof *p->calls, ranks, where))
        return false;
    for (size_t i = 0; i < p->buffer_count; i++)
        if (p->buffers[i].origin == REC_FROM_CALL)
            p->buffers[i].maker = moved(where, p->buffers[i].maker);
    for (size_t i = 0; i < p->executable_count; i++)
        p->executables[i].compile = moved(where, p->executables[i].compile);
    return true;
}

static bool order_marks(rec_process *p, rank *ranks, uint32_t *where)
{
    for (size_t i = 0; i < p->mark_count; i++)
        ranks[i] = (rank){p->marks[i].time_ns, (uint32_t)i};
    return p->mark_count == 0 ||
           arrange((char *)p->marks, p->mark_count, sizeof *p->marks, ranks, where);
}

static bool order(rec_process *p)
{
    size_t most = p->execution_count > p->call_count ? p->execution_count : p->call_count;
    most = p->mark_count > most ? p->mark_count : most;
    rank *ranks = malloc((most + 1) * sizeof *ranks);
    uint32_t *where = malloc((most + 1) * sizeof *where);
    const bool done = ranks && where && order_executions(p, ranks, where) &&
                      order_calls(p, ranks, where) && order_marks(p, ranks, where);
    free(ranks);
    free(where);
    return done;
}

/* ---- work of the devices -----------------------------------------------------------------------
 */

/* An execution starts on a device when it was asked for, or when the one before it had ended there.
 */
static bool lay_spans(rec_process *p)
{
    uint64_t *last = calloc(p->device_count + 1, sizeof *last);
    if (!last)
        return false;
    for (size_t i = 0; i < p->execution_count; i++) {
        const rec_execution *execution = &p->executions[i];
        for (uint32_t d = 0; d < execution->devices; d++) {
            rec_span *span = &p->spans[execution->spans + d];
            uint64_t *end = &last[span->device == REC_NONE ? p->device_count : span->device];
            span->start_ns = execution->begin_ns > *end ? execution->begin_ns : *end;
            if (span->complete_ns == 0)
                continue;
            /* Callbacks may come in another order than the work ended. */
            if (span->complete_ns < span->start_ns)
                span->start_ns = span->complete_ns;
            else
                *end = span->complete_ns;
        }
    }
    free(last);
    return true;
}

static void bound_times(rec_process *p)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < p->execution_count; i++) {
        const rec_execution *e = &p->executions[i];
        first = e->begin_ns < first ? e->begin_ns : first;
        last = e->end_ns > last ? e->end_ns : last;
    }
    for (size_t i = 0; i < p->call_count; i++) {
        const rec_call *c = &p->calls[i];
        first = c->begin_ns < first ? c->begin_ns : first;
        last = c->end_ns > last ? c->end_ns : last;
    }
    p->first_ns = first == UINT64_MAX ? 0 : first;
    p->last_ns = last;
}

/* Lists always end with NULL. */
static const char *const *list_of(const char *const *list)
{
    static const char *const none[] = {NULL};
    return list ? list : none;
}

void rec_build_end(rec_builder *builder, uint32_t main_number)
{
    rec_process *p = builder->process;
    place_completions(builder);
    rec_build_seam_widen(builder);
    if (!order(p) || !lay_spans(p))
        builder->failed = true;
    rec_build_order_delays(p);
    bound_times(p);
    p->main_thread = rec_map_get(&builder->threads, (uint64_t)main_number + 1);
    p->command = list_of(builder->command);
    p->frameworks = list_of(builder->frameworks);
    p->errors = list_of(builder->errors);
    p->lies = list_of(builder->lies);
    p->notes = list_of(builder->notes);
    p->framework = p->frameworks[0] ? p->frameworks[0] : "";
}
