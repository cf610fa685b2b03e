/*
 * named_world.h - a named source, a user that writes down what it is told, and a server that has two
 * groups besides the core, plays recordings, and can fail in the ways that matter to a lookup.
 */
#ifndef TEST_NAMED_WORLD_H
#define TEST_NAMED_WORLD_H

#include "base/log.h"
#include "kube/discovery/named_source.h"
#include "kube/source/warnings.h"
#include "pipe_stream.h"
#include "sim.h"

/* A log that keeps its lines. */
struct named_notebook {
    struct log log;
    struct buf lines;
};

struct named_world {
    struct source_user user; /* first */
    struct sim sim;
    struct pipe_dialer pipes;
    struct http_pool *pool;
    struct api_server server;
    struct discovery_cache *discovery_cache;
    struct named_source *named; /* NULL once closed */
    struct named_source *other; /* of the same server; NULL: none */
    bool young;                 /* the server has no group example.com yet */
    struct buf told;
    const char *missing; /* a path that is answered 404; NULL: none */
    const char *page;    /* what a 404 says; NULL: "no" */
    const char *broken;  /* one that is answered 503 */
    const char *hanging; /* one that is not answered */
    bool no_apps;        /* the list of groups does not have it, and its document is a 404 */
    bool everything_404; /* a load balancer without its backend */
    struct named_notebook notebook;
    struct warnings warnings;
};

/* A namespace that ends in '?' is only where one looks. */
struct named_source *named_world_source(struct named_world *w, const char *text, const char *ns);

void named_world_init(struct named_world *w, const char *text, const char *ns);
void named_world_done(struct named_world *w);

/* Asks for a list; the second one lets everything happen as well. */
void named_world_open_list(struct named_source *named, struct source_user *user);
void named_world_list(struct named_world *w);

/* Checks what was told since the last time, or only whether @part is in it; forgets it. */
void named_world_told(struct named_world *w, const char *expected);
bool named_world_is_told(struct named_world *w, const char *part);

/* The same for the lines of the log. */
void named_world_warned(struct named_world *w, const char *expected);

/* A world that has begun to read deployments, whose requests are answered 404 from then on. */
void named_world_deployments_404(struct named_world *w, const char *word, const char *page);

#define LISTED "open\nend\nINF_EEOF: k:6443: the list is complete\n"

#define DEPLOYMENTS    "/apis/apps/v1/deployments?limit=5"
#define PAGE           "<html>No backend</html>"
#define STRAY          "INF_ESERVER: k:6443: the server returned HTTP 404: "
#define APPS_DOCUMENTS "GET /apis/apps\nGET /apis/apps/v1\n"

#endif
