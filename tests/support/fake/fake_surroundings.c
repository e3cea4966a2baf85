/*
 * fake_surroundings.c - what a plugin can change in its process: WHAT_at_MOMENT, where MOMENT is
 * one of load, client, compile, execute, destroy.
 */
#define _GNU_SOURCE
#include "tests/support/fake/fake.h"

#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the process, and of the thread. The test has one with a comma under this name. */
static void change_locale(void)
{
    const char *name = getenv("FAKE_LOCALE");
    const locale_t own = newlocale(LC_NUMERIC_MASK, name ? name : "C", (locale_t)0);
    if (!name || !setlocale(LC_NUMERIC, name) || !own)
        abort();
    uselocale(own);
}

static void change_rounding(void)
{
    fesetround(FE_DOWNWARD);
}

/* As a library does that is linked with -ffast-math. */
static void change_denormals(void)
{
#ifdef __x86_64__
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#else
    fesetround(FE_UPWARD);
#endif
}

static void change_folder(void)
{
    if (chdir("/") != 0)
        abort();
}

static void change_umask(void)
{
    umask(0777);
}

static void change_environment(void)
{
    setenv("XLA_FLAGS", "--xla_of_the_plugin", 1);
    setenv("TZ", "Asia/Tokyo", 1);
    unsetenv("HOME");
}

static void change_mask(void)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}

static void change_actions(void)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
}

/* Files that are opened next get their numbers. */
static void change_descriptors(void)
{
    for (int fd = 0; fd < 4; fd++)
        close(fd);
}

static void change_all_descriptors(void)
{
    close_range(3, ~0u, 0);
}

static void lower(__rlimit_resource_t which, rlim_t to)
{
    struct rlimit limit;
    getrlimit(which, &limit);
    limit.rlim_cur = to;
    setrlimit(which, &limit);
}

static void change_limits(void)
{
    lower(RLIMIT_FSIZE, 100);
    lower(RLIMIT_NOFILE, 12);
}

static void change_cores(void)
{
    cpu_set_t may;
    sched_getaffinity(0, sizeof may, &may);
    for (unsigned core = 0; core < CPU_SETSIZE && CPU_COUNT(&may) > 1; core++)
        CPU_CLR(core, &may);
    sched_setaffinity(0, sizeof may, &may);
}

static void change_priority(void)
{
    setpriority(PRIO_PROCESS, 0, 5);
}

static void change_output(void)
{
    printf("{\"result\": {\"members\": []}}\n");
    fflush(stdout);
}

static void change_end(void)
{
    exit(0);
}

void fake_change(const char *moment)
{
    static const struct {
        const char *what;
        void (*change)(void);
    } rows[] = {{"locale", change_locale},
                {"rounding", change_rounding},
                {"denormals", change_denormals},
                {"folder", change_folder},
                {"umask", change_umask},
                {"environment", change_environment},
                {"mask", change_mask},
                {"actions", change_actions},
                {"descriptors", change_descriptors},
                {"all_descriptors", change_all_descriptors},
                {"limits", change_limits},
                {"cores", change_cores},
                {"priority", change_priority},
                {"output", change_output},
                {"end", change_end}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char word[64];
        snprintf(word, sizeof word, "%s_at_%s", rows[i].what, moment);
        if (fake_ordered(word))
            rows[i].change();
    }
}
