/*
 * proxy_socks.c - SOCKS5 (RFC 1928), with user and password (RFC 1929) if the proxy requires them.
 *
 *     05 02 00 02                  we offer: no login (00), user and password (02)
 *           05 02                  the proxy selects one
 *     01 04 user 06 secret         only if it selected 02
 *           01 00                  accepted
 *     05 01 00 03 len name port    connect; an address is sent as 01 (IPv4) or 04 (IPv6)
 *           05 00 00 01 addr port  connected; the address is ignored
 *
 * Any other response is an error that names the proxy.
 */
#include <arpa/inet.h>

#include "base/base.h"
#include "wire/proxy/proxy_handshake.h"

enum socks_step {
    SOCKS_METHOD,
    SOCKS_LOGIN,
    SOCKS_CONNECT,
};

enum {
    VERSION = 5,
    LOGIN_VERSION = 1,
    METHOD_NONE = 0,
    METHOD_PASSWORD = 2,
    IPV4 = 1,
    NAME = 3,
    IPV6 = 4,
    IPV4_LEN = 4,
    IPV6_LEN = 16,
    HEAD = 4, /* of the last response: version, reply, 0, type of address */
    PORT_LEN = 2,
};

static unsigned char byte_at(const struct buf *in, size_t i)
{
    return (unsigned char)in->bytes[i];
}

/* ---- requests ---- */

static void proxy_socks_begin(struct proxy_handshake *h)
{
    h->step = SOCKS_METHOD;
    if (h->proxy->user)
        buf_put(&h->out, "\5\2\0\2", 4);
    else
        buf_put(&h->out, "\5\1\0", 3);
}

static void put_counted(struct buf *out, const char *text)
{
    buf_putc(out, (char)strlen(text)); /* at most 255: see the limits of names and logins */
    buf_puts(out, text);
}

static void send_connect(struct proxy_handshake *h)
{
    unsigned char address[IPV6_LEN];
    h->step = SOCKS_CONNECT;
    buf_put(&h->out, "\5\1\0", 3);
    if (inet_pton(AF_INET, h->host, address) == 1) {
        buf_putc(&h->out, IPV4);
        buf_put(&h->out, (char *)address, IPV4_LEN);
    } else if (inet_pton(AF_INET6, h->host, address) == 1) {
        buf_putc(&h->out, IPV6);
        buf_put(&h->out, (char *)address, IPV6_LEN);
    } else {
        buf_putc(&h->out, NAME);
        put_counted(&h->out, h->host);
    }
    buf_putc(&h->out, (char)(h->port >> 8));
    buf_putc(&h->out, (char)(h->port & 0xFF));
}

/* ---- responses ---- */

static int report_no_socks(const struct proxy_handshake *h, struct inf_error *err)
{
    return proxy_error(h, err, INF_EPROTO,
                       "does not respond like a SOCKS5 proxy; check the proxy URL");
}

/* The proxy has selected a method: logs in with it, or connects. */
static int parse_method(struct proxy_handshake *h, struct inf_error *err)
{
    int method = byte_at(&h->in, 1);
    if (method == METHOD_NONE) {
        send_connect(h);
        return 0;
    }
    if (!h->proxy->user)
        return proxy_error(h, err, INF_ENET,
                           "requires a login; put user:password@ before the host in its URL");
    if (method != METHOD_PASSWORD)
        return proxy_error(h, err, INF_ENET, "does not support login by user and password");
    h->step = SOCKS_LOGIN;
    buf_putc(&h->out, LOGIN_VERSION);
    put_counted(&h->out, h->proxy->user);
    put_counted(&h->out, h->proxy->password);
    return 0;
}

static int report_refusal(const struct proxy_handshake *h, struct inf_error *err)
{
    static const char *const replies[] = {
        "",
        "general failure",
        "not allowed by its rules",
        "network unreachable",
        "host unreachable",
        "connection refused",
        "TTL expired",
        "command not supported",
        "address type not supported",
    };
    unsigned reply = byte_at(&h->in, 1);
    if (reply < ARRAY_LEN(replies))
        return proxy_error(h, err, INF_ENET, "can't reach %s: %s", h->target, replies[reply]);
    return proxy_error(h, err, INF_ENET, "can't reach %s: reply %u", h->target, reply);
}

/* The length of the response, as far as it is known; 0: invalid. */
static size_t response_len(const struct proxy_handshake *h)
{
    if (h->step != SOCKS_CONNECT)
        return 2;
    if (h->in.len < HEAD + 1)
        return h->in.len < 2 ? 2 : HEAD + 1; /* a refusal may have only 2 bytes */
    switch (byte_at(&h->in, HEAD - 1)) {
    case IPV4: return HEAD + IPV4_LEN + PORT_LEN;
    case IPV6: return HEAD + IPV6_LEN + PORT_LEN;
    case NAME: return HEAD + 1 + byte_at(&h->in, HEAD) + PORT_LEN;
    }
    return 0;
}

/* Parses the response, or the part that has arrived. Returns 1 if connected, 0 to continue, or an
 * error. */
static int parse_response(struct proxy_handshake *h, struct inf_error *err)
{
    enum socks_step step = (enum socks_step)h->step;
    int rc = 0;
    if (h->in.len && byte_at(&h->in, 0) != (step == SOCKS_LOGIN ? LOGIN_VERSION : VERSION))
        return report_no_socks(h, err);
    if (h->in.len < 2)
        return 0;
    if (step == SOCKS_CONNECT && byte_at(&h->in, 1) != 0)
        return report_refusal(h, err);
    if (step == SOCKS_CONNECT && !response_len(h))
        return report_no_socks(h, err);
    if (h->in.len < response_len(h))
        return 0;
    switch (step) {
    case SOCKS_CONNECT: return 1;
    case SOCKS_METHOD: rc = parse_method(h, err); break;
    case SOCKS_LOGIN:
        if (byte_at(&h->in, 1) != 0)
            return proxy_error(h, err, INF_ENET, "rejected the user and password of its URL");
        send_connect(h);
        break;
    }
    buf_clear(&h->in);
    return rc;
}

static int proxy_socks_next(struct proxy_handshake *h, struct str *input, struct inf_error *err)
{
    int rc = 0;
    while (rc == 0 && input->len) {
        size_t want = response_len(h) - h->in.len;
        size_t len = want < input->len ? want : input->len;
        buf_put(&h->in, input->at, len);
        input->at += len;
        input->len -= len;
        rc = parse_response(h, err);
    }
    return rc;
}

const struct proxy_protocol proxy_socks_protocol = {proxy_socks_begin, proxy_socks_next};
