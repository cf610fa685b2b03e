/*
 * http_host.h - checks the host name that a request is addressed to.
 *
 * A web page can make its own host name resolve to our address (DNS rebinding) and then read our
 * responses; its requests carry that name. Host names are therefore accepted only if they are
 * configured. IP addresses can't be rebound, and localhost is not looked up; probes and Prometheus
 * use those.
 */
#ifndef WIRE_HTTP_HOST_H
#define WIRE_HTTP_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/http/http_request_parser.h"

/*
 * Whether the host of the Host header, and that of the target if it has one ("http://host/path"),
 * are each an IP address, localhost, or one of @names, with any port. Names are case-insensitive. A
 * request without a host does not come from a browser and is allowed.
 */
bool http_host_is_allowed(const struct http_server_request *request, char *const *names,
                          size_t n_names);

#endif
