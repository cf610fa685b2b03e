/*
 * nats_link.c - connects, checks the stream, and waits after failures.
 */
#include "daemon/nats/nats_link.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "informer/informer.h"

#include "base/alloc.h"
#include "base/backoff.h"
#include "base/base.h"
#include "base/err.h"
#include "base/sm.h"
#include "base/text/json_string.h"
#include "daemon/nats/nats_record.h"
#include "daemon/nats/nats_texts.h"
#include "seam/peer.h"
#include "wire/nats/nats_url.h"

#define CHECK_ID  UINT64_C(0) /* of the request for the description of the stream */
#define TOO_SMALL "the largest message that the server or the stream takes is too small"
#define NO_INBOX  "Permissions Violation for Subscription"

enum link_state {
    LINK_WAITING, /* without a connection; the timer starts the next one */
    LINK_CONNECTING,
    LINK_CHECKING, /* the description of the stream is requested; the timer ends that */
    LINK_UP,
    LINK_BLOCKED, /* with a connection; the timer starts the next check */
    LINK_CLOSED,
};

#define LINK_ANY (SM_TO(LINK_WAITING) | SM_TO(LINK_CLOSED))

/* clang-format off */
static const struct sm_state link_states[] = {
    [LINK_WAITING]    = {"waiting",    SM_TO(LINK_CONNECTING) | LINK_ANY},
    [LINK_CONNECTING] = {"connecting", SM_TO(LINK_CHECKING) | LINK_ANY},
    [LINK_CHECKING]   = {"checking",   SM_TO(LINK_UP) | SM_TO(LINK_BLOCKED) | LINK_ANY},
    [LINK_UP]         = {"up",         SM_TO(LINK_BLOCKED) | LINK_ANY},
    [LINK_BLOCKED]    = {"blocked",    SM_TO(LINK_CHECKING) | LINK_ANY},
    [LINK_CLOSED]     = {"closed",     0},
};
/* clang-format on */

struct nats_link {
    struct handler_host *host;
    struct clock *clock;
    struct dialer *dialer; /* of this link */
    struct nats_link_user *user;
    struct nats_user conn_user;
    struct nats_conn *conn; /* NULL: none */
    struct sm sm;
    char *name; /* of the client */
    struct conf_nats conf;
    struct nats_urls urls;
    size_t next_server;
    struct nats_texts texts;
    char *inbox;
    char *api; /* "$JS.API" */
    char *place;
    struct timer timer;
    struct backoff backoff;
    struct nats_info info;
    struct jetstream_stream stream;
    bool direct; /* how the last message is read; changed if it is not possible */
    struct deferred_free deferred_free;
};

/* ---- down ---- */

static uint64_t next_delay(struct nats_link *l)
{
    uint64_t delay = backoff_next(&l->backoff, 0);
    timer_start(l->clock, &l->timer, delay);
    return delay;
}

/* The texts of the server may repeat credentials. */
static void report_down(struct nats_link *l, bool lost, const char *why)
{
    char *text = xstrdup(why);
    uint64_t delay = next_delay(l);
    scrubber_clean_text(&l->texts.scrubber, text);
    l->user->ops->on_down(l->user, lost, text, delay);
    free(text);
}

static void disconnect(struct nats_link *l, const char *why)
{
    bool lost =
        l->sm.state == LINK_UP || l->sm.state == LINK_BLOCKED || l->sm.state == LINK_CHECKING;
    nats_conn_close(l->conn);
    l->conn = NULL;
    sm_move(&l->sm, LINK_WAITING, "%s", why);
    report_down(l, lost, why);
}

void nats_link_block(struct nats_link *link, const char *why)
{
    if (link->sm.state != LINK_UP && link->sm.state != LINK_CHECKING)
        return;
    sm_move(&link->sm, LINK_BLOCKED, "%s", why);
    report_down(link, false, why);
}

void nats_link_works(struct nats_link *link)
{
    backoff_reset(&link->backoff);
}

/* ---- the stream ---- */

static void check_stream(struct nats_link *l)
{
    char *subject = xasprintf("%s.STREAM.INFO.%s", l->api, l->conf.stream);
    sm_move(&l->sm, LINK_CHECKING, "connected");
    nats_conn_publish(l->conn, subject, CHECK_ID, (struct str){0}, (struct str){0});
    timer_start(l->clock, &l->timer, NATS_CHECK_MS);
    free(subject);
}

static void go_up(struct nats_link *l)
{
    timer_stop(l->clock, &l->timer);
    sm_move(&l->sm, LINK_UP, "the stream can be used");
    l->user->ops->on_up(l->user);
}

static bool is_too_small(const struct nats_link *l)
{
    return nats_link_max_message(l) < NATS_PAYLOAD_MIN;
}

static void on_stream(struct nats_link *l, const struct nats_message *reply)
{
    struct inf_error why;
    if (l->sm.state != LINK_CHECKING)
        return;
    if (jetstream_stream_read(reply, l->conf.stream, &l->stream, &why) < 0) {
        nats_link_block(l, why.text);
        return;
    }
    l->direct = l->stream.direct;
    if (is_too_small(l))
        nats_link_block(l, TOO_SMALL);
    else
        go_up(l);
}

/* ---- connecting ---- */

static void connect_next(struct nats_link *l)
{
    const struct nats_server *server = &l->urls.servers[l->next_server % l->urls.count];
    struct inf_error why;
    l->next_server++;
    sm_move(&l->sm, LINK_CONNECTING, "%s", server->host);
    nats_texts_free(&l->texts);
    if (nats_texts_read(&l->conf, l->urls.tls, &l->texts, &why) < 0) {
        disconnect(l, why.text);
        return;
    }
    free(l->place);
    l->place = peer_name(server->host, server->port);
    l->conn = nats_conn_open(l->clock,
                             &(struct nats_settings){.dialer = l->dialer,
                                                     .host = server->host,
                                                     .port = server->port,
                                                     .context = l->texts.context,
                                                     .tls_first = l->conf.tls_first,
                                                     .credentials = &l->texts.credentials,
                                                     .client = l->name,
                                                     .version = inf_version(),
                                                     .inbox = l->inbox,
                                                     .timeout_ms = NATS_OPEN_MS},
                             &l->conn_user);
}

/* No permission to read the description, or no answer: publishing will show. */
static void go_up_unchecked(struct nats_link *l)
{
    l->stream = (struct jetstream_stream){.direct = true, .max_message = SIZE_MAX};
    l->direct = true;
    go_up(l);
}

static void on_timer(struct timer *timer)
{
    struct nats_link *l = container_of(timer, struct nats_link, timer);
    switch ((enum link_state)l->sm.state) {
    case LINK_WAITING: connect_next(l); break;
    case LINK_BLOCKED: check_stream(l); break;
    case LINK_CHECKING: go_up_unchecked(l); break;
    case LINK_CONNECTING:
    case LINK_UP:
    case LINK_CLOSED: break;
    }
}

/* ---- what the connection calls ---- */

static struct nats_link *link_of(struct nats_user *user)
{
    return container_of(user, struct nats_link, conn_user);
}

static void on_ready(struct nats_user *user, const struct nats_info *info)
{
    struct nats_link *l = link_of(user);
    l->info = *info;
    if (l->sm.state == LINK_CONNECTING)
        check_stream(l);
    else if (l->sm.state == LINK_UP &&
             is_too_small(l)) /* the server has another configuration now */
        nats_link_block(l, TOO_SMALL);
}

static void on_reply(struct nats_user *user, uint64_t id, const struct nats_message *message)
{
    struct nats_link *l = link_of(user);
    if (id == CHECK_ID)
        on_stream(l, message);
    else
        l->user->ops->on_reply(l->user, id, message);
}

static void on_refused(struct nats_user *user, struct str text)
{
    struct nats_link *l = link_of(user);
    char *clean = xstrndup(text.at, text.len);
    scrubber_clean_text(&l->texts.scrubber, clean);
    if (strncasecmp(clean, NO_INBOX, strlen(NO_INBOX)) == 0)
        disconnect(l, clean); /* without the inbox no reply arrives */
    else if (l->sm.state == LINK_CHECKING && strstr(clean, "STREAM.INFO"))
        go_up_unchecked(l);
    else
        l->user->ops->on_refused(l->user, str_of(clean));
    free(clean);
}

static void on_drain(struct nats_user *user)
{
    struct nats_link *l = link_of(user);
    if (l->sm.state == LINK_UP)
        l->user->ops->on_drain(l->user);
}

static void on_end(struct nats_user *user, const struct inf_error *why)
{
    disconnect(link_of(user), why->text);
}

static const struct nats_user_ops conn_user_ops = {
    .on_ready = on_ready,
    .on_reply = on_reply,
    .on_refused = on_refused,
    .on_drain = on_drain,
    .on_end = on_end,
};

/* ---- for the user ---- */

bool nats_link_is_up(const struct nats_link *link)
{
    return link->sm.state == LINK_UP;
}

const char *nats_link_place(const struct nats_link *link)
{
    return link->place ? link->place : "";
}

size_t nats_link_max_message(const struct nats_link *link)
{
    size_t server = link->info.max_payload, stream = link->stream.max_message;
    return stream < server ? stream : server;
}

size_t nats_link_unsent(const struct nats_link *link)
{
    return link->conn ? nats_conn_unsent(link->conn) : 0;
}

void nats_link_publish(struct nats_link *link, const char *subject, uint64_t id, struct str headers,
                       struct str payload)
{
    nats_conn_publish(link->conn, subject, id, headers, payload);
}

void nats_link_read_last(struct nats_link *link, const char *subject, uint64_t id)
{
    struct buf request = {0}, payload = {0};
    if (link->direct) {
        buf_printf(&request, "%s.DIRECT.GET.%s.%s", link->api, link->conf.stream, subject);
    } else {
        buf_printf(&request, "%s.STREAM.MSG.GET.%s", link->api, link->conf.stream);
        buf_puts(&payload, "{\"last_by_subj\":");
        json_put_string(&payload, str_of(subject));
        buf_putc(&payload, '}');
    }
    buf_putc(&request, '\0');
    nats_conn_publish(link->conn, request.bytes, id, (struct str){0},
                      (struct str){payload.bytes, payload.len});
    buf_free(&request);
    buf_free(&payload);
}

enum jetstream_found nats_link_last(struct nats_link *link, const struct nats_message *reply,
                                    const struct nats_last *last, struct jetstream_last *ret)
{
    enum jetstream_found found = jetstream_last_read(reply, link->direct, last, ret);
    if (found == JETSTREAM_UNKNOWN)
        link->direct = !link->direct;
    return found;
}

/* ---- life ---- */

static char *random_inbox(const char *prefix)
{
    struct rng rng;
    rng_init(&rng);
    return xasprintf("%s.%016" PRIx64 "%016" PRIx64, prefix, rng_next(&rng), rng_next(&rng));
}

struct nats_link *nats_link_new(struct handler_host *host, const char *name,
                                const struct conf_nats *conf, struct nats_link_user *user)
{
    struct nats_link *l = NEW(struct nats_link);
    l->host = host;
    l->clock = host->clock;
    l->dialer = host->open_dialer(host);
    l->user = user;
    l->conn_user.ops = &conn_user_ops;
    l->name = xasprintf("informerd %s", name);
    nats_conf_copy(conf, &l->conf);
    nats_urls_parse(conf->url, &l->urls, NULL); /* was checked */
    l->inbox = random_inbox(conf->inbox ? conf->inbox : "_INBOX");
    l->api = conf->domain ? xasprintf("$JS.%s.API", conf->domain) : xstrdup("$JS.API");
    l->timer.fire = on_timer;
    backoff_init(&l->backoff, NATS_DELAY_MIN_MS, NATS_DELAY_MAX_MS, !host->rng);
    sm_init(&l->sm, link_states, LINK_WAITING, l->name, NULL);
    timer_start(l->clock, &l->timer, 0);
    return l;
}

static void free_link(struct deferred_free *deferred_free)
{
    struct nats_link *l = container_of(deferred_free, struct nats_link, deferred_free);
    l->host->close_dialer(l->dialer);
    nats_texts_free(&l->texts);
    nats_conf_free(&l->conf);
    nats_urls_free(&l->urls);
    free(l->name);
    free(l->inbox);
    free(l->api);
    free(l->place);
    free(l);
}

void nats_link_free(struct nats_link *link)
{
    if (!link)
        return;
    timer_stop(link->clock, &link->timer);
    nats_conn_close(link->conn);
    link->conn = NULL;
    sm_move(&link->sm, LINK_CLOSED, "by its user");
    clock_free_later(link->clock, &link->deferred_free, free_link);
}
