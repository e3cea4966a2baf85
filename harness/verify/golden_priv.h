/*
 * golden_priv.h - one file of golden values (tests/golden/README.md): reading it, and the rules by
 * which a number passes. It knows no runtime; verify.c brings the numbers. Each comparison is a row
 * of a JSON array:
 *
 *   {"group": "loss", "quantity": "train.loss[1]", "got": 2.3, "want": 2.3,
 *    "difference": 1e-7, "tolerance": 1e-5, "pass": true}
 *
 * DIFFERENCE is scaled by the quantity's rule already, and passes when it is not above TOLERANCE.
 * Numbers that JSON cannot write (NaN, infinity) are null.
 */
#ifndef BENCH_HARNESS_GOLDEN_H
#define BENCH_HARNESS_GOLDEN_H

#include "models/model.h"
#include "results/records/records.h"

/* Training steps in a file, and the most values that it lists of an output's beginning and end. */
#define GOLDEN_STEPS 3
#define GOLDEN_ENDS  16

typedef struct golden_file {
    json_t *root; /* all members have been checked: they are there and of the right kind */
    const char *model, *variant;
    int batch, image, seq; /* IMAGE or SEQ is 0: no input has one */
    bool padded;           /* some input ends in padding */
    uint64_t seed;
    model_optimizer optimizer; /* MODEL_OPTIMIZER_DEFAULT: another than our models have */
    double learning_rate;
} golden_file;

/* Reads PATH. BN_FORMAT names the place: line and column of broken JSON, or the
 * member that is missing or of the wrong kind. */
BN_MUST_USE bn_code golden_read(const char *path, golden_file *golden, bn_status *st);
/* golden_read from TEXT, which messages call NAME. */
BN_MUST_USE bn_code golden_parse(const char *name, const char *text, size_t size,
                                 golden_file *golden, bn_status *st);
void golden_free(golden_file *golden);
/* The member at a dotted path such as "f64.eval.logits" (borrowed), or NULL. */
const json_t *golden_at(const golden_file *golden, const char *path);
/* Output INDEX of evaluation, from 0, and its *NAME: "logits" and others of the
 * model, not "extra"; NULL after the last. */
const json_t *golden_output(const golden_file *golden, size_t index, const char **name);

/*
 * Sets in W what the file fixes: variant, batch, image, seq, seed, optimizer,
 * f32, no dropout. A variant whose name begins with "full" or "small" is of that model; for any
 * other, the number of parameters decides. BN_NOT_SUPPORTED where there is no such model, or
 * neither has that number.
 */
BN_MUST_USE bn_code golden_configure(const golden_file *golden, res_experiment *w, bn_status *st);

/* Checks that INSTANCE computes what the file describes: shapes of inputs, outputs and stages,
 * rules of inputs, the optimizer. BN_NOT_SUPPORTED names the difference. */
BN_MUST_USE bn_code golden_supports(const golden_file *golden, const model *instance,
                                    bn_status *st);

/* ---- comparing: each call appends to ROWS ------------------------------------ */

typedef struct golden_check {
    const golden_file *golden;
    json_t *rows;
} golden_check;

/* |got - want| / |SCALE| must not be above TOLERANCE; with SCALE 0 only equality passes. */
void golden_compare(const golden_check *c, const char *group, const char *quantity, double got,
                    double want, double scale, double tolerance);
/* COUNT values of an input: their first elements and sum must be exact. INPUT is the file's. */
void golden_compare_input(const golden_check *c, const json_t *input, const double *values,
                          size_t count);
void golden_compare_parameter_count(const golden_check *c, int64_t count);
/* Sizes of the file's lists for the output NAME: values at each end, rows with an argmax. */
void golden_output_counts(const golden_file *golden, const char *name, size_t *ends, size_t *rows);
/* Figures of an output, as many as the file lists. */
typedef struct golden_figures {
    const double *first, *last; /* values at its ends */
    double mean, std, l2, absmax, probe;
    const double *argmax; /* of each row */
} golden_figures;
void golden_compare_figures(const golden_check *c, const char *name, const golden_figures *figures);
/* Compares COUNT values of the output NAME, in the framework's order. */
void golden_compare_output(const golden_check *c, const char *name, const double *values,
                           size_t count);
void golden_compare_eval_loss(const golden_check *c, double loss);
void golden_compare_stage(const golden_check *c, const char *module, double l2);
/* The steps of decoding that the file has, as many as its context; 0: none. And the tokens of its
 * prompt. */
int golden_decode_steps(const golden_file *golden);
int golden_decode_prompt(const golden_file *golden);
/* Compares step POSITION of decoding: COUNT LOGITS of all rows, and the token that each row CHOSE.
 */
void golden_compare_decode(const golden_check *c, int position, const double *logits, size_t count,
                           const double *chosen);
void golden_compare_train_step(const golden_check *c, size_t step, double loss, double gradient_l2);
/* L2 norm and probe of a parameter's gradient, and of the parameter; NAME must be in the file. */
void golden_compare_gradient(const golden_check *c, const char *name, double l2, double probe);
/* The norm of a gradient alone. */
void golden_compare_gradient_norm(const golden_check *c, const char *name, double l2);
void golden_compare_parameter(const golden_check *c, const char *name, double l2, double probe);
/* Norm and probe of a variable after several steps in one program, against those after as many
 * single steps; and the loss of each of them. Tolerances are the file's. */
void golden_compare_looped(const golden_check *c, const char *name, const double got[2],
                           const double want[2]);
void golden_compare_looped_loss(const golden_check *c, size_t step, double got, double want);
/* The norm of all parameters. */
void golden_compare_looped_all(const golden_check *c, double got, double want);
void golden_compare_all_parameters(const golden_check *c, double l2, double change_l2);
void golden_compare_statistic(const golden_check *c, const char *module, const char *key,
                              double l2);

/* L2 norm, summed in double, in the framework's order. */
double golden_norm(const double *values, size_t count);
/* Sum of value times v, where v is by the counter rule under "probe/NAME". */
double golden_probe(const char *name, uint64_t seed, const double *values, size_t count);

#endif
