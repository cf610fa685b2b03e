/*
 * test_timestamp.c - moments as text, up to the edges of what four digits of a year can say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/timestamp.h"

#define NEVER_TEXT "0000-00-00T00:00:00.000000Z"

static const struct {
    int64_t us;
    const char *text;
} rows[] = {
    {0, "1970-01-01T00:00:00.000000Z"},
    {1, "1970-01-01T00:00:00.000001Z"},
    {999999, "1970-01-01T00:00:00.999999Z"},
    {1000000, "1970-01-01T00:00:01.000000Z"},
    {951782399999999, "2000-02-28T23:59:59.999999Z"},
    {951782400000000, "2000-02-29T00:00:00.000000Z"}, /* a leap year, though a century */
    {1767225600000000, "2026-01-01T00:00:00.000000Z"},
    {2147483648000000, "2038-01-19T03:14:08.000000Z"}, /* over 31 bits of seconds */
    {253402300799999999, "9999-12-31T23:59:59.999999Z"},
    {253402300800000000, NEVER_TEXT},
    {INT64_MAX, NEVER_TEXT},
    {-1, NEVER_TEXT},
    {INT64_MIN, NEVER_TEXT},
};

static void check_rows(void)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[TIMESTAMP_SIZE];
        memset(text, 'x', sizeof(text));
        timestamp_format(rows[i].us, text);
        assert_string_equal(text, rows[i].text);
        assert_int_equal(strlen(text), TIMESTAMP_SIZE - 1);
    }
}

static void test_rows(void **state)
{
    (void)state;
    check_rows();
}

/* It is UTC, wherever the machine is. */
static void test_rows_in_another_time_zone(void **state)
{
    (void)state;
    setenv("TZ", "XYZ-5:45", 1);
    tzset();
    check_rows();
    unsetenv("TZ");
    tzset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_rows_in_another_time_zone),
    };
    return cmocka_run_group_tests_name("timestamp", tests, NULL, NULL);
}
