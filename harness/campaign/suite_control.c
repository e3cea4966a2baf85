/*
 * suite_control.c - experiments of a suite on another build of their runtime, measured together.
 */
#include "harness/campaign/suites_priv.h"

#include <stdio.h>
#include <string.h>

/* Gives the control the default option of clients of ITEM's runtime, which depends on the runtime's
 * name: a kept file may have another name. */
static bn_code add_usual_option(const suite_item *item, job_experiment *e, bn_status *st)
{
    const char *usual = job_usual_option(item->e.what.runtime, item->e.what.runtime);
    size_t count = 0;
    while (e->how.runtime_option[count])
        count++;
    if (!usual || job_usual_option(e->what.runtime, e->what.runtime))
        return BN_OK;
    for (size_t i = 0; i < count; i++)
        if (strncmp(e->how.runtime_option[i], usual, strcspn(usual, "=") + 1) == 0)
            return BN_OK;
    if (count == CLI_MAX_REPEATS)
        return bn_fail(st, BN_INVALID, "more than %d options of a runtime", CLI_MAX_REPEATS);
    e->how.runtime_option[count] = usual;
    return BN_OK;
}

bn_code suite_add_control(suite_spec *suite, suite_item *item, const char *file, const char *sha256,
                          const char *store, bn_status *st)
{
    suite_item *control = bn_arena_alloc(suite->arena, sizeof *control);
    const char *digest = bn_arena_strdup(suite->arena, sha256);
    *control = *item;
    if (strlen(file) >= sizeof control->resolved.runtime)
        return bn_fail(st, BN_INVALID, "the name %s is too long for an experiment", file);
    memset(control->resolved.runtime, 0, sizeof control->resolved.runtime);
    memcpy(control->resolved.runtime, file, strlen(file));
    control->sha256 = digest;
    control->control_of = item;
    /* Layout and the like are the item's, not those of a runtime of FILE's name. */
    control->e.what = control->resolved;
    control->plugin = control->e.what.runtime;
    control->e.how.label = "control";
    control->e.how.store = store;
    snprintf(control->title, sizeof control->title, "control: %.*s",
             BN_FIT(item->title, 300));
    bn_code code = add_usual_option(item, &control->e, st);
    if (code != BN_OK)
        return code;
    item->control = control;
    suite->control_store = store;
    return BN_OK;
}
