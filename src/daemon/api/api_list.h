/*
 * api_list.h - responds with a list of objects, in slices.
 */
#ifndef DAEMON_API_LIST_H
#define DAEMON_API_LIST_H

#include "daemon/api/api_wait.h"

/* An api_go_fn: takes over the contents of @r. */
void api_list_go(struct api_feed *feed, struct api_request *r, struct http_exchange *x);

#endif
