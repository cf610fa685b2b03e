/*
 * heartbeat.h - detects updates that only renew a time, such as a lease or a condition's probe
 * time.
 *
 * On a quiet cluster they are nearly all updates.
 */
#ifndef DAEMON_JOURNAL_HEARTBEAT_H
#define DAEMON_JOURNAL_HEARTBEAT_H

#include <stdbool.h>

#include "informer/diff.h"

/*
 * Whether @diff changes nothing but: spec.renewTime of a Lease; the renewal time in the annotation
 * that older programs use for leader election; times under status that became other times.
 * metadata.generation and status.observedGeneration may change along with these. An empty diff is a
 * heartbeat too; a truncated one never is, because it may hide other changes.
 */
bool heartbeat_is(const char *kind, const struct inf_diff *diff);

#endif
