/*
 * debug_explain.c - the reports of a debug run that need steps of their own: bench explain on each
 * experiment, and bench study scopes on each step. Both run in workers after the measurement.
 */
#include "harness/commands/debug_run_priv.h"
#include "harness/explain/explain.h"
#include "harness/scopes/scopes.h"

#include <stdio.h>
#include <string.h>

#define MOST_STEPS 10

/* Appends a report on E, or fails. */
typedef bn_code report_of(const job_experiment *e, const job_order *order, bn_text *out,
                          bn_status *st);

/* Whether bench itself traces the steps of E into graphs. */
static bool is_traced(const job_experiment *e)
{
    return !e->program && !job_is_framework(&e->what) && !job_mode_by_op(e->what.mode);
}

/* Whether an experiment of LIST before INDEX has the same step: all modes trace the same. */
static bool was_traced(const job_experiment *list, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        res_experiment other = list[i].what;
        snprintf(other.mode, sizeof other.mode, "%s", list[index].what.mode);
        other.graphs = list[index].what.graphs;
        if (is_traced(&list[i]) && res_same_experiment(&other, &list[index].what))
            return true;
    }
    return false;
}

/* Appends the REPORT on E, or why it failed; WHAT names it in the progress line. */
static void put_one(const job_experiment *e, report_of *report, const char *what, bn_text *out)
{
    char title[256], shown[300];
    bn_status st = {.code = BN_OK};
    job_experiment first = *e;
    first.how.steps = MOST_STEPS;
    job_experiment_title(e, title, sizeof title);
    snprintf(shown, sizeof shown, "%s, %s", title, what);
    const job_order order = {NULL, shown, 1, 1, e->how.timeout, false, false};
    if (out->length > 0)
        bn_text_putc(out, '\n');
    if (report(&first, &order, out, &st) != BN_OK)
        bn_text_printf(out, "%s: %s: %s\n", title, bn_code_name(st.code), st.message);
    cli_line_clear();
}

void command_debug_explain(const job_experiment *list, size_t count, bn_text *out)
{
    for (size_t i = 0; i < count && !job_interrupted(); i++)
        if (is_traced(&list[i]))
            put_one(&list[i], explain_report, "explained", out);
}

void command_debug_scopes(const job_experiment *list, size_t count, bn_text *out)
{
    for (size_t i = 0; i < count && !job_interrupted(); i++)
        if (is_traced(&list[i]) && !was_traced(list, i))
            put_one(&list[i], scopes_report_put, "by scope", out);
}
