/* evaluate_walk.c - moves elements from one place to another; see evaluate_walk.h. */
#include "runtime/sim/evaluate/evaluate_walk.h"

#include <string.h>

/* ---- indices ---------------------------------------------------------------------------- */

void sim_strides(const sim_type *type, int64_t *strides)
{
    uint64_t stride = 1; /* wraps if there is a dimension of 0, where no stride is used */
    for (int i = type->rank - 1; i >= 0; i--) {
        strides[i] = (int64_t)stride;
        stride *= (uint64_t)type->dims[i];
    }
}

bool sim_next_index(int64_t *index, const int64_t *dims, int rank)
{
    for (int i = rank - 1; i >= 0; i--) {
        if (++index[i] < dims[i])
            return true;
        index[i] = 0;
    }
    return false;
}

/* ---- walks ------------------------------------------------------------------------------ */

/* Drops dimensions of 1, and joins neighbours that lie on both sides as one dimension
 * would. */
static void walk_join(sim_walk *walk)
{
    int rank = 0;
    for (int i = 0; i < walk->rank; i++) {
        const int64_t size = walk->dims[i];
        if (size == 1)
            continue;
        const int last = rank - 1;
        if (rank > 0 && walk->to[last] == size * walk->to[i] &&
            walk->from[last] == size * walk->from[i]) {
            walk->dims[last] *= size;
            walk->to[last] = walk->to[i];
            walk->from[last] = walk->from[i];
            continue;
        }
        walk->dims[rank] = size;
        walk->to[rank] = walk->to[i];
        walk->from[rank++] = walk->from[i];
    }
    if (rank == 0) {
        walk->dims[0] = walk->to[0] = walk->from[0] = 1;
        rank = 1;
    }
    walk->rank = rank;
}

/* The type of the elements may be another than that of the words. */
typedef uint8_t __attribute__((may_alias)) word_1;
typedef uint16_t __attribute__((may_alias)) word_2;
typedef uint32_t __attribute__((may_alias)) word_4;
typedef uint64_t __attribute__((may_alias)) word_8;
typedef struct word_16 {
    uint64_t halves[2];
} __attribute__((may_alias)) word_16;

#define LINE(T)                                                                                    \
    for (int64_t i = 0; i < n; i++)                                                                \
        ((T *)to)[i * to_stride] = ((const T *)from)[i * from_stride];

static void copy_line(void *to, int64_t to_stride, const void *from, int64_t from_stride, int64_t n,
                      size_t bytes)
{
    if (to_stride == 1 && from_stride == 1)
        memcpy(to, from, (size_t)n * bytes);
    else if (bytes == 1)
        LINE(word_1)
    else if (bytes == 2)
        LINE(word_2)
    else if (bytes == 4)
        LINE(word_4)
    else if (bytes == 8)
        LINE(word_8)
    else
        LINE(word_16)
}

void sim_copy(void *to, const void *from, sim_walk *walk, size_t bytes)
{
    int64_t index[SIM_MAX_RANK] = {0};
    for (int i = 0; i < walk->rank; i++)
        if (walk->dims[i] <= 0)
            return;
    walk_join(walk);
    const int last = walk->rank - 1;
    do {
        int64_t t = 0, f = 0;
        for (int i = 0; i < last; i++) {
            t += index[i] * walk->to[i];
            f += index[i] * walk->from[i];
        }
        copy_line((char *)to + t * (int64_t)bytes, walk->to[last],
                  (const char *)from + f * (int64_t)bytes, walk->from[last], walk->dims[last],
                  bytes);
    } while (sim_next_index(index, walk->dims, last));
}

void sim_fill(void *to, const void *element, int64_t count, size_t bytes)
{
    if (count > 0)
        copy_line(to, 1, element, 0, count, bytes);
}
