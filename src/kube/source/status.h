/*
 * status.h - converts refusals of a server to our error codes.
 *
 * A refusal is a Status object (the body of a response, or the object of an ERROR event in a
 * watch), or other text (of a proxy, or of filters of the server), where only the HTTP status
 * counts.
 */
#ifndef KUBE_SOURCE_STATUS_H
#define KUBE_SOURCE_STATUS_H

#include <stdbool.h>

#include "informer/error.h"

#include "base/str.h"

/* Fills @err from the body of a response with @http_status. @retry_after is its Retry-After header
 * or NULL; @now_us is the time at which it arrived, because the header may be a date. */
void status_from_response(int http_status, struct str body, const char *retry_after, int64_t now_us,
                          struct inf_error *err);

/*
 * Whether the body of a 404 is the response of the API itself that it does not have the resource
 * @group/@name: a Status with the reason NotFound that names no object and no other resource.
 * The response of a load balancer is not.
 */
bool status_denies_resource(struct str body, const char *group, const char *name);

/* Fills @err from the object of an ERROR event. */
void status_from_event(struct str object, struct inf_error *err);

#endif
