/*
 * conf_text.c - one check per type of string value. Where the library has a check, it is used. A
 * long value is not repeated in the error message.
 */
#include "daemon/conf/conf_text.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "informer/informer.h"
#include "informer/path.h"
#include "informer/selector.h"

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "daemon/conf/conf_error.h"

enum {
    NAMESPACE_MAX = 63,   /* LIMIT: DNS label */
    HOST_MAX = 253,       /* LIMIT: DNS name */
    NAME_MAX_BYTES = 384, /* LIMIT: a resource with group and version is also a name */
};

#define DIGITS "0123456789"
#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* "'x' is not ...", or "a value of 80 bytes is not ...". */
static int value_error(const char *text, const char *why, struct inf_error *err)
{
    char *shown = conf_show(text);
    int rc = err_set(err, INF_ECONF, "%s %s", shown, why);
    free(shown);
    return rc;
}

/* ---- characters ---- */

/* Bytes of the character at @text; 0: not allowed in a value, or invalid UTF-8. */
static size_t character_len(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    size_t len = c[0] < 0x80 ? 1 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
    uint32_t code = len == 1 ? c[0] : c[0] & (0x7fu >> len);
    static const uint32_t smallest[] = {0, 0x20, 0xa0, 0x800, 0x10000};
    if ((c[0] >= 0x80 && c[0] < 0xc0) || c[0] > 0xf4 || c[0] == 0x7f)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (c[i] & 0x3f);
    }
    if (code < smallest[len] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ||
        code == 0xfeff || code == 0xfffe || code == 0xffff)
        return 0;
    return len;
}

static int check_characters(const char *text, struct inf_error *err)
{
    for (size_t len; *text; text += len)
        if (!(len = character_len(text)))
            return err_set(err, INF_ECONF,
                           "contains an invalid character: a line break, a control character or "
                           "invalid UTF-8");
    return 0;
}

/* ---- names ---- */

/* Whether @text consists of characters of @inner and begins and ends with one of @ends. */
static bool made_of(const char *text, size_t max, const char *ends, const char *inner)
{
    size_t len = strlen(text);
    return len && len <= max && strspn(text, inner) == len && strchr(ends, text[0]) &&
           strchr(ends, text[len - 1]);
}

static int check_name(const char *text, struct inf_error *err)
{
    if (made_of(text, NAME_MAX_BYTES, LOWER DIGITS, LOWER DIGITS "-_./"))
        return 0;
    return value_error(
        text,
        "is not a valid name; use lower case letters, digits, '-', '_', '.' and '/', "
        "with a letter or digit at both ends",
        err);
}

static int check_namespace(const char *text, struct inf_error *err)
{
    if (made_of(text, NAMESPACE_MAX, LOWER DIGITS, LOWER DIGITS "-"))
        return 0;
    return value_error(
        text,
        "is not a valid namespace; use at most 63 lower case letters, digits and '-', with "
        "a letter or digit at both ends",
        err);
}

static int check_namespaces(const char *text, struct inf_error *err)
{
    if (made_of(text, NAMESPACE_MAX, LOWER DIGITS "*?", LOWER DIGITS "-*?"))
        return 0;
    return value_error(text,
                       "is not a valid namespace or pattern; use at most 63 lower case letters, "
                       "digits, '*', '?' and '-', without '-' at either end",
                       err);
}

/* ---- values parsed by the library ---- */

/* The error of the library. Its messages repeat the text, which is removed if it is long. */
static int library_error(const char *text, struct inf_error *why, struct inf_error *err)
{
    char *shown = conf_show(text);
    const char *column = strstr(why->text, "': column ");
    int rc = shown[0] == '\'' || !column ? err_set(err, INF_ECONF, "%s", why->text)
                                         : err_set(err, INF_ECONF, "%s", column + strlen("': "));
    free(shown);
    return rc;
}

static int check_selector(enum conf_type type, const char *text, struct inf_error *err)
{
    struct inf_error why = {0};
    struct inf_selector *selector = type == CONF_LABELS ? inf_selector_parse_labels(text, &why)
                                                        : inf_selector_parse_fields(text, &why);
    if (!selector)
        return library_error(text, &why, err);
    inf_selector_free(selector);
    return 0;
}

static int check_path(const char *text, struct inf_error *err)
{
    struct inf_error why = {0};
    struct inf_path *path = inf_path_parse(text, &why);
    if (!path)
        return library_error(text, &why, err);
    inf_path_free(path);
    return 0;
}

static int check_resource(const char *text, struct inf_error *err)
{
    struct inf_error why = {0};
    if (inf_resource_check(text, &why) == 0)
        return 0;
    if (strlen(text) > NAME_MAX_BYTES)
        return value_error(text, "is not a resource; write it like pods or deployments.apps/v1",
                           err);
    return err_set(err, INF_ECONF, "%s", why.text);
}

/* The value is not shown: it may contain a password. */
static int check_proxy(const char *text, struct inf_error *err)
{
    struct inf_error why = {0};
    if (inf_proxy_check(text, &why) == 0)
        return 0;
    return err_set(err, INF_ECONF, "%s", why.text);
}

/* ---- addresses ---- */

static bool is_port(const char *text)
{
    size_t len = strspn(text, DIGITS);
    return len && len <= 5 && !text[len] && atoi(text) <= 65535;
}

static bool is_address(int family, const char *text, size_t len)
{
    unsigned char ignored[sizeof(struct in6_addr)];
    char *host = xstrndup(text, len);
    bool is = inet_pton(family, host, ignored) == 1;
    free(host);
    return is;
}

/* An IP address, or "localhost", the only name that needs no lookup. */
static bool is_host(const char *text, size_t len)
{
    if (len > 2 && text[0] == '[' && text[len - 1] == ']')
        return is_address(AF_INET6, text + 1, len - 2);
    return is_address(AF_INET, text, len) || str_eq((struct str){text, len}, STR("localhost"));
}

static int check_address(const char *text, struct inf_error *err)
{
    const char *colon = strrchr(text, ':');
    if (colon && is_port(colon + 1) && is_host(text, (size_t)(colon - text)))
        return 0;
    return value_error(text,
                       "is not an address and port; write it like 127.0.0.1:9470 or "
                       "[::1]:9470",
                       err);
}

/* A name as in a Host header, without port. IP addresses are always allowed and need no entry. */
static int check_host(const char *text, struct inf_error *err)
{
    if (made_of(text, HOST_MAX, LOWER UPPER DIGITS, LOWER UPPER DIGITS "-._"))
        return 0;
    return value_error(text,
                       "is not a host name; write it without scheme, port and path, like "
                       "metrics.example.com",
                       err);
}

/* The library repeats the text in its errors, so control characters are rejected first. */
static int check_readable(enum conf_type type, const char *text, struct inf_error *err)
{
    int rc = check_characters(text, err);
    if (rc)
        return rc;
    switch ((unsigned)type) {
    case CONF_RESOURCE: return check_resource(text, err);
    case CONF_LABELS:
    case CONF_FIELDS: return check_selector(type, text, err);
    case CONF_FIELD_PATH: return check_path(text, err);
    case CONF_PROXY: return check_proxy(text, err);
    default: return 0;
    }
}

int conf_text_check(enum conf_type type, const char *text, struct inf_error *err)
{
    switch ((unsigned)type) {
    case CONF_NAME: return check_name(text, err);
    case CONF_NAMESPACE: return check_namespace(text, err);
    case CONF_NAMESPACES: return check_namespaces(text, err);
    case CONF_ADDRESS: return check_address(text, err);
    case CONF_HOST: return check_host(text, err);
    default: return check_readable(type, text, err);
    }
}
