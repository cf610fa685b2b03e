/*
 * access.c - finds the reader of a request, refuses the others, and renews the certificate.
 *
 * Normal path: the connection has a reader (Unix socket), or the request has a valid token. A token that
 * is not valid is refused with 401 also on the Unix socket, so that a client notices it. Impersonation
 * is never allowed: the API server would decide about it, and is not involved.
 */
#include "daemon/access/access.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/access/session.h"
#include "daemon/api/api_status.h"
#include "loop/tcp.h"

enum {
    AUDIT_LINES = 20, /* LIMIT: lines about denied requests per AUDIT_MS */
    AUDIT_MS = 10 * 1000,
    AUDIT_TARGET = 200, /* LIMIT: bytes of a target in the log */
    RENEWAL_MS = 3600 * 1000,
};

struct former_readers {
    struct api_readers readers;
    struct former_readers *next;
};

/* ---- the certificate ---- */

static void on_renewal(struct timer *timer)
{
    struct api_access *a = container_of(timer, struct api_access, renewal);
    int64_t now = clock_wall_us(a->clock);
    struct inf_error err;
    if (now >= a->certificate.renew_us && api_certificate_renew(&a->certificate, now, &err) < 0)
        daemon_log_printf(a->log, INF_LOG_ERROR, "api.listen: certificate not renewed: %s",
                          err.text);
    timer_start(a->clock, &a->renewal, RENEWAL_MS);
}

/* ---- settings ---- */

void api_access_init(struct api_access *a, struct clock *clock, struct daemon_log *log)
{
    unsigned char key[TLS_DIGEST_KEY];
    *a = (struct api_access){.clock = clock, .log = log, .renewal = {.fire = on_renewal}};
    tls_digest_key(key);
    a->digest = tls_digest_new(key);
    secret_wipe(key, sizeof(key));
    api_tokens_init(&a->tokens, clock, a->digest, API_TOKEN_MS);
    api_tokens_init(&a->codes, clock, a->digest, API_CODE_MS);
}

void api_access_close(struct api_access *a)
{
    api_access_abandon(a);
    api_access_forget(a);
    timer_stop(a->clock, &a->renewal);
    api_tokens_clear(&a->tokens);
    api_tokens_clear(&a->codes);
    api_readers_free(&a->readers);
    api_certificate_close(&a->certificate);
    tls_digest_free(a->sessions);
    a->sessions = NULL;
    tls_digest_free(a->digest);
    a->digest = NULL;
}

int api_access_prepare(struct api_access *a, const struct conf *conf, const char *state_dir,
                       struct inf_error *err)
{
    int rc = api_readers_load(&conf->api, a->digest, &a->next, err);
    if (rc == 0 && conf->api.listen)
        rc = api_certificate_open(state_dir, conf, clock_wall_us(a->clock), &a->next_certificate,
                                  err);
    if (rc < 0)
        api_access_abandon(a);
    return rc;
}

static void commit_certificate(struct api_access *a)
{
    api_certificate_close(&a->certificate);
    tls_digest_free(a->sessions);
    a->certificate = a->next_certificate;
    a->next_certificate = (struct api_certificate){0};
    a->sessions = NULL;
    timer_stop(a->clock, &a->renewal);
    if (!a->certificate.context)
        return;
    a->sessions = api_session_key(a->certificate.authority.key_pem);
    timer_start(a->clock, &a->renewal, RENEWAL_MS);
}

bool api_access_commit(struct api_access *a)
{
    bool changed = !api_readers_same(&a->readers, &a->next);
    struct former_readers *former;
    commit_certificate(a);
    if (!changed) {
        api_readers_free(&a->next);
        return false;
    }
    if (!a->readers.count) { /* the first ones: no client has lost anything */
        a->readers = a->next;
        a->next = (struct api_readers){0};
        return false;
    }
    api_tokens_clear(&a->tokens);
    api_tokens_clear(&a->codes);
    former = NEW(struct former_readers);
    *former = (struct former_readers){a->readers, a->former};
    a->former = former;
    a->readers = a->next;
    a->next = (struct api_readers){0};
    return true;
}

void api_access_abandon(struct api_access *a)
{
    api_readers_free(&a->next);
    api_certificate_close(&a->next_certificate);
}

void api_access_forget(struct api_access *a)
{
    while (a->former) {
        struct former_readers *former = a->former;
        a->former = former->next;
        api_readers_free(&former->readers);
        free(former);
    }
}

/* ---- denied requests ---- */

const struct api_client *api_client_of(const struct http_exchange *exchange)
{
    const struct api_client *client = http_exchange_client(exchange);
    return client && client->has_uid ? client : NULL;
}

bool api_client_is_remote(const struct http_exchange *exchange)
{
    const struct api_client *client = http_exchange_client(exchange);
    return client && client->remote;
}

static void put_client(const struct http_exchange *exchange, struct buf *out)
{
    const struct api_client *client = api_client_of(exchange);
    if (!client)
        buf_puts(out, "a client of api.listen");
    else
        buf_printf(out, "uid %u (pid %d)", (unsigned)client->uid, (int)client->pid);
}

void api_access_audit(struct api_access *a, const struct http_server_request *request,
                      const struct http_exchange *exchange, const char *why)
{
    uint64_t now = clock_now_ms(a->clock);
    struct buf client = {0};
    if (now - a->audit_since_ms >= AUDIT_MS) {
        if (a->audit_omitted)
            daemon_log_printf(a->log, INF_LOG_WARN,
                              "api: %" PRIu64 " more denied requests were not logged",
                              a->audit_omitted);
        a->audit_since_ms = now;
        a->audit_lines = 0;
        a->audit_omitted = 0;
    }
    if (a->audit_lines++ >= AUDIT_LINES) {
        a->audit_omitted++;
        return;
    }
    put_client(exchange, &client);
    daemon_log_printf(a->log, INF_LOG_WARN, "api: denied %s %.*s from %.*s: %s", request->method,
                      AUDIT_TARGET, request->target, (int)client.len, client.bytes, why);
    buf_free(&client);
}

void api_access_deny(struct api_access *a, const struct http_server_request *request,
                     struct http_exchange *exchange, int code, const char *why)
{
    api_access_audit(a, request, exchange, why);
    if (code == 401)
        http_exchange_header(exchange, "WWW-Authenticate", "Bearer");
    api_reply_fault(exchange, code, why);
}

/* ---- requests ---- */

struct api_client *api_access_identify(const struct api_access *a, struct stream *stream)
{
    struct api_client *client = NEW(struct api_client);
    struct peer_credentials peer;
    client->has_uid = tcp_peer_credentials(stream, &peer);
    client->remote = !tcp_peer_is_local(stream);
    client->uid = client->has_uid ? peer.uid : PEER_OVERFLOW_UID;
    client->pid = client->has_uid ? peer.pid : 0;
    client->reader = client->has_uid ? api_readers_of_peer(&a->readers, &peer) : NULL;
    return client;
}

static bool impersonates(const struct http_server_request *request)
{
    static const char prefix[] = "Impersonate-";
    for (size_t i = 0; i < request->n_headers; i++)
        if (strncasecmp(request->headers[i].name, prefix, sizeof(prefix) - 1) == 0)
            return true;
    return false;
}

/* The token of "Bearer TOKEN"; NULL: the header has none, or is of another kind. */
static const char *bearer_token(const char *authorization)
{
    static const char scheme[] = "Bearer ";
    if (!authorization || strncasecmp(authorization, scheme, sizeof(scheme) - 1) != 0)
        return NULL;
    return authorization + sizeof(scheme) - 1 + strspn(authorization + sizeof(scheme) - 1, " ");
}

static const struct api_reader *reader_of_token(const struct api_access *a, const char *token)
{
    const struct api_reader *reader = api_readers_of_token(&a->readers, token);
    if (!reader)
        reader = api_tokens_find(&a->tokens, str_of(token));
    if (!reader && a->sessions)
        reader = api_session_find(a->sessions, &a->readers, token, clock_wall_us(a->clock));
    return reader;
}

char *api_access_login(struct api_access *a, struct str code)
{
    const struct api_reader *reader = a->sessions ? api_tokens_take(&a->codes, code) : NULL;
    return reader ? api_session_issue(a->sessions, reader, clock_wall_us(a->clock), API_SESSION_S)
                  : NULL;
}

char *api_access_issue(struct api_access *a, const struct api_client *client)
{
    if (!a->sessions)
        return api_tokens_issue(&a->tokens, client->reader, client->uid);
    return api_session_issue(a->sessions, client->reader, clock_wall_us(a->clock),
                             API_TOKEN_MS / 1000);
}

const struct api_reader *api_access_check(struct api_access *a,
                                          const struct http_server_request *request,
                                          struct http_exchange *exchange)
{
    const struct api_client *client = api_client_of(exchange);
    const char *authorization = http_server_request_get(request, "Authorization");
    const char *token = bearer_token(authorization);
    const struct api_reader *reader = NULL;
    if (impersonates(request)) {
        api_access_deny(a, request, exchange, 403, "impersonation is not supported");
        return NULL;
    }
    if (token)
        reader = reader_of_token(a, token);
    else if (!authorization && client)
        reader = client->reader;
    if (reader)
        return reader;
    if (authorization)
        api_access_deny(a, request, exchange, 401, "the token is unknown or has expired");
    else if (client)
        api_access_deny(a, request, exchange, 403,
                        "the user is not a reader; see api.readers in informerd.conf(5)");
    else
        api_access_deny(a, request, exchange, 401, "a bearer token is required");
    return NULL;
}

bool api_access_may_control(const struct http_exchange *exchange)
{
    const struct api_client *client = api_client_of(exchange);
    return client && client->uid != PEER_OVERFLOW_UID &&
           (client->uid == 0 || client->uid == geteuid());
}
