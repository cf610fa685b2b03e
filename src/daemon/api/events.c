/*
 * events.c - streams of changes, live from the journal.
 *
 * Normal path: a request opens a stream with its selection and format, which observes the journal (struct
 * journal_tap); each change that it selects and that its reader may read is formatted and written. The
 * stream ends when the client disconnects or the daemon stops. A wrong parameter is refused with 400.
 */
#include "daemon/api/events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "daemon/api/api_status.h"
#include "daemon/daemon.h"
#include "daemon/format/record_format.h"
#include "wire/http_target.h"

enum {
    STREAMS_MAX = 64,             /* LIMIT: streams in progress */
    UNSENT_MAX = 4 * 1024 * 1024, /* LIMIT: bytes that a client has not read */
};

struct event_stream {
    struct http_exchange_user user;
    struct journal_tap tap;
    struct list node;
    struct event_streams *streams;
    struct http_exchange *exchange;
    const struct api_reader *reader; /* outlives the exchange: see access.h */
    char *watch, *ns, *name;         /* NULL: any */
    enum inf_log_level level;        /* the minimum */
    const struct record_format *format;
    struct record_options options;
    bool as_sse; /* server-sent events */
};

void event_streams_init(struct event_streams *streams)
{
    *streams = (struct event_streams){0};
    list_init(&streams->list);
}

static void stream_free(struct event_stream *s)
{
    list_remove(&s->tap.node);
    list_remove(&s->node);
    s->streams->count--;
    if (s->format)
        record_format_release(s->format, s->options.state);
    free(s->watch);
    free(s->ns);
    free(s->name);
    free(s);
}

void event_streams_close(struct event_streams *streams)
{
    list_for_each_safe(node, &streams->list)
        stream_free(container_of(node, struct event_stream, node));
}

/* ---- changes ---- */

static bool stream_selects(const struct event_stream *s, const struct change *change)
{
    const char *ns = inf_object_namespace(change->object);
    const char *watch = change->watch->name;
    return (!s->watch || strcmp(s->watch, watch) == 0) && (!s->ns || strcmp(s->ns, ns) == 0) &&
           (!s->name || strcmp(s->name, inf_object_name(change->object)) == 0) &&
           change->level >= s->level && api_reader_may(s->reader, watch, ns[0] ? ns : NULL);
}

/* "data: " before each line, and an empty line at the end. */
static void put_sse(struct buf *out, uint64_t seq, struct str text)
{
    buf_printf(out, "id: %" PRIu64 "\n", seq);
    while (text.len) {
        const char *end = memchr(text.at, '\n', text.len);
        size_t len = end ? (size_t)(end - text.at) : text.len;
        buf_puts(out, "data: ");
        buf_put(out, text.at, len);
        buf_putc(out, '\n');
        text = (struct str){text.at + len + (end != NULL), text.len - len - (end != NULL)};
    }
    buf_putc(out, '\n');
}

static void stream_on_change(struct journal_tap *tap, const struct change *change)
{
    struct event_stream *s = container_of(tap, struct event_stream, tap);
    struct buf text = {0}, event = {0};
    struct buf *sent = &text;
    if (!stream_selects(s, change))
        return;
    s->format->put_change(&text, change, &s->options);
    if (s->as_sse) {
        put_sse(&event, change->stamp.seq, (struct str){text.bytes, text.len});
        sent = &event;
    }
    http_exchange_write(s->exchange, sent->bytes, sent->len);
    if (http_exchange_unsent(s->exchange) > UNSENT_MAX) {
        http_exchange_cut(s->exchange);
        stream_free(s);
    }
    buf_free(&text);
    buf_free(&event);
}

/* ---- the request ---- */

static void stream_on_drain(struct http_exchange_user *user)
{
    (void)user;
}

static void stream_on_abort(struct http_exchange_user *user)
{
    stream_free(container_of(user, struct event_stream, user));
}

static const struct http_exchange_user_ops user_ops = {stream_on_drain, stream_on_abort};

static int read_level(const char *text, enum inf_log_level *ret, struct inf_error *err)
{
    static const char *const names[] = {"info", "warn", "error"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(names[i], text) == 0) {
            *ret = INF_LOG_INFO + (enum inf_log_level)i;
            return 0;
        }
    return err_set(err, INF_EINVAL, "unknown level '%s'; use info, warn or error", text);
}

static int read_format(struct event_stream *s, const char *text, struct inf_error *err)
{
    const struct record_format *format;
    const char *argument;
    if (record_format_find(text, &format, &argument, err) < 0 ||
        record_format_prepare(format, argument, &s->options.state, err) < 0)
        return -INF_EINVAL;
    s->format = format;
    return 0;
}

static int read_parameters(struct event_stream *s, const char *query, struct inf_error *err)
{
    char *level = NULL, *format = NULL, *colour = NULL;
    int rc = 0;
    if (http_query_get(query, "watch", &s->watch) < 0 ||
        http_query_get(query, "namespace", &s->ns) < 0 ||
        http_query_get(query, "name", &s->name) < 0 || http_query_get(query, "level", &level) < 0 ||
        http_query_get(query, "format", &format) < 0 ||
        http_query_get(query, "colour", &colour) < 0)
        rc = err_set(err, INF_EINVAL, "the query contains a malformed escape");
    if (rc == 0 && level)
        rc = read_level(level, &s->level, err);
    if (rc == 0)
        rc = read_format(s, format ? format : "jsonl", err);
    s->options.colour = colour && strcmp(colour, "true") == 0;
    free(level);
    free(format);
    free(colour);
    return rc;
}

static bool accepts_sse(const struct http_server_request *request)
{
    const char *accept = http_server_request_get(request, "Accept");
    return accept && strstr(accept, "text/event-stream");
}

void events_respond(struct daemon *d, const struct api_reader *reader,
                    const struct http_server_request *request, struct http_exchange *exchange)
{
    struct event_streams *streams = &d->web.events;
    const char *type = accepts_sse(request) ? "text/event-stream" : "text/plain; charset=utf-8";
    struct event_stream *s;
    struct inf_error err;
    if (streams->count >= STREAMS_MAX) {
        api_reply_fault(exchange, 429, "too many streams of events are open");
        return;
    }
    s = NEW(struct event_stream);
    s->user.ops = &user_ops;
    s->tap.on_change = stream_on_change;
    list_init(&s->tap.node);
    list_push(&streams->list, &s->node);
    streams->count++;
    s->streams = streams;
    s->exchange = exchange;
    s->reader = reader;
    s->level = INF_LOG_INFO;
    s->as_sse = accepts_sse(request);
    s->options = (struct record_options){
        .object = RECORD_DIFF,
        .object_verbs = 1u << INF_DELETED,
        .context = CONTEXT_LABELS | CONTEXT_OWNER | CONTEXT_NODE,
        .max_line = RECORD_LINE_DEFAULT,
    };
    if (read_parameters(s, request->query, &err) < 0) {
        stream_free(s);
        api_reply_fault(exchange, 400, err.text);
        return;
    }
    if (request->head) { /* there is no body to wait for */
        stream_free(s);
        http_exchange_reply(exchange, 200, type, "", 0);
        return;
    }
    http_exchange_set_user(exchange, &s->user);
    http_exchange_start(exchange, 200, type);
    journal_tap_add(&d->journal, &s->tap);
}
