/*
 * compare_plan.c - the planned interim analyses of a comparison that ends as soon as it is decided.
 *
 * Several analyses, of which the first significant one ends the comparison, raise more false alarms
 * than one. So each analysis has a share of the level, and claims at that share of it only. The
 * shares add up to 1 at most (Bonferroni), so whatever the test and however the analyses depend on
 * each other, all of them together claim no more often than the level allows: there is no boundary
 * to compute. Simulated, Student's t spends nine tenths of it (bench selftest statistics).
 *
 * Records of earlier versions were planned otherwise: by the error spending function T^1.5 (K. Kim
 * and D. L. DeMets, "Design and analysis of group sequential tests based on the type I error
 * spending rate function", Biometrika 74, 1987). They are judged with the shares of that plan.
 */
#include "results/stats/stats.h"

#include <string.h>

#define MOST_ANALYSES 6

typedef struct plan_row {
    const char *name;
    size_t count;
    struct {
        size_t pairs;
        double share; /* of the level */
    } analysis[MOST_ANALYSES];
} plan_row;

static const plan_row plans[RES_PLAN_COUNT] = {
    [RES_PLAN_ONCE] = {"once", 0, {{0, 1}}},
    [RES_PLAN_USUAL] = {"6,12,24", 3, {{6, 0.2}, {12, 0.3}, {24, 0.5}}},
    [RES_PLAN_TWELVE] = {"6,12", 2, {{6, 0.4}, {12, 0.6}}},
    [RES_PLAN_OLD] = {"4,5,6,8,10,12",
                      6,
                      {{4, 0.192}, {5, 0.163}, {6, 0.192}, {8, 0.325}, {10, 0.439}, {12, 0.565}}},
    [RES_PLAN_OLD_SHORT] = {
        "4,6,8,12,18,24",
        6,
        {{4, 0.068}, {6, 0.075}, {8, 0.099}, {12, 0.206}, {18, 0.389}, {24, 0.554}}}};

const char *res_plan_name(res_plan plan)
{
    return plans[plan].name;
}

res_plan res_plan_named(const char *name)
{
    int plan = 0;
    while (plan < RES_PLAN_COUNT && strcmp(plans[plan].name, name) != 0)
        plan++;
    return (res_plan)plan;
}

size_t res_plan_next(res_plan plan, size_t pairs)
{
    for (size_t i = 0; i < plans[plan].count; i++)
        if (plans[plan].analysis[i].pairs > pairs)
            return plans[plan].analysis[i].pairs;
    return 0;
}

size_t res_plan_last(res_plan plan)
{
    return plans[plan].count ? plans[plan].analysis[plans[plan].count - 1].pairs : 0;
}

double res_plan_share(res_plan plan, size_t pairs)
{
    size_t i = 0;
    while (i + 1 < plans[plan].count && plans[plan].analysis[i].pairs < pairs)
        i++;
    return plans[plan].analysis[i].share;
}
