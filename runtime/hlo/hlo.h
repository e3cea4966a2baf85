/*
 * hlo.h - a program in XLA's own form: what it declares; and as the compiler left it: the cycles that
 * it estimated, how often loops run, copies, collectives, scopes, and the layouts of the results.
 *
 * A TPU's compiler writes what it expects an instruction to take into the optimized program
 * (window_config.estimated_cycles). These are its estimates, never measurements. Here they are
 * added up: a fusion's own and not what is inside it; the body of a loop as often as the loop's
 * condition says. What has no estimate is listed. Source: xla/service/hlo.proto of openxla/xla.
 *
 * It knows no plugin and no clock. Prefix hlo_.
 */
#ifndef BENCH_RUNTIME_HLO_H
#define BENCH_RUNTIME_HLO_H

#include "runtime/base/base.h"
#include "runtime/stablehlo/stablehlo.h"

typedef struct hlo_program hlo_program;

typedef struct hlo_item {
    const char *name;  /* of the instruction; of a scope its text; of what is silent its opcode */
    const char *what;  /* its opcode, or what kind of copy it is; "" for a scope */
    const char *scope; /* op_name, as the program's text had it; "" where there is none */
    double cycles;     /* of all its executions in one run of the program; -1: not estimated */
    double times;      /* executions in one run; of a loop its trips, -1: unknown */
    const char *why;   /* of a loop whose trips are unknown: why; else "" */
} hlo_item;

typedef struct hlo_items {
    hlo_item *list;
    size_t count, capacity;
} hlo_items;

#define HLO_MOST_COSTLY 40

/* All texts are owned by the program. */
typedef struct hlo_report {
    double cycles;        /* of one run, as far as they are estimated */
    double copy_cycles;   /* of them, copies, transposes and changes of layout */
    double layout_cycles; /* of those, changes of layout */
    int64_t estimated;    /* instructions that have an estimate, loops not multiplied */
    /* The most costly first, but for loops and branches, which stand in the program's order. */
    hlo_items copies;
    hlo_items collectives; /* with or without an estimate */
    hlo_items loops;       /* WHY says why one's body counts once */
    hlo_items branches;    /* conditionals, of which the most costly branch counts */
    hlo_items scopes;      /* op_name without its last part: one sum each */
    hlo_items costly;      /* of all that have an estimate, at most HLO_MOST_COSTLY */
    hlo_items silent; /* other instructions that do something and have no estimate, by opcode */
    /* Of each result of the entry, "{1,0:T(8,128)}"; NULL: a scalar, or unknown. */
    const char *const *layouts;
    size_t layout_count;
} hlo_report;

/*
 * Reads the SIZE bytes of an optimized program in FORMAT, "hlo" or "hlo_with_config".
 * BN_NOT_SUPPORTED for another format, BN_FORMAT where the bytes are no module, or one whose
 * computations call each other in circles. The bytes are not kept.
 */
BN_MUST_USE bn_code hlo_program_read(const char *format, const void *bytes, size_t size,
                                     hlo_program **program, bn_status *st);
void hlo_program_free(hlo_program *program); /* NULL allowed */
/* Valid as long as PROGRAM. */
const hlo_report *hlo_program_report(const hlo_program *program);


/* ---- what a program declares (declared.c) --------------------------------------------- */

/* Whether the *SIZE bytes at *CODE are an HloModuleProto. Of an HloProto, as XLA dumps it, *CODE and
 * *SIZE become those of the module in it. */
bool hlo_find_module(const char **code, size_t *size);
/* The declarations of the program of SIZE BYTES in FORMAT, "hlo" or "hlo_with_config". Layouts are
 * those of the entry, "{1,0:T(8,128)}". Errors as of hlo_program_read; DECLARED is to be freed by
 * shlo_declared_free, after errors, too. */
BN_MUST_USE bn_code hlo_declared_read(const char *format, const void *bytes, size_t size,
                                      shlo_declared *declared, bn_status *st);

#endif
