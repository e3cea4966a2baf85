/*
 * parse_table.c - what the reader knows of each op: its name, operands, regions and
 * attributes. A row of attributes says under which names the text has them, how
 * many integers they are and what stands for one that is missing, so that
 * sim_finish_op can bring them into the one form that program.h lists.
 */
#include "runtime/sim/program/parse_op.h"

#include <string.h>

/* ---- rows of attributes -------------------------------------------------------------- */

/* How many integers; ranks are those of the first operand. */
typedef enum counts { ONE, RANK, PAIRS, SPATIAL, SPATIAL_PAIRS, ANY, WORD } counts;

/* Value of a missing one: 0, 1, the last dimension; or it is required. */
enum { LAST = -1, REQUIRED = -2 };

typedef struct attribute_row {
    const char *name, *alias; /* of the generic and of the pretty form, which may be one */
    counts count;
    int fallback; /* of every integer; any but REQUIRED: an empty word */
    int part;     /* of the pair "[1] x [0]" that the alias names */
} attribute_row;

static const attribute_row broadcast_rows[] = {
    {"broadcast_dimensions", "dims", RANK, REQUIRED, 0},
};
static const attribute_row compare_rows[] = {
    {"comparison_direction", NULL, WORD, REQUIRED, 0},
    {"compare_type", NULL, WORD, 0, 0},
};
static const attribute_row concatenate_rows[] = {{"dimension", "dim", ONE, REQUIRED, 0}};
static const attribute_row iota_rows[] = {{"iota_dimension", "dim", ONE, REQUIRED, 0}};
static const attribute_row convolution_rows[] = {
    {"input_batch_dimension", NULL, ONE, REQUIRED, 0},
    {"input_feature_dimension", NULL, ONE, REQUIRED, 0},
    {"input_spatial_dimensions", NULL, SPATIAL, REQUIRED, 0},
    {"kernel_input_feature_dimension", NULL, ONE, REQUIRED, 0},
    {"kernel_output_feature_dimension", NULL, ONE, REQUIRED, 0},
    {"kernel_spatial_dimensions", NULL, SPATIAL, REQUIRED, 0},
    {"output_batch_dimension", NULL, ONE, REQUIRED, 0},
    {"output_feature_dimension", NULL, ONE, REQUIRED, 0},
    {"output_spatial_dimensions", NULL, SPATIAL, REQUIRED, 0},
    {"window_strides", "stride", SPATIAL, 1, 0},
    {"padding", "pad", SPATIAL_PAIRS, 0, 0},
    {"lhs_dilation", "lhs_dilate", SPATIAL, 1, 0},
    {"rhs_dilation", "rhs_dilate", SPATIAL, 1, 0},
    {"window_reversal", "reverse", SPATIAL, 0, 0},
    {"feature_group_count", NULL, ONE, 1, 0},
    {"batch_group_count", NULL, ONE, 1, 0},
};
static const attribute_row custom_call_rows[] = {{"call_target_name", NULL, WORD, REQUIRED, 0}};
static const attribute_row dot_rows[] = {
    {"lhs_batching_dimensions", "batching_dims", ANY, 0, 0},
    {"rhs_batching_dimensions", "batching_dims", ANY, 0, 1},
    {"lhs_contracting_dimensions", "contracting_dims", ANY, 0, 0},
    {"rhs_contracting_dimensions", "contracting_dims", ANY, 0, 1},
};
static const attribute_row dynamic_slice_rows[] = {{"slice_sizes", "sizes", RANK, REQUIRED, 0}};
static const attribute_row fft_rows[] = {
    {"fft_type", "type", WORD, REQUIRED, 0},
    {"fft_length", "length", ANY, REQUIRED, 0},
};
static const attribute_row gather_rows[] = {
    {"offset_dims", NULL, ANY, 0, 0},           {"collapsed_slice_dims", NULL, ANY, 0, 0},
    {"operand_batching_dims", NULL, ANY, 0, 0}, {"start_indices_batching_dims", NULL, ANY, 0, 0},
    {"start_index_map", NULL, ANY, 0, 0},       {"index_vector_dim", NULL, ONE, 0, 0},
    {"slice_sizes", NULL, RANK, REQUIRED, 0},
};
static const attribute_row get_tuple_element_rows[] = {{"index", NULL, ONE, REQUIRED, 0}};
static const attribute_row pad_rows[] = {
    {"edge_padding_low", "low", RANK, REQUIRED, 0},
    {"edge_padding_high", "high", RANK, REQUIRED, 0},
    {"interior_padding", "interior", RANK, 0, 0},
};
static const attribute_row reduce_rows[] = {{"dimensions", NULL, ANY, REQUIRED, 0}};
static const attribute_row reverse_rows[] = {{"dimensions", "dims", ANY, REQUIRED, 0}};
static const attribute_row reduce_precision_rows[] = {
    {"exponent_bits", NULL, ONE, REQUIRED, 0},
    {"mantissa_bits", NULL, ONE, REQUIRED, 0},
};
static const attribute_row reduce_window_rows[] = {
    {"window_dimensions", NULL, RANK, REQUIRED, 0},
    {"window_strides", NULL, RANK, 1, 0},
    {"base_dilations", NULL, RANK, 1, 0},
    {"window_dilations", NULL, RANK, 1, 0},
    {"padding", NULL, PAIRS, 0, 0},
};
static const attribute_row rng_rows[] = {{"rng_algorithm", "algorithm", WORD, REQUIRED, 0}};
static const attribute_row scatter_rows[] = {
    {"update_window_dims", NULL, ANY, 0, 0},
    {"inserted_window_dims", NULL, ANY, 0, 0},
    {"input_batching_dims", NULL, ANY, 0, 0},
    {"scatter_indices_batching_dims", NULL, ANY, 0, 0},
    {"scatter_dims_to_operand_dims", NULL, ANY, 0, 0},
    {"index_vector_dim", NULL, ONE, 0, 0},
};
static const attribute_row select_rows[] = {
    {"window_dimensions", NULL, RANK, 1, 0},
    {"window_strides", NULL, RANK, 1, 0},
    {"padding", NULL, PAIRS, 0, 0},
};
static const attribute_row slice_rows[] = {
    {"start_indices", NULL, RANK, REQUIRED, 0},
    {"limit_indices", NULL, RANK, REQUIRED, 0},
    {"strides", NULL, RANK, 1, 0},
};
static const attribute_row sort_rows[] = {
    {"dimension", NULL, ONE, LAST, 0},
    {"is_stable", NULL, ONE, 0, 0},
};
static const attribute_row transpose_rows[] = {{"permutation", "dims", RANK, REQUIRED, 0}};
static const attribute_row norm_rows[] = {{"feature_index", NULL, ONE, REQUIRED, 0}};
static const attribute_row top_k_rows[] = {{"k", NULL, ONE, REQUIRED, 0}};

/* ---- rows of ops ------------------------------------------------------------------------ */

typedef struct op_row {
    const attribute_row *attributes;
    int attribute_count, regions; /* regions -1: any number */
} op_row;

#define ROWS(rows) rows, (int)(sizeof(rows) / sizeof *(rows))

static const op_row ops[SIM_OP_ALL] = {
    [SIM_OP_BROADCAST_IN_DIM] = {ROWS(broadcast_rows), 0},
    [SIM_OP_CASE] = {NULL, 0, -1},
    [SIM_OP_COMPARE] = {ROWS(compare_rows), 0},
    [SIM_OP_CONCATENATE] = {ROWS(concatenate_rows), 0},
    [SIM_OP_CONVOLUTION] = {ROWS(convolution_rows), 0},
    [SIM_OP_CUSTOM_CALL] = {ROWS(custom_call_rows), 0},
    [SIM_OP_DOT_GENERAL] = {ROWS(dot_rows), 0},
    [SIM_OP_DYNAMIC_SLICE] = {ROWS(dynamic_slice_rows), 0},
    [SIM_OP_FFT] = {ROWS(fft_rows), 0},
    [SIM_OP_GATHER] = {ROWS(gather_rows), 0},
    [SIM_OP_GET_TUPLE_ELEMENT] = {ROWS(get_tuple_element_rows), 0},
    [SIM_OP_IF] = {NULL, 0, 2},
    [SIM_OP_IOTA] = {ROWS(iota_rows), 0},
    [SIM_OP_PAD] = {ROWS(pad_rows), 0},
    [SIM_OP_REDUCE] = {ROWS(reduce_rows), 1},
    [SIM_OP_REDUCE_PRECISION] = {ROWS(reduce_precision_rows), 0},
    [SIM_OP_REDUCE_WINDOW] = {ROWS(reduce_window_rows), 1},
    [SIM_OP_REVERSE] = {ROWS(reverse_rows), 0},
    [SIM_OP_RNG_BIT_GENERATOR] = {ROWS(rng_rows), 0},
    [SIM_OP_SCATTER] = {ROWS(scatter_rows), 1},
    [SIM_OP_SELECT_AND_SCATTER] = {ROWS(select_rows), 2},
    [SIM_OP_SLICE] = {ROWS(slice_rows), 0},
    [SIM_OP_SORT] = {ROWS(sort_rows), 1},
    [SIM_OP_TRANSPOSE] = {ROWS(transpose_rows), 0},
    [SIM_OP_WHILE] = {NULL, 0, 2},
    [SIM_OP_NORM_TRAINING] = {ROWS(norm_rows), 0},
    [SIM_OP_NORM_INFERENCE] = {ROWS(norm_rows), 0},
    [SIM_OP_NORM_GRAD] = {ROWS(norm_rows), 0},
    [SIM_OP_TOP_K] = {ROWS(top_k_rows), 0},
};

/* Ops that become several: dialect and name, operands. */
static const struct {
    const char *name;
    int operands;
} expanded[SIM_OP_ALL - SIM_OP_COUNT] = {
    [SIM_OP_SQUARE - SIM_OP_COUNT] = {"square", 1},
    [SIM_OP_ERFC - SIM_OP_COUNT] = {"erfc", 1},
    [SIM_OP_ERF_INV - SIM_OP_COUNT] = {"erf_inv", 1},
    [SIM_OP_TOP_K - SIM_OP_COUNT] = {"top_k", 1},
    [SIM_OP_NORM_TRAINING - SIM_OP_COUNT] = {"batch_norm_training", 3},
    [SIM_OP_NORM_INFERENCE - SIM_OP_COUNT] = {"batch_norm_inference", 5},
    [SIM_OP_NORM_GRAD - SIM_OP_COUNT] = {"batch_norm_grad", 5},
};

int sim_op_regions(int code)
{
    return ops[code].regions;
}

int sim_op_arity(int code)
{
    return code < SIM_OP_COUNT ? sim_op_operands((sim_opcode)code)
                               : expanded[code - SIM_OP_COUNT].operands;
}

const char *sim_op_text(int code)
{
    return code < SIM_OP_COUNT ? sim_op_name((sim_opcode)code) : expanded[code - SIM_OP_COUNT].name;
}

/* ---- names ------------------------------------------------------------------------------ */

static const char *dialect_of(int code)
{
    switch (code) {
    case SIM_OP_CALL:
        return "func.";
    case SIM_OP_ERF:
    case SIM_OP_ERFC:
    case SIM_OP_ERF_INV:
    case SIM_OP_SQUARE:
    case SIM_OP_TOP_K:
        return "chlo.";
    default:
        return "stablehlo.";
    }
}

static size_t slot_of(const char *name, size_t length)
{
    size_t hash = length;
    for (size_t i = 0; i < length; i++)
        hash = 31 * hash + (unsigned char)name[i];
    return hash ^ hash >> 9;
}

#define SLOTS (sizeof((sim_reader *)0)->op_slots)

void sim_op_slots(sim_reader *r)
{
    for (int code = 0; code < SIM_OP_ALL; code++) {
        size_t slot = slot_of(sim_op_text(code), strlen(sim_op_text(code)));
        while (r->op_slots[slot % SLOTS])
            slot++;
        r->op_slots[slot % SLOTS] = (uint8_t)(code + 1);
    }
}

int sim_op_find(const sim_reader *r, const char *name, size_t length)
{
    size_t prefix = 0;
    for (size_t i = 0; i < length; i++)
        if (name[i] == '.')
            prefix = i + 1;
    for (size_t slot = slot_of(name + prefix, length - prefix); r->op_slots[slot % SLOTS]; slot++) {
        int code = r->op_slots[slot % SLOTS] - 1;
        const char *text = sim_op_text(code), *dialect = dialect_of(code);
        if (strlen(text) != length - prefix || memcmp(text, name + prefix, length - prefix) != 0)
            continue;
        bool bare = prefix == 0 && code == SIM_OP_CALL;
        bool full = strlen(dialect) == prefix && memcmp(dialect, name, prefix) == 0;
        return bare || full ? code : -1;
    }
    return -1;
}

/* ---- attributes in their normal form ---------------------------------------------------- */

static const sim_raw *find_raw(const sim_reader *r, const sim_reading *o, const attribute_row *row)
{
    const sim_raw *raws = r->raws.items;
    int part = row->part;
    for (size_t i = o->raws; i < r->raws.count; i++) {
        const sim_raw *raw = &raws[i];
        if (strlen(row->name) == raw->name_length &&
            memcmp(row->name, raw->name, raw->name_length) == 0)
            return raw;
        if (row->alias && strlen(row->alias) == raw->name_length &&
            memcmp(row->alias, raw->name, raw->name_length) == 0 && part-- == 0)
            return raw;
    }
    return NULL;
}

static size_t count_of(const attribute_row *row, int rank)
{
    size_t n = (size_t)rank, spatial = rank > 2 ? n - 2 : 0;
    switch (row->count) {
    case ONE:
        return 1;
    case RANK:
        return n;
    case PAIRS:
        return 2 * n;
    case SPATIAL:
        return spatial;
    case SPATIAL_PAIRS:
        return 2 * spatial;
    default:
        return 0;
    }
}

static bool fill_ints(sim_reader *r, const sim_reading *o, const attribute_row *row,
                      const sim_raw *raw, int rank, sim_attribute *attribute)
{
    size_t count = count_of(row, rank);
    if (raw && row->count == ANY)
        count = raw->count;
    if (raw && (!raw->plain || raw->count != count)) {
        sim_reader_fail(r, o->at, SIM_INVALID_ARGUMENT, "%s: %s has %zu integers, not %zu",
                        sim_op_text(o->code), row->name, raw->plain ? raw->count : 0, count);
        return false;
    }
    int64_t *ints = sim_take(r, count * sizeof *ints);
    int64_t fallback = row->fallback == LAST ? rank - 1 : row->fallback;
    for (size_t i = 0; i < count; i++) {
        ints[i] = raw ? raw->ints[i] : fallback;
        if (row->fallback == LAST && ints[i] < 0)
            ints[i] += rank; /* counted from the end */
    }
    attribute->ints = ints;
    attribute->count = count;
    return true;
}

static bool fill(sim_reader *r, const sim_reading *o, const attribute_row *row, int rank,
                 sim_attribute *attribute)
{
    const sim_raw *raw = find_raw(r, o, row);
    attribute->name = row->name;
    if (!raw && row->fallback == REQUIRED) {
        sim_reader_fail(r, o->at, SIM_INVALID_ARGUMENT, "%s: no attribute %s", sim_op_text(o->code),
                        row->name);
        return false;
    }
    if (row->count != WORD)
        return fill_ints(r, o, row, raw, rank, attribute);
    if (raw && !raw->word) {
        sim_reader_fail(r, o->at, SIM_INVALID_ARGUMENT, "%s: %s is not a word",
                        sim_op_text(o->code), row->name);
        return false;
    }
    attribute->word = raw ? sim_keep_text(r, raw->word, raw->word_length) : "";
    return true;
}

void sim_finish_op(sim_reader *r, sim_reading *o, sim_op *op)
{
    const op_row *row = &ops[o->code];
    int rank = op->operand_count ? sim_reader_type(r, op->operands[0])->rank : 0;
    sim_attribute *attributes = sim_take(r, (size_t)row->attribute_count * sizeof *attributes);
    for (int i = 0; i < row->attribute_count; i++)
        if (!fill(r, o, &row->attributes[i], rank, &attributes[i]))
            return;
    op->attributes = attributes;
    op->attribute_count = (size_t)row->attribute_count;
}
