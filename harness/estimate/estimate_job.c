/*
 * estimate_job.c - in a worker: compiles one program for a topology, and reads the compiler's
 * figures of it. Nothing is executed, and no client is made.
 *
 * The result is an object:
 *   class, message       "ok"; "out-of-device-memory", with used_bytes and limit_bytes where the
 *                        message has them; "no-topology"
 *   topology             kind, platform, devices, memory_bytes (of a device), attributes
 *   plugin               sha256, api, attributes
 *   compile_s, compile_cpu_s
 *   memory               argument, result, alias, temp, peak, code, host_argument, host_result,
 *                        host_temp: bytes, null where unknown
 *   results              bytes of the results in each memory: {"device": 1234}
 *   flops, bytes         the compiler's
 *   serialized_bytes, optimized_bytes
 *   cycles, copy_cycles, layout_cycles, estimated
 *   copies, collectives, loops, branches, scopes, costly, silent
 *                        lists of {"name", "what", "scope", "cycles", "times", "why"}
 *   layouts              of the results, null for the default
 * Without a class of "ok" all behind "plugin" is missing, but for the compiler's time up to its
 * refusal where the class is "out-of-device-memory".
 */
#include "harness/estimate/estimate_priv.h"
#include "harness/worker/worker.h"
#include "runtime/pjrt/pjrt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_ITEMS 2000 /* of a list; the last one stands for all others */

/* A worker's request; all is borrowed from it but for the bytes of a file. */
typedef struct asked {
    const char *plugin, *sha256, *topology;
    rt_program program;
    char *file;
    const char *flags[CLI_MAX_REPEATS + 1];
    size_t flag_count;
    char *copies[CLI_MAX_REPEATS + 1]; /* of the options, which OPTIONS point into */
    rt_option options[CLI_MAX_REPEATS + 1];
    size_t option_count;
} asked;

/* ---- the request ------------------------------------------------------------------------- */

static bn_code read_options(asked *a, const json_t *list, bn_status *st)
{
    for (size_t i = 0; i < json_array_size(list) && i < CLI_MAX_REPEATS; i++) {
        const char *word = json_string_value(json_array_get(list, i));
        a->copies[i] = bn_strdup(word ? word : "");
        if (rt_option_parse(a->copies[i], &a->options[i], st) != BN_OK)
            return st->code;
        a->option_count++;
    }
    return BN_OK;
}

/* Reads the program in the file PATH, which has the DIGEST. */
static bn_code read_file(asked *a, const char *path, const char *digest, bn_status *st)
{
    char found[BN_SHA256_TEXT];
    size_t size = 0;
    bn_code code = bn_regular_read(path, &a->file, &size, st);
    if (code != BN_OK)
        return code;
    bn_sha256(a->file, size, found);
    if (strcmp(found, digest) != 0)
        return bn_fail(st, BN_CHANGED, "%s was changed while it was in use", path);
    a->program.code = a->file;
    a->program.size = size;
    return BN_OK;
}

/* The program is the request's "text", or in the file that it names. */
static bn_code read_program_of(const json_t *request, asked *a, bn_status *st)
{
    const char *text = NULL, *path = NULL, *digest = NULL;
    json_error_t error;
    size_t length = 0;
    if (json_unpack_ex((json_t *)(uintptr_t)request, &error, 0, "{ss s?s% s?{ss ss}}", "format",
                       &a->program.format, "text", &text, &length, "file", "path", &path, "sha256",
                       &digest) != 0)
        return bn_fail(st, BN_FORMAT, "the worker's request: %s", error.text);
    if (path)
        return read_file(a, path, digest, st);
    a->program.code = text;
    a->program.size = length;
    return text ? BN_OK : bn_fail(st, BN_FORMAT, "the worker's request has no program");
}

static bn_code read_request(const json_t *request, asked *a, bn_status *st)
{
    json_t *options = NULL, *flags = NULL;
    json_error_t error;
    if (json_unpack_ex((json_t *)(uintptr_t)request, &error, 0, "{ss ss ss so so}", "plugin",
                       &a->plugin, "sha256", &a->sha256, "topology", &a->topology, "options",
                       &options, "flags", &flags) != 0)
        return bn_fail(st, BN_FORMAT, "the worker's request: %s", error.text);
    if (read_program_of(request, a, st) != BN_OK)
        return st->code;
    for (size_t i = 0; i < json_array_size(flags) && i < CLI_MAX_REPEATS; i++) {
        const char *flag = json_string_value(json_array_get(flags, i));
        a->flags[a->flag_count++] = flag ? flag : "";
    }
    return read_options(a, options, st);
}

static void free_request(asked *a)
{
    for (size_t i = 0; i < CLI_MAX_REPEATS; i++)
        free(a->copies[i]);
    free(a->file);
}

/* For libtpu where there is no TPU: else it asks the network for minutes about the machine, and
 * admits one process only. The user's own settings stay. */
static void set_environment(void)
{
    setenv("TPU_SKIP_MDS_QUERY", "1", 0);
    setenv("ALLOW_MULTIPLE_LIBTPU_LOAD", "1", 0);
}

/* ---- plugin and topology --------------------------------------------------------------------- */

static json_t *attributes_json(const rt_attribute *list, size_t count)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++)
        json_object_set_new(object, list[i].name, res_json_text(list[i].text));
    return object;
}

/* NUMBER, or null where it is unknown. */
static json_t *known(int64_t number)
{
    return number < 0 ? json_null() : json_integer(number);
}

static void describe(json_t *result, const rt_plugin *plugin, const rt_topology *topology)
{
    const rt_plugin_info *p = rt_plugin_describe(plugin);
    const rt_topology_info *t = rt_topology_describe(topology);
    json_t *attributes = attributes_json(t->attributes, t->attribute_count);
    json_t *device = attributes_json(t->device_attributes, t->device_attribute_count);
    json_object_update(attributes, device);
    json_decref(device);
    char api[32];
    snprintf(api, sizeof api, "%d.%d", p->api_major, p->api_minor);
    json_object_set_new(result, "plugin",
                        json_pack("{ss ss so}", "sha256", p->sha256, "api", api, "attributes",
                                  attributes_json(p->attributes, p->attribute_count)));
    json_object_set_new(result, "topology",
                        json_pack("{so so sI so so}", "kind", res_json_text(t->kind), "platform",
                                  res_json_text(rt_topology_platform(topology)), "devices",
                                  (json_int_t)rt_topology_device_count(topology), "memory_bytes",
                                  known(t->memory_bytes), "attributes", attributes));
}

/* ---- the program ------------------------------------------------------------- */

/* The items behind the first MOST_ITEMS, as one. */
static json_t *rest_json(const hlo_items *items)
{
    double cycles = 0, times = 0;
    size_t silent = 0, unknown = 0;
    for (size_t i = MOST_ITEMS; i < items->count; i++) {
        const hlo_item *item = &items->list[i];
        cycles += item->cycles < 0 ? 0 : item->cycles;
        times += item->times < 0 ? 0 : item->times;
        silent += item->cycles < 0;
        unknown += item->times < 0;
    }
    const size_t count = items->count - MOST_ITEMS;
    return json_pack("{ss ss ss so sf ss sI sI sI}", "name", "(rest)", "what", "", "scope", "",
                     "cycles", silent == count ? json_null() : json_real(cycles), "times", times,
                     "why", "", "count", (json_int_t)count, "without_cycles", (json_int_t)silent,
                     "without_times", (json_int_t)unknown);
}

json_t *estimate_items(const hlo_items *items)
{
    json_t *list = json_array();
    for (size_t i = 0; i < items->count && i < MOST_ITEMS; i++) {
        const hlo_item *item = &items->list[i];
        json_array_append_new(
            list, json_pack("{so so so so sf so}", "name", res_json_text(item->name), "what",
                            res_json_text(item->what), "scope", res_json_text(item->scope),
                            "cycles", item->cycles < 0 ? json_null() : json_real(item->cycles),
                            "times", item->times, "why", res_json_text(item->why)));
    }
    if (items->count > MOST_ITEMS)
        json_array_append_new(list, rest_json(items));
    return list;
}

static void add_report(json_t *result, const hlo_report *r)
{
    static const char *const names[] = {"copies", "collectives", "loops", "branches",
                                        "scopes", "costly",      "silent"};
    const hlo_items *lists[] = {&r->copies, &r->collectives, &r->loops, &r->branches,
                                &r->scopes, &r->costly,      &r->silent};
    json_t *layouts = json_array();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        json_object_set_new(result, names[i], estimate_items(lists[i]));
    for (size_t i = 0; i < r->layout_count; i++)
        json_array_append_new(layouts, r->layouts[i] ? json_string(r->layouts[i]) : json_null());
    json_object_set_new(result, "layouts", layouts);
    json_object_set_new(result, "cycles", json_real(r->cycles));
    json_object_set_new(result, "copy_cycles", json_real(r->copy_cycles));
    json_object_set_new(result, "layout_cycles", json_real(r->layout_cycles));
    json_object_set_new(result, "estimated", json_integer(r->estimated));
}

static void add_memory(json_t *result, const rt_executable_stats *s)
{
    json_t *memory = json_object();
    const struct {
        const char *name;
        int64_t bytes;
    } rows[] = {{"argument", s->argument_bytes},
                {"result", s->result_bytes},
                {"alias", s->alias_bytes},
                {"temp", s->temp_bytes},
                {"peak", s->peak_bytes},
                {"code", s->code_bytes},
                {"host_argument", s->host_argument_bytes},
                {"host_result", s->host_result_bytes},
                {"host_temp", s->host_temp_bytes}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        json_object_set_new(memory, rows[i].name, known(rows[i].bytes));
    json_object_set_new(result, "memory", memory);
    json_object_set_new(result, "flops", s->flops < 0 ? json_null() : json_real(s->flops));
    json_object_set_new(result, "bytes",
                        s->bytes_accessed < 0 ? json_null() : json_real(s->bytes_accessed));
}

/* Bytes of the results in each memory; nothing where unknown. */
static void add_results(json_t *result, const rt_executable *executable)
{
    rt_result *list = NULL;
    bn_status ignored = {.code = BN_OK};
    json_t *sums = json_object();
    if (rt_executable_results(executable, &list, &ignored) == BN_OK) {
        for (size_t i = 0; i < rt_executable_result_count(executable); i++) {
            const char *memory = list[i].memory[0] ? list[i].memory : "unknown";
            const json_int_t so_far = json_integer_value(json_object_get(sums, memory));
            if (list[i].bytes >= 0)
                json_object_set_new(sums, memory, json_integer(so_far + list[i].bytes));
        }
        free(list);
    }
    json_object_set_new(result, "results", sums);
}

/* The bytes that the plugin would store; null where it cannot. They are never loaded. */
static void add_sizes(json_t *result, const rt_executable *executable, size_t optimized)
{
    void *bytes = NULL;
    size_t size = 0;
    bn_status ignored = {.code = BN_OK};
    const bool known = rt_executable_serialize(executable, &bytes, &size, &ignored) == BN_OK;
    free(bytes);
    json_object_set_new(result, "serialized_bytes",
                        known ? json_integer((json_int_t)size) : json_null());
    json_object_set_new(result, "optimized_bytes", json_integer((json_int_t)optimized));
}

static bn_code read_program(json_t *result, const rt_executable *executable, bn_status *st)
{
    char format[32];
    void *bytes = NULL;
    size_t size = 0;
    hlo_program *program = NULL;
    rt_executable_stats stats;
    worker_send_progress("reading the program", 0, 0);
    bn_code code = rt_executable_optimized(executable, format, &bytes, &size, st);
    if (code == BN_OK)
        code = hlo_program_read(format, bytes, size, &program, st);
    if (code == BN_OK) {
        rt_executable_describe(executable, &stats);
        add_report(result, hlo_program_report(program));
        add_memory(result, &stats);
        add_results(result, executable);
        add_sizes(result, executable, size);
    }
    hlo_program_free(program);
    free(bytes);
    return code;
}

/* ---- compiling --------------------------------------------------------------- */

/* "41.76G" as bytes; -1 for anything else. *END is behind it. */
static double parse_size(const char *text, char **end)
{
    static const char units[] = "BKMGT";
    double bytes = strtod(text, end);
    const char *unit = **end ? strchr(units, **end) : NULL;
    if (*end == text || !unit)
        return -1;
    for (; unit > units; unit--)
        bytes *= 1024;
    ++*end;
    return bytes;
}

/* The numbers around WORDS in MESSAGE: "41.76G of 31.25G", as *USED and *LIMIT. BEGIN and BEHIND
 * stand before the first and behind the second. */
static bool find_shortage(const char *message, const char *begin, const char *words,
                          const char *behind, double *used, double *limit)
{
    char *end = NULL;
    for (const char *at = strstr(message, begin); at; at = strstr(at + 1, begin)) {
        *used = parse_size(at + strlen(begin), &end);
        if (*used < 0 || strncmp(end, words, strlen(words)) != 0)
            continue;
        *limit = parse_size(end + strlen(words), &end);
        if (*limit >= 0 && strncmp(end, behind, strlen(behind)) == 0)
            return true;
    }
    return false;
}

/* Adds the needed and the available bytes of MESSAGE, in libtpu's words of today and before. */
static void add_shortage(json_t *result, const char *message)
{
    double used, limit;
    if (!find_shortage(message, "(", ") exceeds available HBM (", ")", &used, &limit) &&
        !find_shortage(message, "Used ", " of ", " hbm", &used, &limit))
        return;
    json_object_set_new(result, "used_bytes", json_real(used));
    json_object_set_new(result, "limit_bytes", json_real(limit));
}

/* Whether MESSAGE is of the device's main memory, and neither of a kernel's own memories, which no
 * smaller batch helps, nor of the host's. */
static bool is_of_device_memory(const char *message)
{
    return strstr(message, "HbmOom") || strstr(message, "available HBM") || strstr(message, " hbm");
}

static void set_class(json_t *result, const char *class, const char *message)
{
    json_object_set_new(result, "class", json_string(class));
    json_object_set_new(result, "message", res_json_text(message));
}

/* CPU seconds of this process, all threads. */
static double cpu_seconds(void)
{
    struct timespec t = {0, 0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bn_code compile(const asked *a, rt_topology *topology, json_t *result, bn_status *st)
{
    const rt_compile_options options = {.flags = a->flags, .flag_count = a->flag_count};
    rt_executable *executable = NULL;
    worker_send_progress("compiling", 0, 0);
    const double cpu = cpu_seconds();
    const uint64_t start = bn_now_ns();
    bn_code code = rt_topology_compile_program(topology, &a->program, &options, &executable, st);
    json_object_set_new(result, "compile_s", json_real((double)(bn_now_ns() - start) / 1e9));
    json_object_set_new(result, "compile_cpu_s", json_real(cpu_seconds() - cpu));
    if (code == BN_OUT_OF_MEMORY && !is_of_device_memory(st->message))
        return st->code = BN_COMPILE;
    if (code == BN_OUT_OF_MEMORY) {
        set_class(result, ESTIMATE_MEMORY, st->message);
        add_shortage(result, st->message);
        *st = (bn_status){.code = BN_OK};
        return BN_OK;
    }
    if (code == BN_OK)
        code = read_program(result, executable, st);
    if (code == BN_OK)
        set_class(result, ESTIMATE_OK, "");
    rt_executable_destroy(executable);
    return code;
}

static bn_code run(const asked *a, json_t *result, bn_status *st)
{
    rt_plugin *plugin = NULL;
    rt_topology *topology = NULL;
    set_environment();
    worker_send_progress(JOB_LOADING, 0, 0);
    bn_code code = rt_plugin_load(a->plugin, a->sha256, &plugin, st);
    if (code != BN_OK)
        return code;
    if (rt_topology_create(plugin, a->topology, a->options, a->option_count, &topology, st) !=
        BN_OK) {
        set_class(result, ESTIMATE_TOPOLOGY, st->message);
        *st = (bn_status){.code = BN_OK};
        return BN_OK;
    }
    describe(result, plugin, topology);
    code = compile(a, topology, result, st);
    rt_topology_destroy(topology);
    return code == BN_OK ? rt_plugin_check_file(plugin, st) : code;
}

bn_code estimate_job(const json_t *request, bn_status *st)
{
    asked a = {0};
    json_t *result = json_object();
    bn_code code = read_request(request, &a, st);
    if (code == BN_OK)
        code = run(&a, result, st);
    if (code == BN_OK)
        worker_send_result(json_incref(result));
    free_request(&a);
    json_decref(result);
    return code;
}
