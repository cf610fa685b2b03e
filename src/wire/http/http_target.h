/*
 * http_target.h - parses the target of a request: "/api/v1/pods?watch=1&fieldSelector=a%3Db".
 *
 * The input comes from a peer. The parser of the request limits its size; no result is longer than
 * the input.
 */
#ifndef WIRE_HTTP_TARGET_H
#define WIRE_HTTP_TARGET_H

#include "base/str.h"

/*
 * Splits @target. Accepts both forms of RFC 9112 that a GET may have: "/path?query" and
 * "http://host/path?query" (the host is not part of the result).
 *
 * @ret_path is decoded and begins with '/'; @ret_query is as sent, "" if there is none. The caller
 * frees both. Returns 0, or -INF_EINVAL: neither form, a bad or NUL escape, control characters
 * (also escaped ones in the path) or a fragment.
 */
int http_target_split(const char *target, char **ret_path, char **ret_query);

/* The "host:port" of a @target that http_target_split() accepts; empty if it has none. */
struct str http_target_authority(const char *target);

/*
 * The value of the first parameter called @name in @query, decoded ('+' means a space).
 *
 * Returns 1 and the value, which the caller frees ("" for a bare name); 0 if there is none; or
 * -INF_EINVAL if an escape in any parameter up to that one is malformed.
 */
int http_query_get(const char *query, const char *name, char **ret_value);

#endif
