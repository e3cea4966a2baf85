/*
 * surroundings.h - what all code of a process shares, and code of others may change: the locale,
 * the working folder, signals, how floats are rounded and so on. Part of base.h.
 *
 * They are kept before the first foreign code runs. After each call of it that is not part of a
 * measured step, and after the steps, they are put back, and changes are reported.
 */
#ifndef BENCH_RUNTIME_SURROUNDINGS_H
#define BENCH_RUNTIME_SURROUNDINGS_H

/* Names are identifiers of records. */
#define BN_SURROUNDINGS(X)                                                                         \
    X(BN_AROUND_LOCALE, "locale")                                                                  \
    X(BN_AROUND_FLOATS, "floating-point")                                                          \
    X(BN_AROUND_FOLDER, "working-folder")                                                          \
    X(BN_AROUND_UMASK, "umask")                                                                    \
    X(BN_AROUND_ENVIRONMENT, "environment")                                                        \
    X(BN_AROUND_SIGNAL_MASK, "signal-mask")                                                        \
    X(BN_AROUND_SIGNAL_ACTIONS, "signal-actions")                                                  \
    X(BN_AROUND_DESCRIPTORS, "descriptors")                                                        \
    X(BN_AROUND_LIMITS, "limits")                                                                  \
    X(BN_AROUND_CORES, "cores")                                                                    \
    X(BN_AROUND_PRIORITY, "priority")

typedef enum bn_around {
#define X(around, name) around,
    BN_SURROUNDINGS(X)
#undef X
        BN_AROUND_COUNT
} bn_around;

/* Something that was found changed. */
typedef struct bn_change {
    bn_around what;
    const char *when; /* the argument of bn_surroundings_restore */
    char detail[128]; /* which of several: "XLA_FLAGS, TZ"; "" where there is one only */
    bool left;        /* it stays as it was found */
} bn_change;

/* "working-folder" for BN_AROUND_FOLDER; never NULL. */
const char *bn_around_name(bn_around what);

/* Keeps the surroundings as they are now, and gives the calling thread the locale "C" for itself:
 * how it writes and reads numbers does not change with setlocale. Calls after the first do nothing.
 * Per-thread state (floats, signal mask, cores, priority) is that of the first caller; other
 * threads keep theirs. */
void bn_surroundings_keep(void);
/* Puts back what is not as it was kept, and notes it under WHEN, a static text. Locale of the
 * process, environment, and what the system does not let us put back, stay and are noted as LEFT.
 * BN_PLUGIN where bench cannot go on without it: the working folder, descriptors 0 to 3. Takes some
 * ten microseconds. Nothing is kept: does nothing. */
BN_MUST_USE bn_code bn_surroundings_restore(const char *when, bn_status *st);
/* The same of floats only, in a few nanoseconds: for calls that are part of a measured step. */
void bn_surroundings_restore_floats(const char *when);
/* The calling thread's cores were chosen anew: these are kept from now on. */
void bn_surroundings_keep_cores(void);
/* The same of FD, of 0 to 3, only. False where it is lost: what has its number now is another file.
 */
BN_MUST_USE bool bn_surroundings_descriptor(int fd, const char *when);
/* The changes noted since the process began, each WHAT and WHEN once; *CHANGES is borrowed until
 * the next restore. Returns how many. */
size_t bn_surroundings_changes(const bn_change **changes);

#endif
