/*
 * entry.c - GetPjrtApi: the recorder as a plugin. It loads the one that it stands before.
 *
 * Where there is none, the caller gets a small table that says so: whoever starts it or makes a
 * client has an error with a message.
 */
#include "runtime/record/record_priv.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- a plugin that does not start ---------------------------------------------------------------
 */

struct PJRT_Error {
    char message[1024];
};
static struct PJRT_Error refusal;

static void refused_Error_Destroy(PJRT_Error_Destroy_Args *args)
{
    (void)args;
}

static void refused_Error_Message(PJRT_Error_Message_Args *args)
{
    args->message = refusal.message;
    args->message_size = strlen(refusal.message);
}

static PJRT_Error *refused_Error_GetCode(PJRT_Error_GetCode_Args *args)
{
    args->code = PJRT_Error_Code_FAILED_PRECONDITION;
    return NULL;
}

static PJRT_Error *refused_Plugin_Initialize(PJRT_Plugin_Initialize_Args *args)
{
    (void)args;
    return &refusal;
}

static PJRT_Error *refused_Plugin_Attributes(PJRT_Plugin_Attributes_Args *args)
{
    args->attributes = NULL;
    args->num_attributes = 0;
    return NULL;
}

static PJRT_Error *refused_Client_Create(PJRT_Client_Create_Args *args)
{
    (void)args;
    return &refusal;
}

static const PJRT_Api *refuse(const char *plugin, const char *why)
{
    static const PJRT_Api table = {.struct_size = PJRT_Api_STRUCT_SIZE,
                                   .pjrt_api_version = {.struct_size = PJRT_Api_Version_STRUCT_SIZE,
                                                        .major_version = PJRT_API_MAJOR,
                                                        .minor_version = PJRT_API_MINOR},
                                   .PJRT_Error_Destroy = refused_Error_Destroy,
                                   .PJRT_Error_Message = refused_Error_Message,
                                   .PJRT_Error_GetCode = refused_Error_GetCode,
                                   .PJRT_Plugin_Initialize = refused_Plugin_Initialize,
                                   .PJRT_Plugin_Attributes = refused_Plugin_Attributes,
                                   .PJRT_Client_Create = refused_Client_Create};
    snprintf(refusal.message, sizeof refusal.message, "the recorder: %s=%s: %s", RECORD_ENV_PLUGIN,
             plugin, why);
    return &table;
}

/* ---- the plugin behind ------------------------------------------------------------------------
 */

/* Opened a second time it is the same library, so this may be called again. */
static const PJRT_Api *load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        const char *why = dlerror();
        return refuse(path, why ? why : "cannot be loaded");
    }
    void *symbol = record_symbol(library, "GetPjrtApi");
    if (!symbol)
        return refuse(path, "is no PJRT plugin: it has no GetPjrtApi");
    if (record_symbol(library, RECORD_SYMBOL))
        return refuse(path, "is the recorder itself");
    record_get *get;
    memcpy(&get, &symbol, sizeof get);
    record_plugin *p = record_plugin_of(get);
    const PJRT_Api *api = p ? record_plugin_table(p) : get();
    return api ? api : refuse(path, "gives no table");
}

RECORD_EXPORT const PJRT_Api *GetPjrtApi(void);
const PJRT_Api *GetPjrtApi(void)
{
    const char *path = getenv(RECORD_ENV_PLUGIN);
    if (!path || !*path)
        return refuse("", "names no plugin to stand before");
    return load(path);
}
