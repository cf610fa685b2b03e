/*
 * yaml_text.h - writes JSON values as YAML in the style of kubectl: two blanks per level, lists not
 * indented, strings without quotes where that is unambiguous, several lines as a literal block.
 */
#ifndef DAEMON_FORMAT_YAML_TEXT_H
#define DAEMON_FORMAT_YAML_TEXT_H

#include "daemon/format/json_tree.h"

/* Appends @node as the lines of a document, each with @indent blanks in front. */
void yaml_put_document(struct buf *out, const struct json_node *node, size_t indent);

/* Appends @node after the "key:" that is at the end of @out, in the same line if it is a scalar.
 * @indent is that of the key. Ends with a newline. */
void yaml_put_value(struct buf *out, const struct json_node *node, size_t indent);

#endif
