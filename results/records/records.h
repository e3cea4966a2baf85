/*
 * records.h - records of experiments: what they hold, their identity, the store of files that
 * keeps them, its index, and results of others read as records.
 *
 * One experiment is one immutable HDF5 file; a store is a folder of them. Nothing here
 * measures, prints or knows a plugin. Prefix res_.
 */
#ifndef BENCH_RESULTS_RECORDS_H
#define BENCH_RESULTS_RECORDS_H

#include <jansson.h>

#include "results/records/axes.h"
#include "results/stats/stats.h"
#include "runtime/base/base.h"

/* Schema versions of record files. Records with rounds have the latest. Others get the oldest
 * version that has all axes with unusual values, so that older programs read the records that
 * they understand and refuse those that they would misread. */
#define RES_SCHEMA_VERSION 5
#define RES_SCHEMA_AXES    4
#define RES_SCHEMA_OLDER   3

/* Findings of the explanation that a record keeps. */
#define RES_MOST_WHY      32
/* Ops that the host computes, of a record. */
#define RES_MOST_HOST_OPS 16
/* Numbers of buckets whose padding a record has. */
#define RES_MOST_BUCKETINGS 64
/* Measured steps that made programs, of a record. */
#define RES_MOST_COMPILES 10000

/* An unknown figure of a round or a probe. */
#define RES_UNKNOWN UINT64_MAX

/* A round: steps of one experiment in a row, between those of the others that are measured
 * with it in the same process. The columns of the table in files. */
#define RES_ROUND_COLUMNS(X)                                                                       \
    X(steps)      /* that are kept; one before them is not */                                      \
    X(position)   /* among the experiments of this round, from 0 */                                \
    X(wall_ns)    /* from the first of them, the one that is not kept, to the end of the probes    \
                     after the last; in records of older versions, of the last */                  \
    X(switches)   /* times that the process lost its core to another one meanwhile */              \
    X(stalled_ns) /* in which some task of the machine waited for a core */                        \
    X(stolen_ns)  /* that a hypervisor gave to others, summed over the cores */
typedef struct res_round {
#define X(name) uint64_t name;
    RES_ROUND_COLUMNS(X)
#undef X
} res_round;

/*
 * A probe: in round ROUND an execution ran DEPTH times, each awaited before the next was submitted
 * (AWAITED_NS in all), and DEPTH times submitted one behind the other and awaited at the end
 * (QUEUED_NS, 0 where a profiler makes that needless). FIRST_NS is of the first DEPTH / 2 of those
 * awaited: against the second half it is a null test. SUBMIT_NS was spent submitting the queue. A
 * graph that a step executes several times counts the mean of its executions.
 */
#define RES_PROBE_COLUMNS(X) X(round) X(depth) X(awaited_ns) X(first_ns) X(queued_ns) X(submit_ns)
typedef struct res_probe {
#define X(name) uint64_t name;
    RES_PROBE_COLUMNS(X)
#undef X
} res_probe;

/* One graph (executable) of the step. In eager mode one
 * row stands for all executions of one op in a step. */
typedef struct res_execution {
    char graph[RES_TEXT]; /* "step", "forward", ... or the op's name */
    int per_step;         /* executions of it in one sample, of STEPS steps (res_execution_times) */
    int steps;            /* 0: 1 */
    int arguments, results;
    int64_t nodes;
    char fingerprint[33]; /* structural hash, hex */
    int64_t text_bytes;
    uint64_t lower_ns, compile_ns; /* of its first compile; 0 when loaded from disk */
    bool from_disk;
    double flops, bytes; /* by our op table, per execution */
    int64_t argument_bytes, result_bytes, temp_bytes, code_bytes; /* compiler's; -1 unknown */
    int64_t peak_bytes;      /* compiler's, of memory at a time; -1 unknown */
    int64_t host_temp_bytes; /* compiler's, of temporaries in the host's memory; -1 unknown */
    int64_t offload_bytes;   /* stacks that the program asks into the host's memory */
    int64_t handed_on;  /* arguments that graphs before it put out, in automatic layouts; else 0 */
    int64_t rearranged; /* of them, those that the compiler did not lay out by rows */
    double compiler_flops, compiler_bytes; /* by the compiler's cost analysis; NaN unknown */
    /* Digest and size of the program that the compiler made of the text, and the plugin's
     * own fingerprint; "" and -1 where the plugin does not report them. */
    char optimized[33];
    int64_t optimized_bytes, optimized_instructions;
    char plugin_fingerprint[RES_TEXT];
    /* Raw samples, one execution each, submit to ready, each execution awaited
     * alone (serial). */
    uint64_t *pjrt_ns;
    size_t pjrt_count;
    res_probe *probes; /* in order of rounds; NULL: none */
    size_t probe_count;
    /* Device time of one execution; NaN when the source is unavailable. */
    double device_ns, device_low_ns, device_high_ns; /* estimate and its 95 % interval */
    /* PJRT time minus device time of the same execution, where the source has the
     * device time of each; NaN else (res_execution_overhead then takes the difference). */
    double overhead_ns, overhead_low_ns, overhead_high_ns;
    bn_device_time_source device_source;
    char device_note[128]; /* why it is unavailable or limited, else "" */
} res_execution;

/* EXPERIMENT's value of AXIS, as JSON has it (new reference). */
json_t *res_axis_to_json(const res_axis *axis, const res_experiment *experiment);
/* {"model": "resnet50", ...} (new reference), and back: members that JSON lacks, but for
 * later axes, or that do not fit are BN_FORMAT. */
json_t *res_experiment_to_json(const res_experiment *experiment);
BN_MUST_USE bn_code res_experiment_from_json(const json_t *json, res_experiment *experiment,
                                             bn_status *st);

typedef struct res_record {
    res_experiment experiment;
    char id[RES_TEXT]; /* unique: UTC time, host, process, a counter */
    /* When the file that it was read from was last written or changed, since 1970. 0: from none. */
    int64_t written_ns;
    bn_code status;     /* BN_OK, or the class of the failure */
    char message[1024]; /* of the failure */
    bool simulated;     /* the device is: its times are modelled */
    /* "computed"; "none": a simulated device computed none, results are zeros; "opaque": nor could
     * it read all programs, and took what was stated of them. */
    char values[16];
    /* Samples: STEP_COUNT rows of BN_PART_COUNT parts and the wall time, of one step each. Where a
     * program runs K steps (--steps-per-execution), a sample is the mean step of one execution: the
     * worker has divided its times by K, and nobody divides them again. Counters of steps count
     * each step; warm-up samples are alike. */
    size_t step_count;
    uint64_t *wall_ns; /* [step] */
    uint64_t *part_ns; /* [step][BN_PART_COUNT] */
    /* How the steps, in their order, lie in rounds. 0: they ran one after the other, with nothing
     * between them, and ROUNDS is NULL. Else the rounds' steps add up to STEP_COUNT. */
    size_t round_count;
    res_round *rounds;
    /* Steps before the measured ones, with compiles; wall time only. */
    size_t warmup_count;
    uint64_t *warmup_wall_ns;
    bool warmup_stationary; /* false: the limit ended the warm-up */
    res_execution *executions;
    size_t execution_count;
    int64_t counters[BN_COUNTER_COUNT];      /* over the whole experiment */
    int64_t step_counters[BN_COUNTER_COUNT]; /* over the measured steps */
    double loss; /* of the last step of the first round, or of all; NaN: there is none */
    /* Everything else: plugin path, sha256, API and platform version,
     * attributes, label; host topology, governor, kernel; options; build.
     * A JSON object, owned by the record. provenance.def has all members that bench reads, among
     * them "runtime" (records of two builds are not compared), "host", "suite": {"repetition"},
     * "group" (res_group_id), and "front_end" of a framework that bench ran: {"versions",
     * "script_sha256", "nodes_per_step": number or null, ...}. "phases" says what the process did
     * when (res_record_phases), "explanation" the source locations of what costs time in steps
     * (res_why of doctor/doctor.h): at most RES_MOST_WHY findings; "host_ops"
     * which ops the host computed, and how often: at most RES_MOST_HOST_OPS names; "measured" which
     * of the steps made programs, and how many: {"compiles": [[step, programs], ...]}, the first
     * RES_MOST_COMPILES of them. */
    json_t *provenance;
} res_record;

/*
 * The one check of a record that may be foreign; readers of files and imports call it. Ids, digests
 * and numbers that are out of their range are BN_FORMAT, as are rounds that do not have each step
 * once, an explanation of other kinds, and a provenance deeper than BN_JSON_DEPTH. Texts become
 * plain (bn_plain): those of the experiment and of executions, the message, and those of the
 * provenance that programs print (check.c lists them), which are cut, too. A loss that is infinite
 * becomes unknown.
 */
BN_MUST_USE bn_code res_record_check(res_record *record, bn_status *st);
/* res_record_check of an experiment alone. */
BN_MUST_USE bn_code res_experiment_check(res_experiment *experiment, bn_status *st);

/* Empty record with NaN figures, an id, and later axes at their usual values. */
res_record *res_record_new(void);
void res_record_free(res_record *record); /* NULL allowed */
/* Room for samples, all zero; BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code res_record_reserve_steps(res_record *record, size_t steps, size_t warmups,
                                             bn_status *st);
/* Room for rounds, all zero, in a record without rounds; BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code res_record_reserve_rounds(res_record *record, size_t rounds, bn_status *st);
/* Room for probes of one execution, all zero; BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code res_execution_reserve_probes(res_execution *execution, size_t probes,
                                                 bn_status *st);
/* Executions start all zero, but with device times NaN and the compiler's sizes
 * unknown; the caller fills PJRT_NS with a malloc block that the record owns. */
BN_MUST_USE bn_code res_record_reserve_executions(res_record *record, size_t executions,
                                                  bn_status *st);

/* ---- figures of one record (measures.c) ------------------------------------ */

/*
 * Whether stacks that RECORD's programs ask into the host's memory (--offload) went there, by the
 * compiler's memory statistics: "taken", "in part", "dropped", "untold" where the runtime states
 * none; "" where nothing was asked. A runtime that refuses them fails to compile. ASKED and FOUND
 * (NULL allowed) get the bytes asked, and those of temporaries there, -1 where unknown.
 */
const char *res_offload_word(const res_record *record, int64_t *asked, int64_t *found);
/* How many arguments RECORD's graphs take as earlier graphs of the step laid them out (--layouts
 * auto), and in *REARRANGED how many of them are not laid out by rows; 0: it passes none so.
 */
int64_t res_passed_in_layout(const res_record *record, int64_t *rearranged);
/* Whether RECORD is of a run that succeeded and has measured steps. */
bool res_record_good(const res_record *record);
/* Whether RECORD's device is simulated and computed the values of programs, on the host: their time
 * is then in overheads and wall times, and in no device time. */
bool res_computes_values(const res_record *record);

/* Fills SERIES (step_count values) with the sum of PARTS over each step. */
void res_part_series(const res_record *record, const bn_part *parts, size_t part_count,
                     uint64_t *series);
/* False where nothing but the wall time is known: all of each step is in "other". */
bool res_has_ledger(const res_record *record);

/* Median PJRT time of one execution, NaN without samples. */
double res_execution_pjrt_ns(const res_execution *execution);
/* An execution's PJRT time minus device time; NaN when either is unknown. The interval is of this
 * one process's rounds; records that only have both times have none. */
res_interval res_execution_overhead(const res_execution *execution);
/* How often X runs in one step: below 1 where a program runs several steps. */
double res_execution_times(const res_execution *execution);
/* That (new reference), an integer where it is whole. */
json_t *res_execution_times_json(const res_execution *execution);
/* How many steps each sample of RECORD is the mean of. */
double res_steps_a_sample(const res_record *record);
/* Device time of a step: the sum over its executions, NaN when one of them is unknown. */
double res_step_device_ns(const res_record *record);

/* ---- probes of an execution (probes.c) --------------------------------------- */

/* Figures of one execution in one process, ns, with 95 % intervals over the rounds. */
typedef struct res_probe_estimate {
    res_interval overhead; /* median of (awaited - queued) / (depth - 1) */
    res_interval device;   /* LONE_NS minus overhead */
    double lone_ns;        /* awaited alone: median of awaited / depth */
    /* The null test: by how much of the lone time the second half of those awaited took longer
     * than the first; 0.05 is 5 %. Both halves do the same, so this is 0 but for disturbance. */
    res_interval null;
    size_t rounds;     /* that count: both queued and awaited, of at least two executions */
    char refusal[128]; /* why DEVICE and OVERHEAD must not be shown, else "" */
} res_probe_estimate;

/*
 * Estimates of COUNT probes of one execution. Refused below 3 rounds (all figures are then NaN),
 * where the queue takes no longer than one execution, where the host submits too slowly to keep the
 * device busy, where the device time is above the lone time of the same rounds by more than its
 * interval, and where the median of the null test is off zero by more than 5 %, significant at 5 %
 * by a sign test over the rounds. Same input, same answer.
 */
res_probe_estimate res_probes_estimate(const res_probe *probes, size_t count);
/* The null test's estimate alone; NaN below 3 rounds. */
double res_probes_null(const res_probe *probes, size_t count);

/* ---- figures of tables, of one record ------------------------------------------ */

/* Fills MEDIANS (round_count values) with the median of each round of SERIES (step_count values);
 * NaN for a round that kept no step. Returns round_count. */
size_t res_round_medians(const res_record *record, const uint64_t *series, double *medians);
/* Fills MEANS (round_count values) with the trimmed mean (res_trimmed_mean) of the wall times of
 * each round; NaN for a round that kept no step. Ratios are of these: short steps have several
 * lengths, by how threads are woken, and a median jumps from one to the next. */
void res_round_means(const res_record *record, double *means);
/* Shorter steps vary little within a process and much between processes, so that more and shorter
 * processes detect smaller differences in the same time. */
#define RES_SHORT_STEP_NS 1e6
/* A process's figure of SERIES (step_count values): res_middle_mean of its rounds' medians, or the
 * median of all steps where it had no rounds. */
double res_step_median(const res_record *record, const uint64_t *series);
/* res_step_median of the sum of PARTS over each step. */
double res_part_median(const res_record *record, const bn_part *parts, size_t part_count);

/* Figures of one process. Unknown ones are NaN, and all of them are where res_record_good is false.
 * How far processes lie apart is known of several only: res_pool_make. */
typedef struct res_measures {
    double nodes_per_step;
    double trace_ns;    /* trace, hash and lookup of a step, median */
    double overhead_ns; /* of an execution, mean over those of a step */
    double device_ns;   /* of a step */
    double executions;  /* a step */
    double compile_ns;  /* lowering and compile calls of all graphs; NaN: some came from disk */
    const char *source; /* of the device time; "mixed" where executions differ; static */
    double wall_ns;     /* median step */
} res_measures;
res_measures res_record_measures(const res_record *record);
/* COUNTER in one of the measured steps. Where a sample is of several steps, as those of a recording
 * that runs ahead, the record says how many there were. */
double res_counter_a_step(const res_record *record, bn_counter counter);

/* ---- members of the provenance (provenance_members.c) ------------------------ */

typedef enum res_provenance_id {
#define PROVENANCE(id, ...) RES_PROV_##id,
#include "results/records/provenance.def"
    RES_PROV_COUNT
} res_provenance_id;

typedef enum res_provenance_kind {
    RES_PROV_KIND_ANY,
    RES_PROV_KIND_TEXT,
    RES_PROV_KIND_DIGEST,
    RES_PROV_KIND_INTEGER,
    RES_PROV_KIND_NUMBER
} res_provenance_kind;

typedef struct res_provenance_row {
    const char *path; /* names with dots between */
    res_provenance_kind kind;
    size_t most; /* bytes that are kept of a text; 0: it stays as it is */
} res_provenance_row;
extern const res_provenance_row res_provenance_rows[RES_PROV_COUNT];

/* RECORD's MEMBER (borrowed), NULL where it has none; as text, "" unless it is one; as integer,
 * UNKNOWN unless it is one; as number, NaN unless it is one. */
json_t *res_provenance(const res_record *record, res_provenance_id member);
const char *res_provenance_text(const res_record *record, res_provenance_id member);
int64_t res_provenance_integer(const res_record *record, res_provenance_id member, int64_t unknown);
double res_provenance_number(const res_record *record, res_provenance_id member);
/* Sets MEMBER, whose section is there, to VALUE (stolen); NULL: it stays as it is. */
void res_provenance_set(res_record *record, res_provenance_id member, json_t *value);

/* ---- calibration (calibration.c) ---------------------------------------------------------- */

/* The folder of a store that has the runs of bench calibrate, and their records. */
#define RES_CALIBRATION_FOLDER "calibration"
/* Runs that are planned, and the fewest that are worth using: 5 % are detected in 73 of 100
 * simulated tables of 34 ratios after 20 runs, in 21 after 5 (drift 1 %, 8 processes). */
#define RES_CALIBRATION_RUNS   12
#define RES_CALIBRATION_FEWEST 8

/* One run: ratios of pairs of modes, each of several processes. */
/* The mean log ratio of two modes over the processes of a run, with its error. PAIR names both
 * modes and all that they ran; borrowed. */
typedef struct res_calibration_ratio {
    const char *pair;
    res_estimate log;
} res_calibration_ratio;
typedef struct res_calibration_run {
    double began_s;               /* Unix time */
    bool busy;                    /* by the interference monitor */
    const char *sha256, *machine; /* the runtime's file, and the name of the host; borrowed */
    const res_calibration_ratio *ratios; /* each of another pair; borrowed */
    size_t count;                        /* above 0 */
} res_calibration_run;
/* The runs of STORE (new reference), none where it has no calibration; for the functions below.
 * BN_FORMAT where its file is another, BN_IO. */
BN_MUST_USE bn_code res_calibration_read(const char *store, json_t **runs, bn_status *st);
/* Adds RUN to those of STORE, in place of one that began at the same time, and makes its
 * calibration folder. BN_INVALID without finite ratios and errors, else as reading and writing. */
BN_MUST_USE bn_code res_calibration_add(const char *store, const res_calibration_run *run,
                                        bn_status *st);
/* How many of RUNS are of this runtime and machine, busy or idle: the most that one pair has.
 * *DRIFT is theirs; none below RES_CALIBRATION_FEWEST. */
size_t res_calibration_drift(const json_t *runs, const char *sha256, const char *machine, bool busy,
                             res_run_drift *drift);
/* How many of RUNS, of this runtime and machine, busy or idle, began within RES_LEVEL_S of the one
 * before: tau over hours may be larger than they show. */
size_t res_calibration_near(const json_t *runs, const char *sha256, const char *machine, bool busy);
/* The member "calibration" of a record made in STORE now (new reference): {"runtime", "machine",
 * "idle": {"deviation", "runs"}, "busy": ...}. NULL: nothing is known of this runtime here. */
json_t *res_calibration_summary(const char *store, const char *sha256, const char *machine);

/* ---- the runtime that was measured (provenance.c) --------------------------------------- */

/* Puts variables of the environment whose text begins with one of PREFIXES ("LD_PRELOAD=",
 * "MALLOC_"; ended by NULL) into OBJECT by their names, but for empty ones. */
void res_environment_add(json_t *object, const char *const *prefixes);
/* Puts the variables into OBJECT that change the speed of a framework's steps, such as
 * JAX_ENABLE_X64 and OMP_NUM_THREADS. res_same_conditions compares them. */
void res_environment_add_framework(json_t *object);
/*
 * The group that RECORD was measured in, or "": experiments that a table sets side by side, in the
 * same processes. Records of one group and one process, counted from 1, shared that process, or,
 * where they could not, ran next to each other in processes of their own. Process 0, which is also
 * that of records without a group, has no partner: it ran at another time. From provenance.group:
 * {"id", "process", "processes", "members", "how": "interleaved" or "separate", "why" it is
 * separate}.
 */
const char *res_group_id(const res_record *record);
int res_group_process(const res_record *record);
/* Whether both were measured under like conditions: host, processor, cores, kernel, governor,
 * version of bench, pinning, options of the runtime, flags of the compiler, and the variables of
 * the environment that change what runs: XLA_FLAGS, LIBTPU_INIT_ARGS, MALLOC_..., GLIBC_TUNABLES
 * and LD_PRELOAD; of one framework also its versions, its script and the variables that it reads.
 * Members that both records lack are alike. Adds the words for those that differ to DIFFERING, a
 * text of SIZE bytes. */
bool res_same_conditions(const res_record *a, const res_record *b, char *differing, size_t size);
/* Digits that two records share where they are of one group, "" for none, or were measured under
 * like conditions: a summary keeps these. */
#define RES_MARK 17
void res_group_mark(const res_record *record, char out[RES_MARK]);
void res_conditions_mark(const res_record *record, char out[RES_MARK]);
/* The digits in such a mark of conditions that stand for the versions, script and variables of a
 * framework's record; "" where the mark is empty. In bench's own records they mean nothing. */
const char *res_mark_front_end(const char *conditions_mark);
/* Whether two labels are shown alike: a record's is plain, a user may ask for one of several lines.
 */
bool res_same_label(const char *a, const char *b);
/* SHA-256 of the plugin that a record is of, or "". */
const char *res_plugin_sha256(const res_record *record);
/* Identity of a runtime: name, path, sha256, versions, attributes, label, options (new
 * reference). */
json_t *res_runtime_identity(const res_record *record);

/* ---- phases of a process (provenance.c) ------------------------------------------------- */

/*
 * Phases of the record's process, in ns: provenance.phases. Of WALL, from its start until its
 * records were to be written, OTHERS was for other experiments in the same process. All below is of
 * this experiment alone; INITIALIZATION, and the time in none of them, was for all together.
 */
#define RES_PHASES(X)                                                                              \
    X(wall)                                                                                        \
    X(others)                                                                                      \
    X(initialization) /* until plugin and client stood */                                          \
    X(preparation)    /* model, weights, inputs */                                                 \
    X(compile)        /* lowering and compile calls, or loads, before the measured steps */        \
    X(warmup)         /* the rest of the steps before those */                                     \
    X(measuring)      /* all else that was for the measured steps, they included */
/* Phases of all measured steps of a recording, whose clocks show what the device waited for:
 * provenance.phases.steps. WALL is the sum of the others. DEVICE null (NaN here): device times
 * are unknown, and only WALL counts. */
#define RES_PHASES_OF_STEPS(X) X(wall) X(device) X(input) X(tracing) X(compile) X(overhead) X(idle)

typedef struct res_phases {
#define X(name) double name##_ns;
    RES_PHASES(X)
#undef X
    bool recorded; /* STEPS is known */
    struct {
#define X(name) double name##_ns;
        RES_PHASES_OF_STEPS(X)
#undef X
    } steps;
} res_phases;

/* False where RECORD has none, as those of older versions, or impossible ones: phases that are
 * negative, or more than the whole. */
bool res_record_phases(const res_record *record, res_phases *phases);

/* ---- JSON (json.c) -------------------------------------------------------- */

/* The documented JSON object (new reference): experiment, id, status, message (of
 * a failure), simulated, steps, warmup, rounds (where there are any), ledger {part:
 * {median_ns, p10_ns, p90_ns}}, executions, counters, step_counters, loss, provenance. What is
 * unknown is null; a seed beyond 63 bits is text. */
json_t *res_record_to_json(const res_record *record);

/* New references. Text that is not UTF-8 has its bad bytes replaced by '?';
 * NaN and infinities become null. */
json_t *res_json_text(const char *text);
json_t *res_json_real(double value);
/* Member NAME of OBJECT (borrowed); "" unless it is text. */
const char *res_json_get_text(const json_t *object, const char *name);
/* The LENGTH bytes of TEXT, JSON from outside (new reference). No member may be there twice, and
 * BN_JSON_DEPTH is a limit. BN_FORMAT says where it ends to be JSON. */
BN_MUST_USE bn_code res_json_parse(const char *text, size_t length, json_t **value, bn_status *st);

/* ---- identity (identity.c) -------------------------------------------- */

/*
 * Two experiments are the same when all members of res_experiment agree (with the
 * model's own batch, image, seq and the layout filled in), the runtime's file has the
 * same SHA-256, and they are the same repetition of a suite, counted from 1: then their
 * IDENTITY, the SHA-256 of "NAME=VALUE" lines of all these, is the same text. How
 * long and where something was measured (steps, min_time, warmup, pinning, host, label,
 * weights) is no part of it. Neither is a later axis that has its usual value, nor a plugin for
 * which res_plugin_unforeseen is true.
 */
#define RES_MOST_REPETITIONS 1000
void res_identity(const res_experiment *experiment, const char *runtime_sha256, int repetition,
                  char identity[BN_SHA256_TEXT]);
/* Whether a framework runs E's steps that has a plugin of its own for the runtime's name, not the
 * one that bench finds; and whether the file of that plugin is unknown before it has run: the
 * recorder is preloaded (harness/jobs/interposer.c). */
bool res_has_own_plugin(const res_experiment *e);
bool res_plugin_unforeseen(const res_experiment *e);
/* That of RECORD. False, with an empty text, where the record has none: it was not run
 * for a suite, or the runtime's SHA-256, which is part of it, is unknown. */
bool res_record_identity(const res_record *record, char identity[BN_SHA256_TEXT]);
/* Which repetition of a suite RECORD is, by its provenance {"suite": {"repetition": 1}};
 * 0: it was not run for a suite. */
int res_record_repetition(const res_record *record);

/* Whether A and B have the same values on all axes. */
bool res_same_experiment(const res_experiment *a, const res_experiment *b);
/* Whether A and B asked for the same, whatever the runtime and its settings. */
bool res_same_request(const res_experiment *a, const res_experiment *b);
/* res_same_request, but programs of --program are compared by name and not by text. */
bool res_same_request_by_name(const res_experiment *a, const res_experiment *b);
/* Below, above or 0: the order of series over time. A series is of experiments that differ in their
 * seed only; a runtime counts by the last part of its path. */
int res_series_order(const res_experiment *a, const res_experiment *b);

/* ---- store (store.c) --------------------------------------------------------- */

/* Readies HDF5 and GSL: HDF5 no longer prints, opens other files that a file names, or loads code
 * that a file asks for; GSL no longer aborts. Call once before the rest. */
void res_store_begin(void);

/*
 * Writes RECORD as a new file in folder STORE (made if missing): temporary
 * name, flush, rename. PATH, of PATH_SIZE bytes, gets the name; may be NULL.
 * A full disk is BN_IO and leaves no file. The id must be fit for a file name
 * and new to the store: files are never replaced (BN_INVALID).
 */
BN_MUST_USE bn_code res_store_write(const char *store, const res_record *record, char *path,
                                    size_t path_size, bn_status *st);
/* The source of a record, which may be read again: see res_store_take. */
typedef struct res_source {
    double from_s, to_s; /* between which its records are dated, by their ids */
    /* Whether STORED was made of the same as RECORD. */
    bool (*same)(const res_record *stored, const res_record *record);
    /* Whether STORED, of the same, has something that RECORD lacks. */
    bool (*richer)(const res_record *stored, const res_record *record);
} res_source;
typedef enum res_taken {
    RES_TAKEN_NEW,
    RES_TAKEN_KNOWN,  /* the store has a record with these contents, and is as it was */
    RES_TAKEN_INSTEAD /* of one with other contents, or of a damaged file */
} res_taken;
/*
 * Writes RECORD, which was made of SOURCE, into STORE (take.c): as res_store_write, but in place of
 * the records of the same source, that is with its id or, where SOURCE is not NULL, by its
 * functions. *TAKEN and PATH, which may be NULL, are the outcome. BN_CHANGED: the store's record
 * is richer, and stays; after that or another failure the store is as it was, or has both.
 */
BN_MUST_USE bn_code res_store_take(const char *store, const res_record *record,
                                   const res_source *source, char *path, size_t path_size,
                                   res_taken *taken, bn_status *st);
/* Reads one file, which may be foreign (vet.c): a child of this process reads its
 * bytes, since libhdf5 does not survive all damaged files, and passes on the record. A file that
 * is not a whole record of a schema we know is BN_FORMAT. Failures that may not be the file's are
 * BN_IO, since it may be read another time: also the end of the child, and more memory or time than
 * a record should take.
 * The child waits for more until res_store_vet_end, or the end of this process. */
BN_MUST_USE bn_code res_store_read_foreign(const char *path, res_record **record, bn_status *st);
void res_store_vet_end(void);

/* Why a file of a store was not taken for a record. */
typedef enum res_fault {
    RES_FAULT_UNREAD,  /* it could not be read this time, or not understood */
    RES_FAULT_DAMAGED, /* its bytes are not those that were written: the seal says so */
    RES_FAULT_STRANGE, /* it does not begin as a record does, or is no regular file */
    RES_FAULT_COPY,    /* it has the id of a record that counts */
    RES_FAULT_COUNT
} res_fault;
/* All records of a store in order of their ids. Damaged files do not hide the others: each is
 * reported in DAMAGED. Only damage that a file's own bytes prove is remembered in the store's
 * index, so that the file is tried once. A file with the id of another is reported, too: a record
 * counts once. */
typedef struct res_damaged {
    char *path;
    bn_status status;
    res_fault fault;
} res_damaged;
/* How many of the COUNT files of LIST may be unread records: all but copies, and files that neither
 * are records nor are called like one. */
size_t res_damaged_lost(const res_damaged *list, size_t count);
/* Names files of a list without end: whether ONE, of a list that was passed in its order, is to be
 * named. REPORTED, zero at first, counts. */
typedef struct res_reported {
    size_t count[RES_FAULT_COUNT];
} res_reported;
bool res_damaged_reported(res_reported *reported, const res_damaged *one);
/* "4997 more files are no records": the sentence on those that were not to be named; nothing where
 * all were. */
void res_put_unreported(const res_reported *reported, bn_text *out);
/* Records of one cell, mode and number of graphs that were not read, since they are of other builds
 * than the latest (res_latest_read). */
typedef struct res_unread {
    res_experiment experiment; /* of one of them */
    bool simulated;
    size_t good, failed;
} res_unread;
/* Records whose dates are wrong, and which were left out therefore (findings/dates.c). */
typedef struct res_misdates {
    size_t count;
    double first_s, last_s; /* the dates that they have */
} res_misdates;
typedef struct res_collection {
    res_record **records;
    size_t count;
    res_damaged *damaged;
    size_t damaged_count, damaged_room;
    res_unread *unread;
    size_t unread_count;
    res_misdates misdates;
} res_collection;
BN_MUST_USE bn_code res_store_load(const char *store, res_collection *all, bn_status *st);
void res_collection_free(res_collection *all);
/* Calls VISIT with records of STORE, for each of the COUNT experiments of LIST (number WHICH) the
 * latest first by their files' names, until it returns false for that one: those whose files have
 * its model, phase and mode in their names. At most MOST files of an experiment are opened; one
 * that cannot be read is passed over. The folder is listed once; an index is neither needed nor
 * made. The record is VISIT's for the call only. A store that is not there has none. */
typedef bool res_visit(void *context, size_t which, const res_record *record);
void res_store_visit_latest(const char *store, const res_experiment *list, size_t count,
                            size_t most, res_visit *visit, void *context);
/* BN_NOT_FOUND: FOLDER holds no records, but the stores a and b of a comparison's sides. To be
 * asked where it has no records of its own. */
BN_MUST_USE bn_code res_store_not_sides(const char *folder, bn_status *st);
/* Removes temporary files that process PID (our worker, which is dead) left. */
void res_store_sweep(const char *store, long pid);
/* Removes those that are a minute old and whose process on this machine is gone (bn_writer_gone):
 * programs that were killed could not sweep after their workers. */
void res_store_sweep_old(const char *store);

/* The kind of a file in a store's folder, by its NAME alone. */
typedef enum res_store_file {
    RES_STORE_OTHER,
    RES_STORE_RECORD,
    RES_STORE_TEMPORARY, /* of a process that is writing a record, or died doing so */
    RES_STORE_INDEX
} res_store_file;
res_store_file res_store_file_of(const char *name);

/* Seconds since 1970, UTC, at which the record of this ID, or in a file of this name, was made;
 * NaN where the text does not begin with a time. */
double res_id_time(const char *id);
/* Below, above or 0: the order of time of two ids. Those without a time come first. */
int res_id_order(const char *a, const char *b);

/* ---- fields (record.c) ------------------------------------------------- */

/* Ends with a row whose NAME is NULL. */
extern const res_field res_execution_fields[];

/* The device time source called NAME; BN_DEVICE_TIME_SOURCE_COUNT for none. */
bn_device_time_source res_source_from_name(const char *name);
/* NAME as res_measures has it in "source": static, or NULL where it is none. */
const char *res_measures_source(const char *name);

/* ---- index of a store (index.c) ----------------------------------------- */

/* Where a record comes from; "" is unknown. Long texts are cut. */
typedef struct res_origin {
    char sha256[BN_SHA256_TEXT]; /* of the plugin */
    char label[RES_TEXT];        /* as given: a commit, say */
    char version[RES_TEXT];      /* of the platform, as the plugin says */
    char host[RES_TEXT];
} res_origin;

/* A record for tables over time, without its samples. Times in ns. */
typedef struct res_summary {
    const char *file; /* in the store's folder */
    int64_t size, mtime_ns;
    int64_t written_ns; /* the later of the times at which the file's contents and anything of it
                           were last changed; not in the index */
    char id[RES_TEXT];
    size_t experiment; /* index into res_index.experiments */
    const res_origin *origin;
    bn_code status;
    bool simulated;
    int64_t steps;
    int repetition; /* res_record_repetition */
    /* Figures of one process, as of res_record_measures; NaN: unknown. */
    double wall_ns, trace_ns, device_ns;
    double overhead_ns;                         /* of an execution */
    double compile_ns;                          /* of all graphs */
    const char *source;                         /* of the device time; static */
    char group[RES_MARK], conditions[RES_MARK]; /* res_group_mark, res_conditions_mark */
} res_summary;

/* res_record_good of the summary's record. */
bool res_summary_good(const res_summary *summary);

typedef struct res_index {
    res_summary *records; /* in order of file names, which is that of ids */
    size_t count;
    const res_experiment **experiments; /* each once */
    size_t experiment_count;
    res_damaged *damaged; /* files that were not taken for records */
    size_t damaged_count;
    size_t read;       /* files that were read: new, changed, or such as may be read another time */
    bn_status unsaved; /* why the index could not be written; BN_OK: it is up to date */
    bn_arena *memory;  /* of all that is pointed to */
} res_index;

typedef struct res_index_options {
    bool rebuild; /* read every file again, whatever the index says */
    /* Called now and then while files are read, in the thread of res_index_load: DONE of OF files
     * are done with. It must not call the index or the store. NULL: no call. */
    void (*progress)(void *context, size_t done, size_t of);
    void *context;
} res_index_options;

/*
 * Summaries of all records of STORE. The folder's index is brought up to date on the way:
 * files whose name, size and time of change it knows are not opened, those whose bytes proved their
 * damage are reported as they were then, others are read, those that are gone drop out. An index
 * that is missing, damaged or of another version is made anew from the files; nothing is in it
 * alone. Two programs that write it at once may lose lines, which come back at the next call. A
 * store that cannot be written is no error. OPTIONS may be NULL. BN_NOT_FOUND, BN_IO,
 * BN_OUT_OF_MEMORY (of a record's bytes).
 */
BN_MUST_USE bn_code res_index_load(const char *store, const res_index_options *options,
                                   res_index *index, bn_status *st);
void res_index_free(res_index *index);
/* res_record_identity of the record that SUMMARY, of INDEX, is of. */
bool res_summary_identity(const res_index *index, const res_summary *summary,
                          char identity[BN_SHA256_TEXT]);
/* Reads that record from its file in STORE, as res_store_read_foreign does. The index is a file
 * like any other, so a record that does not match SUMMARY is BN_FORMAT. Messages begin with the
 * path. */
BN_MUST_USE bn_code res_summary_read(const char *store, const res_index *index,
                                     const res_summary *summary, res_record **record,
                                     bn_status *st);
/* res_summary_read, except that a file that cannot be read is no failure: it is added to the
 * damaged files of ALL, and *RECORD is NULL. The record is not added to ALL. BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code res_summary_take(const char *store, const res_index *index,
                                     const res_summary *summary, res_record **record,
                                     res_collection *all, bn_status *st);
/* Adds the files that INDEX found damaged to those of ALL. */
void res_index_take_damaged(const res_index *index, res_collection *all);

/* ---- imports ---------------------------------------------------------------- */

typedef struct res_imported {
    size_t written, instead; /* records; of them, in place of others of the same lines */
    size_t known;            /* lines that the store had already */
} res_imported;

/*
 * Reads FILE, in FORMAT ("pytorch-xla": a JSON object a line, as pytorch/xla's
 * benchmarks/experiment_runner.py writes them), and writes a record a line into
 * STORE. Members that the lines lack are NaN, zero or "" in the records; the provenance keeps
 * the whole line. A line that does not fit is BN_FORMAT, "FILE:LINE: why", and then
 * nothing is written.
 */
#define RES_IMPORT_NAMES "pytorch-xla"
BN_MUST_USE bn_code res_import(const char *format, const char *file, const char *store,
                               res_imported *done, bn_status *st);

#endif
