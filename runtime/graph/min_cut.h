/*
 * min_cut.h - which values to keep (min_cut.c), for windows.c and tests.
 */
#ifndef BENCH_GRAPH_MIN_CUT_H
#define BENCH_GRAPH_MIN_CUT_H

#include "runtime/base/base.h"

/* A network of values, numbered from 0. */
typedef struct tg_cut_net tg_cut_net;
tg_cut_net *tg_cut_new(size_t values);
void tg_cut_free(tg_cut_net *net); /* NULL allowed */

/* VALUE is in the network, and costs COST, from 0, to keep. Once for each value that is used. */
void tg_cut_value(tg_cut_net *net, uint32_t value, int64_t cost);
/* VALUE exists; nothing makes it anew. What nothing of this kind leads to is made anew for nothing. */
void tg_cut_made(tg_cut_net *net, uint32_t value);
/* USER is made of VALUE and others. */
void tg_cut_use(tg_cut_net *net, uint32_t value, uint32_t user);
/* VALUE is wanted. */
void tg_cut_want(tg_cut_net *net, uint32_t value);

/* Finds the values to keep: with them all wanted ones can be made, and the sum of their costs is the
 * least there is. Of several such sets the one that leaves least to be made anew. */
void tg_cut_run(tg_cut_net *net);
/* Whether VALUE is one of them. */
bool tg_cut_keeps(const tg_cut_net *net, uint32_t value);

#endif
