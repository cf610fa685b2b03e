/*
 * test_ownlog.c - the two ways in which the daemon writes about itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/ownlog.h"

enum {
    AT_S = 1763254691,
};

static void assert_line(enum conf_log_format format, enum inf_log_level level, const char *line,
                        const char *expected)
{
    struct buf out = {0};
    ownlog_put(&out, format, (int64_t)AT_S * 1000000 + 204131, level, line);
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, expected);
    buf_free(&out);
}

static void test_logfmt(void **state)
{
    (void)state;
    assert_line(CONF_LOGFMT, INF_LOG_WARN, "it said \"no\"\n",
                "time=2025-11-16T00:58:11.204131Z level=warn msg=\"it said \\\"no\\\"\\n\"\n");
}

static void test_json(void **state)
{
    (void)state;
    assert_line(CONF_JSON, INF_LOG_ERROR, "it said \"no\"\n",
                "{\"time\":\"2025-11-16T00:58:11.204131Z\",\"level\":\"error\","
                "\"msg\":\"it said \\\"no\\\"\\n\"}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logfmt),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
