/*
 * night_sides.c - the runtimes of a night, and the night that each is compared with.
 *
 * The build of the last good night is measured again tonight, as a control of each experiment, so
 * that disturbances of the machine hit both. That doubles the time of a night with a new build. A
 * night with the build of the last one needs none: only the machine differs.
 *
 * A suite has few repetitions, and a large family needs many. So experiments that seem slower are
 * measured again by further passes of the suite, in the same folder and with more repetitions (see
 * res_tonight_next_interim). A suite skips finished runs, so a night that was killed continues
 * here, too.
 */
#include "harness/campaign/night_builds_priv.h"
#include "harness/campaign/night_priv.h"
#include "harness/cli/cli.h"
#include "results/records/estimates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static res_runs_of runs_of(const night_side *side)
{
    return (res_runs_of){.runtime = side->runtime,
                         .settings = side->by_settings ? side->settings : NULL,
                         .label = side->by_label ? side->label : NULL,
                         .own = side->own};
}

static bool of_side(const night_side *side, const res_experiment *e, const char *label)
{
    const res_runs_of runs = runs_of(side);
    return res_ran_on(e, &runs) && (!runs.label || res_same_label(label, runs.label));
}

bool night_is_of_side(const night_side *side, const res_record *record)
{
    return of_side(side, &record->experiment, res_provenance_text(record, RES_PROV_RUNTIME_LABEL));
}

/* ---- finding the sides ----------------------------------------------------------------- */

/* Whether the runtime of ITEM runs with other settings tonight, too, and as another file. */
static void compare_items(const suite_spec *suite, const suite_item *item, bool *settings,
                          bool *label)
{
    *settings = *label = false;
    for (size_t i = 0; i < suite->count; i++) {
        const suite_item *other = &suite->items[i];
        if (strcmp(bn_base_name(other->e.what.runtime), bn_base_name(item->e.what.runtime)) != 0 ||
            res_has_own_plugin(&other->e.what) != res_has_own_plugin(&item->e.what))
            continue;
        *settings = *settings || strcmp(other->e.what.settings, item->e.what.settings) != 0;
        *label = *label || (!res_has_own_plugin(&item->e.what) &&
                            strcmp(other->sha256, item->sha256) != 0);
    }
}

/* The side of ITEM; NULL: there is none yet. */
static night_side *side_of(const nightly *n, const suite_item *item)
{
    for (size_t i = 0; i < n->side_count; i++)
        if (of_side(&n->sides[i], &item->e.what, item->e.how.label))
            return &n->sides[i];
    return NULL;
}

static night_side *side_for(nightly *n, const suite_spec *suite, const suite_item *item)
{
    night_side *known = side_of(n, item);
    if (known)
        return known;
    night_side *side = &n->sides[n->side_count++];
    snprintf(side->runtime, sizeof side->runtime, "%s", bn_base_name(item->e.what.runtime));
    snprintf(side->settings, sizeof side->settings, "%s", item->e.what.settings);
    snprintf(side->label, sizeof side->label, "%s", item->e.how.label);
    snprintf(side->sha256, sizeof side->sha256, "%s", item->sha256);
    side->own = res_has_own_plugin(&item->e.what);
    side->reached = (size_t)item->repetitions;
    side->before_s = (double)NAN;
    compare_items(suite, item, &side->by_settings, &side->by_label);
    return side;
}

/* ---- the last good night ------------------------------------------------------------------ */

/* Reads the records NIGHT of SIDE's last good night. One that cannot be read is reported, counted
 * and left out. */
static bn_code read_before(nightly *n, night_side *side, const res_summary *const *night,
                           size_t count, bn_status *st)
{
    side->before.records = bn_zalloc(count + 1, sizeof(res_record *));
    for (size_t i = 0; i < count; i++) {
        bn_status why = {.code = BN_OK};
        if (res_summary_read(n->options->suites->store, &n->earlier, night[i],
                             &side->before.records[side->before.count], &why) == BN_OK)
            side->before.count++;
        else if (why.code == BN_OUT_OF_MEMORY)
            return bn_fail(st, why.code, "%s", why.message);
        else {
            night_note_add(n, NIGHT_NOTE_NOT_COMPARED, "not compared: %s", why.message);
            n->unread++;
        }
    }
    res_store_vet_end();
    return BN_OK;
}

static bn_code find_before(nightly *n, night_side *side, const res_night_of *tonight,
                           const char *sha256, bn_status *st)
{
    const res_index *index = &n->earlier;
    const res_runs_of runs = runs_of(side);
    const res_summary **night = bn_zalloc(index->count + 1, sizeof(const res_summary *));
    const size_t count = res_last_good_night(index, tonight, &runs, night);
    bn_code code = BN_OK;
    if (count > 0) {
        const res_summary *latest = night[count - 1];
        const char *settings = index->experiments[latest->experiment]->settings;
        side->before_s = res_id_time(latest->id);
        snprintf(side->before_sha256, sizeof side->before_sha256, "%s", latest->origin->sha256);
        snprintf(side->before_settings, sizeof side->before_settings, "%s", settings);
        side->same =
            strcmp(sha256, side->before_sha256) == 0 && strcmp(settings, side->settings) == 0;
        code = read_before(n, side, night, count, st);
    }
    free(night);
    return code;
}

/* ---- builds and controls --------------------------------------------------------------------- */

/* Finds the build to compare SIDE with, whose file tonight has the digest SHA256. */
static void find_control(const nightly *n, night_side *side, const char *sha256)
{
    bn_status st = {.code = BN_OK};
    if (side->before.count == 0 || side->same)
        return;
    if (side->own) {
        side->lack = NIGHT_LACK_OWN;
        bn_fail(&st, BN_INVALID, "its plugin is the framework's own");
    } else if (n->options->keep_builds == 0) {
        side->lack = NIGHT_LACK_KEEPING;
        bn_fail(&st, BN_INVALID, "builds are not kept");
    } else if (strcmp(sha256, side->before_sha256) == 0) {
        side->lack = NIGHT_LACK_OTHER;
        bn_fail(&st, BN_INVALID,
                "the file is the same, but its settings were '%s' and are '%s' now",
                side->before_settings, side->settings);
    } else {
        const bn_code code = night_build_find(n->options->suites->store, side->before_sha256,
                                              side->control, sizeof side->control, &st);
        side->lack = code == BN_OK          ? NIGHT_LACK_NOTHING
                     : code == BN_NOT_FOUND ? NIGHT_LACK_GONE
                     : code == BN_FORMAT    ? NIGHT_LACK_CHANGED
                                            : NIGHT_LACK_UNSAFE;
    }
    if (st.code != BN_OK) {
        side->control[0] = '\0';
        snprintf(side->why, sizeof side->why, "%s", st.message);
    }
}

/* Keeps the file of ITEM's runtime for a later night. */
static void keep_build(nightly *n, const suite_item *item)
{
    char file[PATH_MAX];
    bn_status st = {.code = BN_OK};
    bn_code code = BN_OK;
    if (n->options->keep_builds > 0)
        code = job_plugin_find(&item->e.what, file, &st);
    if (code == BN_OK && n->options->keep_builds > 0)
        code = night_build_keep(n->options->suites->store, file, item->sha256, &st);
    if (code != BN_OK)
        night_note_add(n, NIGHT_NOTE_BUILD_NOT_KEPT,
                       "this build cannot be kept for the next night: %s", st.message);
}

/* Whether the file of ITEM's runtime was kept for an item before it. */
static bool file_known(const nightly *n, const suite_spec *suite, const suite_item *item)
{
    for (const suite_item *other = suite->items; other < item; other++)
        if (suite_wanted(other->title, n->options->suites) &&
            !res_has_own_plugin(&other->e.what) && strcmp(other->sha256, item->sha256) == 0)
            return true;
    return false;
}

static void add_control(nightly *n, suite_spec *suite, suite_item *item, night_side *side)
{
    bn_status why = {.code = BN_OK};
    if (side->control[0] && suite_add_control(suite, item, side->control, side->before_sha256,
                                              n->place.controls, &why) != BN_OK) {
        side->lack = NIGHT_LACK_UNUSED;
        snprintf(side->why, sizeof side->why, "%s", why.message);
    }
}

/* ---- making ------------------------------------------------------------------------------------
 */

/* Makes the sides; ASKED gets the experiments of tonight. */
static bn_code make(nightly *n, suite_spec *suite, const res_night_of *tonight, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < suite->count && code == BN_OK; i++) {
        suite_item *item = &suite->items[i];
        const size_t before = n->side_count;
        if (!suite_wanted(item->title, n->options->suites))
            continue;
        night_side *side = side_for(n, suite, item);
        const size_t repetitions = (size_t)item->repetitions;
        side->asked++;
        side->reached = repetitions < side->reached ? repetitions : side->reached;
        side->interim = side->reached < res_plan_last(RES_NIGHT_PLAN);
        if (n->side_count > before) {
            code = find_before(n, side, tonight, item->sha256, st);
            if (code == BN_OK)
                find_control(n, side, item->sha256);
        }
        if (!side->own && !file_known(n, suite, item))
            keep_build(n, item);
        add_control(n, suite, item, side);
    }
    return code;
}

static bool is_asked(void *context, const res_experiment *experiment)
{
    const res_night_of *tonight = context;
    for (size_t i = 0; i < tonight->asked_count; i++)
        if (res_same_request(tonight->asked[i], experiment))
            return true;
    return false;
}

/* Plans the sides. Only a side without a control needs the history, which takes a while. */
static bn_code plan_sides(nightly *n, res_night_of *tonight, bn_status *st)
{
    res_history history = {0};
    bn_code code = BN_OK;
    for (size_t i = 0; i < n->side_count && code == BN_OK; i++) {
        night_side *side = &n->sides[i];
        const bool on_records = side->before.count > 0 && !side->same && !side->control[0];
        if (on_records && !history.series) {
            res_history_options o = res_history_defaults();
            o.night_hours = tonight->hours;
            o.now_s = tonight->now_s;
            o.change.level /= (double)tonight->asked_count;
            o.wanted = is_asked;
            o.context = tonight;
            code = res_history_make(&n->earlier, &o, &history, st);
        }
        const res_night_ahead ahead = {.before = &side->before,
                                       .history = on_records ? &history : NULL,
                                       .same = side->same,
                                       .control = side->control[0] != '\0',
                                       .cells = side->asked,
                                       .repetitions = side->reached,
                                       .interim = side->interim,
                                       .threshold = n->options->fail_if_slower};
        side->plan = res_night_plan_make(&ahead);
    }
    res_history_free(&history);
    return code;
}

bn_code night_sides_make(nightly *n, suite_spec *suite, bn_status *st)
{
    res_collection already = {0};
    const res_experiment **asked = bn_zalloc(suite->count + 1, sizeof(const res_experiment *));
    n->sides = bn_zalloc(suite->count + 1, sizeof *n->sides);
    for (size_t i = 0; i < suite->count; i++)
        if (suite_wanted(suite->items[i].title, n->options->suites))
            asked[n->asked++] = &suite->items[i].resolved;
    bn_code code = res_index_load(n->options->suites->store, NULL, &n->earlier, st);
    if (code == BN_OK)
        res_index_split(&n->earlier, NULL);
    /* A night that was killed late has records in the store already, which must not become the last
     * good night. */
    bn_status none = {.code = BN_OK};
    if (code == BN_OK && res_store_load(n->place.folder, &already, &none) != BN_OK) {
        already = (res_collection){0};
        if (none.code != BN_NOT_FOUND)
            code = bn_fail(st, none.code, "%s", none.message);
    }
    if (code == BN_OK) {
        night_count_lost(n, n->earlier.damaged, n->earlier.damaged_count);
        night_count_lost(n, already.damaged, already.damaged_count);
    }
    res_night_of tonight = {.asked = asked,
                            .asked_count = n->asked,
                            .records = &already,
                            .hours = n->options->night_hours,
                            .now_s = n->now_s};
    if (code == BN_OK)
        code = make(n, suite, &tonight, st);
    if (code == BN_OK)
        code = plan_sides(n, &tonight, st);
    for (size_t i = 0; i < n->side_count; i++)
        n->sides[i].lost = night_lost(n) > 0;
    res_collection_free(&already);
    /* A large store's index takes a hundred megabytes, and measuring begins. */
    res_index_free(&n->earlier);
    free(asked);
    return code;
}

/* ---- tonight's records -------------------------------------------------------------------------
 */

void night_sides_assign(nightly *n)
{
    for (size_t s = 0; s < n->side_count; s++) {
        night_side *side = &n->sides[s];
        free(side->tonight.records);
        free(side->again.records);
        side->tonight.count = side->again.count = 0;
        side->tonight.records = bn_zalloc(n->tonight.count + 1, sizeof(res_record *));
        side->again.records = bn_zalloc(n->controls.count + 1, sizeof(res_record *));
        for (size_t i = 0; i < n->tonight.count; i++) {
            res_record *r = n->tonight.records[i];
            if (res_record_good(r) && night_is_of_side(side, r))
                side->tonight.records[side->tonight.count++] = r;
        }
        for (size_t i = 0; i < n->controls.count; i++) {
            res_record *r = n->controls.records[i];
            if (side->control[0] && strcmp(r->experiment.runtime, side->control) == 0 &&
                (!side->by_settings || strcmp(r->experiment.settings, side->settings) == 0)) {
                if (res_record_good(r)) {
                    side->again.records[side->again.count++] = r;
                } else {
                    side->lack = NIGHT_LACK_FAILED;
                    snprintf(side->why, sizeof side->why, "it failed tonight: %s", r->message);
                }
            }
        }
    }
}

bn_code night_sides_judge(nightly *n, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < n->side_count && code == BN_OK; i++) {
        night_side *side = &n->sides[i];
        const res_tonight tonight = {.records = &side->tonight,
                                     .control = &side->again,
                                     .before = &side->before,
                                     .same = side->same,
                                     .history = &n->history,
                                     .threshold = n->options->fail_if_slower,
                                     .interim = side->interim};
        res_tonight_free(&side->verdict);
        code = res_tonight_judge(&tonight, &side->verdict, st);
    }
    return code;
}

void night_sides_forget(nightly *n)
{
    for (size_t i = 0; i < n->side_count; i++) {
        night_side *side = &n->sides[i];
        res_tonight_free(&side->verdict);
        side->tonight.count = side->again.count = 0;
    }
}

/* ---- further pairs -------------------------------------------------------------------------- */

/* Appends WHAT, and "1.2 % to 4.1 %" for several experiments. */
static void put_detectable(const res_night_plan *plan, const char *what, bn_text *line)
{
    bn_text_puts(line, what);
    if (plan->known > 1)
        bn_text_printf(line, "%s to ", res_percent(plan->least).text);
    bn_text_puts(line, res_percent(plan->detectable).text);
}

/* ": a verdict on 8 experiments, by up to 6 figures each, needs 6 pairs of each; ..." */
static void put_pairs(const night_side *side, bn_text *line)
{
    const res_night_plan *plan = &side->plan;
    bn_text_printf(line,
                   ": a verdict on %zu experiment%s, by up to %d figures each, needs %zu pairs of "
                   "each; the suite has %zu",
                   plan->cells, plan->cells == 1 ? "" : "s", RES_MEASURE_COUNT, plan->needed,
                   plan->pairs);
    if (plan->most > plan->pairs)
        bn_text_printf(line, ", and those that seem slower then get up to %zu", plan->most);
    if (plan->claims == RES_CLAIMS_FEW_PAIRS)
        bn_text_puts(line, ": this night cannot tell");
    else if (isfinite(plan->detectable))
        put_detectable(plan, "; smallest detectable slowdown (80 % power): ", line);
    else
        bn_text_puts(line,
                     "; the smallest detectable slowdown is unknown: too few processes in the "
                     "last good night");
}

static void put_plan(const night_side *side, bn_text *line)
{
    const res_night_plan *plan = &side->plan;
    switch (plan->claims) {
    case RES_CLAIMS_NO_BASELINE:
        bn_text_puts(line, ": this night cannot tell: there is no good night before");
        break;
    case RES_CLAIMS_SAME_BUILD:
        bn_text_puts(line, ": the build of the last good night, which is never slower than itself");
        break;
    case RES_CLAIMS_PAIRS:
    case RES_CLAIMS_FURTHER_PAIRS:
    case RES_CLAIMS_FEW_PAIRS:
        put_pairs(side, line);
        break;
    case RES_CLAIMS_TWO_NIGHTS:
        put_detectable(plan,
                       ": this night alone cannot tell, without a control; smallest slowdown that "
                       "two nights in a "
                       "row show (80 % power): ",
                       line);
        break;
    case RES_CLAIMS_FEW_NIGHTS:
        bn_text_printf(line,
                       ": this night cannot tell: without a control it takes %d nights to see how "
                       "nights vary",
                       RES_LEVEL_NIGHTS);
        break;
    }
}

void night_sides_announce(const nightly *n)
{
    for (size_t i = 0; i < n->side_count; i++) {
        bn_text line = {0};
        night_side_name(&n->sides[i], &line);
        put_plan(&n->sides[i], &line);
        cli_say("bench: %s", line.data);
        bn_text_free(&line);
    }
}

json_t *night_plans_json(const nightly *n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n->side_count; i++) {
        const res_night_plan *plan = &n->sides[i].plan;
        bn_text name = {0}, plain = {0};
        night_side_name(&n->sides[i], &name);
        bn_text_plain(&plain, name.data);
        json_array_append_new(
            list,
            json_pack("{so ss sI sI sI sI so so}", "runtime", res_json_text(plain.data), "claims",
                      res_night_claims_name(plan->claims), "experiments", (json_int_t)plan->cells,
                      "pairs", (json_int_t)plan->pairs, "needed", (json_int_t)plan->needed, "most",
                      (json_int_t)plan->most, "detectable", res_json_real(plan->detectable),
                      "detectable_least", res_json_real(plan->least)));
        bn_text_free(&name);
        bn_text_free(&plain);
    }
    return list;
}

bool night_sides_plan(nightly *n)
{
    size_t cells = 0, pairs = 0;
    for (size_t i = 0; i < n->side_count; i++) {
        night_side *side = &n->sides[i];
        const res_tonight_verdict *v = &side->verdict;
        side->reached = side->next > side->reached ? side->next : side->reached;
        side->next = 0;
        if (v->basis != RES_BASIS_CONTROL || !v->judged)
            continue;
        side->next = res_tonight_next_interim(v, side->reached);
        cells += side->next > 0 ? v->candidates : 0;
        pairs = side->next > pairs ? side->next : pairs;
    }
    if (cells > 0)
        cli_say("bench: %zu experiment%s seem%s slower: %zu pairs of %s", cells,
                cells == 1 ? "" : "s", cells == 1 ? "s" : "", pairs, cells == 1 ? "it" : "each");
    return cells > 0;
}

bn_code night_sides_again(nightly *n, suite_spec *suite, bn_status *st)
{
    bn_code code = BN_OK;
    size_t kept = 0;
    bn_text_free(&suite->notes); /* shown before */
    for (size_t i = 0; i < suite->count && code == BN_OK; i++) {
        suite_item *item = &suite->items[i];
        night_side *side = suite_wanted(item->title, n->options->suites) ? side_of(n, item) : NULL;
        if (!side || side->next == 0 || !res_tonight_candidate(&side->verdict, &item->resolved))
            continue;
        if (!side->own && strcmp(item->sha256, side->sha256) != 0)
            code = bn_fail(st, BN_CHANGED,
                           "no further pairs: the file of %s was replaced while the night ran",
                           side->runtime);
        item = &suite->items[kept++];
        *item = suite->items[i];
        if ((size_t)item->repetitions < side->next)
            item->repetitions = (int)side->next;
        add_control(n, suite, item, side);
    }
    suite->count = kept;
    n->stopped = code != BN_OK;
    return code;
}

void night_sides_free(nightly *n)
{
    for (size_t i = 0; i < n->side_count; i++) {
        night_side *side = &n->sides[i];
        res_tonight_free(&side->verdict);
        res_collection_free(&side->before);
        free(side->tonight.records);
        free(side->again.records);
    }
    free(n->sides);
}
