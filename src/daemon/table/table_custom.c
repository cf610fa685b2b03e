/*
 * table_custom.c - printers of custom resources, from the columns in their definition.
 *
 * Each column has a JSONPath; the first value that it finds is converted to the type of the column. A
 * missing value, or one of another type, is null. That is what the API server prints.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/text/json_string.h"
#include "daemon/format/jsonpath_fields.h"
#include "daemon/table/table_cell.h"

typedef void custom_put_fn(struct table_row *row, struct str value);

struct custom_printer {
    struct table_printer base;
    struct arena strings;
    struct table_column columns[1 + TABLE_COLUMNS_MAX]; /* the first one is the name */
    struct custom_value {
        struct inf_path *path; /* NULL: the whole object */
        custom_put_fn *put;
    } values[1 + TABLE_COLUMNS_MAX];
};

/* ---- types of cells. Each writes a value, or null if it has another type ---- */

static bool is_string(struct str value)
{
    return value.len && value.at[0] == '"';
}

static bool is_number(struct str value)
{
    return value.len && (value.at[0] == '-' || (value.at[0] >= '0' && value.at[0] <= '9'));
}

static bool is_integer(struct str value)
{
    for (size_t i = 0; i < value.len; i++)
        if (value.at[i] == '.' || value.at[i] == 'e' || value.at[i] == 'E')
            return false;
    return is_number(value);
}

static double to_double(struct str number)
{
    char text[64] = "0"; /* a server writes floating point numbers with at most 25 bytes */
    if (number.len < sizeof(text))
        snprintf(text, sizeof(text), "%.*s", STR_FMT(number));
    return strtod(text, NULL);
}

/* The shortest text that is read as the same number, as Go's %v prints it: 1.5, 1e+06, 1e-05. */
static void put_go_float(struct buf *out, double number)
{
    char text[64];
    int exponent, digits = 0;
    double again;
    do {
        snprintf(text, sizeof(text), "%.*e", digits, number);
        again = strtod(text, NULL);
    } while (memcmp(&again, &number, sizeof(number)) != 0 && digits++ < 17);
    exponent = atoi(strchr(text, 'e') + 1);
    if (exponent >= -4 && exponent < 6)
        buf_printf(out, "%.*f", digits > exponent ? digits - exponent : 0, number);
    else
        buf_puts(out, text);
}

/* An object or array as text, with the three characters escaped that Go escapes for HTML. */
static void put_json_text(struct buf *out, struct str json)
{
    for (size_t i = 0; i < json.len; i++) {
        if (json.at[i] == '<' || json.at[i] == '>' || json.at[i] == '&')
            buf_printf(out, "\\u%04x", (unsigned)json.at[i]);
        else
            buf_putc(out, json.at[i]);
    }
}

/* Strings as they are, objects and arrays as JSON, other values as text. */
static void put_string(struct table_row *row, struct str value)
{
    struct buf text = {0};
    if (is_string(value)) {
        buf_put(row->out, value.at, value.len);
        return;
    }
    if (str_eq(value, STR("null")))
        buf_puts(&text, "<no value>");
    else if (is_number(value) && !is_integer(value))
        put_go_float(&text, to_double(value));
    else
        put_json_text(&text, value);
    json_put_string(row->out, (struct str){text.bytes, text.len});
    buf_free(&text);
}

static void put_integer(struct table_row *row, struct str value)
{
    if (is_integer(value))
        buf_put(row->out, value.at, value.len);
    else if (is_number(value) && to_double(value) > -9e18 && to_double(value) < 9e18)
        text_put_int(row, (int64_t)to_double(value));
    else
        text_puts(row, "null");
}

static void put_number(struct table_row *row, struct str value)
{
    if (is_number(value))
        buf_put(row->out, value.at, value.len);
    else
        text_puts(row, "null");
}

static void put_boolean(struct table_row *row, struct str value)
{
    if (value_is_true(value) || str_eq(value, STR("false")))
        buf_put(row->out, value.at, value.len);
    else
        text_puts(row, "null");
}

/* A date is shown as an age. */
static void put_date(struct table_row *row, struct str value)
{
    int64_t us;
    if (!is_string(value))
        text_puts(row, "null");
    else if (value_is_blank(value) || value_is(value, STR("null")))
        text_puts(row, "\"<unknown>\"");
    else if (!value_time(value, &us))
        text_puts(row, "\"<invalid>\"");
    else {
        buf_putc(row->out, '"');
        text_put_duration(row, row->now_us - us);
        buf_putc(row->out, '"');
    }
}

static void put_null(struct table_row *row, struct str value)
{
    (void)value;
    text_puts(row, "null");
}

static custom_put_fn *find_type(const char *name)
{
    static const struct {
        const char *name;
        custom_put_fn *put;
    } types[] = {
        {"string", put_string},   {"integer", put_integer}, {"number", put_number},
        {"boolean", put_boolean}, {"date", put_date},
    };
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (strcmp(types[i].name, name) == 0)
            return types[i].put;
    return put_null;
}

/* ---- rows ---- */

/* Keeps the first value. */
static bool on_value(void *ctx, const char *json, size_t len)
{
    *(struct str *)ctx = (struct str){json, len};
    return false;
}

static void custom_put_cells(struct table_row *row)
{
    const struct custom_printer *custom = container_of(row->printer, struct custom_printer, base);
    cell_put_name(row);
    for (size_t i = 1; i < row->printer->column_count; i++) {
        struct str value = {0};
        jsonpath_fields_each(custom->values[i].path, row->object, on_value, &value);
        if (value.len)
            custom->values[i].put(row, value);
        else
            text_puts(row, "null");
        buf_putc(row->out, ',');
    }
}

/* ---- making a printer ---- */

static const char *copy(struct custom_printer *custom, const char *text)
{
    return arena_copy(&custom->strings, str_of(text ? text : "")).at;
}

static int add_column(struct custom_printer *custom, const struct table_custom_column *column,
                      struct inf_error *err)
{
    size_t at = custom->base.column_count;
    struct inf_error cause = {0};
    if (at > TABLE_COLUMNS_MAX)
        return err_set(err, INF_ETOOBIG, "more than %d printer columns", TABLE_COLUMNS_MAX);
    if (jsonpath_fields_parse(str_of(column->json_path), &custom->values[at].path, &cause) < 0)
        return err_set(err, INF_EINVAL, "printer column '%.80s': %s", column->name, cause.text);
    custom->values[at].put = find_type(column->type);
    custom->columns[at] = (struct table_column){
        .name = copy(custom, column->name),
        .type = copy(custom, column->type),
        .format = copy(custom, column->format),
        .priority = column->priority,
        .description = copy(custom, column->description ? column->description : column->json_path),
    };
    custom->base.column_count++;
    return 0;
}

static struct custom_printer *printer_new(void)
{
    static const struct table_column name = TABLE_NAME;
    struct custom_printer *custom = NEW(struct custom_printer);
    custom->columns[0] = name;
    custom->base = (struct table_printer){"", "", custom->columns, 1, custom_put_cells};
    return custom;
}

struct table_printer *table_printer_from_columns(const struct table_custom_column *columns,
                                                 size_t count, struct inf_error *err)
{
    static const struct table_custom_column age = {
        .name = "Age",
        .type = "date",
        .json_path = ".metadata.creationTimestamp",
        .description = "time since the object was created",
    };
    struct custom_printer *custom = printer_new();
    int rc = count ? 0 : add_column(custom, &age, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = add_column(custom, &columns[i], err);
    if (rc == 0)
        return &custom->base;
    table_printer_free(&custom->base);
    return NULL;
}

/* ---- from JSON ---- */

enum {
    JSON_NAME,
    JSON_TYPE,
    JSON_PATH,
    JSON_FORMAT,
    JSON_DESCRIPTION,
    JSON_PRIORITY,
    JSON_FIELDS
};
static const struct str json_names[JSON_FIELDS] = {
    [JSON_NAME] = FIELD_NAME("name"),
    [JSON_TYPE] = FIELD_NAME("type"),
    [JSON_PATH] = FIELD_NAME("jsonPath"),
    [JSON_FORMAT] = FIELD_NAME("format"),
    [JSON_DESCRIPTION] = FIELD_NAME("description"),
    [JSON_PRIORITY] = FIELD_NAME("priority"),
};

static const char *decode(struct arena *arena, struct str value)
{
    struct buf text = {0};
    const char *copied;
    json_value_put(&text, value);
    copied = arena_copy(arena, (struct str){text.bytes ? text.bytes : "", text.len}).at;
    buf_free(&text);
    return copied;
}

struct table_printer *table_printer_from_json(struct str columns, struct inf_error *err)
{
    struct table_custom_column list[TABLE_COLUMNS_MAX + 1];
    struct str item, v[JSON_FIELDS];
    struct arena arena = {0};
    struct json_walk walk;
    struct table_printer *printer;
    size_t count = 0;
    json_items_start(&walk, columns);
    while (count < ARRAY_LEN(list) && json_items_next(&walk, &item)) {
        fields_get(item, json_names, JSON_FIELDS, v);
        list[count++] = (struct table_custom_column){
            .name = decode(&arena, v[JSON_NAME]),
            .type = decode(&arena, v[JSON_TYPE]),
            .json_path = decode(&arena, v[JSON_PATH]),
            .format = decode(&arena, v[JSON_FORMAT]),
            .description = v[JSON_DESCRIPTION].len ? decode(&arena, v[JSON_DESCRIPTION]) : NULL,
            .priority = (int)value_int(v[JSON_PRIORITY]),
        };
    }
    printer = table_printer_from_columns(list, count, err);
    arena_free(&arena);
    return printer;
}

void table_printer_free(struct table_printer *printer)
{
    struct custom_printer *custom;
    if (!printer)
        return;
    custom = container_of(printer, struct custom_printer, base);
    for (size_t i = 1; i <= TABLE_COLUMNS_MAX; i++)
        inf_path_free(custom->values[i].path);
    arena_free(&custom->strings);
    free(custom);
}
