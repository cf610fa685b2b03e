/*
 * conf_env.c - expands environment variables in values. The text is scanned once; a default is
 * copied as it is, without further expansion. Any malformed reference or unset variable is an
 * error.
 */
#include "daemon/conf/conf_env.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"

static const char name_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

/* A reference ${NAME} or ${NAME:-default}. */
struct reference {
    struct str name;
    struct str fallback; /* at is NULL: no default */
    const char *end;     /* the text after it */
};

/* Parses the reference whose text after "${" begins at @at. */
static int read_reference(const char *at, struct reference *ret, struct inf_error *err)
{
    const char *close = strchr(at, '}');
    struct str name = {at, strspn(at, name_letters)};
    if (!close)
        return err_set(err, INF_ECONF,
                       "'${' has no closing '}'; write $$ for a literal dollar sign");
    if (!name.len || (*at >= '0' && *at <= '9'))
        return err_set(err, INF_ECONF, "'${' must be followed by a variable name");
    *ret = (struct reference){.name = name, .end = close + 1};
    at += name.len;
    if (at == close)
        return 0;
    if (strncmp(at, ":-", 2) != 0)
        return err_set(err, INF_ECONF,
                       "invalid variable reference; write ${%.*s} or ${%.*s:-default}",
                       STR_FMT(name), STR_FMT(name));
    ret->fallback = (struct str){at + 2, (size_t)(close - at) - 2};
    return 0;
}

static int put_limited(struct buf *out, struct str bytes, struct inf_error *err)
{
    if (buf_append(out, bytes.at, bytes.len, CONF_VALUE_MAX) == 0)
        return 0;
    return err_set(err, INF_ECONF, "is longer than %d bytes after expanding environment variables",
                   CONF_VALUE_MAX);
}

static int put_variable(struct buf *out, const struct reference *reference, struct inf_error *err)
{
    char *name = xstrndup(reference->name.at, reference->name.len);
    const char *value = getenv(name);
    int rc;
    if (reference->fallback.at && (!value || !*value))
        rc = put_limited(out, reference->fallback, err);
    else if (value)
        rc = put_limited(out, str_of(value), err);
    else
        rc = err_set(err, INF_ECONF,
                     "environment variable %s is not set; set it or write ${%s:-default}", name,
                     name);
    free(name);
    return rc;
}

int conf_env_expand(const char *text, struct buf *out, struct inf_error *err)
{
    struct reference reference = {0};
    int rc = 0;
    while (*text && !rc) {
        size_t literal = strcspn(text, "$");
        if (literal || (text[1] != '$' && text[1] != '{')) {
            literal += !literal; /* a literal dollar sign */
            rc = put_limited(out, (struct str){text, literal}, err);
            text += literal;
        } else if (text[1] == '$') {
            rc = put_limited(out, STR("$"), err);
            text += 2;
        } else if (!(rc = read_reference(text + 2, &reference, err))) {
            rc = put_variable(out, &reference, err);
            text = reference.end;
        }
    }
    buf_putc(out, '\0');
    return rc;
}

static void add_name(struct buf *names, struct str name)
{
    char *spelled = xasprintf("${%.*s}", STR_FMT(name));
    if (!names->len || !memmem(names->bytes, names->len, spelled, strlen(spelled)))
        buf_printf(names, "%s%s", names->len ? ", " : "", spelled);
    free(spelled);
}

void conf_env_names(const char *text, struct buf *names)
{
    struct reference reference = {0};
    while ((text = strchr(text, '$')) && text[1]) {
        if (text[1] != '{' || read_reference(text + 2, &reference, NULL) < 0) {
            text += 1 + (text[1] == '$');
            continue;
        }
        add_name(names, reference.name);
        text = reference.end;
    }
}
