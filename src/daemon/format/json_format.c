/*
 * json_format.c - the whole object of each change as indented JSON, as `kubectl get -w -o json`
 * prints it.
 *
 * Keys are sorted. Of a deleted object it is the last state. Values keep the server's spelling,
 * except that characters that could control a terminal are escaped. There are no notes: what is
 * written is a sequence of JSON objects.
 */
#include "base/text/json_string.h"
#include "daemon/format/json_tree.h"
#include "daemon/format/record_format.h"

enum {
    INDENT = 4,
};

static void put_line_start(struct buf *out, size_t depth)
{
    buf_putc(out, '\n');
    for (size_t i = 0; i < depth * INDENT; i++)
        buf_putc(out, ' ');
}

static void put_quoted(struct buf *out, struct str spelled)
{
    buf_putc(out, '"');
    json_put_json(out, spelled);
    buf_putc(out, '"');
}

static void put_node(struct buf *out, const struct json_node *node, size_t depth)
{
    bool object = node->type == JSON_OBJECT;
    if (node->type == JSON_STRING) {
        put_quoted(out, node->text);
        return;
    }
    if (node->type == JSON_LITERAL || !node->first) {
        json_put_json(out, node->text);
        return;
    }
    buf_putc(out, object ? '{' : '[');
    for (const struct json_node *child = node->first; child; child = child->next) {
        put_line_start(out, depth + 1);
        if (object) {
            put_quoted(out, child->key);
            buf_puts(out, ": ");
        }
        put_node(out, child, depth + 1);
        if (child->next)
            buf_putc(out, ',');
    }
    put_line_start(out, depth);
    buf_putc(out, object ? '}' : ']');
}

void json_put_indented(struct buf *out, const struct json_node *node)
{
    put_node(out, node, 0);
}

void json_put_compact(struct buf *out, const struct json_node *node)
{
    bool object = node->type == JSON_OBJECT;
    if (node->type == JSON_STRING) {
        put_quoted(out, node->text);
        return;
    }
    if (node->type == JSON_LITERAL) {
        json_put_json(out, node->text);
        return;
    }
    buf_putc(out, object ? '{' : '[');
    for (const struct json_node *child = node->first; child; child = child->next) {
        if (object) {
            put_quoted(out, child->key);
            buf_putc(out, ':');
        }
        json_put_compact(out, child);
        if (child->next)
            buf_putc(out, ',');
    }
    buf_putc(out, object ? '}' : ']');
}

static void json_put_change(struct buf *out, const struct change *change,
                            const struct record_options *options)
{
    struct arena arena = {0};
    struct str json;
    (void)options;
    json.at = inf_object_json(change->object, &json.len);
    json_put_indented(out, json_tree_make(&arena, json));
    buf_putc(out, '\n');
    arena_free(&arena);
}

const struct record_format json_format = {
    .put_change = json_put_change,
};
