/*
 * test_decode.c - steps that decode one token of each row: their logits are those of inference over
 * the whole prefix, the next token is the one of the largest logit, no token needs a program or a
 * transfer of its own, and caches stay where they are.
 */
#define _GNU_SOURCE
#include "tests/support/client_fixture.h"

#include "models/model_priv.h"
#include "modes/mode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 2
#define MOST  64 /* positions */

/* The reduced variant, where there is one. */
static const struct {
    const char *name;
    bool small;
} models[] = {{"gpt2", true}, {"llama", true}, {"mixtral", false}};
#define MODELS (sizeof models / sizeof *models)

/* ---- a model at work -------------------------------------------------------------- */

typedef struct work {
    model *m;
    mode *way;
    mode_call call;
} work;

static work begin(size_t number, const char *way, model_options options)
{
    bn_status st = {0};
    work w = {0};
    size_t count;
    options.small = models[number].small;
    options.batch = BATCH;
    options.dtype = options.dtype ? options.dtype : TG_F32;
    assert_ok(model_new(models[number].name, &options, &w.m, &st), &st);
    assert_ok(mode_create(way, client, &(mode_options){0}, &w.way, &st), &st);
    const model_variable *v = model_variables(w.m, &count);
    for (size_t i = 0; i < count; i++) {
        void *host = malloc((size_t)tg_type_bytes(tg_tensor_type(v[i].tensor)));
        assert_ok(model_initial(&v[i], 1, host, &st), &st);
        if (v[i].role != MODEL_RESULT)
            assert_ok(mode_write(w.way, v[i].tensor, host, &st), &st);
        free(host);
    }
    w.call = (mode_call){.function = model_step, .context = w.m};
    return w;
}

static void end(work *w)
{
    size_t count;
    const model_variable *v = model_variables(w->m, &count);
    for (size_t i = 0; i < count; i++)
        mode_clear(w->way, v[i].tensor);
    mode_destroy(w->way);
    model_free(w->m);
}

static tg_tensor *variable(const work *w, const char *name)
{
    const model_variable *v = model_find(w->m, name);
    assert_non_null(v);
    return v->tensor;
}

static void step(work *w)
{
    bn_status st = {0};
    assert_ok(mode_step(w->way, &w->call, NULL, &st), &st);
    assert_ok(mode_drain(w->way, &st), &st);
}

static void get(const work *w, const char *name, void *host)
{
    bn_status st = {0};
    tg_tensor *v = variable(w, name);
    assert_ok(mode_read(w->way, v, host, (size_t)tg_type_bytes(tg_tensor_type(v)), &st), &st);
}

static float *logits_of(const work *w, int64_t *vocabulary)
{
    const tg_type *type = tg_tensor_type(variable(w, "logits"));
    float *logits = malloc((size_t)tg_type_bytes(type));
    *vocabulary = type->dims[2];
    get(w, "logits", logits);
    return logits;
}

/* ---- the truth: inference over the whole prefix ------------------------------------- */

/* Tokens and logits of STEPS steps. */
typedef struct decoded {
    int32_t tokens[BATCH * MOST]; /* [row][position], as many a row as there are steps */
    float *logits;                /* [step][row][vocabulary] */
    int64_t vocabulary;
} decoded;

static int32_t largest(const float *row, int64_t count)
{
    int64_t best = 0;
    for (int64_t i = 1; i < count; i++)
        best = row[i] > row[best] ? i : best;
    return (int32_t)best;
}

/* Runs STEPS steps from a prompt of PROMPT tokens. */
static decoded decode(size_t number, const char *way, int prompt, int steps)
{
    decoded d = {0};
    int32_t given[BATCH * MOST], next[BATCH] = {0}, position;
    work w = begin(number, way, (model_options){.decode = true, .seq = prompt, .context = MOST});
    get(&w, "input_ids", given);
    for (int p = 0; p < steps; p++) {
        get(&w, "position", &position);
        assert_int_equal(position, p);
        for (int r = 0; r < BATCH; r++)
            d.tokens[r * steps + p] = p < prompt ? given[r * prompt + p] : next[r];
        step(&w);
        float *logits = logits_of(&w, &d.vocabulary);
        const size_t size = (size_t)(BATCH * d.vocabulary);
        d.logits = realloc(d.logits, (size_t)(p + 1) * size * sizeof(float));
        memcpy(d.logits + (size_t)p * size, logits, size * sizeof(float));
        free(logits);
        get(&w, "next_token", next);
        for (int r = 0; r < BATCH; r++)
            assert_int_equal(next[r],
                             largest(d.logits + (size_t)p * size + r * d.vocabulary, d.vocabulary));
    }
    end(&w);
    return d;
}

/* The largest difference of STEPS steps' logits from those of inference over the same tokens, over
 * the largest of a step's logits. */
static double difference(size_t number, const decoded *d, int steps)
{
    bn_status st = {0};
    int64_t vocabulary;
    double most = 0;
    work w = begin(number, "lazy", (model_options){.seq = steps});
    assert_ok(mode_write(w.way, variable(&w, "input_ids"), d->tokens, &st), &st);
    step(&w);
    float *want = logits_of(&w, &vocabulary); /* (B, T, V) */
    assert_int_equal(vocabulary, d->vocabulary);
    for (int p = 0; p < steps; p++)
        for (int r = 0; r < BATCH; r++) {
            const float *a = d->logits + (p * BATCH + r) * vocabulary;
            const float *b = want + (r * steps + p) * vocabulary;
            double size = 0, off = 0;
            for (int64_t i = 0; i < vocabulary; i++) {
                size = fmax(size, fabs((double)b[i]));
                off = fmax(off, fabs((double)a[i] - (double)b[i]));
            }
            assert_true(size > 1e-3);
            most = fmax(most, off / size);
        }
    free(want);
    end(&w);
    return most;
}

static void check_truth(size_t number, const char *way, int prompt)
{
    decoded d = decode(number, way, prompt, MOST);
    const double most = difference(number, &d, MOST);
    print_message("%s %s, prompt of %d: %.1e\n", models[number].name, way, prompt, most);
    assert_true(most < 1e-4);
    free(d.logits);
}

static void logits_are_those_of_the_whole_prefix(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        check_truth(i, "lazy", MOST - 1); /* all tokens are given */
        check_truth(i, "lazy", 3);        /* nearly all are chosen */
    }
    check_truth(1, "capture", 3);
    check_truth(0, "eager", MOST / 2);
}

/* ---- behind the last position --------------------------------------------------------- */

static void decoding_goes_on_behind_the_prompt(void **state)
{
    (void)state;
    enum { PROMPT = 3, CONTEXT = 8 };
    for (size_t i = 0; i < MODELS; i++) {
        bn_status st = {0};
        int32_t given[BATCH * PROMPT], next[BATCH], position, tokens[BATCH * (PROMPT + 1)];
        int64_t vocabulary;
        work w =
            begin(i, "lazy", (model_options){.decode = true, .seq = PROMPT, .context = CONTEXT});
        get(&w, "input_ids", given);
        for (int p = 0; p < CONTEXT; p++)
            step(&w);
        get(&w, "position", &position);
        assert_int_equal(position, PROMPT);
        get(&w, "next_token", next);
        step(&w);
        get(&w, "position", &position);
        assert_int_equal(position, PROMPT + 1);
        float *got = logits_of(&w, &vocabulary);
        end(&w);
        /* The step saw the prompt and the last choice, and nothing of what stood behind. */
        for (int r = 0; r < BATCH; r++) {
            memcpy(tokens + r * (PROMPT + 1), given + r * PROMPT, PROMPT * sizeof *given);
            tokens[r * (PROMPT + 1) + PROMPT] = next[r];
        }
        w = begin(i, "lazy", (model_options){.seq = PROMPT + 1});
        assert_ok(mode_write(w.way, variable(&w, "input_ids"), tokens, &st), &st);
        step(&w);
        float *want = logits_of(&w, &vocabulary);
        for (int r = 0; r < BATCH; r++)
            for (int64_t k = 0; k < vocabulary; k++)
                assert_float_equal(got[r * vocabulary + k],
                                   want[(r * (PROMPT + 1) + PROMPT) * vocabulary + k], 1e-4);
        free(got);
        free(want);
        end(&w);
    }
}

/* ---- what a token costs ------------------------------------------------------------------ */

static void no_token_needs_a_program_or_a_transfer(void **state)
{
    static const char *const ways[] = {"eager", "lazy", "capture"};
    static const bn_counter still[] = {BN_COUNTER_COMPILES,
                                       BN_COUNTER_CAPTURES,
                                       BN_COUNTER_GUARD_MISSES,
                                       BN_COUNTER_GRAPH_BREAKS,
                                       BN_COUNTER_TRANSFERS_TO_DEVICE,
                                       BN_COUNTER_TRANSFERS_TO_HOST};
    (void)state;
    for (size_t i = 0; i < MODELS; i++)
        for (size_t k = 0; k < 3; k++) {
            uint64_t first[BN_COUNTER_COUNT];
            work w = begin(i, ways[k], (model_options){.decode = true, .seq = 3, .context = 8});
            step(&w);
            memcpy(first, mode_counters(w.way), sizeof first);
            for (int p = 1; p < 20; p++) /* in the prompt, behind it, and from the start again */
                step(&w);
            for (size_t c = 0; c < sizeof still / sizeof *still; c++)
                assert_int_equal(mode_counters(w.way)[still[c]], first[still[c]]);
            if (k > 0)
                assert_int_equal(first[BN_COUNTER_COMPILES], 1);
            end(&w);
        }
}

/* Where VARIABLE lies. */
static uintptr_t address_of(const tg_tensor *variable)
{
    bn_status st = {0};
    uintptr_t address = 0;
    assert_ok(rt_buffer_address(client, tg_tensor_data(variable), &address, &st), &st);
    return address;
}

static void caches_are_updated_where_they_are(void **state)
{
    static const char *const ways[] = {"lazy", "capture"};
    (void)state;
    for (size_t i = 0; i < MODELS; i++)
        for (size_t k = 0; k < 2; k++) {
            size_t count, caches = 0;
            uintptr_t at[64];
            work w = begin(i, ways[k], (model_options){.decode = true, .context = 32});
            const model_variable *v = model_variables(w.m, &count);
            for (int p = 0; p < 4; p++) {
                step(&w);
                caches = 0;
                for (size_t n = 0; n < count; n++) {
                    if (strncmp(v[n].name, "cache/", 6) != 0)
                        continue;
                    assert_true(p == 0 || address_of(v[n].tensor) == at[caches]);
                    at[caches++] = address_of(v[n].tensor);
                }
            }
            assert_int_equal(caches, 2 * nn_depth(w.m));
            end(&w);
        }
}

/* Each variable of the state takes over its own memory in the step's one graph. */
static void state_is_donated(void **state)
{
    static const unsigned whole[TG_PHASE_COUNT] = {0};
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        bn_status st = {0};
        size_t count, graph_count, kept = 0, states = 0;
        tg_graph *const *graphs;
        work w = begin(i, "lazy", (model_options){.decode = true});
        tg_trace *t = tg_trace_new();
        tg_trace_begin(t);
        model_step(t, w.m);
        assert_ok(tg_trace_cut(t, whole, NULL, &graphs, &graph_count, &st), &st);
        assert_int_equal(graph_count, 1);
        const model_variable *v = model_variables(w.m, &count);
        for (size_t n = 0; n < count; n++)
            states += v[n].role == MODEL_STATE;
        for (size_t n = 0; n < graphs[0]->output_count; n++)
            kept +=
                graphs[0]->donor[n] >= 0 &&
                tg_input_variable(graphs[0]->inputs[graphs[0]->donor[n]]) == graphs[0]->target[n];
        assert_int_equal(states, 2 + 2 * nn_depth(w.m));
        assert_int_equal(kept, states);
        tg_trace_free(t);
        end(&w);
    }
}

/* ---- several steps as one loop --------------------------------------------------------------- */

#define LOOP 5

typedef struct looping {
    model *m;
    tg_tensor *state[64], *results[8];
    size_t states, result_count;
} looping;

static void loop_body(tg_trace *t, void *context, tg_tensor *const *carried,
                      tg_tensor *const *slices, tg_tensor **next, tg_tensor **out)
{
    looping *l = context;
    (void)slices;
    for (size_t i = 0; i < l->states; i++)
        tg_bind(t, l->state[i], carried[i]);
    for (size_t i = 0; i < l->result_count; i++)
        tg_bind(t, l->results[i], tg_full(t, tg_tensor_type(l->results[i]), 0.0));
    model_step(t, l->m);
    for (size_t i = 0; i < l->states; i++)
        next[i] = tg_trace_value(t, l->state[i]);
    for (size_t i = 0; i < l->result_count; i++)
        out[i] = tg_trace_value(t, l->results[i]);
}

static void loop_step(tg_trace *t, void *context)
{
    looping *l = context;
    tg_tensor *results[72];
    const tg_loop loop = {.length = LOOP,
                          .carried = l->state,
                          .carried_count = l->states,
                          .outs = l->result_count,
                          .body = loop_body,
                          .context = l};
    tg_scan(t, &loop, results);
    for (size_t i = 0; i < l->states; i++)
        tg_assign(t, l->state[i], results[i]);
    const tg_type *type = tg_tensor_type(l->results[0]);
    tg_tensor *last = nn_slice(t, results[l->states], 0, LOOP - 1, 1);
    tg_assign(t, l->results[0], tg_reshape(t, last, type->rank, type->dims));
}

static void steps_can_be_one_loop(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        const model_options options = {.decode = true, .seq = 3, .context = 8};
        looping l = {0};
        size_t count;
        int32_t next[2][BATCH], position[2];
        int64_t vocabulary;
        work one = begin(i, "lazy", options), all = begin(i, "lazy", options);
        const model_variable *v = model_variables(all.m, &count);
        l.m = all.m;
        for (size_t n = 0; n < count; n++) {
            if (v[n].role == MODEL_STATE)
                l.state[l.states++] = v[n].tensor;
            else if (v[n].role == MODEL_RESULT)
                l.results[l.result_count++] = v[n].tensor;
        }
        all.call = (mode_call){.function = loop_step, .context = &l};
        for (int k = 0; k < 2 * LOOP; k++) /* over the last position, too */
            step(&one);
        step(&all);
        step(&all);
        get(&one, "position", &position[0]);
        get(&all, "position", &position[1]);
        assert_int_equal(position[0], position[1]);
        get(&one, "next_token", next[0]);
        get(&all, "next_token", next[1]);
        assert_memory_equal(next[0], next[1], sizeof next[0]);
        float *a = logits_of(&one, &vocabulary), *b = logits_of(&all, &vocabulary);
        for (int64_t k = 0; k < BATCH * vocabulary; k++)
            assert_float_equal(a[k], b[k], 1e-5);
        free(a);
        free(b);
        end(&one);
        end(&all);
    }
}

/* ---- bytes, dtypes, options --------------------------------------------------------------------
 */

static model *make(const char *name, model_options options)
{
    bn_status st = {0};
    model *m = NULL;
    options.dtype = options.dtype ? options.dtype : TG_F32;
    assert_ok(model_new(name, &options, &m, &st), &st);
    return m;
}

static void bytes_are_those_of_active_weights_and_cache(void **state)
{
    (void)state;
    /* gpt2: all parameters but the table of positions, of which it takes a row; the table of words
     * is the output layer. 12 layers, keys and values, 12 heads of 64. */
    model *m = make("gpt2", (model_options){.decode = true, .context = 256});
    model_bytes b = model_decode_bytes(m);
    assert_int_equal(b.weights, 4 * (124439808 - 1024 * 768 + 768));
    assert_int_equal(b.cache, 4LL * 12 * 2 * 12 * 256 * 64);
    model_free(m);
    /* llama: a row of the table for each token; 4 layers, 4 heads of keys of 32. */
    m = make("llama", (model_options){.decode = true, .batch = 3, .dtype = TG_BF16});
    b = model_decode_bytes(m);
    assert_int_equal(b.weights, 2 * (4999424 - 4096 * 256 + 3 * 256));
    assert_int_equal(b.cache, 2LL * 4 * 2 * 3 * 4 * 64 * 32);
    model_free(m);
    /* mixtral: two of four experts of one token, all of two tokens. */
    for (int batch = 1; batch <= 2; batch++) {
        m = make("mixtral", (model_options){.decode = true, .batch = batch});
        b = model_decode_bytes(m);
        assert_int_equal(b.weights, 4 * (1148544 - 1024 * 128 + batch * 128 -
                                         (batch == 1 ? 2 * 2 * 3 * 128 * 256 : 0)));
        model_free(m);
    }
    m = make("gpt2", (model_options){0});
    b = model_decode_bytes(m);
    assert_true(b.weights == 0 && b.cache == 0);
    model_free(m);
}

static void bf16_decodes(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        int32_t next[BATCH];
        const model_options options = {.decode = true, .context = 8, .dtype = TG_BF16};
        work w = begin(i, "lazy", options);
        const int64_t vocabulary = tg_tensor_type(variable(&w, "logits"))->dims[2];
        uint16_t *logits = malloc((size_t)(BATCH * vocabulary) * sizeof *logits);
        for (int p = 0; p < 10; p++) {
            step(&w);
            get(&w, "logits", logits);
            get(&w, "next_token", next);
            for (int r = 0; r < BATCH; r++) {
                const uint16_t *row = logits + r * vocabulary;
                assert_in_range(next[r], 0, vocabulary - 1);
                for (int64_t k = 0; k < vocabulary; k++) /* of equal ones the first */
                    assert_true(k < next[r] ? bn_from_bf16(row[k]) < bn_from_bf16(row[next[r]])
                                            : bn_from_bf16(row[k]) <= bn_from_bf16(row[next[r]]));
            }
        }
        free(logits);
        end(&w);
    }
}

static void refused(const char *name, model_options options)
{
    bn_status st = {0};
    model *m = NULL;
    options.dtype = TG_F32;
    assert_int_equal(model_new(name, &options, &m, &st), BN_INVALID);
    assert_null(m);
}

static void what_has_no_meaning_is_refused(void **state)
{
    (void)state;
    refused("resnet18", (model_options){.decode = true});
    refused("bert", (model_options){.decode = true});
    refused("gpt2", (model_options){.decode = true, .train = true});
    refused("gpt2", (model_options){.decode = true, .scan = true});
    refused("gpt2", (model_options){.context = 64});
    refused("gpt2", (model_options){.decode = true, .seq = 64, .context = 64});
    refused("gpt2", (model_options){.decode = true, .context = 1025}); /* positions */
    refused("llama", (model_options){.decode = true, .context = 1});
    refused("llama", (model_options){.decode = true, .context = 1 << 20});
    refused("llama", (model_options){.decode = true, .context = -1});
    model *m = make("llama", (model_options){.decode = true});
    assert_int_equal(model_get_options(m)->context, 64);
    assert_int_equal(model_get_options(m)->seq, 32);
    model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logits_are_those_of_the_whole_prefix),
        cmocka_unit_test(decoding_goes_on_behind_the_prompt),
        cmocka_unit_test(no_token_needs_a_program_or_a_transfer),
        cmocka_unit_test(caches_are_updated_where_they_are),
        cmocka_unit_test(state_is_donated),
        cmocka_unit_test(steps_can_be_one_loop),
        cmocka_unit_test(bytes_are_those_of_active_weights_and_cache),
        cmocka_unit_test(bf16_decodes),
        cmocka_unit_test(what_has_no_meaning_is_refused),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
