/*
 * devices.c - the devices that a program names, for all its forms: collectives, and shardings and
 * meshes in strings.
 *
 *   {devices=[2,1]<=[2]}   {{maximal device=0}, {replicated}}
 *   #sdy.mesh<["x"=2], device_ids=[1,0]>
 */
#define _GNU_SOURCE
#include "runtime/stablehlo/stablehlo_priv.h"

#include <string.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The number at *AT, whose digits are passed; more than INT32_MAX is somewhere above it. */
static int64_t take_number(const char **at, const char *end)
{
    int64_t number = 0;
    for (; *at < end && shlo_is_digit(**at); ++*at)
        number = number > INT32_MAX ? number : number * 10 + (**at - '0');
    return number;
}

void shlo_note_device(shlo_declared *to, int64_t device, const char *what, size_t length)
{
    if (device <= to->highest_device && to->collective[0])
        return;
    const size_t fits = length < sizeof to->collective ? length : sizeof to->collective - 1;
    memcpy(to->collective, what, fits);
    to->collective[fits] = '\0';
    to->highest_device = device > to->highest_device ? device : to->highest_device;
}

void shlo_note_mesh(shlo_declared *to, int64_t devices, int64_t highest)
{
    to->mesh = devices > to->mesh ? devices : to->mesh;
    if (highest >= 0)
        shlo_note_device(to, highest, "sdy.mesh", 8);
}

bool shlo_is_collective(shlo_piece op)
{
    static const char *const ops[] = {"all_reduce",
                                      "all_gather",
                                      "all_to_all",
                                      "reduce_scatter",
                                      "collective_permute",
                                      "collective_broadcast",
                                      "collective_reduce",
                                      "cross-replica-sum",
                                      "send",
                                      "recv"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (shlo_is_piece(op, ops[i]))
            return true;
    return false;
}

/* ---- shardings --------------------------------------------------------------------------- */

/* Behind "devices=[2,1]0,1", of which AT is the first bracket; *HIGHEST is the device. */
static const char *take_tiles(const char *at, const char *end, int64_t *highest)
{
    int64_t tiles = 1;
    while (at < end && *at != ']')
        if (shlo_is_digit(*at))
            tiles = shlo_product(tiles, take_number(&at, end));
        else
            at++;
    *highest = tiles - 1;
    /* A list names each device; "<=[2]" means as many as there are tiles. */
    for (at += at < end; at < end && (shlo_is_digit(*at) || (*at == ',' && shlo_is_digit(at[-1])));)
        if (shlo_is_digit(*at)) {
            const int64_t device = take_number(&at, end);
            *highest = device > *highest ? device : *highest;
        } else {
            at++;
        }
    return at;
}

/* Behind "={...}" at AT, whose contents are skipped. */
static const char *skip_braces(const char *at, const char *end)
{
    int depth = 0;
    for (at += at < end && *at == '='; at < end; at++) {
        if (*at == '"')
            at = shlo_behind_string(at, end) - 1;
        else
            depth += (*at == '{') - (*at == '}');
        if (depth == 0)
            return at + 1;
    }
    return end;
}

/* Notes the devices of a sharding. An unknown word in it may name any device. */
static void note_mhlo_sharding(shlo_declared *to, shlo_piece text)
{
    static const char *const silent[] = {"replicated", "maximal",        "manual",
                                         "unknown",    "unreduced",      "last_tile_dim_replicate",
                                         "T",          "last_tile_dims", "shard_as",
                                         "shard_like"};
    const char *at = text.at, *end = at + text.length;
    while (at < end) {
        shlo_piece word = {at, 0};
        for (; at < end && is_letter(*at); at++)
            word.length++;
        const bool value = end - at > 1 && *at == '=';
        int64_t device = -1;
        bool known = false;
        for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
            known = known || shlo_is_piece(word, silent[i]);
        if (word.length == 0) {
            at++;
            continue;
        }
        if (value && shlo_is_piece(word, "devices") && at[1] == '[')
            at = take_tiles(at + 1, end, &device);
        else if (value && shlo_is_piece(word, "device") && shlo_is_digit(at[1]))
            at++, device = take_number(&at, end);
        else if (shlo_is_piece(word, "metadata"))
            at = skip_braces(at, end);
        else if (!known)
            device = INT64_MAX;
        if (device >= 0)
            shlo_note_device(to, device, "mhlo.sharding", 13);
    }
}

/* ---- meshes ------------------------------------------------------------------------------- */

/* Of the mesh whose axes and devices begin at AT; returns its end. */
static const char *take_mesh(const char *at, const char *end, int64_t *devices, int64_t *highest)
{
    static const char ids[] = "device_ids";
    bool named = false;
    *devices = 1;
    while (at < end && *at != '>')
        if (*at == '"') { /* an axis, which may be called anything; "\"x\"" in a string's string */
            const char *quote = memchr(at + 1, '"', (size_t)(end - at - 1));
            at = quote ? quote + 1 : end;
        } else if (shlo_is_digit(*at)) {
            const int64_t number = take_number(&at, end);
            if (named)
                *highest = number > *highest ? number : *highest;
            else
                *devices = shlo_product(*devices, number);
        } else {
            named = named ||
                    ((size_t)(end - at) >= sizeof ids - 1 && memcmp(at, ids, sizeof ids - 1) == 0);
            at++;
        }
    return at;
}

void shlo_meshes_in(shlo_piece text, int64_t *devices, int64_t *highest)
{
    static const char mark[] = "mesh<";
    const char *end = text.at + text.length, *at = text.at;
    *devices = 0;
    *highest = -1;
    while ((at = memmem(at, (size_t)(end - at), mark, sizeof mark - 1))) {
        int64_t own;
        at = take_mesh(at + sizeof mark - 1, end, &own, highest);
        *devices = own > *devices ? own : *devices;
    }
}

/* ---- attributes --------------------------------------------------------------------------- */

bool shlo_is_sharding(shlo_piece key)
{
    static const char *const keys[] = {"mhlo.sharding", "mhlo.spmd_output_sharding",
                                       "mhlo.spmd_parameters_shardings"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (shlo_is_piece(key, keys[i]))
            return true;
    return key.length > 8 && memcmp(key.at, "xla.sdy.", 8) == 0;
}

void shlo_note_sharding(shlo_declared *to, shlo_piece key, shlo_piece text)
{
    int64_t devices, highest;
    if (!shlo_is_sharding(key))
        return;
    if (*key.at == 'm') {
        note_mhlo_sharding(to, text);
        return;
    }
    shlo_meshes_in(text, &devices, &highest);
    shlo_note_mesh(to, devices, highest);
}
