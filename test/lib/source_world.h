/*
 * source_world.h - an API source, a user that records its callbacks, and a server that the test
 * plays.
 *
 *     source_world_init(&w, "pods", NULL);
 *     pipe = source_world_connect(&w);                  the request is in pipe->written now
 *     source_world_play(&w, pipe, "pods-watchlist");    a recording
 *     source_world_expect(&w, "open\nADDED default/web 282\n...");
 *     source_world_done(&w);
 *
 * The user checks the rules of source.h: no callback inside a call to the source, or after it was
 * closed.
 */
#ifndef TEST_SOURCE_WORLD_H
#define TEST_SOURCE_WORLD_H

#include <stdbool.h>

#include "base/buf.h"
#include "kube/config/kubeconfig.h"
#include "kube/source/api_source.h"
#include "pipe_stream.h"
#include "recording.h"
#include "seam/source.h"
#include "sim.h"
#include "wire/http/http_pool.h"

enum world_moment {
    WORLD_NEVER,
    WORLD_IN_OPEN,
    WORLD_IN_EVENT,
    WORLD_IN_END,
    WORLD_IN_PAGE_END,
    WORLD_IN_PROGRESS,
};

struct source_world {
    struct source_user user; /* first */
    struct sim sim;
    struct pipe_dialer pipes;
    struct http_pool *pool;
    struct api_server server;
    struct auth *auth; /* NULL: no credentials */
    struct kubeconfig config;
    struct api_source *api; /* NULL once closed */
    struct source *source;
    struct buf events;      /* one line per callback */
    size_t n_progress;      /* calls of on_progress */
    bool whole;             /* the lines of events have the object's text too */
    bool calling;           /* inside a function of the source: no callback is allowed */
    enum world_moment when; /* to do this, once: */
    void (*act)(struct source_world *w);
};

/* The server is kube.test:6443, by TCP, without credentials. */
void source_world_init(struct source_world *w, const char *resource, const char *ns);
void source_world_init_with(struct source_world *w, const char *resource,
                            const struct resource_scope *scope, const struct shape *shape);
/* Uses these credentials (copied) from now on; NULL: none. */
void source_world_identify(struct source_world *w, const char *token, const char *token_file);

void source_world_close(struct source_world *w); /* no effect if it is closed already */
void source_world_done(struct source_world *w);

void source_world_open(struct source_world *w, const struct source_request *request);

void source_world_open_version(struct source_world *w, enum source_want want, const char *version);

/* Opens a watch-list and sends the request. Returns its connection. */
struct pipe *source_world_connect(struct source_world *w);

/* The same with another request. */
struct pipe *source_world_connect_with(struct source_world *w,
                                       const struct source_request *request);

/* Sends a recorded response and runs the simulation until it is idle. */
void source_world_play(struct source_world *w, struct pipe *pipe, const char *recording);

/* The connection is lost after the first @len bytes of @r: the events must be the beginning of
 * @complete, followed by one INF_ECUT. */
void source_world_expect_cut(struct source_world *w, struct pipe *pipe, const struct recording *r,
                             size_t len, const char *complete);

/* Compares the events since the last call and clears them. */
void source_world_expect(struct source_world *w, const char *expected);

/* ---- synthetic responses ---- */

#define WATCH_HEAD \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
#define WATCH_END  "kube.test:6443: the server ended the watch\n"
#define WATCH_LAST "0\r\n\r\n"

#define LIST_END  "INF_EEOF: kube.test:6443: the list is complete\n"
#define LIST_HEAD "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\","
#define LIST_META "\"metadata\":{\"resourceVersion\":\"9\"}"
#define ITEM(name) \
    "{\"metadata\":{\"namespace\":\"shop\",\"name\":\"" name "\",\"resourceVersion\":\"5\"}}"

/* In a new world, @request with the response @body in one chunk gives exactly @expected. */
void source_world_expect_response(const struct source_request *request, const char *body,
                                  const char *expected);

void send_chunk(struct pipe *pipe, const char *text);

#define POD(name, version)                                           \
    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"" name \
    "\",\"resourceVersion\":\"" version "\"}}}\n"

#endif
