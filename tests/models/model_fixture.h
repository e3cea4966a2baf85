/*
 * model_fixture.h - instances and golden files for the tests of models.
 */
#ifndef BENCH_MODEL_FIXTURE_H
#define BENCH_MODEL_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/model_priv.h"
#include "tests/support/identifiers.h"

#ifndef GOLDEN_FOLDER
#define GOLDEN_FOLDER "tests/golden"
#endif

/* Every model there is, full and small where it has both: INDEX from 0 until false. */
typedef struct model_case {
    model_info info;
    bool small;
} model_case;

static inline bool case_at(size_t index, model_case *c)
{
    for (size_t i = 0; model_describe(i, &c->info); i++)
        for (int small = 0; small <= (int)c->info.has_small; small++)
            if (index-- == 0) {
                c->small = small;
                return true;
            }
    return false;
}

static inline model *make_model(const char *name, model_options options)
{
    bn_status st = {.code = BN_OK};
    model *m = NULL;
    if (!options.dtype)
        options.dtype = TG_F32;
    if (model_new(name, &options, &m, &st) != BN_OK)
        fail_msg("%s", st.message);
    return m;
}

/* Opens tests/golden/FOLDER<name>.<variant>.SUFFIX and gives its text. */
static inline char *golden_text(const char *folder, const char *name, bool small,
                                const char *suffix)
{
    bn_status st = {.code = BN_OK};
    char path[512], *text = NULL;
    size_t size;
    snprintf(path, sizeof path, GOLDEN_FOLDER "/%s%s.%s.%s", folder, name, small ? "small" : "full",
             suffix);
    if (bn_regular_read(path, &text, &size, &st) != BN_OK)
        fail_msg("%s (run from the repository's root)", st.message);
    return text;
}

static inline json_t *golden_json(const char *name, bool small)
{
    json_error_t error;
    char *text = golden_text("", name, small, "json");
    json_t *root = json_loads(text, 0, &error);
    free(text);
    if (!root)
        fail_msg("%s: %s", name, error.text);
    return root;
}

#endif
