/*
 * test_diff.c - the changes between two texts, and their format. Every diff here must also
 * turn the old text into the new one (patch.h). Random texts are in test_diff_random.c, limits in
 * test_diff_limits.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "builders.h"
#include "core/diff/diff.h"
#include "patch.h"

struct row {
    const char *old_text;
    const char *new_text;
    const char *expected;
};

static void check_row(const struct row *row)
{
    const struct inf_diff_options all = {.all = true};
    char *old_text = patch_json(row->old_text), *new_text = patch_json(row->new_text), *got;
    char *expected = patch_json(row->expected);
    struct inf_diff *diff = diff_make(str_of(old_text), str_of(new_text), &all);
    got = patch_lines(diff);
    if (strcmp(got, expected) != 0)
        fail_msg("%s\n%s\nactual:\n%s\nexpected:\n%s", old_text, new_text, got, expected);
    assert_false(inf_diff_truncated(diff));
    patch_assert(diff, str_of(old_text), str_of(new_text));
    inf_diff_free(diff);
    free(got);
    free(expected);
    free(old_text);
    free(new_text);
}

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_row(&rows[i]);
}

static const struct row members[] = {
    {"{}", "{}", ""},
    {"{'a':1}", "{'a':1}", ""},
    {"{'a':1}", "{'a':2}", "~ a 1 -> 2"},
    {"{'a':1}", "{'a':1,'b':{'c':2}}", "+ b {'c':2}"},
    {"{'a':1,'b':{'c':2}}", "{'a':1}", "- b {'c':2}"},
    {"{'a':{'b':{'c':1,'d':2}}}", "{'a':{'b':{'c':1,'d':3}}}", "~ a.b.d 2 -> 3"},
    /* the order of members does not matter */
    {"{'a':1,'b':2}", "{'b':2,'a':1}", ""},
    {"{'a':1,'b':{'c':1,'d':2}}", "{'b':{'d':2,'c':3},'a':1}", "~ b.c 1 -> 3"},
    /* changes in the old order, then removed members, then added ones in the new order */
    {"{'a':1,'b':2,'c':3,'d':4}", "{'f':6,'d':5,'e':7,'b':3}",
     "~ b 2 -> 3\n~ d 4 -> 5\n- a 1\n- c 3\n+ f 6\n+ e 7"},
    /* another type or spelling is a replacement, because the server changed it */
    {"{'a':{}}", "{'a':[]}", "~ a {} -> []"},
    {"{'a':null}", "{'a':{'b':1}}", "~ a null -> {'b':1}"},
    {"{'a':1}", "{'a':'1'}", "~ a 1 -> '1'"},
    {"{'a':100}", "{'a':1e2}", "~ a 100 -> 1e2"},
    {"{'a':12345678901234567890123}", "{'a':12345678901234567890124}",
     "~ a 12345678901234567890123 -> 12345678901234567890124"},
    {"{'a':{}}", "{'a':{'b':1}}", "+ a.b 1"},
    /* the root itself */
    {"1", "2", "~ . 1 -> 2"},
    {"{'a':1}", "[]", "~ . {'a':1} -> []"},
    /* a key that occurs twice has no unique path */
    {"{'a':{'b':1,'b':2}}", "{'a':{'b':1,'b':3}}", "~ a {'b':1,'b':2} -> {'b':1,'b':3}"},
    {"{'a':{'b':1}}", "{'a':{'b':1,'\\u0062':1}}", "~ a {'b':1} -> {'b':1,'\\u0062':1}"},
    {"{'a':1,'a':2}", "{'a':1}", "~ . {'a':1,'a':2} -> {'a':1}"},
};

static void members_are_paired_by_key(void **state)
{
    (void)state;
    check_rows(members, ARRAY_LEN(members));
}

static const struct row spellings[] = {
    {"{'a':{}}", "{'a':{'pod-template-hash':1}}", "+ a.pod-template-hash 1"},
    {"{'a':{}}", "{'a':{'a.b/c':1}}", "+ a['a.b/c'] 1"},
    {"{'a.b':{'c':1}}", "{'a.b':{'c':2}}", "~ ['a.b'].c 1 -> 2"},
    {"{'':{'':1}}", "{'':{'':2}}", "~ [''][''] 1 -> 2"},
    {"{'a':{}}", "{'a':{'\\u0062':1}}", "+ a.b 1"}, /* it has no unique path */
    {"{'a':{'\\u0062':1}}", "{'a':{'b':2}}", "~ a.b 1 -> 2"},
    {"{'a':{}}", "{'a':{'\\\"]':1}}", "+ a['\\\"]'] 1"},
    {"{'a':{}}", "{'a':{'\\\\n':1}}", "+ a['\\\\n'] 1"},
    {"{'a':{}}", "{'a':{'x\\ny\\u0000\\u007f':1}}", "+ a['x\\ny\\u0000\\u007f'] 1"},
    {"{'a':{}}", "{'a':{'\\ud83d\\ude00':1}}", "+ a['\xf0\x9f\x98\x80'] 1"},
    {"{'a':{}}", "{'a':{'\xc3\xa9':1}}", "+ a['\xc3\xa9'] 1"},
    {"[{'name':'a b','n':1}]", "[{'name':'a b','n':2}]", "~ [name='a b'].n 1 -> 2"},
    {"[{'name':'a]b','n':1}]", "[{'name':'a]b','n':2}]", "~ [name='a]b'].n 1 -> 2"},
    {"[{'name':'','n':1}]", "[{'name':'','n':2}]", "~ [name=''].n 1 -> 2"},
    {"[{'name':'\\u0061','n':1}]", "[{'name':'\\u0061','n':2}]", "~ [name=a].n 1 -> 2"},
    {"[{'key':'a.b/c:d','n':1}]", "[{'key':'a.b/c:d','n':2}]", "~ [key=a.b/c:d].n 1 -> 2"},
    {"[{'port':80,'n':1}]", "[{'port':80,'n':2}]", "~ [port=80].n 1 -> 2"},
};

static void paths_are_quoted_only_if_necessary(void **state)
{
    (void)state;
    check_rows(spellings, ARRAY_LEN(spellings));
}

#define A "{'name':'a','n':1}"
#define B "{'name':'b','n':2}"
#define C "{'name':'c','n':3}"

static const struct row keyed[] = {
    {"[" A "," B "]", "[" A ",{'name':'b','n':3}]", "~ [name=b].n 2 -> 3"},
    {"[" A "," B "]", "[" B "]", "- [name=a] " A},
    {"[" A "]", "[" A "," B "]", "+ [name=b] " B},
    {"[]", "[" A "," B "]", "+ [name=a] " A "\n+ [name=b] " B},
    {"[" A "]", "[]", "- [name=a] " A},
    {"[" A "]", "[" B "]", "- [name=a] " A "\n+ [name=b] " B},
    /* an item that is not appended has its index */
    {"[" A "," C "]", "[" A "," B "," C "]", "+ [name=b] @1 " B},
    {"[" C "]", "[" A "," B "," C "]", "+ [name=a] @0 " A "\n+ [name=b] @1 " B},
    {"[" A "," B "]", "[" C "," B "]", "- [name=a] " A "\n+ [name=c] @0 " C},
    /* another order of the items that remain */
    {"[" A "," B "]", "[" B "," A "]", "% . ['name=a','name=b'] -> ['name=b','name=a']"},
    {"{'l':[" A "," B "," C "]}", "{'l':[" C ",{'name':'d'},{'name':'a','n':9}]}",
     "~ l[name=a].n 1 -> 9\n- l[name=b] " B "\n% l ['name=a','name=c'] -> ['name=c','name=a']\n"
     "+ l[name=d] @1 {'name':'d'}"},
    /* a merge key must be in every item, be a string or a number, and be unique */
    {"[{'name':'a'},{'n':1}]", "[{'name':'a'},{'n':2}]", "~ [1].n 1 -> 2"},
    {"[{'name':null,'type':'T','n':1}]", "[{'name':null,'type':'T','n':2}]", "~ [type=T].n 1 -> 2"},
    {"[{'name':{},'n':1}]", "[{'name':{},'n':2}]", "~ [0].n 1 -> 2"},
    {"[{'name':'a','name':'b','n':1}]", "[{'name':'a','name':'b','n':2}]",
     "~ [0] {'name':'a','name':'b','n':1} -> {'name':'a','name':'b','n':2}"},
    {"[{'port':80,'n':1},{'port':'80','n':1}]", "[{'port':80,'n':1},{'port':'80','n':2}]",
     "~ [1].n 1 -> 2"}, /* for a path, 80 and "80" are the same */
    {"[{'name':'v','mountPath':'/a','n':1},{'name':'v','mountPath':'/b'}]",
     "[{'name':'v','mountPath':'/a','n':2},{'name':'v','mountPath':'/b'}]",
     "~ [mountPath=/a].n 1 -> 2"},
    {"[{'type':'InternalIP','address':'10.0.0.1'},{'type':'InternalIP','address':'fd00::1'}]",
     "[{'type':'InternalIP','address':'10.0.0.1'}]",
     "- [address=fd00::1] {'type':'InternalIP','address':'fd00::1'}"},
    {"[{'containerPort':53,'protocol':'TCP'},{'containerPort':53,'protocol':'UDP'}]",
     "[{'containerPort':53,'protocol':'TCP'},{'containerPort':53,'protocol':'SCTP'}]",
     "~ [1].protocol 'UDP' -> 'SCTP'"},
};

static void items_are_paired_by_merge_key(void **state)
{
    (void)state;
    check_rows(keyed, ARRAY_LEN(keyed));
}

static const struct row placed[] = {
    /* scalars: a set, with added and removed items; indexes of removed items are those in the old
     * list */
    {"{'f':['x','y']}", "{'f':['x','y','z']}", "+ f[2] 'z'"},
    {"{'f':['x','y','z']}", "{'f':['y']}", "- f[2] 'z'\n- f[0] 'x'"},
    {"{'f':['x','y','z']}", "{'f':['y','z','w']}", "- f[0] 'x'\n+ f[2] 'w'"},
    {"{'f':['x','y']}", "{'f':['x','z']}", "~ f[1] 'y' -> 'z'"},
    {"{'f':['x']}", "{'f':[]}", "- f[0] 'x'"},
    {"{'f':[]}", "{'f':[1,null]}", "+ f[0] 1\n+ f[1] null"},
    /* nothing in common, another order, or duplicates: the whole list */
    {"{'f':['x','y']}", "{'f':['z']}", "~ f ['x','y'] -> ['z']"},
    {"{'f':['x','y']}", "{'f':['y','x']}", "~ f ['x','y'] -> ['y','x']"},
    {"{'f':['x','x']}", "{'f':['x']}", "~ f ['x','x'] -> ['x']"},
    /* others: by value, then by position */
    {"[{'a':1},{'b':2},{'c':3}]", "[{'a':1},{'c':3}]", "- [1] {'b':2}"},
    {"[{'a':1},{'c':3}]", "[{'z':0},{'a':1},{'b':2},{'c':3}]", "+ [0] {'z':0}\n+ [2] {'b':2}"},
    {"[{'a':1},{'b':2}]", "[{'a':5},{'b':2},{'c':3}]", "~ [0].a 1 -> 5\n+ [2] {'c':3}"},
    {"[[1],[2,3]]", "[[1],[2,4]]", "~ [1][1] 3 -> 4"},
    {"[1,{'a':1}]", "[1,{'a':2}]", "~ [1].a 1 -> 2"},
    /* duplicates and another order: equal items at both ends, the rest by position */
    {"[{},{},{'a':1},{}]", "[{},{},{'a':2},{}]", "~ [2].a 1 -> 2"},
    {"[{},{},{}]", "[{}]", "- [2] {}\n- [1] {}"},
    {"[{'a':1},{'b':2}]", "[{'b':2},{'a':1}]", "- [0].a 1\n+ [0].b 2\n- [1].b 2\n+ [1].a 1"},
};

static void items_without_a_key_are_paired_by_value_and_position(void **state)
{
    (void)state;
    check_rows(placed, ARRAY_LEN(placed));
}

/* ---- objects ---- */

static void versions_are_reported_only_on_request(void **state)
{
    struct inf_object *a = pod("n/a", "u", 1, 1), *b = pod("n/a", "u", 2, 1);
    struct inf_diff *diff = inf_diff_make(a, b, NULL, NULL);
    (void)state;
    assert_int_equal(inf_diff_count(diff), 0);
    assert_false(inf_diff_truncated(diff));
    inf_diff_free(diff);
    diff = inf_diff_make(a, b, &(struct inf_diff_options){.all = true}, NULL);
    assert_int_equal(inf_diff_count(diff), 1);
    assert_string_equal(inf_diff_get(diff, 0)->path, "metadata.resourceVersion");
    inf_diff_free(diff);
    inf_object_unref(a);
    inf_object_unref(b);
}

static void a_missing_object_is_refused(void **state)
{
    struct inf_object *a = pod("n/a", "u", 1, 1);
    struct inf_error err;
    (void)state;
    assert_null(inf_diff_make(a, NULL, NULL, &err));
    assert_int_equal(err.code, INF_EINVAL);
    assert_null(inf_diff_make(NULL, a, NULL, NULL));
    inf_diff_free(NULL);
    inf_object_unref(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_paired_by_key),
        cmocka_unit_test(paths_are_quoted_only_if_necessary),
        cmocka_unit_test(items_are_paired_by_merge_key),
        cmocka_unit_test(items_without_a_key_are_paired_by_value_and_position),
        cmocka_unit_test(versions_are_reported_only_on_request),
        cmocka_unit_test(a_missing_object_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
