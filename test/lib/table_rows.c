/*
 * table_rows.c - see table_rows.h.
 */
#include "table_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "builders.h"

const int64_t table_now_us = INT64_C(1795003200) * 1000000; /* 2026-11-18T12:00:00Z */

static char *with_quotes(char *text)
{
    for (char *at = text; *at; at++)
        if (*at == '\'')
            *at = '"';
    return text;
}

static struct inf_object *object_of(const char *members)
{
    const char *separator = *members ? "," : "";
    char *text =
        strstr(members, "'metadata'")
            ? xasprintf("{'kind':'K','apiVersion':'v1'%s%s}", separator, members)
            : xasprintf("{'kind':'K','apiVersion':'v1'," METADATA "%s%s}", separator, members);
    struct inf_object *object = object_from(with_quotes(text));
    free(text);
    return object;
}

void expect_row(const struct table_printer *printer, const char *members, enum table_object include,
                const char *row)
{
    struct inf_object *object = object_of(members);
    char *expected = with_quotes(xstrdup(row));
    struct buf out = {0};
    table_put_row(printer, object, table_now_us, include, &out);
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, expected);
    buf_free(&out);
    free(expected);
    inf_object_unref(object);
}

void expect_cells(const struct table_printer *printer, const char *members, const char *cells)
{
    struct inf_object *object = object_of(members);
    char *expected = with_quotes(xasprintf("{'cells':[%s]", cells));
    struct buf out = {0};
    table_put_row(printer, object, table_now_us, TABLE_OBJECT_NONE, &out);
    buf_putc(&out, '\0');
    if (strncmp(out.bytes, expected, strlen(expected)) != 0)
        fail_msg("%s:\n%s, expected\n%s", members, out.bytes, expected);
    buf_free(&out);
    free(expected);
    inf_object_unref(object);
}

void expect_cases(const char *group, const char *resource, const struct table_case *cases,
                  size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect_cells(table_printer_find(group, resource), cases[i].members, cases[i].cells);
}
