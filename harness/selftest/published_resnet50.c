/*
 * published_resnet50.c - the ResNet50 step of pytorch/xla's issue 4475 ("TPU dynamo speed up on
 * Training analysis", January 2023) and its follow-ups; results/findings/published.c has the
 * speedups of all models. Ours are only those numbers whose comment says so.
 */
#include "harness/selftest/published_priv.h"

#define FIVE_GRAPHS                                                                                \
    {"bench_input", "input sync", 0.083, 1.8}, {"bench_forward", "forward", 9.6, 4.3},             \
        {"bench_statistics", "clean-up 1", 0.6, 2.3}, {"bench_backward", "backward", 13.1, 3.6},   \
    {                                                                                              \
        "bench_update", "clean-up 2", 0.289, 3.2                                                   \
    }

/* Overheads are PJRT time less device time. */
const published_case published_resnet50[PUBLISHED_CASES] = {
    {.name = "lazy",
     .mode = "lazy",
     .graphs = 1,
     .trace_ms = 13.67,
     .wall_ms = 39,
     .wall_source = "published",
     .parts = {{"bench_step", "whole step", 17.85, 4.0}},
     .part_count = 1,
     .parts_published = true},
    {.name = "captured, 5 graphs",
     .mode = "capture",
     .graphs = 5,
     .wall_ms = 52.6,
     .wall_source = "published",
     .parts = {FIVE_GRAPHS},
     .part_count = 5,
     .parts_published = true},
    {.name = "the same, queued",
     .mode = "capture",
     .graphs = 5,
     .wall_source = "",
     .parts = {FIVE_GRAPHS},
     .part_count = 5,
     .parts_published = true,
     .queued = true},
    /* Of these two, the speedups are published; the wall times follow from lazy's 39 ms. The parts
     * of the first are ours: a small graph's device time is added to the graph that takes it in. */
    {.name = "captured, 3 graphs",
     .mode = "capture",
     .graphs = 3,
     .wall_ms = 39 / 0.937,
     .wall_source = "39 ms / 0.937",
     .parts = {{"bench_forward", "forward", 9.6 + 0.083 + 0.6, 4.3},
               {"bench_backward", "backward", 13.1, 3.6},
               {"bench_update", "update", 0.289, 3.2}},
     .part_count = 3},
    {.name = "captured, 1 graph",
     .mode = "capture",
     .graphs = 1,
     .wall_ms = 39 / 1.344,
     .wall_source = "39 ms / 1.344",
     .parts = {{"bench_step", "whole step", 17.85, 4.0}},
     .part_count = 1},
};

double published_device_ms(const published_case *c)
{
    double sum = 0;
    for (size_t i = 0; i < c->part_count; i++)
        sum += c->parts[i].device_ms;
    return sum;
}

double published_gap_ms(const published_case *c)
{
    double known = c->trace_ms;
    for (size_t i = 0; i < c->part_count; i++)
        known += c->parts[i].device_ms + c->parts[i].overhead_ms;
    return c->wall_ms - known;
}
