/*
 * fuzz_foreign.c - records through the child that reads them for us: bytes of any kind after a seal
 * that is in order, which libhdf5 gets to see. Whatever becomes of the child, we go on, and what we
 * are given is a record in order.
 */
#include "tests/fuzz/fuzz.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "results/records/store_priv.h"

/* Of the sanitizers' runtimes: what they call before they end a process, and when they see that
 * memory was harmed. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));
void __asan_on_error(void);

static bool in_child;
/* Shared with the children: one of them found a fault of our own code. */
static int *fault;

/* libhdf5 harms the child's memory, which may end as it likes, and without a report, which takes a
 * second. That our own reader does so, fuzz_store.c would tell. */
void __asan_on_error(void)
{
    if (in_child)
        _exit(1);
}

static void tell_fault(void)
{
    *fault = 1;
}

/* libhdf5 does not come back from one in thirty such files. Seconds for each would be all of the
 * fuzzer's time, so this ends a child as its limit would, after a fifth of one. */
static void hurry(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGXCPU};
    const struct itimerspec time = {.it_value = {.tv_nsec = 200000000}};
    timer_t timer;
    if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0)
        timer_settime(timer, 0, &time, NULL);
}

static void begin_child(void)
{
    in_child = true;
    hurry();
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(tell_fault);
}

/* A record that was read is written, and reads the same through another child. */
static void check(const res_record *record)
{
    bn_status st = {.code = BN_OK};
    char path[32], *image = NULL;
    size_t size = 0;
    res_record *back = NULL;
    fuzz_require(res_image_write(record, &image, &size, &st) == BN_OK, "it cannot be written");
    int fd = fuzz_file((const uint8_t *)image, size, path);
    fuzz_require(res_store_read_foreign(path, &back, &st) == BN_OK, "it cannot be read again");
    json_t *first = res_record_to_json(record), *second = res_record_to_json(back);
    fuzz_require(first && second && json_equal(first, second), "it reads otherwise");
    json_decref(first);
    json_decref(second);
    res_record_free(back);
    close(fd);
    free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool begun;
    char path[32];
    bn_status st = {.code = BN_OK};
    res_record *record = NULL;
    if (!begun) {
        fault =
            mmap(NULL, sizeof *fault, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        fuzz_require(fault != MAP_FAILED && pthread_atfork(NULL, NULL, begin_child) == 0,
                     "no memory");
        res_store_begin();
    }
    begun = true;
    /* Without a seal it is fuzz_store.c's. */
    if (size <= RES_SEAL_BYTES)
        return 0;
    char *bytes = malloc(size);
    fuzz_require(bytes != NULL, "no memory");
    memcpy(bytes, data, size);
    res_seal(bytes, size);
    int fd = fuzz_file((const uint8_t *)bytes, size, path);
    free(bytes);
    bn_code code = res_store_read_foreign(path, &record, &st);
    fuzz_status(code, &st);
    fuzz_require(code == BN_OK || code == BN_FORMAT || code == BN_IO,
                 "what a file cannot be blamed for, nor its child");
    fuzz_require(*fault == 0, "a sanitizer found a fault in the child");
    fuzz_require((code == BN_OK) == (record != NULL), "a record of a damaged file");
    if (record)
        check(record);
    res_record_free(record);
    close(fd);
    res_store_vet_end();
    return 0;
}
