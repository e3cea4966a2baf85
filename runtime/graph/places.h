/*
 * places.h - which line of the source made a node. Models and layers include it: each call of an op
 * there notes its file and line, if the trace keeps places (tg_trace_keep_places). While no trace
 * does, it costs a look at a counter.
 *
 * The macros are called as the functions that they call. tests/runtime/graph/check_places.sh sees
 * that none is missing.
 */
#ifndef BENCH_RUNTIME_PLACES_H
#define BENCH_RUNTIME_PLACES_H

#include "runtime/graph/scopes.h"

#include <stdatomic.h>

/* Nodes of VALUE's trace that came since the last place was noted stand at FILE, a literal, and
 * LINE. The operands of a call have noted theirs before. */
void tg_place_value(const tg_tensor *value, const char *file, int line);
/* The same for what gives no value. */
void tg_place_rest(tg_trace *trace, const char *file, int line);
/* Where the read or the host op stands that is called next. */
void tg_place_next(tg_trace *trace, const char *file, int line);

/* Notes where VALUE was made, and returns it. */
static inline tg_tensor *tg_placed(tg_tensor *value, const char *file, int line)
{
    if (atomic_load_explicit(&tg_places_kept, memory_order_relaxed) > 0)
        tg_place_value(value, file, line);
    return value;
}

#define TG_PLACED(call) tg_placed(call, __FILE__, __LINE__)

/* clang-format off */
#define tg_neg(...)                  TG_PLACED(tg_neg(__VA_ARGS__))
#define tg_abs(...)                  TG_PLACED(tg_abs(__VA_ARGS__))
#define tg_sign(...)                 TG_PLACED(tg_sign(__VA_ARGS__))
#define tg_floor(...)                TG_PLACED(tg_floor(__VA_ARGS__))
#define tg_exp(...)                  TG_PLACED(tg_exp(__VA_ARGS__))
#define tg_expm1(...)                TG_PLACED(tg_expm1(__VA_ARGS__))
#define tg_log(...)                  TG_PLACED(tg_log(__VA_ARGS__))
#define tg_log1p(...)                TG_PLACED(tg_log1p(__VA_ARGS__))
#define tg_sqrt(...)                 TG_PLACED(tg_sqrt(__VA_ARGS__))
#define tg_rsqrt(...)                TG_PLACED(tg_rsqrt(__VA_ARGS__))
#define tg_tanh(...)                 TG_PLACED(tg_tanh(__VA_ARGS__))
#define tg_logistic(...)             TG_PLACED(tg_logistic(__VA_ARGS__))
#define tg_erf(...)                  TG_PLACED(tg_erf(__VA_ARGS__))
#define tg_sin(...)                  TG_PLACED(tg_sin(__VA_ARGS__))
#define tg_cos(...)                  TG_PLACED(tg_cos(__VA_ARGS__))
#define tg_not(...)                  TG_PLACED(tg_not(__VA_ARGS__))
#define tg_add(...)                  TG_PLACED(tg_add(__VA_ARGS__))
#define tg_sub(...)                  TG_PLACED(tg_sub(__VA_ARGS__))
#define tg_mul(...)                  TG_PLACED(tg_mul(__VA_ARGS__))
#define tg_div(...)                  TG_PLACED(tg_div(__VA_ARGS__))
#define tg_max(...)                  TG_PLACED(tg_max(__VA_ARGS__))
#define tg_min(...)                  TG_PLACED(tg_min(__VA_ARGS__))
#define tg_pow(...)                  TG_PLACED(tg_pow(__VA_ARGS__))
#define tg_and(...)                  TG_PLACED(tg_and(__VA_ARGS__))
#define tg_or(...)                   TG_PLACED(tg_or(__VA_ARGS__))
#define tg_xor(...)                  TG_PLACED(tg_xor(__VA_ARGS__))
#define tg_compare(...)              TG_PLACED(tg_compare(__VA_ARGS__))
#define tg_select(...)               TG_PLACED(tg_select(__VA_ARGS__))
#define tg_convert(...)              TG_PLACED(tg_convert(__VA_ARGS__))
#define tg_scalar(...)               TG_PLACED(tg_scalar(__VA_ARGS__))
#define tg_full(...)                 TG_PLACED(tg_full(__VA_ARGS__))
#define tg_iota(...)                 TG_PLACED(tg_iota(__VA_ARGS__))
#define tg_random_bits(...)          TG_PLACED(tg_random_bits(__VA_ARGS__))
#define tg_reshape(...)              TG_PLACED(tg_reshape(__VA_ARGS__))
#define tg_transpose(...)            TG_PLACED(tg_transpose(__VA_ARGS__))
#define tg_broadcast(...)            TG_PLACED(tg_broadcast(__VA_ARGS__))
#define tg_reverse(...)              TG_PLACED(tg_reverse(__VA_ARGS__))
#define tg_slice(...)                TG_PLACED(tg_slice(__VA_ARGS__))
#define tg_pad(...)                  TG_PLACED(tg_pad(__VA_ARGS__))
#define tg_concatenate(...)          TG_PLACED(tg_concatenate(__VA_ARGS__))
#define tg_gather_rows(...)          TG_PLACED(tg_gather_rows(__VA_ARGS__))
#define tg_scatter_add_rows(...)     TG_PLACED(tg_scatter_add_rows(__VA_ARGS__))
#define tg_dynamic_slice(...)        TG_PLACED(tg_dynamic_slice(__VA_ARGS__))
#define tg_dynamic_update_slice(...) TG_PLACED(tg_dynamic_update_slice(__VA_ARGS__))
#define tg_dynamic_update_slice_apart(...) TG_PLACED(tg_dynamic_update_slice_apart(__VA_ARGS__))
#define tg_reduce_sum(...)           TG_PLACED(tg_reduce_sum(__VA_ARGS__))
#define tg_reduce_max(...)           TG_PLACED(tg_reduce_max(__VA_ARGS__))
#define tg_reduce_min(...)           TG_PLACED(tg_reduce_min(__VA_ARGS__))
#define tg_reduce_sum_apart(...)     TG_PLACED(tg_reduce_sum_apart(__VA_ARGS__))
#define tg_top_k(...)                TG_PLACED(tg_top_k(__VA_ARGS__))
#define tg_dot(...)                  TG_PLACED(tg_dot(__VA_ARGS__))
#define tg_matmul(...)               TG_PLACED(tg_matmul(__VA_ARGS__))
#define tg_convolution(...)          TG_PLACED(tg_convolution(__VA_ARGS__))
#define tg_window_max(...)           TG_PLACED(tg_window_max(__VA_ARGS__))
#define tg_window_sum(...)           TG_PLACED(tg_window_sum(__VA_ARGS__))
#define tg_cumsum(...)               TG_PLACED(tg_cumsum(__VA_ARGS__))
#define tg_select_and_scatter(...)   TG_PLACED(tg_select_and_scatter(__VA_ARGS__))
#define tg_batch_norm_training(...)  TG_PLACED(tg_batch_norm_training(__VA_ARGS__))
#define tg_batch_norm_inference(...) TG_PLACED(tg_batch_norm_inference(__VA_ARGS__))
#define tg_batch_norm_grad(...)      TG_PLACED(tg_batch_norm_grad(__VA_ARGS__))
#define tg_nonzero(trace, ...)                                                                     \
    (tg_place_next(trace, __FILE__, __LINE__), TG_PLACED(tg_nonzero(trace, __VA_ARGS__)))
#define tg_backward(trace, ...) \
    (tg_backward(trace, __VA_ARGS__), tg_place_rest(trace, __FILE__, __LINE__))
#define tg_scan(trace, ...) (tg_scan(trace, __VA_ARGS__), tg_place_rest(trace, __FILE__, __LINE__))
#define tg_read(trace, ...) (tg_place_next(trace, __FILE__, __LINE__), tg_read(trace, __VA_ARGS__))
/* clang-format on */

#endif
