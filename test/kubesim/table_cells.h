/*
 * table_cells.h - fields of an object, and the cells of a Table that are made of them. Each cell is written with a comma
 * after it.
 */
#ifndef KUBESIM_TABLE_CELLS_H
#define KUBESIM_TABLE_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <yyjson.h>

#include "base/buf.h"

/* The value at a path such as "status.phase"; NULL, "" or 0 if it is missing. */
yyjson_val *field_at(yyjson_val *object, const char *path);
const char *field_text(yyjson_val *object, const char *path);
int64_t field_number(yyjson_val *object, const char *path);
/* Seconds since 1970; false if the field is missing or not a time. */
bool field_time(yyjson_val *object, const char *path, int64_t *ret);
/* The status of a condition; "" if it does not exist. */
const char *field_condition(yyjson_val *object, const char *type);
bool condition_is_true(yyjson_val *object, const char *type);

/* A duration in one or two units, as duration.HumanDuration() of Kubernetes writes it. */
void duration_format(int64_t s, char *ret, size_t size);

void cell_text(struct buf *out, const char *text);
void cell_text_or(struct buf *out, const char *text, const char *otherwise);
void cell_number(struct buf *out, int64_t n);
void cell_fraction(struct buf *out, int64_t some, int64_t all); /* "1/3" */
/* The time since the field at @path; "<unknown>" if it is missing. */
void cell_since(struct buf *out, yyjson_val *object, const char *path, int64_t now);
void cell_name(struct buf *out, yyjson_val *object);
void cell_age(struct buf *out, yyjson_val *object, int64_t now);
/* @field of each container of the pod template, separated by commas. */
void cell_containers(struct buf *out, yyjson_val *object, const char *field);
/* The equalities of spec.selector. */
void cell_selector(struct buf *out, yyjson_val *object);

#endif
