/*
 * ledger.c - the names of the ledger's parts, sources and counters.
 */
#include "runtime/base/ledger.h"

const char *bn_part_name(bn_part part)
{
    static const char *const names[BN_PART_COUNT] = {
#define X(upper, lower, text) [BN_PART_##upper] = #lower,
        BN_LEDGER_PARTS(X)
#undef X
    };
    return (unsigned)part < BN_PART_COUNT ? names[part] : "unknown";
}

const char *bn_part_text(bn_part part)
{
    static const char *const texts[BN_PART_COUNT] = {
#define X(upper, lower, text) [BN_PART_##upper] = text,
        BN_LEDGER_PARTS(X)
#undef X
    };
    return (unsigned)part < BN_PART_COUNT ? texts[part] : "unknown";
}

const char *bn_device_time_source_name(bn_device_time_source source)
{
    static const char *const names[BN_DEVICE_TIME_SOURCE_COUNT] = {
#define X(upper, text) [BN_DEVICE_TIME_##upper] = text,
        BN_DEVICE_TIME_SOURCES(X)
#undef X
    };
    return (unsigned)source < BN_DEVICE_TIME_SOURCE_COUNT ? names[source] : "unknown";
}

const char *bn_counter_name(bn_counter counter)
{
    static const char *const names[BN_COUNTER_COUNT] = {
#define X(upper, lower) [BN_COUNTER_##upper] = #lower,
        BN_COUNTERS(X)
#undef X
    };
    return (unsigned)counter < BN_COUNTER_COUNT ? names[counter] : "unknown";
}
