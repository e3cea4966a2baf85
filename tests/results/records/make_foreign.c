/*
 * make_foreign.c - writes a record that somebody made on purpose into a store, for the checks of
 * what is printed and where exports write: make_foreign STORE WHAT, where WHAT is
 *
 *   texts   signs that steer terminals, turn the direction of writing or are not seen, in all texts
 *   failed  the same of a run that failed
 *   paths   a machine called ../../../outside, and a label that is a path
 *   long    a machine with a name of 1,500 bytes
 *   digest  a digest of the runtime that is a path
 *   deep    a provenance of 1,990 levels
 */
#include "tests/support/results_fixture.h"

#include "results/records/records_priv.h"

/* An escape, a control of one sign, a mark of direction, signs without width, ends of lines, and
 * what Markdown, HTML and table programs act on. */
#define EVIL                                                                                       \
    "EV\x1b[31mI\x1b]0;L\x07\xc2\x9b"                                                              \
    "31m\xe2\x80\xae\xe2\x80\x8b\xe2\x81\xa6\r\n\t|`b`[l](http://x)<script>;www.evil.example"

/* The same in a short text. */
#define SHORT "ev\x1b[1mi\xc2\x9bl\xe2\x80\xae\xe2\x80\x8b\xe2\x81\xa6\n|"

static void put_texts(res_record *r)
{
    static const char *const sections[][2] = {
        {"host", "hostname"}, {"host", "cpu"},      {"host", "kernel"},
        {"host", "machine"},  {"runtime", "label"}, {"runtime", "platform"},
        {"group", "id"},      {"group", "how"},     {"runtime", "platform_version"}};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        json_t *section = json_object_get(r->provenance, sections[i][0]);
        json_object_set_new(section, sections[i][1], json_string(EVIL));
    }
    json_object_set_new(r->provenance, EVIL, json_pack("{ss}", EVIL, EVIL));
    snprintf(r->message, sizeof r->message, "%s", EVIL);
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        if (res_axes[i].field.kind == RES_KIND_TEXT)
            snprintf((char *)&r->experiment + res_axes[i].field.offset, res_axes[i].field.size,
                     "%s", SHORT);
    for (size_t i = 0; i < r->execution_count; i++) {
        snprintf(r->executions[i].graph, sizeof r->executions[i].graph, "%s", SHORT);
        snprintf(r->executions[i].device_note, sizeof r->executions[i].device_note, "%s", SHORT);
    }
}

static void put_deep(res_record *r)
{
    json_t *inner = json_array();
    for (int i = 0; i < 1990; i++)
        inner = json_pack("[o]", inner);
    json_object_set_new(r->provenance, "deep", inner);
}

int main(int argc, char **argv)
{
    char name[1501];
    bn_status st = {.code = BN_OK};
    if (argc != 3) {
        fputs("make_foreign STORE WHAT\n", stderr);
        return 2;
    }
    const char *what = argv[2];
    res_store_begin();
    res_record *r = fixture_record(&fixture_lazy, 10);
    json_decref(r->provenance);
    r->provenance =
        json_pack("{s{ss ss} s{ss} s{ss si si}}", "runtime", "sha256", FIXTURE_DIGEST, "label", "l",
                  "host", "hostname", "h", "group", "id", "g", "process", 1, "processes", 1);
    assert_non_null(r->provenance);
    json_t *host = json_object_get(r->provenance, "host");
    json_t *runtime = json_object_get(r->provenance, "runtime");
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    if (strcmp(what, "texts") == 0 || strcmp(what, "failed") == 0)
        put_texts(r);
    if (strcmp(what, "failed") == 0)
        r->status = BN_EXECUTE;
    if (strcmp(what, "paths") == 0) {
        json_object_set_new(host, "hostname", json_string("../../../outside"));
        json_object_set_new(runtime, "label", json_string("../../label"));
    }
    if (strcmp(what, "long") == 0)
        json_object_set_new(host, "hostname", json_string(name));
    if (strcmp(what, "digest") == 0)
        json_object_set_new(runtime, "sha256", json_string("../../zz"));
    if (strcmp(what, "deep") == 0)
        put_deep(r);
    if (res_store_write(argv[1], r, NULL, 0, &st) != BN_OK) {
        fprintf(stderr, "%s\n", st.message);
        return 1;
    }
    res_record_free(r);
    return 0;
}
