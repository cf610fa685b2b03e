/*
 * http_host.h - whom a request is addressed to.
 *
 * A page in a browser can make its own host name resolve to our address (DNS rebinding) and then read
 * our answers; its requests have that name in them. So names are served only if they are known. IP
 * addresses can't be rebound, and localhost is not looked up; probes and Prometheus use those.
 */
#ifndef WIRE_HTTP_HOST_H
#define WIRE_HTTP_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/http_request_parser.h"

/*
 * Whether the host of the Host header, and that of the target if it has one ("http://host/path"), are each
 * an IP address, localhost, or one of @names, at any port. Names have no case. A request without a host
 * is no browser's: it is allowed.
 */
bool http_host_is_allowed(const struct http_server_request *request, char *const *names,
                          size_t n_names);

#endif
