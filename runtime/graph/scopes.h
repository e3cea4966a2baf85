/*
 * scopes.h - whose each node is, and where it stands: scopes and the time that they take, lines of
 * the source, annotations for a timeline. None of it changes graph or hash, and all of it is off at
 * first.
 */
#ifndef BENCH_RUNTIME_SCOPES_H
#define BENCH_RUNTIME_SCOPES_H

#include "runtime/graph/graph.h"

/* ---- scopes, and their time ------------------------------------------------- */

/* Time in which nodes of one scope and phase were traced, without a gap to its neighbours. */
typedef struct tg_stretch {
    const tg_scope *scope; /* or NULL; lives until the next tg_trace_begin */
    tg_phase phase;
    uint64_t begin_ns, duration_ns; /* on the clock of bn_now_ns */
} tg_stretch;
/* ON: from the next tg_trace_begin on, the clock is read wherever scope or phase change between
 * two nodes. Off, the default, costs a comparison for each scope. */
void tg_trace_time_scopes(tg_trace *trace, bool on);
/* The stretches since tg_trace_begin, of which the last ends now; bodies of loops are among them.
 * *LIST is the trace's, and lives until the next tg_trace_begin. 0 where scopes are not timed. */
size_t tg_trace_stretches(tg_trace *trace, const tg_stretch **list);
/* Calls VISIT for each node that was traced since tg_trace_begin, then for those of loops' bodies:
 * tg_trace_traced of them. */
void tg_trace_visit(const tg_trace *trace, void (*visit)(void *context, const tg_node *node),
                    void *context);
const tg_scope *tg_node_scope(const tg_node *node);
tg_phase tg_node_phase(const tg_node *node);

/* ---- lines of the source ------------------------------------------------------ */

/* A line of the source; FILE is a literal, NULL: not known. */
typedef struct tg_place {
    const char *file;
    int line;
} tg_place;

/* From the next tg_trace_begin on the trace notes at which line of a model or a layer each node was
 * made (runtime/graph/places.h); gradients stand where the node does whose gradient they are.
 * Lowering then writes the lines into the text's locations. Off at first. */
void tg_trace_keep_places(tg_trace *trace, bool keep);
/* How many traces keep places: what each call of an op looks at. */
extern _Atomic int tg_places_kept;
/* Of NODE; nowhere where its trace keeps none. */
tg_place tg_node_place(const tg_node *node);
/* Of VALUE's node: of a variable's entry value, where the trace used the variable first. */
tg_place tg_value_place(const tg_tensor *value);
/* Of the read in hand, for the hook. */
tg_place tg_trace_next_place(const tg_trace *trace);
/* Appends the scope in force, "layer1.0.conv2"; nothing outside of all. */
void tg_trace_scope(const tg_trace *trace, bn_text *out);

/* ---- annotations ---------------------------------------------------------------- */

/* Where annotations and scopes are noted from here on, in loops' bodies, too; NULL: nowhere. */
void tg_trace_set_timeline(tg_trace *trace, bn_timeline *timeline);
/* Begins a span NAME, which is copied, of the host's work in the timeline, until the matching end.
 * Spans nest, with scopes, too, and change neither graph nor hash. A captured step that is replayed
 * calls no function, so it has none. Without a timeline it is one branch. */
void tg_annotate_begin(tg_trace *trace, const char *name);
void tg_annotate_end(tg_trace *trace);

#endif
