/*
 * record_stream.c - sends the records of an event log from its files, in slices.
 *
 * Normal path: a reader (log_reader.h) gives the records; those that the request selects are written
 * while the connection can take them and the tick has time. At the end of the files a stream that
 * follows waits until the log has written more; others end. With a limit, the newest records are kept
 * and written at the end, also in slices: until the client has read them, the stream counts as open.
 *
 * A file that can't be read is answered with 500, or cuts the response if it was begun. Missing files
 * become a GAP record in the place of the records that they had.
 */
#include "daemon/service/record_stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "daemon/api/api_status.h"
#include "daemon/daemon.h"
#include "daemon/format/record_format.h"
#include "daemon/output/log_file.h"
#include "wire/http/http_target.h"

enum {
    PIECE = 64 * 1024,                    /* bytes written at a time */
    HIGH = 256 * 1024,                    /* unsent bytes, until the client has read them */
    LIMIT_MAX = 10000,                    /* LIMIT: the parameter `limit` */
    NEWEST_BYTES_MAX = 16 * 1024 * 1024,  /* LIMIT: of records kept for `limit` */
    NEWEST_BYTES_SLACK = 4 * 1024 * 1024, /* removed records before the memory is moved */
};

enum records_state {
    STREAM_READING, /* on_more() follows */
    STREAM_TAKING,  /* `result` is to be handled */
    STREAM_AT_END,  /* until the log has written more */
    STREAM_LAST,    /* only the rest of `newest` is to be written */
};

struct record_stream {
    struct log_reader_user user;
    struct http_exchange_user exchange_user;
    struct journal_follower follower;
    struct list node;
    struct daemon *d;
    struct http_exchange *x;
    struct record_request request;
    char *log_name;
    struct log_reader *reader;
    enum records_state state;
    enum log_reader_result result;
    bool written; /* by the log, since the reader was last at work */
    bool started; /* the head of the response was sent */
    struct task turn;
    struct buf out;

    /* With a limit: the newest records. */
    struct buf newest;
    size_t
        newest_at; /* the first byte of the oldest one; at the end: the first that is not written */
    size_t n_newest;
};

/* ---- which log ---- */

static bool has_all(const struct event_log *log, const struct record_filter *f,
                    const struct filter_need *need, struct sink_files *ret)
{
    const struct sink_type *type = log->sink->type;
    return log->format == &jsonl_format && type->files && type->files(log->sink, ret) &&
           (!f->labels || log->record.context & CONTEXT_LABELS) &&
           (!log->filter || filter_covers(log->filter, need));
}

static const struct event_log *find_log(struct daemon *d, struct record_filter *f,
                                        struct sink_files *ret)
{
    struct filter_need need = {.ns = f->ns, .verbs = f->verbs, .level = f->level};
    const char **watches = record_filter_resolve(f, d, &need.n_watches);
    const struct event_log *found = NULL;
    need.watches = watches;
    for_each_log(log, &d->journal.logs)
        if (!found && has_all(log, f, &need, ret))
            found = log;
    free(watches);
    return found;
}

bool record_stream_is_possible(struct daemon *d, struct record_request *request,
                               struct inf_error *err)
{
    struct sink_files files;
    if (find_log(d, &request->filter, &files))
        return true;
    err_set(err, INF_ENOTFOUND,
            "no event log has all of these records: one is needed that is a regular file, has the "
            "format jsonl and no filter that excludes some of them%s; see event_logs in the "
            "configuration",
            request->filter.labels ? ", and that writes labels (context)" : "");
    return false;
}

static const struct event_log *log_of(const struct record_stream *s)
{
    for_each_log(log, &s->d->journal.logs)
        if (strcmp(log->name, s->log_name) == 0)
            return log;
    return NULL;
}

static bool records_is_written(struct log_reader_user *user, const struct disk_stat *file)
{
    const struct event_log *log = log_of(container_of(user, struct record_stream, user));
    struct sink_files files;
    return log && log->sink->type->files(log->sink, &files) && files.is_open &&
           log_file_is_same(&files.current, file);
}

/* ---- output ---- */

static void records_write(struct record_stream *s)
{
    if (!s->started)
        http_exchange_start(s->x, 200,
                            s->request.as_sse ? "text/event-stream" : "application/jsonl");
    s->started = true;
    http_exchange_write(s->x, s->out.bytes, s->out.len);
    buf_clear(&s->out);
}

static void put_record(struct record_stream *s, uint64_t seq, struct str line)
{
    if (s->request.as_sse) {
        events_put_sse(&s->out, seq, line);
    } else {
        buf_put(&s->out, line.at, line.len);
        buf_putc(&s->out, '\n');
    }
}

/* Keeps the line, and drops the oldest ones above the limits. Server-sent events have no limit. */
static void keep_newest(struct record_stream *s, struct str line)
{
    buf_put(&s->newest, line.at, line.len);
    buf_putc(&s->newest, '\n');
    s->n_newest++;
    while (s->n_newest > s->request.limit ||
           (s->n_newest > 1 && s->newest.len - s->newest_at > NEWEST_BYTES_MAX)) {
        const char *at = s->newest.bytes + s->newest_at;
        s->newest_at +=
            (size_t)((const char *)memchr(at, '\n', s->newest.len - s->newest_at) - at) + 1;
        s->n_newest--;
    }
    if (s->newest_at > NEWEST_BYTES_SLACK) {
        buf_consume(&s->newest, s->newest_at);
        s->newest_at = 0;
    }
}

static void send_record(struct record_stream *s, uint64_t seq, struct str line)
{
    if (s->request.limit)
        keep_newest(s, line);
    else
        put_record(s, seq, line);
}

static void send_gap(struct record_stream *s)
{
    struct record_options options = {.max_line = RECORD_LINE_DEFAULT};
    struct stamp stamp = {.time_us = clock_wall_us(&s->d->loop.clock),
                          .seq = log_reader_gap(s->reader),
                          .log = s->d->journal.seq->log};
    struct note note = {.type = NOTE_GAP,
                        .level = INF_LOG_WARN,
                        .reason = "expired",
                        .msg = "records before the next one are no longer kept: their files were "
                               "rotated away, removed, renamed or damaged",
                        .count = -1};
    struct buf line = {0};
    jsonl_format.put_note(&line, &note, &stamp, NULL, &options);
    send_record(s, stamp.seq, (struct str){line.bytes, line.len - 1});
    buf_free(&line);
}

/* ---- reading ---- */

static void record_stream_free(struct record_stream *s);

static void records_read(struct record_stream *s)
{
    s->state = STREAM_READING;
    s->written = false;
    log_reader_more(s->reader);
}

/* All that the reader has given is in `out` or in `newest`. */
static void records_end(struct record_stream *s)
{
    do {
        size_t left = s->newest.len - s->newest_at, n = left < PIECE ? left : PIECE;
        if (n)
            buf_put(&s->out, s->newest.bytes + s->newest_at, n);
        s->newest_at += n;
        records_write(s);
    } while (s->newest_at < s->newest.len && http_exchange_unsent(s->x) < HIGH);
    if (s->newest_at < s->newest.len) {
        s->state = STREAM_LAST; /* on_drain continues */
        return;
    }
    http_exchange_end(s->x);
    record_stream_free(s);
}

static void records_fail(struct record_stream *s)
{
    int error = -log_reader_error(s->reader);
    char message[512];
    (void)snprintf(message, sizeof(message), "event log %s can't be read: %s", s->log_name,
                   strerror(error));
    daemon_log_printf(&s->d->log, INF_LOG_WARN, "local API: %s", message);
    if (s->started)
        http_exchange_cut(s->x);
    else
        api_reply_fault(s->x, 500, message);
    record_stream_free(s);
}

/* Whether the record, and all that follow, are later than what is requested. */
static bool is_past(const struct record_stream *s, const struct record_line *record)
{
    int64_t until = s->request.filter.until_us;
    return until < INT64_MAX - LOG_READER_DISORDER_US &&
           record->time_us > until + LOG_READER_DISORDER_US;
}

enum taking {
    TAKEN_ALL,
    TAKEN_SOME, /* the tick is over, or the client has to read first */
    TAKEN_LAST,
};

static enum taking take_lines(struct record_stream *s)
{
    struct record_line record;
    while (log_reader_take(s->reader, &record)) {
        if (is_past(s, &record))
            return TAKEN_LAST;
        if (record_filter_may_match(&s->request.filter, &record) &&
            record_line_read(record.text, &record) &&
            record_filter_matches(&s->request.filter, &record))
            send_record(s, record.seq, record.text);
        if (s->out.len >= PIECE)
            records_write(s);
        if (clock_over_budget(&s->d->loop.clock) ||
            (s->started && http_exchange_unsent(s->x) >= HIGH))
            return TAKEN_SOME;
    }
    return TAKEN_ALL;
}

static void records_take(struct record_stream *s)
{
    switch (take_lines(s)) {
    case TAKEN_LAST: records_end(s); return;
    case TAKEN_SOME:
        if (!s->started || http_exchange_unsent(s->x) < HIGH)
            task_schedule(&s->d->loop.clock, &s->turn);
        return; /* otherwise on_drain continues */
    case TAKEN_ALL: break;
    }
    records_read(s);
}

static void records_continue(struct record_stream *s)
{
    switch (s->result) {
    case LOG_READER_LINES: records_take(s); return;
    case LOG_READER_GAP:
        send_gap(s);
        records_read(s);
        return;
    case LOG_READER_FAILED: records_fail(s); return;
    case LOG_READER_END: break;
    }
    if (!s->request.follow) {
        records_end(s);
        return;
    }
    if (s->out.len || !s->started)
        records_write(s);
    s->state = STREAM_AT_END;
    if (s->written)
        records_read(s);
}

static void records_run(struct task *task)
{
    struct record_stream *s = container_of(task, struct record_stream, turn);
    if (s->state == STREAM_LAST)
        records_end(s);
    else
        records_continue(s);
}

static void records_on_more(struct log_reader_user *user, enum log_reader_result result)
{
    struct record_stream *s = container_of(user, struct record_stream, user);
    s->state = STREAM_TAKING;
    s->result = result;
    task_schedule(&s->d->loop.clock, &s->turn);
}

static const struct log_reader_user_ops reader_ops = {records_on_more, records_is_written};

static void records_on_written(struct journal_follower *follower, const struct event_log *log)
{
    struct record_stream *s = container_of(follower, struct record_stream, follower);
    if (strcmp(log->name, s->log_name) != 0)
        return;
    s->written = true;
    if (s->state == STREAM_AT_END)
        records_read(s);
}

/* ---- the response ---- */

static void records_on_drain(struct http_exchange_user *user)
{
    struct record_stream *s = container_of(user, struct record_stream, exchange_user);
    if (s->state == STREAM_TAKING || s->state == STREAM_LAST)
        task_schedule(&s->d->loop.clock, &s->turn);
}

static void records_on_abort(struct http_exchange_user *user)
{
    record_stream_free(container_of(user, struct record_stream, exchange_user));
}

static const struct http_exchange_user_ops exchange_ops = {records_on_drain, records_on_abort};

static void record_stream_free(struct record_stream *s)
{
    s->d->web.events.count--;
    list_remove(&s->node);
    list_remove(&s->follower.node);
    task_cancel(&s->turn);
    log_reader_close(s->reader);
    record_filter_free(&s->request.filter);
    buf_free(&s->out);
    buf_free(&s->newest);
    free(s->log_name);
    free(s);
}

void record_stream_go(struct daemon *d, struct record_request *request, struct http_exchange *x)
{
    struct event_streams *streams = &d->web.events;
    struct record_stream *s = NEW(struct record_stream);
    struct log_reader_files files = {
        .disk = &d->disk.disk, .gate = &streams->gate, .log = d->journal.seq->log};
    struct sink_files found = {0};
    const struct event_log *log = find_log(d, &request->filter, &found);
    files.path = found.path;
    files.keep = found.keep;
    s->user.ops = &reader_ops;
    s->exchange_user.ops = &exchange_ops;
    s->follower.on_written = records_on_written;
    s->d = d;
    s->x = x;
    s->request = *request;
    s->log_name = xstrdup(log->name); /* record_stream_is_possible() */
    s->reader = log_reader_new(&files, &request->from, &s->user);
    task_init(&s->turn, PHASE_PUMP, records_run);
    streams->count++;
    list_push(&streams->read, &s->node);
    list_init(&s->follower.node);
    if (request->follow)
        journal_follow(&d->journal, &s->follower);
    http_exchange_set_user(x, &s->exchange_user);
    records_read(s);
}

void record_streams_close(struct event_streams *streams)
{
    list_for_each_safe(node, &streams->read)
        record_stream_free(container_of(node, struct record_stream, node));
}

void record_streams_reload(struct event_streams *streams)
{
    list_for_each_safe(node, &streams->read) {
        struct record_stream *s = container_of(node, struct record_stream, node);
        struct sink_files files;
        const struct event_log *log = find_log(s->d, &s->request.filter, &files);
        if (!s->request.follow || (log && strcmp(log->name, s->log_name) == 0))
            continue;
        if (s->started)
            http_exchange_end(s->x);
        else
            api_reply_fault(s->x, 404, "the event log was removed from the configuration");
        record_stream_free(s);
    }
}

/* ---- history ---- */

static int read_limit(const char *query, size_t *ret, struct inf_error *err)
{
    char *text = NULL, *end;
    unsigned long number;
    int rc = http_query_get(query, "limit", &text);
    if (rc <= 0)
        return rc;
    number = strtoul(text, &end, 10);
    rc = 0;
    if (*end || end == text || !number || number > LIMIT_MAX || text[0] == '-')
        rc = err_set(err, INF_EINVAL, "limit: '%s' is not a number from 1 to %d", text, LIMIT_MAX);
    free(text);
    *ret = number;
    return rc;
}

static int read_history(struct record_request *r, const char *query, int64_t now_us,
                        struct inf_error *err)
{
    static const char *const names[] = {RECORD_FILTER_NAMES, "since", "until", "limit", NULL};
    if (record_query_check(query, names, err) < 0 ||
        record_filter_read(&r->filter, query, now_us, err) < 0 ||
        read_limit(query, &r->limit, err) < 0)
        return -INF_EINVAL;
    if (!r->filter.uid && !r->filter.ns && !r->filter.name && !r->filter.resource)
        return err_set(err, INF_EINVAL,
                       "history of what? Give resource, namespace, name or uid as parameters");
    r->filter.involved = true;
    if (r->filter.since_us != INT64_MIN)
        r->from = (struct log_position){.kind = LOG_FROM_TIME, .time_us = r->filter.since_us};
    return 0;
}

void history_respond(struct daemon *d, const struct api_reader *reader,
                     const struct http_server_request *request, struct http_exchange *exchange)
{
    struct record_request r = {.follow = false};
    struct inf_error err;
    int code = 400;
    if (d->web.events.count >= EVENT_STREAMS_MAX) {
        api_reply_fault(exchange, 429, "too many streams of records are open");
        return;
    }
    if (read_history(&r, request->query, clock_wall_us(&d->loop.clock), &err) == 0)
        code = record_stream_is_possible(d, &r, &err) ? 200 : 404;
    r.filter.reader = reader;
    if (code == 200 && !request->head) {
        record_stream_go(d, &r, exchange);
        return;
    }
    record_filter_free(&r.filter);
    if (code == 200)
        http_exchange_reply(exchange, 200, "application/jsonl", "", 0);
    else
        api_reply_fault(exchange, code, err.text);
}
