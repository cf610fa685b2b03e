/*
 * workload.h - the workload of a Pod: the controller that a user created, such as a Deployment,
 * where the Pod itself only names the ReplicaSet.
 *
 *     owner of the Pod            workload
 *     ReplicaSet (apps)           the controller of the ReplicaSet, if that is watched; the
 *                                 Deployment that its name and the Pod's labels show; else the owner
 *     Job (batch)                 likewise: the controller of the Job; the CronJob; else the owner
 *     Node                        none: a static Pod belongs to its node
 *     anything else               the owner
 *
 * A watched ReplicaSet or Job without a controller is a workload itself, whatever its name is.
 */
#ifndef DAEMON_RECORD_WORKLOAD_H
#define DAEMON_RECORD_WORKLOAD_H

#include <stdbool.h>

#include "informer/object.h"

#include "base/str.h"

struct workload {
    char kind[sizeof(((struct inf_owner *)0)->kind)];
    char name[sizeof(((struct inf_owner *)0)->name)];
};

/* Whether the owner may have a controller itself, so that it should be looked up. */
bool workload_is_indirect(const struct inf_owner *owner);

/* The workload of @pod, whose controller is @owner. @labels is its metadata.labels as written. @watched is the object of @owner, if it is
 * known; else NULL. Returns false if the Pod has no workload. */
bool workload_find(const struct inf_object *pod, struct str labels, const struct inf_owner *owner,
                   const struct inf_object *watched, struct workload *ret);

#endif
