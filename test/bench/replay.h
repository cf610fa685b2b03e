/*
 * replay.h - a server that costs next to nothing, so that what is measured is the client.
 *
 * It has one pod as text, with holes: at each hole stands a number that follows from which pod it
 * is, at which version. So N pods need no more memory than one, a pod is sent by copying it and
 * filling in some twenty digits, and every client that asks the same gets the same bytes.
 *
 * Changes are a list that only grows; a watch is a place in it. A watch that is slow is just
 * further behind.
 */
#ifndef BENCH_REPLAY_H
#define BENCH_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/types.h>

enum {
    HOLES_MAX = 64,
    EVERYWHERE = -1, /* no namespace in particular */
};

/* ---- pods, replay_pods.c ---- */

struct hole {
    size_t at;
    unsigned width; /* in digits */
    char letter;    /* what number stands there */
};

/* One state of one pod. */
struct state {
    uint64_t version;
    uint64_t sent_ns; /* by CLOCK_MONOTONIC: when it came to be */
};

struct change {
    uint32_t pod;
    struct state state;
};

struct world {
    char *text; /* of a pod, behind its opening brace */
    size_t len;
    struct hole holes[HOLES_MAX];
    size_t n_holes;

    struct state *pods;
    uint32_t n_pods;
    uint32_t namespaces; /* pod i is in namespace i % namespaces */
    uint64_t version;
    uint64_t forgotten; /* a watch from before this version is told that it is gone */

    struct change *changes; /* by version */
    size_t n_changes, room;
};

void world_init(struct world *w, const char *template_path, uint32_t pods, uint32_t namespaces);
void world_free(struct world *w);

/* The next pod changes. Watches are told of it, unless it is @secret. */
void world_change(struct world *w, bool secret);

uint64_t now_ns(void);

/* A resource version as it is written: ten digits. */
uint64_t version_text(uint64_t version);

/* Puts w->len bytes at @out. */
void pod_write(const struct world *w, uint32_t pod, struct state state, char *out);

/* The pods of a namespace, in order: how many, and which is the @k-th. */
uint32_t pods_in(const struct world *w, int ns);
uint32_t pod_in(const struct world *w, int ns, uint32_t k);

/* ---- connections, replay_conn.c: TLS, and of HTTP what three clients send ---- */

enum phase {
    ASKED_NOTHING, /* between requests */
    ITEMS,         /* of a list, or as the first events of a watch */
    FOLLOWING,     /* sending changes as they come */
    CLOSED,
};

struct conn {
    int fd;
    SSL *ssl;
    bool wants_write;
    enum phase phase;
    struct world *world;

    char in[16 * 1024];
    size_t in_len;

    char *out; /* one piece: a head, an item, an event */
    size_t out_len, out_done;

    bool watch;          /* else a list */
    int ns;              /* or EVERYWHERE */
    uint32_t first;      /* of the list: its first item, */
    uint32_t item, last; /* the next, and where it ends */
    size_t seen;         /* changes that were sent or skipped */
    bool bookmark;       /* one is to be sent */
};

struct conn *conn_new(struct world *w, SSL_CTX *tls, int fd);
void conn_free(struct conn *c);

/* Reads if there is something to be read, answers and sends, as far as it goes without waiting. */
void conn_run(struct conn *c, bool readable);

/* Whether there is something to be sent that was not there when it last ran. */
bool conn_has_news(const struct conn *c);

#endif
