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
#include "wire/proxy_talk.h"

enum step {
    METHOD,
    LOGIN,
    CONNECT,
};

enum {
    VERSION = 5,
    LOGIN_VERSION = 1,
    BY_NOTHING = 0,
    BY_PASSWORD = 2,
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

void proxy_socks_begin(struct proxy_talk *talk)
{
    talk->step = METHOD;
    if (talk->proxy->user)
        buf_put(&talk->out, "\5\2\0\2", 4);
    else
        buf_put(&talk->out, "\5\1\0", 3);
}

static void put_counted(struct buf *out, const char *text)
{
    buf_putc(out, (char)strlen(text)); /* at most 255: see the limits of names and logins */
    buf_puts(out, text);
}

static void send_login(struct proxy_talk *talk)
{
    talk->step = LOGIN;
    buf_putc(&talk->out, LOGIN_VERSION);
    put_counted(&talk->out, talk->proxy->user);
    put_counted(&talk->out, talk->proxy->password);
}

static void put_address(struct buf *out, const char *host)
{
    unsigned char address[IPV6_LEN];
    if (inet_pton(AF_INET, host, address) == 1) {
        buf_putc(out, IPV4);
        buf_put(out, (char *)address, IPV4_LEN);
    } else if (inet_pton(AF_INET6, host, address) == 1) {
        buf_putc(out, IPV6);
        buf_put(out, (char *)address, IPV6_LEN);
    } else {
        buf_putc(out, NAME);
        put_counted(out, host);
    }
}

static void send_connect(struct proxy_talk *talk)
{
    talk->step = CONNECT;
    buf_put(&talk->out, "\5\1\0", 3);
    put_address(&talk->out, talk->host);
    buf_putc(&talk->out, (char)(talk->port >> 8));
    buf_putc(&talk->out, (char)(talk->port & 0xFF));
}

/* ---- responses ---- */

static int report_no_socks(const struct proxy_talk *talk, struct inf_error *err)
{
    return proxy_error(talk, err, INF_EPROTO,
                       "does not respond like a SOCKS5 proxy; check the proxy URL");
}

static int parse_method(struct proxy_talk *talk, struct inf_error *err)
{
    int method = byte_at(&talk->in, 1);
    if (method == BY_NOTHING)
        send_connect(talk);
    else if (method == BY_PASSWORD && talk->proxy->user)
        send_login(talk);
    else if (talk->proxy->user)
        return proxy_error(talk, err, INF_ENET, "does not support login by user and password");
    else
        return proxy_error(talk, err, INF_ENET,
                           "requires a login; put user:password@ before the host in its URL");
    return 0;
}

static int parse_login(struct proxy_talk *talk, struct inf_error *err)
{
    if (byte_at(&talk->in, 1) != 0)
        return proxy_error(talk, err, INF_ENET, "rejected the user and password of its URL");
    send_connect(talk);
    return 0;
}

static int parse_refusal(const struct proxy_talk *talk, struct inf_error *err)
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
    unsigned reply = byte_at(&talk->in, 1);
    if (reply < ARRAY_LEN(replies))
        return proxy_error(talk, err, INF_ENET, "can't reach %s: %s", talk->target, replies[reply]);
    return proxy_error(talk, err, INF_ENET, "can't reach %s: reply %u", talk->target, reply);
}

/* The length of the response, as far as it is known; 0: invalid. */
static size_t response_len(const struct proxy_talk *talk)
{
    if (talk->step != CONNECT)
        return 2;
    if (talk->in.len < HEAD + 1)
        return talk->in.len < 2 ? 2 : HEAD + 1; /* a refusal may have only 2 bytes */
    switch (byte_at(&talk->in, HEAD - 1)) {
    case IPV4: return HEAD + IPV4_LEN + PORT_LEN;
    case IPV6: return HEAD + IPV6_LEN + PORT_LEN;
    case NAME: return HEAD + 1 + byte_at(&talk->in, HEAD) + PORT_LEN;
    }
    return 0;
}

static void socks_take_bytes(struct proxy_talk *talk, struct str *input)
{
    size_t want = response_len(talk) - talk->in.len;
    size_t len = want < input->len ? want : input->len;
    buf_put(&talk->in, input->at, len);
    input->at += len;
    input->len -= len;
}

/* Parses the response, or the part that has arrived. Returns 1 if connected, 0 to continue, or an
 * error. */
static int socks_parse(struct proxy_talk *talk, struct inf_error *err)
{
    int step = talk->step, rc = 0;
    if (talk->in.len && byte_at(&talk->in, 0) != (step == LOGIN ? LOGIN_VERSION : VERSION))
        return report_no_socks(talk, err);
    if (talk->in.len < 2)
        return 0;
    if (step == CONNECT && byte_at(&talk->in, 1) != 0)
        return parse_refusal(talk, err);
    if (step == CONNECT && !response_len(talk))
        return report_no_socks(talk, err);
    if (talk->in.len < response_len(talk))
        return 0;
    if (step == CONNECT)
        return 1;
    rc = step == METHOD ? parse_method(talk, err) : parse_login(talk, err);
    buf_clear(&talk->in);
    return rc;
}

int proxy_socks_next(struct proxy_talk *talk, struct str *input, struct inf_error *err)
{
    int rc = 0;
    while (rc == 0 && input->len) {
        socks_take_bytes(talk, input);
        rc = socks_parse(talk, err);
    }
    return rc;
}
