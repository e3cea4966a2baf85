/* parse_check_dims.c - ops with dimension numbers: dot_general, convolution, gather,
 * scatter. Rules: StableHLO specification. */
#include "runtime/sim/program/parse_check.h"

/* ---- dot_general ------------------------------------------------------------------------ */

/* A bit for each of the dimensions in LIST. */
static uint64_t mask_of(const sim_attribute *list)
{
    uint64_t mask = 0;
    for (size_t i = 0; i < list->count; i++)
        mask |= (uint64_t)1 << list->ints[i];
    return mask;
}

static bool same_sizes(const sim_attribute *a, const sim_type *x, const sim_attribute *b,
                       const sim_type *y)
{
    for (size_t i = 0; i < a->count; i++)
        if (x->dims[a->ints[i]] != y->dims[b->ints[i]])
            return false;
    return true;
}

/* Sizes of X's dimensions outside MASK, appended to WANT; false where it gets too long. */
static bool append_free(sim_type *want, const sim_type *x, uint64_t mask)
{
    for (int i = 0; i < x->rank; i++)
        if (!(mask >> i & 1)) {
            if (want->rank == SIM_MAX_RANK)
                return false;
            want->dims[want->rank++] = x->dims[i];
        }
    return true;
}

bool sim_check_dot(sim_reader *r, const char *at, const sim_op *op)
{
    const sim_type *x = sim_check_operand(r, op, 0), *y = sim_check_operand(r, op, 1);
    const sim_attribute *xb = sim_attribute_find(op, "lhs_batching_dimensions");
    const sim_attribute *yb = sim_attribute_find(op, "rhs_batching_dimensions");
    const sim_attribute *xc = sim_attribute_find(op, "lhs_contracting_dimensions");
    const sim_attribute *yc = sim_attribute_find(op, "rhs_contracting_dimensions");
    bool fits = xb->count == yb->count && xc->count == yc->count && sim_check_dims(xb, x->rank) &&
                sim_check_dims(xc, x->rank) && sim_check_dims(yb, y->rank) &&
                sim_check_dims(yc, y->rank) && !(mask_of(xb) & mask_of(xc)) &&
                !(mask_of(yb) & mask_of(yc)) && same_sizes(xb, x, yb, y) &&
                same_sizes(xc, x, yc, y);
    if (!fits)
        return sim_check_fail(r, at, op, "dimensions of the operands do not fit each other");
    sim_type want = {.dtype = sim_check_result(r, op, 0)->dtype, .rank = (int)xb->count};
    for (int i = 0; i < want.rank; i++)
        want.dims[i] = x->dims[xb->ints[i]];
    if (!append_free(&want, x, mask_of(xb) | mask_of(xc)) ||
        !append_free(&want, y, mask_of(yb) | mask_of(yc)))
        return sim_check_fail(r, at, op, "a rank above %d", SIM_MAX_RANK);
    return sim_check_types(r, at, op, sim_check_result(r, op, 0), &want);
}

/* ---- convolution ------------------------------------------------------------------------ */

/* Where the parts of an operand lie. */
typedef struct layout {
    int64_t first, second; /* batch and feature; of the kernel input and output feature */
    const int64_t *spatial;
} layout;

static bool read_layout(const sim_op *op, const char *const names[3], int rank, layout *l)
{
    int64_t all[SIM_MAX_RANK];
    l->first = sim_attribute_int(op, names[0]);
    l->second = sim_attribute_int(op, names[1]);
    l->spatial = sim_attribute_find(op, names[2])->ints;
    all[0] = l->first;
    all[1] = l->second;
    for (int i = 2; i < rank; i++)
        all[i] = l->spatial[i - 2];
    return sim_check_dims(&(sim_attribute){.ints = all, .count = (size_t)rank}, rank);
}

static bool check_groups(const sim_op *op, const sim_type *x, const sim_type *w, const layout *xl,
                         const layout *wl)
{
    int64_t groups = sim_attribute_int(op, "feature_group_count");
    int64_t batches = sim_attribute_int(op, "batch_group_count");
    if (groups < 1 || batches < 1 || (groups > 1 && batches > 1))
        return false;
    int64_t features = x->dims[xl->second], out = w->dims[wl->second];
    return features % groups == 0 && features / groups == w->dims[wl->first] && out % groups == 0 &&
           out % batches == 0 && x->dims[xl->first] % batches == 0;
}

bool sim_check_convolution(sim_reader *r, const char *at, const sim_op *op)
{
    static const char *const names[3][3] = {
        {"input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"},
        {"kernel_input_feature_dimension", "kernel_output_feature_dimension",
         "kernel_spatial_dimensions"},
        {"output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions"}};
    const sim_type *x = sim_check_operand(r, op, 0), *w = sim_check_operand(r, op, 1);
    const sim_type *y = sim_check_result(r, op, 0);
    layout xl, wl, yl;
    if (x->rank < 2 || w->rank != x->rank || y->rank != x->rank ||
        !read_layout(op, names[0], x->rank, &xl) || !read_layout(op, names[1], x->rank, &wl) ||
        !read_layout(op, names[2], x->rank, &yl))
        return sim_check_fail(r, at, op, "dimension numbers do not name each dimension once");
    if (!check_groups(op, x, w, &xl, &wl))
        return sim_check_fail(r, at, op, "features, batch and groups do not fit each other");
    sim_type want = *y;
    want.dims[yl.first] = x->dims[xl.first] / sim_attribute_int(op, "batch_group_count");
    want.dims[yl.second] = w->dims[wl.second];
    const int64_t *pad = sim_attribute_find(op, "padding")->ints;
    const int64_t *reversal = sim_attribute_find(op, "window_reversal")->ints;
    for (int i = 0; i < x->rank - 2; i++) {
        int64_t size = w->dims[wl.spatial[i]];
        int64_t places = sim_window_places(
            x->dims[xl.spatial[i]], sim_attribute_find(op, "lhs_dilation")->ints[i], pad[2 * i],
            pad[2 * i + 1], size ? size : 1, sim_attribute_find(op, "rhs_dilation")->ints[i],
            sim_attribute_find(op, "window_strides")->ints[i]);
        if (places < 0 || size == 0 || reversal[i] < 0 || reversal[i] > 1)
            return sim_check_fail(r, at, op, "no window along spatial dimension %d", i);
        want.dims[yl.spatial[i]] = places;
    }
    return sim_check_types(r, at, op, y, &want);
}

/* ---- gather and scatter ----------------------------------------------------------------- */

/* Both relate three tensors: X, INDICES and Y, which holds parts of X. The dimensions
 * WINDOW of Y run through a part; they are those of X without the GONE and the BATCHING
 * ones. The other dimensions of Y are those of INDICES without VECTOR, along which an index
 * lies. MAPPED says which dimension of X each number of an index is for. */
typedef struct indexing {
    const sim_type *x, *indices, *y;
    const sim_attribute *window, *gone, *batching, *indices_batching, *mapped;
    int64_t vector;
} indexing;

static bool check_lists(const indexing *g)
{
    int rank = g->x->rank, places = g->indices->rank;
    bn_class class = bn_dtype_class(g->indices->dtype);
    if ((class != BN_SIGNED && class != BN_UNSIGNED) || g->vector < 0 || g->vector > places ||
        !sim_check_dims(g->window, g->y->rank) || !sim_check_dims(g->gone, rank) ||
        !sim_check_dims(g->batching, rank) || !sim_check_dims(g->mapped, rank) ||
        !sim_check_dims(g->indices_batching, places))
        return false;
    for (size_t i = 1; i < g->window->count; i++)
        if (g->window->ints[i - 1] > g->window->ints[i])
            return false;
    int64_t parts = g->vector < places ? g->indices->dims[g->vector] : 1;
    for (size_t i = 0; i < g->batching->count && i < g->indices_batching->count; i++)
        if (g->indices_batching->ints[i] == g->vector ||
            g->x->dims[g->batching->ints[i]] != g->indices->dims[g->indices_batching->ints[i]])
            return false;
    return !(mask_of(g->gone) & mask_of(g->batching)) &&
           !(mask_of(g->mapped) & mask_of(g->batching)) && (int64_t)g->mapped->count == parts &&
           g->batching->count == g->indices_batching->count &&
           g->window->count + g->gone->count + g->batching->count == (size_t)rank &&
           (int)g->window->count + places - (g->vector < places) == g->y->rank;
}

/* The dimensions of Y that are no window have the sizes of the indices. */
static bool check_places(const indexing *g)
{
    uint64_t window = mask_of(g->window);
    int from = 0;
    for (int i = 0; i < g->y->rank; i++) {
        if (window >> i & 1)
            continue;
        from += from == g->vector;
        if (g->y->dims[i] != g->indices->dims[from++])
            return false;
    }
    return true;
}

/* The windows in Y have the sizes of SIZES, or, without SIZES, at most those of X. */
static bool check_windows(const indexing *g, const int64_t *sizes)
{
    uint64_t hidden = mask_of(g->gone) | mask_of(g->batching);
    size_t next = 0;
    for (int i = 0; i < g->x->rank; i++) {
        bool inside = !(hidden >> i & 1);
        int64_t shown = inside ? g->y->dims[g->window->ints[next++]] : 0;
        if (sizes && (sizes[i] < 0 || sizes[i] > g->x->dims[i] || (!inside && sizes[i] > 1)))
            return false;
        if (inside && (sizes ? shown != sizes[i] : shown > g->x->dims[i]))
            return false;
    }
    return true;
}

bool sim_check_gather(sim_reader *r, const char *at, const sim_op *op)
{
    indexing g = {.x = sim_check_operand(r, op, 0),
                  .indices = sim_check_operand(r, op, 1),
                  .y = sim_check_result(r, op, 0),
                  .window = sim_attribute_find(op, "offset_dims"),
                  .gone = sim_attribute_find(op, "collapsed_slice_dims"),
                  .batching = sim_attribute_find(op, "operand_batching_dims"),
                  .indices_batching = sim_attribute_find(op, "start_indices_batching_dims"),
                  .mapped = sim_attribute_find(op, "start_index_map"),
                  .vector = sim_attribute_int(op, "index_vector_dim")};
    return (g.x->dtype == g.y->dtype && check_lists(&g) && check_places(&g) &&
            check_windows(&g, sim_attribute_find(op, "slice_sizes")->ints)) ||
           sim_check_fail(r, at, op, "dimension numbers, slice sizes and types do not fit");
}

bool sim_check_scatter(sim_reader *r, const char *at, const sim_op *op)
{
    int count = op->result_count;
    if (op->operand_count < 3 || op->operand_count != 2 * count + 1)
        return sim_check_fail(r, at, op, "%d operands", op->operand_count);
    for (int i = 0; i < count; i++) {
        indexing g = {.x = sim_check_operand(r, op, i),
                      .indices = sim_check_operand(r, op, count),
                      .y = sim_check_operand(r, op, count + 1 + i),
                      .window = sim_attribute_find(op, "update_window_dims"),
                      .gone = sim_attribute_find(op, "inserted_window_dims"),
                      .batching = sim_attribute_find(op, "input_batching_dims"),
                      .indices_batching = sim_attribute_find(op, "scatter_indices_batching_dims"),
                      .mapped = sim_attribute_find(op, "scatter_dims_to_operand_dims"),
                      .vector = sim_attribute_int(op, "index_vector_dim")};
        if (g.x->dtype != g.y->dtype || !sim_type_same_shape(g.x, sim_check_operand(r, op, 0)) ||
            !sim_type_same_shape(g.y, sim_check_operand(r, op, count + 1)) || !check_lists(&g) ||
            !check_places(&g) || !check_windows(&g, NULL))
            return sim_check_fail(r, at, op, "dimension numbers and types do not fit");
        if (!sim_check_types(r, at, op, sim_check_result(r, op, i), g.x))
            return false;
    }
    return sim_check_reducer(r, at, op, 0, count);
}
