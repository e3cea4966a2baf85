/*
 * executable.c - a compiled program: reading and weighing it, and its attributes.
 */
#include "runtime/sim/device/executable.h"

#include "runtime/base/base.h"
#include "runtime/sim/device/entries.h"
#include "runtime/sim/device/error.h"
#include "runtime/sim/device/memory.h"
#include "runtime/sim/device/schedule.h"
#include "runtime/sim/evaluate/evaluate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ----------------------------------------------------------------------------- */

PJRT_Executable *sim_executable_retain(PJRT_Executable *executable)
{
    atomic_fetch_add(&executable->references, 1);
    return executable;
}

void sim_executable_release(PJRT_Executable *x)
{
    if (!x || atomic_fetch_sub(&x->references, 1) != 1)
        return;
    sim_program_free(x->program);
    sim_cost_free(&x->cost);
    free(x->text);
    free(x->group_us);
    free(x->result_types);
    free(x->result_dims);
    free(x->result_ranks);
    free(x->memory_kinds);
    free(x->memory_kind_sizes);
    free(x);
}

/* FNV-1a (Fowler, Noll, Vo), 64 bits. */
static void fingerprint(PJRT_Executable *x)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < x->text_bytes; i++)
        hash = (hash ^ (unsigned char)x->text[i]) * UINT64_C(0x100000001b3);
    snprintf(x->fingerprint, sizeof x->fingerprint, "%016llx", (unsigned long long)hash);
}

static void fill_results(PJRT_Executable *x)
{
    const sim_block *body = &x->program->main->body;
    size_t n = (size_t)body->result_count, used = 0;
    x->result_types = bn_zalloc(n, sizeof *x->result_types);
    x->result_dims = bn_zalloc(n * SIM_MAX_RANK, sizeof *x->result_dims);
    x->result_ranks = bn_zalloc(n, sizeof *x->result_ranks);
    x->memory_kinds = bn_zalloc(n, sizeof *x->memory_kinds);
    x->memory_kind_sizes = bn_zalloc(n, sizeof *x->memory_kind_sizes);
    for (size_t i = 0; i < n; i++) {
        const sim_type *type = &x->program->types[body->results[i]];
        x->result_types[i] = (PJRT_Buffer_Type)bn_dtypes[type->dtype].pjrt;
        x->result_ranks[i] = (size_t)type->rank;
        memcpy(x->result_dims + used, type->dims, (size_t)type->rank * sizeof(int64_t));
        used += (size_t)type->rank;
        x->memory_kinds[i] = "device";
        x->memory_kind_sizes[i] = 6;
        x->result_bytes += sim_type_bytes(type);
    }
    for (int i = 0; i < body->argument_count; i++) {
        int64_t bytes = sim_type_bytes(&x->program->types[body->arguments[i]]);
        x->argument_bytes += bytes;
        if (x->program->main->arguments[i].alias >= 0)
            x->alias_bytes += bytes;
    }
}

/* Sets the times that are stated for the module, or else what is stated of an opaque program,
 * OPAQUE_US unless it is negative, or the model's time, and the configured overheads. Of several
 * entries that fit, a whole name wins over a beginning, a longer beginning over a shorter one, and
 * a later entry over an earlier one. SIM_NOT_FOUND where none fits and stated_only is set. */
static sim_code set_times(const sim_config *config, PJRT_Executable *x, double opaque_us,
                          sim_status *st)
{
    const sim_stated *best = NULL;
    size_t best_length = 0;
    for (size_t i = 0; i < config->stated_count; i++) {
        const sim_stated *s = &config->stated[i];
        size_t length = strlen(s->module);
        bool open = length > 0 && s->module[length - 1] == '*';
        bool fits = open ? strncmp(s->module, x->program->name, length - 1) == 0
                         : strcmp(s->module, x->program->name) == 0;
        size_t weight = open ? length : SIZE_MAX;
        if (fits && weight >= best_length) {
            best = s;
            best_length = weight;
        }
    }
    /* The model's time next to stated ones would show a speedup that nobody expects. */
    if (!best && config->stated_only)
        return sim_fail(st, SIM_NOT_FOUND,
                        "no time is stated of module %.*s for this device, %.*s: write the file of "
                        "settings again with bench estimate --into-sim and the same --mode and "
                        "--graphs as here, or set stated_only=false for the model's times",
                        BN_FIT(x->program->name, 96), BN_FIT(config->kind, 200));
    x->overhead_us = best ? best->overhead_us : -1;
    x->device_us = best                     ? best->device_us
                   : config->device_us >= 0 ? config->device_us
                   : opaque_us >= 0         ? opaque_us
                                            : sim_model_us(config, &x->cost);
    return SIM_OK;
}

static void fill_costs(PJRT_Executable *x)
{
    const PJRT_NamedValue costs[] = {
        {SIM_NAMED("flops", kFloat, 1), .float_value = (float)x->cost.flops},
        {SIM_NAMED("transcendentals", kFloat, 1), .float_value = (float)x->cost.transcendentals},
        {SIM_NAMED("bytes accessed", kFloat, 1), .float_value = (float)x->cost.bytes},
        {SIM_NAMED("optimal_seconds", kFloat, 1), .float_value = (float)(x->device_us / 1e6)},
        {SIM_NAMED("simulated groups", kFloat, 1), .float_value = (float)x->cost.group_count},
        {SIM_NAMED("simulated values", kFloat, 1), .float_value = x->evaluates ? 1.0f : 0.0f},
        {SIM_NAMED("simulated opaque", kFloat, 1), .float_value = x->opaque ? 1.0f : 0.0f},
    };
    memcpy(x->costs, costs, sizeof costs);
}

/* Weighs the stand-in X->program by what OPAQUE states: as one fused group. */
static void weigh_opaque(PJRT_Executable *x, const sim_opaque *opaque)
{
    sim_cost *cost = &x->cost;
    *cost =
        (sim_cost){.groups = bn_zalloc(1, sizeof *cost->groups), .group_count = 1, .op_count = 1};
    cost->flops = opaque->flops > 0 ? opaque->flops : 0;
    cost->bytes = opaque->bytes > 0 ? opaque->bytes : 0;
    cost->groups[0] = (sim_group){.place = "", .times = 1, .bytes = cost->bytes};
    cost->groups[0].matrix_flops[SIM_RATE_F32] = cost->flops;
}

/* Reads X's program and weighs it, or OPAQUE in its place. */
static sim_code read_program(PJRT_Executable *x, bool is_text, const sim_opaque *opaque,
                             sim_status *st)
{
    sim_code code = SIM_UNIMPLEMENTED;
    if (is_text)
        code = sim_program_read(x->text, x->text_bytes, &x->program, st);
    x->opaque = code != SIM_OK && code != SIM_RESOURCE_EXHAUSTED && opaque->text;
    if (x->opaque)
        *st = (sim_status){.code = SIM_OK};
    if (x->opaque)
        code = sim_program_read(opaque->text, strlen(opaque->text), &x->program, st);
    if (code == SIM_OK && x->opaque)
        weigh_opaque(x, opaque);
    else if (code == SIM_OK)
        sim_program_cost(x->program, &x->cost);
    return code;
}

static sim_code executable_fill(PJRT_Executable *x, const sim_config *config, bool is_text,
                                const sim_opaque *opaque, sim_status *st)
{
    sim_status unused;
    sim_code code = read_program(x, is_text, opaque, st);
    if (code != SIM_OK)
        return code;
    fill_results(x);
    fingerprint(x);
    x->group_us = bn_alloc(x->cost.group_count * sizeof *x->group_us);
    for (size_t i = 0; i < x->cost.group_count; i++)
        x->group_us[i] = sim_group_us(config, &x->cost.groups[i]);
    code = set_times(config, x, x->opaque ? opaque->device_us : -1, st);
    if (code != SIM_OK)
        return code;
    x->evaluates = !x->opaque && strcmp(config->values, "none") != 0 &&
                   x->cost.flops + x->cost.bytes / 4 <= (double)config->evaluate_limit &&
                   sim_program_can_evaluate(x->program, &unused) == SIM_OK;
    fill_costs(x);
    return SIM_OK;
}

sim_code sim_executable_new(const sim_config *config, const char *text, size_t bytes, bool is_text,
                            const sim_opaque *opaque, PJRT_Executable **executable, sim_status *st)
{
    PJRT_Executable *x = bn_zalloc(1, sizeof *x);
    atomic_init(&x->references, 1);
    x->text = bn_alloc(bytes + 1);
    memcpy(x->text, text, bytes);
    x->text[bytes] = '\0';
    x->text_bytes = bytes;
    sim_code code = executable_fill(x, config, is_text, opaque, st);
    if (code != SIM_OK) {
        sim_executable_release(x);
        return code;
    }
    *executable = x;
    return SIM_OK;
}

/* ---- attributes ------------------------------------------------------------------------- */

SIM_ENTRY(Executable_Destroy)
{
    sim_executable_release(args->executable);
    return NULL;
}

SIM_ENTRY(Executable_Name)
{
    args->executable_name = args->executable->program->name;
    args->executable_name_size = strlen(args->executable->program->name);
    return NULL;
}

SIM_ENTRY(Executable_NumReplicas)
{
    args->num_replicas = 1;
    return NULL;
}

SIM_ENTRY(Executable_NumPartitions)
{
    args->num_partitions = 1;
    return NULL;
}

SIM_ENTRY(Executable_NumOutputs)
{
    args->num_outputs = (size_t)args->executable->program->main->body.result_count;
    return NULL;
}

SIM_ENTRY(Executable_SizeOfGeneratedCodeInBytes)
{
    args->size_in_bytes = (int64_t)args->executable->text_bytes;
    return NULL;
}

SIM_ENTRY(Executable_GetCostAnalysis)
{
    args->properties = args->executable->costs;
    args->num_properties = sizeof args->executable->costs / sizeof *args->executable->costs;
    return NULL;
}

SIM_ENTRY(Executable_OutputMemoryKinds)
{
    args->num_outputs = (size_t)args->executable->program->main->body.result_count;
    args->memory_kinds = args->executable->memory_kinds;
    args->memory_kind_sizes = args->executable->memory_kind_sizes;
    return NULL;
}

/* The simulated compiler changes nothing: the optimized program is the program. */
SIM_ENTRY(Executable_OptimizedProgram)
{
    PJRT_Program *program = args->program;
    if (args->executable->opaque)
        return sim_error(SIM_UNIMPLEMENTED, "an opaque program is not compiled");
    if (program->code && program->code_size < args->executable->text_bytes)
        return sim_error(SIM_INVALID_ARGUMENT, "%zu bytes do not hold the program's %zu",
                         program->code_size, args->executable->text_bytes);
    if (program->code)
        memcpy(program->code, args->executable->text, args->executable->text_bytes);
    program->code_size = args->executable->text_bytes;
    program->format = "mlir";
    program->format_size = 4;
    return NULL;
}

SIM_ENTRY(Executable_OutputElementTypes)
{
    args->output_types = args->executable->result_types;
    args->num_output_types = (size_t)args->executable->program->main->body.result_count;
    return NULL;
}

SIM_ENTRY(Executable_OutputDimensions)
{
    args->num_outputs = (size_t)args->executable->program->main->body.result_count;
    args->dims = args->executable->result_dims;
    args->dim_sizes = args->executable->result_ranks;
    return NULL;
}

SIM_ENTRY(Executable_Fingerprint)
{
    args->executable_fingerprint = args->executable->fingerprint;
    args->executable_fingerprint_size = strlen(args->executable->fingerprint);
    return NULL;
}

SIM_ENTRY(Executable_GetCompiledMemoryStats)
{
    const PJRT_Executable *x = args->executable;
    args->generated_code_size_in_bytes = (int64_t)x->text_bytes;
    args->argument_size_in_bytes = x->argument_bytes;
    args->output_size_in_bytes = x->result_bytes;
    args->alias_size_in_bytes = x->alias_bytes;
    args->temp_size_in_bytes = x->cost.peak_temp_bytes;
    args->host_generated_code_size_in_bytes = args->host_argument_size_in_bytes = 0;
    args->host_output_size_in_bytes = args->host_alias_size_in_bytes = 0;
    args->host_temp_size_in_bytes = 0;
    /* Clients of an older time have no room for it. */
    if (args->struct_size >= PJRT_Executable_GetCompiledMemoryStats_Args_STRUCT_SIZE)
        args->peak_memory_in_bytes =
            x->argument_bytes + x->result_bytes - x->alias_bytes + x->cost.peak_temp_bytes;
    return NULL;
}
