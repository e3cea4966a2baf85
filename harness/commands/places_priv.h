/*
 * places_priv.h - the device time of a recording's steps by layer or by line of the source.
 */
#ifndef BENCH_HARNESS_PLACES_H
#define BENCH_HARNESS_PLACES_H

#include "results/recordings/recordings.h"
#include "results/tables/tables.h"

/* A statement takes as long as this many of its FLOPs, or one of its bytes, whichever is more. */
#define COMMAND_FLOPS_PER_BYTE 16

typedef enum command_by { COMMAND_BY_LAYER, COMMAND_BY_LINE } command_by;

typedef enum command_phase { COMMAND_FORWARD, COMMAND_BACKWARD, COMMAND_OTHER } command_phase;

typedef struct command_place {
    const char *name;    /* plain: "Dense_0/relu", "f.py:12"; "": the statements say none */
    command_phase phase; /* by line COMMAND_OTHER */
    double ns;           /* of a step */
} command_place;

/* Zero-initialise; release with command_places_free. */
typedef struct command_places {
    command_by by;
    bool measured;       /* by the plugin's profile; else modelled */
    command_place *list; /* the longest first */
    size_t count, room;
    double ns;            /* of a step: measured device time of the programs that were read */
    double unread_ns;     /* of the others */
    size_t unread;        /* these */
    size_t unknown_loops; /* taken for loops that run once */
    bool missing;         /* the libraries that read them; so no further one was tried */
    bn_status why;        /* of the first one that was not read */
    bn_arena *memory;
} command_places;

/*
 * By layer, and where the plugin's profile has ops and the programs of the steps, shares the time
 * of their kernels as the profiled ops did. Else it shares the device time of each program of STEPS
 * among its statements by what they cost (shlo_node_cost): this is a model, and no statement was
 * measured. Programs that cannot be read, or whose device time is unknown, are counted.
 * BN_OUT_OF_MEMORY.
 */
BN_MUST_USE bn_code command_places_make(const rec_recording *recording, const rec_steps *steps,
                                        command_by by, command_places *places, bn_status *st);
void command_places_free(command_places *places);

/* Appends the table, in formats for people with what must be said of it. (places_show.c) */
void command_places_put(const command_places *places, res_format format, bn_text *out);
/* As docs/steps.md says (new reference). */
json_t *command_places_json(const rec_recording *recording, const command_places *places);
/* Appends a flame graph of layers as a figure of a page; or that there is none, and why. */
void command_places_figure(const command_places *places, bn_text *out);

#endif
