/*
 * steps_page.c - a recording as a page: the answer, what could be fixed, the tables of bench steps,
 * a timeline.
 */
#include "harness/commands/recording_priv.h"
#include "plots/plot.h"
#include "results/complaints/complaints.h"
#include "results/recordings/views.h"

#include <string.h>

#define INDEX    "index.html"
#define TIMELINE "timeline.json"

/* LINES as paragraphs, or as items of a list. */
static void put_lines(bn_text *out, const char *tag, const char *lines)
{
    while (*lines) {
        const size_t length = strcspn(lines, "\n");
        bn_text line = {0};
        bn_text_append(&line, lines, length);
        if (length) {
            bn_text_printf(out, "<%s>", tag);
            plot_html_text(out, line.data);
            bn_text_printf(out, "</%s>\n", tag);
        }
        bn_text_free(&line);
        lines += length + (lines[length] == '\n');
    }
}

static void put_command(bn_text *out, const rec_process *process)
{
    bn_text_puts(out, "<p>");
    for (const char *const *word = process->command; word && *word; word++) {
        bn_text_puts(out, word == process->command ? "" : " ");
        plot_html_text(out, *word);
    }
    bn_text_puts(out, "</p>\n");
}

static void put_body(const rec_checkup *checkup, const command_steps_texts *texts, bn_text *out)
{
    const rec_steps *steps = checkup->steps;
    bn_text words = {0};
    bn_text_puts(out, "<h1>Steps of a recording</h1>\n");
    put_command(out, steps->process);
    rec_answer_put(steps, &checkup->answer, &words);
    put_lines(out, "p", words.data ? words.data : "");
    bn_text_puts(out, "<h2>What could be fixed</h2>\n");
    bn_text_clear(&words);
    rec_checkup_put(checkup, &words);
    put_lines(out, "p", words.data ? words.data : "");
    bn_text_puts(out, "<h2>Where the time of a step goes</h2>\n");
    put_lines(out, "p", texts->head);
    bn_text_puts(out, texts->tables);
    put_lines(out, "p", texts->legend);
    bn_text_puts(out, "<h2>Where the device's time goes</h2>\n");
    bn_text_puts(out, texts->layers);
    bn_text_puts(out, "<h2>Timeline</h2>\n<p><a href=\"" TIMELINE "\">" TIMELINE
                      "</a>: open it in Perfetto or chrome://tracing.</p>\n");
    bn_text_free(&words);
}

/* The file NAME in FOLDER holds TEXT. */
static bn_code write_in(const char *folder, const char *name, const bn_text *text, bn_status *st)
{
    bn_text path = {0};
    bn_text_printf(&path, "%s/%s", folder, name);
    const bn_code code = bn_file_write_atomic(path.data, text->data, text->length, st);
    bn_text_free(&path);
    return code;
}

static bn_code write_timeline(const char *folder, const rec_steps *steps, bn_status *st)
{
    bn_text path = {0};
    bn_text_printf(&path, "%s/" TIMELINE, folder);
    const bn_code code = rec_timeline_write(steps->process, steps, path.data, true, st);
    bn_text_free(&path);
    return code;
}

bn_code command_steps_page(const rec_steps *steps, const command_steps_texts *texts,
                           const char *folder, bn_status *st)
{
    rec_checkup checkup = {0};
    bn_text body = {0}, page = {0};
    bn_code code = rec_check(steps, &checkup, st);
    if (code == BN_OK)
        code = bn_make_folder(folder, st);
    if (code == BN_OK)
        code = write_timeline(folder, steps, st);
    if (code == BN_OK) {
        put_body(&checkup, texts, &body);
        res_put_page(&page, "Steps of a recording", body.data);
        code = write_in(folder, INDEX, &page, st);
    }
    if (code == BN_OK)
        cli_note("bench: report: %s/" INDEX, folder);
    else
        bn_context(st, "report");
    rec_checkup_free(&checkup);
    bn_text_free(&body);
    bn_text_free(&page);
    return code;
}
