/*
 * build_programs.c - compilations and executables become programs.
 *
 * A program is what was compiled with what options, by their hashes. Where the code was not kept,
 * it is its name, its size and the types of its results.
 */
#include "results/recordings/recordings_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

/* Words of a COMPILE before the name of the form. */
#define COMPILE_WORDS 6
#define MOST_FORM     31

static void hash_text(uint64_t high, uint64_t low, char text[RECORD_HASH_TEXT])
{
    text[0] = '\0';
    if (high || low)
        snprintf(text, RECORD_HASH_TEXT, "%016llx%016llx", (unsigned long long)high,
                 (unsigned long long)low);
}

/* The form of a program's file becomes a part of its name, so it may be a word only. */
static const char *form_of(rec_builder *b, const rec_item *item)
{
    const size_t from = COMPILE_WORDS * sizeof(uint64_t), size = item->size - from;
    const uint8_t *bytes = item->words + from;
    if (size == 0 || size > MOST_FORM)
        return "";
    for (size_t i = 0; i < size; i++)
        if (!((bytes[i] >= 'a' && bytes[i] <= 'z') || (bytes[i] >= '0' && bytes[i] <= '9') ||
              bytes[i] == '_'))
            return "";
    return rec_build_text(b, bytes, size);
}

static bool same_program(const rec_program *a, const rec_program *b)
{
    const bool kept = a->hash[0] != '\0';
    if (strcmp(a->hash, b->hash) != 0 || strcmp(a->options, b->options) != 0)
        return false;
    return kept ? strcmp(a->form, b->form) == 0
                : strcmp(a->name, b->name) == 0 && a->code_bytes == b->code_bytes &&
                      a->results == b->results &&
                      (a->results == 0 || !a->result_types == !b->result_types) &&
                      (!a->result_types || memcmp(a->result_types, b->result_types,
                                                  a->results * sizeof *a->result_types) == 0);
}

/* All that same_program looks at, or somebody could make many programs of one key. */
static uint64_t key_of(const rec_builder *b, const rec_program *program)
{
    XXH64_hash_t key = XXH3_64bits_withSeed(program->hash, strlen(program->hash), b->seed);
    key = XXH3_64bits_withSeed(program->options, strlen(program->options), key);
    if (program->hash[0])
        return XXH3_64bits_withSeed(program->form, strlen(program->form), key) | 1;
    key = XXH3_64bits_withSeed(program->name, strlen(program->name), key + program->code_bytes);
    if (program->result_types)
        key = XXH3_64bits_withSeed(program->result_types,
                                   program->results * sizeof *program->result_types, key);
    return key | 1;
}

/* A new program as MODEL. */
static uint32_t program_new(rec_builder *b, const rec_program *model)
{
    rec_process *p = b->process;
    const uint32_t index = (uint32_t)p->program_count;
    rec_program *made =
        rec_build_more(b, &p->programs, &p->program_count, &b->room.programs, sizeof *p->programs);
    if (!made)
        return REC_NONE;
    *made = *model;
    return index;
}

/* The program like MODEL; REC_NONE: there is none, and *KEY is free for it. */
static uint32_t program_find(const rec_builder *b, const rec_program *model, uint64_t *key)
{
    uint32_t known;
    *key = key_of(b, model);
    while ((known = rec_map_get(&b->programs, *key)) != REC_NONE &&
           !same_program(&b->process->programs[known], model))
        *key += 2;
    return known;
}

/* INDEX, which is to be found by KEY. */
static uint32_t program_keep(rec_builder *b, uint64_t key, uint32_t index)
{
    if (index == REC_NONE || rec_map_put(&b->programs, key, index))
        return index;
    b->failed = true;
    return REC_NONE;
}

/* The program like MODEL, a new one included. */
static uint32_t program_of(rec_builder *b, const rec_program *model)
{
    uint64_t key;
    const uint32_t known = program_find(b, model, &key);
    return known != REC_NONE ? known : program_keep(b, key, program_new(b, model));
}

static rec_program blank(void)
{
    return (rec_program){.form = "",
                         .name = "",
                         .devices = 1,
                         .flops = (double)NAN,
                         .bytes = (double)NAN,
                         .temporary_bytes = UINT64_MAX,
                         .kernel_bytes = UINT64_MAX};
}

/* A new executable of PROGRAM that HANDLE stands for from now on. */
static uint32_t executable_new(rec_builder *b, uint64_t handle, uint32_t program, uint32_t compile)
{
    rec_process *p = b->process;
    const uint32_t index = (uint32_t)p->executable_count;
    rec_executable *made = rec_build_more(b, &p->executables, &p->executable_count,
                                          &b->room.executables, sizeof *p->executables);
    if (!made || program == REC_NONE || !rec_map_put(&b->executables, handle, index)) {
        b->failed = true;
        return REC_NONE;
    }
    *made = (rec_executable){.program = program, .compile = compile};
    return index;
}

uint32_t rec_build_known(rec_builder *builder, uint64_t handle, uint32_t results)
{
    const uint32_t known = rec_map_get(&builder->executables, handle);
    if (known != REC_NONE)
        return known;
    rec_program model = blank();
    model.results = results;
    return executable_new(builder, handle, program_new(builder, &model), REC_NONE);
}

bool rec_build_compile(rec_builder *builder, const rec_item *item)
{
    rec_process *p = builder->process;
    const record_event *e = &item->event;
    const uint32_t call_index = (uint32_t)p->call_count;
    if (item->size < COMPILE_WORDS * sizeof(uint64_t))
        return false;
    rec_call *call = rec_build_call(builder, item, REC_CALL_COMPILE);
    if (!call)
        return false;
    call->bytes = rec_word(item, 4);
    call->loaded = e->field[4] == RECORD_DESERIALIZED;
    /* Ahead of time, nothing is loaded yet. */
    if (call->failed || e->field[3] == 0)
        return true;
    rec_program model = blank();
    hash_text(rec_word(item, 0), rec_word(item, 1), model.hash);
    hash_text(rec_word(item, 2), rec_word(item, 3), model.options);
    model.form = form_of(builder, item);
    model.code_bytes = rec_word(item, 4);
    model.deserialized = call->loaded;
    /* Without kept code, the executable identifies the program: merge(). */
    const uint32_t program =
        model.hash[0] ? program_of(builder, &model) : program_new(builder, &model);
    if (program == REC_NONE ||
        executable_new(builder, e->field[3], program, call_index) == REC_NONE)
        return false;
    call->program = program;
    p->programs[program].compiles++;
    p->programs[program].compile_ns += call->end_ns - call->begin_ns;
    return true;
}

/* ---- what the plugin says of an executable ------------------------------------------------------
 */

/* A reader of an item's words, one after the other. */
typedef struct cursor {
    const rec_item *item;
    size_t at; /* a word */
    bool over; /* it went over the end */
} cursor;

static uint64_t next(cursor *c)
{
    if (c->at >= c->item->size / sizeof(uint64_t))
        c->over = true;
    return rec_word(c->item, c->at++);
}

/* The indices of the devices that EXECUTABLE runs on. */
static bool read_devices(rec_builder *b, cursor *c, rec_executable *executable)
{
    rec_process *p = b->process;
    const uint64_t count = next(c);
    if (count > c->item->size / sizeof count)
        return false;
    executable->first = (uint32_t)p->executable_device_count;
    executable->devices = 0;
    for (uint64_t i = 0; i < count && !c->over; i++) {
        const uint32_t device = rec_map_get(&b->devices, next(c));
        uint32_t *place =
            rec_build_more(b, &p->executable_devices, &p->executable_device_count,
                           &b->room.executable_devices, sizeof *p->executable_devices);
        if (!place)
            return false;
        *place = device;
        executable->devices++;
    }
    return !c->over;
}

/* The indices of the types of COUNT results, in the process's memory; NULL where they are not
 * there. */
static const uint32_t *read_types(rec_builder *b, cursor *c, uint64_t count)
{
    const size_t words = c->item->size / sizeof(uint64_t);
    /* Each has a type and a rank. */
    if (count == 0 || count > words / 2)
        return NULL;
    uint32_t *types = bn_arena_alloc(b->memory, count * sizeof *types);
    for (uint64_t i = 0; types && i < count; i++) {
        const uint64_t type = next(c), rank = next(c);
        if (c->over || rank > words - c->at)
            return NULL;
        /* The words of a slot need not lie as integers do. */
        int64_t *dims = rank ? bn_arena_alloc(b->memory, rank * sizeof *dims) : NULL;
        if (rank && !dims)
            break;
        for (uint64_t k = 0; k < rank; k++)
            dims[k] = (int64_t)next(c);
        types[i] = rec_build_type(b, type <= INT16_MAX ? (int)type : 0, (uint32_t)rank, dims);
    }
    return types;
}

/* Merges EXECUTABLE's program, whose code was not kept, with those that are like it. */
static void merge(rec_builder *b, rec_executable *executable)
{
    rec_process *p = b->process;
    const uint32_t own = executable->program;
    uint64_t key;
    const uint32_t like = program_find(b, &p->programs[own], &key);
    if (like == REC_NONE) {
        (void)program_keep(b, key, own);
        return;
    }
    p->programs[like].compiles += p->programs[own].compiles;
    p->programs[like].compile_ns += p->programs[own].compile_ns;
    p->programs[own].compiles = 0;
    p->programs[own].compile_ns = 0;
    executable->program = like;
    if (executable->compile != REC_NONE)
        p->calls[executable->compile].program = like;
}

static double real(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value >= 0 && isfinite(value) ? value : (double)NAN;
}

bool rec_build_executable(rec_builder *builder, const rec_item *item)
{
    rec_process *p = builder->process;
    const uint64_t *field = item->event.field;
    cursor c = {.item = item};
    if (field[0] == 0 || field[1] >= REC_NONE)
        return false;
    const uint32_t index = rec_build_known(builder, field[0], 0);
    if (index == REC_NONE)
        return false;
    rec_executable *executable = &p->executables[index];
    if (!read_devices(builder, &c, executable))
        return false;
    rec_program said = p->programs[executable->program];
    const bool kept = said.hash[0] != '\0';
    if (said.described)
        return true; /* compiled again: it was read the first time */
    said.described = true;
    said.devices = executable->devices ? executable->devices : 1;
    said.results = (uint32_t)field[1];
    said.flops = real(field[2]);
    said.bytes = real(field[3]);
    said.temporary_bytes = field[4];
    said.kernel_bytes = field[5];
    said.result_types = read_types(builder, &c, field[1]);
    const uint64_t length = next(&c);
    const size_t at = c.at * sizeof length;
    if (c.over || (field[1] && !said.result_types) || length > item->size - at)
        return false;
    said.name = rec_build_text(builder, item->words + at, length);
    p->programs[executable->program] = said;
    if (!kept)
        merge(builder, executable);
    return true;
}
