/*
 * options.c - options of every mode of a session.
 */
#include "harness/worker/worker.h"

#include <string.h>

mode_options worker_mode_options(const job_experiment *e)
{
    size_t flags = 0;
    while (e->how.xla_flag[flags])
        flags++;
    return (mode_options){.in_flight = e->what.in_flight,
                          .awaited = res_is_awaited(&e->what),
                          .cache_dir = e->how.cache_dir[0] ? e->how.cache_dir : NULL,
                          .compile_anew = e->compile_anew,
                          .automatic_layouts = strcmp(e->what.layouts, "auto") == 0,
                          .compile = {.flags = e->how.xla_flag, .flag_count = flags}};
}
