/*
 * mark.c - marks: the program says where its steps and phases begin and end (mark.h).
 */
#include "runtime/record/mark.h"
#include "runtime/record/record_priv.h"

int record_mark(int what, const char *name, int64_t number)
{
    record_place place;
    record_settings();
    record_gate_settings();
    if (what < RECORD_STEP_BEGINS || what > RECORD_PHASE_ENDS || !name)
        return 1;
    if (record_gate_is_asked())
        record_gate_look();
    const bool was_open = record_gate_open();
    if (what == RECORD_STEP_BEGINS || what == RECORD_PHASE_BEGINS)
        record_gate_mark(name);
    /* The mark that shuts the gate is recorded, too. */
    if ((!was_open && !record_gate_open()) || !record_active())
        return 1;
    const struct iovec part = {.iov_base = (void *)(uintptr_t)name,
                               .iov_len = strnlen(name, RECORD_MARK_MOST)};
    record_event event = {.kind = RECORD_MARK, .time = record_now()};
    event.field[0] = (uint64_t)what;
    event.field[1] = (uint64_t)number;
    if (!record_open(NULL, part.iov_len, &place))
        return 1;
    record_close(&place, event, &part, 1);
    return 0;
}
