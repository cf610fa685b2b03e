/*
 * http_target.c - splits and decodes request targets and queries.
 *
 * A target is split into path and query, and the path is decoded; parameters of the query are decoded
 * when they are looked up. Invalid input gives -INF_EINVAL.
 */
#include "wire/http/http_target.h"

#include <stdbool.h>
#include <stdlib.h>
#include <strings.h>

#include "informer/error.h"

#include "base/alloc.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Decodes "%XX". NULL if an escape is malformed or means a NUL. The caller frees the result. */
static char *decode_escapes(struct str text, bool plus_is_blank)
{
    char *decoded = xmalloc(text.len + 1), *to = decoded;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '%') {
            int high = text.len - i >= 3 ? hex_digit(text.at[i + 1]) : -1;
            int low = text.len - i >= 3 ? hex_digit(text.at[i + 2]) : -1;
            c = high < 0 || low < 0 ? '\0' : (char)(high * 16 + low);
            i += 2;
        } else if (c == '+' && plus_is_blank) {
            c = ' ';
        }
        if (c == '\0') {
            free(decoded);
            return NULL;
        }
        *to++ = c;
    }
    *to = '\0';
    return decoded;
}

/* ---- the target ---- */

/* No control characters, and none of the characters in @but. */
static bool is_clean(const char *text, const char *but)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f || strchr(but, *text))
            return false;
    return true;
}

struct str http_target_authority(const char *target)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < 2; i++) {
        size_t len = strlen(schemes[i]);
        if (strncasecmp(target, schemes[i], len) == 0)
            return (struct str){target + len, strcspn(target + len, "/?")};
    }
    return (struct str){target, 0};
}

/* A target begins with '/', or with a scheme and an authority, which are skipped. */
int http_target_split(const char *target, char **ret_path, char **ret_query)
{
    struct str authority = http_target_authority(target);
    const char *at = *target == '/' ? target : authority.at + authority.len;
    size_t len = strcspn(at, "?");
    char *path = NULL;
    if (is_clean(target, " #") && (*target == '/' || authority.len))
        path = decode_escapes(len ? (struct str){at, len} : STR("/"), false);
    if (!path || !is_clean(path, "")) {
        free(path);
        return -INF_EINVAL;
    }
    *ret_path = path;
    *ret_query = xstrdup(at[len] ? at + len + 1 : "");
    return 0;
}

/* ---- the query ---- */

/* Whether the parameter @pair is called @name: 1 and the value, 0, or -INF_EINVAL. */
static int match_parameter(struct str pair, const char *name, char **ret_value)
{
    const char *equals = pair.len ? memchr(pair.at, '=', pair.len) : NULL;
    size_t len = equals ? (size_t)(equals - pair.at) : pair.len, skip = equals ? len + 1 : len;
    char *called = decode_escapes((struct str){pair.at, len}, true);
    char *value = decode_escapes((struct str){pair.at + skip, pair.len - skip}, true);
    int rc = !called || !value ? -INF_EINVAL : strcmp(called, name) == 0;
    free(called);
    if (rc == 1)
        *ret_value = value;
    else
        free(value);
    return rc;
}

int http_query_get(const char *query, const char *name, char **ret_value)
{
    int rc = 0;
    while (rc == 0 && *query) {
        size_t len = strcspn(query, "&");
        if (len)
            rc = match_parameter((struct str){query, len}, name, ret_value);
        query += len + (query[len] == '&');
    }
    return rc;
}
