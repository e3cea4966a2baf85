/*
 * worker.c - main of a worker process: one request on standard input, one job, answers on
 * descriptor 3 (wire.c).
 */
#include "harness/worker/worker.h"

#include <stdio.h>
#include <string.h>

/* Whether the job has released all handles of the plugin; a line on standard error where not. */
static bool check_live(void)
{
    const rt_live_counts n = rt_live();
    if (!n.clients && !n.executables && !n.buffers && !n.events && !n.errors && !n.topologies)
        return true;
    cli_say("error: not released: %lld clients, %lld executables, %lld buffers, %lld events, %lld "
            "errors, %lld topologies of the plugin",
            (long long)n.clients, (long long)n.executables, (long long)n.buffers,
            (long long)n.events, (long long)n.errors, (long long)n.topologies);
    return false;
}

int worker_main(const worker_job *jobs)
{
    json_error_t error;
    bn_status st = {.code = BN_OK};
    json_t *request = json_loadf(stdin, JSON_DISABLE_EOF_CHECK, &error);
    const char *name = json_string_value(json_object_get(request, "job"));
    bn_code code = BN_OK;
    res_store_begin();
    while (name && jobs->name && strcmp(jobs->name, name) != 0)
        jobs++;
    if (!name || !jobs->name)
        code = bn_fail(&st, BN_INVALID, "--worker is for bench itself: it needs a job as JSON");
    else
        code = jobs->run(request, &st);
    if (code == BN_OK)
        code = worker_surroundings_restore("ending", &st);
    if (code != BN_OK)
        worker_send_failure(&st);
    json_decref(request);
    /* A leak shows in the exit code, too; the answer that was sent stays. */
    return check_live() && code == BN_OK ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}
