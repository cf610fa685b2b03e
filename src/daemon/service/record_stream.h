/*
 * record_stream.h - records of an event log, read back from its files: events?from= and history.
 *
 * The log is the first one that is a file in the format jsonl, and has everything that the request could
 * select. If there is none, the request is refused: a part would look like everything.
 */
#ifndef DAEMON_API_RECORD_STREAM_H
#define DAEMON_API_RECORD_STREAM_H

#include "daemon/service/events.h"
#include "daemon/service/record_filter.h"

struct record_request {
    struct record_filter filter;
    struct log_position from;
    bool follow; /* continue with what is written from now on */
    bool as_sse;
    size_t limit; /* only the newest records; 0: all */
};

/* Whether an event log has all records of @request. If not, @err says so. Sets the kind of the filter. */
bool record_stream_is_possible(struct daemon *d, struct record_request *request,
                               struct inf_error *err);

/* Responds with the records. Takes over the contents of @request. */
void record_stream_go(struct daemon *d, struct record_request *request, struct http_exchange *x);

/* See event_streams_close() and event_streams_reload(). */
void record_streams_close(struct event_streams *streams);
void record_streams_reload(struct event_streams *streams);

/* The endpoint: the records of objects, oldest first. Parameters: those of record_filter.h, and `limit`. */
void history_respond(struct daemon *d, const struct api_reader *reader,
                     const struct http_server_request *request, struct http_exchange *exchange);

#endif
