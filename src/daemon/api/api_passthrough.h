/*
 * api_passthrough.h - documents that are those of the API server of the cluster: its version, and the
 * schemas of its types, which `kubectl explain` shows.
 *
 * A document is read when the first client requests it, kept, and read again after a minute. With the
 * parameter `hash`, as kubectl sends it, clients may keep a document for ever. If the API server does not
 * respond, clients get the last text with a warning, or 504 if there is none.
 */
#ifndef DAEMON_API_PASSTHROUGH_H
#define DAEMON_API_PASSTHROUGH_H

#include "daemon/api/api_park.h"
#include "daemon/api/api_request.h"

/* Responds to @r, whose contents it takes over, now or later. */
void api_passthrough_go(const struct api_call *call, struct api_request *r);

#endif
