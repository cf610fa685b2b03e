/*
 * yaml.h - the one reader of YAML, and so of JSON: for kubeconfig and for our own conf file.
 *
 * Text in, a small tree out, in which every node knows where it was written, so that whoever uses
 * the values can say "file:line:column" too (yaml_error). What a value means is for its user to
 * say: a scalar is its text, and `1.0` stays "1.0".
 *
 *     rc = yaml_parse("/etc/x.conf", text, len, &root, err);
 *     name = yaml_string(yaml_get(root, "name"));
 *     for (const struct yaml_node *n = yaml_get(root, "list")->first; n; n = n->next) ...
 *     yaml_tree_free(root);
 *
 * Refused, with the place but without any of the text, which may be secret: syntax errors, a key given twice, a second document, anchors, aliases,
 * merge keys (<<), tags other than !!str !!seq !!map, a NUL in a scalar, and whatever passes a
 * limit.
 */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/error.h"

enum {
    YAML_TEXT_MAX = 1024 * 1024, /* LIMIT: bytes of input */
    YAML_DEPTH_MAX = 64,         /* LIMIT: collections inside each other */
    YAML_NODES_MAX = 65536,      /* LIMIT: scalars, keys and collections */
    YAML_KEYS_MAX = 1024, /* LIMIT: keys of one mapping; each is compared with all before it */
};

enum yaml_kind {
    YAML_SCALAR,
    YAML_SEQUENCE,
    YAML_MAPPING,
};

/* For reading only. Everything belongs to the tree and lives until yaml_tree_free(). */
struct yaml_node {
    enum yaml_kind kind;
    bool plain;             /* a scalar without quotes, which may mean null or true */
    size_t line;            /* where it begins, from 1 */
    size_t column;          /* in characters, from 1 */
    char *file;             /* the name given to yaml_parse(), one for all nodes */
    char *text;             /* of a scalar, without quotes and escapes; NULL for others */
    struct yaml_node *key;  /* in a mapping: its key, a scalar with a place of its own; else NULL */
    struct yaml_node *next; /* the next in the same collection */
    struct yaml_node *first; /* of a collection */
    size_t count;            /* how many it holds */
};

/*
 * Reads the one document of @text. @name is what errors call it; both are copied. A byte order mark
 * is skipped; no document at all gives a null scalar. Returns 0, or -INF_ECONF.
 */
int yaml_parse(const char *name, const char *text, size_t len, struct yaml_node **ret_root,
               struct inf_error *err);

/*
 * The same for whoever lists all errors of a file, not only the first: a key given twice stays in
 * the tree, and is one for which yaml_get() gives another node.
 */
int yaml_parse_loose(const char *name, const char *text, size_t len, struct yaml_node **ret_root,
                     struct inf_error *err);

/* Frees the tree by its root, overwriting the scalars first (some are keys and tokens). NULL is
 * fine. Not called yaml_free: libyaml has one, and would call ours instead. */
void yaml_tree_free(struct yaml_node *root);

/* The (first) value of @key; NULL if there is none, or if @map is NULL or no mapping. */
struct yaml_node *yaml_get(const struct yaml_node *map, const char *key);

/* Nothing was said: NULL, or a plain `~`, `null` or empty scalar. */
bool yaml_is_null(const struct yaml_node *node);

/* The text of a scalar; NULL if it is null (see above) or a collection. */
const char *yaml_string(const struct yaml_node *node);

/* A plain true/false, yes/no, on/off. Returns 0, or -INF_ECONF leaving the sentence to the caller.
 */
int yaml_bool(const struct yaml_node *node, bool *ret);

/* Says "file:line:column: ..." of @at (of its key: pass node->key) and returns -INF_ECONF. */
__attribute__((format(printf, 3, 4))) int yaml_error(const struct yaml_node *at,
                                                     struct inf_error *err, const char *fmt, ...);

#endif
