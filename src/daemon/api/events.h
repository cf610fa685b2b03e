/*
 * events.h - the changes as they happen, for readers: /informerd/v1/events.
 *
 * Every change that is written to at least one event log is sent, in any format of records and as
 * server-sent events. A client that is too slow is disconnected; nothing else is delayed.
 */
#ifndef DAEMON_API_EVENTS_H
#define DAEMON_API_EVENTS_H

#include "base/list.h"
#include "daemon/api/reader.h"
#include "wire/http_server.h"

struct daemon;

/* The streams in progress. */
struct event_streams {
    struct list list; /* of struct event_stream */
    size_t count;
};

void event_streams_init(struct event_streams *streams);

/* Ends all streams, after the listeners are closed. */
void event_streams_close(struct event_streams *streams);

/*
 * Responds with a stream of changes. Parameters: `watch`, `namespace`, `name` and `level` select changes;
 * `format` is a record format (jsonl); `colour` adds colours. With `Accept: text/event-stream`, each
 * record is a server-sent event whose id is its sequence number.
 */
void events_respond(struct daemon *d, const struct api_reader *reader,
                    const struct http_server_request *request, struct http_exchange *exchange);

#endif
