/*
 * test_timestamp.c - timestamps as text, up to the limits of a year with four digits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "informer/error.h"

#include "base/base.h"
#include "base/text/timestamp.h"

/* The first and the last time of RFC 3339. */
#define FIRST_TEXT "0000-01-01T00:00:00.000000Z"
#define LAST_TEXT  "9999-12-31T23:59:59.999999Z"
#define FIRST_US   (-62167219200000000)
#define LAST_US    253402300799999999

static const struct {
    int64_t us;
    const char *text;
} rows[] = {
    {0, "1970-01-01T00:00:00.000000Z"},
    {1, "1970-01-01T00:00:00.000001Z"},
    {999999, "1970-01-01T00:00:00.999999Z"},
    {1000000, "1970-01-01T00:00:01.000000Z"},
    {951782399999999, "2000-02-28T23:59:59.999999Z"},
    {951782400000000, "2000-02-29T00:00:00.000000Z"}, /* a leap year, although divisible by 100 */
    {1767225600000000, "2026-01-01T00:00:00.000000Z"},
    {2147483648000000, "2038-01-19T03:14:08.000000Z"}, /* more than 31 bits of seconds */
    {-1, "1969-12-31T23:59:59.999999Z"},
    {-999999, "1969-12-31T23:59:59.000001Z"},
    {-1000000, "1969-12-31T23:59:59.000000Z"},
    {-1000001, "1969-12-31T23:59:58.999999Z"},
    {-2208988800000000, "1900-01-01T00:00:00.000000Z"},
    {-62135596800000001, "0000-12-31T23:59:59.999999Z"},
    {FIRST_US, FIRST_TEXT},
    {FIRST_US - 1, FIRST_TEXT},
    {INT64_MIN, FIRST_TEXT},
    {LAST_US - 1, "9999-12-31T23:59:59.999998Z"},
    {LAST_US, LAST_TEXT},
    {LAST_US + 1, LAST_TEXT},
    {INT64_MAX, LAST_TEXT},
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

static void formats_as_in_the_table(void **state)
{
    (void)state;
    check_rows();
}

/* Times are UTC in any time zone of the machine. */
static void formats_utc_in_another_time_zone(void **state)
{
    (void)state;
    setenv("TZ", "XYZ-5:45", 1);
    tzset();
    check_rows();
    unsetenv("TZ");
    tzset();
}

static void other_spellings_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t us;
    } good[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01t00:00:00.5z", 500000},
        {"1970-01-01T00:00:00.1234567891Z", 123456},
        {"1970-01-01T02:00:00+02:00", 0},
        {"1969-12-31T22:30:00-01:30", 0},
        {"2000-02-29T00:00:00+00:00", 951782400000000},
        {"9999-12-31T23:59:59Z", 253402300799000000},
        {"0001-01-01T00:00:00Z", -62135596800000000},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        int64_t us = 1;
        assert_int_equal(timestamp_parse(good[i].text, &us), 0);
        assert_int_equal(us, good[i].us);
    }
}

static void parses_what_it_formats(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t us, expected = rows[i].us;
        expected = expected < FIRST_US ? FIRST_US : expected > LAST_US ? LAST_US : expected;
        assert_int_equal(timestamp_parse(rows[i].text, &us), 0);
        assert_int_equal(us, expected);
    }
}

/* A valid timestamp without its end, or with one character replaced by a blank, is invalid. */
static void refuses_other_strings(void **state)
{
    static const char good[] = "2026-11-15T23:09:29.5+01:00";
    static const char *const bad[] = {
        "",
        "now",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-32T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00+00:60",
        "2026-01-01T00:00:00ZZ",
        "2026-01-01 00:00:00Z",
        "0000-00-00T00:00:00.000000Z",
    };
    char text[sizeof(good)];
    int64_t us = 7;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(timestamp_parse(bad[i], &us), -INF_EINVAL);
    for (size_t i = 0; i < sizeof(good) - 1; i++) {
        strcpy(text, good);
        text[i] = ' ';
        assert_int_equal(timestamp_parse(text, &us), -INF_EINVAL);
        text[i] = '\0';
        assert_int_equal(timestamp_parse(text, &us), -INF_EINVAL);
    }
    assert_int_equal(us, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_spellings_are_read),
        cmocka_unit_test(parses_what_it_formats),
        cmocka_unit_test(refuses_other_strings),
        cmocka_unit_test(formats_as_in_the_table),
        cmocka_unit_test(formats_utc_in_another_time_zone),
    };
    return cmocka_run_group_tests_name("timestamp", tests, NULL, NULL);
}
