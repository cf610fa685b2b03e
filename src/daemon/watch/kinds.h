/*
 * kinds.h - the kinds of the resources that every cluster has.
 *
 * Objects of a metadata-only watch have the kind PartialObjectMetadata; records show the real kind
 * instead.
 */
#ifndef DAEMON_WATCH_KINDS_H
#define DAEMON_WATCH_KINDS_H

#include <stdbool.h>
#include <stddef.h>

/* Returns "Pod" for "pods" of group ""; NULL for a resource that is not in the table. */
const char *kinds_find(const char *group, const char *resource);

/* Whether @word is a resource in the table with its group, as in "deployments.apps". If so,
 * returns the length of the resource name in @ret_plural and the group in @ret_group. */
bool kinds_know(const char *word, size_t *ret_plural, const char **ret_group);

#endif
