/*
 * suite_owed.c - runs that a split suite still lacks when one of its processes ends. Other shards
 * may still run, or be lost: only the store shows it.
 */
#include "harness/campaign/suites_priv.h"

#include <stdlib.h>
#include <string.h>

void suite_owed_find(const suite_spec *suite, const suite_options *options,
                     const suite_shard *shard, suite_owed *owed)
{
    const suite_shard all = {.index = 1, .of = 1};
    /* A night is one process, and judges its own records. */
    *owed = (suite_owed){.asked = shard->of > 1 || (options->shard && !options->earlier),
                         .shards = shard->of};
    if (!owed->asked || suite_plan_make(suite, options, &all, &owed->whole, &owed->why) != BN_OK)
        return;
    for (size_t i = 0; i < owed->whole.count; i++) {
        owed->count += owed->whole.runs[i].state == SUITE_OPEN;
        owed->failed += owed->whole.runs[i].state == SUITE_FAILED;
    }
}

json_t *suite_owed_to_json(const suite_owed *owed)
{
    json_t *shards = json_array(), *runs = json_array();
    bool *owes = bn_zalloc((size_t)owed->shards + 1, sizeof *owes);
    if (owed->why.code != BN_OK) {
        json_decref(shards);
        json_decref(runs);
        free(owes);
        return json_pack("{sb sn sn sn sn sn so}", "known", 0, "processes", "of", "failed",
                         "shards", "experiments", "message", res_json_text(owed->why.message));
    }
    for (size_t i = 0; i < owed->whole.count; i++) {
        const suite_run *run = &owed->whole.runs[i];
        const int shard = suite_shard_of(&run->item->resolved, owed->shards);
        if (run->state != SUITE_OPEN)
            continue;
        owes[shard] = true;
        json_array_append_new(runs, json_pack("{ss sI si ss}", "title", run->item->title,
                                              "repetition", (json_int_t)run->repetition, "shard",
                                              shard, "identity", run->identity));
    }
    for (int i = 1; i <= owed->shards; i++)
        if (owes[i])
            json_array_append_new(shards, json_integer(i));
    free(owes);
    return json_pack("{sb sI sI sI so so sn}", "known", 1, "processes", (json_int_t)owed->count,
                     "of", (json_int_t)owed->whole.count, "failed", (json_int_t)owed->failed,
                     "shards", shards, "experiments", runs, "message");
}

cli_exit suite_owed_say(const suite_owed *owed, const suite_spec *suite,
                        const suite_options *options, cli_exit code)
{
    const bool split = owed->shards > 1;
    bn_status why = owed->why;
    if (!owed->asked || code != CLI_EXIT_OK)
        return code;
    if (why.code != BN_OK) {
        bn_context(&why, "suite %s: its missing records are unknown", suite->name);
        code = cli_complain(&why);
        /* This shard has done its own work. */
        return split ? CLI_EXIT_OK : code;
    }
    if (owed->count && split) {
        /* Print the whole command: its other options select runs, too. */
        cli_say(
            "suite %s: this shard is complete; other shards owe %zu of %zu processes; when they "
            "have ended, the same command with --shard none runs the rest",
            suite->name, owed->count, owed->whole.count);
    } else if (owed->count) {
        cli_say("suite %s: %zu of its %zu processes have no record in %s", suite->name, owed->count,
                owed->whole.count, options->store);
        code = CLI_EXIT_FAILED;
    } else if (split) {
        cli_note("suite %s: complete, no shard owes a process", suite->name);
    }
    return code;
}

void suite_owed_free(suite_owed *owed)
{
    suite_plan_free(&owed->whole);
}
