/*
 * lookup.h - which resource a word means: as many documents as it takes, from the shelf or from the
 * server.
 *
 *     po                  /api/v1; if it isn't there /apis, then each version of each group
 *     deployments.apps    /apis/apps, then each version of it
 *
 * A group that does not answer (an extension server that is down) hides only its own resources.
 * What is not found in documents that have been on the shelf for a while is looked for once more in
 * new ones: a CRD may have come.
 */
#ifndef KUBE_LOOKUP_H
#define KUBE_LOOKUP_H

#include "kube/resource_word.h"
#include "kube/shelf.h"

enum {
    LOOKUP_FRESH_MS = 30 * 1000, /* a server is not asked more often than this what it has */
};

/* Embedded in its owner, who sets the functions; zeroed besides. */
struct lookup {
    /* It is over, told once: what was found is lent; NULL: nothing, and @why says it. */
    void (*on_end)(struct lookup *lookup, const struct api_resource *found,
                   const struct inf_error *why);
    void (*on_progress)(struct lookup *lookup); /* the server is alive; may be NULL */

    /* its own */
    struct shelf *shelf; /* NULL: nothing is under way */
    struct clock *clock;
    const struct resource_word *word;
    uint64_t max_age_ms;
    struct timer start;
    struct shelf_reader reader;
    int step;
    struct discovery table;
    size_t asked;       /* versions of the table whose resources were asked for */
    unsigned silent;    /* of them, those that did not answer */
    uint64_t oldest_ms; /* age of what was read */
};

/* Documents may be so old; no more than LOOKUP_FRESH_MS if there is reason to doubt what they say.
 * Nothing is under way; nothing is told before this returns. All is borrowed until the end. */
void lookup_start(struct lookup *lookup, struct shelf *shelf, struct clock *clock,
                  const struct resource_word *word, uint64_t max_age_ms);

/* Nothing is told any more. Harmless if nothing is under way. */
void lookup_stop(struct lookup *lookup);

#endif
