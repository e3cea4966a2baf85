/*
 * test_base.c - base.h: statuses, arena, growing arrays, text, files, digests, and the
 * ledger's names. Needs no plugin.
 */
#include "tests/support/test_runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A folder of this process's own; removed after the last test. */
static char folder[256];

static int folder_make(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/test_base.XXXXXX", parent ? parent : P_tmpdir);
    return mkdtemp(folder) ? 0 : -1;
}

static int folder_remove(void **state)
{
    (void)state;
    return rmdir(folder); /* fails where a test left a file behind */
}

static void path_of(char path[300], const char *name)
{
    snprintf(path, 300, "%s/%s", folder, name);
}

/* ---- status ------------------------------------------------------------- */

static void code_names_go_both_ways(void **state)
{
    (void)state;
    for (int i = 0; i < BN_CODE_COUNT; i++)
        assert_int_equal(bn_code_from_name(bn_code_name((bn_code)i)), i);
    assert_string_equal(bn_code_name(BN_OUT_OF_MEMORY), "out-of-memory");
    assert_int_equal(bn_code_from_name("no such class"), BN_CODE_COUNT);
    assert_string_equal(bn_code_name(BN_CODE_COUNT), "unknown");
}

static void context_goes_in_front(void **state)
{
    (void)state;
    bn_status st = {0};
    assert_int_equal(bn_context(&st, "nothing failed"), BN_OK);
    assert_string_equal(st.message, "");
    assert_int_equal(bn_fail(&st, BN_INVALID, "operand %d has rank %d", 1, 3), BN_INVALID);
    assert_int_equal(bn_context(&st, "layer%d", 1), BN_INVALID);
    assert_int_equal(bn_context(&st, "%s", "resnet50"), BN_INVALID);
    assert_string_equal(st.message, "resnet50: layer1: operand 1 has rank 3");
    /* A caller may reword with the old text as an argument. */
    bn_fail(&st, BN_COMPILE, "again (%s)", st.message);
    assert_string_equal(st.message, "again (resnet50: layer1: operand 1 has rank 3)");
    assert_int_equal(bn_fail(NULL, BN_IO, "nobody listens"), BN_IO);
    assert_int_equal(bn_fail_errno(NULL, EACCES, "nobody listens"), BN_IO);
    assert_int_equal(bn_context(NULL, "nobody listens"), BN_OK);
}

static void long_messages_are_cut_between_characters(void **state)
{
    (void)state;
    bn_status st = {0};
    char text[3000];
    for (size_t i = 0; i < sizeof text - 1; i += 2)
        memcpy(text + i, "\xc3\xa9", 2); /* e with an accent */
    text[sizeof text - 2] = '\0';
    bn_fail(&st, BN_IO, "%s", text);
    assert_in_range(strlen(st.message), sizeof st.message - 12, sizeof st.message - 1);
    bn_context(&st, "x");
    assert_memory_equal(st.message, "x: \xc3\xa9", 5);
    assert_non_null(strstr(st.message, "\xc3\xa9 ... \xc3\xa9"));
    size_t length = strlen(st.message);
    assert_int_equal((unsigned char)st.message[length - 1], 0xa9);
    char shown[sizeof st.message];
    bn_plain(st.message, shown, sizeof shown);
    assert_string_equal(shown, st.message);
}

static void messages_are_one_line_of_text(void **state)
{
    (void)state;
    bn_status st = {0};
    bn_fail(&st, BN_FORMAT, "%s: kind '%s'", "a\nb.npy", "\x1b[2J\x7f\xc3\xa9");
    assert_string_equal(st.message, "a b.npy: kind '?[2J?\xc3\xa9'");
    bn_context(&st, "a\tfolder");
    assert_string_equal(st.message, "a folder: a b.npy: kind '?[2J?\xc3\xa9'");
}

static void errno_gets_its_class_and_text(void **state)
{
    (void)state;
    bn_status st = {0};
    assert_int_equal(bn_fail_errno(&st, ENOSPC, "%s", "a.h5"), BN_IO);
    assert_string_equal(st.message, "a.h5: disk full");
    assert_int_equal(bn_fail_errno(&st, EDQUOT, "a.h5"), BN_IO);
    assert_string_equal(st.message, "a.h5: disk full");
    assert_int_equal(bn_fail_errno(&st, ENOENT, "a.h5"), BN_NOT_FOUND);
    assert_string_equal(st.message, "a.h5: No such file or directory");
    assert_int_equal(bn_fail_errno(&st, ENOMEM, "a.h5"), BN_OUT_OF_MEMORY);
}

static void clock_goes_forward(void **state)
{
    (void)state;
    uint64_t before = bn_now_ns();
    usleep(2000);
    uint64_t passed = bn_now_ns() - before;
    assert_in_range(passed, 2000000, 2000000000);
}

/* ---- arena -------------------------------------------------------------- */

static void arena_gives_aligned_memory(void **state)
{
    (void)state;
    bn_arena *arena = bn_arena_new(0);
    assert_non_null(arena);
    unsigned char *last = NULL;
    for (size_t size = 0; size < 2000; size += 7) {
        unsigned char *bytes = bn_arena_alloc(arena, size);
        assert_non_null(bytes);
        assert_int_equal((uintptr_t)bytes % 16, 0);
        assert_ptr_not_equal(bytes, last);
        memset(bytes, 0xA5, size);
        last = bytes;
    }
    unsigned char *zeros = bn_arena_zalloc(arena, 100000);
    assert_non_null(zeros);
    for (size_t i = 0; i < 100000; i++)
        assert_int_equal(zeros[i], 0);
    char *text = bn_arena_strdup(arena, "layer1.0.conv2");
    assert_string_equal(text, "layer1.0.conv2");
    bn_arena_free(arena);
    bn_arena_free(NULL);
}

static void arena_keeps_its_chunks(void **state)
{
    (void)state;
    bn_arena *arena = bn_arena_new(1024);
    void *first[40];
    for (int i = 0; i < 40; i++)
        first[i] = bn_arena_alloc(arena, 500);
    /* The same requests after a reset get the same memory: nothing is asked of
     * the system. */
    for (int round = 0; round < 3; round++) {
        bn_arena_reset(arena);
        for (int i = 0; i < 40; i++) {
            void *again = bn_arena_alloc(arena, 500);
            assert_ptr_equal(again, first[i]);
            memset(again, round, 500);
        }
    }
    /* Other requests still fit, and a later large one finds a place. */
    bn_arena_reset(arena);
    assert_non_null(bn_arena_zalloc(arena, 1 << 20));
    assert_non_null(bn_arena_zalloc(arena, 100));
    bn_arena_reset(arena);
    bn_arena_reset(arena);
    bn_arena_free(arena);
}

/* ---- arrays --------------------------------------------------------------- */

static void arrays_grow_and_keep_their_items(void **state)
{
    (void)state;
    int64_t *items = NULL;
    size_t capacity = 0, moves = 0;
    for (size_t i = 0; i < 10000; i++) {
        const size_t before = capacity;
        assert_true(bn_reserve(&items, i + 1, &capacity, sizeof *items));
        assert_true(capacity > i);
        moves += capacity != before;
        assert_true(capacity == before || capacity >= 2 * before);
        items[i] = (int64_t)i * 7;
    }
    assert_true(moves < 16);
    for (size_t i = 0; i < 10000; i++)
        assert_int_equal(items[i], i * 7);
    /* Room that is there already changes nothing. */
    const int64_t *where = items;
    const size_t room = capacity;
    assert_true(bn_reserve(&items, 0, &capacity, sizeof *items));
    assert_true(bn_reserve(&items, room, &capacity, sizeof *items));
    assert_ptr_equal(items, where);
    assert_int_equal(capacity, room);
    /* Many at once, from a capacity that is no power of two. */
    capacity = 10000;
    assert_true(bn_reserve(&items, 123456, &capacity, sizeof *items));
    assert_true(capacity >= 123456);
    memset(items + 10000, 0x5A, (123456 - 10000) * sizeof *items);
    assert_int_equal(items[9999], 9999 * 7);
    free(items);
}

static void arrays_refuse_impossible_sizes(void **state)
{
    (void)state;
    struct pair {
        double a, b;
    } *items = NULL;
    size_t capacity = 0;
    assert_true(bn_reserve(&items, 3, &capacity, sizeof *items));
    items[2] = (struct pair){1, 2};
    const struct pair *where = items;
    const size_t room = capacity;
    const size_t impossible[] = {
        SIZE_MAX,                        /* no doubling reaches it */
        SIZE_MAX / 2 + 2,                /* nor this */
        SIZE_MAX / sizeof *items + 1,    /* the product is 0 */
        PTRDIFF_MAX / sizeof *items + 1, /* a product, but no object */
    };
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
        assert_false(bn_reserve(&items, impossible[i], &capacity, sizeof *items));
        assert_ptr_equal(items, where);
        assert_int_equal(capacity, room);
        assert_true(items[2].b == 2);
    }
    free(items);
    char *bytes = NULL;
    capacity = 0;
    assert_false(bn_reserve(&bytes, (size_t)PTRDIFF_MAX + 1, &capacity, 1));
    assert_null(bytes);
    assert_int_equal(capacity, 0);
}

/* ---- text --------------------------------------------------------------- */

static void text_grows(void **state)
{
    (void)state;
    bn_text text = {0};
    bn_text_puts(&text, "%0 = ");
    bn_text_append(&text, "stablehlo.addxxx", 13);
    bn_text_putc(&text, ' ');
    bn_text_int(&text, 0);
    bn_text_putc(&text, ' ');
    bn_text_int(&text, INT64_MIN);
    bn_text_putc(&text, ' ');
    bn_text_int(&text, INT64_MAX);
    bn_text_printf(&text, " %s %d", "tensor", 42);
    assert_string_equal(text.data, "%0 = stablehlo.add 0 -9223372036854775808"
                                   " 9223372036854775807 tensor 42");
    bn_text_clear(&text);
    assert_int_equal(text.length, 0);
    for (int i = 0; i < 20000; i++)
        bn_text_printf(&text, "%d,", i % 10);
    assert_int_equal(text.length, 40000);
    assert_int_equal(text.data[40000], '\0');
    char line[1001];
    memset(line, 'x', 1000);
    line[1000] = '\0';
    bn_text_printf(&text, "%s", line);
    assert_int_equal(text.length, 41000);
    assert_int_equal(text.data[40999], 'x');
    bn_text_free(&text);
    assert_null(text.data);
    bn_text_free(NULL);
}

/* Asks for more memory than there can be, in the way of case WHICH. */
static void ask_too_much(int which)
{
    bn_arena *arena = bn_arena_new(64);
    bn_text text = {0};
    void *items = NULL;
    size_t capacity = 0;
    if (which == 0)
        (void)bn_arena_alloc(arena, SIZE_MAX);
    else if (which == 1)
        (void)bn_arena_alloc(arena, SIZE_MAX - 100);
    else if (which == 2)
        bn_text_append(&text, "", SIZE_MAX / 2);
    else if (which == 3)
        bn_grow(&items, SIZE_MAX / 8, &capacity, 16);
    else
        (void)bn_zalloc(SIZE_MAX / 2, 16);
}

/* The process ends with the code that was set, and one line that begins with the program's name. */
static void small_memory_is_there_or_the_process_ends(void **state)
{
    (void)state;
    for (int which = 0; which < 5; which++) {
        char line[200];
        int ends[2], status = 0;
        assert_int_equal(pipe(ends), 0);
        const pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            dup2(ends[1], STDERR_FILENO);
            bn_out_of_memory_exits(40 + which);
            ask_too_much(which);
            _exit(0);
        }
        close(ends[1]);
        const ssize_t length = read(ends[0], line, sizeof line - 1);
        close(ends[0]);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 40 + which);
        assert_true(length > 0);
        line[length] = '\0';
        assert_memory_equal(line, "bench: ", 7);
        assert_ptr_equal(strchr(line, '\n'), line + length - 1);
    }
}

/* Copies are whole, of a part that is asked for, and of nothing. */
static void copies_end_where_they_should(void **state)
{
    (void)state;
    char *whole = bn_strdup("layer1"), *part = bn_strndup("layer1", 5), *none = bn_strndup("", 7);
    assert_string_equal(whole, "layer1");
    assert_string_equal(part, "layer");
    assert_string_equal(none, "");
    free(whole);
    free(part);
    free(none);
    int *zeros = bn_zalloc(100, sizeof *zeros);
    for (int i = 0; i < 100; i++)
        assert_int_equal(zeros[i], 0);
    free(zeros);
    free(bn_alloc(0));
    free(bn_zalloc(0, 8));
}

/* Characters of one to four bytes, at each length. */
static void text_is_cut_between_characters(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t fits[8]; /* [most] */
    } rows[] = {
        {"", {0, 0, 0, 0, 0, 0, 0, 0}},
        {"abc", {0, 1, 2, 3, 3, 3, 3, 3}},
        {"a\xc3\xa9z", {0, 1, 1, 3, 4, 4, 4, 4}},               /* e with an accent */
        {"a\xe2\x82\xacz", {0, 1, 1, 1, 4, 5, 5, 5}},           /* the euro */
        {"a\xf0\x9f\x98\x80z", {0, 1, 1, 1, 1, 5, 6, 6}},       /* a face */
        {"\xf0\x9f\x98\x80\xc3\xa9", {0, 0, 0, 0, 4, 4, 6, 6}}, /* and no plain letter */
        {"\xa9\xa9\xa9", {0, 0, 0, 3, 3, 3, 3, 3}},             /* no UTF-8: cut all, or nothing */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t most = 0; most < 8; most++)
            assert_int_equal(bn_utf8_fit(rows[i].text, most), rows[i].fits[most]);
        assert_int_equal(bn_utf8_fit(rows[i].text, SIZE_MAX), strlen(rows[i].text));
    }
}

/* ---- files -------------------------------------------------------------- */

static void files_are_written_whole(void **state)
{
    (void)state;
    bn_status st = {0};
    char path[300], *data = NULL;
    size_t size = 0;
    path_of(path, "a");
    assert_ok(bn_file_write_atomic(path, "one\0two", 7, &st), &st);
    assert_ok(bn_regular_read(path, &data, &size, &st), &st);
    assert_int_equal(size, 7);
    assert_memory_equal(data, "one\0two", 8);
    free(data);
    assert_ok(bn_file_write_atomic(path, NULL, 0, &st), &st);
    assert_ok(bn_regular_read(path, &data, &size, &st), &st);
    assert_int_equal(size, 0);
    assert_string_equal(data, "");
    free(data);
    assert_int_equal(unlink(path), 0); /* and the folder is empty again: teardown */
}

static void file_errors_are_reported(void **state)
{
    (void)state;
    bn_status st = {0};
    char path[300], *data = NULL, digest[BN_SHA256_TEXT];
    size_t size = 0;
    path_of(path, "missing/a");
    assert_fails(bn_regular_read(path, &data, &size, &st), BN_NOT_FOUND, "missing/a", &st);
    assert_fails(bn_regular_read(folder, &data, &size, &st), BN_INVALID, folder, &st);
    assert_fails(bn_file_write_atomic(path, "x", 1, &st), BN_NOT_FOUND, "missing/a", &st);
    assert_fails(bn_file_sha256(path, digest, &st), BN_NOT_FOUND, "missing/a", &st);
    assert_fails(bn_file_sha256(folder, digest, &st), BN_INVALID, folder, &st);
    assert_fails(bn_file_write_atomic(folder, "x", 1, &st), BN_IO, folder, &st);
}

static void no_file_takes_the_name_of_a_pipe(void **state)
{
    (void)state;
    bn_status st = {0};
    bn_writer *w = NULL;
    struct stat info;
    char pipe_path[300], link_path[300];
    path_of(pipe_path, "pipe");
    path_of(link_path, "link");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_int_equal(symlink("pipe", link_path), 0);
    assert_fails(bn_file_write_atomic(pipe_path, "x", 1, &st), BN_INVALID, "a pipe", &st);
    assert_fails(bn_file_write_atomic(link_path, "x", 1, &st), BN_INVALID, "a pipe", &st);
    assert_fails(bn_writer_begin(pipe_path, &w, &st), BN_INVALID, "a pipe", &st);
    assert_int_equal(lstat(pipe_path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    assert_int_equal(lstat(link_path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    unlink(link_path);
    unlink(pipe_path);
}

static void files_are_written_in_pieces(void **state)
{
    (void)state;
    bn_status st = {0};
    char path[300], *data = NULL;
    size_t size = 0;
    bn_writer *w = NULL;
    path_of(path, "pieces");
    assert_ok(bn_writer_begin(path, &w, &st), &st);
    assert_ok(bn_writer_add(w, "one ", 4, &st), &st);
    assert_fails(bn_regular_read(path, &data, &size, &st), BN_NOT_FOUND, "pieces", &st);
    st = (bn_status){0};
    assert_ok(bn_writer_add(w, "", 0, &st), &st);
    assert_ok(bn_writer_add(w, "two", 3, &st), &st);
    assert_ok(bn_writer_finish(w, false, &st), &st);

    /* A file that is there is replaced only when asked for. */
    for (int replace = 0; replace < 2; replace++) {
        st = (bn_status){0};
        assert_ok(bn_writer_begin(path, &w, &st), &st);
        assert_ok(bn_writer_add(w, "three", 5, &st), &st);
        if (replace)
            assert_ok(bn_writer_finish(w, true, &st), &st);
        else
            assert_fails(bn_writer_finish(w, false, &st), BN_IO, "File exists", &st);
        st = (bn_status){0};
        assert_ok(bn_regular_read(path, &data, &size, &st), &st);
        assert_string_equal(data, replace ? "three" : "one two");
        free(data);
    }
    unlink(path);

    assert_ok(bn_writer_begin(path, &w, &st), &st);
    bn_writer_drop(w);
    bn_writer_drop(NULL); /* what is left behind, folder_remove finds */
    path_of(path, "missing/a");
    assert_fails(bn_writer_begin(path, &w, &st), BN_NOT_FOUND, "missing/a", &st);
}

static void folders_are_made_with_parents(void **state)
{
    (void)state;
    bn_status st = {0};
    char path[300], file[300];
    path_of(path, "x//y/z/");
    assert_ok(bn_make_folder(path, &st), &st);
    assert_ok(bn_make_folder(path, &st), &st);
    assert_ok(bn_make_folder("/", &st), &st);
    struct stat info;
    path_of(path, "x/y/z");
    assert_int_equal(stat(path, &info), 0);
    assert_true(S_ISDIR(info.st_mode));

    path_of(file, "x/file");
    assert_ok(bn_file_write_atomic(file, "", 0, &st), &st);
    assert_fails(bn_make_folder(file, &st), BN_IO, "x/file", &st);
    path_of(path, "x/file/below");
    assert_fails(bn_make_folder(path, &st), BN_IO, "x/file", &st);
    assert_fails(bn_make_folder("", &st), BN_INVALID, "empty", &st);

    unlink(file);
    static const char *const made[] = {"x/y/z", "x/y", "x"};
    for (size_t i = 0; i < 3; i++) {
        path_of(path, made[i]);
        assert_int_equal(rmdir(path), 0);
    }
}

static void digests_are_sha256(void **state)
{
    (void)state;
    /* The examples of FIPS 180-4 and its empty message. */
    static const char empty[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    char digest[BN_SHA256_TEXT], path[300];
    bn_status st = {0};
    bn_sha256("", 0, digest);
    assert_string_equal(digest, empty);
    bn_sha256("abc", 3, digest);
    assert_string_equal(digest, abc);

    path_of(path, "digest");
    size_t size = (1 << 18) * 2 + 5; /* more than two reads */
    char *data = malloc(size), whole[BN_SHA256_TEXT];
    assert_non_null(data);
    memset(data, 'a', size);
    bn_sha256(data, size, whole);
    assert_ok(bn_file_write_atomic(path, data, size, &st), &st);
    assert_ok(bn_file_sha256(path, digest, &st), &st);
    assert_string_equal(digest, whole);
    free(data);
    unlink(path);
}

/* ---- ledger ------------------------------------------------------------- */

static void ledger_names(void **state)
{
    (void)state;
    assert_string_equal(bn_part_name(BN_PART_INPUT), "input");
    assert_string_equal(bn_part_name(BN_PART_OTHER), "other");
    assert_string_equal(bn_device_time_source_name(BN_DEVICE_TIME_SLOPE), "slope");
    assert_string_equal(bn_counter_name(BN_COUNTER_CACHE_HITS), "cache_hits");
    for (int i = 0; i < BN_PART_COUNT; i++)
        assert_true(strlen(bn_part_text((bn_part)i)) > 0);
    assert_string_equal(bn_part_name(BN_PART_COUNT), "unknown");
    assert_string_equal(bn_part_text(BN_PART_COUNT), "unknown");
    assert_string_equal(bn_device_time_source_name(BN_DEVICE_TIME_SOURCE_COUNT), "unknown");
    assert_string_equal(bn_counter_name(BN_COUNTER_COUNT), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_names_go_both_ways),
        cmocka_unit_test(context_goes_in_front),
        cmocka_unit_test(long_messages_are_cut_between_characters),
        cmocka_unit_test(messages_are_one_line_of_text),
        cmocka_unit_test(errno_gets_its_class_and_text),
        cmocka_unit_test(clock_goes_forward),
        cmocka_unit_test(arena_gives_aligned_memory),
        cmocka_unit_test(arena_keeps_its_chunks),
        cmocka_unit_test(arrays_grow_and_keep_their_items),
        cmocka_unit_test(arrays_refuse_impossible_sizes),
        cmocka_unit_test(text_grows),
        cmocka_unit_test(small_memory_is_there_or_the_process_ends),
        cmocka_unit_test(copies_end_where_they_should),
        cmocka_unit_test(text_is_cut_between_characters),
        cmocka_unit_test(files_are_written_whole),
        cmocka_unit_test(file_errors_are_reported),
        cmocka_unit_test(no_file_takes_the_name_of_a_pipe),
        cmocka_unit_test(files_are_written_in_pieces),
        cmocka_unit_test(folders_are_made_with_parents),
        cmocka_unit_test(digests_are_sha256),
        cmocka_unit_test(ledger_names),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
