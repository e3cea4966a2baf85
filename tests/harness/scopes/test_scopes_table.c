/*
 * test_scopes_table.c - the scope of a location in a program's text, and lines as a tree.
 */
#include "harness/scopes/scopes_priv.h"
#include "tests/support/test_runtime.h"

#include <string.h>

static void a_location_has_phase_and_scope(void **state)
{
    (void)state;
    static const struct {
        const char *location, *path;
        tg_phase phase;
    } cases[] = {
        {"layer1.0.conv1/convolution", "layer1.0.conv1", TG_PHASE_FORWARD},
        {"backward/layer1.0.conv1/convolution", "layer1.0.conv1", TG_PHASE_BACKWARD},
        {"update/sgd/multiply", "sgd", TG_PHASE_UPDATE},
        {"update/multiply", "", TG_PHASE_UPDATE},
        {"statistics/bn1/add", "bn1", TG_PHASE_STATISTICS},
        {"input/targets/convert", "targets", TG_PHASE_INPUT},
        {"updates.fc/dot", "updates.fc", TG_PHASE_FORWARD},
        {"forward.fc/dot", "forward.fc", TG_PHASE_FORWARD},
        {"add", "", TG_PHASE_FORWARD},
        {"", "", TG_PHASE_FORWARD},
    };
    scopes_table t;
    scopes_table_begin(&t);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const scopes_line *line = scopes_find_location(&t, cases[i].location);
        assert_string_equal(line->path, cases[i].path);
        assert_int_equal(line->phase, cases[i].phase);
        assert_ptr_equal(scopes_find(&t, cases[i].path, cases[i].phase), line);
    }
    assert_int_equal(t.count, 9); /* two locations are the same: forward, outside of all scopes */
    scopes_table_free(&t);
}

static void put(scopes_table *t, const char *path, tg_phase phase, double flops)
{
    scopes_find(t, path, phase)->figure[SCOPES_FLOPS] = flops;
}

/* "name sum (children)" of NODE. */
static void write_node(const scopes_node *node, bn_text *out)
{
    bn_text_printf(out, "%s %.0f", node->name, node->sum[SCOPES_FLOPS]);
    for (const scopes_node *c = node->first; c; c = c->next) {
        bn_text_puts(out, c == node->first ? " (" : ", ");
        write_node(c, out);
    }
    bn_text_puts(out, node->first ? ")" : "");
}

static void lines_become_a_tree(void **state)
{
    (void)state;
    scopes_table t;
    bn_text out = {0};
    scopes_table_begin(&t);
    put(&t, "layer1.0.conv", TG_PHASE_FORWARD, 1);
    put(&t, "layer1.0.conv", TG_PHASE_BACKWARD, 2);
    put(&t, "layer1.0", TG_PHASE_FORWARD, 4);
    put(&t, "", TG_PHASE_FORWARD, 8);
    put(&t, "layer1.1.conv", TG_PHASE_FORWARD, 16);
    bn_arena *memory = bn_arena_new(1024);
    const scopes_node *root = scopes_tree(&t, "net", false, memory);
    assert_non_null(root);
    write_node(root, &out);
    assert_string_equal(out.data,
                        "net 31 (layer1 23 (0 7 (conv 3), 1 16 (conv 16)), (no scope) 8)");
    bn_text_clear(&out);
    root = scopes_tree(&t, "net", true, memory);
    assert_non_null(root);
    write_node(root, &out);
    assert_string_equal(out.data,
                        "net 31 (layer1 23 (0 7 (conv 3 (forward 1, backward 2), forward 4), "
                        "1 16 (conv 16 (forward 16))), (no scope) 8 (forward 8))");
    assert_true(scopes_sum(&t, SCOPES_FLOPS) == 31);
    bn_text_free(&out);
    bn_arena_free(memory);
    scopes_table_free(&t);
}

/* A module may be called as a phase is: it is another child. */
static void modules_and_phases_are_apart(void **state)
{
    (void)state;
    scopes_table t;
    bn_text out = {0};
    scopes_table_begin(&t);
    put(&t, "a", TG_PHASE_FORWARD, 1);
    put(&t, "a.forward", TG_PHASE_FORWARD, 2);
    bn_arena *memory = bn_arena_new(1024);
    write_node(scopes_tree(&t, "net", true, memory), &out);
    assert_string_equal(out.data, "net 3 (a 3 (forward 1, forward 2 (forward 2)))");
    bn_text_free(&out);
    bn_arena_free(memory);
    scopes_table_free(&t);
}

/* A plugin shares the memory of the worker that answers. */
static void answers_of_workers_are_checked(void **state)
{
    (void)state;
    static const char text[] = "{\"steps\": 1, \"device_ns\": 5.0, \"ops\": ["
                               "{\"name\": \"\", \"ns\": 1.0, \"events\": 9223372036854775807},"
                               "{\"name\": \"\", \"ns\": 1.0, \"events\": 9223372036854775807},"
                               "{\"name\": \"\", \"ns\": 1.0, \"events\": 3},"
                               "{\"name\": \"a/add\", \"ns\": 1e308, \"events\": 1},"
                               "{\"name\": \"a/add\", \"ns\": -1.0, \"events\": 1},"
                               "{\"name\": \"a/add\", \"ns\": 2.0, \"events\": 1}]}";
    scopes_table t;
    scopes_device device = {.asked = true};
    json_t *answer = json_loads(text, 0, NULL);
    assert_non_null(answer);
    scopes_table_begin(&t);
    scopes_take(answer, SCOPES_MEASURED, &t, &device);
    assert_true(device.known);
    assert_int_equal(device.unplaced, 3);
    assert_true(scopes_sum(&t, SCOPES_MEASURED) == 5);
    scopes_table_free(&t);
    json_decref(answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_location_has_phase_and_scope),
        cmocka_unit_test(lines_become_a_tree),
        cmocka_unit_test(modules_and_phases_are_apart),
        cmocka_unit_test(answers_of_workers_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
