/*
 * columns.c - parses custom columns, and fills in their cells.
 */
#include "daemon/format/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"

/* ---- parsing ---- */

/* Bytes of the first column of @text: up to a comma that is not in brackets. */
static size_t column_len(struct str text)
{
    size_t depth = 0, i = 0;
    for (; i < text.len && (depth || text.at[i] != ','); i++) {
        depth += text.at[i] == '[' || text.at[i] == '(';
        depth -= depth && (text.at[i] == ']' || text.at[i] == ')');
    }
    return i;
}

static int add_column(struct columns *c, struct str header, struct str path, struct inf_error *err)
{
    if (c->count == COLUMNS_MAX)
        return err_set(err, INF_EINVAL, "more than %d columns", COLUMNS_MAX);
    c->headers[c->count] = header;
    return jsonpath_parse(path, &c->paths[c->count++], err);
}

/* "NAME:.metadata.name" */
static int parse_column(struct columns *c, struct str text, struct inf_error *err)
{
    const char *colon = memchr(text.at, ':', text.len);
    size_t len = colon ? (size_t)(colon - text.at) : 0;
    if (!len)
        return err_set(err, INF_EINVAL,
                       "column '%.*s' has no header; write it like NAME:.metadata.name",
                       text.len < 80 ? (int)text.len : 80, text.at);
    return add_column(c, (struct str){text.at, len}, (struct str){colon + 1, text.len - len - 1},
                      err);
}

int columns_parse(struct columns *ret, const char *spec, struct inf_error *err)
{
    struct str rest;
    int rc;
    *ret = (struct columns){.spec = xstrdup(spec)};
    rest = str_of(ret->spec);
    do {
        size_t len = column_len(rest);
        rc = parse_column(ret, (struct str){rest.at, len}, err);
        rest =
            len < rest.len ? (struct str){rest.at + len + 1, rest.len - len - 1} : (struct str){0};
    } while (rc == 0 && rest.at);
    return rc;
}

/* Removes the next word of the line @rest; empty: there is none. */
static struct str next_word(struct str *rest)
{
    size_t from = 0, to;
    struct str word;
    while (from < rest->len && strchr(" \t\r", rest->at[from]))
        from++;
    for (to = from; to < rest->len && !strchr(" \t\r", rest->at[to]);)
        to++;
    word = (struct str){rest->at + from, to - from};
    *rest = (struct str){rest->at + to, rest->len - to};
    return word;
}

int columns_parse_lines(struct columns *ret, const char *text, struct inf_error *err)
{
    const char *end = strchr(text, '\n');
    struct str headers, paths, header, path;
    int rc = 0;
    *ret = (struct columns){.spec = xstrdup(text)};
    if (!end)
        return err_set(err, INF_EINVAL,
                       "custom columns need two lines: the headers, and below them the paths");
    headers = (struct str){ret->spec, (size_t)(end - text)};
    paths = (struct str){ret->spec + headers.len + 1, strcspn(end + 1, "\n")};
    while (rc == 0) {
        header = next_word(&headers);
        path = next_word(&paths);
        if (!header.len && !path.len)
            break;
        if (!header.len || !path.len)
            return err_set(err, INF_EINVAL, "custom columns: there are more %s than %s",
                           header.len ? "headers" : "paths", header.len ? "paths" : "headers");
        rc = add_column(ret, header, path, err);
    }
    if (rc == 0 && !ret->count)
        rc = err_set(err, INF_EINVAL, "custom columns: the first line has no headers");
    return rc;
}

void columns_free(struct columns *c)
{
    for (size_t i = 0; i < c->count; i++)
        jsonpath_free(c->paths[i]);
    free(c->spec);
    *c = (struct columns){0};
}

/* ---- cells ---- */

/* As fmt.Sprint() of Go prints it: map[app:web tier:front], [a b]. */
static void put_node(struct buf *out, const struct json_node *node)
{
    switch (node->type) {
    case JSON_STRING: json_put_decoded(out, node->text); break;
    case JSON_LITERAL:
        if (str_eq(node->text, STR("null")))
            buf_puts(out, "<nil>");
        else
            buf_put(out, node->text.at, node->text.len);
        break;
    case JSON_OBJECT:
    case JSON_ARRAY:
        buf_puts(out, node->type == JSON_OBJECT ? "map[" : "[");
        for (const struct json_node *child = node->first; child; child = child->next) {
            if (child != node->first)
                buf_putc(out, ' ');
            if (node->type == JSON_OBJECT) {
                json_put_decoded(out, child->key);
                buf_putc(out, ':');
            }
            put_node(out, child);
        }
        buf_putc(out, ']');
        break;
    }
}

static void put_values(void *ctx, const struct json_node *const *values, size_t n)
{
    if (!n)
        buf_puts(ctx, "<none>");
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_putc(ctx, ',');
        put_node(ctx, values[i]);
    }
}

int columns_put_cell(const struct columns *c, size_t i, const struct json_node *object,
                     struct buf *out, struct inf_error *err)
{
    return jsonpath_each(c->paths[i], object, put_values, out, err);
}

int columns_put_cell_within(const struct columns *c, size_t i, const struct json_node *object,
                            struct jsonpath_budget *budget, struct buf *out)
{
    return jsonpath_each_within(c->paths[i], object, budget, put_values, out);
}
