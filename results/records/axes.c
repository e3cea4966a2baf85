/*
 * axes.c - the table of axes, and what derives from it: values, order, words.
 */
#include "results/records/axes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(member, kind, later)                                                                 \
    {                                                                                              \
#member, kind, offsetof(res_experiment, member), sizeof(((res_experiment *)0)->member),    \
            later                                                                                  \
    }

const res_axis res_axes[RES_AXIS_COUNT] = {
#define ROW(upper, member, kind, later, ...)                                                       \
    [RES_AXIS_##upper] = {.field = FIELD(member, kind, later), .id = RES_AXIS_##upper, __VA_ARGS__},
#define AXIS(upper, member, declaration, kind, ...) ROW(upper, member, kind, false, __VA_ARGS__)
#define AXIS_LATER(upper, member, declaration, kind, ...)                                          \
    ROW(upper, member, kind, true, __VA_ARGS__)
#include "results/records/axes.def"
};

const res_field res_experiment_fields[] = {
#define AXIS(upper, member, declaration, kind, ...)       FIELD(member, kind, false),
#define AXIS_LATER(upper, member, declaration, kind, ...) FIELD(member, kind, true),
#include "results/records/axes.def"
    {NULL, RES_KIND_TEXT, 0, 0, false},
};

bool res_axis_word(const char *list, size_t index, char word[RES_TEXT])
{
    for (; list && *list; index--) {
        const size_t length = strcspn(list, ",");
        if (index == 0) {
            snprintf(word, RES_TEXT, "%.*s", (int)length, list);
            return true;
        }
        list += length + (list[length] == ',');
    }
    return false;
}

bool res_axis_has_word(const char *list, const char *word)
{
    char one[RES_TEXT];
    for (size_t i = 0; res_axis_word(list, i, one); i++)
        if (strcmp(one, word) == 0)
            return true;
    return false;
}

/* ---- values -------------------------------------------------------------------------- */

static const void *value_of(const res_axis *axis, const res_experiment *e)
{
    return (const char *)e + axis->field.offset;
}

const char *res_axis_text(const res_axis *axis, const res_experiment *e)
{
    return value_of(axis, e);
}

int64_t res_axis_number(const res_axis *axis, const res_experiment *e)
{
    const void *at = value_of(axis, e);
    return axis->field.kind == RES_KIND_U64 ? (int64_t) * (const uint64_t *)at : *(const int *)at;
}

void res_axis_set_value(const res_axis *axis, const char *word, int64_t number, res_experiment *e)
{
    char *at = (char *)e + axis->field.offset;
    const int most = (int)axis->field.size - 1;
    /* No rest of an older value: experiments are compared as bytes, too. */
    memset(at, 0, axis->field.size);
    if (axis->field.kind == RES_KIND_TEXT)
        snprintf(at, axis->field.size, "%.*s", most, word);
    else if (axis->field.kind == RES_KIND_U64)
        *(uint64_t *)(void *)at = (uint64_t)number;
    else
        *(int *)(void *)at = (int)number;
}

void res_axis_put(const res_axis *axis, const res_experiment *e, bn_text *out)
{
    if (axis->field.kind == RES_KIND_TEXT)
        bn_text_append(out, res_axis_text(axis, e),
                       strnlen(res_axis_text(axis, e), axis->field.size));
    else if (axis->field.kind == RES_KIND_U64)
        bn_text_printf(out, "%llu", (unsigned long long)res_axis_number(axis, e));
    else
        bn_text_int(out, res_axis_number(axis, e));
}

bool res_axis_is_usual(const res_axis *axis, const res_experiment *e)
{
    return axis->field.kind == RES_KIND_TEXT
               ? strcmp(res_axis_text(axis, e), axis->usual) == 0
               : res_axis_number(axis, e) == strtoll(axis->usual, NULL, 10);
}

static void set_usual(const res_axis *axis, res_experiment *e)
{
    res_axis_set_value(axis, axis->usual, strtoll(axis->usual, NULL, 10), e);
}

void res_experiment_usual(res_experiment *e)
{
    *e = (res_experiment){0};
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        set_usual(&res_axes[i], e);
}

void res_experiment_old(res_experiment *e)
{
    *e = (res_experiment){0};
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        if (res_axes[i].field.later)
            set_usual(&res_axes[i], e);
}

bool res_experiment_is_old(const res_experiment *e)
{
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        if (res_axes[i].field.later && !res_axis_is_usual(&res_axes[i], e))
            return false;
    return true;
}

/* The place of WORD in LIST; behind all where it is not there. */
static int rank_of(const char *list, const char *word)
{
    char one[RES_TEXT];
    size_t rank = 0;
    while (res_axis_word(list, rank, one) && strcmp(one, word) != 0)
        rank++;
    return (int)rank;
}

int res_axis_order(const res_axis *axis, const res_experiment *a, const res_experiment *b)
{
    if (axis->field.kind != RES_KIND_TEXT) {
        const int64_t l = res_axis_number(axis, a), r = res_axis_number(axis, b);
        return (l > r) - (l < r);
    }
    const char *l = res_axis_text(axis, a), *r = res_axis_text(axis, b);
    const int ranks = axis->ranks ? rank_of(axis->ranks, l) - rank_of(axis->ranks, r) : 0;
    return ranks ? ranks : strcmp(l, r);
}

bool res_same_network(const res_experiment *a, const res_experiment *b)
{
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        if (res_axes[i].network && res_axis_order(&res_axes[i], a, b) != 0)
            return false;
    return true;
}

int res_experiment_order(const res_experiment *a, const res_experiment *b)
{
    int order = 0;
    for (int role = RES_ROLE_BLOCK; role <= RES_ROLE_WAY; role++)
        for (int i = 0; i < RES_AXIS_COUNT && order == 0; i++)
            if (res_axes[i].role == (res_role)role)
                order = res_axis_order(&res_axes[i], a, b);
    return order;
}

/* ---- sets ------------------------------------------------------------------------------ */

/* The axis whose place AXIS has in titles. */
static const res_axis *place_of(const res_axis *axis)
{
    while (axis->joined)
        axis--;
    return axis;
}

res_axis_set res_setup_all(void)
{
    res_axis_set set = 0;
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        if (res_axes[i].role == RES_ROLE_SETUP && !res_axes[i].joined)
            set |= RES_AXIS_BIT(i);
    return set;
}

res_axis_set res_setup_brief(const res_experiment *e)
{
    res_axis_set set = 0;
    for (int i = 0; i < RES_AXIS_COUNT; i++) {
        const res_axis *axis = &res_axes[i];
        if (axis->role == RES_ROLE_SETUP && !axis->detail &&
            (axis->always || !res_axis_is_usual(axis, e)))
            set |= RES_AXIS_BIT(place_of(axis)->id);
    }
    return set;
}

res_axis_set res_setup_difference(const res_experiment *a, const res_experiment *b)
{
    res_axis_set set = 0;
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        if (res_axes[i].role == RES_ROLE_SETUP && res_axis_order(&res_axes[i], a, b) != 0)
            set |= RES_AXIS_BIT(place_of(&res_axes[i])->id);
    return set;
}

/* ---- words ----------------------------------------------------------------------------- */

/* FORMAT, which has one %s or %d, with the value, and "(s)" as an s where there are several. */
static void put_words(const res_axis *axis, const char *format, const res_experiment *e,
                      bn_text *out)
{
    const bool several = axis->field.kind != RES_KIND_TEXT && res_axis_number(axis, e) != 1;
    for (const char *c = format; *c; c++) {
        if (*c == '%') {
            res_axis_put(axis, e, out);
            c++;
        } else if (strncmp(c, "(s)", 3) == 0) {
            bn_text_puts(out, several ? "s" : "");
            c += 2;
        } else {
            bn_text_putc(out, *c);
        }
    }
}

/* Whether E has a value: imported records do not know all. */
static bool known(const res_axis *axis, const res_experiment *e)
{
    return axis->field.kind == RES_KIND_TEXT ? res_axis_text(axis, e)[0] != '\0'
                                             : res_axis_number(axis, e) > 0;
}

/* Appends one axis of a set-up; nothing for a usual value that needs no words. */
static void put_axis(const res_axis *axis, const res_experiment *e, bn_text *out)
{
    const bool usual = res_axis_is_usual(axis, e);
    if (usual && axis->usual_words)
        bn_text_puts(out, axis->usual_words);
    else if (axis->words && known(axis, e) && (axis->always || !usual))
        put_words(axis, axis->words, e, out);
}

void res_setup_text(const res_experiment *e, res_axis_set set, bn_text *out)
{
    const size_t start = out->length;
    for (int i = 0; i < RES_AXIS_COUNT; i++) {
        const res_axis *axis = &res_axes[i];
        bn_text words = {0};
        if (axis->role != RES_ROLE_SETUP || !(set & RES_AXIS_BIT(place_of(axis)->id)))
            continue;
        put_axis(axis, e, &words);
        if (words.length && out->length > start && !axis->joined)
            bn_text_puts(out, ", ");
        bn_text_append(out, words.data ? words.data : "", words.length);
        bn_text_free(&words);
    }
}

bool res_is_ours(const res_experiment *e)
{
    return res_axis_is_usual(&res_axes[RES_AXIS_FRONT_END], e) || !e->front_end[0];
}

bool res_is_one_way(const res_experiment *a, const res_experiment *b)
{
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        if (res_axes[i].role == RES_ROLE_WAY && res_axis_order(&res_axes[i], a, b) != 0)
            return false;
    return true;
}

bool res_is_awaited(const res_experiment *e)
{
    return strcmp(e->dispatch, "awaited") == 0;
}

bool res_hides_tracing(const res_experiment *e)
{
    return !res_is_awaited(e) && (e->in_flight > 1 || strcmp(e->mode, "fused") == 0);
}

bool res_is_looped(const res_experiment *e)
{
    return e->steps_per_execution > 1;
}

res_way_words res_way_of(const res_experiment *e)
{
    const bool ours = res_is_ours(e);
    res_way_words words;
    char window[16] = "", steps[20] = "";
    if (e->window)
        snprintf(window, sizeof window, " %d", e->window);
    if (res_is_looped(e))
        snprintf(steps, sizeof steps, " %d steps", e->steps_per_execution);
    snprintf(words.text, sizeof words.text, "%s%s%s%s%s%s", ours ? "" : e->front_end,
             ours ? "" : " ", e->mode, window, res_is_awaited(e) ? " awaited" : "", steps);
    return words;
}

void res_experiment_name(const res_experiment *e, bn_text *out)
{
    bn_text_printf(out, "%s %s %s", e->model, e->phase, res_way_of(e).text);
    if (e->graphs > 1)
        bn_text_printf(out, ", %d graphs", e->graphs);
}

void res_experiment_title(const res_experiment *e, bn_text *out)
{
    const bool full = res_axis_is_usual(&res_axes[RES_AXIS_VARIANT], e) || !e->variant[0];
    bn_text_printf(out, "%s%s%s %s %s", e->model, full ? "" : ".", full ? "" : e->variant, e->phase,
                   e->mode);
    for (int i = 0; i < RES_AXIS_COUNT; i++) {
        const res_axis *axis = &res_axes[i];
        if (!axis->title || !known(axis, e) || res_axis_is_usual(axis, e))
            continue;
        bn_text_putc(out, ' ');
        put_words(axis, axis->title, e, out);
    }
    bn_text_printf(out, "%s%s on %s", e->dtype[0] ? " " : "", e->dtype, bn_base_name(e->runtime));
}
