/*
 * blind_watch.h - detects watches that deliver nothing although objects change.
 *
 * A proxy that buffers responses may end every watch normally and without a byte while objects
 * change. No error shows this. So after a watch that delivered nothing, the server's version is
 * requested (rewind_check.c). If it is newer than ours, and the next watch again delivers nothing,
 * all objects are listed.
 *
 * Versions are cluster-wide: for a quiet resource the server always has a newer one. Such lists are
 * therefore at least stale_after apart. The interval doubles while they find no difference, up to
 * BLIND_INTERVALS_MAX times stale_after, and is reset when a list finds a difference or a watch
 * delivers something.
 *
 * Part of the reflector: only src/core/reflector calls these functions.
 */
#ifndef CORE_REFLECTOR_BLIND_WATCH_H
#define CORE_REFLECTOR_BLIND_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct inf_error;
struct reflector;

enum {
    BLIND_INTERVALS_MAX = 8, /* LIMIT: longest interval, in multiples of stale_after */
};

/* Zero-initialised. */
struct blind_watch {
    bool ahead;         /* the server has a newer version, and no watch delivered anything since */
    bool proven;        /* watches hide changes or end at once: opening one is no sign of life */
    bool listing;       /* the next list was requested by this check */
    bool listed;        /* such a list was completed before */
    uint64_t listed_ms; /* the last one; by clock_elapsed_ms() */
    uint32_t unchanged; /* consecutive ones that found no difference */
};

/* The version query returned @version, which is not older than ours. */
void blind_watch_answered(struct reflector *r, const char *version);

/* A watch delivered an event or a bookmark. */
void blind_watch_shown(struct reflector *r);

/* A watch ended with @why. May request a list. */
void blind_watch_ended(struct reflector *r, const struct inf_error *why);

/* A list is complete; @differs: it is not equal to the store. */
void blind_watch_listed(struct reflector *r, bool differs);

#endif
