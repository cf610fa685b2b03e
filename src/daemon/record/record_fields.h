/*
 * record_fields.h - the values that the option `fields` of an event log adds to its records:
 *
 *     fields: {image: "spec.containers[*].image"}     "fields":{"image":["web:1","proxy:7"]}
 */
#ifndef DAEMON_RECORD_RECORD_FIELDS_H
#define DAEMON_RECORD_RECORD_FIELDS_H

#include <stddef.h>

#include "informer/error.h"
#include "informer/informer.h"
#include "informer/object.h"

#include "base/buf.h"

struct record_fields;

/* Copies and parses @n names with their paths. Returns NULL with @err naming the field if a path is
 * invalid. */
struct record_fields *record_fields_make(const struct inf_index *fields, size_t n,
                                         struct inf_error *err);

/* NULL is allowed. */
void record_fields_free(struct record_fields *fields);

/*
 * Adds ,"fields":{...} with the values that @object has; nothing if it has none, or if @fields is
 * NULL. A path that can name several values gives an array. A value over @max bytes is omitted.
 */
void record_fields_put(struct buf *out, const struct record_fields *fields,
                       const struct inf_object *object, size_t max);

#endif
