/*
 * test_conf_ignore.c - the option `ignore` of watches: its defaults, and errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "conf_world.h"

static void heartbeats_are_ignored_by_default_for_nodes_and_leases(void **state)
{
    static const struct {
        const char *resource;
        const char *ignore;
    } rows[] = {
        {"nodes", "heartbeats "},
        {"node", "heartbeats "},
        {"No", "heartbeats "},
        {"nodes.v1.", "heartbeats "},
        {"leases", "heartbeats "},
        {"Lease", "heartbeats "},
        {"leases.coordination.k8s.io", "heartbeats "},
        {"leases.coordination.k8s.io/v1", "heartbeats "},
        {"leases.v1.coordination.k8s.io", "heartbeats "},
        {"nodes.metrics.k8s.io", "unchanged "},
        {"nodes.example.com/v1", "unchanged "},
        {"leases.example.com/v1", "unchanged "},
        {"pods", "unchanged "},
        {"nodes, ignore: []", ""},
        {"nodes, ignore: [unchanged]", "unchanged "},
        {"pods, ignore: [heartbeats, unchanged]", "heartbeats unchanged "},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *text = xasprintf("watches: [{resource: %s}]", rows[i].resource);
        struct conf conf = conf_world_text(text);
        struct buf ignored = {0};
        for (size_t k = 0; k < conf.watches[0].ignore.count; k++)
            buf_printf(&ignored, "%s ", conf.watches[0].ignore.items[k]);
        buf_putc(&ignored, '\0');
        if (strcmp(ignored.bytes, rows[i].ignore) != 0)
            fail_msg("%s: ignore is %s", rows[i].resource, ignored.bytes);
        buf_free(&ignored);
        conf_free(&conf);
        free(text);
    }
}

static void entries_are_presets_or_field_paths(void **state)
{
    static const struct {
        const char *ignore, *error;
    } rows[] = {
        {"hartbeats", "x.conf:1:37: watches[0].ignore[0]: unknown value 'hartbeats'; did you mean "
                      "'heartbeats'?\n"},
        {"status..x", "x.conf:1:37: watches[0].ignore[0]: path 'status..x': column 8: missing name "
                      "between two dots; '..' is not supported\n"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *text = xasprintf("watches: [{resource: pods, ignore: [%s]}]", rows[i].ignore);
        char *errors = conf_world_text_errors(text);
        assert_string_equal(errors, rows[i].error);
        free(errors);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heartbeats_are_ignored_by_default_for_nodes_and_leases),
        cmocka_unit_test(entries_are_presets_or_field_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
