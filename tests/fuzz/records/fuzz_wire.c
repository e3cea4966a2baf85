/*
 * fuzz_wire.c - a record's plain bytes, as the child that reads foreign files hands them over: a
 * file may have made anything of that child. The input is changes to the bytes of a good record, of
 * four bytes each: two for the place, how, and a value.
 */
#include "tests/fuzz/fuzz.h"

#include "results/records/store_priv.h"
#include "results/tables/tables.h"

/* The bytes of a good record: kept as long as this program runs. */
static const bn_text *good_bytes(void)
{
    static bn_text bytes;
    bn_status st = {.code = BN_OK};
    if (bytes.length > 0)
        return &bytes;
    res_record *record = res_record_new();
    fuzz_require(record && res_record_reserve_steps(record, 3, 2, &st) == BN_OK &&
                     res_record_reserve_rounds(record, 2, &st) == BN_OK &&
                     res_record_reserve_executions(record, 2, &st) == BN_OK &&
                     res_execution_reserve_probes(&record->executions[1], 2, &st) == BN_OK,
                 "no memory");
    strcpy(record->id, "20240101T000000Z-host-1-0");
    strcpy(record->experiment.model, "resnet18");
    for (size_t i = 0; i < 3; i++)
        record->wall_ns[i] = record->part_ns[i * BN_PART_COUNT] = 1000 + i;
    record->rounds[0].steps = 1;
    record->rounds[1].steps = 2;
    res_wire_put(record, &bytes);
    res_record_free(record);
    return &bytes;
}

/* One change to the SIZE bytes at BYTES; returns how many are left. */
static size_t change(char *bytes, size_t size, const uint8_t *how)
{
    const size_t at = ((size_t)how[0] | (size_t)how[1] << 8) % size;
    const size_t left = size - at < 8 ? size - at : 8;
    switch (how[2] % 5) {
    case 0:
        bytes[at] = (char)how[3];
        break;
    case 1: /* a number of all ones, or of none */
        memset(bytes + at, how[3] & 1 ? 0xFF : 0, left);
        break;
    case 2: /* cut off; at least one byte stays */
        return at ? at : 1;
    case 3:
        bytes[at] = (char)(bytes[at] + how[3]);
        break;
    default: /* a piece of elsewhere */
        memmove(bytes + at, bytes + (size_t)how[3] * 16 % (size - left + 1), left);
        break;
    }
    return size;
}

/* A record from the wire is put and taken again: the same JSON. */
static void check(res_record *record)
{
    bn_status st = {.code = BN_OK};
    bn_text again = {0}, table = {0};
    res_record *back = NULL;
    json_t *first = res_record_to_json(record);
    res_wire_put(record, &again);
    fuzz_require(res_wire_take(again.data, again.length, &back, &st) == BN_OK,
                 "it cannot be taken again");
    json_t *second = res_record_to_json(back);
    fuzz_require(first && second && json_equal(first, second), "it reads otherwise");
    res_table_record(record, RES_TABLE_TEXT, &table);
    bn_text_free(&table);
    bn_text_free(&again);
    json_decref(first);
    json_decref(second);
    res_record_free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bn_text *good = good_bytes();
    size_t length = good->length;
    bn_status st = {.code = BN_OK};
    res_record *record = NULL;
    /* So many bytes and no more: a sanitizer sees one that is read beyond them. */
    char *bytes = malloc(length);
    fuzz_require(bytes != NULL, "no memory");
    memcpy(bytes, good->data, length);
    for (size_t i = 0; i + 4 <= size && i < 64; i += 4)
        length = change(bytes, length, data + i);
    char *exact = malloc(length);
    fuzz_require(exact != NULL, "no memory");
    memcpy(exact, bytes, length);
    free(bytes);
    const bn_code code = res_wire_take(exact, length, &record, &st);
    fuzz_status(code, &st);
    fuzz_require((code == BN_OK) == (record != NULL), "a record of bytes that are none");
    fuzz_require(size >= 4 || code == BN_OK, "the good record is refused");
    if (record)
        check(record);
    res_record_free(record);
    free(exact);
    return 0;
}
