/*
 * api_accept.h - chooses a form of the response by the Accept header.
 */
#ifndef DAEMON_API_ACCEPT_H
#define DAEMON_API_ACCEPT_H

#include "daemon/api/api_request.h"

/* The first form in @accept (NULL: any) that we have, of objects or, if @discovery, of discovery
 * documents. Sets form or aggregation of @r. Returns false if there is none, as with protobuf only. */
bool api_accept_choose(const char *accept, bool discovery, struct api_request *r);

#endif
