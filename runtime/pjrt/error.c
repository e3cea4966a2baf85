/*
 * error.c - the one place where a plugin's errors become a status.
 *
 * A PJRT error carries an absl status code and a message, and must be
 * destroyed. What the code means depends on what was being done: the same
 * INVALID_ARGUMENT is a bad option where a client is made, a bad program while
 * compiling and a bad call elsewhere.
 * Source: PJRT_Error_* in pjrt_c_api.h.
 */
#include "runtime/pjrt/pjrt_priv.h"

bn_code rt_error_class(int code, enum rt_stage stage)
{
    switch (code) {
    case PJRT_Error_Code_RESOURCE_EXHAUSTED:
        return BN_OUT_OF_MEMORY;
    case PJRT_Error_Code_UNIMPLEMENTED:
        return BN_NOT_SUPPORTED;
    case PJRT_Error_Code_DEADLINE_EXCEEDED:
        return BN_TIMEOUT;
    case PJRT_Error_Code_CANCELLED:
        return BN_CANCELLED;
    default:
        break;
    }
    switch (stage) {
    case RT_STAGE_CREATE:
        return code == PJRT_Error_Code_INVALID_ARGUMENT ? BN_INVALID : BN_PLUGIN;
    case RT_STAGE_COMPILE:
        return BN_COMPILE;
    case RT_STAGE_EXECUTE:
        return BN_EXECUTE;
    case RT_STAGE_OTHER:
        break;
    }
    return BN_PLUGIN;
}

bn_code rt_error_record(bn_status *st, bn_code code, const char *message, size_t size)
{
    if (!st)
        return code;
    /* Compilers answer with lines of text and carets below them: a status is
     * one line, so white space of any length becomes one blank. */
    char line[sizeof st->message];
    size_t length = 0;
    bool blank = false;
    for (size_t i = 0; i < size && length + 2 < sizeof line; i++) {
        unsigned char c = (unsigned char)message[i];
        if (c <= ' ' || c == 0x7F) {
            blank = length > 0;
            continue;
        }
        if (blank)
            line[length++] = ' ';
        blank = false;
        line[length++] = (char)c;
    }
    while (length > 0 && line[length - 1] == '.')
        length--;
    line[length] = '\0';
    return bn_fail(st, code, "%s", length > 0 ? line : "the plugin gave no message");
}

/* The code of ERROR; UNKNOWN when the plugin does not even give that. */
static int error_code(const rt_plugin *plugin, const PJRT_Error *error)
{
    if (!RT_HAS(plugin, PJRT_Error_GetCode))
        return PJRT_Error_Code_UNKNOWN;
    PJRT_Error_GetCode_Args args = RT_ARGS(PJRT_Error_GetCode, .error = error);
    PJRT_Error *another = plugin->api->PJRT_Error_GetCode(&args);
    if (!another)
        return (int)args.code;
    if (RT_HAS(plugin, PJRT_Error_Destroy)) {
        PJRT_Error_Destroy_Args destroy = RT_ARGS(PJRT_Error_Destroy, .error = another);
        plugin->api->PJRT_Error_Destroy(&destroy);
    }
    return PJRT_Error_Code_UNKNOWN;
}

/* After each call of a plugin; all that takes more than nanoseconds only after slow calls. */
static bn_code put_surroundings_back(enum rt_stage stage, bn_status *st)
{
    switch (stage) {
    case RT_STAGE_CREATE:
        return bn_surroundings_restore("client", st);
    case RT_STAGE_COMPILE:
        return bn_surroundings_restore("compiling", st);
    case RT_STAGE_EXECUTE:
        bn_surroundings_restore_floats("executing");
        return BN_OK;
    case RT_STAGE_OTHER:
        break;
    }
    bn_surroundings_restore_floats("calling");
    return BN_OK;
}

bn_code rt_error_take(const rt_plugin *plugin, PJRT_Error *error, enum rt_stage stage,
                      bn_status *st)
{
    const bn_code back = put_surroundings_back(stage, error ? NULL : st);
    if (!error)
        return back;
    rt_live_add(RT_LIVE_ERROR, 1);
    bn_code code = rt_error_class(error_code(plugin, error), stage);
    PJRT_Error_Message_Args text = RT_ARGS(PJRT_Error_Message, .error = error);
    if (RT_HAS(plugin, PJRT_Error_Message))
        plugin->api->PJRT_Error_Message(&text);
    rt_error_record(st, code, text.message, text.message ? text.message_size : 0);
    if (RT_HAS(plugin, PJRT_Error_Destroy)) {
        PJRT_Error_Destroy_Args destroy = RT_ARGS(PJRT_Error_Destroy, .error = error);
        plugin->api->PJRT_Error_Destroy(&destroy);
        rt_live_add(RT_LIVE_ERROR, -1);
    }
    return code;
}

bn_code rt_entry_missing(const char *entry, bn_status *st)
{
    return bn_fail(st, BN_NOT_SUPPORTED, "the plugin has no %s", entry);
}
