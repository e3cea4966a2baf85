/* fault.c - faults: what is to go wrong, and when. */
#define _GNU_SOURCE
#include "runtime/base/base.h"
#include "runtime/sim/device/client.h"
#include "runtime/sim/device/config.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const places[SIM_AT_COUNT] = {
    [SIM_AT_CLIENT] = "client",
    [SIM_AT_COMPILE] = "compile",
    [SIM_AT_EXECUTE] = "execute",
    [SIM_AT_TRANSFER] = "transfer",
};

typedef struct kind_row {
    const char *name;
    sim_fault_kind kind;
    sim_code code;     /* where none is given */
    bool execute_only; /* it is about an execution's event or results */
} kind_row;

static const kind_row kinds[] = {
    {"fail", SIM_FAULT_FAIL, SIM_INTERNAL, false},
    {"oom", SIM_FAULT_OOM, SIM_RESOURCE_EXHAUSTED, false},
    {"hang", SIM_FAULT_HANG, SIM_OK, false},
    {"abort", SIM_FAULT_ABORT, SIM_OK, false},
    {"never", SIM_FAULT_NEVER, SIM_OK, true},
    {"event", SIM_FAULT_EVENT, SIM_INTERNAL, true},
    {"wrong", SIM_FAULT_WRONG, SIM_OK, true},
};
#define KIND_COUNT (sizeof kinds / sizeof *kinds)

static sim_code parse_one(char *item, sim_fault *fault, sim_status *st)
{
    char *rest = item, *place = strsep(&rest, ":"), *number = strsep(&rest, ":"),
         *what = strsep(&rest, ":"), *code = strsep(&rest, ":"), *end = NULL;
    size_t at = 0, kind = 0;
    while (at < SIM_AT_COUNT && strcmp(places[at], place) != 0)
        at++;
    while (what && kind < KIND_COUNT && strcmp(kinds[kind].name, what) != 0)
        kind++;
    if (!what || rest || at == SIM_AT_COUNT || kind == KIND_COUNT)
        return sim_fail(st, SIM_INVALID_ARGUMENT,
                        "faults: wants client|compile|execute|transfer:NUMBER:"
                        "fail|oom|hang|abort|never|event|wrong[:CODE]");
    if (kinds[kind].execute_only && at != SIM_AT_EXECUTE)
        return sim_fail(st, SIM_INVALID_ARGUMENT, "faults: only an execution can be '%s'", what);
    *fault = (sim_fault){(sim_fault_at)at, 0, kinds[kind].kind, kinds[kind].code};
    if (strcmp(number, "*") != 0) {
        fault->number = strtoull(number, &end, 10);
        if (*number < '0' || *number > '9' || *end || fault->number == 0)
            return sim_fail(st, SIM_INVALID_ARGUMENT, "faults: '%s' is not 1, 2, ... or *", number);
    }
    if (code) {
        unsigned long value = strtoul(code, &end, 10);
        if (*code < '0' || *code > '9' || *end || value < 1 || value > 16)
            return sim_fail(st, SIM_INVALID_ARGUMENT, "faults: code '%s' is not 1 to 16", code);
        fault->code = (sim_code)value;
    }
    return SIM_OK;
}

sim_code sim_faults_parse(sim_config *config, const char *text, sim_status *st)
{
    char *copy = bn_strdup(text), *rest = copy;
    sim_code code = SIM_OK;
    while (code == SIM_OK && rest && *rest) {
        char *item = strsep(&rest, ";");
        if (config->fault_count == SIM_MAX_FAULTS)
            code = sim_fail(st, SIM_INVALID_ARGUMENT, "faults: more than %d", SIM_MAX_FAULTS);
        else
            code = parse_one(item, &config->faults[config->fault_count], st);
        config->fault_count += code == SIM_OK;
    }
    free(copy);
    return code;
}

const sim_fault *sim_fault_find(const sim_config *config, sim_fault_at at, uint64_t number)
{
    for (size_t i = 0; i < config->fault_count; i++) {
        const sim_fault *fault = &config->faults[i];
        if (fault->at == at && (fault->number == 0 || fault->number == number))
            return fault;
    }
    return NULL;
}

const sim_fault *sim_fault_meet(PJRT_Client *client, sim_fault_at at)
{
    uint64_t number = atomic_fetch_add(&client->calls[at], 1) + 1;
    const sim_fault *fault = sim_fault_find(&client->config, at, number);
    if (fault && fault->kind == SIM_FAULT_ABORT) {
        signal(SIGABRT, SIG_DFL);
        raise(SIGABRT);
    }
    while (fault && fault->kind == SIM_FAULT_HANG)
        pause();
    return fault;
}
