/*
 * values.c - what a recording says of executions, buffers and programs: spans, numbers of operands,
 * types, the bytes of a program; and the name of the script that ran.
 */
#define _GNU_SOURCE
#include "results/recordings/recordings_priv.h"
#include "results/recordings/views.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

/* ---- spans ------------------------------------------------------------------------------------
 */

const rec_span *rec_span_on(const rec_process *process, const rec_execution *execution,
                            uint32_t device)
{
    for (uint32_t d = 0; d < execution->devices; d++)
        if (process->spans[execution->spans + d].device == device)
            return &process->spans[execution->spans + d];
    return NULL;
}

const rec_span *rec_steps_span(const rec_steps *steps, const rec_execution *execution)
{
    const rec_span *span = rec_span_on(steps->process, execution, steps->device);
    return span ? span : &steps->process->spans[execution->spans];
}

/* ---- operands ---------------------------------------------------------------------------------
 */

uint32_t rec_argument(const rec_process *process, const rec_execution *execution, uint32_t device,
                      uint32_t index)
{
    const uint64_t each = (uint64_t)execution->arguments + execution->results;
    if (device >= execution->devices || index >= execution->arguments)
        return REC_NONE;
    return process->operands[execution->operands + execution->kept + device * each + index];
}

uint32_t rec_result(const rec_process *process, const rec_execution *execution, uint32_t device,
                    uint32_t index)
{
    const uint64_t each = (uint64_t)execution->arguments + execution->results;
    if (device >= execution->devices || index >= execution->results)
        return REC_NONE;
    return process->operands[execution->operands + execution->kept + device * each +
                             execution->arguments + index];
}

bool rec_donated(const rec_process *process, uint32_t execution, uint32_t buffer)
{
    return buffer < process->buffer_count && process->buffers[buffer].fate == REC_DONATED &&
           process->buffers[buffer].last_use == execution;
}

/* ---- types ------------------------------------------------------------------------------------
 */

/* In the order of PJRT_Buffer_Type; bits of an element. */
static const struct {
    const char *name;
    unsigned bits;
} types[] = {
#define X(name, text, hlo, bits, class, pjrt, xla) [pjrt] = {hlo, bits},
    BN_DTYPES(X)
#undef X
        [23] = {"token", 0},
};

const char *rec_type_name(int type)
{
    return type >= 0 && (size_t)type < sizeof types / sizeof *types ? types[type].name : NULL;
}

uint64_t rec_type_bytes(const rec_type *type)
{
    uint64_t count = rec_type_name(type->type) ? types[type->type].bits : 0;
    for (uint32_t i = 0; i < type->rank && count; i++)
        if (type->dims[i] < 0 || __builtin_mul_overflow(count, (uint64_t)type->dims[i], &count))
            return 0;
    return count / 8 + (count % 8 != 0);
}

void rec_type_put(const rec_process *process, uint32_t type, bn_text *out)
{
    const rec_type *t = type < process->type_count ? &process->types[type] : NULL;
    const char *name = t ? rec_type_name(t->type) : NULL;
    if (!name) {
        bn_text_puts(out, "?");
        return;
    }
    bn_text_printf(out, "%s[", name);
    for (uint32_t i = 0; i < t->rank; i++) {
        bn_text_puts(out, i ? "," : "");
        bn_text_int(out, t->dims[i]);
    }
    bn_text_putc(out, ']');
}

/* ---- files of programs ------------------------------------------------------------------ */

/* Opens the file HASH.FORM of the process in FOLDER. */
static bn_code open_program(const rec_recording *r, const char *folder, const char *name, int *fd,
                            size_t *size, bn_status *st)
{
    struct stat info;
    int process = -1, programs = -1;
    bn_code code = bn_folder_in(r->folder, folder, &process, st);
    if (code == BN_OK)
        code = bn_folder_in(process, "programs", &programs, st);
    if (code == BN_OK)
        code = bn_open_at(programs, name, O_NOFOLLOW, fd, &info, st);
    if (process >= 0)
        close(process);
    if (programs >= 0)
        close(programs);
    if (code != BN_OK)
        return code;
    *size = (size_t)info.st_size;
    if (S_ISREG(info.st_mode) && *size <= REC_MOST_PROGRAM)
        return BN_OK;
    close(*fd);
    return S_ISREG(info.st_mode) ? bn_fail(st, BN_FORMAT, "%s: too large", name)
                                 : bn_fail(st, BN_INVALID, "%s: not a regular file", name);
}

static bool has_hash(const char *bytes, size_t size, const char *hash)
{
    char text[RECORD_HASH_TEXT];
    const XXH128_hash_t own = XXH3_128bits(bytes, size);
    snprintf(text, sizeof text, "%016llx%016llx", (unsigned long long)own.high64,
             (unsigned long long)own.low64);
    return strcmp(text, hash) == 0;
}

static bn_code read_kept(const rec_recording *r, uint32_t process, const char *hash,
                         const char *form, char **bytes, size_t *size, bn_status *st)
{
    char name[RECORD_HASH_TEXT + 32];
    int fd;
    *bytes = NULL;
    *size = 0;
    if (process >= r->process_count || !hash[0] || !form[0])
        return bn_fail(st, BN_NOT_FOUND, "%s: the recorder did not keep this program", r->path);
    snprintf(name, sizeof name, "%s.%s", hash, form);
    const char *folder = r->processes[process].folder;
    bn_code code = open_program(r, folder, name, &fd, size, st);
    if (code == BN_OK) {
        code = bn_regular_all(fd, name, *size, bytes, st);
        close(fd);
    }
    if (code == BN_OK && !has_hash(*bytes, *size, hash)) {
        free(*bytes);
        *bytes = NULL;
        code = bn_fail(st, BN_FORMAT, "%s: it is not what was recorded: its hash differs", name);
    }
    if (code != BN_OK && st && st->code != BN_OK)
        bn_context(st, "%s/%s/programs", r->path, folder);
    return code;
}

bn_code rec_program_read(const rec_recording *recording, const rec_program *program, char **bytes,
                         size_t *size, bn_status *st)
{
    return read_kept(recording, program->process, program->hash, program->form, bytes, size, st);
}

bn_code rec_options_read(const rec_recording *recording, const rec_program *program, char **bytes,
                         size_t *size, bn_status *st)
{
    return read_kept(recording, program->process, program->options, "options", bytes, size, st);
}

/* ---- the script ---------------------------------------------------------------------------- */

/* The word of Python's command line that says what it runs; NULL: none does. */
static const char *python_script(const char *const *words)
{
    for (; *words; words++) {
        const char *word = *words;
        if (strcmp(word, "-m") == 0)
            return words[1];
        if (strcmp(word, "-c") == 0)
            return NULL;
        if ((strcmp(word, "-X") == 0 || strcmp(word, "-W") == 0) && words[1])
            words++;
        else if (word[0] != '-')
            return word;
    }
    return NULL;
}

void rec_script_put(const char *const *command, bn_text *out)
{
    if (!command || !command[0])
        return;
    const char *program = bn_base_name(command[0]);
    const char *script = strncmp(program, "python", 6) == 0 ? python_script(command + 1) : NULL;
    const char *name = script ? bn_base_name(script) : program;
    const size_t length = strlen(name);
    const bool python = length > 3 && strcmp(name + length - 3, ".py") == 0;
    bn_text_append(out, name, python ? length - 3 : length);
}
