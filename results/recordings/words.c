/*
 * words.c - the answer in sentences.
 */
#include "results/figures/figures.h"
#include "results/recordings/recordings_priv.h"

#include <math.h>

/* So much of the wall time in calls makes it doubtful whether the device works. */
#define UNATTRIBUTED 0.1
/* Steps are not all alike where they have so many more or fewer executions on average than most. */
#define UNLIKE 0.05

void rec_time_put(bn_text *out, double ns)
{
    bn_text_puts(out, res_time(ns).text);
}

void rec_interval_put(bn_text *out, res_interval ns)
{
    rec_time_put(out, ns.estimate);
    if (!isfinite(ns.low) || !isfinite(ns.high))
        return;
    bn_text_puts(out, " [");
    rec_time_put(out, ns.low > 0 ? ns.low : 0);
    bn_text_puts(out, ", ");
    rec_time_put(out, ns.high);
    bn_text_puts(out, "]");
}

double rec_executions_mean(const rec_steps *steps)
{
    double sum = 0;
    for (size_t i = 0; i < steps->count; i++)
        sum += steps->list[i].executions;
    return steps->count ? sum / (double)steps->count : (double)NAN;
}

void rec_executions_put(const rec_steps *steps, bn_text *out)
{
    const double usual = steps->executions_per_step, mean = rec_executions_mean(steps);
    bn_text_printf(out, "%.0f execution%s", usual, usual == 1 ? "" : "s");
    if (fabs(mean - usual) > UNLIKE * usual)
        bn_text_printf(out, " in most, %.3g on average", mean);
}

static double percent(double share)
{
    return 100 * share;
}

/* The host's work while the device was idle, the largest first. */
static void put_gaps(const rec_steps *s, double wall_ns, bn_text *out)
{
    static const char *const doings[REC_PART_COUNT] = {
        [REC_PART_HOST] = "while the framework worked on a CPU",
        [REC_PART_DISPATCH] = "in Execute calls",
        [REC_PART_TRANSFER] = "in transfers to it",
        [REC_PART_READ] = "in reads",
        [REC_PART_COMPILE] = "in compilations",
        [REC_PART_WAIT] = "in waits (Event_Await, or a value that is read where it is)",
        [REC_PART_READY] = "while other threads or programs had the core",
        [REC_PART_IDLE] = "while nothing ran (a loader, a sleep, a lock)",
    };
    bool done[REC_PART_COUNT] = {false};
    for (int n = 0; n < REC_PART_COUNT; n++) {
        int most = -1;
        double largest = 0;
        for (int i = 0; i < REC_PART_COUNT; i++) {
            const double ns = rec_steps_gap(s, (rec_part)i).mean_ns;
            if (!done[i] && ns > largest) {
                largest = ns;
                most = i;
            }
        }
        if (most < 0 || (n > 0 && largest < 0.01 * wall_ns))
            break;
        done[most] = true;
        bn_text_puts(out, n ? ", " : "");
        rec_time_put(out, largest);
        bn_text_printf(out, " %s", doings[most]);
    }
}

/* So long of what the completions take for work no kernel ran. */
static void put_rest(double rest_ns, bn_text *out)
{
    rec_time_put(out, rest_ns);
    bn_text_puts(out, " between a call and its kernels, between kernels, and from the last of "
                      "them until the host was notified");
}

double rec_unattributed_calls_ns(const rec_steps *steps, const rec_answer *answer)
{
    double sum = 0, wall = 0;
    if (isfinite(answer->kernels_ns.estimate))
        return 0;
    for (size_t i = 0; i < steps->count; i++) {
        wall += (double)steps->list[i].wall_ns;
        sum += rec_step_calls_ns(steps, i, (double)INFINITY);
    }
    return sum > UNATTRIBUTED * wall ? sum / (double)steps->count : 0;
}

static void put_device_bound(const rec_steps *s, const rec_answer *a, bn_text *out)
{
    const double calls_ns = rec_unattributed_calls_ns(s, a);
    bn_text_printf(out, "Device-bound: the device works %.0f %% of the time",
                   percent(a->busy_share));
    if (!(calls_ns > 0)) {
        bn_text_puts(out, ". A faster host changes little.\n");
        return;
    }
    bn_text_puts(out, ", by its completions. But of that ");
    rec_time_put(out, calls_ns);
    bn_text_puts(out, " a step are in Execute calls, where it may be the host that works: then a "
                      "faster host helps. On an accelerator a profile shows it (bench record "
                      "--profile).\n");
}

/* The device waits: while nothing is submitted, and where a profile shows it, while something is.
 * The longer first. */
static void put_waiting(const rec_steps *s, const rec_answer *a, bn_text *out)
{
    const double wall = rec_steps_wall(s).mean_ns, events = rec_steps_busy(s).mean_ns;
    const double busy = a->dispatch_profiled ? a->kernels_ns.estimate : events;
    const double gaps = wall - events, rest = events - busy, least = 0.01 * wall;
    const bool rest_first = rest > gaps;
    bn_text_printf(out, "the device works %.0f %% of the time and waits ", percent(a->busy_share));
    rec_time_put(out, wall - busy);
    bn_text_puts(out, " a step: ");
    if (rest_first)
        put_rest(rest, out);
    if (rest_first && gaps > least)
        bn_text_puts(out, ", ");
    if (!rest_first || gaps > least)
        put_gaps(s, wall, out);
    if (!rest_first && rest > least) {
        bn_text_puts(out, ", ");
        put_rest(rest, out);
    }
    bn_text_puts(out, ".");
    if (!a->dispatch_profiled)
        return;
    bn_text_puts(out, " For ");
    rec_time_put(out, a->host_gap_ns);
    bn_text_puts(out, " of that nothing was submitted, for ");
    rec_time_put(out, a->dispatch_gap_ns);
    bn_text_puts(out, " something was.");
}

/* Device time by completions that may be none. */
static void put_calls(const rec_answer *a, double calls_ns, bn_text *out)
{
    rec_time_put(out, calls_ns);
    bn_text_puts(out, " a step are in Execute calls");
    if (a->verdict == REC_DISPATCH_BOUND)
        bn_text_printf(out,
                       ", while nothing else was submitted: much of that may be the fixed cost "
                       "of %u execution%s a step",
                       a->executions, a->executions == 1 ? "" : "s");
    bn_text_puts(out, ". On an accelerator a profile shows whether the device works meanwhile "
                      "(bench record --profile).");
}

static void put_dispatch_bound(const rec_steps *s, const rec_answer *a, bn_text *out)
{
    bn_text_puts(out, "Dispatch-bound: ");
    if (a->busy_share < 0.9) {
        put_waiting(s, a, out);
        if (!a->dispatch_profiled && a->calls_ns > 0) {
            bn_text_puts(out, " Some of the device time may be the host's: ");
            put_calls(a, a->calls_ns, out);
        }
    } else {
        bn_text_printf(out,
                       "the device works %.0f %% of the time, by its completions. But of that ",
                       percent(a->busy_share));
        put_calls(a, a->calls_ns, out);
    }
    bn_text_putc(out, '\n');
}

static void put_host_bound(const rec_steps *s, const rec_answer *a, bn_text *out)
{
    const double calls_ns = rec_unattributed_calls_ns(s, a);
    bn_text_puts(out, "Host-bound: ");
    put_waiting(s, a, out);
    if (calls_ns > 0) {
        bn_text_puts(out, " Some of the device time may be the host's: ");
        put_calls(a, calls_ns, out);
    }
    bn_text_putc(out, '\n');
}

static void put_unknown(const rec_answer *a, bn_text *out)
{
    bn_text_puts(out, "Completions were not recorded, so ");
    if (isfinite(a->busy_share))
        bn_text_printf(out,
                       "it is unknown whether the device, which by the plugin's profiler works "
                       "%.0f %% of the time, waits for the host or for submitted work: no "
                       "verdict.\n",
                       percent(a->busy_share));
    else
        bn_text_puts(out, "when the device worked is unknown: no verdict.\n");
}

static void put_verdict(const rec_steps *s, const rec_answer *a, bn_text *out)
{
    switch (a->verdict) {
    case REC_DEVICE_BOUND:
        put_device_bound(s, a, out);
        return;
    case REC_HOST_BOUND:
        put_host_bound(s, a, out);
        return;
    case REC_DISPATCH_BOUND:
        put_dispatch_bound(s, a, out);
        return;
    case REC_UNKNOWN:
    default:
        put_unknown(a, out);
    }
}

static void put_ahead(const rec_answer *a, bn_text *out)
{
    if (isnan(a->ahead_share))
        return;
    if (a->ahead_share >= 0.5)
        bn_text_printf(out,
                       "Work of the next step overlaps the device: in %.0f %% of the steps it is "
                       "submitted before the device has finished.\n",
                       percent(a->ahead_share));
    else
        bn_text_printf(out,
                       "The next step does not overlap the device: in %.0f %% of the steps it "
                       "begins only after the device has finished.\n",
                       percent(1 - a->ahead_share));
}

static void put_no_gaps(const rec_steps *s, const rec_answer *a, bn_text *out)
{
    if (isnan(a->no_gaps_ns.estimate))
        return;
    bn_text_printf(out, "Without host gaps a step would take %s",
                   rec_unattributed_calls_ns(s, a) > 0 ? "at most " : "");
    rec_interval_put(out, a->no_gaps_ns);
    bn_text_puts(out, " instead of ");
    rec_interval_put(out, a->wall_ns);
    bn_text_puts(out, ": the device's own time, if each execution were submitted before the device "
                      "finished the one before, and took no longer then.");
    if (a->host_only_ns.estimate > a->no_gaps_ns.estimate) {
        bn_text_puts(out, " The host by itself needs ");
        rec_time_put(out, a->host_only_ns.estimate);
        bn_text_puts(out, ", so overlapping alone is not enough: the host must do less, as by "
                          "capturing the step.");
    }
    bn_text_puts(out, "\n");
}

static void put_fused(const rec_answer *a, bn_text *out)
{
    if (a->executions <= 1)
        return;
    if (!a->overhead_known) {
        bn_text_puts(out, "The fixed cost of an execution is unknown: no call returns before its "
                          "execution has ended, so programs may run within their calls.\n");
        return;
    }
    bn_text_printf(out, "With one execution instead of %u a step would take at least ",
                   a->executions);
    rec_interval_put(out, a->fused_ns);
    bn_text_puts(out, ": it saves ");
    if (a->executions > 2)
        bn_text_printf(out, "%u times ", a->executions - 1);
    bn_text_puts(out, "the fixed cost of an execution, which is at most ");
    rec_interval_put(out, a->overhead_ns);
    bn_text_printf(out, ", the %s of the cheapest program here, its own work included. ",
                   a->fixed_whole ? "whole execution" : "call");
    bn_text_puts(out, "Host work between executions, and gains of fusion, come on top.\n");
}

/* Why figures are means. Only completions show that the host runs ahead. */
static void put_blocks(const rec_steps *s, bn_text *out)
{
    if (s->by_completion)
        bn_text_puts(out, "The host runs ahead of the device, so a step is counted from completion "
                          "to completion, and its time is a mean.");
    else if (s->cycle > 1)
        bn_text_puts(out, "Without completions it is unknown whether the host runs ahead, so the "
                          "time of a step is a mean.");
    else
        return;
    bn_text_printf(out, " Spreads are of means over %u step%s in a row.\n", s->cycle,
                   s->cycle == 1 ? "" : "s");
}

/* The steps before warm-up was cut, where that changes them. */
static void put_whole(const rec_steps *s, bn_text *out)
{
    if (s->whole_count == s->count || !isfinite(s->whole_ns))
        return;
    bn_text_puts(out, "With the steps that warm up a step takes ");
    rec_time_put(out, s->whole_ns);
    bn_text_printf(out, " in the mean of %zu, without them ", s->whole_count);
    rec_time_put(out, rec_steps_wall(s).mean_ns);
    bn_text_printf(out, " in the mean of %zu.\n", s->count);
}

static void put_unclear(const rec_steps *s, bn_text *out)
{
    if (s->unclear == REC_NONE)
        return;
    const char *step = s->process->programs[s->mark_program].name;
    const char *other = s->process->programs[s->unclear].name;
    bn_text_printf(out,
                   "Unclear: a step may be an execution of %s, as here, or of %s, once in %.3g of "
                   "these. Say which: --step-program %s, or marks in the program.\n",
                   step, other, s->unclear_every, other);
}

static void put_dropped(const rec_process *p, bn_text *out)
{
    uint64_t from, to;
    if (!p->dropped.any)
        return;
    rec_dropped_when(p, &from, &to);
    bn_text_printf(out,
                   "The recording has the beginning and the end of the run, and not its middle: "
                   "%llu events were dropped, of the time from ",
                   (unsigned long long)p->dropped.events);
    rec_time_put(out, (double)from);
    bn_text_puts(out, " to ");
    rec_time_put(out, (double)to);
    bn_text_puts(out, " after its beginning (bench record --limit). No step is made of it.\n");
}

static void put_doubts(const rec_steps *s, bn_text *out)
{
    put_unclear(s, out);
    put_blocks(s, out);
    put_whole(s, out);
    const rec_process *p = s->process;
    static const char *const stops[] = {"", "the recording reached its limit", "the disk was full",
                                        "the file system failed"};
    if (!s->cpu_clocks)
        bn_text_puts(out, "CPU clocks were not recorded: all time outside of calls while the "
                          "device did not work counts as host work, sleep included.\n");
    if (p->partial)
        bn_text_puts(out,
                     "The recording is of a part of the run, as it was asked for (bench record "
                     "--start, --stop).\n");
    put_dropped(p, out);
    if (p->stop != RECORD_GOES_ON)
        bn_text_printf(out, "The recorder stopped before the program did: %s.\n", stops[p->stop]);
    if (p->lost || p->skipped)
        bn_text_printf(out,
                       "%llu events were lost, %llu slots of the recording are damaged or "
                       "unfinished.\n",
                       (unsigned long long)p->lost, (unsigned long long)p->skipped);
    if (p->unseen)
        bn_text_printf(out,
                       "Nothing was recorded of %u further plugin%s that the process loaded: there "
                       "were too many at once, or they are of another major version.\n",
                       p->unseen, p->unseen == 1 ? "" : "s");
    if (p->misbelieved)
        bn_text_printf(out,
                       "bench assumed wrong donated arguments %llu time%s: the recorder asks for "
                       "some executions only, and they differ.\n",
                       (unsigned long long)p->misbelieved, p->misbelieved == 1 ? "" : "s");
    if (rec_steps_samples(s) < 9)
        bn_text_puts(out, "There are too few steps for intervals.\n");
}

rec_profile_state rec_steps_profile(const rec_steps *steps)
{
    const rec_profile *profile = &steps->process->profile;
    return !profile->asked                     ? REC_PROFILE_UNASKED
           : profile->why[0]                   ? REC_PROFILE_NONE
           : steps->kernels_too_long           ? REC_PROFILE_TOO_LONG
           : isnan(steps->kernels_ns.estimate) ? REC_PROFILE_PARTIAL
                                               : REC_PROFILE_TAKEN;
}

const char *rec_profile_state_name(rec_profile_state state)
{
    static const char *const names[] = {[REC_PROFILE_UNASKED] = "unasked",
                                        [REC_PROFILE_NONE] = "none",
                                        [REC_PROFILE_TOO_LONG] = "too-long",
                                        [REC_PROFILE_PARTIAL] = "partial",
                                        [REC_PROFILE_TAKEN] = "taken"};
    return names[state];
}

/* The source of the device times, where a profile was asked for. */
static void put_profile(const rec_steps *s, bn_text *out)
{
    const rec_profile *profile = &s->process->profile;
    const rec_profile_state state = rec_steps_profile(s);
    if (state == REC_PROFILE_UNASKED)
        return;
    if (state == REC_PROFILE_NONE) {
        bn_text_printf(out, "No profile: %s.%s\n", profile->why,
                       s->profiled ? " Steps while it ran are left out." : "");
    } else if (state == REC_PROFILE_TOO_LONG) {
        bn_text_puts(out, "By the plugin's profiler kernels run for longer than a step takes: "
                          "executions overlap on the device, or the profiler slows it down. "
                          "The device's times are those between completions.\n");
    } else if (state == REC_PROFILE_PARTIAL) {
        bn_text_puts(out, "The plugin's profiler did not report all programs of a step, or two "
                          "share a name: the device's times are those between completions.\n");
    } else {
        bn_text_printf(out, "The plugin's profiler saw %u executions. Kernels run ",
                       profile->executions);
        rec_interval_put(out, s->kernels_ns);
        bn_text_puts(out, " a step. ");
        if (s->completions) {
            bn_text_puts(out, "Between completions it is ");
            rec_time_put(out, rec_steps_busy(s).median_ns);
            bn_text_puts(out, ", with launches and the way back in it. ");
        }
        bn_text_puts(out,
                     "The answer is made of the profiler's time; the ledger is of completions. "
                     "Steps while it ran are left out.\n");
    }
}

void rec_answer_put(const rec_steps *steps, const rec_answer *answer, bn_text *out)
{
    put_verdict(steps, answer, out);
    put_ahead(answer, out);
    put_no_gaps(steps, answer, out);
    put_fused(answer, out);
    put_profile(steps, out);
    put_doubts(steps, out);
}
