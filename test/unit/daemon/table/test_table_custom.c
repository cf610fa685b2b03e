/*
 * test_table_custom.c - printers from the columns of custom resources.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "table_rows.h"

static struct table_printer *printer_of(const char *type, const char *path)
{
    const struct table_custom_column column = {.name = "C", .type = type, .json_path = path};
    struct inf_error err = {0};
    struct table_printer *printer = table_printer_from_columns(&column, 1, &err);
    if (!printer)
        fail_msg("%s", err.text);
    return printer;
}

/* The cell of a column with this type for `v`. */
static void expect_custom(const char *type, const char *value, const char *cell)
{
    struct table_printer *printer = printer_of(type, ".v");
    char members[128], cells[128];
    snprintf(members, sizeof(members), "'v':%s", value);
    snprintf(cells, sizeof(cells), "'x',%s", cell);
    expect_cells(printer, members, cells);
    table_printer_free(printer);
}

static void converts_values_to_the_type_of_the_column(void **state)
{
    static const struct {
        const char *type, *value, *cell;
    } rows[] = {
        {"string", "'a\\nb'", "'a\\nb'"},
        {"string", "7", "'7'"},
        {"string", "1000000", "'1000000'"},
        {"string", "1.50", "'1.5'"},
        {"string", "1000000.5", "'1.0000005e+06'"},
        {"string", "100000.25", "'100000.25'"},
        {"string", "0.0001", "'0.0001'"},
        {"string", "0.00001", "'1e-05'"},
        {"string", "-0.1", "'-0.1'"},
        {"string", "1e3", "'1000'"},
        {"string", "true", "'true'"},
        {"string", "null", "'<no value>'"},
        {"string", "[1,2]", "'[1,2]'"},
        {"string", "{'a':'b'}", "'{\\'a\\':\\'b\\'}'"},
        {"string", "['<&>']", "'[\\'\\\\u003c\\\\u0026\\\\u003e\\']'"},
        {"integer", "7", "7"},
        {"integer", "-7.9", "-7"},
        {"integer", "1e30", "null"},
        {"integer", "'7'", "null"},
        {"integer", "null", "null"},
        {"number", "7", "7"},
        {"number", "7.25", "7.25"},
        {"number", "'7'", "null"},
        {"boolean", "false", "false"},
        {"boolean", "true", "true"},
        {"boolean", "'true'", "null"},
        {"date", "'2026-11-18T11:00:00Z'", "'60m'"},
        {"date", "''", "'<unknown>'"},
        {"date", "'soon'", "'<invalid>'"},
        {"date", "5", "null"},
        {"other", "5", "null"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_custom(rows[i].type, rows[i].value, rows[i].cell);
}

static void takes_the_first_value_of_a_path(void **state)
{
    struct table_printer *printer =
        printer_of("string", ".status.conditions[?(@.type==\"Ready\")].status");
    (void)state;
    expect_cells(printer,
                 "'status':{'conditions':[{'type':'A','status':'a'},"
                 "{'type':'Ready','status':'r'},{'type':'Ready','status':'s'}]}",
                 "'x','r'");
    expect_cells(printer, "'status':{}", "'x',null");
    table_printer_free(printer);
}

static void reads_columns_from_a_definition(void **state)
{
    const char *json = "[{\"name\":\"Size\",\"type\":\"integer\",\"jsonPath\":\".spec.size\","
                       "\"format\":\"int32\",\"priority\":1,\"description\":\"a \\\"size\\\"\"},"
                       "{\"name\":\"Note\",\"type\":\"string\",\"jsonPath\":\".note\"}]";
    struct table_printer *printer = table_printer_from_json(str_of(json), NULL);
    struct buf out = {0};
    (void)state;
    assert_non_null(printer);
    table_put_columns(printer, &out);
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, "[{\"name\":\"Name\",\"type\":\"string\",\"format\":\"name\","
                                   "\"description\":\"name of the object\",\"priority\":0},"
                                   "{\"name\":\"Size\",\"type\":\"integer\",\"format\":\"int32\","
                                   "\"description\":\"a \\\"size\\\"\",\"priority\":1},"
                                   "{\"name\":\"Note\",\"type\":\"string\",\"format\":\"\","
                                   "\"description\":\".note\",\"priority\":0}]");
    expect_cells(printer, "'spec':{'size':3}", "'x',3,null");
    buf_free(&out);
    table_printer_free(printer);
}

static void without_columns_there_is_the_age(void **state)
{
    struct table_printer *printer = table_printer_from_json(STR("[]"), NULL);
    (void)state;
    expect_cells(printer, "", "'x','60m'");
    table_printer_free(printer);
}

static void refuses_paths_and_numbers_of_columns(void **state)
{
    struct table_custom_column columns[TABLE_COLUMNS_MAX + 1];
    struct table_printer *printer;
    struct inf_error err = {0};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        columns[i] = (struct table_custom_column){
            .name = "C", .type = "string", .json_path = i ? ".a" : ".a[-1:]"};
    assert_null(table_printer_from_columns(columns, 1, &err));
    assert_int_equal(err.code, INF_EINVAL);
    assert_non_null(strstr(err.text, "printer column 'C': JSONPath '.a[-1:]' is not supported"));
    printer = table_printer_from_columns(columns + 1, TABLE_COLUMNS_MAX, NULL);
    assert_non_null(printer);
    table_printer_free(printer);
    columns[0].json_path = ".a";
    assert_null(table_printer_from_columns(columns, ARRAY_LEN(columns), &err));
    assert_int_equal(err.code, INF_ETOOBIG);
    table_printer_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(converts_values_to_the_type_of_the_column),
        cmocka_unit_test(takes_the_first_value_of_a_path),
        cmocka_unit_test(reads_columns_from_a_definition),
        cmocka_unit_test(without_columns_there_is_the_age),
        cmocka_unit_test(refuses_paths_and_numbers_of_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
