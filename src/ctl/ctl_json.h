/*
 * ctl_json.h - reads values of the JSON answers of informerd (daemon/format/json_tree.h).
 */
#ifndef CTL_CTL_JSON_H
#define CTL_CTL_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/error.h"

#include "daemon/format/json_tree.h"

/* The member @key of an object; NULL: none, or @node is not an object. NULL is allowed. */
const struct json_node *ctl_json_get(const struct json_node *node, const char *key);

/* The decoded value of the member @key, "" if it is missing. The caller frees it. */
char *ctl_json_text(const struct json_node *node, const char *key);

/* The same for a number; 0 if it is missing. */
uint64_t ctl_json_number(const struct json_node *node, const char *key);

/* Whether the member @key is the string @text. */
bool ctl_json_is(const struct json_node *node, const char *key, const char *text);

/* Sets @err from a response with an error status: a Status object, or any text. Returns -err->code:
 * INF_ENOTFOUND, INF_EFORBIDDEN, INF_EUNAUTHORIZED, INF_EINVAL or INF_ESERVER. */
int ctl_json_error(int status, struct str body, struct inf_error *err);

#endif
