/*
 * suite_run.c - runs a plan: one process of a group after the other, with the remaining time; table
 * and summary at the end.
 */
#include "harness/campaign/suites_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STARTING_S 1.0 /* seconds of a worker without its steps, whose times a record has */

/* A plan at work. */
typedef struct carry {
    const suite_spec *suite;
    const suite_options *options;
    suite_plan *plan;
    double *seconds;      /* [run]: by our clock or its record; 0: unknown */
    double (*before)[2];  /* [item]: its share of a process in earlier runs, of the first that
                             compiles and of a further one; 0: unknown */
    res_record **records; /* of this session, owned */
    size_t record_count, planned; /* PLANNED: processes */
    size_t done, skipped, kept_failures, failed[BN_CODE_COUNT];
    size_t controls, failed_controls; /* of this session */
    bn_status store;                  /* its failure */
    size_t *first;                    /* [item]: the first item of its group */
    job_group *groups;                /* [2 * first item of the group], then of its controls */
    job_cache cache;                  /* of executables, for this run */
    job_kept *kept;                   /* [JOB_MOST_MEMBERS]: of the group that runs */
    job_experiment *members;          /* the same: too many for the stack */
    cli_exit worst;
    bool refused; /* a runtime refused its options */
} carry;

static bool to_run(const carry *c, const suite_run *run)
{
    return suite_to_run(c->options, run);
}

/* ---- time left --------------------------------------------------------------------- */

/* The time of R's run by its record; 0 for a failure. */
static double record_seconds(const res_record *r)
{
    double ns = 0;
    for (size_t i = 0; i < r->step_count; i++)
        ns += (double)r->wall_ns[i];
    for (size_t i = 0; i < r->warmup_count; i++)
        ns += (double)r->warmup_wall_ns[i];
    return r->status == BN_OK ? STARTING_S + res_steps_a_sample(r) * ns / 1e9 : 0;
}

/* Likeness of A and B: from 1, another network, to 4, the same model, phase, batch, mode and
 * framework. */
static int likeness(const res_experiment *a, const res_experiment *b)
{
    if (!res_same_network(a, b))
        return 1;
    if (strcmp(a->phase, b->phase) != 0 || a->batch != b->batch)
        return 2;
    return res_is_one_way(a, b) ? 4 : 3;
}

/* Mean of the runs with a known time that are most like RUN; without a run of the same, the time of
 * earlier ones in the store; negative where unknown. */
static double expected(const carry *c, const suite_run *run)
{
    double sum[5] = {0};
    size_t count[5] = {0};
    for (size_t i = 0; i < c->plan->count; i++) {
        if (c->seconds[i] <= 0)
            continue;
        const int like = likeness(&run->item->resolved, &c->plan->runs[i].item->resolved);
        sum[like] += c->seconds[i];
        count[like]++;
    }
    const suite_item *item = run->item->control_of ? run->item->control_of : run->item;
    const double earlier = c->before[item - c->suite->items][run->repetition > 1];
    for (int like = 4; like > 0; like--) {
        if (count[like])
            return sum[like] / (double)count[like];
        if (like == 4 && earlier > 0)
            return earlier;
    }
    return -1;
}

/* Updates the progress line with the expected time of the COUNT runs LIST, which are one process,
 * and of those after them. It computes each item once: a suite may repeat a few thousands of times.
 */
static void expect(const carry *c, const size_t *list, size_t count)
{
    double job = 0, after = 0, *of_item = bn_zalloc(c->suite->count + 1, sizeof *of_item);
    for (size_t i = 0; i < count && job >= 0; i++) {
        const double one = expected(c, &c->plan->runs[list[i]]);
        job = one < 0 ? -1 : job + one;
    }
    for (size_t i = list[count - 1] + 1; i < c->plan->count && job >= 0; i++) {
        const suite_run *run = &c->plan->runs[i];
        const suite_item *item = run->item->control_of ? run->item->control_of : run->item;
        double *known = &of_item[item - c->suite->items];
        if (!to_run(c, run))
            continue;
        if (*known <= 0)
            *known = expected(c, run);
        after += *known;
    }
    free(of_item);
    job_progress_expect(job, after);
}

/* ---- running ----------------------------------------------------------------------- */

/* Prints a failure, and keeps the worst exit code. */
static void note(carry *c, const bn_status *st, const char *title)
{
    const cli_exit code = cli_complain_of(title, st);
    if (code > c->worst)
        c->worst = code;
}

/* The suite in the record of RUN. A worker loads the runtime's file only if it has this digest, and
 * a record of a failure takes it from here. */
static json_t *describe(const carry *c, const suite_run *run)
{
    return json_pack("{ss sI sI ss ss*}", "name", c->suite->name, "repetition",
                     (json_int_t)run->repetition, "repetitions", (json_int_t)run->item->repetitions,
                     "identity", run->identity, "runtime_sha256", suite_planned(run->item));
}

/* Counts the end of a run, and reports its failure. */
static void count_run(carry *c, const job_kept *kept, const char *title)
{
    if (kept->failure.code == BN_OK) {
        c->done++;
        return;
    }
    if (kept->usage) {
        /* The others would be refused for the same reason. */
        if (!c->refused)
            c->worst = cli_complain(&kept->failure);
        c->refused = true;
        return;
    }
    c->failed[kept->failure.code]++;
    note(c, &kept->failure, title);
}

/* Counts a control, whose failure is not the suite's. */
static void count_control(carry *c, const job_kept *kept, const char *title)
{
    c->controls++;
    c->failed_controls += kept->failure.code != BN_OK;
    if (kept->failure.code != BN_OK)
        (void)cli_complain_of(title, &kept->failure);
}

/* Moves the record of run INDEX, which took SECONDS, out of KEPT, and counts its end. */
static void finish_run(carry *c, size_t index, const job_kept *kept, double seconds)
{
    const suite_run *run = &c->plan->runs[index];
    const bool control = run->item->control_of != NULL;
    char title[384];
    snprintf(title, sizeof title, "%s", run->item->title);
    if (run->item->repetitions > 1)
        snprintf(title, sizeof title, "%s #%d", run->item->title, run->repetition);
    if (kept->failure.code != BN_CANCELLED) {
        c->seconds[index] = seconds;
        c->store = kept->store;
        if (kept->store.code != BN_OK && strcmp(kept->store.message, kept->failure.message) != 0)
            note(c, &kept->store, title);
        if (control)
            count_control(c, kept, title);
        else
            count_run(c, kept, title);
    }
    /* The table is of the suite alone. */
    if (kept->record && !control)
        c->records[c->record_count++] = kept->record;
    else
        res_record_free(kept->record);
}

/* Lists in LIST which of the runs of one process, FIRST to *END, are to run. */
static size_t collect(const carry *c, size_t first, size_t list[JOB_MOST_MEMBERS], size_t *end)
{
    const suite_run *head = &c->plan->runs[first];
    size_t count = 0, i = first;
    for (; i < c->plan->count && count < JOB_MOST_MEMBERS; i++) {
        const suite_run *run = &c->plan->runs[i];
        if (run->repetition != head->repetition ||
            (i > first && !job_same_group(&head->item->e, &run->item->e)))
            break;
        if (to_run(c, run))
            list[count++] = i;
    }
    *end = i;
    return count;
}

/* The index of ITEM's group. */
static size_t index_of_group(const carry *c, const suite_item *item)
{
    const suite_item *base = item->control_of ? item->control_of : item;
    return 2 * c->first[base - c->suite->items] + (base != item);
}

/* Whether RUN has a record that this suite made as a process of group INDEX. */
static bool is_of_group(const carry *c, const suite_run *run, size_t index)
{
    if (!run->record || index_of_group(c, run->item) != index || !res_group_id(run->record)[0])
        return false;
    const char *name = json_string_value(res_provenance(run->record, RES_PROV_SUITE_NAME));
    return name && strcmp(name, c->suite->name) == 0;
}

/*
 * The name of group INDEX in the store; "": it has none, or its processes are too old. Tables pool
 * processes of one group as one run, so a suite that continues, or gets further repetitions, must
 * not begin another group. By the identities of the plan's runs the records are of these
 * experiments and of this build; pools leave out those of other conditions. A run may take a night,
 * so its processes are no farther apart than those of a suite that was not stopped.
 */
static const char *stored_group(const carry *c, size_t index)
{
    const double night_s = res_history_defaults().night_hours * 3600;
    const res_record *latest = NULL;
    double begin_s = (double)time(NULL) + RES_CLOCK_SLACK_S;
    const double end_s = begin_s;
    for (size_t i = 0; i < c->plan->count; i++) {
        const suite_run *run = &c->plan->runs[i];
        if (is_of_group(c, run, index) && (!latest || strcmp(run->record->id, latest->id) > 0))
            latest = run->record;
    }
    if (!latest || !(res_id_time(latest->id) <= end_s) ||
        strlen(res_group_id(latest)) >= sizeof c->groups->id)
        return "";
    for (size_t i = 0; i < c->plan->count; i++) {
        const suite_run *run = &c->plan->runs[i];
        if (is_of_group(c, run, index) &&
            strcmp(res_group_id(run->record), res_group_id(latest)) == 0)
            begin_s = fmin(begin_s, res_id_time(run->record->id));
    }
    return end_s - begin_s <= night_s + RES_CLOCK_SLACK_S ? res_group_id(latest) : "";
}

/* The group of the runs LIST, one for all repetitions: the first one decides whether its
 * experiments must be separate. */
static job_group *group_of(carry *c, const size_t *list)
{
    const suite_item *item = c->plan->runs[list[0]].item;
    const size_t index = index_of_group(c, item);
    job_group *group = &c->groups[index];
    if (!group->id[0]) {
        const char *stored = stored_group(c, index);
        job_group_begin(group, item->repetitions, 0);
        if (stored[0])
            snprintf(group->id, sizeof group->id, "%s", stored);
    }
    return group;
}

/* Measures the COUNT runs LIST, which are process NUMBER of OF. WHOLE: they are all of their group.
 * Else the others had a process of this repetition at another time, which must not be paired with
 * this one: process 0 has no partner. */
static void run_process(carry *c, const size_t *list, size_t count, bool whole, size_t number,
                        size_t of)
{
    job_experiment *members = c->members;
    char title[400], text[512];
    const suite_run *head = &c->plan->runs[list[0]];
    const uint64_t start = bn_now_ns();
    bool more = true;
    for (size_t i = 0; i < count; i++) {
        more = more && !c->plan->runs[list[i]].last;
        members[i] = c->plan->runs[list[i]].item->e;
        members[i].suite = describe(c, &c->plan->runs[list[i]]);
    }
    job_cache_lend(&c->cache, members, count, head->repetition == 1);
    job_group_title(members, count, title, sizeof title);
    snprintf(text, sizeof text, "%s", title);
    if (head->item->repetitions > 1)
        snprintf(text, sizeof text, "%s #%d", title, head->repetition);
    const job_order job = {
        NULL, text, number, of, members[0].how.timeout, c->options->output.verbose, more};
    expect(c, list, count);
    job_measure_and_keep(group_of(c, list), whole ? head->repetition : 0, members, count, &job,
                         c->kept);
    const double seconds = (double)(bn_now_ns() - start) / 1e9 / (double)count;
    for (size_t i = 0; i < count; i++) {
        finish_run(c, list[i], &c->kept[i], seconds);
        json_decref(members[i].suite);
    }
}

/* Seconds of an experiment in a process that it shares with OTHERS. */
static double share_of(const job_spending *before, size_t others)
{
    return before->known ? (before->own_ns + before->shared_ns / (double)(1 + others)) / 1e9 : 0;
}

static const job_experiment *item_at(const void *context, size_t index)
{
    return &((const carry *)context)->suite->items[index].e;
}

/* Finds the items' times in earlier runs. */
static void find_before(carry *c)
{
    const size_t count = c->suite->count;
    const char *store = c->options->earlier ? c->options->earlier : c->options->store;
    job_before *before = job_spent_before(store, item_at, c, count);
    size_t *others = bn_zalloc(count + 1, sizeof *others);
    for (size_t i = 0; i < count; i++)
        others[c->first[i]] += c->first[i] != i;
    for (size_t i = 0; before && i < count; i++) {
        c->before[i][0] = share_of(&before[i].first, others[c->first[i]]);
        c->before[i][1] = share_of(&before[i].further, others[c->first[i]]);
    }
    free(before);
    free(others);
}

/* The processes that the plan still needs. */
static size_t processes(const carry *c)
{
    size_t number = 0, list[JOB_MOST_MEMBERS];
    for (size_t i = 0, end; i < c->plan->count; i = end)
        number += collect(c, i, list, &end) > 0;
    return number;
}

/* Shows the plan and its time, with the least time of experiments without earlier runs. It computes
 * each item once for its first repetition and once for all others, as expect does. */
static void show_plan(const carry *c, size_t runs)
{
    const size_t of = c->planned;
    double seconds = 0, (*of_item)[2] = bn_zalloc(c->suite->count + 1, sizeof *of_item);
    bool known = true;
    for (size_t i = 0; i < c->plan->count; i++) {
        const suite_run *run = &c->plan->runs[i];
        const suite_item *item = run->item->control_of ? run->item->control_of : run->item;
        double *one = &of_item[item - c->suite->items][run->repetition > 1];
        if (!to_run(c, run))
            continue;
        if (*one == 0)
            *one = expected(c, run);
        known = known && *one >= 0;
        seconds += *one < 0 ? run->item->e.how.min_time : *one;
    }
    free(of_item);
    cli_note("[0/%zu] suite %s: %zu record%s of %zu process%s to run; they go to %s", of,
             c->suite->name, runs, runs == 1 ? "" : "s", of, of == 1 ? "" : "es",
             c->options->store);
    job_progress_plan(of, known ? seconds : -1,
                      c->suite->count > 0 ? c->suite->items[0].e.how.idle_cores : NULL);
}

/* Whether the store may still be written. */
static bool may_write(carry *c)
{
    const suite_options *o = c->options;
    if (!o->may_write || o->may_write(o->place, &c->store) == BN_OK)
        return true;
    const cli_exit code = cli_complain(&c->store);
    c->worst = code > c->worst ? code : c->worst;
    return false;
}

/* Runs the open runs, until the user or the store ends it. */
static void run_open(carry *c)
{
    size_t number = 0, list[JOB_MOST_MEMBERS];
    for (size_t i = 0, end;
         i < c->plan->count && !job_interrupted() && c->store.code == BN_OK && !c->refused;
         i = end) {
        const size_t count = collect(c, i, list, &end);
        if (count > 0 && may_write(c))
            run_process(c, list, count, count == end - i, ++number, c->planned);
    }
}

/* ---- the end ----------------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
    const res_record *const *left = a, *const *right = b;
    return strcmp((*left)->id, (*right)->id);
}

/* Adds OWED to TABLE, a text of JSON. */
static void add_owed(const suite_owed *owed, bn_text *table)
{
    bn_status ignored = {.code = BN_OK};
    json_t *object = NULL;
    if (!table->data || res_json_parse(table->data, table->length, &object, &ignored) != BN_OK)
        return;
    json_object_set_new(object, "owed", suite_owed_to_json(owed));
    char *text = json_dumps(object, JSON_INDENT(2) | RES_JSON_SHOWN);
    bn_text_free(table);
    bn_text_printf(table, "%s\n", text);
    free(text);
    json_decref(object);
}

/* Prints the table of the plan's records, stored before or now, in order of time. */
static void print_table(const carry *c, const suite_owed *owed, res_format format)
{
    bn_text text = {0}, page = {0};
    res_record **all = bn_zalloc(c->plan->count + c->record_count + 1, sizeof(res_record *));
    size_t n = 0;
    for (size_t i = 0; i < c->plan->count; i++)
        if (c->plan->runs[i].record && !c->plan->runs[i].item->control_of)
            all[n++] = c->plan->runs[i].record;
    for (size_t i = 0; i < c->record_count; i++)
        all[n++] = c->records[i];
    if (n > 1)
        qsort(all, n, sizeof *all, by_id);
    const res_collection list = {.records = all, .count = n};
    /* Programs that read JSON get a table even if it is empty. */
    if (n || format == RES_TABLE_JSON)
        res_table_speedup(&list, format, &text);
    if (owed->asked && format == RES_TABLE_JSON)
        add_owed(owed, &text);
    if (format == RES_TABLE_HTML && text.data)
        res_put_page(&page, c->suite->name, text.data);
    if (text.data)
        cli_out("%s", format == RES_TABLE_HTML ? page.data : text.data);
    bn_text_free(&text);
    bn_text_free(&page);
    free(all);
}

/* Time of all processes, summed. */
static job_spent spent_of(const carry *c)
{
    job_spent all = {0};
    for (size_t i = 0; i < 2 * c->suite->count; i++)
        job_spent_add(&all, &c->groups[i].spent);
    return all;
}

/* Ends the progress with the time of all processes. */
static void print_spent(const carry *c)
{
    bn_text line = {0};
    const job_spent all = spent_of(c);
    bn_text_printf(&line, "[%zu/%zu] suite %s: ", all.processes, c->planned, c->suite->name);
    job_spent_words(&all, &line);
    if (all.processes > 0)
        cli_note("%s", line.data);
    bn_text_free(&line);
}

/* Printed in one piece: the tasks of a launcher share its standard error. */
static void print_summary(const carry *c, const suite_shard *shard, size_t open)
{
    size_t failed = 0;
    bn_text line = {0}, classes = {0};
    bn_text_printf(&line, "suite %s", c->suite->name);
    if (shard->of > 1)
        bn_text_printf(&line, ", shard %d/%d by %s", shard->index, shard->of, shard->source);
    bn_text_printf(&line, ": %zu done, %zu skipped as already done", c->done, c->skipped);
    for (int i = 0; i < BN_CODE_COUNT; i++) {
        if (c->failed[i])
            bn_text_printf(&classes, "%s%s %zu", failed ? ", " : " (", bn_code_name((bn_code)i),
                           c->failed[i]);
        failed += c->failed[i];
    }
    bn_text_printf(&line, ", %zu failed%s%s", failed, failed ? classes.data : "",
                   failed ? ")" : "");
    if (c->kept_failures)
        bn_text_printf(&line, ", %zu had failed before (--retry-failed repeats them)",
                       c->kept_failures);
    if (c->controls)
        bn_text_printf(&line, "; controls: %zu done, %zu failed", c->controls - c->failed_controls,
                       c->failed_controls);
    if (open)
        bn_text_printf(&line, ", %zu not run", open);
    bn_text_printf(&line, "; records in %s", c->options->store);
    cli_note("%s", line.data);
    bn_text_free(&line);
    bn_text_free(&classes);
}

/* Whether a framework other than bench has a record. */
static bool has_frameworks(const carry *c)
{
    for (size_t i = 0; i < c->record_count; i++)
        if (c->records[i]->status == BN_OK && job_is_framework(&c->records[i]->experiment))
            return true;
    return false;
}

/* Suggests commands for the records; not for those of a night, which join others first, nor of a
 * shard. */
static void print_next(const carry *c, const suite_shard *shard)
{
    const size_t done = spent_of(c).processes;
    if (done == 0 || shard->of != 1 || c->options->earlier || job_interrupted())
        return;
    cli_note_command("[%zu/%zu] next: bench table --wide --store %s", done, c->planned,
                     c->options->store);
    if (has_frameworks(c))
        cli_note_command("[%zu/%zu] or: bench table --table costs --store %s", done, c->planned,
                         c->options->store);
}

static void begin(carry *c)
{
    const suite_item *items = c->suite->items;
    c->seconds = bn_zalloc(c->plan->count + 1, sizeof *c->seconds);
    c->records = bn_zalloc(c->plan->count + 1, sizeof(res_record *));
    c->first = bn_zalloc(c->suite->count + 1, sizeof *c->first);
    c->before = bn_zalloc(c->suite->count + 1, sizeof *c->before);
    c->groups = bn_zalloc(2 * c->suite->count + 1, sizeof *c->groups);
    c->kept = bn_zalloc(JOB_MOST_MEMBERS, sizeof *c->kept);
    c->members = bn_zalloc(JOB_MOST_MEMBERS, sizeof *c->members);
    for (size_t i = 0; i < c->suite->count; i++)
        while (c->first[i] < i && !job_same_group(&items[c->first[i]].e, &items[i].e))
            c->first[i]++;
    for (size_t i = 0; i < c->plan->count; i++) {
        const suite_run *run = &c->plan->runs[i];
        if (run->record)
            c->seconds[i] = record_seconds(run->record);
        const bool done = run->state == SUITE_DONE, own = !run->item->control_of;
        c->skipped += own && done;
        c->kept_failures += own && !done && !to_run(c, run);
    }
    c->planned = processes(c);
}

static void end(carry *c)
{
    for (size_t i = 0; i < c->record_count; i++)
        res_record_free(c->records[i]);
    free(c->records);
    free(c->seconds);
    free(c->first);
    free(c->before);
    free(c->groups);
    free(c->kept);
    free(c->members);
}

cli_exit suite_run_plan(const suite_spec *suite, const suite_options *options,
                        const suite_shard *shard, res_format format, suite_plan *plan)
{
    bn_status st = {.code = BN_OK};
    carry c = {.suite = suite, .options = options, .plan = plan};
    suite_owed owed = {.asked = false};
    cli_exit code;
    plan->left = plan->count;
    size_t of = 0;
    begin(&c);
    for (size_t i = 0; i < plan->count; i++)
        of += to_run(&c, &plan->runs[i]);
    if (of == 0 || job_cache_begin(options->store, &c.cache, &st) == BN_OK) {
        job_supervise_begin();
        if (of > 0)
            find_before(&c);
        if (of > 0 && !options->output.quiet)
            show_plan(&c, of);
        run_open(&c);
        job_cache_end(&c.cache);
        cli_line_clear();
        print_spent(&c);
        if (!job_interrupted())
            suite_owed_find(suite, options, shard, &owed);
        print_table(&c, &owed, format);
        plan->counts = (suite_counts){.done = c.done,
                                      .skipped = c.skipped,
                                      .controls = c.controls,
                                      .failed_controls = c.failed_controls};
        for (int i = 0; i < BN_CODE_COUNT; i++)
            plan->counts.failed += c.failed[i];
        plan->left = of - c.done - c.controls - plan->counts.failed;
        print_summary(&c, shard, plan->left);
        print_next(&c, shard);
        /* The last run has no record. */
        plan->left += c.store.code != BN_OK;
        code = job_interrupted()                           ? CLI_EXIT_INTERRUPTED
               : c.worst == CLI_EXIT_OK && c.kept_failures ? CLI_EXIT_FAILED
                                                           : c.worst;
        code = suite_owed_say(&owed, suite, options, code);
        suite_owed_free(&owed);
    } else {
        code = cli_complain(&st);
    }
    end(&c);
    return code;
}
