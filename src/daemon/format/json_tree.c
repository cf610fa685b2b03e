/*
 * json_tree.c - a recursive parser of valid JSON.
 *
 * The text was validated by the library, so the grammar is not checked again. On other text nothing
 * is read out of bounds, but the tree may be incomplete.
 */
#include "daemon/format/json_tree.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/json_decode.h"

struct parser {
    struct arena *arena;
    const char *at, *end;
};

/* Skips white space and returns the next character; 0 at the end. */
static char peek(struct parser *p)
{
    while (p->at < p->end && strchr(" \t\r\n", *p->at) && *p->at)
        p->at++;
    return p->at < p->end ? *p->at : '\0';
}

static bool pass(struct parser *p, char sign)
{
    if (peek(p) != sign)
        return false;
    p->at++;
    return true;
}

/* The text between two quotes; the parser is after the first one. */
static struct str parse_string(struct parser *p)
{
    const char *from = p->at;
    struct str text;
    while (p->at < p->end && *p->at != '"')
        p->at += *p->at == '\\' && p->end - p->at > 1 ? 2 : 1;
    text = (struct str){from, (size_t)(p->at - from)};
    p->at += p->at < p->end;
    return text;
}

static int compare_keys(const void *a, const void *b)
{
    return str_cmp((*(struct json_node *const *)a)->key, (*(struct json_node *const *)b)->key);
}

/* Most objects of a server are sorted already. */
static void sort_members(struct json_node *object)
{
    struct json_node **all, *last = NULL;
    size_t n = 0;
    bool sorted = true;
    for (struct json_node *m = object->first; m; last = m, m = m->next, n++)
        sorted = sorted && (!last || str_cmp(last->key, m->key) <= 0);
    if (sorted)
        return;
    all = xcalloc(n, sizeof(*all));
    n = 0;
    for (struct json_node *m = object->first; m; m = m->next)
        all[n++] = m;
    qsort(all, n, sizeof(*all), compare_keys);
    object->first = all[0];
    for (size_t i = 0; i < n; i++)
        all[i]->next = i + 1 < n ? all[i + 1] : NULL;
    free(all);
}

static struct json_node *parse_value(struct parser *p);

/* Members or items up to @close; the parser is after the opening bracket. */
static void parse_children(struct parser *p, struct json_node *node, char close)
{
    struct json_node **end = &node->first;
    while (!pass(p, close) && peek(p)) {
        struct str key = {0};
        struct json_node *child;
        if (node->type == JSON_OBJECT && pass(p, '"')) {
            key = parse_string(p);
            pass(p, ':');
        }
        child = parse_value(p);
        child->key = key;
        *end = child;
        end = &child->next;
        pass(p, ',');
    }
}

static struct json_node *parse_value(struct parser *p)
{
    struct json_node *node = arena_alloc(p->arena, sizeof(*node));
    const char *from;
    char first = peek(p);
    *node = (struct json_node){.type = JSON_LITERAL};
    from = p->at;
    p->at += first != '\0';
    if (first == '"') {
        node->type = JSON_STRING;
        node->text = parse_string(p);
        return node;
    }
    if (first == '{') {
        node->type = JSON_OBJECT;
        parse_children(p, node, '}');
        sort_members(node);
    } else if (first == '[') {
        node->type = JSON_ARRAY;
        parse_children(p, node, ']');
    } else {
        while (p->at < p->end && !strchr(",]} \t\r\n", *p->at))
            p->at++;
    }
    node->text = (struct str){from, (size_t)(p->at - from)};
    return node;
}

struct json_node *json_tree_make(struct arena *arena, struct str json)
{
    struct parser p = {.arena = arena, .at = json.at, .end = json.at + json.len};
    return parse_value(&p);
}

/* ---- strings ---- */

void json_put_decoded(struct buf *out, struct str spelled)
{
    const char *at = spelled.at, *end = spelled.at + spelled.len;
    while (at < end) {
        char bytes[JSON_CHAR_MAX];
        size_t len = json_text_next(&at, end, bytes);
        if (len)
            buf_put(out, bytes, len);
        else
            buf_putc(out, *at++);
    }
}
