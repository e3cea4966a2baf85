/*
 * progress.c - what a run is doing, on standard error: one line that is
 * rewritten on a terminal, a plain line for each stage where it is piped.
 */
#define _GNU_SOURCE
#include "harness/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REWRITE_NS 100000000u

/* One run at a time has the terminal. */
static struct {
    uint64_t run_start_ns, job_start_ns, shown_ns;
    double finished_s; /* time of the jobs that have ended */
    size_t finished;
    char stage[64];
    bool visible;
} line;

static bool terminal(void)
{
    return isatty(STDERR_FILENO);
}

void hn_progress_clear(void)
{
    if (line.visible)
        fputs("\r\033[K", stderr);
    line.visible = false;
}

void hn_progress_begin(const hn_job *job)
{
    line.job_start_ns = bn_now_ns();
    line.stage[0] = '\0';
    if (!terminal())
        fprintf(stderr, "[%zu/%zu] %s\n", job->number, job->of, job->title);
}

/* Time left, from the mean of the jobs that have ended; "" at first. */
static void remaining(const hn_job *job, char *text, size_t size)
{
    text[0] = '\0';
    if (line.finished == 0 || job->of < job->number)
        return;
    double mean = line.finished_s / (double)line.finished;
    double now = (double)(bn_now_ns() - line.job_start_ns) / 1e9;
    double left = mean * (double)(job->of - job->number) + (mean > now ? mean - now : 0);
    snprintf(text, size, "  %d:%02d left", (int)left / 60, (int)left % 60);
}

void hn_progress_stage(const hn_job *job, const char *stage, int64_t done, int64_t of)
{
    bool changed = strcmp(line.stage, stage) != 0;
    snprintf(line.stage, sizeof line.stage, "%s", stage);
    if (!terminal()) {
        if (changed)
            fprintf(stderr, "[%zu/%zu]   %s\n", job->number, job->of, stage);
        return;
    }
    uint64_t now = bn_now_ns();
    if (!changed && now - line.shown_ns < REWRITE_NS)
        return;
    line.shown_ns = now;
    char left[32], count[64] = "";
    remaining(job, left, sizeof left);
    if (of > 0)
        snprintf(count, sizeof count, " %lld/%lld", (long long)done, (long long)of);
    fprintf(stderr, "\r\033[K[%zu/%zu] %s: %s%s%s", job->number, job->of, job->title, stage, count,
            left);
    line.visible = true;
}

void hn_progress_end(const hn_job *job, const hn_outcome *outcome)
{
    double seconds = (double)(bn_now_ns() - line.job_start_ns) / 1e9;
    line.finished_s += seconds;
    line.finished++;
    hn_progress_clear();
    fprintf(stderr, "[%zu/%zu] %s: %s in %.1f s\n", job->number, job->of, job->title,
            bn_code_name(outcome->status), seconds);
}
