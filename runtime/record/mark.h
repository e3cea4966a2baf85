/*
 * mark.h - what a program may call of the recorder: where its steps and phases begin and end.
 *
 * The program finds the function by dlsym(RTLD_DEFAULT, "record_mark") where the recorder is
 * preloaded, else in the library that it opened as its plugin. It may be called from any thread, at
 * any time, before a plugin is loaded, too.
 */
#ifndef BENCH_RUNTIME_RECORD_MARK_H
#define BENCH_RUNTIME_RECORD_MARK_H

#include <stdint.h>

/*
 * WHAT is an enum record_mark_kind (format.h): 0 a step begins, 1 it ends, 2 a phase begins, 3 it
 * ends. NAME is UTF-8 ("train", "eval"; "" for none); bytes beyond RECORD_MARK_MOST are left out.
 * NUMBER is the program's own, of a step, say. Returns 0 where it was recorded, 1 where it was not:
 * nothing is recorded here or any more, WHAT is none of these, or NAME is NULL.
 */
__attribute__((visibility("default"))) int record_mark(int what, const char *name, int64_t number);

#endif
