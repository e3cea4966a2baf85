/*
 * night_builds_priv.h - builds of runtimes that a store keeps, so that a later night can measure
 * them again.
 *
 * A build is STORE/builds/DIGEST/NAME: the digest is that of the file, the name is its own. The
 * folders are 0700, since their files are loaded as code. The store must belong to the user or
 * root, and be writable by nobody else; else no build is kept or found, which is BN_INVALID. No
 * path comes from a record.
 */
#ifndef BENCH_HARNESS_NIGHT_BUILDS_H
#define BENCH_HARNESS_NIGHT_BUILDS_H

#include "runtime/base/base.h"

/* Keeps a copy of FILE, which has the digest SHA256; an existing one stays. BN_INVALID where FILE
 * has another digest by now. */
BN_MUST_USE bn_code night_build_keep(const char *store, const char *file, const char *sha256,
                                     bn_status *st);
/* Writes to PATH the kept build of that digest. BN_NOT_FOUND: it is not kept; BN_FORMAT: its
 * contents have changed; BN_INVALID: others than this user could have put it there. */
BN_MUST_USE bn_code night_build_find(const char *store, const char *sha256, char *path, size_t size,
                                     bn_status *st);
/* Removes all builds but those of the COUNT digests KEEP. */
BN_MUST_USE bn_code night_builds_drop(const char *store, const char *const *keep, size_t count,
                                      bn_status *st);

#endif
