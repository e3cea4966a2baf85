/*
 * graph_recording.c - bench graph diff RECORDING: each program that a recorded process compiled,
 * beside the one of the same name that it compiled before.
 */
#include "harness/commands/graph_priv.h"
#include "harness/commands/recording_priv.h"

#include <stdlib.h>
#include <string.h>

#define MOST_COMPARED 100 /* pairs: each may take a second */
#define MOST_PAIR     20  /* differences of a pair that JSON has */
#define SHORT_HASH    8

typedef struct comparing {
    const rec_recording *recording;
    const rec_process *process; /* that is looked at */
    const rec_process *of_first;
    const rec_program *first[2]; /* the first pair, and its process; NULL: none */
    size_t compared, left_out;   /* pairs */
    bool differ;
    bn_status fault; /* of the first program that cannot be compared */
    bn_text text;    /* for people */
    json_t *list;    /* for programs */
    json_t *rows;    /* and for tables */
} comparing;

/* ---- one pair ------------------------------------------------------------------------------- */

/* A program of a pair. */
typedef struct side {
    shlo_graph *graph; /* NULL: WHY there is none */
    bn_status why;
    bool foreign; /* what reads its form is not installed: it reads no other one either */
} side;

static void read_side(const comparing *c, const rec_program *program, side *s)
{
    char *bytes = NULL;
    size_t size = 0;
    *s = (side){.why = {.code = BN_OK}};
    bn_code code = rec_program_read(c->recording, program, &bytes, &size, &s->why);
    if (code == BN_OK) {
        code = command_graph_text(&bytes, &size, &s->why);
        s->foreign = code == BN_NOT_FOUND;
    }
    if (code == BN_OK)
        code = shlo_graph_read(bytes, size, &s->graph, &s->why);
    free(bytes);
    if (code != BN_OK)
        bn_context(&s->why, "program %.*s", SHORT_HASH, program->hash);
}

/* What PAIR's programs are, for all formats. WORDS: how they differ. */
static void put_pair(comparing *c, const rec_program *const pair[2], const char *words)
{
    json_t *row = json_array();
    bn_text_printf(&c->text, "%s in process %u: %.*s, executed %u time%s, then %.*s, %u time%s:\n",
                   pair[1]->name, c->process->pid, SHORT_HASH, pair[0]->hash, pair[0]->executions,
                   pair[0]->executions == 1 ? "" : "s", SHORT_HASH, pair[1]->hash,
                   pair[1]->executions, pair[1]->executions == 1 ? "" : "s");
    bn_text_printf(&c->text, "  %s\n", words);
    json_array_append_new(c->rows, row);
    res_sheet_put(row, "%u", c->process->pid);
    json_array_append_new(row, res_json_text(pair[1]->name));
    for (int i = 0; i < 2; i++) {
        res_sheet_put(row, "%s", pair[i]->hash);
        res_sheet_put(row, "%u", pair[i]->executions);
    }
    json_array_append_new(row, res_json_text(words));
}

static json_t *program_json(const rec_program *program)
{
    return json_pack("{ss ss sI sI}", "hash", program->hash, "form", program->form, "compiles",
                     (json_int_t)program->compiles, "executions", (json_int_t)program->executions);
}

/* Adds PAIR with its DIFFERENCE (taken), an object or null. */
static void list_pair(comparing *c, const rec_program *const pair[2], json_t *difference,
                      const char *fault)
{
    json_array_append_new(
        c->list, json_pack("{sI so so so so so}", "process", (json_int_t)c->process->pid, "name",
                           res_json_text(pair[1]->name), "a", program_json(pair[0]), "b",
                           program_json(pair[1]), "difference", difference, "fault",
                           fault ? res_json_text(fault) : json_null()));
}

static void put_difference(comparing *c, const rec_program *const pair[2], const shlo_diff *diff)
{
    bn_text words = {0};
    if (diff->count == 0)
        bn_text_puts(&words, strcmp(pair[0]->hash, pair[1]->hash) == 0
                                 ? "the same code, compiled with other options"
                                 : "the same graph; names or places in it differ");
    else
        command_diff_counts(diff, &words);
    put_pair(c, pair, words.data ? words.data : "");
    if (diff->count > 0)
        command_difference_put(diff, &diff->list[0], "    ", &c->text);
    c->differ = c->differ || diff->count > 0;
    c->text.failed = c->text.failed || words.failed;
    list_pair(c, pair, command_diff_json(diff, MOST_PAIR), NULL);
    bn_text_free(&words);
}

static void put_fault(comparing *c, const rec_program *const pair[2], const bn_status *why)
{
    if (c->fault.code == BN_OK)
        c->fault = *why;
    put_pair(c, pair, why->message);
    list_pair(c, pair, json_null(), why->message);
}

/* ---- all pairs ------------------------------------------------------------------------------ */

static bn_code compare_pair(comparing *c, const rec_program *const pair[2], const side *before,
                            const side *now, bn_status *st)
{
    const side *unread = before->graph ? now : before;
    shlo_diff *diff = NULL;
    if (!unread->graph && unread->foreign) {
        *st = unread->why;
        return st->code;
    }
    if (!c->of_first) {
        c->of_first = c->process;
        memcpy(c->first, pair, sizeof c->first);
    }
    if (!unread->graph) {
        put_fault(c, pair, &unread->why);
        return BN_OK;
    }
    bn_code code = shlo_diff_make(before->graph, now->graph, &diff, st);
    if (code == BN_OK)
        put_difference(c, pair, diff);
    shlo_diff_free(diff);
    return code;
}

/* Compares the LIST of COUNT programs of one name, in the order in which they were compiled. */
static bn_code compare_name(comparing *c, const rec_program *const *list, size_t count,
                            bn_status *st)
{
    side before = {0}, now;
    bn_code code = BN_OK;
    for (size_t i = 0; i < count && count > 1 && code == BN_OK; i++) {
        if (c->compared == MOST_COMPARED) {
            c->left_out += i > 0;
            continue;
        }
        read_side(c, list[i], &now);
        if (i > 0) {
            c->compared++;
            code = compare_pair(c, &list[i - 1], &before, &now, st);
        }
        shlo_graph_free(before.graph);
        before = now;
    }
    shlo_graph_free(before.graph);
    return code;
}

static int by_name(const void *a, const void *b)
{
    const rec_program *const *one = a, *const *two = b;
    const int order = strcmp((*one)->name, (*two)->name);
    return order ? order : (*one > *two) - (*one < *two);
}

/* Whether PROGRAM was compiled from code that was kept. */
static bool is_graph(const rec_program *program)
{
    return program->name[0] && program->hash[0] && !program->deserialized &&
           strcmp(program->form, "executable") != 0;
}

static bn_code compare_process(comparing *c, bn_status *st)
{
    const rec_process *p = c->process;
    const rec_program **list = calloc(p->program_count + 1, sizeof *list);
    size_t count = 0;
    if (!list)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu programs", p->program_count);
    for (size_t i = 0; i < p->program_count; i++)
        if (is_graph(&p->programs[i]))
            list[count++] = &p->programs[i];
    qsort(list, count, sizeof *list, by_name);
    bn_code code = BN_OK;
    for (size_t first = 0, end; code == BN_OK && first < count; first = end) {
        for (end = first + 1; end < count && strcmp(list[first]->name, list[end]->name) == 0;)
            end++;
        code = compare_name(c, &list[first], end - first, st);
    }
    free(list);
    return code;
}

/* ---- showing it ------------------------------------------------------------------------------ */

static bn_code show_json(const comparing *c, bn_status *st)
{
    json_t *object = json_pack("{sI so sb sO sI}", "bench_graph_diff", (json_int_t)1, "recording",
                               res_json_text(c->recording->path), "same", !c->differ, "pairs",
                               c->list, "left_out", (json_int_t)c->left_out);
    if (!object)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the answer");
    cli_json(object);
    json_decref(object);
    return BN_OK;
}

static void put_words(const comparing *c, bn_text *out)
{
    if (c->compared == 0) {
        bn_text_printf(out, "%s: no process compiled two programs of the same name.\n",
                       c->recording->path);
        return;
    }
    bn_text_printf(
        out, "A: a program. B: the next one of the same name that the process compiled.\n\n%s",
        c->text.data ? c->text.data : "");
    if (c->left_out)
        bn_text_printf(out, "%zu further pairs are not compared.\n", c->left_out);
    bn_text_puts(out, "\nAll differences of the first two:\n  bench graph diff");
    for (int i = 0; i < 2; i++)
        bn_text_printf(out, " %s/%s/programs/%s.%s", c->recording->path, c->of_first->folder,
                       c->first[i]->hash, c->first[i]->form);
    bn_text_putc(out, '\n');
}

static bn_code show(const comparing *c, res_format format, bn_status *st)
{
    static const res_sheet_column columns[] = {
        {"process", true}, {"program", false}, {"A", false},         {"executed", true},
        {"B", false},      {"executed", true}, {"difference", false}};
    bn_text text = {0}, page = {0};
    if (format == RES_TABLE_JSON)
        return show_json(c, st);
    if (res_format_is_text(format))
        put_words(c, &text);
    else
        res_sheet_write(columns, sizeof columns / sizeof *columns, c->rows, format, &text);
    if (format == RES_TABLE_HTML && text.data)
        res_put_page(&page, "Programs of a recording", text.data);
    const bool failed = c->text.failed || text.failed || page.failed;
    if (!failed && text.data)
        cli_show(page.data ? page.data : text.data);
    bn_text_free(&text);
    bn_text_free(&page);
    return failed ? bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the answer") : BN_OK;
}

bn_code command_graph_recording(const char *path, const cli_output *output, bool *differ,
                                bn_status *st)
{
    rec_recording *recording = NULL;
    res_format format;
    bn_code code = res_format_parse(output->format, &format, st);
    if (code == BN_OK)
        code = rec_open(path, &recording, st);
    comparing c = {.recording = recording, .list = json_array(), .rows = json_array()};
    for (size_t i = 0; code == BN_OK && i < recording->process_count; i++) {
        c.process = &recording->processes[i];
        code = compare_process(&c, st);
    }
    if (code == BN_OK && command_say_damage(recording))
        bn_fail(&c.fault, BN_FORMAT, "%s: a process is damaged", path);
    if (code == BN_OK)
        code = show(&c, format, st);
    if (code == BN_OK && c.fault.code != BN_OK) {
        *st = c.fault;
        code = st->code;
    }
    *differ = c.differ;
    json_decref(c.list);
    json_decref(c.rows);
    bn_text_free(&c.text);
    rec_close(recording);
    return code;
}
