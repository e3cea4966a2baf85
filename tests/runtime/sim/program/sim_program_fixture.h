/*
 * sim_program_fixture.h - programs of the simulator for tests: from text, and of models' steps.
 */
#ifndef BENCH_TESTS_SIM_PROGRAM_FIXTURE_H
#define BENCH_TESTS_SIM_PROGRAM_FIXTURE_H

#include "runtime/sim/program/program.h"
#include "tests/models/model_fixture.h"

#define F32_2X3 "tensor<2x3xf32>"

/* The program of TEXT, which must be readable; freed by the caller. */
static inline sim_program *read_program(const char *text)
{
    sim_status st = {.code = SIM_OK};
    sim_program *program = NULL;
    if (sim_program_read(text, strlen(text), &program, &st) != SIM_OK)
        fail_msg("%s", st.message);
    return program;
}

/* BODY as the statements of a function @main of ARGUMENTS that returns RESULT. */
static inline sim_program *read_body(const char *arguments, const char *body, const char *type)
{
    char text[8192];
    int length = snprintf(text, sizeof text,
                          "module {\nfunc.func @main(%s) -> %s {\n%s\nreturn %%r : %s\n}\n}\n",
                          arguments, type, body, type);
    assert_true(length < (int)sizeof text);
    return read_program(text);
}

/* The last op of a body that was read. */
static inline const sim_op *last_op(const sim_program *p)
{
    return &p->main->body.ops[p->main->body.op_count - 1];
}

/* Batch normalisation is several ops in a program; its work for each feature, which the
 * op table leaves out, is what those of one element a feature come to. */
static inline double norm_operations(const tg_graph *g)
{
    static const struct {
        const char *name;
        int operations;
    } norms[] = {{"batch_norm_training", 5}, {"batch_norm_inference", 3}, {"batch_norm_grad", 8}};
    double sum = 0;
    for (size_t n = g->first_node; n < g->end_node; n++) {
        const tg_node *node = tg_trace_node(g->trace, n);
        for (size_t i = 0; tg_node_has_op(node) && i < sizeof norms / sizeof *norms; i++)
            if (strcmp(tg_node_op_name(node), norms[i].name) == 0)
                sum += norms[i].operations *
                       (double)tg_type_elements(tg_tensor_type(tg_node_operand(node, 1)));
    }
    return sum;
}

/* A model's step: its program, what the graph says that it costs, and what batch
 * normalisation adds to that. */
static inline sim_program *step_program(const char *name, model_options options,
                                        tg_graph_cost *cost, double *norms)
{
    static const unsigned one[TG_PHASE_COUNT] = {0};
    bn_status st = {.code = BN_OK};
    bn_text text = {0};
    tg_trace *t = tg_trace_new();
    model *m = make_model(name, options);
    tg_graph *const *graphs;
    size_t count;
    tg_trace_begin(t);
    model_step(t, m);
    assert_int_equal(tg_trace_cut(t, one, NULL, &graphs, &count, &st), BN_OK);
    assert_int_equal(count, 1);
    tg_graph_lower(graphs[0], "step", &text);
    tg_graph_measure(graphs[0], cost);
    *norms = norm_operations(graphs[0]);
    sim_program *program = read_program(text.data);
    bn_text_free(&text);
    model_free(m);
    tg_trace_free(t);
    return program;
}

#endif
