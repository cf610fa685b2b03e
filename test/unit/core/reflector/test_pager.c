/* cmocka wants these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/reflector/pager.h"

static const struct inf_error ended = {.code = INF_EEOF, .text = "complete"};
static const struct inf_error gone = {.code = INF_EGONE, .text = "token expired"};

static void assert_asks(struct pager *p, const char *version, const char *token, unsigned limit)
{
    struct source_request request;
    pager_request(p, &request);
    assert_int_equal(request.want, SOURCE_LIST);
    assert_string_equal(request.resource_version, version);
    assert_string_equal(request.continue_token, token);
    assert_int_equal(request.limit, limit);
}

/* 17, TestReflectorNotPaginatingNotConsistentReads. */
static void a_limit_only_where_it_does_not_keep_a_cache_from_answering(void **state)
{
    struct pager p;
    (void)state;
    pager_init(&p, 0);
    pager_start(&p, "0");
    assert_asks(&p, "0", "", 500);
    pager_start(&p, "");
    assert_asks(&p, "", "", 500);
    pager_start(&p, "7");
    assert_asks(&p, "7", "", 0);
    pager_free(&p);
}

/* 16, TestReflectorWatchListPageSize. */
static void who_insists_on_a_size_gets_it(void **state)
{
    struct pager p;
    (void)state;
    pager_init(&p, 3);
    pager_start(&p, "7");
    assert_asks(&p, "7", "", 3);
    pager_free(&p);
}

static void later_pages_carry_the_token_alone(void **state)
{
    struct inf_error why;
    struct pager p;
    (void)state;
    pager_init(&p, 0);
    pager_start(&p, "0");
    assert_asks(&p, "0", "", 500);
    pager_on_page_end(&p, "9", "next");
    assert_int_equal(pager_on_end(&p, &ended, &why), PAGER_NEXT_PAGE);
    assert_asks(&p, "", "next", 500);
    pager_on_page_end(&p, "10", "");
    assert_int_equal(pager_on_end(&p, &ended, &why), PAGER_COMPLETE);
    assert_string_equal(p.version, "9"); /* the first page's */
    pager_start(&p, "9");
    assert_asks(&p, "9", "",
                500); /* it paged what a cache would not have: it does so from now on */
    pager_free(&p);
}

/* 21, TestReflectorFullListIfExpired. */
static void an_expired_token_costs_one_whole_list(void **state)
{
    struct inf_error why;
    struct pager p;
    (void)state;
    pager_init(&p, 2);
    pager_start(&p, "5");
    assert_asks(&p, "5", "", 2);
    pager_on_page_end(&p, "6", "next");
    assert_int_equal(pager_on_end(&p, &ended, &why), PAGER_NEXT_PAGE);
    assert_asks(&p, "", "next", 2);
    assert_int_equal(pager_on_end(&p, &gone, &why), PAGER_WHOLE_LIST);
    assert_asks(&p, "5", "", 0);
    assert_int_equal(pager_on_end(&p, &gone, &why), PAGER_FAILED); /* once is enough */
    assert_int_equal(why.code, INF_EGONE);
    pager_free(&p);
}

static void an_end_without_the_page_s_end_is_a_cut(void **state)
{
    struct inf_error why;
    struct pager p;
    (void)state;
    pager_init(&p, 0);
    pager_start(&p, "0");
    assert_asks(&p, "0", "", 500);
    assert_int_equal(pager_on_end(&p, &ended, &why), PAGER_FAILED);
    assert_int_equal(why.code, INF_ECUT);
    pager_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_only_where_it_does_not_keep_a_cache_from_answering),
        cmocka_unit_test(who_insists_on_a_size_gets_it),
        cmocka_unit_test(later_pages_carry_the_token_alone),
        cmocka_unit_test(an_expired_token_costs_one_whole_list),
        cmocka_unit_test(an_end_without_the_page_s_end_is_a_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
