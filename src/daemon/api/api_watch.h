/*
 * api_watch.h - responds with the changes of a feed, for as long as the client wants.
 */
#ifndef DAEMON_API_WATCH_H
#define DAEMON_API_WATCH_H

#include "base/list.h"
#include "base/timers.h"
#include "daemon/api/api_wait.h"
#include "daemon/api/api_walk.h"
#include "seam/clock.h"

struct api_watch {
    struct http_exchange_user user;
    struct http_exchange *x;
    struct list node; /* in the feed's watches */
    struct api_feed *feed;
    struct api_request r;
    struct api_walk walk; /* over the initial objects */
    bool walking;
    struct buf piece; /* of the walk */
    struct task turn; /* continues the walk */
    uint64_t number;  /* of the next entry of the feed */
    uint64_t after;   /* entries up to this version are part of what the client has */
    uint64_t bookmarked;
    bool has_columns; /* of a table: they were sent */
    struct timer timeout;
};

/* An api_go_fn: takes over the contents of @r. */
void api_watch_go(struct api_feed *feed, struct api_request *r, struct http_exchange *x);

/* For the feed. @watch may be freed. */
void api_watch_advance(struct api_watch *watch);
void api_watch_bookmark(struct api_watch *watch);
/* @expired: clients have to list again. */
void api_watch_end_all(struct api_feed *feed, bool expired);

#endif
