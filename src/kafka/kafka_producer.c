/*
 * kafka_producer.c - the producer of librdkafka, whose threads never call us: it queues delivery reports and errors, and
 * writes to a pipe that the loop polls; kafka_producer_serve() then runs the callbacks in our thread.
 *
 * Messages in flight are a window of flags, by number. Delivery reports come in any order across partitions; the window
 * begins after the last message before which all are delivered.
 */
#include "kafka/kafka_producer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"

enum {
    ERROR_MAX = 400,
    ERRORS_LOGGED = 8, /* LIMIT: kinds of problems that are logged until a message is delivered */
    FATAL_MS = 1000,   /* for the reports of messages after a fatal error */
};

struct kafka_producer {
    rd_kafka_t *rk;
    rd_kafka_queue_t *queue;
    int pipe[2];
    size_t value_max;
    uint64_t sent, delivered;
    bool done[KAFKA_FLIGHT_MAX]; /* of the message with this number modulo the size */
    struct kafka_refused refused;
    char failure[ERROR_MAX]; /* "": none */
    bool is_fatal;           /* the failure is one of the producer, not of a message */
    rd_kafka_resp_err_t logged[ERRORS_LOGGED]; /* since a message was delivered */
    size_t n_logged;
};

void kafka_log(const char *level, const char *fmt, ...)
{
    char line[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    fprintf(stderr, "informerd-kafka: %s: %s\n", level, line);
}

/* ---- problems ---- */

static const struct {
    rd_kafka_resp_err_t code;
    const char *remedy;
} remedies[] = {
    {RD_KAFKA_RESP_ERR__AUTHENTICATION,
     "check security.protocol, sasl.mechanism, sasl.username and sasl.password in --properties-file"},
    {RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
     "check sasl.username and sasl.password in --properties-file"},
    {RD_KAFKA_RESP_ERR__SSL,
     "check ssl.ca.location, and that the certificate is for the host name in --brokers"},
    {RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
     "check that the brokers run and that --brokers is right; repeated until they answer"},
    {RD_KAFKA_RESP_ERR__RESOLVE, "check the host names in --brokers"},
    {RD_KAFKA_RESP_ERR__TRANSPORT,
     "check that the brokers run, and security.protocol; repeated until they answer"},
    {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
     "create the topic, or set auto.create.topics.enable on the brokers; repeated until it exists"},
    {RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
     "create the topic, or set auto.create.topics.enable on the brokers; repeated until it exists"},
    {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
     "grant the user WRITE and DESCRIBE on the topic"},
    {RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED,
     "grant the user IDEMPOTENT_WRITE on the cluster"},
    {RD_KAFKA_RESP_ERR_INVALID_RECORD,
     "a compacted topic needs keys, and --compact needs cleanup.policy=compact"},
};

static const char *remedy_of(rd_kafka_resp_err_t code)
{
    for (size_t i = 0; i < ARRAY_LEN(remedies); i++)
        if (remedies[i].code == code)
            return remedies[i].remedy;
    return "repeated until it works";
}

/* Whether it has to be logged: they come in turn as long as a broker is down. */
static bool note_error(struct kafka_producer *p, rd_kafka_resp_err_t error)
{
    for (size_t i = 0; i < p->n_logged; i++)
        if (p->logged[i] == error)
            return false;
    if (p->n_logged == ERRORS_LOGGED)
        return false;
    p->logged[p->n_logged++] = error;
    return true;
}

static void on_error(rd_kafka_t *rk, int code, const char *reason, void *opaque)
{
    struct kafka_producer *p = opaque;
    rd_kafka_resp_err_t error = (rd_kafka_resp_err_t)code;
    char why[ERROR_MAX / 2];
    if (error == RD_KAFKA_RESP_ERR__FATAL) {
        error = rd_kafka_fatal_error(rk, why, sizeof(why));
        p->is_fatal = true;
        if (!p->failure[0]) /* it may follow from the failure of a message */
            snprintf(p->failure, sizeof(p->failure), "%s: %s", rd_kafka_err2name(error), why);
        return;
    }
    if (!note_error(p, error))
        return;
    kafka_log("warning", "%s; %s", reason, remedy_of(error));
}

static void on_log(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
    (void)rk;
    if (level <= 3 && strcmp(facility, "FAIL") != 0 &&
        strcmp(facility, "FATAL") != 0) /* these reach on_error() */
        kafka_log("info", "librdkafka: %s: %s", facility, text);
}

/* ---- delivery reports ---- */

static void note_refused(struct kafka_producer *p, size_t len)
{
    p->refused.messages++;
    p->refused.bytes += len;
    p->refused.largest = len > p->refused.largest ? len : p->refused.largest;
}

static void fail_message(struct kafka_producer *p, const rd_kafka_message_t *message)
{
    const char *topic = message->rkt ? rd_kafka_topic_name(message->rkt) : "";
    if (message->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) {
        note_refused(p, message->len);
        snprintf(p->failure, sizeof(p->failure),
                 "topic %s: a batch is larger than max.message.bytes of the topic", topic);
    }
    if (!p->failure[0])
        snprintf(p->failure, sizeof(p->failure), "topic %s: %s; %s", topic,
                 rd_kafka_err2str(message->err), remedy_of(message->err));
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque)
{
    struct kafka_producer *p = opaque;
    uint64_t number = (uintptr_t)message->_private;
    (void)rk;
    if (message->err == RD_KAFKA_RESP_ERR__PURGE_QUEUE ||
        message->err == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT)
        return;
    if (message->err) {
        fail_message(p, message);
        return;
    }
    if (p->n_logged)
        kafka_log("info", "messages are delivered again");
    p->n_logged = 0;
    p->done[number % KAFKA_FLIGHT_MAX] = true;
    while (p->delivered < p->sent && p->done[(p->delivered + 1) % KAFKA_FLIGHT_MAX])
        p->done[++p->delivered % KAFKA_FLIGHT_MAX] = false;
}

void kafka_producer_serve(struct kafka_producer *producer)
{
    char bytes[256];
    while (read(producer->pipe[0], bytes, sizeof(bytes)) > 0)
        ;
    rd_kafka_poll(producer->rk, 0);
    if (producer->is_fatal) /* the message that failed is reported after the error */
        rd_kafka_flush(producer->rk, FATAL_MS);
}

void kafka_producer_flush(struct kafka_producer *producer, int ms)
{
    rd_kafka_flush(producer->rk, ms);
}

/* ---- sending ---- */

/* Copies the key and the value; owns @headers if it returns 0. An array instead of the macros of librdkafka, which are an
 * extension of GNU C. */
static rd_kafka_resp_err_t produce_message(rd_kafka_t *rk, const struct kafka_message *m,
                                           rd_kafka_headers_t *headers, void *opaque)
{
    const rd_kafka_vu_t fields[] = {
        {.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = m->topic},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
        {.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {(void *)(uintptr_t)m->key, strlen(m->key)}},
        {.vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = {(void *)(uintptr_t)m->value.at, m->value.len}},
        {.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers},
        {.vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = opaque},
    };
    rd_kafka_error_t *error = rd_kafka_produceva(rk, fields, ARRAY_LEN(fields));
    rd_kafka_resp_err_t code = error ? rd_kafka_error_code(error) : RD_KAFKA_RESP_ERR_NO_ERROR;
    if (error)
        rd_kafka_error_destroy(error);
    return code;
}

int kafka_producer_send(struct kafka_producer *p, const struct kafka_message *m,
                        struct inf_error *err)
{
    rd_kafka_headers_t *headers;
    rd_kafka_resp_err_t code;
    if (p->sent - p->delivered >= KAFKA_FLIGHT_MAX - 1)
        return err_set(err, INF_EPROTO,
                       "informerd has sent more records than it may without acknowledgement");
    headers = rd_kafka_headers_new(KAFKA_HEADERS);
    for (size_t i = 0; i < KAFKA_HEADERS; i++)
        if (m->headers[i].value)
            rd_kafka_header_add(headers, m->headers[i].name, -1, m->headers[i].value, -1);
    code = produce_message(p->rk, m, headers, (void *)(uintptr_t)(p->sent + 1));
    if (code) {
        rd_kafka_headers_destroy(headers);
        if (code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
            note_refused(p, m->value.len);
        return err_set(err, INF_ENET, "topic %s: %s; %s", m->topic, rd_kafka_err2str(code),
                       remedy_of(code));
    }
    p->sent++;
    return 0;
}

uint64_t kafka_producer_sent(const struct kafka_producer *producer)
{
    return producer->sent;
}

uint64_t kafka_producer_delivered(const struct kafka_producer *producer)
{
    return producer->delivered;
}

const char *kafka_producer_failure(const struct kafka_producer *producer)
{
    return producer->failure[0] ? producer->failure : NULL;
}

size_t kafka_producer_value_max(const struct kafka_producer *producer)
{
    return producer->value_max;
}

const struct kafka_refused *kafka_producer_refused(const struct kafka_producer *producer)
{
    return &producer->refused;
}

int kafka_producer_fd(const struct kafka_producer *producer)
{
    return producer->pipe[0];
}

/* ---- life ---- */

struct kafka_producer *kafka_producer_new(const struct kafka_options *options, size_t batch_max,
                                          struct inf_error *err)
{
    rd_kafka_conf_t *conf = kafka_conf_make(options, err);
    struct kafka_producer *p;
    char why[256];
    if (!conf)
        return NULL;
    p = NEW(struct kafka_producer);
    p->value_max = kafka_conf_value_max(conf);
    if (batch_max)
        kafka_conf_limit_batch(conf, batch_max);
    rd_kafka_conf_set_opaque(conf, p);
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_conf_set_error_cb(conf, on_error);
    rd_kafka_conf_set_log_cb(conf, on_log);
    p->rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof(why));
    if (!p->rk) {
        rd_kafka_conf_destroy(conf);
        free(p);
        err_set(err, INF_ECONF, "%s; check --property and --properties-file", why);
        return NULL;
    }
    if (pipe2(p->pipe, O_CLOEXEC | O_NONBLOCK) < 0) {
        err_set(err, INF_EIO, "pipe: %s", strerror(errno));
        rd_kafka_destroy(p->rk);
        free(p);
        return NULL;
    }
    p->queue = rd_kafka_queue_get_main(p->rk);
    rd_kafka_queue_io_event_enable(p->queue, p->pipe[1], "x", 1);
    rd_kafka_poll(p->rk, 0); /* only a queue that was empty writes to the pipe */
    return p;
}

void kafka_producer_free(struct kafka_producer *producer)
{
    if (!producer)
        return;
    rd_kafka_queue_io_event_enable(producer->queue, -1, NULL, 0);
    rd_kafka_queue_destroy(producer->queue);
    rd_kafka_purge(producer->rk, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_destroy(producer->rk);
    close(producer->pipe[0]);
    close(producer->pipe[1]);
    free(producer);
}
