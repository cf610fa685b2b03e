/*
 * shared.h - one copy for all who ask for the same (lib/definition.h): a source, an engine, and a count of who uses them.
 */
#ifndef LIB_SHARED_H
#define LIB_SHARED_H

#include "core/dispatch/pipeline.h"
#include "kube/discovery/named_source.h"
#include "lib/client.h"
#include "lib/definition.h"

struct shared {
    struct list node; /* among the client's */
    struct log log;   /* the client's, with the names of its users */
    struct inf_client *client;
    unsigned users;
    struct definition *definition;
    struct list former; /* of struct definition: what it was before */
    struct named_source *source;
    struct resource resource; /* what the watch's word means; without a name: not known yet */
    char *kind;               /* of its objects; NULL: not known */
    struct pipeline pipeline;
};

/* The copy that @watch describes: one that is there, or a new one, which begins to fill. One user
 * more. NULL with @err if there can be none. */
struct shared *shared_use(struct inf_client *client, const struct inf_watch *watch,
                          struct inf_error *err);

/* Has the copy follow @watch instead, for @user, which owns handlers in it: they get the differences, with @why. The copy is
 * @shared, or another one if it has other users. NULL with @err, and nothing has changed. */
struct shared *shared_change(struct shared *shared, const struct inf_watch *watch, const void *user,
                             const char *why, struct inf_error *err);

/* The copy for @user alone, which follows the same: @shared, or another one if it has other users. NULL with @err if it is
 * not of @watch. */
struct shared *shared_separate(struct shared *shared, const struct inf_watch *watch,
                               const void *user, struct inf_error *err);

/* The copy, if @user is the only one; else a new one, with the same objects and @user's handlers, that follows nothing. */
struct shared *shared_own(struct shared *shared, const void *user);

/* Adds the log names of its users to @out, with commas between them. Of informer.c. */
void informer_put_log_names(const struct shared *shared, struct buf *out);

/* A new copy of @watch, of one namespace, that begins with the objects which @shared has there. They are not @shared's any more,
 * which has one user. NULL with @err if there can be none. */
struct shared *shared_carve(struct shared *shared, const struct inf_watch *watch, const char *why,
                            struct inf_error *err);

/* One user less; the last one closes it. */
void shared_leave(struct shared *shared);

#endif
