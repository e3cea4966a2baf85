/*
 * dates.c - records whose dates are wrong.
 *
 * A record says in its id when it was made. That cannot be after now, nor after its file was
 * written. When that was, the file system says twice: by the time of its contents, which programs
 * that unpack and copy set to what they like, and by the time at which anything of the file was
 * last changed, which cannot be set. The later of the two is an upper bound. Images of file
 * systems may have neither: times before there was this program mean nothing.
 */
#include "results/findings/findings.h"

#include <math.h>
#include <time.h>

#define FIRST_RECORD_S 1577836800.0 /* 2020: this program is younger */

/* Whether a record with ID, whose file was last written or changed at WRITTEN_NS, is misdated. */
static bool is_misdated(const char *id, int64_t written_ns, double now_s)
{
    const double written_s = (double)written_ns / 1e9;
    const double latest_s = written_s < FIRST_RECORD_S ? now_s : fmin(now_s, written_s);
    return res_id_time(id) > latest_s + RES_CLOCK_SLACK_S;
}

bool res_misdated(const res_summary *summary, double now_s)
{
    return is_misdated(summary->id, summary->written_ns, now_s);
}

void res_misdates_add(res_misdates *misdates, double time_s)
{
    misdates->first_s = misdates->count ? fmin(misdates->first_s, time_s) : time_s;
    misdates->last_s = misdates->count ? fmax(misdates->last_s, time_s) : time_s;
    misdates->count++;
}

void res_misdates_drop(res_collection *all, double now_s)
{
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        res_record *record = all->records[i];
        if (!is_misdated(record->id, record->written_ns, now_s)) {
            all->records[kept++] = record;
            continue;
        }
        res_misdates_add(&all->misdates, res_id_time(record->id));
        res_record_free(record);
    }
    all->count = kept;
}

/* "2026-01-31 02:00" */
static void put_minute(double time_s, bn_text *out)
{
    const time_t seconds = (time_t)time_s;
    char text[32] = "";
    struct tm utc;
    if (gmtime_r(&seconds, &utc))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M", &utc);
    bn_text_puts(out, text);
}

void res_put_misdates(const res_misdates *misdates, bn_text *out)
{
    if (misdates->count == 0)
        return;
    bn_text_printf(out, "%zu record%s left out, dated ", misdates->count,
                   misdates->count == 1 ? "" : "s");
    put_minute(misdates->first_s, out);
    if (misdates->last_s > misdates->first_s) {
        bn_text_puts(out, " to ");
        put_minute(misdates->last_s, out);
    }
    bn_text_puts(out, " UTC, later than now or than their files: a clock was wrong");
}
