/*
 * http_request.h - writes and copies requests.
 */
#ifndef WIRE_HTTP_REQUEST_H
#define WIRE_HTTP_REQUEST_H

#include "informer/error.h"

#include "base/buf.h"
#include "wire/http/http_conn.h"

/*
 * Appends @request to @out. Returns 0, or -INF_EINVAL if it contains a byte that could be taken for
 * the end of a line or of the request; then @out is unchanged. The text of @err names the header,
 * never its value: it may be a token.
 */
int http_request_write(const struct http_request *request, struct buf *out, struct inf_error *err);

/* A deep copy, released with http_request_free(), which overwrites the header values. */
struct http_request *http_request_copy(const struct http_request *request);
void http_request_free(struct http_request *copy); /* NULL is allowed */

#endif
