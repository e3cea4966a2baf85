/*
 * names.c - names of records: their ids, their files in a store, and the other files of a store's
 * folder. No other file knows how these names are built.
 *
 *   20250131T235959.123456789Z-host-pid-counter        an id: as text they sort by time
 *   ID-MODEL-PHASE-MODE.h5                             a record
 *   .ID.PID.tmp                                        a record that process PID is writing
 *   index.tsv                                          the index
 */
#include "results/records/records_priv.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* This machine's name as it stands in ids: safe characters, at most 18. */
#define HOST_TEXT 19

static const char record_end[] = ".h5", temporary_end[] = ".tmp";

/* Characters that are safe in a file name on any system. */
static bool is_safe(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

static void host_name(char host[HOST_TEXT])
{
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0')
        strcpy(name, "host");
    size_t length = 0;
    for (; length + 1 < HOST_TEXT && name[length] != '\0'; length++) {
        /* A dash would blur where the host ends and the process begins. */
        bool plain = is_safe(name[length]) && name[length] != '-';
        host[length] = plain ? name[length] : '_';
    }
    host[length] = '\0';
}

/* ---- ids -------------------------------------------------------------------------- */

/* Wall clock in nanoseconds. It never gives a time twice in one process and never goes
 * backwards, even where the system's clock is set back or coarse. */
static uint64_t unique_time_ns(void)
{
    static _Atomic uint64_t last_ns;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    uint64_t seen = atomic_load(&last_ns);
    uint64_t mine;
    do {
        mine = now_ns > seen ? now_ns : seen + 1;
    } while (!atomic_compare_exchange_weak(&last_ns, &seen, mine));
    return mine;
}

void res_id_make(char id[RES_TEXT])
{
    static atomic_uint counter;
    uint64_t time_ns = unique_time_ns();
    time_t seconds = (time_t)(time_ns / 1000000000u);
    struct tm utc;
    char stamp[24] = "";
    char host[HOST_TEXT];

    gmtime_r(&seconds, &utc);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", &utc);
    host_name(host);
    snprintf(id, RES_TEXT, "%.15s.%09uZ-%s-%u-%u", stamp, (unsigned)(time_ns % 1000000000u), host,
             (unsigned)getpid(), atomic_fetch_add(&counter, 1) % 1000000u);
}

static bool begins_with_time(const char *id)
{
    static const char like[] = "00000000T000000.000000000Z";
    for (size_t i = 0; like[i]; i++)
        if (like[i] == '0' ? id[i] < '0' || id[i] > '9' : id[i] != like[i])
            return false;
    return true;
}

/* The first COUNT characters of TEXT, which are digits, as a number. */
static int number_in(const char *text, int count)
{
    int number = 0;
    for (int i = 0; i < count; i++)
        number = 10 * number + (text[i] - '0');
    return number;
}

/* Without sscanf, which is slow: a large store needs several times of each record. */
double res_id_time(const char *id)
{
    if (!begins_with_time(id))
        return (double)NAN;
    struct tm utc = {.tm_year = number_in(id, 4) - 1900,
                     .tm_mon = number_in(id + 4, 2) - 1,
                     .tm_mday = number_in(id + 6, 2),
                     .tm_hour = number_in(id + 9, 2),
                     .tm_min = number_in(id + 11, 2),
                     .tm_sec = number_in(id + 13, 2)};
    const struct tm asked = utc;
    const time_t seconds = timegm(&utc);
    /* timegm makes another date of one that does not exist. */
    if (utc.tm_mon != asked.tm_mon || utc.tm_mday != asked.tm_mday ||
        utc.tm_hour != asked.tm_hour || utc.tm_min != asked.tm_min)
        return (double)NAN;
    return (double)seconds + (double)number_in(id + 16, 9) * 1e-9;
}

int res_id_order(const char *a, const char *b)
{
    const bool timed = !isnan(res_id_time(a));
    return timed == !isnan(res_id_time(b)) ? strcmp(a, b) : timed ? 1 : -1;
}

bool res_id_names_a_file(const char *id)
{
    const char *c = id;
    while (*c != '\0' && is_safe(*c))
        c++;
    return c > id && *c == '\0' && id[0] != '.';
}

/* ---- files --------------------------------------------------------------------------- */

/* Appends TEXT with an underscore for each unsafe character. */
static void append_safe(bn_text *name, const char *text)
{
    for (; *text != '\0'; text++)
        bn_text_putc(name, is_safe(*text) ? *text : '_');
}

void res_put_record_end(bn_text *name, const res_experiment *experiment)
{
    bn_text_putc(name, '-');
    append_safe(name, experiment->model);
    bn_text_putc(name, '-');
    append_safe(name, experiment->phase);
    bn_text_putc(name, '-');
    append_safe(name, experiment->mode);
    bn_text_puts(name, record_end);
}

void res_put_record_name(bn_text *name, const res_record *record)
{
    bn_text_puts(name, record->id);
    res_put_record_end(name, &record->experiment);
}

void res_put_temporary_name(bn_text *name, const res_record *record)
{
    bn_text_printf(name, ".%s.%ld%s", record->id, (long)getpid(), temporary_end);
}

bool res_name_ends(const char *name, const char *end)
{
    const size_t length = strlen(name), wanted = strlen(end);
    return length > wanted && strcmp(name + length - wanted, end) == 0;
}

res_store_file res_store_file_of(const char *name)
{
    if (name[0] == '.')
        return res_name_ends(name, temporary_end) ? RES_STORE_TEMPORARY : RES_STORE_OTHER;
    if (res_name_ends(name, record_end))
        return RES_STORE_RECORD;
    return strcmp(name, RES_INDEX_FILE) == 0 ? RES_STORE_INDEX : RES_STORE_OTHER;
}

long res_temporary_process(const char *name)
{
    char host[HOST_TEXT], ours[HOST_TEXT + 2];
    if (res_store_file_of(name) != RES_STORE_TEMPORARY)
        return 0;
    /* Other machines may write to this folder and have a process of the same number: only names
     * with our own host in them are ours. */
    host_name(host);
    snprintf(ours, sizeof ours, "-%s-", host);
    if (!strstr(name, ours))
        return 0;
    const char *number = name + strlen(name) - strlen(temporary_end);
    while (number > name && number[-1] >= '0' && number[-1] <= '9')
        number--;
    return number[-1] == '.' ? strtol(number, NULL, 10) : 0;
}
