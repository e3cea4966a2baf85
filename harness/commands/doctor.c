/*
 * doctor.c - bench doctor: what could be fixed in the runs of a store, or in a recorded program.
 */
#include "harness/commands/recording_priv.h"
#include "harness/commands/selection_priv.h"
#include "results/complaints/complaints.h"

/* ---- a recording ------------------------------------------------------------------------ */

static void put_row(const rec_checkup *checkup, const rec_finding *c, json_t *rows)
{
    bn_text texts[3] = {{0}};
    json_t *row = json_array();
    rec_finding_subject(c, &texts[0]);
    rec_finding_cost(c, &texts[1]);
    rec_finding_advice(checkup, c, &texts[2]);
    const char *const cells[] = {rec_rule_name(c->rule), texts[0].data, texts[1].data,
                                 c->where.data, texts[2].data};
    /* Sentences are longer than what res_sheet_put has room for. */
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        json_array_append_new(row, res_json_text(cells[i] ? cells[i] : ""));
    json_array_append_new(rows, row);
    for (size_t i = 0; i < 3; i++)
        bn_text_free(&texts[i]);
}

/* Appends CHECKUP as a table, for formats without sentences. */
static void put_sheet(const rec_checkup *checkup, res_format format, bn_text *out)
{
    static const res_sheet_column columns[] = {{"rule", false},
                                               {"what takes it", false},
                                               {"cost", false},
                                               {"where", false},
                                               {"what to do", false}};
    json_t *rows = json_array();
    for (size_t i = 0; i < checkup->count; i++)
        put_row(checkup, &checkup->list[i], rows);
    res_sheet_write(columns, sizeof columns / sizeof *columns, rows, format, out);
    json_decref(rows);
}

/* Shows TEXT, in HTML as a page, and frees it. */
static void show_text(bn_text *text, res_format format)
{
    bn_text page = {0};
    if (format == RES_TABLE_HTML && text->data)
        res_put_page(&page, "bench doctor", text->data);
    cli_show_text(page.data ? &page : text);
    bn_text_free(&page);
    bn_text_free(text);
}

static void show_checkup(const rec_recording *recording, const rec_checkup *checkup,
                         res_format format)
{
    bn_text words = {0}, text = {0};
    if (format == RES_TABLE_JSON) {
        json_t *object = rec_checkup_json(recording, checkup);
        cli_json(object);
        json_decref(object);
        return;
    }
    rec_checkup_put(checkup, &words);
    if (res_format_is_text(format) || format == RES_TABLE_MARKDOWN)
        command_put_words(words.data ? words.data : "", format, &text);
    else
        put_sheet(checkup, format, &text);
    bn_text_free(&words);
    show_text(&text, format);
}

static bn_code check_recording(const rec_recording *recording, const command_stepping *own,
                               const cli_output *output, bool *damaged, bn_status *st)
{
    const rec_options options = {.pid = (uint32_t)own->recorded.process,
                                 .device = own->device,
                                 .step_program = own->recorded.step_program};
    rec_steps *steps = NULL;
    rec_checkup checkup = {0};
    res_format format;
    bn_code code = res_format_parse(cli_format(output), &format, st);
    if (code == BN_OK)
        code = rec_check_whole(recording, options.pid, "with --process", st);
    if (code == BN_OK)
        *damaged = command_say_damage(recording);
    if (code == BN_OK)
        code = rec_check_steps(recording, &options, &steps, st);
    if (code == BN_OK)
        code = rec_check(steps, &checkup, st);
    if (code == BN_OK)
        rec_checkup_source(recording, &checkup);
    if (code == BN_OK)
        show_checkup(recording, &checkup, format);
    rec_checkup_free(&checkup);
    rec_steps_free(steps);
    return code;
}

/* The given option that selects records, which a recording has none of; NULL: none. */
static const char *selecting_option(const command_selection *selection)
{
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        if (selection->axis[i].count)
            return res_axes[i].option;
    return NULL;
}

/* ---- a store ---------------------------------------------------------------------------- */

static int check_store(const command_selection *selection, const cli_output *output)
{
    bn_status st = {.code = BN_OK};
    res_format format;
    res_collection all = {0};
    bn_text text = {0};
    size_t findings = 0;
    bn_code code = res_format_parse(cli_format(output), &format, &st);
    if (code == BN_OK)
        code = command_latest_read(selection, &all, &st);
    if (code != BN_OK)
        return (int)cli_complain(&st);
    res_table_doctor(&all, format, &text, &findings);
    show_text(&text, format);
    const int exit_code = all.damaged_count ? CLI_EXIT_FAILED : CLI_EXIT_OK;
    res_collection_free(&all);
    return exit_code;
}

/* ---- the command ------------------------------------------------------------------------ */

static int show(const command_selection *selection, const command_stepping *stepping,
                const cli_output *output)
{
    bn_status st = {.code = BN_OK};
    rec_recording *recording = NULL;
    bool damaged = false;
    const char *selecting = selecting_option(selection);
    const bool stepped =
        stepping->recorded.process || stepping->device >= 0 || stepping->recorded.step_program;
    bn_code code = rec_open(selection->store, &recording, &st);
    /* A folder without a recording is read as a store, whose failure names what is missing. */
    if (code == BN_NOT_FOUND && !stepped)
        return check_store(selection, output);
    if (code == BN_OK && selecting)
        code = bn_fail(&st, BN_INVALID, "%s is a recording, and --%s selects records of a store",
                       selection->store, selecting);
    if (code == BN_OK)
        code = check_recording(recording, stepping, output, &damaged, &st);
    int exit_code = damaged ? CLI_EXIT_FAILED : CLI_EXIT_OK;
    if (code != BN_OK)
        exit_code = (int)cli_complain(&st);
    rec_close(recording);
    return exit_code;
}

typedef struct doctor_options {
    cli_output output;
    command_selection selection; /* its store may be a recording */
    command_stepping stepping;
} doctor_options;
#define AT(member) offsetof(doctor_options, member)

static int run(void *options, const cli_call *call)
{
    const doctor_options *o = options;
    (void)call;
    return show(&o->selection, &o->stepping, &o->output);
}

const cli_command command_doctor = {
    .name = "doctor",
    .usage = "bench doctor [STORE|RECORDING] [--model NAME]",
    .summary = "find what could be fixed in runs of a store or a recorded program, and its cost",
    .section = JOB_SECTION_WHY,
    .bare = "store",
    .size = sizeof(doctor_options),
    .output = AT(output),
    .groups = {{.table = command_selection_table, .offset = AT(selection)},
               {.table = job_recorded_table,
                .offset = AT(stepping.recorded),
                .rows = JOB_RECORDED_STEP},
               {.table = command_stepping_table, .offset = AT(stepping)},
               {.table = cli_output_table, .offset = AT(output), .rows = CLI_OUT_TABLES}},
    .run = run,
};
