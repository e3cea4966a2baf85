/*
 * chrome.c - Chrome's trace event format, event by event. Where the file is an XSpace message, the
 * same calls make that.
 */
#include "results/traces/space_priv.h"

#include <stdlib.h>
#include <string.h>

#include "results/records/records.h"

#define REALS JSON_REAL_PRECISION(15)
/* Bytes that are kept before they are written. */
#define ROOM  (1 << 20)

bool res_trace_is_space(const char *path)
{
    static const char end[] = ".pb";
    const size_t length = strlen(path), tail = sizeof end - 1;
    return length > tail && strcmp(path + length - tail, end) == 0;
}

void res_trace_into_space(res_trace *t)
{
    t->space = res_space_new();
}

void res_trace_plane(res_trace *t, uint64_t process, const char *plane)
{
    if (t->space)
        res_space_plane(t->space, process, plane);
}

void res_trace_number(res_trace *t, uint64_t number)
{
    if (t->space)
        res_space_number(t->space, number);
}

void res_trace_free(res_trace *t)
{
    res_space_free(t->space);
    t->space = NULL;
    bn_text_free(&t->text);
}

char *res_trace_quote(const char *text)
{
    json_t *json = res_json_text(text);
    char *dump = json_dumps(json, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    json_decref(json);
    return dump;
}

static void flush(res_trace *t)
{
    if (!t->writer)
        return;
    if (t->code == BN_OK && t->text.length > 0)
        t->code = bn_writer_add(t->writer, t->text.data, t->text.length, t->st);
    bn_text_clear(&t->text);
}

void res_trace_head(res_trace *t, json_t *other)
{
    char *text = json_dumps(other, JSON_ENSURE_ASCII | REALS);
    bn_text_printf(&t->text, "{\"displayTimeUnit\":\"ns\",\n\"otherData\":%s,\n\"traceEvents\":[",
                   text);
    free(text);
    json_decref(other);
}

/* Begins an event. Of an XSpace message it is written to nowhere. */
static void next_event(res_trace *t)
{
    if (t->space)
        bn_text_clear(&t->text);
    if (t->text.length > ROOM)
        flush(t);
    bn_text_puts(&t->text, t->some ? ",\n{" : "\n{");
    t->some = true;
}

/* ,"NAME":12.345 */
static void put_us(res_trace *t, const char *name, uint64_t ns)
{
    bn_text_printf(&t->text, ",\"%s\":%llu.%03u", name, (unsigned long long)(ns / 1000),
                   (unsigned)(ns % 1000));
}

void res_trace_event(res_trace *t, const char *name, char kind, uint64_t process, uint64_t lane,
                     uint64_t at_ns)
{
    next_event(t);
    bn_text_printf(&t->text, "\"name\":%s,\"ph\":\"%c\",\"pid\":%llu,\"tid\":%llu", name, kind,
                   (unsigned long long)process, (unsigned long long)lane);
    put_us(t, "ts", at_ns > t->from_ns ? at_ns - t->from_ns : 0);
}

void res_trace_slice(res_trace *t, const char *name, uint64_t process, uint64_t lane,
                     uint64_t begin_ns, uint64_t end_ns)
{
    if (t->space)
        res_space_slice(t->space, name, process, lane, begin_ns, end_ns);
    res_trace_event(t, name, 'X', process, lane, begin_ns);
    put_us(t, "dur", end_ns > begin_ns ? end_ns - begin_ns : 0);
}

void res_trace_flow(res_trace *t, bool arrives, uint64_t process, uint64_t lane, uint64_t at_ns,
                    uint64_t id)
{
    res_trace_event(t, "\"dispatch\"", arrives ? 'f' : 's', process, lane, at_ns);
    bn_text_printf(&t->text, ",\"cat\":\"dispatch\"%s,\"id\":%llu}", arrives ? ",\"bp\":\"e\"" : "",
                   (unsigned long long)id);
}

void res_trace_name(res_trace *t, const char *what, uint64_t process, uint64_t lane,
                    const char *name)
{
    char *text = res_trace_quote(name);
    if (t->space)
        res_space_line(t->space, process, lane, name);
    next_event(t);
    bn_text_printf(&t->text,
                   "\"name\":\"%s\",\"ph\":\"M\",\"pid\":%llu,\"tid\":%llu,\"args\":{\"name\":%s}}",
                   what, (unsigned long long)process, (unsigned long long)lane, text);
    free(text);
}

void res_trace_tail(res_trace *t)
{
    bn_text_puts(&t->text, "\n]}\n");
    if (t->space) {
        bn_text_clear(&t->text);
        if (t->code == BN_OK)
            t->code = res_space_put(t->space, t->from_ns, &t->text, t->st);
    }
    flush(t);
}
