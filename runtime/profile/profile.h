/*
 * profile.h - what a plugin's own profile says: executions and ops of devices, out of a serialized
 * XSpace message.
 *
 * Source of the format: XSpace in tsl/profiler/protobuf/xplane.proto of openxla/xla. The bytes come
 * from outside: nothing in them is trusted. A zero byte too many at their end is no damage.
 */
#ifndef RUNTIME_PROFILE_PROFILE_H
#define RUNTIME_PROFILE_PROFILE_H

#include "runtime/base/base.h"

/* One execution of a program on a device. */
typedef struct rt_device_span {
    char name[128];                 /* the program's, cut */
    size_t plane;                   /* the device's, among all planes of the profile */
    uint64_t start_ns, duration_ns; /* from its first kernel's begin to its last one's end */
    uint64_t busy_ns;               /* of it, while at least one kernel ran */
    size_t kernels;                 /* 0: the profile has the execution as a whole */
} rt_device_span;

/* Decodes an XSpace: executions on device planes ("/device:..."), in order of start. TPUs have a
 * line "XLA Modules" with an event an execution. GPUs have none; there an execution is put together
 * of its kernels, by the scope that XLA opens for each execution of a program. Kernels outside of
 * such a scope are ignored. *SPANS is malloced, NULL where there are none. BN_FORMAT when the
 * bytes are not an XSpace, or take more memory than any of their size does. */
BN_MUST_USE bn_code rt_xspace_device_spans(const void *xspace, size_t size, rt_device_span **spans,
                                           size_t *count, bn_status *st);

/* Device time of what one op of the program text became. */
typedef struct rt_op_time {
    const char *name; /* what loc("...") said there; "" where the profile has none */
    uint64_t ps;      /* of all executions, without the time of ops within it (loops have some) */
    size_t events;
} rt_op_time;
/* Sums the events of the lines "XLA Ops" of device planes by their statistic tf_op, sorted by name.
 * On a plane without such a line, a GPU's, it sums kernels by the op of their instruction.
 * Of a fusion the compiler keeps one op's name, which gets all of its time. *LIST and the names lie
 * in ARENA. BN_FORMAT as above. */
BN_MUST_USE bn_code rt_xspace_op_times(const void *xspace, size_t size, bn_arena *arena,
                                       rt_op_time **list, size_t *count, bn_status *st);

#endif
