/*
 * shared.h - one cache for all informers with the same watch (lib/definition.h): a source, an
 * engine, and a user count.
 */
#ifndef LIB_SHARED_H
#define LIB_SHARED_H

#include "core/dispatch/pipeline.h"
#include "kube/discovery/named_source.h"
#include "lib/client.h"
#include "lib/definition.h"

struct recorder;

struct shared {
    struct list node; /* in the client's list */
    struct log log;   /* the client's, with the log names of its users */
    struct inf_client *client;
    unsigned users;
    struct definition *definition;
    struct list former; /* of struct definition, until the cache is freed */
    struct named_source *source;
    struct resource resource;     /* name is NULL: not resolved yet */
    char *kind;                   /* of the objects; NULL: not known */
    struct pack_context *packing; /* a reference: for packed objects */
    struct pipeline pipeline;
    struct recorder *recorder; /* NULL: none */
    uint64_t other_shards;     /* objects that were dropped when they arrived */
};

/* Adds a user to the cache of @watch: an existing one, or a new one, which starts to fill. Returns
 * NULL with @err if @watch is invalid. */
struct shared *shared_use(struct inf_client *client, const struct inf_watch *watch,
                          struct inf_error *err);

/* Returns a new cache for @watch that starts with the objects of @stream, which has some. With @why
 * they are those of another watch; NULL otherwise. For a new stream the same as shared_use(). NULL
 * with @err if @watch is invalid. */
struct inf_state_stream;
struct shared *shared_restore(struct inf_client *client, const struct inf_watch *watch,
                              struct inf_state_stream *stream, const char *why,
                              struct inf_error *err);

/* Changes the watch for @user, which owns handlers in the cache: they get the differences, with
 * @why. Returns @shared, or another cache if @shared has other users; NULL with @err, changing
 * nothing, if @watch is invalid. */
struct shared *shared_change(struct shared *shared, const struct inf_watch *watch,
                             struct inf_informer *user, const char *why, struct inf_error *err);

/* Returns a cache of the same watch that only @user uses: @shared, or another one if it has other
 * users. NULL with @err if @shared is not of @watch. */
struct shared *shared_separate(struct shared *shared, const struct inf_watch *watch,
                               struct inf_informer *user, struct inf_error *err);

/* Returns @shared if @user is its only user; otherwise a new cache with the same objects and
 * @user's handlers, but without a watch. */
struct shared *shared_own(struct shared *shared, struct inf_informer *user);

/* Like shared_own(), for an informer that ends: no watch that is opened later uses its cache. */
struct shared *shared_withdraw(struct shared *shared, struct inf_informer *user);

/* Appends the log names of its users to @out, separated by commas. In informer.c. */
void informer_put_log_names(const struct shared *shared, struct buf *out);

/* Returns a new cache for @watch, of one namespace. It starts with the objects that @shared has
 * there; they are moved. @shared has one user. NULL with @err if @watch is invalid. */
struct shared *shared_carve(struct shared *shared, const struct inf_watch *watch, const char *why,
                            struct inf_error *err);

/* Starts a new cache, with the objects of @stream if it has some; NULL: without a state. */
void shared_start(struct shared *shared, struct inf_state_stream *stream);

/* Identifies the objects of the cache in a state, for any process. The caller frees it. */
char *shared_state_id(const struct shared *shared);

/* Removes a user; the last one closes the cache. */
void shared_leave(struct shared *shared);

#endif
