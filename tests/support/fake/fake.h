/*
 * fake.h - what the files of the fake plugin share: its objects, orders and errors, and the list
 * of entries that it offers.
 *
 * From top to bottom, each file calls only those below it: fake_pjrt.c (plugin, client, the
 * table), fake_execute.c, fake_program.c, fake_topology.c, fake_optimized.c, fake_profiler.c,
 * fake_ffi.c, fake_signature.c, fake_surroundings.c, fake_object.c.
 */
#ifndef BENCH_TESTS_FAKE_H
#define BENCH_TESTS_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include "pjrt_c_api.h"
#pragma GCC diagnostic pop

#define EXPORT __attribute__((visibility("default")))

/* Initialiser of a PJRT_NamedValue but for the value. */
#define NAMED(text, kind, size)                                                                    \
    .struct_size = PJRT_NamedValue_STRUCT_SIZE, .name = text, .name_size = sizeof text - 1,        \
    .type = PJRT_NamedValue_##kind, .value_size = size

/* ---- objects ------------------------------------------------------------ */

enum { MAX_RANK = 8, MAX_VALUES = 1024 };

/* The type of an argument, a result or a buffer. */
typedef struct fake_type {
    PJRT_Buffer_Type type;
    size_t element_bytes, rank, bytes;
    int64_t dims[MAX_RANK];
    int alias;      /* of an argument: the result it is donated to, or -1 */
    bool automatic; /* of a result: the compiler chooses its layout */
    bool laid_out;  /* its layout is stated */
} fake_type;

struct PJRT_Error {
    PJRT_Error_Code code;
    char message[200];
};

struct PJRT_Event {
    uint64_t ready_at_ns;
    PJRT_Error_Code code; /* OK, or the error it fires with */
};

struct PJRT_Client {
    PJRT_Device *devices[8];
    size_t device_count;
};

struct PJRT_DeviceDescription {
    int id;
};

struct PJRT_Memory {
    int id;
};

struct PJRT_Device {
    PJRT_DeviceDescription description;
    PJRT_Memory memory;
    PJRT_Memory *memories[1];
    int64_t bytes_in_use, peak_bytes;
};

struct PJRT_Executable {
    char *text;
    fake_type *arguments, *results;
    size_t argument_count, result_count;
    PJRT_NamedValue costs[3];
    unsigned char *optimized; /* an HLO module, once it was asked for */
    size_t optimized_size;
    /* Of all results, once they were asked for. */
    PJRT_Buffer_Type *result_types;
    int64_t *result_dims;
    size_t *result_ranks, *kind_sizes;
    const char **kinds;
};

struct PJRT_LoadedExecutable {
    PJRT_Executable *program;
    PJRT_Device *device;
};

struct PJRT_Buffer {
    fake_type type;
    void *data; /* NULL once donated or deleted */
    PJRT_Device *device;
    PJRT_Event ready;
};

struct PJRT_TopologyDescription {
    PJRT_DeviceDescription descriptions[8], *list[8];
    size_t count;
};

struct PJRT_SerializedExecutable {
    char *bytes;
};

/* Objects not yet released. */
EXPORT int64_t FakePjrtLive(void);
/* SIZE zeroed bytes that are counted; never NULL. */
void *fake_object_new(size_t size);
void fake_object_free(void *object); /* NULL allowed */

/* ---- orders and errors (fake_object.c) ---------------------------------- */

bool fake_ordered(const char *word);
/* The number behind "WORD=", else OTHERWISE. */
uint64_t fake_order_number(const char *word, uint64_t otherwise);
/* That of "code=N". */
PJRT_Error_Code fake_ordered_code(void);
PJRT_Error *fake_error_new(PJRT_Error_Code code, const char *message);
/* An error when WORD is ordered, else NULL. */
PJRT_Error *fake_error_if(const char *word, const char *message);

/* ---- what all code of a process shares (fake_surroundings.c) ------------- */

/* Changes what is ordered for MOMENT: "load", "client", "compile", "execute", "destroy". */
void fake_change(const char *moment);

/* ---- types (fake_signature.c) ------------------------------------------- */

/* Fills in TYPE's element type and bytes; its dims are set. The element type is the one
 * that TEXT ("f32>...") names, or WANTED where TEXT is NULL. False when it is unknown. */
bool fake_element_set(fake_type *type, PJRT_Buffer_Type wanted, const char *text);
/* Reads the signature of @main in TEXT; both arrays hold MAX_VALUES. */
bool fake_signature_read(const char *text, fake_type *arguments, size_t *argument_count,
                         fake_type *results, size_t *result_count);

/* ---- optimized programs (fake_optimized.c) -------------------------------- */

/* Makes PROGRAM's optimized form, a serialized HloModuleProto. What it takes, of R results, of
 * which D have default layouts: 1000 R cycles in the scope "layer1", 500 in "backward/layer1", 100
 * D of a change of layout, and a loop of 8 trips of 50 cycles. Each argument whose layout is stated
 * takes 10 cycles in the scope "taken". An all-reduce has no estimate. */
void fake_optimized_make(PJRT_Executable *program);

/* ---- profiler (fake_profiler.c) ----------------------------------------- */

/* Notes an execution while the profiler runs. */
void fake_profile_record(uint64_t start_ns, uint64_t duration_ns);
/* The head of the chain of extensions; the profiler is the second one. */
extern PJRT_Extension_Base fake_first_extension;

/* ---- foreign functions (fake_ffi.c) ------------------------------------- */

/* The extension that takes handlers, with NEXT behind it. */
PJRT_Extension_Base *fake_ffi_extension(PJRT_Extension_Base *next);
/* Calls the handler that was taken as NAME: "good", "not found", or what it says. */
EXPORT const char *FakePjrtCall(const char *name);

/* ---- entries ------------------------------------------------------------ */

/* All that return an error; Error_Destroy and Error_Message cannot fail. */
#define FAKE_ENTRIES(X)                                                                            \
    X(Error_GetCode)                                                                               \
    X(Plugin_Initialize)                                                                           \
    X(Plugin_Attributes)                                                                           \
    X(Event_Destroy)                                                                               \
    X(Event_IsReady)                                                                               \
    X(Event_Await)                                                                                 \
    X(Client_Create)                                                                               \
    X(Client_Destroy)                                                                              \
    X(Client_PlatformName)                                                                         \
    X(Client_PlatformVersion)                                                                      \
    X(Client_AddressableDevices)                                                                   \
    X(Client_Compile)                                                                              \
    X(Client_BufferFromHostBuffer)                                                                 \
    X(DeviceDescription_Id)                                                                        \
    X(DeviceDescription_Kind)                                                                      \
    X(DeviceDescription_Attributes)                                                                \
    X(Device_GetDescription)                                                                       \
    X(Device_AddressableMemories)                                                                  \
    X(Device_MemoryStats)                                                                          \
    X(Memory_Kind)                                                                                 \
    X(Executable_Destroy)                                                                          \
    X(Executable_Name)                                                                             \
    X(Executable_NumOutputs)                                                                       \
    X(Executable_GetCostAnalysis)                                                                  \
    X(Executable_OptimizedProgram)                                                                 \
    X(Executable_Serialize)                                                                        \
    X(LoadedExecutable_Destroy)                                                                    \
    X(LoadedExecutable_GetExecutable)                                                              \
    X(LoadedExecutable_Execute)                                                                    \
    X(Executable_DeserializeAndLoad)                                                               \
    X(LoadedExecutable_Fingerprint)                                                                \
    X(Buffer_Destroy)                                                                              \
    X(Buffer_ElementType)                                                                          \
    X(Buffer_Dimensions)                                                                           \
    X(Buffer_IsDeleted)                                                                            \
    X(Buffer_ToHostBuffer)                                                                         \
    X(Buffer_ReadyEvent)                                                                           \
    X(Buffer_UnsafePointer)                                                                        \
    X(TopologyDescription_Create)                                                                  \
    X(TopologyDescription_Destroy)                                                                 \
    X(TopologyDescription_PlatformName)                                                            \
    X(TopologyDescription_GetDeviceDescriptions)                                                   \
    X(TopologyDescription_Attributes)                                                              \
    X(Compile)                                                                                     \
    X(Executable_OutputElementTypes)                                                               \
    X(Executable_OutputDimensions)                                                                 \
    X(Executable_OutputMemoryKinds)                                                                \
    X(Executable_Fingerprint)                                                                      \
    X(Executable_GetCompiledMemoryStats)

#define X(entry) PJRT_Error *fake_##entry(PJRT_##entry##_Args *args);
FAKE_ENTRIES(X)
#undef X

/* Functions that the plugin has only where an option makes it lie by them; otherwise it lacks them.
 */
#define FAKE_LIARS(X)                                                                              \
    X(DeviceDescription_DebugString, "lie_description")                                            \
    X(LoadedExecutable_AddressableDevices, "lie_program_devices")                                  \
    X(Buffer_CopyToDevice, "lie_dims")

#define X(entry, order) PJRT_Error *fake_##entry(PJRT_##entry##_Args *args);
FAKE_LIARS(X)
#undef X
void fake_Error_Destroy(PJRT_Error_Destroy_Args *args);
void fake_Error_Message(PJRT_Error_Message_Args *args);

#endif
