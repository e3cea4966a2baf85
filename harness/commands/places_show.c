/*
 * places_show.c - device time by layer or line as a table, as JSON and as a flame graph.
 */
#include "harness/commands/places_priv.h"
#include "harness/commands/recording_priv.h"
#include "plots/plot.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 30 /* that people see */
#define MOST_NAME 52 /* bytes of a name */

static const char *const phases[] = {"forward", "backward", ""};

static const char *name_of(const command_places *places, const command_place *place)
{
    return place->name[0]                   ? place->name
           : places->by == COMMAND_BY_LAYER ? "(no layer)"
                                            : "(no line)";
}

/* Appends NAME, for people its end: names of files begin alike. */
static void put_name(json_t *row, const char *name, bool whole)
{
    const size_t length = strlen(name);
    const char *tail = name + (length > MOST_NAME ? length - MOST_NAME + 2 : 0);
    bn_text text = {0};
    /* Do not cut within a UTF-8 character. */
    while ((*tail & 0xC0) == 0x80)
        tail++;
    bn_text_puts(&text, whole || length <= MOST_NAME ? "" : "..");
    bn_text_puts(&text, whole || length <= MOST_NAME ? name : tail);
    json_array_append_new(row, res_json_text(text.data ? text.data : ""));
    bn_text_free(&text);
}

/* Whether any statement says where it comes from. */
static bool has_names(const command_places *places)
{
    for (size_t i = 0; i < places->count; i++)
        if (places->list[i].name[0])
            return true;
    return false;
}

/* ---- sentences ---------------------------------------------------------------------------------
 */

static void put_words(const command_places *p, bn_text *out)
{
    if (p->measured) {
        bn_text_puts(out, "Measured by the plugin's profiler: kernels run for ");
        rec_time_put(out, p->ns);
        bn_text_puts(out, " a step, and share it as the ops of the profiled executions do. Of a "
                          "fusion the compiler keeps the name of one op, which gets all of its "
                          "time.\n");
    } else if (p->ns > 0) {
        bn_text_puts(out, "Modelled, not measured: the device time of each program is measured, ");
        rec_time_put(out, p->ns);
        bn_text_printf(out,
                       " a step in all. Its statements share it by their bytes moved, or %d FLOPs "
                       "for each byte where that is more. The model assumes that ops on elements "
                       "are fused and all others are not.\n",
                       COMMAND_FLOPS_PER_BYTE);
    }
    if (p->unknown_loops)
        bn_text_printf(out, "%zu loop%s of unknown length count%s as run once.\n", p->unknown_loops,
                       p->unknown_loops == 1 ? "" : "s", p->unknown_loops == 1 ? "s" : "");
    if (p->unread) {
        bn_text_printf(out, "%zu program%s of the step, ", p->unread, p->unread == 1 ? "" : "s");
        rec_time_put(out, p->unread_ns);
        bn_text_printf(out, " of it, %s not read: %s.\n", p->unread == 1 ? "was" : "were",
                       p->why.message);
    }
    if (p->ns > 0 && !has_names(p))
        bn_text_printf(out,
                       "No statement says its %s. JAX writes locations by itself, and layers "
                       "where modules or jax.named_scope name them; PyTorch/XLA does with "
                       "XLA_HLO_DEBUG=1 and XLA_IR_DEBUG=1.\n",
                       p->by == COMMAND_BY_LAYER ? "layer; --by line may help" : "line");
}

/* ---- the table ---------------------------------------------------------------------------------
 */

void command_places_put(const command_places *p, res_format format, bn_text *out)
{
    const res_sheet_column all[] = {{"layer", false},
                                    {"phase", false},
                                    {p->measured ? "measured" : "modelled", true},
                                    {"share", true}};
    static const res_sheet_column lines[] = {{"line", false}, {"modelled", true}, {"share", true}};
    const bool whole = !res_format_is_text(format), layers = p->by == COMMAND_BY_LAYER;
    const size_t shown = whole || p->count < MOST_ROWS ? p->count : MOST_ROWS;
    json_t *rows = json_array();
    bn_text words = {0};
    for (size_t i = 0; i < shown; i++) {
        json_t *row = json_array();
        bn_text time = {0};
        json_array_append_new(rows, row);
        put_name(row, name_of(p, &p->list[i]), whole);
        if (layers)
            res_sheet_put(row, "%s", phases[p->list[i].phase]);
        rec_time_put(&time, p->list[i].ns);
        json_array_append_new(row, res_json_text(time.data));
        res_sheet_put(row, "%.1f %%", 100 * p->list[i].ns / p->ns);
        bn_text_free(&time);
    }
    if (shown)
        res_sheet_write(layers ? all : lines, layers ? 4 : 3, rows, format, out);
    if (shown < p->count)
        bn_text_printf(out, "and %zu more\n", p->count - shown);
    put_words(p, &words);
    if (words.data && (res_format_is_text(format) || format == RES_TABLE_MARKDOWN)) {
        bn_text_putc(out, '\n');
        command_put_words(words.data, format, out);
    }
    bn_text_free(&words);
    json_decref(rows);
}

json_t *command_places_json(const rec_recording *recording, const command_places *p)
{
    json_t *list = json_array();
    bn_text words = {0};
    for (size_t i = 0; i < p->count; i++)
        json_array_append_new(list, json_pack("{s:o, s:s, s:f, s:f}", "name",
                                              res_json_text(p->list[i].name), "phase",
                                              phases[p->list[i].phase], "ns", p->list[i].ns,
                                              "share", p->list[i].ns / p->ns));
    put_words(p, &words);
    json_t *o = json_pack(
        "{s:o, s:s, s:s, s:i, s:f, s:f, s:I, s:I, s:o, s:o, s:o}", "recording",
        res_json_text(recording->path), "by", p->by == COMMAND_BY_LAYER ? "layer" : "line",
        "source", p->measured ? "measured" : "modelled", "flops_per_byte", COMMAND_FLOPS_PER_BYTE,
        "device_ns", p->ns, "unread_ns", p->unread_ns, "unread", (json_int_t)p->unread,
        "unknown_loops", (json_int_t)p->unknown_loops, "why",
        p->unread ? res_json_text(p->why.message) : json_null(), "places", list, "words",
        res_json_text(words.data ? words.data : ""));
    bn_text_free(&words);
    return o;
}

/* ---- the flame graph ---------------------------------------------------------------------------
 */

/* Frames of the layers, in order of their paths. */
typedef struct flame {
    plot_frame *list;
    size_t count, room;
    bn_arena *memory;
} flame;

static int by_path(const void *a, const void *b)
{
    const command_place *const *x = a, *const *y = b;
    const int order = strcmp((*x)->name, (*y)->name);
    return order ? order : (int)(*x)->phase - (int)(*y)->phase;
}

static void add_frame(flame *f, const char *name, size_t length, double begin, double width,
                      int level, int kind)
{
    char text[80];
    memcpy(text, name, length < sizeof text ? length : sizeof text - 1);
    text[length < sizeof text ? length : sizeof text - 1] = '\0';
    bn_grow(&f->list, f->count + 1, &f->room, sizeof *f->list);
    f->list[f->count++] = (plot_frame){bn_arena_strdup(f->memory, text), begin, width, level, kind};
}

/* Adds the frames above those on LEVEL of PLACES FROM to TO, whose paths have the first SAME bytes
 * in common. BEGIN: where they begin. */
static void add_frames(flame *f, const command_place *const *places, size_t from, size_t to,
                       size_t same, double begin, int level)
{
    while (from < to) {
        const char *name = places[from]->name + same;
        const size_t length = strcspn(name, "/");
        double width = 0;
        size_t behind = from;
        for (; behind < to; behind++) {
            const char *other = places[behind]->name + same;
            if (strcspn(other, "/") != length || strncmp(name, other, length) != 0 ||
                (!length && behind > from))
                break;
            width += places[behind]->ns;
        }
        if (length) {
            const bool leaf = behind == from + 1 && !name[length];
            add_frame(f, name, length, begin, width, level,
                      leaf ? (int)places[from]->phase : COMMAND_OTHER);
            /* Each phase of a layer itself, then its parts. */
            double at = begin;
            size_t parts = from;
            for (; parts < behind && !places[parts]->name[same + length]; parts++) {
                if (!leaf)
                    add_frame(f, phases[places[parts]->phase], strlen(phases[places[parts]->phase]),
                              at, places[parts]->ns, level + 1, (int)places[parts]->phase);
                at += places[parts]->ns;
            }
            if (parts < behind && level < 30)
                add_frames(f, places, parts, behind, same + length + 1, at, level + 1);
        } else {
            add_frame(f, "(no layer)", 10, begin, width, level, (int)places[from]->phase);
        }
        begin += width;
        from = behind;
    }
}

static bn_code draw(const command_places *p, bn_text *out, bn_status *st)
{
    static const char *const kinds[] = {"forward", "backward", "other"};
    const char *title =
        p->measured ? "Device time by layer, measured" : "Device time by layer, modelled";
    const command_place **list = bn_zalloc(p->count + 1, sizeof(void *));
    flame f = {.memory = bn_arena_new(1u << 12)};
    plot picture = {0};
    bn_text words = {0};
    for (size_t i = 0; i < p->count; i++)
        list[i] = &p->list[i];
    qsort(list, p->count, sizeof *list, by_path);
    add_frame(&f, "step", 4, 0, p->ns, 0, COMMAND_OTHER);
    add_frames(&f, list, 0, p->count, 0, 0, 1);
    bn_text_puts(&words, p->measured ? "Width: time of kernels in a step, by the plugin's profiler."
                                     : "Width: device time of a step, shared by a model of what "
                                       "each statement costs.");
    const plot_words about = {title, words.data, p->measured ? NULL : "MODELLED"};
    bn_code code = plot_flame(&about, kinds, 3, f.list, f.count, &picture, st);
    if (code == BN_OK)
        code = plot_html_figure(&picture, title, 1, out, st);
    plot_free(&picture);
    bn_text_free(&words);
    free(f.list);
    free(list);
    bn_arena_free(f.memory);
    return code;
}

void command_places_figure(const command_places *p, bn_text *out)
{
    bn_text words = {0}, picture = {0};
    bn_status st = {.code = BN_OK};
    put_words(p, &words);
    if (has_names(p) && draw(p, &picture, &st) == BN_OK)
        bn_text_append(out, picture.data, picture.length);
    else if (st.code != BN_OK)
        bn_text_printf(&words, "There is no picture: %s.\n", st.message);
    bn_text_puts(out, "<p>");
    plot_html_text(out, words.data ? words.data : "");
    bn_text_puts(out, "</p>\n");
    if (has_names(p))
        command_places_put(p, RES_TABLE_HTML, out);
    bn_text_free(&words);
    bn_text_free(&picture);
}
