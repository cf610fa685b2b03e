/*
 * access.h - decides who sends a request to the local API: a reader, or a client that is refused.
 *
 *     Unix socket      the user of the client's process, found once per connection; or a token
 *     api.listen       a bearer token: of a reader's token_file, a short-lived one, or that of a session of
 *                      the page (session.h)
 *
 * Each refused request gets a Status object and a line in the daemon's log, a limited number of them per
 * time. A reload that changes the readers disconnects all clients.
 */
#ifndef DAEMON_API_ACCESS_H
#define DAEMON_API_ACCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/access/certificate.h"
#include "daemon/access/reader.h"
#include "daemon/access/token.h"
#include "daemon/conf/conf.h"
#include "daemon/daemon_log.h"
#include "wire/http/http_server.h"

/* The client of a connection (http_server.h). */
struct api_client {
    bool has_uid; /* it is the process at the other end of a Unix socket */
    uid_t uid;
    pid_t pid;
    const struct api_reader *reader; /* of that user; NULL: none */
    bool remote;                     /* it is on another host */
};

struct api_access {
    struct clock *clock;
    struct daemon_log *log;
    struct tls_digest *digest; /* of tokens, with a random key */
    struct api_readers readers;
    struct api_tokens tokens;
    struct api_tokens codes;            /* one-time codes, for a session of the page */
    struct tls_digest *sessions;        /* signs sessions; NULL: no certificate */
    struct api_certificate certificate; /* none: not at api.listen */
    struct timer renewal;               /* of the certificate */

    struct api_readers next; /* prepared by a reload */
    struct api_certificate next_certificate;
    struct former_readers *former; /* replaced by reloads; until their clients are disconnected */

    uint64_t
        audit_since_ms; /* denied requests: the current interval, its lines, those not logged */
    unsigned audit_lines;
    uint64_t audit_omitted;
};

void api_access_init(struct api_access *access, struct clock *clock, struct daemon_log *log);
void api_access_close(struct api_access *access);

/* Loads the readers and the certificate of @conf. Then call either api_access_commit() or
 * api_access_abandon(). @state_dir may be NULL if api.listen is not set. */
int api_access_prepare(struct api_access *access, const struct conf *conf, const char *state_dir,
                       struct inf_error *err);

/* Returns whether clients may have lost access: all must be disconnected, then call
 * api_access_forget(). */
bool api_access_commit(struct api_access *access);
void api_access_abandon(struct api_access *access);
void api_access_forget(struct api_access *access);

/* The client of an accepted stream of the loop, for http_server_accept_client(). */
struct api_client *api_access_identify(const struct api_access *access, struct stream *stream);

/* The process that has sent a request over a Unix socket; NULL: it is a client of another kind. */
const struct api_client *api_client_of(const struct http_exchange *exchange);

bool api_client_is_remote(const struct http_exchange *exchange);

/* The reader that sends @request. NULL: it was refused, and the response is sent. */
const struct api_reader *api_access_check(struct api_access *access,
                                          const struct http_server_request *request,
                                          struct http_exchange *exchange);

/* A token of the reader of @client, valid for API_TOKEN_MS: also after a restart if there is a
 * certificate authority. The caller frees it with secret_free(). NULL: too many are valid. */
char *api_access_issue(struct api_access *access, const struct api_client *client);

/* Exchanges a one-time code for a session. The caller frees it with secret_free(). NULL: the code is
 * unknown, was used, or has expired. */
char *api_access_login(struct api_access *access, struct str code);

/* Logs a denied request: at most AUDIT_LINES in AUDIT_MS. */
void api_access_audit(struct api_access *access, const struct http_server_request *request,
                      const struct http_exchange *exchange, const char *why);

/* The same, and sends a Status with @code, 401 or 403, and @why. */
void api_access_deny(struct api_access *access, const struct http_server_request *request,
                     struct http_exchange *exchange, int code, const char *why);

/* Whether the client is the daemon's own user or root, on the Unix socket: it may control the daemon. */
bool api_access_may_control(const struct http_exchange *exchange);

#endif
