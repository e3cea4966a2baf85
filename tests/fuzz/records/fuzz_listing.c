/*
 * fuzz_listing.c - the whole index of a store, as a file in its folder. Input that begins with
 * "bench-index" is used as it is; any other is the lines of an index whose digest is correct.
 * Entries that are read from it and saved can be read again.
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "results/records/index_priv.h"

enum { FILES = 3 };
static const char *const names[FILES] = {"a.h5", "b.h5", "c\td.h5"};

typedef struct place {
    char store[256], index[288], file[FILES][288];
} place;

/* A store with FILES files, of sizes and times that seeds can name. */
static void place_begin(place *p)
{
    const char *parent = getenv("TMPDIR");
    snprintf(p->store, sizeof p->store, "%.200s/fuzz.XXXXXX", parent ? parent : P_tmpdir);
    fuzz_require(mkdtemp(p->store) != NULL, "no folder");
    snprintf(p->index, sizeof p->index, "%s/" RES_INDEX_FILE, p->store);
    for (int i = 0; i < FILES; i++) {
        const struct timespec times[2] = {{.tv_sec = i + 1}, {.tv_sec = i + 1}};
        snprintf(p->file[i], sizeof p->file[i], "%s/%s", p->store, names[i]);
        FILE *f = fopen(p->file[i], "w");
        fuzz_require(f && fclose(f) == 0 && truncate(p->file[i], (i + 1) * 10) == 0 &&
                         utimensat(AT_FDCWD, p->file[i], times, 0) == 0,
                     "no file");
    }
}

static void place_end(const place *p)
{
    for (int i = 0; i < FILES; i++)
        unlink(p->file[i]);
    unlink(p->index);
    fuzz_require(rmdir(p->store) == 0, "something is left behind");
}

/* Writes the index with the LENGTH bytes of LINES, and a digest that fits. */
static void put_lines(const place *p, const char *lines, size_t length)
{
    bn_status st = {.code = BN_OK};
    bn_arena *memory = bn_arena_new(4096);
    res_listing l;
    fuzz_require(memory && res_listing_begin(&l, p->store, true, memory, &st) == BN_OK,
                 "no listing");
    res_listing_put(&l, lines, length, false);
    res_listing_save(&l, &st);
    fuzz_status(st.code, &st);
    res_listing_end(&l);
    bn_arena_free(memory);
}

/* Takes what the index says of each file, and saves what can be used, which KNOWN then counts. */
static void load(const place *p, size_t *known)
{
    bn_status st = {.code = BN_OK};
    bn_arena *memory = bn_arena_new(4096);
    res_pools pools = {.memory = memory};
    res_listing l;
    fuzz_require(memory && res_listing_begin(&l, p->store, false, memory, &st) == BN_OK,
                 "no listing");
    fuzz_require(l.count == FILES, "files that are not there");
    *known = 0;
    for (size_t i = 0; i < l.count; i++) {
        size_t length = 0;
        res_summary summary;
        bn_status why = {.code = BN_OK};
        l.files[i].written_ns = l.files[i].mtime_ns; /* seeds cannot name the moment of this test */
        const char *line = res_listing_line(&l, &l.files[i], &length);
        if (!line)
            continue;
        fuzz_require(fuzz_touch(line, length) && line[length - 1] == '\n', "half a line");
        res_fault fault;
        if (!res_listing_damaged(line, length, &fault, &why) &&
            res_line_parse(line, length, &pools, &summary, &why) != BN_OK)
            continue;
        res_listing_put(&l, line, length, true);
        ++*known;
    }
    res_listing_save(&l, &st);
    fuzz_status(st.code, &st);
    res_pools_free(&pools);
    res_listing_end(&l);
    bn_arena_free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char whole[] = "bench-index";
    place p;
    size_t first, again;
    bn_status st = {.code = BN_OK};
    place_begin(&p);
    if (size >= sizeof whole - 1 && memcmp(data, whole, sizeof whole - 1) == 0)
        fuzz_require(bn_file_write_own(p.index, data, size, &st) == BN_OK, "no index");
    else
        put_lines(&p, (const char *)data, size);
    load(&p, &first);
    load(&p, &again);
    fuzz_require(first == again, "what was saved is not taken again");
    place_end(&p);
    return 0;
}
