/*
 * test_session.c - sessions of the page: their reader, their end, and texts that are none.
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
#include "base/text/base64.h"
#include "daemon/access/session.h"

#define NOW_US INT64_C(1763500000000000)
#define END_US (NOW_US + INT64_C(1000000) * API_SESSION_S)

static char ops_name[] = "ops", all_name[] = "all of us", ci_name[] = "ci";

struct world {
    struct api_reader items[3];
    struct api_readers readers;
    struct tls_digest *key;
};

static void world_init(struct world *w)
{
    *w = (struct world){.items = {
                            {.name = ops_name, .identity = API_BY_UID, .uid = 1000},
                            {.name = all_name, .identity = API_BY_GROUP, .gid = 1000},
                            {.name = ci_name, .identity = API_BY_TOKEN},
                        }};
    w->readers = (struct api_readers){.items = w->items, .count = ARRAY_LEN(w->items)};
    w->key = api_session_key("the key of an authority");
}

static const struct api_reader *find(const struct world *w, const char *text, int64_t now_us)
{
    return api_session_find(w->key, &w->readers, text, now_us);
}

static void finds_the_reader_until_the_end(void **state)
{
    struct world w;
    char *a, *b;
    (void)state;
    world_init(&w);
    a = api_session_issue(w.key, &w.items[0], NOW_US, API_SESSION_S);
    b = api_session_issue(w.key, &w.items[1], NOW_US + 5000000, API_SESSION_S);
    assert_ptr_equal(find(&w, a, NOW_US), &w.items[0]);
    assert_ptr_equal(find(&w, b, NOW_US), &w.items[1]);
    assert_ptr_equal(find(&w, a, END_US - 1), &w.items[0]);
    assert_null(find(&w, a, END_US));
    assert_ptr_equal(find(&w, b, END_US), &w.items[1]);
    secret_free(a);
    secret_free(b);
    tls_digest_free(w.key);
}

static void ends_when_the_reader_is_another_one(void **state)
{
    struct world w;
    char *text;
    (void)state;
    world_init(&w);
    text = api_session_issue(w.key, &w.items[0], NOW_US, API_SESSION_S);
    w.items[0].uid = 1001;
    assert_null(find(&w, text, NOW_US));
    w.items[0].uid = 1000;
    w.items[0].identity = API_BY_GROUP;
    assert_null(find(&w, text, NOW_US));
    w.items[0].identity = API_BY_UID;
    w.items[0].name = ci_name;
    assert_null(find(&w, text, NOW_US));
    w.items[0].name = ops_name;
    assert_ptr_equal(find(&w, text, NOW_US), &w.items[0]);
    w.items[1] = (struct api_reader){.name = all_name, .identity = API_BY_UID, .uid = 1000};
    assert_ptr_equal(find(&w, text, NOW_US), &w.items[0]); /* the first of the user counts */
    w.items[0].name = ci_name;
    w.items[1].name = ops_name;
    assert_null(find(&w, text, NOW_US));
    w.readers.count = 0;
    assert_null(find(&w, text, NOW_US));
    secret_free(text);
    tls_digest_free(w.key);
}

static void survives_a_restart_with_the_same_key_only(void **state)
{
    struct world w;
    char *text;
    (void)state;
    world_init(&w);
    text = api_session_issue(w.key, &w.items[0], NOW_US, API_SESSION_S);
    tls_digest_free(w.key);
    w.key = api_session_key("the key of an authority");
    assert_ptr_equal(find(&w, text, NOW_US), &w.items[0]);
    tls_digest_free(w.key);
    w.key = api_session_key("the key of another one");
    assert_null(find(&w, text, NOW_US));
    secret_free(text);
    tls_digest_free(w.key);
}

/* Each byte of a session is changed once. */
static void refuses_every_changed_session(void **state)
{
    struct world w;
    size_t len;
    char *text, *bytes;
    (void)state;
    world_init(&w);
    text = api_session_issue(w.key, &w.items[0], NOW_US, API_SESSION_S);
    assert_int_equal(base64_decode(text, strlen(text), &bytes, &len), 0);
    for (size_t i = 0; i < len; i++) {
        char *changed;
        bytes[i] ^= 1;
        changed = base64_encode(bytes, len);
        assert_null(find(&w, changed, NOW_US));
        free(changed);
        bytes[i] ^= 1;
    }
    free(bytes);
    secret_free(text);
    tls_digest_free(w.key);
}

static void refuses_texts_that_are_no_sessions(void **state)
{
    static const char *const texts[] = {
        "", "abc", "AAAA", "====", "a b", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="};
    char longest[API_SESSION_TEXT_MAX + 5];
    struct world w;
    (void)state;
    world_init(&w);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_null(find(&w, texts[i], NOW_US));
    memset(longest, 'A', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    assert_null(find(&w, longest, NOW_US));
    tls_digest_free(w.key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_reader_until_the_end),
        cmocka_unit_test(ends_when_the_reader_is_another_one),
        cmocka_unit_test(survives_a_restart_with_the_same_key_only),
        cmocka_unit_test(refuses_every_changed_session),
        cmocka_unit_test(refuses_texts_that_are_no_sessions),
    };
    return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
