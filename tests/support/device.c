/* device.c - one graph on the default runtime; see device.h. */
#include "tests/support/device.h"

#include "tests/support/compile_text.h"
#include "tests/support/evaluator.h"
#include "tests/support/plugin_leaks.h"

#include <stdlib.h>

bn_code device_open(rt_client **client, bn_status *st)
{
    const char *name = getenv("BENCH_TEST_RUNTIME");
    const rt_option one = {.name = "cpu_device_count", .kind = RT_OPTION_INT, .integer = 1};
    char path[4096];
    rt_plugin *plugin = NULL;
    bn_code code = rt_plugin_find(name ? name : "cpu", path, sizeof path, st);
    if (code == BN_OK)
        code = rt_plugin_load(path, NULL, &plugin, st);
    return code == BN_OK ? rt_client_create(plugin, &one, 1, client, st) : code;
}

static bn_code upload(rt_client *client, const tg_tensor *input, rt_buffer **buffer, bn_status *st)
{
    const tg_type *type = tg_tensor_type(input);
    void *bytes = malloc((size_t)tg_type_bytes(type) + 1);
    if (!bytes)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for an input");
    evaluator_pack(type->dtype, tg_tensor_data(tg_input_variable(input)), bytes,
                   tg_type_elements(type));
    bn_code code =
        rt_buffer_from_host(client, bytes, type->dtype, type->dims, (size_t)type->rank, buffer, st);
    free(bytes);
    return code;
}

static bn_code download(rt_client *client, rt_buffer *buffer, const tg_type *type, double **out,
                        bn_status *st)
{
    size_t size = (size_t)tg_type_bytes(type);
    void *bytes = malloc(size + 1);
    *out = malloc(((size_t)tg_type_elements(type) + 1) * sizeof **out);
    bn_code code = BN_OK;
    if (!bytes || !*out)
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for an output");
    else
        code = rt_buffer_to_host(client, buffer, bytes, size, st);
    if (code == BN_OK)
        evaluator_unpack(type->dtype, bytes, *out, tg_type_elements(type));
    free(bytes);
    return code;
}

static bn_code compile(rt_client *client, const tg_graph *graph, rt_executable **executable,
                       bn_status *st)
{
    bn_text text = {0};
    tg_graph_lower(graph, "samples", &text);
    bn_code code = compile_text(client, text.data, text.length, NULL, executable, st);
    bn_text_free(&text);
    return code;
}

bn_code device_run(rt_client *client, const tg_graph *graph, double **outputs, bn_status *st)
{
    size_t in = graph->input_count, out = graph->output_count;
    rt_executable *executable = NULL;
    rt_buffer **arguments = calloc(in + 1, sizeof *arguments);
    rt_buffer **results = calloc(out + 1, sizeof *results);
    bn_code code = arguments && results ? compile(client, graph, &executable, st)
                                        : bn_fail(st, BN_OUT_OF_MEMORY, "no memory to run");
    for (size_t i = 0; i < out; i++)
        outputs[i] = NULL;
    for (size_t i = 0; i < in && code == BN_OK; i++)
        code = upload(client, graph->inputs[i], &arguments[i], st);
    if (code == BN_OK)
        code = rt_execute(executable, arguments, in, NULL, 0, results, NULL, st);
    for (size_t i = 0; i < out && code == BN_OK; i++)
        code = download(client, results[i], tg_tensor_type(graph->outputs[i]), &outputs[i], st);
    for (size_t i = 0; arguments && i < in; i++)
        rt_buffer_release(client, arguments[i]);
    for (size_t i = 0; results && i < out; i++)
        rt_buffer_release(client, results[i]);
    rt_executable_destroy(executable);
    free(arguments);
    free(results);
    return code;
}
