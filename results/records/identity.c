/*
 * identity.c - what makes two experiments the same one: a digest over every
 * member of the experiment, the runtime's SHA-256 and the number of the
 * repetition. See res_identity in results.h for what is left out.
 */
#include "results/records/records_priv.h"

/* "model=resnet50\n...": one line an axis, in the order of the table. */
static void members_text(const res_experiment *experiment, bn_text *out)
{
    for (int i = 0; i < RES_AXIS_COUNT; i++) {
        const res_axis *axis = &res_axes[i];
        if (axis->field.later && res_axis_is_usual(axis, experiment))
            continue;
        bn_text_printf(out, "%s=", axis->field.name);
        res_axis_put(axis, experiment, out);
        bn_text_putc(out, '\n');
    }
}

bn_code res_identity(const res_experiment *experiment, const char *runtime_sha256, int repetition,
                     char identity[BN_SHA256_TEXT], bn_status *st)
{
    bn_text text = {0};
    identity[0] = '\0';
    bn_text_puts(&text, "bench identity 1\n");
    members_text(experiment, &text);
    bn_text_printf(&text, "runtime_sha256=%s\nrepetition=%d\n", runtime_sha256, repetition);
    if (!text.failed)
        bn_sha256(text.data, text.length, identity);
    bn_text_free(&text);
    return identity[0] ? BN_OK : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for an identity");
}

int res_record_repetition(const res_record *record)
{
    const json_t *suite = json_object_get(record->provenance, "suite");
    const json_int_t n = json_integer_value(json_object_get(suite, "repetition"));
    return n > 0 && n <= RES_MOST_REPETITIONS ? (int)n : 0;
}

bool res_record_identity(const res_record *record, char identity[BN_SHA256_TEXT])
{
    const json_t *runtime = json_object_get(record->provenance, "runtime");
    const char *sha256 = json_string_value(json_object_get(runtime, "sha256"));
    const int repetition = res_record_repetition(record);
    identity[0] = '\0';
    return sha256 && repetition &&
           res_identity(&record->experiment, sha256, repetition, identity, NULL) == BN_OK;
}
