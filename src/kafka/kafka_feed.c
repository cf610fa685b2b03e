/*
 * kafka_feed.c - reads lines of a response without end, and sends acknowledgements one at a time.
 *
 * A refusal of informerd (an unknown handler, another client, no permission) and the end of a connection are errors: the
 * caller connects again later.
 */
#include "kafka/kafka_feed.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "ctl/client.h"
#include "ctl/ctl_json.h"

struct kafka_feed {
    const char *socket, *handler; /* borrowed; `socket` NULL: the default */
    struct client *stream, *ack;
    struct client_reply records, reply;
    struct buf path; /* "name=kafka&id=1f..." */
    uint64_t wanted; /* to be acknowledged */
    uint64_t asked;  /* by the last request */
    uint64_t acknowledged;
    bool asking; /* the response is not complete */
};

static void put_path(struct buf *out, const char *handler)
{
    uint64_t id[2] = {0};
    if (getrandom(id, sizeof(id), 0) < 0)
        id[0] = (uint64_t)getpid(); /* UNTESTED: getrandom() of 16 bytes does not fail */
    buf_puts(out, "name=");
    client_put_escaped(out, handler);
    buf_printf(out, "&id=%016" PRIx64 "%016" PRIx64 "%c", id[0], id[1], '\0');
}

int kafka_feed_open(const char *socket, const char *handler, struct kafka_feed **ret,
                    struct inf_error *err)
{
    struct kafka_feed *f = NEW(struct kafka_feed);
    char *target;
    int rc;
    f->socket = socket;
    f->handler = handler;
    put_path(&f->path, handler);
    target = xasprintf("/informerd/v1/handlers/stream?%s", f->path.bytes);
    rc = client_open(socket, &f->stream, err);
    if (rc == 0)
        rc = client_open(socket, &f->ack, err);
    if (rc == 0)
        rc = client_send(f->stream, target, "application/jsonl", err);
    free(target);
    if (rc == 0)
        *ret = f;
    else
        kafka_feed_close(f);
    return rc;
}

void kafka_feed_close(struct kafka_feed *feed)
{
    if (!feed)
        return;
    client_close(feed->stream);
    client_close(feed->ack);
    buf_free(&feed->records.body);
    buf_free(&feed->reply.body);
    buf_free(&feed->path);
    free(feed);
}

int kafka_feed_stream_fd(const struct kafka_feed *feed)
{
    return client_fd(feed->stream);
}

int kafka_feed_ack_fd(const struct kafka_feed *feed)
{
    return client_fd(feed->ack);
}

uint64_t kafka_feed_acknowledged(const struct kafka_feed *feed)
{
    return feed->acknowledged;
}

/* ---- records ---- */

static int pass_records(struct kafka_feed *f, struct kafka_feed_user *user, struct inf_error *err)
{
    struct buf *body = &f->records.body;
    size_t used = 0;
    int rc = 0;
    const char *newline;
    while (rc == 0 && body->len > used &&
           (newline = memchr(body->bytes + used, '\n', body->len - used))) {
        const char *line = body->bytes + used;
        used = (size_t)(newline - body->bytes) + 1;
        rc = user->on_record(user, (struct str){line, (size_t)(newline - line)}, err);
    }
    buf_consume(body, used);
    return rc;
}

static int read_records(struct kafka_feed *f, struct kafka_feed_user *user, struct inf_error *err)
{
    int rc = client_read(f->stream, &f->records, err);
    if (rc == 0 && f->records.status != 200) {
        (void)ctl_json_error(f->records.status,
                             (struct str){f->records.body.bytes, f->records.body.len}, err);
        return err_wrap(err, "handler '%s'", f->handler);
    }
    if (rc == 0)
        return err_set(err, INF_ENET, "informerd has ended the stream");
    if (f->records.status == 200 && pass_records(f, user, err) < 0)
        return -err->code;
    return rc == CLIENT_MORE ? 0 : rc;
}

/* ---- acknowledgements ---- */

static int send_ack(struct kafka_feed *f, struct inf_error *err)
{
    char *target;
    int rc;
    if (f->asking || f->wanted == f->acknowledged)
        return 0;
    f->asked = f->wanted;
    f->asking = true;
    target = xasprintf("/informerd/v1/handlers/ack?%s&lines=%" PRIu64, f->path.bytes, f->asked);
    rc = client_send(f->ack, target, NULL, err);
    free(target);
    return rc;
}

/* informerd closes a connection that was idle for a minute. */
static int reopen_ack(struct kafka_feed *f, struct inf_error *err)
{
    struct pollfd readable = {client_fd(f->ack), POLLIN, 0};
    if (readable.fd >= 0 && poll(&readable, 1, 0) <= 0)
        return 0;
    client_close(f->ack);
    f->ack = NULL;
    return client_open(f->socket, &f->ack, err);
}

static int read_reply(struct kafka_feed *f, struct inf_error *err)
{
    int rc;
    if (!f->asking)
        return reopen_ack(f, err);
    rc = client_read(f->ack, &f->reply, err);
    if (rc)
        return rc == CLIENT_MORE ? 0 : rc;
    if (f->reply.status != 200)
        return ctl_json_error(f->reply.status, (struct str){f->reply.body.bytes, f->reply.body.len},
                              err);
    buf_free(&f->reply.body);
    f->reply = (struct client_reply){0};
    f->asking = false;
    f->acknowledged = f->asked;
    return send_ack(f, err);
}

int kafka_feed_read(struct kafka_feed *feed, struct kafka_feed_user *user, struct inf_error *err)
{
    int rc = read_reply(feed, err);
    return rc == 0 ? read_records(feed, user, err) : rc;
}

int kafka_feed_acknowledge(struct kafka_feed *feed, uint64_t records, struct inf_error *err)
{
    feed->wanted = records;
    return send_ack(feed, err);
}
