/*
 * api_load_conn.c - see api_load.h. Responses are parsed by llhttp; of bodies only the size, the number
 * of lines and the end are kept.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <openssl/ssl.h>

#include "api_load.h"

enum {
    READ = 64 * 1024,
    STUCK_BUFFER = 4096, /* bytes that the kernel keeps for a stuck watch, about */
};

static void die(const char *what)
{
    fprintf(stderr, "api_load: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

double load_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* ---- settings ---- */

static int set_tls(struct load *l)
{
    l->tls = SSL_CTX_new(TLS_client_method());
    if (!l->cert)
        return 0;
    return SSL_CTX_use_certificate_chain_file(l->tls, l->cert) == 1 && l->key &&
                   SSL_CTX_use_PrivateKey_file(l->tls, l->key, SSL_FILETYPE_PEM) == 1
               ? 0
               : -1;
}

int load_init(struct load *l, const char *address)
{
    char host[64];
    unsigned port;
    bool tls = strncmp(address, "https:", 6) == 0;
    if (strncmp(address, "unix:", 5) == 0) {
        l->address.local.sun_family = AF_UNIX;
        (void)snprintf(l->address.local.sun_path, sizeof(l->address.local.sun_path), "%s",
                       address + 5);
        l->address_len = sizeof(l->address.local);
        return 0;
    }
    if (sscanf(address, tls ? "https://%63[0-9.]:%u" : "http://%63[0-9.]:%u", host, &port) != 2)
        return -1;
    l->address.in = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    l->address_len = sizeof(l->address.in);
    return inet_pton(AF_INET, host, &l->address.in.sin_addr) == 1 && (!tls || set_tls(l) == 0) ? 0
                                                                                               : -1;
}

void load_add_header(struct load *l, const char *header)
{
    size_t len = strlen(l->headers);
    if (len + strlen(header) + 3 > sizeof(l->headers))
        die("headers are too long");
    memcpy(l->headers + len, header, strlen(header));
    memcpy(l->headers + len + strlen(header), "\r\n", 3);
}

void load_free(struct load *l)
{
    SSL_CTX_free(l->tls);
}

/* ---- responses ---- */

static int on_status(llhttp_t *parser)
{
    struct load_conn *c = parser->data;
    c->status = parser->status_code;
    return 0;
}

static void keep_tail(struct load_conn *c, const char *at, size_t len)
{
    size_t have = strlen(c->tail), room = sizeof(c->tail) - 1, keep;
    if (len > room) {
        at += len - room;
        len = room;
    }
    keep = have + len > room ? room - len : have;
    memmove(c->tail, c->tail + have - keep, keep);
    memcpy(c->tail + keep, at, len);
    c->tail[keep + len] = '\0';
}

static int on_body(llhttp_t *parser, const char *at, size_t len)
{
    struct load_conn *c = parser->data;
    const char *end = at + len;
    if (!c->bytes)
        c->first_us = load_now_us(); /* what is read with it, without a pause, may take long */
    c->bytes += len;
    keep_tail(c, at, len);
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
        c->lines++;
        at++;
    }
    return 0;
}

static int on_complete(llhttp_t *parser)
{
    ((struct load_conn *)parser->data)->complete = true;
    return 0;
}

/* ---- connections ---- */

void load_conn_open(struct load_conn *c, const struct load *l, bool stuck)
{
    static llhttp_settings_t settings;
    int on = 1, size = STUCK_BUFFER;
    llhttp_settings_init(&settings);
    settings.on_headers_complete = on_status;
    settings.on_body = on_body;
    settings.on_message_complete = on_complete;
    *c = (struct load_conn){.load = l,
                            .fd = socket(l->address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (stuck)
        setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
    if (connect(c->fd, &l->address.any, l->address_len) < 0)
        die("connect");
    if (l->address.any.sa_family == AF_INET)
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    llhttp_init(&c->parser, HTTP_RESPONSE, &settings);
    c->parser.data = c;
    if (l->tls) {
        c->ssl = SSL_new(l->tls);
        SSL_set_fd(c->ssl, c->fd);
        if (SSL_connect(c->ssl) != 1)
            die("TLS");
    }
}

void load_conn_send(struct load_conn *c, const char *target)
{
    char request[8192];
    int len = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n",
                       target, c->load->headers);
    size_t sent;
    if (len < 0 || (size_t)len >= sizeof(request))
        die("the target is too long");
    fcntl(c->fd, F_SETFL, 0);
    if (c->ssl ? SSL_write_ex(c->ssl, request, (size_t)len, &sent) != 1
               : send(c->fd, request, (size_t)len, 0) != len)
        die("send");
    fcntl(c->fd, F_SETFL, O_NONBLOCK);
    c->status = 0;
    c->complete = false;
    c->bytes = 0;
}

/* Returns the number of bytes read; 0: the end; -1: none now. */
static ssize_t receive(struct load_conn *c, char *bytes, size_t len)
{
    int n;
    if (!c->ssl) {
        ssize_t received = recv(c->fd, bytes, len, 0);
        return received < 0 && errno != EAGAIN ? 0 : received;
    }
    n = SSL_read(c->ssl, bytes, (int)len);
    return n > 0 ? n : SSL_get_error(c->ssl, n) == SSL_ERROR_WANT_READ ? -1 : 0;
}

void load_conn_read(struct load_conn *c)
{
    static char bytes[READ];
    ssize_t n = 1;
    while (!c->ended && n > 0) {
        n = receive(c, bytes, sizeof(bytes));
        if (n > 0 && llhttp_execute(&c->parser, bytes, (size_t)n) != HPE_OK)
            n = 0;
        if (n == 0)
            c->ended = true;
        if (n > 0 && n < READ && !c->ssl)
            break; /* saves a system call */
    }
}

void load_conn_drain(struct load_conn *c, int ms)
{
    struct pollfd poll_fd = {.fd = c->fd, .events = POLLIN};
    while (!c->ended && !c->complete && poll(&poll_fd, 1, ms) > 0)
        load_conn_read(c);
    c->ended |= c->complete;
}

void load_conn_close(struct load_conn *c)
{
    SSL_free(c->ssl);
    close(c->fd);
}
