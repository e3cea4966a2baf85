/* weights.c - what a record says of the file that weights came from. */
#include "harness/worker/worker.h"

#define NAMED 16 /* unused tensors in a record; the rest is counted */

json_t *worker_weights_to_json(const char *file, const model_weights *weights)
{
    model_weights_info info;
    char names[NAMED][MODEL_WEIGHTS_NAME];
    json_t *unused = json_array();
    size_t count = model_weights_unused(weights, names, NAMED);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(unused, json_string(names[i]));
    model_weights_describe(weights, &info);
    return json_pack("{ss ss sI sI sI sI so}", "path", file, "sha256", info.sha256, "bytes",
                     (json_int_t)info.bytes, "tensors", (json_int_t)info.tensors, "used",
                     (json_int_t)info.used, "unused", (json_int_t)(info.tensors - info.used),
                     "unused_names", unused);
}
