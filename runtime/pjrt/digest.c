/*
 * digest.c - a digest that distinguishes optimized programs.
 *
 * Plugins of XLA give a program as a serialized HloModuleProto, alone ("hlo") or with its
 * configuration ("hlo_with_config": field 1, of two). Maps of protocol buffers have no
 * order of their own: the same program comes out as other bytes in each process. Two
 * places of a module are affected, the schedule's map and the debug options in the
 * configuration. So the module's fields and the entries of its schedule are digested one
 * by one and the digests added up, which no order changes, and the configuration is left
 * out. So is the module's id, which only counts the modules of the process. Field numbers are
 * those of xla/service/hlo.proto.
 */
#include "runtime/pjrt/pjrt_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HLO_MODULE               1 /* of the message with a configuration */
#define MODULE_COMPUTATIONS      3
#define MODULE_ID                5
#define MODULE_SCHEDULE          7
#define COMPUTATION_INSTRUCTIONS 2

typedef struct span {
    const unsigned char *at, *end;
} span;

/* One field of a message: all its bytes, and what is inside where it has a length. */
typedef struct field {
    uint64_t number;
    span whole, inside;
    bool has_inside;
} field;

static bool read_varint(span *s, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; s->at < s->end && shift < 64; shift += 7) {
        const unsigned char byte = *s->at++;
        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

/* The next field of S; false at its end and at bytes that are none, with *BAD set. */
static bool next_field(span *s, field *f, bool *bad)
{
    uint64_t tag, value;
    if (s->at == s->end)
        return false;
    *f = (field){.whole = {s->at, s->end}};
    *bad = true;
    if (!read_varint(s, &tag))
        return false;
    f->number = tag >> 3;
    const uint64_t room = (uint64_t)(s->end - s->at);
    switch (tag & 7) {
    case 0:
        if (!read_varint(s, &value))
            return false;
        break;
    case 1:
    case 5:
        value = (tag & 7) == 1 ? 8 : 4;
        if (value > room)
            return false;
        s->at += value;
        break;
    case 2:
        if (!read_varint(s, &value) || value > (uint64_t)(s->end - s->at))
            return false;
        f->inside = (span){s->at, s->at + value};
        f->has_inside = true;
        s->at += value;
        break;
    default:
        return false;
    }
    f->whole.end = s->at;
    *bad = false;
    return true;
}

static void add(rt_program_digest *digest, span s)
{
    char hex[BN_SHA256_TEXT];
    unsigned long long high, low;
    bn_sha256(s.at, (size_t)(s.end - s.at), hex);
    if (sscanf(hex, "%16llx%16llx", &high, &low) != 2)
        return;
    digest->sum[0] += high;
    digest->sum[1] += low;
}

static bool add_schedule(rt_program_digest *digest, span schedule)
{
    field entry;
    bool bad = false;
    while (next_field(&schedule, &entry, &bad))
        add(digest, entry.whole);
    return !bad;
}

static bool count_instructions(rt_program_digest *digest, span computation)
{
    field f;
    bool bad = false;
    while (next_field(&computation, &f, &bad))
        digest->instructions += f.number == COMPUTATION_INSTRUCTIONS && f.has_inside;
    return !bad;
}

static bool add_module(rt_program_digest *digest, span module)
{
    field f;
    bool bad = false;
    digest->instructions = 0;
    while (next_field(&module, &f, &bad)) {
        if (f.number == MODULE_ID)
            continue;
        if (f.number == MODULE_SCHEDULE && f.has_inside) {
            if (!add_schedule(digest, f.inside))
                return false;
            continue;
        }
        add(digest, f.whole);
        if (f.number == MODULE_COMPUTATIONS && f.has_inside &&
            !count_instructions(digest, f.inside))
            return false;
    }
    return !bad && digest->instructions > 0;
}

void rt_program_digest_of(const char *format, const void *bytes, size_t size,
                          rt_program_digest *digest)
{
    const span all = {bytes, (const unsigned char *)bytes + size};
    span rest = all;
    field f;
    bool bad = false, found = false;
    *digest = (rt_program_digest){.bytes = (int64_t)size};
    if (strcmp(format, "hlo") == 0)
        found = add_module(digest, all);
    else if (strcmp(format, "hlo_with_config") == 0)
        while (!found && next_field(&rest, &f, &bad))
            found = f.number == HLO_MODULE && f.has_inside && add_module(digest, f.inside);
    if (found)
        return;
    /* No module that we can read: its bytes as they are. */
    *digest = (rt_program_digest){.bytes = (int64_t)size, .instructions = -1};
    add(digest, all);
}

void rt_program_digest_put(const rt_program_digest *digest, char text[RT_DIGEST_TEXT])
{
    snprintf(text, RT_DIGEST_TEXT, "%016llx%016llx", (unsigned long long)digest->sum[0],
             (unsigned long long)digest->sum[1]);
}

bn_code rt_executable_digest(const rt_executable *executable, rt_program_digest *digest,
                             bn_status *st)
{
    char format[32];
    void *bytes = NULL;
    size_t size = 0;
    bn_code code = rt_executable_optimized(executable, format, &bytes, &size, st);
    if (code == BN_OK)
        rt_program_digest_of(format, bytes, size, digest);
    free(bytes);
    return code;
}
