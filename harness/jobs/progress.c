/*
 * progress.c - a run's plan and its progress, on standard error: a line when the last process of an
 * experiment has ended, and for an earlier one after a minute without a line; on a terminal one
 * that is rewritten. With --verbose a line for each process and, without a terminal, for each
 * stage.
 */
#include "harness/cores/cores.h"
#include "harness/jobs/ending_priv.h"
#include "harness/jobs/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REWRITE_NS   100000000u
/* A log shows that a long run goes on. */
#define SILENCE_NS   60000000000u
/* Share of the last ten seconds: a build that has just ended, or other programs. */
#define BUSY_STALLED 0.2

/* A process runs one job at a time. */
static struct {
    uint64_t job_start_ns, shown_ns, last_line_ns;
    double finished_s; /* time of the jobs that have ended */
    size_t finished;
    double expected_s, after_s; /* of each of the JOBS, which begin with this one; and after them */
    size_t jobs;                /* 0: nothing is expected */
    size_t of;                  /* jobs in all, as they were told last; 0: were not */
    const char *why;            /* why the next job may have another OF; NULL: not told */
    char stage[64];
} line;

static double job_seconds(void)
{
    return (double)(bn_now_ns() - line.job_start_ns) / 1e9;
}

void job_progress_expect(double job_s, double after_s)
{
    line.jobs = job_s >= 0;
    line.expected_s = job_s;
    line.after_s = after_s;
}

/* Seconds of the jobs after JOB, as they are expected, else from the mean of the jobs that have
 * ended; -1 where neither is known. */
static double after(const job_order *job)
{
    if ((line.finished == 0 && !line.jobs) || job->of < job->number)
        return -1;
    return line.jobs ? (double)(line.jobs - 1) * line.expected_s + line.after_s
                     : line.finished_s / (double)line.finished * (double)(job->of - job->number);
}

/* "0:40 left"; "" where LEFT is unknown. */
static void put_left(double left, char *text, size_t size)
{
    const long seconds = (long)(left + 0.5);
    if (left < 0)
        text[0] = '\0';
    else if (seconds < 3600)
        snprintf(text, size, "%ld:%02ld left", seconds / 60, seconds % 60);
    else
        snprintf(text, size, "%ld:%02ld:%02ld left", seconds / 3600, seconds / 60 % 60,
                 seconds % 60);
}

/* Seconds that the running JOB and the jobs after it will take. */
static double remaining(const job_order *job)
{
    const double others = after(job), now = job_seconds();
    const double own = line.jobs       ? line.expected_s
                       : line.finished ? line.finished_s / (double)line.finished
                                       : 0;
    return others < 0 ? -1 : others + (own > now ? own - now : 0);
}

static void rewrite(const job_order *job, const char *stage, int64_t done, int64_t of)
{
    char left[40], count[64] = "", text[512];
    put_left(remaining(job), left, sizeof left);
    /* DONE passes OF where the steps that were asked for take less than the time asked for. */
    if (of > 0 && done <= of)
        snprintf(count, sizeof count, " %lld/%lld", (long long)done, (long long)of);
    else if (of > 0)
        snprintf(count, sizeof count, " %lld", (long long)done);
    /* A terminal cuts the end off, so the title is last. */
    snprintf(text, sizeof text, "[%zu/%zu] %s%s%s%s: %s", job->number, job->of, left,
             left[0] ? ", " : "", stage, count, job->title);
    cli_line_show(text);
}

/* Notes whether cores sleep while OF jobs run: short steps depend on it. */
static void note_idle_cores(size_t of, const char *idle_cores)
{
    if (!idle_cores || strcmp(idle_cores, "sleep") == 0)
        return;
    if (cores_idle_check("awake", NULL) == BN_OK)
        cli_note("[0/%zu] idle cores are kept awake meanwhile (--idle-cores)", of);
    else
        cli_note("[0/%zu] idle cores may sleep, which makes short steps longer and uneven; run as "
                 "root to keep them awake (--idle-cores)",
                 of);
}

void job_progress_explain(const char *why)
{
    line.why = why;
}

/* Says that JOB has another number of jobs in all than was told, where it is known why. */
static void tell_change(const job_order *job)
{
    if (line.why && line.of && job->of != line.of)
        cli_note("[%zu/%zu] now %zu processes in all, %zu before: %s", job->number - 1, job->of,
                 job->of, line.of, line.why);
    line.of = job->of;
    line.why = NULL;
}

void job_progress_plan(size_t of, double seconds, const char *idle_cores)
{
    char length[32];
    line.of = of;
    if (seconds < 120)
        snprintf(length, sizeof length, "%.0f s", seconds > 1 ? seconds : 1);
    else
        snprintf(length, sizeof length, "%.0f min", seconds / 60);
    if (seconds >= 0)
        cli_note("[0/%zu] about %s, as long as the same took here before", of, length);
    else
        /* What must be measured is often a small part of it, so no bound is told. */
        cli_note("[0/%zu] no record here says how long starting and compiling take%s", of,
                 of > 1 ? "; the time left is known from the first process on" : "");
    cli_note("[0/%zu] Ctrl-C keeps what is done", of);
    note_idle_cores(of, idle_cores);
    const double stalled = job_host_stalled();
    if (stalled > BUSY_STALLED)
        cli_note(
            "[0/%zu] this machine is busy: in %.0f %% of the last ten seconds something waited "
            "for a core, so intervals will be wide",
            of, 100 * stalled);
}

/* Expected cost of all groups of a run. */
typedef struct outlook {
    size_t processes;
    double seconds;
    bool known; /* by records of each of them; else SECONDS is the least */
} outlook;

static const job_experiment *experiment_at(const void *list, size_t index)
{
    return (const job_experiment *)list + index;
}

/* The pace of a group of the COUNT experiments LIST that will have PROCESSES processes. */
static job_pace foresee_pace(const job_group *plan, int processes, const job_experiment *list,
                             const job_before *before, size_t count)
{
    bool first = true, both = true;
    const double first_s = job_group_seconds(plan, 1, list, before, count, &first);
    const double both_s = job_group_seconds(plan, 2, list, before, count, &both);
    return (job_pace){.processes = processes,
                      .workers = plan->separate ? count : job_group_workers(list, count),
                      .first_s = first ? first_s : -1,
                      .further_s = both ? both_s - first_s : -1};
}

static outlook foresee(const job_group *plan, const job_experiment *list, size_t count,
                       job_pace *paces)
{
    outlook all = {.known = true};
    job_before *before = job_spent_before(list[0].how.store, experiment_at, list, count);
    for (size_t first = 0, end; first < count; first = end) {
        end = job_group_end(list, count, first);
        const job_before *own = before + first;
        const int processes = job_group_foreseen(plan, own, end - first);
        all.seconds +=
            job_group_seconds(plan, processes, &list[first], own, end - first, &all.known);
        all.processes += (size_t)processes * job_group_workers(&list[first], end - first);
        if (paces)
            *paces++ = foresee_pace(plan, processes, &list[first], own, end - first);
    }
    free(before);
    return all;
}

/* Mean of the first processes that have ended; negative: none has. */
static double first_mean(const job_pace *paces, size_t count)
{
    double sum = 0, some = 0;
    for (size_t i = 0; i < count; i++) {
        sum += paces[i].first_took_s;
        some += paces[i].ended > 0;
    }
    return some > 0 ? sum / some : -1;
}

/* Time of a further process over that of its group's first, by the groups that have had both; 1:
 * none has. */
static double further_share(const job_pace *paces, size_t count)
{
    double first = 0, further = 0;
    for (size_t i = 0; i < count; i++) {
        if (paces[i].ended < 2)
            continue;
        first += paces[i].first_took_s;
        further += paces[i].further_took_s / (paces[i].ended - 1);
    }
    return first > 0 ? further / first : 1;
}

void job_pace_expect(const job_pace *paces, size_t count, size_t which)
{
    const double mean = first_mean(paces, count), share = further_share(paces, count);
    double all = 0, own = 0;
    for (size_t i = 0; i < count; i++) {
        const job_pace *p = &paces[i];
        const double first = p->ended > 0 ? p->first_took_s : p->first_s >= 0 ? p->first_s : mean;
        const double further = p->ended > 1        ? p->further_took_s / (p->ended - 1)
                               : p->further_s >= 0 ? p->further_s
                                                   : first * share;
        if (p->processes > 0 && (first < 0 || further < 0)) {
            job_progress_expect(-1, 0);
            return;
        }
        if (i == which)
            own = p->ended > 0 ? further : first;
        if (p->processes > 0)
            all += p->ended > 0 ? p->processes * further : first + (p->processes - 1) * further;
    }
    line.jobs = paces[which].workers;
    line.expected_s = own / (double)line.jobs;
    line.after_s = all - own;
}

void job_pace_ended(job_pace *pace, double seconds, int processes)
{
    if (pace->ended++ == 0)
        pace->first_took_s = seconds;
    else
        pace->further_took_s += seconds;
    pace->processes = processes;
}

void job_progress_tell(const char *what, const job_group *plan, const job_experiment *list,
                       size_t count, job_pace *paces)
{
    const char *runtime = list[0].what.runtime;
    char perhaps[64] = "";
    bool one = true;
    const outlook all = foresee(plan, list, count, paces);
    for (size_t i = 0; i < count; i++)
        one = one && strcmp(list[i].what.runtime, runtime) == 0;
    if (!all.known && plan->usual)
        snprintf(perhaps, sizeof perhaps, " (%d for each group of short steps)",
                 JOB_SHORT_PROCESSES);
    cli_note("[0/%zu] %s%zu experiment%s in %zu process%s%s on %s%s; records go to %s",
             all.processes, what, count, count == 1 ? "" : "s", all.processes,
             all.processes == 1 ? "" : "es", perhaps, one ? "runtime " : "",
             one ? runtime : "several runtimes", list[0].how.store);
    job_progress_plan(all.processes, all.known ? all.seconds : -1, list[0].how.idle_cores);
}

void job_progress_begin(const job_order *job)
{
    line.job_start_ns = line.shown_ns = bn_now_ns();
    line.last_line_ns = line.last_line_ns ? line.last_line_ns : line.job_start_ns;
    line.stage[0] = '\0';
    tell_change(job);
    if (cli_terminal()) {
        rewrite(job, "starting", 0, 0);
        return;
    }
    if (job->verbose)
        cli_note("[%zu/%zu] %s", job->number, job->of, job->title);
}

void job_progress_stage(const job_order *job, const char *stage, int64_t done, int64_t of)
{
    bool changed = strcmp(line.stage, stage) != 0;
    snprintf(line.stage, sizeof line.stage, "%s", stage);
    if (!cli_terminal()) {
        if (changed && job->verbose)
            cli_note("[%zu/%zu]   %s", job->number, job->of, stage);
        return;
    }
    uint64_t now = bn_now_ns();
    if (!changed && now - line.shown_ns < REWRITE_NS)
        return;
    line.shown_ns = now;
    rewrite(job, stage, done, of);
}

/* The result of an experiment by its worker: the class of its failure, or BN_OK with a record. */
static bn_code code_of(const json_t *member)
{
    const bn_code named = job_class_of(member);
    if (json_is_string(json_object_get(member, "record")))
        return BN_OK;
    return named < BN_CODE_COUNT ? named : BN_CRASH;
}

/* The result of OUTCOME's job, in words; returns its code. A worker that ends well may have failed
 * at its experiments: then it is the failure of the first such one, and how many failed. */
static bn_code end_of(const job_outcome *outcome, char *words, size_t size)
{
    const json_t *members = json_object_get(outcome->result, "members"), *member;
    bn_code code = outcome->status;
    size_t failed = 0, i;
    json_array_foreach(members, i, member)
    {
        const bn_code own = code_of(member);
        failed += own != BN_OK;
        code = code == BN_OK ? own : code;
    }
    if (outcome->status == BN_OK && failed > 0 && json_array_size(members) > 1)
        snprintf(words, size, "%s, %zu of %zu failed", bn_code_name(code), failed,
                 json_array_size(members));
    else
        snprintf(words, size, "%s", bn_code_name(code));
    return code;
}

void job_progress_end(const job_order *job, const job_outcome *outcome)
{
    char left[40], job_text[512], words[96], rest[96];
    const bn_code code = end_of(outcome, words, sizeof words);
    line.finished_s += job_seconds();
    line.finished++;
    put_left(job->number < job->of && code != BN_CANCELLED && !outcome->usage ? after(job) : -1,
             left, sizeof left);
    line.jobs -= line.jobs > 0;
    cli_line_clear();
    if (job->more && !job->verbose && code == BN_OK && bn_now_ns() - line.last_line_ns < SILENCE_NS)
        return;
    line.last_line_ns = bn_now_ns();
    snprintf(job_text, sizeof job_text, "[%zu/%zu] %s", job->number, job->of, job->title);
    snprintf(rest, sizeof rest, " in %.1f s%s%s", job_seconds(), left[0] ? ", about " : "", left);
    cli_note_end(job_text, code == BN_OK, words, rest);
}
