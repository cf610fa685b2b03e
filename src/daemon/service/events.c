/*
 * events.c - the endpoint `events`: its parameters, and live streams.
 *
 * Normal path: a request for live records opens a stream with its filter and format. The first one adds
 * an output to the journal. Each change is written as a line of JSON and read once, then compared with
 * all streams; those that select it collect it, and send it when its number is reserved. A request with
 * a position is passed on to record_stream.c.
 *
 * A wrong parameter is refused with 400, a position without an event log that has the records with 404.
 * After a reconnection of a client of server-sent events there is no error to report to: without such a
 * log, a GAP record is the first of a live stream.
 */
#include "daemon/service/events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "daemon/api/api_status.h"
#include "daemon/daemon.h"
#include "daemon/format/record_format.h"
#include "daemon/service/record_filter.h"
#include "daemon/service/record_stream.h"
#include "wire/http/http_target.h"

enum {
    UNSENT_MAX = 4 * 1024 * 1024, /* LIMIT: bytes that a client has not read */
    WIDTH_MAX = 10000,            /* LIMIT: columns */
};

/* A live stream. */
struct event_stream {
    struct http_exchange_user user;
    struct list node;
    struct event_streams *streams;
    struct http_exchange *exchange;
    struct record_filter filter; /* its reader outlives the exchange: see access.h */
    const struct record_format *format;
    struct record_options options;
    bool as_sse;
    struct buf collected;
    size_t saved; /* bytes of `collected` whose numbers are reserved */
};

/* As the event log of a minimal configuration. */
static const struct record_options plain_options = {
    .object = RECORD_DIFF,
    .object_verbs = 1u << INF_DELETED,
    .context = CONTEXT_LABELS | CONTEXT_OWNER | CONTEXT_NODE,
    .max_line = RECORD_LINE_DEFAULT,
};

/* ---- server-sent events ---- */

bool events_accept_sse(const struct http_server_request *request)
{
    const char *accept = http_server_request_get(request, "Accept");
    return accept && strstr(accept, "text/event-stream");
}

/* "data: " before each line, and an empty line at the end. */
void events_put_sse(struct buf *out, uint64_t seq, struct str text)
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

/* ---- the output of the journal ---- */

static void stream_put(struct event_stream *s, uint64_t seq, struct str text)
{
    if (s->as_sse)
        events_put_sse(&s->collected, seq, text);
    else
        buf_put(&s->collected, text.at, text.len);
}

/* A record in the formats of the streams: of a change or of the daemon, the other one is NULL. */
struct live_record {
    const struct change *change;
    const struct note *note;
    const struct stamp *stamp;
    const struct watch_id *watch;
};

static void put_formatted(struct event_stream *s, const struct live_record *record)
{
    struct buf text = {0};
    if (record->change)
        s->format->put_change(&text, record->change, &s->options);
    else if (s->format->put_note)
        s->format->put_note(&text, record->note, record->stamp, record->watch, &s->options);
    if (text.len)
        stream_put(s, record->stamp->seq, (struct str){text.bytes, text.len});
    buf_free(&text);
}

/* @line is the record as JSON, with its newline. */
static void put_to_streams(struct event_streams *streams, const struct live_record *record,
                           struct str line)
{
    struct record_line read;
    if (!record_line_read((struct str){line.at, line.len - 1}, &read))
        return; /* UNTESTED: we wrote it */
    list_for_each(node, &streams->live) {
        struct event_stream *s = container_of(node, struct event_stream, node);
        if (!record_filter_matches(&s->filter, &read))
            continue;
        if (s->format == &jsonl_format)
            stream_put(s, read.seq, line);
        else
            put_formatted(s, record);
    }
}

static void output_put_change(struct journal_output *output, const struct change *change)
{
    struct live_record record = {.change = change, .stamp = &change->stamp};
    struct buf line = {0};
    jsonl_format.put_change(&line, change, &plain_options);
    put_to_streams(container_of(output, struct event_streams, output), &record,
                   (struct str){line.bytes, line.len});
    buf_free(&line);
}

static void output_put_note(struct journal_output *output, const struct note *note,
                            const struct stamp *stamp, const struct watch_id *watch)
{
    struct live_record record = {.note = note, .stamp = stamp, .watch = watch};
    struct buf line = {0};
    jsonl_format.put_note(&line, note, stamp, watch, &plain_options);
    put_to_streams(container_of(output, struct event_streams, output), &record,
                   (struct str){line.bytes, line.len});
    buf_free(&line);
}

static void output_save(struct journal_output *output)
{
    struct event_streams *streams = container_of(output, struct event_streams, output);
    list_for_each(node, &streams->live) {
        struct event_stream *s = container_of(node, struct event_stream, node);
        s->saved = s->collected.len;
    }
}

static void stream_free(struct event_stream *s)
{
    struct event_streams *streams = s->streams;
    list_remove(&s->node);
    streams->count--;
    if (s->format)
        record_format_release(s->format, s->options.state);
    record_filter_free(&s->filter);
    buf_free(&s->collected);
    free(s);
    if (list_empty(&streams->live))
        task_schedule(&streams->d->loop.clock, &streams->tidy);
}

static void stream_send(struct event_stream *s)
{
    if (!s->saved)
        return;
    http_exchange_write(s->exchange, s->collected.bytes, s->saved);
    buf_consume(&s->collected, s->saved);
    s->saved = 0;
    if (http_exchange_unsent(s->exchange) <= UNSENT_MAX)
        return;
    http_exchange_cut(s->exchange);
    stream_free(s);
}

static void output_release(struct journal_output *output)
{
    struct event_streams *streams = container_of(output, struct event_streams, output);
    list_for_each_safe(node, &streams->live)
        stream_send(container_of(node, struct event_stream, node));
}

static const struct journal_output_ops output_ops = {
    .put_change = output_put_change,
    .put_note = output_put_note,
    .save = output_save,
    .release = output_release,
};

/* The journal may be calling the output when its last stream ends. */
static void remove_output(struct event_streams *streams)
{
    if (!streams->output.filter || !list_empty(&streams->live))
        return;
    journal_remove_output(&streams->d->journal, &streams->output);
    filter_free(streams->output.filter);
    streams->output.filter = NULL;
}

static void run_tidy(struct task *task)
{
    remove_output(container_of(task, struct event_streams, tidy));
}

static void add_output(struct event_streams *streams)
{
    if (streams->output.filter)
        return;
    streams->output = (struct journal_output){
        .ops = &output_ops,
        .name = "streams of the local API",
        .filter = filter_make(&(struct filter_settings){.level = INF_LOG_INFO}, NULL),
        .context = plain_options.context,
    };
    journal_add_output(&streams->d->journal, &streams->output);
}

void event_streams_init(struct event_streams *streams, struct daemon *d)
{
    *streams = (struct event_streams){.d = d};
    list_init(&streams->live);
    list_init(&streams->read);
    log_reader_gate_init(&streams->gate);
    task_init(&streams->tidy, PHASE_PUMP, run_tidy);
}

void event_streams_close(struct event_streams *streams)
{
    list_for_each_safe(node, &streams->live)
        stream_free(container_of(node, struct event_stream, node));
    record_streams_close(streams);
    task_cancel(&streams->tidy);
    remove_output(streams);
}

void event_streams_reload(struct event_streams *streams)
{
    record_streams_reload(streams);
}

/* ---- live streams ---- */

static void stream_on_drain(struct http_exchange_user *user)
{
    (void)user;
}

static void stream_on_abort(struct http_exchange_user *user)
{
    stream_free(container_of(user, struct event_stream, user));
}

static const struct http_exchange_user_ops user_ops = {stream_on_drain, stream_on_abort};

/* What a request for events asks for. */
struct events_request {
    struct record_request records; /* the filter, and the position */
    bool has_position;
    bool resumes; /* the position is that of Last-Event-ID */
    const struct record_format *format;
    struct record_options options;
};

static const char *type_of(const struct events_request *r)
{
    return r->records.as_sse            ? "text/event-stream"
           : r->format == &jsonl_format ? "application/jsonl"
                                        : "text/plain; charset=utf-8";
}

/* The records since Last-Event-ID are not available. */
static void put_resume_gap(struct event_stream *s, uint64_t before)
{
    struct stamp stamp = {.time_us = clock_wall_us(&s->streams->d->loop.clock),
                          .seq = before,
                          .log = s->streams->d->journal.seq->log};
    struct note note = {.type = NOTE_GAP,
                        .level = INF_LOG_WARN,
                        .reason = "expired",
                        .msg = "the records since the last connection are not kept by an event log",
                        .count = -1};
    struct live_record record = {.note = &note, .stamp = &stamp};
    put_formatted(s, &record);
    s->saved = s->collected.len;
    stream_send(s);
}

/* Takes over the contents of @r. */
static void live_go(struct daemon *d, struct events_request *r, struct http_exchange *exchange)
{
    struct event_streams *streams = &d->web.events;
    struct event_stream *s = NEW(struct event_stream);
    s->user.ops = &user_ops;
    s->streams = streams;
    s->exchange = exchange;
    s->filter = r->records.filter;
    s->format = r->format;
    s->options = r->options;
    s->as_sse = r->records.as_sse;
    streams->count++;
    list_push(&streams->live, &s->node);
    http_exchange_set_user(exchange, &s->user);
    http_exchange_start(exchange, 200, type_of(r));
    add_output(streams);
    if (r->resumes)
        put_resume_gap(s, r->records.from.seq ? r->records.from.seq - 1 : 0);
}

/* ---- the request ---- */

static bool read_number(const char *text, uint64_t *ret)
{
    char *end;
    if (!*text || text[strspn(text, "0123456789")])
        return false;
    *ret = strtoull(text, &end, 10);
    return true;
}

static int read_from(struct events_request *r, const char *text, int64_t now_us,
                     struct inf_error *err)
{
    struct log_position *from = &r->records.from;
    r->has_position = true;
    if (read_number(text, &from->seq))
        from->kind = from->seq ? LOG_FROM_SEQ : LOG_FROM_START;
    else
        from->kind = LOG_FROM_TIME;
    return from->kind == LOG_FROM_TIME
               ? record_time_parse("from", text, now_us, &from->time_us, err)
               : 0;
}

static int read_format(struct events_request *r, const char *text, struct inf_error *err)
{
    const struct record_format *format;
    const char *argument;
    if (record_format_find(text, &format, &argument, err) < 0 ||
        record_format_prepare(format, argument, &r->options.state, err) < 0)
        return -INF_EINVAL;
    r->format = format;
    return 0;
}

/* The parameters that a filter does not have, as strings. */
struct events_parameters {
    char *from, *follow, *format, *colour, *width;
};

static int get_parameters(const char *query, struct events_parameters *ret, struct inf_error *err)
{
    *ret = (struct events_parameters){0};
    if (http_query_get(query, "from", &ret->from) >= 0 &&
        http_query_get(query, "follow", &ret->follow) >= 0 &&
        http_query_get(query, "format", &ret->format) >= 0 &&
        http_query_get(query, "colour", &ret->colour) >= 0 &&
        http_query_get(query, "width", &ret->width) >= 0)
        return 0;
    return err_set(err, INF_EINVAL, "the query contains a malformed escape");
}

static int use_parameters(struct events_request *r, const struct events_parameters *p,
                          int64_t now_us, struct inf_error *err)
{
    uint64_t width = 0;
    if (p->follow && strcmp(p->follow, "true") != 0 && strcmp(p->follow, "false") != 0)
        return err_set(err, INF_EINVAL, "follow: '%s' is neither true nor false", p->follow);
    if (p->width && (!read_number(p->width, &width) || width > WIDTH_MAX))
        return err_set(err, INF_EINVAL, "width: '%s' is not a number up to %d", p->width,
                       WIDTH_MAX);
    r->records.follow = !p->follow || strcmp(p->follow, "true") == 0;
    r->options.colour = p->colour && strcmp(p->colour, "true") == 0;
    r->options.charset = p->width ? RECORD_TERMINAL : RECORD_UTF8;
    r->options.width = (unsigned)width;
    if (p->from && !r->has_position && read_from(r, p->from, now_us, err) < 0)
        return -INF_EINVAL;
    if (!r->records.follow && !r->has_position)
        return err_set(err, INF_EINVAL,
                       "follow=false needs a position; from=0 stands for everything that is kept");
    if (read_format(r, p->format ? p->format : "jsonl", err) < 0)
        return -INF_EINVAL;
    if (r->has_position && r->format != &jsonl_format)
        return err_set(err, INF_EINVAL, "from: records of event logs have the format jsonl");
    return 0;
}

/* An EventSource that reconnects repeats its first request and adds the id of the last event. */
static void read_last_event(struct events_request *r, const struct http_server_request *request)
{
    const char *last = http_server_request_get(request, "Last-Event-ID");
    uint64_t seq;
    if (!last || !read_number(last, &seq) || seq == UINT64_MAX)
        return;
    r->records.from = (struct log_position){.kind = LOG_FROM_SEQ, .seq = seq + 1};
    r->has_position = r->resumes = true;
}

static int read_request(struct events_request *r, const struct http_server_request *request,
                        int64_t now_us, struct inf_error *err)
{
    static const char *const names[] = {
        RECORD_FILTER_NAMES, "from", "follow", "format", "colour", "width", NULL};
    struct events_parameters p;
    int rc;
    r->records.as_sse = events_accept_sse(request);
    r->options = plain_options;
    if (record_query_check(request->query, names, err) < 0 ||
        record_filter_read(&r->records.filter, request->query, now_us, err) < 0)
        return -INF_EINVAL;
    if (r->records.as_sse)
        read_last_event(r, request);
    rc = get_parameters(request->query, &p, err);
    if (rc == 0)
        rc = use_parameters(r, &p, now_us, err);
    free(p.from);
    free(p.follow);
    free(p.format);
    free(p.colour);
    free(p.width);
    return rc;
}

static void free_request(struct events_request *r)
{
    if (r->format)
        record_format_release(r->format, r->options.state);
    record_filter_free(&r->records.filter);
}

/* A live stream of an unknown watch would be silent. Files can have records of watches that were removed. */
static int check_watch(const struct daemon *d, const char *name, struct inf_error *err)
{
    for (size_t i = 0; name && i < d->conf.n_watches; i++)
        if (strcmp(d->conf.watches[i].name, name) == 0)
            return 0;
    return name ? err_set(err, INF_EINVAL, "unknown watch '%s'; see `watches` in the configuration",
                          name)
                : 0;
}

/* Whether records from files are to be sent. Returns 0 for a live stream, 1, or the error. */
static int from_files(struct daemon *d, struct events_request *r, struct inf_error *err)
{
    if (!r->has_position)
        return check_watch(d, r->records.filter.watch, err);
    if (record_stream_is_possible(d, &r->records, err))
        return 1;
    return r->resumes ? 0 : -err->code;
}

void events_respond(struct daemon *d, const struct api_reader *reader,
                    const struct http_server_request *request, struct http_exchange *exchange)
{
    struct events_request r = {.format = NULL};
    struct inf_error err;
    int rc;
    if (d->web.events.count >= EVENT_STREAMS_MAX) {
        api_reply_fault(exchange, 429, "too many streams of records are open");
        return;
    }
    rc = read_request(&r, request, clock_wall_us(&d->loop.clock), &err);
    if (rc == 0)
        rc = from_files(d, &r, &err);
    r.records.filter.reader = reader;
    if (rc < 0) {
        api_reply_fault(exchange, rc == -INF_ENOTFOUND ? 404 : 400, err.text);
    } else if (request->head) { /* there is no body to wait for */
        http_exchange_reply(exchange, 200, type_of(&r), "", 0);
    } else if (rc) {
        record_stream_go(d, &r.records, exchange);
        r.records.filter = (struct record_filter){0}; /* taken over */
    } else {
        live_go(d, &r, exchange);
        return;
    }
    free_request(&r);
}
