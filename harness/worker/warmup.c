/*
 * warmup.c - steps before the measured ones, until they compile nothing and their times show no
 * trend.
 */
#include "harness/worker/measure_priv.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

/* Two-sided p-value of the Mann-Kendall test for a trend (Mann, Econometrica 13,
 * 1945), normal approximation with continuity correction. */
static double trend_p(const uint64_t *x, size_t n)
{
    double s = 0, count = (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            s += (x[k] > x[i]) - (x[k] < x[i]);
    double variance = count * (count - 1) * (2 * count + 5) / 18;
    double z = s > 0 ? (s - 1) / sqrt(variance) : s < 0 ? (s + 1) / sqrt(variance) : 0;
    return 2 * gsl_cdf_ugaussian_Q(fabs(z));
}

/* The number of steps that decide whether warm-up is over. One very long step may be a stall. */
static size_t window_of(const uint64_t *wall_ns, size_t count)
{
    const uint64_t last = count > 0 ? wall_ns[count - 1] : 0;
    const uint64_t before = count > 1 ? wall_ns[count - 2] : 0;
    if (last > WORKER_VERY_LONG_STEP_NS && before > WORKER_VERY_LONG_STEP_NS)
        return WORKER_WARM_WINDOW_VERY_LONG;
    return last > WORKER_LONG_STEP_NS ? WORKER_WARM_WINDOW_LONG : WORKER_WARM_WINDOW;
}

bool worker_warm(const uint64_t *wall_ns, const int64_t *compiles, size_t count)
{
    const size_t window = window_of(wall_ns, count);
    if (count < window)
        return false;
    size_t first = count - window;
    for (size_t i = first; i < count; i++)
        if (compiles[i] > 0)
            return false;
    return trend_p(wall_ns + first, window) >= 0.05;
}

int64_t worker_programs_made(const worker_session *s)
{
    const int64_t *c = mode_counters(s->mode);
    return c[BN_COUNTER_COMPILES] + c[BN_COUNTER_DISK_HITS] + c[BN_COUNTER_CAPTURES];
}

static double last_median(const uint64_t *wall_ns, size_t n)
{
    size_t window = window_of(wall_ns, n);
    window = window < WORKER_WARM_WINDOW_LONG ? window : WORKER_WARM_WINDOW_LONG;
    window = window < n ? window : n;
    return res_quantile(wall_ns + n - window, window, 0.5);
}

/* Waits for steps in flight, and sets STEP_NS. A warm-up may end before any step waited for
 * another: such steps take only the host's time, and the rest of the device is the better estimate.
 */
static bn_code end_steps(worker_member *m, bn_status *st)
{
    const uint64_t start = bn_now_ns();
    const double flight = fmin(fmax(m->e.what.in_flight, 1), fmax((double)m->warm, 1));
    bn_code code = mode_drain(m->s.mode, st);
    const double left_ns = (double)(bn_now_ns() - start) / flight;
    m->step_ns = code == BN_OK ? fmax(last_median(m->warm_ns, m->warm), left_ns) : 0;
    return code;
}

/* Steps that are left for programs of the chosen size of windows. */
enum { AFTER_CHOICE = 4 };

static json_t *number_or_null(double value)
{
    return value > 0 ? json_real(value) : json_null();
}

json_t *worker_window_to_json(const worker_member *m)
{
    const mode_window_choice choice = mode_window(m->s.mode);
    mode_info info;
    if (!mode_describe_named(m->e.what.mode, &info) || !info.windows)
        return NULL;
    json_t *tried = json_array();
    for (size_t i = 0; i < choice.tries; i++)
        json_array_append_new(
            tried, json_pack("{sI sI so so}", "nodes", (json_int_t)choice.tried[i].nodes, "windows",
                             (json_int_t)choice.tried[i].windows, "predicted_ns",
                             number_or_null(choice.tried[i].predicted_ns), "measured_ns",
                             number_or_null(choice.tried[i].measured_ns)));
    json_t *ends = json_array();
    for (size_t i = 0, end; (end = mode_window_end(m->s.mode, i)); i++)
        json_array_append_new(ends, json_integer((json_int_t)end));
    return json_pack("{sb sI sI so so so so}", "chosen", (int)choice.chosen, "nodes",
                     (json_int_t)choice.nodes, "windows", (json_int_t)choice.windows, "whole_ns",
                     number_or_null(choice.whole_ns), "trace_ns", number_or_null(choice.trace_ns),
                     "ends", ends, "tried", tried);
}

bn_code worker_warm_up(worker_member *m, bn_status *st)
{
    const size_t most = (size_t)m->e.how.warmup;
    const uint64_t start = bn_now_ns();
    /* calloc, which may fail: the size is the user's. */
    int64_t *compiled = calloc(most, sizeof *compiled);
    bool *stationary = &m->record->warmup_stationary;
    bn_code code = BN_OK;
    m->warm_ns = calloc(most, sizeof *m->warm_ns);
    if (!compiled || !m->warm_ns) {
        free(compiled);
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu warm-up steps", most);
    }
    *stationary = false;
    for (m->warm = 0; m->warm < most && !*stationary && code == BN_OK; m->warm++) {
        worker_send_progress(m->warm ? "warm-up" : "compiling", (int64_t)m->warm, (int64_t)most);
        bn_ledger ledger;
        if (m->warm + AFTER_CHOICE >= most)
            mode_settle(m->s.mode);
        int64_t before = worker_programs_made(&m->s);
        const uint64_t begin = m->timeline ? bn_now_ns() : 0;
        if (m->timeline)
            worker_timeline_before(m, BN_STEP_WARMUP, m->warm);
        code = mode_step(m->s.mode, &m->s.call, &ledger, st);
        if (m->timeline)
            worker_timeline_after(m, begin, bn_now_ns());
        m->warm_ns[m->warm] = ledger.wall_ns;
        m->compile_ns += ledger.part_ns[BN_PART_COMPILE];
        m->lower_ns += ledger.part_ns[BN_PART_LOWER];
        compiled[m->warm] = worker_programs_made(&m->s) - before;
        *stationary = code == BN_OK && !mode_window(m->s.mode).choosing &&
                      worker_warm(m->warm_ns, compiled, m->warm + 1);
    }
    json_t *compiles = json_array();
    for (size_t i = 0; i < m->warm; i++)
        json_array_append_new(compiles, json_integer(compiled[i]));
    res_provenance_set(m->record, RES_PROV_WARMUP, json_pack("{so}", "compiles", compiles));
    free(compiled);
    m->step_ns = 0;
    if (code == BN_OK)
        code = end_steps(m, st);
    m->warmup_ns = bn_now_ns() - start;
    return code == BN_OK ? BN_OK : bn_context(st, "warm-up");
}
