/*
 * places.c - the device time of steps by layer and by line, as the locations of their programs'
 * statements say, shared by a model of what each statement costs.
 */
#include "harness/commands/graph_priv.h"
#include "harness/commands/places_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define MOST_PATH   400 /* bytes of a name */
#define MOST_PLACES 100000

/* ---- names -------------------------------------------------------------------------------------
 */

/* A layer's path while it is put together. */
typedef struct path {
    bn_text text;
    command_phase phase;
} path;

static bool is_piece(shlo_piece piece, const char *word)
{
    return piece.length == strlen(word) && memcmp(piece.at, word, piece.length) == 0;
}

/* What a framework adds by itself around a part of a program. */
static bool is_machinery(shlo_piece part)
{
    static const char *const words[] = {"while",
                                        "body",
                                        "cond",
                                        "closed_call",
                                        "core_call",
                                        "custom_jvp_call",
                                        "custom_vjp_call",
                                        "rematted_computation",
                                        "checkpoint",
                                        "jit",
                                        "pjit"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_piece(part, words[i]))
            return true;
    return false;
}

/* The end of the part of a path that begins at AT: a slash outside of brackets, or END. */
static const char *behind_part(const char *at, const char *end)
{
    int depth = 0;
    for (; at < end && (depth > 0 || *at != '/'); at++)
        depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
    return at;
}

static void add_parts(path *p, shlo_piece name, bool whole);

/* Adds PART without what JAX's transformations wrap around it: jvp(Dense_0) is Dense_0, forward,
 * transpose(jvp(Dense_0)) is Dense_0, backward; jit(f) is no layer. */
static void add_part(path *p, shlo_piece part)
{
    const char *open = memchr(part.at, '(', part.length);
    const bool wraps = open && part.length > 0 && part.at[part.length - 1] == ')';
    const shlo_piece word = {part.at, wraps ? (size_t)(open - part.at) : 0};
    if (wraps && (is_piece(word, "jit") || is_piece(word, "pjit")))
        return;
    if (wraps) {
        if (is_piece(word, "transpose"))
            p->phase = COMMAND_BACKWARD;
        else if (is_piece(word, "jvp") && p->phase == COMMAND_OTHER)
            p->phase = COMMAND_FORWARD;
        add_parts(p, (shlo_piece){open + 1, (size_t)(part.at + part.length - open) - 2}, true);
        return;
    }
    if (part.length == 0 || is_machinery(part) || p->text.length + part.length > MOST_PATH)
        return;
    bn_text_puts(&p->text, p->text.length ? "/" : "");
    shlo_piece_put(part, MOST_PATH, &p->text);
}

/* Adds the parts of NAME; if it is not WHOLE, its last one is an op, and no layer. */
static void add_parts(path *p, shlo_piece name, bool whole)
{
    const char *end = name.at + name.length;
    for (const char *at = name.at; at < end;) {
        const char *behind = behind_part(at, end);
        if (behind < end || whole)
            add_part(p, (shlo_piece){at, (size_t)(behind - at)});
        at = behind + (behind < end);
    }
}

/* The layer of what was MET: those of the calls to it, then its own. */
static void put_layer(const shlo_graph *g, const shlo_met *met, path *p)
{
    for (size_t i = 0; i <= met->call_count; i++) {
        const shlo_place *place = &g->nodes[i < met->call_count ? met->calls[i] : met->node].place;
        /* Without a scope the name is the source's. */
        if (place->name.at != place->source.at)
            add_parts(p, place->name, false);
    }
}

/* The line of what was MET, or else of the innermost call to it that has one. */
static void put_line(const shlo_graph *g, const shlo_met *met, path *p)
{
    shlo_source_put(&g->nodes[met->node], &p->text);
    for (size_t i = met->call_count; i-- > 0 && p->text.length == 0;)
        shlo_source_put(&g->nodes[met->calls[i]], &p->text);
}

/* ---- sums --------------------------------------------------------------------------------------
 */

/* The places of one or more programs. */
typedef struct sums {
    command_places *out;
    uint32_t *slots; /* indices of OUT's list + 1, by hash */
    size_t slot_count;
    double *cost; /* [room of OUT's list]: of the program that is being read */
    size_t cost_room;
    double all;
} sums;

static uint64_t hash_of(const char *name, command_phase phase)
{
    return XXH3_64bits_withSeed(name, strlen(name), (uint64_t)phase);
}

static void make_slots(sums *s, size_t count)
{
    free(s->slots);
    s->slot_count = count;
    s->slots = bn_zalloc(count, sizeof *s->slots);
    for (size_t i = 0; i < s->out->count; i++) {
        const command_place *place = &s->out->list[i];
        size_t at = hash_of(place->name, place->phase) & (count - 1);
        while (s->slots[at])
            at = (at + 1) & (count - 1);
        s->slots[at] = (uint32_t)i + 1;
    }
}

/* The index of the place NAME, a new one where there is none; beyond MOST_PLACES that without a
 * name. */
static size_t place_of(sums *s, const char *name, command_phase phase)
{
    if (2 * (s->out->count + 1) > s->slot_count)
        make_slots(s, s->slot_count ? 2 * s->slot_count : 1024);
    size_t at = hash_of(name, phase) & (s->slot_count - 1);
    for (; s->slots[at]; at = (at + 1) & (s->slot_count - 1)) {
        const command_place *place = &s->out->list[s->slots[at] - 1];
        if (place->phase == phase && strcmp(place->name, name) == 0)
            return s->slots[at] - 1;
    }
    if (s->out->count >= MOST_PLACES && name[0])
        return place_of(s, "", COMMAND_OTHER);
    bn_grow(&s->out->list, s->out->count + 1, &s->out->room, sizeof *s->out->list);
    bn_grow(&s->cost, s->out->count + 1, &s->cost_room, sizeof *s->cost);
    s->out->list[s->out->count] = (command_place){bn_arena_strdup(s->out->memory, name), phase, 0};
    s->cost[s->out->count] = 0;
    s->slots[at] = (uint32_t)++s->out->count;
    return s->out->count - 1;
}

static void meet(void *with, const shlo_graph *g, const shlo_met *met)
{
    sums *s = with;
    const shlo_cost cost = shlo_node_cost(g, met->node);
    const double own = met->times * fmax(cost.flops / COMMAND_FLOPS_PER_BYTE, cost.bytes);
    path p = {.phase = COMMAND_OTHER};
    if (!(own > 0) || !isfinite(own))
        return;
    if (s->out->by == COMMAND_BY_LAYER)
        put_layer(g, met, &p);
    else
        put_line(g, met, &p);
    /* The arrays may move. */
    const size_t at = place_of(s, p.text.data ? p.text.data : "", p.phase);
    s->cost[at] += own;
    s->all += own;
    bn_text_free(&p.text);
}

/* ---- a profile's ops ---------------------------------------------------------------------------
 */

/* Whether the profile has named ops that took time, and the kernels of all programs of STEPS. */
static bool has_ops(const rec_steps *steps)
{
    const rec_profile *profile = &steps->process->profile;
    bool named = false;
    for (size_t i = 0; i < profile->op_count && !named; i++)
        named = profile->ops[i].name[0];
    return named && rec_steps_profile(steps) == REC_PROFILE_TAKEN && steps->kernels_ns.estimate > 0;
}

/* The ops are those of all programs that ran while the profiler did: of the steps, and few
 * others. */
static void take_ops(sums *s, const rec_steps *steps)
{
    const rec_profile *profile = &steps->process->profile;
    double all = 0;
    for (size_t i = 0; i < profile->op_count; i++)
        all += profile->ops[i].ns;
    for (size_t i = 0; i < profile->op_count; i++) {
        const rec_profile_op *op = &profile->ops[i];
        path p = {.phase = COMMAND_OTHER};
        add_parts(&p, (shlo_piece){op->name, strlen(op->name)}, false);
        const size_t at = place_of(s, p.text.data ? p.text.data : "", p.phase);
        s->out->list[at].ns += steps->kernels_ns.estimate * op->ns / all;
        bn_text_free(&p.text);
    }
    s->out->measured = true;
    s->out->ns = steps->kernels_ns.estimate;
}

/* ---- programs ----------------------------------------------------------------------------------
 */

/* *MISSING: JAX's libraries, which read such programs, are not there or too slow. */
static bn_code read_graph(const rec_recording *recording, const rec_program *program,
                          shlo_graph **graph, bool *missing, bn_status *st)
{
    char *bytes = NULL;
    size_t size = 0;
    bn_code code = rec_program_read(recording, program, &bytes, &size, st);
    if (code == BN_OK) {
        code = command_graph_text(&bytes, &size, st);
        *missing = code == BN_NOT_FOUND || code == BN_TIMEOUT;
    }
    if (code == BN_OK)
        code = shlo_graph_read(bytes, size, graph, st);
    free(bytes);
    return code;
}

/* Shares NS among the places of PROGRAM. */
static bn_code share(sums *s, const rec_recording *recording, const rec_program *program, double ns,
                     bn_status *st)
{
    shlo_graph *graph = NULL;
    size_t unknown = 0;
    bn_code code = read_graph(recording, program, &graph, &s->out->missing, st);
    if (code != BN_OK)
        return code;
    for (size_t i = 0; i < s->out->count; i++)
        s->cost[i] = 0;
    s->all = 0;
    if (!shlo_walk(graph, meet, s, &unknown))
        code = bn_fail(st, BN_FORMAT, "it has no @main, or more statements than are read");
    shlo_graph_free(graph);
    if (code != BN_OK)
        return code;
    s->out->unknown_loops += unknown;
    s->out->ns += ns;
    /* A program that only copies or fills: it has no statement that costs anything. */
    if (!(s->all > 0)) {
        const size_t none = place_of(s, "", COMMAND_OTHER);
        s->out->list[none].ns += ns;
    }
    for (size_t i = 0; i < s->out->count && s->all > 0; i++)
        s->out->list[i].ns += ns * s->cost[i] / s->all;
    return BN_OK;
}

static int by_time(const void *a, const void *b)
{
    const command_place *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    const int order = strcmp(x->name, y->name);
    return order ? order : (int)x->phase - (int)y->phase;
}

/* Time of a step in the program of ROW, on the device. */
static double time_of(const rec_step_program *row)
{
    return isfinite(row->kernels_ns) ? row->kernels_ns * row->times : row->device_step_ns;
}

/* Shares the device time of all programs of STEPS by the model. */
static bn_code take_programs(sums *s, const rec_recording *recording, const rec_steps *steps,
                             bn_status *st)
{
    command_places *places = s->out;
    for (size_t i = 0; i < steps->program_count; i++) {
        const rec_step_program *row = &steps->programs[i];
        const double ns = time_of(row);
        bn_status why = {.code = BN_OK};
        if (!isfinite(ns))
            (void)bn_fail(&why, BN_INVALID, "no completion was recorded");
        else if (places->missing)
            why = places->why;
        else
            (void)!share(s, recording, &steps->process->programs[row->program], ns, &why);
        if (why.code == BN_OUT_OF_MEMORY)
            return bn_fail(st, why.code, "%s", why.message);
        if (why.code == BN_OK)
            continue;
        places->unread++;
        places->unread_ns += isfinite(ns) ? ns : 0;
        if (places->why.code == BN_OK)
            places->why = why;
    }
    return BN_OK;
}

bn_code command_places_make(const rec_recording *recording, const rec_steps *steps, command_by by,
                            command_places *places, bn_status *st)
{
    *places = (command_places){.by = by, .memory = bn_arena_new(1u << 14)};
    sums s = {.out = places};
    bn_code code = BN_OK;
    if (by == COMMAND_BY_LAYER && has_ops(steps))
        take_ops(&s, steps);
    else
        code = take_programs(&s, recording, steps, st);
    if (places->count)
        qsort(places->list, places->count, sizeof *places->list, by_time);
    free(s.slots);
    free(s.cost);
    return code;
}

void command_places_free(command_places *places)
{
    free(places->list);
    bn_arena_free(places->memory);
    *places = (command_places){.count = 0};
}
