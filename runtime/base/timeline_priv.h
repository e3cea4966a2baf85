/* timeline_priv.h - a timeline from within: timeline.c notes, timeline_file.c writes and reads. */
#ifndef BENCH_RUNTIME_TIMELINE_PRIV_H
#define BENCH_RUNTIME_TIMELINE_PRIV_H

#include "runtime/base/base.h"

#define NAME_NONE   0
#define NAME_OTHERS 1
#define NAME_FIRST  2
#define NAME_SLOTS  1024 /* twice as many as names, so that probing ends */
#define NONE        SIZE_MAX

struct bn_timeline {
    bn_timeline_about about;
    bn_span *spans;
    size_t most, count;
    char names[BN_TIMELINE_NAMES][BN_TIMELINE_NAME];
    size_t name_count;
    uint16_t slots[NAME_SLOTS]; /* numbers of names; 0: free */
    /* Of the step in hand. */
    bn_step_kind step_kind;
    uint64_t step_number;
    size_t step_first, step_depth;
    size_t last_part;  /* NONE: none yet */
    size_t first_open; /* executions before are not awaited any more */
    /* Annotations and scopes that have not ended: spans, NONE for those without room. */
    size_t open[BN_TIMELINE_OPEN];
    bn_span_kind open_kind[BN_TIMELINE_OPEN];
    size_t depth, too_deep;
};

#endif
