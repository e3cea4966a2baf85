/*
 * measure.h - options of measuring: measure.def as a struct, and as rows of options (options.c).
 */
#ifndef BENCH_HARNESS_JOBS_MEASURE_H
#define BENCH_HARNESS_JOBS_MEASURE_H

#include "harness/cli/cli.h"

/* Sections of the first help. */
#define JOB_SECTION_MEASURE "Measure"
#define JOB_SECTION_LOOK    "Look at records"
#define JOB_SECTION_WHY     "Find out why"
#define JOB_SECTION_OTHERS  "Programs of others"

/* The subjects that an option applies to (cli_given). */
enum {
    JOB_ABOUT_MODEL = 1 << 0,     /* models only */
    JOB_ABOUT_PROGRAM = 1 << 1,   /* --program only */
    JOB_ABOUT_RECORDING = 1 << 2, /* a recorded step only */
    JOB_ABOUT_WORK = 1 << 3,      /* what is run, and how: not with a suite or with stores */
    JOB_ABOUT_PAIRS = 1 << 4,     /* how pairs of processes are run: not with stores */
    /* Groups of options that commands take together (cli_group.about). */
    JOB_ABOUT_NETWORK = 1 << 5, /* which network a model is */
    JOB_ABOUT_BUILD = 1 << 6,   /* of the runtime's client and compiler */
    JOB_ABOUT_LOOP = 1 << 7,    /* how a process measures */
    JOB_ABOUT_KEPT = 1 << 8,    /* how many processes, and what is kept of them */
    JOB_ABOUT_FILES = 1 << 9    /* further files of a run */
};

/* Option --store of all commands that have one folder of records by default; AT: where its text
 * goes. */
#define JOB_STORE_WORDS                                                                            \
    .fallback = "bench-results", .also = "results",                                                \
    .text = "folder of records, one HDF5 file for each experiment of each process"
#define JOB_STORE_ROW(at)                                                                          \
    {                                                                                              \
        "store", "DIR", CLI_TEXT, at, JOB_STORE_WORDS                                              \
    }

#define JOB_MEMBER_TEXT(member)   const char *member;
#define JOB_MEMBER_NUMBER(member) int64_t member;
#define JOB_MEMBER_SPAN(member)   double member;
#define JOB_MEMBER_FLAG(member)   bool member;
#define JOB_MEMBER_PAIRS(member)  const char *member[CLI_MAX_REPEATS + 1];

#define MEASURE(kind, member, ...) JOB_MEMBER_##kind(member)
/* How an experiment is measured, and what is kept of it; measure.def says what each member is.
 * Texts are borrowed; lists of NAME=VALUE end with NULL. */
typedef struct job_measure {
#include "harness/jobs/measure.def"
} job_measure;
#undef MEASURE

#define MEASURE(kind, member, ...) JOB_MEASURE_##member,
typedef enum job_measure_id {
#include "harness/jobs/measure.def"
    JOB_MEASURE_COUNT
} job_measure_id;
#undef MEASURE

/* Rows of tables, for cli_group.rows and .without: of job_measure_table, of job_axis_table. */
#define JOB_MEASURE_BIT(member) (UINT64_C(1) << JOB_MEASURE_##member)
#define JOB_AXIS_BIT(id)        (UINT64_C(1) << RES_AXIS_##id)
/* Rows of job_measure's members; OFFSET of a cli_group is that of a job_measure. */
const cli_table *job_measure_table(void);
/* The member of suites that measure.def has for row ID; "": none. */
const char *job_measure_suite(job_measure_id id);
/* HOW as a worker is sent it: a member an option (new reference). Texts that are NULL are absent.
 */
json_t *job_measure_to_json(const job_measure *how);
/* Reads *HOW from what job_measure_to_json made. JSON must outlive *HOW. */
BN_MUST_USE bn_code job_measure_from_json(const json_t *json, job_measure *how, bn_status *st);

#endif
