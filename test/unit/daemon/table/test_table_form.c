/*
 * test_table_form.c - columns, durations, the default columns, and the object in a row.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/base.h"
#include "table_rows.h"

static void finds_printers_by_group_and_resource(void **state)
{
    (void)state;
    assert_ptr_equal(table_printer_find("", "deployments"), table_printer_find("", "nonsense"));
    assert_ptr_not_equal(table_printer_find("apps", "deployments"), table_printer_find("", ""));
    assert_ptr_not_equal(table_printer_find("", "events"),
                         table_printer_find("events.k8s.io", "events"));
}

static void writes_columns(void **state)
{
    struct buf out = {0};
    (void)state;
    table_put_columns(table_printer_find("rbac.authorization.k8s.io", "roles"), &out);
    buf_putc(&out, '\0');
    assert_string_equal(
        out.bytes, "[{\"name\":\"Name\",\"type\":\"string\",\"format\":\"name\","
                   "\"description\":\"name of the object\",\"priority\":0},"
                   "{\"name\":\"Created At\",\"type\":\"date\",\"format\":\"\","
                   "\"description\":\"time at which the object was created\",\"priority\":0}]");
    buf_free(&out);
}

static void other_resources_have_name_and_time(void **state)
{
    static const struct table_case cases[] = {
        {"'spec':{}", "'x','2026-11-18T11:00:00Z'"},
        {"'metadata':{'name':'x','creationTimestamp':null}", "'x','0001-01-01T00:00:00Z'"},
    };
    (void)state;
    expect_cases("example.com", "things", cases, ARRAY_LEN(cases));
    expect_cases("apiextensions.k8s.io", "customresourcedefinitions", cases, ARRAY_LEN(cases));
}

static void includes_nothing_the_metadata_or_the_object(void **state)
{
    const struct table_printer *printer = table_printer_find("", "serviceaccounts");
    (void)state;
    expect_row(printer, "'secrets':[]", TABLE_OBJECT_NONE, "{'cells':['x','60m'],'object':null}");
    expect_row(printer, "'secrets':[]", TABLE_OBJECT_METADATA,
               "{'cells':['x','60m'],'object':{'kind':'PartialObjectMetadata',"
               "'apiVersion':'meta.k8s.io/v1'," METADATA "}}");
    expect_row(printer, "'secrets':[]", TABLE_OBJECT_FULL,
               "{'cells':['x','60m'],'object':{'kind':'K','apiVersion':'v1'," METADATA
               ",'secrets':[]}}");
}

/* Two steps at each change of the unit. */
static void ages_have_two_or_three_digits(void **state)
{
    static const struct {
        const char *created, *age;
    } rows[] = {
        {"2026-11-18T12:00:02Z", "<invalid>"},
        {"2026-11-18T12:00:01Z", "0s"},
        {"2026-11-18T12:00:00Z", "0s"},
        {"2026-11-18T11:58:01Z", "119s"},
        {"2026-11-18T11:58:00Z", "2m"},
        {"2026-11-18T11:57:59Z", "2m1s"},
        {"2026-11-18T11:50:01Z", "9m59s"},
        {"2026-11-18T11:50:00Z", "10m"},
        {"2026-11-18T09:00:01Z", "179m"},
        {"2026-11-18T09:00:00Z", "3h"},
        {"2026-11-18T08:59:00Z", "3h1m"},
        {"2026-11-18T04:00:01Z", "7h59m"},
        {"2026-11-18T04:00:00Z", "8h"},
        {"2026-11-16T12:00:01Z", "47h"},
        {"2026-11-16T12:00:00Z", "2d"},
        {"2026-11-16T11:00:00Z", "2d1h"},
        {"2026-11-10T12:00:01Z", "7d23h"},
        {"2026-11-10T12:00:00Z", "8d"},
        {"2024-11-18T12:00:01Z", "729d"},
        {"2024-11-18T12:00:00Z", "2y"},
        {"2024-11-17T12:00:00Z", "2y1d"},
        {"2018-11-20T12:00:01Z", "7y364d"},
        {"2018-11-20T12:00:00Z", "8y"},
        {"2000-01-01T00:00:00Z", "26y"},
        {"yesterday", "<unknown>"},
        {"", "<unknown>"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char members[128], cells[64];
        snprintf(members, sizeof(members), "'metadata':{'name':'x','creationTimestamp':'%s'}",
                 rows[i].created);
        snprintf(cells, sizeof(cells), "'x','%s'", rows[i].age);
        expect_cells(table_printer_find("", "serviceaccounts"), members, cells);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_printers_by_group_and_resource),
        cmocka_unit_test(writes_columns),
        cmocka_unit_test(other_resources_have_name_and_time),
        cmocka_unit_test(includes_nothing_the_metadata_or_the_object),
        cmocka_unit_test(ages_have_two_or_three_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
