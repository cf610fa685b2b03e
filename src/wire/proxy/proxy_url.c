/*
 * proxy_url.c - parses the URL of a proxy from left to right: scheme, user, password, host, port.
 *
 * Each step advances the position; the first that fails sets the error. Error messages never
 * contain parts of the URL, which may include a password.
 */
#include "wire/proxy/proxy_url.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "wire/http/server_url.h"

static const struct scheme {
    const char *text;
    enum proxy_kind kind;
    uint16_t port;
} schemes[] = {
    {"http://", PROXY_HTTP, 80},
    {"https://", PROXY_HTTPS, 443},
    {"socks5://", PROXY_SOCKS5, 1080},
    {"socks5h://", PROXY_SOCKS5, 1080}, /* same behaviour: the proxy always resolves names */
};

static int parse_proxy_scheme(const char **at, struct proxy *p, struct inf_error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        size_t len = strlen(schemes[i].text);
        if (strncasecmp(*at, schemes[i].text, len) != 0)
            continue;
        p->kind = schemes[i].kind;
        p->port = schemes[i].port;
        *at += len;
        return 0;
    }
    return err_set(err, INF_ECONF, "must begin with http://, https:// or socks5://");
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* NULL if it can't be a user or a password: a bad escape, a control character, too long. */
static char *unescape_login(const char *at, const char *end)
{
    char *out = xcalloc(1, (size_t)(end - at) + 1);
    size_t len = 0;
    while (at < end) {
        int c = (unsigned char)*at++;
        if (c == '%') {
            int high = end - at < 2 ? -1 : hex_value(at[0]);
            int low = end - at < 2 ? -1 : hex_value(at[1]);
            c = high < 0 || low < 0 ? -1 : high * 16 + low;
            at += 2;
        }
        if (c < ' ' || c == 0x7F || len == PROXY_LOGIN_MAX) {
            secret_free(out);
            return NULL;
        }
        out[len++] = (char)c;
    }
    return out;
}

static int parse_login(const char **at, struct proxy *p, struct inf_error *err)
{
    const char *end = *at + strcspn(*at, "/?#"), *mark = memrchr(*at, '@', (size_t)(end - *at));
    const char *colon;
    if (!mark)
        return 0;
    colon = memchr(*at, ':', (size_t)(mark - *at));
    p->user = unescape_login(*at, colon ? colon : mark);
    p->password = unescape_login(colon ? colon + 1 : mark, mark);
    if (!p->user || !p->password || !p->user[0] ||
        (p->kind != PROXY_SOCKS5 && strchr(p->user, ':')))
        return err_set(err, INF_ECONF,
                       "user and password before '@' must not exceed %d characters each; escape "
                       "characters such as : / @ %% as %%xx",
                       PROXY_LOGIN_MAX);
    *at = mark + 1;
    return 0;
}

int proxy_url_parse(const char *url, struct proxy *ret, struct inf_error *err)
{
    struct proxy p = {.host = NULL};
    struct server_url host = {.host = NULL};
    int rc = parse_proxy_scheme(&url, &p, err);
    if (!rc)
        rc = parse_login(&url, &p, err);
    host.port = p.port; /* the default of the scheme */
    if (!rc)
        rc = server_url_parse_host(&url, &host, err);
    if (!rc && url[0] && strcmp(url, "/") != 0)
        rc = err_set(err, INF_ECONF, "must not continue after the host and port");
    if (rc) {
        server_url_free(&host);
        proxy_free(&p);
        return rc;
    }
    p.host = host.host; /* owned by p now */
    p.port = host.port;
    *ret = p;
    return 0;
}

bool proxy_equal(const struct proxy *a, const struct proxy *b)
{
    return a->kind == b->kind && cstr_eq(a->host, b->host) && a->port == b->port &&
           cstr_eq(a->user, b->user) && cstr_eq(a->password, b->password);
}
