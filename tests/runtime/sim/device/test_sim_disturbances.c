/*
 * test_sim_disturbances.c - what disturbs a simulated device: factors, wandering, bursts and
 * pauses have the size, the rate and the moments that were set. Durations are those of the
 * plugin's profile, exact to the nanosecond; draws are of a fixed seed.
 */
#include "tests/runtime/sim/device/sim_fixture.h"
#include "tests/support/live.h"

#include <math.h>

/* Nothing is computed: a test is about time. */
#define NONE "values=none "

static int teardown(void **state)
{
    (void)state;
    assert_nothing_live();
    return 0;
}

static double us_since(uint64_t begin_ns)
{
    return (double)(bn_now_ns() - begin_ns) / 1e3;
}

/* ---- disturbances of an execution ------------------------------------------------------- */

static void drift_grows_with_the_number_of_executions(void **state)
{
    (void)state;
    enum { COUNT = 60 };
    rt_device_span *spans = sim_spans(NONE "device_us=100 drift=10", COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(spans[i].duration_ns, 100000 + 1000 * i);
    free(spans);
}

/* Nanoseconds of [FROM, TO) in pauses: the first PAUSE of each PERIOD. */
static uint64_t paused(uint64_t from, uint64_t to, uint64_t period, uint64_t pause)
{
    uint64_t sum = 0;
    for (uint64_t at = from / period * period; at < to; at += period) {
        uint64_t begin = at > from ? at : from, end = at + pause < to ? at + pause : to;
        sum += end > begin ? end - begin : 0;
    }
    return sum;
}

static void interference_stretches_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        uint64_t work_ns, period_ns, pause_ns;
        size_t count;
    } rows[] = {
        {NONE "device_us=20000 interference_period_us=1000 interference_us=250", 20000000, 1000000,
         250000, 3},
        {NONE "device_us=130 interference_period_us=1000 interference_us=700", 130000, 1000000,
         700000, 40},
        {NONE "device_us=1000 interference_period_us=100 interference_us=99", 1000000, 100000,
         99000, 2},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        rt_device_span *spans = sim_spans(rows[row].settings, rows[row].count);
        for (size_t i = 0; i < rows[row].count; i++) {
            uint64_t start = spans[i].start_ns, end = start + spans[i].duration_ns,
                     pauses = paused(start, end, rows[row].period_ns, rows[row].pause_ns);
            assert_int_equal(spans[i].duration_ns, rows[row].work_ns + pauses);
            /* It ends with work, not with a pause. */
            assert_true((end - 1) % rows[row].period_ns >= rows[row].pause_ns);
        }
        free(spans);
    }
}

static int by_duration(const void *a, const void *b)
{
    const rt_device_span *x = a, *y = b;
    return (x->duration_ns > y->duration_ns) - (x->duration_ns < y->duration_ns);
}

static bool same_durations(const rt_device_span *a, const rt_device_span *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i].duration_ns != b[i].duration_ns)
            return false;
    return true;
}

static void jitter_is_log_normal_and_seeded(void **state)
{
    (void)state;
    enum { COUNT = 1001 };
    rt_device_span *spans = sim_spans(NONE "device_us=100 jitter=0.2 seed=5", COUNT);
    rt_device_span *again = sim_spans(NONE "device_us=100 jitter=0.2 seed=5", COUNT);
    rt_device_span *other = sim_spans(NONE "device_us=100 jitter=0.2 seed=6", COUNT);
    rt_device_span *host =
        sim_spans(NONE "device_us=100 jitter=0.2 seed=5 host_jitter=0.5 execute_us=5", COUNT);
    assert_true(same_durations(spans, again, COUNT));
    assert_false(same_durations(spans, other, COUNT));
    /* The host's disturbance draws elsewhere. */
    assert_true(same_durations(spans, host, COUNT));
    double sum = 0;
    for (int i = 0; i < COUNT; i++) {
        double x = log((double)spans[i].duration_ns / 100000);
        sum += x * x;
    }
    /* Four standard errors each: sigma / sqrt(2 n), and 1.25 sigma / sqrt(n). */
    double sigma = sqrt(sum / COUNT);
    assert_true(fabs(sigma - 0.2) < 4 * 0.2 / sqrt(2.0 * COUNT));
    qsort(spans, COUNT, sizeof *spans, by_duration);
    double median = log((double)spans[COUNT / 2].duration_ns / 100000);
    assert_true(fabs(median) < 4 * 1.25 * 0.2 / sqrt(COUNT));
    free(spans);
    free(again);
    free(other);
    free(host);
}

/* Each device draws for itself. */
static void devices_jitter_apart(void **state)
{
    (void)state;
    rt_client *client = sim_client(NONE "devices=2 device_us=100 jitter=0.2");
    rt_device_span *spans[2];
    for (size_t i = 0; i < 2; i++) {
        sim_adder a = sim_adder_on(client, i);
        rt_profiler *profiler = sim_profile_begin(client);
        sim_run(&a, 20);
        spans[i] = sim_profile_end(profiler, 20);
        sim_adder_drop(&a);
    }
    assert_false(same_durations(spans[0], spans[1], 20));
    free(spans[0]);
    free(spans[1]);
    rt_client_destroy(client);
}

static void host_jitter_changes_the_call(void **state)
{
    (void)state;
    sim_adder a = sim_adder_new(NONE "device_us=0 execute_us=1000 host_jitter=1 seed=1");
    double least = 1e18, most = 0;
    for (int i = 0; i < 60; i++) {
        uint64_t begin = bn_now_ns();
        rt_event_release(a.client, sim_submit(&a));
        double took = us_since(begin);
        least = took < least ? took : least;
        most = took > most ? took : most;
    }
    /* Of 60 draws with sigma 1, the chance that none is below 0.5 or none above 2 is
     * below 1e-6; the seed is fixed besides. */
    assert_true(!judges_times() || least < 700);
    assert_true(most > 2000);
    sim_adder_free(&a);
}

static void outliers_have_their_rate_and_factor(void **state)
{
    (void)state;
    enum { COUNT = 800 };
    size_t outliers = 0;
    rt_device_span *spans =
        sim_spans(NONE "device_us=50 outlier_rate=0.1 outlier_factor=12 seed=1", COUNT);
    for (int i = 0; i < COUNT; i++) {
        bool outlier = spans[i].duration_ns == 600000;
        assert_true(outlier || spans[i].duration_ns == 50000);
        outliers += outlier;
    }
    /* Four standard deviations of the binomial. */
    assert_true(fabs((double)outliers - 80) < 4 * sqrt(COUNT * 0.1 * 0.9));
    free(spans);
}

/* ---- disturbances of a process --------------------------------------------------------- */

/* Mean, standard deviation and correlation with the next one, of COUNT values. */
typedef struct moments {
    double mean, deviation, next;
} moments;

static moments moments_of(const double *x, size_t count)
{
    moments m = {0};
    double squares = 0, products = 0;
    for (size_t i = 0; i < count; i++)
        m.mean += x[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (x[i] - m.mean) * (x[i] - m.mean);
    for (size_t i = 0; i + 1 < count; i++)
        products += (x[i] - m.mean) * (x[i + 1] - m.mean);
    m.deviation = sqrt(squares / (double)(count - 1));
    m.next = products / squares;
    return m;
}

/* COUNT independent normal values of this DEVIATION: each figure within four standard errors. */
static void assert_normal(const double *x, size_t count, double deviation)
{
    const moments m = moments_of(x, count);
    const double n = (double)count;
    if (fabs(m.mean) > 4 * deviation / sqrt(n) ||
        fabs(m.deviation - deviation) > 4 * deviation / sqrt(2 * n) || fabs(m.next) > 4 / sqrt(n))
        fail_msg("mean %g, deviation %g, correlation %g of %zu values of deviation %g", m.mean,
                 m.deviation, m.next, count, deviation);
}

/* Logarithms of the factors on 100 us that process PROCESS has, one an execution. */
static void log_factors(const char *settings, int process, double *x, size_t count)
{
    char text[160];
    snprintf(text, sizeof text, NONE "device_us=100 process=%d %s", process, settings);
    rt_device_span *spans = sim_spans(text, count);
    for (size_t i = 0; i < count; i++)
        x[i] = log((double)spans[i].duration_ns / 100000);
    free(spans);
}

static void a_process_has_one_factor(void **state)
{
    (void)state;
    enum { PROCESSES = 300, COUNT = 3 };
    double first[PROCESSES], x[COUNT], again[COUNT];
    for (int i = 0; i < PROCESSES; i++) {
        log_factors("seed=5 process_sd=0.1", i, x, COUNT);
        for (int k = 1; k < COUNT; k++)
            assert_true(x[k] == x[0]);
        first[i] = x[0];
    }
    assert_normal(first, PROCESSES, 0.1);
    log_factors("seed=5 process_sd=0.1", 7, again, COUNT);
    assert_true(again[0] == first[7]);
    /* The same draw, ten times as large; to the nanosecond that a span is rounded to. */
    log_factors("seed=5 process_sd=1", 7, again, COUNT);
    assert_true(fabs(again[0] - 10 * first[7]) < 2e-4);
    log_factors("seed=6 process_sd=0.1", 7, again, COUNT);
    assert_true(again[0] != first[7]);
}

/* A share of the processes takes a multiple in all executions, and the others are as without. */
static void a_share_of_processes_is_slow(void **state)
{
    (void)state;
    enum { PROCESSES = 300, COUNT = 3 };
    double x[COUNT], usual[COUNT];
    int slow = 0;
    for (int i = 0; i < PROCESSES; i++) {
        log_factors("seed=5 process_sd=0.1 slow_rate=0.2 slow_factor=1.5", i, x, COUNT);
        log_factors("seed=5 process_sd=0.1", i, usual, COUNT);
        const bool is_slow = x[0] > usual[0] + 0.2;
        slow += is_slow;
        for (int k = 0; k < COUNT; k++)
            assert_true(fabs(x[k] - usual[k] - (is_slow ? log(1.5) : 0)) < 2e-5);
    }
    /* Four standard deviations of 6.9. */
    print_message("# %d of %d are slow\n", slow, PROCESSES);
    assert_true(slow > 32 && slow < 88);
    log_factors("seed=5 slow_rate=1 slow_factor=2", 3, x, COUNT);
    assert_true(fabs(x[0] - log(2)) < 1e-4);
}

/* All devices of a client, and all executables. */
static void devices_share_the_factor_of_their_process(void **state)
{
    (void)state;
    rt_client *client = sim_client(NONE "devices=2 process_sd=0.3 stated=jit_add:100 seed=3");
    rt_device_span *spans[2];
    for (size_t i = 0; i < 2; i++) {
        sim_adder a = sim_adder_on(client, i);
        rt_profiler *profiler = sim_profile_begin(client);
        sim_run(&a, 1);
        spans[i] = sim_profile_end(profiler, 1);
        sim_adder_drop(&a);
    }
    assert_true(same_durations(spans[0], spans[1], 1));
    assert_int_not_equal(spans[0]->duration_ns, 100000);
    free(spans[0]);
    free(spans[1]);
    rt_client_destroy(client);
}

static void processes_draw_apart(void **state)
{
    (void)state;
    static const char *const rows[] = {"jitter=0.2", "wander_sd=0.2", "process_sd=0.2",
                                       "burst_rate=2000 burst_us=10"};
    enum { COUNT = 40 };
    double x[COUNT], other[COUNT];
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        char settings[96];
        snprintf(settings, sizeof settings, "%s seed=9", rows[row]);
        log_factors(settings, 1, x, COUNT);
        log_factors(settings, 1, other, COUNT);
        assert_memory_equal(x, other, sizeof x);
        log_factors(settings, 2, other, COUNT);
        assert_memory_not_equal(x, other, sizeof x);
        /* No seed: no two clients are alike. */
        log_factors(rows[row], 1, x, COUNT);
        log_factors(rows[row], 1, other, COUNT);
        assert_memory_not_equal(x, other, sizeof x);
    }
}

static void wandering_forgets_at_its_rate(void **state)
{
    (void)state;
    enum { COUNT = 3000, PROCESSES = 200 };
    static double x[COUNT], fresh[COUNT];
    const double kept = exp(-1 / 20.0);
    log_factors("seed=2 wander_sd=0.1 wander_executions=20", 0, x, COUNT);
    /* The innovations of the AR(1) process are independent. */
    for (size_t i = 1; i < COUNT; i++)
        fresh[i] = x[i] - kept * x[i - 1];
    assert_normal(fresh + 1, COUNT - 1, 0.1 * sqrt(1 - kept * kept));
    /* The first value varies as all others do: nothing has to settle. */
    for (int i = 0; i < PROCESSES; i++)
        log_factors("seed=2 wander_sd=0.1 wander_executions=20", i, &fresh[i], 1);
    assert_normal(fresh, PROCESSES, 0.1);
    /* It is added to the jitter, whose draws it leaves unchanged. */
    log_factors("seed=2 jitter=0.1", 0, fresh, COUNT);
    double both[20];
    log_factors("seed=2 jitter=0.1 wander_sd=0.1 wander_executions=20", 0, both, 20);
    for (size_t i = 0; i < 20; i++)
        assert_true(fabs(both[i] - x[i] - fresh[i]) < 4e-5);
}

/* Bursts are as many as the work has seconds times the rate, whoever does the work. */
static void bursts_meet_work_by_its_length(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        uint64_t work_ns;
        size_t count;
    } rows[] = {
        {NONE "device_us=50 burst_rate=1000 burst_us=70 seed=4", 50000, 3000},
        {NONE "device_us=300 burst_rate=1000 burst_us=70 seed=4", 300000, 500},
        {NONE "device_us=20000 burst_rate=1000 burst_us=70 seed=4", 20000000, 10},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        rt_device_span *spans = sim_spans(rows[row].settings, rows[row].count);
        const double expected = (double)rows[row].work_ns / 1e6;
        double sum = 0, squares = 0;
        for (size_t i = 0; i < rows[row].count; i++) {
            const uint64_t more = spans[i].duration_ns - rows[row].work_ns;
            assert_int_equal(more % 70000, 0);
            const double bursts = (double)(more / 70000);
            sum += bursts;
            squares += (bursts - expected) * (bursts - expected);
        }
        free(spans);
        /* Poisson: mean and variance are the expected number. Four standard errors each; the
         * variance of a squared deviation is expected (1 + 2 expected). */
        const double n = (double)rows[row].count;
        assert_true(fabs(sum - n * expected) < 4 * sqrt(n * expected));
        assert_true(fabs(squares - n * expected) < 4 * sqrt(n * expected * (1 + 2 * expected)));
    }
}

int main(void)
{
#define T(test) cmocka_unit_test_teardown(test, teardown)
    const struct CMUnitTest tests[] = {
        T(drift_grows_with_the_number_of_executions),
        T(interference_stretches_exactly),
        T(jitter_is_log_normal_and_seeded),
        T(devices_jitter_apart),
        T(host_jitter_changes_the_call),
        T(outliers_have_their_rate_and_factor),
        T(a_process_has_one_factor),
        T(a_share_of_processes_is_slow),
        T(devices_share_the_factor_of_their_process),
        T(processes_draw_apart),
        T(wandering_forgets_at_its_rate),
        T(bursts_meet_work_by_its_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
