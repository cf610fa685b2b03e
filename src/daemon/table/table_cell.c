/*
 * table_cell.c - fields and cells. See table_cell.h.
 *
 * Each cell ends with a comma, which table_put_row() replaces after the last one. Nothing fails: where a
 * string is expected, an object or array counts as missing.
 */
#include "daemon/table/table_cell.h"

#include <inttypes.h>
#include <string.h>

#include "base/text/timestamp.h"

/* ---- fields ---- */

static struct str without_null(struct str value)
{
    return str_eq(value, STR("null")) ? (struct str){0} : value;
}

struct str field_get(struct str object, const char *path)
{
    struct json_walk walk;
    struct str key;
    json_walk_start(&walk, object);
    while (json_walk_key(&walk, &key)) {
        size_t len = strcspn(path, ".");
        if (!json_text_is(key, (struct str){path, len}))
            json_walk_value(&walk);
        else if (!path[len])
            return without_null(json_walk_value(&walk));
        else if (!json_walk_pass(&walk, '{'))
            break;
        else
            path += len + 1;
    }
    return (struct str){0};
}

void fields_get(struct str object, const struct str *names, size_t count, struct str *values)
{
    struct json_walk walk;
    struct json_member member;
    size_t found = 0;
    memset(values, 0, count * sizeof(*values));
    json_walk_start(&walk, object);
    while (found < count && json_walk_next(&walk, &member))
        for (size_t i = 0; i < count; i++)
            if (!values[i].at && json_text_is(member.key, names[i])) {
                values[i] = without_null(member.value);
                found++;
                break;
            }
}

struct str value_text(struct str value)
{
    if (value.len < 2)
        return value;
    switch (value.at[0]) {
    case '"': return (struct str){value.at + 1, value.len - 2};
    case '{':
    case '[': return (struct str){0}; /* unexpected; it would end the string of the cell */
    default: return value;
    }
}

int64_t value_int(struct str value)
{
    int64_t number = 0;
    bool negative = value.len && value.at[0] == '-';
    for (size_t i = negative; i < value.len && i < 19; i++) {
        if (value.at[i] < '0' || value.at[i] > '9')
            break;
        number = number * 10 + (value.at[i] - '0');
    }
    return negative ? -number : number;
}

bool value_time(struct str value, int64_t *ret_us)
{
    char text[64]; /* RFC 3339 with nanoseconds and an offset has 35 bytes */
    struct str spelled = value_text(value);
    *ret_us = 0;
    if (!spelled.len || spelled.len >= sizeof(text))
        return false;
    memcpy(text, spelled.at, spelled.len);
    text[spelled.len] = '\0';
    return timestamp_parse(text, ret_us) == 0;
}

size_t value_count(struct str value)
{
    struct json_walk walk;
    struct json_member member;
    struct str item;
    size_t count = 0;
    if (json_items_start(&walk, value)) {
        while (json_items_next(&walk, &item))
            count++;
        return count;
    }
    json_walk_start(&walk, value);
    while (json_walk_next(&walk, &member))
        count++;
    return count;
}

struct str condition_status(struct str conditions, struct str type)
{
    struct json_walk walk;
    struct str item;
    json_items_start(&walk, conditions);
    while (json_items_next(&walk, &item))
        if (value_is(field_get(item, "type"), type))
            return field_get(item, "status");
    return (struct str){0};
}

/* ---- parts of a cell ---- */

void text_put(struct table_row *row, struct str value)
{
    struct str text = value_text(value);
    buf_put(row->out, text.at, text.len);
}

void text_puts(struct table_row *row, const char *text)
{
    buf_puts(row->out, text);
}

/* Not with buf_printf(), which takes several times as long. */
void text_put_int(struct table_row *row, int64_t number)
{
    char digits[24], *at = digits + sizeof(digits);
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (number < 0)
        *--at = '-';
    buf_put(row->out, at, (size_t)(digits + sizeof(digits) - at));
}

static void put_unit(struct table_row *row, int64_t number, char unit)
{
    text_put_int(row, number);
    buf_putc(row->out, unit);
}

/* "3h5m", or "3h" if the second number is 0. */
static void put_units(struct table_row *row, int64_t number, char unit, int64_t rest, char small)
{
    put_unit(row, number, unit);
    if (rest)
        put_unit(row, rest, small);
}

/* A clock that is slightly ahead is tolerated: more than -2 seconds is 0s. */
void text_put_duration(struct table_row *row, int64_t us)
{
    int64_t seconds = us / 1000000, minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
    if (seconds < -1)
        text_puts(row, "<invalid>");
    else if (seconds < 0)
        text_puts(row, "0s");
    else if (seconds < 120)
        put_unit(row, seconds, 's');
    else if (minutes < 10)
        put_units(row, minutes, 'm', seconds % 60, 's');
    else if (minutes < 180)
        put_unit(row, minutes, 'm');
    else if (hours < 8)
        put_units(row, hours, 'h', minutes % 60, 'm');
    else if (hours < 48)
        put_unit(row, hours, 'h');
    else if (days < 8)
        put_units(row, days, 'd', hours % 24, 'h');
    else if (days < 365 * 2)
        put_unit(row, days, 'd');
    else
        put_units(row, days / 365, 'y', days < 365 * 8 ? days % 365 : 0, 'd');
}

void text_put_age(struct table_row *row, struct str timestamp)
{
    int64_t us;
    if (value_time(timestamp, &us))
        text_put_duration(row, row->now_us - us);
    else
        text_puts(row, "<unknown>");
}

void text_put_each(struct table_row *row, struct str array, const char *field)
{
    struct json_walk walk;
    struct str item;
    const char *separator = "";
    json_items_start(&walk, array);
    for (; json_items_next(&walk, &item); separator = ",") {
        text_puts(row, separator);
        text_put(row, field ? field_get(item, field) : item);
    }
}

bool short_list_add(struct short_list *list, struct table_row *row)
{
    bool shown = list->count++ < list->max;
    if (shown && list->count > 1)
        text_puts(row, list->separator);
    return shown;
}

void short_list_end(struct short_list *list, struct table_row *row)
{
    if (list->count <= list->max)
        return;
    text_puts(row, " + ");
    text_put_int(row, (int64_t)(list->count - list->max));
    text_puts(row, " more...");
}

/* ---- whole cells ---- */

void cell_open(struct table_row *row)
{
    buf_putc(row->out, '"');
}

void cell_close(struct table_row *row)
{
    buf_put(row->out, "\",", 2);
}

void cell_put_text(struct table_row *row, const char *text)
{
    cell_open(row);
    text_puts(row, text);
    cell_close(row);
}

void cell_put_name(struct table_row *row)
{
    cell_put_string(row, field_get(row->metadata, "name"), "");
}

void cell_put_age(struct table_row *row)
{
    cell_open(row);
    text_put_age(row, field_get(row->metadata, "creationTimestamp"));
    cell_close(row);
}

void cell_put_string(struct table_row *row, struct str value, const char *fallback)
{
    cell_put_optional(row, value_is_blank(value) ? (struct str){0} : value, fallback);
}

void cell_put_optional(struct table_row *row, struct str value, const char *fallback)
{
    cell_open(row);
    if (value.len)
        text_put(row, value);
    else
        text_puts(row, fallback);
    cell_close(row);
}

void cell_put_int(struct table_row *row, struct str value)
{
    text_put_int(row, value_int(value));
    buf_putc(row->out, ',');
}

void cell_put_count(struct table_row *row, size_t count)
{
    text_put_int(row, (int64_t)count);
    buf_putc(row->out, ',');
}

void cell_put_ratio(struct table_row *row, int64_t part, int64_t whole)
{
    cell_open(row);
    text_put_int(row, part);
    buf_putc(row->out, '/');
    text_put_int(row, whole);
    cell_close(row);
}

void cell_put_containers(struct table_row *row, struct str containers)
{
    static const char *const fields[] = {"name", "image"};
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        cell_open(row);
        text_put_each(row, containers, fields[i]);
        cell_close(row);
    }
}
