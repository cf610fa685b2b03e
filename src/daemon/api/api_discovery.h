/*
 * api_discovery.h - /api, /apis and the resources of a version: the watched ones that
 * the reader may read.
 *
 * Short names, categories and scope come from the discovery documents of the cluster, which are read
 * once when the first client needs them. While the cluster does not respond, resources are described as
 * far as they are known.
 */
#ifndef DAEMON_API_DISCOVERY_H
#define DAEMON_API_DISCOVERY_H

#include "daemon/api/api_park.h"
#include "daemon/api/api_request.h"

/* Responds to @r, whose contents it takes over, now or later. */
void api_discovery_go(const struct api_call *call, struct api_request *r);

/* Frees all facts. */
void api_discovery_close(struct api *api);

#endif
