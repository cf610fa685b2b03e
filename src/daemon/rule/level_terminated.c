/*
 * level_terminated.c - containers that terminated, for LEVEL_TERMINATED.
 *
 * A test is written as a condition on a terminated container: "status.containerStatuses[*].exitCode!=0".
 * The kubelet reports a termination as `state.terminated`, and after a restart as
 * `lastState.terminated`; a watch may see either or both. A termination is reported once: it is new if
 * it equals neither of the two in the container's old state. For ADDED only `state` counts.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "daemon/rule/level_test.h"

static const char *const states[] = {"state.terminated", "lastState.terminated"};

struct level_terminated {
    struct condition *conditions[ARRAY_LEN(states)];
    struct item_path *paths[ARRAY_LEN(states)];
};

struct level_terminated *level_terminated_parse(const char *text, struct inf_error *err)
{
    struct level_terminated *t = NEW(struct level_terminated);
    const char *rest = strstr(text, "[*].") + strlen("[*]."); /* rows are checked by a test */
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        char *path = xasprintf("%.*s%s", (int)(rest - text), text, states[i]);
        char *condition = xasprintf("%s.%s", path, rest);
        t->paths[i] = item_path_parse(path, err);
        t->conditions[i] = condition_parse(condition, err);
        free(path);
        free(condition);
        if (!t->paths[i] || !t->conditions[i]) {
            level_terminated_free(t);
            return NULL;
        }
    }
    return t;
}

void level_terminated_free(struct level_terminated *terminated)
{
    if (!terminated)
        return;
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        condition_free(terminated->conditions[i]);
        item_path_free(terminated->paths[i]);
    }
    free(terminated);
}

/* Whether the item of @values->at[@i] has the same text in @before. */
static bool is_known(const struct item_values *values, size_t i, const struct item_values *before)
{
    const struct item_value *old = item_values_same(values, i, before);
    return old && str_eq(old->json, values->at[i].json);
}

/* Whether a container has a new termination in @states[@state] that satisfies the condition. */
static bool is_new_in(const struct level_terminated *t, size_t state, const struct inf_event *event)
{
    struct item_values now, matching, before[ARRAY_LEN(states)];
    bool found = false;
    condition_collect(t->conditions[state], event->new_object, &matching);
    item_values_collect(&now, t->paths[state], event->new_object, NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        item_values_collect(&before[i], t->paths[i], event->old_object, NULL, NULL);
    for (size_t i = 0; i < now.count && !found; i++)
        found = item_values_same(&now, i, &matching) && !is_known(&now, i, &before[0]) &&
                !is_known(&now, i, &before[1]);
    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        item_values_free(&before[i]);
    item_values_free(&matching);
    item_values_free(&now);
    return found;
}

/* For INF_ADDED. */
const struct condition *level_terminated_condition(const struct level_terminated *terminated)
{
    return terminated->conditions[0];
}

uint64_t level_terminated_leads(const struct level_terminated *terminated, struct lead_set *set)
{
    uint64_t leads = 0;
    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        leads |= lead_set_add(set, terminated->paths[i]);
    return leads;
}

/* For INF_MODIFIED. */
bool level_terminated_applies(const struct level_terminated *t, const struct change *change)
{
    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        if (item_path_is_touched(t->paths[i], change->diff) &&
            condition_holds(t->conditions[i], change->object) && is_new_in(t, i, change->event))
            return true;
    return false;
}
