/*
 * build.c - events become the arrays of a process: texts, plugins, devices, threads, types.
 */
#include "results/recordings/recordings_priv.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Numbers of plugins are small: more are no recording. */
#define MOST_PLUGINS 64
#define MOST_ERRORS  100

uint64_t rec_word(const rec_item *item, size_t index)
{
    uint64_t word = 0;
    if (index < item->size / sizeof word)
        memcpy(&word, item->words + index * sizeof word, sizeof word);
    return word;
}

void *rec_build_more(rec_builder *builder, void *items, size_t *count, size_t *capacity,
                     size_t item_bytes)
{
    char *array;
    if (*count >= REC_NONE - 1 || !bn_reserve(items, *count + 1, capacity, item_bytes)) {
        builder->failed = true;
        return NULL;
    }
    memcpy(&array, items, sizeof array);
    array += (*count)++ * item_bytes;
    memset(array, 0, item_bytes);
    return array;
}

uint32_t *rec_build_operands(rec_builder *builder, size_t count)
{
    rec_process *p = builder->process;
    if (!bn_reserve(&p->operands, p->operand_count + count + 1, &builder->room.operands,
                    sizeof *p->operands)) {
        builder->failed = true;
        return NULL;
    }
    p->operand_count += count;
    return p->operands + p->operand_count - count;
}

const char *rec_build_text(rec_builder *builder, const uint8_t *bytes, size_t size)
{
    bn_text raw = {0}, plain = {0};
    const char *kept = "";
    bn_text_append(&raw, (const char *)bytes, size);
    if (raw.data)
        bn_text_plain(&plain, raw.data);
    if (plain.data && plain.length) {
        kept = bn_arena_strdup(builder->memory, plain.data);
        builder->failed = builder->failed || !kept;
    }
    builder->failed = builder->failed || raw.failed || plain.failed;
    bn_text_free(&raw);
    bn_text_free(&plain);
    return kept ? kept : "";
}

uint32_t rec_build_thread(rec_builder *builder, uint32_t number)
{
    rec_process *p = builder->process;
    const uint64_t key = (uint64_t)number + 1;
    const uint32_t known = rec_map_get(&builder->threads, key);
    if (known != REC_NONE)
        return known;
    const uint32_t index = (uint32_t)p->thread_count;
    rec_thread *thread = rec_build_more(builder, &p->threads, &p->thread_count,
                                        &builder->room.threads, sizeof *p->threads);
    if (!thread || !rec_map_put(&builder->threads, key, index)) {
        builder->failed = true;
        return REC_NONE;
    }
    *thread = (rec_thread){number, ""};
    return index;
}

static bool same_type(const rec_type *a, int type, uint32_t rank, const int64_t *dims)
{
    return a->type == type && a->rank == rank &&
           (rank == 0 || memcmp(a->dims, dims, rank * sizeof *dims) == 0);
}

uint32_t rec_build_type(rec_builder *builder, int type, uint32_t rank, const int64_t *dims)
{
    rec_process *p = builder->process;
    const XXH64_hash_t content = rank ? XXH3_64bits(dims, rank * sizeof *dims) : 0;
    uint64_t key = (content ^ ((uint64_t)(uint32_t)type << 32) ^ rank) | 1;
    uint32_t known;
    while ((known = rec_map_get(&builder->types, key)) != REC_NONE) {
        if (same_type(&p->types[known], type, rank, dims))
            return known;
        key += 2;
    }
    const uint32_t index = (uint32_t)p->type_count;
    int64_t *own = rank ? bn_arena_alloc(builder->memory, rank * sizeof *own) : NULL;
    rec_type *made =
        rec_build_more(builder, &p->types, &p->type_count, &builder->room.types, sizeof *p->types);
    if (!made || (rank && !own) || !rec_map_put(&builder->types, key, index)) {
        builder->failed = true;
        return REC_NONE;
    }
    if (rank)
        memcpy(own, dims, rank * sizeof *own);
    *made = (rec_type){type, rank, own};
    return index;
}

rec_call *rec_build_call(rec_builder *builder, const rec_item *item, rec_call_kind kind)
{
    rec_process *p = builder->process;
    const record_event *e = &item->event;
    if (e->field[0] < e->time || e->field[0] > REC_MOST_TIME)
        return NULL;
    const uint32_t thread = rec_build_thread(builder, e->thread);
    rec_call *call =
        rec_build_more(builder, &p->calls, &p->call_count, &builder->room.calls, sizeof *p->calls);
    if (!call)
        return NULL;
    call->begin_ns = e->time;
    call->end_ns = e->field[0];
    call->cpu_begin_ns = e->field[1];
    call->cpu_end_ns = e->field[2];
    call->thread = thread;
    call->buffer = call->of = call->device = call->program = REC_NONE;
    call->kind = (uint8_t)kind;
    call->failed = e->flags & RECORD_FAILED;
    p->failures += call->failed;
    p->cpu_clocks = p->cpu_clocks || e->field[1] || e->field[2];
    return call;
}

/* ---- what stands about the process --------------------------------------------------------- */

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
        [RECORD_TO_HOST] = rec_build_to_host,
        [RECORD_WAIT] = build_wait,
        [RECORD_EXECUTABLE_END] = build_executable_end,
    };
    const uint8_t kind = item->event.kind;
    return kind < RECORD_KINDS && makers[kind] && makers[kind](builder, item);
}
