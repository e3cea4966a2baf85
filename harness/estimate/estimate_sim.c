/*
 * estimate_sim.c - estimated times for the simulated device: a file of its settings that states the
 * time of each graph of a step (runtime/sim/README.md, `stated`), and refuses all others.
 */
#include "harness/estimate/estimate_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The simulated device's presets, by the part of a topology's name before the colon: rates that the
 * file does not state. */
static const char *const presets[][2] = {
    {"v4", "tpu-v4"}, {"v5e", "tpu-v5e"}, {"v5p", "tpu-v5p"}, {"v6e", "tpu-v6e"}};

static const char *preset_of(const char *topology)
{
    const size_t length = strcspn(topology, ":");
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (strlen(presets[i][0]) == length && strncmp(presets[i][0], topology, length) == 0)
            return presets[i][1];
    return NULL;
}

bn_code estimate_into_sim_check(const char *topology, bn_status *st)
{
    const char *source;
    bn_text able = {0};
    const bool timed = estimate_clock(topology, &source) > 0;
    if (timed && preset_of(topology))
        return BN_OK;
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (estimate_clock(presets[i][0], &source) > 0)
            bn_text_printf(&able, "%s%s", able.length ? ", " : "", presets[i][0]);
    bn_fail(st, BN_INVALID, "--into-sim: the %s of %s is unknown; take a topology of %s",
            timed ? "preset" : "clock", topology, able.data);
    bn_text_free(&able);
    return BN_INVALID;
}

/* Puts LINE's module and its time into TIMES. BN_NOT_SUPPORTED where it has none. BN_INVALID where
 * another graph of the same name takes another time: the device could not distinguish them. */
static bn_code add_time(json_t *times, const json_t *line, bn_status *st)
{
    const char *module = res_json_get_text(line, "module");
    const json_t *ms = json_object_get(line, "estimated_ms"),
                 *other = json_object_get(times, module);
    if (!estimate_is_ok(line) || !json_is_number(ms))
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "--into-sim: graph %s has no estimated time, so nothing is written",
                       res_json_get_text(line, "graph"));
    if (other && json_number_value(other) != json_number_value(ms))
        return bn_fail(st, BN_INVALID,
                       "--into-sim: steps of several --graphs have graphs called %s with different "
                       "times; give one of --graphs 2, 3, 5 at a time",
                       res_json_get_text(line, "graph"));
    json_object_set_new(times, module, json_real(json_number_value(ms)));
    return BN_OK;
}

/* "bench_forward:9180.2;bench_update:57.1", microseconds. */
static void put_times(json_t *times, bn_text *out)
{
    const char *module;
    json_t *ms;
    json_object_foreach(times, module, ms)
    {
        bn_text_printf(out, "%s%s:%.6f", out->length ? ";" : "", module,
                       1000 * json_number_value(ms));
    }
}

static bn_code write_settings(const json_t *lines, json_t *times, const char *path, bn_status *st)
{
    const char *topology = res_json_get_text(json_array_get(lines, 0), "topology");
    const char *preset = preset_of(topology);
    char title[ESTIMATE_TITLE];
    bn_text stated = {0}, kind = {0};
    put_times(times, &stated);
    estimate_title(json_array_get(lines, 0), title, sizeof title);
    /* Steps have modules of the same names, so the device's kind names the step. */
    bn_text_printf(&kind, "%.*s, estimated times of %.*s", BN_FIT(topology, 40),
                   BN_FIT(title, 190));
    json_t *settings = json_pack("{ss* ss ss sb}", "preset", preset, "kind", kind.data, "stated",
                                 stated.data, "stated_only", 1);
    char *text = json_dumps(settings, JSON_INDENT(1) | RES_JSON_SHOWN);
    bn_code code = bn_file_write_atomic(path, text, strlen(text), st);
    free(text);
    json_decref(settings);
    bn_text_free(&stated);
    bn_text_free(&kind);
    return code == BN_OK ? BN_OK : bn_context(st, "--into-sim");
}

bn_code estimate_into_sim(const json_t *lines, const char *path, bn_status *st)
{
    json_t *times = json_object();
    bn_code code = json_array_size(lines)
                       ? BN_OK
                       : bn_fail(st, BN_INVALID, "--into-sim: nothing was estimated");
    for (size_t i = 0; i < json_array_size(lines) && code == BN_OK; i++)
        code = add_time(times, json_array_get(lines, i), st);
    if (code == BN_OK)
        code = write_settings(lines, times, path, st);
    json_decref(times);
    return code;
}
