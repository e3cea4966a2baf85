/*
 * store.c - a folder of records: names, writing, reading one and all, and
 * sweeping up after a worker that died.
 */
#include "results/records/store_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gsl/gsl_errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void res_store_begin(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    gsl_set_error_handler_off();
}

/* The innermost entry of HDF5's stack says what went wrong. */
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

/* Appends TEXT with every unsafe character as an underscore. */
static void append_safe(bn_text *name, const char *text)
{
    for (; *text != '\0'; text++)
        bn_text_putc(name, res_name_char_ok(*text) ? *text : '_');
}

static bool id_ok(const char *id)
{
    const char *c = id;
    while (*c != '\0' && res_name_char_ok(*c))
        c++;
    return c > id && *c == '\0' && id[0] != '.';
}

bn_code res_store_write(const char *store, const res_record *record, char *path, size_t path_size,
                        bn_status *st)
{
    const res_experiment *experiment = &record->experiment;
    bn_text temporary = {0}, name = {0};
    char *image = NULL;
    size_t size = 0;
    bn_code code = BN_OK;

    if (!id_ok(record->id))
        return bn_fail(st, BN_INVALID, "record id \"%s\" cannot be a file name", record->id);
    bn_text_printf(&temporary, ".%s.%ld.tmp", record->id, (long)getpid());
    bn_text_printf(&name, "%s-", record->id);
    append_safe(&name, experiment->model);
    bn_text_putc(&name, '-');
    append_safe(&name, experiment->phase);
    bn_text_putc(&name, '-');
    append_safe(&name, experiment->mode);
    bn_text_puts(&name, ".h5");
    if (temporary.failed || name.failed) {
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a file name");
        goto out;
    }
    code = bn_make_folder(store, st);
    if (code == BN_OK)
        code = res_image_write(record, &image, &size, st);
    if (code == BN_OK)
        code = res_file_publish(store, temporary.data, name.data, image, size, st);
    if (code == BN_OK && path)
        snprintf(path, path_size, "%s/%s", store, name.data);
    if (code != BN_OK)
        bn_context(st, "store %s", store);
out:
    free(image);
    bn_text_free(&name);
    bn_text_free(&temporary);
    return code;
}

bn_code res_store_read(const char *path, res_record **record, bn_status *st)
{
    char *image = NULL;
    size_t size = 0;
    bn_code code = res_file_probe(path, st);
    if (code == BN_OK)
        code = bn_file_read(path, &image, &size, st);
    if (code != BN_OK)
        return code;
    code = res_seal_check(image, size, st);
    if (code == BN_OK)
        code = res_image_read(image, size, record, st);
    if (code != BN_OK)
        bn_context(st, "%s", path);
    free(image);
    return code;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Puts a pointer more at the end of *LIST. */
static bool append(void **list, size_t count, size_t width)
{
    void *grown = realloc(*list, (count + 1) * width);
    if (grown)
        *list = grown;
    return grown != NULL;
}

/* Reads PATH into ALL, as a record or as a damaged file; takes PATH over. */
static bn_code collect(res_collection *all, char *path, bn_status *st)
{
    res_record *record = NULL;
    bn_status why = {0};
    void *list = all->records;
    if (res_store_read(path, &record, &why) == BN_OK) {
        free(path);
        if (!append(&list, all->count, sizeof(res_record *))) {
            res_record_free(record);
            return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu records", all->count + 1);
        }
        all->records = list;
        all->records[all->count++] = record;
        return BN_OK;
    }
    list = all->damaged;
    if (why.code == BN_OUT_OF_MEMORY || !append(&list, all->damaged_count, sizeof(res_damaged))) {
        free(path);
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory to read the store");
    }
    all->damaged = list;
    all->damaged[all->damaged_count++] = (res_damaged){path, why};
    return BN_OK;
}

static int record_order(const void *a, const void *b)
{
    const res_record *const *left = a, *const *right = b;
    return strcmp((*left)->id, (*right)->id);
}

static int damaged_order(const void *a, const void *b)
{
    const res_damaged *left = a, *right = b;
    return strcmp(left->path, right->path);
}

bn_code res_store_load(const char *store, res_collection *all, bn_status *st)
{
    bn_code code = BN_OK;
    *all = (res_collection){0};
    DIR *folder = opendir(store);
    if (!folder)
        return bn_fail_errno(st, errno, "store %s", store);
    for (const struct dirent *entry; code == BN_OK && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.' || !ends_with(entry->d_name, ".h5"))
            continue;
        bn_text path = {0};
        bn_text_printf(&path, "%s/%s", store, entry->d_name);
        if (path.failed) {
            bn_text_free(&path);
            code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a file name");
        } else {
            code = collect(all, path.data, st);
        }
    }
    closedir(folder);
    if (code != BN_OK) {
        res_collection_free(all);
        return code;
    }
    if (all->count > 1)
        qsort(all->records, all->count, sizeof *all->records, record_order);
    if (all->damaged_count > 1)
        qsort(all->damaged, all->damaged_count, sizeof *all->damaged, damaged_order);
    return BN_OK;
}

void res_collection_free(res_collection *all)
{
    for (size_t i = 0; i < all->count; i++)
        res_record_free(all->records[i]);
    for (size_t i = 0; i < all->damaged_count; i++)
        free(all->damaged[i].path);
    free(all->records);
    free(all->damaged);
    *all = (res_collection){0};
}

/* The process that left the temporary file NAME; 0 where that is none of this
 * machine's. Other machines may write here and have a process of the same number:
 * only names with our own host in them are ours. */
static long left_by(const char *name)
{
    char host[RES_HOST_TEXT], ours[RES_HOST_TEXT + 2];
    if (name[0] != '.' || !ends_with(name, ".tmp"))
        return 0;
    res_host_name(host);
    snprintf(ours, sizeof ours, "-%s-", host);
    if (!strstr(name, ours))
        return 0;
    const char *number = name + strlen(name) - strlen(".tmp");
    while (number > name && number[-1] >= '0' && number[-1] <= '9')
        number--;
    return number[-1] == '.' ? strtol(number, NULL, 10) : 0;
}

void res_store_sweep(const char *store, long pid)
{
    DIR *folder = opendir(store);
    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (pid > 0 && left_by(entry->d_name) == pid)
            unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
}

void res_store_sweep_old(const char *store)
{
    /* Writing one takes a moment; who is slower must be a process that we cannot
     * see, in a container or on another machine of our name. */
    const time_t limit = time(NULL) - 60;
    DIR *folder = opendir(store);
    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        struct stat info;
        const long pid = left_by(entry->d_name);
        if (pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH &&
            fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            info.st_mtime < limit)
            unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
}
