/*
 * api_feed.h - the recent changes of one store, for the watches and lists of the local API.
 *
 * Entries are numbered; `first` to `next` exist. The version of an entry is that of the store after the
 * change and never decreases, so a position is found from a resource version. The number of entries is
 * limited by `api.history`, their memory by API_FEED_BYTES_MAX.
 */
#ifndef DAEMON_API_FEED_H
#define DAEMON_API_FEED_H

#include <stdint.h>

#include "informer/store.h"

#include "base/list.h"
#include "daemon/api/api.h"
#include "daemon/api/api_body.h"
#include "seam/clock.h"

enum {
    API_FEED_BYTES_MAX = 64 * 1024 * 1024, /* LIMIT: memory of the objects of a feed */
    API_SHARED_BYTES_MAX = 1024 * 1024,    /* LIMIT: memory of the event lines of a feed */
    API_EXPANDED = 16,                     /* entries whose objects are kept in ordinary form */
};

/* How an event is reported to a watch: selectors can make a change an addition or a deletion. */
enum api_event {
    API_ADDED,
    API_MODIFIED,
    API_DELETED,
    API_NOTHING, /* not selected */
};

/* The line of an event in one form, written once for all watches, as a chunk of HTTP. */
struct api_line {
    struct api_line *next;
    enum api_form form;
    enum api_event event;
    size_t head, line; /* bytes before the line, and of the line */
    size_t len;
    char bytes[];
};

struct api_entry {
    enum api_event event;
    bool final; /* a deletion: `object` is the state that the server sent with it */
    uint64_t version;
    const struct inf_object *old;    /* as the cache held it; NULL: it did not exist. References */
    const struct inf_object *object; /* the new state; of a deletion the last one */
    struct api_line *lines;          /* NULL: none was written, or they were freed */
};

/* The ordinary forms of the objects of an entry, kept while the entry is delivered. */
struct api_expanded {
    uint64_t number; /* of the entry; 0: none */
    const struct inf_object *old;
    const struct inf_object *object;
};

struct api_feed {
    struct list node; /* in the feeds of the API */
    struct api *api;
    struct clock *clock;
    const struct inf_store *store; /* NULL: the feed has ended */
    struct inf_store_observer observer;
    struct api_type type;
    bool has_tables; /* it has printed columns */

    struct api_entry *entries; /* a ring: number modulo capacity, which is a power of two */
    size_t capacity;
    uint64_t first, next; /* numbers; the first entry of all has 1 */
    size_t bytes;
    uint64_t seen;       /* the greatest version that a client or an entry has */
    uint64_t oldest;     /* changes after this version are here */
    uint64_t lines_from; /* entries before this number have no lines */
    size_t line_bytes;
    struct api_expanded expanded[API_EXPANDED];

    unsigned replacements; /* by new lists */
    bool replacing;        /* the changes of the last one are not all reported yet */

    uint64_t used_ms;    /* when it was last used */
    struct list walks;   /* of struct api_walk */
    struct list watches; /* of struct api_watch */
    struct list waiting; /* of struct api_wait */
    struct task deliver;
    struct timer bookmarks;
    struct deferred_free deferred_free;
};

/* The feed of @store, created if it has none. @resource is complete: with its kind. @printer: the columns of
 * tables; NULL: no table is requested. A feed that has printed other columns is closed. */
struct api_feed *api_feed_get(struct api *api, const struct inf_store *store,
                              const struct inf_resource *resource,
                              const struct table_printer *printer);

/* Closes the feeds that print these columns. */
void api_feed_close_tables(struct api *api, const struct table_printer *printer);

/* Ends the responses of its readers and frees it. */
void api_feed_close(struct api_feed *feed);

/* Delivers events in the next pump phase. */
void api_feed_schedule(struct api_feed *feed);

/* A resource version as a number; 0: it is none. */
uint64_t api_version_number(const char *version);
uint64_t api_feed_version(const struct api_feed *feed);

/* Clients get the current version. */
void api_feed_note_version(struct api_feed *feed);

/* The number of the first entry after @version. Returns false if it is too old. */
bool api_feed_find(const struct api_feed *feed, uint64_t version, uint64_t *ret_number);

struct api_entry *api_feed_entry(struct api_feed *feed, uint64_t number);

/* The ordinary forms of the objects of an entry, borrowed until the end of the pump task. */
const struct inf_object *api_feed_object(struct api_feed *feed, uint64_t number);
const struct inf_object *api_feed_old(struct api_feed *feed, uint64_t number);

/* The line of entry @number as @event, borrowed until api_feed_limit_lines(). NULL: too many lines are
 * kept for entries this old. */
const struct api_line *api_feed_line(struct api_feed *feed, uint64_t number, enum api_form form,
                                     enum api_event event);

/* Frees lines over the limit, but not those of the last entry. */
void api_feed_limit_lines(struct api_feed *feed);

/* Appends the line of entry @number as @event. */
void api_feed_put_line(struct api_feed *feed, uint64_t number, enum api_form form,
                       enum api_event event, bool columns, struct buf *out);

#endif
