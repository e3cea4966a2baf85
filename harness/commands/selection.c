/* selection.c - which records of a folder a command is asked about, and their series. */
#include "harness/commands/selection_priv.h"
#include "results/records/estimates.h"
#include "results/tables/tables.h"

#include <stdio.h>
#include <time.h>

static bool takes(const cli_list *list, const res_axis *axis, const res_experiment *e)
{
    if (list->count == 0)
        return true;
    if (axis->field.kind == RES_KIND_TEXT)
        return cli_list_has(list, res_axis_text(axis, e)) ||
               (axis->id == RES_AXIS_RUNTIME && cli_list_has(list, bn_base_name(e->runtime)));
    for (size_t i = 0; i < list->count; i++)
        if (list->value[i].number == res_axis_number(axis, e))
            return true;
    return false;
}

bool command_selected(const command_selection *selection, const res_experiment *e)
{
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        if (!takes(&selection->axis[i], &res_axes[i], e))
            return false;
    return true;
}

static bool wanted(void *context, const res_experiment *e)
{
    return command_selected(context, e);
}

/* ---- records ----------------------------------------------------------------------- */

/* For a large store that has no index yet. */
static void show_progress(void *context, size_t done, size_t of)
{
    (void)context;
    char text[80];
    snprintf(text, sizeof text, "reading records: %zu of %zu", done, of);
    if (cli_terminal())
        cli_line_show(text);
}

static bn_code no_records(const char *store, bn_status *st)
{
    return bn_fail(st, BN_NOT_FOUND,
                   "%s: no records are there; bench run --store DIR writes some, and --store names "
                   "their folder",
                   store);
}

void command_say_estimates(size_t count)
{
    if (count > 0)
        cli_say("bench: %zu record%s estimated, not measured, and left out here; bench table "
                "--table " RES_TABLE_ESTIMATES " has %s",
                count, count == 1 ? " is" : "s are", count == 1 ? "it" : "them");
}

/* Takes the estimates out of INDEX, into ESTIMATES unless it is NULL. */
static bn_code split_index(res_index *index, res_index *estimates, bn_status *st)
{
    const size_t before = index->count;
    bn_code code = res_index_split(index, estimates, st);
    if (code == BN_OK && !estimates)
        command_say_estimates(before - index->count);
    return code;
}

bn_code command_index_load(const char *store, bool rebuild, res_index *index, res_index *estimates,
                           bn_status *st)
{
    const res_index_options options = {.rebuild = rebuild, .progress = show_progress};
    bn_code code = res_index_load(store, &options, index, st);
    if (code == BN_OK && index->read > 0 && cli_terminal())
        cli_line_clear();
    if (code == BN_OK && index->count == 0 && index->damaged_count == 0) {
        res_index_free(index);
        return no_records(store, st);
    }
    return code == BN_OK ? split_index(index, estimates, st) : code;
}

static void say_misdates(const res_misdates *misdates)
{
    bn_text words = {0};
    res_put_misdates(misdates, &words);
    if (words.length > 0)
        cli_say("bench: %s", words.data);
    bn_text_free(&words);
}

bn_code command_all_read(const char *store, res_collection *all, bn_status *st)
{
    res_collection estimates = {0};
    bn_code code = res_store_load(store, all, st);
    if (code != BN_OK)
        return code;
    if (all->count == 0 && all->damaged_count == 0) {
        res_collection_free(all);
        return no_records(store, st);
    }
    res_misdates_drop(all, (double)time(NULL));
    say_misdates(&all->misdates);
    if (!res_estimates_split(all, &estimates)) {
        bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu records", all->count);
        res_collection_free(all);
        return BN_OUT_OF_MEMORY;
    }
    command_say_estimates(estimates.count);
    res_collection_free(&estimates);
    return BN_OK;
}

bn_code command_records_read(const command_selection *selection, const res_index *index,
                             res_collection *all, bn_status *st)
{
    const res_asked asked = {wanted, (void *)(uintptr_t)selection, (double)time(NULL)};
    bn_code code = res_newest_read(selection->store, index, &asked, all, st);
    if (code != BN_OK)
        return code;
    say_misdates(&all->misdates);
    if (all->count == 0 && all->damaged_count == 0)
        return bn_fail(st, BN_NOT_FOUND, "%s: none of %zu records is of what was asked for",
                       selection->store, index->count);
    return BN_OK;
}

/* The estimates of PART that SELECTION asks for; there may be none. */
static bn_code read_estimates(const command_selection *selection, const res_index *part,
                              res_collection *estimates, bn_status *st)
{
    const res_asked asked = {wanted, (void *)(uintptr_t)selection, (double)time(NULL)};
    bn_code code = res_newest_read(selection->store, part, &asked, estimates, st);
    if (code == BN_OK)
        say_misdates(&estimates->misdates);
    return code;
}

bn_code command_both_read(const command_selection *selection, const res_index *index,
                          const res_index *part, res_collection *all, res_collection *estimates,
                          bn_status *st)
{
    bn_code code = read_estimates(selection, part, estimates, st);
    if (code == BN_OK && all)
        code = command_records_read(selection, index, all, st);
    if (code == BN_NOT_FOUND && estimates->count > 0) {
        *st = (bn_status){.code = BN_OK};
        code = BN_OK;
    }
    if (code == BN_OK && !all && estimates->count == 0)
        code = bn_fail(st, BN_NOT_FOUND,
                       "%s: none of %zu records is an estimate that was asked for; bench estimate "
                       "--store DIR writes some",
                       selection->store, index->count + part->count);
    return code;
}

/* ---- series ------------------------------------------------------------------------ */

bn_code command_history_make(const command_selection *selection, const command_series *series,
                             const res_index *index, res_history *history, bn_status *st)
{
    res_history_options options = res_history_defaults();
    options.night_hours = series->night_hours;
    options.now_s = (double)time(NULL);
    options.change.level = series->level;
    options.change.least_effect = series->least_change;
    options.wanted = wanted;
    options.context = (void *)(uintptr_t)selection;
    bn_code code = res_metric_parse(series->metric, &options.metric, st);
    return code == BN_OK ? res_history_make(index, &options, history, st) : code;
}

bn_code command_newest_read(const command_selection *selection, res_collection *all, bn_status *st)
{
    res_index index = {0};
    bn_code code = command_index_load(selection->store, false, &index, NULL, st);
    if (code == BN_OK)
        code = command_records_read(selection, &index, all, st);
    res_index_free(&index);
    if (code == BN_OK)
        job_say_damaged(all->damaged, all->damaged_count);
    else
        res_collection_free(all);
    return code;
}
