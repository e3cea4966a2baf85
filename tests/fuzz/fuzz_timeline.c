/*
 * fuzz_timeline.c - the file of a process's timeline. Its bytes are as memory has them, so the
 * input changes a file that this build wrote. Each four bytes are a patch: an offset of three bytes
 * and a value. Up to three bytes are left over: the file becomes shorter by that number.
 */
#include "tests/fuzz/fuzz.h"

static void write_one(int fd)
{
    bn_timeline *t = NULL;
    bn_status st = {0};
    fuzz_require(bn_timeline_new(16, &t, &st) == BN_OK, "no memory for a timeline");
    bn_timeline_describe(t)->steps_ran = 2;
    bn_timeline_describe(t)->steps_shown = 1;
    snprintf(bn_timeline_describe(t)->title, 32, "a step");
    bn_timeline_step_begin(t, BN_STEP_MEASURED, 0);
    bn_timeline_open(t, BN_SPAN_SCOPE, "layer1");
    bn_timeline_part(t, BN_PART_TRACE, 10, 20);
    bn_timeline_part(t, BN_PART_DISPATCH, 20, 30);
    bn_completion *done = bn_timeline_call(t, BN_SPAN_EXECUTE, "step", 0, 20, 30);
    fuzz_require(done != NULL, "no room for a call");
    bn_completion_set(done, 50);
    bn_timeline_close(t, BN_SPAN_SCOPE);
    bn_timeline_step_end(t, 10, 60);
    fuzz_require(bn_timeline_dump(t, fd), "writing a timeline");
    bn_timeline_free(t);
}

static void change(int fd, const uint8_t *data, size_t size)
{
    const off_t end = lseek(fd, 0, SEEK_END);
    for (; size >= 4; data += 4, size -= 4) {
        const off_t at = (data[0] | data[1] << 8 | data[2] << 16) % end;
        fuzz_require(pwrite(fd, data + 3, 1, at) == 1, "changing a file in memory");
    }
    off_t less = 0;
    for (; size > 0; data++, size--)
        less = less << 8 | *data;
    fuzz_require(ftruncate(fd, end - less % (end + 1)) == 0, "cutting a file in memory");
}

static void check_text(const char *text, size_t size)
{
    fuzz_require(memchr(text, '\0', size) != NULL, "a text without an end");
    fuzz_require(bn_is_plain(text), "a text that is not plain");
}

static void check(bn_timeline *t)
{
    const bn_timeline_about *about = bn_timeline_describe(t);
    check_text(about->title, sizeof about->title);
    check_text(about->mode, sizeof about->mode);
    check_text(about->device, sizeof about->device);
    check_text(about->profile, sizeof about->profile);
    fuzz_require(about->steps_ran >= 0 && about->steps_shown >= 0, "a number of steps below zero");
    for (size_t i = 0; i < bn_timeline_count(t); i++) {
        const bn_span *span = bn_timeline_at(t, i);
        fuzz_touch(span, sizeof *span);
        fuzz_require(span->kind < BN_SPAN_COUNT, "a kind that there is not");
        fuzz_require(span->begin_ns > 0 && span->begin_ns <= span->end_ns, "a span that goes back");
        fuzz_require(!span->done.handle && !span->done.owner, "a pointer from outside");
        check_text(bn_timeline_name(t, span), BN_TIMELINE_NAME);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[32];
    bn_timeline *t = NULL;
    bn_status st = {0};
    const int fd = fuzz_file(data, 0, path);
    write_one(fd);
    change(fd, data, size);
    const bn_code code = bn_timeline_read(path, &t, &st);
    fuzz_status(code, &st);
    if (code == BN_OK)
        check(t);
    bn_timeline_free(t);
    close(fd);
    return 0;
}
