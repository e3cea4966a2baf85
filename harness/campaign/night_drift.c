/*
 * night_drift.c - a night as a run of the calibration: its ratios of unlike modes show how far such
 * ratios differ from night to night while a build stays the same.
 */
#include "harness/campaign/night_priv.h"
#include "results/findings/findings.h"

#include <stdlib.h>
#include <string.h>

/* Whether ROW is a ratio of two modes that a drift moves. A mode over itself cancels it, and values
 * that are runs have a drift in them already. */
static bool is_unlike(const res_speedup *speedup, const res_speedup_row *row)
{
    return row->compared && row->ratio.matching == RES_MATCHED && !row->ratio.of_runs &&
           row->ratio.own.freedom > 0 && row->ratio.own.error > 0 &&
           strcmp(row->record->experiment.mode,
                  speedup->rows[row->base_row].record->experiment.mode) != 0;
}

static bn_code add_side(const nightly *n, const night_side *side, bn_status *st)
{
    bn_code code = BN_OK;
    res_speedup speedup;
    res_speedup_make(&side->tonight, &speedup);
    res_calibration_ratio *ratios = bn_zalloc(speedup.count, sizeof *ratios);
    bn_text *names = bn_zalloc(speedup.count, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < speedup.count; i++)
        if (is_unlike(&speedup, &speedup.rows[i])) {
            res_experiment_title(&speedup.rows[i].record->experiment, &names[count]);
            bn_text_printf(&names[count], " %s %s", side->settings, side->label);
            ratios[count] = (res_calibration_ratio){names[count].data, speedup.rows[i].ratio.own};
            count++;
        }
    if (count > 0) {
        const res_record *first = side->tonight.records[0];
        const res_calibration_run run = {.began_s = res_id_time(first->id),
                                         .busy = res_interference_busy(&speedup.interference),
                                         .sha256 = side->sha256,
                                         .machine = res_provenance_text(first, RES_PROV_HOST_NAME),
                                         .ratios = ratios,
                                         .count = count};
        code = res_calibration_add(n->options->suites->store, &run, st);
    }
    for (size_t i = 0; i < count; i++)
        bn_text_free(&names[i]);
    free(names);
    free(ratios);
    res_speedup_free(&speedup);
    return code;
}

void night_drift_add(const nightly *n)
{
    for (size_t i = 0; i < n->side_count; i++) {
        const night_side *side = &n->sides[i];
        bn_status st = {.code = BN_OK};
        if (side->sha256[0] && side->tonight.count > 0 && add_side(n, side, &st) != BN_OK)
            cli_say("bench: the night is no run of the calibration: %s", st.message);
    }
}
