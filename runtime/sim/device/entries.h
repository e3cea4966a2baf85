/*
 * entries.h - the plugin's entries. Their contracts are those of pjrt_c_api.h. plugin.c
 * puts them into the table; each is defined in the file of its object.
 */
#ifndef BENCH_RUNTIME_SIM_ENTRIES_H
#define BENCH_RUNTIME_SIM_ENTRIES_H

#include "runtime/sim/device/api.h"

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

/* Entries that no simulated device has, and why. */
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

#endif
