/* record_program.c - the program that bench record runs: start, signals, end. */
#define _GNU_SOURCE
#include "harness/commands/record_priv.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

/* The program's end, and signals to pass on. */
static const int signals[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

/* Waits for CHILD. A signal from a process is passed on. The terminal sends its own to all
 * foreground processes, and a program that counts them must not get one twice. */
static int wait_for(pid_t child, const sigset_t *set)
{
    int status = 0;
    siginfo_t info;
    for (;;) {
        const int got = sigwaitinfo(set, &info);
        if (got < 0)
            continue;
        if (got != SIGCHLD) {
            if (info.si_code <= 0)
                kill(child, got);
            continue;
        }
        /* CHILD may have been stopped only, or another child ended. */
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
}

/* In our own environment, which the program inherits: bench starts nothing else from here on. */
static bn_code set_variables(const json_t *variables, bn_status *st)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)variables, name, value)
    {
        if (setenv(name, json_string_value(value), 1) != 0)
            return bn_fail_errno(st, errno, "the variable %s", name);
    }
    return BN_OK;
}

/* Starts the program with the signal mask BEFORE ours, and with the default action of SIGXFSZ,
 * which bench ignores. */
static int start(const char *const *words, const sigset_t *before, pid_t *child)
{
    posix_spawnattr_t attributes;
    int error = posix_spawnattr_init(&attributes);
    if (error)
        return error;
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGXFSZ);
    error = posix_spawnattr_setsigmask(&attributes, before);
    if (!error)
        error = posix_spawnattr_setsigdefault(&attributes, &usual);
    if (!error)
        error =
            posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    /* The words are not written to. */
    if (!error)
        error = posix_spawnp(child, words[0], NULL, &attributes, (char *const *)words, environ);
    posix_spawnattr_destroy(&attributes);
    return error;
}

bn_code command_program_run(const char *const *words, const json_t *variables, int *code,
                            bn_status *st)
{
    sigset_t set, before;
    pid_t child = 0;
    if (set_variables(variables, st) != BN_OK)
        return st->code;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaddset(&set, signals[i]);
    sigprocmask(SIG_BLOCK, &set, &before);
    const int error = start(words, &before, &child);
    if (!error)
        *code = wait_for(child, &set);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return error ? bn_fail_errno(st, error, "%s", words[0]) : BN_OK;
}
