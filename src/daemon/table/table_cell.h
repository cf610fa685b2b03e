/*
 * table_cell.h - reading fields of an object's text and writing the cells of a row.
 *
 * Values are as written in the object: strings with quotes and escapes. They are copied into cells
 * without decoding. A missing value is empty, and so is null.
 */
#ifndef DAEMON_TABLE_TABLE_CELL_H
#define DAEMON_TABLE_TABLE_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json/json.h"
#include "daemon/table/table_printer.h"

/* ---- fields ---- */

/* Initializes a constant struct str. */
#define FIELD_NAME(literal)          \
    {                                \
        literal, sizeof(literal) - 1 \
    }

/* The value at @path, names with dots between them ("template.spec.containers"). Enters each value at
 * its first byte, without a search for its end. */
struct str field_get(struct str object, const char *path);

/* The values of several members, found in one walk. @values has as many items as @names. */
void fields_get(struct str object, const struct str *names, size_t count, struct str *values);

/* The text of a string as written, without quotes; of a literal, as written; of others, nothing. */
struct str value_text(struct str value);

/* Whether it is this string, or as a literal this number, true or false. */
static inline bool value_is(struct str value, struct str text)
{
    return str_eq(value_text(value), text);
}

static inline bool value_is_true(struct str value)
{
    return str_eq(value, STR("true"));
}

/* Whether it is missing or the string "". */
static inline bool value_is_blank(struct str value)
{
    return value_text(value).len == 0;
}

/* An integer; 0 if it is missing or something else. */
int64_t value_int(struct str value);

/* Reads a time. Returns false, and 0, if it is missing or invalid. */
bool value_time(struct str value, int64_t *ret_us);

/* Items of an array, or members of an object. */
size_t value_count(struct str value);

/* The status of the first condition of this type in @conditions; empty: there is none. */
struct str condition_status(struct str conditions, struct str type);

/* ---- parts of a cell, between cell_open() and cell_close() ---- */

void text_put(struct table_row *row, struct str value); /* without quotes */
void text_puts(struct table_row *row, const char *text);
void text_put_int(struct table_row *row, int64_t number);

/* A duration as kubectl shows ages: 119s, 2m30s, 10m, 3h5m, 47h, 7d23h, 729d, 2y1d. */
void text_put_duration(struct table_row *row, int64_t us);

/* The time since @timestamp; <unknown> if it is missing. */
void text_put_age(struct table_row *row, struct str timestamp);

/* One field of every item of an array, with commas: the images of containers. NULL: the items. */
void text_put_each(struct table_row *row, struct str array, const char *field);

/* The first @max items of a list and the number of the others: "a,b,c + 2 more...". */
struct short_list {
    const char *separator;
    size_t max;
    size_t count;
};

/* Adds an item. Returns whether the caller writes it. */
bool short_list_add(struct short_list *list, struct table_row *row);
void short_list_end(struct short_list *list, struct table_row *row);

/* ---- whole cells ---- */

void cell_open(struct table_row *row);
void cell_close(struct table_row *row);

void cell_put_text(struct table_row *row, const char *text); /* plain, without escapes */
void cell_put_name(struct table_row *row);
void cell_put_age(struct table_row *row);

/* A string; @fallback if it is missing or "". */
void cell_put_string(struct table_row *row, struct str value, const char *fallback);

/* A string; @fallback only if it is missing. */
void cell_put_optional(struct table_row *row, struct str value, const char *fallback);

/* A number as a JSON number; 0 if it is missing. */
void cell_put_int(struct table_row *row, struct str value);
void cell_put_count(struct table_row *row, size_t count);

/* "2/3": two numbers as one string. */
void cell_put_ratio(struct table_row *row, int64_t part, int64_t whole);

/* Names and images of containers: two cells. */
void cell_put_containers(struct table_row *row, struct str containers);

#endif
