/*
 * test_log_rotated.c - the names of rotated files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/output/log_rotated.h"

static void assert_path(const struct log_rotated *r, unsigned number, enum log_form form,
                        const char *expected)
{
    char *path = log_rotated_path(r, number, form);
    if (expected)
        assert_string_equal(path, expected);
    else
        assert_null(path);
    free(path);
}

static void assert_directory(const char *path, const char *expected)
{
    struct log_rotated r = {.path = path};
    char *directory = log_rotated_directory(&r);
    assert_string_equal(directory, expected);
    free(directory);
}

static void numbers_follow_dates_and_both_may_be_compressed(void **state)
{
    struct log_rotated r = {.path = "/var/log/e.jsonl", .keep = 2};
    (void)state;
    log_rotated_look(&r, "e.jsonl\0e.jsonl-20261117.gz\0e.jsonl.1\0e.jsonl-20261118\0");
    assert_path(&r, 0, LOG_PLAIN, "/var/log/e.jsonl");
    assert_path(&r, 0, LOG_GZIP, NULL);
    assert_path(&r, 1, LOG_PLAIN, "/var/log/e.jsonl-20261118");
    assert_path(&r, 2, LOG_GZIP, "/var/log/e.jsonl-20261117.gz");
    assert_path(&r, 3, LOG_PLAIN, "/var/log/e.jsonl.1");
    assert_path(&r, 4, LOG_GZIP, "/var/log/e.jsonl.2.gz");
    assert_path(&r, 4, LOG_OLDEST, NULL);
    assert_path(&r, 5, LOG_OLDEST, "/var/log/e.jsonl.oldest");
    assert_false(log_rotated_may_be_last(&r, 4));
    assert_true(log_rotated_may_be_last(&r, 5));
    log_rotated_look(&r, "e.jsonl.1\0e.jsonl.7.gz\0e.jsonl.9.bz2\0e.jsonl.12345\0");
    assert_int_equal(r.n_dates, 0);
    assert_false(log_rotated_may_be_last(&r, 7));
    assert_true(log_rotated_may_be_last(&r, 8));
    log_rotated_free(&r);
}

static void other_names_are_no_dates(void **state)
{
    struct log_rotated r = {.path = "log"};
    (void)state;
    log_rotated_look(&r, "log-\0log-new\0log-20261118.bz2\0log-20261118.gz.tmp\0"
                         "lo-20261118\0log20261118\0log-error-20261118\0.gz\0log.2026\0"
                         "log.\0log.1234567\0");
    assert_int_equal(r.n_dates, 0);
    log_rotated_look(&r, NULL);
    assert_int_equal(r.n_dates, 0);
}

/* `dateformat .%Y%m%d` */
static void a_date_may_follow_a_period(void **state)
{
    struct log_rotated r = {.path = "/log"};
    (void)state;
    log_rotated_look(&r, "log.20261118\0log.20261117.gz\0log.1\0");
    assert_int_equal(r.n_dates, 2);
    assert_path(&r, 1, LOG_PLAIN, "/log.20261118");
    assert_path(&r, 2, LOG_GZIP, "/log.20261117.gz");
    assert_path(&r, 3, LOG_PLAIN, "/log.1");
    log_rotated_free(&r);
}

/* Days, hours, a number after the day, and a file that is being compressed. */
static void the_newest_date_is_first(void **state)
{
    struct log_rotated r = {.path = "/log"};
    (void)state;
    log_rotated_look(&r, "log-2026111809\0log-2026111810.gz\0log-20261117-01\0"
                         "log-2026111810\0log-20261117-02.gz\0");
    assert_int_equal(r.n_dates, 4);
    assert_path(&r, 1, LOG_PLAIN, "/log-2026111810");
    assert_path(&r, 2, LOG_PLAIN, "/log-2026111809");
    assert_path(&r, 3, LOG_PLAIN, "/log-20261117-02");
    assert_path(&r, 4, LOG_PLAIN, "/log-20261117-01");
    log_rotated_free(&r);
}

static void the_directory_of_any_path_is_found(void **state)
{
    (void)state;
    assert_directory("/var/log/e.jsonl", "/var/log");
    assert_directory("/e.jsonl", "/");
    assert_directory("e.jsonl", ".");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_follow_dates_and_both_may_be_compressed),
        cmocka_unit_test(other_names_are_no_dates),
        cmocka_unit_test(a_date_may_follow_a_period),
        cmocka_unit_test(the_newest_date_is_first),
        cmocka_unit_test(the_directory_of_any_path_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
