/* error.c - errors as the plugin's callers see them. */
#include "runtime/sim/device/error.h"

#include "runtime/base/base.h"
#include "runtime/sim/device/entries.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

PJRT_Error *sim_error_new(const sim_status *st)
{
    if (st->code == SIM_OK)
        return NULL;
    PJRT_Error *error = bn_alloc(sizeof *error);
    error->code = st->code;
    memcpy(error->message, st->message, sizeof error->message);
    return error;
}

PJRT_Error *sim_error(sim_code code, const char *format, ...)
{
    sim_status st = {.code = code};
    va_list list;
    va_start(list, format);
    vsnprintf(st.message, sizeof st.message, format, list);
    va_end(list);
    return sim_error_new(&st);
}

void sim_Error_Destroy(PJRT_Error_Destroy_Args *args)
{
    free(args->error);
}

void sim_Error_Message(PJRT_Error_Message_Args *args)
{
    args->message = args->error->message;
    args->message_size = strlen(args->error->message);
}

SIM_ENTRY(Error_GetCode)
{
    args->code = (PJRT_Error_Code)args->error->code;
    return NULL;
}
