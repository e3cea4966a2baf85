/*
 * group.h - groups of experiments in workers, the records that are kept, and where the time went.
 */
#ifndef BENCH_HARNESS_JOBS_GROUP_H
#define BENCH_HARNESS_JOBS_GROUP_H

#include "harness/jobs/experiment.h"
#include "harness/jobs/supervise.h"

/* ---- time of workers (spent.c) -------------------------------------------------------------- */

/* Seconds of workers by phase. In none of them: the process' own start and end, records, and all of
 * a worker that died. */
typedef struct job_spent {
    size_t processes;
    double start_s;   /* plugin, client, model and weights */
    double compile_s; /* the plugin's compile calls, or loads, of the warm-up */
    double warmup_s;  /* the rest of the warm-up */
    double rounds_s;  /* rounds and the probes of executions */
    double all_s;
} job_spent;
/* Adds a worker that took SECONDS and reported the phases REPORTED: {"start_s": 1.5, ...}, or NULL.
 */
void job_spent_add_worker(job_spent *spent, const json_t *reported, double seconds);
void job_spent_add(job_spent *spent, const job_spent *other);
/* "8 processes in 21.0 s: start 6.1 s, compile 3.0 s, warm-up 1.2 s, rounds 9.9 s, rest 0.8 s" */
void job_spent_words(const job_spent *spent, bn_text *text);

/* Time of one process, in ns. */
typedef struct job_spending {
    bool known;
    double own_ns, shared_ns; /* for the experiment; for all experiments of the process */
} job_spending;
/* Earlier processes of the same experiment. */
typedef struct job_before {
    job_spending first, further; /* a process that compiles, and a later one */
    bool is_short;               /* its steps, in the first */
} job_before;
/* Experiment number INDEX of those that CONTEXT has. */
typedef const job_experiment *job_experiment_at(const void *context, size_t index);
/* [i]: earlier processes of experiment number i of COUNT, by the latest records of this machine in
 * STORE, measured under the same options; for free. It takes a second or little more, and searches
 * for the first hundred only. */
job_before *job_spent_before(const char *store, job_experiment_at *at, const void *context,
                             size_t count);

/* ---- experiments in workers (group.c, keep.c) --------------------------------------------- */

#define JOB_MOST_MEMBERS 16 /* of a group: modes, numbers of graphs and front ends are fewer */
/*
 * A group: experiments that a table compares, and that are therefore measured in the same
 * processes, in turns. Where they cannot be (memory, or their common process died), each has
 * processes of its own from then on, in an order that is drawn anew for each turn. Frameworks
 * always have: they run next to bench's process.
 */
typedef struct job_group {
    char id[RES_TEXT]; /* unique, for the records */
    int processes;     /* that are planned */
    bool usual;        /* the number of processes was not given */
    uint64_t seed;     /* of orders; 0: the clock's */
    bool separate;     /* each experiment has processes of its own */
    bool apart;        /* the cores of the last process were apart all the time (cores_watch) */
    char why_separate[512]; /* why SEPARATE is set; "": it is not, or the caller set it */
    job_spent spent;   /* by its processes so far */
} job_group;
#define JOB_USUAL_PROCESSES 4
#define JOB_SHORT_PROCESSES 16
#define JOB_SHORT_SHARE     8 /* the time of each process but the first is divided by it */
/* A new group of PROCESSES processes with a name of its own; 0: JOB_USUAL_PROCESSES, until
 * job_group_learn. */
void job_group_begin(job_group *group, int processes, uint64_t seed);
/* Whether A and B, which are resolved, belong into one group: they differ in mode, graphs and front
 * end only, and both are of models. Frameworks have processes of their own in it. */
bool job_same_group(const job_experiment *a, const job_experiment *b);

/* Brings the experiments of each group together, else keeps their order; returns how many groups
 * there are. */
size_t job_groups_arrange(job_experiment *list, size_t count);
/* The end of the group that begins at FIRST in LIST, which was arranged. */
size_t job_group_end(const job_experiment *list, size_t count, size_t first);

/* Measures E in a worker of its own. JOB says how; its request is not looked at. Reads the record
 * that the worker wrote; *RECORD is the caller's. The worker's failure becomes the status, and a
 * record of it is kept, unless the user stopped it. BN_IO where the store takes none. *REFUSED,
 * which may be NULL: the runtime refused the user's options; then there is no record. */
BN_MUST_USE bn_code job_measure_in_worker(const job_experiment *e, const job_order *job,
                                          res_record **record, bool *refused, bn_status *st);

/* Measures PAIR, A and B, which take turns in two processes that live at the same time. If
 * either fails RECORDS has neither. FAULT is the index of the one that failed; *REFUSED as above.
 */
BN_MUST_USE bn_code job_measure_in_turns(const job_experiment *const pair[2],
                                         const job_order jobs[2], uint64_t seed,
                                         res_record *records[2], int *fault, bool *refused,
                                         bn_status *st);

/* The result of an experiment whose record is kept. */
typedef struct job_kept {
    res_record *record; /* as it is in the store, also that of a failure; NULL: there is none.
                           Owned by the caller */
    bn_status failure;  /* BN_CANCELLED: the user stopped it, and there is no record */
    bn_status store;    /* why the store takes no more records, or BN_OK */
    bool usage;         /* FAILURE is a usage error, as job_outcome.usage: it has no record */
} job_kept;
/* Process PROCESS (from 1; 0: it has no partner in GROUP) of GROUP: measures the COUNT experiments
 * LIST, and fills KEPT[i] for each. Keeps a record of each failure as well. GROUP learns whether
 * its experiments have to be separate. JOB says how; its request is not looked at, its timeout is
 * that of one experiment, and further workers of this process have the numbers behind JOB's. Prints
 * nothing but progress. */
void job_measure_and_keep(job_group *group, int process, const job_experiment *list, size_t count,
                          const job_order *job, job_kept *kept);
/* After the first process of GROUP: where the number of processes was not given and the steps of
 * all COUNT experiments LIST took less than RES_SHORT_STEP_NS, plans JOB_SHORT_PROCESSES, and
 * divides LIST's times by JOB_SHORT_SHARE for the further ones. It depends on the length of steps
 * and never on their spread: stopping by the spread would make intervals too narrow. */
void job_group_learn(job_group *group, job_experiment *list, size_t count, const job_kept *kept);
/* The number of processes that GROUP of COUNT experiments will have: JOB_SHORT_PROCESSES where
 * job_group_learn would plan them by BEFORE, which may be NULL: nothing is known. */
int job_group_foreseen(const job_group *group, const job_before *before, size_t count);
/* Seconds that PROCESSES processes of GROUP with the COUNT experiments LIST take, by BEFORE. Where
 * that does not say, *KNOWN becomes false, and it is the least that they measure. */
double job_group_seconds(const job_group *group, int processes, const job_experiment *list,
                         const job_before *before, size_t count, bool *known);
/* The number of workers of a process of a group of the COUNT experiments LIST: one for all that
 * bench runs itself, and one for each of a framework. */
size_t job_group_workers(const job_experiment *list, size_t count);
/* "resnet50 train lazy, capture b1 f32 on cpu": the title of the COUNT experiments LIST of a group.
 */
void job_group_title(const job_experiment *list, size_t count, char *text, size_t size);

/* ---- executables of a run (cache.c) -------------------------------------------------------- */

/* A run has a folder of executables for itself, for experiments without a cache_dir: the first
 * process compiles anew, further ones load. */
#define JOB_CACHE_PATH 4200
typedef struct job_cache {
    char path[JOB_CACHE_PATH]; /* "": there is none */
    int lock;                  /* the folder, open and locked, where there is one */
} job_cache;
/* Makes the folder in STORE, which exists, for this process and its user alone. Where the file
 * system has no permissions, or all names are taken, warns on standard error, and the path is
 * empty: each process compiles. End it also after a failure. */
BN_MUST_USE bn_code job_cache_begin(const char *store, job_cache *cache, bn_status *st);
/* Gives CACHE, if there is one, to those of the COUNT members LIST of a process that have no
 * cache_dir. ANEW: the process compiles what is in it already; programs that members share, only
 * the first of them does. */
void job_cache_lend(const job_cache *cache, job_experiment *list, size_t count, bool anew);
/* Removes it, if there is one. */
void job_cache_end(job_cache *cache);
/* Removes such folders of processes of this machine that are gone. A locked one stays, whether we
 * see its process or not. */
void job_cache_sweep_old(const char *store);

/* ---- progress of groups (progress.c) ------------------------------------------------- */

/* Times of one group's processes. The first of them compiles, and the others load. */
typedef struct job_pace {
    int processes, ended;                /* that are still to come, and that have ended */
    size_t workers;                      /* of each */
    double first_s, further_s;           /* by earlier records; negative: they do not say */
    double first_took_s, further_took_s; /* by those that have ended: the first, all others */
} job_pace;
/* WHY the next job may have another number of jobs in all than was told, a literal that ends a line
 * about it; NULL: nothing is said. It holds for that job only. */
void job_progress_explain(const char *why);
/* Notes before the first of OF jobs: how long all take, SECONDS; negative: records do not say;
 * that Ctrl-C keeps finished work; whether cores sleep meanwhile, by IDLE_CORES as of
 * cores_idle_begin; and whether this machine is busy. */
void job_progress_plan(size_t of, double seconds, const char *idle_cores);
/* job_progress_plan of the COUNT experiments LIST, which were arranged; each of their groups
 * will be as PLAN is. First notes, after WHAT ("" or "replay of train: "), how many there are,
 * in how many processes, on which runtime, and where their records go. Reads earlier times from
 * their store, which takes a second or little more. PACES, unless NULL, gets one for each group. */
void job_progress_tell(const char *what, const job_group *plan, const job_experiment *list,
                       size_t count, job_pace *paces);
/* job_progress_expect for all workers of the next process, of group WHICH of COUNT: by earlier
 * records, else by the processes that have ended. */
void job_pace_expect(const job_pace *paces, size_t count, size_t which);
/* A process of the group ended after SECONDS, and PROCESSES more will come. */
void job_pace_ended(job_pace *pace, double seconds, int processes);

#endif
