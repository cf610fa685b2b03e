/*
 * http_target.h - what a request asks for, taken apart: "/api/v1/pods?watch=1&fieldSelector=a%3Db".
 *
 * Everything here is a peer's. Its size is limited by whoever read the target: no answer is longer
 * than that.
 */
#ifndef WIRE_HTTP_TARGET_H
#define WIRE_HTTP_TARGET_H

#include "base/str.h"

/*
 * Takes @target apart. Both forms of RFC 9112 that a GET may have are understood: "/path?query" and
 * "http://host/path?query" (the host is left out: whom it was sent to is us).
 *
 * @ret_path is decoded and begins with '/'; @ret_query is as it came, "" if there is none. Both are
 * the caller's to free. Returns 0, or -INF_EINVAL: neither form, a bad or NUL escape, control bytes
 * (also by an escape in the path) or a fragment.
 */
int http_target_split(const char *target, char **ret_path, char **ret_query);

/* The "host:port" of a @target that has one, for which http_target_split() was good; else empty. */
struct str http_target_authority(const char *target);

/*
 * The value of the first parameter called @name in @query, decoded ('+' is a blank there).
 *
 * Returns 1 and the value, the caller's to free ("" for a bare name); 0 if there is none; or
 * -INF_EINVAL if an escape is bad, in any parameter up to that one.
 */
int http_query_get(const char *query, const char *name, char **ret_value);

#endif
