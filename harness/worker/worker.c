/*
 * worker.c - main of a worker process: one request on standard input, one job, answers on
 * descriptor 3 (wire.c).
 */
#include "harness/worker/worker.h"

#include <stdio.h>
#include <string.h>

/* A job that gave everything back to the plugin leaves nothing alive. */
static bn_code check_live(bn_status *st)
{
    const rt_live_counts n = rt_live();
    if (n.clients || n.executables || n.buffers || n.events || n.errors || n.topologies)
        return bn_fail(st, BN_WRONG_RESULT,
                       "error: not given back to the plugin: %lld clients, %lld executables, %lld "
                       "buffers, %lld events, %lld errors, %lld topologies",
                       (long long)n.clients, (long long)n.executables, (long long)n.buffers,
                       (long long)n.events, (long long)n.errors, (long long)n.topologies);
    return BN_OK;
}

int worker_main(const worker_job *jobs)
{
    json_error_t error;
    bn_status st = {.code = BN_OK};
    json_t *request = json_loadf(stdin, JSON_DISABLE_EOF_CHECK, &error);
    const char *name = json_string_value(json_object_get(request, "job"));
    bn_code code = BN_OK;
    bn_out_of_memory_exits(JOB_EXIT_MEMORY);
    res_store_begin();
    while (name && jobs->name && strcmp(jobs->name, name) != 0)
        jobs++;
    if (!name || !jobs->name)
        code = bn_fail(&st, BN_INVALID, "--worker is for bench itself, which sends a job");
    else
        code = jobs->run(request, &st);
    if (code == BN_OK)
        code = worker_surroundings_restore("ending", &st);
    if (code != BN_OK)
        worker_send_failure(&st);
    /* A leak shows in words and in the exit code; the answer that was sent stands. */
    bn_status leak = {.code = BN_OK};
    if (check_live(&leak) != BN_OK) {
        cli_say("%s", leak.message);
        code = leak.code;
    }
    json_decref(request);
    return code == BN_OK ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}
