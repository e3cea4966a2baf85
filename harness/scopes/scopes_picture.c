/*
 * scopes_picture.c - stacks of modules as other tools read them, and as a flame graph.
 */
#include "harness/scopes/scopes_priv.h"
#include "plots/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bn_code scopes_weight(const scopes_report *r, scopes_figure *figure, bn_status *st)
{
    const char *word = r->options->weight;
    *figure = r->measured.known    ? SCOPES_MEASURED
              : r->estimated.known ? SCOPES_ESTIMATED
                                   : SCOPES_TRACE;
    for (int f = 0; word && f < SCOPES_FIGURES; f++) {
        if (strcmp(word, scopes_figure_words[f]) != 0)
            continue;
        *figure = (scopes_figure)f;
        if (scopes_has(r, *figure))
            return BN_OK;
        const scopes_device *d = f == SCOPES_ESTIMATED ? &r->estimated : &r->measured;
        return bn_fail(st, BN_NOT_SUPPORTED, "--weight %s: this time is unknown: %s", word,
                       d->asked ? d->why : "not measured or estimated");
    }
    return word ? bn_fail_choice(st, "--weight", word, SCOPES_WEIGHTS) : BN_OK;
}

static bool is_stacks(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".folded") == 0;
}

bn_code scopes_file_check(const char *path, bn_status *st)
{
    plot_format unused;
    bn_status plain = {.code = BN_OK};
    if (is_stacks(path) || plot_format_parse(path, &unused, &plain) == BN_OK)
        return BN_OK;
    return bn_fail(st, BN_INVALID, "--output %s: a name ends in .folded, .svg, .png or .gp", path);
}

/* ---- stacks ------------------------------------------------------------------------- */

/* Names have a semicolon between them, and the last space of a line is before the value. */
static void put_name(bn_text *out, const char *name)
{
    bn_text plain = {0};
    bn_text_plain(&plain, name);
    for (const char *c = plain.data; c && *c; c++)
        bn_text_putc(out, *c == ';' ? ':' : *c);
    bn_text_free(&plain);
}

/* Adds the lines of the nodes below NODE, whose stack is STACK. */
static void put_stacks(const scopes_node *node, scopes_figure figure, bn_text *stack, bn_text *out)
{
    for (const scopes_node *c = node->first; c; c = c->next) {
        const size_t before = stack->length;
        bn_text_putc(stack, ';');
        put_name(stack, c->name);
        if (!c->first && llround(c->sum[figure]) > 0)
            bn_text_printf(out, "%s %lld\n", stack->data, llround(c->sum[figure]));
        put_stacks(c, figure, stack, out);
        stack->length = before;
        stack->data[before] = '\0';
    }
}

/* ---- the flame graph ---------------------------------------------------------------- */

typedef struct frames {
    plot_frame *list;
    size_t count, capacity;
    scopes_figure figure;
} frames;

static void add_frames(frames *f, const scopes_node *node, double begin, int level)
{
    if (node->sum[f->figure] <= 0)
        return;
    bn_grow(&f->list, f->count + 1, &f->capacity, sizeof *f->list);
    f->list[f->count++] = (plot_frame){.name = node->name,
                                       .begin = begin,
                                       .width = node->sum[f->figure],
                                       .level = level,
                                       .kind = (int)node->phase};
    for (const scopes_node *c = node->first; c; c = c->next) {
        add_frames(f, c, begin, level + 1);
        begin += c->sum[f->figure];
    }
}

static void describe(const scopes_report *r, scopes_figure figure, char *text, size_t size)
{
    static const char *const words[SCOPES_FIGURES] = {"traced nodes", "tracing time, measured",
                                                      "FLOPs", "device time, estimated by a model",
                                                      "device time, measured"};
    const res_experiment *w = &r->e.what;
    const scopes_device *d = figure == SCOPES_ESTIMATED  ? &r->estimated
                             : figure == SCOPES_MEASURED ? &r->measured
                                                         : NULL;
    snprintf(text, size, "Width: %s%s%s. Batch %d, %s. Above each module its phases.",
             words[figure], d ? ", on " : "", d ? d->on : "", w->batch, w->dtype);
}

static bn_code draw(const scopes_report *r, scopes_figure figure, const scopes_node *root,
                    plot_format format, bn_text *out, bn_status *st)
{
    const char *const kinds[TG_PHASE_COUNT + 1] = {"input",    "forward", "statistics",
                                                   "backward", "update",  "module"};
    char title[200], subtitle[500];
    frames f = {.figure = figure};
    plot p = {0};
    add_frames(&f, root, 0, 0);
    snprintf(title, sizeof title, "%.*s %s by scope", BN_FIT(r->e.what.model, 60),
             r->e.what.phase);
    describe(r, figure, subtitle, sizeof subtitle);
    const bool simulated = figure == SCOPES_ESTIMATED;
    const plot_words words = {title, subtitle, simulated ? "SIMULATED" : NULL};
    bn_code code = plot_flame(&words, kinds, TG_PHASE_COUNT + 1, f.list, f.count, &p, st);
    if (code == BN_OK)
        code = plot_render(&p, format, out, st);
    plot_free(&p);
    free(f.list);
    return code;
}

bn_code scopes_write(const scopes_report *r, scopes_figure figure, const char *path, bn_status *st)
{
    bn_arena *memory = bn_arena_new(1u << 14);
    const scopes_node *root = scopes_tree(&r->table, r->e.what.model, true, memory);
    bn_text out = {0}, stack = {0};
    plot_format format;
    bn_code code = BN_OK;
    if (is_stacks(path)) {
        put_name(&stack, root->name);
        put_stacks(root, figure, &stack, &out);
    } else {
        code = plot_format_parse(path, &format, st);
        if (code == BN_OK)
            code = draw(r, figure, root, format, &out, st);
    }
    if (code == BN_OK)
        code = bn_file_write_atomic(path, out.data ? out.data : "", out.length, st);
    bn_text_free(&out);
    bn_text_free(&stack);
    bn_arena_free(memory);
    return code;
}
