/*
 * nightly.c - bench nightly: runs the suite, and compares it with the last good night and with the
 * history; experiments that seem slower are measured further; the results go to one page.
 *
 * Tonight's records are written to a folder of their own inside the store, and join the others
 * when the suite has ended (night_folder.c). So a night that was killed continues when the command
 * is given again, and the history never has half a night.
 */
#include "harness/campaign/compare_priv.h"
#include "harness/campaign/night_builds_priv.h"
#include "harness/campaign/night_priv.h"
#include "plots/plot.h"
#include "plots/site/site.h"
#include "results/records/estimates.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "Exit codes: 0 no slowdown found, and one would have been detected; 1 an error, or an\n"
    "experiment failed; 2 slower than the build of the last good night, or a change for the worse\n"
    "that the history shows since this night, also where something failed; 4 inconclusive: no\n"
    "slowdown found, but one would have been missed, as on the first night; 130 interrupted: the\n"
    "same command continues, within --night-hours.\n"
    "\n"
    "A new build is measured together with that of the last good night, which the store keeps\n"
    "(--keep-builds): such a night takes twice the time. Experiments that seem slower are then\n"
    "measured up to 12 times. A night with the same build is never slower. The history also "
    "judges\n"
    "programs that were recorded this night, if bench import has put them into the store.\n";

/* ---- tonight's records ------------------------------------------------------------------- */

static bool in_suite(const nightly *n, const res_record *record)
{
    char identity[BN_SHA256_TEXT];
    bool found = false;
    if (res_record_identity(record, identity))
        for (size_t i = 0; i < n->identity_count && !found; i++)
            found = strcmp(identity, n->identities[i]) == 0;
    return found;
}

/* Whether FOLDER exists, or that is unknown: then reading it fails with the reason. */
static bool is_there(const char *folder)
{
    return access(folder, F_OK) == 0 || errno != ENOENT;
}

/* Loads the records in FOLDER that are of the suite as it is now. A night that was killed may have
 * left others there, of another suite or of the build before. */
static bn_code load(const nightly *n, const char *folder, res_collection *all, bn_status *st)
{
    size_t kept = 0;
    res_collection_free(all);
    *all = (res_collection){0};
    if (!is_there(folder))
        return BN_OK;
    bn_code code = res_store_load(folder, all, st);
    for (size_t i = 0; i < all->count; i++) {
        res_record *r = all->records[i];
        if (in_suite(n, r))
            all->records[kept++] = r;
        else
            res_record_free(r);
    }
    all->count = kept;
    return code;
}

static bn_code prepare(void *context, suite_spec *suite, bn_status *st)
{
    bn_code code = night_sides_make(context, suite, st);
    if (code == BN_OK)
        night_sides_announce(context);
    return code;
}

static bn_code prepare_again(void *context, suite_spec *suite, bn_status *st)
{
    return night_sides_again(context, suite, st);
}

static bn_code may_write(void *place, bn_status *st)
{
    return night_folder_check(place, st);
}

/* Runs a pass of the suite, prepared by VISIT, into the night's folder, which prints its own table
 * and summary. Sets *WHOLE if it came to its end, and loads tonight's records then. */
static bn_code run_pass(nightly *n, bn_code (*visit)(void *, suite_spec *, bn_status *),
                        cli_exit *code, bool *whole, bn_status *st)
{
    suite_options o = *n->options->suites;
    const suite_visitor visitor = {visit, n};
    suite_end end = {0};
    bn_code done = night_folder_check(&n->place, st);
    if (done != BN_OK)
        return done;
    o.store = n->place.folder;
    o.earlier = n->options->suites->store;
    o.may_write = may_write;
    o.place = &n->place;
    /* One process runs the night, also under a launcher. */
    o.shard = "none";
    const cli_exit ran = (cli_exit)suite_to_end(&o, n->options->suite, &visitor, &end);
    *code = ran > *code ? ran : *code;
    /* Only an interrupt cuts a night short. An experiment that cannot be run here, say of a runtime
     * without its device, is a failure of the night like any other. */
    *whole = end.whole && ran != CLI_EXIT_INTERRUPTED;
    if (*whole) {
        night_json_pass(n, &end.counts);
        night_sides_forget(n);
        bn_grow(&n->identities, n->identity_count + end.count, &n->identity_capacity,
                sizeof *n->identities);
        memcpy(n->identities + n->identity_count, end.identities,
               end.count * sizeof *n->identities);
        n->identity_count += end.count;
        done = load(n, n->place.folder, &n->tonight, st);
    }
    if (*whole && done == BN_OK)
        done = load(n, n->place.controls, &n->controls, st);
    free(end.identities);
    return done;
}

/* Runs the suite, then further pairs of experiments that seem slower, until none does or the last
 * interim analysis. *WHOLE as for run_pass. */
static bn_code run_suite(nightly *n, cli_exit *code, bool *whole, bn_status *st)
{
    bn_code done =
        night_folder_begin(&n->place, n->options->suites->store, n->options->night_hours, st);
    if (done == BN_OK)
        done = run_pass(n, prepare, code, whole, st);
    while (done == BN_OK && *whole) {
        night_sides_assign(n);
        done = night_sides_judge(n, st);
        if (done != BN_OK || !night_sides_plan(n))
            break;
        done = run_pass(n, prepare_again, code, whole, st);
        if (n->stopped) {
            *whole = true; /* with the present records */
            break;
        }
    }
    n->failed += res_damaged_lost(n->tonight.damaged, n->tonight.damaged_count);
    night_count_lost(n, n->controls.damaged, n->controls.damaged_count);
    return done;
}

/* ---- history ---------------------------------------------------------------------- */

static void put_series(nightly *n, const res_timeline *t, const res_drift *drift)
{
    const res_changes *c = &t->changes;
    if (!drift->found && c->latest_run == 0)
        return;
    night_json_change(n, t, drift);
    bn_text_puts(&n->words, "history: ");
    res_timeline_title(t, &n->words);
    if (drift->found)
        bn_text_printf(&n->words, ": changed by %s %s%s; %s; ",
                       res_change_shown(drift->ratio.estimate).text,
                       res_change_range(drift->ratio).text, drift->two ? " in two nights" : "",
                       res_drift_cause_name(drift->cause));
    else
        bn_text_printf(&n->words, ": %s from its level for %zu %s; to be watched; ",
                       res_change_shown(c->latest.estimate).text, c->latest_run,
                       c->latest_run == 1 ? "night" : "nights");
    res_put_correlation(c, &n->words);
    bn_text_putc(&n->words, '\n');
}

/* Appends the changes that this night is the first to show, in series of its records. */
static bn_code put_history(nightly *n, const res_drift_options *options, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < n->history.count && code == BN_OK; i++) {
        const res_timeline *t = &n->history.series[i];
        res_drift drift;
        if (!res_timeline_has(t, &n->tonight))
            continue;
        code = res_series_tonight(t, options, &drift, st);
        if (code == BN_OK)
            put_series(n, t, &drift);
        if (t->last < t->count && t->nights[t->last].looks > n->looks)
            n->looks = t->nights[t->last].looks;
        n->changed +=
            code == BN_OK && drift.found && drift.ratio.low > 1 && res_drift_counts(drift.cause);
    }
    if (n->looks > 1)
        bn_text_printf(
            &n->words,
            "history: %zu runs of this build in one night, pooled: %zu looks, so an error "
            "is up to %zu times as likely\n",
            n->looks, n->looks, n->looks);
    return code;
}

/* All series of a night are one family. */
static size_t family_of(const nightly *n)
{
    return n->asked ? n->asked : 1;
}

static res_history_options history_options(const nightly *n)
{
    res_history_options o = res_history_defaults();
    o.night_hours = n->options->night_hours;
    o.now_s = n->now_s;
    o.change.level /= (double)family_of(n);
    return o;
}

/* Makes the series of the store and of the controls. */
static bn_code make_histories(nightly *n, bn_status *st)
{
    const res_history_options o = history_options(n);
    bn_code code = res_history_make(&n->index, &o, &n->history, st);
    if (code == BN_OK && is_there(n->place.kept)) {
        code = res_index_load(n->place.kept, NULL, &n->control_index, st);
        night_count_lost(n, n->control_index.damaged, n->control_index.damaged_count);
        if (code == BN_OK)
            code = res_history_make(&n->control_index, &o, &n->control_history, st);
    }
    return code;
}

/* ---- the page -------------------------------------------------------------------------- */

static bn_code add_side(plot_page *page, const night_side *side, bn_status *st)
{
    const char *const labels[2] = {side->verdict.basis == RES_BASIS_CONTROL
                                       ? "the last good night's build, tonight"
                                       : "the last good night",
                                   "tonight"};
    bn_text name = {0};
    if (!side->verdict.judged)
        return BN_OK;
    night_side_name(side, &name);
    const bn_code code = plot_page_judged(page, &side->verdict.versus, name.data, labels, st);
    bn_text_free(&name);
    return code;
}

static bn_code write_page(nightly *n, bn_status *st)
{
    plot_page page = {0};
    bn_code code = BN_OK;
    plot_page_remark(&page, n->words.data);
    for (size_t i = 0; i < n->side_count && code == BN_OK; i++)
        code = add_side(&page, &n->sides[i], st);
    if (code == BN_OK)
        code = plot_page_history(&page, &n->history, &n->tonight, st);
    if (code == BN_OK) {
        const int end = night_exit(n);
        const plot_report report = {.title = "Nightly report",
                                    .store = n->options->suites->store,
                                    .all = &n->tonight,
                                    .headline = n->headline.data,
                                    .headline_verdict = end == COMPARE_SLOWER ? RES_SLOWER
                                                        : end == COMPARE_FINE ? RES_EQUIVALENT
                                                                              : RES_UNDECIDED,
                                    .side_a =
                                        "the last good night, or its build measured again tonight",
                                    .side_b = "tonight"};
        code = plot_page_write_index(&page, report, n->options->report, st);
    }
    plot_page_free(&page);
    return code;
}

/* Adds this night, with its report, to the site. */
static bn_code write_site(nightly *n, bn_status *st)
{
    const night_options *o = n->options;
    json_t *plans = night_plans_json(n);
    const site_options options = {.store = o->suites->store,
                                  .folder = o->site,
                                  .title = o->site_title,
                                  .night_hours = o->night_hours,
                                  .now_s = n->now_s,
                                  .change = res_change_defaults(),
                                  .headline = n->headline.data,
                                  .words = n->words.data,
                                  .failed = n->failed_experiments,
                                  .missing = n->missing,
                                  .looks = n->looks,
                                  .plans = plans,
                                  .conclusive = night_conclusive(n)};
    site_made made = {0};
    const bn_code code = o->site ? site_publish(&options, &n->index, &made, st) : BN_OK;
    res_collection_free(&made.lost);
    json_decref(plans);
    return code;
}

/* ---- the command ------------------------------------------------------------------ */

/* Reports the records that could not be read, before the sides. */
static void put_lost(nightly *n)
{
    const size_t lost = night_lost(n);
    if (lost > 0)
        bn_text_printf(&n->words, "%zu record%s could not be read, and %s not compared\n", lost,
                       lost == 1 ? "" : "s", lost == 1 ? "was" : "were");
    for (size_t i = 0; i < n->side_count; i++)
        n->sides[i].lost = lost > 0;
}

/* Keeps the latest builds and drops the others; a failure does not end the night. All stay while
 * dates are wrong or records unread, since the latest builds are then unknown. */
static void drop_builds(nightly *n)
{
    if (night_lost(n) > 0) {
        night_note_add(n, NIGHT_NOTE_BUILDS_STAY,
                       "older builds stay while there are records that cannot be read; remove "
                       "damaged ones");
        return;
    }
    if (n->misdates.count > 0) {
        night_note_add(n, NIGHT_NOTE_BUILDS_STAY,
                       "older builds stay while there are records with wrong dates");
        return;
    }
    const size_t most = (size_t)n->options->keep_builds;
    const res_origin **builds = bn_zalloc(n->index.count + 1, sizeof(const res_origin *));
    const char **keep = bn_zalloc(n->index.count + 1, sizeof(const char *));
    const size_t count = res_latest_builds(&n->index, most, n->now_s, builds);
    for (size_t i = 0; i < count; i++)
        keep[i] = builds[i]->sha256;
    bn_status why = {.code = BN_OK};
    /* None: every experiment failed, and no build is known to be older than another. */
    if (count > 0 && night_builds_drop(n->options->suites->store, keep, count, &why) != BN_OK)
        night_note_add(n, NIGHT_NOTE_BUILDS_STAY, "older builds stay: %s", why.message);
    free(builds);
    free(keep);
}

static void put_misdates(nightly *n)
{
    n->misdates = res_misdates_of(&n->index, n->now_s);
    res_put_misdates(&n->misdates, &n->words);
    if (n->misdates.count)
        bn_text_putc(&n->words, '\n');
}

static bn_code conclude(nightly *n, bn_status *st)
{
    bn_code code = night_folder_share(&n->place, st);
    n->now_s = (double)time(NULL);
    if (code == BN_OK)
        code = res_index_load(n->options->suites->store, NULL, &n->index, st);
    /* Estimates have no nights. */
    if (code == BN_OK)
        res_index_split(&n->index, NULL);
    if (code == BN_OK)
        job_say_damaged(n->index.damaged, n->index.damaged_count);
    if (code == BN_OK) {
        night_count_lost(n, n->index.damaged, n->index.damaged_count);
        night_recorded_find(n);
        code = make_histories(n, st);
    }
    if (code != BN_OK)
        return code;
    const res_drift_options options = {.change = history_options(n).change,
                                       .controls = &n->control_history,
                                       .night_hours = n->options->night_hours,
                                       .family = family_of(n)};
    put_misdates(n);
    put_lost(n);
    night_put_failures(n);
    night_put_missing(n);
    night_sides_assign(n);
    night_drift_add(n);
    code = night_sides_judge(n, st);
    for (size_t i = 0; i < n->side_count && code == BN_OK; i++)
        night_put_side(&n->sides[i], &n->words);
    if (code == BN_OK)
        code = night_recorded_add(n, st);
    if (code == BN_OK)
        code = put_history(n, &options, st);
    if (code == BN_OK)
        drop_builds(n);
    night_put_headline(n, &n->headline);
    if (code == BN_OK)
        code = write_page(n, st);
    if (code == BN_OK)
        code = night_json_write(n, st);
    if (code == BN_OK)
        code = write_site(n, st);
    return code == BN_OK ? night_folder_end(&n->place, st) : code;
}

/* Prints the report, and the place of its page. */
static void print(const nightly *n)
{
    const bool narrow = strcmp(cli_format(&n->options->suites->output), "narrow") == 0;
    bn_text words = {0}, text = {0};
    bn_text_printf(&words, "\n%snightly: %s; %s/index.html\n", n->words.data, n->headline.data,
                   n->options->report);
    res_put_lines(&text, narrow ? RES_TABLE_NARROW : RES_TABLE_TEXT, words.data);
    bn_text_free(&words);
    cli_text(&text);
}

static void nightly_free(nightly *n)
{
    night_sides_free(n);
    res_history_free(&n->history);
    res_history_free(&n->control_history);
    res_index_free(&n->index);
    res_index_free(&n->control_index);
    free(n->recorded);
    res_collection_free(&n->tonight);
    res_collection_free(&n->controls);
    bn_text_free(&n->words);
    bn_text_free(&n->headline);
    night_json_end(n);
    free(n->identities);
    night_folder_close(&n->place);
}

static bn_code check_options(const night_options *o, bn_status *st)
{
    if (!o->suite || !o->report)
        return bn_fail(st, BN_INVALID, "bench nightly needs %s%s%s",
                       o->suite ? "" : "--suite FILE", o->suite || o->report ? "" : " and ",
                       o->report ? "" : "--report DIR");
    return BN_OK;
}

static int night(const night_options *options)
{
    bn_status st = {.code = BN_OK};
    nightly n = {.options = options, .now_s = (double)time(NULL)};
    cli_exit ran = CLI_EXIT_OK;
    bool whole = false;
    int code = COMPARE_ERROR;
    bn_text_puts(&n.words, "");
    night_json_begin(&n);
    if (check_options(options, &st) != BN_OK || run_suite(&n, &ran, &whole, &st) != BN_OK ||
        (whole && conclude(&n, &st) != BN_OK)) {
        cli_complain(&st);
        /* An interrupt may have ended gnuplot while the page was drawn. */
        code = job_interrupted() ? CLI_EXIT_INTERRUPTED : COMPARE_ERROR;
    } else if (whole) {
        code = night_exit(&n);
        if (ran != CLI_EXIT_OK && code != COMPARE_SLOWER)
            code = COMPARE_ERROR;
        print(&n);
    } else if (ran == CLI_EXIT_INTERRUPTED) {
        code = CLI_EXIT_INTERRUPTED;
    }
    nightly_free(&n);
    return code;
}

/* ---- the command ---------------------------------------------------------------------------- */

typedef struct night_line {
    night_options own;
    suite_options suites;
} night_line;
#define AT(member) offsetof(night_line, member)

static const cli_option rows[] = {
    {"suite", "FILE", CLI_TEXT, AT(own.suite), .choices = SUITE_NAMES, .open = true,
     .text = "what to run: a suite file, or " SUITE_NAMES},
    JOB_STORE_ROW(AT(suites.store)),
    {"report", "DIR", CLI_TEXT, AT(own.report),
     .text = "folder of the page, index.html, and of night.json, which has the same for programs"},
    {"site", "DIR", CLI_TEXT, AT(own.site),
     .text = "folder of a site over the whole store, as bench report --site makes it; grown by the "
             "night"},
    {"title", "TEXT", CLI_TEXT, AT(own.site_title), .fallback = "Benchmark results",
     .text = "title of the site"},
    {"fail-if-slower", "SHARE", CLI_SHARE, AT(own.fail_if_slower), .fallback = "0",
     .text = COMPARE_FAIL_TEXT},
    {"night-hours", "TIME", CLI_HOURS, AT(own.night_hours), .fallback = "12",
     .text = "records of one build within this time are one night: 12h, 90m (a number alone: "
             "hours)"},
    {"keep-builds", "N", CLI_NUMBER, AT(own.keep_builds), .fallback = "2", .most = 100,
     .text = "builds of each runtime that the store keeps, so that the next night can measure the "
             "last one again alongside its own; 0: none, and a night claims less"},
    CLI_FORMAT_ROW(AT(suites.output.format), "text, narrow", "text, or narrow: text in 80 columns"),
    {"force", NULL, CLI_FLAG, AT(suites.output.force),
     .text = "of no effect: pages are replaced, since they can be made again from the records"},
};

static int run(void *options, const cli_call *call)
{
    night_line *line = options;
    (void)call;
    line->own.suites = &line->suites;
    return night(&line->own);
}

const cli_command night_command = {
    .name = "nightly",
    .usage = "bench nightly --suite FILE --store DIR --report DIR",
    .summary = "run a suite, compare it with the last good night and the history, write one page",
    .section = JOB_SECTION_MEASURE,
    .bare = "suite",
    .size = sizeof(night_line),
    .output = AT(suites.output),
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .groups = {{.table = suite_table,
                .offset = AT(suites),
                .rows = SUITE_ROWS_RUNTIMES | SUITE_ROWS_TITLES | SUITE_ROWS_REPEATED},
               {.table = cli_output_table,
                .offset = AT(suites.output),
                .rows = CLI_OUT_EVERY | CLI_OUT_WIDE | CLI_OUT_VERBOSE}},
    .run = run,
    .refused = compare_refused,
    .help = help,
};
