/*
 * group.h - finds the number of a group that a configuration names.
 */
#ifndef BASE_GROUP_H
#define BASE_GROUP_H

#include <stdbool.h>
#include <sys/types.h>

/* Of a name in the group database, or of a decimal number, for groups that this host or container does not know
 * by name. A group that is named like a number wins. Returns false, and leaves @ret as it is, if neither exists. */
bool group_find(const char *name, gid_t *ret);

#endif
