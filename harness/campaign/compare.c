/*
 * compare.c - bench compare: the command line, and the verdicts as a table, an exit code and a
 * page. compare_run.c measures.
 */
#define _GNU_SOURCE
#include "harness/campaign/compare_priv.h"
#include "plots/plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "Exit codes: 0 all was compared, and a slowdown of more than --fail-if-slower is excluded; 1\n"
    "error: usage, no such plugin, an experiment that failed on a side or that one side lacks, an\n"
    "A/A control that failed; 2 something is slower (by more than --fail-if-slower), or takes "
    "more\n"
    "memory, also where something failed; 4 inconclusive: no slowdown found, but one would have\n"
    "been missed; 130 interrupted (verdicts on the measured pairs are printed). Text and JSON\n"
    "count what is slower, failed and missing. bench judges wall time, device time, overhead,\n"
    "compile time, memory of the process and of the device.\n"
    "\n"
    "In CI, last night's build against a known good one:\n"
    "\n"
    "  bench compare --runtime ./good.so --runtime ./new.so --model resnet50,bert \\\n"
    "      --mode lazy,capture --fail-if-slower 3% --budget 30m\n"
    "\n"
    "With --bisect the codes are those of git bisect run: 0 good, a slowdown of more than\n"
    "--fail-if-slower is excluded; 2 bad, slower; 125 skip: B was not built or failed, too few\n"
    "pairs for a verdict, or the A/A control failed; 128 ends the bisection: usage, or A itself\n"
    "fails. Give half of the slowdown that you look for:\n"
    "\n"
    "  git bisect start BAD GOOD\n"
    "  git bisect run sh -c 'make plugin || exit 125; bench compare --bisect \\\n"
    "      --runtime /tmp/good.so --runtime ./plugin.so --model resnet50 --fail-if-slower 2%'\n";

int compare_refused(int argc, char **argv)
{
    bool bisect = false;
    /* Parsing may have ended before it came to --bisect. */
    for (int i = 1; i < argc; i++)
        bisect = bisect || strcmp(argv[i], "--bisect") == 0;
    return bisect ? COMPARE_ABORT : COMPARE_ERROR;
}

/* ---- the command line --------------------------------------------------------------- */

/* Splits the values of an option that was given twice, or once with a comma, into PAIR, which stays
 * where it was not given. PAIR may point into *SPLIT, which is the caller's. */
static bn_code split_sides(const char *option, const cli_words *words, char **split,
                           const char *pair[2], bn_status *st)
{
    const size_t count = words->count;
    const char *const *list = words->list;
    if (count == 0)
        return BN_OK;
    const char *comma = strchr(list[0], ',');
    if (count == 1 && comma && !strchr(comma + 1, ',')) {
        *split = bn_strdup(list[0]);
        (*split)[comma - list[0]] = '\0';
        pair[0] = *split;
        pair[1] = *split + (comma - list[0]) + 1;
        return BN_OK;
    }
    if (count != 2)
        return bn_fail(st, BN_INVALID, "--%s needs two values, A's and B's, not %zu: --%s A,B",
                       option, count, option);
    pair[0] = list[0];
    pair[1] = list[1];
    return BN_OK;
}

static bn_code check_options(const compare_options *o, bool stored, bn_status *st)
{
    if (stored && (o->suite || o->conflict))
        return bn_fail(st, BN_INVALID,
                       "--%s chooses experiments, but of two stores all common experiments are "
                       "compared",
                       o->suite ? "suite" : o->conflict);
    if (stored && o->paired)
        return bn_fail(st, BN_INVALID,
                       "--%s is for measuring, but two stores are compared without it: leave it "
                       "out, or give one --store, --runtime A and --runtime B",
                       o->paired);
    if (!o->suite && (o->suites->filter.count || o->suites->exclude.count))
        return bn_fail(st, BN_INVALID, "--filter and --exclude go with --suite");
    if (o->suite && o->conflict)
        return bn_fail(st, BN_INVALID,
                       "--%s and --suite: a suite has its own experiments; choose from them with "
                       "--filter and --exclude",
                       o->conflict);
    if (o->pairs > RES_MOST_PAIRS)
        return bn_fail(st, BN_INVALID, "--pairs takes at most %d", RES_MOST_PAIRS);
    if (o->pairs > 0 && o->precision > 0)
        return bn_fail(st, BN_INVALID,
                       "--pairs and --precision both set the number of pairs: give one of them");
    return BN_OK;
}

/* ---- stores ------------------------------------------------------------------------- */

/* Drops records of ALL, from STORE, that are dated in the future: of too many records the latest
 * are paired, and these would be the latest for ever. */
static void drop_misdated(const char *store, res_collection *all, bn_text *notes)
{
    bn_text words = {0};
    res_misdates_drop(all, (double)time(NULL));
    res_put_misdates(&all->misdates, &words);
    if (words.length > 0) {
        cli_say("bench: %s: %s", store, words.data);
        bn_text_printf(notes, "%s: %s.\n", store, words.data);
    }
    bn_text_free(&words);
}

/* Adds the controls of a comparison whose folders, DIR/a and DIR/b, are STORES. Without them its
 * verdicts are more careful: that they were planned still counts. */
static void add_controls(compare_run *compare, const char *const stores[2], res_collection all[2])
{
    res_versus *versus = &compare->versus;
    bn_status ignored = {.code = BN_OK};
    char *folder = realpath(stores[0], NULL);
    const size_t length = folder ? strlen(folder) : 0;
    if (versus->planned_controls == 0 || length < 2 || strcmp(folder + length - 2, "/a") != 0) {
        free(folder);
        return;
    }
    for (int side = 0; side < 2; side++) {
        bn_text path = {0};
        bn_text_printf(&path, "%.*scontrol-%c", (int)length - 1, folder, side ? 'b' : 'a');
        if (res_store_load(path.data, &all[side], &ignored) == BN_OK) {
            job_say_damaged(all[side].damaged, all[side].damaged_count);
            versus->unread[side] += all[side].damaged_count;
        }
        bn_text_free(&path);
    }
    free(folder);
    res_versus_pair_controls(&all[0], &all[1], versus);
}

/* ALL: of the stores, then of their controls. */
static bn_code compare_stores(compare_run *compare, const char *const stores[2],
                              res_collection all[4], bn_status *st)
{
    res_choice choice[2];
    for (int i = 0; i < 2; i++) {
        choice[i] = (res_choice){stores[i], compare->runtime[i], compare->label[i]};
        if (res_store_load(stores[i], &all[i], st) != BN_OK ||
            (all[i].count == 0 && all[i].damaged_count == 0 &&
             res_store_not_sides(stores[i], st) != BN_OK))
            return st->code;
        job_say_damaged(all[i].damaged, all[i].damaged_count);
        compare->versus.unread[i] = all[i].damaged_count;
        drop_misdated(stores[i], &all[i], &compare->versus.notes);
    }
    compare->versus.whole = true;
    bn_code code = res_versus_pair(&all[0], &all[1], choice, &compare->versus, st);
    if (code == BN_OK)
        add_controls(compare, stores, all + 2);
    if (code == BN_OK)
        code = res_versus_judge(&compare->versus, st);
    if (code == BN_OK)
        res_versus_note_pairs(&compare->versus);
    return code;
}

/* ---- the end ------------------------------------------------------------------------ */

static int exit_of(const compare_run *compare)
{
    const res_versus *versus = &compare->versus;
    const res_versus_sum sum = res_versus_add_up(versus);
    bool a_failed = false;
    for (size_t i = 0; i < versus->count; i++)
        a_failed = a_failed || versus->cells[i].failed == 'A' ||
                   (versus->cells[i].control && versus->cells[i].failed);
    const bool failed = sum.failed || sum.missing || sum.unread || sum.dead_controls;
    if (job_interrupted())
        return CLI_EXIT_INTERRUPTED;
    const bool slower = sum.slower > 0 || versus->b_slow;
    if (compare->options->bisect)
        return a_failed                               ? COMPARE_ABORT
               : sum.alarms                           ? COMPARE_SKIP
               : slower                               ? COMPARE_SLOWER
               : failed || sum.open || !versus->count ? COMPARE_SKIP
                                                      : COMPARE_FINE;
    return sum.alarms         ? COMPARE_ERROR
           : slower           ? COMPARE_SLOWER
           : failed           ? COMPARE_ERROR
           : sum.inconclusive ? COMPARE_INCONCLUSIVE
                              : COMPARE_FINE;
}

/* TEXT to standard output, without a pager after measuring: a bisection must not wait for a key. */
static void show(const compare_run *compare, const bn_text *text)
{
    if (!text->data)
        return;
    if (compare->store[0])
        cli_out("%s", text->data);
    else
        cli_show(text->data);
}

/* The verdicts in the terminal's width; all of them where a pager shows them. */
static void print_narrow(const compare_run *compare)
{
    bn_text narrow = {0}, wide = {0};
    res_table_versus(&compare->versus, RES_TABLE_NARROW, &narrow);
    if (!compare->store[0] && cli_is_long(narrow.data))
        res_table_versus(&compare->versus, RES_TABLE_TEXT, &wide);
    show(compare, cli_page_of(&narrow, &wide));
    if (compare->store[0]) {
        char threshold[48] = "";
        if (compare->options->fail_if_slower > 0)
            snprintf(threshold, sizeof threshold, " --fail-if-slower %g%%",
                     100 * compare->options->fail_if_slower);
        cli_note_command("compare: all columns: bench compare --wide --store %s/a --store %s/b%s",
                         compare->store, compare->store, threshold);
    }
    bn_text_free(&narrow);
    bn_text_free(&wide);
}

static void print_page(const compare_run *compare, res_format format)
{
    bn_text text = {0}, page = {0};
    res_table_versus(&compare->versus, format, &text);
    if (format == RES_TABLE_HTML && text.data)
        res_put_page(&page, "Comparison of two runtimes", text.data);
    show(compare, format == RES_TABLE_HTML ? &page : &text);
    bn_text_free(&text);
    bn_text_free(&page);
}

static void print(const compare_run *compare, res_format format)
{
    bn_text text = {0};
    if (cli_is_narrow(&compare->options->output))
        print_narrow(compare);
    else
        print_page(compare, format);
    /* Formats for programs lack the last line of the table: people read it here. */
    res_versus_summary(&compare->versus, &text);
    if ((format == RES_TABLE_JSON || format == RES_TABLE_CSV) && text.data)
        cli_say("compare: %s", text.data);
    bn_text_free(&text);
}

/* ---- the page ----------------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
    return strcmp((*(const res_record *const *)a)->id, (*(const res_record *const *)b)->id);
}

/* The compared records, in order of their ids; borrowed. */
static void compared_records(const res_versus *versus, res_collection *all)
{
    all->records = bn_zalloc(2 * RES_MOST_PAIRS * versus->count + 1, sizeof(res_record *));
    for (size_t i = 0; i < versus->count; i++)
        for (size_t k = 0; k < versus->cells[i].pairs; k++) {
            const res_compared *cell = &versus->cells[i];
            all->records[all->count++] = (res_record *)(uintptr_t)cell->a[k];
            all->records[all->count++] = (res_record *)(uintptr_t)cell->b[k];
        }
    qsort(all->records, all->count, sizeof *all->records, by_id);
}

static void put_settings(bn_text *name, const char *const *settings)
{
    for (; settings && *settings; settings++)
        bn_text_printf(name, "%s%s", name->length ? ", " : "", *settings);
}

/* Names a side: runtime, label, store, and its own options. */
static void name_side(const compare_run *compare, const char *const stores[2], int side,
                      bn_text *name)
{
    const compare_options *o = compare->options;
    const char *words[4] = {NULL};
    size_t count = 0;
    if (compare->runtime[side])
        words[count++] = compare->runtime[side];
    if (compare->label[side])
        words[count++] = compare->label[side];
    if (stores[side])
        words[count++] = stores[side];
    put_settings(name, words);
    put_settings(name, side ? o->b_option : o->a_option);
    put_settings(name, side ? o->b_flag : o->a_flag);
}

static bn_code write_page(const compare_run *compare, const char *const stores[2], bn_status *st)
{
    const res_versus *versus = &compare->versus;
    bn_text name[2] = {{0}, {0}};
    plot_page page = {0};
    res_collection all = {0};
    for (int side = 0; side < 2; side++)
        name_side(compare, stores, side, &name[side]);
    const char *const labels[2] = {name[0].data, name[1].data};
    compared_records(versus, &all);
    bn_code code = plot_page_compared(&page, versus, NULL, labels, st);
    if (code == BN_OK) {
        const plot_report report = {.title = "Comparison of two runtimes",
                                    .store = compare->store[0] ? compare->store : "two stores",
                                    .all = &all,
                                    .side_a = labels[0],
                                    .side_b = labels[1]};
        code = plot_page_write_index(&page, report, compare->options->report, st);
    }
    plot_page_free(&page);
    free(all.records);
    for (int side = 0; side < 2; side++)
        bn_text_free(&name[side]);
    return code;
}

/* ---- the command --------------------------------------------------------------------- */

/* Reports a failure before any verdict; returns the exit code. */
static int refused(const compare_run *compare, const bn_status *st)
{
    cli_complain(st);
    if (job_interrupted())
        return CLI_EXIT_INTERRUPTED;
    if (!compare->options->bisect)
        return COMPARE_ERROR;
    return compare->fault == 'B' ? COMPARE_SKIP : COMPARE_ABORT;
}

/* The parsed command line. */
typedef struct words {
    res_format format;
    bool stored; /* two stores are compared, and nothing is run */
    const char *stores[2];
    char *split[3]; /* the sides' names may point into these */
} words;

static bn_code parse_sides(compare_run *compare, words *w, bn_status *st)
{
    const compare_options *o = compare->options;
    w->stored = o->stores.count > 1 || (o->stores.count == 1 && strchr(o->stores.list[0], ','));
    bn_code code = res_format_parse(cli_format(&o->output), &w->format, st);
    if (code == BN_OK)
        code = check_options(o, w->stored, st);
    if (code == BN_OK)
        code = split_sides("runtime", &o->runtimes, &w->split[0], compare->runtime, st);
    if (code == BN_OK)
        code = split_sides("label", &o->labels, &w->split[1], compare->label, st);
    if (code == BN_OK && w->stored)
        code = split_sides("store", &o->stores, &w->split[2], w->stores, st);
    if (code == BN_OK && !w->stored && !compare->runtime[0])
        code = bn_fail(st, BN_INVALID,
                       "compare takes two runtimes, --runtime A --runtime B, or two folders of "
                       "records, --store A --store B");
    return code;
}

static int compare_sides(const compare_options *options)
{
    bn_status st = {.code = BN_OK};
    compare_run compare = {.options = options};
    res_collection all[4] = {{0}};
    words w = {.format = RES_TABLE_TEXT};
    res_versus_begin(&compare.versus, options->fail_if_slower);
    compare.versus.all_measures = true;
    bn_code code = parse_sides(&compare, &w, &st);
    if (code == BN_OK)
        code = w.stored ? compare_stores(&compare, w.stores, all, &st)
                        : compare_measure(&compare, &st);
    int end = code == BN_OK ? exit_of(&compare) : refused(&compare, &st);
    /* A pager waits for its reader, and the page shall be there by then. */
    if (code == BN_OK && options->report && write_page(&compare, w.stores, &st) != BN_OK) {
        cli_complain(&st);
        end = end == COMPARE_FINE || end == COMPARE_INCONCLUSIVE ? COMPARE_ERROR : end;
    }
    if (code == BN_OK)
        print(&compare, w.format);
    for (size_t i = 0; i < compare.record_count; i++)
        res_record_free(compare.records[i]);
    free(compare.records);
    res_versus_free(&compare.versus);
    for (int i = 0; i < 4; i++)
        res_collection_free(&all[i]);
    for (int i = 0; i < 3; i++)
        free(w.split[i]);
    return end;
}

/* ---- the command --------------------------------------------------------------------- */

/* Rows of --help, and the variables that they set. */
typedef struct compare_line {
    compare_options own;
    job_matrix matrix;
    suite_options suites;
    const char *a_option[CLI_MAX_REPEATS + 1], *b_option[CLI_MAX_REPEATS + 1];
    const char *a_flag[CLI_MAX_REPEATS + 1], *b_flag[CLI_MAX_REPEATS + 1];
} compare_line;
#define AT(member) offsetof(compare_line, member)

static const cli_option rows[] = {
    {"runtime", "NAME", CLI_WORDS, AT(own.runtimes), .values = job_runtime_names, .open = true,
     .also = "a, b, backend, device, platform, plugin",
     .text = "given twice, A and B (or once, A,B): a name (bench list runtimes) or the path of a "
             "plugin; of stores, which records count"},
    {"a-option", "NAME=VALUE", CLI_PAIRS, AT(a_option), .about = JOB_ABOUT_PAIRS,
     .text = "option for the client of A only; may be repeated"},
    {"b-option", "NAME=VALUE", CLI_PAIRS, AT(b_option), .about = JOB_ABOUT_PAIRS,
     .text = "option for the client of B only; may be repeated"},
    {"a-flag", "NAME=VALUE", CLI_PAIRS, AT(a_flag), .about = JOB_ABOUT_PAIRS,
     .text = "compiler option for A only; may be repeated"},
    {"b-flag", "NAME=VALUE", CLI_PAIRS, AT(b_flag), .about = JOB_ABOUT_PAIRS,
     .text = "compiler option for B only; may be repeated"},
    {"label", "TEXT", CLI_WORDS, AT(own.labels), .empty = true,
     .text = "given twice: what the builds are (commits, say), for the records; of stores, which "
             "records count"},
    {"store", "DIR", CLI_WORDS, AT(own.stores), .also = "results",
     .text = "where the records go, in DIR/a and DIR/b; by default a new folder in bench-results. "
             "Given twice, nothing is run: the records of both folders are compared"},
    {"suite", "FILE", CLI_TEXT, AT(own.suite), .choices = SUITE_NAMES, .open = true,
     .text = "what to run: a suite file, or " SUITE_NAMES "; in place of --model, --mode and the "
             "like, without its runtimes and repetitions"},
    {"min-time", "TIME", CLI_SPAN, AT(matrix.how.min_time), .fallback = "1",
     .about = JOB_ABOUT_WORK,
     .text =
         "each process measures at least this long; more pairs help more than longer processes"},
    {"pairs", "N", CLI_NUMBER, AT(own.pairs), .fallback = "0", .about = JOB_ABOUT_PAIRS,
     .text =
         "pairs of processes for each comparison, at most 64, judged once, and 12 after 6 and 12; "
         "0: until it is decided, with interim analyses after 6, 12 and 24 pairs. Of steps "
         "below 2 ms each pair but the first takes a quarter of --min-time"},
    {"precision", "SHARE", CLI_SHARE, AT(own.precision), .fallback = "0", .about = JOB_ABOUT_PAIRS,
     .text = "run pairs until wall times are known to about this share, as 1%, whatever the "
             "verdicts; 0: off"},
    {"budget", "TIME", CLI_SPAN, AT(own.budget), .fallback = "0", .about = JOB_ABOUT_PAIRS,
     .text = "start no pair that would end after this time: 90s, 10m, 2h; 0: no limit. After one "
             "pair of each, compare says how many fit, shortens the control where they do not "
             "suffice, and refuses a budget for fewer than 6"},
    {"fail-if-slower", "SHARE", CLI_SHARE, AT(own.fail_if_slower), .fallback = "0",
     .text = COMPARE_FAIL_TEXT},
    {"control", "N", CLI_NUMBER, AT(own.control), .fallback = "1", .about = JOB_ABOUT_PAIRS,
     .text = "experiments in which A is compared with itself, too; 0: none"},
    {"bisect", NULL, CLI_FLAG, AT(own.bisect), .text = "exit codes for git bisect run"},
    {"report", "DIR", CLI_TEXT, AT(own.report), .text = "folder of the page, index.html"},
    {"force", NULL, CLI_FLAG, AT(own.output.force),
     .text = "of no effect: pages are replaced, since they can be made again from the records"},
};

static bn_code check(void *options, const cli_call *call, bn_status *st)
{
    return job_recorded_check(&((compare_line *)options)->matrix, call, st);
}

static int run(void *options, const cli_call *call)
{
    compare_line *line = options;
    compare_options own = line->own;
    own.matrix = &line->matrix;
    own.suites = &line->suites;
    own.a_option = line->a_option;
    own.b_option = line->b_option;
    own.a_flag = line->a_flag;
    own.b_flag = line->b_flag;
    own.conflict = cli_given(call, JOB_ABOUT_WORK);
    own.paired = cli_given(call, JOB_ABOUT_PAIRS);
    line->matrix.echo = cli_echo(call->table, line);
    const int code = compare_sides(&own);
    json_decref(line->matrix.echo);
    return code;
}

const cli_command compare_command = {
    .name = "compare",
    .usage = "bench compare --runtime A --runtime B [--suite FILE] [OPTIONS]",
    .summary =
        "is runtime B slower than A, by how much, and where: paired processes, or two stores",
    .section = JOB_SECTION_MEASURE,
    .bare = "runtime",
    .size = sizeof(compare_line),
    .output = AT(own.output),
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .groups = {{.table = job_axis_table,
                .offset = AT(matrix),
                .rows = UINT64_MAX,
                .without = JOB_AXIS_BIT(RUNTIME)},
               {.table = job_program_table, .offset = AT(matrix), .rows = JOB_PROGRAM_RUN},
               {.table = job_recorded_table,
                .offset = AT(matrix.recorded),
                .rows = JOB_RECORDED_FOLDER | JOB_RECORDED_STEP | JOB_RECORDED_COST},
               {.table = job_measure_table,
                .offset = AT(matrix.how),
                .about = JOB_ABOUT_BUILD | JOB_ABOUT_LOOP,
                .rows = JOB_MEASURE_BIT(weights)},
               {.table = suite_table, .offset = AT(suites), .rows = SUITE_ROWS_TITLES},
               {.table = cli_output_table, .offset = AT(own.output), .rows = CLI_OUT_TABLES}},
    .part = &job_matrix_part,
    .part_at = AT(matrix),
    .check = check,
    .run = run,
    .refused = compare_refused,
    .help = help,
};
