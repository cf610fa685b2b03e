/*
 * test_condition.c - conditions: what they hold for, when they begin, and the errors of the parser.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"
#include "changes.h"
#include "daemon/rule/condition.h"
#include "daemon/rule/condition_set.h"

static struct condition *parse(const char *text)
{
    struct inf_error err;
    struct condition *condition = condition_parse(text, &err);
    if (!condition)
        fail_msg("%s", err.text);
    assert_string_equal(condition_text(condition), text);
    return condition;
}

#define POD                                                                              \
    "'spec':{'nodeName':'node-1','hostNetwork':true,'note':'a \\u003cb\\u003e \\'c\\''," \
    "'quota':'12','empty':'','nothing':null,'ratio':1.50},"                              \
    "'status':{'phase':'Running','list':[1,2,3],'containerStatuses':["                   \
    "{'name':'web','restartCount':7,'state':{'waiting':{'reason':'CrashLoopBackOff'}}}," \
    "{'name':'db','restartCount':0}]}"

/* Beside other conditions, until there is no more room. */
static bool holds_in_a_set(const struct condition *condition, const struct inf_object *object)
{
    struct condition *other = parse("status.phase=Running,spec.nodeName=node-1");
    struct condition_set set = {.count = 0};
    uint64_t others = condition_set_add(&set, other), bits = condition_set_add(&set, condition);
    uint64_t found = condition_set_find(&set, object);
    assert_int_equal(found & others, others);
    assert_true(bits && !(bits & others));
    while (condition_set_add(&set, other))
        continue;
    assert_true(set.count >= CONDITION_SET_MAX - 1);
    assert_int_equal(condition_set_find(&set, object) & bits, found & bits);
    condition_free(other);
    return (found & bits) == bits;
}

static void holds_if_a_value_satisfies_each_term(void **state)
{
    static const struct {
        const char *text;
        bool holds;
    } rows[] = {
        {"status.phase=Running", true},
        {"status.phase=Run", false},
        {"  status.phase  =  Running  ", true},
        {"status.phase=\"Running\"", true},
        {"status.phase!=Running", false},
        {"status.phase!=Failed", true},
        {"status.phase in (Failed, Running)", true},
        {"status.phase in(Failed,Running)", true},
        {"status.phase in (Failed, Pending)", false},
        {"status.phase=Running,spec.nodeName=node-1", true},
        {"status.phase=Running, spec.nodeName=node-2", false},
        {"spec.hostNetwork=true", true},
        {"spec.hostNetwork!=true", false},
        {"spec.note=\"a <b> \\\"c\\\"\"", true},
        {"spec.empty=\"\"", true},
        {"spec.empty!=\"\"", false},
        {"spec.note~\"<b>\"", true},
        {"spec.note ~ \"\\\"c\"", true},
        {"status.phase ~ unn", true},
        {"status.phase ~ run", false},
        {"spec.missing ~ \"\"", false},
        /* missing and null */
        {"spec.missing=x", false},
        {"spec.missing!=x", false},
        {"spec.nothing!=x", false},
        {"spec.nothing=null", false},
        /* numbers */
        {"status.containerStatuses[*].restartCount>6", true},
        {"status.containerStatuses[*].restartCount>7", false},
        {"status.containerStatuses[*].restartCount>=7", true},
        {"status.containerStatuses[*].restartCount<1", true},
        {"status.containerStatuses[*].restartCount<0", false},
        {"status.containerStatuses[*].restartCount<=0", true},
        {"status.containerStatuses[*].restartCount=7.0", true},
        {"status.containerStatuses[*].restartCount=70e-1", true},
        {"status.containerStatuses[*].restartCount=\"7.0\"", false},
        {"status.containerStatuses[name=db].restartCount!=0", false},
        {"spec.ratio=1.5", true},
        {"spec.quota>2", true}, /* not compared as text */
        {"spec.quota>100", false},
        {"spec.quota=12.0", false},
        {"spec.nodeName>0", false},
        {"status.phase<=5", false},
        {"status.list[*]=2", true},
        {"status.list[*] in (4, 5)", false},
        {"status.list[1]>=2", true},
    };
    struct sample sample;
    (void)state;
    sample_pod(&sample, NULL, POD);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct condition *condition = parse(rows[i].text);
        if (condition_holds(condition, sample.after) != rows[i].holds)
            fail_msg("%s", rows[i].text);
        assert_int_equal(condition_began(condition, NULL, sample.after), rows[i].holds);
        assert_int_equal(holds_in_a_set(condition, sample.after), rows[i].holds);
        condition_free(condition);
    }
    sample_free(&sample);
}

#define C(name, reason) "{'name':'" name "','state':{'waiting':{'reason':'" reason "'}}}"
#define STATUSES(items) "'status':{'containerStatuses':[" items "]}"
#define CRASHES         "status.containerStatuses[*].state.waiting.reason=CrashLoopBackOff"
#define CRASH           "CrashLoopBackOff"

static void begins_for_each_item(void **state)
{
    static const struct {
        const char *text, *before, *after;
        bool began;
    } rows[] = {
        {"status.phase=Failed", "'status':{'phase':'Running'}", "'status':{'phase':'Failed'}",
         true},
        {"status.phase=Failed", "'status':{}", "'status':{'phase':'Failed'}", true},
        {"status.phase=Failed", "'status':{'phase':'Failed'}", "'status':{'phase':'Failed','x':1}",
         false},
        {"status.phase=Failed", "'status':{'phase':'Failed'}", "'status':{'phase':'Running'}",
         false},
        /* a second item */
        {CRASHES, STATUSES(C("web", "x") "," C("db", "x")),
         STATUSES(C("web", CRASH) "," C("db", "x")), true},
        {CRASHES, STATUSES(C("web", CRASH) "," C("db", "x")),
         STATUSES(C("web", CRASH) "," C("db", CRASH)), true},
        {CRASHES, STATUSES(C("web", CRASH) "," C("db", "x")),
         STATUSES(C("web", "x") "," C("db", CRASH)), true},
        /* the same item elsewhere in the list */
        {CRASHES, STATUSES(C("web", CRASH) "," C("db", "x")),
         STATUSES(C("db", "x") "," C("web", CRASH)), false},
        {CRASHES, STATUSES(C("web", CRASH) "," C("db", CRASH)), STATUSES(C("db", CRASH)), false},
        /* members of a map, by their key */
        {"data[*]=on", "'data':{'a':'on','b':'off'}", "'data':{'a':'off','b':'on'}", true},
        {"data[*]=on", "'data':{'a':'on','b':'off'}", "'data':{'b':'off','a':'on'}", false},
        {"data[*]=on", "'data':{'a\\\\\\'b':'on'}", "'data':{'c':'off','a\\\\\\'b':'on'}", false},
        /* values */
        {"spec.l[*]>1", "'spec':{'l':[1,2]}", "'spec':{'l':[2,1]}", false},
        {"spec.l[*]>1", "'spec':{'l':[1,2]}", "'spec':{'l':[1,2,3]}", true},
        /* positions: objects without a key */
        {"spec.l[*].v>1", "'spec':{'l':[{'v':2},{'v':0}]}", "'spec':{'l':[{'v':3},{'v':0}]}",
         false},
        {"spec.l[*].v>1", "'spec':{'l':[{'v':2},{'v':0}]}", "'spec':{'l':[{'v':3},{'v':4}]}", true},
        /* lists in lists */
        {"spec.l[*].m[*].v=1", "'spec':{'l':[{'name':'a','m':[{'type':'x','v':1}]}]}",
         "'spec':{'l':[{'name':'a','m':[{'type':'y','v':2},{'type':'x','v':1}]}]}", false},
        {"spec.l[*].m[*].v=1", "'spec':{'l':[{'name':'a','m':[{'type':'x','v':1}]}]}",
         "'spec':{'l':[{'name':'b','m':[{'type':'x','v':1}]},{'name':'a','m':[{'type':'x','v':1}]}]}",
         true},
        /* all terms must hold, one must begin */
        {"status.a=1,status.b=1", "'status':{'a':1}", "'status':{'a':1,'b':1}", true},
        {"status.a=1,status.b=1", "'status':{'b':1}", "'status':{'a':1,'b':2}", false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct condition *condition = parse(rows[i].text);
        struct sample s;
        sample_pod(&s, rows[i].before, rows[i].after);
        if (condition_began(condition, s.before, s.after) != rows[i].began)
            fail_msg("row %zu: %s", i, rows[i].text);
        if (rows[i].began)
            assert_true(condition_may_begin(condition, s.diff));
        condition_free(condition);
        sample_free(&s);
    }
}

static void a_list_beyond_the_limit_is_compared_in_part(void **state)
{
    struct buf before = {0}, after = {0};
    struct condition *condition = parse("spec.l[*].v=1");
    struct sample s;
    (void)state;
    buf_puts(&before, "'spec':{'l':[");
    buf_puts(&after, "'spec':{'l':[");
    for (int i = 0; i < 2000; i++) {
        buf_printf(&before, "%s{'name':'n%d','v':1}", i ? "," : "", i);
        buf_printf(&after, "%s{'name':'n%d','v':1}", i ? "," : "", i + (i >= 1999));
    }
    buf_put(&before, "]}", 3);
    buf_put(&after, "]}", 3);
    sample_pod(&s, before.bytes, after.bytes);
    assert_true(condition_holds(condition, s.after));
    assert_false(condition_began(condition, s.before, s.after));
    sample_free(&s);
    condition_free(condition);
    buf_free(&before);
    buf_free(&after);
}

static void a_diff_elsewhere_does_not_begin_it(void **state)
{
    static const struct {
        const char *text, *before, *after;
        bool touched;
    } rows[] = {
        {"status.phase=x", "'status':{'phase':'a','phases':1}",
         "'status':{'phase':'a','phases':'x'}", false},
        {"status.phase=x", "'status':{'phase':'a'}", "'status':{'phase':'b'}", false},
        {"status.phase=x", "'status':{'phase':'a'}", "'status':{'phase':'x'}", true},
        {"status.phase in (y, x)", "'status':{'phase':'a'}", "'status':{'phase':'x'}", true},
        {"status.phase!=x", "'status':{'phase':'x'}", "'status':{'phase':'b'}", true},
        {"status.phase=x", "'status':{'phase':'a'}", "'status':{'phase':'\\u0041'}", true},
        {"status.phase=b", "'spec':{}", "'spec':{},'status':{'phase':'b'}", true},
        {"status.phase=b", "'spec':{},'status':{'phase':'b'}", "'spec':{}", false},
        {"status=x", "'status':{'phase':'a'}", "'status':{'phase':'x'}", true},
        {"status.l[*].a>0", "'status':{'l':[{'a':1}]}", "'status':{'l':[{'a':2}]}", true},
        {"status.l[*].a=x", "'status':{'l':[{'b':1}]}", "'status':{'l':[{'b':'x'}]}", false},
        {"status.l[*].a=x", "'status':{'l':[{'name':'q','a':1}]}",
         "'status':{'l':[{'name':'q','a':'x'}]}", true},
        {"status.l[*].a=x", "'status':{'l':[{'name':'q]\\'.a','b':1}]}",
         "'status':{'l':[{'name':'q]\\'.a','b':'x'}]}", false},
        {"status.l[0].a=x", "'status':{'l':[{'name':'q','a':1}]}",
         "'status':{'l':[{'name':'q','a':'x'}]}", true},
        {"status.l[name=q].a=x", "'status':{'l':[{'name':'q','a':1}]}",
         "'status':{'l':[{'name':'q','a':'x'}]}", true},
        {"status.l[*].a=x", "'status':{'lists':1}", "'status':{'lists':'x'}", false},
        {"data[*]=x", "'data':{'a':1}", "'data':{'a':'x'}", true},
        {"data[*].b=x", "'data':{'a':{'c':1}}", "'data':{'a':{'c':'x'}}", false},
        {"data[*].b=x", "'data':{'a.d':{'b':1}}", "'data':{'a.d':{'b':'x'}}", true},
        {"[\"a.b\"]=x", "'a.b':1", "'a.b':'x'", true},
        {"metadata.resourceVersion=9", "'a':1", "'a':2", true},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct condition *condition = parse(rows[i].text);
        struct sample s;
        sample_pod(&s, rows[i].before, rows[i].after);
        if (condition_may_begin(condition, s.diff) != rows[i].touched)
            fail_msg("row %zu: %s", i, rows[i].text);
        condition_free(condition);
        sample_free(&s);
    }
}

static void errors_name_the_column_and_the_expected_form(void **state)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"", "column 1: expected a field path, for example status.phase=Failed"},
        {"a=1,", "column 5: expected a field path"},
        {"=1", "column 1: expected a field path"},
        {"status.phase", "column 13: expected an operator: =, !=, >, >=, <, <=, ~ or in (a, b)"},
        {"status.phase & x", "column 14: expected an operator"},
        {"status.phase~", "column 14: missing value"},
        {"status.phase is x", "column 14: expected an operator"},
        {"status.phase inside (a)", "column 14: expected an operator"},
        {"status.phase=", "column 14: missing value; write an empty value as \"\""},
        {"status.phase==x", "column 14: use a single '='"},
        {"status.phase=a b", "column 16: expected ',' or the end; quote a value"},
        {"status.phase=a*b", "column 15: quote a value that contains this character"},
        {"status.phase=\"a", "column 14: missing closing '\"'"},
        {"status.phase=\"a\\q\"", "column 16: invalid escape"},
        {"status.phase in a", "column 17: expected values in parentheses: in (a, b)"},
        {"status.phase in (a", "column 19: expected ',' or ')'"},
        {"status.phase in ()", "column 18: missing value"},
        {"a>x", "column 3: expected a number"},
        {"a>\"1\"", "column 3: expected a number"},
        {"a<=inf", "column 4: expected a number"},
        {"a<0x10", "column 3: expected a number"},
        {".a=1", "column 1: remove the leading '.'"},
        {"b=\"\xc3\xa4\", a..b=1", "column 10: missing name between two dots"},
        {"b=1, status.conditions[?(@.x)]=1", "column 24: write a filter as [type=Ready]"},
        {"b=1, \xc3\xa4.x[=1", "column 6: quote a key"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct inf_error err;
        assert_null(condition_parse(rows[i].text, &err));
        assert_int_equal(err.code, INF_EINVAL);
        assert_non_null(strstr(err.text, "condition '"));
        if (!strstr(err.text, rows[i].error))
            fail_msg("%s: %s", rows[i].text, err.text);
        assert_null(condition_parse(rows[i].text, NULL));
    }
}

static void too_much_is_an_error(void **state)
{
    struct inf_error err;
    struct buf text = {0};
    (void)state;
    for (int i = 0; i <= CONDITION_TERMS_MAX; i++)
        buf_puts(&text, i ? ",a=1" : "a=1");
    buf_putc(&text, '\0');
    assert_null(condition_parse(text.bytes, &err));
    assert_non_null(strstr(err.text, "at most 16 terms"));
    buf_clear(&text);
    for (int i = 0; i <= CONDITION_VALUES_MAX; i++)
        buf_puts(&text, i ? ",1" : "a in (1");
    buf_put(&text, ")", 2);
    assert_null(condition_parse(text.bytes, &err));
    assert_non_null(strstr(err.text, "at most 64 values"));
    buf_clear(&text);
    for (int i = 0; i <= CONDITION_TEXT_MAX; i++)
        buf_putc(&text, 'a');
    buf_putc(&text, '\0');
    assert_null(condition_parse(text.bytes, &err));
    assert_non_null(strstr(err.text, "at most 4096 bytes"));
    buf_clear(&text);
    for (int i = 0; i < 400; i++)
        buf_putc(&text, 'a');
    buf_put(&text, "..x=1", 6);
    assert_null(condition_parse(text.bytes, &err));
    assert_non_null(strstr(err.text, "column 402: missing name between two dots"));
    buf_free(&text);
    condition_free(NULL);
}

/* Names of any length identify items, without a copy of the name for each value in them. */
static void long_names_of_items_are_not_copied(void **state)
{
    enum {
        LONG = 10000,
        VALUES = 100
    };
    struct item_path *path = item_path_parse("spec.l[*].v[*]", NULL);
    struct item_values before, after;
    struct buf texts[2] = {{0}, {0}};
    struct sample s;
    (void)state;
    for (int side = 0; side < 2; side++) {
        buf_puts(&texts[side], "'spec':{'l':[{'name':'");
        for (int i = 0; i < LONG; i++)
            buf_putc(&texts[side], 'n');
        buf_puts(&texts[side], side ? "0','v':[7]},{'name':'" : "','v':[7]},{'name':'");
        for (int i = 0; i < LONG; i++)
            buf_putc(&texts[side], 'n');
        buf_puts(&texts[side], "1','v':[");
        for (int i = 0; i < VALUES; i++)
            buf_printf(&texts[side], "%s%d", i ? "," : "", i);
        buf_put(&texts[side], "]}]}", 5);
    }
    sample_pod(&s, texts[0].bytes, texts[1].bytes);
    item_values_collect(&before, path, s.before, NULL, NULL);
    item_values_collect(&after, path, s.after, NULL, NULL);
    assert_int_equal(after.count, VALUES + 1);
    assert_null(item_values_same(&after, 0, &before)); /* of an item with another name */
    assert_ptr_equal(item_values_same(&after, VALUES, &before), &before.at[VALUES]);
    assert_true(after.ids.len < LONG);
    item_values_free(&before);
    item_values_free(&after);
    item_path_free(path);
    sample_free(&s);
    buf_free(&texts[0]);
    buf_free(&texts[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_if_a_value_satisfies_each_term),
        cmocka_unit_test(begins_for_each_item),
        cmocka_unit_test(a_list_beyond_the_limit_is_compared_in_part),
        cmocka_unit_test(a_diff_elsewhere_does_not_begin_it),
        cmocka_unit_test(errors_name_the_column_and_the_expected_form),
        cmocka_unit_test(too_much_is_an_error),
        cmocka_unit_test(long_names_of_items_are_not_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
