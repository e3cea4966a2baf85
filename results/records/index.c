/*
 * index.c - the summaries of a store, without opening every file of it: what listing.c knows by the
 * index is not read again.
 */
#include "results/records/estimates.h"
#include "results/records/index_priv.h"

#include <stdlib.h>
#include <string.h>

/* Files read between two calls of PROGRESS. */
#define PROGRESS_EVERY 64

/* An update on its way. */
typedef struct update {
    const res_index_options *options;
    res_listing files;
    res_pools pools;
    res_index *index;
    size_t damaged_room; /* in the index's list */
    bn_status *st;
} update;

/* Adds LINE to the new index and to the summaries. */
static bn_code add_line(update *u, const res_file *file, const char *line, size_t length, bool kept,
                        bn_status *st)
{
    res_summary *summary = &u->index->records[u->index->count];
    bn_code code = res_line_parse(line, length, &u->pools, summary, st);
    if (code != BN_OK)
        return code;
    summary->file = file->name;
    summary->written_ns = file->written_ns;
    u->index->count++;
    res_listing_put(&u->files, line, length, kept);
    return BN_OK;
}

static void add_damaged(update *u, const res_file *file, res_fault fault, const bn_status *why)
{
    res_index *index = u->index;
    res_listing_report(&u->files, file, fault, why, &index->damaged, &index->damaged_count,
                       &u->damaged_room);
}

/* Reads the record FILE and adds its line. */
static bn_code summarise(update *u, const res_file *file, res_proof *proof, bn_status *why)
{
    char *path = res_listing_path(&u->files, file);
    bn_text line = {0};
    res_record *record = NULL;
    bn_code code = res_foreign_read(path, &record, proof, why);
    if (code == BN_OK) {
        res_line_write(record, file->name, file->size, file->mtime_ns, &line);
        code = add_line(u, file, line.data, line.length, false, why);
        res_record_free(record);
    }
    bn_text_free(&line);
    free(path);
    return code;
}

/* Opens the record, to summarise it or to report its damage. */
static bn_code read_record(update *u, const res_file *file)
{
    bn_status why = {.code = BN_OK};
    res_proof proof = {.fault = RES_FAULT_UNREAD};
    u->index->read++;
    bn_code code = summarise(u, file, &proof, &why);
    if (code == BN_OUT_OF_MEMORY) {
        *u->st = why;
        return code;
    }
    if (code != BN_OK) {
        res_listing_put_damaged(&u->files, file, &proof, &why);
        add_damaged(u, file, proof.fault, &why);
    }
    return BN_OK;
}

static bn_code summarise_file(update *u, const res_file *file)
{
    size_t length = 0;
    bn_status why = {.code = BN_OK};
    res_fault fault;
    const char *line = res_listing_line(&u->files, file, &length);
    if (line && res_listing_damaged(line, length, &fault, &why)) {
        res_listing_put(&u->files, line, length, true);
        add_damaged(u, file, fault, &why);
        return BN_OK;
    }
    if (line && add_line(u, file, line, length, true, &why) == BN_OK)
        return BN_OK;
    return read_record(u, file);
}

static bn_code summarise_files(update *u)
{
    const res_index_options *o = u->options;
    const size_t count = u->files.count;
    bn_code code = BN_OK;
    u->index->records = bn_zalloc(count, sizeof *u->index->records);
    for (size_t i = 0; code == BN_OK && i < count; i++) {
        const size_t before = u->index->read;
        code = summarise_file(u, &u->files.files[i]);
        if (o && o->progress && u->index->read > before && before % PROGRESS_EVERY == 0)
            o->progress(o->context, i, count);
    }
    return code;
}

/* Reports copies of records as damaged files, and takes them out of the summaries. Their lines stay
 * in the index: once the other file is gone the copy counts. */
static void drop_copies(update *u)
{
    res_index *index = u->index;
    res_summary *records = index->records;
    size_t kept = 0;
    res_found *list = bn_zalloc(index->count, sizeof *list);
    for (size_t i = 0; i < index->count; i++)
        list[i] = (res_found){.id = records[i].id, .file = records[i].file};
    res_listing_report_copies(&u->files, list, index->count, &index->damaged, &index->damaged_count,
                              &u->damaged_room);
    for (size_t i = 0; i < index->count; i++)
        if (!list[i].copy_of)
            records[kept++] = records[i];
    index->count = kept;
    free(list);
}

bn_code res_index_load(const char *store, const res_index_options *options, res_index *index,
                       bn_status *st)
{
    *index = (res_index){.memory = bn_arena_new(1 << 16)};
    update u = {.options = options, .pools = {.memory = index->memory}, .index = index, .st = st};
    bn_code code =
        res_listing_begin(&u.files, store, options && options->rebuild, index->memory, st);
    if (code == BN_OK)
        code = summarise_files(&u);
    if (code == BN_OK) {
        drop_copies(&u);
        index->experiments = res_pools_experiments(&u.pools);
        index->experiment_count = u.pools.experiments.count;
        res_listing_save(&u.files, &index->unsaved);
    }
    res_store_vet_end();
    res_pools_free(&u.pools);
    res_listing_end(&u.files);
    if (code != BN_OK)
        res_index_free(index);
    return code;
}

/* ---- estimates apart ---------------------------------------------------------------- */

/* Numbers the experiments of PART, whose summaries have the numbers of WHOLE, anew: those that it
 * has. */
static void renumber(res_index *part, const res_index *whole)
{
    const size_t count = whole->experiment_count;
    size_t *numbers = bn_zalloc(count, sizeof *numbers); /* from 1; 0: PART does not have it */
    const res_experiment **list =
        bn_arena_alloc(whole->memory, (count + 1) * sizeof(const res_experiment *));
    part->experiments = list;
    part->experiment_count = 0;
    for (size_t i = 0; i < part->count; i++) {
        const size_t old = part->records[i].experiment;
        if (numbers[old] == 0) {
            list[part->experiment_count] = whole->experiments[old];
            numbers[old] = ++part->experiment_count;
        }
        part->records[i].experiment = numbers[old] - 1;
    }
    free(numbers);
}

void res_index_split(res_index *index, res_index *estimates)
{
    const res_index whole = *index;
    res_index part = {.records = bn_zalloc(whole.count, sizeof *part.records)};
    size_t kept = 0;
    for (size_t i = 0; i < whole.count; i++)
        if (res_is_estimate(whole.experiments[whole.records[i].experiment]))
            part.records[part.count++] = whole.records[i];
        else
            index->records[kept++] = whole.records[i];
    if (part.count > 0) {
        index->count = kept;
        renumber(index, &whole);
        renumber(&part, &whole);
    }
    if (estimates)
        *estimates = part;
    else
        free(part.records);
}

/* ---- records of the index ----------------------------------------------------------- */

static bool is_described(const res_index *index, const res_summary *s, const res_record *record)
{
    return strcmp(record->id, s->id) == 0 && record->simulated == s->simulated &&
           record->status == s->status && (int64_t)record->step_count == s->steps &&
           res_record_repetition(record) == s->repetition &&
           strcmp(res_plugin_sha256(record), s->origin->sha256) == 0 &&
           res_same_experiment(&record->experiment, index->experiments[s->experiment]);
}

bn_code res_summary_read(const char *store, const res_index *index, const res_summary *summary,
                         res_record **record, bn_status *st)
{
    bn_text path = {0};
    bn_text_printf(&path, "%s/%s", store, summary->file);
    bn_code code = res_store_read_foreign(path.data, record, st);
    if (code == BN_OK && !is_described(index, summary, *record)) {
        res_record_free(*record);
        *record = NULL;
        code = bn_fail(st, BN_FORMAT,
                       "%s: not the record that the store's index describes; bench history "
                       "--reindex makes the index anew",
                       path.data);
    }
    bn_text_free(&path);
    return code;
}

/* Adds the file at PATH, which is then the collection's, to the damaged ones of ALL. */
static void add_path(res_collection *all, char *path, res_fault fault, const bn_status *why)
{
    bn_grow(&all->damaged, all->damaged_count + 1, &all->damaged_room, sizeof *all->damaged);
    all->damaged[all->damaged_count++] = (res_damaged){path, *why, fault};
}

bn_code res_summary_take(const char *store, const res_index *index, const res_summary *summary,
                         res_record **record, res_collection *all, bn_status *st)
{
    bn_text path = {0};
    bn_status why = {.code = BN_OK};
    *record = NULL;
    bn_code code = res_summary_read(store, index, summary, record, &why);
    if (code == BN_OK)
        return BN_OK;
    if (code == BN_OUT_OF_MEMORY)
        return bn_fail(st, code, "%s", why.message);
    bn_text_printf(&path, "%s/%s", store, summary->file);
    add_path(all, path.data, RES_FAULT_UNREAD, &why);
    return BN_OK;
}

void res_index_take_damaged(const res_index *index, res_collection *all)
{
    for (size_t i = 0; i < index->damaged_count; i++)
        add_path(all, bn_strdup(index->damaged[i].path), index->damaged[i].fault,
                 &index->damaged[i].status);
}

void res_index_free(res_index *index)
{
    for (size_t i = 0; i < index->damaged_count; i++)
        free(index->damaged[i].path);
    free(index->damaged);
    free(index->records);
    bn_arena_free(index->memory);
    *index = (res_index){0};
}
