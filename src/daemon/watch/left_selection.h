/*
 * left_selection.h - whether an object that a watch with a label selector reports as deleted still exists.
 *
 * The server sends the same for both, the last state that was selected. If another watch of the same
 * cluster follows the same resource without selectors, its copy knows, once it has reached the version
 * of the deletion. It may be behind: then nothing is known.
 */
#ifndef DAEMON_WATCH_LEFT_SELECTION_H
#define DAEMON_WATCH_LEFT_SELECTION_H

#include <stdbool.h>

#include "daemon/watch/watch_stream.h"

/* Whether the object of @gone, a DELETED event of @stream, certainly exists. */
bool left_selection_for_certain(const struct watch_stream *stream, const struct inf_event *gone);

#endif
