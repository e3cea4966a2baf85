/*
 * progress.c - what a run is doing, on standard error: on a terminal one line that is rewritten,
 * else a plain line for each stage.
 */
#include "harness/jobs/jobs.h"

#include <stdio.h>
#include <string.h>

#define REWRITE_NS 100000000u

/* A process runs one job at a time. */
static struct {
    uint64_t job_start_ns, shown_ns;
    double finished_s; /* time of the jobs that have ended */
    size_t finished;
    double expected_s, after_s; /* of this job and those after it, where KNOWN */
    bool known;
    char stage[64];
} line;

static double job_seconds(void)
{
    return (double)(bn_now_ns() - line.job_start_ns) / 1e9;
}

void job_progress_expect(double job_s, double after_s)
{
    line.known = job_s >= 0;
    line.expected_s = job_s;
    line.after_s = after_s;
}

/* The time left, from job_progress_expect, else from the mean of the jobs that have ended; "" where
 * neither is known. */
static void remaining(const job_order *job, char *text, size_t size)
{
    text[0] = '\0';
    if ((line.finished == 0 && !line.known) || job->of < job->number)
        return;
    double mean = line.finished ? line.finished_s / (double)line.finished : 0;
    double own = line.known ? line.expected_s : mean, now = job_seconds();
    double after = line.known ? line.after_s : mean * (double)(job->of - job->number);
    double left = after + (own > now ? own - now : 0);
    long seconds = (long)(left + 0.5);
    if (seconds < 3600)
        snprintf(text, size, "  %ld:%02ld left", seconds / 60, seconds % 60);
    else
        snprintf(text, size, "  %ld:%02ld:%02ld left", seconds / 3600, seconds / 60 % 60,
                 seconds % 60);
}

static void rewrite(const job_order *job, const char *stage, int64_t done, int64_t of)
{
    char left[48], count[64] = "", text[512];
    remaining(job, left, sizeof left);
    /* DONE passes OF where the steps that were asked for take less than the time asked for. */
    if (of > 0 && done <= of)
        snprintf(count, sizeof count, " %lld/%lld", (long long)done, (long long)of);
    else if (of > 0)
        snprintf(count, sizeof count, " %lld", (long long)done);
    snprintf(text, sizeof text, "[%zu/%zu] %s: %s%s%s", job->number, job->of, job->title, stage,
             count, left);
    cli_line_show(text);
}

void job_progress_begin(const job_order *job)
{
    line.job_start_ns = line.shown_ns = bn_now_ns();
    line.stage[0] = '\0';
    if (cli_terminal()) {
        rewrite(job, "starting", 0, 0);
        return;
    }
    char left[48] = "";
    if (line.known)
        remaining(job, left, sizeof left);
    cli_say("[%zu/%zu] %s%s", job->number, job->of, job->title, left);
}

void job_progress_stage(const job_order *job, const char *stage, int64_t done, int64_t of)
{
    bool changed = strcmp(line.stage, stage) != 0;
    snprintf(line.stage, sizeof line.stage, "%s", stage);
    if (!cli_terminal()) {
        if (changed)
            cli_say("[%zu/%zu]   %s", job->number, job->of, stage);
        return;
    }
    uint64_t now = bn_now_ns();
    if (!changed && now - line.shown_ns < REWRITE_NS)
        return;
    line.shown_ns = now;
    rewrite(job, stage, done, of);
}

void job_progress_end(const job_order *job, const job_outcome *outcome)
{
    line.finished_s += job_seconds();
    line.finished++;
    line.known = false;
    cli_line_clear();
    cli_say("[%zu/%zu] %s: %s in %.1f s", job->number, job->of, job->title,
            bn_code_name(outcome->status), job_seconds());
}
