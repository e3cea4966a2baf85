/*
 * exchange.c - bench export: records as files of other tools; bench import: recordings and other
 * tools' results as records.
 */
#include "harness/commands/selection_priv.h"
#include "results/exports/exports.h"
#include "results/recordings/views.h"

#include <stdio.h>
#include <string.h>

/* ---- bench export ------------------------------------------------------------------ */

static bn_code write_out(const res_export *export, const char *format, const char *file, bool force,
                         bn_status *st)
{
    if (file)
        return res_export_write(export, file, force, st);
    const bn_text *bytes = &export->files[0].bytes;
    if (export->folder)
        return bn_fail(st, BN_INVALID, "--to %s writes a folder: name one with --output", format);
    /* Whether this arrived is checked in main. */
    cli_bytes(bytes);
    return BN_OK;
}

/* Names the failed records of ALL, COUNT of them, which files of FORMAT leave out. */
static void say_left_out(const res_collection *all, const char *format, size_t count)
{
    bn_text names = {0};
    for (size_t i = 0; i < all->count; i++) {
        const res_record *r = all->records[i];
        if (res_record_good(r))
            continue;
        bn_text_puts(&names, names.length ? "; " : "");
        res_experiment_title(&r->experiment, &names);
        bn_text_printf(&names, " (%s)", bn_code_name(r->status));
    }
    cli_say("bench: %zu of %zu records failed, and %s has no place for them: %s", count, all->count,
            format, names.data ? names.data : "");
    bn_text_free(&names);
}

static int export_records(const char *store, const char *format, const char *file, bool force)
{
    bn_status st = {.code = BN_OK};
    res_collection all = {0};
    res_export export = {0};
    /* The format comes first: reading a large store takes long. */
    if (!format) {
        bn_text names = {0};
        res_export_names(&names);
        bn_fail(&st, BN_INVALID, "bench export needs --to: %s", names.data);
        bn_text_free(&names);
    }
    if (!format || res_export_check(format, &st) != BN_OK ||
        command_all_read(store, &all, &st) != BN_OK)
        return (int)cli_complain(&st);
    job_say_damaged(all.damaged, all.damaged_count);
    int code = all.damaged_count ? CLI_EXIT_FAILED : CLI_EXIT_OK;
    if (res_export_make(&all, format, &export, &st) != BN_OK ||
        write_out(&export, format, file, force, &st) != BN_OK)
        code = (int)cli_complain(&st);
    else if (export.left_out > 0)
        say_left_out(&all, format, export.left_out);
    res_export_free(&export);
    res_collection_free(&all);
    return code;
}

typedef struct export_options {
    cli_output output;
    command_selection selection; /* its store */
    const char *to, *file;
} export_options;
#define AT(member) offsetof(export_options, member)

static const cli_option export_rows[] = {
    {"to", "FORMAT", CLI_TEXT, AT(to), .values = res_export_names, .also = "format",
     .more = res_export_names, .text = ""},
    {"output", "FILE|DIR", CLI_TEXT, AT(file), .also = "o",
     .text = "a file, or a folder for asv, pytorch-benchmark, xla and xspace; without it a file "
             "goes to standard output. --force replaces what is there"},
};

static int run_export(void *options, const cli_call *call)
{
    const export_options *o = options;
    (void)call;
    return export_records(o->selection.store, o->to, o->file, o->output.force);
}

const cli_command command_export = {
    .name = "export",
    .usage = "bench export --to FORMAT [--store DIR] [--output FILE|DIR]",
    .summary = "write records as files for other tools; export weights: a model's parameters",
    .section = JOB_SECTION_LOOK,
    .bare = "store",
    .size = sizeof(export_options),
    .output = AT(output),
    .rows = export_rows,
    .row_count = sizeof export_rows / sizeof *export_rows,
    .groups = {{.table = command_selection_table,
                .offset = AT(selection),
                .rows = COMMAND_SELECTION_STORE},
               {.table = cli_output_table,
                .offset = AT(output),
                .rows = CLI_OUT_EVERY | CLI_OUT_VERBOSE | CLI_OUT_FORCE}},
    .run = run_export,
};
#undef AT

/* ---- bench import ------------------------------------------------------------------ */

typedef struct import_options {
    cli_output output;
    const char *store;
    const char *from; /* a format; NULL: recordings */
    const char *phase;
    job_recorded recorded; /* which process and steps, and their name */
} import_options;

static bn_code import_files(const import_options *own, const char *const *files, bn_status *st)
{
    res_imported done = {0};
    for (; *files && st->code == BN_OK; files++)
        (void)!res_import(own->from, *files, own->store, &done, st);
    if (done.written + done.known > 0)
        cli_tell("%zu records written to %s, %zu were there already", done.written, own->store,
                 done.known);
    if (done.instead > 0)
        cli_tell("%zu of those written replace earlier records of the same lines", done.instead);
    return st->code;
}

/* A record must be of the process that was meant, and name the variables that it ran with: without
 * these it would be pooled with others. BN_FORMAT, or why recording.json cannot be read. */
static bn_code check_known(const rec_recording *recording, uint32_t pid, bn_status *st)
{
    const bn_status *fault = &recording->about_fault;
    if (rec_check_whole(recording, pid, "with --process", st) != BN_OK)
        return st->code;
    if (fault->code == BN_OK)
        return BN_OK;
    return bn_fail(st, fault->code,
                   "%s: %s: the variables that were set are unknown; record the program again",
                   recording->path, fault->message);
}

/* The steady steps of the recording at PATH as a record; the caller frees it. VARIANT gets which of
 * their variants they are, if they have several. */
static bn_code read_recording(const import_options *own, const char *path, res_record **record,
                              bn_text *variant, bn_status *st)
{
    rec_recording *recording = NULL;
    rec_steps *steps = NULL;
    struct stat info;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode))
        return bn_fail(st, BN_INVALID,
                       "%s is a file: bench import takes folders of recordings, or files with "
                       "--from pytorch-xla",
                       path);
    const rec_options options = {.pid = (uint32_t)own->recorded.process,
                                 .device = -1,
                                 .step_program = own->recorded.step_program,
                                 .variant = own->recorded.variant ? own->recorded.variant : ""};
    const rec_naming naming = {.model = own->recorded.name,
                               .phase = own->phase,
                               .step_program = own->recorded.step_program};
    bn_code code = rec_open(path, &recording, st);
    if (code == BN_OK)
        code = check_known(recording, options.pid, st);
    if (code == BN_OK)
        code = rec_steps_find(recording, &options, &steps, st);
    if (code == BN_OK)
        code = rec_record_make(recording, steps, &naming, record, st);
    if (code == BN_OK && steps->variants > 0) {
        rec_chosen_put(steps, variant);
        bn_text_printf(variant, "; %zu steady steps are of the others", steps->of_others);
    }
    rec_steps_free(steps);
    rec_close(recording);
    return code;
}

/* Says why the record of the recording at PATH lacks a requested profile. */
static void say_profile(const char *path, const res_record *record)
{
    const char *why = res_provenance_text(record, RES_PROV_RECORDING_PROFILE_WHY);
    if (why[0])
        cli_say("bench: %s: the record has no profile: %s", path, why);
}

static bn_code import_recording(const import_options *own, const char *path, bn_status *st)
{
    res_record *record = NULL;
    res_taken taken;
    char file[4200] = "";
    bn_text variant = {0};
    bn_code code = read_recording(own, path, &record, &variant, st);
    if (code == BN_OK && variant.length)
        cli_say("bench: %s: shapes change: the record is of variant %s (--variant takes another)",
                path, variant.data);
    bn_text_free(&variant);
    if (code != BN_OK)
        return code;
    const res_source source = rec_record_source(record);
    code = res_store_take(own->store, record, &source, file, sizeof file, &taken, st);
    if (code == BN_OK)
        say_profile(path, record);
    if (code == BN_OK && taken == RES_TAKEN_KNOWN) {
        cli_tell("%s: it is in %s already", path, own->store);
    } else if (code == BN_OK) {
        bn_text name = {0};
        const bool named = own->recorded.name || strcmp(record->experiment.model, REC_UNKNOWN) != 0;
        res_experiment_title(&record->experiment, &name);
        cli_tell("%s: %zu steps of %s%s written to %s%s", path, record->step_count,
                 name.data ? name.data : "", named ? "" : " (--model NAME gives them a name)", file,
                 taken == RES_TAKEN_INSTEAD ? ", in place of what an earlier import read" : "");
        bn_text_free(&name);
    }
    res_record_free(record);
    return code;
}

static bn_code check_names(const import_options *own, bn_status *st)
{
    /* Without this a refusal by the store would look like a record that is there already. */
    if (!own->store[0])
        return bn_fail(st, BN_INVALID, "--store is empty: name the folder of records");
    const struct {
        const char *option, *text;
        size_t room;
    } names[] = {{"model", own->recorded.name, sizeof((res_experiment *)0)->model},
                 {"phase", own->phase, sizeof((res_experiment *)0)->phase}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!names[i].text)
            continue;
        if (own->from)
            return bn_fail(st, BN_INVALID, "--%s is for recordings: --from %s has its own",
                           names[i].option, own->from);
        if (!names[i].text[0] || strlen(names[i].text) >= names[i].room)
            return bn_fail(st, BN_INVALID, "--%s takes a name of 1 to %zu bytes", names[i].option,
                           names[i].room - 1);
    }
    return BN_OK;
}

static int import_all(const import_options *own, const char *const *words)
{
    bn_status st = {.code = BN_OK};
    bn_code code = check_names(own, &st);
    if (code == BN_OK && own->from)
        code = import_files(own, words, &st);
    for (; code == BN_OK && !own->from && *words; words++)
        code = import_recording(own, *words, &st);
    return code == BN_OK ? CLI_EXIT_OK : (int)cli_complain(&st);
}

#define AT(member) offsetof(import_options, member)

static const cli_option import_rows[] = {
    {"from", "FORMAT", CLI_TEXT, AT(from), .choices = RES_IMPORT_NAMES,
     .text = "pytorch-xla: JSON lines as pytorch/xla's benchmarks/experiment_runner.py writes "
             "them; without it, folders of recordings"},
    JOB_STORE_ROW(AT(store)),
    {"model", "NAME", CLI_TEXT, AT(recorded.name), .apart = true,
     .text = "the recording's name in tables; by default that of the script"},
    {"phase", "NAME", CLI_TEXT, AT(phase), .apart = true,
     .text = "of a recording: train or infer, if its steps are of that phase; by default step"},
};

static int run_import(void *options, const cli_call *call)
{
    return import_all(options, call->words);
}

const cli_command command_import = {
    .name = "import",
    .usage = "bench import [--from pytorch-xla] [--store DIR] FILE|DIR...",
    .summary = "read recordings or other tools' results into a folder of records",
    .section = JOB_SECTION_LOOK,
    .words = "files or folders of recordings",
    .most_words = CLI_MAX_PATHS,
    .size = sizeof(import_options),
    .output = AT(output),
    .rows = import_rows,
    .row_count = sizeof import_rows / sizeof *import_rows,
    .groups = {{.table = job_recorded_table,
                .offset = AT(recorded),
                .rows = JOB_RECORDED_STEP | JOB_RECORDED_VARIANT},
               {.table = cli_output_table,
                .offset = AT(output),
                .rows = CLI_OUT_EVERY | CLI_OUT_VERBOSE}},
    .run = run_import,
};
