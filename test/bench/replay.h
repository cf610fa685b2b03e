/*
 * replay.h - a server that needs very little CPU, so that the client is what is measured.
 *
 * It has the text of a pod with placeholders, for one or more deployments. They are replaced by values
 * that depend on the pod and its version. So N pods need no more memory than one, a pod is sent by
 * copying the text and filling in some digits, and every client gets the same bytes for the same
 * request.
 *
 * Changes are a list that only grows; a watch is a position in it.
 */
#ifndef BENCH_REPLAY_H
#define BENCH_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/types.h>

enum {
    PLACEHOLDERS_MAX = 96,
    EVERYWHERE = -1, /* all namespaces */
};

/* ---- pods, replay_pods.c ---- */

struct placeholder {
    size_t at;
    unsigned width; /* in digits */
    char letter;    /* which number replaces it */
};

/* One state of one pod. */
struct state {
    uint64_t version;
    uint64_t sent_ns; /* CLOCK_MONOTONIC when it was created */
};

struct change {
    uint32_t pod;
    struct state state;
};

struct template
{
    char *text; /* of a pod, after its opening brace */
    size_t len;
    struct placeholder placeholders[PLACEHOLDERS_MAX];
    size_t n_placeholders;
};

struct world {
    struct template *templates; /* one per deployment; pod i has template i % n_templates */
    size_t n_templates;
    size_t longest; /* of their texts */

    struct state *pods;
    uint32_t n_pods;
    uint32_t *in_order;  /* the pods by namespace and name */
    uint32_t namespaces; /* pod i is in namespace i % namespaces */
    uint64_t version;
    uint64_t forgotten; /* a watch from before this version gets 410 */

    struct change *changes; /* by version */
    size_t n_changes, room;
};

void world_init(struct world *w, const char *template_path, uint32_t pods, uint32_t namespaces);
void world_free(struct world *w);

/* Changes the next pod. Watches get an event, unless it is @secret. */
void world_change(struct world *w, bool secret);

uint64_t now_ns(void);

/* A resource version as text: ten digits. */
uint64_t version_text(uint64_t version);

/* Writes the text to @out. Returns its size: pod_size(). */
size_t pod_size(const struct world *w, uint32_t pod);
size_t pod_write(const struct world *w, uint32_t pod, struct state state, char *out);

/* The pods of a namespace, in the order of their names, as a real server lists them: how many, and which is the
 * @k-th. Those of all namespaces are in the order of these. */
uint32_t pods_in(const struct world *w, int ns);
uint32_t pod_in(const struct world *w, int ns, uint32_t k);

/* ---- connections, replay_conn.c: TLS, and the part of HTTP that the three clients use ---- */

enum phase {
    ASKED_NOTHING, /* between requests */
    ITEMS,         /* of a list, or as the first events of a watch */
    FOLLOWING,     /* sending changes as they happen */
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
    bool bookmark;       /* a bookmark is to be sent */
};

struct conn *conn_new(struct world *w, SSL_CTX *tls, int fd);
void conn_free(struct conn *c);

/* Reads, responds and sends as far as possible without blocking. */
void conn_run(struct conn *c, bool readable);

/* Whether there is something new to send since it last ran. */
bool conn_has_unsent(const struct conn *c);

#endif
