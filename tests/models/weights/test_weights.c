/*
 * test_weights.c - models out of files and into files: names, shapes, types,
 * order of elements.
 */
#include "tests/models/model_fixture.h"

#include <math.h>
#include <unistd.h>

#include "models/weights/safetensors_priv.h"
#include "models/weights/weights.h"

static char folder[200], path[300];

static int folder_make(void **state)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/weights.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/file.safetensors", folder);
    return 0;
}

static int folder_remove(void **state)
{
    return rmdir(folder); /* fails where a test left a file */
}

/* Writes COUNT tensors to the file of the test; bytes are taken from their data. */
static void write_tensors(model_file_tensor *tensors, size_t count)
{
    bn_status st = {.code = BN_OK};
    model_file_writer *w = NULL;
    unlink(path);
    bn_code code = model_file_create(path, tensors, count, NULL, false, &w, &st);
    for (size_t i = 0; i < count && code == BN_OK; i++)
        code = model_file_write(w, tensors[i].data, tensors[i].bytes, &st);
    if (code != BN_OK || model_file_finish(w, NULL, &st) != BN_OK)
        fail_msg("%s", st.message);
}

static model_weights *open_fitting(const model *m)
{
    bn_status st = {.code = BN_OK};
    model_weights *w = NULL;
    if (model_weights_open(path, &w, &st) != BN_OK || model_weights_fit(w, m, &st) != BN_OK)
        fail_msg("%s", st.message);
    return w;
}

static bool from_file(const model_variable *v)
{
    return v->role == MODEL_PARAMETER || v->role == MODEL_STATISTIC;
}

/* ---- there and back --------------------------------------------------------------- */

static void export_to_file(const model *m, model_export_sums *sums)
{
    bn_status st = {.code = BN_OK};
    const char *metadata[] = {"model", "some", NULL};
    model_export *out = NULL;
    bool more = true;
    unlink(path);
    bn_code code = model_export_begin(m, path, metadata, false, &out, &st);
    while (code == BN_OK && more)
        code = model_export_next(out, &more, &st);
    if (code != BN_OK || model_export_finish(out, sums, &st) != BN_OK)
        fail_msg("%s", st.message);
}

/* Every parameter and statistic of M, out of the file, has the bits that the rule
 * gives it under SEED. */
static void check_contents(const model *m, uint64_t seed)
{
    bn_status st = {.code = BN_OK};
    size_t count, seen = 0;
    const model_variable *v = model_variables(m, &count);
    model_weights *w = open_fitting(m);
    for (size_t i = 0; i < count; i++) {
        if (!from_file(&v[i]))
            continue;
        size_t bytes = (size_t)tg_type_bytes(&v[i].shape);
        void *wanted = malloc(bytes), *got = malloc(bytes);
        assert_int_equal(model_initial(&v[i], seed, wanted, &st), BN_OK);
        model_weights_load(w, &v[i], got);
        if (memcmp(wanted, got, bytes) != 0)
            fail_msg("%s differs", v[i].name);
        free(got);
        free(wanted);
        seen++;
    }
    assert_true(seen >= 8); /* alexnet's */
    model_weights_info info;
    model_weights_describe(w, &info);
    assert_int_equal(info.used, seen);
    assert_int_equal(info.tensors, seen);
    char digest[BN_SHA256_TEXT];
    assert_int_equal(bn_file_sha256(path, digest, &st), BN_OK);
    assert_string_equal(info.sha256, digest);
    model_weights_close(w);
}

static void test_round_trip(void **state)
{
    static const tg_dtype dtypes[] = {TG_F32, TG_BF16};
    model_case c;
    for (size_t i = 0; case_at(i / 2, &c); i++) {
        const char *name = c.info.name;
        if (!c.small)
            continue;
        model_export_sums sums;
        model_options o = {.small = true, .train = true, .dtype = dtypes[i % 2], .seed = 3};
        model *nhwc = make_model(name, o);
        export_to_file(nhwc, &sums);
        assert_true(sums.elements >= model_parameter_elements(nhwc)); /* statistics, too */
        o.seed = 1;
        o.layout = MODEL_NCHW;
        o.train = false;
        model *nchw = make_model(name, o);
        check_contents(nhwc, 3);
        check_contents(nchw, 3);
        model_free(nhwc);
        model_free(nchw);
    }
    unlink(path);
}

/* The file is in the framework's order and shape, whatever the device's. */
static void test_framework_order(void **state)
{
    bn_status st = {.code = BN_OK};
    model_export_sums sums;
    model_file *file = NULL;
    model *m = make_model("resnet18", (model_options){.small = true, .seed = 5});
    export_to_file(m, &sums);
    assert_int_equal(model_file_open(path, &file, &st), BN_OK);
    const model_file_tensor *t = model_file_find(file, "conv1.weight");
    assert_int_equal(t->rank, 4);
    assert_memory_equal(t->dims, TG_DIMS(8, 3, 7, 7), 4 * sizeof(int64_t));
    const model_variable *v = model_find(m, "conv1.weight");
    assert_int_equal(v->permutation[0], 2); /* the device's order is another one */
    for (uint64_t i = 0; i < 8 * 3 * 7 * 7; i++) {
        float value;
        memcpy(&value, t->data + 4 * i, 4);
        double rule = sqrt(6.0 / (3 * 7 * 7)) * (2 * model_unit("conv1.weight", 5, i) - 1);
        assert_true(value == (float)rule);
    }
    size_t bytes;
    model_file_bytes(file, &bytes);
    assert_int_equal(sums.bytes, bytes);
    model_file_free(file);
    model_free(m);
    unlink(path);
}

/* ---- types --------------------------------------------------------------------------- */

/* A model of one parameter of COUNT elements, without tensors. */
typedef struct little {
    model_row row;
    model_variable variables[3];
    model instance;
} little;

static model *make_little(little *l, tg_dtype dtype, int64_t count)
{
    *l = (little){.row = {.name = "little"}};
    l->variables[0] = (model_variable){.name = "input", .role = MODEL_INPUT};
    l->variables[1] = (model_variable){.name = "embed.weight",
                                       .role = MODEL_PARAMETER,
                                       .shape = tg_type_make(dtype, 1, TG_DIMS(count))};
    l->instance = (model){.row = &l->row, .variables = l->variables, .variable_count = 2};
    return &l->instance;
}

/* Values of type DTYPE in the file, as the model's WANTED has them. */
static void convert(model_file_dtype dtype, size_t width, const void *values, int64_t count,
                    tg_dtype wanted, void *host)
{
    little l;
    model *m = make_little(&l, wanted, count);
    write_tensors(&(model_file_tensor){"embed.weight", dtype, 1, TG_DIMS(count), values,
                                       (size_t)count * width},
                  1);
    model_weights *w = open_fitting(m);
    model_weights_load(w, &l.variables[1], host);
    model_weights_close(w);
    unlink(path);
}

static float bf16_float(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

enum { ALL_HALVES = 1 << 16 };

static void test_halves(void **state)
{
    uint16_t *all = malloc(ALL_HALVES * sizeof *all), *bf16 = malloc(ALL_HALVES * sizeof *bf16);
    float *f32 = malloc(ALL_HALVES * sizeof *f32);
    for (uint32_t i = 0; i < ALL_HALVES; i++)
        all[i] = (uint16_t)i;
    convert(MODEL_FILE_F16, 2, all, ALL_HALVES, TG_F32, f32);
    for (uint32_t i = 0; i < ALL_HALVES; i++) {
        /* IEEE 754 binary16: sign, 5 bits of exponent, 10 of fraction. */
        int exponent = (int)(i >> 10 & 31), fraction = (int)(i & 1023);
        double value = exponent ? pow(2, exponent - 15) * (1 + fraction / 1024.0)
                                : pow(2, -14) * (fraction / 1024.0);
        if (exponent == 31)
            assert_true(fraction ? isnan(f32[i]) : isinf(f32[i]) != 0);
        else
            assert_true(fabs((double)f32[i]) == value);
        assert_true(isnan(f32[i]) || (signbit(f32[i]) != 0) == (i >> 15 != 0));
    }
    assert_true(f32[0x3C00] == 1 && f32[0xC000] == -2 && f32[0x7BFF] == 65504);

    convert(MODEL_FILE_BF16, 2, all, ALL_HALVES, TG_F32, f32);
    convert(MODEL_FILE_BF16, 2, all, ALL_HALVES, TG_BF16, bf16);
    for (uint32_t i = 0; i < ALL_HALVES; i++) {
        float value = bf16_float((uint16_t)i);
        assert_true(isnan(value) ? isnan(f32[i]) : memcmp(&f32[i], &value, 4) == 0);
        assert_true(isnan(value) ? isnan(bf16_float(bf16[i])) : bf16[i] == i);
    }
    free(f32);
    free(bf16);
    free(all);
}

/* Nearest, and of two that are equally near the even one: DOWN and UP enclose X. */
static uint16_t nearest(double x, uint16_t down, uint16_t up)
{
    double below = (double)bf16_float(down), above = (double)bf16_float(up);
    if (x - below != above - x)
        return x - below < above - x ? down : up;
    return down & 1 ? up : down;
}

/* F64 is rounded once: a value just above the middle of two neighbours goes up,
 * although its f32 is the middle itself. */
static void test_rounding(void **state)
{
    enum { PLACES = 7, HALVES = 0x7F7F - 0x0001 };
    double *values = malloc(HALVES * PLACES * sizeof *values);
    uint16_t *got = malloc(HALVES * PLACES * sizeof *got);
    for (int i = 0; i < HALVES; i++) {
        double below = (double)bf16_float((uint16_t)i),
               above = (double)bf16_float((uint16_t)(i + 1));
        double middle = (below + above) / 2, gap = above - below;
        double places[PLACES] = {below,
                                 middle - gap * 0x1p-40,
                                 middle,
                                 middle + gap * 0x1p-40,
                                 middle + gap * 0x1p-10,
                                 below + gap * 0x1p-30,
                                 above - gap * 0x1p-30};
        memcpy(values + i * PLACES, places, sizeof places);
    }
    convert(MODEL_FILE_F64, 8, values, HALVES * PLACES, TG_BF16, got);
    for (int i = 0; i < HALVES * PLACES; i++)
        assert_int_equal(got[i],
                         nearest(values[i], (uint16_t)(i / PLACES), (uint16_t)(i / PLACES + 1)));
    free(got);
    free(values);
}

static void test_extremes(void **state)
{
    /* The largest finite bf16 is 0x7F7F; from half a step above it is infinite. */
    const double values[] = {-0.0,        1e300,      -1e300,
                             1e-300,      -1e-300,    (double)INFINITY,
                             (double)NAN, 0x1.FEp127, 0x1.FEFFFFFFFFp127,
                             0x1.FFp127,  1.1};
    static const uint16_t bf16[] = {0x8000, 0x7F80, 0xFF80, 0,      0x8000, 0x7F80,
                                    0x7FC0, 0x7F7F, 0x7F7F, 0x7F80, 0x3F8D};
    enum { COUNT = sizeof values / sizeof *values };
    uint16_t half[COUNT];
    float single[COUNT];
    convert(MODEL_FILE_F64, 8, values, COUNT, TG_BF16, half);
    convert(MODEL_FILE_F64, 8, values, COUNT, TG_F32, single);
    for (int i = 0; i < COUNT; i++) {
        if (!isnan(values[i]))
            assert_int_equal(half[i], bf16[i]);
        assert_true(isnan(values[i]) ? isnan(single[i]) : single[i] == (float)values[i]);
    }
    assert_true(isnan(bf16_float(half[6])));
    assert_true(signbit(single[0]));

    /* Not-a-numbers of f32 whose upper half alone would be infinity. */
    static const uint32_t nans[] = {0x7F800001, 0xFF80FFFF, 0x7FFFFFFF};
    convert(MODEL_FILE_F32, 4, nans, 3, TG_BF16, half);
    for (int i = 0; i < 3; i++)
        assert_true(isnan(bf16_float(half[i])));
}

/* ---- misfits --------------------------------------------------------------------------- */

/* Fails unless the file of the test does not fit M, with all of TEXTS said. */
static void misfit(const model *m, const char *const *texts)
{
    bn_status st = {.code = BN_OK};
    model_weights *w = NULL;
    if (model_weights_open(path, &w, &st) != BN_OK)
        fail_msg("%s", st.message);
    assert_int_equal(model_weights_fit(w, m, &st), BN_INVALID);
    assert_ptr_equal(strstr(st.message, path), st.message);
    for (; *texts; texts++)
        if (!strstr(st.message, *texts))
            fail_msg("'%s' does not say '%s'", st.message, *texts);
    model_weights_close(w);
}
#define SAYS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const float four[] = {1, 2, 3, 4}, five[] = {1, 2, 3, 5};
#define FLOATS(name, values)                                                                       \
    {                                                                                              \
        name, MODEL_FILE_F32, 1, TG_DIMS(4), (const unsigned char *)(values), 16                   \
    }

static void test_misfits(void **state)
{
    little l;
    model *m = make_little(&l, TG_F32, 4);
    write_tensors(NULL, 0);
    misfit(m, SAYS("embed.weight is not in the file; it has no tensors"));
    model_file_tensor others[] = {FLOATS("embed.bias", four), FLOATS("far.away", four),
                                  FLOATS("model.embed.weight", four), FLOATS("embed.weights", four),
                                  FLOATS("embed\n", four)};
    write_tensors(others, 5);
    misfit(m,
           SAYS("embed.weight is not in the file; nearest are embed.weights, model.embed.weight, "
                "embed?"));

    l.variables[2] = l.variables[1];
    l.variables[2].name = "head.weight";
    m->variable_count = 3;
    misfit(m, SAYS("embed.weight is not in the file, nor are 1 more of the model's tensors;"));
    model_file_tensor square = {
        "head.weight", MODEL_FILE_F32, 2, TG_DIMS(2, 2), (const unsigned char *)four, 16};
    write_tensors(&square, 1);
    misfit(m, SAYS("head.weight is 2x2 in the file, the model wants 4"));
    square.rank = 0;
    square.bytes = 4;
    write_tensors(&square, 1);
    misfit(m, SAYS("head.weight is scalar in the file, the model wants 4"));
    square = (model_file_tensor){
        "head.weight", MODEL_FILE_I32, 1, TG_DIMS(4), (const unsigned char *)four, 16};
    write_tensors(&square, 1);
    misfit(m, SAYS("head.weight is I32 in the file, the model wants F64, F32, F16 or BF16"));
    unlink(path);
}

static void test_unused(void **state)
{
    little l;
    model *m = make_little(&l, TG_F32, 4);
    int64_t seven = 7;
    model_file_tensor tensors[] = {
        {"bn.num_batches_tracked", MODEL_FILE_I64, 0, NULL, (const unsigned char *)&seven, 8},
        FLOATS("embed.weight", four),
        FLOATS("classifier.weight", four)};
    write_tensors(tensors, 3);
    model_weights *w = open_fitting(m);
    model_weights_info info;
    char unused[3][MODEL_WEIGHTS_NAME];
    model_weights_describe(w, &info);
    assert_int_equal(info.tensors, 3);
    assert_int_equal(info.used, 1);
    assert_int_equal(model_weights_unused(w, unused, 1), 1);
    assert_int_equal(model_weights_unused(w, unused, 3), 2);
    assert_string_equal(unused[0], "bn.num_batches_tracked");
    assert_string_equal(unused[1], "classifier.weight");
    model_weights_close(w);
    unlink(path);
}

static void test_tied(void **state)
{
    static const model_tied tied[] = {{"decoder.bias", "cls.bias"},
                                      {"decoder.weight", "embed.weight"},
                                      {"lm_head.weight", "embed.weight"},
                                      {NULL, NULL}};
    little l;
    model *m = make_little(&l, TG_F32, 4);
    model_file_tensor tensors[] = {FLOATS("decoder.weight", five), FLOATS("embed.weight", five),
                                   FLOATS("lm_head.weight", four)};
    model_weights_info info;
    float host[4];
    write_tensors(tensors, 1);
    misfit(m, SAYS("embed.weight is not in the file; nearest are decoder.weight"));

    l.row.tied = tied;
    for (size_t count = 1; count <= 2; count++) {
        write_tensors(tensors, count);
        model_weights *w = open_fitting(m);
        model_weights_load(w, &l.variables[1], host);
        assert_memory_equal(host, five, sizeof five);
        model_weights_describe(w, &info);
        assert_int_equal(info.used, count); /* a second copy is not left over */
        model_weights_close(w);
    }
    write_tensors(tensors, 3);
    misfit(m, SAYS("embed.weight and lm_head.weight differ in the file", "one tensor"));
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_framework_order),
        cmocka_unit_test(test_halves),     cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_extremes),   cmocka_unit_test(test_misfits),
        cmocka_unit_test(test_unused),     cmocka_unit_test(test_tied),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
