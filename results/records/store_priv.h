/*
 * store_priv.h - the layers of the store: a record becomes an HDF5 image in
 * memory (store_write.c, store_read.c), an image becomes a sealed file
 * (store_file.c). Sealed files are read by a child (vet.c), which passes
 * the record on as plain bytes (wire.c).
 */
#ifndef BENCH_RESULTS_STORE_PRIV_H
#define BENCH_RESULTS_STORE_PRIV_H

#include <hdf5.h>

#include "results/records/records_priv.h"

/* Bytes before the HDF5 superblock, HDF5's "user block": ours holds the seal. */
#define RES_SEAL_BYTES 512

/* Whole file contents for RECORD (malloc), seal included. */
BN_MUST_USE bn_code res_image_write(const res_record *record, char **image, size_t *size,
                                    bn_status *st);
/* The record in IMAGE, whole file contents whose seal was checked. */
BN_MUST_USE bn_code res_image_read(const char *image, size_t size, res_record **record,
                                   bn_status *st);

/* Writes the seal over the first RES_SEAL_BYTES of IMAGE. */
void res_seal(char *image, size_t size);
/* BN_FORMAT unless IMAGE is as it was when it was sealed. */
BN_MUST_USE bn_code res_seal_check(const char *image, size_t size, bn_status *st);

/*
 * The bytes of the record at PATH into *IMAGE (malloc), seal checked. The file is opened once and
 * without waiting, and its first bytes show whether it is a record before the others are read. A
 * link is followed: whatever it leads to must be a record as well, and nothing is written through
 * it. BN_FORMAT where it is no record, is damaged, or has more than MOST bytes; PROOF says what of
 * that its bytes prove. Messages begin with the path.
 */
BN_MUST_USE bn_code res_file_image(const char *path, size_t most, char **image, size_t *size,
                                   res_proof *proof, bn_status *st);

/* Writes a file FOLDER/NAME, at first under the name FOLDER/TEMPORARY. One of that name is replaced
 * if REPLACE, and else BN_INVALID. After a failure the temporary file is gone. */
BN_MUST_USE bn_code res_file_publish(const char *folder, const char *temporary, const char *name,
                                     const char *bytes, size_t size, bool replace, bn_status *st);
/* res_file_publish for the SIZE bytes IMAGE of RECORD, by its names, in STORE, which is made if
 * missing. */
BN_MUST_USE bn_code res_store_put(const char *store, const res_record *record, const char *image,
                                  size_t size, bool replace, bn_status *st);

/* ---- records between processes (wire.c) ------------------------------------------ */

/* Appends RECORD as plain bytes, which res_wire_take understands in the same program only. Texts
 * of RECORD are cut where they have no end. */
void res_wire_put(res_record *record, bn_text *out);
/* The record in SIZE bytes, which may be foreign: BN_FORMAT where they are no record, or
 * one that res_record_check refuses. */
BN_MUST_USE bn_code res_wire_take(const char *bytes, size_t size, res_record **record,
                                  bn_status *st);

/* ---- HDF5 (store_h5.c) ------------------------------------------------------- */

/* Once, before the rest: no printing, no other files, no code that a file asks for. */
void res_h5_begin(void);

/* The one translation of HDF5's errors: CODE with WHAT and HDF5's own reason. */
bn_code res_h5_fail(bn_status *st, bn_code code, const char *what);

/* The memory type of a truth value: an enumeration FALSE, TRUE, as h5py has it. */
hid_t res_h5_bool_type(void);
/* A terminated UTF-8 string of any length. */
hid_t res_h5_text_type(void);

#endif
