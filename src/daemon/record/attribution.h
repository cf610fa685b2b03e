/*
 * attribution.h - which manager made a change, as far as metadata.managedFields proves it.
 *
 * For each manager and subresource the API server records when it last added or changed a field, to
 * the second. These rules apply; if none does, the change is not attributed:
 *
 *   added             the newest entry
 *   modified          the newest entry, if it is newer than before. If a write to the status and
 *                     another one have the same time, the changed fields decide: only the status,
 *                     or only the rest
 *   modified, and     either the manager wrote twice within the second, or the write was not
 *   the newest is     recorded. It is attributed to the newest entry's manager if no other manager
 *   not newer         ever wrote to that part (the status, or the rest), and if such a change is
 *                     always recorded: see below
 *   modified, a Pod   subresource `binding`, without a manager: the scheduler's binding is not
 *   got its node      recorded, and nothing else may set spec.nodeName of an existing Pod
 *   deleted           not attributed
 *
 * The server never records deletions (deletionTimestamp, deletionGracePeriodSeconds, finalizers),
 * bindings, and the condition that an eviction adds. It does not record the time of a write that
 * only removes fields.
 */
#ifndef DAEMON_RECORD_ATTRIBUTION_H
#define DAEMON_RECORD_ATTRIBUTION_H

#include <stdbool.h>

#include "informer/diff.h"
#include "informer/event.h"

/* Returns false if the manager is unknown. For a binding, `manager` and `time` are "". @diff is
 * NULL except for INF_MODIFIED. */
bool attribution_find(const struct inf_event *event, const struct inf_diff *diff,
                      struct inf_writer *ret);

#endif
