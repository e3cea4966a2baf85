/*
 * timeline.c - bench run --timeline: what workers left of their steps becomes one file.
 */
#include "harness/commands/timeline_priv.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/traces/traces.h"

bn_code command_timeline_begin(const job_matrix *matrix, job_experiment *list, size_t count,
                               char **folder, bn_status *st)
{
    bool others = false;
    bn_writer *trial = NULL;
    *folder = NULL;
    if (!matrix->how.timeline || count == 0)
        return BN_OK;
    *folder = bn_zalloc(1, PATH_MAX);
    /* A file that cannot be written ends the run before anything is measured. */
    bn_code code = bn_writer_begin(matrix->how.timeline, &trial, st);
    bn_writer_drop(trial);
    if (code == BN_OK)
        code = job_scratch_begin(list[0].how.store, *folder, st);
    for (size_t i = 0; code == BN_OK && i < count; i++) {
        list[i].how.timeline = *folder;
        others = others || job_is_framework(&list[i].what);
    }
    if (code == BN_OK && others)
        cli_note("the timeline has bench's own runs only; for frameworks: bench record, "
                 "then bench steps --trace");
    return code;
}

/* ---- timelines of workers ---------------------------------------------------------------- */

static int is_timeline(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name), end = sizeof JOB_TIMELINE_END - 1;
    return length > end && strcmp(entry->d_name + length - end, JOB_TIMELINE_END) == 0;
}

/* All whole timelines of FOLDER in the order of their names, in *ROWS (malloc); *LOST: of the
 * others, whose workers crashed or were killed while they wrote. */
static bn_code read_all(const char *folder, bn_timeline ***rows, size_t *count, size_t *lost,
                        bn_status *st)
{
    struct dirent **entries = NULL;
    const int found = scandir(folder, &entries, is_timeline, alphasort);
    bn_code code = BN_OK;
    if (found < 0)
        return bn_fail_errno(st, errno, "%s", folder);
    *rows = bn_zalloc((size_t)found + 1, sizeof **rows);
    for (int i = 0; i < found; i++) {
        char path[PATH_MAX + 300];
        bn_status own = {.code = BN_OK};
        bn_timeline *row = NULL;
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (code == BN_OK && bn_timeline_read(path, &row, &own) != BN_OK) {
            *lost += own.code == BN_FORMAT;
            code = own.code == BN_FORMAT ? BN_OK : bn_fail(st, own.code, "%s", own.message);
        }
        if (row)
            (*rows)[(*count)++] = row;
        free(entries[i]);
    }
    free(entries);
    return code;
}

/* Notes on standard error how much of the run the timeline has. */
static void note_rows(const char *file, const char *prefix, bn_timeline *const *rows, size_t count,
                      size_t lost)
{
    int64_t shown = 0, ran = 0;
    size_t full = 0;
    for (size_t i = 0; i < count; i++) {
        const bn_timeline_about *about = bn_timeline_describe(rows[i]);
        shown += about->steps_shown;
        ran += about->steps_ran;
        full += about->full;
    }
    cli_note("%s timeline: %s, %lld of %lld measured steps in %zu row%s; open it in Perfetto",
             prefix, file, (long long)shown, (long long)ran, count, count == 1 ? "" : "s");
    if (full > 0)
        cli_note("%s timeline: %zu row%s ran out of room and lack later steps", prefix, full,
                 full == 1 ? "" : "s");
    if (lost > 0)
        cli_note("%s timeline: %zu process%s left none", prefix, lost, lost == 1 ? "" : "es");
}

bn_code command_timeline_write(const job_matrix *matrix, const char *folder, const char *prefix,
                               bn_status *st)
{
    bn_timeline **rows = NULL;
    size_t count = 0, lost = 0, left_out = 0;
    if (!folder)
        return BN_OK;
    bn_code code = read_all(folder, &rows, &count, &lost, st);
    if (code == BN_OK)
        code = res_trace_write_run(rows, count, matrix->how.timeline, true, &left_out, st);
    if (code == BN_OK)
        note_rows(matrix->how.timeline, prefix, rows, count - left_out, lost);
    if (code == BN_OK && left_out > 0)
        cli_note("%s timeline: %zu row%s left out: the file would be too long", prefix, left_out,
                 left_out == 1 ? "" : "s");
    for (size_t i = 0; rows && i < count; i++)
        bn_timeline_free(rows[i]);
    free(rows);
    return code == BN_OK ? BN_OK : bn_context(st, "timeline");
}

void command_timeline_end(char *folder)
{
    if (folder)
        job_scratch_end(folder);
    free(folder);
}
