/*
 * error.h - error codes for programs and error texts for people.
 *
 * Functions that can fail return 0 or more on success and a negated code on failure (-INF_ENET).
 * Functions with a `struct inf_error` parameter also store the code and a text there. The text
 * names the place (file, server, object) and, if there is one, the remedy. Texts never contain
 * tokens or keys.
 */
#ifndef INFORMER_ERROR_H
#define INFORMER_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define INF_API __attribute__((visibility("default")))
#else
#define INF_API
#endif

/* name, value, meaning. Values are part of the ABI: append only. */
#define INF_ERROR_MAP(X)                                              \
    X(INF_EINVAL, 1, "invalid argument")                              \
    X(INF_EIO, 2, "local I/O error")                                  \
    X(INF_ECONF, 3, "invalid configuration")                          \
    X(INF_ENET, 4, "network or peer failure")                         \
    X(INF_ETLS, 5, "TLS handshake or certificate check failed")       \
    X(INF_EPROTO, 6, "protocol error")                                \
    X(INF_ETIMEOUT, 7, "timed out")                                   \
    X(INF_EEOF, 8, "end of stream")                                   \
    X(INF_ECUT, 9, "stream interrupted")                              \
    X(INF_ETOOBIG, 10, "size limit exceeded")                         \
    X(INF_EDECODE, 11, "invalid or unexpected JSON")                  \
    X(INF_EGONE, 12, "resource version expired")                      \
    X(INF_EFUTURE, 13, "resource version too large")                  \
    X(INF_ETHROTTLED, 14, "throttled by the server")                  \
    X(INF_EUNAUTHORIZED, 15, "credentials missing or rejected")       \
    X(INF_EFORBIDDEN, 16, "not allowed")                              \
    X(INF_ENOTFOUND, 17, "not found")                                 \
    X(INF_EREFUSED, 18, "the server rejected the request as invalid") \
    X(INF_ESERVER, 19, "server error")                                \
    X(INF_ECLOSED, 20, "already closed or closing")                   \
    X(INF_ECANCELED, 21, "request canceled")

enum inf_error_code {
#define INF_ERROR_ENUM(name, value, text) name = value,
    INF_ERROR_MAP(INF_ERROR_ENUM)
#undef INF_ERROR_ENUM
};

enum {
    INF_ERRORS = 32,           /* codes are below this */
    INF_ERROR_TEXT_MAX = 1024, /* longer texts are truncated, with an ellipsis */
};

struct inf_error {
    int code;                /* one of enum inf_error_code; 0: no error */
    int http_status;         /* of the response that reported the error; 0: none */
    uint32_t retry_after_ms; /* the delay that the server requested; 0: none */
    char text[INF_ERROR_TEXT_MAX];
};

/** The name of @code ("INF_EGONE"), for logs and metrics. Accepts both signs. Never NULL. */
INF_API const char *inf_error_name(int code);

/** A short description of @code. Accepts both signs. Never NULL. */
INF_API const char *inf_error_meaning(int code);

#ifdef __cplusplus
}
#endif

#endif
