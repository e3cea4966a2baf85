/*
 * manual.c - the end of the manual page: exit codes, and the environment that bench reads.
 */
#include "harness/jobs/jobs.h"

static const struct {
    const char *code, *meaning;
} codes[] = {
    {"0", "all went well"},
    {"1", "an experiment failed, verify or selftest did not pass, a record of the store is "
          "damaged, or two graphs differ"},
    {"2", "usage, or weights that do not fit the model"},
    {"3", "environment: plugin missing or not a plugin, store not writable, disk full, other file "
          "damaged"},
    {"130", "interrupted; records written so far are kept"},
};

/* Variables that the recorder sets for its programs are not listed. */
static const struct {
    const char *names, *meaning;
} variables[] = {
    {"BENCH_CONFIG", "file of defaults, in place of bench/bench.json in XDG_CONFIG_HOME or "
                     "~/.config; empty: none"},
    {"PJRT_NAMES_AND_LIBRARY_PATHS", "name:path,... of plugins"},
    {"TPU_LIBRARY_PATH", "plugin of the runtime tpu"},
    {"BENCH_RUNTIMES", "folder of unpacked runtimes, searched first"},
    {"VIRTUAL_ENV", "Python environment whose runtimes are found, too"},
    {"PJRT_SIM, PJRT_SIM_CONFIG", "settings of the simulated device; a file of them"},
    {"XLA_FLAGS, LIBTPU_INIT_ARGS", "flags that plugins read; they are part of an experiment"},
    {"BENCH_FRONTENDS", "folder of the scripts of frameworks"},
    {"BENCH_FRONTEND_PYTHON_JAX, BENCH_FRONTEND_PYTHON_PYTORCH_XLA",
     "Python that has this framework"},
    {"BENCH_RECORD_CPU", "0: recordings have no CPU clocks"},
    {"TMPDIR", "folder of temporary files"},
    {"BENCH_PAGER, PAGER", "what shows long tables on a terminal; less where neither is set, none "
                           "where it is empty or cat"},
    {"NO_COLOR", "any text: no colours"},
};

void job_manual_end(bn_text *out)
{
    bn_text_puts(out, ".SH EXIT STATUS\n");
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        bn_text_printf(out, ".TP\n.B %s\n%s\n", codes[i].code, codes[i].meaning);
    bn_text_puts(out, ".P\n.B bench compare\nends with 0 nothing slower, 1 error, 2 slower, 4 "
                      "inconclusive; bench compare \\-\\-help has more, and the codes for git "
                      "bisect\n"
                      ".P\n.B bench nightly\nends with the same codes\n"
                      ".SH ENVIRONMENT\n");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        bn_text_printf(out, ".TP\n.B %s\n%s\n", variables[i].names, variables[i].meaning);
}
