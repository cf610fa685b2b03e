/*
 * apiserver.h - an API server for stories: a source (seam/source.h) in virtual time, with its own
 * history.
 *
 * It has one resource. Each write makes a new resource version and is sent to the open watch, if
 * any. A watch from an older version gets the changes since then, or INF_EGONE if they were
 * compacted. Lists have pages whose tokens contain a version, and expire with it. A response takes
 * APISERVER_LATENCY_MS. Faults are injected by the story.
 */
#ifndef TEST_APISERVER_H
#define TEST_APISERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/object/object.h"
#include "seam/source.h"
#include "sim.h"

enum {
    APISERVER_LATENCY_MS = 10,
};

struct change {
    uint64_t version;
    enum source_type type;
    struct inf_object *object; /* NULL: a bookmark */
};

/* The current objects, in key order. */
struct snapshot {
    struct inf_object **objects; /* borrowed from the history */
    size_t count;
};

struct apiserver {
    struct source source;
    struct sim *sim;
    struct sim_io io;
    struct timer answer;

    struct change *history; /* every write, in order */
    size_t n_history;
    size_t history_capacity;
    struct snapshot now;
    uint64_t version;
    uint64_t compacted; /* versions before this one are compacted */
    unsigned uids;
    const char *poison; /* the key of an object that can't be decoded; NULL: none */

    /* properties of the server */
    bool no_watch_list; /* refuses watch-lists */
    bool refuse_lists;  /* answers neither lists nor watch-lists */
    bool withhold_end;  /* watch-lists get no end bookmark */
    bool ignore_limit;
    enum apiserver_endless {
        APISERVER_ENDS,
        APISERVER_REPEATS_TOKEN, /* every page has the same continue token */
        APISERVER_CYCLES,        /* ... one of three, in turn */
        APISERVER_EMPTY_PAGES,   /* ... another one, and no object */
        APISERVER_MORE_PAGES,    /* ... another one, and the same object */
    } endless;                   /* lists */
    enum apiserver_blindness {
        APISERVER_SHOWS,
        APISERVER_ENDS_EMPTY,    /* watches end at once, regularly, and show nothing */
        APISERVER_SHOWS_NOTHING, /* watches show nothing until they end */
    } blind;
    uint64_t latency_ms; /* latency of a response, if not APISERVER_LATENCY_MS */
    unsigned burst;      /* maximum number of events per turn of the engine; 0: one */
    bool pages_cache;    /* pages also lists at version "0", as servers without a watch cache do */

    /* the current request */
    struct source_user *user; /* NULL: none */
    struct source_request request;
    char *version_given; /* its version */
    char *token;         /* its continue token */
    uint64_t after;      /* the version that the watch has reached */
    struct snapshot
        sending; /* objects that a list or a watch-list has still to send, from `sent` on */
    size_t sent;
    uint64_t sending_version;
    bool open;    /* a response was sent */
    bool filling; /* objects of `sending` are still to be sent */
    bool paused;
    bool silent;          /* sends nothing more on this request */
    bool looking_up;      /* the source looks up the resource before it sends a request */
    struct inf_error end; /* code 0: none */
    size_t end_after;     /* after this many events */

    /* responses to the next requests, instead of the regular ones */
    struct inf_error refusal;
    unsigned refusals;
    unsigned requests; /* number of requests */
    char *request_log; /* the last few requests, for a story to look at: "watch-list 5; list 0
                          limit=500; " */
};

void apiserver_init(struct apiserver *a, struct sim *sim);
void apiserver_done(struct apiserver *a);

/* Creates or changes the object `namespace/name`. */
void apiserver_put(struct apiserver *a, const char *key);
/* The same with a value for spec.n. */
void apiserver_put_n(struct apiserver *a, const char *key, int n);
/* Writes an object as it is: for odd ones. */
void apiserver_put_text(struct apiserver *a, const char *text);
void apiserver_delete(struct apiserver *a, const char *key);
/* The current `namespace/name`; NULL if it does not exist. */
const struct inf_object *apiserver_get(const struct apiserver *a, const char *key);

/* The object before the change that made @object; NULL: none. */
const struct inf_object *apiserver_before(const struct apiserver *a,
                                          const struct inf_object *object);

/* Compacts the history: watches from older versions get INF_EGONE. */
void apiserver_compact(struct apiserver *a);
void apiserver_bookmark(struct apiserver *a);
/* Restores the state at @version, like a restored backup. */
void apiserver_restore(struct apiserver *a, uint64_t version);

/* Ends the current request: regularly, as servers do every few minutes, or like a network
 * failure. */
void apiserver_end(struct apiserver *a);
void apiserver_cut(struct apiserver *a);
/* Ends it with any error, after all changes so far were sent. */
void apiserver_end_with(struct apiserver *a, int code, const char *text);
/* Ends it with any error after @n more events, even if there is nothing more to send. */
void apiserver_end_after(struct apiserver *a, size_t n, int code, const char *text);

/* Sends nothing more on the current request, like a dead peer. */
void apiserver_fall_silent(struct apiserver *a);

/* The source has found the resource: the current request is sent now. */
void apiserver_looked_up(struct apiserver *a);

/* Sends part of an event on the current request. */
void apiserver_progress(struct apiserver *a);

/* Answers the next @n requests with this error. */
void apiserver_refuse(struct apiserver *a, unsigned n, int code, uint32_t retry_after_ms,
                      const char *text);

/* The requests received since the last call; the caller frees the string. */
char *apiserver_take_requests(struct apiserver *a);

#endif
