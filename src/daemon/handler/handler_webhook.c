/*
 * handler_webhook.c - sends records to a URL: a POST for each record, or for several of them.
 *
 * Normal path: webhook_start() writes the body by the preset and sends it over a connection that is kept
 * (webhook_endpoint.h); the response decides (webhook_response.h). A request without a complete response,
 * because of the network, TLS, a proxy or the timeout, is repeated until it works; so is one that can't be
 * sent because a configured file can't be used.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/siphash.h"
#include "daemon/handler/handler_kind.h"
#include "daemon/handler/webhook_endpoint.h"
#include "daemon/handler/webhook_files.h"
#include "daemon/handler/webhook_preset.h"
#include "daemon/handler/webhook_response.h"

/* The part of a handler. */
struct webhook_part {
    struct conf_webhook conf; /* copies */
    const struct webhook_preset *preset;
    struct webhook_texts texts;        /* of the endpoint */
    struct webhook_endpoint *endpoint; /* NULL: not made yet, or not possible */
    bool outdated;                     /* the endpoint must be made again */
    bool warned;                       /* that files can't be used, since they could last */
    uint64_t checked_ms;               /* when the files were read last */
    struct inf_error why;              /* of the last attempt, if there is no endpoint */
};

struct webhook_run {
    struct handler_run run;
    struct http_user user;
    struct webhook_endpoint *endpoint;
    const struct webhook_preset *preset;
    struct http_call *call; /* NULL: not sent */
    struct timer timer;     /* the timeout; or reports what is wrong with the endpoint */
    struct webhook_response response;
    size_t n;
};

/* ---- the end of a run ---- */

static void release_run(struct webhook_run *r)
{
    timer_stop(r->run.handler->host->clock, &r->timer);
    http_call_close(r->call);
    webhook_endpoint_unref(r->endpoint);
    webhook_response_free(&r->response);
}

static void finish_run(struct webhook_run *r, const struct handler_result *result)
{
    release_run(r);
    handler_run_result(&r->run, result);
}

/* No response decides: repeated until it works. */
static void fail_run(struct webhook_run *r, const char *why)
{
    char *text = xstrdup(why);
    if (r->endpoint)
        scrubber_clean_text(webhook_endpoint_scrubber(r->endpoint), text);
    finish_run(r, &(struct handler_result){.outcome = HANDLER_RETRY, .why = text});
    free(text);
}

static void end_by_response(struct webhook_run *r, bool complete)
{
    struct handler *h = r->run.handler;
    enum handler_outcome *outcomes = xcalloc(r->n, sizeof(*outcomes));
    struct handler_result result;
    struct buf why = {0};
    webhook_response_end(&r->response, r->preset, r->n, clock_wall_us(h->host->clock),
                         webhook_endpoint_scrubber(r->endpoint), complete, outcomes, &why, &result);
    finish_run(r, &result);
    buf_free(&why);
    free(outcomes);
}

static void on_timeout(struct timer *timer)
{
    struct webhook_run *r = container_of(timer, struct webhook_run, timer);
    char *why = xasprintf("no complete response within %.1f s",
                          (double)r->run.handler->settings.timeout_ms / 1000);
    fail_run(r, why);
    free(why);
}

static void on_unusable(struct timer *timer)
{
    struct webhook_run *r = container_of(timer, struct webhook_run, timer);
    const struct webhook_part *part = r->run.handler->part;
    fail_run(r, part->why.text);
}

/* ---- the response ---- */

static void on_head(struct http_user *user, const struct http_head *head)
{
    webhook_response_head(&container_of(user, struct webhook_run, user)->response, head);
}

static size_t on_body(struct http_user *user, const char *bytes, size_t len)
{
    struct webhook_run *r = container_of(user, struct webhook_run, user);
    if (!webhook_response_body(&r->response, r->preset, bytes, len))
        end_by_response(r, false); /* closes the connection; @r is no longer valid */
    return len;
}

static void on_end(struct http_user *user, const struct inf_error *why)
{
    struct webhook_run *r = container_of(user, struct webhook_run, user);
    if (why)
        fail_run(r, why->text);
    else
        end_by_response(r, true);
}

static const struct http_user_ops user_ops = {
    .on_head = on_head, .on_body = on_body, .on_end = on_end};

/* ---- the endpoint ---- */

static void warn_kept(struct handler *h, struct webhook_part *part)
{
    if (!part->outdated && !part->warned)
        handler_log(h, INF_LOG_WARN, "%s; the former contents stay in use", part->why.text);
    part->warned = true;
}

/* Makes a new endpoint if a file has changed. One that can't be made leaves the current one in use. */
static void refresh_endpoint(struct handler *h, struct webhook_part *part)
{
    struct clock *clock = h->host->clock;
    struct webhook_endpoint *endpoint;
    struct webhook_texts texts;
    if (!part->outdated && clock_now_ms(clock) - part->checked_ms < WEBHOOK_FILES_CHECK_MS)
        return;
    part->checked_ms = clock_now_ms(clock);
    if (webhook_texts_read(&part->conf, &texts, &part->why) < 0) {
        warn_kept(h, part);
        return;
    }
    if (!part->outdated && webhook_texts_equal(&texts, &part->texts)) {
        webhook_texts_free(&texts);
        part->warned = false;
        return;
    }
    endpoint =
        webhook_endpoint_open(h->host, &part->conf, h->settings.timeout_ms, &texts, &part->why);
    if (!endpoint) {
        webhook_texts_free(&texts);
        warn_kept(h, part);
        return;
    }
    part->outdated = part->warned = false;
    webhook_texts_free(&part->texts);
    part->texts = texts;
    webhook_endpoint_unref(part->endpoint);
    part->endpoint = endpoint;
}

/* ---- the request ---- */

/* The value of a variable of the record: see put_environment() in handler.c. */
static struct str variable(const struct handler_record *record, const char *name)
{
    size_t len = strlen(name);
    for (size_t at = 0; at < record->env_len; at += strlen(record->text + at) + 1)
        if (strncmp(record->text + at, name, len) == 0)
            return str_of(record->text + at + len);
    return (struct str){0};
}

static struct webhook_record *make_records(struct handler_record *const *records, size_t n)
{
    struct webhook_record *made = xcalloc(n, sizeof(*made));
    for (size_t i = 0; i < n; i++) {
        struct str line = handler_record_line(records[i]);
        line.len -= line.len && line.at[line.len - 1] == '\n';
        made[i] = (struct webhook_record){.line = line,
                                          .log = variable(records[i], "INFORMERD_LOG="),
                                          .seq = variable(records[i], "INFORMERD_SEQ="),
                                          .time_us = records[i]->time_us};
    }
    return made;
}

/* LOG-SEQ; of several records LOG-FIRST-LAST-HASH, where the hash is that of all their numbers: a later
 * batch may have the same ends and other records between. */
static char *make_key(const struct webhook_record *records, size_t n)
{
    const struct webhook_record *last = &records[n - 1];
    struct buf key = {0}, all = {0};
    webhook_put_id(&key, &records[0]);
    for (size_t i = 0; i < n && n > 1; i++) {
        webhook_put_id(&all, &records[i]);
        buf_putc(&all, ' ');
    }
    if (n > 1)
        buf_printf(&key, "-%.*s-%016" PRIx64, STR_FMT(last->seq),
                   siphash13(&(struct siphash_key){0}, all.bytes, all.len));
    buf_putc(&key, '\0');
    buf_free(&all);
    return key.bytes;
}

static void send_records(struct webhook_run *r, const struct handler *h,
                         struct handler_record *const *records, size_t n)
{
    struct webhook_record *made = make_records(records, n);
    bool batch = h->settings.batch_max > 1;
    char *key = make_key(made, n);
    struct buf body = {0};
    r->preset->put_body(&body, made, n, batch);
    buf_putc(&body, '\0');
    r->call = webhook_endpoint_post(r->endpoint,
                                    &(struct webhook_request){
                                        .content_type = batch && r->preset->batch_type
                                                            ? r->preset->batch_type
                                                            : r->preset->content_type,
                                        .idempotency_key = key,
                                        .body = body.bytes,
                                        .body_len = body.len - 1,
                                    },
                                    &r->user);
    buf_free(&body);
    free(key);
    free(made);
}

static struct handler_run *webhook_start(struct handler *handler,
                                         struct handler_record *const *records, size_t n)
{
    struct webhook_part *part = handler->part;
    struct webhook_run *r = NEW(struct webhook_run);
    refresh_endpoint(handler, part);
    r->n = n;
    r->preset = part->preset;
    r->user.ops = &user_ops;
    if (part->outdated) {
        r->timer.fire = on_unusable;
        timer_start(handler->host->clock, &r->timer, 0);
        return &r->run;
    }
    r->endpoint = webhook_endpoint_ref(part->endpoint);
    r->timer.fire = on_timeout;
    timer_start(handler->host->clock, &r->timer, handler->settings.timeout_ms);
    send_records(r, handler, records, n);
    return &r->run;
}

static void webhook_cancel(struct handler_run *run)
{
    struct webhook_run *r = container_of(run, struct webhook_run, run);
    release_run(r);
    free(r);
}

/* ---- the settings ---- */

static const char *webhook_mode(const struct handler *handler)
{
    const struct webhook_part *part = handler->part;
    return part->preset->name;
}

static bool webhook_is_set(const struct conf_handler *conf)
{
    return conf->webhook.url || conf->webhook.url_file;
}

static int webhook_check(const struct conf_handler *conf, struct inf_error *err)
{
    const struct conf_webhook *w = &conf->webhook;
    struct http_url url;
    bool open_text;
    if (!w->url == !w->url_file)
        return err_set(err, INF_ECONF, "exactly one of url and url_file is required");
    if (!w->cert_file != !w->key_file)
        return err_set(err, INF_ECONF, "cert_file and key_file are required together");
    if (w->url_file || http_url_parse(w->url, &url, err) < 0) /* its error was reported */
        return 0;
    open_text = !url.https && !http_url_is_local(&url);
    http_url_free(&url);
    if (w->header_files.count && open_text)
        return err_set(err, INF_ECONF,
                       "header_files are sent only over https, or to this machine; use an https "
                       "URL");
    return 0;
}

/* The message names the file, never its contents. */
static char *webhook_advise(const struct conf_handler *conf)
{
    struct webhook_texts texts;
    struct inf_error err;
    if (webhook_texts_read(&conf->webhook, &texts, &err) < 0)
        return xstrdup(err.text);
    webhook_texts_free(&texts);
    return NULL;
}

static void webhook_configure(struct handler *handler, const struct conf_handler *conf)
{
    struct webhook_part *part = handler->part ? handler->part : NEW(struct webhook_part);
    webhook_conf_free(&part->conf);
    webhook_conf_copy(&conf->webhook, &part->conf);
    part->preset = webhook_preset_find(conf->webhook.preset, NULL);
    part->outdated = true;
    err_set(&part->why, INF_ECONF, "the endpoint is not configured");
    handler->part = part;
}

static void webhook_close(struct handler *handler)
{
    struct webhook_part *part = handler->part;
    webhook_endpoint_unref(part->endpoint);
    webhook_texts_free(&part->texts);
    webhook_conf_free(&part->conf);
    free(part);
    handler->part = NULL;
}

const struct handler_kind handler_webhook = {
    .name = "webhook",
    .batches = true,
    .mode = webhook_mode,
    .is_set = webhook_is_set,
    .check = webhook_check,
    .advise = webhook_advise,
    .configure = webhook_configure,
    .close = webhook_close,
    .start = webhook_start,
    .cancel = webhook_cancel,
};
