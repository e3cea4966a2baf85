/*
 * complaints_fixture.h - asking the doctor of a recording that was played, and what it says.
 */
#ifndef BENCH_TESTS_COMPLAINTS_FIXTURE_H
#define BENCH_TESTS_COMPLAINTS_FIXTURE_H

#include "results/complaints/complaints.h"
#include "tests/results/recordings/recording_fixture.h"

typedef struct seen {
    char folder[300];
    rec_recording *recording;
    rec_steps *steps;
    rec_checkup checkup;
} seen;

static inline seen see(play *p)
{
    bn_status st = {0};
    seen s = {.recording = NULL};
    const rec_options options = {.device = -1};
    s.recording = play_open(p, s.folder, sizeof s.folder);
    assert_ok(rec_check_steps(s.recording, &options, &s.steps, &st), &st);
    assert_int_equal(st.code, BN_OK);
    assert_ok(rec_check(s.steps, &s.checkup, &st), &st);
    return s;
}

static inline void forget(seen *s)
{
    rec_checkup_free(&s->checkup);
    rec_steps_free(s->steps);
    rec_close(s->recording);
}

static inline void says(const seen *s, const char *text)
{
    bn_text out = {0};
    rec_checkup_put(&s->checkup, &out);
    if (!out.data || !strstr(out.data, text))
        fail_msg("'%s' is not in: %s", text, out.data ? out.data : "");
    bn_text_free(&out);
}

/* The complaint of RULE, which must be one of COUNT. */
static inline const rec_finding *complaint(const seen *s, rec_rule rule, size_t count)
{
    bn_text out = {0};
    rec_checkup_put(&s->checkup, &out);
    if (s->checkup.count != count)
        fail_msg("%zu complaints, not %zu: %s", s->checkup.count, count, out.data);
    for (size_t i = 0; i < s->checkup.count; i++)
        if (s->checkup.list[i].rule == rule) {
            bn_text_free(&out);
            return &s->checkup.list[i];
        }
    fail_msg("no complaint of %s: %s", rec_rule_name(rule), out.data);
    return NULL;
}

static inline void costs(const rec_finding *c, double ns, double within)
{
    if (fabs(c->cost_ns.estimate - ns) > within)
        fail_msg("%s: %.0f ns, not %.0f", rec_rule_name(c->rule), c->cost_ns.estimate, ns);
    assert_true(!(c->cost_ns.low > c->cost_ns.estimate));
    assert_true(!(c->cost_ns.high < c->cost_ns.estimate));
}

#endif
