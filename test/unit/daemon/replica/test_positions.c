/*
 * test_positions.c - reading the positions that a leader has published.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"
#include "daemon/replica/positions.h"

static void put(void *ctx, const char *handler, const char *key, uint64_t version)
{
    buf_printf(ctx, "%s|%s|%llu;", handler, key, (unsigned long long)version);
}

static const struct row {
    const char *text, *read;
} rows[] = {
    {"", ""},
    {"h\tc\tpods\t* 0a\t12\n", "h|c\tpods\t* 0a|12;"},
    {"h\tc\tpods\ta 0a\t12\n\t\t\tb 0a\t13\n\t\tnodes\t* 0b\t14\ni\tc\tpods\t* 0a\t1",
     "h|c\tpods\ta 0a|12;h|c\tpods\tb 0a|13;h|c\tnodes\t* 0b|14;i|c\tpods\t* 0a|1;"},
    {"\t\t\t* 0a\t12\n", ""},                          /* nothing before it */
    {"h\tc\tpods\t* 0a\tabc\nh\tc\tpods\t* 0a\n", ""}, /* no version */
    {"nonsense\n\n\t\nh\tc\tpods\t* 0a\t12\n", "h|c\tpods\t* 0a|12;"},
};

static void each_text_is_read_as_in_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf out = {0};
        positions_read(rows[i].text, put, &out);
        buf_putc(&out, '\0');
        assert_string_equal(out.bytes, rows[i].read);
        buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_text_is_read_as_in_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
