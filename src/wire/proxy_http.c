/*
 * proxy_http.c - HTTP CONNECT (RFC 9110, 9.3.6).
 *
 *     CONNECT api.example.com:6443 HTTP/1.1         HTTP/1.1 200 Connection established
 *
 * Of the answer only the status line counts; its head ends with an empty line, and what follows a
 * 2xx is the server's already. The body of a refusal is a page for browsers: not read.
 */
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "wire/proxy_talk.h"

enum {
    HEAD_MAX = 16 * 1024, /* LIMIT: of the proxy's answer */
    SHOWN_MAX = 80,       /* LIMIT: of its words in a message */
    STATUS_AT = 9,        /* behind "HTTP/1.1 " */
    OK_FIRST = 200,
    OK_LAST = 299,
    UNAUTHORIZED = 401, /* some say that of a wrong login, tinyproxy for one */
    FORBIDDEN = 403,
    LOGIN_WANTED = 407,
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

static void put_login(struct proxy_talk *talk)
{
    char *login = encoded_login(talk->proxy);
    buf_printf(&talk->out, "Proxy-Authorization: Basic %s\r\n", login);
    secret_free(login);
}

void proxy_http_begin(struct proxy_talk *talk)
{
    buf_printf(&talk->out, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", talk->target, talk->target);
    if (talk->proxy->user)
        put_login(talk);
    buf_puts(&talk->out, "\r\n");
}

/* An empty line, whichever way lines end, also if they end in different ways. */
static bool head_is_complete(const struct buf *in)
{
    const char *end = in->bytes + in->len;
    return (in->len >= 3 && memcmp(end - 3, "\n\r\n", 3) == 0) ||
           (in->len >= 2 && memcmp(end - 2, "\n\n", 2) == 0);
}

/* Whether it can still become an HTTP answer: who speaks first and something else is no proxy. */
static bool looks_like_http(const struct buf *in)
{
    static const char form[] = "HTTP/1.d ddd";
    for (size_t i = 0; i < in->len && form[i]; i++)
        if (form[i] == 'd' ? !isdigit((unsigned char)in->bytes[i]) : in->bytes[i] != form[i])
            return false;
    return true;
}

/* A proxy may repeat the login that it refuses. Its own words need no user name of ours either. */
static void hide_login(struct proxy_talk *talk)
{
    struct scrubber scrubber = {.next_former = 0};
    proxy_hide_login(talk->proxy, &scrubber);
    scrubber_add(&scrubber, SCRUBBER_PROXY, talk->proxy->user);
    talk->in.len =
        STATUS_AT + scrubber_clean(&scrubber, talk->in.bytes + STATUS_AT, talk->in.len - STATUS_AT);
    scrubber_free(&scrubber);
}

/* "403 Forbidden": what the status line says, without what could harm a terminal. */
static struct str shown_status(struct proxy_talk *talk)
{
    struct str s = {talk->in.bytes + STATUS_AT, 0};
    hide_login(talk);
    while (s.len < SHOWN_MAX && STATUS_AT + s.len < talk->in.len &&
           isprint((unsigned char)s.at[s.len]))
        s.len++;
    return s;
}

static int login_refused(struct proxy_talk *talk, struct str said, struct inf_error *err)
{
    if (talk->proxy->user)
        return proxy_error(talk, err, INF_ENET, "rejected the user and password of its URL (%.*s)",
                           STR_FMT(said));
    return proxy_error(talk, err, INF_ENET,
                       "requires a login (%.*s); put user:password@ before the host in its URL",
                       STR_FMT(said));
}

static int refused(struct proxy_talk *talk, int status, struct inf_error *err)
{
    struct str said = shown_status(talk);
    if (status == LOGIN_WANTED || status == UNAUTHORIZED)
        return login_refused(talk, said, err);
    if (status == FORBIDDEN)
        return proxy_error(
            talk, err, INF_ENET,
            "does not allow connections to %s (%.*s); allow CONNECT to this address in its rules",
            talk->target, STR_FMT(said));
    if (status >= BAD_GATEWAY && status <= GATEWAY_TIMEOUT)
        return proxy_error(talk, err, INF_ENET, "can't reach %s (%.*s)", talk->target,
                           STR_FMT(said));
    return proxy_error(talk, err, INF_EPROTO, "did not connect to %s: it responded '%.*s'",
                       talk->target, STR_FMT(said));
}

/* Three digits; a fourth makes it something else. */
static int status_of(const struct buf *in)
{
    int status = 0;
    for (size_t i = STATUS_AT; i < STATUS_AT + 4 && isdigit((unsigned char)in->bytes[i]); i++)
        status = status * 10 + in->bytes[i] - '0';
    return status;
}

static int judge(struct proxy_talk *talk, struct inf_error *err)
{
    int status = status_of(&talk->in);
    return status >= OK_FIRST && status <= OK_LAST ? 1 : refused(talk, status, err);
}

int proxy_http_next(struct proxy_talk *talk, struct str *input, struct inf_error *err)
{
    while (input->len) {
        if (buf_append(&talk->in, input->at, 1, HEAD_MAX) < 0)
            return proxy_error(talk, err, INF_ETOOBIG, "sent a response head of more than %d bytes",
                               HEAD_MAX);
        input->at++;
        input->len--;
        if (!looks_like_http(&talk->in))
            return proxy_error(talk, err, INF_EPROTO,
                               "does not respond like an HTTP proxy; check the proxy URL");
        if (head_is_complete(&talk->in))
            return judge(talk, err);
    }
    return 0;
}
