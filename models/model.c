/*
 * model.c - instances: options, variables, and the step.
 */
#include "models/model_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_IMAGE 4096
#define MAX_SEQ   65536
#define MAX_DEPTH 1000
#define MAX_STEPS 4096

/* ---- making one ----------------------------------------------------------- */

static const model_row *find_row(const char *name, bn_status *st)
{
    const model_row *row = model_row_named(name);
    bn_text known = {0};
    if (row)
        return row;
    for (size_t i = 0; (row = model_row_at(i)); i++)
        bn_text_printf(&known, "%s%s", i ? ", " : "", row->name);
    bn_fail(st, BN_NOT_FOUND, "no model is called '%s'; known are %s", name, known.data);
    bn_text_free(&known);
    return NULL;
}

static void fill_defaults(model_options *o, const model_row *row, const model_variant *variant)
{
    const bool own = o->optimizer == MODEL_OPTIMIZER_DEFAULT || o->optimizer == row->optimizer;
    const double usual = o->optimizer == MODEL_ADAMW ? 1e-4 : 1e-3;
    o->batch = o->batch ? o->batch : row->batch;
    o->image = o->image ? o->image : variant->image;
    if (o->decode)
        o->context = o->context ? o->context : variant->seq;
    o->seq = o->seq ? o->seq : o->decode ? (o->context + 1) / 2 : variant->seq;
    /* One way to say the model's own number of layers. */
    o->depth = o->depth == variant->depth ? 0 : o->depth;
    o->steps = o->steps ? o->steps : 1;
    o->seed = o->seed ? o->seed : 1;
    o->optimizer = own ? row->optimizer : o->optimizer;
    if (o->learning_rate == 0)
        o->learning_rate = own ? variant->learning_rate : usual;
}

/* Refuses several steps in one program where something else than the device decides what the next
 * one does. */
static bn_code check_steps(const model_options *o, const model_row *row, bn_status *st)
{
    const model_example *example = row->example;
    if (o->steps < 1 || o->steps > MAX_STEPS)
        return bn_fail(st, BN_INVALID, "steps per execution: %d is not in 1 to %d", o->steps,
                       MAX_STEPS);
    if (o->steps == 1)
        return BN_OK;
    if (o->offload)
        return bn_fail(st, BN_INVALID,
                       "steps per execution: --offload is for programs of one step");
    if (!example)
        return BN_OK;
    if (example->statics || example->rate_at)
        return bn_fail(st, BN_INVALID,
                       "steps per execution: the host sets arguments before each step");
    if (example->log_every)
        return bn_fail(st, BN_INVALID, "steps per execution: the host reads between steps");
    if (example->other_dtype_every)
        return bn_fail(st, BN_INVALID, "steps per execution: the batches differ in dtype");
    return BN_OK;
}

/* Checks NUMBER, the value of option NAME. USUAL 0: the model has no such option. */
static bn_code check_size(const char *name, int number, int usual, int most, bn_status *st)
{
    if (!usual && number)
        return bn_fail(st, BN_INVALID, "option %s: the model has none", name);
    if (usual && (number < 1 || number > most))
        return bn_fail(st, BN_INVALID, "option %s: %d is not in 1 to %d", name, number, most);
    return BN_OK;
}

/* Options of a model that decodes, and those that have no meaning then. */
static bn_code check_decode(const model_options *o, const model_row *row,
                            const model_variant *variant, bn_status *st)
{
    if (!o->decode && o->context)
        return bn_fail(st, BN_INVALID, "option context: only steps that decode have a cache");
    if (!o->decode)
        return BN_OK;
    if (!row->decodes)
        return bn_fail(st, BN_INVALID, "option decode: the model does not decode");
    if (o->train)
        return bn_fail(st, BN_INVALID, "option decode: training decodes nothing");
    if (o->scan)
        return bn_fail(st, BN_INVALID, "option scan: the layers' caches are not stacked");
    if (check_size("context", o->context, variant->seq, MAX_SEQ, st) != BN_OK)
        return BN_INVALID;
    if (o->seq >= o->context)
        return bn_fail(st, BN_INVALID,
                       "option seq: a prompt of %d tokens leaves no room in a context of %d",
                       o->seq, o->context);
    return BN_OK;
}

static bn_code check_options(const model_options *o, const model_row *row,
                             const model_variant *variant, bn_status *st)
{
    if (variant->learning_rate == 0)
        return bn_fail(st, BN_NOT_FOUND, "the model has no reduced variant");
    if (o->batch < 1)
        return bn_fail(st, BN_INVALID, "option batch: %d is less than 1", o->batch);
    if (check_size("image", o->image, variant->image, MAX_IMAGE, st) != BN_OK ||
        check_size("seq", o->seq, variant->seq, MAX_SEQ, st) != BN_OK ||
        (o->depth && check_size("depth", o->depth, variant->depth, MAX_DEPTH, st) != BN_OK))
        return BN_INVALID;
    if (check_decode(o, row, variant, st) != BN_OK)
        return BN_INVALID;
    if (o->scan && !row->scans)
        return bn_fail(st, BN_INVALID, "option scan: the model has no like layers");
    if ((o->remat != TG_REMAT_NONE || o->offload) && !(o->scan && o->train))
        return bn_fail(st, BN_INVALID,
                       "option %s: only training with the option scan saves what it is about",
                       o->offload ? "offload" : "remat");
    if (o->pad && !row->pads)
        return bn_fail(st, BN_INVALID, "option pad: the model has no padding");
    if (o->dtype != TG_F32 && o->dtype != TG_BF16)
        return bn_fail(st, BN_INVALID, "option dtype: %s; models compute in f32 or bf16",
                       o->dtype < TG_DTYPE_COUNT ? bn_dtype_text(o->dtype) : "unknown");
    if (o->layout != MODEL_NHWC && o->layout != MODEL_NCHW)
        return bn_fail(st, BN_INVALID, "option layout: neither NHWC nor NCHW");
    if (o->optimizer != MODEL_SGD && o->optimizer != MODEL_ADAMW)
        return bn_fail(st, BN_INVALID, "option optimizer: neither SGD nor AdamW");
    if (!isfinite(o->learning_rate) || o->learning_rate < 0)
        return bn_fail(st, BN_INVALID, "option learning rate: %g is not a positive number",
                       o->learning_rate);
    if (o->keep_gradients && !o->train)
        return bn_fail(st, BN_INVALID, "option gradients: inference has none");
    return check_steps(o, row, st);
}

/* The training part of a step: all beyond the forward pass. */
struct model_training {
    nn_optimizer optimizer;
    tg_tensor **gradients; /* [parameter] of the step in hand */
    tg_tensor **kept;      /* [parameter] results; NULL: not asked for */
};

/* Results "grad/<parameter>", laid out as the parameters. */
static void keep_gradients(model *m, model_training *training)
{
    training->kept = nn_alloc(m, training->optimizer.count, sizeof(tg_tensor *));
    const size_t made = m->variable_count;
    for (size_t i = 0; i < made && m->status.code == BN_OK; i++) {
        char name[2 * MODEL_PATH_BYTES + 8];
        model_variable v = m->variables[i];
        if (v.role != MODEL_PARAMETER)
            continue;
        size_t k = 0; /* layers that are stacked share a gradient as they share a parameter */
        while (training->optimizer.parameters[k] != v.tensor)
            k++;
        snprintf(name, sizeof name, "grad/%s", v.name);
        v.name = name;
        v.role = MODEL_RESULT;
        v.fill = MODEL_FILL_ZERO;
        v.tensor = training->kept[k];
        training->kept[k] = nn_variable(m, &v);
    }
}

static void build_training(model *m)
{
    model_training *training = nn_alloc(m, 1, sizeof *training);
    m->training = training;
    nn_optimizer_new(m, &training->optimizer, m->options.optimizer, m->options.learning_rate);
    training->gradients = nn_alloc(m, training->optimizer.count, sizeof(tg_tensor *));
    if (m->options.keep_gradients)
        keep_gradients(m, training);
}

static void one_step(tg_trace *t, const model *m);

static bn_code build(model *m, bn_status *st)
{
    const model_example *example = m->row->example;
    if (example && example->static_bytes)
        m->statics = nn_alloc(m, 1, example->static_bytes);
    model_advance(m, 0);
    m->row->build(m);
    if (m->options.train && m->status.code == BN_OK)
        build_training(m);
    if (m->status.code == BN_OK)
        return m->options.steps > 1 ? model_loop_new(m, one_step, st) : BN_OK;
    bn_fail(st, m->status.code, "%s", m->status.message);
    return m->status.code;
}

bn_code model_new(const char *name, const model_options *options, model **instance, bn_status *st)
{
    const model_row *row = find_row(name, st);
    if (!row)
        return BN_NOT_FOUND;
    model *m = bn_zalloc(1, sizeof *m);
    m->row = row;
    m->variant = options->small ? &row->small : &row->full;
    m->options = *options;
    fill_defaults(&m->options, row, m->variant);
    bn_code code = check_options(&m->options, row, m->variant, st);
    m->arena = bn_arena_new(1u << 16);
    if (code == BN_OK)
        code = build(m, st);
    if (code != BN_OK) {
        bn_context(st, "%s", name);
        model_free(m);
        return code;
    }
    *instance = m;
    return BN_OK;
}

void model_free(model *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->variable_count; i++)
        if (m->variables[i].layer == 0)
            tg_variable_free(m->variables[i].tensor);
    free(m->variables);
    model_loop_free(m->loop);
    bn_arena_free(m->arena);
    free(m);
}

/* ---- looking into one ------------------------------------------------------- */

const model_options *model_get_options(const model *m)
{
    return &m->options;
}

const model_variable *model_variables(const model *m, size_t *count)
{
    *count = m->variable_count;
    return m->variables;
}

const model_variable *model_find(const model *m, const char *name)
{
    for (size_t i = 0; i < m->variable_count; i++)
        if (strcmp(m->variables[i].name, name) == 0)
            return &m->variables[i];
    return NULL;
}

int64_t model_parameter_elements(const model *m)
{
    int64_t elements = 0;
    for (size_t i = 0; i < m->variable_count; i++)
        if (m->variables[i].role == MODEL_PARAMETER)
            elements += tg_type_elements(&m->variables[i].shape);
    return elements;
}

const char *model_alias(const model *m, const char *name, size_t index)
{
    for (const model_tied *t = m->row->tied; t && t->alias; t++)
        if (strcmp(t->name, name) == 0 && index-- == 0)
            return t->alias;
    return NULL;
}

bn_code model_forward_macs(model *m, double *macs, bn_status *st)
{
    static const unsigned whole[TG_PHASE_COUNT] = {0};
    tg_trace *t = tg_trace_new();
    tg_graph *const *graphs;
    tg_graph_cost cost = {0};
    size_t count = 0;
    if (m->loop) {
        tg_trace_free(t);
        return bn_fail(st, BN_NOT_SUPPORTED, "%s: a forward pass of several steps", m->row->name);
    }
    tg_trace_begin(t);
    m->row->forward(t, m->network);
    bn_code code = tg_trace_cut(t, whole, NULL, &graphs, &count, st);
    *macs = 0;
    for (size_t i = 0; code == BN_OK && i < count; i++) {
        tg_graph_measure(graphs[i], &cost);
        *macs += cost.macs;
    }
    if (m->row->idle_macs)
        *macs -= m->row->idle_macs(m);
    tg_trace_free(t);
    return code;
}

model_bytes model_decode_bytes(const model *m)
{
    const int64_t batch = m->options.batch,
                  size = tg_type_bytes(&(tg_type){.dtype = m->options.dtype});
    model_bytes bytes = {0};
    for (size_t i = 0; m->options.decode && i < m->variable_count; i++) {
        const model_variable *v = &m->variables[i];
        const int64_t all = tg_type_bytes(&v->shape);
        const bool looked_up = v->fill == MODEL_FILL_EMBEDDING && !model_alias(m, v->name, 0);
        if (strncmp(v->name, "cache/", 6) == 0)
            bytes.cache += all;
        else if (v->role == MODEL_PARAMETER && looked_up)
            bytes.weights += batch < v->shape.dims[0] ? all / v->shape.dims[0] * batch : all;
        else if (v->role == MODEL_PARAMETER)
            bytes.weights += all;
    }
    if (m->options.decode && m->row->idle_elements)
        bytes.weights -= m->row->idle_elements(m) * size;
    return bytes;
}

/* ---- what an example's steps take of the host ----------------------------------- */

bool model_batches_differ(const model *m)
{
    return m->row->example && m->row->example->batches_differ;
}

bool model_dtypes_differ(const model *m)
{
    return m->row->example && m->row->example->other_dtype_every > 0;
}

void model_draw_dtype(model *m, uint64_t number)
{
    const tg_dtype usual = m->options.dtype, other = usual == TG_BF16 ? TG_F32 : TG_BF16;
    if (!model_dtypes_differ(m))
        return;
    const bool is_other = (number + 1) % (uint64_t)m->row->example->other_dtype_every == 0;
    for (size_t i = 0; i < m->variable_count; i++) {
        model_variable *v = &m->variables[i];
        if (v->role != MODEL_INPUT || !bn_dtype_is_float(v->shape.dtype))
            continue;
        v->shape.dtype = is_other ? other : usual;
        tg_variable_retype(v->tensor, &v->shape);
    }
}

void model_advance(model *m, uint64_t step)
{
    if (m->row->example && m->row->example->advance)
        m->row->example->advance(m->statics, step);
}

const void *model_statics(const model *m, size_t *bytes)
{
    *bytes = m->statics ? m->row->example->static_bytes : 0;
    return m->statics;
}

bool model_static_value(const model *m, const void *statics, size_t offset, const char **name,
                        double *value)
{
    const model_static *found = NULL;
    for (const model_static *s = m->statics ? m->row->example->statics : NULL; s && s->name; s++)
        if (s->offset <= offset && offset < s->offset + sizeof(int32_t))
            found = s;
    if (!found)
        return false;
    int32_t whole;
    float real;
    memcpy(&whole, (const char *)statics + found->offset, sizeof whole);
    memcpy(&real, &whole, sizeof real);
    *name = found->name;
    *value = found->real ? (double)real : (double)whole;
    return true;
}

bool model_scheduled_rate(const model *m, uint64_t step, float *rate)
{
    if (!m->row->example || !m->row->example->rate_at || !m->training)
        return false;
    *rate = (float)m->row->example->rate_at(step);
    return true;
}

int model_log_every(const model *m)
{
    return m->row->example ? m->row->example->log_every : 0;
}

/* ---- the step ------------------------------------------------------------------ */

/* Gradients and update of a step whose loss is LOSS. */
static void train(tg_trace *t, const model *m, tg_tensor *loss)
{
    const model_training *training = m->training;
    const model_example *example = m->row->example;
    nn_optimizer o = training->optimizer;
    tg_trace_phase(t, TG_PHASE_BACKWARD);
    tg_backward(t, loss, o.parameters, o.count, training->gradients);
    for (size_t i = 0; training->kept && i < o.count; i++)
        tg_assign(t, training->kept[i], training->gradients[i]);
    if (example && example->rate) {
        tg_trace_phase(t, TG_PHASE_UPDATE);
        o.rate = example->rate(t, m->statics);
    }
    nn_optimizer_step(t, &o, training->gradients);
}

static void one_step(tg_trace *t, const model *m)
{
    const model_example *example = m->row->example;
    tg_phase before = tg_trace_phase(t, TG_PHASE_FORWARD);
    tg_tensor *loss = m->row->forward(t, m->network);
    if (m->training && (!example || !example->trains || example->trains(m->statics)))
        train(t, m, loss);
    if (example && example->after && loss)
        example->after(t, loss);
    tg_trace_phase(t, before);
}

void model_step(tg_trace *t, void *instance)
{
    const model *m = instance;
    if (m->loop)
        model_loop_step(t, m);
    else
        one_step(t, m);
}
