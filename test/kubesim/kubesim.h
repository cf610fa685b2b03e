/*
 * kubesim.h - the state of the simulated API server, shared by all its modules.
 */
#ifndef KUBESIM_KUBESIM_H
#define KUBESIM_KUBESIM_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "faults.h"
#include "journal.h"
#include "store.h"

/* Requests without a token. */
enum anonymous {
    ANONYMOUS_ALLOW,
    ANONYMOUS_FORBID, /* 403, as in a cluster that allows anonymous access and grants nothing to it */
    ANONYMOUS_REFUSE, /* 401 */
};

struct settings {
    int port;
    const char *cert; /* files; NULL: plain HTTP */
    const char *key;
    const char *self_signed; /* directory */
    const char *names;       /* subject alternative names; NULL: those of this machine */
    bool expired;            /* the certificate is expired */
    const char *kubeconfig;  /* file to write */
    const char *script;
    uint64_t seed;
    bool seeded;
    uint64_t chance;
    bool chance_given; /* on the command line */
    bool demo;
    uint64_t pace; /* of the demo */
    uint64_t window;
    uint64_t bookmark_ms;
    uint64_t chunk; /* longest chunk; 0: as it comes */
    bool watch_list;
    bool gzip;       /* lists */
    bool gzip_watch; /* watch-lists */
    enum anonymous anonymous;
    bool anonymous_given; /* on the command line */
    bool until_eof;       /* exit when stdin is closed */
    bool no_reviews;      /* without SelfSubjectReview, as servers before 1.27 */
};

struct tokens {
    char **items;
    size_t count;
};

/* What may be listed and watched; empty: everything. */
struct rules {
    char **items;
    size_t count;
};

struct kubesim {
    struct settings settings;
    uv_loop_t loop;
    uv_tcp_t listener;
    bool listening;
    uv_timer_t reopen;   /* ends the fault "refuse" */
    uv_timer_t bookmark; /* sends bookmarks to all watches */
    uv_timer_t soon; /* sends the data of dirty connections; batches changes that happen together */
    uv_signal_t term;
    uv_signal_t interrupt;
    uv_pipe_t input;
    struct ssl_ctx_st *tls; /* NULL: plain */
    struct list conns;
    struct list dirty;
    struct list jobs; /* fill.c, script.c: background tasks */
    struct store store;
    struct faults faults;
    struct journal journal;
    struct tokens tokens;
    struct rules rules;
    uint64_t started; /* ms on the loop's clock */
    bool ending;
};

/* listener.c: accepts connections. Returns the port, or a libuv error. */
int listener_open(struct kubesim *sim, int port);
void listener_close(struct kubesim *sim);
/* Closes the port for @ms, then listens again on the same port. */
void listener_refuse(struct kubesim *sim, uint64_t ms);

/* main.c: closes everything after a short delay, so that pending answers are sent. */
void kubesim_end_soon(struct kubesim *sim);

/* identity.c: the server certificate, and a kubeconfig that trusts it. Returns 0, or prints an
 * error to stderr and returns -1. */
int identity_load(struct kubesim *sim);
int identity_write_kubeconfig(struct kubesim *sim);
/* A random token, so that the kubeconfig has one: kubectl prompts for a password without it. */
void identity_add_token(struct kubesim *sim);

/* settings.c: the command line. Returns -1 to continue, or the exit status. */
int settings_parse(struct kubesim *sim, int argc, char **argv);

bool token_known(const struct kubesim *sim, const char *token);
void token_add(struct kubesim *sim, const char *token);
void tokens_clear(struct kubesim *sim);

/* access.c: "pods", "deployments.apps@shop" */
void rule_add(struct kubesim *sim, const char *text);
void rules_clear(struct kubesim *sim);

#endif
