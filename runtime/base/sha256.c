/*
 * sha256.c - SHA-256 of files and of bytes in memory, through libcrypto.
 *
 * libcrypto uses the processor's SHA instructions: a plugin of 200 MB takes a
 * fifth of a second. Source: FIPS 180-4, OpenSSL SHA256_Init(3).
 *
 * These calls take no memory, as EVP's do: a digest that could not be made would pass for that of
 * other bytes, and a good record for a damaged one.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "runtime/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 18 };

static void digest_print(SHA256_CTX *context, char digest[BN_SHA256_TEXT])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char bytes[SHA256_DIGEST_LENGTH];
    SHA256_Final(bytes, context);
    for (int i = 0; i < SHA256_DIGEST_LENGTH; i++) {
        digest[2 * i] = hex[bytes[i] >> 4];
        digest[2 * i + 1] = hex[bytes[i] & 15];
    }
    digest[2 * SHA256_DIGEST_LENGTH] = '\0';
}

void bn_sha256(const void *data, size_t size, char digest[BN_SHA256_TEXT])
{
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, data, size);
    digest_print(&context, digest);
}

static bn_code file_digest(int fd, const char *path, SHA256_CTX *context, unsigned char *block,
                           bn_status *st)
{
    SHA256_Init(context);
    for (;;) {
        ssize_t got = read(fd, block, READ_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return bn_fail_errno(st, errno, "%s", path);
        if (got == 0)
            return BN_OK;
        SHA256_Update(context, block, (size_t)got);
    }
}

bn_code bn_descriptor_sha256(int fd, const char *path, char digest[BN_SHA256_TEXT], bn_status *st)
{
    SHA256_CTX context;
    unsigned char *block = bn_alloc(READ_BYTES);
    bn_code code = file_digest(fd, path, &context, block, st);
    if (code == BN_OK)
        digest_print(&context, digest);
    free(block);
    return code;
}

bn_code bn_file_sha256(const char *path, char digest[BN_SHA256_TEXT], bn_status *st)
{
    size_t size;
    int fd;
    bn_code code = bn_regular_open(path, &fd, &size, st);
    if (code != BN_OK)
        return code;
    code = bn_descriptor_sha256(fd, path, digest, st);
    close(fd);
    return code;
}
