/*
 * test_reader.c - which user or token is which reader, and what a reader may read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "conf_world.h"
#include "daemon/access/reader.h"

static const unsigned char key[TLS_DIGEST_KEY] = {1, 2, 3};

static struct api_readers load(const char *text, struct tls_digest *digest)
{
    struct conf conf = conf_world_text(text);
    struct api_readers readers = {0};
    struct inf_error err = {0};
    if (api_readers_load(&conf.api, digest, &readers, &err) < 0)
        fail_msg("%s", err.text);
    conf_free(&conf);
    return readers;
}

static const char *name_of(const struct api_reader *reader)
{
    return reader ? reader->name : "none";
}

static const char *name_of_peer(const struct api_readers *readers, uid_t uid, gid_t gid)
{
    static struct peer_credentials peer; /* large */
    peer = (struct peer_credentials){.uid = uid, .gid = 77, .groups = {78, gid}, .n_groups = 2};
    return name_of(api_readers_of_peer(readers, &peer));
}

static void by_default_reads_the_own_user_and_root(void **state)
{
    struct tls_digest *digest = tls_digest_new(key);
    struct api_readers readers = load("watches: []\n", digest);
    (void)state;
    assert_string_equal(name_of_peer(&readers, 0, 5), "root");
    assert_string_equal(name_of_peer(&readers, geteuid(), 5), geteuid() ? "informerd" : "root");
    assert_string_equal(name_of_peer(&readers, 4711, 0), "none");
    assert_string_equal(name_of(api_readers_of_token(&readers, "")), "none");
    api_readers_free(&readers);
    tls_digest_free(digest);
}

static void finds_users_and_groups(void **state)
{
    struct tls_digest *digest = tls_digest_new(key);
    struct api_readers readers =
        load("api: {readers: [{name: ops, uid: 1000}, {name: rooted, group: root}, "
             "{name: numbered, group: '70001'}]}\n",
             digest);
    (void)state;
    assert_string_equal(name_of_peer(&readers, 1000, 5), "ops");
    assert_string_equal(name_of_peer(&readers, 1001, 0), "rooted");
    assert_string_equal(name_of_peer(&readers, 1001, 70001), "numbered");
    assert_string_equal(name_of_peer(&readers, 0, 5), "root"); /* without an entry */
    assert_string_equal(name_of_peer(&readers, 65534, 0), "none");
    api_readers_free(&readers);
    tls_digest_free(digest);
}

static void finds_the_reader_of_a_token(void **state)
{
    struct tls_digest *digest = tls_digest_new(key);
    struct api_readers readers;
    (void)state;
    conf_world_put("a", "0123456789abcdef\n");
    conf_world_put("b", "fedcba9876543210");
    readers =
        load("api: {readers: [{name: one, token_file: a}, {name: two, token_file: b}]}\n", digest);
    assert_string_equal(name_of(api_readers_of_token(&readers, "0123456789abcdef")), "one");
    assert_string_equal(name_of(api_readers_of_token(&readers, "fedcba9876543210")), "two");
    assert_string_equal(name_of(api_readers_of_token(&readers, "0123456789abcde")), "none");
    assert_string_equal(name_of(api_readers_of_token(&readers, "0123456789abcdef0")), "none");
    assert_string_equal(name_of(api_readers_of_token(&readers, "")), "none");
    assert_string_equal(name_of_peer(&readers, 1001, 5), "none");
    api_readers_free(&readers);
    tls_digest_free(digest);
}

static void refuses_bad_token_files_and_groups(void **state)
{
    static const struct {
        const char *conf, *error;
    } rows[] = {
        {"api: {readers: [{name: a, token_file: short}]}\n",
         "expected a single token of at least 16 characters without white space"},
        {"api: {readers: [{name: a, token_file: blank}]}\n",
         "expected a single token of at least 16 characters without white space"},
        {"api: {readers: [{name: a, token_file: missing}]}\n", "No such file or directory"},
        {"api: {readers: [{name: a, group: no-such-group}]}\n", "no such group"},
    };
    struct tls_digest *digest = tls_digest_new(key);
    (void)state;
    conf_world_put("short", "0123456789abcde\n");
    conf_world_put("blank", "0123456789 abcdef\n");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct conf conf = conf_world_text(rows[i].conf);
        struct api_readers readers = {0};
        struct inf_error err = {0};
        assert_true(api_readers_load(&conf.api, digest, &readers, &err) < 0);
        assert_non_null(strstr(err.text, rows[i].error));
        assert_non_null(strstr(err.text, "api.readers: 'a': "));
        assert_null(strstr(err.text, "0123456789"));
        conf_free(&conf);
    }
    tls_digest_free(digest);
}

static void compares_names_identities_and_limits(void **state)
{
    static const char *const confs[] = {
        "api: {readers: [{name: a, uid: 1}]}\n",
        "api: {readers: [{name: b, uid: 1}]}\n",
        "api: {readers: [{name: a, uid: 2}]}\n",
        "api: {readers: [{name: a, token_file: t}]}\n",
        "api: {readers: [{name: a, token_file: u}]}\n",
        "api: {readers: [{name: a, uid: 1, namespaces: [x]}]}\n",
        "api: {readers: [{name: a, uid: 1}, {name: b, uid: 2}]}\n",
    };
    struct tls_digest *digest = tls_digest_new(key);
    (void)state;
    conf_world_put("t", "0123456789abcdef");
    conf_world_put("u", "0123456789abcdeg");
    for (size_t i = 0; i < ARRAY_LEN(confs); i++)
        for (size_t j = 0; j < ARRAY_LEN(confs); j++) {
            struct api_readers a = load(confs[i], digest), b = load(confs[j], digest);
            assert_int_equal(api_readers_same(&a, &b), i == j);
            api_readers_free(&a);
            api_readers_free(&b);
        }
    tls_digest_free(digest);
}

static void limits_watches_and_namespaces(void **state)
{
    char *watches[] = {(char[]){"pods"}}, *namespaces[] = {(char[]){"shop"}, (char[]){"ci"}};
    struct api_reader all = {0}, some = {.watches = {watches, 1}, .namespaces = {namespaces, 2}};
    (void)state;
    assert_true(api_reader_may(&all, "nodes", NULL));
    assert_true(api_reader_may(&all, "pods", "shop"));
    assert_true(api_reader_may(&some, "pods", "ci"));
    assert_false(api_reader_may(&some, "pods", NULL));
    assert_false(api_reader_may(&some, "pods", "other"));
    assert_false(api_reader_may(&some, "nodes", "ci"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_default_reads_the_own_user_and_root),
        cmocka_unit_test(finds_users_and_groups),
        cmocka_unit_test_setup_teardown(finds_the_reader_of_a_token, conf_world_setup,
                                        conf_world_teardown),
        cmocka_unit_test_setup_teardown(refuses_bad_token_files_and_groups, conf_world_setup,
                                        conf_world_teardown),
        cmocka_unit_test_setup_teardown(compares_names_identities_and_limits, conf_world_setup,
                                        conf_world_teardown),
        cmocka_unit_test(limits_watches_and_namespaces),
    };
    return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}
