/*
 * kafka_sink.c - the loop: polls the connections of informerd, the producer and signals.
 */
#include "kafka/kafka_sink.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/backoff.h"
#include "base/base.h"
#include "base/err.h"
#include "base/sm.h"
#include "kafka/kafka_feed.h"
#include "kafka/kafka_message.h"
#include "kafka/kafka_producer.h"

enum {
    BACKOFF_MIN_MS = 250,
    BACKOFF_MAX_MS = 30 * 1000,
    DRAIN_MS = 10 * 1000,  /* for deliveries after TERM */
    STATUS_MS = 60 * 1000, /* between two status lines */
    SHORTENED_LOGGED = 10, /* LIMIT: lines about shortened records */
};

enum sink_state {
    SINK_WAITING,
    SINK_RUNNING,
    SINK_DRAINING,
    SINK_ENDED,
};

/* clang-format off */
static const struct sm_state sink_states[] = {
    [SINK_WAITING]  = {"waiting",  SM_TO(SINK_RUNNING) | SM_TO(SINK_ENDED)},
    [SINK_RUNNING]  = {"running",  SM_TO(SINK_WAITING) | SM_TO(SINK_DRAINING) | SM_TO(SINK_ENDED)},
    [SINK_DRAINING] = {"draining", SM_TO(SINK_ENDED)},
    [SINK_ENDED]    = {"ended",    0},
};
/* clang-format on */

struct sink {
    struct kafka_feed_user feed_user;
    const struct kafka_options *options;
    struct kafka_message_options message;
    struct sm sm;
    int signals;
    struct kafka_feed *feed;         /* NULL: waiting */
    struct kafka_producer *producer; /* likewise */
    struct backoff backoff;
    int64_t due_ms;              /* end of waiting or draining */
    int64_t status_ms;           /* next status line */
    size_t batch_max, value_max; /* after a broker has refused a batch; 0: those of the producer */
    uint64_t session_delivered;  /* by this producer */
    uint64_t delivered, reported, shortened, failures; /* in total */
    int exit_code;
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* ---- sessions ---- */

static void close_session(struct sink *s)
{
    kafka_feed_close(s->feed);
    kafka_producer_free(s->producer);
    s->feed = NULL;
    s->producer = NULL;
}

static void end_sink(struct sink *s, int exit_code)
{
    close_session(s);
    s->exit_code = exit_code;
    sm_move(&s->sm, SINK_ENDED, "exit code %d", exit_code);
}

/* After a broker has refused a batch, smaller ones are tried, until each has one message; then smaller values. Returns what is
 * tried. */
static const char *learn_size(struct sink *s)
{
    struct kafka_refused refused = {0};
    if (s->producer)
        refused = *kafka_producer_refused(s->producer);
    if (!refused.messages)
        return "";
    if (refused.messages > 1 && (!s->batch_max || s->batch_max > refused.largest)) {
        size_t tried = s->batch_max && s->batch_max < refused.bytes ? s->batch_max : refused.bytes;
        s->batch_max = tried / 2;
        return "; sent again, in smaller batches";
    }
    if (s->value_max == KAFKA_VALUE_MIN)
        return ""; /* nothing smaller can be tried */
    s->value_max = refused.largest / 2 > KAFKA_VALUE_MIN ? refused.largest / 2 : KAFKA_VALUE_MIN;
    return "; sent again, shortened";
}

static void fail_session(struct sink *s, const char *why)
{
    const char *next = learn_size(s);
    uint64_t wait_ms = *next ? 0 : backoff_next(&s->backoff, 0); /* sizes halve: that ends soon */
    s->failures++;
    close_session(s);
    if (s->sm.state == SINK_DRAINING) {
        kafka_log("warning", "%s; the rest is sent after the next start", why);
        end_sink(s, 0);
        return;
    }
    if (*next)
        kafka_log("warning", "%s%s", why, next);
    else
        kafka_log("warning", "%s; next attempt in %.1f s", why, (double)wait_ms / 1000);
    s->due_ms = now_ms() + (int64_t)wait_ms;
    if (s->sm.state != SINK_WAITING)
        sm_move(&s->sm, SINK_WAITING, "%s", why);
}

static void open_session(struct sink *s)
{
    struct inf_error err;
    if (kafka_feed_open(s->options->socket, s->options->handler, &s->feed, &err) < 0) {
        fail_session(s, err.text);
        return;
    }
    s->session_delivered = 0;
    s->producer = kafka_producer_new(s->options, s->batch_max, &err);
    if (!s->producer) {
        kafka_log("error", "%s", err.text);
        end_sink(s, EX_CONFIG);
        return;
    }
    sm_move(&s->sm, SINK_RUNNING, "connected");
}

/* ---- records ---- */

static size_t value_max_of(const struct sink *s)
{
    size_t max = kafka_producer_value_max(s->producer);
    return s->value_max && s->value_max < max ? s->value_max : max;
}

static int on_record(struct kafka_feed_user *user, struct str line, struct inf_error *err)
{
    struct sink *s = container_of(user, struct sink, feed_user);
    struct kafka_message message;
    int rc;
    if (s->sm.state == SINK_DRAINING)
        return 0; /* not acknowledged: it is sent to the next session */
    rc = kafka_message_make(&s->message, line, value_max_of(s), &message, err);
    if (rc < 0)
        return rc;
    if (message.shortened.len && s->shortened++ < SHORTENED_LOGGED)
        kafka_log(
            "warning",
            "topic %s, key %s: a record of %zu bytes is too large for a message and sent without its object",
            message.topic, message.key, line.len);
    rc = kafka_producer_send(s->producer, &message, err);
    kafka_message_free(&message);
    return rc;
}

/* Serves the producer, and acknowledges what was delivered. Returns false if the session has ended. */
static bool serve_producer(struct sink *s)
{
    uint64_t after;
    struct inf_error err;
    kafka_producer_serve(s->producer);
    after = kafka_producer_delivered(s->producer);
    if (after > s->session_delivered)
        backoff_reset(&s->backoff);
    s->delivered += after - s->session_delivered;
    s->session_delivered = after;
    if (kafka_feed_acknowledge(s->feed, after, &err) < 0) {
        fail_session(s, err.text);
        return false;
    }
    if (kafka_producer_failure(s->producer)) {
        char why[512];
        snprintf(why, sizeof(why), "%s", kafka_producer_failure(s->producer));
        fail_session(s, why);
        return false;
    }
    return true;
}

static void serve_feed(struct sink *s)
{
    struct inf_error err;
    int rc = kafka_feed_read(s->feed, &s->feed_user, &err);
    if (rc == -INF_ECONF) {
        kafka_log("error", "%s", err.text);
        end_sink(s, EX_CONFIG);
    } else if (rc < 0) {
        fail_session(s, err.text);
    }
}

/* ---- time and signals ---- */

static void log_status(struct sink *s)
{
    uint64_t in_flight =
        s->producer ? kafka_producer_sent(s->producer) - kafka_producer_delivered(s->producer) : 0;
    if (s->delivered != s->reported || in_flight)
        kafka_log("info",
                  "%" PRIu64 " records delivered, %" PRIu64 " in the last minute; %" PRIu64
                  " in flight, %" PRIu64 " shortened, %" PRIu64 " reconnections",
                  s->delivered, s->delivered - s->reported, in_flight, s->shortened, s->failures);
    s->reported = s->delivered;
    s->status_ms = now_ms() + STATUS_MS;
}

static bool is_drained(const struct sink *s)
{
    return kafka_feed_acknowledged(s->feed) == kafka_producer_sent(s->producer);
}

static void on_signal(struct sink *s)
{
    struct signalfd_siginfo info;
    if (read(s->signals, &info, sizeof(info)) != sizeof(info) || s->sm.state == SINK_DRAINING)
        return;
    if (s->sm.state == SINK_WAITING) {
        end_sink(s, 0);
        return;
    }
    sm_move(&s->sm, SINK_DRAINING, "signal %u", info.ssi_signo);
    s->due_ms = now_ms() + DRAIN_MS;
    kafka_producer_flush(s->producer, DRAIN_MS);
    (void)serve_producer(s);
}

static void check_time(struct sink *s)
{
    int64_t now = now_ms();
    if (now >= s->status_ms)
        log_status(s);
    switch ((enum sink_state)s->sm.state) {
    case SINK_WAITING:
        if (now >= s->due_ms)
            open_session(s);
        break;
    case SINK_DRAINING:
        if (now >= s->due_ms)
            kafka_log(
                "warning",
                "stopped before all messages were delivered; the rest is sent after the next start");
        if (now >= s->due_ms || is_drained(s))
            end_sink(s, 0);
        break;
    case SINK_RUNNING:
    case SINK_ENDED: break;
    }
}

/* ---- the loop ---- */

static int timeout_of(const struct sink *s)
{
    int64_t until =
        s->sm.state == SINK_RUNNING || s->status_ms < s->due_ms ? s->status_ms : s->due_ms;
    int64_t ms = until - now_ms();
    return ms > 0 ? (int)ms + 1 : 0;
}

static void turn(struct sink *s)
{
    struct pollfd polled[] = {
        {s->signals, POLLIN, 0},
        {s->producer ? kafka_producer_fd(s->producer) : -1, POLLIN, 0},
        {s->feed ? kafka_feed_ack_fd(s->feed) : -1, POLLIN, 0},
        {s->feed ? kafka_feed_stream_fd(s->feed) : -1, POLLIN, 0},
    };
    (void)poll(polled, ARRAY_LEN(polled), timeout_of(s));
    if (polled[0].revents)
        on_signal(s);
    if (s->feed && polled[1].revents && !serve_producer(s))
        return;
    if (s->feed && (polled[2].revents || polled[3].revents))
        serve_feed(s);
    check_time(s);
}

int kafka_sink_run(const struct kafka_options *options)
{
    struct sink s = {
        .feed_user = {on_record},
        .options = options,
        .message = {.topic = options->topic,
                    .compact = options->compact,
                    .key_is_name =
                        options->key ? strcmp(options->key, "name") == 0 : options->compact},
        .status_ms = now_ms() + STATUS_MS,
    };
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL); /* also in the threads of librdkafka, which inherit it */
    s.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    sm_init(&s.sm, sink_states, SINK_WAITING, "sink", NULL);
    backoff_init(&s.backoff, BACKOFF_MIN_MS, BACKOFF_MAX_MS, false);
    while (s.sm.state != SINK_ENDED)
        turn(&s);
    close(s.signals);
    return s.exit_code;
}
