/*
 * selector.h - selectors inside the engine: their parts, and matching without an object.
 *
 * label_selector.c and field_selector.c parse them, selector.c matches them, selector_format.c
 * formats them.
 */
#ifndef CORE_SELECT_SELECTOR_H
#define CORE_SELECT_SELECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "informer/selector.h"

#include "base/str.h"
#include "core/object/path.h"

enum {
    SELECTOR_TEXT_MAX = 16 * 1024, /* LIMIT: bytes of a selector as written */
    SELECTOR_TERMS_MAX = 128,      /* LIMIT: requirements */
    SELECTOR_VALUES_MAX = 1024,    /* LIMIT: values of one set */
};

enum selector_kind {
    SELECT_BY_LABELS,
    SELECT_BY_FIELDS,
    SELECT_NOTHING,
};

enum selector_op {
    SELECT_EXISTS,
    SELECT_ABSENT,
    SELECT_EQUAL,
    SELECT_DOUBLE_EQUAL, /* the same; labels keep the spelling, as Kubernetes does */
    SELECT_NOT_EQUAL,
    SELECT_IN,
    SELECT_NOT_IN,
    SELECT_GREATER,
    SELECT_LESS,
};

struct selector_term {
    enum selector_op op;
    struct str key;        /* of a label */
    struct inf_path *path; /* to a field */
    struct str *values;    /* in order, each once */
    size_t count;          /* of values */
    int64_t bound;         /* SELECT_GREATER, SELECT_LESS: the value as a number */
    char *text;            /* canonical */
};

struct inf_selector {
    enum selector_kind kind;
    struct selector_term *terms; /* in the order of the canonical text */
    size_t count;                /* of terms; 0: everything */
    char *memory;                /* what keys and values point into */
    char *text;                  /* canonical */
};

/* Selectors that are decided without examining objects. NULL selects everything. */
bool selector_is_everything(const struct inf_selector *selector);
bool selector_is_nothing(const struct inf_selector *selector);

/* Whether a selector by labels (or for nothing, or for everything) matches an object whose
 * metadata.labels is @labels. "{}" and "null" mean no labels. */
bool selector_matches_labels(const struct inf_selector *selector, struct str labels);

/* Whether a selector of any kind matches the object with this text. */
bool selector_matches_text(const struct inf_selector *selector, struct str text);

/* ---- for the two parsers ---- */

/* Adds a zeroed term; NULL at SELECTOR_TERMS_MAX. Valid until the next call. */
struct selector_term *selector_add(struct inf_selector *selector);

/* Adds a value; false at SELECTOR_VALUES_MAX. */
bool selector_term_add(struct selector_term *term, struct str value);

/* A whole number of 64 bits, with or without sign. */
bool selector_number(struct str text, int64_t *ret);

/* Sorts values and terms. Returns the canonical text, which the caller frees. */
char *selector_format(struct inf_selector *selector);

/* Parse @text into @selector. Return 0, or -INF_EINVAL with a message. */
int label_selector_parse(struct inf_selector *selector, struct str text, struct inf_error *err);
int field_selector_parse(struct inf_selector *selector, struct str text, struct inf_error *err);

#endif
