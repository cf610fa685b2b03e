/*
 * api_get.h - responds with one object.
 */
#ifndef DAEMON_API_GET_H
#define DAEMON_API_GET_H

#include "daemon/api/api_wait.h"

/* An api_go_fn: takes over the contents of @r. */
void api_get_go(struct api_feed *feed, struct api_request *r, struct http_exchange *x);

#endif
