/*
 * verify_entries.c - which files of golden values bench verify takes: --golden, --model,
 * --variant, --all.
 */
#define _GNU_SOURCE
#include "harness/verify/verify_entries_priv.h"
#include "models/model.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the folder ------------------------------------------------------------------ */

/* Looks next to the program, as built in the source tree and as installed. */
static bn_code find_folder(verify_entries *all, const verify_options *o, bn_status *st)
{
    static const char *const places[] = {"../tests/golden", "../share/bench/golden"};
    char self[3072];
    if (o->golden[0]) {
        snprintf(all->folder, sizeof all->folder, "%s", o->golden);
        return BN_OK;
    }
    bn_own_folder(self, sizeof self);
    for (size_t i = 0; self[0] && i < sizeof places / sizeof *places; i++) {
        snprintf(all->folder, sizeof all->folder, "%s/%s", self, places[i]);
        if (access(all->folder, R_OK | X_OK) == 0)
            return BN_OK;
    }
    return bn_fail(st, BN_NOT_FOUND,
                   "golden values are neither in ../tests/golden nor in ../share/bench/golden from "
                   "bench; name their folder with --golden");
}

/* Takes MODEL.VARIANT.json apart; false for other names. */
static bool parse_name(const char *file, verify_entry *e)
{
    const char *dot = strchr(file, '.');
    const char *end = dot ? strchr(dot + 1, '.') : NULL;
    if (!end || strcmp(end, ".json") != 0 || dot == file || end == dot + 1 ||
        dot - file >= VERIFY_ENTRY_NAME || end - dot > VERIFY_ENTRY_NAME)
        return false;
    *e = (verify_entry){0};
    memcpy(e->model, file, (size_t)(dot - file));
    memcpy(e->variant, dot + 1, (size_t)(end - dot - 1));
    return true;
}

static int by_name(const void *a, const void *b)
{
    const verify_entry *x = a, *y = b;
    int order = strcmp(x->model, y->model);
    return order ? order : strcmp(x->variant, y->variant);
}

static bn_code read_folder(verify_entries *all, bn_status *st)
{
    struct dirent **names = NULL;
    int count = scandir(all->folder, &names, NULL, alphasort);
    if (count < 0)
        return bn_fail_errno(st, errno, "golden values: %s", all->folder);
    all->list = bn_zalloc((size_t)count + 1, sizeof *all->list);
    for (int i = 0; i < count; i++) {
        all->count += parse_name(names[i]->d_name, &all->list[all->count]);
        free(names[i]);
    }
    free(names);
    qsort(all->list, all->count, sizeof *all->list, by_name);
    return BN_OK;
}

/* ---- choosing ------------------------------------------------------------------------ */

static bool model_known(const char *name)
{
    model_info info;
    for (size_t i = 0; model_describe(i, &info); i++)
        if (strcmp(info.name, name) == 0)
            return true;
    return false;
}

static bool in_list(const cli_list *list, const char *name)
{
    return cli_list_has(list, name) || cli_list_has(list, "all");
}

static const cli_list *variants_of(const verify_options *o)
{
    return &o->matrix.axis[RES_AXIS_VARIANT];
}

static bool folder_has(const verify_entries *all, const char *model_name, const char *variant)
{
    for (size_t i = 0; i < all->count; i++)
        if ((!model_name || strcmp(all->list[i].model, model_name) == 0) &&
            (!variant || strcmp(all->list[i].variant, variant) == 0))
            return true;
    return false;
}

static bn_code unknown_model(const char *name, bn_status *st)
{
    bn_text known = {0};
    char meant[RES_TEXT];
    const bool is_near = job_axis_meant(RES_AXIS_MODEL, name, meant);
    (void)job_axis_takes(RES_AXIS_MODEL, name, &known);
    bn_fail_meant(
        st, BN_INVALID,
        (bn_meant){is_near ? meant : NULL, "There is", known.data ? known.data : "another"},
        "--model: there is no '%s'", name);
    bn_text_free(&known);
    return BN_INVALID;
}

/* Whether models have a variant NAME; folders may have others. */
static bool variant_usual(const char *name)
{
    bn_text others = {0};
    const bool usual = job_axis_takes(RES_AXIS_VARIANT, name, &others);
    bn_text_free(&others);
    return usual || strcmp(name, "all") == 0;
}

static bn_code unknown_variant(const verify_entries *all, const char *name, bn_status *st)
{
    bn_text known = {0};
    bn_near near = bn_near_begin(name);
    for (size_t i = 0; i < all->count; i++) {
        bool new = true;
        bn_near_try(&near, all->list[i].variant);
        for (size_t k = 0; new &&k < i; k++)
            new = strcmp(all->list[k].variant, all->list[i].variant) != 0;
        if (new)
            bn_text_printf(&known, "%s%s", known.length ? ", " : "", all->list[i].variant);
    }
    bn_fail_meant(st, BN_INVALID,
                  (bn_meant){bn_near_best(&near), "It has", known.data ? known.data : "no entries"},
                  "--variant: %s has no '%s'", all->folder, name);
    bn_text_free(&known);
    return BN_INVALID;
}

static void refuse(verify_entries *all, const verify_entry *e, const char *why)
{
    cli_say("bench: %s.%s: not supported: %s", e->model, e->variant, why);
    all->refused = true;
}

/* Chooses the entries of a model that was named. */
static bn_code choose_model(verify_entries *all, const verify_options *o, const char *name,
                            bn_status *st)
{
    const cli_list *variants = variants_of(o);
    if (!model_known(name) && !folder_has(all, name, NULL))
        return unknown_model(name, st);
    for (size_t i = 0; model_known(name) && i < variants->count; i++) {
        const char *variant = variants->value[i].word;
        if (strcmp(variant, "all") != 0 && !folder_has(all, name, variant))
            return bn_fail(st, BN_NOT_FOUND, "%s has no %s.%s.json", all->folder, name, variant);
    }
    for (size_t i = 0; i < all->count; i++) {
        verify_entry *e = &all->list[i];
        if (strcmp(e->model, name) != 0 || !in_list(variants, e->variant))
            continue;
        if (!model_known(name))
            refuse(all, e, "bench has no model of that name");
        else
            e->chosen = true;
    }
    return BN_OK;
}

/* Chooses each entry of a model that bench has; others are named, and are no failure. With --all
 * the default of --variant stands for every variant. */
static void choose_all(verify_entries *all, const verify_options *o)
{
    const cli_list *variants = variants_of(o);
    const bool any = o->all && variants->count == 1 &&
                     strcmp(variants->value[0].word, res_axes[RES_AXIS_VARIANT].usual) == 0;
    for (size_t i = 0; i < all->count; i++) {
        verify_entry *e = &all->list[i];
        const bool wanted = any || in_list(variants, e->variant);
        e->chosen = wanted && model_known(e->model);
        if (wanted && !e->chosen)
            cli_say("bench: %s.%s: bench has no model of that name; left out", e->model,
                    e->variant);
    }
}

/* A --depth that is not that of E's golden values; 0: none. */
static int other_depth(const verify_entry *e, const cli_list *depths)
{
    model_info info = {0};
    for (size_t i = 0; model_describe(i, &info) && strcmp(info.name, e->model) != 0; i++)
        continue;
    const int own = strncmp(e->variant, "small", 5) == 0 ? info.small_depth : info.depth;
    for (size_t i = 0; i < depths->count; i++)
        if (depths->value[i].number && depths->value[i].number != own)
            return (int)depths->value[i].number;
    return 0;
}

/* Golden values are of one depth. An entry of another is refused where it was named, else left out.
 */
static void check_depths(verify_entries *all, const verify_options *o, bool by_name)
{
    for (size_t i = 0; i < all->count; i++) {
        verify_entry *e = &all->list[i];
        const int depth = e->chosen ? other_depth(e, &o->matrix.axis[RES_AXIS_DEPTH]) : 0;
        char why[96];
        if (!depth)
            continue;
        e->chosen = false;
        snprintf(why, sizeof why, "its golden values are not of --depth %d", depth);
        if (by_name)
            refuse(all, e, why);
        else
            cli_say("bench: %s.%s: %s; left out", e->model, e->variant, why);
    }
}

static bn_code choose(verify_entries *all, const verify_options *o, bn_status *st)
{
    const cli_list *models = &o->matrix.axis[RES_AXIS_MODEL], *variants = variants_of(o);
    bn_code code = BN_OK;
    for (size_t i = 0; code == BN_OK && i < variants->count; i++)
        if (!variant_usual(variants->value[i].word) &&
            !folder_has(all, NULL, variants->value[i].word))
            code = unknown_variant(all, variants->value[i].word, st);
    const bool by_name = !o->all && !(models->count == 1 && cli_list_has(models, "all"));
    if (code == BN_OK && !by_name)
        choose_all(all, o);
    for (size_t i = 0; code == BN_OK && by_name && i < models->count; i++)
        code = choose_model(all, o, models->value[i].word, st);
    if (code == BN_OK)
        check_depths(all, o, by_name);
    bool some = all->refused;
    for (size_t i = 0; i < all->count; i++)
        some = some || all->list[i].chosen;
    if (code == BN_OK && !some)
        code =
            bn_fail(st, BN_NOT_FOUND, "%s has no entry of a model that was asked for", all->folder);
    return code;
}

/* ---- all of it ----------------------------------------------------------------------------- */

bn_code verify_entries_choose(verify_entries *all, const verify_options *o, bn_status *st)
{
    *all = (verify_entries){0};
    bn_code code = find_folder(all, o, st);
    if (code == BN_OK)
        code = read_folder(all, st);
    if (code == BN_OK)
        code = choose(all, o, st);
    return code;
}

void verify_entries_free(verify_entries *all)
{
    free(all->list);
    *all = (verify_entries){0};
}

void verify_entry_path(const verify_entries *all, const verify_entry *e,
                       char path[VERIFY_ENTRY_PATH])
{
    snprintf(path, VERIFY_ENTRY_PATH, "%s/%s.%s.json", all->folder, e->model, e->variant);
}
