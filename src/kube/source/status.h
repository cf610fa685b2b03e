/*
 * status.h - what the server says when it says no, as our error codes.
 *
 * Two shapes: a Status object (the body of an answer, or the object of an ERROR event in a watch),
 * and anything else (plain text of a proxy or of the server's own filters), where only the HTTP
 * status counts.
 */
#ifndef KUBE_SOURCE_STATUS_H
#define KUBE_SOURCE_STATUS_H

#include <stdbool.h>

#include "informer/error.h"

#include "base/str.h"

/* Fills @err from the body of an answer with @http_status; @retry_after is its Retry-After header
 * or NULL, @now_us the time it came: the header may be a date. */
void status_from_response(int http_status, struct str body, const char *retry_after, int64_t now_us,
                          struct inf_error *err);

/*
 * Whether the body of a 404 is the API's own answer that it has no resource @group/@name: a Status
 * with the reason NotFound that names no object and no other resource. What a load balancer sends is
 * not.
 */
bool status_denies_resource(struct str body, const char *group, const char *name);

/* Fills @err from the object of an ERROR event. */
void status_from_event(struct str object, struct inf_error *err);

#endif
