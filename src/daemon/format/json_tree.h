/*
 * json_tree.h - a JSON value as a tree, for formats that print it in another form.
 *
 * Members of objects are sorted by key, as kubectl prints them. Keys and values point into the text.
 */
#ifndef DAEMON_FORMAT_JSON_TREE_H
#define DAEMON_FORMAT_JSON_TREE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

enum json_type {
    JSON_OBJECT,
    JSON_ARRAY,
    JSON_STRING,
    JSON_LITERAL, /* a number, true, false or null */
};

struct json_node {
    enum json_type type;
    struct str key;          /* of a member: as spelled, without quotes */
    struct str text;         /* as spelled; of a string without quotes */
    struct json_node *first; /* member or item; NULL: none */
    struct json_node *next;
};

/* Parses @json, which must be valid: objects and the values of diffs are. Recurses once per level,
 * of which the library allows 512. The tree is in @arena and refers to @json. */
struct json_node *json_tree_make(struct arena *arena, struct str json);

/* Appends a string as spelled in JSON without quotes, decoded. Half of a surrogate pair stays
 * as it is. */
void json_put_decoded(struct buf *out, struct str spelled);

/* json_format.c: appends @node as indented JSON, without a newline at its end. */
void json_put_indented(struct buf *out, const struct json_node *node);

/* json_format.c: the same without white space. */
void json_put_compact(struct buf *out, const struct json_node *node);

#endif
