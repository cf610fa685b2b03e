/*
 * handler_nats.c - sinks that publish records into a stream of NATS JetStream: the kind `nats` of handlers, with the
 * options of `sinks`.
 *
 *     record ──> nats_record: subject, headers ──> nats_position: newer than the last message? ──> nats_link ──> server
 *
 *     start ──> published ──────── stored ────────> done
 *                 ^    │ conflict
 *                 │    v
 *                 │  [paused] ──> reading the last message ── not newer ──> done
 *                 └───────────────────┘ newer
 *
 * Each record in flight is a run, so the rules of handler_delivery.c hold: one record of an object at a time, in order, and
 * up to NATS_FLIGHT at all. A message is stored only if the last message of its subject is the one that it was compared
 * with: see nats_position.h. So a repetition, after a lost acknowledgement, a restart, or by another informerd that
 * publishes the same changes, stores nothing twice, however late it is.
 *
 * Failures: whatever concerns all records (no connection, no stream, a stream that is full, no answer) takes the link down;
 * the records return to the queue, and are published when the link is up again, at first one at a time. A publication that
 * is not permitted is repeated with the delays of `retry`. Only a record that can never be stored is parked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "daemon/handler/handler_kind.h"
#include "daemon/nats/nats_link.h"
#include "daemon/nats/nats_record.h"
#include "daemon/nats/nats_texts.h"

enum {
    NATS_FLIGHT = 4096,                   /* records; a power of two */
    NATS_FLIGHT_BYTES = 16 * 1024 * 1024, /* from this size on no further records are taken */
    NATS_UNSENT_MAX = 1024 * 1024,        /* likewise */
    NATS_CONFLICTS_MAX = 16,              /* before the record is repeated later */
    NATS_PAUSE_MS = 5,                    /* after the second conflict; doubled each time */
};

enum nats_step {
    STEP_ENDING, /* the outcome is known */
    STEP_PUBLISHED,
    STEP_PAUSED,
    STEP_READING,
};

struct nats_run {
    struct handler_run run;
    struct nats_part *part;
    struct nats_record record;
    enum nats_step step;
    struct timer timer; /* of the step */
    uint64_t id;        /* of the request; its lowest bits are the place in `flight` */
    uint64_t expected;  /* the last message of the subject */
    bool repeated;      /* the id of the message was used before */
    unsigned conflicts;
    size_t bytes;
    enum handler_outcome outcome; /* of STEP_ENDING */
    char *why;
};

/* The part of a handler. */
struct nats_part {
    struct nats_link_user user;
    struct handler *handler;
    struct conf_nats conf; /* a copy */
    struct nats_link *link;
    struct nats_last last;
    struct nats_run *flight[NATS_FLIGHT];
    uint16_t free_places[NATS_FLIGHT];
    size_t n_free;
    uint64_t requests; /* made so far */
    size_t window;     /* runs at a time; grows while messages are stored */
    size_t bytes;      /* of the runs */
    char down[sizeof(((struct handler *)0)->last_error)]; /* why the link is down */
};

/* ---- the end of a run ---- */

static void release_run(struct nats_run *r)
{
    struct nats_part *p = r->part;
    uint16_t place = (uint16_t)(r->id % NATS_FLIGHT);
    timer_stop(p->handler->host->clock, &r->timer);
    p->flight[place] = NULL;
    p->free_places[p->n_free++] = place;
    p->bytes -= r->bytes;
    nats_record_free(&r->record);
    free(r->why);
}

static void show_down(struct nats_part *p)
{
    snprintf(p->handler->last_error, sizeof(p->handler->last_error), "%s", p->down);
}

/* The handler may be freed with its last run. */
static void end_run(struct nats_run *r, enum handler_outcome outcome, const char *why)
{
    struct nats_part *p = r->part;
    bool stays = !p->handler->stopped;
    char *text = why ? xstrdup(why) : NULL;
    release_run(r);
    handler_run_end(&r->run, outcome, text);
    free(text);
    if (stays && !nats_link_is_up(p->link))
        show_down(p);
}

static void end_all(struct nats_part *p, const char *why)
{
    struct handler *h = p->handler;
    for (size_t n = h->n_runs; n; n--)
        end_run(container_of(h->runs.next, struct nats_run, run.node), HANDLER_AGAIN, why);
}

/* Ends it in the next tick: start() must return first. */
static void end_later(struct nats_run *r, enum handler_outcome outcome, const char *why)
{
    r->step = STEP_ENDING;
    r->outcome = outcome;
    r->why = xstrdup_or_null(why);
    timer_start(r->part->handler->host->clock, &r->timer, 0);
}

/* All records are concerned. */
static void end_blocked(struct nats_run *r, const char *why)
{
    char *text = xstrdup(why);
    nats_link_block(r->part->link, text);
    end_run(r, HANDLER_AGAIN, text);
    free(text);
}

/* ---- publishing ---- */

/* A new id: a late reply to an earlier request is ignored. */
static void new_request(struct nats_run *r, enum nats_step step)
{
    struct nats_part *p = r->part;
    r->step = step;
    r->id = ++p->requests * NATS_FLIGHT + r->id % NATS_FLIGHT;
    timer_start(p->handler->host->clock, &r->timer, p->handler->settings.timeout_ms);
}

static void publish(struct nats_run *r, uint64_t expected)
{
    struct buf headers = {0};
    r->expected = expected;
    new_request(r, STEP_PUBLISHED);
    nats_record_put_headers(&r->record, r->part->conf.stream, expected, r->repeated, &headers);
    nats_link_publish(r->part->link, r->record.subject, r->id,
                      (struct str){headers.bytes, headers.len}, r->record.payload);
    buf_free(&headers);
}

/* Publishes the record unless the last message of its subject, as far as it is known, is as new. */
static void publish_if_newer(struct nats_run *r)
{
    const struct nats_last_entry *entry = nats_last_find(&r->part->last, r->record.subject_hash);
    if (entry && entry->position.resource != r->record.position.resource)
        end_later(r, HANDLER_REFUSED,
                  "another resource has the same subject; add {group} to nats.subject");
    else if (entry && !nats_position_is_newer(&r->record.position, &entry->position))
        end_later(r, HANDLER_DONE, NULL);
    else
        publish(r, entry ? entry->seq : 0);
}

static void read_last(struct nats_run *r)
{
    new_request(r, STEP_READING);
    nats_link_read_last(r->part->link, r->record.subject, r->id);
}

static void read_last_later(struct nats_run *r)
{
    unsigned n = r->conflicts < 9 ? r->conflicts : 9;
    r->step = STEP_PAUSED;
    timer_start(r->part->handler->host->clock, &r->timer, (uint64_t)NATS_PAUSE_MS << n);
}

/* ---- replies ---- */

static void on_stored(struct nats_run *r, uint64_t seq)
{
    struct nats_part *p = r->part;
    nats_last_put(&p->last, r->record.subject_hash, seq, &r->record.position);
    nats_link_works(p->link);
    p->window = p->window < NATS_FLIGHT / 2 ? 2 * p->window : NATS_FLIGHT;
    end_run(r, HANDLER_DONE, NULL);
}

/* Another message is the last one, or the same change is being stored. */
static void on_conflict(struct nats_run *r)
{
    nats_last_forget(&r->part->last, r->record.subject_hash);
    if (++r->conflicts > NATS_CONFLICTS_MAX)
        end_run(r, HANDLER_RETRY, "the last message of the subject changes all the time");
    else if (r->conflicts == 1)
        read_last(r);
    else
        read_last_later(r);
}

static void on_unavailable(struct nats_run *r, const char *why)
{
    char *text =
        xasprintf("stream %s, subject %.200s: %s", r->part->conf.stream, r->record.subject, why);
    end_blocked(r, text);
    free(text);
}

static void on_ack(struct nats_run *r, const struct nats_message *reply)
{
    struct jetstream_ack ack;
    jetstream_ack_read(reply, &ack);
    switch (ack.outcome) {
    case JETSTREAM_STORED:
        if (ack.duplicate && ack.seq <= r->expected) { /* an older message has its id */
            r->repeated = true;
            publish(r, r->expected);
        } else {
            on_stored(r, ack.seq);
        }
        break;
    case JETSTREAM_CONFLICT: on_conflict(r); break;
    case JETSTREAM_TOO_BIG: end_run(r, HANDLER_REFUSED, ack.why); break;
    case JETSTREAM_UNAVAILABLE: on_unavailable(r, ack.why); break;
    }
}

static void on_last(struct nats_run *r, const struct nats_message *reply)
{
    struct jetstream_last last;
    struct nats_part *p = r->part;
    switch (nats_link_last(p->link, reply, &p->last, &last)) {
    case JETSTREAM_FOUND:
        if (last.is_ours)
            nats_last_put(&p->last, r->record.subject_hash, last.seq, &last.position);
        if (last.is_ours)
            publish_if_newer(r);
        else
            publish(r, last.seq);
        break;
    case JETSTREAM_NONE: publish(r, 0); break;
    case JETSTREAM_UNKNOWN:
        r->conflicts++;
        if (r->conflicts > NATS_CONFLICTS_MAX)
            on_unavailable(r, "the last message can't be read");
        else
            read_last_later(r);
        break;
    }
}

/* ---- what the link calls ---- */

static struct nats_part *part_of_user(struct nats_link_user *user)
{
    return container_of(user, struct nats_part, user);
}

static void schedule_pump(struct nats_part *p)
{
    if (!p->handler->stopped)
        task_schedule(p->handler->host->clock, &p->handler->pump);
}

static void on_reply(struct nats_link_user *user, uint64_t id, const struct nats_message *reply)
{
    struct nats_run *r = part_of_user(user)->flight[id % NATS_FLIGHT];
    if (!r || r->id != id)
        return;
    if (r->step == STEP_PUBLISHED)
        on_ack(r, reply);
    else if (r->step == STEP_READING)
        on_last(r, reply);
}

/* Records that wait are made to fit when they are published; later ones are written so that they fit. */
static void limit_lines(struct nats_part *p)
{
    size_t others = NATS_SUBJECT_MAX + NATS_HEADERS_ROOM;
    size_t max = nats_link_max_message(p->link);
    size_t room = max > others + RECORD_LINE_MIN ? max - others : RECORD_LINE_MIN;
    if (p->handler->settings.record.max_line > room)
        p->handler->settings.record.max_line = room;
}

static void on_up(struct nats_link_user *user)
{
    struct nats_part *p = part_of_user(user);
    p->handler->last_error[0] = p->down[0] = '\0';
    p->window = 1;
    limit_lines(p);
    handler_log(p->handler, INF_LOG_INFO, "connected to %s, stream %s; %zu records wait",
                nats_link_place(p->link), p->conf.stream, handler_queue_length(&p->handler->queue));
    schedule_pump(p);
}

static void on_down(struct nats_link_user *user, bool lost, const char *why, uint64_t delay_ms)
{
    struct nats_part *p = part_of_user(user);
    handler_log(p->handler, INF_LOG_WARN, "%s; next attempt in %.1f s", why,
                (double)delay_ms / 1000);
    snprintf(p->down, sizeof(p->down), "%s", why);
    show_down(p);
    p->window = 1;
    if (lost)
        end_all(p, why);
}

/* Whether @text names the subject of the run, at its end: in quotes, or in that of a request to read its last message, after
 * a period. */
static bool is_named(const struct nats_run *r, const char *text)
{
    char *quoted = r->record.subject ? xasprintf("%s\"", r->record.subject) : NULL;
    const char *at = quoted ? strstr(text, quoted) : NULL;
    bool found = at && at > text && (at[-1] == '"' || at[-1] == '.');
    free(quoted);
    return found;
}

/* The server does not say which message it was; it repeats the subject. */
static void on_refused(struct nats_link_user *user, struct str text)
{
    struct nats_part *p = part_of_user(user);
    list_for_each(node, &p->handler->runs) {
        struct nats_run *r = container_of(node, struct nats_run, run.node);
        if (!is_named(r, text.at))
            continue;
        end_run(r, HANDLER_RETRY, text.at);
        return;
    }
    handler_log(p->handler, INF_LOG_WARN, "%s", text.at);
}

static void on_drain(struct nats_link_user *user)
{
    schedule_pump(part_of_user(user));
}

static const struct nats_link_user_ops link_user_ops = {
    .on_up = on_up,
    .on_down = on_down,
    .on_reply = on_reply,
    .on_refused = on_refused,
    .on_drain = on_drain,
};

/* ---- runs ---- */

static void on_timer(struct timer *timer)
{
    struct nats_run *r = container_of(timer, struct nats_run, timer);
    char *why;
    switch (r->step) {
    case STEP_ENDING:
        why = r->why;
        r->why = NULL;
        end_run(r, r->outcome, why);
        free(why);
        break;
    case STEP_PAUSED: read_last(r); break;
    case STEP_PUBLISHED:
    case STEP_READING:
        nats_last_forget(&r->part->last, r->record.subject_hash);
        why = xasprintf("no answer within %.1f s",
                        (double)r->part->handler->settings.timeout_ms / 1000);
        on_unavailable(r, why);
        free(why);
        break;
    }
}

static bool nats_is_ready(struct handler *handler)
{
    const struct nats_part *p = handler->part;
    return nats_link_is_up(p->link) && handler->n_runs < p->window && p->n_free &&
           p->bytes < NATS_FLIGHT_BYTES && nats_link_unsent(p->link) < NATS_UNSENT_MAX;
}

static struct handler_run *nats_start(struct handler *handler,
                                      struct handler_record *const *records, size_t n)
{
    struct nats_part *p = handler->part;
    struct nats_run *r = NEW(struct nats_run);
    struct str line = handler_record_line(records[0]);
    struct inf_error why;
    (void)n; /* 1: run_records */
    r->part = p;
    r->id = p->free_places[--p->n_free];
    p->flight[r->id] = r;
    r->bytes = line.len;
    p->bytes += r->bytes;
    r->timer.fire = on_timer;
    if (nats_record_make(p->conf.subject, line, nats_link_max_message(p->link), &p->last,
                         &r->record, &why) < 0)
        end_later(r, HANDLER_REFUSED, why.text);
    else
        publish_if_newer(r);
    return &r->run;
}

static void nats_cancel(struct handler_run *run)
{
    struct nats_run *r = container_of(run, struct nats_run, run);
    release_run(r);
    free(r);
}

/* ---- the settings ---- */

static const char *nats_mode(const struct handler *handler)
{
    const struct nats_part *p = handler->part;
    return p->conf.stream;
}

static bool nats_is_set(const struct conf_handler *conf)
{
    return conf->nats.url;
}

static int nats_check(const struct conf_handler *conf, struct inf_error *err)
{
    return nats_conf_check(&conf->nats, err);
}

static char *nats_advise(const struct conf_handler *conf)
{
    struct nats_texts texts;
    struct inf_error err;
    if (nats_texts_read(&conf->nats, conf->nats.ca_file || conf->nats.cert_file, &texts, &err) < 0)
        return xstrdup(err.text);
    nats_texts_free(&texts);
    return NULL;
}

static struct nats_part *make_part(struct handler *handler)
{
    struct nats_part *p = NEW(struct nats_part);
    p->user.ops = &link_user_ops;
    p->handler = handler;
    p->window = 1;
    nats_last_init(&p->last, &handler->host->hash_key);
    while (p->n_free < NATS_FLIGHT) {
        p->free_places[p->n_free] = (uint16_t)(NATS_FLIGHT - 1 - p->n_free);
        p->n_free++;
    }
    return p;
}

static void open_link(struct nats_part *p, const struct conf_nats *conf)
{
    nats_link_free(p->link);
    nats_conf_free(&p->conf);
    nats_conf_copy(conf, &p->conf);
    nats_last_clear(&p->last);
    p->link = nats_link_new(p->handler->host, p->handler->name, conf, &p->user);
    snprintf(p->down, sizeof(p->down), "not connected yet");
    show_down(p);
}

static void nats_configure(struct handler *handler, const struct conf_handler *conf)
{
    struct nats_part *p = handler->part;
    if (!p) {
        handler->part = p = make_part(handler);
        open_link(p, &conf->nats);
    } else if (!nats_conf_equal(&p->conf, &conf->nats)) {
        open_link(p, &conf->nats);
        end_all(p, "the configuration was changed");
    } else if (nats_link_is_up(p->link)) {
        limit_lines(p);
    }
}

static void nats_close(struct handler *handler)
{
    struct nats_part *p = handler->part;
    nats_link_free(p->link);
    nats_conf_free(&p->conf);
    nats_last_free(&p->last);
    free(p);
    handler->part = NULL;
}

const struct handler_kind handler_nats = {
    .name = "nats",
    .is_sink = true,
    .removes_duplicates = true,
    .runs = NATS_FLIGHT,
    .run_records = 1,
    .mode = nats_mode,
    .is_set = nats_is_set,
    .check = nats_check,
    .advise = nats_advise,
    .configure = nats_configure,
    .close = nats_close,
    .is_ready = nats_is_ready,
    .start = nats_start,
    .cancel = nats_cancel,
};
