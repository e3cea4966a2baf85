/*
 * nightly.c - bench nightly: the suite is run, held against the last good night and
 * against the history, and told on one page.
 *
 * Tonight's records are written to a folder of their own inside the store and moved to
 * the others when the suite has ended: a night that was killed goes on where it stopped
 * when the command is given again, and the history never sees half of one.
 */
#define _GNU_SOURCE
#include "harness/page.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STAGING "tonight"
/* Exit codes as those of bench compare. */
enum { NOTHING_SLOWER = 0, FAILED = 1, SLOWER = 2 };

const char hn_nightly_help[] =
    "Exit codes: 0 nothing is slower; 1 an error, or an experiment failed; 2 slower: than the "
    "last\n"
    "good night, or a change for the worse that the history shows since this night; 130\n"
    "interrupted: the same command goes on where it stopped.\n";

/* One runtime, tonight and on its last good night. Builds may lie in folders of their own. */
typedef struct pair_of_nights {
    char runtime[256];              /* its name, or its file's */
    res_collection before, tonight; /* records of before are owned, tonight's borrowed */
    res_versus versus;
    bool paired;
} pair_of_nights;

typedef struct nightly {
    const hn_options *options;
    char staging[4096];
    res_collection tonight;
    res_index index;
    res_history history;
    pair_of_nights *pairs;
    size_t pair_count;
    size_t failed, slower, changed; /* records, cells, series */
    bn_text words;                  /* what is printed */
} nightly;

/* ---- tonight's records ------------------------------------------------------------------- */

/* Moves the records of the staging folder to the store: names are unique, so nothing is
 * ever replaced. */
static bn_code move_records(const nightly *n, bn_status *st)
{
    DIR *folder = opendir(n->staging);
    bn_code code = BN_OK;
    if (!folder)
        return bn_fail_errno(st, errno, "%s", n->staging);
    for (struct dirent *entry; code == BN_OK && (entry = readdir(folder));) {
        char from[4400], to[4400];
        size_t length = strlen(entry->d_name);
        if (length < 3 || strcmp(entry->d_name + length - 3, ".h5") != 0)
            continue;
        snprintf(from, sizeof from, "%s/%s", n->staging, entry->d_name);
        snprintf(to, sizeof to, "%s/%s", n->options->store, entry->d_name);
        if (rename(from, to) != 0)
            code = bn_fail_errno(st, errno, "moving %s to the store", from);
    }
    closedir(folder);
    if (code == BN_OK && rmdir(n->staging) != 0 && errno != ENOTEMPTY)
        code = bn_fail_errno(st, errno, "%s", n->staging);
    return code;
}

/* Runs the suite into the staging folder; its own table and summary are printed. */
static bn_code run_suite(nightly *n, hn_exit *code, bn_status *st)
{
    hn_options o = *n->options;
    snprintf(n->staging, sizeof n->staging, "%s/" STAGING, o.store);
    o.store = n->staging;
    o.dry_run = false;
    o.format = "text";
    if (bn_make_folder(n->options->store, st) != BN_OK)
        return bn_context(st, "store");
    *code = (hn_exit)hn_command_suite(&o, n->options->suite);
    if (*code != HN_EXIT_OK && *code != HN_EXIT_FAILED)
        return BN_OK; /* it said why, or was interrupted */
    return res_store_load(n->staging, &n->tonight, st);
}

/* ---- the last good night ---------------------------------------------------------- */

/* Whether S, which is older than tonight's first record, belongs to the newest build and
 * night of RUNTIME among such; NEWEST is that night's newest record. */
static bool same_night(const res_index *index, const res_summary *s, const res_summary *newest,
                       double hours)
{
    const res_experiment *a = index->experiments[s->experiment],
                         *b = index->experiments[newest->experiment];
    return s->status == BN_OK && strcmp(bn_base_name(a->runtime), bn_base_name(b->runtime)) == 0 &&
           strcmp(s->origin->sha256, newest->origin->sha256) == 0 &&
           res_id_time(newest->id) - res_id_time(s->id) <= hours * 3600;
}

static bool is_tonights(const nightly *n, const char *id)
{
    for (size_t i = 0; i < n->tonight.count; i++)
        if (strcmp(n->tonight.records[i]->id, id) == 0)
            return true;
    return false;
}

static bn_code read_before(const nightly *n, pair_of_nights *p, bn_status *st)
{
    const res_summary *newest = NULL;
    const res_index *index = &n->index;
    bn_code code = BN_OK;
    for (size_t i = index->count; i-- > 0 && !newest;) {
        const res_summary *s = &index->records[i];
        if (s->status == BN_OK && !is_tonights(n, s->id) &&
            strcmp(bn_base_name(index->experiments[s->experiment]->runtime), p->runtime) == 0)
            newest = s;
    }
    p->before.records = calloc(index->count + 1, sizeof(res_record *));
    if (!p->before.records)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for records");
    for (size_t i = 0; newest && i < index->count && code == BN_OK; i++) {
        char path[4400];
        const res_summary *s = &index->records[i];
        if (!same_night(index, s, newest, n->options->night_hours) || is_tonights(n, s->id))
            continue;
        snprintf(path, sizeof path, "%s/%s", n->options->store, s->file);
        code = res_store_read(path, &p->before.records[p->before.count], st);
        p->before.count += code == BN_OK;
    }
    return code;
}

/* Tonight against the last good night, experiment by experiment. */
static bn_code compare(nightly *n, pair_of_nights *p, bn_status *st)
{
    const res_choice choice[2] = {{.store = "the last good night"}, {.store = "tonight"}};
    bn_code code = read_before(n, p, st);
    if (code != BN_OK || p->before.count == 0 || p->tonight.count == 0)
        return code;
    p->versus.options = res_compare_defaults();
    p->versus.threshold = n->options->fail_if_slower;
    if (p->versus.threshold > 0)
        p->versus.options.delta = p->versus.threshold;
    bn_status why = {.code = BN_OK};
    if (res_versus_pair(&p->before, &p->tonight, choice, &p->versus, &why) != BN_OK) {
        bn_text_printf(&n->words, "%s: not compared: %s\n", p->runtime, why.message);
        return BN_OK;
    }
    res_versus_note_pairs(&p->versus);
    code = res_versus_judge(&p->versus, st);
    p->paired = code == BN_OK;
    return code;
}

static pair_of_nights *pair_for(nightly *n, const char *runtime)
{
    for (size_t i = 0; i < n->pair_count; i++)
        if (strcmp(n->pairs[i].runtime, runtime) == 0)
            return &n->pairs[i];
    pair_of_nights *p = &n->pairs[n->pair_count++];
    snprintf(p->runtime, sizeof p->runtime, "%s", runtime);
    p->tonight.records = calloc(n->tonight.count + 1, sizeof(res_record *));
    return p;
}

static bn_code compare_all(nightly *n, bn_status *st)
{
    bn_code code = BN_OK;
    n->pairs = calloc(n->tonight.count + 1, sizeof *n->pairs);
    if (!n->pairs)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for comparisons");
    for (size_t i = 0; i < n->tonight.count; i++) {
        res_record *r = n->tonight.records[i];
        pair_of_nights *p = pair_for(n, bn_base_name(r->experiment.runtime));
        if (!p->tonight.records)
            return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for records");
        n->failed += r->status != BN_OK;
        if (r->status == BN_OK)
            p->tonight.records[p->tonight.count++] = r;
    }
    for (size_t i = 0; i < n->pair_count && code == BN_OK; i++) {
        pair_of_nights *p = &n->pairs[i];
        code = compare(n, p, st);
        if (code != BN_OK || !p->paired)
            continue;
        bn_text_printf(&n->words, "%s against its last good night: ", p->runtime);
        res_versus_summary(&p->versus, &n->words);
        bn_text_printf(&n->words, "\n%s", p->versus.notes.data ? p->versus.notes.data : "");
        if (n->words.length && n->words.data[n->words.length - 1] != '\n')
            bn_text_putc(&n->words, '\n');
        n->slower += res_versus_add_up(&p->versus).slower;
    }
    return code;
}

/* ---- history ---------------------------------------------------------------------- */

/* The change of T that this night's value was the first to show: it has just as many
 * nights as a change needs. NULL: none. */
static const res_stretch *new_change(const res_timeline *t)
{
    const res_stretch *s = &t->stretches[t->stretch_count - 1];
    return t->stretch_count > 1 && s->nights == RES_LEAST_NIGHTS ? s : NULL;
}

static void tell_history(nightly *n)
{
    for (size_t i = 0; i < n->history.count; i++) {
        const res_timeline *t = &n->history.series[i];
        const res_experiment *e = t->experiment;
        const res_stretch *s = new_change(t);
        char title[200];
        snprintf(title, sizeof title, "%s %s %s", e->model, e->phase, e->mode);
        if (s) {
            bn_text_printf(&n->words, "history: %s changed by %+.1f %% [%+.1f, %+.1f]%s\n", title,
                           100 * (s->ratio.estimate - 1), 100 * (s->ratio.low - 1),
                           100 * (s->ratio.high - 1),
                           s->build_known && s->other_build ? ", with the runtime's build" : "");
            n->changed += s->ratio.low > 1;
        } else if (t->changes.newest_run > 0) {
            bn_text_printf(
                &n->words,
                "history: %s is %+.1f %% from its level, %zu %s in a row; to be watched\n", title,
                100 * (t->changes.newest.estimate - 1), t->changes.newest_run,
                t->changes.newest_run == 1 ? "night" : "nights");
        }
    }
}

/* ---- the page -------------------------------------------------------------------------- */

static bn_code write_page(nightly *n, bn_status *st)
{
    static const char *const labels[2] = {"the last good night", "tonight"};
    hn_page page = {0};
    bn_code code = BN_OK;
    for (size_t i = 0; i < n->pair_count && code == BN_OK; i++)
        if (n->pairs[i].paired)
            code = hn_page_compared(&page, &n->pairs[i].versus, n->pairs[i].runtime, labels, st);
    if (code == BN_OK)
        code = hn_page_history(&page, &n->history, st);
    if (code == BN_OK) {
        const plot_report report = {.title = "Nightly report",
                                    .store = n->options->store,
                                    .all = &n->tonight,
                                    .side_a = labels[0],
                                    .side_b = labels[1]};
        code = hn_page_write_index(&page, report, n->options->report, st);
    }
    hn_page_free(&page);
    return code;
}

/* ---- the command ------------------------------------------------------------------ */

static bn_code look_back(nightly *n, bn_status *st)
{
    res_history_options options = res_history_defaults();
    options.night_hours = n->options->night_hours;
    bn_code code = move_records(n, st);
    if (code == BN_OK)
        code = res_index_load(n->options->store, NULL, &n->index, st);
    if (code == BN_OK)
        code = compare_all(n, st);
    if (code == BN_OK)
        code = res_history_make(&n->index, &options, &n->history, st);
    if (code == BN_OK)
        tell_history(n);
    return code == BN_OK ? write_page(n, st) : code;
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
}

int hn_command_nightly(const hn_options *options)
{
    bn_status st = {.code = BN_OK};
    nightly n = {.options = options};
    hn_exit ran = HN_EXIT_OK;
    int code = FAILED;
    bn_text_puts(&n.words, "");
    if (!options->suite || !options->report)
        bn_fail(&st, BN_INVALID, "bench nightly needs --suite FILE and --report DIR");
    if (st.code != BN_OK || run_suite(&n, &ran, &st) != BN_OK) {
        hn_complain(&st);
    } else if (ran == HN_EXIT_INTERRUPTED) {
        code = HN_EXIT_INTERRUPTED;
    } else if (ran == HN_EXIT_OK || ran == HN_EXIT_FAILED) {
        if (look_back(&n, &st) != BN_OK)
            hn_complain(&st);
        else
            code = n.failed || ran == HN_EXIT_FAILED ? FAILED
                   : n.slower || n.changed           ? SLOWER
                                                     : NOTHING_SLOWER;
        printf("\n%snightly: %zu failed, %zu slower than the last good night, %zu changed for the "
               "worse; %s/index.html\n",
               n.words.data, n.failed, n.slower, n.changed, options->report);
    }
    nightly_free(&n);
    return code;
}
