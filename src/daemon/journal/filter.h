/*
 * filter.h - the changes that an event log or handler accepts: by watch, namespace, name, verb, changed
 * paths, labels, a condition and level.
 *
 * A condition whose list is empty always holds. All conditions must hold.
 */
#ifndef DAEMON_JOURNAL_FILTER_H
#define DAEMON_JOURNAL_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "informer/error.h"
#include "informer/event.h"
#include "informer/informer.h"

struct condition;
struct filter;

/* Strings and lists are copied. A zeroed struct accepts everything except initial objects. */
struct filter_settings {
    const char *const *watches; /* by name */
    size_t n_watches;
    const char *const *namespaces; /* names or patterns (base/text/glob.h): "shop-*" */
    size_t n_namespaces;
    const char *const *names; /* POSIX extended regular expressions, for a part of the name */
    size_t n_names;
    unsigned verbs;             /* a mask of 1 << INF_ADDED ...; 0: all */
    const char *const *changed; /* paths as in informer/path.h */
    size_t n_changed;
    const char *labels;       /* a label selector; NULL: all */
    const char *when;         /* see filter_when_parse(); NULL: no condition */
    bool initial;             /* also objects that existed at the start */
    enum inf_log_level level; /* the minimum */
};

/* Returns NULL, with @err naming the setting and the problem. */
struct filter *filter_make(const struct filter_settings *settings, struct inf_error *err);

/* Compiles a regular expression of `names`; the caller releases it with regfree(). Returns 0, or
 * -INF_EINVAL. */
int filter_regex_parse(const char *text, regex_t *ret, struct inf_error *err);

/*
 * Parses `when`: a condition (rule/condition.h), "level>=warn", or "level>=warn, " and a condition. Stores the
 * level, or INF_LOG_INFO, and the condition, or NULL. Returns 0, or -INF_EINVAL.
 */
int filter_when_parse(const char *text, enum inf_log_level *ret_level,
                      struct condition **ret_condition, struct inf_error *err);

/* NULL is allowed. */
void filter_free(struct filter *filter);

/* Whether changes of the watch @name are accepted. For daemon records this is the only
 * condition. */
bool filter_accepts_watch(const struct filter *filter, const char *name);

/* Whether objects of this name are accepted. */
bool filter_accepts_name(const struct filter *filter, const char *name);

/*
 * Whether @event, of an accepted watch, is accepted.
 *
 * `changed` applies to MODIFIED only: the old and new values at one of the paths must differ.
 * Labels are those of the current object, or of its last state if it was deleted. A change by which
 * an object stops matching is accepted too. `when` must begin with a MODIFIED (condition_began()), and
 * hold for the object of ADDED and DELETED.
 */
bool filter_accepts(const struct filter *filter, const struct inf_event *event);

/* The changes that a reader of an event log wants to be sure to find in it. */
struct filter_need {
    const char *const *watches; /* none: all */
    size_t n_watches;
    const char *ns; /* NULL: all */
    unsigned verbs; /* as in the settings; 0: all */
    enum inf_log_level level;
};

/* Whether @filter accepts all of them, apart from initial objects. */
bool filter_covers(const struct filter *filter, const struct filter_need *need);

/* The level of a change is known only after its diff was made, so it has a function of its own. */
bool filter_accepts_level(const struct filter *filter, enum inf_log_level level);

#endif
