/*
 * fuzz_import.c - lines of pytorch/xla's results, as anybody could have written them.
 * Lines that become records can be written, tabled and exported.
 */
#include "tests/fuzz/fuzz.h"

#include "results/records/records_priv.h"
#include "results/exports/exports.h"
#include "results/tables/tables.h"

static void use(const res_collection *all)
{
    static const char *const formats[] = {"google-benchmark", "pytorch-xla", "csv", "asv"};
    bn_text table = {0};
    for (size_t i = 0; i < all->count; i++) {
        const res_record *record = all->records[i];
        for (size_t step = 0; step < record->step_count; step++) {
            uint64_t sum = 0;
            for (size_t p = 0; p < BN_PART_COUNT; p++)
                sum += record->part_ns[step * BN_PART_COUNT + p];
            fuzz_require(sum == record->wall_ns[step], "parts that are not the wall time");
        }
    }
    res_table_speedup(all, RES_TABLE_HTML, &table);
    for (size_t i = 0; all->count > 0 && i < sizeof formats / sizeof *formats; i++) {
        bn_status st = {0};
        res_export export;
        fuzz_require(res_export_make(all, formats[i], &export, &st) == BN_OK, "no export");
        res_export_free(&export);
    }
    bn_text_free(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bn_status st = {0};
    res_collection all = {0};
    bn_text text = {0};
    bn_text_append(&text, (const char *)data, size);
    bn_text_putc(&text, '\0');
    bn_code code = res_import_lines("file", text.data, &all, &st);
    fuzz_status(code, &st);
    if (code == BN_OK && all.count <= 64)
        use(&all);
    res_collection_free(&all);
    bn_text_free(&text);
    return 0;
}
