/*
 * jobs.h - the parent's half of measuring: experiments out of lists of values (measure.h,
 * matrix.h, experiment.h, step.h), worker processes and how they ended (supervise.h), and the
 * records that are kept (group.h). Outsiders include this header only.
 *
 * The parent never loads a plugin: a plugin can end or hang its process. A worker gets its job
 * as one JSON object on its standard input. It answers with JSON lines on descriptor 3
 * (worker.h). The worker uses experiments and requests, too. Prefix job_.
 */
#ifndef BENCH_HARNESS_JOBS_H
#define BENCH_HARNESS_JOBS_H

#include <limits.h>

#include "harness/jobs/experiment.h"
#include "harness/jobs/group.h"
#include "harness/jobs/matrix.h"
#include "harness/jobs/measure.h"
#include "harness/jobs/step.h"
#include "harness/jobs/supervise.h"

/* Appends the end of the manual: exit codes and environment, as roff. (manual.c) */
void job_manual_end(bn_text *out);

/* ---- the recorder before a program's runtime (interposer.c)
 * ---------------------------------------- */

/* How the recorder is put between a program and its runtime. */
typedef struct job_interposer {
    char runtime[PATH_MAX];  /* a name or path; never "auto" */
    char recorder[PATH_MAX]; /* libpjrt_record.so */
    char plugin[PATH_MAX];   /* behind the recorder; "": those that the program finds itself */
    char marks[PATH_MAX];    /* folder of the Python module bench_marks; "": there is none */
    /* PLUGIN's, NULL where there is none, and the recorder's, as they were before the program
     * starts; owned. */
    rt_plugin_file *file, *recorder_file;
    uint64_t made_ns;  /* when this was made, in ns since 1970 */
    json_t *variables; /* {NAME: TEXT}: added to the program's environment; owned */
    bn_text conflicts; /* a line each: a variable that the user has set, and the consequence */
    char blocked[400]; /* the first of them that keeps a framework from the recorder; "": none */
} job_interposer;

/* Fills INTERPOSER for RUNTIME, "auto" or a name or path, and PROGRAM, as it was given. FOLDER, a
 * whole path, is of the recording. To be freed also after a failure. */
BN_MUST_USE bn_code job_interposer_make(const char *runtime, const char *program,
                                        const char *folder, job_interposer *interposer,
                                        bn_status *st);
/* After the program has ended: the digest of the plugin, or of the recorder, at PATH, which it had
 * loaded. BN_CHANGED where the file was replaced or changed since INTERPOSER was made: it is
 * unknown which one ran. */
BN_MUST_USE bn_code job_interposer_digest(const job_interposer *interposer, const char *path,
                                          char sha256[BN_SHA256_TEXT], bn_status *st);
/* BN_CHANGED where the file of INTERPOSER's plugin, if it has one, or of its recorder was. */
BN_MUST_USE bn_code job_interposer_check(const job_interposer *interposer, bn_status *st);
void job_interposer_free(job_interposer *interposer);

/* ---- temporary folders (scratch.c) ----------------------------------------------- */

/* Makes a folder for the user alone, in PARENT or, where that is NULL or others may write it or a
 * folder above it, in $TMPDIR or /tmp, and writes its whole path to PATH. BN_INVALID where others
 * may do so there, too: a framework reads its request in it. */
BN_MUST_USE bn_code job_scratch_begin(const char *parent, char path[PATH_MAX], bn_status *st);
/* Removes it with all that is in it, unless PATH is empty, and empties PATH. */
void job_scratch_end(char path[PATH_MAX]);
/* Removes those of STORE, and of $TMPDIR or /tmp, whose process on this machine is gone. */
void job_scratch_sweep_old(const char *store);
/* Calls REMOVE_ONE for each folder of STORE, open as PARENT, that is called PREFIX, a process of
 * this machine that is gone, "-", the machine's name, and then one of the COUNT characters AFTER
 * ('\0': the end). Links are no folders. */
void job_folders_sweep(const char *store, const char *prefix, const char *after, size_t count,
                       void (*remove_one)(int parent, const char *name));

/* ---- the machine (host.c) ------------------------------------------------------------------ */

/* Sets bench's version for records; it is "unknown" before. VERSION is static. */
void job_set_version(const char *version);
/* Hostname, kernel, processor, cores, governor, memory, load, hwloc topology (summary and XML),
 * compiler, bench version (new reference). What cannot be read is null. */
json_t *job_host_describe(void);
/* Limits that this process inherited, where they are not the usual ones, for the record (new
 * reference): its cores, its priority. NULL: none. */
json_t *job_process_describe(void);
/* The share of the last ten seconds in which something on this machine waited for a core; -1:
 * unknown. */
double job_host_stalled(void);
/* Bytes of memory that are available on the machine; -1: unknown. */
int64_t job_host_memory_left(void);
/* Bytes of memory that this process uses now, used at most, and has of files now; -1: unknown. */
typedef struct job_memory {
    int64_t now, peak, of_files;
} job_memory;
job_memory job_host_memory(void);

#endif
