/*
 * replay_estimates.c - times for a simulated device that bench estimate printed of a recorded step:
 * the estimates of another device's compiler for each of its programs.
 */
#include "harness/replay/replay_priv.h"

#include <stdlib.h>
#include <string.h>

/* A longer time of a program is damage. */
#define MOST_MS 1e9

/* Whether LINE is of the step called VARIANT. */
static bool is_of_step(const json_t *line, const char *variant)
{
    return strcmp(res_json_get_text(json_object_get(line, "experiment"), "variant"), variant) == 0;
}

/* Finds the time of the program NAME in LINES, and the TOPOLOGY that it is for, which all must
 * share; it is NULL before the first. */
static bn_code find_time(const json_t *lines, const char *variant, const char *name,
                         const char **topology, double *ms, bn_status *st)
{
    size_t found = 0;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i);
        const json_t *value = json_object_get(line, "estimated_ms");
        if (!is_of_step(line, variant) || strcmp(res_json_get_text(line, "graph"), name) != 0)
            continue;
        if (*topology && strcmp(*topology, res_json_get_text(line, "topology")) != 0)
            return bn_fail(st, BN_INVALID, "it has times of %s and of %s; estimate one topology",
                           *topology, res_json_get_text(line, "topology"));
        if (!json_is_number(value))
            return bn_fail(st, BN_INVALID, "it has no time of program %s: its class is '%s'", name,
                           res_json_get_text(line, "class"));
        if (found++ && *ms != json_number_value(value))
            return bn_fail(st, BN_INVALID,
                           "it has two times of program %s; estimate one kind of "
                           "layouts",
                           name);
        *topology = res_json_get_text(line, "topology");
        *ms = json_number_value(value);
    }
    if (found == 0)
        return bn_fail(st, BN_INVALID, "it has no time of program %s of this step, %s", name,
                       variant);
    /* A program that returns a constant takes no cycles. */
    if (!(*ms >= 0 && *ms <= MOST_MS))
        return bn_fail(st, BN_INVALID, "program %s takes %g ms in it", name, *ms);
    return BN_OK;
}

/* Topologies go into variants, files and tables. */
static bool is_plain(const char *topology)
{
    const size_t length = strspn(topology, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                           "0123456789.:/_-");
    return length > 0 && length <= JOB_MOST_TOPOLOGY && !topology[length];
}

/* Every line must be understood: an unknown one might contradict a time. */
static bn_code check_lines(const json_t *lines, bn_status *st)
{
    if (!json_is_array(lines))
        return bn_fail(st, BN_FORMAT, "not a list that bench estimate prints");
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i);
        const json_t *experiment = json_object_get(line, "experiment");
        if (!json_is_string(json_object_get(experiment, "variant")) ||
            !json_is_string(json_object_get(line, "graph")) ||
            !json_is_string(json_object_get(line, "topology")))
            return bn_fail(st, BN_FORMAT, "entry %zu is not one that bench estimate prints", i + 1);
    }
    return BN_OK;
}

static bn_code state_times(json_t *request, const json_t *lines, bn_status *st)
{
    char variant[RES_TEXT];
    const char *topology = NULL;
    json_t *programs = json_object_get(request, "programs");
    job_step_variant(request, variant);
    for (size_t i = 0; i < json_array_size(programs); i++) {
        json_t *program = json_array_get(programs, i);
        double ms = 0;
        const bn_code code =
            find_time(lines, variant, res_json_get_text(program, "name"), &topology, &ms, st);
        if (code != BN_OK)
            return code;
        json_object_set_new(program, "estimated_us", json_real(ms * 1e3));
    }
    if (!topology || !is_plain(topology))
        return bn_fail(st, BN_FORMAT, "its topology has no proper name");
    json_object_set_new(request, "topology", json_string(topology));
    json_object_set_new(request, "cost", json_string("estimated"));
    return BN_OK;
}

bn_code replay_take_estimates(json_t *request, const char *path, bn_status *st)
{
    char *text = NULL;
    size_t size = 0;
    json_t *lines = NULL;
    bn_code code = bn_regular_read(path, &text, &size, st);
    if (code == BN_OK)
        code = res_json_parse(text, size, &lines, st);
    if (code == BN_OK)
        code = check_lines(lines, st);
    free(text);
    if (code == BN_OK && strcmp(res_json_get_text(request, "cost"), "recorded") != 0)
        code = bn_fail(st, BN_INVALID, "--cost %s gives the programs other costs",
                       res_json_get_text(request, "cost"));
    if (code == BN_OK)
        code = state_times(request, lines, st);
    json_decref(lines);
    if (code == BN_INVALID)
        return bn_context(st,
                          "--estimates %s (bench estimate --recording DIR --topology NAME "
                          "--format json prints them)",
                          path);
    return code == BN_OK ? BN_OK : bn_context(st, "--estimates %s", path);
}
