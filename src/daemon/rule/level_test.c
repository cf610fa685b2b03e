/*
 * level_test.c - parses and evaluates one test of a level rule.
 *
 * For MODIFIED the paths of the diff are compared first, with the leads of all tests together
 * (lead_set.h): most changes touch no field of a rule, and then no object is read. A new object is read once for all tests of its kind (condition_set.h): one
 * walk for each of them took more than half of a first list of pods. Only parsing can fail.
 */
#include "daemon/rule/level_test.h"

#include <stdlib.h>

static bool read_value(const struct inf_diff_value *value, double *ret)
{
    return value->json && condition_read_number((struct str){value->json, value->len}, ret);
}

/*
 * Whether the diff alone shows which numbers at the path have changed: then no object is read. Measured
 * with the pods of `make bench`, whose restart count differs in each version: at 300 changes a second
 * reading both objects took a sixth of the daemon's CPU time.
 */
static bool read_increase(const struct item_path *path, const struct inf_diff *diff,
                          bool *ret_increased)
{
    bool increased = false, has_changed = false;
    for (size_t i = 0; i < inf_diff_count(diff); i++) {
        const struct inf_change *change = inf_diff_get(diff, i);
        double from, to;
        if (!item_path_touches(path, change->path))
            continue;
        if (!item_path_names(path, change->path) || !read_value(&change->old_value, &from) ||
            !read_value(&change->new_value, &to))
            return false;
        has_changed = true;
        increased |= to > from;
    }
    *ret_increased = increased;
    return has_changed; /* else the path is one that diffs omit */
}

/* Whether a number at the path is greater than that of the same item before. */
static bool has_increased(const struct item_path *path, const struct inf_event *event)
{
    struct item_values before, now;
    bool increased = false;
    item_values_collect(&before, path, event->old_object, NULL, NULL);
    item_values_collect(&now, path, event->new_object, NULL, NULL);
    for (size_t i = 0; i < now.count && !increased; i++) {
        const struct item_value *old = item_values_same(&now, i, &before);
        double from, to;
        increased = old && condition_read_number(old->json, &from) &&
                    condition_read_number(now.at[i].json, &to) && to > from;
    }
    item_values_free(&before);
    item_values_free(&now);
    return increased;
}

int level_test_parse(struct level_test *ret, enum level_match match, const char *text,
                     struct inf_error *err)
{
    *ret = (struct level_test){.match = match};
    switch (match) {
    case LEVEL_WHEN:
    case LEVEL_HOLDS:
        ret->condition = condition_parse(text, err);
        return ret->condition ? 0 : -INF_EINVAL;
    case LEVEL_CHANGED:
    case LEVEL_INCREASED:
        ret->path = item_path_parse(text, err);
        return ret->path ? 0 : -INF_EINVAL;
    case LEVEL_TERMINATED:
        ret->terminated = level_terminated_parse(text, err);
        return ret->terminated ? 0 : -INF_EINVAL;
    }
    return -INF_EINVAL;
}

void level_test_free(struct level_test *test)
{
    condition_free(test->condition);
    item_path_free(test->path);
    level_terminated_free(test->terminated);
}

static bool applies_to_change(const struct level_test *test, const struct change *change)
{
    const struct inf_event *event = change->event;
    bool increased;
    switch (test->match) {
    case LEVEL_WHEN:
        return condition_may_begin(test->condition, change->diff) &&
               condition_began(test->condition, event->old_object, event->new_object);
    case LEVEL_CHANGED:
        return item_path_is_touched(test->path, change->diff) &&
               item_path_differs(item_path_plain(test->path), event->old_object, event->new_object);
    case LEVEL_INCREASED:
        if (!item_path_is_touched(test->path, change->diff))
            return false;
        return read_increase(test->path, change->diff, &increased)
                   ? increased
                   : has_increased(test->path, event);
    case LEVEL_HOLDS: return condition_holds(test->condition, event->new_object);
    case LEVEL_TERMINATED: return level_terminated_applies(test->terminated, change);
    }
    return false;
}

/* What has to hold for a new object; NULL: the test does not apply to new objects. */
static const struct condition *condition_for_added(const struct level_test *test)
{
    return test->terminated ? level_terminated_condition(test->terminated) : test->condition;
}

/* What a change has to touch for applies_to_change(). */
static uint64_t leads_of(const struct level_test *test, struct lead_set *leads)
{
    switch (test->match) {
    case LEVEL_WHEN: return condition_leads(test->condition, leads);
    case LEVEL_CHANGED:
    case LEVEL_INCREASED: return lead_set_add(leads, test->path);
    case LEVEL_HOLDS: break;
    case LEVEL_TERMINATED: return level_terminated_leads(test->terminated, leads);
    }
    return LEAD_ALWAYS;
}

void level_test_join(struct level_test *test, struct condition_set *set, struct lead_set *leads)
{
    const struct condition *condition = condition_for_added(test);
    test->bits = condition ? condition_set_add(set, condition) : 0;
    test->leads = leads_of(test, leads);
}

bool level_test_applies(const struct level_test *test, const struct change *change, uint64_t found)
{
    const struct condition *condition = condition_for_added(test);
    switch (change->event->verb) {
    case INF_MODIFIED: return (found & test->leads) && applies_to_change(test, change);
    case INF_DELETED:
        return test->match == LEVEL_HOLDS && condition_holds(condition, change->object);
    case INF_ADDED:
        return condition && (test->bits ? (found & test->bits) == test->bits
                                        : condition_holds(condition, change->object));
    }
    return false;
}
