/*
 * test_site.c - the files of a site: which there are, which of them a night changes, what becomes
 * of texts from records, and which folders are refused. Needs no plugin.
 */
#include "tests/results/store_fixture.h"

#include "plots/site/site_priv.h"

#include <unistd.h>

typedef struct built {
    place p;
    char site[300];
} built;

static int setup(void **state)
{
    built *b = calloc(1, sizeof *b);
    char parent[200];
    assert_non_null(b);
    res_store_begin();
    fixture_folder(b->p.store, sizeof b->p.store, "site");
    fixture_folder(parent, sizeof parent, "folder");
    snprintf(b->p.index, sizeof b->p.index, "%s/%s", b->p.store, RES_INDEX_FILE);
    snprintf(b->site, sizeof b->site, "%s/site", parent);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    free(*state);
    return 0;
}

/* Three processes of one build on DAY of January 2026. */
static void write_night(const built *b, int day, const char *sha256, double factor)
{
    char id[64], path[600];
    for (int i = 0; i < 3; i++) {
        snprintf(id, sizeof id, "202601%02dT02000%d.000000000Z-host-1-%d", day, i, i);
        const maker m = {id, sha256, "h1", factor + 0.001 * i, BN_OK, 1};
        write_with(&b->p, &m, "/builds/plugin.so", path);
    }
}

static bn_code publish_with(const built *b, site_options o, site_made *made, bn_status *st)
{
    res_index index;
    load_with(&b->p, NULL, &index);
    o.store = b->p.store;
    o.folder = o.folder ? o.folder : b->site;
    o.title = "Title <b>";
    o.night_hours = 12;
    o.now_s = (double)INFINITY;
    o.change = res_change_defaults();
    const bn_code code = site_publish(&o, &index, made, st);
    res_index_free(&index);
    return code;
}

static site_made publish(const built *b)
{
    site_made made;
    bn_status st = {0};
    assert_ok(publish_with(b, (site_options){0}, &made, &st), &st);
    return made;
}

/* The whole file NAME of the site; to be freed. */
static char *read_file(const built *b, const char *name)
{
    char path[400], *data;
    size_t size;
    bn_status st = {0};
    snprintf(path, sizeof path, "%s/%s", b->site, name);
    assert_ok(bn_regular_read(path, &data, &size, &st), &st);
    assert_int_equal(strlen(data), size);
    return data;
}

static bool has_file(const built *b, const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", b->site, name);
    return access(path, R_OK) == 0;
}

/* Data files whose names begin with KIND. */
static size_t count_files(const built *b, const char *kind)
{
    char path[400];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/data", b->site);
    DIR *list = opendir(path);
    assert_non_null(list);
    for (const struct dirent *entry; (entry = readdir(list));)
        count += strncmp(entry->d_name, kind, strlen(kind)) == 0;
    closedir(list);
    return count;
}

static void texts_are_plain_and_end_no_script(void **state)
{
    (void)state;
    bn_text markup = {0};
    bn_text_puts(&markup, "<p>\xc3\xb6</p>\n");
    json_t *value =
        json_pack("[ooooo]", site_text("</script>\x1b[1m\xe2\x80\xae \xc3\xb6\"\\\n\xff"),
                  site_taken(&markup), res_json_real(25000123.4), res_json_real((double)NAN),
                  site_seconds(1.6));
    bn_text out = site_data("name", value);
    assert_string_equal(out.data, "bench_data(\"name\",[\"\\u003c/script>?[1m? \\u00F6\\\"\\\\ ?\","
                                  "\"\\u003cp>\\u00F6\\u003c/p>\\n\",2.500012e7,null,2]);\n");
    bn_text_free(&out);
}

static void a_site_has_a_file_for_each_night_build_and_model(void **state)
{
    const built *b = *state;
    write_night(b, 1, "aa", 1);
    write_night(b, 2, "bb", 1.1);
    const site_made made = publish(b);
    assert_int_equal(made.records, 6);
    assert_int_equal(made.nights, 2);
    assert_int_equal(made.builds, 2);
    assert_int_equal(count_files(b, "night-"), 2);
    assert_int_equal(count_files(b, "build-"), 2);
    assert_int_equal(count_files(b, "model-"), 1);
    /* The records of the latest three nights. */
    assert_int_equal(count_files(b, "record-"), 6);
    assert_true(has_file(b, "data/night-20260102T020000.js"));
    static const char *const others[] = {"index.html", "site.css",     "page.js",
                                         "site.json",  "data/site.js", "data/newest.js"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(has_file(b, others[i]));
    char *page = read_file(b, "index.html");
    assert_non_null(strstr(page, "<title>Title &lt;b&gt;</title>"));
    free(page);
}

static void a_night_changes_few_files(void **state)
{
    const built *b = *state;
    for (int day = 1; day <= 8; day++)
        write_night(b, day, "aa", 1);
    publish(b);
    /* All are of the latest build. */
    assert_int_equal(count_files(b, "record-"), 24);
    site_made again = publish(b);
    assert_int_equal(again.written, 0);
    assert_int_equal(again.removed, 0);
    write_night(b, 9, "bb", 1);
    again = publish(b);
    /* Night, build, model, latest, three records, the lists, the page. */
    assert_int_equal(again.written, 9);
    /* Pages neither of the latest build nor of the latest three nights are removed. */
    assert_int_equal(again.removed, 18);
    assert_int_equal(count_files(b, "record-"), 9);
}

static void what_is_gone_from_the_store_goes_from_the_site(void **state)
{
    const built *b = *state;
    char path[600];
    const maker m = {"20260103T020000.000000000Z-host-1-0", "cc", "h1", 1, BN_OK, 1};
    write_night(b, 1, "aa", 1);
    write_with(&b->p, &m, "/builds/plugin.so", path);
    publish(b);
    assert_true(has_file(b, "data/night-20260103T020000.js"));
    assert_int_equal(unlink(path), 0);
    const site_made made = publish(b);
    assert_false(has_file(b, "data/night-20260103T020000.js"));
    /* Night, build and record. */
    assert_int_equal(made.removed, 3);
}

static void other_folders_are_refused(void **state)
{
    const built *b = *state;
    site_made made;
    bn_status st = {0};
    char path[400];
    write_night(b, 1, "aa", 1);
    /* The store itself. */
    assert_fails(publish_with(b, (site_options){.folder = b->p.store}, &made, &st), BN_INVALID,
                 b->p.store, &st);
    publish(b);
    snprintf(path, sizeof path, "%s/site.json", b->site);
    assert_ok(bn_file_write_atomic(path, "{\"bench_site\": 99, \"asked\": []}", 31, &st), &st);
    assert_fails(publish_with(b, (site_options){0}, &made, &st), BN_NOT_SUPPORTED, b->site, &st);
    static const char *const bad[] = {"", "[]", "{\"bench_site\": 0, \"asked\": []}",
                                      "{\"bench_site\": 1, \"asked\": [1]}", "{\"bench_site\": 1}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_ok(bn_file_write_atomic(path, bad[i], strlen(bad[i]), &st), &st);
        assert_fails(publish_with(b, (site_options){0}, &made, &st), BN_INVALID, b->site, &st);
    }
}

static void a_record_that_was_asked_for_stays(void **state)
{
    const built *b = *state;
    site_made made;
    bn_status st = {0};
    static const char *const first[] = {"20260101T020001.000000000Z-host-1-1"};
    static const char *const none[] = {"20250101T020001.000000000Z-host-1-1"};
    for (int day = 1; day <= 6; day++)
        write_night(b, day, "aa", 1);
    /* Another build, so that the latest tables are not of the first night. */
    write_night(b, 7, "bb", 1);
    publish(b);
    assert_int_equal(count_files(b, "record-"), 9);
    assert_ok(publish_with(b, (site_options){.asked = first, .asked_count = 1}, &made, &st), &st);
    assert_int_equal(made.opened, 4); /* three for the tables */
    assert_int_equal(count_files(b, "record-"), 10);
    publish(b);
    assert_int_equal(count_files(b, "record-"), 10);
    assert_fails(publish_with(b, (site_options){.asked = none, .asked_count = 1}, &made, &st),
                 BN_NOT_FOUND, none[0], &st);
}

static void what_was_judged_stays_with_its_night(void **state)
{
    const built *b = *state;
    site_made made;
    bn_status st = {0};
    write_night(b, 1, "aa", 1);
    json_t *plans = json_pack("[{ss}]", "claims", "few-nights");
    const site_options judged = {.headline = "found slower: 1 of 1 <i>",
                                 .words = "one\ntwo\n",
                                 .failed = 3,
                                 .looks = 2,
                                 .plans = plans,
                                 .conclusive = true};
    assert_ok(publish_with(b, judged, &made, &st), &st);
    write_night(b, 2, "aa", 1);
    publish(b);
    char *verdict = read_file(b, "data/verdict-20260101T020000.js");
    assert_string_equal(verdict,
                        "bench_data(\"verdict-20260101T020000\",{\"headline\":\"found slower: "
                        "1 of 1 \\u003ci>\",\"words\":\"one\\ntwo\\n\",\"failed\":3,"
                        "\"missing\":0,\"looks\":2,\"plans\":[{\"claims\":\"few-nights\"}],"
                        "\"told\":true});\n");
    json_decref(plans);
    free(verdict);
    assert_int_equal(count_files(b, "verdict-"), 1);
}

/* It would stand before each value below it. */
static void long_names_in_a_provenance_are_cut(void **state)
{
    const built *b = *state;
    static const char id[] = "20260101T020000.000000000Z-host-1-0";
    char key[1001], cut[202], name[64], path[600];
    bn_status st = {0};
    fixture_case c = fixture_lazy;
    c.runtime = "/builds/plugin.so";
    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = '\0';
    memcpy(cut, key, sizeof cut);
    cut[sizeof cut - 1] = '\0';
    res_record *r = fixture_record(&c, 20);
    snprintf(r->id, sizeof r->id, "%s", id);
    assert_int_equal(
        json_object_set_new(r->provenance, key, json_pack("{ss ss}", "a", "one", "b", "two")), 0);
    assert_ok(res_store_write(b->p.store, r, path, sizeof path, &st), &st);
    res_record_free(r);
    publish(b);
    snprintf(name, sizeof name, "data/record-%s.js", site_key_of(id).text);
    char *data = read_file(b, name);
    assert_null(strstr(data, cut)); /* 201 bytes */
    assert_non_null(strstr(data, cut + 1));
    assert_non_null(strstr(data, "\"two\""));
    free(data);
}

/* The value that the data file of the record ID has (new reference). */
static json_t *read_detail(const built *b, const char *id)
{
    char name[64];
    snprintf(name, sizeof name, "data/record-%s.js", site_key_of(id).text);
    char *data = read_file(b, name), *from = strchr(data, ',');
    assert_non_null(from);
    json_t *value = json_loads(from + 1, JSON_DISABLE_EOF_CHECK, NULL);
    assert_non_null(value);
    free(data);
    return value;
}

static int64_t number_at(const json_t *object, const char *name, size_t index)
{
    const json_t *value = json_array_get(json_object_get(object, name), index);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static void a_timeline_has_phases_rounds_and_parts(void **state)
{
    const built *b = *state;
    static const char id[] = "20260101T020000.000000000Z-host-1-0";
    char path[600];
    bn_status st = {0};
    fixture_case c = fixture_lazy;
    c.runtime = "/builds/plugin.so";
    res_record *r = fixture_record(&c, 20);
    snprintf(r->id, sizeof r->id, "%s", id);
    r->wall_ns[15] += 5000000;
    r->part_ns[15 * BN_PART_COUNT + BN_PART_WAIT] += 5000000;
    assert_ok(res_record_reserve_rounds(r, 2, &st), &st);
    r->round_count = 2;
    r->rounds[0] = (res_round){.steps = 12, .wall_ns = 400000000};
    r->rounds[1] = (res_round){.steps = 8, .position = 1, .wall_ns = RES_UNKNOWN};
    assert_int_equal(
        json_object_set_new(
            r->provenance, "phases",
            json_pack("{sI sI sI sI sI sI sI}", "wall_ns", (json_int_t)9000000000, "others_ns",
                      (json_int_t)1000000000, "initialization_ns", (json_int_t)100000000,
                      "preparation_ns", (json_int_t)50000000, "compile_ns", (json_int_t)3000000000,
                      "warmup_ns", (json_int_t)200000000, "measuring_ns", (json_int_t)900000000)),
        0);
    assert_ok(res_store_write(b->p.store, r, path, sizeof path, &st), &st);
    publish(b);
    json_t *detail = read_detail(b, id);
    const json_t *phases = json_object_get(detail, "phases");
    assert_true(json_number_value(json_object_get(phases, "wall")) == 9e9);
    assert_true(json_number_value(json_object_get(phases, "others")) == 1e9);
    assert_true(json_number_value(json_object_get(phases, "measuring")) == 9e8);
    assert_int_equal(number_at(detail, "rounds", 1), 8);
    assert_int_equal(number_at(detail, "round_wall", 0), 400000000);
    assert_true(json_is_null(json_array_get(json_object_get(detail, "round_wall"), 1)));
    assert_int_equal(json_array_size(json_object_get(detail, "parts")), BN_PART_COUNT);
    /* The first ten steps, and the longest. Their parts sum to their wall times. */
    const json_t *parted = json_object_get(detail, "parted");
    assert_int_equal(json_array_size(parted), 10);
    int64_t sum = 0;
    for (size_t p = 0; p < BN_PART_COUNT; p++)
        sum += number_at(detail, "longest", p + 1);
    assert_int_equal(number_at(detail, "longest", 0), 15);
    assert_int_equal(sum, r->wall_ns[15]);
    assert_int_equal(json_integer_value(json_array_get(json_array_get(parted, 9), 0)), 9);
    json_decref(detail);
    res_record_free(r);
}

static void a_timeline_of_a_failure_is_empty(void **state)
{
    const built *b = *state;
    static const char id[] = "20260101T020000.000000000Z-host-1-0";
    char path[600];
    const maker m = {id, "aa", "h1", 1, BN_CRASH, 1};
    write_with(&b->p, &m, "/builds/plugin.so", path);
    publish(b);
    json_t *detail = read_detail(b, id);
    assert_true(json_is_null(json_object_get(detail, "phases")));
    assert_true(json_is_null(json_object_get(detail, "longest")));
    assert_int_equal(json_array_size(json_object_get(detail, "parted")), 0);
    json_decref(detail);
}

/* The page of a model has no other words for it. */
static void a_model_that_always_failed_says_so(void **state)
{
    const built *b = *state;
    static const bn_code codes[] = {BN_CRASH, BN_TIMEOUT};
    char id[64], path[600], name[64];
    for (int night = 0; night < 2; night++) {
        snprintf(id, sizeof id, "2026010%dT020000.000000000Z-host-1-0", night + 1);
        const maker m = {id, "aa", "h1", 1, codes[night], 1};
        write_with(&b->p, &m, "/builds/plugin.so", path);
    }
    publish(b);
    snprintf(name, sizeof name, "data/model-%s.js", site_key_of(fixture_lazy.model).text);
    char *data = read_file(b, name), *from = strchr(data, ',');
    assert_non_null(from);
    json_t *model = json_loads(from + 1, JSON_DISABLE_EOF_CHECK, NULL);
    const json_t *series = json_array_get(json_object_get(model, "series"), 0);
    assert_int_equal(json_array_size(json_object_get(model, "series")), 1);
    assert_true(json_is_object(json_object_get(series, "metrics")));
    assert_int_equal(json_object_size(json_object_get(series, "metrics")), 0);
    json_t *failed =
        json_pack("[[iis][iis]]", 0, 1, bn_code_name(BN_CRASH), 1, 1, bn_code_name(BN_TIMEOUT));
    assert_true(json_equal(json_object_get(series, "failed"), failed));
    json_decref(failed);
    json_decref(model);
    free(data);
}

static void a_store_without_dates_has_a_site(void **state)
{
    const built *b = *state;
    char path[600];
    const maker m = {"no-date-0", "aa", "h1", 1, BN_OK, 1};
    write_with(&b->p, &m, "/builds/plugin.so", path);
    const site_made made = publish(b);
    assert_int_equal(made.records, 0);
    char *lists = read_file(b, "data/site.js");
    assert_non_null(strstr(lists, "\"timeless\":1"));
    free(lists);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(texts_are_plain_and_end_no_script),
        T(a_site_has_a_file_for_each_night_build_and_model),
        T(a_night_changes_few_files),
        T(what_is_gone_from_the_store_goes_from_the_site),
        T(other_folders_are_refused),
        T(a_record_that_was_asked_for_stays),
        T(what_was_judged_stays_with_its_night),
        T(long_names_in_a_provenance_are_cut),
        T(a_timeline_has_phases_rounds_and_parts),
        T(a_timeline_of_a_failure_is_empty),
        T(a_model_that_always_failed_says_so),
        T(a_store_without_dates_has_a_site),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
