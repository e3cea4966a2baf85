/*
 * replay.c - a main for a target without libFuzzer: each file of a corpus as it
 * stands, then mutations of it. Seeded: the same inputs each time.
 *
 *   replay_NAME MUTATIONS FILE...     all of it, MUTATIONS of each file
 *   replay_NAME 0 FILE                one input, to look at a fault
 *
 * An input ends where a page begins that must not be touched, so reading one byte
 * beyond it is seen without a sanitizer. An input that ends the process, or takes too
 * long, is named and kept in the folder BENCH_FUZZ_CRASHES.
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <signal.h>

#define MOST_BYTES   ((size_t)1 << 20)
#define MOST_SECONDS 10

/* The input at work, for the handler of what kills us. */
static struct {
    const char *file;
    unsigned long mutation;
    const uint8_t *data;
    size_t size;
} now;

static uint64_t random_state;

static size_t below(size_t limit)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return limit ? (size_t)(random_state * 2685821657736338717u >> 11) % limit : 0;
}

/* ---- inputs that kill the process are reported -------------------------------------- */

static void on_death(int number)
{
    char text[512], path[256];
    const char *folder = getenv("BENCH_FUZZ_CRASHES");
    snprintf(path, sizeof path, "%s/crash-%ld", folder ? folder : ".", (long)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    bool kept = fd >= 0 && write(fd, now.data, now.size) == (ssize_t)now.size;
    int length = snprintf(text, sizeof text, "# %s, mutation %lu: %s (signal %d)%s%s\n", now.file,
                          now.mutation, number == SIGALRM ? "takes too long" : "died", number,
                          kept ? "; the input is in " : "", kept ? path : "");
    (void)!write(STDERR_FILENO, text, (size_t)length);
    _exit(128 + number);
}

static void watch_for_death(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    struct sigaction act = {.sa_handler = on_death, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &act, NULL);
}

/* ---- inputs --------------------------------------------------------------------------- */

/* The last byte before a page that must not be touched. */
static uint8_t *make_wall(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *room =
        mmap(NULL, MOST_BYTES + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fuzz_require(room != MAP_FAILED, "no memory");
    fuzz_require(mprotect(room + MOST_BYTES, page, PROT_NONE) == 0, "no guard");
    return room + MOST_BYTES;
}

static void feed(uint8_t *wall, const uint8_t *bytes, size_t size)
{
    uint8_t *data = wall - size;
    if (size)
        memcpy(data, bytes, size);
    now.data = data;
    now.size = size;
    alarm(MOST_SECONDS);
    LLVMFuzzerTestOneInput(data, size);
}

/* ---- mutations ------------------------------------------------------------------------- */

/* Bytes that mean something in one of the formats. */
static const char tokens[] = "0123456789{}[]()<>\"',:;=?!%@-x\n \0\x7F\x80\xFF";

/* One small change of the *SIZE bytes at BYTES, which has room for MOST_BYTES. */
static void change(uint8_t *bytes, size_t *size)
{
    const size_t at = below(*size), length = below(*size - at < 64 ? *size - at : 64);
    switch (below(7)) {
    case 0:
        bytes[at] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        bytes[at] = (uint8_t)tokens[below(sizeof tokens)];
        break;
    case 2: /* cut off */
        *size = at;
        break;
    case 3: /* a piece gone */
        memmove(bytes + at, bytes + at + length, *size - at - length);
        *size -= length;
        break;
    case 4: /* a piece twice */
        if (*size + length <= MOST_BYTES) {
            memmove(bytes + at + length, bytes + at, *size - at);
            *size += length;
        }
        break;
    case 5: /* a number of all ones, or of none */
        memset(bytes + at, below(2) ? 0xFF : 0, *size - at < 8 ? *size - at : below(8) + 1);
        break;
    default: /* a piece of elsewhere */
        memmove(bytes + at, bytes + below(*size - length + 1), length);
        break;
    }
}

static void replay(uint8_t *wall, const uint8_t *bytes, size_t size, unsigned long mutations)
{
    uint8_t *work = malloc(MOST_BYTES);
    fuzz_require(work != NULL, "no memory");
    feed(wall, bytes, size);
    for (now.mutation = 1; now.mutation <= mutations; now.mutation++) {
        size_t length = size;
        memcpy(work, bytes, size);
        for (size_t changes = 1 + below(4); changes > 0 && length > 0; changes--)
            change(work, &length);
        feed(wall, work, length);
    }
    free(work);
}

int main(int argc, char **argv)
{
    char *end = NULL;
    const unsigned long mutations = argc > 2 ? strtoul(argv[1], &end, 10) : 0;
    if (argc < 3 || *end != '\0') {
        fprintf(stderr, "usage: %s MUTATIONS FILE...\n", argv[0]);
        return 2;
    }
    uint8_t *wall = make_wall();
    watch_for_death();
    for (int i = 2; i < argc; i++) {
        char *bytes = NULL;
        size_t size = 0;
        bn_status st = {0};
        now.file = argv[i];
        now.mutation = 0;
        if (bn_regular_read(argv[i], &bytes, &size, &st) != BN_OK || size > MOST_BYTES) {
            fprintf(stderr, "%s\n", size > MOST_BYTES ? "an input is too large" : st.message);
            return 2;
        }
        random_state = 0x9E3779B97F4A7C15u + size;
        replay(wall, (const uint8_t *)bytes, size, mutations);
        free(bytes);
    }
    printf("%d files, %lu inputs\n", argc - 2, (unsigned long)(argc - 2) * (mutations + 1));
    return 0;
}
