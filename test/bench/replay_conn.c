/*
 * replay_conn.c - one connection: TLS 1.3, GET requests, and responses sent piece by piece as the
 * socket accepts them.
 *
 * A piece is one HTTP chunk: the head of a response, an item or an event. At most one piece is
 * partly sent; the next one is made after it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/alloc.h"
#include "replay.h"

enum {
    AROUND = 512,        /* LIMIT: bytes of a piece in addition to the pod */
    PIECES_AT_ONCE = 64, /* bytes for one connection before the others continue */
};

#define KIND "\"kind\":\"Pod\",\"apiVersion\":\"v1\","
#define OK_HEAD \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"

struct conn *conn_new(struct world *w, SSL_CTX *tls, int fd)
{
    struct conn *c = NEW(struct conn);
    c->fd = fd;
    c->world = w;
    c->out = xmalloc(w->longest + AROUND);
    c->ssl = SSL_new(tls);
    SSL_set_fd(c->ssl, fd);
    SSL_set_accept_state(c->ssl);
    return c;
}

void conn_free(struct conn *c)
{
    SSL_free(c->ssl);
    close(c->fd);
    free(c->out);
    free(c);
}

/* ---- pieces ---- */

/* Sends text unchanged: a head, or the end of a response. */
static void put_raw(struct conn *c, const char *text)
{
    size_t len = strlen(text);
    memcpy(c->out + c->out_len, text, len);
    c->out_len += len;
}

/* A chunk: @before, a pod if there is one, @after. */
static void put_chunk(struct conn *c, const char *before, const struct change *pod,
                      const char *after)
{
    const struct world *w = c->world;
    size_t len = strlen(before) + strlen(after) + (pod ? pod_size(w, pod->pod) : 0);
    char size[32];
    snprintf(size, sizeof(size), "%zx\r\n", len);
    put_raw(c, size);
    put_raw(c, before);
    if (pod)
        c->out_len += pod_write(w, pod->pod, pod->state, c->out + c->out_len);
    put_raw(c, after);
    put_raw(c, "\r\n");
}

static void put_bookmark(struct conn *c, const char *annotations)
{
    char text[256];
    snprintf(text, sizeof(text),
             "{\"type\":\"BOOKMARK\",\"object\":{" KIND
             "\"metadata\":{\"resourceVersion\":\"%llu\"%s},"
             "\"spec\":{\"containers\":null},\"status\":{}}}\n",
             (unsigned long long)version_text(c->world->version), annotations);
    put_chunk(c, text, NULL, "");
}

static void put_item(struct conn *c)
{
    uint32_t pod = pod_in(c->world, c->ns, c->item);
    struct change now = {pod, c->world->pods[pod]};
    if (c->watch)
        put_chunk(c, "{\"type\":\"ADDED\",\"object\":{" KIND, &now, "}\n");
    else
        put_chunk(c, c->item == c->first ? "{" : ",{", &now, "");
    c->item++;
}

static void end_items(struct conn *c)
{
    if (c->watch) {
        put_bookmark(c, ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}");
        c->phase = FOLLOWING;
    } else {
        put_chunk(c, "]}\n", NULL, "");
        put_raw(c, "0\r\n\r\n");
        c->phase = ASKED_NOTHING;
    }
}

/* The next change that this watch selects, if there is one. */
static bool put_change(struct conn *c)
{
    const struct world *w = c->world;
    while (c->seen < w->n_changes) {
        const struct change *change = &w->changes[c->seen++];
        if (c->ns != EVERYWHERE && change->pod % w->namespaces != (uint32_t)c->ns)
            continue;
        put_chunk(c, "{\"type\":\"MODIFIED\",\"object\":{" KIND, change, "}\n");
        return true;
    }
    return false;
}

static bool next_piece(struct conn *c)
{
    c->out_len = c->out_done = 0;
    switch (c->phase) {
    case ITEMS:
        if (c->item < c->last)
            put_item(c);
        else
            end_items(c);
        return true;
    case FOLLOWING:
        if (put_change(c))
            return true;
        if (!c->bookmark)
            return false;
        put_bookmark(c, "");
        c->bookmark = false;
        return true;
    case ASKED_NOTHING:
    case CLOSED: break;
    }
    return false;
}

/* ---- requests ---- */

/* The number after @name in the request; 0 if it is missing. */
static uint64_t parameter(const char *request, const char *name)
{
    const char *at = strstr(request, name);
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* Selects the items: all, or a page. The continue token is the number of the first item after the page. */
static void choose_items(struct conn *c, uint64_t first, uint64_t limit)
{
    uint32_t all = pods_in(c->world, c->ns);
    c->first = c->item = first < all ? (uint32_t)first : all;
    c->last = limit && limit < all - c->first ? c->first + (uint32_t)limit : all;
}

static void begin_list(struct conn *c, const char *request)
{
    char text[192], token[48] = "";
    choose_items(c, parameter(request, "continue="), parameter(request, "limit="));
    c->phase = ITEMS;
    if (c->last < pods_in(c->world, c->ns))
        snprintf(token, sizeof(token), ",\"continue\":\"%u\"", c->last);
    put_raw(c, OK_HEAD);
    snprintf(
        text, sizeof(text),
        "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"%llu\"%s},"
        "\"items\":[",
        (unsigned long long)version_text(c->world->version), token);
    put_chunk(c, text, NULL, "");
}

static void refuse_watch(struct conn *c)
{
    put_raw(c, OK_HEAD);
    put_chunk(
        c,
        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
        "\"status\":\"Failure\",\"message\":\"too old resource version\","
        "\"reason\":\"Expired\",\"code\":410}}\n",
        NULL, "");
    put_raw(c, "0\r\n\r\n");
}

static void begin_watch(struct conn *c, const char *request)
{
    const struct world *w = c->world;
    uint64_t from = parameter(request, "resourceVersion=");
    bool whole = strstr(request, "sendInitialEvents=true") != NULL;
    if (!whole && from < version_text(w->forgotten)) {
        refuse_watch(c);
        return;
    }
    put_raw(c, OK_HEAD);
    c->phase = whole ? ITEMS : FOLLOWING;
    choose_items(c, 0, 0);
    c->seen = w->n_changes;
    while (!whole && c->seen > 0 && version_text(w->changes[c->seen - 1].state.version) > from)
        c->seen--;
}

static void answer_request(struct conn *c, const char *request)
{
    const char *ns = strstr(request, "/namespaces/ns-");
    const char *path_end = strpbrk(request + 4, "? ");
    c->out_len = c->out_done = 0;
    c->bookmark = false;
    c->ns = ns ? atoi(ns + 15) - 100 : EVERYWHERE;
    c->watch = strstr(request, "watch=1") || strstr(request, "watch=true");
    if (strncmp(request, "GET ", 4) != 0 || !path_end || memcmp(path_end - 5, "/pods", 5) != 0)
        put_raw(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    else if (c->watch)
        begin_watch(c, request);
    else
        begin_list(c, request);
}

/* ---- bytes ---- */

/* Whether to continue with this connection; a permanent failure closes it. */
static bool may_continue(struct conn *c, int rc)
{
    int why = SSL_get_error(c->ssl, rc);
    if (rc > 0)
        return true;
    if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE)
        c->phase = CLOSED;
    ERR_clear_error();
    return false;
}

static void receive(struct conn *c)
{
    int n = 0;
    while (c->in_len < sizeof(c->in) - 1 &&
           (n = SSL_read(c->ssl, c->in + c->in_len, (int)(sizeof(c->in) - 1 - c->in_len))) > 0)
        c->in_len += (size_t)n;
    may_continue(c, n);
    c->in[c->in_len] = '\0';
    if (c->phase == ASKED_NOTHING && c->out_done == c->out_len && strstr(c->in, "\r\n\r\n")) {
        *strchr(c->in, '\r') = '\0'; /* only the request line is used */
        c->in_len = 0;
        answer_request(c, c->in);
    }
}

static void send_pieces(struct conn *c)
{
    c->wants_write = false;
    for (int i = 0; i < PIECES_AT_ONCE && c->phase != CLOSED; i++) {
        while (c->out_done < c->out_len) {
            int n = SSL_write(c->ssl, c->out + c->out_done, (int)(c->out_len - c->out_done));
            if (!may_continue(c, n)) {
                c->wants_write = c->phase != CLOSED;
                return;
            }
            c->out_done += (size_t)n;
        }
        if (!next_piece(c))
            return;
    }
    c->wants_write = true;
}

bool conn_has_unsent(const struct conn *c)
{
    return c->phase == FOLLOWING && (c->bookmark || c->seen < c->world->n_changes);
}

void conn_run(struct conn *c, bool readable)
{
    if (readable)
        receive(c);
    if (c->phase != CLOSED)
        send_pieces(c);
}
