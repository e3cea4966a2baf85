/*
 * source.c - where in the user's source the program of a finding comes from: the function that was
 * compiled, and the line that most of its ops come from.
 */
#include "results/complaints/complaints_priv.h"
#include "runtime/stablehlo/stablehlo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* JAX names a program by how and from which function it was made: "jit_train_step". */
static void name_function(const rec_process *p, const rec_program *program, rec_source *source)
{
    static const char *const made[] = {"jit_", "pmap_"};
    for (size_t i = 0; rec_framework_of(p) == REC_JAX && i < sizeof made / sizeof *made; i++) {
        const size_t length = strlen(made[i]);
        const char *name = program->name + length;
        if (strncmp(program->name, made[i], length) == 0)
            snprintf(source->function, sizeof source->function, "%.*s",
                     (int)bn_utf8_fit(name, sizeof source->function - 1), name);
    }
}

static void find_line(const rec_recording *recording, const rec_program *program,
                      rec_source *source)
{
    char *code = NULL;
    size_t size = 0;
    shlo_source found;
    if (strcmp(program->form, "mlir") != 0 ||
        rec_program_read(recording, program, &code, &size, NULL) != BN_OK)
        return;
    /* "-" is a program that was read from standard input. */
    if (shlo_source_find(code, size, &found, NULL) == BN_OK && strcmp(found.file, "-") != 0) {
        snprintf(source->file, sizeof source->file, "%.*s",
                 (int)bn_utf8_fit(found.file, sizeof source->file - 1), found.file);
        source->line = found.line;
    }
    free(code);
}

void rec_checkup_source(const rec_recording *recording, rec_checkup *checkup)
{
    const rec_process *p = checkup->steps->process;
    for (size_t i = 0; i < checkup->count; i++) {
        rec_finding *c = &checkup->list[i];
        if (c->program >= p->program_count)
            continue;
        const rec_program *program = &p->programs[c->program];
        name_function(p, program, &c->source);
        find_line(recording, program, &c->source);
    }
}
