/*
 * index_line.c - a record's summary as a line of the index: columns separated by tabs. The members
 * of the experiment are columns by their rows in axes.def: a new member changes the heads, and
 * indexes with other heads are not used.
 *
 * In texts, tab, newline, carriage return and backslash are escaped as in C; an unknown
 * number is a dash. Each line is complete, but the columns of the experiment and of where it ran
 * are the same in many lines: they are read once and shared.
 */
#include "results/records/index_priv.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The columns before those of the experiment. */
enum {
    FILE_NAME,
    SIZE,
    MTIME,
    ID,
    STATUS,
    SIMULATED,
    STEPS,
    REPETITION,
    WALL,
    TRACE,
    DEVICE,
    OVERHEAD,
    COMPILE,
    SOURCE,
    GROUP,
    CONDITIONS,
    SHA256,
    LABEL,
    VERSION,
    HOST,
    EXPERIMENT, /* and all that follow */
    MOST_COLUMNS = EXPERIMENT + 64
};
/* The number at "conditions" changes with the list of these in provenance.c: marks of other lists
 * are no marks. */
static const char fixed_heads[] =
    "file\tsize\tmtime_ns\tid\tstatus\tsimulated\tsteps\trepetition\twall_ns\t"
    "trace_ns\tdevice_ns\toverhead_ns\tcompile_ns\tsource\tgroup\tconditions2\tsha256\tlabel\t"
    "version\thost";

void res_line_heads(bn_text *out)
{
    bn_text_puts(out, fixed_heads);
    for (const res_field *field = res_experiment_fields; field->name; field++) {
        bn_text_putc(out, '\t');
        bn_text_puts(out, field->name);
    }
    bn_text_putc(out, '\n');
}

/* ---- writing ------------------------------------------------------------------ */

static const char plain[] = "\t\n\r\\", escaped[] = "tnr\\";

void res_line_put_text(bn_text *out, const char *text)
{
    for (; *text; text++) {
        const char *special = strchr(plain, *text);
        if (special)
            bn_text_putc(out, '\\');
        bn_text_putc(out, special ? escaped[special - plain] : *text);
    }
}

static void put_real(bn_text *out, double value)
{
    if (isfinite(value))
        bn_text_printf(out, "\t%.10g", value);
    else
        bn_text_puts(out, "\t-");
}

static void put_member(bn_text *out, const res_field *field, const void *base)
{
    const void *at = (const char *)base + field->offset;
    bn_text_putc(out, '\t');
    if (field->kind == RES_KIND_TEXT)
        res_line_put_text(out, at);
    else if (field->kind == RES_KIND_U64)
        bn_text_printf(out, "%" PRIu64, *(const uint64_t *)at);
    else
        bn_text_int(out, *(const int *)at);
}

/* At most RES_TEXT - 1 bytes of TEXT, whole characters of UTF-8. */
static void put_cut(bn_text *out, const char *text)
{
    char cut[RES_TEXT];
    const size_t length = bn_utf8_fit(text, sizeof cut - 1);
    memcpy(cut, text, length);
    cut[length] = '\0';
    bn_text_putc(out, '\t');
    res_line_put_text(out, cut);
}

/* The columns that decide with which other records this one is pooled. */
static void put_marks(bn_text *out, const res_record *record, const char *source)
{
    char group[RES_MARK], conditions[RES_MARK];
    res_group_mark(record, group);
    res_conditions_mark(record, conditions);
    bn_text_printf(out, "\t%s\t%s\t%s", source, group, conditions);
}

static void put_origin(bn_text *out, const res_record *record)
{
    const char *sha256 = res_plugin_sha256(record);
    bn_text_putc(out, '\t');
    if (strlen(sha256) < BN_SHA256_TEXT)
        res_line_put_text(out, sha256);
    put_cut(out, res_provenance_text(record, RES_PROV_RUNTIME_LABEL));
    put_cut(out, res_provenance_text(record, RES_PROV_RUNTIME_VERSION));
    put_cut(out, res_provenance_text(record, RES_PROV_HOST_NAME));
}

void res_line_write(const res_record *record, const char *file, int64_t size, int64_t mtime_ns,
                    bn_text *out)
{
    const res_measures of = res_record_measures(record);
    res_line_put_text(out, file);
    bn_text_printf(out, "\t%" PRId64 "\t%" PRId64 "\t", size, mtime_ns);
    res_line_put_text(out, record->id);
    bn_text_printf(out, "\t%s\t%d\t%zu\t%d", bn_code_name(record->status), record->simulated,
                   record->step_count, res_record_repetition(record));
    put_real(out, of.wall_ns);
    put_real(out, of.trace_ns);
    put_real(out, of.device_ns);
    put_real(out, of.overhead_ns);
    put_real(out, of.compile_ns);
    put_marks(out, record, of.source);
    put_origin(out, record);
    for (const res_field *field = res_experiment_fields; field->name; field++)
        put_member(out, field, &record->experiment);
    bn_text_putc(out, '\n');
}

/* ---- reading -------------------------------------------------------------------- */

/* A column of a line: up to the next tab or newline. */
typedef struct column {
    const char *text;
    size_t length;
} column;

/* Fills at most MOST columns. Returns how many there are, or MOST + 1 where there are more. */
static size_t split(const char *line, const char *end, column *columns, size_t most)
{
    size_t count = 0;
    for (const char *at = line; count < most; count++) {
        const char *tab = memchr(at, '\t', (size_t)(end - at));
        columns[count] = (column){at, (size_t)((tab ? tab : end) - at)};
        if (!tab)
            return count + 1;
        at = tab + 1;
    }
    return count + 1;
}

static bool take_text(column c, char *text, size_t size)
{
    size_t length = 0;
    for (size_t i = 0; i < c.length; i++) {
        char byte = c.text[i];
        if (byte == '\\') {
            const char *known = ++i < c.length ? strchr(escaped, c.text[i]) : NULL;
            if (!known || !*known)
                return false;
            byte = plain[known - escaped];
        }
        if (length + 1 >= size)
            return false;
        text[length++] = byte;
    }
    text[length] = '\0';
    return true;
}

static bool take_int(column c, int64_t least, int64_t most, int64_t *value)
{
    char *end;
    *value = strtoll(c.text, &end, 10);
    return c.length > 0 && end == c.text + c.length && *value >= least && *value <= most;
}

/* A time that is unknown, or from LEAST on, as res_record_check has them. */
static bool take_time(column c, double least, double *value)
{
    char *end;
    *value = (double)NAN;
    if (c.length == 1 && c.text[0] == '-')
        return true;
    *value = strtod(c.text, &end);
    return c.length > 0 && end == c.text + c.length && !isnan(*value) &&
           res_time_fits(*value, least);
}

static bool take_member(column c, const res_field *field, void *base)
{
    char *at = (char *)base + field->offset;
    int64_t number = 0;
    char *end;
    if (field->kind == RES_KIND_TEXT)
        return take_text(c, at, field->size);
    if (field->kind == RES_KIND_U64) {
        *(uint64_t *)(void *)at = strtoull(c.text, &end, 10);
        return c.length > 0 && end == c.text + c.length;
    }
    if (!take_int(c, INT32_MIN, INT32_MAX, &number))
        return false;
    *(int *)(void *)at = (int)number;
    return true;
}

static bool take_experiment(const column *columns, void *object)
{
    res_experiment *e = object;
    for (size_t i = 0; res_experiment_fields[i].name; i++)
        if (!take_member(columns[i], &res_experiment_fields[i], e))
            return false;
    return res_experiment_check(e, NULL) == BN_OK;
}

/* Text that people read; as in a record it becomes plain. */
static bool take_plain(column c, char text[RES_TEXT])
{
    char raw[RES_TEXT];
    if (!take_text(c, raw, sizeof raw))
        return false;
    bn_plain(raw, text, RES_TEXT);
    return true;
}

static bool take_origin(const column *columns, void *object)
{
    res_origin *o = object;
    return take_text(columns[0], o->sha256, sizeof o->sha256) && res_is_digest(o->sha256) &&
           take_plain(columns[1], o->label) && take_plain(columns[2], o->version) &&
           take_plain(columns[3], o->host);
}

bool res_line_key_parse(const char *line, res_line_key *key)
{
    char *end;
    key->file = line;
    key->file_length = strcspn(line, "\t\n");
    if (line[key->file_length] != '\t')
        return false;
    key->size = strtoll(line + key->file_length + 1, &end, 10);
    if (*end != '\t')
        return false;
    key->mtime_ns = strtoll(end + 1, &end, 10);
    return *end == '\t';
}

/* ---- pools ------------------------------------------------------------------------- */

static res_pool_entry *pool_place(const res_pool *pool, uint64_t hash, column text)
{
    size_t at = (size_t)hash & (pool->capacity - 1);
    for (;; at = (at + 1) & (pool->capacity - 1)) {
        res_pool_entry *entry = &pool->entries[at];
        if (!entry->text || (entry->hash == hash && entry->length == text.length &&
                             memcmp(entry->text, text.text, text.length) == 0))
            return entry;
    }
}

static void pool_grow(res_pool *pool)
{
    res_pool larger = {.capacity = pool->capacity ? 2 * pool->capacity : 256, .count = pool->count};
    larger.entries = bn_zalloc(larger.capacity, sizeof *larger.entries);
    for (size_t i = 0; i < pool->capacity; i++) {
        const res_pool_entry *entry = &pool->entries[i];
        if (entry->text)
            *pool_place(&larger, entry->hash, (column){entry->text, entry->length}) = *entry;
    }
    free(pool->entries);
    *pool = larger;
}

/* FNV-1a, of the public domain. */
static uint64_t hash_of(column text)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < text.length; i++)
        hash = (hash ^ (unsigned char)text.text[i]) * 1099511628211u;
    return hash;
}

typedef bool take_object(const column *columns, void *object);

/* Finds the object that COUNT columns describe; TAKE makes it when it is new. */
static bn_code pool_take(res_pool *pool, bn_arena *memory, const column *columns, size_t count,
                         size_t size, take_object *take, const res_pool_entry **found,
                         bn_status *st)
{
    const column *last = &columns[count - 1];
    const column text = {columns[0].text, (size_t)(last->text + last->length - columns[0].text)};
    const uint64_t hash = hash_of(text);
    if (2 * pool->count >= pool->capacity)
        pool_grow(pool);
    res_pool_entry *entry = pool_place(pool, hash, text);
    *found = entry;
    if (entry->text)
        return BN_OK;
    void *object = bn_arena_zalloc(memory, size);
    char *key = bn_arena_alloc(memory, text.length + 1);
    if (!take(columns, object))
        return bn_fail(st, BN_FORMAT, "a line of the index is damaged");
    memcpy(key, text.text, text.length);
    *entry = (res_pool_entry){hash, key, text.length, pool->count++, object};
    return BN_OK;
}

void res_pools_free(res_pools *pools)
{
    free(pools->experiments.entries);
    free(pools->origins.entries);
    *pools = (res_pools){0};
}

const res_experiment **res_pools_experiments(const res_pools *pools)
{
    const res_pool *pool = &pools->experiments;
    const res_experiment **list =
        bn_arena_alloc(pools->memory, (pool->count + 1) * sizeof(const res_experiment *));
    for (size_t i = 0; i < pool->capacity; i++)
        if (pool->entries[i].text)
            list[pool->entries[i].number] = pool->entries[i].object;
    return list;
}

/* ---- lines ---------------------------------------------------------------------------- */

/* Whether C is the digits of a mark, or "". */
static bool take_mark(column c, char mark[RES_MARK])
{
    return take_text(c, mark, RES_MARK) && strspn(mark, "0123456789abcdef") == c.length &&
           (c.length == 0 || c.length == RES_MARK - 1);
}

static bool take_marks(const column *columns, res_summary *s)
{
    char source[64];
    s->source =
        take_text(columns[SOURCE], source, sizeof source) ? res_measures_source(source) : NULL;
    return s->source && take_mark(columns[GROUP], s->group) &&
           take_mark(columns[CONDITIONS], s->conditions);
}

static bool take_figures(const column *columns, res_summary *s)
{
    char status[64];
    int64_t simulated = 0, repetition = 0;
    if (!take_text(columns[STATUS], status, sizeof status))
        return false;
    s->status = bn_code_from_name(status);
    const bool ok = s->status != BN_CODE_COUNT && take_int(columns[SIZE], 0, INT64_MAX, &s->size) &&
                    take_int(columns[MTIME], INT64_MIN, INT64_MAX, &s->mtime_ns) &&
                    take_text(columns[ID], s->id, sizeof s->id) && res_id_names_a_file(s->id) &&
                    take_int(columns[SIMULATED], 0, 1, &simulated) &&
                    take_int(columns[STEPS], 0, INT64_MAX, &s->steps) &&
                    take_int(columns[REPETITION], 0, RES_MOST_REPETITIONS, &repetition) &&
                    /* The median of steps, and no step takes no time. */
                    take_time(columns[WALL], DBL_MIN, &s->wall_ns) &&
                    take_time(columns[TRACE], 0, &s->trace_ns) &&
                    /* Differences of two times: noise can take them below zero. */
                    take_time(columns[DEVICE], -(double)RES_MOST_NS, &s->device_ns) &&
                    take_time(columns[OVERHEAD], -(double)RES_MOST_NS, &s->overhead_ns) &&
                    take_time(columns[COMPILE], 0, &s->compile_ns) && take_marks(columns, s);
    s->simulated = simulated == 1;
    s->repetition = (int)repetition;
    return ok;
}

bn_code res_line_parse(const char *line, size_t length, res_pools *pools, res_summary *summary,
                       bn_status *st)
{
    column columns[MOST_COLUMNS];
    const res_pool_entry *experiment = NULL, *origin = NULL;
    size_t members = 0;
    while (res_experiment_fields[members].name)
        members++;
    *summary = (res_summary){0};
    if (length == 0 ||
        split(line, line + length - 1, columns, MOST_COLUMNS) != EXPERIMENT + members)
        return bn_fail(st, BN_FORMAT, "a line of the index has other columns");
    if (!take_figures(columns, summary))
        return bn_fail(st, BN_FORMAT, "a line of the index is damaged");
    bn_code code = pool_take(&pools->origins, pools->memory, columns + SHA256, EXPERIMENT - SHA256,
                             sizeof(res_origin), take_origin, &origin, st);
    if (code == BN_OK)
        code = pool_take(&pools->experiments, pools->memory, columns + EXPERIMENT, members,
                         sizeof(res_experiment), take_experiment, &experiment, st);
    if (code != BN_OK)
        return code;
    summary->origin = origin->object;
    summary->experiment = experiment->number;
    return BN_OK;
}
