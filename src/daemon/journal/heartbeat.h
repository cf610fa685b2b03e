/*
 * heartbeat.h - updates that say "still alive" and nothing else.
 *
 * A lease renewed, a condition probed again: on a quiet cluster they are nearly all there is.
 */
#ifndef DAEMON_JOURNAL_HEARTBEAT_H
#define DAEMON_JOURNAL_HEARTBEAT_H

#include <stdbool.h>

#include "informer/diff.h"

/*
 * Whether all of @diff is: a Lease's spec.renewTime; the time of renewal in the annotation by which
 * older programs elect leaders; times anywhere under status that became other times. The numbers of
 * generations may go along. A diff in which nothing changed is one too; a truncated one never is,
 * for nobody knows what else there was.
 */
bool heartbeat_is(const char *kind, const struct inf_diff *diff);

#endif
