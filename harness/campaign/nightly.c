/*
 * nightly.c - bench nightly: the suite is run, and compared with the last good night and with the
 * history; the results go to one page.
 *
 * Tonight's records are written to a folder of their own inside the store, and join the others
 * when the suite has ended (night_folder.c). So a night that was killed goes on where it stopped
 * when the command is given again, and the history never has half a night.
 */
#include "harness/campaign/compare_priv.h"
#include "harness/campaign/night_folder_priv.h"
#include "harness/campaign/suites_priv.h"
#include "plots/plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char night_help[] =
    "Exit codes: 0 nothing is slower; 1 an error, or an experiment failed; 2 slower: than the "
    "last\n"
    "good night, or a change for the worse that the history shows since this night; 130\n"
    "interrupted: the same command goes on where it stopped, within --night-hours.\n";

/* One runtime, tonight and on its last good night. Its file's name says which it is: each build
 * may lie in a folder of its own. */
typedef struct pair_of_nights {
    char name[520];                 /* the runtime's, and its settings where it has several */
    char runtime[256];              /* its name, or its file's */
    const char *settings;           /* borrowed; NULL: any */
    res_collection before, tonight; /* records of before are owned, tonight's borrowed */
    res_versus versus;
    bool paired;
} pair_of_nights;

typedef struct nightly {
    const night_options *options;
    night_folder place;
    res_collection tonight;
    res_index index;
    res_history history;
    pair_of_nights *pairs;
    size_t pair_count;
    size_t failed, slower, changed; /* records that failed, cells slower, series changed */
    bn_text words;                  /* what is printed */
} nightly;

/* ---- tonight's records ------------------------------------------------------------------- */

static bool in_suite(const suite_end *end, const res_record *record)
{
    char identity[BN_SHA256_TEXT];
    bool found = false;
    if (res_record_identity(record, identity))
        for (size_t i = 0; i < end->count && !found; i++)
            found = strcmp(identity, end->identities[i]) == 0;
    return found;
}

/* Loads the records that are in the folder and of the suite as it is now. A night that was killed
 * may have left others there, of another suite or of the build before. */
static bn_code load_tonight(nightly *n, const suite_end *end, bn_status *st)
{
    size_t kept = 0;
    bn_code code = res_store_load(n->place.folder, &n->tonight, st);
    for (size_t i = 0; i < n->tonight.count; i++) {
        res_record *r = n->tonight.records[i];
        if (in_suite(end, r))
            n->tonight.records[kept++] = r;
        else
            res_record_free(r);
    }
    n->tonight.count = kept;
    return code;
}

/* Runs the suite into the night's folder, which prints its own table and summary. Sets *WHOLE if it
 * came to its end, and loads tonight's records then. */
static bn_code run_suite(nightly *n, cli_exit *code, bool *whole, bn_status *st)
{
    suite_options o = *n->options->suites;
    suite_end end = {0};
    bn_code done = night_folder_begin(&n->place, o.store, n->options->night_hours, st);
    if (done != BN_OK)
        return done;
    o.store = n->place.folder;
    o.output.format = "text";
    /* One process runs the night, whatever launcher's environment it has. */
    o.shard = "none";
    *code = (cli_exit)suite_to_end(&o, n->options->suite, &end);
    /* Only an interrupt cuts a night short. An experiment that cannot be run here, say of a runtime
     * without its device, is a failure of the night like any other. */
    *whole = end.whole && *code != CLI_EXIT_INTERRUPTED;
    if (*whole)
        done = load_tonight(n, &end, st);
    free(end.identities);
    return done;
}

/* ---- the last good night ---------------------------------------------------------- */

static res_runs_of runs_of(const pair_of_nights *p)
{
    return (res_runs_of){.runtime = p->runtime, .settings = p->settings};
}

/* Reads the records of P's last good night. One that cannot be read is named and left out: the
 * night itself is in the store by now. */
static bn_code read_before(nightly *n, pair_of_nights *p, bn_status *st)
{
    const res_index *index = &n->index;
    const res_runs_of runs = runs_of(p);
    const res_summary **night = calloc(index->count + 1, sizeof(const res_summary *));
    bn_code code = BN_OK;
    p->before.records = calloc(index->count + 1, sizeof(res_record *));
    if (!night || !p->before.records) {
        free(night);
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for records");
    }
    const size_t count =
        res_last_good_night(index, &n->tonight, &runs, n->options->night_hours, night);
    for (size_t i = 0; code == BN_OK && i < count; i++) {
        char path[4400];
        bn_status why = {.code = BN_OK};
        snprintf(path, sizeof path, "%s/%s", n->options->suites->store, night[i]->file);
        if (res_store_read(path, &p->before.records[p->before.count], &why) == BN_OK)
            p->before.count++;
        else if (why.code == BN_OUT_OF_MEMORY)
            code = bn_fail(st, why.code, "%s", why.message);
        else
            bn_text_printf(&n->words, "not compared: %s\n", why.message);
    }
    free(night);
    return code;
}

/* Compares tonight with the last good night, experiment by experiment. */
static bn_code compare(nightly *n, pair_of_nights *p, bn_status *st)
{
    const res_choice choice[2] = {{.store = "the last good night"}, {.store = "tonight"}};
    bn_code code = read_before(n, p, st);
    if (code != BN_OK || p->before.count == 0 || p->tonight.count == 0)
        return code;
    res_versus_begin(&p->versus, n->options->fail_if_slower);
    bn_status why = {.code = BN_OK};
    if (res_versus_pair(&p->before, &p->tonight, choice, &p->versus, &why) != BN_OK) {
        bn_text_printf(&n->words, "%s: not compared: %s\n", p->name, why.message);
        return BN_OK;
    }
    res_versus_note_pairs(&p->versus);
    code = res_versus_judge(&p->versus, st);
    p->paired = code == BN_OK;
    return code;
}

/* Whether the runtime of E runs with other settings tonight, too. */
static bool several_settings(const nightly *n, const res_experiment *e)
{
    for (size_t i = 0; i < n->tonight.count; i++) {
        const res_experiment *other = &n->tonight.records[i]->experiment;
        if (strcmp(bn_base_name(other->runtime), bn_base_name(e->runtime)) == 0 &&
            strcmp(other->settings, e->settings) != 0)
            return true;
    }
    return false;
}

static pair_of_nights *pair_for(nightly *n, const res_experiment *e)
{
    for (size_t i = 0; i < n->pair_count; i++) {
        const res_runs_of runs = runs_of(&n->pairs[i]);
        if (res_ran_on(e, &runs))
            return &n->pairs[i];
    }
    pair_of_nights *p = &n->pairs[n->pair_count++];
    snprintf(p->runtime, sizeof p->runtime, "%s", bn_base_name(e->runtime));
    p->settings = several_settings(n, e) ? e->settings : NULL;
    snprintf(p->name, sizeof p->name, "%s%s%s", p->runtime,
             p->settings && p->settings[0] ? " with " : "", p->settings ? p->settings : "");
    p->tonight.records = calloc(n->tonight.count + 1, sizeof(res_record *));
    return p;
}

static bn_code sort_by_runtime(nightly *n, bn_status *st)
{
    n->pairs = calloc(n->tonight.count + 1, sizeof *n->pairs);
    if (!n->pairs)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for comparisons");
    for (size_t i = 0; i < n->tonight.count; i++) {
        res_record *r = n->tonight.records[i];
        pair_of_nights *p = pair_for(n, &r->experiment);
        if (!p->tonight.records)
            return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for records");
        n->failed += r->status != BN_OK && !res_tried_again(&n->tonight, i);
        if (r->status == BN_OK)
            p->tonight.records[p->tonight.count++] = r;
    }
    return BN_OK;
}

static bn_code compare_all(nightly *n, bn_status *st)
{
    bn_code code = sort_by_runtime(n, st);
    for (size_t i = 0; i < n->pair_count && code == BN_OK; i++) {
        pair_of_nights *p = &n->pairs[i];
        code = compare(n, p, st);
        if (code != BN_OK || !p->paired)
            continue;
        bn_text_printf(&n->words, "%s against its last good night: ", p->name);
        res_versus_summary(&p->versus, &n->words);
        bn_text_printf(&n->words, "\n%s", p->versus.notes.data ? p->versus.notes.data : "");
        if (n->words.length && n->words.data[n->words.length - 1] != '\n')
            bn_text_putc(&n->words, '\n');
        n->slower += res_versus_add_up(&p->versus).slower;
    }
    return code;
}

/* ---- history ---------------------------------------------------------------------- */

static void tell_series(nightly *n, const res_timeline *t, const res_stretch *changed)
{
    const res_interval *newest = &t->changes.newest;
    if (!changed && t->changes.newest_run == 0)
        return;
    bn_text_puts(&n->words, "history: ");
    res_timeline_title(t, &n->words);
    if (changed) {
        bn_text_printf(&n->words, ": changed by %+.1f %% [%+.1f, %+.1f]%s\n",
                       100 * (changed->ratio.estimate - 1), 100 * (changed->ratio.low - 1),
                       100 * (changed->ratio.high - 1),
                       changed->build_known && changed->other_build ? ", with the runtime's build"
                                                                    : "");
        n->changed += changed->ratio.low > 1;
    } else {
        bn_text_printf(&n->words, ": %+.1f %% from its level, %zu %s in a row; to be watched\n",
                       100 * (newest->estimate - 1), t->changes.newest_run,
                       t->changes.newest_run == 1 ? "night" : "nights");
    }
}

/* Says what this night is the first to show. Series that it has no record of are left out. */
static bn_code tell_history(nightly *n, const res_change_options *options, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < n->history.count && code == BN_OK; i++) {
        const res_timeline *t = &n->history.series[i];
        const res_stretch *s = &t->stretches[t->stretch_count - 1];
        bool known = true;
        if (!res_timeline_has(t, &n->tonight))
            continue;
        if (t->stretch_count > 1)
            code = res_change_was_known(t, s, options, &known, st);
        if (code == BN_OK)
            tell_series(n, t, known ? NULL : s);
    }
    return code;
}

/* ---- the page -------------------------------------------------------------------------- */

static bn_code write_page(nightly *n, bn_status *st)
{
    static const char *const labels[2] = {"the last good night", "tonight"};
    plot_page page = {0};
    bn_code code = BN_OK;
    for (size_t i = 0; i < n->pair_count && code == BN_OK; i++)
        if (n->pairs[i].paired)
            code = plot_page_compared(&page, &n->pairs[i].versus, n->pairs[i].name, labels, st);
    if (code == BN_OK)
        code = plot_page_history(&page, &n->history, st);
    if (code == BN_OK) {
        const plot_report report = {.title = "Nightly report",
                                    .store = n->options->suites->store,
                                    .all = &n->tonight,
                                    .side_a = labels[0],
                                    .side_b = labels[1]};
        code = plot_page_write_index(&page, report, n->options->report, st);
    }
    plot_page_free(&page);
    return code;
}

/* ---- the command ------------------------------------------------------------------ */

static bn_code look_back(nightly *n, bn_status *st)
{
    res_history_options options = res_history_defaults();
    options.night_hours = n->options->night_hours;
    bn_code code = night_folder_share(&n->place, st);
    if (code == BN_OK)
        code = res_index_load(n->options->suites->store, NULL, &n->index, st);
    for (size_t i = 0; code == BN_OK && i < n->index.damaged_count; i++)
        fprintf(stderr, "bench: %s\n", n->index.damaged[i].status.message);
    if (code == BN_OK)
        code = compare_all(n, st);
    if (code == BN_OK)
        code = res_history_make(&n->index, &options, &n->history, st);
    if (code == BN_OK)
        code = tell_history(n, &options.change, st);
    if (code == BN_OK)
        code = write_page(n, st);
    return code == BN_OK ? night_folder_end(&n->place, st) : code;
}

static void nightly_free(nightly *n)
{
    for (size_t i = 0; n->pairs && i < n->pair_count; i++) {
        pair_of_nights *p = &n->pairs[i];
        res_versus_free(&p->versus);
        res_collection_free(&p->before);
        free(p->tonight.records);
    }
    free(n->pairs);
    res_history_free(&n->history);
    res_index_free(&n->index);
    res_collection_free(&n->tonight);
    bn_text_free(&n->words);
    night_folder_close(&n->place);
}

int night_command(const night_options *options)
{
    bn_status st = {.code = BN_OK};
    nightly n = {.options = options};
    cli_exit ran = CLI_EXIT_OK;
    bool whole = false;
    int code = COMPARE_ERROR;
    bn_text_puts(&n.words, "");
    if (!options->suite || !options->report)
        bn_fail(&st, BN_INVALID, "bench nightly needs --suite FILE and --report DIR");
    if (st.code != BN_OK || run_suite(&n, &ran, &whole, &st) != BN_OK ||
        (whole && look_back(&n, &st) != BN_OK)) {
        cli_complain(&st);
        /* An interrupt may have ended gnuplot while the page was drawn. */
        code = job_interrupted() ? CLI_EXIT_INTERRUPTED : COMPARE_ERROR;
    } else if (whole) {
        code = n.failed || ran != CLI_EXIT_OK ? COMPARE_ERROR
               : n.slower || n.changed        ? COMPARE_SLOWER
                                              : COMPARE_FINE;
        printf("\n%snightly: %zu failed, %zu slower than the last good night, %zu changed for the "
               "worse; %s/index.html\n",
               n.words.data, n.failed, n.slower, n.changed, options->report);
    } else if (ran == CLI_EXIT_INTERRUPTED) {
        code = CLI_EXIT_INTERRUPTED;
    }
    nightly_free(&n);
    return code;
}
