/*
 * proxy_http.c - HTTP CONNECT (RFC 9110, 9.3.6).
 *
 *     CONNECT api.example.com:6443 HTTP/1.1         HTTP/1.1 200 Connection established
 *
 * Only the status line of the response is used. Its head ends with an empty line; what follows a
 * 2xx comes from the server. The body of an error response is not read. Errors name the status,
 * with our login removed.
 */
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/base64.h"
#include "wire/proxy/proxy_handshake.h"

enum {
    HEAD_MAX = 16 * 1024, /* LIMIT: bytes of the response head */
    SHOWN_MAX = 80,       /* LIMIT: bytes of its status line in a message */
    STATUS_AT = 9,        /* after "HTTP/1.1 " */
    OK_FIRST = 200,
    OK_LAST = 299,
    UNAUTHORIZED = 401, /* some proxies, such as tinyproxy, use it for a wrong login */
    FORBIDDEN = 403,
    PROXY_AUTH_REQUIRED = 407,
    BAD_GATEWAY = 502,
    GATEWAY_TIMEOUT = 504,
};

/* user:password in base64, as it is sent; the caller wipes it. */
static char *encoded_login(const struct proxy *proxy)
{
    char *login = xasprintf("%s:%s", proxy->user, proxy->password);
    char *base64 = base64_encode(login, strlen(login));
    secret_free(login);
    return base64;
}

void proxy_hide_login(const struct proxy *proxy, struct scrubber *scrubber)
{
    char *login = proxy->user ? encoded_login(proxy) : NULL;
    if (!login)
        return;
    scrubber_add(scrubber, SCRUBBER_PROXY, login);
    scrubber_add(scrubber, SCRUBBER_PROXY, proxy->password);
    secret_free(login);
}

static void proxy_http_begin(struct proxy_handshake *h)
{
    buf_printf(&h->out, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", h->target, h->target);
    if (h->proxy->user) {
        char *login = encoded_login(h->proxy);
        buf_printf(&h->out, "Proxy-Authorization: Basic %s\r\n", login);
        secret_free(login);
    }
    buf_puts(&h->out, "\r\n");
}

/* An empty line; lines may end in CRLF or LF, also mixed. */
static bool head_is_complete(const struct buf *in)
{
    const char *end = in->bytes + in->len;
    return (in->len >= 3 && memcmp(end - 3, "\n\r\n", 3) == 0) ||
           (in->len >= 2 && memcmp(end - 2, "\n\n", 2) == 0);
}

/* Whether the bytes so far are a prefix of an HTTP status line. */
static bool looks_like_http(const struct buf *in)
{
    static const char form[] = "HTTP/1.d ddd";
    for (size_t i = 0; i < in->len && form[i]; i++)
        if (form[i] == 'd' ? !isdigit((unsigned char)in->bytes[i]) : in->bytes[i] != form[i])
            return false;
    return true;
}

/* "403 Forbidden": the status line, up to the first unprintable character. A proxy may repeat the
 * login that it refuses: password, encoded login and user name are removed. */
static struct str status_line(struct proxy_handshake *h)
{
    struct scrubber scrubber = {.next_former = 0};
    struct str s = {h->in.bytes + STATUS_AT, 0};
    proxy_hide_login(h->proxy, &scrubber);
    scrubber_add(&scrubber, SCRUBBER_PROXY, h->proxy->user);
    h->in.len =
        STATUS_AT + scrubber_clean(&scrubber, h->in.bytes + STATUS_AT, h->in.len - STATUS_AT);
    scrubber_free(&scrubber);
    while (s.len < SHOWN_MAX && STATUS_AT + s.len < h->in.len &&
           isprint((unsigned char)s.at[s.len]))
        s.len++;
    return s;
}

static int report_refusal(struct proxy_handshake *h, int status, struct inf_error *err)
{
    struct str line = status_line(h);
    bool login_refused = status == PROXY_AUTH_REQUIRED || status == UNAUTHORIZED;
    if (login_refused && h->proxy->user)
        return proxy_error(h, err, INF_ENET, "rejected the user and password of its URL (%.*s)",
                           STR_FMT(line));
    if (login_refused)
        return proxy_error(h, err, INF_ENET,
                           "requires a login (%.*s); put user:password@ before the host in its URL",
                           STR_FMT(line));
    if (status == FORBIDDEN)
        return proxy_error(
            h, err, INF_ENET,
            "does not allow connections to %s (%.*s); allow CONNECT to this address in its rules",
            h->target, STR_FMT(line));
    if (status >= BAD_GATEWAY && status <= GATEWAY_TIMEOUT)
        return proxy_error(h, err, INF_ENET, "can't reach %s (%.*s)", h->target, STR_FMT(line));
    return proxy_error(h, err, INF_EPROTO, "did not connect to %s: it responded '%.*s'", h->target,
                       STR_FMT(line));
}

/* The head is complete. Its status has three digits; a fourth digit makes it invalid. */
static int check_status(struct proxy_handshake *h, struct inf_error *err)
{
    int status = 0;
    for (size_t i = STATUS_AT; i < STATUS_AT + 4 && isdigit((unsigned char)h->in.bytes[i]); i++)
        status = status * 10 + h->in.bytes[i] - '0';
    return status >= OK_FIRST && status <= OK_LAST ? 1 : report_refusal(h, status, err);
}

static int proxy_http_next(struct proxy_handshake *h, struct str *input, struct inf_error *err)
{
    while (input->len) {
        if (buf_append(&h->in, input->at, 1, HEAD_MAX) < 0)
            return proxy_error(h, err, INF_ETOOBIG, "sent a response head of more than %d bytes",
                               HEAD_MAX);
        input->at++;
        input->len--;
        if (!looks_like_http(&h->in))
            return proxy_error(h, err, INF_EPROTO,
                               "does not respond like an HTTP proxy; check the proxy URL");
        if (head_is_complete(&h->in))
            return check_status(h, err);
    }
    return 0;
}

const struct proxy_protocol proxy_http_protocol = {proxy_http_begin, proxy_http_next};
