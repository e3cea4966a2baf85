/*
 * base.h - what every room of the house shares: error status, memory arena,
 * text buffer, clock, small file helpers.
 *
 * Nothing here knows of graphs, plugins or results. Prefix bn_.
 */
#ifndef BENCH_RUNTIME_BASE_H
#define BENCH_RUNTIME_BASE_H

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define BN_MUST_USE     __attribute__((warn_unused_result))
#define BN_NO_RETURN    __attribute__((noreturn))
#define BN_PRINTF(f, a) __attribute__((format(printf, f, a)))

/*
 * Every way a call can fail, with the class name under which a failed
 * experiment is recorded. A new code is one row here.
 */
#define BN_CODES(X)                                                                                \
    X(BN_OK, "ok")                                                                                 \
    X(BN_INVALID, "invalid-argument")                                                              \
    X(BN_NOT_FOUND, "not-found")                                                                   \
    X(BN_IO, "io-error")                                                                           \
    X(BN_FORMAT, "damaged-file")                                                                   \
    X(BN_NOT_SUPPORTED, "not-supported")                                                           \
    X(BN_OUT_OF_MEMORY, "out-of-memory")                                                           \
    X(BN_PLUGIN, "plugin-error")                                                                   \
    X(BN_COMPILE, "compile-error")                                                                 \
    X(BN_EXECUTE, "execute-error")                                                                 \
    X(BN_WRONG_RESULT, "wrong-result")                                                             \
    X(BN_TIMEOUT, "timeout")                                                                       \
    X(BN_CRASH, "crash")                                                                           \
    X(BN_CANCELLED, "cancelled")                                                                   \
    X(BN_CHANGED, "plugin-changed")

typedef enum bn_code {
#define X(code, name) code,
    BN_CODES(X)
#undef X
        BN_CODE_COUNT
} bn_code;

/* Class name of CODE, for example "out-of-memory"; never NULL. */
const char *bn_code_name(bn_code code);

/* The code whose class name is NAME; BN_CODE_COUNT when there is none. */
bn_code bn_code_from_name(const char *name);

/*
 * Status of a failed call, owned by the caller, who starts it as {0}. Callees
 * leave it alone on success. The failing line writes what happened
 * (bn_fail), callers on the way up prepend where it was (bn_context):
 * "resnet50: layer1.0.conv2: convolution: operand 1 has rank 3, want 4".
 */
typedef struct bn_status {
    bn_code code;
    char message[1024];
} bn_status;

/* Records CODE and a lower-case message without a full stop; returns CODE.
 * Control characters, which texts out of files can have, become '?'.
 * ST may be NULL. Must not be called with BN_OK. */
bn_code bn_fail(bn_status *st, bn_code code, const char *format, ...) BN_PRINTF(3, 4);

/* As bn_fail, and appends ": <text of errno_value>". ENOSPC and EDQUOT read "disk full".
 * ENOENT is BN_NOT_FOUND, ENOMEM BN_OUT_OF_MEMORY, all else BN_IO. */
bn_code bn_fail_errno(bn_status *st, int errno_value, const char *format, ...) BN_PRINTF(3, 4);

/* Puts "context: " before the message of a failed ST; returns ST's code.
 * Does nothing when ST is NULL or holds no failure. */
bn_code bn_context(bn_status *st, const char *format, ...) BN_PRINTF(2, 3);

/* Nanoseconds of CLOCK_MONOTONIC. Thread-safe. */
uint64_t bn_now_ns(void);
/* Keeps this thread's core busy for NS nanoseconds. */
void bn_wait_busily(uint64_t ns);

/*
 * Memory of sizes that bench chooses. Without it the process ends with one line on standard error:
 * callers need no check, and parents start workers again. Sizes that a plugin, a file or a user
 * chooses use malloc or bn_reserve, and fail with BN_OUT_OF_MEMORY. (alloc.c)
 */
/* SIZE bytes, contents undefined; COUNT items of SIZE bytes, zeroed. For free. */
void *bn_alloc(size_t size);
void *bn_zalloc(size_t count, size_t size);
/* A copy of TEXT, or of its first MOST bytes, for free. */
char *bn_strdup(const char *text);
char *bn_strndup(const char *text, size_t most);
/* As bn_reserve (below). */
void bn_grow(void *items, size_t needed, size_t *capacity, size_t item_bytes);
/* Ends the process, for want of SIZE bytes, with the exit code that was set, BN_OUT_OF_MEMORY_EXIT at
 * first, and one line that begins with BN_OUT_OF_MEMORY_LINE. */
#define BN_OUT_OF_MEMORY_EXIT 3
#define BN_OUT_OF_MEMORY_LINE "bench: out of memory ("
BN_NO_RETURN void bn_out_of_memory(size_t size);
void bn_out_of_memory_exits(int code);

/*
 * Arena: memory that dies together. bn_arena_reset forgets all allocations
 * and keeps the chunks, so a steady user stops allocating after its largest
 * round. Not thread-safe.
 */
typedef struct bn_arena bn_arena;

bn_arena *bn_arena_new(size_t first_chunk_bytes);
void bn_arena_free(bn_arena *arena); /* NULL allowed */
void bn_arena_reset(bn_arena *arena);
/* As a reset, but allocations may still be read until new ones take their
 * places: for handles that are distinguished from live ones. */
void bn_arena_rewind(bn_arena *arena);

/* SIZE bytes aligned to 16, contents undefined. Valid until reset or free. Without memory the
 * process ends, as by bn_alloc. */
void *bn_arena_alloc(bn_arena *arena, size_t size);
void *bn_arena_zalloc(bn_arena *arena, size_t size);
char *bn_arena_strdup(bn_arena *arena, const char *text);

/*
 * Growing text buffer; zero-initialise, release with bn_text_free. DATA is
 * always terminated once something was appended, and NULL before. Without memory
 * the process ends, as by bn_alloc.
 */
typedef struct bn_text {
    char *data;
    size_t length, capacity;
} bn_text;

void bn_text_free(bn_text *text);
void bn_text_clear(bn_text *text);
/* Appends UTF-8 TEXT in lines of at most WIDTH characters, broken between words, and ends the last
 * one. Ends of lines stay; a word that is longer has a line for itself. */
void bn_text_wrap(bn_text *out, const char *text, size_t width);
void bn_text_append(bn_text *text, const char *bytes, size_t length);
void bn_text_puts(bn_text *text, const char *string);
void bn_text_putc(bn_text *text, char c);
void bn_text_int(bn_text *text, int64_t value);
void bn_text_printf(bn_text *text, const char *format, ...) BN_PRINTF(2, 3);
void bn_text_vprintf(bn_text *text, const char *format, va_list args) BN_PRINTF(2, 0);
/* A layout as XLA writes it, "{1,0:T(8,128)(2,1)}", piece by piece: what opens it, with RANK
 * dimensions from the most minor one on, its tiles by INDEX, and a brace by the caller. Appends
 * nothing and returns false where MINOR_TO_MAJOR makes no sense. A negative size of a tile is that
 * of a dimension which is combined with the next one. */
bool bn_text_layout(bn_text *text, const int64_t *minor_to_major, size_t rank);
void bn_text_tile(bn_text *text, size_t index, const int64_t *sizes, size_t count);

/* The length at which UTF-8 TEXT can be cut to at most MOST bytes: whole characters only. A
 * TEXT of MOST bytes or fewer keeps its own length. */
size_t bn_utf8_fit(const char *text, size_t most);
/* Both arguments of a "%.*s" that shows TEXT, cut to at most MOST bytes in this way. */
#define BN_FIT(text, most) (int)bn_utf8_fit(text, most), text

/*
 * Text from outside (names, labels, messages of plugins, files) as it may be shown. What is no
 * UTF-8, controls, marks that turn the direction of writing and signs that are not seen become '?',
 * ends of lines and tabs a space.
 */
/* The length of the character at TEXT, which is not at its end; what to show for it. */
size_t bn_plain_next(const char *text, const char **shown, size_t *shown_length);
void bn_text_plain(bn_text *out, const char *text);
/* The same of a whole page: ends of lines stay. */
void bn_text_plain_lines(bn_text *out, const char *text);
/* Whether TEXT may be shown as it is. */
bool bn_is_plain(const char *text);
/* Into OUT of SIZE bytes, at least 1; cut between characters. */
void bn_plain(const char *text, char *out, size_t size);

/* How deep the brackets of the LENGTH bytes of TEXT, JSON from outside, stand within each other. A
 * reader, a writer and a copy of JSON each take a stack frame a level: who reads such text refuses
 * what is deeper than BN_JSON_DEPTH before it is parsed. */
#define BN_JSON_DEPTH 64
size_t bn_json_depth(const char *text, size_t length);

/*
 * Makes room for NEEDED items of ITEM_BYTES (not 0) each in a growing array. ITEMS is the
 * address of the pointer to the array, which is from malloc, or NULL at first. *CAPACITY is
 * the number of items that have room, 0 at first. The array may move; its items stay, and
 * new ones are not initialised. The room at least doubles, so that adding item after item
 * takes time in proportion to their number. False without memory, or where the array
 * would be larger than any object: it is then as before.
 */
BN_MUST_USE bool bn_reserve(void *items, size_t needed, size_t *capacity, size_t item_bytes);

#define BN_NEAR_LETTERS 48
/* The candidate closest to a misspelled word, so far (near.c). A value. */
typedef struct bn_near {
    char letters[BN_NEAR_LETTERS]; /* of the word */
    size_t count, edits;
    char best[BN_NEAR_LETTERS];
} bn_near;
bn_near bn_near_begin(const char *word);
/* Keeps CANDIDATE if it is closer than those before and close enough: at most a third of the letters
 * of the longer word are edited, or the word is the candidate's beginning. */
void bn_near_try(bn_near *near, const char *candidate);
/* The closest candidate, within NEAR; NULL where none is close enough. */
const char *bn_near_best(const bn_near *near);
/* bn_near_try with each of CHOICES, "a, b, c or d". */
void bn_near_choices(bn_near *near, const char *choices);
/* Whether WORD is one of CHOICES, which may have blanks, but no commas. */
bool bn_is_choice(const char *word, const char *choices);

/* The end of a message about an unknown word. REST begins a sentence, "There is", which
 * LIST ends; LIST may be "". BEST is what may be meant, or NULL. All are borrowed. */
typedef struct bn_meant {
    const char *best, *rest, *list;
} bn_meant;
/* Puts "; did you mean BEST? REST LIST", or "; rest LIST" without BEST, into OUT of SIZE bytes; cut
 * where it is too long. */
void bn_meant_put(bn_meant meant, char *out, size_t size);
/* As bn_fail, with these words behind the message. */
bn_code bn_fail_meant(bn_status *st, bn_code code, bn_meant meant, const char *format, ...)
    BN_PRINTF(4, 5);
/* BN_INVALID: there is no WHAT called WORD; says which of CHOICES, "a, b, c or d", may be meant. */
bn_code bn_fail_choice(bn_status *st, const char *what, const char *word, const char *choices);

/* The name of row I of a table, from 0 on; NULL behind its last row. */
typedef const char *bn_name_at(size_t i);
/* Appends all names, "a, b". */
void bn_put_names(bn_text *out, bn_name_at *at);
/* The row that is called WORD, in *ROW. Without one bn_fail_choice, and *ROW stays. */
BN_MUST_USE bn_code bn_find_name(const char *what, const char *word, bn_name_at *at, size_t *row,
                                 bn_status *st);

/* IEEE 754 binary16, as its bits. A double is rounded to the nearest half, a tie to the one
 * whose last bit is 0; what is too large becomes infinity, and NaN stays NaN. */
double bn_half_to_double(uint16_t half);
uint16_t bn_half_from_double(double value);

/* Whether both are of one file. */
bool bn_same_file(const struct stat *a, const struct stat *b);
/* The same, and whether its size and the time of its last writing are the same, too. */
bool bn_same_contents(const struct stat *a, const struct stat *b);
/* The same, and whether it has got no other name and no other rights meanwhile. */
bool bn_untouched(const struct stat *a, const struct stat *b);

/* Opens PATH, relative to the open FOLDER or AT_FDCWD, for reading: whatever it is, without
 * waiting for it. *FD is the caller's, and INFO is of what was opened. With O_NOFOLLOW as FLAGS,
 * which are 0 otherwise, a link is BN_INVALID. */
BN_MUST_USE bn_code bn_open_at(int folder, const char *path, int flags, int *fd, struct stat *info,
                               bn_status *st);
/* Whole file into *DATA (malloc, terminated by a zero byte that *SIZE does not count). Others may
 * name or write it: it is opened once and without waiting, and a pipe, socket, folder or device is
 * BN_INVALID. Links are followed. Errors as in bn_fail_errno. */
BN_MUST_USE bn_code bn_regular_read(const char *path, char **data, size_t *size, bn_status *st);
/* In pieces: opens the file (*FD is the caller's) and gives its *SIZE now; reads SIZE bytes from
 * where FD stands into DATA. A file that is shorter by then is BN_IO. PATH is for messages. */
BN_MUST_USE bn_code bn_regular_open(const char *path, int *fd, size_t *size, bn_status *st);
BN_MUST_USE bn_code bn_regular_rest(int fd, const char *path, void *data, size_t size,
                                    bn_status *st);
/* The same into *DATA (malloc, terminated by a zero byte). */
BN_MUST_USE bn_code bn_regular_all(int fd, const char *path, size_t size, char **data,
                                   bn_status *st);

/* Writes SIZE bytes to PATH so that readers see the old file or the whole new
 * one: temporary name in the same folder, fsync, rename. */
BN_MUST_USE bn_code bn_file_write_atomic(const char *path, const void *data, size_t size,
                                         bn_status *st);

/* BN_INVALID where PATH, or what it links to, is a device, a pipe or a socket: a new file would
 * take its name. bn_writer_begin and bn_file_write_atomic, whose names users give, ask that
 * themselves; in places that are bench's own, a file replaces whatever is there. */
BN_MUST_USE bn_code bn_file_check_target(const char *path, bn_status *st);
/* As bn_file_write_atomic, at a place of bench's own; nobody but the file's owner may write it,
 * whatever the umask (0644). */
BN_MUST_USE bn_code bn_file_write_own(const char *path, const void *data, size_t size,
                                      bn_status *st);

/*
 * The same in pieces, for files larger than memory should hold. bn_writer_finish
 * gives the file its name; without REPLACE a file of that name is an error and
 * stays. Finish and drop free the writer, and but for a finish that succeeds
 * they leave no file behind.
 */
typedef struct bn_writer bn_writer;
BN_MUST_USE bn_code bn_writer_begin(const char *path, bn_writer **writer, bn_status *st);
BN_MUST_USE bn_code bn_writer_add(bn_writer *writer, const void *data, size_t size, bn_status *st);
BN_MUST_USE bn_code bn_writer_finish(bn_writer *writer, bool replace, bn_status *st);
void bn_writer_drop(bn_writer *writer); /* NULL allowed */

/* The part of PATH after its last slash; within PATH. */
const char *bn_base_name(const char *path);

/*
 * Files next to this program (own_files.c). In a shared folder any user can make a folder next to
 * the program, so owners and permissions are checked before a file is run.
 */
/* The folder of this program's file into FOLDER of SIZE bytes, without a slash at its end; "" where
 * it is unknown. */
void bn_own_folder(char *folder, size_t size);
/* Whether FILE, "name" or "folder/name", exists in FOLDER and may be run. BN_NOT_FOUND, without a
 * message: it does not exist, or the file or a folder of its path from FOLDER on is owned by
 * another user than root, the user and the program's owner. In that case "PATH belongs to another
 * user" is appended to PASSED (NULL allowed), after a comma if it is not empty. BN_INVALID: other
 * users may write one of them, and FOLDER is not the program's own; skipping it would run another
 * file. */
BN_MUST_USE bn_code bn_own_file(const char *folder, const char *file, bn_text *passed,
                                bn_status *st);
/* Whether only root, the user and the program's owner can replace one of the user's files in FOLDER
 * by another file of its name. That holds in a sticky folder like /tmp, too. */
bool bn_folder_protected(const struct stat *folder);
/* Whether that holds for FOLDER and all its parents. WHOLE gets FOLDER's real path, or that of the
 * folder for which it does not hold, or, with errno, "" where FOLDER does not exist. */
bool bn_path_protected(const char *folder, char whole[PATH_MAX]);

/*
 * Files that are executed unchecked, such as cached machine code, must be the user's alone. These
 * functions refuse with BN_INVALID, and a reason, a folder or file that belongs to somebody else
 * or that others may write.
 */
/* Creates PATH (0700) and its parents where they are missing, and opens it; *FD is the caller's. */
BN_MUST_USE bn_code bn_private_folder(const char *path, int *fd, bn_status *st);
/* The regular file NAME of the open FOLDER into *DATA, as bn_regular_read. Follows no link and
 * never waits. */
BN_MUST_USE bn_code bn_private_read(int folder, const char *name, char **data, size_t *size,
                                    bn_status *st);
/* As bn_file_write_atomic, in the open FOLDER; the file is the user's alone (0600). */
BN_MUST_USE bn_code bn_private_write(int folder, const char *name, const void *data, size_t size,
                                     bn_status *st);

/* Whether process PID is gone, which wrote the file or folder of INFO: no process has that number,
 * or one that started a minute after the last writing or later. In doubt it is not gone. A process
 * of another machine, or of another container, is not to be seen here and counts as gone: look at
 * the file's age, too. */
bool bn_writer_gone(long pid, const struct stat *info);
/* Removes what processes that were killed left in the open FOLDER while they wrote, with bn_writer,
 * a file whose name fits the shell's PATTERN: files of processes that are gone (bn_writer_gone), of
 * ten minutes ago or before. */
void bn_writers_sweep(int folder, const char *pattern);
/* The entries of FOLDER, which stays open; NULL where it cannot be listed. For closedir. */
DIR *bn_folder_list(int folder);
/* The next entry of LIST; NULL at its end, and then errno is 0, or where it cannot be read on: what
 * was listed so far is not all then. */
const struct dirent *bn_folder_next(DIR *list);
/* Opens the folder NAME of the open FOLDER; *FD is the caller's. A link is BN_INVALID. */
BN_MUST_USE bn_code bn_folder_in(int folder, const char *name, int *fd, bn_status *st);
/* BN_INVALID where a folder of PATH that begins behind its first FROM bytes is a link: who may write
 * the folder above it could have files written elsewhere. What is not there is no link. */
BN_MUST_USE bn_code bn_no_links(const char *path, size_t from, bn_status *st);
/* Copies the regular file NAME from one open folder to another, over what is there, all or nothing.
 */
BN_MUST_USE bn_code bn_file_copy_in(int from, int to, const char *name, bn_status *st);

/* Creates the folder PATH and its parents; an existing folder is success. */
BN_MUST_USE bn_code bn_make_folder(const char *path, bn_status *st);

/* SHA-256 as 64 lower-case hex digits plus terminator. */
#define BN_SHA256_TEXT 65
BN_MUST_USE bn_code bn_file_sha256(const char *path, char digest[BN_SHA256_TEXT], bn_status *st);
/* Of what is read from FD on, from where it stands; PATH is for messages. */
BN_MUST_USE bn_code bn_descriptor_sha256(int fd, const char *path, char digest[BN_SHA256_TEXT],
                                         bn_status *st);
/* Of SIZE bytes at DATA. */
void bn_sha256(const void *data, size_t size, char digest[BN_SHA256_TEXT]);

/* Element types. */
#include "runtime/base/dtypes.h"

/* Half-width floats. */
#include "runtime/base/half.h"

/* The words of a step: parts of the ledger, counters, sources of device time. */
#include "runtime/base/ledger.h"

/* When things happened. */
#include "runtime/base/timeline.h"

#include "runtime/base/surroundings.h"

#endif
