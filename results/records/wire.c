/*
 * wire.c - a record as plain bytes, for another process of this program: what the child that reads
 * foreign files hands to its parent (vet.c).
 *
 * A file may have made anything of the child that read it, so the bytes are as foreign as the file.
 * But they are plain: no room is made for more than has come, texts end, and truth values and
 * choices are such. The rest is for res_record_check. One list of members serves both directions.
 */
#include "results/records/store_priv.h"

#include <stdlib.h>
#include <string.h>

/* Bytes on their way. The first failure sticks; what would have come is zero then. */
typedef struct wire {
    bn_text *out; /* bytes are put there; NULL: they are taken from AT */
    const char *at;
    size_t left;
    bool failed;
    bn_code code; /* of what failed but for the bytes themselves */
    bn_status *st;
} wire;

static void pass(wire *w, void *value, size_t size)
{
    if (size == 0)
        return;
    if (w->out) {
        bn_text_append(w->out, value, size);
    } else if (w->failed || size > w->left) {
        w->failed = true;
        memset(value, 0, size);
    } else {
        memcpy(value, w->at, size);
        w->at += size;
        w->left -= size;
    }
}

static void pass_text(wire *w, char *text, size_t size)
{
    pass(w, text, size);
    text[size - 1] = '\0';
}

static void pass_bool(wire *w, bool *value)
{
    unsigned char byte = w->out && *value ? 1 : 0;
    pass(w, &byte, sizeof byte);
    *value = byte == 1;
}

/* A number below COUNT; it comes from an enumeration and goes into one. */
static unsigned pass_choice(wire *w, unsigned value, unsigned count)
{
    pass(w, &value, sizeof value);
    w->failed = w->failed || value >= count;
    return value < count ? value : 0;
}

/* How many items follow, of at least EACH bytes. */
static size_t pass_count(wire *w, size_t count, size_t each)
{
    uint64_t number = count;
    pass(w, &number, sizeof number);
    if (w->out || number <= w->left / each)
        return (size_t)number;
    w->failed = true;
    return 0;
}

static void pass_fields(wire *w, const res_field *fields, void *base)
{
    for (const res_field *field = fields; field->name; field++) {
        void *value = (char *)base + field->offset;
        switch (field->kind) {
        case RES_KIND_TEXT:
            pass_text(w, value, field->size);
            break;
        case RES_KIND_INT:
        case RES_KIND_I64:
        case RES_KIND_AMOUNT:
        case RES_KIND_U64:
        case RES_KIND_REAL:
            pass(w, value, field->size);
            break;
        case RES_KIND_BOOL:
            pass_bool(w, value);
            break;
        case RES_KIND_SOURCE: {
            bn_device_time_source *source = value;
            *source = (bn_device_time_source)pass_choice(w, (unsigned)*source,
                                                         BN_DEVICE_TIME_SOURCE_COUNT);
            break;
        }
        }
    }
}

/* Whether the members that follow may be passed: nothing failed so far, room for them included. */
static bool fine(const wire *w)
{
    return !w->failed && w->code == BN_OK;
}

static void pass_samples(wire *w, res_record *r)
{
    const size_t steps = pass_count(w, r->step_count, (1 + BN_PART_COUNT) * sizeof(uint64_t));
    const size_t warmups = pass_count(w, r->warmup_count, sizeof(uint64_t));
    const size_t rounds = pass_count(w, r->round_count, sizeof(res_round));
    if (!w->out && fine(w))
        w->code = res_record_reserve_steps(r, steps, warmups, w->st);
    if (!w->out && fine(w) && rounds > 0)
        w->code = res_record_reserve_rounds(r, rounds, w->st);
    if (!fine(w))
        return;
    pass(w, r->wall_ns, steps * sizeof *r->wall_ns);
    pass(w, r->part_ns, steps * BN_PART_COUNT * sizeof *r->part_ns);
    pass(w, r->warmup_wall_ns, warmups * sizeof *r->warmup_wall_ns);
    pass(w, r->rounds, rounds * sizeof *r->rounds);
}

static void pass_execution(wire *w, res_execution *x)
{
    pass_fields(w, res_execution_fields, x);
    const size_t samples = pass_count(w, x->pjrt_count, sizeof *x->pjrt_ns);
    const size_t probes = pass_count(w, x->probe_count, sizeof *x->probes);
    if (!w->out && fine(w)) {
        x->pjrt_ns = calloc(samples + 1, sizeof *x->pjrt_ns);
        if (x->pjrt_ns)
            x->pjrt_count = samples;
        else
            w->code = bn_fail(w->st, BN_OUT_OF_MEMORY, "no memory for %zu samples", samples);
    }
    if (!w->out && fine(w) && probes > 0)
        w->code = res_execution_reserve_probes(x, probes, w->st);
    if (!fine(w))
        return;
    pass(w, x->pjrt_ns, samples * sizeof *x->pjrt_ns);
    pass(w, x->probes, probes * sizeof *x->probes);
}

static void pass_executions(wire *w, res_record *r)
{
    /* Each has texts that are longer than one of this length. */
    const size_t count = pass_count(w, r->execution_count, RES_TEXT);
    if (!w->out && fine(w))
        w->code = res_record_reserve_executions(r, count, w->st);
    for (size_t i = 0; i < count && fine(w); i++)
        pass_execution(w, &r->executions[i]);
}

/* All but the provenance. */
static void pass_record(wire *w, res_record *r)
{
    pass_text(w, r->id, sizeof r->id);
    pass_text(w, r->message, sizeof r->message);
    pass_text(w, r->values, sizeof r->values);
    r->status = (bn_code)pass_choice(w, (unsigned)r->status, BN_CODE_COUNT);
    pass_bool(w, &r->simulated);
    pass_bool(w, &r->warmup_stationary);
    pass(w, &r->loss, sizeof r->loss);
    pass(w, r->counters, sizeof r->counters);
    pass(w, r->step_counters, sizeof r->step_counters);
    pass_fields(w, res_experiment_fields, &r->experiment);
    pass_samples(w, r);
    pass_executions(w, r);
}

void res_wire_put(res_record *record, bn_text *out)
{
    wire w = {.out = out};
    char *text = json_dumps(record->provenance, JSON_COMPACT | JSON_ENSURE_ASCII);
    pass_record(&w, record);
    bn_text_puts(out, text);
    free(text);
}

bn_code res_wire_take(const char *bytes, size_t size, res_record **record, bn_status *st)
{
    wire w = {.at = bytes, .left = size, .st = st};
    json_t *provenance = NULL;
    res_record *r = res_record_new();
    pass_record(&w, r);
    if (fine(&w))
        w.code = res_json_parse(w.at, w.left, &provenance, st);
    if (w.code == BN_OK && (w.failed || !json_is_object(provenance)))
        w.code = bn_fail(st, BN_FORMAT, "these bytes are no record");
    if (w.code == BN_OK) {
        json_decref(r->provenance);
        r->provenance = json_incref(provenance);
        w.code = res_record_check(r, st);
    }
    json_decref(provenance);
    if (w.code == BN_OK)
        *record = r;
    else
        res_record_free(r);
    return w.code;
}
