/*
 * interference.c - the interference monitor in tables: what disturbed the machine during
 * measurements.
 */
#include "results/tables/tables_priv.h"

#include <math.h>

/* ---- words ----------------------------------------------------------------------------------- */

/* Before an item of the list below. */
static const char *comma(bool *first)
{
    const char *mark = *first ? " " : ", ";
    *first = false;
    return mark;
}

/* ": for 80 % of the time something waited for a core, ..." */
static void put_interference(const res_interference *w, bn_text *out)
{
    bool first = true;
    bn_text_putc(out, ':');
    if (w->stalled_of_ns > 0)
        bn_text_printf(out, "%sfor %.0f %% of the time something waited for a core", comma(&first),
                       100 * w->stalled_ns / w->stalled_of_ns);
    if (w->others_ns > RES_BUSY_OTHERS * w->others_of_ns)
        bn_text_printf(out, "%sother programs used %.0f %% of the cores' time", comma(&first),
                       100 * w->others_ns / w->others_of_ns);
    if (w->stolen_ns > RES_BUSY_STOLEN * w->stolen_of_ns)
        bn_text_printf(out, "%sa hypervisor took %.0f %% of the cores' time", comma(&first),
                       100 * w->stolen_ns / w->stolen_of_ns);
    if (w->apart > RES_BUSY_APART * w->apart_of)
        bn_text_printf(out,
                       "%sin %.0f %% of the rounds the cores shared no cache, because a hypervisor "
                       "had moved them",
                       comma(&first), 100 * w->apart / w->apart_of);
    const double switches =
        w->switches_of_ns > 0 ? round(1e9 * w->switches / w->switches_of_ns) : 0;
    if (w->switches_of_ns > 0)
        bn_text_printf(out, "; bench lost its core %.0f time%s a second", switches,
                       switches == 1 ? "" : "s");
    bn_text_putc(out, '.');
}

void res_put_interference(const res_interference *all, const res_interference *busiest,
                          const char *name, bn_text *out)
{
    if (res_interference_busy(all)) {
        bn_text_puts(out, "Interference");
        put_interference(all, out);
    } else if (busiest && res_interference_busy(busiest)) {
        bn_text_printf(out, "Interference at times, most for %s", name ? name : "");
        put_interference(busiest, out);
    } else if (res_interference_unknown(all)) {
        bn_text_puts(out, "Interference is unknown: the system has no /proc/pressure/cpu.");
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Null where no round knows it. */
static json_t *share(double part, double whole)
{
    return whole > 0 ? res_json_real(part / whole) : json_null();
}

json_t *res_interference_to_json(const res_interference *w, const char *busiest,
                                 const char *sentence)
{
    json_t *object = json_object();
    json_object_set_new(object, "rounds", json_integer((json_int_t)w->rounds));
    json_object_set_new(object, "stalled_share", share(w->stalled_ns, w->stalled_of_ns));
    json_object_set_new(object, "stolen_share", share(w->stolen_ns, w->stolen_of_ns));
    json_object_set_new(object, "others_share", share(w->others_ns, w->others_of_ns));
    json_object_set_new(object, "apart_share", share(w->apart, w->apart_of));
    json_object_set_new(object, "rounds_repeated", json_integer((json_int_t)w->repeated));
    json_object_set_new(object, "switches_per_s", share(1e9 * w->switches, w->switches_of_ns));
    json_object_set_new(object, "busy",
                        res_interference_busy(w) || !res_interference_unknown(w)
                            ? json_boolean(res_interference_busy(w))
                            : json_null());
    json_object_set_new(object, "busiest", busiest ? res_json_text(busiest) : json_null());
    json_object_set_new(object, "sentence", sentence ? res_json_text(sentence) : json_null());
    return object;
}
