/*
 * late.c - programs that are compiled late: in the later half of the recording's executions,
 * counted from the first step on, when all should be compiled. Executions before the first step
 * prepare it, often with more small programs than there are steps. Each late program is compared
 * with the one of its name before, to show why it was compiled again.
 *
 * How many there are is a count, so its interval is that of a Poisson mean (F. Garwood, "Fiducial
 * limits for the Poisson distribution", Biometrika 28, 1936). It is too wide where they come
 * regularly.
 */
#include "results/complaints/complaints_priv.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Compilations that are compared; those before each that are searched for its name; and of these
 * the ones that it is compared with. */
#define MOST_COMPARED 256
#define MOST_SEARCHED 1000
#define MOST_LIKE     64
#define LEVEL         0.05
/* Bytes of a name that are shown. */
#define MOST_NAME     80

/* The difference of a program from the one of its name before. */
typedef enum change {
    CHANGE_UNKNOWN, /* it was never executed, or types were unknown */
    CHANGE_NEW,     /* there was none of its name */
    CHANGE_UNLIKE,  /* those of its name take other arguments: they are other programs */
    CHANGE_AGAIN,   /* nothing: the same program is compiled again */
    CHANGE_OPTIONS,
    CHANGE_ARGUMENT_COUNT,
    CHANGE_ARGUMENT_TYPE,
    CHANGE_CODE, /* arguments are of the same types */
    CHANGES
} change;

typedef struct difference {
    change what;
    uint32_t program, before;
    uint32_t argument, type, type_before;
} difference;

typedef struct comparing {
    const rec_process *process;
    uint32_t *compiles; /* indices of the calls that compiled, in order */
    size_t count;
    uint32_t *first; /* [program]: its first execution */
    uint32_t counts[CHANGES];
    difference example[CHANGES]; /* the first of each */
} comparing;

/* ---- names ---------------------------------------------------------------------------------- */

void rec_program_put(const rec_process *process, uint32_t program, bn_text *out)
{
    const rec_program *p = &process->programs[program];
    const char *name = p->name[0] ? p->name : p->hash[0] ? p->hash : "a program";
    bn_text_append(out, name, bn_utf8_fit(name, MOST_NAME));
}

static bool same_name(const rec_process *p, uint32_t a, uint32_t b)
{
    const char *x = p->programs[a].name, *y = p->programs[b].name;
    const size_t length = rec_stem(x);
    return length > 0 && length == rec_stem(y) && strncmp(x, y, length) == 0;
}

/* ---- one difference -------------------------------------------------------------------------- */

static uint32_t argument_type(const rec_process *p, uint32_t execution, uint32_t index)
{
    const uint32_t buffer = rec_argument(p, &p->executions[execution], 0, index);
    return buffer < p->buffer_count ? p->buffers[buffer].type : REC_NONE;
}

/* How like the arguments of two programs are. */
typedef struct likeness {
    uint32_t equal; /* arguments of the same type */
    uint32_t alike; /* of the same element type and rank; those that are equal, too */
    uint32_t most;  /* arguments of the one that has more */
} likeness;

static bool are_alike(const rec_process *p, uint32_t a, uint32_t b)
{
    if (a == b || a >= p->type_count || b >= p->type_count)
        return a == b;
    return p->types[a].type == p->types[b].type && p->types[a].rank == p->types[b].rank;
}

/* That of the first executions of NOW and BEFORE. */
static likeness likeness_of(const rec_process *p, uint32_t now, uint32_t before)
{
    const uint32_t a = p->executions[now].arguments, b = p->executions[before].arguments;
    likeness found = {.most = a > b ? a : b};
    for (uint32_t i = 0; i < (a < b ? a : b); i++) {
        const uint32_t type = argument_type(p, now, i), other = argument_type(p, before, i);
        found.equal += type == other;
        found.alike += are_alike(p, type, other);
    }
    return found;
}

/* Compares the arguments of the first executions of both programs of D. */
static void compare_arguments(const comparing *c, difference *d)
{
    const rec_process *p = c->process;
    const uint32_t now = c->first[d->program], before = c->first[d->before];
    d->what = CHANGE_ARGUMENT_COUNT;
    if (p->executions[now].arguments != p->executions[before].arguments)
        return;
    d->what = CHANGE_CODE;
    for (uint32_t i = 0; i < p->executions[now].arguments; i++) {
        const uint32_t type = argument_type(p, now, i), other = argument_type(p, before, i);
        if (type == REC_NONE || other == REC_NONE) {
            d->what = CHANGE_UNKNOWN;
        } else if (type != other) {
            d->what = CHANGE_ARGUMENT_TYPE;
            d->argument = i;
            d->type = type;
            d->type_before = other;
            return;
        }
    }
}

/* A program of a name is compared with the one before it whose arguments are most like its own, of
 * several the latest. A name may be that of many functions, or of all (a lambda, a lazy graph). */
typedef struct nearest {
    uint32_t program; /* REC_NONE: none yet */
    likeness like;
    bool unknown; /* one was never executed */
} nearest;

static void take_nearer(const comparing *c, uint32_t program, uint32_t before, nearest *found)
{
    const uint32_t now = c->first[program], other = c->first[before];
    if (now == REC_NONE || other == REC_NONE) {
        found->unknown = true;
        return;
    }
    const likeness like = likeness_of(c->process, now, other);
    const bool nearer = found->program == REC_NONE ||
                        like.equal + like.alike > found->like.equal + found->like.alike;
    if (!nearer)
        return;
    found->like = like;
    found->program = before;
}

/* The difference of D's program from FOUND, where at least half of their arguments are alike. */
static void judge_nearest(const comparing *c, const nearest *found, difference *d)
{
    if (found->program == REC_NONE) {
        d->what = found->unknown ? CHANGE_UNKNOWN : CHANGE_NEW;
        return;
    }
    d->what = found->unknown ? CHANGE_UNKNOWN : CHANGE_UNLIKE;
    if (2 * found->like.alike < found->like.most)
        return;
    d->before = found->program;
    compare_arguments(c, d);
}

/* Difference of the compilation at AT of C's from those of its name before. */
static difference difference_of(const comparing *c, size_t at)
{
    const rec_process *p = c->process;
    difference d = {.program = p->calls[c->compiles[at]].program};
    const rec_program *now = &p->programs[d.program];
    nearest found = {.program = REC_NONE};
    const size_t from = at > MOST_SEARCHED ? at - MOST_SEARCHED : 0;
    size_t like = 0;
    for (size_t i = at; i-- > from && like < MOST_LIKE;) {
        d.before = p->calls[c->compiles[i]].program;
        const bool again = d.before == d.program;
        if (!again && !same_name(p, d.before, d.program))
            continue;
        if (again || (now->hash[0] && strcmp(now->hash, p->programs[d.before].hash) == 0)) {
            d.what = again ? CHANGE_AGAIN : CHANGE_OPTIONS;
            return d;
        }
        take_nearer(c, d.program, d.before, &found);
        like++;
    }
    judge_nearest(c, &found, &d);
    return d;
}

/* ---- what most of them differ in --------------------------------------------------------------
 */

static void put_example(const rec_process *p, const difference *d, bn_text *out)
{
    static const char *const texts[CHANGES] = {
        [CHANGE_UNKNOWN] = "the recording does not show how they differ, as for ",
        [CHANGE_NEW] = "there was none of this name before: ",
        [CHANGE_AGAIN] = "the same program was compiled before: ",
        [CHANGE_OPTIONS] = "the same code was compiled before with other options: ",
        [CHANGE_ARGUMENT_COUNT] = "the number of arguments differs: ",
        [CHANGE_ARGUMENT_TYPE] = "the type of an argument differs: ",
        [CHANGE_CODE] = ("arguments have the same types as before and the code differs, so it "
                         "depends on a value or a branch: "),
    };
    bn_text_puts(out, texts[d->what]);
    rec_program_put(p, d->program, out);
    if (d->what != CHANGE_ARGUMENT_TYPE)
        return;
    bn_text_printf(out, ", argument %u, is ", d->argument);
    rec_type_put(p, d->type, out);
    bn_text_puts(out, " after ");
    rec_type_put(p, d->type_before, out);
}

static void put_where(const comparing *c, uint32_t *example, bn_text *out)
{
    uint32_t all = 0;
    int most = 0;
    for (int i = 0; i < CHANGES; i++) {
        all += c->counts[i];
        most = c->counts[i] > c->counts[most] ? i : most;
    }
    if (all)
        *example = c->example[most].program;
    /* What they differ in from programs that only have the same name explains nothing. */
    if (!all || most == CHANGE_UNLIKE)
        return;
    bn_text_printf(out, "of %u of %u ", c->counts[most], all);
    put_example(c->process, &c->example[most], out);
}

/* Compares the compilations that begin from BEGIN_NS on and before END_NS. */
static void compare_compilations(comparing *c, uint64_t begin_ns, uint64_t end_ns)
{
    size_t compared = 0;
    for (size_t i = 0; i < c->count && compared < MOST_COMPARED; i++) {
        const uint64_t at = c->process->calls[c->compiles[i]].begin_ns;
        if (at < begin_ns || at >= end_ns)
            continue;
        const difference d = difference_of(c, i);
        if (c->counts[d.what]++ == 0)
            c->example[d.what] = d;
        compared++;
    }
}

/* Those of programs that steps execute, as far as anybody can tell: what an evaluation compiles is
 * no part of a step. */
static bool list_compilations(comparing *c, const rec_steps *steps)
{
    const rec_process *p = steps->process;
    *c = (comparing){.process = p,
                     .compiles = malloc((p->call_count + 1) * sizeof *c->compiles),
                     .first = malloc((p->program_count + 1) * sizeof *c->first)};
    if (!c->compiles || !c->first)
        return false;
    for (size_t i = 0; i < p->program_count; i++)
        c->first[i] = REC_NONE;
    for (size_t i = p->execution_count; i-- > 0;)
        c->first[p->executions[i].program] = (uint32_t)i;
    for (size_t i = 0; i < p->call_count; i++) {
        const rec_call *call = &p->calls[i];
        if (call->kind == REC_CALL_COMPILE && !call->failed && call->program < p->program_count &&
            !steps->outside[call->program])
            c->compiles[c->count++] = (uint32_t)i;
    }
    return true;
}

/* ---- how many, and how long -------------------------------------------------------------------
 */

double rec_ns_after(const rec_call *call, uint64_t *done)
{
    const uint64_t from = call->begin_ns > *done ? call->begin_ns : *done;
    const double ns = call->end_ns > from ? (double)(call->end_ns - from) : 0;
    *done = call->end_ns > *done ? call->end_ns : *done;
    return ns;
}

static void note_end(rec_walk *w, uint64_t end_ns, uint64_t cpu_ns, uint32_t thread)
{
    if (end_ns < w->end_ns)
        return;
    w->end_ns = end_ns;
    w->cpu_ns = cpu_ns;
    w->thread = thread;
}

double rec_work_before(const rec_process *p, rec_walk *w, const rec_call *call)
{
    for (; w->call < p->call_count && p->calls[w->call].begin_ns < call->begin_ns; w->call++) {
        const rec_call *before = &p->calls[w->call];
        note_end(w, before->end_ns, before->cpu_end_ns, before->thread);
    }
    for (;
         w->execution < p->execution_count && p->executions[w->execution].begin_ns < call->begin_ns;
         w->execution++) {
        const rec_execution *before = &p->executions[w->execution];
        note_end(w, before->end_ns, before->cpu_end_ns, before->thread);
    }
    if (w->end_ns == 0 || w->end_ns >= call->begin_ns)
        return 0;
    const uint64_t ns = call->begin_ns - w->end_ns;
    if (w->thread != call->thread || w->cpu_ns == 0 || call->cpu_begin_ns < w->cpu_ns)
        return (double)ns;
    const uint64_t cpu_ns = call->cpu_begin_ns - w->cpu_ns;
    return (double)(cpu_ns < ns ? cpu_ns : ns);
}

/* Counts C's compilations between FROM_NS and TO_NS into LATE, whose steps are known. */
static void count_compilations(const comparing *c, uint64_t from_ns, uint64_t to_ns, rec_late *late)
{
    uint64_t done = 0;
    double sum_ns = 0;
    rec_walk at = {0};
    for (size_t i = 0; i < c->count; i++) {
        const rec_call *call = &c->process->calls[c->compiles[i]];
        if (call->begin_ns < from_ns || call->begin_ns >= to_ns)
            continue;
        late->compiles++;
        sum_ns += rec_work_before(c->process, &at, call) + rec_ns_after(call, &done);
    }
    late->at_most_ns = done;
    if (!late->compiles)
        return;
    const double k = late->compiles, each_ns = sum_ns / k / late->steps;
    late->ns = (res_interval){.estimate = sum_ns / late->steps,
                              .low = each_ns * gsl_cdf_chisq_Pinv(LEVEL / 2, 2 * k) / 2,
                              .high = each_ns * gsl_cdf_chisq_Qinv(LEVEL / 2, 2 * k + 2) / 2};
}

bool rec_late_find(const rec_steps *steps, rec_late *late, bn_text *where)
{
    const size_t first = steps->marks / 2;
    comparing c;
    *late = (rec_late){.example = REC_NONE};
    if (steps->marks < 4)
        return true;
    /* A program is compiled before its first execution: that is in the step before. */
    const uint64_t from_ns = steps->times_ns[first - 1];
    const uint64_t to_ns = steps->times_ns[steps->marks - 1];
    late->steps = (double)(steps->marks - first);
    late->wall_ns = (double)(to_ns - from_ns);
    const bool made = list_compilations(&c, steps);
    if (made) {
        count_compilations(&c, from_ns, to_ns, late);
        compare_compilations(&c, from_ns, to_ns);
        put_where(&c, &late->example, where);
    }
    free(c.compiles);
    free(c.first);
    return made;
}
