/*
 * test_lead_set.c - leads of paths, and which of them a diff touches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "changes.h"
#include "daemon/rule/lead_set.h"

static uint64_t add(struct lead_set *set, const char *text)
{
    struct item_path *path = item_path_parse(text, NULL);
    uint64_t bit;
    assert_non_null(path);
    bit = lead_set_add(set, path);
    item_path_free(path);
    return bit;
}

static void a_lead_is_the_first_four_steps(void **state)
{
    static const struct {
        const char *path, *lead;
    } rows[] = {
        {"kind", "kind"},
        {"status.phase", "status.phase"},
        {"status.containerStatuses[*].state", "status.containerStatuses[*].state"},
        {"status.containerStatuses[*].state.waiting.reason", "status.containerStatuses[*].state"},
        {"data[\"a.b\"].c[*][\"d.e\"]", "data[\"a.b\"].c[*]"},
        {"items[*].name", "items[*].name"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct item_path *path = item_path_parse(rows[i].path, NULL);
        char *lead = item_path_lead(path);
        assert_string_equal(lead, rows[i].lead);
        free(lead);
        item_path_free(path);
    }
}

static void a_diff_touches_the_leads_of_what_it_changed(void **state)
{
    struct lead_set set = {.count = 0};
    struct sample s;
    uint64_t restarts = add(&set, "status.containerStatuses[*].restartCount");
    uint64_t states = add(&set, "status.containerStatuses[*].state.waiting.reason"), whole, other;
    (void)state;
    assert_int_equal(add(&set, "status.containerStatuses[*].state.running"), states);
    whole = add(&set, "status");
    other = add(&set, "status.phase");
    sample_make(&s,
                "{'metadata':{'name':'p'},'status':{'phase':'Running',"
                "'containerStatuses':[{'name':'web','restartCount':1}]}}",
                "{'metadata':{'name':'p'},'status':{'phase':'Running',"
                "'containerStatuses':[{'name':'web','restartCount':2}]}}");
    assert_int_equal(lead_set_find(&set, s.diff), restarts | whole | LEAD_ALWAYS);
    sample_free(&s);
    sample_make(&s, "{'metadata':{'name':'p'}}",
                "{'metadata':{'name':'p'},'status':{'phase':'Failed'}}");
    assert_int_equal(lead_set_find(&set, s.diff), restarts | states | whole | other | LEAD_ALWAYS);
    sample_free(&s);
    lead_set_done(&set);
}

/* Diffs omit it: whether it changed is not known. */
static void what_diffs_omit_counts_as_touched(void **state)
{
    struct lead_set set = {.count = 0};
    uint64_t version = add(&set, "metadata.resourceVersion"), name = add(&set, "metadata.name");
    const char *object = "{'metadata':{'name':'p'}}";
    struct sample s;
    (void)state;
    sample_make(&s, object, object);
    assert_int_equal(lead_set_find(&set, s.diff), version | LEAD_ALWAYS);
    assert_true(name != version);
    sample_free(&s);
    lead_set_done(&set);
}

static void leads_without_room_are_touched_by_every_change(void **state)
{
    struct lead_set set = {.count = 0};
    (void)state;
    for (int i = 0; i < LEAD_SET_MAX + 2; i++) {
        char path[32];
        snprintf(path, sizeof(path), "status.field%d", i);
        assert_int_equal(add(&set, path), i < LEAD_SET_MAX ? UINT64_C(1) << i : LEAD_ALWAYS);
    }
    lead_set_done(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lead_is_the_first_four_steps),
        cmocka_unit_test(a_diff_touches_the_leads_of_what_it_changed),
        cmocka_unit_test(what_diffs_omit_counts_as_touched),
        cmocka_unit_test(leads_without_room_are_touched_by_every_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
