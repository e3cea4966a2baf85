/*
 * measure_priv.h - experiments that are measured together in one process: warm-up, rounds with
 * probes, the figures of executions, and the record of each.
 *
 *   measure.c      the job, and the records        warmup.c       until steps are steady
 *   rounds.c       modes in turns                  monitor.c      interference during rounds
 *   device_time.c  probes and their estimates      device_profile.c  the plugin's profiler
 *   phases.c       phases of the process           timeline.c     the timeline, for a file
 */
#ifndef BENCH_HARNESS_WORKER_MEASURE_PRIV_H
#define BENCH_HARNESS_WORKER_MEASURE_PRIV_H

#include <gsl/gsl_rng.h>

#include "harness/worker/worker.h"

/* One of the experiments of this process. */
typedef struct worker_member {
    job_experiment e;
    worker_session s;
    res_record *record;
    bn_status failure; /* BN_OK so far; else it is measured no further */
    uint64_t *warm_ns; /* [e.warmup] */
    size_t warm;       /* warm-up steps that ran */
    double step_ns;    /* of a warm call of the step function, estimated */
    uint64_t preparation_ns;        /* making model, weights and inputs */
    uint64_t warmup_ns, compile_ns; /* the warm-up; its compile calls and loads */
    uint64_t lower_ns;              /* lowering in the warm-up */
    /* Time of the process for this experiment, in this order. */
    uint64_t opening_ns;          /* preparation and warm-up, also one that failed */
    uint64_t turns_ns, finish_ns; /* rounds; executions after them, and the record */
    uint64_t end_ns;              /* releasing all but the client */
    /* The plan: kept steps a round, and in how many rounds executions are probed how deep. */
    size_t steps, probe_rounds;
    unsigned depth;
    const char *no_probes_why; /* static; NULL: there are probes */
    bool probes_queue;         /* also queued probes, since no profiler gives the device time */
    bool probed;               /* just now: the next step runs with cold caches */
    size_t most_fill_steps;    /* with several steps in flight: unkept steps of a turn, at most */
    uint64_t spent_ns;         /* in kept steps */
    json_t *losses; /* of each step of a program of several; NULL: one step, or unknown */
    int64_t *programs_made;    /* [kept step]: as worker_programs_made; allocated with the plan */
    /* Room for probes that rounds.c fills: [row * probe_rounds + i], PROBE_COUNT of each row. */
    res_probe *probes;
    size_t probe_rows, probe_count;
    bn_timeline *timeline; /* NULL: none */
    bool noted;            /* the step in hand goes into it */
} worker_member;

/* Core time of other programs during turns (monitor.c). */
typedef struct worker_others {
    double used_ns, of_ns; /* of all cores together */
} worker_others;

/* All of them. They share plugin, client and pinning with the first. */
typedef struct worker_group {
    worker_member *members;
    size_t count;
    const json_t *about;  /* the request's "group", for the records; or NULL */
    gsl_rng *rng;         /* of orders and places */
    cores_places *places; /* of the host thread, while there are rounds; NULL: there is no choice */
    cores_nearness near;  /* of the cores, while there are rounds */
    worker_others others;
    uint64_t startup_ns; /* loading the plugin and making the client */
    uint64_t rounds_ns;  /* rounds and probes */
    uint64_t awaited_ns; /* waiting while another process had its turns */
    /* Moments, as bn_now_ns: the process started; plugin and client were ready. */
    uint64_t process_begin_ns, ready_ns;
    bool apart;          /* the cores were apart all the time in the process before */
    bool turns;          /* each round waits for a turn: another process measures in between */
} worker_group;

/* How many steps one call of M's step function runs. Times of a sample are divided by it where they
 * enter the record (rounds.c); all plans are of calls. */
static inline uint64_t worker_steps_a_call(const worker_member *m)
{
    return res_is_looped(&m->e.what) ? (uint64_t)m->e.what.steps_per_execution : 1;
}

/* ---- warm-up (warmup.c) ------------------------------------------------------------- */

/* The size of the windows of M's mode, and how it was chosen in the warm-up (new reference); NULL: the
 * mode has none. */
json_t *worker_window_to_json(const worker_member *m);
/* Runs M's steps until they are steady, at most its experiment's warmup, and drains the mode.
 * Fills WARM_NS, WARM, STEP_NS, WARMUP_NS and COMPILE_NS, and the record's member "warmup". */
BN_MUST_USE bn_code worker_warm_up(worker_member *m, bn_status *st);
/* The number of programs that the steps of S compiled, loaded or captured so far. */
int64_t worker_programs_made(const worker_session *s);

/* ---- rounds (rounds.c) --------------------------------------------------------------- */

/* Plans rounds for all members without a failure, and runs them. A member that fails has its
 * FAILURE set, releases its model and is left out of later rounds. Fails itself only where no
 * member can go on. */
BN_MUST_USE bn_code worker_run_rounds(worker_group *g, bn_status *st);
/* {"compiles": [[17, 1], ...]}: M's kept steps that made programs, and how many (new reference). */
json_t *worker_programs_json(const worker_member *m);
/* worker_await_turn, added to G's AWAITED_NS. */
BN_MUST_USE bn_code worker_await_own_turn(worker_group *g, bn_status *st);
/* Rounds, and steps a round, of members whose warm steps take STEP_NS[i], to run at least LEAST
 * steps and SECONDS each: fills STEPS[i], returns the rounds. Pure. */
size_t worker_plan_rounds(const double *step_ns, size_t count, double seconds, int64_t least,
                          size_t *steps);

/* ---- probes (device_time.c) ----------------------------------------------------------- */

/* Plans M's probes over ROUNDS rounds, and makes room. LONGEST_NS is the longest warm step of all
 * members: where it is over a second, the noise of a step hides the cost of executions, so that the
 * twelve steps of its probes would take minutes for no result. They are then made on demand only.
 */
BN_MUST_USE bn_code worker_plan_probes(worker_member *m, size_t rounds, double longest_ns,
                                       bn_status *st);
/* Probes M's executions once, awaited and queued in an order that RNG draws. Its mode must be
 * drained. */
BN_MUST_USE bn_code worker_probe(worker_member *m, size_t round, gsl_rng *rng, bn_status *st);
/* Fills the record's executions from the probes, the profiler, or probes that are made now. The
 * variables' contents are undefined afterwards. */
BN_MUST_USE bn_code worker_finish_executions(worker_member *m, gsl_rng *rng, bn_status *st);

/* ---- the timeline (timeline.c) ---------------------------------------------------------- */

/* Where M's experiment has a folder for it: makes M's timeline, and its file, as member INDEX of
 * the process of GROUP, the request's. The file is also written where SIGTERM or a crash ends this
 * process. */
BN_MUST_USE bn_code worker_timeline_begin(worker_member *m, size_t index, const json_t *group,
                                          bn_status *st);
/* Before and after a step of M, which has a timeline: notes it, if it is to be shown. */
void worker_timeline_before(worker_member *m, bn_step_kind kind, uint64_t number);
void worker_timeline_after(worker_member *m, uint64_t begin_ns, uint64_t end_ns);
/* After the rounds: a few further steps under the plugin's profiler, with their executions on our
 * clock. Where that is not possible, the timeline says why. */
void worker_timeline_profile(worker_member *m);
/* After the plugin's last span. Does nothing where there is no timeline. */
BN_MUST_USE bn_code worker_timeline_write(worker_member *m, bn_status *st);

/* A span NAME of M's timeline, until the matching end. */
static inline void worker_annotate(worker_member *m, const char *name)
{
    if (m->timeline)
        bn_timeline_open(m->timeline, BN_SPAN_ANNOTATION, name);
}

static inline void worker_annotate_end(worker_member *m)
{
    if (m->timeline)
        bn_timeline_close(m->timeline, BN_SPAN_ANNOTATION);
}

/* ---- phases (phases.c) ------------------------------------------------------------------ */

/* Puts the phases of the process into the record of each member without a failure:
 * provenance.phases, see results/records/records.h. All members are released by then. */
void worker_put_phases(const worker_group *g);

/* ---- where a step is traced (tracing.c) ------------------------------------------------- */

/* A record's "tracing" (new reference): the scope with most of it, in eager mode with most ops.
 * NULL: the step reads values, which no trace alone has, or has no scopes. */
json_t *worker_tracing_to_json(const worker_session *s);

/* ---- the interference monitor (monitor.c) ----------------------------------------------- */

typedef struct worker_moment {
    res_round row; /* counters in the columns of a round, RES_UNKNOWN where the system has none */
    double others_ns; /* core time of other programs, up to a constant; NAN: unknown */
} worker_moment;
void worker_monitor_read(worker_moment *now);
/* Puts the counters since BEFORE into ROUND, and adds to OTHERS. */
void worker_monitor_since(const worker_moment *before, res_round *round, worker_others *others);
/* For the records (new reference): provenance.others; NULL where it is unknown. */
json_t *worker_others_to_json(const worker_others *others);

#endif
