/*
 * steps_diff.c - the steps of two recordings next to each other: answer, then tables.
 */
#include "harness/commands/recording_priv.h"
#include "harness/commands/steps_diff_priv.h"

#include <math.h>
#include <string.h>

#define MOST_PROGRAMS 12 /* that people see: those that differ most */

/* ---- cells -------------------------------------------------------------------------------------
 */

static void put_time(json_t *row, double ns)
{
    bn_text text = {0};
    if (isfinite(ns)) {
        bn_text_puts(&text, ns < 0 ? "-" : "");
        rec_time_put(&text, fabs(ns));
    }
    json_array_append_new(row, res_json_text(text.data ? text.data : ""));
    bn_text_free(&text);
}

/* The cells of CHANGE: A, B, what B has more, from, to, and whether that is claimed. */
static void put_change(json_t *row, const rec_change *change)
{
    put_time(row, change->a_ns);
    put_time(row, change->b_ns);
    put_time(row, change->more_ns.estimate);
    put_time(row, change->more_ns.low);
    put_time(row, change->more_ns.high);
    res_sheet_put(row, "%s", change->claimed ? "yes" : "");
}
#define CHANGE_COLUMNS                                                                             \
    {"A", true}, {"B", true}, {"B - A", true}, {"from", true}, {"to", true},                       \
    {                                                                                              \
        "differs", false                                                                           \
    }

static json_t *add_row(json_t *rows, const char *name)
{
    json_t *row = json_array();
    json_array_append_new(rows, row);
    json_array_append_new(row, res_json_text(name));
    return row;
}

/* ---- tables ------------------------------------------------------------------------------------
 */

static void put_ledger(const rec_differences *d, res_format format, bn_text *out)
{
    static const res_sheet_column columns[] = {{"part", false}, CHANGE_COLUMNS};
    json_t *rows = json_array();
    for (int i = 0; i < REC_PART_COUNT; i++)
        if (d->part[i].a_ns > 0 || d->part[i].b_ns > 0)
            put_change(add_row(rows, rec_part_name((rec_part)i)), &d->part[i]);
    put_change(add_row(rows, "wall"), &d->wall);
    if (isfinite(d->busy.a_ns))
        put_change(add_row(rows, "device busy"), &d->busy);
    res_sheet_write(columns, sizeof columns / sizeof *columns, rows, format, out);
    json_decref(rows);
}

/* Its time in a step: on the device where that is known. */
static const rec_change *time_of(const rec_program_change *p)
{
    return isfinite(p->device.a_ns) ? &p->device : &p->call;
}

/* The change that the MOST_PROGRAMSth largest has; people see none that is smaller. */
static double least_shown(const rec_differences *d)
{
    double largest[MOST_PROGRAMS + 1] = {0};
    for (size_t i = 0; i < d->program_count; i++) {
        const double own = fabs(time_of(&d->programs[i])->more_ns.estimate);
        size_t at = MOST_PROGRAMS;
        for (; at > 0 && own > largest[at - 1]; at--)
            largest[at] = largest[at - 1];
        largest[at] = at < MOST_PROGRAMS ? own : largest[at];
    }
    return d->program_count > MOST_PROGRAMS ? largest[MOST_PROGRAMS - 1] : 0;
}

static void put_count(json_t *row, const rec_steps *steps, uint32_t index)
{
    if (index == REC_NONE)
        res_sheet_put(row, "-");
    else
        res_sheet_put(row, "%.4g", steps->programs[index].times);
}

static void put_programs(const rec_differences *d, res_format format, bn_text *out)
{
    static const res_sheet_column columns[] = {
        {"program", false}, {"times A", true}, {"times B", true}, CHANGE_COLUMNS};
    const bool whole = !res_format_is_text(format);
    const double least = whole ? 0 : least_shown(d);
    size_t shown = 0;
    json_t *rows = json_array();
    for (size_t i = 0; i < d->program_count; i++) {
        const rec_program_change *p = &d->programs[i];
        const int side = p->b == REC_NONE ? 0 : 1;
        const rec_steps *s = d->steps[side];
        const rec_program *program = &s->process->programs[s->programs[side ? p->b : p->a].program];
        if (fabs(time_of(p)->more_ns.estimate) < least || (!whole && shown == MOST_PROGRAMS))
            continue;
        shown++;
        json_t *row = add_row(rows, program->name[0] ? program->name : program->hash);
        put_count(row, d->steps[0], p->a);
        put_count(row, d->steps[1], p->b);
        put_change(row, time_of(p));
    }
    res_sheet_write(columns, sizeof columns / sizeof *columns, rows, format, out);
    if (shown < d->program_count)
        bn_text_printf(out, "and %zu programs more\n", d->program_count - shown);
    json_decref(rows);
}

static void put_findings(const rec_differences *d, res_format format, bn_text *out)
{
    static const res_sheet_column columns[] = {{"finding", false}, {"A", true}, {"B", true}};
    json_t *rows = json_array();
    for (size_t i = 0; i < d->finding_count; i++) {
        const rec_finding_change *f = &d->findings[i];
        json_t *row = add_row(rows, rec_rule_name(f->rule));
        for (int side = 0; side < 2; side++) {
            const rec_finding *finding = rec_finding_of(d, f, side);
            bn_text cost = {0};
            if (finding)
                rec_finding_cost(finding, &cost);
            json_array_append_new(row, res_json_text(cost.data ? cost.data : "-"));
            bn_text_free(&cost);
        }
    }
    if (d->finding_count)
        bn_text_putc(out, '\n');
    if (d->finding_count)
        res_sheet_write(columns, sizeof columns / sizeof *columns, rows, format, out);
    json_decref(rows);
}

/* ---- all of it ---------------------------------------------------------------------------------
 */

static void put_side(const char *name, const char *path, const rec_steps *s, bn_text *out)
{
    const rec_process *p = s->process;
    const rec_device *device = s->device == REC_NONE ? NULL : &p->devices[s->device];
    const rec_plugin *plugin =
        device && device->plugin != REC_NONE ? &p->plugins[device->plugin] : NULL;
    bn_text_printf(out, "%s: %s: process %u, %s, on %s, %zu %ssteps of ", name,
                   path, p->pid, p->framework[0] ? p->framework : "an unknown framework",
                   plugin && plugin->platform[0] ? plugin->platform : "an unknown platform",
                   s->count, s->kept ? "" : "steady ");
    rec_executions_put(s, out);
    bn_text_puts(out, "\n");
}

void command_steps_diff_put(const rec_differences *d, const char *const paths[2], res_format format,
                            bn_text *out)
{
    bn_text words = {0};
    const bool sentences = res_format_is_text(format) || format == RES_TABLE_MARKDOWN;
    if (sentences) {
        put_side("A", paths[0], d->steps[0], &words);
        put_side("B", paths[1], d->steps[1], &words);
        command_put_words(words.data, format, out);
        bn_text_free(&words);
        bn_text_putc(out, '\n');
        rec_differences_put(d, &words);
        command_put_words(words.data, format, out);
        bn_text_free(&words);
        bn_text_putc(out, '\n');
    }
    put_ledger(d, format, out);
    bn_text_putc(out, '\n');
    put_programs(d, format, out);
    put_findings(d, format, out);
    if (res_format_is_text(format))
        res_put_set_in(out, format,
                       "\nmeans of a step; programs: times: a step, else on the device; from, to: "
                       "95 %\n");
    bn_text_putc(out, '\n');
}

void command_steps_diff_none(const char *const paths[2], const char *why, res_format format,
                             bn_text *out)
{
    bn_text words = {0};
    if (!res_format_is_text(format) && format != RES_TABLE_MARKDOWN)
        return;
    bn_text_printf(&words, "A: %s\nB: %s\nSteps are not compared: %s.\n", paths[0], paths[1], why);
    command_put_words(words.data, format, out);
    bn_text_putc(out, '\n');
    bn_text_free(&words);
}
