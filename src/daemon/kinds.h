/*
 * kinds.h - the kinds of the resources that every cluster has. Who asks for metadata alone gets
 * PartialObjectMetadata for a kind, and records should still say what it is about.
 */
#ifndef DAEMON_KINDS_H
#define DAEMON_KINDS_H

/* "Pod" for "pods" of group ""; NULL if it is not one of those. */
const char *kinds_find(const char *group, const char *resource);

#endif
