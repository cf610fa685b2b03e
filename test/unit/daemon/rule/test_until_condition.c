/*
 * test_until_condition.c - the conditions of `informerd watch --until`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "daemon/rule/until_condition.h"

static void the_syntax_of_kubectl_becomes_a_condition(void **state)
{
    static const struct {
        const char *text, *condition;
    } rows[] = {
        {"condition=Ready", "status.conditions[type=Ready].status=\"True\""},
        {"condition=Ready=false", "status.conditions[type=Ready].status=\"False\""},
        {"condition=Ready=Odd", "status.conditions[type=Ready].status=\"Odd\""},
        {"jsonpath={.status.phase}=Running", "status.phase=\"Running\""},
        {"jsonpath='{.status.phase}'=Running", "status.phase=\"Running\""},
        {"jsonpath={.status.podIP}", "status.podIP!=\"\""},
        {"jsonpath={.spec.containers[0].image}=a b", "spec.containers[0].image=\"a b\""},
        {"jsonpath={.spec.containers[*].image}=x", "spec.containers[*].image=\"x\""},
        {"jsonpath={.status.conditions[?(@.type==\"Ready\")].status}=True",
         "status.conditions[type=Ready].status=\"True\""},
        {"status.phase=Running", "status.phase=Running"},
        {"status.replicas>=3, spec.paused!=true", "status.replicas>=3, spec.paused!=true"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct until_condition until;
        struct inf_error err;
        if (until_condition_parse(rows[i].text, &until, &err) < 0)
            fail_msg("'%s': %s", rows[i].text, err.text);
        assert_int_equal(until.kind, UNTIL_HOLDS);
        assert_string_equal(condition_text(until.condition), rows[i].condition);
        until_condition_free(&until);
    }
}

static void create_and_delete_need_no_condition(void **state)
{
    struct until_condition until;
    (void)state;
    assert_int_equal(until_condition_parse("create", &until, NULL), 0);
    assert_int_equal(until.kind, UNTIL_CREATED);
    until_condition_free(&until);
    assert_int_equal(until_condition_parse("delete", &until, NULL), 0);
    assert_int_equal(until.kind, UNTIL_DELETED);
    until_condition_free(&until);
}

static void refuses_what_cannot_be_translated(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"jsonpath=.status.phase=x", "is not a JSONPath; write it like {.status.phase}=Running"},
        {"jsonpath={.status.phase", "is not a JSONPath"},
        {"jsonpath={.status.phase}x", "expected '=' after '}'"},
        {"jsonpath={..phase}=x", "this JSONPath is not supported; write a condition"},
        {"jsonpath={.a[?(@.x>1)]}=x", "not supported"},
        {"jsonpath={status}=x", "not supported"},
        {"ready", "ready"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct until_condition until;
        struct inf_error err = {0};
        if (until_condition_parse(rows[i].text, &until, &err) != -INF_EINVAL ||
            !strstr(err.text, rows[i].message))
            fail_msg("'%s': '%s'", rows[i].text, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_syntax_of_kubectl_becomes_a_condition),
        cmocka_unit_test(create_and_delete_need_no_condition),
        cmocka_unit_test(refuses_what_cannot_be_translated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
