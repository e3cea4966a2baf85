/*
 * names.c - which programs of a process are one program to its user.
 *
 * A program that is compiled for each shape has as many executables as shapes, and PyTorch/XLA
 * numbers its graphs. So programs whose names have one stem are one name, and those of one name
 * with as many arguments and results are one kind: its variants differ in shapes only.
 */
#include "results/recordings/recordings_priv.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

size_t rec_stem(const char *name)
{
    const size_t length = strlen(name);
    size_t at = length;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    return at > 1 && at < length && name[at - 1] == '.' ? at - 1 : length;
}

/* What stands for PROGRAM's name: its stem; without a name, its hash. */
static uint64_t name_hash(const rec_program *program, uint32_t index)
{
    if (program->name[0])
        return XXH3_64bits(program->name, rec_stem(program->name));
    return program->hash[0] ? XXH3_64bits_withSeed(program->hash, strlen(program->hash), 1)
                            : XXH3_64bits_withSeed(&index, sizeof index, 2);
}

/* The number of KEY in MAP, a new one where it has none. */
static bool number_of(rec_map *map, uint64_t key, uint32_t *count, uint32_t *number)
{
    key += key == 0; /* 0 is no key */
    *number = rec_map_get(map, key);
    if (*number != REC_NONE)
        return true;
    *number = (*count)++;
    return rec_map_put(map, key, *number);
}

/* Arguments and results of each program's first execution. Without one, they are 0 here. */
static void first_sizes(const rec_process *p, uint32_t *arguments, uint32_t *results)
{
    for (size_t i = p->execution_count; i-- > 0;) {
        const rec_execution *e = &p->executions[i];
        arguments[e->program] = e->arguments;
        results[e->program] = e->results;
    }
}

static bool fill(const rec_process *p, rec_names *names, uint32_t *arguments, uint32_t *results)
{
    rec_map by_name = {0}, by_kind = {0};
    bool made = true;
    for (uint32_t i = 0; made && i < p->program_count; i++) {
        made =
            number_of(&by_name, name_hash(&p->programs[i], i), &names->name_count, &names->name[i]);
        const uint32_t key[3] = {names->name[i], arguments[i], results[i]};
        made = made && number_of(&by_kind, XXH3_64bits(key, sizeof key), &names->kind_count,
                                 &names->kind[i]);
    }
    rec_map_free(&by_name);
    rec_map_free(&by_kind);
    return made;
}

bn_code rec_names_make(const rec_process *process, rec_names *names, bn_status *st)
{
    const size_t most = process->program_count + 1;
    uint32_t *arguments = calloc(most, sizeof *arguments), *results = calloc(most, sizeof *results);
    *names = (rec_names){.name = calloc(most, sizeof *names->name),
                         .kind = calloc(most, sizeof *names->kind)};
    bool made = arguments && results && names->name && names->kind;
    if (made) {
        first_sizes(process, arguments, results);
        made = fill(process, names, arguments, results);
    }
    free(arguments);
    free(results);
    return made ? BN_OK : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the names of programs");
}

void rec_names_free(rec_names *names)
{
    free(names->name);
    free(names->kind);
    *names = (rec_names){0};
}
