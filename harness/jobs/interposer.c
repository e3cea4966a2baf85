/*
 * interposer.c - puts the recorder between a program and its runtime: by the environment variables
 * that JAX and PyTorch/XLA read, or, where a framework loads its plugin from a fixed path, by
 * preloading.
 *
 * The user's own variables are kept, unless --runtime replaces them. Variables as in
 * jax/_src/xla_bridge.py (PJRT_NAMES_AND_LIBRARY_PATHS, JAX_PLATFORMS), jax/_src/cloud_tpu_init.py
 * (TPU_LIBRARY_PATH), and torch_xla's runtime.py and computation_client (PJRT_DEVICE,
 * PJRT_LIBRARY_PATH).
 */
#define _GNU_SOURCE
#include "harness/frontends/frontends.h"
#include "harness/jobs/jobs.h"
#include "runtime/pjrt/pjrt.h"
#include "runtime/record/format.h"

#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define JAX_LIST      "PJRT_NAMES_AND_LIBRARY_PATHS"
#define JAX_PLATFORMS "JAX_PLATFORMS"
/* The platform's name in JAX where the runtime has none. */
#define JAX_OTHER     "recorded"
/* Bytes of a user's variable in a message. */
#define MOST_OWN      200

static const char jax_elsewhere[] = "jax runs on another platform than the recorded one",
                  pytorch_elsewhere[] = "PyTorch/XLA uses that device and not the recorded one";

/* An environment variable; "" where it is not set. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

static bn_code set_variable(job_interposer *interposer, const char *name, const char *value,
                            bn_status *st)
{
    if (json_object_set_new(interposer->variables, name, json_string(value)) != 0)
        return bn_fail(st, BN_INVALID, "%s would be '%s', which is not UTF-8", name, value);
    return BN_OK;
}

/* Adds a conflict that keeps a framework from the recorder. */
static void BN_PRINTF(2, 3) add_conflict(job_interposer *interposer, const char *format, ...)
{
    char text[sizeof interposer->blocked];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    bn_text_printf(&interposer->conflicts, "%s\n", text);
    if (!interposer->blocked[0])
        snprintf(interposer->blocked, sizeof interposer->blocked, "%s", text);
}

/* Adds the conflict that the user's NAME is kept, with the consequence WHAT. */
static void keep_users(job_interposer *interposer, const char *name, const char *what)
{
    add_conflict(interposer, "%s is '%.*s' and stays so: %s", name,
                 BN_FIT(variable(name), MOST_OWN), what);
}

/* Sets NAME to VALUE, unless the user has set it to another value, with the consequence WHAT. */
static bn_code set_unless_users(job_interposer *interposer, const char *name, const char *value,
                                const char *what, bn_status *st)
{
    const char *own = variable(name);
    if (!own[0] || strcmp(own, value) == 0)
        return set_variable(interposer, name, value, st);
    keep_users(interposer, name, what);
    return BN_OK;
}

/* ---- which runtime ------------------------------------------------------------------------ */

static bool glob_matches(const char *pattern)
{
    glob_t found;
    const bool some = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
    if (some)
        globfree(&found);
    return some;
}

/* The folder above that of PROGRAM, which is found as by a shell: a virtual environment where
 * PROGRAM is its python. */
static bool program_root(const char *program, char root[PATH_MAX])
{
    char path[PATH_MAX];
    bool found = strchr(program, '/') && snprintf(path, sizeof path, "%s", program) < PATH_MAX;
    for (const char *at = variable("PATH"); !found && !strchr(program, '/') && *at;) {
        const int length = (int)strcspn(at, ":");
        found = length > 0 &&
                snprintf(path, sizeof path, "%.*s/%s", length, at, program) < PATH_MAX &&
                access(path, X_OK) == 0;
        at += length + (at[length] == ':');
    }
    if (!found)
        return false;
    *strrchr(path, '/') = '\0';
    return snprintf(root, PATH_MAX, "%s/..", path) < PATH_MAX;
}

/* The libtpu that PROGRAM would load: the user's, or that of its own Python, or one that bench
 * knows. */
static bn_code find_tpu(const char *program, char path[PATH_MAX], bn_status *st)
{
    static const char *const named[] = {"TPU_LIBRARY_PATH", "PTXLA_TPU_LIBRARY_PATH"};
    char root[PATH_MAX], pattern[PATH_MAX + 64];
    glob_t found;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strchr(variable(named[i]), '/'))
            return rt_plugin_find(variable(named[i]), path, PATH_MAX, st);
    if (program_root(program, root)) {
        snprintf(pattern, sizeof pattern, "%s/lib/python3*/site-packages/libtpu/libtpu.so", root);
        if (glob(pattern, 0, NULL, &found) == 0) {
            bn_code code = rt_plugin_find(found.gl_pathv[0], path, PATH_MAX, st);
            globfree(&found);
            return code;
        }
    }
    return rt_plugin_find("tpu", path, PATH_MAX, st);
}

bn_code job_plugin_find(const res_experiment *w, char path[PATH_MAX], bn_status *st)
{
    const frontend_info *row = frontend_named(w->front_end);
    frontend_place place;
    /* For a framework, too: its worker needs the runtime's defaults. */
    bn_code code = job_runtime_ready(w->runtime, path, PATH_MAX, st);
    if (code == BN_OK && res_plugin_unforeseen(w))
        path[0] = '\0';
    if (code != BN_OK || !row || strcmp(w->runtime, "tpu") != 0)
        return code;
    code = frontend_find(row, FRONTEND_RUN, &place, st);
    if (code == BN_OK)
        code = find_tpu(place.python, path, st);
    if (code == BN_OK)
        code = rt_plugin_probe(path, st);
    if (code != BN_OK)
        bn_context(st, "runtime %s", w->runtime);
    return code;
}

/* Resolves "auto": the plugin that PyTorch/XLA's variables name, else the machine's accelerator,
 * else its CPU. */
static void choose_runtime(const char *program, job_interposer *interposer)
{
    char path[PATH_MAX];
    const bool library = strcmp(variable("PJRT_DEVICE"), "LIBRARY") == 0 &&
                         strchr(variable("PJRT_LIBRARY_PATH"), '/');
    const bool tpu = (glob_matches("/dev/accel[0-9]*") || glob_matches("/dev/vfio/[0-9]*")) &&
                     find_tpu(program, path, NULL) == BN_OK;
    const char *name = library                               ? variable("PJRT_LIBRARY_PATH")
                       : tpu                                 ? "tpu"
                       : access("/dev/nvidiactl", F_OK) == 0 ? "cuda"
                                                             : "cpu";
    snprintf(interposer->runtime, sizeof interposer->runtime, "%.*s",
             (int)sizeof interposer->runtime - 1, name);
}

/* Finds the plugin's whole path: the program may work in another folder. */
static bn_code find_plugin(const char *program, job_interposer *interposer, bn_status *st)
{
    char path[PATH_MAX];
    bn_code code = strcmp(interposer->runtime, "tpu") == 0
                       ? find_tpu(program, path, st)
                       : rt_plugin_find(interposer->runtime, path, sizeof path, st);
    if (code == BN_OK)
        code = rt_plugin_probe(path, st);
    if (code != BN_OK)
        return bn_context(st, "runtime %s", interposer->runtime);
    if (!realpath(path, interposer->plugin))
        return bn_fail(st, BN_NOT_FOUND, "runtime %s: no such file %s", interposer->runtime, path);
    if (rt_plugin_file_take(interposer->plugin, &interposer->file, st) != BN_OK)
        return bn_context(st, "runtime %s", interposer->runtime);
    struct stat plugin, recorder;
    if (stat(interposer->plugin, &plugin) == 0 && stat(interposer->recorder, &recorder) == 0 &&
        bn_same_file(&plugin, &recorder))
        return bn_fail(st, BN_INVALID, "runtime %s is the recorder itself, %s", interposer->runtime,
                       interposer->recorder);
    return BN_OK;
}

/* ---- the recorder --------------------------------------------------------------------------- */

/* A CPU plugin's client makes one device where the program asks for no number: XLA's makes four
 * where JAX' own makes one, and no framework sets it. The recorder does, so that no file is needed
 * that others might replace. */
static bn_code set_cpu_devices(job_interposer *interposer, bn_status *st)
{
    return job_usual_option(interposer->runtime, interposer->plugin)
               ? set_variable(interposer, RECORD_ENV_CPU_DEVICES, "1", st)
               : BN_OK;
}

/* ---- marks --------------------------------------------------------------------------------- */

#define MARKS "bench_marks.py"

/* The folder of our module of marks, "" where it is not there or others may write it. */
static void find_marks(char folder[PATH_MAX])
{
    static const char *const usual[] = {"../contrib/marks", "../share/bench/marks"};
    char own[PATH_MAX], path[PATH_MAX];
    bn_own_folder(own, sizeof own);
    folder[0] = '\0';
    for (size_t i = 0; own[0] && !folder[0] && i < sizeof usual / sizeof *usual; i++)
        if (snprintf(path, sizeof path, "%s/%s", own, usual[i]) >= (int)sizeof path ||
            bn_own_file(path, MARKS, NULL, NULL) != BN_OK || !realpath(path, folder))
            folder[0] = '\0';
}

/* Python finds our module in front of the user's own folders, and that finds the recorder. */
static bn_code set_marks(job_interposer *interposer, bn_status *st)
{
    bn_text path = {0};
    const char *own = variable("PYTHONPATH");
    bn_code code = set_variable(interposer, RECORD_ENV_LIBRARY, interposer->recorder, st);
    find_marks(interposer->marks);
    if (strchr(interposer->marks, ':'))
        interposer->marks[0] = '\0';
    bn_text_printf(&path, "%s%s%s", interposer->marks, own[0] ? ":" : "", own);
    if (code == BN_OK && interposer->marks[0])
        code = set_variable(interposer, "PYTHONPATH", path.data, st);
    bn_text_free(&path);
    return code;
}

/* ---- JAX ---------------------------------------------------------------------------------- */

/* Whether the user has JAX prefer one of PLATFORMS, which have commas between: JAX' default is the
 * first word of its variable. */
static bool jax_prefers(const char *platforms)
{
    char first[RES_TEXT];
    return res_axis_word(variable(JAX_PLATFORMS), 0, first) && res_axis_has_word(platforms, first);
}

/* Appends the entries of the user's list but that of NAME; returns whether it had one. */
static bool other_entries(const char *name, bn_text *out)
{
    bool had = false;
    for (const char *at = variable(JAX_LIST); *at;) {
        const size_t length = strcspn(at, ","), own = strlen(name);
        if (length > own && strncmp(at, name, own) == 0 && at[own] == ':')
            had = true;
        else if (length > 0)
            bn_text_printf(out, ",%.*s", (int)length, at);
        at += length + (at[length] == ',');
    }
    return had;
}

/* JAX loads the plugins of its list by their names. A CPU plugin is named cpu, in place of JAX'
 * own, so that JAX' rules for that platform, and a user's own JAX_PLATFORMS=cpu, apply. */
static bn_code set_jax_variables(job_interposer *interposer, bn_status *st)
{
    bn_text list = {0}, others = {0}, platforms = {0};
    const bool cpu = job_usual_option(interposer->runtime, interposer->plugin) != NULL;
    const char *name =
        !strchr(interposer->runtime, '/') && other_entries(interposer->runtime, &others)
            ? interposer->runtime
        : cpu ? "cpu"
              : JAX_OTHER;
    bn_text_clear(&others);
    other_entries(name, &others);
    bn_text_printf(&list, "%s:%s", name, interposer->recorder);
    const bool odd = strpbrk(interposer->recorder, ",:") != NULL;
    bn_text_append(&list, others.data ? others.data : "", others.length);
    bn_text_printf(&platforms, strcmp(name, "cpu") == 0 ? "%s" : "%s,cpu", name);
    bn_code code = BN_OK;
    if (odd)
        add_conflict(interposer, "jax takes no path with ',' or ':' in it, and is not recorded");
    else
        code = set_variable(interposer, JAX_LIST, list.data, st);
    if (!odd && code == BN_OK && !jax_prefers(name))
        code = set_unless_users(interposer, JAX_PLATFORMS, platforms.data, jax_elsewhere, st);
    bn_text_free(&list);
    bn_text_free(&others);
    bn_text_free(&platforms);
    return code;
}

/* ---- the others --------------------------------------------------------------------------- */

static bn_code set_pytorch_variables(job_interposer *interposer, bool asked, bn_status *st)
{
    const char *own = variable("PJRT_LIBRARY_PATH");
    if (asked && own[0] && strcmp(own, interposer->plugin) != 0)
        bn_text_printf(&interposer->conflicts,
                       "PJRT_LIBRARY_PATH, '%s', is replaced by --runtime %s\n", own,
                       interposer->runtime);
    bn_code code = set_variable(interposer, "PJRT_LIBRARY_PATH", interposer->recorder, st);
    if (code == BN_OK)
        code = set_unless_users(interposer, "PJRT_DEVICE", "LIBRARY", pytorch_elsewhere, st);
    return code;
}

/* A framework finds its own plugin of a TPU or a GPU without a variable, but the user's variables
 * may select another. PLATFORMS are JAX' names of the recorded one, DEVICES those of PyTorch/XLA.
 */
static void check_own_plugin(job_interposer *interposer, const char *platforms, const char *devices)
{
    const char *device = variable("PJRT_DEVICE");
    if (variable(JAX_PLATFORMS)[0] && !jax_prefers(platforms))
        keep_users(interposer, JAX_PLATFORMS, jax_elsewhere);
    if (device[0] && !res_axis_has_word(devices, device))
        keep_users(interposer, "PJRT_DEVICE", pytorch_elsewhere);
}

/* CUDA plugins are loaded from a path of their framework: the recorder is preloaded, and answers
 * when the framework looks up the plugin's entry. */
static bn_code preload_recorder(job_interposer *interposer, bn_status *st)
{
    char list[2 * PATH_MAX];
    const char *own = variable("LD_PRELOAD");
    /* The recorder stands before any library that PyTorch/XLA loads. */
    check_own_plugin(interposer, "cuda,gpu", "CUDA,GPU,LIBRARY");
    if (strpbrk(interposer->recorder, ": "))
        return bn_fail(st, BN_INVALID, "%s: a path with a space or ':' in it cannot be preloaded",
                       interposer->recorder);
    if ((size_t)snprintf(list, sizeof list, "%s%s%s", interposer->recorder, own[0] ? ":" : "",
                         own) >= sizeof list)
        return bn_fail(st, BN_INVALID, "LD_PRELOAD is too long");
    return set_variable(interposer, "LD_PRELOAD", list, st);
}

bn_code job_interposer_make(const char *runtime, const char *program, const char *folder,
                            job_interposer *interposer, bn_status *st)
{
    const bool asked = strcmp(runtime, "auto") != 0;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *interposer =
        (job_interposer){.variables = json_object(),
                         .made_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec};
    if (strlen(runtime) >= sizeof interposer->runtime)
        return bn_fail(st, BN_INVALID, "--runtime is too long");
    if (asked)
        strcpy(interposer->runtime, runtime);
    else
        choose_runtime(program, interposer);
    bn_code code = rt_recorder_find(interposer->recorder, sizeof interposer->recorder, st);
    if (code == BN_OK &&
        rt_plugin_file_take(interposer->recorder, &interposer->recorder_file, st) != BN_OK)
        code = bn_context(st, "the recorder");
    if (code == BN_OK)
        code = set_variable(interposer, RECORD_ENV_FOLDER, folder, st);
    if (code == BN_OK)
        code = set_marks(interposer, st);
    if (code == BN_OK && strcmp(interposer->runtime, "cuda") == 0)
        return preload_recorder(interposer, st);
    if (code == BN_OK)
        code = find_plugin(program, interposer, st);
    if (code == BN_OK)
        code = set_variable(interposer, RECORD_ENV_PLUGIN, interposer->plugin, st);
    if (code == BN_OK && strcmp(interposer->runtime, "tpu") == 0) {
        check_own_plugin(interposer, "tpu", "TPU");
        return set_variable(interposer, "TPU_LIBRARY_PATH", interposer->recorder, st);
    }
    if (code == BN_OK)
        code = set_cpu_devices(interposer, st);
    if (code == BN_OK)
        code = set_jax_variables(interposer, st);
    return code == BN_OK ? set_pytorch_variables(interposer, asked, st) : code;
}

/* ---- digests --------------------------------------------------------------------------------- */

/* The digest of a plugin at PATH that was unknown before the program loaded it. */
static bn_code digest_since(const job_interposer *interposer, const char *path,
                            char sha256[BN_SHA256_TEXT], bn_status *st)
{
    rt_plugin_file *file = NULL;
    bn_code code = rt_plugin_file_take(path, &file, st);
    if (code == BN_OK)
        code = rt_plugin_file_check_since(file, interposer->made_ns, st);
    if (code == BN_OK)
        memcpy(sha256, rt_plugin_file_sha256(file), BN_SHA256_TEXT);
    rt_plugin_file_free(file);
    return code;
}

bn_code job_interposer_digest(const job_interposer *interposer, const char *path,
                              char sha256[BN_SHA256_TEXT], bn_status *st)
{
    const rt_plugin_file *file = strcmp(path, interposer->plugin) == 0 ? interposer->file
                                 : strcmp(path, interposer->recorder) == 0
                                     ? interposer->recorder_file
                                     : NULL;
    if (!file)
        return digest_since(interposer, path, sha256, st);
    memcpy(sha256, rt_plugin_file_sha256(file), BN_SHA256_TEXT);
    return rt_plugin_file_check(file, st);
}

bn_code job_interposer_check(const job_interposer *interposer, bn_status *st)
{
    bn_code code = interposer->file ? rt_plugin_file_check(interposer->file, st) : BN_OK;
    if (code == BN_OK && rt_plugin_file_check(interposer->recorder_file, st) != BN_OK)
        code = bn_context(st, "the recorder");
    return code;
}

void job_interposer_free(job_interposer *interposer)
{
    json_decref(interposer->variables);
    bn_text_free(&interposer->conflicts);
    rt_plugin_file_free(interposer->file);
    rt_plugin_file_free(interposer->recorder_file);
    interposer->variables = NULL;
    interposer->file = interposer->recorder_file = NULL;
}
