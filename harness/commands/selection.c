/* selection.c - the records of a folder that a command works on, and their series. */
#include "harness/commands/selection_priv.h"
#include "results/records/estimates.h"
#include "results/recordings/recordings.h"
#include "results/tables/tables.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

const cli_table *command_selection_table(void)
{
    static cli_option rows[RES_AXIS_COUNT + 1] = {
        JOB_STORE_ROW(offsetof(command_selection, store))};
    static const cli_table table = {rows, RES_AXIS_COUNT + 1};
    const cli_table *measured = job_axis_table();
    for (int i = 0; i < RES_AXIS_COUNT; i++) {
        const res_axis *axis = &res_axes[i];
        if (!axis->option || rows[i + 1].name)
            continue;
        rows[i + 1] = (cli_option){
            .name = axis->option,
            .argument = "VALUE,...",
            .kind = axis->field.kind == RES_KIND_TEXT ? CLI_NAMES : CLI_NUMBERS,
            .offset = offsetof(command_selection, axis) + (size_t)i * sizeof(cli_list),
            .values = measured->rows[i].values,
            .open = measured->rows[i].open,
            .about = COMMAND_ABOUT_AXES,
            .text = "only records with one of these values",
            .apart = true,
        };
    }
    return &table;
}

const cli_table *command_series_table(void)
{
    /* In the order of the bits COMMAND_SERIES_. */
    static const cli_option rows[] = {
        {"metric", "WHAT", CLI_TEXT, offsetof(command_series, metric), .fallback = "wall",
         .choices = RES_METRIC_NAMES,
         .text = "wall or device (a step), overhead (an execution), trace (a step), compile (all "
                 "graphs)"},
        {"level", "P", CLI_REAL, offsetof(command_series, level), .fallback = "0.05",
         .text = "probability of a false change point in a series that has none"},
        {"least-change", "R", CLI_REAL, offsetof(command_series, least_change), .fallback = "0.01",
         .text = "leave out smaller changes; 0.01 is 1 %"},
        {"night-hours", "TIME", CLI_HOURS, offsetof(command_series, night_hours), .fallback = "12",
         .about = COMMAND_ABOUT_SITE,
         .text = "records of one build within this time form one night: 12h, 90m (a number alone: "
                 "hours)"},
        {"reindex", NULL, CLI_FLAG, offsetof(command_series, reindex), .about = COMMAND_ABOUT_SITE,
         .text = "read every record again, whatever the store's index.tsv says"},
    };
    static const cli_table table = {rows, sizeof rows / sizeof *rows};
    return &table;
}

static bool is_value(const cli_value *value, const res_axis *axis, const res_experiment *e)
{
    if (axis->field.kind != RES_KIND_TEXT)
        return value->number == res_axis_number(axis, e);
    return strcmp(value->word, "all") == 0 || strcmp(value->word, res_axis_text(axis, e)) == 0 ||
           (axis->id == RES_AXIS_RUNTIME && strcmp(value->word, bn_base_name(e->runtime)) == 0);
}

static bool takes(const cli_list *list, const res_axis *axis, const res_experiment *e)
{
    for (size_t i = 0; i < list->count; i++)
        if (is_value(&list->value[i], axis, e))
            return true;
    return list->count == 0;
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

/* ---- words that no record has ---------------------------------------------------------- */

static bool has_value(const res_index *index, const cli_value *value, const res_axis *axis)
{
    for (size_t i = 0; i < index->experiment_count; i++)
        if (is_value(value, axis, index->experiments[i]))
            return true;
    return false;
}

/* Appends the values of AXIS that INDEX has to KNOWN, each once, and tries them in NEAR. */
static void try_values(const res_index *index, const res_axis *axis, bn_text *known, bn_near *near)
{
    bn_text value = {0};
    for (size_t i = 0; i < index->experiment_count; i++) {
        bn_text_clear(&value);
        if (axis->id == RES_AXIS_RUNTIME)
            bn_text_puts(&value, bn_base_name(index->experiments[i]->runtime));
        else
            res_axis_put(axis, index->experiments[i], &value);
        /* With a comma in it, it cannot be asked for. */
        if (value.length == 0 || strchr(value.data, ',') ||
            (known->data && bn_is_choice(value.data, known->data)))
            continue;
        bn_text_printf(known, "%s%s", known->length ? ", " : "", value.data);
        if (axis->field.kind == RES_KIND_TEXT) /* a number near another is no slip of the hand */
            bn_near_try(near, value.data);
    }
    bn_text_free(&value);
}

/* None of INDEX or of PART, which are called KIND, has VALUE of AXIS: suggests one that they have.
 */
static void refuse_value(const command_selection *selection, const char *kind,
                         const res_index *index, const res_index *part, const cli_value *value,
                         const res_axis *axis, bn_status *st)
{
    const char *called = job_axis_synonym(value->word);
    bn_text known = {0};
    bn_near near = bn_near_begin(called ? called : value->word);
    try_values(index, axis, &known, &near);
    try_values(part, axis, &known, &near);
    bn_fail_meant(st, BN_NOT_FOUND,
                  (bn_meant){bn_near_best(&near), "There is", known.data ? known.data : "none"},
                  "%s: none of %zu %s is of --%s %s", selection->store, index->count + part->count,
                  kind, axis->option, value->word);
    bn_text_free(&known);
}

/* Whether each value of SELECTION occurs in a record of INDEX or of PART, which may be NULL, or
 * there are no records. ST names the first that does not, with a suggestion; messages call the
 * records KIND. */
static bool all_known(const command_selection *selection, const char *kind, const res_index *index,
                      const res_index *part, bn_status *st)
{
    static const res_index nothing = {0};
    const res_index *other = part ? part : &nothing;
    for (int i = 0; i < RES_AXIS_COUNT && index->count + other->count > 0; i++) {
        const cli_list *list = &selection->axis[i];
        for (size_t k = 0; k < list->count; k++)
            if (!has_value(index, &list->value[k], &res_axes[i]) &&
                !has_value(other, &list->value[k], &res_axes[i])) {
                refuse_value(selection, kind, index, other, &list->value[k], &res_axes[i], st);
                return false;
            }
    }
    return true;
}

bn_code command_refuse_selection(const command_selection *selection, const res_index *index,
                                 bn_status *st)
{
    if (all_known(selection, "records", index, NULL, st))
        bn_fail(st, BN_NOT_FOUND, "%s: none of the %zu records has all selected values",
                selection->store, index->count);
    return BN_NOT_FOUND;
}

void command_say_unknown(const command_selection *selection, const res_index *index,
                         const res_index *part)
{
    bn_status unknown = {.code = BN_OK};
    if (!all_known(selection, "records", index, part, &unknown))
        cli_say("bench: %s", unknown.message);
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
    rec_recording *recording = NULL;
    bn_status ignored = {.code = BN_OK};
    if (res_store_not_sides(store, st) != BN_OK)
        return st->code;
    if (rec_open(store, &recording, &ignored) == BN_OK) {
        rec_close(recording);
        return bn_fail(st, BN_NOT_FOUND,
                       "%s is a recording, not a store of records; bench steps %s and bench doctor "
                       "%s read it, bench import --store DIR %s makes a record of it",
                       store, store, store, store);
    }
    return bn_fail(st, BN_NOT_FOUND,
                   "%s has no records; bench run --store %s writes some, or name another folder "
                   "with --store",
                   store, store);
}

void command_say_estimates(size_t count)
{
    if (count > 0)
        cli_say("bench: %zu record%s estimated, not measured, and left out here; bench table "
                "--table " RES_TABLE_ESTIMATES " shows %s",
                count, count == 1 ? " is" : "s are", count == 1 ? "it" : "them");
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
    if (code == BN_OK) {
        const size_t before = index->count;
        res_index_split(index, estimates);
        if (!estimates)
            command_say_estimates(before - index->count);
    }
    return code;
}

void command_say_index(const res_index *index)
{
    cli_note("%zu records, of which %zu files were read; the others are in the index", index->count,
             index->read);
    if (index->unsaved.code != BN_OK)
        cli_note("the index was not saved, so the next call reads them again: %s",
                 index->unsaved.message);
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
    res_estimates_split(all, &estimates);
    command_say_estimates(estimates.count);
    res_collection_free(&estimates);
    return BN_OK;
}

/* command_records_read with INDEX loaded. PART has further records, which are not read; it may
 * be NULL. */
static bn_code read_records(const command_selection *selection, const res_index *index,
                            const res_index *part, res_collection *all, bn_status *st)
{
    const res_asked asked = {wanted, (void *)(uintptr_t)selection, (double)time(NULL)};
    bn_code code = res_latest_read(selection->store, index, &asked, all, st);
    if (code != BN_OK)
        return code;
    say_misdates(&all->misdates);
    if (all->count == 0 && all->damaged_count == 0)
        return command_refuse_selection(selection, index, st);
    command_say_unknown(selection, index, part);
    return BN_OK;
}

bn_code command_records_read(const command_selection *selection, const res_index *index,
                             res_collection *all, bn_status *st)
{
    return read_records(selection, index, NULL, all, st);
}

/* The estimates of PART that SELECTION asks for; there may be none. */
static bn_code read_estimates(const command_selection *selection, const res_index *part,
                              res_collection *estimates, bn_status *st)
{
    const res_asked asked = {wanted, (void *)(uintptr_t)selection, (double)time(NULL)};
    bn_code code = res_latest_read(selection->store, part, &asked, estimates, st);
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
        code = read_records(selection, index, part, all, st);
    if (code == BN_NOT_FOUND && estimates->count > 0) {
        *st = (bn_status){.code = BN_OK};
        code = BN_OK;
    }
    if (code != BN_OK || all || estimates->count > 0)
        return code;
    if (all_known(selection, "estimates", part, NULL, st))
        bn_fail(st, BN_NOT_FOUND,
                "%s: none of %zu records is a selected estimate; bench estimate --store %s writes "
                "some",
                selection->store, index->count + part->count, selection->store);
    return BN_NOT_FOUND;
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

bn_code command_latest_read(const command_selection *selection, res_collection *all, bn_status *st)
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
