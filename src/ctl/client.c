/*
 * client.c - an HTTP/1.1 client on a blocking Unix socket.
 *
 * Normal path: connect, write the request, feed the parser with what arrives. The connection stays open
 * for the next request if the response allows it; otherwise the next request connects again. Messages
 * name the socket and the remedy.
 */
#include "ctl/client.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/text/utf8.h"
#include "ctl/ctl_json.h"
#include "wire/http/http_parser.h"

#define DEFAULT_SOCKET "/run/informerd/informerd.sock"

enum {
    HEAD_MAX = 64 * 1024, /* LIMIT: bytes of the head of a response */
};

struct client {
    char *path;
    int fd; /* -1: not connected */
    struct http_parser *parser;
    struct buf in; /* received, not parsed yet */
};

/* ---- connecting ---- */

static char *default_path(void)
{
    const char *own = getenv("INFORMERD_SOCKET"), *runtime = getenv("RUNTIME_DIRECTORY");
    if (own && own[0])
        return xstrdup(own);
    if (runtime && runtime[0] == '/')
        return xasprintf("%.*s/informerd.sock", (int)strcspn(runtime, ":"), runtime);
    return xstrdup(DEFAULT_SOCKET);
}

static int report_connect(const char *path, struct inf_error *err)
{
    bool denied = errno == EACCES || errno == EPERM;
    const char *remedy =
        denied
            ? "become a member of the group of the socket, or use sudo"
            : "is informerd running, with `socket.path` in its configuration? Set another socket with -s";
    return err_set(err, denied ? INF_EFORBIDDEN : INF_ENET, "socket '%s': %s; %s", path,
                   strerror(errno), remedy);
}

static int client_connect(struct client *c, struct inf_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(c->path);
    if (!len || len >= sizeof(address.sun_path))
        return err_set(err, INF_ENET, "socket '%s': the path must be 1 to %zu bytes long", c->path,
                       sizeof(address.sun_path) - 1);
    memcpy(address.sun_path, c->path, len);
    c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd >= 0 && connect(c->fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return 0;
    report_connect(c->path, err);
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    return -err->code;
}

static void client_disconnect(struct client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    buf_free(&c->in);
}

int client_open(const char *path, struct client **ret, struct inf_error *err)
{
    struct client *c = NEW(struct client);
    c->path = path ? xstrdup(path) : default_path();
    c->parser = http_parser_new(HEAD_MAX);
    if (client_connect(c, err) < 0) {
        client_close(c);
        return -err->code;
    }
    *ret = c;
    return 0;
}

void client_close(struct client *c)
{
    if (!c)
        return;
    client_disconnect(c);
    http_parser_free(c->parser);
    free(c->path);
    free(c);
}

/* ---- requests and responses ---- */

int client_send(struct client *c, const char *target, const char *accept, struct inf_error *err)
{
    struct buf request = {0};
    size_t sent = 0;
    int rc = c->fd < 0 ? client_connect(c, err) : 0;
    buf_printf(&request, "GET %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: informerctl\r\n",
               target);
    buf_printf(&request, "Accept: %s\r\n\r\n", accept ? accept : "application/json");
    while (rc == 0 && sent < request.len) {
        ssize_t n = send(c->fd, request.bytes + sent, request.len - sent, MSG_NOSIGNAL);
        if (n > 0)
            sent += (size_t)n;
        else if (n < 0 && errno != EINTR)
            rc = err_set(err, INF_ENET, "socket '%s': %s", c->path, strerror(errno));
    }
    buf_free(&request);
    http_parser_start(c->parser, false);
    return rc;
}

/* How long to wait for bytes. */
enum patience {
    WAIT_LIMITED, /* CLIENT_SILENCE_S */
    WAIT_ENDLESS,
    WAIT_NOT, /* returns RESPONSE_PAUSED instead */
};

enum {
    RESPONSE_STOPPED = 1, /* by the user */
    RESPONSE_PAUSED = 2,  /* no further bytes have arrived yet */
};

static int receive(struct client *c, enum patience patience, struct inf_error *err)
{
    struct pollfd readable = {c->fd, POLLIN, 0};
    char bytes[64 * 1024];
    ssize_t n;
    do
        n = patience == WAIT_LIMITED ? poll(&readable, 1, CLIENT_SILENCE_S * 1000) : 1;
    while (n < 0 && errno == EINTR);
    if (n == 0)
        return err_set(err, INF_ENET, "socket '%s': informerd has not answered for %d s", c->path,
                       CLIENT_SILENCE_S);
    do
        n = recv(c->fd, bytes, sizeof(bytes), patience == WAIT_NOT ? MSG_DONTWAIT : 0);
    while (n < 0 && errno == EINTR);
    if (n > 0) {
        buf_put(&c->in, bytes, (size_t)n);
        return 0;
    }
    if (n < 0 && patience == WAIT_NOT && errno == EAGAIN)
        return RESPONSE_PAUSED;
    return err_set(err, INF_ENET, "socket '%s': %s", c->path,
                   n == 0 ? "informerd closed the connection" : strerror(errno));
}

/* kubectl prints the text of `299 - "TEXT"` in the same way. */
static void print_warnings(const struct http_head *head)
{
    for (size_t i = 0; i < head->n_headers; i++) {
        const char *text = strchr(head->headers[i].value, '"');
        struct buf line = {0};
        if (strcasecmp(head->headers[i].name, "Warning") != 0 || !text)
            continue;
        utf8_put_visible(&line, (struct str){text + 1, strcspn(text + 1, "\"")});
        fprintf(stderr, "Warning: %.*s\n", (int)line.len, line.bytes);
        buf_free(&line);
    }
}

/* What takes the body of a response. */
struct body_user {
    int (*on_body)(struct body_user *user, struct str bytes, struct inf_error *err);
};

/* Passes the body to @user. Returns 0 at its end, RESPONSE_STOPPED, RESPONSE_PAUSED, or an error. */
static int read_response(struct client *c, int *ret_status, struct body_user *user,
                         enum patience patience, struct inf_error *err)
{
    for (;;) {
        struct http_piece piece;
        size_t used = http_parser_next(c->parser, c->in.bytes, c->in.len, &piece);
        int rc = 0;
        switch (piece.type) {
        case PIECE_MORE: break;
        case PIECE_HEAD:
            *ret_status = piece.head.status;
            print_warnings(&piece.head);
            break;
        case PIECE_BODY:
            rc = user->on_body(user, (struct str){piece.bytes, piece.len}, err);
            http_parser_took(c->parser, piece.len);
            used += piece.len;
            break;
        case PIECE_DONE: break;
        case PIECE_BAD:
            *err = piece.why;
            rc = -piece.why.code;
            break;
        }
        buf_consume(&c->in, used); /* a piece of the body pointed into it */
        if (rc == 0 && piece.type == PIECE_MORE)
            rc = receive(c, patience, err);
        if (rc == RESPONSE_PAUSED)
            return rc;
        if (rc || (piece.type == PIECE_DONE && !http_parser_keep_alive(c->parser)))
            client_disconnect(c);
        if (rc || piece.type == PIECE_DONE)
            return rc;
    }
}

struct whole_body {
    struct body_user user;
    struct buf *body;
};

static int keep_body(struct body_user *user, struct str bytes, struct inf_error *err)
{
    struct whole_body *whole = (struct whole_body *)user;
    if (buf_append(whole->body, bytes.at, bytes.len, CLIENT_BODY_MAX) == 0)
        return 0;
    return err_set(err, INF_ETOOBIG, "the response has more than %d bytes", CLIENT_BODY_MAX);
}

int client_get(struct client *c, const char *target, const char *accept, struct client_reply *ret,
               struct inf_error *err)
{
    struct whole_body whole = {{keep_body}, &ret->body};
    int rc;
    *ret = (struct client_reply){0};
    rc = client_send(c, target, accept, err);
    if (rc == 0)
        rc = read_response(c, &ret->status, &whole.user, WAIT_LIMITED, err);
    if (rc < 0) {
        buf_free(&ret->body);
        return rc;
    }
    buf_putc(&ret->body, '\0');
    ret->body.len--;
    return 0;
}

int client_fd(const struct client *c)
{
    return c->fd;
}

int client_read(struct client *c, struct client_reply *reply, struct inf_error *err)
{
    struct whole_body whole = {{keep_body}, &reply->body};
    int rc = read_response(c, &reply->status, &whole.user, WAIT_NOT, err);
    return rc == RESPONSE_PAUSED ? CLIENT_MORE : rc;
}

struct line_body {
    struct body_user user;
    struct client_follower *follower;
    struct buf line;
    const int *status;
};

/* The body of an error status is kept as one line. */
static int pass_lines(struct body_user *user, struct str bytes, struct inf_error *err)
{
    struct line_body *b = (struct line_body *)user;
    while (bytes.len) {
        const char *end = *b->status == 200 ? memchr(bytes.at, '\n', bytes.len) : NULL;
        size_t len = end ? (size_t)(end - bytes.at) : bytes.len;
        bool more;
        if (buf_append(&b->line, bytes.at, len, CLIENT_LINE_MAX) < 0)
            return err_set(err, INF_ETOOBIG, "a line has more than %d bytes", CLIENT_LINE_MAX);
        if (!end)
            return 0;
        more = b->follower->on_line(b->follower, (struct str){b->line.bytes, b->line.len});
        buf_clear(&b->line);
        if (!more)
            return RESPONSE_STOPPED;
        bytes = (struct str){end + 1, bytes.len - len - 1};
    }
    return 0;
}

int client_follow(struct client *c, const char *target, const char *accept,
                  struct client_follower *follower, struct inf_error *err)
{
    int status = 0;
    struct line_body body = {{pass_lines}, follower, {0}, &status};
    int rc = client_send(c, target, accept, err);
    if (rc == 0)
        rc = read_response(c, &status, &body.user, WAIT_ENDLESS, err);
    if (rc == 0 && status != 200)
        rc = ctl_json_error(status, (struct str){body.line.bytes, body.line.len}, err);
    buf_free(&body.line);
    return rc < 0 ? rc : 0;
}

void client_put_escaped(struct buf *out, const char *text)
{
    for (; *text; text++)
        if (isalnum((unsigned char)*text) || strchr("-._~", *text))
            buf_putc(out, *text);
        else
            buf_printf(out, "%%%02X", (unsigned char)*text);
}
