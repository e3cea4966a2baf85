/*
 * settings.c - the settings of a client, besides the program: its options, and the environment that
 * plugins read when they compile. Executables depend on both.
 *
 * Sources: XLA_FLAGS is read by xla/tsl/util/command_line_flags.cc and parse_flags_from_env.cc; a
 * value that does not begin with a dash names a file of flags. LIBTPU_INIT_ARGS is libtpu's.
 * PJRT_SIM and PJRT_SIM_CONFIG are the simulated device's (runtime/sim/README.md). XLA for CPU
 * divides programs by the threads that it has: as many as PJRT_NPROC or NPROC says, else as there
 * are cores that the thread which makes the client may use (xla/pjrt/utils.cc).
 */
#define _GNU_SOURCE /* sched_getaffinity */
#include "runtime/pjrt/pjrt_priv.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CORE_SETS 16 /* of 1024 cores */

static const char *const variables[] = {"LIBTPU_INIT_ARGS", "NPROC",           "PJRT_NPROC",
                                        "PJRT_SIM",         "PJRT_SIM_CONFIG", "XLA_FLAGS"};

bool rt_environment(size_t index, const char **name, const char **value)
{
    if (index >= sizeof variables / sizeof *variables)
        return false;
    *name = variables[index];
    *value = getenv(*name);
    return true;
}

void rt_named_contents(const char *value, char digest[BN_SHA256_TEXT])
{
    int fd;
    size_t size;
    digest[0] = '\0';
    if (!*value || bn_regular_open(value, &fd, &size, NULL) != BN_OK)
        return;
    if (bn_descriptor_sha256(fd, value, digest, NULL) != BN_OK)
        digest[0] = '\0';
    close(fd);
}

/* Appends a line, with the length of VALUE: no value can pass for two lines. Where the value names
 * a file, what is in the file counts as well. */
static void put(bn_text *out, const char *kind, const char *name, const char *value)
{
    char digest[BN_SHA256_TEXT];
    rt_named_contents(value, digest);
    bn_text_printf(out, "%s %s %zu %s %s\n", kind, name, strlen(value), value, digest);
}

static void put_option(bn_text *out, const rt_option *option)
{
    char number[64] = "";
    if (option->kind == RT_OPTION_FLOAT)
        snprintf(number, sizeof number, "%a", (double)option->real);
    else if (option->kind != RT_OPTION_STRING)
        snprintf(number, sizeof number, "%" PRId64, option->integer);
    static const char *const kinds[] = {[RT_OPTION_STRING] = "text",
                                        [RT_OPTION_INT] = "integer",
                                        [RT_OPTION_FLOAT] = "real",
                                        [RT_OPTION_BOOL] = "truth"};
    put(out, kinds[option->kind], option->name,
        option->kind == RT_OPTION_STRING ? option->string : number);
}

static int option_order(const void *a, const void *b)
{
    const rt_option *const *left = a, *const *right = b;
    const int order = strcmp((*left)->name, (*right)->name);
    /* Of two options of one name the plugin may take either: their order stays. */
    return order ? order : (*left > *right) - (*left < *right);
}

/* How many cores this thread may use, where that is known. */
static void put_cores(bn_text *out)
{
    cpu_set_t set[CORE_SETS] = {0};
    if (sched_getaffinity(0, sizeof set, set) == 0)
        bn_text_printf(out, "cores %d\n", CPU_COUNT_S(sizeof set, set));
}

char *rt_settings_text(const rt_option *options, size_t count)
{
    const rt_option **sorted = bn_alloc(count * sizeof *sorted);
    bn_text out = {0};
    bn_text_puts(&out, "");
    for (size_t i = 0; i < count; i++)
        sorted[i] = &options[i];
    qsort(sorted, count, sizeof *sorted, option_order);
    for (size_t i = 0; i < count; i++)
        put_option(&out, sorted[i]);
    free(sorted);
    const char *name, *value;
    for (size_t i = 0; rt_environment(i, &name, &value); i++)
        if (value && *value)
            put(&out, "environment", name, value);
    put_cores(&out);
    return out.data;
}
