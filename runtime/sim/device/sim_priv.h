/*
 * sim_priv.h - the objects behind the plugin's handles, and who may touch what.
 *
 * The device's time is a schedule: when an execution is submitted, its start and end
 * follow from what is queued before it and from the model, so its event knows at once
 * when it will fire, and whoever waits sleeps and then spins until then. No thread has
 * to wake up in time for a time to be right. A device's thread does the rest: it
 * computes values, in order of submission, and calls back for events. Where values
 * took longer than the model says, the event fires when they are there, and the report
 * counts it as late.
 *
 * One lock a client guards schedules, queues, counters and the profile. Events,
 * executables and memory are counted references.
 */
#ifndef BENCH_RUNTIME_SIM_PRIV_H
#define BENCH_RUNTIME_SIM_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/sim/device/config.h"
#include "runtime/sim/evaluate/evaluate.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include "pjrt_c_api.h"
#pragma GCC diagnostic pop

#define SIM_NEVER       UINT64_MAX
#define SIM_MAX_DEVICES 64

/* ---- errors (error.c) ------------------------------------------------------------------ */

struct PJRT_Error {
    sim_code code;
    char message[512];
};

/* NULL for SIM_OK. */
PJRT_Error *sim_error_new(const sim_status *st);
PJRT_Error *sim_error(sim_code code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- time (clock.c) ---------------------------------------------------------------------- */

uint64_t sim_now_ns(void);
/* Sleeps, and spins for the last part; returns the time it returned at. */
uint64_t sim_wait_until(uint64_t deadline_ns);
uint64_t sim_us_to_ns(double us);

/* Seeded draws: the same configuration gives the same sequence. */
typedef struct sim_random {
    uint64_t state;
} sim_random;
double sim_random_uniform(sim_random *random); /* in [0, 1) */
double sim_random_normal(sim_random *random);

/* How late waits and calls ended, against their schedule. */
typedef struct sim_lateness {
    uint32_t *ns; /* the first SIM_LATENESS_KEPT ones; NULL: not asked for */
    size_t kept;
    uint64_t count, over_5us;
} sim_lateness;
#define SIM_LATENESS_KEPT 65536
void sim_lateness_add(sim_lateness *lateness, uint64_t late_ns);

/* ---- events (event.c) ------------------------------------------------------------------- */

typedef struct sim_callback {
    PJRT_Event_OnReadyCallback call;
    void *argument;
    struct sim_done *done;
    struct sim_callback *next;
} sim_callback;

/* The end of something on a device, shared by all that wait for it. Fields change under
 * the client's lock until SETTLED, and not after. */
typedef struct sim_done {
    atomic_int references;
    PJRT_Client *client;
    atomic_bool settled; /* READY_NS and ERROR are final */
    uint64_t device_ns;  /* the device is done with it */
    uint64_t ready_ns;   /* the host sees it */
    sim_status error;
} sim_done;

struct PJRT_Event {
    sim_done *done;
};

sim_done *sim_done_new(PJRT_Client *client, uint64_t device_ns, uint64_t ready_ns);
sim_done *sim_done_retain(sim_done *done);
void sim_done_release(sim_done *done);     /* NULL allowed */
PJRT_Event *sim_event_new(sim_done *done); /* takes a reference of its own */
/* Waits as an event's Await does. */
void sim_done_await(sim_done *done);

/* ---- memory and buffers (buffer.c) ------------------------------------------------------ */

/* What one transfer or execution leaves in a device's memory. DATA is written once, by
 * the device's thread or before anyone else sees it; NULL: zeros. A result that takes
 * over a donated argument's memory is another sim_memory at the same address, so what
 * is queued still finds the argument as it was. */
typedef struct sim_memory {
    atomic_int references;
    PJRT_Device *device;
    int64_t bytes;
    bool counted;      /* in the device's bytes in use; under the lock */
    uintptr_t address; /* in the simulated device */
    unsigned char *data;
    bool valueless; /* its program's values were not computed */
    bool failed;    /* they could not be; of the device's thread */
} sim_memory;

/* SIM_RESOURCE_EXHAUSTED with the sizes when BYTES, with EXTRA_BYTES needed beside them,
 * do not fit. Under the lock. */
sim_code sim_memory_fits(const PJRT_Device *device, int64_t bytes, int64_t extra_bytes,
                         const char *what, sim_status *st);
sim_memory *sim_memory_new(PJRT_Device *device, int64_t bytes); /* under the lock */
/* Memory at the address of OLD, which counts once sim_memory_take_over has said so.
 * Under the lock. */
sim_memory *sim_memory_after(const sim_memory *old);
void sim_memory_take_over(sim_memory *memory, sim_memory *old);
sim_memory *sim_memory_retain(sim_memory *memory);
void sim_memory_release(sim_memory *memory); /* not under the lock; NULL allowed */
/* Dense row-major values of TYPE from the host's DATA, whose elements lie STRIDES bytes
 * apart in each dimension; NULL: dense (copy.c). */
void sim_host_read(unsigned char *to, const void *data, const sim_type *type,
                   const int64_t *strides);
/* The values of FROM, which are there, into the new memory TO (copy.c). */
sim_code sim_memory_copy(sim_memory *to, const sim_memory *from, sim_status *st);
/* The same by its buffer: the device has the bytes back at once, whatever is queued, so
 * that figures do not hang on how fast values are computed. */
void sim_memory_give_back(sim_memory *memory);

struct PJRT_Buffer {
    sim_type type;
    PJRT_Device *device;
    sim_memory *memory; /* NULL once donated or deleted */
    sim_done *done;     /* its contents are there */
    uint64_t used_in;   /* the last execution that took it, and whether it is donated there */
    bool donated;
};

PJRT_Buffer *sim_buffer_new(const sim_type *type, PJRT_Device *device, sim_memory *memory,
                            sim_done *done);
void sim_buffer_free(PJRT_Buffer *buffer); /* not under the lock; NULL allowed */
PJRT_Buffer_Type sim_buffer_type(sim_dtype dtype);

/* ---- programs (executable.c) ------------------------------------------------------------ */

struct PJRT_Executable {
    atomic_int references;
    sim_program *program;
    sim_cost cost;
    char *text;
    size_t text_bytes;
    char fingerprint[17];
    double device_us;   /* by the model, or as stated */
    double overhead_us; /* stated; -1: as configured */
    bool evaluates;     /* its values are computed */
    int device;         /* it was compiled for */
    PJRT_NamedValue costs[6];
    PJRT_Buffer_Type *result_types;
    int64_t *result_dims;
    size_t *result_ranks;
    const char **memory_kinds;
    size_t *memory_kind_sizes;
    int64_t argument_bytes, result_bytes, alias_bytes;
};

struct PJRT_LoadedExecutable {
    PJRT_Executable *executable;
    PJRT_Device *device;
    bool deleted;
};

/* Reads and weighs the program TEXT for a device of CONFIG. */
sim_code sim_executable_new(const sim_config *config, const char *text, size_t bytes,
                            PJRT_Executable **executable, sim_status *st);
/* SIM_OK for serialized compile options that ask for nothing that there is not; none
 * are asked for by SIZE 0. */
sim_code sim_compile_options_check(const char *options, size_t size, sim_status *st);
/* An error for a program that is not StableHLO text. */
PJRT_Error *sim_check_format(const PJRT_Program *program);
void sim_executable_release(PJRT_Executable *executable);
PJRT_Executable *sim_executable_retain(PJRT_Executable *executable);

/* ---- devices (device.c) ----------------------------------------------------------------- */

/* What the device's thread has to do, in order. */
typedef struct sim_work {
    PJRT_Executable *executable; /* NULL: a copy to the host, or into the result */
    sim_memory **arguments, **results;
    size_t argument_count, result_count;
    bool compute; /* else results are zeros */
    bool wrong;   /* a number is to be wrong */
    void *to;     /* copy: where to on the host */
    sim_memory *from;
    sim_done *source; /* copy: of what is copied */
    sim_done *done;
    struct sim_work *next;
} sim_work;

struct PJRT_Memory {
    int id;
    PJRT_Device *device;
    char text[64];
};

struct PJRT_DeviceDescription {
    int id;
    char kind[64], text[96];
    PJRT_NamedValue attributes[3];
};

struct PJRT_Device {
    PJRT_Client *client;
    PJRT_DeviceDescription description;
    PJRT_Memory memory;
    PJRT_Memory *memories[1];
    /* The schedule: when the device, and each direction of its transfers, is free. */
    uint64_t free_ns, to_device_free_ns, to_host_free_ns;
    uint64_t executions;
    sim_random random, host_random; /* of the device's times, of the calls' */
    int64_t bytes_in_use, peak_bytes;
    uintptr_t next_address;
    /* The thread. */
    pthread_t thread;
    pthread_cond_t wake;
    bool started, stop;
    sim_work *first, *last;
    sim_callback *callbacks; /* in order of time */
};

struct PJRT_Client {
    sim_config config;
    pthread_mutex_t lock;
    pthread_cond_t settled;
    PJRT_Device *devices[SIM_MAX_DEVICES];
    PJRT_Memory *memories[SIM_MAX_DEVICES];
    PJRT_TopologyDescription *topology; /* made when asked for */
    char platform_version[128];
    atomic_uint_fast64_t calls[SIM_AT_COUNT]; /* of each place where faults happen */
    uint64_t executions; /* calls that came as far as to look at their arguments */
    uint64_t late_values;
    sim_lateness await_late, execute_late;
};

void sim_description_fill(PJRT_DeviceDescription *description, const sim_config *config, int id);
bool sim_device_start(PJRT_Device *device, PJRT_Client *client, int id);
void sim_device_stop(PJRT_Device *device);
/* Queues WORK, which the device then owns. Under the lock. */
void sim_device_submit(PJRT_Device *device, sim_work *work);
/* Has CALLBACK called when its event fires. Under the lock. */
void sim_device_call_back(PJRT_Device *device, sim_callback *callback);
void sim_work_free(sim_work *work);

/* An execution of DEVICE_US usual microseconds that the device can begin at LAUNCHED_NS,
 * once it is free, and that needs what is there at INPUTS_NS: its start and end on the device, with
 * the disturbances of the configuration. Under the lock. */
typedef struct sim_span {
    uint64_t start_ns, end_ns;
} sim_span;
sim_span sim_device_schedule(PJRT_Device *device, double device_us, uint64_t launched_ns,
                             uint64_t inputs_ns);
/* A transfer of BYTES; FREE_NS is the direction's. Returns its end. Under the lock. */
uint64_t sim_transfer_schedule(PJRT_Client *client, uint64_t *free_ns, uint64_t from_ns,
                               int64_t bytes, double gbps);

/* ---- clients and topologies (client.c, topology.c) ------------------------------------- */

/* CONFIG from its sources and OPTIONS; PRESET_NAME (may be NULL) goes before OPTIONS. */
sim_code sim_options_read(sim_config *config, const char *preset_name,
                          const PJRT_NamedValue *options, size_t count, sim_status *st);
void sim_version_text(const sim_config *config, char *text, size_t size);
void sim_topology_free(PJRT_TopologyDescription *topology); /* NULL allowed */

/* ---- faults ----------------------------------------------------------------------------- */

/* The fault that this call at AT meets; a hang or an abort happens here. */
const sim_fault *sim_fault_meet(PJRT_Client *client, sim_fault_at at);

/* ---- profiler (profiler.c) -------------------------------------------------------------- */

extern PJRT_Extension_Base *sim_profiler_extension;
/* Notes an execution while a profile is taken. Thread-safe. */
void sim_profile_note(const PJRT_Device *device, const PJRT_Executable *executable, sim_span span);

/* ---- the plugin's entries --------------------------------------------------------------- */

/* ENTRY(sim_Buffer_Destroy, PJRT_Buffer_Destroy) defines the function for the table. */
#define SIM_ENTRY(name) PJRT_Error *sim_##name(PJRT_##name##_Args *args)

#define SIM_ENTRIES(X)                                                                             \
    X(Error_GetCode)                                                                               \
    X(Plugin_Initialize)                                                                           \
    X(Plugin_Attributes)                                                                           \
    X(Event_Destroy)                                                                               \
    X(Event_IsReady)                                                                               \
    X(Event_Error)                                                                                 \
    X(Event_Await)                                                                                 \
    X(Event_OnReady)                                                                               \
    X(Client_Create)                                                                               \
    X(Client_Destroy)                                                                              \
    X(Client_PlatformName)                                                                         \
    X(Client_ProcessIndex)                                                                         \
    X(Client_PlatformVersion)                                                                      \
    X(Client_Devices)                                                                              \
    X(Client_AddressableDevices)                                                                   \
    X(Client_LookupDevice)                                                                         \
    X(Client_LookupAddressableDevice)                                                              \
    X(Client_AddressableMemories)                                                                  \
    X(Client_TopologyDescription)                                                                  \
    X(TopologyDescription_Create)                                                                  \
    X(TopologyDescription_Destroy)                                                                 \
    X(TopologyDescription_PlatformName)                                                            \
    X(TopologyDescription_PlatformVersion)                                                         \
    X(TopologyDescription_GetDeviceDescriptions)                                                   \
    X(TopologyDescription_Attributes)                                                              \
    X(Compile)                                                                                     \
    X(Client_Compile)                                                                              \
    X(Client_DefaultDeviceAssignment)                                                              \
    X(Client_BufferFromHostBuffer)                                                                 \
    X(DeviceDescription_Id)                                                                        \
    X(DeviceDescription_ProcessIndex)                                                              \
    X(DeviceDescription_Attributes)                                                                \
    X(DeviceDescription_Kind)                                                                      \
    X(DeviceDescription_DebugString)                                                               \
    X(DeviceDescription_ToString)                                                                  \
    X(Device_GetDescription)                                                                       \
    X(Device_IsAddressable)                                                                        \
    X(Device_LocalHardwareId)                                                                      \
    X(Device_AddressableMemories)                                                                  \
    X(Device_DefaultMemory)                                                                        \
    X(Device_MemoryStats)                                                                          \
    X(Memory_Id)                                                                                   \
    X(Memory_Kind)                                                                                 \
    X(Memory_Kind_Id)                                                                              \
    X(Memory_DebugString)                                                                          \
    X(Memory_ToString)                                                                             \
    X(Memory_AddressableByDevices)                                                                 \
    X(Executable_Destroy)                                                                          \
    X(Executable_Name)                                                                             \
    X(Executable_NumReplicas)                                                                      \
    X(Executable_NumPartitions)                                                                    \
    X(Executable_NumOutputs)                                                                       \
    X(Executable_SizeOfGeneratedCodeInBytes)                                                       \
    X(Executable_GetCostAnalysis)                                                                  \
    X(Executable_OutputMemoryKinds)                                                                \
    X(Executable_OptimizedProgram)                                                                 \
    X(Executable_Serialize)                                                                        \
    X(Executable_OutputElementTypes)                                                               \
    X(Executable_OutputDimensions)                                                                 \
    X(Executable_Fingerprint)                                                                      \
    X(Executable_GetCompiledMemoryStats)                                                           \
    X(Executable_DeserializeAndLoad)                                                               \
    X(LoadedExecutable_Destroy)                                                                    \
    X(LoadedExecutable_GetExecutable)                                                              \
    X(LoadedExecutable_AddressableDevices)                                                         \
    X(LoadedExecutable_GetDeviceAssignment)                                                        \
    X(LoadedExecutable_Delete)                                                                     \
    X(LoadedExecutable_IsDeleted)                                                                  \
    X(LoadedExecutable_Execute)                                                                    \
    X(LoadedExecutable_Fingerprint)                                                                \
    X(Buffer_Destroy)                                                                              \
    X(Buffer_ElementType)                                                                          \
    X(Buffer_Dimensions)                                                                           \
    X(Buffer_UnpaddedDimensions)                                                                   \
    X(Buffer_DynamicDimensionIndices)                                                              \
    X(Buffer_OnDeviceSizeInBytes)                                                                  \
    X(Buffer_Device)                                                                               \
    X(Buffer_Memory)                                                                               \
    X(Buffer_Delete)                                                                               \
    X(Buffer_IsDeleted)                                                                            \
    X(Buffer_CopyToMemory)                                                                         \
    X(Buffer_CopyToDevice)                                                                         \
    X(Buffer_GetMemoryLayout)                                                                      \
    X(Buffer_ToHostBuffer)                                                                         \
    X(Buffer_IsOnCpu)                                                                              \
    X(Buffer_ReadyEvent)                                                                           \
    X(Buffer_UnsafePointer)

/* Entries that no simulated device has, and why (missing.c). */
#define SIM_MISSING(X)                                                                             \
    X(TopologyDescription_Serialize, "name the preset again")                                      \
    X(TopologyDescription_Deserialize, "name the preset again")                                    \
    X(AsyncHostToDeviceTransferManager_AddMetadata, "transfers are whole buffers")                 \
    X(AsyncHostToDeviceTransferManager_BufferCount, "transfers are whole buffers")                 \
    X(AsyncHostToDeviceTransferManager_BufferSize, "transfers are whole buffers")                  \
    X(AsyncHostToDeviceTransferManager_Destroy, "transfers are whole buffers")                     \
    X(AsyncHostToDeviceTransferManager_Device, "transfers are whole buffers")                      \
    X(AsyncHostToDeviceTransferManager_RetrieveBuffer, "transfers are whole buffers")              \
    X(AsyncHostToDeviceTransferManager_SetBufferError, "transfers are whole buffers")              \
    X(AsyncHostToDeviceTransferManager_TransferData, "transfers are whole buffers")                \
    X(Client_CreateBuffersForAsyncHostToDevice, "transfers are whole buffers")                     \
    X(Buffer_CopyRawToHost, "transfers are whole buffers")                                         \
    X(Buffer_IncreaseExternalReferenceCount, "its memory has no addresses to follow")              \
    X(Buffer_DecreaseExternalReferenceCount, "its memory has no addresses to follow")              \
    X(Buffer_OpaqueDeviceMemoryDataPointer, "its memory has no addresses to follow")               \
    X(Client_CreateViewOfDeviceBuffer, "its memory has no addresses to follow")                    \
    X(Client_DmaMap, "its memory has no addresses to follow")                                      \
    X(Client_DmaUnmap, "its memory has no addresses to follow")                                    \
    X(Client_CreateUninitializedBuffer, "buffers are made with their contents")                    \
    X(Client_CreateAliasBuffer, "buffers are made with their contents")                            \
    X(Client_FulfillAliasBuffer, "buffers are made with their contents")                           \
    X(Client_UpdateGlobalProcessInfo, "there is one process")                                      \
    X(CopyToDeviceStream_AddChunk, "programs send and receive nothing")                            \
    X(CopyToDeviceStream_CurrentBytes, "programs send and receive nothing")                        \
    X(CopyToDeviceStream_Destroy, "programs send and receive nothing")                             \
    X(CopyToDeviceStream_GranuleSize, "programs send and receive nothing")                         \
    X(CopyToDeviceStream_TotalBytes, "programs send and receive nothing")                          \
    X(ExecuteContext_Create, "executions take no context")                                         \
    X(ExecuteContext_Destroy, "executions take no context")

#define X(name) SIM_ENTRY(name);
SIM_ENTRIES(X)
#undef X
#define X(name, why) SIM_ENTRY(name);
SIM_MISSING(X)
#undef X
void sim_Error_Destroy(PJRT_Error_Destroy_Args *args);
void sim_Error_Message(PJRT_Error_Message_Args *args);

/* A property for lists of named values. */
#define SIM_NAMED(text, kind, size)                                                                \
    .struct_size = PJRT_NamedValue_STRUCT_SIZE, .name = text, .name_size = sizeof text - 1,        \
    .type = PJRT_NamedValue_##kind, .value_size = size

#endif
