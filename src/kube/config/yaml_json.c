/*
 * yaml_json.c - writes a YAML tree as JSON, recursively. Can't fail: the parser has limited depth
 * and size.
 */
#include "kube/config/yaml_json.h"

#include <stdbool.h>
#include <string.h>

#include "base/str.h"
#include "base/text/json_string.h"
#include "base/text/yaml.h"

static const char *skip_digits(const char *at)
{
    return at + strspn(at, "0123456789");
}

/* Only the JSON syntax of numbers; other YAML numbers (0x1F, 1_000, .inf) stay strings. */
static bool is_json_number(const char *text)
{
    const char *at = text + (*text == '-'), *end = skip_digits(at);
    if (end == at || (*at == '0' && end > at + 1))
        return false;
    if (*end == '.') {
        at = end + 1;
        end = skip_digits(at);
        if (end == at)
            return false;
    }
    if (*end == 'e' || *end == 'E') {
        at = end + 1 + (end[1] == '+' || end[1] == '-');
        end = skip_digits(at);
        if (end == at)
            return false;
    }
    return *end == '\0';
}

/* The recursion is limited by YAML_DEPTH_MAX. */
static void put_items(struct buf *out, const struct yaml_node *node)
{
    for (const struct yaml_node *n = node->first; n; n = n->next) {
        if (n != node->first)
            buf_putc(out, ',');
        if (n->key) {
            json_put_string(out, str_of(n->key->text));
            buf_putc(out, ':');
        }
        yaml_put_json(out, n);
    }
}

void yaml_put_json(struct buf *out, const struct yaml_node *node)
{
    bool truth;
    switch (node->kind) {
    case YAML_SCALAR:
        if (yaml_is_null(node))
            buf_puts(out, "null");
        else if (yaml_bool(node, &truth) == 0)
            buf_puts(out, truth ? "true" : "false");
        else if (node->plain && is_json_number(node->text))
            buf_puts(out, node->text);
        else
            json_put_string(out, str_of(node->text));
        return;
    case YAML_SEQUENCE:
        buf_putc(out, '[');
        put_items(out, node);
        buf_putc(out, ']');
        return;
    case YAML_MAPPING:
        buf_putc(out, '{');
        put_items(out, node);
        buf_putc(out, '}');
        return;
    }
}
