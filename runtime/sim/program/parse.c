/*
 * parse.c - the module and its functions; what the reader opens and closes.
 *
 * Source of the syntax: MLIR's language reference and the StableHLO specification.
 */
#include "runtime/sim/program/parse_op.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions -------------------------------------------------------------------------- */

/* A function being read: what lies above the marks is its own. */
typedef struct heading {
    const char *at, *name;
    bool public;
    size_t labels, signature, results; /* RESULTS: place of their types */
    SIM_LIST(sim_argument) arguments;
    SIM_LIST(sim_layout) layouts; /* of each result, as far as they are stated */
} heading;

/* How the next result is to lie, by the attributes from FIRST on, which go. */
static void note_result(sim_reader *r, heading *h, size_t first)
{
    sim_push(&h->layouts, sim_note_layout(r, first));
    r->raws.count = first;
}

/* "type" or "(type {attributes}, ...)" onto r->signature; without H no attributes. */
static void read_result_types(sim_reader *r, heading *h)
{
    bool brackets = sim_accept(r, '(');
    while (r->code == SIM_OK && !(brackets && sim_kind(r) == ')')) {
        sim_type type;
        if (!sim_read_type(r, &type))
            return;
        sim_push(&r->signature, type);
        size_t raws = r->raws.count;
        if (h && brackets && sim_kind(r) == '{')
            sim_read_dictionary(r);
        if (h)
            note_result(r, h, raws);
        sim_skip_location(r);
        if ((!h && !brackets) || !sim_accept(r, ','))
            break;
    }
    if (brackets)
        sim_expect(r, ')', "')' of the results");
}

/* "(%a: type {attributes}, ...) -> (type {attributes}, ...)" */
static void read_heading(sim_reader *r, heading *h)
{
    sim_expect(r, '(', "'(' of the arguments");
    if (!sim_accept(r, ')')) {
        do {
            sim_push(&h->arguments, (sim_argument){.alias = -1});
            sim_read_argument(r, &h->arguments.items[h->arguments.count - 1]);
        } while (sim_accept(r, ','));
        sim_expect(r, ')', "')' of the arguments");
    }
    h->results = r->signature.count;
    if (!sim_accept(r, SIM_T_ARROW))
        return;
    read_result_types(r, h);
}

/* BODY must return the types that the heading states, which end at END. */
static void check_results(sim_reader *r, const heading *h, const sim_block *body, size_t end)
{
    char said[128], done[128];
    if (r->code != SIM_OK)
        return;
    if ((size_t)body->result_count != end - h->results) {
        sim_reader_fail(r, h->at, SIM_INVALID_ARGUMENT, "@%s returns %d values, but says %zu",
                        h->name, body->result_count, end - h->results);
        return;
    }
    for (int i = 0; i < body->result_count; i++) {
        const sim_type *type = r->signature.items + h->results + i;
        const sim_type *own = sim_reader_type(r, body->results[i]);
        if (!sim_type_equals(type, own)) {
            sim_reader_fail(r, h->at, SIM_INVALID_ARGUMENT, "@%s returns %s as result %d, not %s",
                            h->name, sim_type_write(own, done, sizeof done), i,
                            sim_type_write(type, said, sizeof said));
            return;
        }
    }
}

/* Each alias must name a result of its argument's size, and no two the same. */
static void check_aliases(sim_reader *r, const heading *h, const sim_function *f)
{
    bool *taken = bn_zalloc((size_t)f->body.result_count, sizeof *taken);
    for (int i = 0; i < f->body.argument_count; i++) {
        int alias = f->arguments[i].alias;
        if (alias < 0)
            continue;
        if (alias >= f->body.result_count || taken[alias] ||
            sim_type_bytes(sim_reader_type(r, f->body.arguments[i])) !=
                sim_type_bytes(sim_reader_type(r, f->body.results[alias]))) {
            sim_reader_fail(r, h->at, SIM_INVALID_ARGUMENT,
                            "argument %d of @%s gives its memory to result %d, which is missing, "
                            "taken or of another size",
                            i, h->name, alias);
            break;
        }
        taken[alias] = true;
    }
    free(taken);
}

static void add_function(sim_reader *r, heading *h, const sim_block *body, size_t end)
{
    check_results(r, h, body, end);
    size_t count = (size_t)body->argument_count, results = (size_t)body->result_count;
    sim_argument *arguments = sim_take(r, count * sizeof *arguments);
    sim_layout *layouts = sim_take(r, results * sizeof *layouts);
    if (r->code != SIM_OK)
        return;
    for (size_t i = 0; i < results && i < h->layouts.count; i++)
        layouts[i] = h->layouts.items[i];
    for (size_t i = 0; i < count; i++)
        arguments[i] = i < h->arguments.count ? h->arguments.items[i] : (sim_argument){.alias = -1};
    sim_push(
        &r->functions,
        (sim_function){.name = h->name, .body = *body, .arguments = arguments, .results = layouts});
    const sim_function *f = &r->functions.items[r->functions.count - 1];
    check_aliases(r, h, f);
    if (h->public)
        r->public_count++;
    if (h->public && r->public_count == 1)
        r->public_function = (int)(r->functions.count - 1);
}

static heading begin_function(const sim_reader *r)
{
    return (heading){.at = r->lex.start,
                     .public = true,
                     .labels = r->labels.count,
                     .signature = r->signature.count};
}

static void end_function(sim_reader *r, heading *h)
{
    sim_names_forget(r, 0);
    free(h->arguments.items);
    free(h->layouts.items);
    r->labels.count = h->labels;
    r->signature.count = h->signature;
    r->raws.count = 0;
}

/* "func.func public @name(...) -> (...) attributes {...} { ... }" */
static void read_function(sim_reader *r)
{
    heading h = begin_function(r);
    sim_block body = {0};
    sim_next(r);
    if (sim_accept_word(r, "private") || sim_accept_word(r, "nested"))
        h.public = false;
    else
        sim_accept_word(r, "public");
    if (sim_kind(r) != SIM_T_SYMBOL)
        sim_reader_expected(r, "@name of a function");
    h.at = r->lex.start;
    h.name = sim_keep_text(r, r->lex.token, r->lex.length);
    sim_next(r);
    read_heading(r, &h);
    if (sim_accept_word(r, "attributes"))
        sim_skip_dictionary(r);
    size_t end = r->signature.count;
    if (r->code == SIM_OK && sim_kind(r) != '{')
        sim_reader_fail(r, r->lex.start, SIM_UNIMPLEMENTED,
                        "a function without a body is not simulated");
    if (sim_expect(r, '{', "'{' of the body")) {
        sim_define_arguments(r, r->labels.items + h.labels, r->signature.items + h.signature,
                             (int)h.arguments.count, &body);
        sim_read_block(r, &body);
    }
    sim_skip_location(r);
    add_function(r, &h, &body, end);
    end_function(r, &h);
}

/* "[{tf.aliasing_output = 0 : i32}, {}]": one for each argument. */
static void read_argument_attributes(sim_reader *r, heading *h)
{
    sim_expect(r, '[', "'[' of the arguments' attributes");
    while (sim_kind(r) == '{') {
        size_t raws = r->raws.count;
        sim_push(&h->arguments, (sim_argument){.alias = -1});
        sim_read_dictionary(r);
        sim_note_donation(r, raws, &h->arguments.items[h->arguments.count - 1]);
        if (!sim_accept(r, ','))
            break;
    }
    sim_expect(r, ']', "']' of the arguments' attributes");
}

/* "[{mhlo.layout_mode = "{0,1}"}, {}]": one for each result. */
static void read_result_attributes(sim_reader *r, heading *h)
{
    sim_expect(r, '[', "'[' of the results' attributes");
    while (sim_kind(r) == '{') {
        size_t raws = r->raws.count;
        sim_read_dictionary(r);
        note_result(r, h, raws);
        if (!sim_accept(r, ','))
            break;
    }
    sim_expect(r, ']', "']' of the results' attributes");
}

/* "(types) -> types" of a generic function; only results are kept. */
static void read_stated_type(sim_reader *r, heading *h)
{
    sim_expect(r, '(', "'(' of a function's type");
    while (sim_kind(r) != ')' && r->code == SIM_OK) {
        sim_type type;
        sim_read_type(r, &type);
        if (!sim_accept(r, ',') && sim_kind(r) != ')')
            sim_reader_expected(r, "',' or ')'");
    }
    sim_next(r);
    h->results = r->signature.count;
    if (sim_kind(r) != SIM_T_ARROW) {
        sim_reader_expected(r, "'->'");
        return;
    }
    sim_next(r);
    read_result_types(r, NULL);
}

static void read_property(sim_reader *r, heading *h)
{
    sim_lexer name = r->lex;
    sim_next(r);
    if (!sim_accept(r, '='))
        return;
    if (sim_lex_reads(&name, "arg_attrs")) {
        read_argument_attributes(r, h);
    } else if (sim_lex_reads(&name, "res_attrs")) {
        read_result_attributes(r, h);
    } else if (sim_lex_reads(&name, "function_type")) {
        read_stated_type(r, h);
    } else if (sim_lex_reads(&name, "sym_name")) {
        h->name = sim_keep_text(r, r->lex.token, r->lex.length);
        sim_next(r);
    } else if (sim_lex_reads(&name, "sym_visibility")) {
        h->public = sim_lex_reads(&r->lex, "public");
        sim_next(r);
    } else {
        sim_read_value(r, "", 0);
    }
}

static void read_properties(sim_reader *r, heading *h)
{
    bool angle = sim_accept(r, '<');
    sim_expect(r, '{', "'{' of the function's attributes");
    while (sim_kind(r) != '}' && r->code == SIM_OK) {
        read_property(r, h);
        if (!sim_accept(r, ',') && sim_kind(r) != '}')
            sim_reader_expected(r, "',' or '}'");
    }
    sim_expect(r, '}', "'}' of the function's attributes");
    if (angle)
        sim_expect(r, '>', "'>' of the function's attributes");
}

/* ") {...} : () -> ()" after the body of a function or module. */
static void end_generic(sim_reader *r)
{
    sim_expect(r, ')', "')' of the body");
    sim_skip_dictionary(r);
    sim_expect(r, ':', "':'");
    sim_expect(r, '(', "'('");
    sim_expect(r, ')', "')'");
    sim_expect(r, SIM_T_ARROW, "'->'");
    sim_expect(r, '(', "'('");
    sim_expect(r, ')', "')'");
    sim_skip_location(r);
}

/* "func.func"() <{...}> ({ ... }) {...} : () -> () */
static void read_generic_function(sim_reader *r)
{
    heading h = begin_function(r);
    sim_block body = {0};
    sim_next(r);
    sim_expect(r, '(', "'('");
    sim_expect(r, ')', "')'");
    if (sim_kind(r) == '<' || sim_kind(r) == '{')
        read_properties(r, &h);
    size_t end = r->signature.count, blocks = r->blocks.count;
    if (!h.name)
        sim_reader_expected(r, "a function with sym_name and function_type");
    sim_expect(r, '(', "'(' of the body");
    sim_read_region(r, NULL, NULL, 0);
    end_generic(r);
    if (r->code == SIM_OK)
        body = r->blocks.items[blocks];
    r->blocks.count = blocks;
    add_function(r, &h, &body, end);
    end_function(r, &h);
}

/* ---- the module ------------------------------------------------------------------------- */

/* Passes "#loc1 = loc(...)" or "sdy.mesh @mesh = <[...]>", up to what may begin a
 * statement. */
static void skip_statement(sim_reader *r)
{
    sim_next(r);
    while (r->code == SIM_OK && sim_kind(r) != SIM_T_END && sim_kind(r) != '}' &&
           sim_kind(r) != SIM_T_HASH) {
        bool word = sim_kind(r) == SIM_T_WORD || sim_kind(r) == SIM_T_STRING;
        if (word && (sim_lex_reads(&r->lex, "func.func") || sim_lex_reads(&r->lex, "module") ||
                     sim_lex_reads(&r->lex, "builtin.module") ||
                     (r->lex.length > 4 && memcmp(r->lex.token, "sdy.", 4) == 0)))
            return;
        if (sim_kind(r) == '(' || sim_kind(r) == '{' || sim_kind(r) == '<' || sim_kind(r) == '[')
            sim_skip_brackets(r);
        else
            sim_next(r);
    }
}

/* Reads statements up to CLOSE, which is passed. */
static void read_statements(sim_reader *r, int close)
{
    while (r->code == SIM_OK && sim_kind(r) != close) {
        bool sdy = r->lex.length > 4 && memcmp(r->lex.token, "sdy.", 4) == 0;
        int shown = (int)(r->lex.length < 60 ? r->lex.length : 60);
        if (sim_kind(r) == SIM_T_HASH || (sim_kind(r) == SIM_T_WORD && sdy))
            skip_statement(r);
        else if (sim_kind(r) == SIM_T_WORD && sim_lex_reads(&r->lex, "func.func"))
            read_function(r);
        else if (sim_kind(r) == SIM_T_STRING && sim_lex_reads(&r->lex, "func.func"))
            read_generic_function(r);
        else if (sim_kind(r) == SIM_T_WORD && memchr(r->lex.token, '.', r->lex.length))
            sim_reader_fail(r, r->lex.start, SIM_UNIMPLEMENTED, "'%.*s' is not simulated", shown,
                            r->lex.token);
        else
            sim_reader_expected(r, "func.func");
    }
    if (close != SIM_T_END)
        sim_expect(r, close, "'}' of the module");
}

/* "module @name attributes {...} { ... }" */
static void read_module(sim_reader *r, const char **name)
{
    sim_next(r);
    if (sim_kind(r) == SIM_T_SYMBOL) {
        *name = sim_keep_text(r, r->lex.token, r->lex.length);
        sim_next(r);
    }
    if (sim_accept_word(r, "attributes"))
        sim_skip_dictionary(r);
    sim_expect(r, '{', "'{' of the module");
    read_statements(r, '}');
    sim_skip_location(r);
}

/* "builtin.module"() <{sym_name = "f"}> ({ ... }) {...} : () -> () */
static void read_generic_module(sim_reader *r, const char **name)
{
    heading h = begin_function(r);
    sim_next(r);
    sim_expect(r, '(', "'('");
    sim_expect(r, ')', "')'");
    if (sim_kind(r) == '<' || sim_kind(r) == '{')
        read_properties(r, &h);
    if (h.name)
        *name = h.name;
    sim_expect(r, '(', "'(' of the body");
    sim_expect(r, '{', "'{' of the body");
    if (sim_accept(r, SIM_T_CARET))
        sim_expect(r, ':', "':'");
    read_statements(r, '}');
    end_generic(r);
    free(h.arguments.items);
    free(h.layouts.items);
}

static void read_text(sim_reader *r, const char **name)
{
    while (sim_kind(r) == SIM_T_HASH)
        skip_statement(r);
    bool module = sim_lex_reads(&r->lex, "module") || sim_lex_reads(&r->lex, "builtin.module");
    if (module && sim_kind(r) == SIM_T_WORD)
        read_module(r, name);
    else if (module && sim_kind(r) == SIM_T_STRING)
        read_generic_module(r, name);
    else if (sim_kind(r) == SIM_T_END)
        sim_reader_expected(r, "a module");
    else
        read_statements(r, SIM_T_END);
    while (sim_kind(r) == SIM_T_HASH)
        skip_statement(r);
    if (sim_kind(r) == '{')
        sim_skip_brackets(r); /* "{-# ... #-}" of resources, which nothing here refers to */
    if (r->code == SIM_OK && sim_kind(r) != SIM_T_END)
        sim_reader_expected(r, "the end of the text");
}

/* ---- opening and closing ---------------------------------------------------------------- */

static const sim_function *find_main(sim_reader *r, const sim_function *functions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(functions[i].name, "main") == 0)
            return &functions[i];
    if (count == 1)
        return functions;
    if (r->public_count == 1)
        return &functions[r->public_function];
    sim_reader_fail(r, r->lex.text, SIM_INVALID_ARGUMENT,
                    "no function @main among %zu, and none is the only public one", count);
    return NULL;
}

/* Makes the program of what was read. It takes over the arena and the types; NULL after an error.
 */
static sim_program *close_program(sim_reader *r, const char *name)
{
    const size_t count = r->functions.count;
    sim_program *program = sim_take(r, sizeof *program);
    sim_function *functions = sim_keep(r, r->functions.items, count, sizeof *functions);
    const sim_function *first =
        sim_check_calls(r, functions, count) ? find_main(r, functions, count) : NULL;
    if (!first)
        return NULL;
    *program = (sim_program){.name = name,
                             .types = r->types.items,
                             .value_count = (int)r->types.count,
                             .functions = functions,
                             .function_count = (int)count,
                             .main = first,
                             .memory = r->arena};
    r->arena = NULL;
    r->types.items = NULL;
    return program;
}

#define LISTS(X)                                                                                   \
    X(types) X(names) X(ops) X(ints) X(raws) X(signature) X(blocks) X(labels) X(functions) X(calls)

static void open_reader(sim_reader *r, const char *text, size_t length, sim_status *st)
{
    *r = (sim_reader){.st = st, .arena = bn_arena_new(64 << 10), .public_function = -1};
    sim_lex_begin(&r->lex, text, length);
    sim_op_slots(r);
#define X(list) sim_room(&r->list, 1); /* so that its items are never NULL */
    LISTS(X)
#undef X
    r->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!r->locale)
        sim_reader_fail(r, text, SIM_RESOURCE_EXHAUSTED, "no locale \"C\" to read numbers by");
    else if (length > INT32_MAX)
        sim_reader_fail(r, text, SIM_RESOURCE_EXHAUSTED, "a text of more than 2 GB");
}

static void close_reader(sim_reader *r)
{
#define X(list) free(r->list.items);
    LISTS(X)
#undef X
    free(r->buckets);
    bn_arena_free(r->arena);
    if (r->locale)
        freelocale((locale_t)r->locale);
}

sim_code sim_program_read(const char *text, size_t length, sim_program **program, sim_status *st)
{
    sim_reader reader;
    const char *name = "";
    *program = NULL;
    open_reader(&reader, text, length, st);
    if (reader.code == SIM_OK)
        read_text(&reader, &name);
    if (reader.code == SIM_OK)
        *program = close_program(&reader, name);
    close_reader(&reader);
    return reader.code;
}

void sim_program_free(sim_program *program)
{
    if (!program)
        return;
    free((void *)program->types);
    bn_arena_free(program->memory);
}
