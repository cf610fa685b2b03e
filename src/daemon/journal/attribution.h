/*
 * attribution.h - who made a change, as far as metadata.managedFields proves it.
 *
 * The API server notes for each manager and subresource when it last added or changed a field, to the second.
 * A change is attributed by these rules; if none applies, it is not:
 *
 *   added             the newest entry
 *   modified          the newest entry, if it is newer than before. If a write to the status and another
 *                     one are equally new, what changed decides: only the status, or only the rest
 *   modified, and     the writer wrote a second time within the second, or the write was not noted. It was
 *   the newest is     the newest entry's manager if no other manager ever wrote to that part (the status,
 *   not newer         or the rest), and if the change is one that is always noted: see below
 *   modified, a Pod   subresource `binding`, without a manager: the scheduler's binding is not noted, and
 *   got its node      nothing else may set spec.nodeName of a Pod that exists
 *   deleted           nobody
 *
 * Never noted are deletions (deletionTimestamp, deletionGracePeriodSeconds, finalizers), bindings and the
 * condition that an eviction adds. Of a write that only removes fields the time is not noted.
 */
#ifndef DAEMON_JOURNAL_ATTRIBUTION_H
#define DAEMON_JOURNAL_ATTRIBUTION_H

#include <stdbool.h>

#include "informer/diff.h"
#include "informer/event.h"

/* False: that is not known. Of a binding `manager` and `time` are "". @diff is NULL but for INF_MODIFIED. */
bool attribution_find(const struct inf_event *event, const struct inf_diff *diff,
                      struct inf_who *ret);

#endif
