/*
 * jsonpath.c - translates JSONPath step by step to the text of a field path, which the library then
 * parses. An error gives the column and what is supported.
 */
#include "daemon/format/jsonpath.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "base/err.h"
#include "base/text/json_string.h"
#include "base/text/syntax_error.h"

struct translator {
    struct str whole;
    const char *at, *end;
    struct buf path;
    struct inf_error *err;
};

#define SUPPORTED "; supported: .field ['key'] [*] [0] [?(@.field==\"value\")]"

static int translate_error(struct translator *t, const char *at, const char *message)
{
    return syntax_error(t->err, "JSONPath", t->whole, at, "%s%s", message, SUPPORTED);
}

static bool pass(struct translator *t, const char *sign)
{
    size_t len = strlen(sign);
    if ((size_t)(t->end - t->at) < len || memcmp(t->at, sign, len) != 0)
        return false;
    t->at += len;
    return true;
}

static void skip_blanks(struct translator *t)
{
    while (t->at < t->end && *t->at == ' ')
        t->at++;
}

static bool is_plain_char(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_';
}

static void put_key(struct translator *t, struct str key)
{
    bool plain = key.len > 0;
    for (size_t i = 0; i < key.len; i++)
        plain = plain && is_plain_char(key.at[i]);
    if (plain) {
        if (t->path.len)
            buf_putc(&t->path, '.');
        buf_put(&t->path, key.at, key.len);
    } else {
        buf_putc(&t->path, '[');
        json_put_string(&t->path, key);
        buf_putc(&t->path, ']');
    }
}

/* A name after a dot; "\." is a dot of the name. */
static int translate_name(struct translator *t)
{
    struct buf name = {0};
    const char *from = t->at;
    for (; t->at < t->end && *t->at != '.' && *t->at != '['; t->at++) {
        if (*t->at == '\\' && t->end - t->at > 1)
            t->at++;
        if (strchr(" ]{}()'\"", *t->at))
            break;
        buf_putc(&name, *t->at);
    }
    if (name.len == 1 && name.bytes[0] == '*')
        buf_puts(&t->path, "[*]");
    else if (name.len)
        put_key(t, (struct str){name.bytes, name.len});
    buf_free(&name);
    if (t->at == from)
        return translate_error(t, from,
                               t->at < t->end && *t->at == '.' ? "'..' is not supported"
                                                               : "a field name is missing");
    return 0;
}

/* A string in quotes, decoded to @out. Returns false if there is none. */
static bool take_quoted(struct translator *t, struct buf *out)
{
    char quote = t->at < t->end ? *t->at : '\0';
    const char *at = t->at + 1;
    if (quote != '\'' && quote != '"')
        return false;
    for (; at < t->end && *at != quote; at++) {
        at += *at == '\\' && t->end - at > 1;
        buf_putc(out, *at);
    }
    if (at == t->end)
        return false;
    t->at = at + 1;
    return true;
}

/* The value of a comparison: quoted, or a number or true or false. */
static bool take_value(struct translator *t, struct buf *out)
{
    if (t->at < t->end && (*t->at == '\'' || *t->at == '"'))
        return take_quoted(t, out);
    while (t->at < t->end && (is_plain_char(*t->at) || *t->at == '.'))
        buf_putc(out, *t->at++);
    return out->len > 0;
}

/* After "[?(": @.field=="value")] */
static int translate_filter(struct translator *t)
{
    struct buf field = {0}, value = {0};
    const char *from = t->at;
    bool valid;
    skip_blanks(t);
    valid = pass(t, "@.");
    while (valid && t->at < t->end && is_plain_char(*t->at))
        buf_putc(&field, *t->at++);
    skip_blanks(t);
    valid = valid && field.len && pass(t, "==");
    skip_blanks(t);
    valid = valid && take_value(t, &value);
    skip_blanks(t);
    valid = valid && pass(t, ")") && pass(t, "]");
    if (valid) {
        buf_printf(&t->path, "[%.*s=", (int)field.len, field.bytes);
        json_put_string(&t->path, (struct str){value.bytes, value.len});
        buf_putc(&t->path, ']');
    }
    buf_free(&field);
    buf_free(&value);
    return valid ? 0 : translate_error(t, from, "this filter is not supported");
}

/* After "[". */
static int translate_brackets(struct translator *t)
{
    const char *from = t->at;
    struct buf key = {0};
    int rc = 0;
    if (pass(t, "*]")) {
        buf_puts(&t->path, "[*]");
    } else if (pass(t, "?(")) {
        rc = translate_filter(t);
    } else if (take_quoted(t, &key) && pass(t, "]")) {
        put_key(t, (struct str){key.bytes, key.len});
    } else {
        while (t->at < t->end && isdigit((unsigned char)*t->at))
            t->at++;
        if (t->at > from && pass(t, "]"))
            buf_printf(&t->path, "[%.*s", (int)(t->at - from), from);
        else
            rc = translate_error(t, from, "this index is not supported");
    }
    buf_free(&key);
    return rc;
}

static int translate(struct translator *t)
{
    int rc = 0;
    if (!pass(t, "$"))
        pass(t, "@");
    if (t->at < t->end && *t->at != '.' && *t->at != '[' && t->at == t->whole.at)
        rc = translate_name(t); /* kubectl accepts a first name without a dot */
    if (t->end - t->at == 1 && *t->at == '.' && !t->path.len)
        return 0; /* the whole object */
    while (rc == 0 && t->at < t->end) {
        if (pass(t, "."))
            rc = t->at < t->end && *t->at == '[' ? 0 : translate_name(t);
        else if (pass(t, "["))
            rc = translate_brackets(t);
        else
            rc = translate_error(t, t->at, "unexpected character");
    }
    return rc;
}

int jsonpath_parse(struct str text, struct inf_path **ret, struct inf_error *err)
{
    struct translator t = {.whole = text, .at = text.at, .end = text.at + text.len, .err = err};
    int rc = text.len ? translate(&t) : translate_error(&t, text.at, "the path is empty");
    struct inf_path *path = NULL;
    if (rc == 0 && t.path.len) {
        buf_putc(&t.path, '\0');
        path = inf_path_parse(t.path.bytes, err);
        rc = path ? 0 : -INF_EINVAL;
    }
    buf_free(&t.path);
    if (rc == 0)
        *ret = path;
    return rc;
}

void jsonpath_each(const struct inf_path *path, const struct inf_object *object,
                   inf_path_value_fn *each, void *ctx)
{
    size_t len = 0;
    const char *json = inf_object_json(object, &len);
    if (path)
        inf_path_each(path, object, each, ctx);
    else
        each(ctx, json, len);
}
