/*
 * events.h - records for readers: /informerd/v1/events and /informerd/v1/history.
 *
 *     events                live: every change as it happens, whether an event log has it or not
 *     events?from=SEQ|TIME  from the files of an event log, then what is written to them
 *     history               from the files of an event log, up to now
 *
 * Live streams share one output of the journal: a record is made and read once, compared with each
 * stream, and sent as it is unless the stream has another format. Records from files are sent as they
 * are in the file (record_stream.h).
 *
 * Nothing delays the journal or other clients. A live stream whose client has not read UNSENT_MAX bytes
 * is cut. One from files waits for its client, and reports a GAP if files were removed meanwhile.
 */
#ifndef DAEMON_API_EVENTS_H
#define DAEMON_API_EVENTS_H

#include "base/list.h"
#include "daemon/access/reader.h"
#include "daemon/journal/journal.h"
#include "daemon/output/log_reader.h"
#include "wire/http/http_server.h"

struct daemon;

enum {
    EVENT_STREAMS_MAX = 64, /* LIMIT: streams in progress, of all kinds */
};

/* The streams in progress. */
struct event_streams {
    struct daemon *d;
    size_t count;     /* of all */
    struct list live; /* of struct event_stream */
    struct list read; /* of struct record_stream */
    struct log_reader_gate gate;

    /* Of the live ones: part of the journal while there are some. */
    struct journal_output output;
    struct task tidy; /* removes it after the last one */
};

void event_streams_init(struct event_streams *streams, struct daemon *d);

/* Ends all streams, after the listeners are closed. */
void event_streams_close(struct event_streams *streams);

/* The event logs have changed: ends the streams from files of logs that no longer exist. */
void event_streams_reload(struct event_streams *streams);

/*
 * Responds with a stream of records. Parameters: those of record_filter.h; `from`, `follow` (true);
 * `format`, a record format (jsonl), `colour` and `width` of live streams. With `Accept:
 * text/event-stream` each record is a server-sent event whose id is its sequence number, and
 * `Last-Event-ID` continues after that number.
 */
void events_respond(struct daemon *d, const struct api_reader *reader,
                    const struct http_server_request *request, struct http_exchange *exchange);

/* Appends @text, of the record @seq, as a server-sent event. */
void events_put_sse(struct buf *out, uint64_t seq, struct str text);

/* Whether the client wants server-sent events. */
bool events_accept_sse(const struct http_server_request *request);

#endif
