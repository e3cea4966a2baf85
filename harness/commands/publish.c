/* publish.c - bench publish: a static site over a store. */
#include "harness/commands/commands.h"
#include "harness/commands/selection_priv.h"
#include "plots/site/site.h"

#include <time.h>

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void tell(const command_publishing *own, const site_made *made)
{
    cli_tell("%zu record%s of %zu night%s and %zu build%s; %zu file%s written, %zu unchanged, %zu "
             "removed; %s/index.html",
             made->records, plural(made->records), made->nights, plural(made->nights), made->builds,
             plural(made->builds), made->written, plural(made->written), made->unchanged,
             made->removed, own->folder);
    if (made->no_pictures)
        cli_say(
            "bench: the site has no pictures: there is no gnuplot; apt-get install gnuplot-nox");
    if (made->unread > 0)
        cli_say("bench: the details of %zu record%s are missing: their files could not be read",
                made->unread, plural(made->unread));
}

int command_publish(const command_publishing *own, const command_series *series)
{
    bn_status st = {.code = BN_OK};
    res_index index = {0};
    site_made made = {0};
    site_options options = {.store = own->store,
                            .folder = own->folder,
                            .title = own->title,
                            .night_hours = series->night_hours,
                            .now_s = (double)time(NULL),
                            .change = res_history_defaults().change,
                            .asked = own->asked,
                            .asked_count = own->asked_count};
    bn_code code = BN_OK;
    if (!own->folder)
        code = bn_fail(&st, BN_INVALID, "bench publish needs --output DIR");
    if (code == BN_OK)
        code = command_index_load(own->store, series->reindex, &index, NULL, &st);
    if (code == BN_OK)
        code = site_publish(&options, &index, &made, &st);
    int exit_code = index.damaged_count ? CLI_EXIT_FAILED : CLI_EXIT_OK;
    if (code == BN_OK) {
        job_say_damaged(index.damaged, index.damaged_count);
        tell(own, &made);
    } else {
        exit_code = (int)cli_complain(&st);
    }
    res_index_free(&index);
    return exit_code;
}
