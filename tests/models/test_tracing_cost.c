/*
 * test_tracing_cost.c - what keeping places, or the time of scopes, adds to the tracing of a step.
 * Judged in make check-full only.
 */
#include "runtime/graph/scopes.h"
#include "tests/models/model_fixture.h"
#include "tests/support/live.h"
#include "tests/support/sanitized.h"

#include <time.h>

#define ROUNDS     150
/* Brief interference by other processes may slow the traces of one kind. The cost of the code
 * itself is in all attempts. */
#define ATTEMPTS   20
#define PAUSE_NS   100000000
/* Of a trace without either. Sanitizers change what each part of the code costs. */
#define MOST_RATIO (SANITIZED ? 2.0 : 1.2)

typedef enum kept { NOTHING, PLACES, TIMES, KINDS } kept;
static const char *const words[KINDS] = {"nothing", "places", "the time of scopes"};

/* Processor time in ns: other programs count little. */
static double trace_ns(tg_trace *t, model *m)
{
    struct timespec before, after;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    tg_trace_begin(t);
    model_step(t, m);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    return 1e9 * (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec);
}

/* T begins to keep KIND, or stops. */
static void keep(tg_trace *t, kept kind, bool on)
{
    if (kind == PLACES)
        tg_trace_keep_places(t, on);
    if (kind == TIMES)
        tg_trace_time_scopes(t, on);
}

/* LEAST becomes the shortest of many traces of each kind and of itself. They take turns on one
 * trace: where its memory lies favours none. */
static void shortest_of(model *m, double least[KINDS])
{
    tg_trace *t = tg_trace_new();
    assert_non_null(t);
    for (int i = 0; i < ROUNDS * KINDS; i++) {
        const kept kind = (kept)(i % KINDS);
        keep(t, kind, true);
        const double ns = trace_ns(t, m);
        keep(t, kind, false);
        if (i >= 3 * KINDS && ns < least[kind])
            least[kind] = ns;
    }
    tg_trace_free(t);
}

/* The longest kind over nothing. */
static double most_ratio(const double least[KINDS])
{
    const double most = least[PLACES] > least[TIMES] ? least[PLACES] : least[TIMES];
    return most / least[NOTHING];
}

static void tracing_costs_little_more(void **state)
{
    (void)state;
    static const char *const models[] = {"resnet50", "bert"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        model *m = make_model(models[i], (model_options){.train = true, .small = true});
        double least[KINDS] = {1e18, 1e18, 1e18};
        shortest_of(m, least);
        for (int more = 1; judges_times() && more < ATTEMPTS && most_ratio(least) >= MOST_RATIO;
             more++) {
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
            shortest_of(m, least);
        }
        for (int kind = PLACES; kind < KINDS; kind++) {
            const double ratio = least[kind] / least[NOTHING];
            print_message("%s: with %s %.3f of %.1f us\n", models[i], words[kind], ratio,
                          least[NOTHING] / 1e3);
            if (judges_times() && ratio >= MOST_RATIO)
                fail_msg("%s: keeping %s makes a trace %.2f times as long", models[i], words[kind],
                         ratio);
        }
        model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tracing_costs_little_more)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
