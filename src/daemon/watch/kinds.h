/*
 * kinds.h - the kinds of the resources that every cluster has. Who asks for metadata alone gets
 * PartialObjectMetadata for a kind, and records should still say what it is about.
 */
#ifndef DAEMON_WATCH_KINDS_H
#define DAEMON_WATCH_KINDS_H

#include <stdbool.h>
#include <stddef.h>

/* "Pod" for "pods" of group ""; NULL if it is not one of those. */
const char *kinds_find(const char *group, const char *resource);

/* Whether @word is the plural of one of those and its group, as in "deployments.apps"; then how long
 * the plural is, and the group. */
bool kinds_know(const char *word, size_t *ret_plural, const char **ret_group);

#endif
