/*
 * select.c - the objects that a selector takes: by their label sets, or one by one.
 */
#include "informer/store.h"

#include "core/select/selector.h"
#include "core/store/store.h"

static bool matches_labels(const void *selector, struct str labels)
{
    return selector_matches_labels(selector, labels);
}

/* Fields are not kept in sets: every object is looked at. */
static void select_one_by_one(const struct inf_store *store, const char *ns,
                              const struct inf_selector *selector, inf_object_fn *each, void *ctx)
{
    struct inf_cursor cursor = INF_CURSOR_START;
    const struct inf_object *object;
    while ((object = inf_store_next_in(store, ns, &cursor)))
        if (inf_selector_matches(selector, object) && !each(ctx, object))
            break;
    inf_cursor_end(&cursor);
}

static void select_by_labels(const struct inf_store *store, const char *ns,
                             const struct inf_selector *selector, inf_object_fn *each, void *ctx)
{
    struct label_query query = {.ns = ns, .matches = matches_labels, .selector = selector};
    struct inf_cursor cursor = INF_CURSOR_START;
    size_t budget = SIZE_MAX;
    if (!store_few_by_labels(store, &query, each, ctx))
        store_by_labels(store, &query, &cursor, &budget, each, ctx);
    inf_cursor_end(&cursor);
}

void inf_store_select(const struct inf_store *store, const char *ns,
                      const struct inf_selector *selector, inf_object_fn *each, void *ctx)
{
    if (selector_is_nothing(selector))
        return;
    if (!selector_is_everything(selector) && selector->kind == SELECT_BY_LABELS)
        select_by_labels(store, ns, selector, each, ctx);
    else
        select_one_by_one(store, ns, selector, each, ctx);
}
