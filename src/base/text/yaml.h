/*
 * yaml.h - the YAML reader (and thus JSON reader) for kubeconfig and for our own configuration.
 *
 * Parses text into a small tree. Every node knows its position, so that users of the values can
 * report "file:line:column" too (yaml_error). Scalars are not interpreted: `1.0` stays "1.0".
 *
 *     rc = yaml_parse("/etc/x.conf", text, len, &root, err);
 *     name = yaml_string(yaml_get(root, "name"));
 *     for (const struct yaml_node *n = yaml_get(root, "list")->first; n; n = n->next) ...
 *     yaml_tree_free(root);
 *
 * Errors, reported with the position but without any of the text, which may be secret: syntax
 * errors, duplicate keys, a second document, anchors, aliases, merge keys (<<), tags other than
 * !!str !!seq !!map, a NUL in a scalar, and exceeded limits.
 */
#ifndef BASE_TEXT_YAML_H
#define BASE_TEXT_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/error.h"

enum {
    YAML_TEXT_MAX = 1024 * 1024, /* LIMIT: bytes of input */
    YAML_DEPTH_MAX = 64,         /* LIMIT: nesting of collections */
    YAML_NODES_MAX = 65536,      /* LIMIT: scalars, keys and collections */
    YAML_KEYS_MAX = 1024, /* LIMIT: keys of one mapping; checking for duplicates is quadratic */
};

enum yaml_kind {
    YAML_SCALAR,
    YAML_SEQUENCE,
    YAML_MAPPING,
};

/* Read-only. Everything belongs to the tree and is valid until yaml_tree_free(). */
struct yaml_node {
    enum yaml_kind kind;
    bool plain;    /* a scalar without quotes, which may mean null or true */
    size_t line;   /* of its start, from 1 */
    size_t column; /* in characters, from 1 */
    char *file;    /* the name given to yaml_parse(), one for all nodes */
    char *text;    /* of a scalar, without quotes and escapes; NULL for others */
    struct yaml_node
        *key; /* in a mapping: its key, a scalar with its own position; otherwise NULL */
    struct yaml_node *next;  /* the next in the same collection */
    struct yaml_node *first; /* of a collection */
    size_t count;            /* number of nodes in it */
};

/*
 * Parses the single document in @text. @name is its name in errors; both are copied. A byte order
 * mark is skipped; an empty text gives a null scalar. Returns 0, or -INF_ECONF.
 */
int yaml_parse(const char *name, const char *text, size_t len, struct yaml_node **ret_root,
               struct inf_error *err);

/*
 * Like yaml_parse(), for callers that list all errors of a file, not only the first: duplicate keys
 * stay in the tree; yaml_get() returns the first of them.
 */
int yaml_parse_loose(const char *name, const char *text, size_t len, struct yaml_node **ret_root,
                     struct inf_error *err);

/* Frees the tree by its root, overwriting the scalars first (some are keys and tokens). NULL is
 * allowed. Not named yaml_free: libyaml has a function of that name and would call ours. */
void yaml_tree_free(struct yaml_node *root);

/* The (first) value of @key; NULL if there is none, or if @map is NULL or not a mapping. */
struct yaml_node *yaml_get(const struct yaml_node *map, const char *key);

/* Whether the value is null: NULL, or a plain `~`, `null` or empty scalar. */
bool yaml_is_null(const struct yaml_node *node);

/* The text of a scalar; NULL if it is null (see above) or a collection. */
const char *yaml_string(const struct yaml_node *node);

/* A plain true/false, yes/no, on/off. Returns 0, or -INF_ECONF without a message. */
int yaml_bool(const struct yaml_node *node, bool *ret);

/* Sets @err to "file:line:column: ..." of @at (pass node->key for the key) and returns
 * -INF_ECONF. */
__attribute__((format(printf, 3, 4))) int yaml_error(const struct yaml_node *at,
                                                     struct inf_error *err, const char *fmt, ...);

#endif
