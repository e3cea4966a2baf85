/*
 * views.h - a recording as others take it: as a record of a store, and as a timeline. Prefix rec_.
 */
#ifndef BENCH_RESULTS_RECORDINGS_VIEWS_H
#define BENCH_RESULTS_RECORDINGS_VIEWS_H

#include "results/recordings/recordings.h"
#include "results/records/records.h"

/* ---- as a record (record.c, earlier.c, values.c) -------------------------------------------- */

/* Names that a recording does not contain. */
typedef struct rec_naming {
    const char *model; /* NULL: the name of the program's script */
    const char *phase; /* NULL: "step" */
    const char *mode;  /* of the front end whose script was recorded; NULL: it is unknown */
    /* When the program was started and had ended, on the recording's clock; 0: as recording.json
     * says, or else from the recorder's start to the last call. */
    uint64_t begun_ns, ended_ns;
    const char *step_program; /* that the user said steps begin with; NULL: not given */
} rec_naming;
#define REC_UNKNOWN "unknown" /* what a record's model is called where it is unknown */

/*
 * A record of STEPS, for a store; the caller frees *RECORD. Its mode is "recorded", its front end
 * the framework. The ledger's parts are those of docs/recording.md; device times are those between
 * the completions that the recorder saw. The id is made of the time and the contents: the same
 * steps of the same recording under the same names have the same id. BN_FORMAT where what the
 * recording says cannot be in a record; BN_CHANGED where the file of the plugin or of the recorder
 * was replaced while the program ran; BN_OUT_OF_MEMORY.
 */
BN_MUST_USE bn_code rec_record_make(const rec_recording *recording, const rec_steps *steps,
                                    const rec_naming *naming, res_record **record, bn_status *st);

/* The source of RECORD, which rec_record_make made, for res_store_take. */
res_source rec_record_source(const res_record *record);

/* Appends the name of the script that COMMAND, words that end with NULL, runs: "train" of "python
 * -u path/train.py --lr 1", "pkg.train" of "python -m pkg.train". Nothing where there are no words.
 */
void rec_script_put(const char *const *command, bn_text *out);

/* ---- as a timeline (timeline.c) ------------------------------------------------------------- */

/* A recording with so many executions and calls or more is shown for its steady steps only. */
#define REC_TIMELINE_WHOLE 300000

/*
 * Writes PROCESS, of RECORDING, into the file PATH: as Chrome's trace events, for Perfetto and
 * chrome://tracing, or where PATH ends in .pb as XSpace. Threads of the host with their calls,
 * devices with executions and gaps, the steady steps, and in Chrome's a flow from each Execute call
 * to its execution. STEPS, of PROCESS, may be NULL. A file that is there stays (BN_INVALID), unless
 * REPLACE. BN_IO, BN_OUT_OF_MEMORY; BN_NOT_SUPPORTED: more than XSpace has room for.
 */
BN_MUST_USE bn_code rec_timeline_write(const rec_process *process, const rec_steps *steps,
                                       const char *path, bool replace, bn_status *st);

#endif
