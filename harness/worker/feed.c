/*
 * feed.c - batches on their way to the device. Synthetic batches are there from the start. Others
 * are sent in each step, and the step waits for them (transfer), or they travel while the device
 * works on the step before (prefetch).
 *
 * Host batches are made before anything is measured: a step pays for the transfer, not for our
 * random numbers. Batch K has the contents of seed + K, so the first one is the batch of a run
 * without a feed.
 */
#include "harness/worker/worker.h"

#include <stdlib.h>
#include <string.h>

/* Batches that are made; then they repeat. Where a program runs several steps, a batch of ours is a
 * stack of those that its steps take: as many stacks are made as it takes until they repeat. */
#define FIXED_BATCHES   4
#define VARYING_BATCHES 32

typedef enum feed_kind { FEED_SYNTHETIC, FEED_TRANSFER, FEED_PREFETCH } feed_kind;

typedef struct feed_batch {
    void **host;               /* [input]: contents */
    rt_buffer **resident;      /* [input]; synthetic only */
    tg_type *types;            /* [shaped] */
    int64_t positions, padded; /* tokens of inputs with varying lengths; those of them that pad */
} feed_batch;

struct worker_feed {
    worker_session *session;
    feed_kind kind;
    mode_feed hooks;
    tg_tensor **inputs;
    const model_variable **input_variables; /* [input] */
    bool varying;                           /* rows differ in length */
    size_t steps_a_call;                    /* of the step function */
    tg_tensor **shaped;           /* inputs and results whose shape or dtype is the batch's */
    bool *shaped_result;
    size_t input_count, shaped_count;
    feed_batch batches[VARYING_BATCHES];
    size_t batch_count, next;
    bool held;
    rt_buffer **ahead; /* [input] of batch NEXT, on their way */
    rt_event **ahead_done;
    bool is_ahead;
    uint64_t steps;  /* that have begun */
    tg_tensor *rate; /* written before each step, where the model schedules it; else NULL */
    tg_tensor *loss; /* read before some steps, where the model logs it; else NULL */
};

/* ---- making ----------------------------------------------------------------------- */

/* Whether V's type differs between batches. */
static bool is_shaped(const worker_feed *f, const model_variable *v)
{
    return (f->varying && v->length != MODEL_LENGTH_FIXED) ||
           (model_dtypes_differ(f->session->instance) && v->role == MODEL_INPUT);
}

static void make_lists(worker_feed *f)
{
    size_t count;
    const model_variable *v = model_variables(f->session->instance, &count);
    f->inputs = bn_zalloc(count, sizeof(tg_tensor *));
    f->input_variables = bn_zalloc(count, sizeof(model_variable *));
    f->shaped = bn_zalloc(count, sizeof(tg_tensor *));
    f->shaped_result = bn_zalloc(count, sizeof *f->shaped_result);
    f->ahead = bn_zalloc(count, sizeof(rt_buffer *));
    f->ahead_done = bn_zalloc(count, sizeof(rt_event *));
    for (size_t i = 0; i < count; i++) {
        if (v[i].role == MODEL_INPUT) {
            f->input_variables[f->input_count] = &v[i];
            f->inputs[f->input_count++] = v[i].tensor;
        }
        if (is_shaped(f, &v[i])) {
            f->shaped_result[f->shaped_count] = v[i].role == MODEL_RESULT;
            f->shaped[f->shaped_count++] = v[i].tensor;
        }
    }
}

/* Contents of INPUT for the steps of call NUMBER, one behind the other. */
static bn_code make_input(const worker_feed *f, size_t input, uint64_t number, char *host,
                          bn_status *st)
{
    const model_variable *v = f->input_variables[input];
    const uint64_t seed = model_get_options(f->session->instance)->seed;
    const size_t slice = (size_t)tg_type_bytes(tg_tensor_type(f->inputs[input])) / f->steps_a_call;
    bn_code code = BN_OK;
    for (size_t k = 0; k < f->steps_a_call && code == BN_OK; k++) {
        const uint64_t step = number * f->steps_a_call + k;
        code = model_initial(v, seed + (f->steps_a_call > 1 ? step % FIXED_BATCHES : step),
                             host + k * slice, st);
    }
    return code;
}

static bn_code make_contents(worker_feed *f, feed_batch *b, uint64_t number, bn_status *st)
{
    for (size_t i = 0; i < f->input_count; i++) {
        const tg_type *type = tg_tensor_type(f->inputs[i]);
        b->host[i] = malloc((size_t)tg_type_bytes(type));
        if (!b->host[i])
            return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a batch");
        bn_code code = make_input(f, i, number, b->host[i], st);
        rt_event *done = NULL;
        if (code == BN_OK && f->kind == FEED_SYNTHETIC)
            code = mode_upload(f->session->mode, type, b->host[i], &b->resident[i], &done, st);
        if (code == BN_OK && done)
            code = rt_event_await(f->session->client, done, st);
        rt_event_release(f->session->client, done);
        if (code != BN_OK)
            return code;
    }
    return BN_OK;
}

/* Draws batch NUMBER with BUCKETS: its types into B. */
static bn_code draw_batch(worker_feed *f, uint64_t number, int buckets, feed_batch *b,
                          bn_status *st)
{
    model *instance = f->session->instance;
    bn_code code = BN_OK;
    if (f->varying)
        code = model_draw_batch(instance, number, buckets, st);
    model_draw_dtype(instance, number);
    for (size_t i = 0; i < f->shaped_count; i++)
        b->types[i] = *tg_tensor_type(f->shaped[i]);
    return code;
}

/* Counts the positions of B's inputs, of which rows that are shorter than the longest leave some
 * unused. */
static void count_positions(const worker_feed *f, feed_batch *b)
{
    for (size_t i = 0; i < f->input_count; i++) {
        const model_variable *v = f->input_variables[i];
        const tg_type *type = tg_tensor_type(f->inputs[i]);
        if (v->length == MODEL_LENGTH_FIXED || !v->mask.lengths)
            continue;
        b->positions += type->dims[0] * type->dims[1];
        for (int64_t row = 0; row < type->dims[0]; row++)
            b->padded += type->dims[1] - v->mask.lengths[row];
    }
}

static bn_code make_batch(worker_feed *f, uint64_t number, bn_status *st)
{
    feed_batch *b = &f->batches[number];
    b->host = bn_zalloc(f->input_count + 1, sizeof(void *));
    b->resident = bn_zalloc(f->input_count + 1, sizeof(rt_buffer *));
    b->types = bn_zalloc(f->shaped_count + 1, sizeof *b->types);
    bn_code code = draw_batch(f, number, f->session->experiment->what.buckets, b, st);
    if (code == BN_OK && f->varying)
        count_positions(f, b);
    return code == BN_OK ? make_contents(f, b, number, st) : code;
}

/* ---- shapes ----------------------------------------------------------------------------- */

static bool same_types(const worker_feed *f, const feed_batch *a, const feed_batch *b)
{
    for (size_t i = 0; i < f->shaped_count; i++)
        if (!tg_type_equal(&a->types[i], &b->types[i]))
            return false;
    return true;
}

/* How many shapes COUNT batches have, *ONCE of which one batch has each. */
static size_t count_shapes(const worker_feed *f, const feed_batch *list, size_t count, size_t *once)
{
    size_t shapes = 0;
    *once = 0;
    for (size_t i = 0; i < count; i++) {
        size_t before = 0, behind = 0;
        for (size_t k = 0; k < count; k++) {
            before += k < i && same_types(f, &list[k], &list[i]);
            behind += k > i && same_types(f, &list[k], &list[i]);
        }
        shapes += before == 0;
        *once += before + behind == 0;
    }
    return shapes;
}

/* {"buckets", "shapes", "padded_share"} (new reference): the feed's batches if they were padded to
 * BUCKETS lengths. DRAWN has room for them. NULL: they cannot be drawn. */
static json_t *padding_json(worker_feed *f, int buckets, feed_batch *drawn)
{
    bn_status ignored = {.code = BN_OK};
    int64_t positions = 0, padded = 0;
    size_t once;
    for (size_t i = 0; i < f->batch_count; i++) {
        drawn[i].positions = drawn[i].padded = 0;
        if (draw_batch(f, i, buckets, &drawn[i], &ignored) != BN_OK)
            return NULL;
        count_positions(f, &drawn[i]);
        positions += drawn[i].positions;
        padded += drawn[i].padded;
    }
    const size_t shapes = count_shapes(f, drawn, f->batch_count, &once);
    return json_pack("{si sI sf}", "buckets", buckets, "shapes", (json_int_t)shapes, "padded_share",
                     positions > 0 ? (double)padded / (double)positions : 0.0);
}

json_t *worker_feed_to_json(worker_feed *f)
{
    static const int buckets[] = {1, 2, 4, 8, 16, 32};
    size_t once = 0;
    const size_t shapes = f ? count_shapes(f, f->batches, f->batch_count, &once) : 0;
    if (shapes < 2)
        return NULL;
    feed_batch drawn[VARYING_BATCHES] = {{0}};
    json_t *list = json_array();
    for (size_t i = 0; i < f->batch_count; i++)
        drawn[i].types = bn_zalloc(f->shaped_count + 1, sizeof *drawn[i].types);
    for (size_t i = 0; f->varying && i < sizeof buckets / sizeof *buckets; i++)
        if (buckets[i] <= f->session->experiment->what.seq || !f->session->experiment->what.seq)
            json_array_append_new(list, padding_json(f, buckets[i], drawn));
    for (size_t i = 0; i < f->batch_count; i++)
        free(drawn[i].types);
    return json_pack("{sI sI sI so}", "count", (json_int_t)f->batch_count, "shapes",
                     (json_int_t)shapes, "once", (json_int_t)once, "padding", list);
}

/* ---- a step --------------------------------------------------------------------------- */

/* Gives inputs and results the types of batch B, and drops results of another shape. */
static void set_shapes(worker_feed *f, const feed_batch *b, mode *m)
{
    for (size_t i = 0; i < f->shaped_count; i++) {
        if (tg_type_equal(tg_tensor_type(f->shaped[i]), &b->types[i]))
            continue;
        if (f->shaped_result[i])
            mode_clear(m, f->shaped[i]);
        tg_variable_retype(f->shaped[i], &b->types[i]);
    }
}

/* Starts the transfer of batch B. */
static bn_code upload_batch(worker_feed *f, const feed_batch *b, mode *m, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < f->input_count && code == BN_OK; i++) {
        tg_type type = *tg_tensor_type(f->inputs[i]);
        for (size_t k = 0; k < f->shaped_count; k++)
            if (f->shaped[k] == f->inputs[i])
                type = b->types[k];
        code = mode_upload(m, &type, b->host[i], &f->ahead[i], &f->ahead_done[i], st);
    }
    f->is_ahead = true;
    return code;
}

/* Makes the uploaded buffers the inputs' contents; with WAIT, waits until they have arrived. */
static bn_code place_batch(worker_feed *f, mode *m, bool wait, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < f->input_count && code == BN_OK; i++) {
        if (f->ahead_done[i])
            code = rt_event_await(f->session->client, f->ahead_done[i], st);
        rt_event_release(f->session->client, f->ahead_done[i]);
        f->ahead_done[i] = NULL;
        if (code == BN_OK && wait)
            code = rt_buffer_await(f->session->client, f->ahead[i], st);
        if (code == BN_OK) {
            mode_place(m, f->inputs[i], f->ahead[i]);
            f->ahead[i] = NULL;
        }
    }
    f->is_ahead = false;
    return code;
}

/* Host work of an example before a step: its arguments, log and learning rate. */
static bn_code begin_host_step(worker_feed *f, mode *m, bn_status *st)
{
    model *instance = f->session->instance;
    const uint64_t step = f->steps++;
    float rate, loss;
    model_advance(instance, step);
    if (f->loss && (step + 1) % (uint64_t)model_log_every(instance) == 0) {
        bn_code code = mode_read(m, f->loss, &loss, sizeof loss, st);
        if (code != BN_OK)
            return code;
    }
    if (!f->rate || !model_scheduled_rate(instance, step, &rate))
        return BN_OK;
    return mode_write(m, f->rate, &rate, st);
}

static bn_code begin_step(void *context, mode *m, bn_status *st)
{
    worker_feed *f = context;
    const feed_batch *b = &f->batches[f->next];
    bn_code code = begin_host_step(f, m, st);
    if (code == BN_OK && f->kind != FEED_SYNTHETIC && !f->is_ahead)
        code = upload_batch(f, b, m, st);
    set_shapes(f, b, m);
    mode_count(m, BN_COUNTER_POSITIONS, b->positions);
    mode_count(m, BN_COUNTER_POSITIONS_PADDED, b->padded);
    if (code == BN_OK && f->kind != FEED_SYNTHETIC)
        code = place_batch(f, m, f->kind == FEED_TRANSFER, st);
    for (size_t i = 0; i < f->input_count && f->kind == FEED_SYNTHETIC; i++)
        tg_tensor_set_data(f->inputs[i], b->resident[i]);
    if (!f->held)
        f->next = (f->next + 1) % f->batch_count;
    return code == BN_OK ? BN_OK : bn_context(st, "input");
}

static bn_code step_submitted(void *context, mode *m, bn_status *st)
{
    worker_feed *f = context;
    if (f->kind != FEED_PREFETCH)
        return BN_OK;
    bn_code code = upload_batch(f, &f->batches[f->next], m, st);
    return code == BN_OK ? BN_OK : bn_context(st, "input");
}

/* ---- life ---------------------------------------------------------------------------- */

/* Releases all batches; the inputs are empty afterwards. */
static void release_batches(worker_feed *f)
{
    for (size_t i = 0; i < f->input_count; i++) {
        if (f->kind == FEED_SYNTHETIC)
            tg_tensor_set_data(f->inputs[i], NULL);
        rt_event_release(f->session->client, f->ahead_done[i]);
        rt_buffer_release(f->session->client, f->ahead[i]);
    }
    for (size_t k = 0; k < f->batch_count; k++) {
        feed_batch *b = &f->batches[k];
        for (size_t i = 0; i < f->input_count; i++) {
            rt_buffer_release(f->session->client, b->resident[i]);
            free(b->host[i]);
        }
        free(b->host);
        free(b->resident);
        free(b->types);
    }
}

void worker_feed_free(worker_feed *f)
{
    if (!f)
        return;
    release_batches(f);
    free(f->inputs);
    free(f->input_variables);
    free(f->shaped);
    free(f->shaped_result);
    free(f->ahead);
    free(f->ahead_done);
    free(f);
}

/* Whether the host works in the steps of S's model, as in some examples. */
static bool has_host_part(const worker_session *s)
{
    size_t bytes;
    float rate;
    return model_batches_differ(s->instance) || model_statics(s->instance, &bytes) ||
           model_log_every(s->instance) > 0 || model_scheduled_rate(s->instance, 0, &rate);
}

bn_code worker_feed_new(worker_session *s, worker_feed **feed, bn_status *st)
{
    const res_experiment *w = &s->experiment->what;
    const bool varying = strcmp(w->lengths, "varying") == 0;
    *feed = NULL;
    if (!varying && strcmp(w->input, "synthetic") == 0 && !has_host_part(s))
        return BN_OK;
    worker_feed *f = bn_zalloc(1, sizeof *f);
    bn_code code = BN_OK;
    f->session = s;
    f->kind = strcmp(w->input, "prefetch") == 0   ? FEED_PREFETCH
              : strcmp(w->input, "transfer") == 0 ? FEED_TRANSFER
                                                  : FEED_SYNTHETIC;
    f->hooks = (mode_feed){.context = f, .begin = begin_step, .submitted = step_submitted};
    f->varying = varying;
    make_lists(f);
    for (size_t i = 0; i < f->input_count; i++)
        mode_clear(s->mode, f->inputs[i]);
    const model_variable *rate = model_find(s->instance, "learning_rate");
    f->rate = rate ? rate->tensor : NULL;
    const model_variable *loss = model_find(s->instance, "loss");
    f->loss = loss && model_log_every(s->instance) > 0 ? loss->tensor : NULL;
    f->steps_a_call = (size_t)model_get_options(s->instance)->steps;
    size_t wanted = VARYING_BATCHES;
    if (!varying && !model_dtypes_differ(s->instance))
        for (wanted = 1; wanted * f->steps_a_call % FIXED_BATCHES != 0; wanted++)
            ;
    for (; f->batch_count < wanted && code == BN_OK; f->batch_count++)
        code = make_batch(f, f->batch_count, st);
    if (code != BN_OK) {
        worker_feed_free(f);
        return bn_context(st, "input");
    }
    *feed = f;
    return BN_OK;
}

const mode_feed *worker_feed_hooks(const worker_feed *f)
{
    return f ? &f->hooks : NULL;
}

void worker_feed_hold(worker_feed *f)
{
    if (f)
        f->held = true;
}
