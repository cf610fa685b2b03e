/*
 * test_token.c - short-lived tokens: issued, found, expired, limited.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "daemon/access/token.h"
#include "sim.h"

static const unsigned char key[TLS_DIGEST_KEY] = {1, 2, 3};
static const struct api_reader one = {.identity = API_BY_UID}, two = {.identity = API_BY_UID};

struct world {
    struct sim sim;
    struct tls_digest *digest;
    struct api_tokens tokens;
};

static void world_init(struct world *w)
{
    sim_init(&w->sim);
    w->digest = tls_digest_new(key);
    api_tokens_init(&w->tokens, &w->sim.clock, w->digest, API_TOKEN_MS);
}

static void world_done(struct world *w)
{
    api_tokens_clear(&w->tokens);
    tls_digest_free(w->digest);
    sim_done(&w->sim);
}

static void finds_a_token_until_it_expires(void **state)
{
    struct world w;
    char *a, *b;
    (void)state;
    world_init(&w);
    a = api_tokens_issue(&w.tokens, &one, 1000);
    sim_advance(&w.sim, 60 * 1000);
    b = api_tokens_issue(&w.tokens, &two, 1001);
    assert_string_not_equal(a, b);
    assert_ptr_equal(api_tokens_find(&w.tokens, str_of(a)), &one);
    assert_ptr_equal(api_tokens_find(&w.tokens, str_of(b)), &two);
    assert_null(api_tokens_find(&w.tokens, str_of("abc")));
    assert_null(api_tokens_find(&w.tokens, str_of("")));
    sim_advance(&w.sim, API_TOKEN_MS - 60 * 1000);
    assert_null(api_tokens_find(&w.tokens, str_of(a)));
    assert_ptr_equal(api_tokens_find(&w.tokens, str_of(b)), &two);
    api_tokens_clear(&w.tokens);
    assert_null(api_tokens_find(&w.tokens, str_of(b)));
    secret_free(a);
    secret_free(b);
    world_done(&w);
}

static void takes_a_token_once(void **state)
{
    struct world w;
    char *a, *b;
    (void)state;
    world_init(&w);
    w.tokens.valid_ms = 60 * 1000;
    a = api_tokens_issue(&w.tokens, &one, 1000);
    b = api_tokens_issue(&w.tokens, &two, 1001);
    assert_null(api_tokens_take(&w.tokens, str_of("abc")));
    assert_ptr_equal(api_tokens_take(&w.tokens, str_of(a)), &one);
    assert_null(api_tokens_take(&w.tokens, str_of(a)));
    assert_null(api_tokens_find(&w.tokens, str_of(a)));
    sim_advance(&w.sim, 60 * 1000);
    assert_null(api_tokens_take(&w.tokens, str_of(b)));
    secret_free(a);
    secret_free(b);
    world_done(&w);
}

static void a_user_replaces_only_its_own_tokens(void **state)
{
    struct world w;
    char *other, *first, *more;
    (void)state;
    world_init(&w);
    other = api_tokens_issue(&w.tokens, &two, 1001);
    first = api_tokens_issue(&w.tokens, &one, 1000);
    for (int i = 1; i < API_TOKENS_PER_USER; i++)
        secret_free(api_tokens_issue(&w.tokens, &one, 1000));
    assert_ptr_equal(api_tokens_find(&w.tokens, str_of(first)), &one);
    more = api_tokens_issue(&w.tokens, &one, 1000);
    assert_null(api_tokens_find(&w.tokens, str_of(first)));
    assert_ptr_equal(api_tokens_find(&w.tokens, str_of(more)), &one);
    assert_ptr_equal(api_tokens_find(&w.tokens, str_of(other)), &two);
    secret_free(other);
    secret_free(first);
    secret_free(more);
    world_done(&w);
}

static void issues_none_beyond_the_limit(void **state)
{
    struct world w;
    char *last;
    (void)state;
    world_init(&w);
    for (unsigned i = 0; i < API_TOKENS_MAX; i++)
        secret_free(api_tokens_issue(&w.tokens, &one, 1000 + i / API_TOKENS_PER_USER));
    assert_null(api_tokens_issue(&w.tokens, &one, 5000));
    sim_advance(&w.sim, API_TOKEN_MS);
    last = api_tokens_issue(&w.tokens, &one, 5000);
    assert_non_null(last);
    assert_int_equal(w.tokens.by_digest.count, 1);
    secret_free(last);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_token_until_it_expires),
        cmocka_unit_test(takes_a_token_once),
        cmocka_unit_test(a_user_replaces_only_its_own_tokens),
        cmocka_unit_test(issues_none_beyond_the_limit),
    };
    return cmocka_run_group_tests_name("token", tests, NULL, NULL);
}
