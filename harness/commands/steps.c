/*
 * steps.c - bench steps: where the time of a recording's steps went, and what bounds them.
 */
#include "harness/commands/places_priv.h"
#include "harness/commands/recording_priv.h"
#include "results/complaints/complaints.h"
#include "results/recordings/views.h"
#include "results/tables/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Programs that people are shown: those with most device time. */
#define MOST_PROGRAMS 12
#define MOST_NAME     24
/* Threads that are listed. */
#define MOST_THREADS  8

/* ---- cells ------------------------------------------------------------------------------ */

/* A short text by value. */
typedef struct cell {
    char text[32];
} cell;

/* Three digits and a unit, "-" where it is unknown. */
static cell time_cell(double ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    cell c = {"-"};
    size_t unit = 0;
    if (!isfinite(ns))
        return c;
    for (; unit < 3 && ns >= 999.5; unit++)
        ns /= 1000;
    snprintf(c.text, sizeof c.text, "%.*f %s",
             unit == 0 || ns >= 99.95 ? 0
             : ns >= 9.995            ? 1
                                      : 2,
             ns, units[unit]);
    return c;
}

static cell percent_cell(double part, double whole)
{
    cell c = {"-"};
    if (isfinite(part) && whole > 0)
        snprintf(c.text, sizeof c.text, "%.1f %%", 100 * part / whole);
    return c;
}

static json_t *add_row(json_t *rows)
{
    json_t *row = json_array();
    json_array_append_new(rows, row);
    return row;
}

/* ---- the ledger ------------------------------------------------------------------------- */

static void put_figure(json_t *rows, const char *name, rec_figure f, double wall, double gap)
{
    json_t *row = add_row(rows);
    res_sheet_put(row, "%s", name);
    res_sheet_put(row, "%s", time_cell(f.median_ns).text);
    res_sheet_put(row, "%s", time_cell(f.p10_ns).text);
    res_sheet_put(row, "%s", time_cell(f.p90_ns).text);
    res_sheet_put(row, "%s", time_cell(f.mean_ns).text);
    res_sheet_put(row, "%s", percent_cell(f.mean_ns, wall).text);
    res_sheet_put(row, "%s", isfinite(gap) ? time_cell(gap).text : "");
}

static void put_ledger(const rec_steps *steps, res_format format, bn_text *out)
{
    static const res_sheet_column columns[] = {
        {"part", false}, {"median", true}, {"p10", true},        {"p90", true},
        {"mean", true},  {"share", true},  {"device idle", true}};
    const double nan = (double)NAN;
    json_t *rows = json_array();
    const rec_figure wall = rec_steps_wall(steps);
    double idle = 0;
    for (int i = 0; i < REC_PART_COUNT; i++) {
        const rec_figure part = rec_steps_part(steps, (rec_part)i);
        const double gap = rec_steps_gap(steps, (rec_part)i).mean_ns;
        idle += gap;
        /* Most steady steps compile nothing, many copy nothing back, and have the core. */
        const bool rare = i == REC_PART_COMPILE || i == REC_PART_READ || i == REC_PART_READY;
        if (!rare || part.mean_ns > 0)
            put_figure(rows, rec_part_name((rec_part)i), part, wall.mean_ns,
                       steps->completions ? gap : nan);
    }
    put_figure(rows, "wall", wall, wall.mean_ns, steps->completions ? idle : nan);
    if (steps->completions)
        put_figure(rows, "device busy", rec_steps_busy(steps), wall.mean_ns, nan);
    res_sheet_write(columns, sizeof columns / sizeof *columns, rows, format, out);
    json_decref(rows);
}

/* ---- the whole run ------------------------------------------------------------------------ */

static void put_run(const rec_run *run, res_format format, bn_text *out)
{
    static const res_sheet_column columns[] = {{"run", false}, {"time", true}, {"share", true}};
    const double all = (double)(run->end_ns - run->begin_ns);
    json_t *rows = json_array();
    for (int i = 0; i < REC_RUN_PART_COUNT; i++) {
        if (run->part_ns[i] <= 0)
            continue;
        json_t *row = add_row(rows);
        res_sheet_put(row, "%s", rec_run_name((rec_run_part)i));
        res_sheet_put(row, "%s", time_cell(run->part_ns[i]).text);
        res_sheet_put(row, "%s", percent_cell(run->part_ns[i], all).text);
    }
    json_t *row = add_row(rows);
    res_sheet_put(row, "all");
    res_sheet_put(row, "%s", time_cell(all).text);
    res_sheet_put(row, "%s", percent_cell(all, all).text);
    res_sheet_write(columns, sizeof columns / sizeof *columns, rows, format, out);
    json_decref(rows);
}

/* ---- threads ---------------------------------------------------------------------------- */

static void put_thread(const rec_steps *steps, const rec_step_thread *t, json_t *rows)
{
    const rec_thread *thread = &steps->process->threads[t->thread];
    json_t *row = add_row(rows);
    res_sheet_put(row, "%.*s%s%u", BN_FIT(thread->name, 24), thread->name[0] ? " " : "",
                  thread->number);
    res_sheet_put(row, "%.4g", t->executions);
    res_sheet_put(row, "%s", time_cell(t->host_work.mean_ns).text);
    res_sheet_put(row, "%s", time_cell(t->dispatch.mean_ns).text);
    res_sheet_put(row, "%s", time_cell(t->calls.mean_ns).text);
}

/* Means, because a program's threads may take turns from step to step. */
static void put_threads(const rec_steps *steps, res_format format, bn_text *out)
{
    static const res_sheet_column columns[] = {{"thread", false},
                                               {"executions", true},
                                               {"host_work", true},
                                               {"dispatch", true},
                                               {"other calls", true}};
    const bool whole = !res_format_is_text(format);
    const size_t shown =
        whole || steps->thread_count < MOST_THREADS ? steps->thread_count : MOST_THREADS;
    const size_t more = steps->thread_count - shown + steps->threads_unlisted;
    json_t *rows = json_array();
    for (size_t i = 0; i < shown; i++)
        put_thread(steps, &steps->threads[i], rows);
    res_sheet_write(columns, sizeof columns / sizeof *columns, rows, format, out);
    if (!whole && more > 0)
        bn_text_printf(out, "and %zu thread%s more\n", more, more == 1 ? "" : "s");
    json_decref(rows);
}

/* ---- programs --------------------------------------------------------------------------- */

/* Time of a program in a step: on the device, or in calls where completions are unknown. */
static double weight(const rec_step_program *p)
{
    return isfinite(p->device_step_ns) ? p->device_step_ns : p->call_ns * p->times;
}

/* The rows of the MOST_PROGRAMS that weigh most into ROWS, the heaviest first; returns how many. A
 * recording may have any number of programs, so each is looked at once. */
static size_t heaviest(const rec_steps *steps, size_t rows[MOST_PROGRAMS])
{
    size_t count = 0;
    for (size_t i = 0; i < steps->program_count; i++) {
        const double own = weight(&steps->programs[i]);
        size_t at = count;
        while (at > 0 && own > weight(&steps->programs[rows[at - 1]]))
            at--;
        if (at == MOST_PROGRAMS)
            continue;
        count += count < MOST_PROGRAMS;
        memmove(rows + at + 1, rows + at, (count - at - 1) * sizeof *rows);
        rows[at] = i;
    }
    return count;
}

/* Whether INDEX is among the COUNT ROWS. */
static bool is_among(const size_t *rows, size_t count, size_t index)
{
    while (count > 0 && rows[count - 1] != index)
        count--;
    return count > 0;
}

/* NAME in at most MOST bytes: names differ at their ends, too. */
static void put_name(json_t *row, const char *name, size_t most)
{
    const size_t length = strlen(name), head = bn_utf8_fit(name, most / 2);
    const char *tail = name + length - (length < most / 2 ? length : most / 2 - 2);
    /* Do not cut within a UTF-8 character. */
    while ((*tail & 0xC0) == 0x80)
        tail++;
    if (length <= most)
        res_sheet_put(row, "%s", name);
    else
        res_sheet_put(row, "%.*s..%s", (int)head, name, tail);
}

static bool has_variants(const rec_steps *steps)
{
    for (size_t i = 0; i < steps->program_count; i++)
        if (steps->programs[i].variants > 1)
            return true;
    return false;
}

/* How many there are, and the range of their device times: "32, 387 us to 1.10 ms". */
static void put_variants(json_t *row, const rec_step_program *p)
{
    if (p->variants > 1 && isfinite(p->least_device_ns))
        res_sheet_put(row, "%u, %s to %s", p->variants, time_cell(p->least_device_ns).text,
                      time_cell(p->most_device_ns).text);
    else
        res_sheet_put(row, "%u", p->variants);
}

/* Kernels and overheads have columns where a profile was taken. */
static void put_program(const rec_steps *steps, const rec_step_program *p, bool whole, json_t *rows)
{
    const bool profiled = steps->process->profile.program_count > 0;
    const rec_program *program = &steps->process->programs[p->program];
    json_t *row = add_row(rows);
    put_name(row, program->name[0] ? program->name : program->hash, whole ? 199 : MOST_NAME);
    res_sheet_put(row, "%.4g", p->times);
    if (has_variants(steps))
        put_variants(row, p);
    if (profiled) {
        res_sheet_put(row, "%s", time_cell(p->kernels_ns).text);
        res_sheet_put(row, "%s", time_cell(p->overhead_ns).text);
    }
    res_sheet_put(row, "%s", time_cell(p->device_ns).text);
    res_sheet_put(row, "%s", time_cell(p->call_ns).text);
    res_sheet_put(row, "%s", time_cell(p->gap_before_ns).text);
    res_sheet_put(row, "%u", p->arguments);
    res_sheet_put(row, "%u", p->results);
}

#define PROGRAM_COLUMNS 10

/* The columns of a table of programs into LIST; returns their number. */
static size_t program_columns(res_sheet_column list[PROGRAM_COLUMNS], bool profiled, bool varies)
{
    static const res_sheet_column all[PROGRAM_COLUMNS] = {
        {"program", false}, {"times", true},  {"variants", true}, {"kernels", true},
        {"overhead", true}, {"device", true}, {"call", true},     {"gap", true},
        {"in", true},       {"out", true}};
    size_t count = 0;
    for (size_t i = 0; i < PROGRAM_COLUMNS; i++) {
        const bool of_profile =
            strcmp(all[i].head, "kernels") == 0 || strcmp(all[i].head, "overhead") == 0;
        const bool of_variants = strcmp(all[i].head, "variants") == 0;
        if ((profiled || !of_profile) && (varies || !of_variants))
            list[count++] = all[i];
    }
    return count;
}

static void put_programs(const rec_steps *steps, res_format format, bn_text *out)
{
    const bool profiled = steps->process->profile.program_count > 0;
    /* Machines and pages have room. */
    const bool whole = !res_format_is_text(format);
    size_t shown[MOST_PROGRAMS];
    const size_t count = heaviest(steps, shown);
    json_t *rows = json_array();
    for (size_t i = 0; i < steps->program_count; i++)
        if (whole || is_among(shown, count, i))
            put_program(steps, &steps->programs[i], whole, rows);
    res_sheet_column columns[PROGRAM_COLUMNS];
    res_sheet_write(columns, program_columns(columns, profiled, has_variants(steps)), rows, format,
                    out);
    if (!whole && steps->program_count > MOST_PROGRAMS)
        bn_text_printf(out, "and %zu programs more\n", steps->program_count - MOST_PROGRAMS);
    json_decref(rows);
}

/* ---- gaps ------------------------------------------------------------------------------- */

/* A row of NAME: the parts GAP of a gap, by what caused them; READY where that is known. */
static void put_gap(json_t *rows, const char *name, size_t most, const double *gap, bool ready)
{
    const double pjrt = gap[REC_PART_DISPATCH] + gap[REC_PART_TRANSFER] + gap[REC_PART_READ] +
                        gap[REC_PART_COMPILE];
    const double off = gap[REC_PART_READY] + gap[REC_PART_IDLE];
    json_t *row = add_row(rows);
    put_name(row, name, most);
    res_sheet_put(row, "%s", time_cell(gap[REC_PART_HOST] + pjrt + gap[REC_PART_WAIT] + off).text);
    res_sheet_put(row, "%s", time_cell(gap[REC_PART_HOST]).text);
    res_sheet_put(row, "%s", time_cell(pjrt).text);
    res_sheet_put(row, "%s", time_cell(gap[REC_PART_WAIT]).text);
    res_sheet_put(row, "%s", time_cell(gap[REC_PART_IDLE]).text);
    if (ready)
        res_sheet_put(row, "%s", time_cell(gap[REC_PART_READY]).text);
}

/* The host's work during the device's gaps, by the program that came next. Programs that
 * put_programs leaves out share a row. */
static void put_gaps(const rec_steps *steps, res_format format, bn_text *out)
{
    static const res_sheet_column columns[] = {
        {"gap before", false}, {"a step", true}, {"framework", true}, {"PJRT", true},
        {"waits", true},       {"idle", true},   {"ready", true}};
    const size_t column_count = sizeof columns / sizeof *columns - (steps->delays ? 0 : 1);
    const bool whole = !res_format_is_text(format);
    double all[REC_PART_COUNT] = {0}, others[REC_PART_COUNT] = {0};
    size_t shown[MOST_PROGRAMS];
    const size_t count = heaviest(steps, shown);
    json_t *rows = json_array();
    for (size_t i = 0; i < steps->program_count; i++) {
        const rec_step_program *p = &steps->programs[i];
        const rec_program *program = &steps->process->programs[p->program];
        const bool has_row = whole || is_among(shown, count, i);
        for (int k = 0; k < REC_PART_COUNT; k++) {
            all[k] += p->gap_ns[k];
            others[k] += has_row ? 0 : p->gap_ns[k];
        }
        if (has_row)
            put_gap(rows, program->name[0] ? program->name : program->hash, whole ? 199 : MOST_NAME,
                    p->gap_ns, steps->delays);
    }
    if (!whole && steps->program_count > MOST_PROGRAMS)
        put_gap(rows, "other programs", MOST_NAME, others, steps->delays);
    put_gap(rows, "all", MOST_NAME, all, steps->delays);
    res_sheet_write(columns, column_count, rows, format, out);
    json_decref(rows);
}

/* ---- requests --------------------------------------------------------------------------- */

static void put_latency(json_t *rows, const char *name, const rec_latency *l, double compile_ns)
{
    json_t *row = add_row(rows);
    res_sheet_put(row, "%s", name);
    res_sheet_put(row, "%zu", l->count);
    res_sheet_put(row, "%s", time_cell(l->p50_ns).text);
    res_sheet_put(row, "%s", time_cell(l->p90_ns).text);
    res_sheet_put(row, "%s", time_cell(l->p99_ns).text);
    res_sheet_put(row, "%s", time_cell(compile_ns).text);
}

/* Whether variant INDEX is one of the MOST_PROGRAMS with most requests. */
static bool is_frequent(const rec_requests *r, size_t index)
{
    size_t before = 0;
    for (size_t i = 0; i < r->variants.count && before < MOST_PROGRAMS; i++)
        before += r->shapes[i].count > r->shapes[index].count ||
                  (r->shapes[i].count == r->shapes[index].count && i < index);
    return before < MOST_PROGRAMS;
}

/* Latencies of all requests, and of each variant of their program. */
static void put_requests(const rec_steps *steps, const rec_requests *r, res_format format,
                         bn_text *out)
{
    static const res_sheet_column columns[] = {{"requests", false}, {"count", true},
                                               {"p50", true},       {"p90", true},
                                               {"p99", true},       {"compile", true}};
    const bool whole = !res_format_is_text(format);
    json_t *rows = json_array();
    put_latency(rows, "all", &r->latency, (double)r->compile_ns);
    for (size_t i = 0; r->variants.count > 1 && i < r->variants.count; i++) {
        const rec_variant *variant = &r->variants.list[i];
        bn_text name = {0};
        rec_variant_put(steps, &r->variants, i, &name);
        if (whole || is_frequent(r, i))
            put_latency(rows,
                        name.data ? name.data : steps->process->programs[variant->program].hash,
                        &r->shapes[i], (double)variant->compile_ns);
        bn_text_free(&name);
    }
    res_sheet_write(columns, sizeof columns / sizeof *columns, rows, format, out);
    if (!whole && r->variants.count > MOST_PROGRAMS)
        bn_text_printf(out, "and %zu shapes more\n", r->variants.count - MOST_PROGRAMS);
    bn_text_putc(out, '\n');
    json_decref(rows);
}

/* ---- words ------------------------------------------------------------------------------ */

/* What says where a step begins, and how many there are. */
static void put_way(const rec_steps *steps, bn_text *out)
{
    const rec_process *p = steps->process;
    const char *name =
        steps->mark_program < p->program_count ? p->programs[steps->mark_program].name : "";
    const int length = (int)rec_stem(name);
    switch (steps->how) {
    case REC_FOUND_STATE:
        bn_text_printf(out,
                       "A step is a run of %.*s, which carries the state (%.3g %s) to the next "
                       "one.",
                       length, name,
                       (double)steps->state_bytes /
                           (steps->state_bytes >= 1 << 20 ? 0x1p20 : 0x1p10),
                       steps->state_bytes >= 1 << 20 ? "MiB" : "KiB");
        break;
    case REC_FOUND_NAME:
        bn_text_printf(out, "Nothing carries a state, so a step is a request: a run of %.*s.",
                       length, name);
        break;
    case REC_FOUND_PERIOD:
        bn_text_puts(out, "A step is a sequence of programs that comes again and again.");
        break;
    case REC_FOUND_PROGRAM:
        bn_text_puts(out, "A step begins with the program that you named.");
        break;
    case REC_FOUND_MARKS:
        bn_text_puts(out, "The program marks its steps.");
        break;
    case REC_FOUND_COUNT:
    case REC_FOUND_WAYS:
        break;
    }
    bn_text_printf(out, " It has %zu step%s", steps->marks, steps->marks == 1 ? "" : "s");
}

/* Why some of them are in no figure. What ends the last one, nothing tells. */
static void put_left_out(const rec_steps *steps, bn_text *out)
{
    const struct {
        size_t count;
        const char *why;
    } reasons[] = {{steps->with_compiles, "compile"},
                   {steps->profiled, "were profiled"},
                   {steps->paused, "hold a pause of the recording"},
                   {steps->warming, "warm up"},
                   {steps->unlike, "are unlike the others"},
                   {1, "is the last one, which no other one ends"}};
    size_t put = 0;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].count)
            bn_text_printf(out, "%s%zu %s", put++ ? ", " : "; left out: ", reasons[i].count,
                           reasons[i].why);
    bn_text_puts(out, ".");
    if (steps->with_compiles) {
        bn_text_puts(out, " Compiling took ");
        bn_text_printf(out, "%s.", time_cell((double)steps->compile_ns).text);
    }
}

/* Number and origin of the steps. */
static void put_head(const rec_steps *steps, bn_text *out)
{
    const rec_process *p = steps->process;
    const rec_device *device = steps->device == REC_NONE ? NULL : &p->devices[steps->device];
    const rec_plugin *plugin =
        device && device->plugin != REC_NONE ? &p->plugins[device->plugin] : NULL;
    bn_text_printf(out, "%zu steady steps of ", steps->count);
    rec_executions_put(steps, out);
    bn_text_printf(out, ": process %u", p->pid);
    if (p->framework[0])
        bn_text_printf(out, ", %s", p->framework);
    if (device)
        bn_text_printf(out, ", device %lld of %s", (long long)device->id,
                       plugin && plugin->platform[0] ? plugin->platform : "an unknown platform");
    bn_text_puts(out, ". ");
    put_way(steps, out);
    put_left_out(steps, out);
    rec_late_compiles late;
    if (rec_compiles_late(p, &late))
        bn_text_printf(out,
                       " In the later half of its executions the process still compiles %u "
                       "programs, which these steps leave out; bench doctor says why.",
                       late.compiles);
    bn_text_puts(out, "\n");
}

/* Below the tables, as wide as a terminal. */
static const char legend[] =
    "threads: means per step; host_work: on a CPU outside of calls; the ledger is the\n"
    "first thread's. programs: times: per step; device, call: per execution; gap: the\n"
    "device was idle before; in, out: buffers\n";
static const char gaps_legend[] =
    "gap before: mean per step of the time in which the device is idle before that\n"
    "program, by what the host does; PJRT: calls that dispatch, send, read, compile\n";
static const char variants_legend[] =
    "variants: of the program, by shape, and the range of their device times\n";
static const char kernels_legend[] =
    "kernels: per execution, while at least one ran, by the plugin's profiler;\n"
    "overhead: the rest of device: call, launch, gaps between kernels, way back\n";

static void put_legend(const rec_steps *steps, bn_text *out)
{
    bn_text_puts(out, legend);
    if (steps->completions)
        bn_text_puts(out, gaps_legend);
    if (has_variants(steps))
        bn_text_puts(out, variants_legend);
    if (steps->process->profile.program_count > 0)
        bn_text_puts(out, kernels_legend);
}

/* The tables for people, with the sentences around them where FORMAT has room for such. */
static void put_all(const rec_steps *steps, const rec_answer *answer, res_format format,
                    bn_text *out)
{
    bn_text head = {0}, words = {0};
    const bool sentences = res_format_is_text(format) || format == RES_TABLE_MARKDOWN;
    put_head(steps, &head);
    rec_answer_put(steps, answer, &words);
    if (sentences && head.data) {
        command_put_words(head.data, format, out);
        bn_text_putc(out, '\n');
    }
    rec_requests requests;
    bn_status ignored = {.code = BN_OK};
    const bool served =
        rec_requests_make(steps, &requests, &ignored) == BN_OK && requests.count > 0;
    if (served)
        put_requests(steps, &requests, format, out);
    put_ledger(steps, format, out);
    bn_text_putc(out, '\n');
    put_threads(steps, format, out);
    bn_text_putc(out, '\n');
    put_programs(steps, format, out);
    if (steps->completions) {
        bn_text_putc(out, '\n');
        put_gaps(steps, format, out);
    }
    bn_text_putc(out, '\n');
    put_run(&steps->run, format, out);
    if (sentences && words.data) {
        bn_text notes = {0};
        put_legend(steps, &notes);
        bn_text_putc(out, '\n');
        if (res_format_is_text(format))
            res_put_set_in(out, format, notes.data);
        if (res_format_is_text(format))
            bn_text_putc(out, '\n');
        bn_text_free(&notes);
        if (served)
            rec_requests_put(&requests, &words);
        command_put_words(words.data, format, out);
    }
    rec_requests_free(&requests);
    bn_text_free(&head);
    bn_text_free(&words);
}

/* ---- the command ------------------------------------------------------------------------ */

static void show(const rec_recording *recording, const rec_steps *steps, res_format format)
{
    const rec_answer answer = rec_answer_make(steps);
    bn_text text = {0}, page = {0};
    if (format == RES_TABLE_JSON) {
        json_t *o = rec_steps_json(recording, steps, &answer);
        cli_json(o);
        json_decref(o);
        return;
    }
    put_all(steps, &answer, format, &text);
    if (format == RES_TABLE_HTML && text.data)
        res_put_page(&page, "Steps of a recording", text.data);
    cli_show_text(page.data ? &page : &text);
    bn_text_free(&text);
    bn_text_free(&page);
}

/* Prints as JSON that the process compiles in each step, where this is why there are no steady
 * ones. */
static void show_compiles(const rec_recording *recording, uint32_t pid)
{
    const rec_process *process = rec_process_find(recording, pid);
    rec_late_compiles late;
    json_t *o = process && rec_compiles_late(process, &late)
                    ? rec_compiles_late_json(recording, process, &late)
                    : NULL;
    if (o)
        cli_json(o);
    json_decref(o);
}

/* ---- the page ----------------------------------------------------------------------------- */

static bn_code write_page(const rec_recording *recording, const rec_steps *steps,
                          const rec_answer *answer, const char *folder, bn_status *st)
{
    bn_text head = {0}, tables = {0}, notes = {0}, layers = {0};
    command_places places = {0};
    bn_code code = command_places_make(recording, steps, COMMAND_BY_LAYER, &places, st);
    put_head(steps, &head);
    put_all(steps, answer, RES_TABLE_HTML, &tables);
    put_legend(steps, &notes);
    command_places_figure(&places, &layers);
    command_places_free(&places);
    const command_steps_texts texts = {head.data, tables.data, notes.data, layers.data};
    if (code == BN_OK)
        code = command_steps_page(steps, &texts, folder, st);
    bn_text_free(&layers);
    bn_text_free(&head);
    bn_text_free(&tables);
    bn_text_free(&notes);
    return code;
}

/* Says WORDS on standard error, in lines as wide as narrow tables. */
static void note_words(const char *words)
{
    bn_text lines = {0};
    command_put_words(words, RES_TABLE_TEXT, &lines);
    for (const char *at = lines.data ? lines.data : ""; *at;) {
        const int length = (int)strcspn(at, "\n");
        cli_note("%.*s", length, at);
        at += length + (at[length] == '\n');
    }
    bn_text_free(&lines);
}

bn_code command_recording_page(const char *path, const char *folder, bn_status *st)
{
    const rec_options options = {.device = -1};
    rec_recording *recording = NULL;
    rec_steps *steps = NULL;
    bn_text words = {0};
    bn_code code = rec_open(path, &recording, st);
    if (code == BN_OK)
        code = rec_check_steps(recording, &options, &steps, st);
    if (code == BN_OK) {
        const rec_answer answer = rec_answer_make(steps);
        put_head(steps, &words);
        rec_answer_put(steps, &answer, &words);
        note_words(words.data);
        code = write_page(recording, steps, &answer, folder, st);
    }
    bn_text_free(&words);
    rec_steps_free(steps);
    rec_close(recording);
    return code;
}

/* ---- by layer or line --------------------------------------------------------------------- */

static bn_code show_places(const rec_recording *recording, const rec_steps *steps, command_by by,
                           res_format format, bn_status *st)
{
    command_places places = {0};
    bn_text text = {0}, page = {0};
    const bn_code code = command_places_make(recording, steps, by, &places, st);
    if (code == BN_OK && format == RES_TABLE_JSON) {
        json_t *o = command_places_json(recording, &places);
        cli_json(o);
        json_decref(o);
    } else if (code == BN_OK) {
        command_places_put(&places, format, &text);
        if (format == RES_TABLE_HTML)
            res_put_page(&page, "Steps of a recording", text.data ? text.data : "");
        cli_show_text(page.data ? &page : &text);
    }
    bn_text_free(&text);
    bn_text_free(&page);
    command_places_free(&places);
    return code;
}

typedef struct steps_options {
    cli_output output;
    command_stepping stepping;
    const char *trace;  /* file of a timeline, too; NULL: none */
    const char *report; /* folder of a page, too; NULL: none */
    const char *by;     /* "layer", "line": device time by these, instead; NULL: the ledger */
} steps_options;

static int run(void *options, const cli_call *call)
{
    const steps_options *own = options;
    const cli_output *output = &own->output;
    const rec_options wanted = {.pid = (uint32_t)own->stepping.recorded.process,
                                .device = own->stepping.device,
                                .step_program = own->stepping.recorded.step_program};
    bn_status st = {.code = BN_OK};
    rec_recording *recording = NULL;
    rec_steps *steps = NULL;
    res_format format;
    bool damaged = false;
    const command_by by =
        own->by && strcmp(own->by, "line") == 0 ? COMMAND_BY_LINE : COMMAND_BY_LAYER;
    bn_code code = res_format_parse(cli_format(output), &format, &st);
    if (code == BN_OK)
        code = rec_open(call->words[0], &recording, &st);
    if (code == BN_OK) {
        code = rec_check_whole(recording, wanted.pid, "with --process", &st);
        damaged = code == BN_OK && command_say_damage(recording);
    }
    if (code == BN_OK) {
        code = rec_steps_find(recording, &wanted, &steps, &st);
        if (code == BN_NOT_FOUND && format == RES_TABLE_JSON)
            show_compiles(recording, wanted.pid);
    }
    if (code == BN_OK && own->trace)
        code = rec_timeline_write(steps->process, steps, own->trace, output->force, &st);
    if (code == BN_OK && own->report) {
        const rec_answer answer = rec_answer_make(steps);
        code = write_page(recording, steps, &answer, own->report, &st);
    }
    if (code == BN_OK && own->by)
        code = show_places(recording, steps, by, format, &st);
    else if (code == BN_OK)
        show(recording, steps, format);
    rec_steps_free(steps);
    rec_close(recording);
    if (code != BN_OK)
        return (int)cli_complain(&st);
    return damaged ? CLI_EXIT_FAILED : CLI_EXIT_OK;
}

#define AT(member) offsetof(steps_options, member)

const cli_table *command_stepping_table(void)
{
    static const cli_option rows[] = {
        {"device", "ID", CLI_NUMBER, offsetof(command_stepping, device), .fallback = "-1",
         .least = -1, .text = "of a recording: the device; -1: the one with most executions"},
    };
    static const cli_table table = {rows, 1};
    return &table;
}

static const cli_option rows[] = {
    {"trace", "FILE", CLI_TEXT, AT(trace), .also = "timeline",
     .text = "also write the process as a Chrome trace for Perfetto, or as XSpace where FILE ends "
             "in .pb. FILE must not exist; --force replaces it"},
    {"by", "WORD", CLI_TEXT, AT(by), .choices = "layer, line", .closed = true,
     .text = "instead show the device time by layer or line of the source, as a model of the "
             "programs' statements shares it: layer or line"},
    {"report", "DIR", CLI_TEXT, AT(report),
     .text = "also write a page into the folder DIR: index.html, with a timeline"},
};

const cli_command command_steps = {
    .name = "steps",
    .usage = "bench steps DIR [--step-program NAME] [--format json]",
    .summary = "show where the time of a recording's steps went, and what bounds them",
    .section = JOB_SECTION_OTHERS,
    .words = "DIR",
    .most_words = 1,
    .size = sizeof(steps_options),
    .output = AT(output),
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .groups =
        {{.table = job_recorded_table, .offset = AT(stepping.recorded), .rows = JOB_RECORDED_STEP},
         {.table = command_stepping_table, .offset = AT(stepping)},
         {.table = cli_output_table, .offset = AT(output), .rows = CLI_OUT_TABLES | CLI_OUT_FORCE}},
    .run = run,
};
