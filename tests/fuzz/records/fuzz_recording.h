/*
 * fuzz_recording.h - bytes as the folder of a recording, for the targets that read one. What begins
 * with '{' is recording.json up to its first zero byte; the events stand behind it. All that was
 * kept of programs are empty files, whose hash seeds can name.
 */
#ifndef BENCH_TESTS_FUZZ_RECORDING_H
#define BENCH_TESTS_FUZZ_RECORDING_H

#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <sys/stat.h>

/* XXH3 of no bytes. */
#define FUZZ_EMPTY_HASH "99aa06d3014798d86001c324468d497f"

typedef struct fuzz_place {
    char folder[256], process[288], programs[320];
    char about[320], events[320], code[384], options[384];
    char view[320]; /* free for the target; removed with the rest */
} fuzz_place;

static inline void fuzz_place_write(const char *path, const uint8_t *data, size_t size)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    fuzz_require(fd >= 0 && (size == 0 || write(fd, data, size) == (ssize_t)size), "no file");
    close(fd);
}

static inline void fuzz_place_begin(fuzz_place *p, const uint8_t *data, size_t size)
{
    const char *parent = getenv("TMPDIR");
    snprintf(p->folder, sizeof p->folder, "%.200s/fuzz.XXXXXX", parent ? parent : P_tmpdir);
    fuzz_require(mkdtemp(p->folder) != NULL, "no folder");
    snprintf(p->process, sizeof p->process, "%s/1-1", p->folder);
    snprintf(p->programs, sizeof p->programs, "%s/programs", p->process);
    snprintf(p->about, sizeof p->about, "%s/recording.json", p->folder);
    snprintf(p->view, sizeof p->view, "%s/view", p->folder);
    snprintf(p->events, sizeof p->events, "%s/events", p->process);
    snprintf(p->code, sizeof p->code, "%s/" FUZZ_EMPTY_HASH ".mlir", p->programs);
    snprintf(p->options, sizeof p->options, "%s/" FUZZ_EMPTY_HASH ".options", p->programs);
    fuzz_require(mkdir(p->process, 0700) == 0 && mkdir(p->programs, 0700) == 0, "no folders");
    const uint8_t *end = size && data[0] == '{' ? memchr(data, 0, size) : NULL;
    const size_t about = end ? (size_t)(end - data) : 0;
    if (end)
        fuzz_place_write(p->about, data, about);
    fuzz_place_write(p->events, end ? end + 1 : data, end ? size - about - 1 : size);
    fuzz_place_write(p->code, NULL, 0);
    fuzz_place_write(p->options, NULL, 0);
}

static inline void fuzz_place_end(const fuzz_place *p)
{
    const char *const files[] = {p->about, p->view, p->events, p->code, p->options};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(files[i]);
    fuzz_require(rmdir(p->programs) == 0 && rmdir(p->process) == 0 && rmdir(p->folder) == 0,
                 "something is left behind");
}

#endif
