/*
 * selftest_command.c - bench selftest: the selftests, one row each.
 */
#include "harness/selftest/selftest_priv.h"

#include <string.h>

typedef struct selftest_row {
    const char *name;
    int (*run)(const selftest_options *options); /* returns the exit code */
} selftest_row;

static const selftest_row selftests[] = {
    {"accuracy", selftest_accuracy},           {"coverage", selftest_coverage_command},
    {"host-cost", selftest_host_cost},         {"statistics", selftest_statistics},
    {"timeline-cost", selftest_timeline_cost},
};
#define SELFTEST_COUNT (sizeof selftests / sizeof *selftests)

int selftest_command(const selftest_options *options, const char *what)
{
    bn_status st = {.code = BN_OK};
    bn_text names = {0};
    for (size_t i = 0; i < SELFTEST_COUNT; i++) {
        if (strcmp(selftests[i].name, what) == 0) {
            bn_text_free(&names);
            return selftests[i].run(options);
        }
        bn_text_printf(&names, "%s%s", i ? ", " : "", selftests[i].name);
    }
    bn_fail_choice(&st, "selftest", what, names.data);
    bn_text_free(&names);
    return (int)cli_complain(&st);
}
