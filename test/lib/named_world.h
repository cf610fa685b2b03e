/*
 * named_world.h - a named source, a user that records its events, and a server with two groups
 * besides the core. The server replays recordings and can fail in the ways that affect a lookup.
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
    struct buf events;          /* requests that the server received, and events of the user */
    const char *missing;        /* a path that gets a 404; NULL: none */
    const char *page;           /* the body of a 404; NULL: "no" */
    const char *broken;         /* a path that gets a 503 */
    const char *hanging;        /* a path that gets no response */
    bool no_apps;               /* the list of groups has no apps, and its document is a 404 */
    bool all_404;               /* a load balancer without its backend */
    struct named_notebook notebook;
    struct warnings warnings;
};

/* A namespace that ends in '?' is only a default. */
struct named_source *named_world_source(struct named_world *w, const char *text, const char *ns);

void named_world_init(struct named_world *w, const char *text, const char *ns);
void named_world_done(struct named_world *w);

/* Request a list; named_world_list() also runs the simulation until it is idle. */
void named_world_open_list(struct named_source *named, struct source_user *user);
void named_world_list(struct named_world *w);

/* Compares the events since the last call, or searches @part in them, and clears them. */
void named_world_expect(struct named_world *w, const char *expected);
bool named_world_has_event(struct named_world *w, const char *part);

/* named_world_list(), then named_world_expect(). */
void named_world_expect_list(struct named_world *w, const char *expected);

/* Compares the lines of the log and clears them. */
void named_world_expect_warnings(struct named_world *w, const char *expected);

/* Initialises a world that has listed deployments; later lists get a 404 with @page. */
void named_world_deployments_404(struct named_world *w, const char *word, const char *page);

#define LISTED "open\nend\nINF_EEOF: k:6443: the list is complete\n"

#define DEPLOYMENTS    "/apis/apps/v1/deployments?limit=5"
#define PAGE           "<html>No backend</html>"
#define STRAY          "INF_ESERVER: k:6443: the server returned HTTP 404: "
#define APPS_DOCUMENTS "GET /apis/apps\nGET /apis/apps/v1\n"

#endif
