/*
 * night_json.c - night.json, next to the page of a night: its verdict, counts and identifiers, for
 * programs. Words of the report may change from version to version; what is here stays.
 */
#include "harness/campaign/night_priv.h"
#include "results/tables/tables.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FILE_NAME "night.json"

static json_t *notes_json(const nightly *n)
{
    static const char *const ids[] = {[NIGHT_NOTE_NOT_COMPARED] = "not-compared",
                                      [NIGHT_NOTE_NOT_JUDGED] = "not-judged",
                                      [NIGHT_NOTE_BUILD_NOT_KEPT] = "build-not-kept",
                                      [NIGHT_NOTE_BUILDS_STAY] = "builds-stay"};
    json_t *noted = json_array();
    for (int i = 0; i < NIGHT_NOTE_COUNT; i++)
        if (n->noted[i])
            json_array_append_new(noted, json_pack("{ss}", "id", ids[i]));
    return noted;
}

/* Null where SIDE has a control, or needs none. */
static json_t *lack_json(const night_side *side)
{
    static const char *const ids[] = {
        [NIGHT_LACK_NOTHING] = "unknown",  [NIGHT_LACK_OWN] = "framework",
        [NIGHT_LACK_KEEPING] = "not-kept", [NIGHT_LACK_OTHER] = "settings",
        [NIGHT_LACK_GONE] = "gone",        [NIGHT_LACK_CHANGED] = "changed",
        [NIGHT_LACK_UNSAFE] = "unsafe",    [NIGHT_LACK_UNUSED] = "unusable",
        [NIGHT_LACK_FAILED] = "failed"};
    if (side->verdict.basis != RES_BASIS_RECORDS)
        return json_null();
    return json_pack("{ss so}", "id", ids[side->lack], "message", res_json_text(side->why));
}

static json_t *side_json(const night_side *side)
{
    const res_tonight_verdict *v = &side->verdict;
    const time_t seconds = isnan(side->before_s) ? 0 : (time_t)side->before_s;
    char date[32] = "";
    struct tm utc;
    bn_text name = {0}, worst = {0};
    night_side_name(side, &name);
    if (!isnan(side->before_s) && gmtime_r(&seconds, &utc))
        strftime(date, sizeof date, "%Y-%m-%d", &utc);
    if (v->slower > 0)
        res_versus_put_worst(&v->versus, &worst);
    json_t *object =
        json_pack("{so ss so sI sI sI sI sI so sI}", "runtime", res_json_text(name.data), "against",
                  res_basis_name(v->basis), "no_control", lack_json(side), "experiments",
                  (json_int_t)v->cells, "slower", (json_int_t)v->slower, "inconclusive",
                  (json_int_t)v->inconclusive, "without_baseline", (json_int_t)v->fresh, "suspects",
                  (json_int_t)v->suspects, "machine", res_json_real(v->machine),
                  "machine_experiments", (json_int_t)v->machine_cells);
    json_object_set_new(object, "night", date[0] ? json_string(date) : json_null());
    json_t *noted = json_array();
    for (int i = 0; i < RES_NOTE_COUNT; i++)
        if (v->judged && v->versus.noted[i])
            json_array_append_new(
                noted, json_pack("{ss}", "id", res_versus_note_name((res_versus_note)i)));
    json_object_set_new(object, "noted", noted);
    json_object_set_new(object, "worst", worst.data ? res_json_text(worst.data) : json_null());
    bn_text_free(&name);
    bn_text_free(&worst);
    return object;
}

static json_t *night_json(const nightly *n)
{
    const night_sum sum = night_add_up(n);
    const night_outcome outcome = night_outcome_of(n);
    json_t *sides = json_array();
    for (size_t i = 0; i < n->side_count; i++)
        json_array_append_new(sides, side_json(&n->sides[i]));
    json_t *object =
        json_pack("{ss ss so sI sI sI sI sI sI sI sI sI sI sb}", "outcome",
                  night_outcome_name(outcome), "verdict",
                  outcome == NIGHT_SLOWER ? "slower"
                  : outcome >= NIGHT_SAME ? "not-slower"
                                          : "inconclusive",
                  "headline", res_json_text(n->headline.data), "experiments", (json_int_t)sum.cells,
                  "slower", (json_int_t)sum.slower, "inconclusive", (json_int_t)sum.inconclusive,
                  "changed", (json_int_t)n->changed, "failed", (json_int_t)n->failed, "records",
                  (json_int_t)n->tonight.count, "recorded", (json_int_t)n->recorded_experiments,
                  "unread", (json_int_t)night_lost(n), "left_out", (json_int_t)n->misdates.count,
                  "looks", (json_int_t)n->looks, "two_nights", (int)sum.records);
    json_object_set_new(object, "detectable", res_json_real(sum.detectable));
    json_object_set_new(object, "runtimes", sides);
    json_object_set_new(object, "plans", night_plans_json(n));
    json_object_set(object, "passes", n->passes);
    json_object_set(object, "failures", n->failures);
    json_object_set(object, "missing", n->lacking);
    json_object_set(object, "history", n->changes);
    json_object_set_new(object, "noted", notes_json(n));
    return object;
}

/* Removes what nights left in FOLDER that were killed while they wrote the file. */
static void sweep(const char *folder)
{
    int fd;
    if (bn_folder_in(AT_FDCWD, folder, &fd, NULL) != BN_OK)
        return;
    bn_writers_sweep(fd, FILE_NAME);
    close(fd);
}

bn_code night_json_write(const nightly *n, bn_status *st)
{
    bn_text path = {0};
    json_t *object = night_json(n);
    char *text = json_dumps(object, JSON_INDENT(2) | RES_JSON_SHOWN);
    bn_text_printf(&path, "%s/" FILE_NAME, n->options->report);
    sweep(n->options->report);
    const bn_code code = bn_file_write_atomic(path.data, text, strlen(text), st);
    free(text);
    json_decref(object);
    bn_text_free(&path);
    return code == BN_OK ? BN_OK : bn_context(st, "report");
}
