/*
 * store_h5.c - HDF5 as reading and writing share it: its limits, its errors, and types of ours.
 */
#include "results/records/store_priv.h"

void res_h5_begin(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    /* A record is one file. HDF5 must neither open others that it names, nor load code that it asks
     * for to unpack it. A second call finds no such links any more. */
    (void)H5Lunregister(H5L_TYPE_EXTERNAL);
    (void)H5PLset_loading_state(0);
}

/* The innermost entry of HDF5's stack has the reason. */
static herr_t innermost(unsigned depth, const H5E_error2_t *entry, void *reason)
{
    (void)depth;
    *(const char **)reason = entry->desc;
    return 0;
}

bn_code res_h5_fail(bn_status *st, bn_code code, const char *what)
{
    const char *reason = NULL;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, innermost, &reason);
    return bn_fail(st, code, "%s: hdf5: %s", what, reason ? reason : "failed");
}

hid_t res_h5_bool_type(void)
{
    int8_t no = 0, yes = 1;
    hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
    if (type >= 0 &&
        (H5Tenum_insert(type, "FALSE", &no) < 0 || H5Tenum_insert(type, "TRUE", &yes) < 0)) {
        H5Tclose(type);
        return H5I_INVALID_HID;
    }
    return type;
}

hid_t res_h5_text_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 &&
        (H5Tset_size(type, H5T_VARIABLE) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0)) {
        H5Tclose(type);
        return H5I_INVALID_HID;
    }
    return type;
}
