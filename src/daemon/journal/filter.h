/*
 * filter.h - which changes somebody wants: by watch, namespace, verb, what changed, and labels.
 *
 * What a list is empty for is not asked. All that is asked must hold.
 */
#ifndef DAEMON_JOURNAL_FILTER_H
#define DAEMON_JOURNAL_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/error.h"
#include "informer/event.h"

struct filter;

/* Strings and lists are copied. A zeroed struct takes everything but what is there at the start. */
struct filter_settings {
    const char *const *watches; /* by name */
    size_t n_watches;
    const char *const *namespaces; /* names, or patterns as a shell has them: "shop-*" */
    size_t n_namespaces;
    unsigned verbs;             /* of 1 << INF_ADDED ...; 0: all */
    const char *const *changed; /* paths of informer/path.h */
    size_t n_changed;
    const char *labels; /* a selector; NULL: all */
    bool initial;       /* also what was there at the start */
};

/* NULL, with @err naming the path or selector and what is wrong with it. */
struct filter *filter_make(const struct filter_settings *settings, struct inf_error *err);

/* NULL is fine. */
void filter_free(struct filter *filter);

/* Whether anything of the watch called @name is wanted. Notes of the daemon go by this alone. */
bool filter_takes_watch(const struct filter *filter, const char *name);

/*
 * Whether @event, of a watch that is wanted, is.
 *
 * A change of a path is a MODIFIED between whose states the values at one of the paths differ; other
 * verbs don't ask for it. Labels are those of the object as it is now; of one deleted, as it was. An
 * object that is changed so that it is not selected any more is told this once.
 */
bool filter_takes(const struct filter *filter, const struct inf_event *event);

#endif
