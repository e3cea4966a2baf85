/* list.c - bench list models|modes|frameworks|runtimes|ops. */
#include "harness/frontends/frontends.h"
#include "harness/jobs/jobs.h"
#include "models/model.h"
#include "modes/mode.h"
#include "results/tables/tables.h"

#include <stdio.h>
#include <string.h>

/* The first value of each axis: the sizes that bench list models describes. */
static res_experiment first_experiment(const job_matrix *m)
{
    res_experiment e;
    res_experiment_usual(&e);
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        if (m->axis[i].count)
            res_axis_set_value(&res_axes[i], m->axis[i].value[0].word, m->axis[i].value[0].number,
                               &e);
    return e;
}

/* A listing is an array of objects, one a row. This is the row of a model; NULL after a failure. */
static json_t *describe_model(const res_experiment *e, const model_info *info, bn_status *st)
{
    model *m = NULL;
    double macs = 0;
    model_options options = job_model_options(e, e->runtime);
    options.pad = options.train = options.scan = options.decode = false;
    options.context = 0;
    options.batch = e->batch ? e->batch : info->golden_batch;
    options.image = info->default_image ? e->image : 0;
    options.seq = info->default_seq ? e->seq : 0;
    options.depth = info->depth ? e->depth : 0;
    bn_code code = model_new(info->name, &options, &m, st);
    if (code == BN_OK)
        code = model_forward_macs(m, &macs, st);
    const model_options *filled = code == BN_OK ? model_get_options(m) : &options;
    json_t *row =
        code == BN_OK
            ? json_pack("{ss ss ss sI sI si si si si ss ss ss}", "model", info->name, "family",
                        info->family, "variant", e->variant, "parameters",
                        (json_int_t)model_parameter_elements(m), "macs", (json_int_t)macs, "batch",
                        filled->batch, "image", filled->image, "seq", filled->seq, "depth",
                        filled->depth   ? filled->depth
                        : options.small ? info->small_depth
                                        : info->depth,
                        "phases", info->decodes ? "train,infer,decode" : "train,infer", "source",
                        info->source, "summary", info->summary)
            : NULL;
    model_free(m);
    return row;
}

/* Whether the model of INFO has the variant that E names. */
static bool has_variant(const res_experiment *e, const model_info *info)
{
    return (info->has_small || !strstr(e->variant, "small")) &&
           (info->pads || !strstr(e->variant, "_pad"));
}

/* Column macs counts one forward pass of column batch's rows, by default as many as the golden
 * values have. */
static json_t *list_models(const job_matrix *matrix, bn_status *st)
{
    const res_experiment e = first_experiment(matrix);
    json_t *list = json_array();
    model_info info;
    bn_text without = {0};
    for (size_t i = 0; model_describe(i, &info); i++) {
        if (!has_variant(&e, &info)) {
            bn_text_printf(&without, "%s%s", without.length ? ", " : "", info.name);
            continue;
        }
        json_t *row = describe_model(&e, &info, st);
        if (!row) {
            json_decref(list);
            bn_text_free(&without);
            return NULL;
        }
        json_array_append_new(list, row);
    }
    if (without.length)
        cli_note("without a variant %s: %s", e.variant, without.data);
    bn_text_free(&without);
    return list;
}

static json_t *list_modes(const job_matrix *matrix, bn_status *st)
{
    json_t *list = json_array();
    mode_info info;
    (void)matrix, (void)st;
    for (size_t i = 0; mode_describe(i, &info); i++)
        json_array_append_new(list, json_pack("{ss ss ss}", "mode", info.name, "graphs",
                                              info.cuts_graphs ? "1, 2, 3, 5" : "1", "summary",
                                              info.summary));
    return list;
}

/* How the VERSIONS of a front end's packages compare with those PINNED, in words (new reference).
 * *WHOLE: no pinned package is known to be missing. *STATE: the identifier of the words. */
static json_t *versions_words(const json_t *pinned, const json_t *versions, bool *whole,
                              const char **state)
{
    bn_text others = {0};
    const size_t missing = frontend_put_unpinned(pinned, versions, &others);
    *whole = !versions || missing == 0;
    const char *words = json_array_size(pinned) == 0 ? "none are pinned"
                        : !versions                  ? "unknown"
                        : others.length > 0          ? others.data
                        : missing > 0                ? "some are not installed"
                                                     : "as pinned";
    *state = json_array_size(pinned) == 0 ? "none-pinned"
             : !versions                  ? "unknown"
             : others.length > 0          ? "others"
             : missing > 0                ? "missing"
                                          : "as-pinned";
    json_t *text = res_json_text(words);
    bn_text_free(&others);
    return text;
}

/* The Python of PLACE and, where that is not WHOLE, the command that completes it (new reference).
 */
static json_t *python_words(const frontend_place *place, bool whole)
{
    bn_text words = {0};
    bn_text_puts(&words, place->python);
    if (!whole) {
        bn_text_puts(&words, "; for what is missing: ");
        frontend_put_pin_command(place, &words);
    }
    json_t *text = res_json_text(words.data);
    bn_text_free(&words);
    return text;
}

/* "details" is for JSON alone. A Python that lacks a pinned package is not installed: it is being
 * made, or its making was interrupted. */
static json_t *describe_framework(const frontend_info *row)
{
    frontend_place place = {.python = ""};
    bn_status why = {.code = BN_OK};
    const bool found = frontend_find(row, FRONTEND_RUN, &place, &why) == BN_OK;
    json_t *pinned = frontend_pinned(&place);
    json_t *versions = found ? frontend_versions(&place, pinned) : NULL;
    bool whole = true;
    const char *state = "not-found";
    json_t *words = found ? versions_words(pinned, versions, &whole, &state) : json_string("");
    return json_pack("{ss ss ss sb so so s{ss ss ss so so ss}}", "front_end", row->name,
                     "framework", row->framework, "modes", row->modes, "installed", found && whole,
                     "versions", words, "where",
                     found ? python_words(&place, whole) : res_json_text(why.message), "details",
                     "modes", row->summary, "models", row->models, "values", row->values, "pinned",
                     pinned, "versions", versions ? versions : json_null(), "state", state);
}

static json_t *list_frameworks(const job_matrix *matrix, bn_status *st)
{
    json_t *list = json_array();
    const frontend_info *row;
    (void)matrix, (void)st;
    json_array_append_new(list,
                          json_pack("{ss ss ss sb ss ss}", "front_end", "bench", "framework",
                                    "none", "modes", "eager,lazy,capture", "installed", 1,
                                    "versions", "", "where", "bench itself (bench list modes)"));
    for (size_t i = 0; (row = frontend_at(i)); i++)
        json_array_append_new(list, describe_framework(row));
    return list;
}

static json_t *list_runtimes(const job_matrix *matrix, bn_status *st)
{
    json_t *list = json_array();
    const char *name, *source;
    (void)matrix, (void)st;
    for (size_t i = 0; (name = rt_plugin_known(i, &source)); i++) {
        char path[4096];
        bn_status why = {.code = BN_OK};
        bool found = rt_plugin_find(name, path, sizeof path, &why) == BN_OK;
        bn_text places = {0};
        char *searched = strstr(why.message, " (searched");
        if (searched)
            *searched = '\0'; /* the rest says what to do */
        rt_plugin_places(name, &places);
        json_array_append_new(
            list, json_pack("{ss sb ss so s{so}}", "runtime", name, "found", found, "source",
                            source, "where", res_json_text(found ? path : why.message), "details",
                            "searched", res_json_text(places.data ? places.data : "")));
        bn_text_free(&places);
    }
    return list;
}

static json_t *list_ops(const job_matrix *matrix, bn_status *st)
{
    json_t *list = json_array();
    tg_op_info info;
    (void)matrix, (void)st;
    for (size_t i = 0; tg_op_describe(i, &info); i++)
        json_array_append_new(
            list, json_pack("{ss ss ss si si si sb ss}", "op", info.name, "family", info.family,
                            "stablehlo", info.stablehlo, "min_operands", info.min_operands,
                            "max_operands", info.max_operands, "results", info.results,
                            "differentiable", info.differentiable, "summary", info.summary));
    return list;
}

/* Narrow text breaks a list, "lazy,capture", between its words. */
static void put_words(const char *words, res_format format, bn_text *out)
{
    for (; *words; words++) {
        bn_text_putc(out, *words);
        if (format == RES_TABLE_NARROW && *words == ',' && words[1] && words[1] != ' ')
            bn_text_putc(out, ' ');
    }
}

static void cell_text(const json_t *value, res_format format, bn_text *out)
{
    if (json_is_string(value))
        put_words(json_string_value(value), format, out);
    else if (json_is_integer(value))
        bn_text_int(out, json_integer_value(value));
    else
        bn_text_puts(out, json_is_true(value) ? "yes" : "no");
}

/* The heading of column KEY. */
static const char *head_of(const char *key)
{
    static const char *const heads[][2] = {{"front_end", "--front-end"},
                                           {"min_operands", "least operands"},
                                           {"max_operands", "most operands"}};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (strcmp(key, heads[i][0]) == 0)
            return heads[i][1];
    return key;
}

/* Whether member KEY is a column in FORMAT. Details are for JSON alone. In narrow text "where",
 * which may be a long path, has a line below its row. */
static bool is_column(const char *key, const json_t *value, res_format format)
{
    return !json_is_object(value) && !(format == RES_TABLE_NARROW && strcmp(key, "where") == 0);
}

/* Appends ITEM to ROWS: a row, or two with "where" in narrow text. */
static void add_item(const json_t *item, res_format format, json_t *rows)
{
    json_t *row = json_array(), *value;
    const char *key, *where = json_string_value(json_object_get(item, "where"));
    bn_text cell = {0};
    json_object_foreach((json_t *)item, key, value)
    {
        if (!is_column(key, value, format))
            continue;
        bn_text_clear(&cell);
        cell_text(value, format, &cell);
        json_array_append_new(row, json_string(cell.data ? cell.data : ""));
    }
    json_array_append_new(rows, row);
    if (where && format == RES_TABLE_NARROW) {
        bn_text_clear(&cell);
        bn_text_printf(&cell, "  %s", where);
        json_array_append_new(rows, json_pack("[o]", res_json_text(cell.data ? cell.data : "")));
    }
    bn_text_free(&cell);
}

/* Appends LIST, its members as columns, in the formats of sheets. */
static void put_sheet(const json_t *list, res_format format, bn_text *out)
{
    res_sheet_column columns[RES_SHEET_COLUMNS];
    size_t count = 0;
    json_t *rows = json_array(), *value;
    const char *key;
    bn_text text = {0};
    json_object_foreach(json_array_get(list, 0), key, value)
    {
        if (count < RES_SHEET_COLUMNS && is_column(key, value, format))
            columns[count++] = (res_sheet_column){format == RES_TABLE_CSV ? key : head_of(key),
                                                  json_is_integer(value)};
    }
    for (size_t r = 0; r < json_array_size(list); r++)
        add_item(json_array_get(list, r), format, rows);
    res_sheet_write(columns, count, rows, format, &text);
    res_put_set_in(out, format, text.data ? text.data : "");
    bn_text_free(&text);
    json_decref(rows);
}

static void print_sheet(const json_t *list, res_format format, const cli_output *output)
{
    bn_text out = {0}, wide = {0}, page = {0};
    put_sheet(list, format, &out);
    if (cli_is_narrow(output))
        put_sheet(list, RES_TABLE_TEXT, &wide);
    if (out.data && format == RES_TABLE_HTML) {
        res_put_page(&page, "bench list", out.data);
        cli_text(&page);
        bn_text_free(&out);
    }
    cli_show_either(&out, &wide);
}

static const struct {
    const char *name;
    json_t *(*make)(const job_matrix *matrix, bn_status *st);
} lists[] = {{"models", list_models},
             {"modes", list_modes},
             {"frameworks", list_frameworks},
             {"runtimes", list_runtimes},
             {"ops", list_ops}};

static const char *name_at(size_t i)
{
    return i < sizeof lists / sizeof *lists ? lists[i].name : NULL;
}

static int show_list(const job_matrix *matrix, const cli_output *output, const char *what)
{
    bn_status st = {.code = BN_OK};
    res_format format;
    size_t row;
    if (bn_find_name("list", what, name_at, &row, &st) != BN_OK ||
        res_format_parse(cli_format(output), &format, &st) != BN_OK)
        return (int)cli_complain(&st);
    json_t *list = lists[row].make(matrix, &st);
    if (!list)
        return (int)cli_complain(&st);
    if (format == RES_TABLE_JSON)
        cli_json(list);
    else
        print_sheet(list, format, output);
    json_decref(list);
    return CLI_EXIT_OK;
}

typedef struct list_options {
    cli_output output;
    job_matrix matrix; /* its axes: the sizes of the listed models */
} list_options;

/* A list has one row a model, so each size has one value. */
static bn_code check(void *options, const cli_call *call, bn_status *st)
{
    const list_options *o = options;
    const bool of_models = call->word_count == 0 || strcmp(call->words[0], "models") == 0;
    bn_code code = BN_OK;
    for (int i = 0; i < RES_AXIS_COUNT && code == BN_OK; i++)
        if (!of_models && res_axes[i].option && cli_was_given(call, res_axes[i].option))
            code = bn_fail(st, BN_INVALID, "--%s is for bench list models", res_axes[i].option);
        else if (o->matrix.axis[i].count > 1)
            code = bn_fail(st, BN_INVALID, "bench list models takes one value of --%s",
                           res_axes[i].option);
    for (int i = 0; i < RES_AXIS_COUNT && code == BN_OK; i++)
        code = job_axis_check((res_axis_id)i, &o->matrix.axis[i], st);
    return code;
}

static int list(void *options, const cli_call *call)
{
    const list_options *o = options;
    return show_list(&o->matrix, &o->output, call->words[0]);
}

const cli_command command_list = {
    .name = "list",
    .usage = "bench list models|modes|frameworks|runtimes|ops",
    .summary = "list the models, modes, frameworks, runtimes or ops",
    .section = JOB_SECTION_LOOK,
    .also = "ls",
    .words = "models|modes|frameworks|runtimes|ops",
    .most_words = 1,
    .size = sizeof(list_options),
    .output = offsetof(list_options, output),
    .groups = {{.table = job_axis_table,
                .offset = offsetof(list_options, matrix),
                .about = JOB_ABOUT_NETWORK,
                .rows = JOB_AXIS_BIT(BATCH) | JOB_AXIS_BIT(IMAGE) | JOB_AXIS_BIT(SEQ),
                .without = JOB_AXIS_BIT(MODEL)},
               {.table = cli_output_table,
                .offset = offsetof(list_options, output),
                .rows = CLI_OUT_TABLES}},
    .part = &job_matrix_part,
    .part_at = offsetof(list_options, matrix),
    .check = check,
    .run = list,
};
