/*
 * space_priv.h - slices that come in any order and become an XSpace message at the end: a res_trace
 * writes them in place of events where its file is one.
 */
#ifndef BENCH_RESULTS_TRACES_SPACE_PRIV_H
#define BENCH_RESULTS_TRACES_SPACE_PRIV_H

#include "results/traces/traces.h"

typedef struct res_space res_space;
res_space *res_space_new(void);
void res_space_free(res_space *space);
/* The lines of PROCESS lie in PLANE, which is static. Those of no plane are left out. */
void res_space_plane(res_space *space, uint64_t process, const char *plane);
/* The name of LANE of PROCESS; lane 0: of all its lanes that have none. */
void res_space_line(res_space *space, uint64_t process, uint64_t lane, const char *name);
/* QUOTED is the name as JSON. Times are as res_space_put takes them. */
void res_space_slice(res_space *space, const char *quoted, uint64_t process, uint64_t lane,
                     uint64_t begin_ns, uint64_t end_ns);
/* The last slice is the step NUMBER. */
void res_space_number(res_space *space, uint64_t number);
/* Appends the message, whose times count from FROM_NS. BN_NOT_SUPPORTED: more than
 * RES_TRACE_MOST_SPANS slices. */
BN_MUST_USE bn_code res_space_put(res_space *space, uint64_t from_ns, bn_text *out, bn_status *st);

#endif
