/*
 * plots_fixture.h - a store with known figures, and ways to look at scripts and pages.
 */
#ifndef BENCH_TESTS_PLOTS_FIXTURE_H
#define BENCH_TESTS_PLOTS_FIXTURE_H

#include "tests/support/results_fixture.h"

#include "plots/plot_priv.h"

#define UNKNOWN ((double)NAN)
/* All that gnuplot, HTML and SVG have a meaning for. */
#define HOSTILE "a'b\"<i>&`touch x`@t{x}_2^3%s\\n"

static const fixture_case cases[] = {
    {"cpu", "resnet50", "train", "eager", 1, 4, 1200000, 151000000, UNKNOWN, 1309},
    {"cpu", "resnet50", "train", "lazy", 1, 4, 2900000, 25000000, 19000000, 1309},
    {"cpu", "resnet50", "train", "capture", 1, 4, 0, 20000000, 19000000, 0},
    {"cpu", "resnet50", "train", "capture", 5, 4, 0, 31000000, 4500000, 0},
    {"cpu", "bert", "train", "lazy", 1, 8, 1500000, 61000000, 55000000, 811},
    {"cpu", "bert", "train", "capture", 1, 8, 0, 59000000, 55000000, 0},
};
#define CASES (sizeof cases / sizeof *cases)
enum { EAGER, LAZY, CAPTURE, CAPTURE_5, BERT_LAZY, BERT_CAPTURE };

static inline int begin(void **state)
{
    (void)state;
    res_store_begin();
    return 0;
}

/* Process P of a case. Ids as of runs an hour apart, and cases a day, so that nothing depends on
 * when the test runs. */
static inline res_record *process_of(size_t which, size_t p)
{
    fixture_case c = cases[which];
    c.wall_ns += c.wall_ns / 1000 * (p * (which + 7) % 5);
    c.device_ns += 1000 * (double)p;
    res_record *record = fixture_record(&c, 60);
    snprintf(record->id, sizeof record->id, "202601%02zuT1%zu0000.000000000Z-host-1-%zu", which + 1,
             p, which);
    return record;
}

/* A process of each case. */
static inline res_collection sample(void)
{
    res_collection all = {.records = calloc(CASES + 1, sizeof(res_record *)), .count = CASES};
    assert_non_null(all.records);
    for (size_t i = 0; i < CASES; i++)
        all.records[i] = process_of(i, 0);
    return all;
}

#define PROCESSES 3
/* As many of each: process P of case I stands at P * CASES + I. */
static inline res_collection repeated(void)
{
    res_collection all = {.records = calloc(PROCESSES * CASES + 1, sizeof(res_record *)),
                          .count = PROCESSES * CASES};
    assert_non_null(all.records);
    for (size_t i = 0; i < PROCESSES * CASES; i++)
        all.records[i] = process_of(i % CASES, i / CASES);
    return all;
}

static inline void assert_has(const char *text, const char *wanted)
{
    if (!text || !strstr(text, wanted))
        fail_msg("no \"%s\" in:\n%.3000s", wanted, text ? text : "(nothing)");
}

static inline void assert_lacks(const char *text, const char *unwanted)
{
    if (strstr(text, unwanted))
        fail_msg("\"%s\" in:\n%.3000s", unwanted, text);
}

static inline size_t occurrences(const char *text, const char *what)
{
    size_t n = 0;
    while ((text = strstr(text, what)) != NULL) {
        text += strlen(what);
        n++;
    }
    return n;
}

/* The lines of the data block NAME, to be freed. */
static inline char *block(const plot *p, const char *name)
{
    char head[64];
    snprintf(head, sizeof head, "$%s << EOD\n", name);
    const char *from = strstr(p->script.data, head);
    if (!from)
        fail_msg("no data %s", name);
    from += strlen(head);
    const char *to = strstr(from, "EOD\n");
    assert_non_null(to);
    return strndup(from, (size_t)(to - from));
}

#endif
