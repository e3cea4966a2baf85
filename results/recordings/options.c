/*
 * options.c - whether two serialized compile options ask for the same.
 *
 * They are a message of XLA's whose fields change from version to version, and what it has as maps is
 * written in another order by each process. So the messages are compared field by field without their
 * names, and runs of entries of a map in any order.
 */
#include "results/recordings/recordings_priv.h"
#include "runtime/wire/hlo.pb-c.h"

#include <stdlib.h>
#include <string.h>

/* XLA's options nest four deep. */
#define MOST_DEPTH 12

/* A field in the form that is compared. */
typedef struct field {
    uint32_t tag;
    bool is_entry; /* of a map: a message with fields 1 and 2 and no other */
    bn_text form;
} field;

static bool put_message(const uint8_t *bytes, size_t size, int depth, bool *is_entry, bn_text *out);

/* The bytes behind the length of VALUE. */
static const uint8_t *behind_length(const ProtobufCMessageUnknownField *value, size_t *size)
{
    size_t at = 0;
    while (at < value->len && value->data[at] & 0x80)
        at++;
    at = at < value->len ? at + 1 : at;
    *size = value->len - at;
    return value->data + at;
}

static void put_field(const ProtobufCMessageUnknownField *value, int depth, field *f)
{
    size_t size = 0;
    f->tag = value->tag;
    bn_text_printf(&f->form, "%u:%d:", value->tag, (int)value->wire_type);
    if (value->wire_type == PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED) {
        const uint8_t *bytes = behind_length(value, &size);
        if (size > 0 && depth < MOST_DEPTH &&
            put_message(bytes, size, depth + 1, &f->is_entry, &f->form))
            return;
        bn_text_append(&f->form, (const char *)bytes, size);
    } else {
        bn_text_append(&f->form, (const char *)value->data, value->len);
    }
}

static int by_form(const void *a, const void *b)
{
    const field *x = a, *y = b;
    const size_t common = x->form.length < y->form.length ? x->form.length : y->form.length;
    const int order = memcmp(x->form.data, y->form.data, common);
    return order ? order : (x->form.length > y->form.length) - (x->form.length < y->form.length);
}

/* Sorts each run of entries of one map. */
static void sort_maps(field *list, size_t count)
{
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        while (list[first].is_entry && end < count && list[end].is_entry &&
               list[end].tag == list[first].tag)
            end++;
        qsort(list + first, end - first, sizeof *list, by_form);
    }
}

/* Appends the message in the SIZE BYTES to OUT in the form that is compared; false, and nothing, where
 * they are none. */
static bool put_message(const uint8_t *bytes, size_t size, int depth, bool *is_entry, bn_text *out)
{
    Hlo__Wire__Any *any = hlo__wire__any__unpack(NULL, size, bytes);
    if (!any)
        return false;
    const size_t count = any->base.n_unknown_fields;
    field *list = bn_zalloc(count, sizeof *list);
    bool entry = count == 1 || count == 2;
    for (size_t i = 0; i < count; i++) {
        put_field(&any->base.unknown_fields[i], depth, &list[i]);
        entry = entry && list[i].tag <= 2;
    }
    sort_maps(list, count);
    bn_text_printf(out, "{%zu,", count);
    for (size_t i = 0; i < count; i++) {
        bn_text_printf(out, "%zu=", list[i].form.length);
        bn_text_append(out, list[i].form.data, list[i].form.length);
        bn_text_free(&list[i].form);
    }
    bn_text_puts(out, "}");
    *is_entry = entry;
    free(list);
    hlo__wire__any__free_unpacked(any, NULL);
    return true;
}

bool rec_options_alike(const void *a, size_t a_size, const void *b, size_t b_size)
{
    bn_text left = {0}, right = {0};
    bool entry;
    if (a_size == b_size && (a_size == 0 || memcmp(a, b, a_size) == 0))
        return true;
    const bool alike = put_message(a, a_size, 0, &entry, &left) &&
                       put_message(b, b_size, 0, &entry, &right) && left.length == right.length &&
                       memcmp(left.data, right.data, left.length) == 0;
    bn_text_free(&left);
    bn_text_free(&right);
    return alike;
}
