/*
 * test_conf_api.c - the section `api`: values, and errors of readers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "conf_world.h"
#include "daemon/conf/conf_same.h"

#define PODS "watches: [{resource: pods}]\n"

static void errors_name_the_reader_and_the_remedy(void **state)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"api: {readers: [{name: a}]}\n",
         "x.conf:1:17: api.readers[0]: missing key 'uid', 'group' or 'token_file'; for example 'uid: "
         "1000'\n"},
        {"api: {readers: [{uid: 5}]}\n",
         "x.conf:1:17: api.readers[0]: missing key 'name'; for example 'name: ops'\n"},
        {"api: {readers: [{name: a, uid: 5, group: b}]}\n",
         "x.conf:1:42: api.readers[0]: a reader has only one of uid, group and token_file\n"},
        {"api: {readers: [{name: a, uid: root}]}\n",
         "x.conf:1:32: api.readers[0].uid: 'root' is not the number of a user; `id -u NAME` prints "
         "it\n"},
        {"api: {readers: [{name: a, uid: 4294967295}]}\n",
         "x.conf:1:32: api.readers[0].uid: '4294967295' is not the number of a user; `id -u NAME` "
         "prints it\n"},
        {"api: {readers: [{name: a, uid: 65534}]}\n",
         "x.conf:1:32: api.readers[0]: uid 65534 stands for all users of other user namespaces and "
         "is never a reader; use another user\n"},
        {"api: {readers: [{name: a, uid: 1}, {name: a, uid: 2}]}\n",
         "x.conf:1:43: api.readers[1]: duplicate reader name 'a'; choose another name\n"},
        {PODS "api: {readers: [{name: a, uid: 1, watches: [nodes]}]}\n",
         "x.conf:2:45: api.readers[0].watches[0]: unknown watch 'nodes'; configured: pods\n"},
        {"api: {readers: [5]}\n",
         "x.conf:1:17: api.readers[0]: must be a mapping of options, as in 'uid: 1000'\n"},
        {"api: {listen: 6444}\n",
         "x.conf:1:15: api.listen: '6444' is not an address and port; write it like 127.0.0.1:9470 or "
         "[::1]:9470\n"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *errors = conf_world_text_errors(rows[i].text);
        assert_string_equal(errors, rows[i].error);
        free(errors);
    }
}

static void reads_and_prints_readers(void **state)
{
    struct conf conf = conf_world_text(
        PODS "api:\n"
             "  listen: 127.0.0.1:6444\n"
             "  readers:\n"
             "    - {name: ops, uid: 1000}\n"
             "    - {name: ci, token_file: /t, watches: [pods], namespaces: [ci]}\n");
    char *text = conf_world_effect(&conf);
    struct conf again = conf_world_text(text);
    (void)state;
    assert_string_equal(conf.api.listen, "127.0.0.1:6444");
    assert_int_equal(conf.api.history, 10000);
    assert_int_equal(conf.api.n_readers, 2);
    assert_string_equal(conf.api.readers[0].uid, "1000");
    assert_null(conf.api.readers[1].uid);
    assert_string_equal(conf.api.readers[1].namespaces.items[0], "ci");
    assert_true(conf_readers_same(&conf.api, &again.api));
    free(again.api.readers[1].namespaces.items[0]);
    again.api.readers[1].namespaces.items[0] = strdup("other");
    assert_false(conf_readers_same(&conf.api, &again.api));
    free(text);
    conf_free(&again);
    conf_free(&conf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_name_the_reader_and_the_remedy),
        cmocka_unit_test(reads_and_prints_readers),
    };
    return cmocka_run_group_tests_name("conf_api", tests, NULL, NULL);
}
