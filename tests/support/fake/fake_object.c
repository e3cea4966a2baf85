/*
 * fake_object.c - the fake's objects, which are counted, its errors, and its orders from the
 * environment.
 */
#include "tests/support/fake/fake.h"

#include <stdatomic.h>

static _Atomic int64_t live_objects;

int64_t FakePjrtLive(void)
{
    return atomic_load(&live_objects);
}

void *fake_object_new(size_t size)
{
    void *object = calloc(1, size);
    if (!object)
        abort();
    atomic_fetch_add(&live_objects, 1);
    return object;
}

void fake_object_free(void *object)
{
    if (!object)
        return;
    atomic_fetch_sub(&live_objects, 1);
    free(object);
}

/* ---- errors --------------------------------------------------------------- */

PJRT_Error *fake_error_new(PJRT_Error_Code code, const char *message)
{
    PJRT_Error *error = fake_object_new(sizeof *error);
    error->code = code;
    snprintf(error->message, sizeof error->message, "%s", message);
    return error;
}

void fake_Error_Destroy(PJRT_Error_Destroy_Args *args)
{
    fake_object_free(args->error);
}

void fake_Error_Message(PJRT_Error_Message_Args *args)
{
    args->message = args->error->message;
    args->message_size = fake_order_number("lie_error", strlen(args->error->message));
}

PJRT_Error *fake_Error_GetCode(PJRT_Error_GetCode_Args *args)
{
    args->code = args->error->code;
    return NULL;
}

/* ---- orders from the environment ---------------------------------------- */

/* The text behind WORD in FAKE_PJRT, or NULL when the word is not there. */
static const char *order_find(const char *word)
{
    const char *list = getenv("FAKE_PJRT");
    size_t length = strlen(word);
    while (list && *list) {
        if (strncmp(list, word, length) == 0 && strchr(",=", list[length]))
            return list + length;
        list = strchr(list, ',');
        list = list ? list + 1 : NULL;
    }
    return NULL;
}

bool fake_ordered(const char *word)
{
    return order_find(word) != NULL;
}

uint64_t fake_order_number(const char *word, uint64_t otherwise)
{
    const char *text = order_find(word);
    return text && *text == '=' ? strtoull(text + 1, NULL, 10) : otherwise;
}

PJRT_Error_Code fake_ordered_code(void)
{
    return (PJRT_Error_Code)fake_order_number("code", PJRT_Error_Code_INTERNAL);
}

PJRT_Error *fake_error_if(const char *word, const char *message)
{
    return fake_ordered(word) ? fake_error_new(fake_ordered_code(), message) : NULL;
}
