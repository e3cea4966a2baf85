/*
 * study_words.c - figures and sentences of a study, for people and as JSON.
 */
#include "harness/study/study_priv.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

study_text study_number(double value, bool time)
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    study_text out = {RES_UNKNOWN_TEXT};
    if (!isfinite(value))
        return out;
    if (!time) {
        snprintf(out.text, sizeof out.text, "%.*g", fabs(value) < 1000 ? 3 : 6, value);
        return out;
    }
    size_t unit = 0;
    /* A value that rounds up to a unit is shown in it. */
    while (unit < 3 && fabs(value) < 0.99995 * units[unit].ns)
        unit++;
    snprintf(out.text, sizeof out.text, "%.4g %s", value / units[unit].ns, units[unit].name);
    return out;
}

study_text study_interval(res_interval interval, bool time)
{
    study_text out = study_number(interval.estimate, time);
    const study_text low = study_number(interval.low, time);
    const study_text high = study_number(interval.high, time);
    const study_text middle = out;
    if (isfinite(interval.low) && isfinite(interval.high))
        snprintf(out.text, sizeof out.text, "%.28s (%.28s to %.28s)", middle.text, low.text,
                 high.text);
    return out;
}

study_text study_percent(double share)
{
    study_text out = {RES_UNKNOWN_TEXT};
    if (isfinite(share))
        snprintf(out.text, sizeof out.text, "%.1f %%", 100 * share);
    return out;
}

void study_say(study *s, const char *of, const char *id, const char *format, ...)
{
    char text[1000];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    bn_text_puts(&s->words, text);
    bn_text_putc(&s->words, '\n');
    json_array_append_new(s->word_ids, json_sprintf("%s%s%s", of, of[0] ? "." : "", id));
}

json_t *study_json(res_interval interval)
{
    return json_pack("{so so so}", "estimate", res_json_real(interval.estimate), "low",
                     res_json_real(interval.low), "high", res_json_real(interval.high));
}

void study_answer(study *s, const char *name, json_t *value)
{
    json_object_set_new(s->answers, name, value);
}
