/*
 * fuzz_noise.c - what a plugin wrote before its worker ended, of which the last words
 * get into the message. The first two bytes say how it ended, and how often it said
 * the rest.
 */
#include "tests/fuzz/fuzz.h"

#include "harness/jobs/ending_priv.h"

static void check_text(const char *text, size_t size)
{
    json_t *value = json_string(text);
    fuzz_require(strlen(text) < size, "a text that does not end");
    fuzz_require(value != NULL, "a text that is not UTF-8");
    for (const char *c = text; *c; c++)
        fuzz_require((unsigned char)*c >= ' ' && *c != 0x7F, "a control character in a message");
    json_decref(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static job_noise noise;
    char words[64];
    job_outcome outcome = {.status = BN_OK};
    if (size < 2)
        return 0;
    noise.written = 0;
    const size_t left = size - 2, times = data[1] < 250 || !left ? 1 : JOB_NOISE_BYTES / left + 2;
    for (size_t i = 0; i < times; i++)
        job_noise_add(&noise, (const char *)data + 2, left);
    job_noise_last_words(&noise, words, sizeof words);
    check_text(words, sizeof words);

    const unsigned how = data[0];
    const job_ending ending = {.wait_status = how & 1 ? 9 : (int)(how & 6) << 8,
                              .cancelled = (how & 24) == 8,
                              .timed_out = (how & 24) == 16,
                              .killed = how & 32,
                              .out_of_memory = how & 64,
                              .timeout = 1,
                              .stage = how & 128 ? "compiling" : "",
                              .noise = &noise};
    job_ending_explain(&ending, &outcome);
    fuzz_require(outcome.status != BN_OK, "a worker without a result is a failure");
    check_text(outcome.message, sizeof outcome.message);
    return 0;
}
