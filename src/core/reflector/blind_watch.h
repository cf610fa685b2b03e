/*
 * blind_watch.h - notices watches that show nothing although the server has something to show.
 *
 * A proxy that buffers answers may end every watch in good order and without a byte, while the
 * objects change. Nothing of that is an error. So after a watch that showed nothing the server is
 * asked for its version (doubt.h). If that is newer than ours, and the next watch again shows
 * nothing, all objects are listed.
 *
 * Versions are cluster-wide: for a quiet resource the server is always at a newer one. Therefore
 * such lists are at least stale_after apart, and the interval doubles, up to
 * BLIND_INTERVALS_MAX times stale_after, while they find no difference. It starts over as soon as
 * one finds a difference or a watch shows something.
 *
 * It is a part of the reflector (reflector.c), as doubt.h is. Nothing else includes its functions.
 */
#ifndef CORE_REFLECTOR_BLIND_WATCH_H
#define CORE_REFLECTOR_BLIND_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct inf_error;
struct reflector;

enum {
    BLIND_INTERVALS_MAX =
        8, /* LIMIT: times stale_after between two lists that find no difference */
};

/* A zeroed one is ready. */
struct blind_watch {
    bool ahead; /* the server is at a newer version than ours, and no watch showed anything since */
    bool proven;  /* watches hide changes, or end at once: that one was opened proves nothing */
    bool listing; /* the next complete list was made necessary by this */
    bool listed;  /* there was such a list */
    uint64_t listed_ms; /* when the last one was; by clock_elapsed_ms() */
    uint32_t intervals; /* how many stale_after must be between it and the next; 0: one */
};

/* The server was asked, and is at @version, which is not older than ours. */
void blind_watch_answered(struct reflector *r, const char *version);

/* A watch showed an event or a bookmark. */
void blind_watch_shown(struct reflector *r);

/* A watch has ended with @why. A list may be due then. */
void blind_watch_ended(struct reflector *r, const struct inf_error *why);

/* A list is complete; @differs from what was known. */
void blind_watch_listed(struct reflector *r, bool differs);

#endif
