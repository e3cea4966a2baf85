/*
 * why.c - the explanation of its steps that a record keeps (provenance.explanation, which
 * records/check.c has checked): which input, argument or branch had a program compiled, or which
 * value is read, and the source line. And the words for it.
 */
#include "results/doctor/doctor_priv.h"

#include <string.h>

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* ---- words -------------------------------------------------------------------------------------
 */

void res_why_put_where(const json_t *object, bn_text *out)
{
    const char *place = text_of(object, "place"), *scope = text_of(object, "scope");
    bn_text_puts(out, *place ? place : "an unknown location");
    if (*scope)
        bn_text_printf(out, " (%s)", scope);
}

void res_why_put_at(const json_t *object, bn_text *out)
{
    if (!*text_of(object, "place"))
        return;
    bn_text_puts(out, ", at ");
    res_why_put_where(object, out);
}

/* Text or number KEY of OBJECT. */
static void put_value(const json_t *object, const char *key, bn_text *out)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_string(value))
        bn_text_puts(out, json_string_value(value));
    else
        bn_text_int(out, (int64_t)json_integer_value(value));
}

static void put_from_to(const json_t *o, bn_text *out)
{
    put_value(o, "from", out);
    bn_text_puts(out, " -> ");
    put_value(o, "to", out);
}

/* Which input has another type. */
static void put_type_change(const char *cause, const json_t *o, bn_text *out)
{
    const long long others = (long long)json_integer_value(json_object_get(o, "others"));
    const json_t *dimension = json_object_get(o, "dimension");
    bn_text_printf(out, "%s of %s", cause, text_of(o, "subject"));
    if (dimension)
        bn_text_printf(out, ", dimension %lld", (long long)json_integer_value(dimension));
    if (others > 0)
        bn_text_printf(out, " (and of %lld more inputs)", others);
    bn_text_puts(out, ": ");
}

void res_why_put(const char *cause, const json_t *o, bn_text *out)
{
    const char *subject = text_of(o, "subject");
    if (strcmp(cause, "shape") == 0 || strcmp(cause, "dtype") == 0)
        put_type_change(cause, o, out);
    else if (strcmp(cause, "argument") == 0)
        bn_text_printf(out, "argument %s: ", subject);
    else if (strcmp(cause, "scalar") == 0)
        bn_text_printf(out, "scalar%s%s: ", *subject ? " " : "", subject);
    else if (strcmp(cause, "branch") == 0)
        bn_text_puts(out, "branch on a value that was read: ");
    else
        bn_text_puts(out, strcmp(cause, "same") == 0  ? "same program, different trace"
                          : strcmp(cause, "new") == 0 ? "no earlier step had this part"
                                                      : "different ops: ");
    if (json_object_get(o, "to"))
        put_from_to(o, out);
    bn_text_puts(out, text_of(o, "words"));
    res_why_put_at(o, out);
}

/* ---- causes ------------------------------------------------------------------------------------
 */

const res_remedy *res_remedy_at(size_t index)
{
    static const res_remedy remedies[] = {
        {"shape", "Pad to a few lengths (--buckets), so that a few graphs serve all batches."},
        {"dtype", "Convert before the step, so that the input keeps one dtype."},
        {"argument", "Each value has its own graph: group steps of one value, or make the value an "
                     "input of the graph."},
        {"scalar", "The value is a constant of the graph: make it a variable that is written "
                   "before the step."},
        {"branch", "Compute both sides on the device and select, instead of a branch on the host."},
        {"ops", "The step traces different ops: let it depend on types and arguments only."},
        {"same", "The program is the same and the trace before it differs: keep the ops before a "
                 "break the same."},
        {"new", "A part of the step is new: let all steps have the same parts."},
    };
    return index < sizeof remedies / sizeof *remedies ? &remedies[index] : NULL;
}

const char *res_remedy_for(const char *cause)
{
    const res_remedy *one;
    for (size_t i = 0; (one = res_remedy_at(i)); i++)
        if (strcmp(one->cause, cause) == 0)
            return one->advice;
    return "";
}

/* ---- what a record keeps -----------------------------------------------------------------------
 */

/* Whether no execution of a step before number INDEX of RECORD does the same part of the step. */
static bool is_first(const res_record *record, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (record->executions[i].per_step > 0 &&
            strcmp(record->executions[i].graph, record->executions[index].graph) == 0)
            return false;
    return true;
}

/* A step may be fewer graphs than were asked for: that of inference has no backward graph. So each
 * name counts as one, and of two graphs that breaks left of one some names may be new. */
double res_executions_added(const res_record *record)
{
    double executions = 0;
    int graphs = 0;
    for (size_t i = 0; i < record->execution_count; i++) {
        if (record->executions[i].per_step <= 0)
            continue;
        executions += res_execution_times(&record->executions[i]);
        graphs += graphs < record->experiment.graphs && is_first(record, i);
    }
    return executions - graphs;
}

const json_t *res_cause_of(const res_record *record, res_cause_test *is_cause, size_t *more)
{
    const json_t *list = res_provenance(record, RES_PROV_EXPLANATION_FINDINGS), *one, *most = NULL;
    size_t i, count = 0;
    json_array_foreach(list, i, one)
    {
        if (!is_cause(record, text_of(one, "rule")))
            continue;
        count++;
        if (!most || json_integer_value(json_object_get(one, "count")) >
                         json_integer_value(json_object_get(most, "count")))
            most = one;
    }
    *more = count > 0 ? count - 1 : 0;
    return most;
}

const json_t *res_pool_cause(const res_pool *pool, res_cause_test *is_cause, size_t *more)
{
    const json_t *why = NULL;
    *more = 0;
    for (size_t i = pool->count; i-- > 0 && !why;)
        if (pool->list[i].record)
            why = res_cause_of(pool->list[i].record, is_cause, more);
    return why;
}

/* Whether ENTRY is of a branch on the value that is read at the location of WHY. */
static bool is_branch_at(const json_t *entry, const json_t *why)
{
    const char *place = text_of(why, "place"), *scope = text_of(why, "scope");
    return *place && strcmp(text_of(entry, "rule"), "branch") == 0 &&
           strcmp(text_of(entry, "place"), place) == 0 &&
           strcmp(text_of(entry, "scope"), scope) == 0;
}

bool res_pool_branches(const res_pool *pool, const json_t *why)
{
    const json_t *one;
    bool found = false;
    for (size_t i = 0; i < pool->count && !found; i++) {
        const res_record *record = pool->list[i].record;
        const json_t *list = record ? res_provenance(record, RES_PROV_EXPLANATION_FINDINGS) : NULL;
        size_t k;
        json_array_foreach(list, k, one)
        {
            found = found || is_branch_at(one, why);
        }
    }
    return found;
}
