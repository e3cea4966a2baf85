/*
 * timeline.c - bench run --timeline: what workers left of their steps becomes one file.
 */
#include "harness/commands/timeline_priv.h"

#include <dirent.h>
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
    if (!matrix->timeline || count == 0)
        return BN_OK;
    *folder = calloc(1, PATH_MAX);
    if (!*folder)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a timeline");
    /* A file that cannot be written is told before anything was measured. */
    bn_code code = bn_writer_begin(matrix->timeline, &trial, st);
    bn_writer_drop(trial);
    if (code == BN_OK)
        code = job_scratch_begin(list[0].store, *folder, st);
    for (size_t i = 0; code == BN_OK && i < count; i++) {
        list[i].timeline = *folder;
        others = others || job_is_framework(&list[i].what);
    }
    if (code == BN_OK && others)
        cli_note("the timeline has bench's own runs; for other front ends: bench record, bench "
                 "steps --trace");
    return code;
}

/* ---- what workers left ------------------------------------------------------------------- */

static int is_timeline(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name), end = sizeof JOB_TIMELINE_END - 1;
    return length > end && strcmp(entry->d_name + length - end, JOB_TIMELINE_END) == 0;
}

/* Reads NAME of FOLDER, if its worker came to write it; else *ROW is NULL. */
static bn_code read_one(const char *folder, const char *name, bn_timeline **row, bn_status *st)
{
    char path[PATH_MAX + 300];
    bn_status own = {.code = BN_OK};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    *row = NULL;
    /* The worker crashed, or was killed while it wrote: the others' are good. */
    if (bn_timeline_read(path, row, &own) == BN_OK || own.code == BN_FORMAT)
        return BN_OK;
    *st = own;
    return st->code;
}

/* All timelines of FOLDER in the order of their names, in *ROWS (malloc); LOST: processes without
 * one. */
static bn_code read_all(const char *folder, bn_timeline ***rows, size_t *count, size_t *lost,
                        bn_status *st)
{
    struct dirent **entries = NULL;
    const int found = scandir(folder, &entries, is_timeline, alphasort);
    bn_code code = BN_OK;
    *rows = found < 0 ? NULL : calloc((size_t)found + 1, sizeof **rows);
    *count = *lost = 0;
    if (!*rows)
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a timeline");
    for (int i = 0; i < found; i++) {
        bn_timeline *row = NULL;
        if (code == BN_OK)
            code = read_one(folder, entries[i]->d_name, &row, st);
        if (row)
            (*rows)[(*count)++] = row;
        *lost += code == BN_OK && !row;
        free(entries[i]);
    }
    free(entries);
    return code;
}

/* Notes what is in the timeline, and what is not. */
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
        cli_note("%s timeline: %zu row%s ran out of room, and later steps are not in it", prefix,
                 full, full == 1 ? "" : "s");
    if (lost > 0)
        cli_note("%s timeline: %zu process%s ended without leaving one", prefix, lost,
                 lost == 1 ? "" : "es");
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
        code = res_trace_write_run(rows, count, matrix->timeline, true, &left_out, st);
    if (code == BN_OK)
        note_rows(matrix->timeline, prefix, rows, count - left_out, lost);
    if (code == BN_OK && left_out > 0)
        cli_note("%s timeline: %zu rows are left out, since the file would be too long", prefix,
                 left_out);
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
