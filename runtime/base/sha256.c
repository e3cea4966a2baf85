/*
 * sha256.c - SHA-256 of files and of bytes in memory, through libcrypto.
 *
 * libcrypto uses the processor's SHA instructions: a plugin of 200 MB takes a
 * fifth of a second. Source: FIPS 180-4, OpenSSL EVP_DigestInit(3).
 */
#include "runtime/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <unistd.h>

enum { DIGEST_BYTES = 32, READ_BYTES = 1 << 18 };

static void digest_print(const unsigned char bytes[DIGEST_BYTES], char digest[BN_SHA256_TEXT])
{
    static const char hex[] = "0123456789abcdef";
    for (int i = 0; i < DIGEST_BYTES; i++) {
        digest[2 * i] = hex[bytes[i] >> 4];
        digest[2 * i + 1] = hex[bytes[i] & 15];
    }
    digest[2 * DIGEST_BYTES] = '\0';
}

void bn_sha256(const void *data, size_t size, char digest[BN_SHA256_TEXT])
{
    unsigned char bytes[DIGEST_BYTES];
    digest[0] = '\0';
    if (EVP_Digest(data, size, bytes, NULL, EVP_sha256(), NULL) == 1)
        digest_print(bytes, digest);
}

static bn_code file_digest(int fd, const char *path, EVP_MD_CTX *context, unsigned char *block,
                           unsigned char bytes[DIGEST_BYTES], bn_status *st)
{
    if (EVP_DigestInit_ex(context, EVP_sha256(), NULL) != 1)
        return bn_fail(st, BN_NOT_SUPPORTED, "libcrypto offers no sha-256");
    for (;;) {
        ssize_t got = read(fd, block, READ_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return bn_fail_errno(st, errno, "%s", path);
        if (got == 0)
            break;
        EVP_DigestUpdate(context, block, (size_t)got);
    }
    EVP_DigestFinal_ex(context, bytes, NULL);
    return BN_OK;
}

bn_code bn_descriptor_sha256(int fd, const char *path, char digest[BN_SHA256_TEXT], bn_status *st)
{
    unsigned char bytes[DIGEST_BYTES];
    unsigned char *block = malloc(READ_BYTES);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bn_code code = block && context ? file_digest(fd, path, context, block, bytes, st)
                                    : bn_fail_errno(st, ENOMEM, "%s", path);
    if (code == BN_OK)
        digest_print(bytes, digest);
    EVP_MD_CTX_free(context);
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
