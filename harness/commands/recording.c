/*
 * recording.c - what commands on recordings share: sentences in lines, and what is damaged.
 */
#include "harness/commands/recording_priv.h"

void command_put_words(const char *words, res_format format, bn_text *out)
{
    bn_text lines = {0};
    res_put_lines(&lines, format, words);
    bn_text_wrap(out, lines.data ? lines.data : "", res_narrow());
    bn_text_free(&lines);
}

bool command_say_damage(const rec_recording *r)
{
    const size_t room = sizeof r->damaged / sizeof *r->damaged;
    for (size_t i = 0; i < r->damaged_count && i < room; i++)
        cli_say("%s/%s: %s", r->path, r->damaged[i].name, r->damaged[i].why.message);
    if (r->damaged_count > room)
        cli_say("%zu more processes cannot be read", r->damaged_count - room);
    if (r->about_fault.code != BN_OK)
        cli_say("%s: %s", r->path, r->about_fault.message);
    return r->damaged_count > 0 || r->about_fault.code != BN_OK;
}
