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

#include "base/str.h"

/*
 * Whether @diff changes nothing but: spec.renewTime of a Lease; the renewal time in the annotation
 * that older programs use for leader election; times under status that became other times.
 * metadata.generation and status.observedGeneration may change along with these. An empty diff is a
 * heartbeat too; a truncated one never is, because it may hide other changes.
 */
bool heartbeat_is(const char *kind, const struct inf_diff *diff);

/* The parts of it, for other presets: whether one change is that of a heartbeat; whether the value is a
 * time; whether a time became another time; whether only the renewal time in a leader annotation
 * changed. */
bool heartbeat_is_change(const char *kind, const struct inf_change *change);
bool heartbeat_is_time(struct str json);
bool heartbeat_is_renewal(const struct inf_change *change);
bool heartbeat_is_leader_renewal(const struct inf_change *change);

#endif
