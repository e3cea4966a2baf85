/*
 * plugin_leaks.h - tells the leak checker of a leak that is the plugin's. For one source of a
 * program.
 *
 * Each compilation of a select_and_scatter, the gradient of a maximum over windows, leaks 72
 * bytes inside XLA for CPU (the lammps build), on a thread of its own. Its symbols are stripped,
 * so the whole library is named. That would hide handles that we forget to release, so only
 * programs that compile such a gradient have the line, and they look at rt_live.
 */
#ifndef BENCH_TESTS_PLUGIN_LEAKS_H
#define BENCH_TESTS_PLUGIN_LEAKS_H

const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:pjrt_c_api_cpu_plugin.so\n";
}

#endif
