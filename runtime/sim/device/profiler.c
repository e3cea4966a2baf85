/*
 * profiler.c - the profiler extension: what ran on each device while a profile was
 * taken, as an XSpace with one plane a device and its executions on the line "XLA
 * Modules", where XLA's own profilers put them. The times are those of the schedule,
 * so they are the truth. The line "XLA Ops" divides each execution among its fused groups,
 * as the model divides its time; a group has the name of the op that it is built around,
 * and where that stands in the model (its loc) as statistic tf_op.
 *
 * Sources: xla/backends/profiler/plugin/profiler_c_api.h and
 * tsl/profiler/protobuf/xplane.proto of openxla/xla (layouts and field numbers).
 */
#include "runtime/sim/device/profiler.h"

#include "runtime/base/base.h"
#include "runtime/sim/device/device.h"
#include "runtime/sim/device/entries.h"
#include "runtime/sim/device/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct span_row {
    int device;
    PJRT_Executable *executable; /* a reference of its own */
    char name[128];
    sim_span span;
    size_t kind;       /* of its event, once the profile is written: see kind_of */
    uint64_t first_op; /* number of its first group's metadata; of rows that are their own kind */
} span_row;

/* One profile at a time, as in other plugins. */
static struct {
    pthread_mutex_t lock;
    bool running;
    const struct profiler *owner; /* who started it */
    span_row *rows;
    size_t count, room;
} profile = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sim_profile_note(const PJRT_Device *device, PJRT_Executable *executable, sim_span span)
{
    pthread_mutex_lock(&profile.lock);
    if (profile.running) {
        bn_grow(&profile.rows, profile.count + 1, &profile.room, sizeof *profile.rows);
        span_row *row = &profile.rows[profile.count++];
        row->device = device->description.id;
        row->span = span;
        row->executable = sim_executable_retain(executable);
        snprintf(row->name, sizeof row->name, "%.*s(%s)", BN_FIT(executable->program->name, 100),
                 executable->fingerprint);
    }
    pthread_mutex_unlock(&profile.lock);
}

/* ---- writing ---------------------------------------------------------------------------- */

static void put_varint(bn_text *b, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        bn_text_putc(b, (char)(value | 0x80));
    bn_text_putc(b, (char)value);
}

static void put_number(bn_text *b, unsigned field, uint64_t value)
{
    put_varint(b, (uint64_t)field << 3);
    put_varint(b, value);
}

static void put_bytes(bn_text *b, unsigned field, const void *data, size_t size)
{
    put_varint(b, (uint64_t)field << 3 | 2);
    put_varint(b, size);
    bn_text_append(b, data, size);
}

/* Puts MESSAGE as FIELD of B, and empties it. */
static void put_message(bn_text *b, unsigned field, bn_text *message)
{
    put_bytes(b, field, message->data, message->length);
    bn_text_free(message);
}

/* Field numbers of xplane.proto. */
enum { SPACE_PLANES = 1 };
enum { PLANE_ID = 1, PLANE_NAME, PLANE_LINES, PLANE_EVENT_METADATA, PLANE_STAT_METADATA };
enum { LINE_ID = 1, LINE_NAME, LINE_TIMESTAMP_NS, LINE_EVENTS };
enum { EVENT_METADATA_ID = 1, EVENT_OFFSET_PS, EVENT_DURATION_PS };
enum { METADATA_ID = 1, METADATA_NAME, METADATA_STATS = 5 };
enum { STAT_METADATA_ID = 1, STAT_STR_VALUE = 5 };
enum { MAP_KEY = 1, MAP_VALUE };

/* The kind of a row's event: the first row of the same name on its device. */
static size_t kind_of(size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (profile.rows[i].device == profile.rows[row].device &&
            strcmp(profile.rows[i].name, profile.rows[row].name) == 0)
            return i;
    return row;
}

static void put_event(bn_text *line, uint64_t kind, uint64_t offset_ps, uint64_t duration_ps)
{
    bn_text event = {0};
    put_number(&event, EVENT_METADATA_ID, kind);
    put_number(&event, EVENT_OFFSET_PS, offset_ps);
    put_number(&event, EVENT_DURATION_PS, duration_ps);
    put_message(line, LINE_EVENTS, &event);
}

/* The groups of row I, in their order, as long as the model says; together they fill its span. */
static void put_ops(bn_text *line, size_t i, uint64_t origin_ns)
{
    const span_row *row = &profile.rows[i];
    const PJRT_Executable *x = row->executable;
    const double span_ps = (double)(row->span.end_ns - row->span.start_ns) * 1000;
    const uint64_t start_ps = (row->span.start_ns - origin_ns) * 1000;
    double sum_us = 0, done_us = 0;
    for (size_t g = 0; g < x->cost.group_count; g++)
        sum_us += x->group_us[g];
    for (size_t g = 0; g < x->cost.group_count && sum_us > 0; g++) {
        const uint64_t begin = (uint64_t)(span_ps * (done_us / sum_us));
        done_us += x->group_us[g];
        const uint64_t end = (uint64_t)(span_ps * (done_us / sum_us));
        put_event(line, profile.rows[row->kind].first_op + g, start_ps + begin, end - begin);
    }
}

static void put_line(bn_text *plane, int device, uint64_t origin_ns, bool ops)
{
    static const char *const names[] = {"XLA Modules", "XLA Ops"};
    bn_text line = {0};
    put_number(&line, LINE_ID, ops ? 2 : 1);
    put_bytes(&line, LINE_NAME, names[ops], strlen(names[ops]));
    put_number(&line, LINE_TIMESTAMP_NS, origin_ns);
    for (size_t i = 0; i < profile.count; i++) {
        const span_row *row = &profile.rows[i];
        if (row->device == device && ops)
            put_ops(&line, i, origin_ns);
        else if (row->device == device)
            put_event(&line, row->kind + 1, (row->span.start_ns - origin_ns) * 1000,
                      (row->span.end_ns - row->span.start_ns) * 1000);
    }
    put_message(plane, PLANE_LINES, &line);
}

/* An entry of the plane's map FIELD; PLACE, unless it is NULL, is its statistic tf_op. */
static void put_entry(bn_text *plane, unsigned field, uint64_t id, const char *name,
                      const char *place)
{
    bn_text entry = {0}, metadata = {0}, stat = {0};
    put_number(&entry, MAP_KEY, id);
    put_number(&metadata, METADATA_ID, id);
    put_bytes(&metadata, METADATA_NAME, name, strlen(name));
    if (place) {
        put_number(&stat, STAT_METADATA_ID, 1);
        put_bytes(&stat, STAT_STR_VALUE, place, strlen(place));
        put_message(&metadata, METADATA_STATS, &stat);
    }
    put_message(&entry, MAP_VALUE, &metadata);
    put_message(plane, field, &entry);
}

static void put_groups(bn_text *plane, const span_row *row)
{
    const sim_cost *cost = &row->executable->cost;
    for (size_t g = 0; g < cost->group_count; g++) {
        const char *place = cost->groups[g].place;
        char name[64];
        snprintf(name, sizeof name, "%.40s.%zu", sim_op_name(cost->groups[g].anchor), g);
        put_entry(plane, PLANE_EVENT_METADATA, row->first_op + g, name,
                  place && *place ? place : NULL);
    }
}

static void put_kinds(bn_text *plane, int device)
{
    for (size_t i = 0; i < profile.count; i++) {
        if (profile.rows[i].device != device || profile.rows[i].kind != i)
            continue;
        put_entry(plane, PLANE_EVENT_METADATA, i + 1, profile.rows[i].name, NULL);
        put_groups(plane, &profile.rows[i]);
    }
    put_entry(plane, PLANE_STAT_METADATA, 1, "tf_op", NULL);
}

static bn_text write_space(void)
{
    bn_text space = {0};
    int devices = 0;
    uint64_t origin_ns = UINT64_MAX, next_op = profile.count + 1;
    for (size_t i = 0; i < profile.count; i++) {
        span_row *row = &profile.rows[i];
        row->kind = kind_of(i);
        row->first_op = next_op;
        next_op += row->kind == i ? row->executable->cost.group_count : 0;
        devices = row->device >= devices ? row->device + 1 : devices;
        origin_ns = row->span.start_ns < origin_ns ? row->span.start_ns : origin_ns;
    }
    for (int device = 0; device < devices; device++) {
        bn_text plane = {0};
        char name[32];
        int length = snprintf(name, sizeof name, "/device:SIM:%d", device);
        put_number(&plane, PLANE_ID, (uint64_t)device + 1);
        put_bytes(&plane, PLANE_NAME, name, (size_t)length);
        put_line(&plane, device, origin_ns, false);
        put_line(&plane, device, origin_ns, true);
        put_kinds(&plane, device);
        put_message(&space, SPACE_PLANES, &plane);
    }
    return space;
}

/* ---- the extension ---------------------------------------------------------------------- */

/* Opaque in profiler_c_api.h; here the bytes to collect. */
typedef struct profiler {
    bn_text space;
    bool written;
} profiler;

typedef struct error_args {
    size_t struct_size;
    void *priv;
    PJRT_Error *error;
    const char *message; /* only in a call for the message */
    size_t message_size;
} error_args;

typedef struct code_args {
    size_t struct_size;
    void *priv;
    const PJRT_Error *error;
    int code;
} code_args;

typedef struct create_args {
    size_t struct_size;
    const char *options;
    size_t options_size;
    profiler *profiler;
} create_args;

typedef struct profiler_args {
    size_t struct_size;
    profiler *profiler;
    unsigned char *buffer; /* only in a call to collect */
    size_t buffer_size;
} profiler_args;

static void error_destroy(error_args *args)
{
    PJRT_Error_Destroy_Args destroy = {.error = args->error};
    sim_Error_Destroy(&destroy);
}

static void error_message(error_args *args)
{
    args->message = args->error->message;
    args->message_size = strlen(args->error->message);
}

static PJRT_Error *error_code(code_args *args)
{
    args->code = (int)args->error->code;
    return NULL;
}

static PJRT_Error *create(create_args *args)
{
    args->profiler = bn_zalloc(1, sizeof *args->profiler);
    return NULL;
}

static void forget(void)
{
    for (size_t i = 0; i < profile.count; i++)
        sim_executable_release(profile.rows[i].executable);
    free(profile.rows);
    profile.rows = NULL;
    profile.count = profile.room = 0;
}

static PJRT_Error *destroy(profiler_args *args)
{
    pthread_mutex_lock(&profile.lock);
    if (profile.owner == args->profiler) {
        profile.running = false;
        profile.owner = NULL;
        forget();
    }
    pthread_mutex_unlock(&profile.lock);
    bn_text_free(&args->profiler->space);
    free(args->profiler);
    return NULL;
}

static PJRT_Error *start(profiler_args *args)
{
    pthread_mutex_lock(&profile.lock);
    bool busy = profile.running;
    if (!busy) {
        forget();
        profile.owner = args->profiler;
        profile.running = true;
    }
    pthread_mutex_unlock(&profile.lock);
    return busy ? sim_error(SIM_FAILED_PRECONDITION, "a profile is being taken") : NULL;
}

static PJRT_Error *stop(profiler_args *args)
{
    pthread_mutex_lock(&profile.lock);
    profile.running = profile.running && profile.owner != args->profiler;
    pthread_mutex_unlock(&profile.lock);
    return NULL;
}

static PJRT_Error *collect(profiler_args *args)
{
    profiler *p = args->profiler;
    pthread_mutex_lock(&profile.lock);
    if (!p->written && profile.owner == p)
        p->space = write_space();
    p->written = true;
    pthread_mutex_unlock(&profile.lock);
    if (args->buffer && args->buffer_size >= p->space.length && p->space.length > 0)
        memcpy(args->buffer, p->space.data, p->space.length);
    args->buffer_size = p->space.length;
    return NULL;
}

/* The layout of PLUGIN_Profiler_Api. */
static const struct profiler_table {
    size_t struct_size;
    void *priv;
    void (*error_destroy)(error_args *);
    void (*error_message)(error_args *);
    PJRT_Error *(*error_code)(code_args *);
    PJRT_Error *(*create)(create_args *);
    PJRT_Error *(*destroy)(profiler_args *);
    PJRT_Error *(*start)(profiler_args *);
    PJRT_Error *(*stop)(profiler_args *);
    PJRT_Error *(*collect)(profiler_args *);
} table = {sizeof table, NULL,    error_destroy, error_message, error_code,
           create,       destroy, start,         stop,          collect};

static struct profiler_extension {
    PJRT_Extension_Base base;
    const struct profiler_table *table;
    int64_t trace_context;
} extension = {{sizeof(struct profiler_extension), PJRT_Extension_Type_Profiler, NULL}, &table, -1};

PJRT_Extension_Base *sim_profiler_extension = &extension.base;
