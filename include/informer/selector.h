/*
 * selector.h - which objects: label and field selectors, read and matched as the API server does.
 *
 *     app in (web, api), tier!=cache, !canary, weight>3        labels
 *     status.phase=Running,spec.nodeName!=                     fields
 *
 * Labels. Requirements are joined by commas and must all hold: `key` is there, `!key` is not, `=`
 * `==` `in (a,b)` one of these values, `!=` `notin (a,b)` another value or no such label, `>` `<` a
 * whole number beyond. Blanks are free; a missing value is the empty one (`a=`, `a in (x,)`).
 *
 * Fields. Terms `path=value`, `path==value` and `path!=value`; in values, commas, equal signs and
 * backslashes are written `\,` `\=` `\\`, and blanks belong to them. The path is one of
 * informer/path.h (the server itself knows only a few of them). A field that is not there, or null,
 * is the empty text; numbers and booleans are compared by their spelling. Where a path names
 * several values, `=` holds if one of them is equal, and `!=` if none is.
 */
#ifndef INFORMER_SELECTOR_H
#define INFORMER_SELECTOR_H

#include <stdbool.h>

#include "informer/error.h"
#include "informer/object.h"

#ifdef __cplusplus
extern "C" {
#endif

struct inf_selector;

/**
 * Reads a selector of at most 16 KiB, 128 requirements and 1024 values in a set; "" selects
 * everything. The caller frees it.
 *
 * Returns NULL with INF_EINVAL if it is none; the text names the column and what would be right.
 * @err may be NULL.
 */
INF_API struct inf_selector *inf_selector_parse_labels(const char *text, struct inf_error *err);
INF_API struct inf_selector *inf_selector_parse_fields(const char *text, struct inf_error *err);

/** A selector that no object matches. */
INF_API struct inf_selector *inf_selector_nothing(void);

/** NULL is fine. */
INF_API void inf_selector_free(struct inf_selector *selector);

/** Whether @object is selected. NULL selects everything. */
INF_API bool inf_selector_matches(const struct inf_selector *selector,
                                  const struct inf_object *object);

/**
 * The selector in canonical spelling, as a request can carry it: requirements and values in order,
 * no needless blanks. Parsed again it is the same; "" is everything; nothing's is "(nothing)",
 * which can't be parsed. Lives as long as @selector.
 */
INF_API const char *inf_selector_text(const struct inf_selector *selector);

#ifdef __cplusplus
}
#endif

#endif
