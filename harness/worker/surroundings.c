/*
 * surroundings.c - changes of the plugin in this process, undone and recorded.
 */
#include "harness/worker/worker.h"

bn_code worker_surroundings_restore(const char *when, bn_status *st)
{
    /* Error handlers of GSL and HDF5, which a plugin may have replaced. */
    res_store_begin();
    return bn_surroundings_restore(when, st);
}

json_t *worker_surroundings_to_json(void)
{
    const bn_change *list;
    const size_t count = bn_surroundings_changes(&list);
    json_t *changes = count > 0 ? json_array() : NULL;
    for (size_t i = 0; i < count; i++)
        json_array_append_new(changes, json_pack("{ss ss ss sb}", "what",
                                                 bn_around_name(list[i].what), "when", list[i].when,
                                                 "detail", list[i].detail, "left", list[i].left));
    return changes;
}
