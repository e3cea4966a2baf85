/*
 * nightly.c - bench nightly: the suite is run, and compared with the last good night and with the
 * history; what looks slower is measured further; the results go to one page.
 *
 * Tonight's records are written to a folder of their own inside the store, and join the others
 * when the suite has ended (night_folder.c). So a night that was killed goes on where it stopped
 * when the command is given again, and the history never has half a night.
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
    "Exit codes: 0 nothing slower was found, and a slowdown would have been seen; 1 an error, or "
    "an\n"
    "experiment failed; 2 slower: than the build of the last good night, or a change for the "
    "worse\n"
    "that the history shows since this night, whatever failed beside it; 4 could not tell: "
    "nothing\n"
    "slower was found, but it could hide, as on the first night; 130 interrupted: the same "
    "command\n"
    "goes on where it stopped, within --night-hours.\n"
    "\n"
    "A new build is measured beside the last good night's, which the store keeps (--keep-builds):\n"
    "such a night takes twice the time. What looks slower then is measured up to 12 times.\n"
    "A night with the same build is never slower. The history also judges programs that were\n"
    "recorded this night, if bench import has put them into the store.\n";

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

/* Adds the runs of a pass. */
static bn_code add_runs(nightly *n, const suite_end *end, bn_status *st)
{
    if (!bn_reserve(&n->identities, n->identity_count + end->count, &n->identity_capacity,
                    sizeof *n->identities))
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the runs of a night");
    memcpy(n->identities + n->identity_count, end->identities, end->count * sizeof *n->identities);
    n->identity_count += end->count;
    return BN_OK;
}

/* Whether FOLDER is there, or nobody can say: then reading it says why. */
static bool is_there(const char *folder)
{
    return access(folder, F_OK) == 0 || errno != ENOENT;
}

/* Loads the records that are in FOLDER and of the suite as it is now. A night that was killed may
 * have left others there, of another suite or of the build before. */
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
    /* One process runs the night, whatever launcher's environment it has. */
    o.shard = "none";
    const cli_exit ran = (cli_exit)suite_to_end(&o, n->options->suite, &visitor, &end);
    *code = ran > *code ? ran : *code;
    /* Only an interrupt cuts a night short. An experiment that cannot be run here, say of a runtime
     * without its device, is a failure of the night like any other. */
    *whole = end.whole && ran != CLI_EXIT_INTERRUPTED;
    if (*whole) {
        night_sides_forget(n);
        done = add_runs(n, &end, st);
    }
    if (*whole && done == BN_OK)
        done = load(n, n->place.folder, &n->tonight, st);
    if (*whole && done == BN_OK)
        done = load(n, n->place.controls, &n->controls, st);
    free(end.identities);
    return done;
}

static bn_code judge_sides(nightly *n, bn_status *st)
{
    bn_code code = night_sides_deal(n, st);
    return code == BN_OK ? night_sides_judge(n, st) : code;
}

/* Runs the suite, then further pairs of what looks slower, until nothing does or all looks are
 * taken. *WHOLE as for run_pass. */
static bn_code run_suite(nightly *n, cli_exit *code, bool *whole, bn_status *st)
{
    bn_code done =
        night_folder_begin(&n->place, n->options->suites->store, n->options->night_hours, st);
    if (done == BN_OK)
        done = run_pass(n, prepare, code, whole, st);
    while (done == BN_OK && *whole) {
        done = judge_sides(n, st);
        if (done != BN_OK || !night_sides_plan(n))
            break;
        done = run_pass(n, prepare_again, code, whole, st);
        if (n->stopped) {
            *whole = true; /* by what there is */
            break;
        }
    }
    /* Tonight's own records that cannot be read are nothing that was compared. */
    n->failed += res_damaged_lost(n->tonight.damaged, n->tonight.damaged_count);
    night_count_lost(n, n->controls.damaged, n->controls.damaged_count);
    for (size_t i = 0; i < n->tonight.count; i++)
        n->failed += n->tonight.records[i]->status != BN_OK && !res_tried_again(&n->tonight, i);
    return done;
}

/* ---- history ---------------------------------------------------------------------- */

static void tell_series(nightly *n, const res_timeline *t, const res_drift *drift)
{
    const res_changes *c = &t->changes;
    if (!drift->found && c->newest_run == 0)
        return;
    bn_text_puts(&n->words, "history: ");
    res_timeline_title(t, &n->words);
    if (drift->found)
        bn_text_printf(&n->words, ": changed by %+.1f %% [%+.1f, %+.1f]%s; %s\n",
                       100 * (drift->ratio.estimate - 1), 100 * (drift->ratio.low - 1),
                       100 * (drift->ratio.high - 1), drift->two ? " in two nights" : "",
                       res_drift_cause_name(drift->cause));
    else
        bn_text_printf(&n->words, ": %+.1f %% from its level, %zu %s in a row; to be watched\n",
                       100 * (c->newest.estimate - 1), c->newest_run,
                       c->newest_run == 1 ? "night" : "nights");
}

/* Says what this night is the first to show. Series that it has no record of are left out. */
static bn_code tell_history(nightly *n, const res_drift_options *options, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < n->history.count && code == BN_OK; i++) {
        const res_timeline *t = &n->history.series[i];
        res_drift drift;
        if (!res_timeline_has(t, &n->tonight))
            continue;
        code = res_series_tonight(t, options, &drift, st);
        if (code == BN_OK)
            tell_series(n, t, &drift);
        n->changed +=
            code == BN_OK && drift.found && drift.ratio.low > 1 && res_drift_counts(drift.cause);
    }
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
    bn_code code = name.failed
                       ? bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a page")
                       : plot_page_judged(page, &side->verdict.versus, name.data, labels, st);
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

/* Grows the site by this night, with what was said of it. */
static bn_code write_site(nightly *n, bn_status *st)
{
    const night_options *o = n->options;
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
                                  .told = night_told(n)};
    site_made made = {0};
    const bn_code code = o->site ? site_publish(&options, &n->index, &made, st) : BN_OK;
    res_collection_free(&made.lost);
    return code;
}

/* ---- the command ------------------------------------------------------------------ */

/* Says how many records the night did not get to see, before the sides are told of. */
static void tell_lost(nightly *n)
{
    const size_t lost = night_lost(n);
    if (lost > 0)
        bn_text_printf(&n->words,
                       "%zu record%s could not be read: whatever nights %s of, %s not compared\n",
                       lost, lost == 1 ? "" : "s", lost == 1 ? "it is" : "they are",
                       lost == 1 ? "it was" : "they were");
    for (size_t i = 0; i < n->side_count; i++)
        n->sides[i].lost = lost > 0;
}

/* Keeps the newest builds and drops the others. That it cannot is no end of the night. While dates
 * are wrong, or records are there that nobody has read, nobody knows which builds are the newest,
 * so all stay. */
static bn_code drop_builds(nightly *n, bn_status *st)
{
    if (night_lost(n) > 0) {
        bn_text_puts(&n->words, "older builds stay while there are records that cannot be read; "
                                "remove those that are damaged\n");
        return BN_OK;
    }
    if (n->misdates.count > 0) {
        bn_text_puts(&n->words, "older builds stay while there are records with wrong dates\n");
        return BN_OK;
    }
    const size_t most = (size_t)n->options->keep_builds;
    const res_origin **builds = calloc(n->index.count + 1, sizeof(const res_origin *));
    const char **keep = calloc(n->index.count + 1, sizeof(const char *));
    bn_code code = BN_OK;
    size_t count = 0;
    if (!builds || !keep)
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for builds");
    else
        count = res_newest_builds(&n->index, most, n->now_s, builds);
    for (size_t i = 0; i < count; i++)
        keep[i] = builds[i]->sha256;
    bn_status why = {.code = BN_OK};
    /* None: every experiment failed, and no build is known to be older than another. */
    if (code == BN_OK && count > 0 &&
        night_builds_drop(n->options->suites->store, keep, count, &why) != BN_OK)
        bn_text_printf(&n->words, "older builds stay: %s\n", why.message);
    free(builds);
    free(keep);
    return code;
}

static void tell_misdates(nightly *n)
{
    n->misdates = res_misdates_of(&n->index, n->now_s);
    res_put_misdates(&n->misdates, &n->words);
    if (n->misdates.count)
        bn_text_putc(&n->words, '\n');
}

static bn_code look_back(nightly *n, bn_status *st)
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
        code = night_recorded_find(n, st);
    }
    if (code == BN_OK)
        code = make_histories(n, st);
    if (code != BN_OK)
        return code;
    const res_drift_options options = {.change = history_options(n).change,
                                       .controls = &n->control_history,
                                       .night_hours = n->options->night_hours,
                                       .family = family_of(n)};
    tell_misdates(n);
    tell_lost(n);
    night_put_failures(n);
    night_put_missing(n);
    code = judge_sides(n, st);
    for (size_t i = 0; i < n->side_count && code == BN_OK; i++)
        night_put_side(&n->sides[i], &n->words);
    if (code == BN_OK)
        code = night_recorded_take(n, st);
    if (code == BN_OK)
        code = tell_history(n, &options, st);
    if (code == BN_OK)
        code = drop_builds(n, st);
    night_put_headline(n, &n->headline);
    if (code == BN_OK && (n->words.failed || n->headline.failed))
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the words of a night");
    if (code == BN_OK)
        code = write_page(n, st);
    if (code == BN_OK)
        code = write_site(n, st);
    return code == BN_OK ? night_folder_end(&n->place, st) : code;
}

/* Prints what the night found, and where its page is. */
static void print(const nightly *n)
{
    const bool narrow = strcmp(cli_format(&n->options->suites->output), "narrow") == 0;
    bn_text words = {0}, text = {0};
    bn_text_printf(&words, "\n%snightly: %s; %s/index.html\n", n->words.data, n->headline.data,
                   n->options->report);
    res_put_lines(&text, narrow ? RES_TABLE_NARROW : RES_TABLE_TEXT, words.data ? words.data : "");
    text.failed = text.failed || words.failed;
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
    free(n->identities);
    night_folder_close(&n->place);
}

/* A night is told in text, wide or narrow. */
static bn_code check_words(const night_options *o, bn_status *st)
{
    res_format format;
    bn_code code = res_format_parse(o->suites->output.format, &format, st);
    if (code == BN_OK && !res_format_is_text(format))
        return bn_fail(st, BN_INVALID,
                       "bench nightly prints text or narrow, not %s; bench table prints its "
                       "records in all formats",
                       o->suites->output.format);
    if (code == BN_OK && (!o->suite || !o->report))
        return bn_fail(st, BN_INVALID, "bench nightly needs %s%s%s",
                       o->suite ? "" : "--suite FILE", o->suite || o->report ? "" : " and ",
                       o->report ? "" : "--report DIR");
    return code;
}

static int night(const night_options *options)
{
    bn_status st = {.code = BN_OK};
    nightly n = {.options = options, .now_s = (double)time(NULL)};
    cli_exit ran = CLI_EXIT_OK;
    bool whole = false;
    int code = COMPARE_ERROR;
    bn_text_puts(&n.words, "");
    if (check_words(options, &st) != BN_OK || run_suite(&n, &ran, &whole, &st) != BN_OK ||
        (whole && look_back(&n, &st) != BN_OK)) {
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
    {"store", "DIR", CLI_TEXT, AT(suites.store), .fallback = "bench-results", .also = "results",
     .text = "folder of records, one HDF5 file for each experiment of each process"},
    {"report", "DIR", CLI_TEXT, AT(own.report), .text = "folder of the page, index.html"},
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
             "last one again beside its own; 0: none, and a night claims less"},
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
    .groups = {{suite_table, AT(suites),
                .rows = SUITE_ROWS_RUNTIMES | SUITE_ROWS_TITLES | SUITE_ROWS_REPEATED},
               {cli_output_table, AT(suites.output),
                .rows = CLI_OUT_EVERY | CLI_OUT_WIDE | CLI_OUT_VERBOSE}},
    .run = run,
    .refused = compare_refused,
    .help = help,
};
