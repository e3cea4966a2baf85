/*
 * check.c - the one check of a record's contents. A record is foreign until it has passed: a file
 * of the store, a line of the index, an import. After that it can be printed, counted, added up and
 * used in the name of a file.
 *
 * Ids, digests and numbers must be in order, or the record is refused. Texts for people are made
 * plain: old records have messages of several lines.
 */
#include "results/records/estimates.h"
#include "results/records/records_priv.h"

#include <math.h>
#include <string.h>

/* Nothing of ours is more often, or larger in bytes. */
#define MOST_COUNT (INT64_C(1) << 53)
/* More than the operations of any step. */
#define MOST_REAL  1e30

bool res_is_digest(const char *text)
{
    const size_t length = strlen(text);
    return length == 0 ||
           (length == BN_SHA256_TEXT - 1 && strspn(text, "0123456789abcdef") == length);
}

bool res_time_fits(double ns, double least)
{
    return isnan(ns) || (ns >= least && ns <= (double)RES_MOST_NS);
}

/* ---- texts ------------------------------------------------------------------------ */

/* Makes TEXT plain, in its place: what bn_plain shows of a character is never longer than it. */
static void make_plain(char *text)
{
    const char *shown;
    char *to = text;
    size_t length;
    for (const char *at = text; *at;) {
        at += bn_plain_next(at, &shown, &length);
        memmove(to, shown, length);
        to += length;
    }
    *to = '\0';
}

/* Digests of the provenance, and its texts that are printed, matched or part of a file's name. What
 * has no text has none. */
static bn_code check_members(res_record *r, bn_status *st)
{
    for (int i = 0; i < RES_PROV_COUNT; i++) {
        const res_provenance_row *row = &res_provenance_rows[i];
        const char *text = res_provenance_text(r, (res_provenance_id)i);
        char plain[4096];
        if (row->kind == RES_PROV_KIND_DIGEST && !res_is_digest(text))
            return bn_fail(st, BN_FORMAT, "its %s is no digest", row->path);
        if (row->most == 0 || (bn_is_plain(text) && strlen(text) <= row->most))
            continue;
        bn_plain(text, plain, row->most + 1);
        res_provenance_set(r, (res_provenance_id)i, json_string(plain));
    }
    return BN_OK;
}

/* ---- the explanation --------------------------------------------------------------- */

#define MOST_WORD 255 /* bytes of one of its texts */

/* Makes the text KEY of OBJECT plain, and cuts it. Numbers of members that may be either, and what
 * is null, stay. */
static bn_code plain_word(json_t *object, const char *key, bool may_be_number, bn_status *st)
{
    const json_t *value = json_object_get(object, key);
    const char *text = json_string_value(value);
    char plain[MOST_WORD + 1];
    if (!value || json_is_null(value) || (may_be_number && json_is_integer(value)))
        return BN_OK;
    if (!text)
        return bn_fail(st, BN_FORMAT, "its explanation has a %s that is no text", key);
    if (bn_is_plain(text) && strlen(text) <= MOST_WORD)
        return BN_OK;
    bn_plain(text, plain, sizeof plain);
    json_object_set_new(object, key, json_string(plain));
    return BN_OK;
}

/* One finding of the explanation. */
static bn_code check_finding(json_t *one, bn_status *st)
{
    static const char *const words[] = {"rule", "subject", "place", "scope",
                                        "op",   "reason",  "words"};
    static const char *const values[] = {"from", "to"};
    static const char *const counts[] = {"count", "others", "dimension"};
    bn_code code = BN_OK;
    if (!json_is_string(json_object_get(one, "rule")))
        return bn_fail(st, BN_FORMAT, "its explanation has a finding without a rule");
    for (size_t i = 0; i < sizeof words / sizeof *words && code == BN_OK; i++)
        code = plain_word(one, words[i], false, st);
    for (size_t i = 0; i < sizeof values / sizeof *values && code == BN_OK; i++)
        code = plain_word(one, values[i], true, st);
    for (size_t i = 0; i < sizeof counts / sizeof *counts && code == BN_OK; i++) {
        const json_t *count = json_object_get(one, counts[i]);
        const json_int_t number = json_integer_value(count);
        if (count && (!json_is_integer(count) || number < 0 || number > MOST_COUNT))
            code = bn_fail(st, BN_FORMAT, "its explanation has a %s out of range", counts[i]);
    }
    return code;
}

/* provenance.explanation, which doctor/why.c puts into words. */
static bn_code check_explanation(const res_record *r, bn_status *st)
{
    const json_t *list = res_provenance(r, RES_PROV_EXPLANATION_FINDINGS);
    bn_code code = BN_OK;
    if (res_provenance(r, RES_PROV_EXPLANATION) &&
        (!json_is_array(list) || json_array_size(list) > RES_MOST_WHY))
        return bn_fail(st, BN_FORMAT, "its explanation is not %d findings at most", RES_MOST_WHY);
    for (size_t i = 0; i < json_array_size(list) && code == BN_OK; i++)
        code = check_finding(json_array_get(list, i), st);
    return code;
}

/* provenance.host_ops, whose names are shown as those of counters. */
static bn_code check_host_ops(const res_record *r, bn_status *st)
{
    json_t *ops = res_provenance(r, RES_PROV_HOST_OPS), *value;
    const char *name;
    bn_code code = BN_OK;
    if (ops && (!json_is_object(ops) || json_object_size(ops) > RES_MOST_HOST_OPS))
        return bn_fail(st, BN_FORMAT, "its host_ops are not %d counters at most",
                       RES_MOST_HOST_OPS);
    json_object_foreach(ops, name, value)
    {
        const json_int_t count = json_is_integer(value) ? json_integer_value(value) : -1;
        if (count < 0 || count > MOST_COUNT || strlen(name) > 32 ||
            strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(name))
            code = bn_fail(st, BN_FORMAT, "its host_ops have an impossible name or count");
    }
    return code;
}

/* Whether each number of OBJECT, but its list "padding", is a count or a share. */
static bool has_counts(const json_t *object)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        const double number = json_is_number(value) ? json_number_value(value) : -1;
        if (strcmp(name, "padding") != 0 && !(number >= 0 && number <= MOST_COUNT))
            return false;
    }
    return json_is_object(object);
}

/* provenance.batches, which doctor/rule_variants.c reads. */
static bn_code check_batches(const res_record *r, bn_status *st)
{
    const json_t *batches = res_provenance(r, RES_PROV_BATCHES);
    const json_t *list = json_object_get(batches, "padding");
    bool good = !batches || (has_counts(batches) && json_is_array(list) &&
                             json_array_size(list) <= RES_MOST_BUCKETINGS);
    for (size_t i = 0; i < json_array_size(list) && good; i++)
        good = has_counts(json_array_get(list, i));
    return good ? BN_OK : bn_fail(st, BN_FORMAT, "its batches are not counts");
}

/* Whether VALUE is at most LEVELS deep. */
static bool is_shallow(json_t *value, int levels)
{
    const char *key;
    json_t *member;
    size_t index;
    if (!json_is_object(value) && !json_is_array(value))
        return true;
    if (levels == 0)
        return false;
    json_object_foreach(value, key, member)
    {
        if (!is_shallow(member, levels - 1))
            return false;
    }
    json_array_foreach(value, index, member)
    {
        if (!is_shallow(member, levels - 1))
            return false;
    }
    return true;
}

static bn_code check_provenance(res_record *r, bn_status *st)
{
    if (!is_shallow(r->provenance, BN_JSON_DEPTH))
        return bn_fail(st, BN_FORMAT, "its provenance is more than %d levels deep", BN_JSON_DEPTH);
    bn_code code = check_members(r, st);
    if (code == BN_OK)
        code = check_explanation(r, st);
    if (code == BN_OK)
        code = check_batches(r, st);
    return code == BN_OK ? check_host_ops(r, st) : code;
}

/* ---- fields ----------------------------------------------------------------------- */

static bool real_fits(const res_field *field, double value)
{
    const bool time = res_name_ends(field->name, "_ns");
    return isnan(value) || fabs(value) <= (time ? (double)RES_MOST_NS : MOST_REAL);
}

/* A field of an execution: counts are not negative, sizes at least -1, reals finite or unknown. */
static bool field_fits(const res_field *field, void *base)
{
    void *at = (char *)base + field->offset;
    switch (field->kind) {
    case RES_KIND_TEXT:
        make_plain(at);
        break;
    case RES_KIND_INT:
        return *(const int *)at >= 0;
    case RES_KIND_I64:
        return *(const int64_t *)at >= 0 && *(const int64_t *)at <= MOST_COUNT;
    case RES_KIND_AMOUNT:
        return *(const int64_t *)at >= -1 && *(const int64_t *)at <= MOST_COUNT;
    case RES_KIND_U64:
        return *(const uint64_t *)at <= RES_MOST_NS;
    case RES_KIND_REAL:
        return real_fits(field, *(const double *)at);
    case RES_KIND_BOOL:
    case RES_KIND_SOURCE:
        break;
    }
    return true;
}

bn_code res_experiment_check(res_experiment *e, bn_status *st)
{
    for (int i = 0; i < RES_AXIS_COUNT; i++) {
        const res_field *field = &res_axes[i].field;
        if (field->kind == RES_KIND_TEXT)
            make_plain((char *)e + field->offset);
        /* A seed may be any number, and wraps to below zero here. */
        else if (field->kind != RES_KIND_U64 && res_axis_number(&res_axes[i], e) < 0)
            return bn_fail(st, BN_FORMAT, "the experiment's %s is out of range", field->name);
    }
    return BN_OK;
}

/* ---- samples ---------------------------------------------------------------------- */

static bool times_fit(const uint64_t *ns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ns[i] > RES_MOST_NS)
            return false;
    return true;
}

/* Rounds and probes have members of this type only. */
#define WORDS_OF(type) (sizeof(type) / sizeof(uint64_t))

/* COUNT numbers of rounds or probes: times, counts, or RES_UNKNOWN. */
static bool numbers_fit(const uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] > RES_MOST_NS && numbers[i] != RES_UNKNOWN)
            return false;
    return true;
}

static bool counters_fit(const int64_t counters[BN_COUNTER_COUNT])
{
    for (int i = 0; i < BN_COUNTER_COUNT; i++)
        if (counters[i] < 0 || counters[i] > MOST_COUNT)
            return false;
    return true;
}

static bn_code check_execution(res_execution *x, bn_status *st)
{
    for (const res_field *field = res_execution_fields; field->name; field++)
        if (!field_fits(field, x))
            return bn_fail(st, BN_FORMAT, "an execution's %s is out of range", field->name);
    if (!times_fit(x->pjrt_ns, x->pjrt_count))
        return bn_fail(st, BN_FORMAT, "an execution took longer than 104 days");
    if (!numbers_fit((const uint64_t *)x->probes, x->probe_count * WORDS_OF(res_probe)))
        return bn_fail(st, BN_FORMAT, "a probe is out of range");
    return BN_OK;
}

/* The rounds have the steps that there are, each once. */
static bn_code check_rounds(const res_record *r, bn_status *st)
{
    size_t sum = 0;
    for (size_t i = 0; i < r->round_count; i++) {
        if (r->rounds[i].steps > r->step_count - sum)
            return bn_fail(st, BN_FORMAT, "its rounds have more steps than there are");
        sum += (size_t)r->rounds[i].steps;
    }
    if (r->round_count > 0 && sum != r->step_count)
        return bn_fail(st, BN_FORMAT, "its rounds do not have all steps");
    if (!numbers_fit((const uint64_t *)r->rounds, r->round_count * WORDS_OF(res_round)))
        return bn_fail(st, BN_FORMAT, "a round is out of range");
    return BN_OK;
}

static bn_code check_samples(const res_record *r, bn_status *st)
{
    if (!times_fit(r->wall_ns, r->step_count) || !times_fit(r->warmup_wall_ns, r->warmup_count))
        return bn_fail(st, BN_FORMAT, "a step took longer than 104 days");
    for (size_t i = 0; i < r->step_count; i++)
        if (r->wall_ns[i] == 0)
            return bn_fail(st, BN_FORMAT, "step %zu took 0 ns", i);
    if (!times_fit(r->part_ns, r->step_count * BN_PART_COUNT))
        return bn_fail(st, BN_FORMAT, "a part of a step took longer than 104 days");
    if (!counters_fit(r->counters) || !counters_fit(r->step_counters))
        return bn_fail(st, BN_FORMAT, "a counter is out of range");
    return check_rounds(r, st);
}

/* The member of FIGURES, of an estimate or one of its graphs, that should be a count and is none;
 * NULL: all are. */
static const char *lack_without_count(const json_t *figures)
{
    static const char *const names[] = {"untold_loops", "collectives", "silent"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const json_t *count = json_object_get(figures, names[i]);
        if (count && !(json_is_integer(count) && json_integer_value(count) >= 0))
            return names[i];
    }
    return NULL;
}

static bn_code check_lacks(const res_record *r, bn_status *st)
{
    const json_t *graphs = res_provenance(r, RES_PROV_ESTIMATE_GRAPHS);
    const char *bad = lack_without_count(res_record_estimate(r));
    for (size_t i = 0; i < json_array_size(graphs) && !bad; i++)
        bad = lack_without_count(json_array_get(graphs, i));
    return bad ? bn_fail(st, BN_FORMAT, "%s of its estimate is no count", bad) : BN_OK;
}

/* An estimate has its mark in the runtime's name, and no measured times. */
static bn_code check_estimate(const res_record *r, bn_status *st)
{
    const bool estimated = res_is_estimate(&r->experiment);
    size_t times = r->step_count + r->warmup_count;
    for (size_t i = 0; i < r->execution_count; i++) {
        const res_execution *x = &r->executions[i];
        times += x->pjrt_count + x->probe_count;
        times += x->device_source != BN_DEVICE_TIME_UNAVAILABLE;
    }
    if (estimated != (res_record_estimate(r) != NULL))
        return bn_fail(
            st, BN_FORMAT,
            "its runtime's name and its provenance disagree on whether it is an estimate");
    if (estimated && times > 0)
        return bn_fail(st, BN_FORMAT, "it is an estimate, and has measured times");
    return estimated ? check_lacks(r, st) : BN_OK;
}

bn_code res_record_check(res_record *r, bn_status *st)
{
    if (!res_id_names_a_file(r->id))
        return bn_fail(st, BN_FORMAT, "its id cannot be the name of a file");
    make_plain(r->values);
    make_plain(r->message);
    /* The loss of a training that diverged. */
    if (isinf(r->loss))
        r->loss = (double)NAN;
    bn_code code = check_samples(r, st);
    if (code == BN_OK)
        code = res_experiment_check(&r->experiment, st);
    for (size_t i = 0; i < r->execution_count && code == BN_OK; i++)
        code = check_execution(&r->executions[i], st);
    if (code == BN_OK)
        code = check_estimate(r, st);
    return code == BN_OK ? check_provenance(r, st) : code;
}
