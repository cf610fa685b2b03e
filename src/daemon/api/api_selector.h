/*
 * api_selector.h - whether a request asks for no more than a watch with selectors has.
 */
#ifndef DAEMON_API_SELECTOR_H
#define DAEMON_API_SELECTOR_H

#include "informer/selector.h"

#include "base/str.h"

/* Whether every object that @requested (NULL: all) selects is selected by @watched (NULL: all) too.
 * Only certain cases are recognized: each requirement of @watched is one of @requested. */
bool api_selector_implies(const struct inf_selector *requested, const char *watched,
                          bool by_labels);

/* The number of requirements of @selector (NULL: 0). */
size_t api_selector_count(const struct inf_selector *selector);

/* Whether a term of @fields (NULL: none) is in a field at @path, or contains it. The parts in brackets are
 * taken for equal. */
bool api_selector_uses(const struct inf_selector *fields, const char *path);

/* Whether one of two field paths is the other one or contains it; brackets as above. */
bool api_paths_overlap(struct str one, struct str other);

/* Whether all its terms are in metadata. */
bool api_selector_is_metadata(const struct inf_selector *fields);

#endif
