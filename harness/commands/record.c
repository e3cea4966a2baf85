/*
 * record.c - bench record: runs a program with the recorder between its framework and the runtime,
 * and summarizes the recording.
 */
#define _GNU_SOURCE
#include "harness/commands/record_priv.h"
#include "harness/commands/recording_priv.h"
#include "results/recordings/recordings.h"
#include "results/tables/tables.h"
#include "runtime/pjrt/pjrt.h"
#include "runtime/record/when.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ABOUT            "recording.json"
/* Identifier of a warning. */
#define FUNCTION_MISSING "function-missing"

static const char help[] =
    "The program runs in the foreground, with this terminal. bench ends with its exit code, or\n"
    "with 128 + N if signal N ended it. JAX and PyTorch/XLA find the recorder by the environment.\n"
    "Variables that are set already stay, and bench warns where they keep the recorder out.\n"
    "\n"
    "  bench record -- python train.py --steps 100        JAX or PyTorch/XLA\n"
    "  bench record --runtime cpu-xla -- python train.py  on another build of the CPU runtime\n"
    "  bench record --output here -- ./program            into the folder here\n"
    "  bench steps recordings/20261123T034000Z-4711       where the time of its steps goes\n"
    "  bench import recordings/20261123T034000Z-4711      its steps as a record of a store\n"
    "\n"
    "Exit codes before the program runs: 2 usage; 3 environment: no such plugin, no recorder, the\n"
    "folder cannot be written; 126 the program cannot be started; 127 there is no such program.\n";

typedef struct record_options {
    cli_output output;
    const char *folder;  /* of the recording; NULL: a new one in ./recordings */
    const char *runtime; /* to record: a name or path, or "auto" */
    double limit_bytes;  /* of each process's events and programs */
    const char *marks;   /* what else is a mark of a step; NULL: only the program's own */
    int64_t profile;     /* executions for the plugin's profiler to see; 0: none */
    const char *start, *stop; /* of the recorded part, as runtime/record/when.h; NULL: all */
    const char *report;  /* folder of a page; NULL: none */
} record_options;

/* A recording in progress. */
typedef struct recording {
    char path[PATH_MAX]; /* absolute */
    int folder;          /* open; -1: not yet */
    bool ours;           /* there was no recording in it before this one */
    job_interposer interposer;
    json_t *about; /* recording.json */
} recording;

/* ---- the folder --------------------------------------------------------------------------- */

/* Whether the open FOLDER has a recording: a process's folder with events, or ABOUT. */
static bool has_recording(int folder)
{
    DIR *list = bn_folder_list(folder);
    bool found = faccessat(folder, ABOUT, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    for (struct dirent *entry; list && !found && (entry = readdir(list));) {
        char name[sizeof entry->d_name + 8];
        snprintf(name, sizeof name, "%s/events", entry->d_name);
        found = faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    }
    if (list)
        closedir(list);
    return found;
}

static bn_code open_folder(const char *given, recording *r, bn_status *st)
{
    char name[80], stamp[32];
    const time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
    snprintf(name, sizeof name, "recordings/%s-%ld", stamp, (long)getpid());
    const char *path = given ? given : name;
    bn_code code = bn_private_folder(path, &r->folder, st);
    if (code != BN_OK)
        return code;
    /* If several programs begin in one folder at once, the one that creates this file records. */
    int claim = -1;
    if (!has_recording(r->folder))
        claim =
            openat(r->folder, ABOUT, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    else
        errno = EEXIST;
    if (claim < 0 && errno == EEXIST)
        return bn_fail(st, BN_INVALID,
                       "%s has a recording already; name another folder with --output", path);
    if (claim < 0)
        return bn_fail_errno(st, errno, "%s/%s", path, ABOUT);
    close(claim);
    r->ours = true;
    return realpath(path, r->path) ? BN_OK : bn_fail_errno(st, errno, "%s", path);
}

/* ---- recording.json ----------------------------------------------------------------------- */

/* Variables that change how a runtime or a framework works, as in records
 * (provenance.runtime.environment). */
static json_t *environment_json(void)
{
    static const char *const prefixes[] = {
        "XLA_FLAGS=", "LIBTPU_INIT_ARGS=", "PJRT_SIM=",   "PJRT_SIM_CONFIG=",
        "MALLOC_",    "GLIBC_TUNABLES=",   "LD_PRELOAD=", NULL};
    json_t *object = json_object();
    res_environment_add(object, prefixes);
    res_environment_add_framework(object);
    return object;
}

static json_t *words_json(const char *const *words)
{
    json_t *array = json_array();
    for (; *words; words++)
        json_array_append_new(array, res_json_text(*words));
    return array;
}

/* The variables that the user has set and that are in the recorder's way: the first word of each
 * line. */
static json_t *conflicts_json(const job_interposer *interposer)
{
    json_t *list = json_array();
    for (const char *at = interposer->conflicts.data; at && *at; at += strcspn(at, "\n") + 1)
        json_array_append_new(list, json_stringn(at, strcspn(at, " ,\n")));
    return list;
}

static void describe(recording *r, const record_options *own, const char *const *words)
{
    char here[PATH_MAX], stamp[32];
    const time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (!getcwd(here, sizeof here))
        here[0] = '\0';
    const char *how = strcmp(r->interposer.runtime, "cuda") == 0  ? "preloaded"
                      : strcmp(r->interposer.runtime, "tpu") == 0 ? "TPU_LIBRARY_PATH"
                                                                  : "plugin path";
    r->about = json_pack(
        "{s:i, s:s, s:o, s:o, s:I, s:{s:o, s:o, s:o, s:s}, s:{s:o, s:s}, s:o, s:O, s:o, s:o, s:o*}",
        "bench_recording", 1, "time", stamp, "command", words_json(words), "folder",
        res_json_text(here), "limit_bytes", (json_int_t)own->limit_bytes, "runtime", "name",
        res_json_text(r->interposer.runtime), "path", res_json_text(r->interposer.plugin), "sha256",
        r->interposer.file ? json_string(rt_plugin_file_sha256(r->interposer.file)) : json_null(),
        "how", how, "recorder", "path", res_json_text(r->interposer.recorder), "sha256",
        rt_plugin_file_sha256(r->interposer.recorder_file), "environment", environment_json(),
        "variables", r->interposer.variables, "conflicts", conflicts_json(&r->interposer), "host",
        job_host_describe(), "process", job_process_describe());
}

static bn_code write_about(const recording *r, bn_status *st)
{
    char *text = json_dumps(r->about, RES_JSON_SHOWN | JSON_INDENT(1));
    bn_code code = bn_private_write(r->folder, ABOUT, text, strlen(text), st);
    free(text);
    return code == BN_OK ? BN_OK : bn_context(st, "%s", r->path);
}

/* The digest of the plugin or recorder at PATH, which the program may have loaded; null where it is
 * unknown. A file that was replaced during the run is reported and noted in "changed": the program
 * ran the old one or the new one. */
static json_t *digest_json(recording *r, const char *path)
{
    char digest[BN_SHA256_TEXT];
    bn_status st = {.code = BN_OK};
    if (job_interposer_digest(&r->interposer, path, digest, &st) == BN_OK)
        return json_string(digest);
    if (st.code == BN_CHANGED) {
        cli_say("bench: %s, so it is unknown which build ran", st.message);
        json_array_append_new(json_object_get(r->about, "changed"), res_json_text(path));
    }
    return json_null();
}

/* Digests once more, of the recorder and of its plugin: those of the start are of other files where
 * one was replaced before the program loaded it. */
static void add_digests(recording *r)
{
    json_object_set_new(r->about, "changed", json_array());
    json_object_set_new(json_object_get(r->about, "recorder"), "sha256",
                        digest_json(r, r->interposer.recorder));
    if (r->interposer.plugin[0])
        json_object_set_new(json_object_get(r->about, "runtime"), "sha256",
                            digest_json(r, r->interposer.plugin));
}

/* Adds the recorded plugins, each once, with their digests: those of a preloaded recorder are known
 * only at the end. */
static void add_plugins(recording *r, const rec_recording *what)
{
    json_t *plugins = json_object(),
           *known = json_object_get(json_object_get(r->about, "runtime"), "sha256");
    for (size_t p = 0; p < what->process_count; p++)
        for (size_t i = 0; i < what->processes[p].plugin_count; i++) {
            const char *path = what->processes[p].plugins[i].path;
            if (!path[0] || json_object_get(plugins, path))
                continue;
            json_object_set_new(plugins, path,
                                strcmp(path, r->interposer.plugin) == 0 ? json_incref(known)
                                                                        : digest_json(r, path));
        }
    json_object_set_new(r->about, "plugins", plugins);
}

/* ---- the summary ---------------------------------------------------------------------------- */

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* Appends NAME to the array NOTED, once. */
static void note_once(json_t *noted, const char *name, size_t length)
{
    size_t i;
    json_t *there;
    json_array_foreach(noted, i, there)
    {
        if (json_string_length(there) == length &&
            memcmp(json_string_value(there), name, length) == 0)
            return;
    }
    json_array_append_new(noted, json_stringn(name, length));
}

/* The foreign function that a plugin did not know, where ERROR says so; its *LENGTH. NULL: it is
 * about something else. The words are XLA's. */
static const char *function_missing(const char *error, size_t *length)
{
    static const char *const before[] = {
        "No FFI handler registered for ", "No registered implementation for custom call to ",
        "No registered implementation for untyped custom call to "};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        const char *at = strstr(error, before[i]);
        if (!at)
            continue;
        at += strlen(before[i]);
        *length = strcspn(at, " \n");
        if (*length > 0)
            return at;
    }
    return NULL;
}

/* What the program wanted of its runtime and did not get in process P. */
static void say_missing(const rec_process *p, json_t *noted)
{
    for (const char *const *note = p->notes; note && *note; note++) {
        const size_t length = strcspn(*note, ":");
        note_once(noted, *note, length);
        cli_say("  process %u: %s", p->pid, *note + length + strspn(*note + length, ": "));
    }
    for (const char *const *error = p->errors; error && *error; error++) {
        size_t length = 0;
        const char *name = function_missing(*error, &length);
        if (!name)
            continue;
        note_once(noted, FUNCTION_MISSING, strlen(FUNCTION_MISSING));
        cli_say("  process %u: the program calls the foreign function %.*s, which the recorded "
                "runtime does not have; a client that is built into the framework may have it",
                p->pid, (int)length, name);
    }
}

/* Prints the summary of one process, and whether its recording is complete. Each warning's
 * identifier goes into NOTED. */
static void say_process(const rec_process *p, double limit_bytes, json_t *noted)
{
    static const char *const stops[] = {[RECORD_GOES_ON] = "events-lost",
                                        [RECORD_LIMIT] = "limit",
                                        [RECORD_DISK_FULL] = "disk-full",
                                        [RECORD_ERROR] = "unwritten"};
    const bool large = p->bytes >= 1 << 20;
    cli_note("  process %u: %zu execution%s of %zu program%s%s%s, %.1f %s of events", p->pid,
             p->execution_count, plural(p->execution_count), p->program_count,
             plural(p->program_count), p->framework[0] ? ", " : "", p->framework,
             (double)p->bytes / (large ? 0x1p20 : 0x1p10), large ? "MiB" : "KiB");
    if (p->stop == RECORD_LIMIT)
        cli_say("  process %u: its recording ended at --limit, %.0f bytes; %" PRIu64
                " events were lost",
                p->pid, limit_bytes, p->lost);
    else if (p->stop != RECORD_GOES_ON || p->lost > 0)
        cli_say("  process %u: %s; %" PRIu64 " events were lost", p->pid,
                p->stop == RECORD_DISK_FULL ? "the disk was full, and its recording ended"
                : p->stop == RECORD_ERROR
                    ? "its events could not be written, and its recording ended"
                    : "some events were not written",
                p->lost);
    if (p->stop != RECORD_GOES_ON || p->lost > 0)
        json_array_append_new(noted, json_string(stops[p->stop]));
    if (p->dropped.any) {
        json_array_append_new(noted, json_string("middle-dropped"));
        cli_note("  process %u: the beginning and the end of the run; --limit, %.0f bytes, has no "
                 "room for the middle, %" PRIu64 " events",
                 p->pid, limit_bytes, p->dropped.events);
    }
    if (p->partial) {
        json_array_append_new(noted, json_string("partial"));
        cli_note("  process %u: a part of the run, as --start and --stop say", p->pid);
    }
    size_t without = 0;
    for (size_t i = 0; i < p->program_count; i++)
        without += p->programs[i].executions > 0 && !p->programs[i].hash[0];
    if (without > 0) {
        json_array_append_new(noted, json_string("code-missing"));
        cli_say("  process %u: the recording lacks the code of %zu executed program%s, so bench "
                "replay cannot run them: compiled before the recording began, or not written to "
                "disk",
                p->pid, without, plural(without));
    }
    say_missing(p, noted);
    for (const char *const *lie = p->lies; lie && *lie; lie++)
        cli_say("  process %u: %s; that answer was not recorded", p->pid, *lie);
    if (p->unseen > 0)
        cli_say("  process %u: nothing was recorded of %u more plugin%s that it loaded", p->pid,
                p->unseen, plural(p->unseen));
}

/* The result of --profile in process P. */
static void say_profile(const rec_process *p, json_t *noted)
{
    const bool none = p->profile.why[0] || (!p->profile.asked && p->execution_count > 0);
    if (none || p->profile.asked)
        json_array_append_new(noted, json_string(!none               ? "profiled"
                                                 : p->profile.why[0] ? "profile-failed"
                                                                     : "profile-never-begun"));
    if (p->profile.why[0])
        cli_say("  process %u: no profile: %s", p->pid, p->profile.why);
    else if (p->profile.asked)
        cli_note("  process %u: the plugin's profiler saw %u executions", p->pid,
                 p->profile.executions);
    else if (p->execution_count > 0)
        cli_say("  process %u: no profile: it begins after %d executions without compilation, and "
                "the program ended before",
                p->pid, RECORD_PROFILE_QUIET);
}

static void say_nothing_recorded(recording *r)
{
    json_object_set_new(r->about, "noted", json_pack("[s]", "nothing-recorded"));
    cli_say("bench: nothing was recorded in %s. What to check:", r->path);
    cli_say("  - does the program run on the runtime %s? Another: --runtime NAME",
            r->interposer.runtime);
    if (strcmp(r->interposer.runtime, "cuda") == 0)
        cli_say("  - a framework with CUDA built in, and not as a PJRT plugin, cannot be recorded");
    else if (strcmp(r->interposer.runtime, "tpu") == 0)
        cli_say("  - is libtpu loaded from TPU_LIBRARY_PATH, or does the program set that itself?");
    cli_say("  - does it, or its environment, choose a platform or a plugin by itself "
            "(JAX_PLATFORMS, jax.config, PJRT_DEVICE)?");
    cli_say("  - was it stopped before its first execution?");
    if (r->interposer.conflicts.length > 0)
        cli_say("  - variables that were set already: see the first lines of this run");
}

/* Whether the program failed, and one of PROCESSES lacked a function that it called. */
static bool failed_for_lack(const recording *r, const json_t *processes)
{
    size_t i, k;
    json_t *process, *noted;
    const json_t *code = json_object_get(json_object_get(r->about, "ended"), "exit_code");
    json_array_foreach(processes, i, process)
    {
        json_array_foreach(json_object_get(process, "noted"), k, noted)
        {
            if (json_integer_value(code) != 0 &&
                strcmp(json_string_value(noted), FUNCTION_MISSING) == 0)
                return true;
        }
    }
    return false;
}

/* Summarizes the recording. */
static void say_recorded(recording *r, const record_options *own)
{
    bn_status st = {.code = BN_OK};
    rec_recording *what = NULL;
    size_t executions = 0, calls = 0;
    bool stopped = false;
    json_object_set_new(r->about, "noted", json_array());
    if (rec_open(r->path, &what, &st) != BN_OK) {
        if (st.code == BN_NOT_FOUND)
            say_nothing_recorded(r);
        else
            (void)cli_complain(&st);
        return;
    }
    for (size_t i = 0; i < what->process_count; i++) {
        executions += what->processes[i].execution_count;
        /* A client without an execution is something, and so is one that could not be made. */
        calls += what->processes[i].call_count + what->processes[i].device_count +
                 (what->processes[i].notes && what->processes[i].notes[0]);
        stopped = stopped || what->processes[i].stop != RECORD_GOES_ON;
    }
    add_plugins(r, what);
    /* A recorder that could not write was loaded all the same. */
    if (executions + calls == 0 && !stopped) {
        say_nothing_recorded(r);
        rec_close(what);
        return;
    }
    json_t *processes = json_array();
    cli_note("bench: recorded in %s: %zu process%s, %zu execution%s", r->path, what->process_count,
             what->process_count == 1 ? "" : "es", executions, plural(executions));
    for (size_t i = 0; i < what->process_count; i++) {
        const rec_process *p = &what->processes[i];
        json_t *noted = json_array();
        say_process(p, own->limit_bytes, noted);
        if (own->profile > 0)
            say_profile(p, noted);
        json_array_append_new(processes,
                              json_pack("{s:I, s:I, s:I, s:I, s:o}", "pid", (json_int_t)p->pid,
                                        "executions", (json_int_t)p->execution_count, "programs",
                                        (json_int_t)p->program_count, "profiled",
                                        (json_int_t)p->profile.executions, "noted", noted));
    }
    json_object_set_new(r->about, "processes", processes);
    for (size_t i = 0; i < what->damaged_count && i < sizeof what->damaged / sizeof *what->damaged;
         i++)
        cli_say("  %s: %s", what->damaged[i].name, what->damaged[i].why.message);
    if (executions > 0 && !failed_for_lack(r, processes))
        cli_note("bench: next: bench steps %s", r->path);
    rec_close(what);
}

/* ---- the command ---------------------------------------------------------------------------- */

static void say_interposer(const recording *r, bool verbose)
{
    const job_interposer *interposer = &r->interposer;
    const char *name;
    json_t *value;
    cli_note("bench: recording to %s, runtime %s%s%s", r->path, interposer->runtime,
             interposer->plugin[0] ? ": " : ", preloaded", interposer->plugin);
    if (json_object_get(interposer->variables, RECORD_ENV_CPU_DEVICES))
        cli_note("bench: on a CPU this plugin stands in for the client that is built into JAX or "
                 "PyTorch/XLA; it is another build of XLA, and cannot be one of several processes "
                 "(jax.distributed)");
    json_object_foreach(interposer->variables, name, value)
    {
        if (verbose)
            cli_note("bench: the program finds %s=%s", name, json_string_value(value));
    }
    for (const char *at = interposer->conflicts.data; at && *at;) {
        const int length = (int)strcspn(at, "\n");
        cli_say("bench: %.*s", length, at);
        at += length + 1;
    }
}

/* Removes what bench wrote, as the program was not started. */
static void remove_recording(const recording *r)
{
    if (!r->ours)
        return;
    unlinkat(r->folder, ABOUT, 0);
    rmdir(r->path); /* where it is empty */
}

/* Sets the variable NAME to WHEN, the value of --OPTION, if there is one. */
static bn_code set_when(const char *option, const char *when, const char *name, recording *r,
                        bn_status *st)
{
    record_when parsed;
    if (!when)
        return BN_OK;
    if (!record_when_parse(when, &parsed) || parsed.kind == RECORD_WHEN_NEVER)
        return bn_fail(
            st, BN_INVALID,
            "--%s %.*s: not mark:NAME, execution:N, execution:N:PROGRAM, time:SECONDS or "
            "signal",
            option, BN_FIT(when, 100));
    if (strlen(when) > RECORD_WHEN_LONGEST)
        return bn_fail(st, BN_INVALID, "--%s: longer than %d bytes", option, RECORD_WHEN_LONGEST);
    json_object_set_new(r->interposer.variables, name, json_string(when));
    return BN_OK;
}

static bn_code begin_recording(const record_options *own, const char *const *words, recording *r,
                               bn_status *st)
{
    char bytes[32];
    bn_code code = open_folder(own->folder, r, st);
    if (code == BN_OK)
        code = job_interposer_make(own->runtime, words[0], r->path, &r->interposer, st);
    if (code == BN_OK)
        code = set_when("start", own->start, RECORD_ENV_START, r, st);
    if (code == BN_OK)
        code = set_when("stop", own->stop, RECORD_ENV_STOP, r, st);
    if (code != BN_OK)
        return code;
    if (own->marks && strcmp(own->marks, "jax") != 0)
        return bn_fail(st, BN_INVALID, "--marks takes jax, and not '%.40s'", own->marks);
    if (own->marks && !r->interposer.marks[0])
        return bn_fail(st, BN_NOT_FOUND,
                       "--marks: the module bench_marks is neither in ../contrib/marks nor in "
                       "../share/bench/marks from bench's folder, or others may write it");
    if (own->marks)
        json_object_set_new(r->interposer.variables, RECORD_ENV_MARKS, json_string(own->marks));
    snprintf(bytes, sizeof bytes, "%.0f", own->limit_bytes);
    json_object_set_new(r->interposer.variables, RECORD_ENV_LIMIT, json_string(bytes));
    if (own->profile > 0) {
        snprintf(bytes, sizeof bytes, "%lld", (long long)own->profile);
        json_object_set_new(r->interposer.variables, RECORD_ENV_PROFILE, json_string(bytes));
    }
    describe(r, own, words);
    return write_about(r, st);
}

/* The program, which was started at START_NS, has ended with CODE. */
static void end_recording(const record_options *own, recording *r, int code, uint64_t start_ns)
{
    bn_status st = {.code = BN_OK};
    const uint64_t now = bn_now_ns();
    json_object_set_new(r->about, "ended",
                        json_pack("{s:i, s:f, s:I, s:I}", "exit_code", code, "seconds",
                                  (double)(now - start_ns) / 1e9, "begun_ns", (json_int_t)start_ns,
                                  "ended_ns", (json_int_t)now));
    add_digests(r);
    say_recorded(r, own);
    if (write_about(r, &st) != BN_OK ||
        (own->report && command_recording_page(r->path, own->report, &st) != BN_OK))
        (void)cli_complain(&st);
}

static int record(const record_options *own, const char *const *words)
{
    bn_status st = {.code = BN_OK};
    recording r = {.folder = -1};
    int code = CLI_EXIT_OK;
    if (begin_recording(own, words, &r, &st) != BN_OK) {
        code = (int)cli_complain(&st);
        remove_recording(&r);
    } else {
        say_interposer(&r, own->output.verbose);
        const uint64_t start_ns = bn_now_ns();
        if (command_program_run(words, r.interposer.variables, &code, &st) == BN_OK) {
            end_recording(own, &r, code, start_ns);
        } else {
            (void)cli_complain(&st);
            code = st.code == BN_NOT_FOUND ? 127 : 126; /* as of a shell */
            remove_recording(&r);
        }
    }
    job_interposer_free(&r.interposer);
    json_decref(r.about);
    if (r.folder >= 0)
        close(r.folder);
    return code;
}

#define AT(member) offsetof(record_options, member)

static void marks_names(bn_text *out)
{
    bn_text_printf(out, "jax");
}

static const cli_option rows[] = {
    {"runtime", "NAME", CLI_TEXT, AT(runtime), .fallback = "auto", .values = job_runtime_names,
     .open = true,
     .text = "the runtime to record: a name (bench list runtimes) or the path of a plugin; auto: "
             "the machine's TPU, else its GPU, else cpu"},
    {"output", "DIR", CLI_TEXT, AT(folder), .also = "o",
     .text = "folder of the recording, which has none yet; by default a new one in recordings"},
    {"limit", "SIZE", CLI_SIZE, AT(limit_bytes), .fallback = "1G", .least = 65536,
     .text =
         "disk space for the recording of each process; of a run that needs more, the beginning "
         "and the end are kept"},
    {"profile", "N", CLI_NUMBER, AT(profile), .fallback = "0", .most = 1e6,
     .text = "profile N executions with the plugin's own profiler, after 64 in a row without "
             "compilation: on a GPU it reports how long kernels run; 0: no profile"},
    {"marks", "OF", CLI_TEXT, AT(marks), .values = marks_names,
     .text = "steps are also where the program annotates them for another profiler: jax: "
             "jax.profiler.StepTraceAnnotation"},
    {"start", "WHEN", CLI_TEXT, AT(start),
     .text = "record from then on: mark:NAME (the program marks that a step or phase of this name "
             "begins), execution:N (from 1), execution:N:PROGRAM, time:SECONDS since the process "
             "began, or signal (SIGUSR2). Programs are always recorded"},
    {"stop", "WHEN", CLI_TEXT, AT(stop),
     .text = "record until then; with mark and signal it may start again"},
    {"report", "DIR", CLI_TEXT, AT(report),
     .text = "then print the answer, and write a page into the folder DIR: index.html, with a "
             "timeline"},
    {"verbose", NULL, CLI_FLAG, AT(output.verbose),
     .text = "also print the variables that bench sets for the program (-v)"},
};

static int run(void *options, const cli_call *call)
{
    return record(options, call->words);
}

const cli_command command_record = {
    .name = "record",
    .usage = "bench record [--output DIR] [--runtime NAME] -- PROGRAM [ARGUMENT...]",
    .summary = "run any program, unchanged, and record its framework's PJRT calls",
    .section = JOB_SECTION_OTHERS,
    .also = "trace",
    .words = "a program and its arguments",
    .most_words = CLI_MAX_PATHS,
    .rest = true,
    .size = sizeof(record_options),
    .output = AT(output),
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .groups = {{.table = cli_output_table, .offset = AT(output), .rows = CLI_OUT_EVERY}},
    .run = run,
    .help = help,
};
