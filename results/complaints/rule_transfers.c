/*
 * rule_transfers.c - the device waits while the host sends.
 */
#include "results/complaints/complaints_priv.h"
#include "results/doctor/doctor.h"

static bool check(rec_checking *c)
{
    rec_cursor at = {0};
    double bytes = 0, sends = 0;
    uint32_t sent = REC_NONE;
    uint64_t most = 0;
    for (size_t i = 0; i < c->steps->count; i++) {
        uint64_t done = 0; /* threads may send at the same time, and a gap counts once */
        c->values[i] = 0;
        for (const rec_call *call;
             (call = rec_next_call(c->steps->process, &at, &c->steps->list[i]));) {
            if (call->failed || (call->kind != REC_CALL_FROM_HOST && call->kind != REC_CALL_COPY))
                continue;
            c->values[i] += rec_idle_between(
                &c->busy, call->begin_ns > done ? call->begin_ns : done, call->end_ns);
            done = call->end_ns > done ? call->end_ns : done;
            bytes += (double)call->bytes;
            sends++;
            sent = call->bytes >= most ? call->buffer : sent;
            most = call->bytes >= most ? call->bytes : most;
        }
    }
    rec_finding *made = sends > 0 ? rec_judge(c, REC_RULE_TRANSFERS, RES_DOCTOR_SHARE) : NULL;
    if (!made)
        return true;
    made->count = sends / (double)c->steps->count;
    made->bytes = bytes / (double)c->steps->count;
    /* Into which of its buffers a manager of transfers sends is unknown. */
    if (sent == REC_NONE)
        return true;
    bn_text_puts(&made->where, "the largest is ");
    rec_buffer_put(c->steps->process, sent, &made->where);
    return true;
}

static void put_subject(const rec_finding *c, bn_text *out)
{
    bn_text_printf(out, "sending %.3g MiB in %.3g transfer%s, for which the device waits,",
                   rec_mib(c->bytes), c->count, rec_plural(c->count));
}

static void put_advice(const rec_checkup *checkup, const rec_finding *c, bn_text *out)
{
    (void)checkup;
    (void)c;
    bn_text_puts(out, "Send the next batch while the device works on this one.");
}

const rec_doctor_rule rec_rule_transfers = {
    .name = "transfers",
    .check = check,
    .of_completions = true,
    .subject = put_subject,
    .advice = put_advice,
};
