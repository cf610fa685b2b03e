/*
 * left_selection.h - whether an object that a watch with a label selector reports as deleted still
 * exists.
 *
 * The server sends the same event for a deletion and for an object that left the selection: the
 * last state that was selected. If another watch of the same cluster caches the same resource
 * without selectors, and its cache has reached the version of the deletion, that cache shows which
 * it was. If its cache has not got that far, the result is "unknown".
 */
#ifndef DAEMON_WATCH_LEFT_SELECTION_H
#define DAEMON_WATCH_LEFT_SELECTION_H

#include <stdbool.h>

#include "daemon/watch/watch_stream.h"

/* Whether the object of @gone, a DELETED event of @stream, certainly exists. */
bool left_selection_for_certain(const struct watch_stream *stream, const struct inf_event *gone);

#endif
