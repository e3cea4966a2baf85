/*
 * framework.c - which framework a process ran.
 */
#include "results/recordings/recordings.h"

#include <string.h>

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* What P reported as NAME, which ends with a space; NULL: nothing. */
static const char *reported(const rec_process *p, const char *name)
{
    for (const char *const *one = p->frameworks; one && *one; one++)
        if (begins(*one, name))
            return *one;
    return NULL;
}

/* JAX gives its programs names that begin so. */
static bool has_jit(const rec_process *p)
{
    for (size_t i = 0; i < p->program_count; i++)
        if (begins(p->programs[i].name, "jit_"))
            return true;
    return false;
}

const char *rec_framework(const rec_process *p)
{
    const char *jax = reported(p, "jax "), *pytorch = reported(p, "torch_xla ");
    const char *found = pytorch && !(jax && has_jit(p)) ? pytorch : jax;
    return found ? found : p->framework[0] ? p->framework : "unknown";
}

rec_framework_kind rec_framework_of(const rec_process *p)
{
    const char *name = rec_framework(p);
    return begins(name, "torch_xla ") ? REC_PYTORCH_XLA
           : begins(name, "jax")      ? REC_JAX
                                      : REC_OTHER_FRAMEWORK;
}
