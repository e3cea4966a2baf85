/*
 * surroundings.c - saves the state that all code of the process shares, and restores it.
 *
 * Plugins are large programs of others. Libraries in them set the locale, flush denormals because
 * they were linked with -ffast-math, close descriptors that they did not open, and so on. None of
 * it may change what bench writes or reads, and what may change its figures is reported.
 *
 * Not restored: the locale of the process and the environment. Other threads may be reading both,
 * and the C library has no lock for that. Our thread has a locale of its own, and the record has
 * the environment as it was before. Handlers of SIGSEGV and the like stay: they say what a plugin
 * died of. Raised limits stay, because the library that raised them needs them.
 */
#define _GNU_SOURCE /* sched_getaffinity, environ, fegetexcept, O_PATH */
#include "runtime/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { DESCRIPTORS = 4, SPARE_FROM = 10, CORE_SETS = 16, MOST_CHANGES = 64 };

/* Those with which a run is ended, or whose default would end it. */
static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGXCPU, SIGCHLD};
#define SIGNALS (sizeof signals / sizeof *signals)

typedef struct descriptor {
    bool open;
    struct stat file;
    int spare; /* another descriptor of the same; -1: none */
} descriptor;

static struct {
    bool kept;
    pthread_t thread;
    locale_t own;        /* of the thread */
    char *locale;        /* the process's, as setlocale gives it */
    fenv_t floats;       /* of the thread */
    unsigned float_bits; /* floats_now then */
    descriptor folder;   /* its spare is the folder itself */
    char path[PATH_MAX]; /* of the folder */
    mode_t mask;
    char **environment; /* ends with NULL */
    sigset_t blocked;   /* of the thread */
    struct sigaction actions[SIGNALS];
    descriptor descriptors[DESCRIPTORS];
    struct rlimit limits[RLIM_NLIMITS];
    cpu_set_t cores[CORE_SETS]; /* of the thread */
    int nice, policy;           /* of the thread */
    bn_change changes[MOST_CHANGES];
    size_t count;
} around;

extern char **environ;

const char *bn_around_name(bn_around what)
{
    static const char *const names[] = {
#define X(code, name) name,
        BN_SURROUNDINGS(X)
#undef X
    };
    return what < BN_AROUND_COUNT ? names[what] : "unknown";
}

size_t bn_surroundings_changes(const bn_change **changes)
{
    *changes = around.changes;
    return around.count;
}

/* ---- what was found ------------------------------------------------------------------------ */

/* The change of WHAT at WHEN, noted now or before. */
static bn_change *note(bn_around what, const char *when)
{
    for (size_t i = 0; i < around.count; i++)
        if (around.changes[i].what == what && strcmp(around.changes[i].when, when) == 0)
            return &around.changes[i];
    /* There are fewer of both than places; if ever not, the last one has to do. */
    bn_change *c = &around.changes[around.count < MOST_CHANGES ? around.count : MOST_CHANGES - 1];
    around.count += around.count < MOST_CHANGES;
    *c = (bn_change){.what = what, .when = when};
    return c;
}

/* Adds the LENGTH bytes of NAME to the details of C, once. */
static void add_detail(bn_change *c, const char *name, size_t length)
{
    const size_t used = strlen(c->detail);
    char word[64], plain[64 * 4];
    snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), name);
    bn_plain(word, plain, sizeof plain);
    for (const char *at = c->detail; (at = strstr(at, plain)); at++) {
        const char end = at[strlen(plain)];
        if ((at == c->detail || at[-1] == ' ') && (end == ',' || end == '\0'))
            return;
    }
    if (used + strlen(plain) + 3 < sizeof c->detail)
        snprintf(c->detail + used, sizeof c->detail - used, "%s%s", used ? ", " : "", plain);
}

/* ---- locale and floats ---------------------------------------------------------------------- */

static void restore_locale(const char *when)
{
    const char *now = setlocale(LC_ALL, NULL);
    const bool other = now && strcmp(now, around.locale) != 0;
    const bool moved = around.own && pthread_equal(around.thread, pthread_self()) &&
                       uselocale(around.own) != around.own;
    if (!other && !moved)
        return;
    bn_change *c = note(BN_AROUND_LOCALE, when);
    if (!other)
        return;
    c->left = true;
    free(around.locale);
    around.locale = bn_strdup(now); /* noted once */
    /* Where categories differ it is a list of all. How numbers look matters most. */
    const char *name = strchr(now, ';') ? setlocale(LC_NUMERIC, NULL) : now;
    if (name)
        add_detail(c, name, strlen(name));
}

/* How this thread computes with floats, as bits, without the flags of what has happened. */
static unsigned floats_now(void)
{
#if defined(__x86_64__)
    uint16_t x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87)); /* of long double, and of some C libraries' code */
    return (__builtin_ia32_stmxcsr() & ~0x3Fu) | (unsigned)x87 << 16;
#elif defined(__aarch64__)
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    return (unsigned)fpcr;
#else
    return (unsigned)fegetround();
#endif
}

/* The name of a difference in DIFFERING, bits of floats_now; one that changes values first. */
static const char *floats_word(unsigned differing)
{
#if defined(__x86_64__)
    enum { ROUNDING = 0x6000 | 0xC00 << 16, DENORMALS = 0x8040, PRECISION = 0x300 << 16 };
#elif defined(__aarch64__)
    enum { ROUNDING = 0xC00000, DENORMALS = 0x1080000, PRECISION = 0 };
#else
    enum { ROUNDING = -1, DENORMALS = 0, PRECISION = 0 };
#endif
    return differing & (unsigned)ROUNDING    ? "rounding"
           : differing & (unsigned)DENORMALS ? "denormals"
           : differing & (unsigned)PRECISION ? "precision"
                                             : "traps";
}

void bn_surroundings_restore_floats(const char *when)
{
    const unsigned now = around.kept ? floats_now() : around.float_bits;
    if (now == around.float_bits || !pthread_equal(around.thread, pthread_self()))
        return;
    bn_change *c = note(BN_AROUND_FLOATS, when);
    const char *word = floats_word(now ^ around.float_bits);
    add_detail(c, word, strlen(word));
    c->left = fesetenv(&around.floats) != 0;
}

/* ---- files -------------------------------------------------------------------------------------
 */

static bool is_same(int fd, const descriptor *d)
{
    struct stat now;
    return fstat(fd, &now) == 0 && bn_same_file(&now, &d->file);
}

static descriptor keep_descriptor(int fd)
{
    descriptor d = {.spare = -1};
    d.open = fstat(fd, &d.file) == 0;
    if (d.open)
        d.spare = fcntl(fd, F_DUPFD_CLOEXEC, SPARE_FROM);
    return d;
}

/* Whether FD is as D has it, or could be made so. *WAS: as D has it. */
static bool restore_descriptor(int fd, const descriptor *d, bool *was)
{
    *was = !d->open || is_same(fd, d);
    if (*was)
        return true;
    return d->spare >= 0 && is_same(d->spare, d) && dup2(d->spare, fd) == fd;
}

/* FD of 0 to 3; false where it is lost. */
static bool put_descriptor_back(int fd, const char *when)
{
    static const char *const names[DESCRIPTORS] = {"0", "1", "2", "3"};
    bool was;
    const bool is = restore_descriptor(fd, &around.descriptors[fd], &was);
    if (was)
        return true;
    bn_change *c = note(BN_AROUND_DESCRIPTORS, when);
    add_detail(c, names[fd], 1);
    c->left = c->left || !is;
    return is;
}

bool bn_surroundings_descriptor(int fd, const char *when)
{
    return !around.kept || fd < 0 || fd >= DESCRIPTORS || put_descriptor_back(fd, when);
}

static bn_code restore_descriptors(const char *when, bn_status *st)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        if (!put_descriptor_back(fd, when))
            return bn_fail(st, BN_PLUGIN,
                           "the plugin closed descriptor %d of the process, and it cannot be "
                           "opened again",
                           fd);
    return BN_OK;
}

static bn_code restore_folder(const char *when, bn_status *st)
{
    struct stat now;
    if (!around.folder.open || (stat(".", &now) == 0 && bn_same_file(&now, &around.folder.file)))
        return BN_OK;
    bn_change *c = note(BN_AROUND_FOLDER, when);
    const int fd = around.folder.spare;
    const bool back = (fd >= 0 && is_same(fd, &around.folder) && fchdir(fd) == 0) ||
                      (around.path[0] && chdir(around.path) == 0 && stat(".", &now) == 0 &&
                       bn_same_file(&now, &around.folder.file));
    c->left = !back;
    return back ? BN_OK
                : bn_fail(st, BN_PLUGIN,
                          "the plugin changed the working folder, and the process cannot go back");
}

static void restore_umask(const char *when)
{
    if (umask(around.mask) != around.mask)
        (void)note(BN_AROUND_UMASK, when);
}

/* ---- the environment --------------------------------------------------------------------------
 */

static void keep_environment(void)
{
    size_t count = 0;
    for (size_t i = 0; around.environment && around.environment[i]; i++)
        free(around.environment[i]);
    free(around.environment);
    while (environ && environ[count])
        count++;
    around.environment = bn_zalloc(count + 1, sizeof *around.environment);
    for (size_t i = 0; i < count; i++)
        around.environment[i] = bn_strdup(environ[i]);
}

static bool has_variable(char *const *list, const char *variable)
{
    for (; list && *list; list++)
        if (strcmp(*list, variable) == 0)
            return true;
    return false;
}

/* Notes the variables of LIST that OTHER has not. */
static void note_variables(char *const *list, char *const *other, const char *when)
{
    for (; list && *list; list++)
        if (!has_variable(other, *list)) {
            bn_change *c = note(BN_AROUND_ENVIRONMENT, when);
            add_detail(c, *list, strcspn(*list, "="));
            c->left = true;
        }
}

static void check_environment(const char *when)
{
    size_t i = 0;
    char **kept = around.environment;
    while (kept && environ && kept[i] && environ[i] && strcmp(kept[i], environ[i]) == 0)
        i++;
    if (!kept || !environ || (!kept[i] && !environ[i]))
        return;
    note_variables(kept, environ, when);
    note_variables(environ, kept, when);
    keep_environment(); /* noted once */
}

/* ---- signals ------------------------------------------------------------------------------------
 */

static void restore_signal_mask(const char *when)
{
    sigset_t now;
    bool same = pthread_sigmask(SIG_SETMASK, NULL, &now) == 0;
    bn_change *c = NULL;
    for (int number = 1; same && number < SIGRTMAX; number++) {
        if (sigismember(&now, number) == sigismember(&around.blocked, number))
            continue;
        c = note(BN_AROUND_SIGNAL_MASK, when);
        const char *name = sigabbrev_np(number);
        if (name)
            add_detail(c, name, strlen(name));
    }
    if (c)
        c->left = pthread_sigmask(SIG_SETMASK, &around.blocked, NULL) != 0;
}

/* Flags count: with SA_NOCLDWAIT, children are reaped and cannot be waited for. */
static bool is_same_action(const struct sigaction *a, const struct sigaction *b)
{
    return a->sa_handler == b->sa_handler &&
           (a->sa_flags & SA_NOCLDWAIT) == (b->sa_flags & SA_NOCLDWAIT);
}

static void restore_signal_actions(const char *when)
{
    for (size_t i = 0; i < SIGNALS; i++) {
        struct sigaction now;
        if (sigaction(signals[i], NULL, &now) != 0 || is_same_action(&now, &around.actions[i]))
            continue;
        bn_change *c = note(BN_AROUND_SIGNAL_ACTIONS, when);
        const char *name = sigabbrev_np(signals[i]);
        if (name)
            add_detail(c, name, strlen(name));
        c->left = sigaction(signals[i], &around.actions[i], NULL) != 0 || c->left;
    }
}

/* ---- what bounds the process --------------------------------------------------------------------
 */

/* RLIM_INFINITY is the largest number. */
static void restore_limits(const char *when)
{
    static const char *const names[RLIM_NLIMITS] = {[RLIMIT_AS] = "AS",
                                                    [RLIMIT_CPU] = "CPU",
                                                    [RLIMIT_DATA] = "DATA",
                                                    [RLIMIT_FSIZE] = "FSIZE",
                                                    [RLIMIT_LOCKS] = "LOCKS",
                                                    [RLIMIT_MEMLOCK] = "MEMLOCK",
                                                    [RLIMIT_NICE] = "NICE",
                                                    [RLIMIT_NOFILE] = "NOFILE",
                                                    [RLIMIT_NPROC] = "NPROC",
                                                    [RLIMIT_RSS] = "RSS",
                                                    [RLIMIT_RTPRIO] = "RTPRIO",
                                                    [RLIMIT_RTTIME] = "RTTIME",
                                                    [RLIMIT_STACK] = "STACK",
                                                    [RLIMIT_MSGQUEUE] = "MSGQUEUE",
                                                    [RLIMIT_SIGPENDING] = "SIGPENDING"};
    for (unsigned i = 0; i < RLIM_NLIMITS; i++) {
        struct rlimit now, *kept = &around.limits[i];
        /* Without a name is that of core files, which bench does not write. */
        if (!names[i] || getrlimit(i, &now) != 0 || now.rlim_cur >= kept->rlim_cur)
            continue;
        bn_change *c = note(BN_AROUND_LIMITS, when);
        add_detail(c, names[i], strlen(names[i]));
        struct rlimit back = {.rlim_cur = kept->rlim_cur, .rlim_max = now.rlim_max};
        if (back.rlim_cur > back.rlim_max)
            back.rlim_cur = back.rlim_max;
        const bool set = setrlimit(i, &back) == 0;
        if (!set || back.rlim_cur < kept->rlim_cur) {
            c->left = true;
            *kept = set ? back : now; /* noted once */
        }
    }
}

void bn_surroundings_keep_cores(void)
{
    if (around.kept && pthread_equal(around.thread, pthread_self()))
        (void)sched_getaffinity(0, sizeof around.cores, around.cores);
}

static void restore_cores(const char *when)
{
    cpu_set_t now[CORE_SETS] = {0};
    if (sched_getaffinity(0, sizeof now, now) != 0 || memcmp(now, around.cores, sizeof now) == 0)
        return;
    bn_change *c = note(BN_AROUND_CORES, when);
    if (sched_setaffinity(0, sizeof around.cores, around.cores) != 0) {
        c->left = true;
        memcpy(around.cores, now, sizeof now);
    }
}

static void restore_priority(const char *when)
{
    const struct sched_param usual = {.sched_priority = 0};
    errno = 0;
    const int nice = getpriority(PRIO_PROCESS, 0), policy = sched_getscheduler(0);
    if (errno != 0 || (nice == around.nice && policy == around.policy))
        return;
    bn_change *c = note(BN_AROUND_PRIORITY, when);
    bool back = true;
    if (policy != around.policy)
        back = sched_setscheduler(0, around.policy, &usual) == 0;
    if (nice != around.nice)
        back = setpriority(PRIO_PROCESS, 0, around.nice) == 0 && back;
    if (back)
        return;
    c->left = true;
    around.nice = getpriority(PRIO_PROCESS, 0);
    around.policy = sched_getscheduler(0);
}

/* ---- all of it
 * ------------------------------------------------------------------------------------ */

void bn_surroundings_keep(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!around.kept) {
        const char *locale = setlocale(LC_ALL, NULL);
        around.thread = pthread_self();
        around.locale = bn_strdup(locale ? locale : "C");
        around.own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        if (around.own)
            uselocale(around.own);
        fegetenv(&around.floats);
        around.float_bits = floats_now();
        const int folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        around.folder = (descriptor){.spare = -1};
        if (folder >= 0) {
            around.folder = keep_descriptor(folder);
            close(folder);
        }
        if (!getcwd(around.path, sizeof around.path))
            around.path[0] = '\0';
        umask(around.mask = umask(077));
        keep_environment();
        pthread_sigmask(SIG_SETMASK, NULL, &around.blocked);
        for (size_t i = 0; i < SIGNALS; i++)
            sigaction(signals[i], NULL, &around.actions[i]);
        for (int fd = 0; fd < DESCRIPTORS; fd++)
            around.descriptors[fd] = keep_descriptor(fd);
        for (unsigned i = 0; i < RLIM_NLIMITS; i++)
            if (getrlimit(i, &around.limits[i]) != 0)
                around.limits[i].rlim_cur = 0;
        around.nice = getpriority(PRIO_PROCESS, 0);
        around.policy = sched_getscheduler(0);
        around.kept = true;
        bn_surroundings_keep_cores();
    }
    pthread_mutex_unlock(&lock);
}

bn_code bn_surroundings_restore(const char *when, bn_status *st)
{
    if (!around.kept)
        return BN_OK;
    /* First, for what follows may need descriptors or signals. */
    restore_limits(when);
    restore_signal_actions(when);
    if (pthread_equal(around.thread, pthread_self())) {
        restore_signal_mask(when);
        bn_surroundings_restore_floats(when);
        restore_cores(when);
        restore_priority(when);
    }
    restore_locale(when);
    restore_umask(when);
    check_environment(when);
    bn_code code = restore_folder(when, st);
    if (code == BN_OK)
        code = restore_descriptors(when, st);
    return code;
}
