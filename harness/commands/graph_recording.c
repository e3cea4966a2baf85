/*
 * graph_recording.c - bench diff of recordings: what the steps of two take, and their programs; or
 * the programs of one name of one recording, each next to the one that its process compiled before.
 */
#include "harness/commands/graph_priv.h"
#include "harness/commands/recording_priv.h"
#include "harness/commands/steps_diff_priv.h"

#include <stdlib.h>
#include <string.h>

#define MOST_COMPARED 50 /* pairs: each may take a second */
#define MOST_PAIR     20 /* differences of a pair that JSON has */
#define SHORT_HASH    8

/* Two programs of one name. */
typedef struct pair {
    const rec_recording *in[2]; /* of before, of after */
    const rec_process *process; /* of after */
    const rec_program *before, *after;
} pair;

typedef struct comparing {
    const rec_recording *recording, *other; /* OTHER NULL: successive programs of RECORDING */
    rec_steps *steps[2];                    /* of both; NULL: either has none */
    rec_differences differences;            /* of them */
    bn_status stepless;                     /* why there are none */
    json_t *only[2];                        /* names that only one of the two has */
    res_format format;
    bool verbose; /* show all differences of a pair */
    pair *pairs;  /* the longest compilations first */
    size_t count, room;
    size_t not_kept;   /* programs without a name or without their code */
    const pair *shown; /* the first one that differs; NULL: none does */
    bn_status fault;   /* of the first program that cannot be compared */
    bn_status reader;  /* why no further program that is no text is read */
    bn_text text;      /* for people */
    json_t *rows;      /* of a table, or of JSON */
} comparing;

static size_t left_out(const comparing *c)
{
    return c->count > MOST_COMPARED ? c->count - MOST_COMPARED : 0;
}

/* ---- which programs ------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const rec_program *const *one = a, *const *two = b;
    const int order = strcmp((*one)->name, (*two)->name);
    return order ? order : (*one > *two) - (*one < *two);
}

static int by_compile_time(const void *a, const void *b)
{
    const pair *one = a, *two = b;
    const uint64_t x = one->after->compile_ns, y = two->after->compile_ns;
    if (x != y)
        return x < y ? 1 : -1;
    return (one->after > two->after) - (one->after < two->after);
}

/* Whether PROGRAM was compiled from code that the recording has. */
static bool is_graph(const rec_program *program)
{
    return program->name[0] && program->hash[0] && !program->deserialized &&
           strcmp(program->form, "executable") != 0;
}

/* The programs of process P that are graphs, by name, into LIST, which has room; their number. */
static size_t list_graphs(comparing *c, const rec_process *p, const rec_program **list)
{
    size_t count = 0;
    for (size_t i = 0; i < p->program_count; i++)
        if (is_graph(&p->programs[i]))
            list[count++] = &p->programs[i];
    c->not_kept += p->program_count - count;
    qsort(list, count, sizeof *list, by_name);
    return count;
}

/* Each program of P with the one of the same name that P compiled before. */
static void add_successive(comparing *c, const rec_process *p)
{
    const rec_program **list = bn_zalloc(p->program_count + 1, sizeof *list);
    const size_t count = list_graphs(c, p, list);
    bn_grow(&c->pairs, c->count + count, &c->room, sizeof *c->pairs);
    for (size_t i = 1; i < count; i++)
        if (strcmp(list[i - 1]->name, list[i]->name) == 0)
            c->pairs[c->count++] =
                (pair){{c->recording, c->recording}, p, list[i - 1], list[i]};
    free(list);
}

/* Notes that only one recording has the programs of KIND. */
static void add_only(json_t *names, const rec_program_kind *kind)
{
    if (json_array_size(names) == 0 ||
        strcmp(json_string_value(json_array_get(names, json_array_size(names) - 1)),
               kind->program->name) != 0)
        json_array_append_new(names, res_json_text(kind->program->name));
}

/* Pairs the programs of A with those of B that stand for them, and lists those that only one has.
 */
static void add_pairs(comparing *c, const rec_recording *a, const rec_recording *b)
{
    rec_program_pairs pairs;
    rec_program_pairs_make(a, b, &pairs);
    bn_grow(&c->pairs, pairs.count + 1, &c->room, sizeof *c->pairs);
    for (size_t i = 0; i < pairs.count; i++) {
        const rec_program_pair *one = &pairs.list[i];
        if (!one->a || !one->b)
            add_only(c->only[one->a ? 0 : 1], one->a ? one->a : one->b);
        else if (is_graph(one->of_a) && is_graph(one->of_b))
            c->pairs[c->count++] =
                (pair){{a, b}, &b->processes[one->of_b->process], one->of_a, one->of_b};
        else
            c->not_kept++;
    }
    rec_program_pairs_free(&pairs);
}

/* ---- one pair ------------------------------------------------------------------------------- */

/* The text of PROGRAM into *BYTES. Once JAX's libraries are missing or too slow for one program,
 * they are not tried for others. */
static bn_code read_text(comparing *c, const rec_recording *from, const rec_program *program,
                         char **bytes, size_t *size, bn_status *st)
{
    bn_code code = rec_program_read(from, program, bytes, size, st);
    if (code != BN_OK)
        return code;
    if (c->reader.code != BN_OK && !command_graph_is_text(*bytes, *size)) {
        *st = c->reader;
        return st->code;
    }
    code = command_graph_text(bytes, size, st);
    if (code == BN_NOT_FOUND || code == BN_TIMEOUT)
        c->reader = *st;
    return code;
}

static bn_code read_program(comparing *c, const rec_recording *from, const rec_program *program,
                            shlo_graph **graph, bn_status *st)
{
    char *bytes = NULL;
    size_t size = 0;
    bn_code code = read_text(c, from, program, &bytes, &size, st);
    if (code == BN_OK)
        code = shlo_graph_read(bytes, size, graph, st);
    free(bytes);
    return code == BN_OK ? BN_OK : bn_context(st, "program %.*s", SHORT_HASH, program->hash);
}

static json_t *program_json(const rec_program *program)
{
    return json_pack("{ss ss sI sI sI}", "hash", program->hash, "form", program->form, "compiles",
                     (json_int_t)program->compiles, "compile_ns", (json_int_t)program->compile_ns,
                     "executions", (json_int_t)program->executions);
}

/* PAIR as JSON: its DIFF, or why there is none. */
static json_t *pair_json(const pair *one, const shlo_diff *diff, const char *fault)
{
    return json_pack("{sI so so so so so}", "process", (json_int_t)one->process->pid, "name",
                     res_json_text(one->after->name), "a", program_json(one->before), "b",
                     program_json(one->after), "difference",
                     diff ? command_diff_json(diff, MOST_PAIR) : json_null(), "fault",
                     fault ? res_json_text(fault) : json_null());
}

/* PAIR as a row of a table. WORDS: how they differ. */
static json_t *pair_row(const pair *one, const char *words)
{
    const rec_program *const both[] = {one->before, one->after};
    json_t *row = json_array();
    res_sheet_put(row, "%u", one->process->pid);
    json_array_append_new(row, res_json_text(one->after->name));
    for (int i = 0; i < 2; i++) {
        res_sheet_put(row, "%s", both[i]->hash);
        res_sheet_put(row, "%u", both[i]->executions);
    }
    json_array_append_new(row, res_json_text(words));
    return row;
}

static void put_words(comparing *c, const pair *one, const shlo_diff *diff, const char *words)
{
    bn_text *out = &c->text;
    const size_t most = c->verbose ? SIZE_MAX : 1;
    const uint32_t before = one->before->executions, after = one->after->executions;
    bn_text head = {0};
    bn_text_printf(&head, "%s in process %u: %.*s, executed %u time%s, then %.*s, %u time%s:\n",
                   one->after->name, one->process->pid, SHORT_HASH, one->before->hash, before,
                   before == 1 ? "" : "s", SHORT_HASH, one->after->hash, after,
                   after == 1 ? "" : "s");
    bn_text_printf(&head, "  %s\n", words);
    command_put_set_in(&head, c->format, out);
    for (size_t i = 0; diff && i < diff->count && i < most; i++)
        command_difference_put(diff, &diff->list[i], "    ", c->format, out);
}

/* Whether both of PAIR were compiled alike, as far as options were kept. */
static bool options_alike(const pair *one)
{
    char *bytes[2] = {NULL, NULL};
    size_t size[2] = {0, 0};
    bool alike = strcmp(one->before->options, one->after->options) == 0;
    if (!alike &&
        rec_options_read(one->in[0], one->before, &bytes[0], &size[0], NULL) == BN_OK &&
        rec_options_read(one->in[1], one->after, &bytes[1], &size[1], NULL) == BN_OK)
        alike = rec_options_alike(bytes[0], size[0], bytes[1], size[1]);
    free(bytes[0]);
    free(bytes[1]);
    return alike;
}

static void differ_words(const pair *one, const shlo_diff *diff, bn_text *out)
{
    if (diff->count > 0)
        command_diff_counts(diff, out);
    else if (strcmp(one->before->hash, one->after->hash) == 0)
        bn_text_puts(out, options_alike(one) ? "the same program"
                                             : "the same code, compiled with other options");
    else
        bn_text_puts(out, "the same graph; names, source locations or the order differ");
}

/* Adds PAIR with its DIFF; NULL: FAULT says why there is none. */
static void put_pair(comparing *c, const pair *one, const shlo_diff *diff, const char *fault)
{
    bn_text words = {0};
    if (diff)
        differ_words(one, diff, &words);
    else
        bn_text_puts(&words, fault);
    if (res_format_is_text(c->format))
        put_words(c, one, diff, words.data);
    else
        json_array_append_new(c->rows, c->format == RES_TABLE_JSON ? pair_json(one, diff, fault)
                                                                   : pair_row(one, words.data));
    bn_text_free(&words);
}

static bn_code compare_pair(comparing *c, const pair *one, bn_status *st)
{
    shlo_graph *a = NULL, *b = NULL;
    shlo_diff *diff = NULL;
    bn_status why = {.code = BN_OK};
    bn_code code = BN_OK;
    if (strcmp(one->before->hash, one->after->hash) == 0) {
        const shlo_diff same = {.count = 0};
        /* A reader looks for what differs. */
        const bool alike = options_alike(one);
        if (!alike || !res_format_is_text(c->format))
            put_pair(c, one, &same, NULL);
        return BN_OK;
    }
    if (read_program(c, one->in[0], one->before, &a, &why) == BN_OK &&
        read_program(c, one->in[1], one->after, &b, &why) == BN_OK)
        (void)!shlo_diff_make(a, b, &diff, &why);
    if (why.code == BN_OUT_OF_MEMORY)
        code = bn_fail(st, why.code, "%s", why.message);
    if (code == BN_OK)
        put_pair(c, one, diff, diff ? NULL : why.message);
    if (diff && diff->count > 0 && !c->shown)
        c->shown = one;
    if (why.code != BN_OK && c->fault.code == BN_OK)
        c->fault = why;
    shlo_diff_free(diff);
    shlo_graph_free(a);
    shlo_graph_free(b);
    return code;
}

/* ---- showing it ------------------------------------------------------------------------------ */

static json_t *all_json(const comparing *c)
{
    const bool lacking = json_array_size(c->only[0]) + json_array_size(c->only[1]) > 0;
    const bool unknown = c->fault.code != BN_OK || left_out(c) > 0;
    json_t *same = c->shown || lacking ? json_false() : unknown ? json_null() : json_true();
    json_t *steps = !c->other     ? NULL
                    : c->steps[1] ? rec_differences_json(&c->differences)
                                  : json_null();
    return json_pack(
        "{sI so so* so sO sI sI sO* sO* so*}", "bench_graph_diff", (json_int_t)1, "recording",
        res_json_text(c->recording->path), "other", c->other ? res_json_text(c->other->path) : NULL,
        "same", same, "pairs", c->rows, "left_out", (json_int_t)left_out(c), "not_kept",
        (json_int_t)c->not_kept, "only_a", c->only[0], "only_b", c->only[1], "steps", steps);
}

/* "only in A: f, g." */
static void put_only(const json_t *names, const char *which, bn_text *out)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        bn_text_printf(out, "%s%s%s", i ? ", " : "Only in ", i ? "" : which,
                       json_string_value(json_array_get(names, i)));
    if (json_array_size(names))
        bn_text_puts(out, "\n");
}

static void put_all(const comparing *c, bn_text *out)
{
    bn_text words = {0};
    if (c->other && c->text.length > 0)
        bn_text_puts(&words, "Programs of one name and as many arguments and results:\n\n");
    else if (!c->other && c->count == 0)
        bn_text_printf(&words, "%s: no process compiled two programs of one name.\n",
                       c->recording->path);
    else if (!c->other)
        bn_text_puts(&words, "A: a program. B: the next one of the same name that the process "
                             "compiled.\nThe longest compilation of a B comes first.\n\n");
    put_only(c->only[0], "A: ", &words);
    put_only(c->only[1], "B: ", &words);
    command_put_set_in(&words, c->format, out);
    bn_text_append(out, c->text.data ? c->text.data : "", c->text.length);
    if (!c->shown || c->verbose)
        return;
    bn_text_puts(&words, "\nAll differences of the first two:\n");
    command_put_set_in(&words, c->format, out);
    /* To be copied, so it stays one line. */
    bn_text_puts(out, "  bench diff");
    for (int i = 0; i < 2; i++) {
        const rec_program *one = i ? c->shown->after : c->shown->before;
        const rec_recording *in = c->shown->in[i];
        bn_text_printf(out, " %s/%s/programs/%s.%s", in->path, in->processes[one->process].folder,
                       one->hash, one->form);
    }
    bn_text_puts(out, "\n");
}

static void say_rest(const comparing *c)
{
    if (left_out(c) > 0)
        cli_say("bench: %zu more pair%s not compared", left_out(c),
                left_out(c) == 1 ? " was" : "s were");
    if (c->not_kept > 0)
        cli_say("bench: the recording lacks the name or the code of %zu program%s", c->not_kept,
                c->not_kept == 1 ? "" : "s");
}

/* The steps of both recordings, or why they cannot be compared. */
static void put_steps(const comparing *c, bn_text *out)
{
    const char *const paths[] = {c->recording->path, c->other->path};
    if (c->steps[1])
        command_steps_diff_put(&c->differences, paths, c->format, out);
    else
        command_steps_diff_none(paths, c->stepless.message, c->format, out);
}

static void show(const comparing *c)
{
    static const res_sheet_column columns[] = {
        {"process", true}, {"program", false}, {"A", false},         {"executed", true},
        {"B", false},      {"executed", true}, {"difference", false}};
    bn_text text = {0}, page = {0};
    if (c->format == RES_TABLE_JSON) {
        json_t *object = all_json(c);
        cli_json(object);
        json_decref(object);
        say_rest(c);
        return;
    }
    if (c->other)
        put_steps(c, &text);
    if (res_format_is_text(c->format)) {
        put_all(c, &text);
    } else {
        res_sheet_write(columns, sizeof columns / sizeof *columns, c->rows, c->format, &text);
    }
    if (c->format == RES_TABLE_HTML && text.data)
        res_put_page(&page, c->other ? "Two recordings" : "Programs of a recording", text.data);
    if (text.data)
        cli_show_text(page.data ? &page : &text);
    bn_text_free(&text);
    bn_text_free(&page);
    say_rest(c);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Compares the steps of both recordings, where both have some. */
static bn_code compare_steps(comparing *c, bn_status *st)
{
    const rec_options options = {.device = -1};
    const rec_recording *const both[] = {c->recording, c->other};
    for (int i = 0; i < 2; i++)
        if (rec_check_steps(both[i], &options, &c->steps[i], &c->stepless) != BN_OK)
            break;
    if (c->stepless.code == BN_OK)
        return rec_differences_make(c->steps[0], c->steps[1], &c->differences, st);
    return c->stepless.code == BN_NOT_FOUND
               ? BN_OK
               : bn_fail(st, c->stepless.code, "%s", c->stepless.message);
}

static bn_code compare_all(comparing *c, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; !c->other && i < c->recording->process_count; i++)
        add_successive(c, &c->recording->processes[i]);
    if (c->other) {
        c->only[0] = json_array();
        c->only[1] = json_array();
        add_pairs(c, c->recording, c->other);
        code = compare_steps(c, st);
    }
    if (c->count > 0)
        qsort(c->pairs, c->count, sizeof *c->pairs, by_compile_time);
    for (size_t i = 0; code == BN_OK && i < c->count && i < MOST_COMPARED; i++)
        code = compare_pair(c, &c->pairs[i], st);
    return code;
}

/* Reports damage of RECORDING; BN_FORMAT: some process could not be read. */
static bn_code check_whole(const rec_recording *recording, bn_status *st)
{
    command_say_damage(recording);
    return recording->damaged_count == 0 ? BN_OK
                                         : bn_fail(st, BN_FORMAT,
                                                   "%s: not all processes could be read",
                                                   recording->path);
}

bn_code command_graph_recordings(const char *path, const char *other, const cli_output *output,
                                 bool *differ, bn_status *st)
{
    rec_recording *both[2] = {NULL, NULL};
    comparing c = {.rows = json_array(), .verbose = output->verbose};
    bn_code code = res_format_parse(cli_format(output), &c.format, st);
    if (code == BN_OK)
        code = rec_open(path, &both[0], st);
    if (code == BN_OK && other)
        code = rec_open(other, &both[1], st);
    c.recording = both[0];
    c.other = both[1];
    if (code == BN_OK)
        code = compare_all(&c, st);
    if (code == BN_OK)
        show(&c);
    if (code == BN_OK && c.fault.code != BN_OK)
        code = bn_fail(st, BN_FORMAT, "%s", c.fault.message);
    for (int i = 0; i < 2 && code == BN_OK && both[i]; i++)
        code = check_whole(both[i], st);
    *differ = c.shown || json_array_size(c.only[0]) + json_array_size(c.only[1]) > 0 ||
              c.differences.differ;
    rec_differences_free(&c.differences);
    rec_steps_free(c.steps[0]);
    rec_steps_free(c.steps[1]);
    json_decref(c.only[0]);
    json_decref(c.only[1]);
    json_decref(c.rows);
    bn_text_free(&c.text);
    free(c.pairs);
    rec_close(both[0]);
    rec_close(both[1]);
    return code;
}
