/*
 * test_pager.c - the requests for the pages of a list, and how the list ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/reflector/pager.h"

static const struct inf_error ended = {.code = INF_EEOF, .text = "complete"};
static const struct inf_error gone = {.code = INF_EGONE, .text = "token expired"};

static void start_list(struct pager *p, uint32_t page_size, const char *version)
{
    pager_init(p, page_size);
    pager_start(p, version);
}

static void assert_ends(struct pager *p, const struct inf_error *end, enum pager_next next)
{
    struct inf_error why;
    assert_int_equal(pager_on_end(p, end, &why), next);
}

static void assert_fails(struct pager *p, const struct inf_error *end, int code)
{
    struct inf_error why;
    assert_int_equal(pager_on_end(p, end, &why), PAGER_FAILED);
    assert_int_equal(why.code, code);
}

static void assert_requests(struct pager *p, const char *version, const char *token, unsigned limit)
{
    struct source_request request;
    pager_request(p, &request);
    assert_int_equal(request.want, SOURCE_LIST);
    assert_string_equal(request.resource_version, version);
    assert_string_equal(request.continue_token, token);
    assert_int_equal(request.limit, limit);
}

/* Scenario 17, TestReflectorNotPaginatingNotConsistentReads. */
static void a_limit_is_set_only_if_the_cache_can_not_answer(void **state)
{
    struct pager p;
    (void)state;
    start_list(&p, 0, "0");
    assert_requests(&p, "0", "", 500);
    pager_start(&p, "");
    assert_requests(&p, "", "", 500);
    pager_start(&p, "7");
    assert_requests(&p, "7", "", 0);
    pager_free(&p);
}

/* Scenario 16, TestReflectorWatchListPageSize. */
static void a_configured_page_size_is_always_used(void **state)
{
    struct pager p;
    (void)state;
    start_list(&p, 3, "7");
    assert_requests(&p, "7", "", 3);
    pager_free(&p);
}

static void later_pages_have_only_the_token(void **state)
{
    struct pager p;
    (void)state;
    start_list(&p, 0, "0");
    assert_requests(&p, "0", "", 500);
    pager_on_page_end(&p, "9", "next");
    assert_ends(&p, &ended, PAGER_NEXT_PAGE);
    assert_requests(&p, "", "next", 500);
    pager_on_page_end(&p, "10", "");
    assert_ends(&p, &ended, PAGER_COMPLETE);
    assert_string_equal(p.version, "9"); /* the first page's */
    pager_start(&p, "9");
    assert_requests(&p, "9", "",
                    500); /* the server returns pages of cached lists: a limit is set from now on */
    pager_free(&p);
}

/* Scenario 21, TestReflectorFullListIfExpired. */
static void an_expired_token_causes_one_whole_list(void **state)
{
    struct pager p;
    (void)state;
    start_list(&p, 2, "5");
    assert_requests(&p, "5", "", 2);
    pager_on_page_end(&p, "6", "next");
    assert_ends(&p, &ended, PAGER_NEXT_PAGE);
    assert_requests(&p, "", "next", 2);
    assert_ends(&p, &gone, PAGER_WHOLE_LIST);
    assert_requests(&p, "5", "", 0);
    assert_fails(&p, &gone, INF_EGONE); /* once is enough */
    pager_free(&p);
}

static void an_end_before_the_end_of_the_page_is_a_cut(void **state)
{
    struct pager p;
    (void)state;
    start_list(&p, 0, "0");
    assert_requests(&p, "0", "", 500);
    assert_fails(&p, &ended, INF_ECUT);
    pager_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_is_set_only_if_the_cache_can_not_answer),
        cmocka_unit_test(a_configured_page_size_is_always_used),
        cmocka_unit_test(later_pages_have_only_the_token),
        cmocka_unit_test(an_expired_token_causes_one_whole_list),
        cmocka_unit_test(an_end_before_the_end_of_the_page_is_a_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
