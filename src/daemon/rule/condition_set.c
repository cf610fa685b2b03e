/*
 * condition_set.c - tries the terms of several conditions in one walk over an object.
 *
 * For each value at the path of a term, the term is tried, unless another value has satisfied it.
 * Nothing here fails.
 */
#include "daemon/rule/condition_set.h"

#include "informer/path.h"

#include "daemon/rule/condition_internal.h"

uint64_t condition_set_add(struct condition_set *set, const struct condition *condition)
{
    uint64_t bits = 0;
    if (condition->n_terms > CONDITION_SET_MAX - set->count)
        return 0;
    for (size_t i = 0; i < condition->n_terms; i++) {
        const struct condition_term *term = &condition->terms[i];
        set->terms[set->count] = term;
        set->paths[set->count] = item_path_plain(term->path);
        bits |= (uint64_t)1 << set->count++;
    }
    return bits;
}

struct set_search {
    const struct condition_set *set;
    uint64_t found;
};

static bool try_term(void *ctx, size_t term, const char *json, size_t len)
{
    struct set_search *search = ctx;
    uint64_t bit = (uint64_t)1 << term;
    if (!(search->found & bit) &&
        condition_term_is_satisfied(search->set->terms[term], (struct str){json, len}))
        search->found |= bit;
    return true;
}

uint64_t condition_set_find(const struct condition_set *set, const struct inf_object *object)
{
    struct set_search search = {.set = set};
    inf_paths_each(set->paths, set->count, object, try_term, &search);
    return search.found;
}
