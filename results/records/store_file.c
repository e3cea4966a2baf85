/*
 * store_file.c - sealed files: the bytes of an image on disk, all or nothing,
 * and the check that they are still the same bytes.
 *
 * The seal fills the user block, the part of an HDF5 file that belongs to the
 * application, with two lines of text:
 *
 *   bench-record 1
 *   sha256 <of all bytes after the user block> <their number>
 *
 * and spaces to the end. It is checked before HDF5 sees a byte, because the library does not
 * survive damaged files: of 300 records with one to four bytes changed and the seal made anew,
 * version 1.10.8 crashed on 13 and never returned from one. The seal protects against accidents
 * only: a record that is damaged on purpose can be sealed as well.
 */
#include "results/records/store_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char seal_name[] = "bench-record ";
#define SEAL_VERSION 1

/* Fills BLOCK with the user block that belongs to the bytes after it. */
static void seal_block(const char *image, size_t size, char block[RES_SEAL_BYTES])
{
    char digest[BN_SHA256_TEXT];
    bn_sha256(image + RES_SEAL_BYTES, size - RES_SEAL_BYTES, digest);
    int length = snprintf(block, RES_SEAL_BYTES, "%s%d\nsha256 %s %zu\n", seal_name, SEAL_VERSION,
                          digest, size - RES_SEAL_BYTES);
    memset(block + length, ' ', RES_SEAL_BYTES - (size_t)length);
    block[RES_SEAL_BYTES - 1] = '\n';
}

void res_seal(char *image, size_t size)
{
    char block[RES_SEAL_BYTES];
    seal_block(image, size, block);
    memcpy(image, block, RES_SEAL_BYTES);
}

/* Whether HEAD, of FIRST bytes, begins as a record does. */
static bool begins_as_record(const char *head, size_t first)
{
    return first >= strlen(seal_name) && memcmp(head, seal_name, strlen(seal_name)) == 0;
}

/* Checks the first RES_SEAL_BYTES of a file of SIZE bytes, at HEAD: all but the digest. A shorter
 * file has fewer bytes there. */
static bn_code head_check(const char *head, size_t size, bn_status *st)
{
    const size_t name_length = strlen(seal_name);
    if (!begins_as_record(head, size))
        return bn_fail(st, BN_FORMAT, "not a record: it does not start with \"%s\"", seal_name);
    if (size < RES_SEAL_BYTES)
        return bn_fail(st, BN_FORMAT, "cut off after %zu bytes", size);

    char text[RES_SEAL_BYTES + 1];
    memcpy(text, head, RES_SEAL_BYTES);
    text[RES_SEAL_BYTES] = '\0';
    long version = strtol(text + name_length, NULL, 10);
    if (version != SEAL_VERSION)
        return bn_fail(st, BN_FORMAT, "seal version %ld is unknown, this program reads %d", version,
                       SEAL_VERSION);
    size_t sealed = 0;
    const bool sized = sscanf(text + name_length, "%*d sha256 %*64s %zu", &sealed) == 1;
    if (sized && sealed > size - RES_SEAL_BYTES)
        return bn_fail(st, BN_FORMAT, "cut off: %zu of %zu bytes", size - RES_SEAL_BYTES, sealed);
    if (!sized || sealed < size - RES_SEAL_BYTES)
        return bn_fail(st, BN_FORMAT, "its bytes are not those that were written (size)");
    return BN_OK;
}

bn_code res_seal_check(const char *image, size_t size, bn_status *st)
{
    char block[RES_SEAL_BYTES];
    bn_code code = head_check(image, size, st);
    if (code != BN_OK)
        return code;
    seal_block(image, size, block);
    if (memcmp(block, image, RES_SEAL_BYTES) != 0)
        return bn_fail(st, BN_FORMAT, "its bytes are not those that were written (sha256)");
    return BN_OK;
}

/* Reads the SIZE bytes of FD into *IMAGE if they may be a record's. */
static bn_code take_image(int fd, size_t size, size_t most, char **image, res_proof *proof,
                          bn_status *st)
{
    char head[RES_SEAL_BYTES];
    const size_t first = size < sizeof head ? size : sizeof head;
    bn_code code = bn_regular_rest(fd, "its first bytes", head, first, st);
    if (code == BN_OK) {
        code = head_check(head, size, st);
        proof->proven = code != BN_OK;
        proof->fault = begins_as_record(head, first) ? RES_FAULT_DAMAGED : RES_FAULT_STRANGE;
    }
    if (code == BN_OK && size > most)
        code = bn_fail(st, BN_FORMAT, "not read: it has %zu MB, and at most %zu MB are read",
                       size >> 20, most >> 20);
    if (code != BN_OK)
        return code;
    char *bytes = malloc(size);
    if (!bytes)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu bytes", size);
    memcpy(bytes, head, first);
    code = bn_regular_rest(fd, "the file", bytes + first, size - first, st);
    if (code == BN_OK) {
        code = res_seal_check(bytes, size, st);
        proof->proven = code != BN_OK;
    }
    if (code == BN_OK)
        *image = bytes;
    else
        free(bytes);
    return code;
}

bn_code res_file_image(const char *path, size_t most, char **image, size_t *size, res_proof *proof,
                       bn_status *st)
{
    int fd;
    struct stat after;
    *proof = (res_proof){.fault = RES_FAULT_UNREAD};
    bn_code code = bn_open_at(AT_FDCWD, path, 0, &fd, &proof->as_read, st);
    if (code != BN_OK)
        return code;
    *size = (size_t)proof->as_read.st_size;
    if (S_ISREG(proof->as_read.st_mode)) {
        code = take_image(fd, *size, most, image, proof, st);
    } else {
        code = bn_fail(st, BN_FORMAT, "not a record: not a regular file");
        proof->fault = RES_FAULT_STRANGE;
    }
    /* The bytes of a file that changed meanwhile prove nothing. */
    proof->proven = proof->proven && fstat(fd, &after) == 0 &&
                    bn_untouched(&after, &proof->as_read);
    proof->fault = code == BN_FORMAT ? proof->fault : RES_FAULT_UNREAD;
    close(fd);
    return code == BN_OK ? BN_OK : bn_context(st, "%s", path);
}

static bn_code write_synced(int fd, const char *path, const char *bytes, size_t size, bn_status *st)
{
    while (size > 0) {
        ssize_t done = write(fd, bytes, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return bn_fail_errno(st, errno, "writing %s", path);
        bytes += done;
        size -= (size_t)done;
    }
    /* Some file systems report a full disk only here. */
    if (fsync(fd) != 0)
        return bn_fail_errno(st, errno, "writing %s", path);
    return BN_OK;
}

bn_code res_file_publish(const char *folder, const char *temporary, const char *name,
                         const char *bytes, size_t size, bool replace, bn_status *st)
{
    bn_code code = BN_OK;
    bool made = false;
    int fd = -1;
    struct stat existing;
    int folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_fd < 0)
        return bn_fail_errno(st, errno, "%s", folder);
    if (!replace && fstatat(folder_fd, name, &existing, AT_SYMLINK_NOFOLLOW) == 0) {
        code = bn_fail(st, BN_INVALID, "%s/%s exists already", folder, name);
        goto out;
    }
    fd = openat(folder_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        code = bn_fail_errno(st, errno, "creating %s/%s", folder, temporary);
        goto out;
    }
    made = true;
    code = write_synced(fd, name, bytes, size, st);
    if (code == BN_OK) {
        int closing = fd;
        fd = -1;
        if (close(closing) != 0)
            code = bn_fail_errno(st, errno, "writing %s", name);
    }
    if (code == BN_OK && renameat(folder_fd, temporary, folder_fd, name) != 0)
        code = bn_fail_errno(st, errno, "renaming %s to %s", temporary, name);
    if (code == BN_OK) {
        made = false;
        /* The rename survives a power cut. Where a file system cannot sync a folder, the file is
         * whole all the same. */
        (void)fsync(folder_fd);
    }
out:
    if (fd >= 0)
        close(fd);
    if (made)
        unlinkat(folder_fd, temporary, 0);
    close(folder_fd);
    return code;
}
