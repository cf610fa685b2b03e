/*
 * kubesim.h - the simulated API server as a whole: what every part of it knows.
 */
#ifndef KUBESIM_KUBESIM_H
#define KUBESIM_KUBESIM_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "faults.h"
#include "journal.h"
#include "store.h"

/* Who comes without a token. */
enum anonymous {
    ANONYMOUS_ALLOW,
    ANONYMOUS_FORBID, /* 403, as a cluster with anonymous access and nothing granted */
    ANONYMOUS_REFUSE, /* 401 */
};

struct settings {
    int port;
    const char *cert; /* files; NULL: plain HTTP */
    const char *key;
    const char *self_signed; /* directory */
    const char *names;       /* in the certificate; NULL: those of this machine */
    bool expired;            /* the certificate */
    const char *kubeconfig;  /* file to write */
    const char *script;
    uint64_t seed;
    bool seeded;
    uint64_t chance;
    bool chance_said; /* on the command line */
    bool demo;
    uint64_t pace; /* of the demo */
    uint64_t window;
    uint64_t bookmark_ms;
    uint64_t chunk; /* longest chunk; 0: as it comes */
    bool watch_list;
    bool gzip;       /* lists */
    bool gzip_watch; /* watch-lists */
    enum anonymous anonymous;
    bool anonymous_said; /* on the command line */
    bool until_eof;      /* end when stdin does */
    bool shy;            /* has no SelfSubjectReview, as a server before 1.27 */
};

struct tokens {
    char **items;
    size_t count;
};

/* What may be listed and watched; none: everything. */
struct rules {
    char **items;
    size_t count;
};

struct kubesim {
    struct settings settings;
    uv_loop_t loop;
    uv_tcp_t listener;
    bool listening;
    uv_timer_t reopen;   /* ends a refusal */
    uv_timer_t bookmark; /* tells all watches how far the world is */
    uv_timer_t soon; /* pumps the dirty connections, so that what happens together goes together */
    uv_signal_t term;
    uv_signal_t interrupt;
    uv_pipe_t input;
    struct ssl_ctx_st *tls; /* NULL: plain */
    struct list conns;
    struct list dirty;
    struct list jobs; /* fill.c, script.c: work that goes on */
    struct store store;
    struct faults faults;
    struct journal journal;
    struct tokens tokens;
    struct rules rules;
    uint64_t started; /* ms on the loop's clock */
    bool ending;
};

/* listener.c: takes connections until told otherwise. Returns the port, or a libuv error. */
int listener_open(struct kubesim *sim, int port);
void listener_close(struct kubesim *sim);
/* Nobody listens for @ms, then again on the same port. */
void listener_refuse(struct kubesim *sim, uint64_t ms);

/* main.c: closes everything, a moment from now, so that what is being said gets out. */
void kubesim_end_soon(struct kubesim *sim);

/* identity.c: what the server proves itself with, and a kubeconfig that trusts it. Returns 0, or
 * complains on stderr and returns -1. */
int identity_load(struct kubesim *sim);
int identity_write_kubeconfig(struct kubesim *sim);

/* settings.c: the command line. Returns -1 to go on, or the status to exit with. */
int settings_parse(struct kubesim *sim, int argc, char **argv);

bool token_known(const struct kubesim *sim, const char *token);
void token_add(struct kubesim *sim, const char *token);
void tokens_clear(struct kubesim *sim);

/* access.c: "pods", "deployments.apps@shop" */
void rule_add(struct kubesim *sim, const char *text);
void rules_clear(struct kubesim *sim);

#endif
