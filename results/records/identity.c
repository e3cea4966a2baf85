/*
 * identity.c - when two experiments are the same: by a digest over its axes, the runtime's SHA-256
 * and the number of the repetition; or but for the runtime; or but for the seed.
 */
#include "results/records/records_priv.h"

#include <string.h>

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

bool res_has_own_plugin(const res_experiment *e)
{
    const bool named = strcmp(e->runtime, "cuda") == 0 || strcmp(e->runtime, "tpu") == 0;
    return named && !res_is_ours(e);
}

bool res_plugin_unforeseen(const res_experiment *e)
{
    return res_has_own_plugin(e) && strcmp(e->runtime, "cuda") == 0;
}

void res_identity(const res_experiment *experiment, const char *runtime_sha256, int repetition,
                  char identity[BN_SHA256_TEXT])
{
    bn_text text = {0};
    bn_text_puts(&text, "bench identity 1\n");
    members_text(experiment, &text);
    bn_text_printf(&text, "runtime_sha256=%s\nrepetition=%d\n",
                   res_plugin_unforeseen(experiment) ? "" : runtime_sha256, repetition);
    bn_sha256(text.data, text.length, identity);
    bn_text_free(&text);
}

int res_record_repetition(const res_record *record)
{
    const int64_t n = res_provenance_integer(record, RES_PROV_SUITE_REPETITION, 0);
    return n > 0 && n <= RES_MOST_REPETITIONS ? (int)n : 0;
}

bool res_record_identity(const res_record *record, char identity[BN_SHA256_TEXT])
{
    const char *sha256 = json_string_value(res_provenance(record, RES_PROV_RUNTIME_SHA256));
    const int repetition = res_record_repetition(record);
    identity[0] = '\0';
    if (!repetition || (!sha256 && !res_plugin_unforeseen(&record->experiment)))
        return false;
    res_identity(&record->experiment, sha256 ? sha256 : "", repetition, identity);
    return true;
}

bool res_summary_identity(const res_index *index, const res_summary *summary,
                          char identity[BN_SHA256_TEXT])
{
    const res_experiment *e = index->experiments[summary->experiment];
    const char *sha256 = summary->origin->sha256;
    identity[0] = '\0';
    if (!summary->repetition || (!sha256[0] && !res_plugin_unforeseen(e)))
        return false;
    res_identity(e, sha256, summary->repetition, identity);
    return true;
}

/* ---- but for the runtime -------------------------------------------------------------- */

/* Whether A and B have the same values on all axes but those of LEFT_OUT. */
static bool same_but(const res_experiment *a, const res_experiment *b, res_axis_set left_out)
{
    for (int i = 0; i < RES_AXIS_COUNT; i++) {
        const res_field *field = &res_axes[i].field;
        const char *left = (const char *)a + field->offset;
        const char *right = (const char *)b + field->offset;
        if (!(RES_AXIS_BIT(i) & left_out) &&
            (field->kind == RES_KIND_TEXT ? strcmp(left, right) : memcmp(left, right, field->size)))
            return false;
    }
    return true;
}

bool res_same_experiment(const res_experiment *a, const res_experiment *b)
{
    return same_but(a, b, 0);
}

static const res_axis_set of_runtime =
    RES_AXIS_BIT(RES_AXIS_RUNTIME) | RES_AXIS_BIT(RES_AXIS_SETTINGS);

bool res_same_request(const res_experiment *a, const res_experiment *b)
{
    return same_but(a, b, of_runtime);
}

bool res_same_request_by_name(const res_experiment *a, const res_experiment *b)
{
    /* The variant of a program says which text it is. */
    const bool program = strcmp(a->phase, "program") == 0;
    return same_but(a, b, of_runtime | (program ? RES_AXIS_BIT(RES_AXIS_VARIANT) : 0));
}

/* ---- but for the seed -------------------------------------------------------------------- */

static int value_order(const res_axis *axis, const res_experiment *a, const res_experiment *b)
{
    if (axis->id == RES_AXIS_RUNTIME)
        return strcmp(bn_base_name(a->runtime), bn_base_name(b->runtime));
    if (axis->field.kind == RES_KIND_TEXT)
        return strcmp(res_axis_text(axis, a), res_axis_text(axis, b));
    const int64_t left = res_axis_number(axis, a), right = res_axis_number(axis, b);
    return (left > right) - (left < right);
}

int res_series_order(const res_experiment *a, const res_experiment *b)
{
    int order = 0;
    for (int i = 0; i < RES_AXIS_COUNT && order == 0; i++)
        if (res_axes[i].role != RES_ROLE_SEED)
            order = value_order(&res_axes[i], a, b);
    return order;
}
