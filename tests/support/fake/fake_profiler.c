/*
 * fake_profiler.c - the fake's profiler: records the executions between start and stop and
 * hands them out as an XSpace.
 *
 * Source of the ABI: xla/backends/profiler/plugin/profiler_c_api.h of
 * openxla/xla. The errors are the same objects as the plugin's own.
 */
#include "tests/support/fake/fake.h"

enum { MAX_SPANS = 4096 };

/* Executions since the profiler was started. */
static struct span {
    uint64_t start_ns, duration_ns;
} spans[MAX_SPANS];
static size_t span_count;
static bool profiling;

void fake_profile_record(uint64_t start_ns, uint64_t duration_ns)
{
    if (profiling && span_count < MAX_SPANS)
        spans[span_count++] = (struct span){start_ns, duration_ns};
}

struct profiler_error_args {
    size_t struct_size;
    void *priv;
    PJRT_Error *error;
    const char *message; /* only in a call for the message */
    size_t message_size;
};

struct profiler_code_args {
    size_t struct_size;
    void *priv;
    const PJRT_Error *error;
    int code;
};

struct profiler_create_args {
    size_t struct_size;
    const char *options;
    size_t options_size;
    void *profiler;
};

struct profiler_args {
    size_t struct_size;
    void *profiler;
    unsigned char *buffer; /* only in a call to collect */
    size_t buffer_size;
};

static void profiler_error_destroy(struct profiler_error_args *args)
{
    fake_object_free(args->error);
}

static void profiler_error_message(struct profiler_error_args *args)
{
    args->message = args->error->message;
    args->message_size = strlen(args->error->message);
}

static PJRT_Error *profiler_error_code(struct profiler_code_args *args)
{
    args->code = (int)args->error->code;
    return NULL;
}

/* The profile being made. */
static unsigned char profile[MAX_SPANS * 32 + 256];

static size_t put_number(unsigned char *at, unsigned field, uint64_t value)
{
    size_t size = 0;
    at[size++] = (unsigned char)(field << 3);
    for (; value >= 0x80; value >>= 7)
        at[size++] = (unsigned char)(value | 0x80);
    at[size++] = (unsigned char)value;
    return size;
}

/* BYTES may lie behind AT in the same array. */
static size_t put_bytes(unsigned char *at, unsigned field, const void *bytes, size_t size)
{
    unsigned char head[16];
    size_t head_size = put_number(head, field, size);
    head[0] = (unsigned char)(field << 3 | 2);
    memmove(at + head_size, bytes, size);
    memcpy(at, head, head_size);
    return head_size + size;
}

/* An XSpace: one device plane with the recorded spans as modules, latest first
 * (readers must sort), a line of another name, and a plane of the host. */
static size_t profile_write(void)
{
    static unsigned char line[sizeof profile], plane[sizeof profile];
    uint64_t origin = span_count > 0 ? spans[0].start_ns : 0;
    size_t line_size = put_bytes(line, 2, "XLA Modules", 11);
    line_size += put_number(line + line_size, 3, origin);
    for (size_t i = span_count; i-- > 0;) {
        unsigned char event[64];
        size_t size = put_number(event, 1, 5);
        size += put_number(event + size, 2, (spans[i].start_ns - origin) * 1000);
        size += put_number(event + size, 3, spans[i].duration_ns * 1000);
        line_size += put_bytes(line + line_size, 4, event, size);
    }
    unsigned char name[32], entry[64];
    size_t name_size = put_number(name, 1, 5);
    name_size += put_bytes(name + name_size, 2, "jit_main(7)", 11);
    size_t entry_size = put_number(entry, 1, 5);
    entry_size += put_bytes(entry + entry_size, 2, name, name_size);

    size_t plane_size = put_bytes(plane, 2, "/device:FAKE:0", 14);
    plane_size += put_bytes(plane + plane_size, 3, line, line_size);
    plane_size += put_bytes(plane + plane_size, 4, entry, entry_size);
    size_t size = put_bytes(profile, 1, plane, plane_size);
    memcpy(plane + 2, "/host:", 6); /* the same under another name: not ours */
    return size + put_bytes(profile + size, 1, plane, plane_size);
}

static PJRT_Error *profiler_create(struct profiler_create_args *args)
{
    if (args->options_size == 0)
        return fake_error_new(PJRT_Error_Code_INVALID_ARGUMENT, "no options");
    args->profiler = fake_object_new(1);
    return NULL;
}

static PJRT_Error *profiler_destroy(struct profiler_args *args)
{
    profiling = false;
    fake_object_free(args->profiler);
    return NULL;
}

static PJRT_Error *profiler_start(struct profiler_args *args)
{
    (void)args;
    PJRT_Error *error = fake_error_if("profiler_error", "the fake profiler is busy");
    profiling = !error;
    span_count = 0;
    return error;
}

static PJRT_Error *profiler_stop(struct profiler_args *args)
{
    (void)args;
    profiling = false;
    return NULL;
}

static PJRT_Error *profiler_collect(struct profiler_args *args)
{
    size_t size = profile_write();
    if (args->buffer) {
        memcpy(args->buffer, profile, size);
        size += fake_ordered("collect_grows") ? 100 : 0;
    } else if (fake_ordered("collect_at_once")) {
        args->buffer = profile;
    }
    args->buffer_size = size + (fake_ordered("collect_one_more") ? 1 : 0);
    return NULL;
}

static const struct profiler_table {
    size_t struct_size;
    void *priv;
    void (*error_destroy)(struct profiler_error_args *);
    void (*error_message)(struct profiler_error_args *);
    PJRT_Error *(*error_code)(struct profiler_code_args *);
    PJRT_Error *(*create)(struct profiler_create_args *);
    PJRT_Error *(*destroy)(struct profiler_args *);
    PJRT_Error *(*start)(struct profiler_args *);
    PJRT_Error *(*stop)(struct profiler_args *);
    PJRT_Error *(*collect)(struct profiler_args *);
} profiler_table = {sizeof profiler_table,  NULL,
                    profiler_error_destroy, profiler_error_message,
                    profiler_error_code,    profiler_create,
                    profiler_destroy,       profiler_start,
                    profiler_stop,          profiler_collect};

static struct profiler_extension {
    PJRT_Extension_Base base;
    const struct profiler_table *table;
    int64_t trace_context;
} profiler_extension = {
    {sizeof(struct profiler_extension), PJRT_Extension_Type_Profiler, NULL}, &profiler_table, -1};

/* Another extension in front: the profiler must be searched for. */
PJRT_Extension_Base fake_first_extension = {sizeof fake_first_extension,
                                            PJRT_Extension_Type_Example, &profiler_extension.base};
