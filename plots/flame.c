/*
 * flame.c - a flame graph: frames stand on the frame that they are part of (B. Gregg, "The
 * Flame Graph", CACM 59(6), 2016). The whole is at the bottom.
 */
#include "plots/plot_priv.h"

#include <stdio.h>
#include <string.h>

#define WIDTH   1180
#define ASIDE   16
#define ROW     19
#define TEXT    12
#define LEGEND  30
#define FOOT    14
#define VISIBLE 0.35 /* pixels of the narrowest frame that is drawn */

/* Few colours, on which black text can be read; with patterns for print. Kinds of one index take
 * the same. */
static const plot_fill fills[] = {{PLOT_YELLOW, 0}, {PLOT_SKY, 0},   {PLOT_PURPLE, 0},
                                  {PLOT_ORANGE, 0}, {PLOT_GREEN, 0}, {PLOT_QUIET, 0}};
#define FILLS PLOT_MOST_KINDS
_Static_assert(sizeof fills / sizeof *fills == FILLS, "a fill for each kind");

/* The picture at work. */
typedef struct flame {
    plot *p;
    const plot_frame *list;
    size_t count;
    double whole;
    int levels;
    double top, bottom; /* of the frames, in pixels */
} flame;

static double left_of(const flame *f, const plot_frame *frame)
{
    return ASIDE + (WIDTH - 2.0 * ASIDE) * frame->begin / f->whole;
}

static double width_of(const flame *f, const plot_frame *frame)
{
    return (WIDTH - 2.0 * ASIDE) * frame->width / f->whole;
}

/* The frames of KIND as a block of data, in the axes' coordinates; false: there are none. */
static bool put_kind(const flame *f, size_t kind)
{
    bool any = false;
    for (size_t i = 0; i < f->count; i++) {
        const plot_frame *frame = &f->list[i];
        if ((size_t)frame->kind != kind || width_of(f, frame) < VISIBLE)
            continue;
        if (!any)
            bn_text_printf(&f->p->script, "$kind%zu << EOD\n", kind);
        any = true;
        const double from = frame->begin / f->whole, to = from + frame->width / f->whole;
        bn_text_printf(&f->p->script, "%.7f %.2f %.7f %.7f %.2f %.2f\n", (from + to) / 2,
                       frame->level + 0.5, from, to, frame->level + 0.03, frame->level + 0.97);
    }
    if (any)
        plot_data_end(f->p);
    return any;
}

/* The name of FRAME, or its beginning, where there is room for some of it. */
static void put_name(const flame *f, const plot_frame *frame)
{
    const double room = width_of(f, frame) - 6;
    char text[80];
    snprintf(text, sizeof text, "%.*s", BN_FIT(frame->name, 70));
    size_t length = strlen(text);
    while (length > 0 && plot_text_width(text, TEXT) > room) {
        length = length > 2 ? bn_utf8_fit(text, length - (text[length - 1] == '.' ? 3 : 1)) : 0;
        text[length] = '\0';
        if (length > 1)
            strcat(text, "..");
        length = strlen(text);
    }
    if (length >= 2)
        plot_text_at(f->p, text, left_of(f, frame) + 3, f->bottom - (frame->level + 0.5) * ROW,
                     "left", "front");
}

static double put_legend(const flame *f, const char *const *kinds, size_t kind_count, double y)
{
    double x = ASIDE;
    for (size_t kind = 0; kind < kind_count; kind++)
        for (size_t i = 0; i < f->count; i++)
            if ((size_t)f->list[i].kind == kind) {
                x = plot_legend_box(f->p, fills[kind % FILLS], kinds[kind], x, y);
                break;
            }
    return y + LEGEND - 6;
}

static void put_frames(const flame *f, size_t kind_count)
{
    bool drawn[FILLS] = {false}, first = true;
    for (size_t kind = 0; kind < kind_count && kind < FILLS; kind++)
        drawn[kind] = put_kind(f, kind);
    bn_text_printf(&f->p->script,
                   "unset border\nunset xtics\nunset ytics\nset xrange [0:1]\nset yrange [0:%d]\n"
                   "plot",
                   f->levels);
    for (size_t kind = 0; kind < FILLS; kind++) {
        char name[16];
        snprintf(name, sizeof name, "kind%zu", kind);
        if (drawn[kind])
            plot_bars(f->p, name, fills[kind], first);
        first = first && !drawn[kind];
    }
    bn_text_putc(&f->p->script, '\n');
}

/* The widest frames above the whole, for screen readers. */
static void put_description(const flame *f, const plot_words *words)
{
    bn_text *out = &f->p->description;
    bn_text_printf(out, "%s, a flame graph of %zu frames. %s", words->title ? words->title : "",
                   f->count, words->subtitle ? words->subtitle : "");
    for (size_t i = 0; i < f->count; i++)
        if (f->list[i].level == 1)
            bn_text_printf(out, " %s: %.1f %%.", f->list[i].name,
                           100 * f->list[i].width / f->whole);
}

bn_code plot_flame(const plot_words *words, const char *const *kinds, size_t kind_count,
                   const plot_frame *list, size_t count, plot *p, bn_status *st)
{
    flame f = {.p = p, .list = list, .count = count, .whole = count ? list[0].width : 0};
    *p = (plot){0};
    if (!(f.whole > 0) || kind_count > FILLS)
        return bn_fail(st, BN_NOT_FOUND, "flame graph: there is nothing to draw");
    for (size_t i = 0; i < count; i++)
        f.levels = list[i].level + 1 > f.levels ? list[i].level + 1 : f.levels;
    const double head = plot_begin(p, words, WIDTH, LEGEND + f.levels * ROW + FOOT);
    f.top = put_legend(&f, kinds, kind_count, head + 6);
    f.bottom = f.top + f.levels * ROW;
    put_description(&f, words);
    plot_margins(p, ASIDE, WIDTH - ASIDE, f.top, f.bottom);
    for (size_t i = 0; i < count; i++)
        put_name(&f, &list[i]);
    put_frames(&f, kind_count);
    return BN_OK;
}
