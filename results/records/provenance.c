/*
 * provenance.c - what a record says of the runtime and the machine that it comes from.
 */
#include "results/records/records_priv.h"

#include <string.h>

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

const char *res_runtime_text(const res_record *record, const char *name)
{
    return text_of(json_object_get(record->provenance, "runtime"), name);
}

const char *res_host_text(const res_record *record, const char *name)
{
    return text_of(json_object_get(record->provenance, "host"), name);
}

bool res_same_label(const char *a, const char *b)
{
    const char *left, *right;
    size_t left_length = 0, right_length = 0;
    while (*a && *b) {
        a += bn_plain_next(a, &left, &left_length);
        b += bn_plain_next(b, &right, &right_length);
        if (left_length != right_length || memcmp(left, right, left_length) != 0)
            return false;
    }
    return *a == *b;
}

const char *res_plugin_sha256(const res_record *record)
{
    return res_runtime_text(record, "sha256");
}

json_t *res_runtime_identity(const res_record *record)
{
    static const char *const members[] = {
        "path",     "sha256",           "api_version", "attributes", "label",
        "platform", "platform_version", "device",      "options",    "compile_flags"};
    const json_t *runtime = json_object_get(record->provenance, "runtime");
    json_t *identity = json_object();
    json_object_set_new(identity, "runtime", res_json_text(record->experiment.runtime));
    json_object_set_new(identity, "simulated", json_boolean(record->simulated));
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        json_t *value = json_object_get(runtime, members[i]);
        json_object_set_new(identity, members[i], value ? json_deep_copy(value) : json_null());
    }
    return identity;
}

const char *res_group_id(const res_record *record)
{
    const json_t *group = json_object_get(record->provenance, "group");
    const char *id = json_string_value(json_object_get(group, "id"));
    return id ? id : "";
}

int res_group_process(const res_record *record)
{
    const json_t *group = json_object_get(record->provenance, "group");
    const json_int_t process = json_integer_value(json_object_get(group, "process"));
    return process > 0 && process <= RES_MOST_REPETITIONS ? (int)process : 0;
}
