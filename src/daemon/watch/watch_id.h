/*
 * watch_id.h - the identity of a watch, as its records have it.
 */
#ifndef DAEMON_WATCH_WATCH_ID_H
#define DAEMON_WATCH_WATCH_ID_H

struct selection;

/* NULL fields are unknown: group, version and kind are then taken from the object, the others are
 * omitted. */
struct watch_id {
    const char *cluster;
    const char *name;
    const char *group; /* "" is the core group */
    const char *version;
    const char *resource;
    const char *kind;
    const struct selection *selection; /* NULL: all objects */
};

#endif
