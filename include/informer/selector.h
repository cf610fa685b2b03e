/*
 * selector.h - label and field selectors, parsed and matched as the API server does.
 *
 *     app in (web, api), tier!=cache, !canary, weight>3        labels
 *     status.phase=Running,spec.nodeName!=                     fields
 *
 * Labels. Requirements are separated by commas and must all match:
 *
 *     key                          the label exists
 *     !key                         the label does not exist
 *     =  ==  in (a,b)              the label has one of these values
 *     !=  notin (a,b)              the label has another value or does not exist
 *     >  <                         the label is an integer greater or less than the value
 *
 * Spaces are ignored. A missing value is the empty string (`a=`, `a in (x,)`).
 *
 * Fields. Terms are `path=value`, `path==value` and `path!=value`. In values, commas, equal signs
 * and backslashes are written `\,` `\=` `\\`; spaces are part of the value. The path is one of
 * informer/path.h (the server itself supports only a few of them). A field that is missing or null
 * is the empty string; numbers and booleans are compared by their spelling. If a path names several
 * values, `=` matches if one of them is equal, and `!=` if none is.
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
 * Parses a selector of at most 16 KiB, 128 requirements and 1024 values in a set; "" selects
 * everything. The caller frees it.
 *
 * Returns NULL with INF_EINVAL if it is invalid; the text names the column and the expected form.
 * @err may be NULL.
 */
INF_API struct inf_selector *inf_selector_parse_labels(const char *text, struct inf_error *err);
INF_API struct inf_selector *inf_selector_parse_fields(const char *text, struct inf_error *err);

/** A selector that matches no object. The caller frees it. */
INF_API struct inf_selector *inf_selector_nothing(void);

/** Frees @selector. NULL is allowed. */
INF_API void inf_selector_free(struct inf_selector *selector);

/** Whether @selector matches @object. A NULL selector matches everything. */
INF_API bool inf_selector_matches(const struct inf_selector *selector,
                                  const struct inf_object *object);

/**
 * Whether a label selector matches an object whose metadata.labels are the JSON object @labels, for
 * example of a record. No object is needed; "" means no labels. A NULL selector matches everything;
 * one by fields matches nothing.
 */
INF_API bool inf_selector_matches_labels(const struct inf_selector *selector, const char *labels,
                                         size_t len);

/**
 * The selector in canonical spelling, as a request carries it: requirements and values sorted, no
 * unnecessary spaces.
 *
 * Parsing it again gives the same selector; "" selects everything; that of inf_selector_nothing()
 * is "(nothing)", which can't be parsed. Valid as long as @selector.
 */
INF_API const char *inf_selector_text(const struct inf_selector *selector);

#ifdef __cplusplus
}
#endif

#endif
