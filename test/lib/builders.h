/*
 * builders.h - objects for tests, in one line.
 */
#ifndef TEST_BUILDERS_H
#define TEST_BUILDERS_H

#include <stdint.h>

#include "informer/path.h"
#include "informer/selector.h"

#include "core/object/object.h"

/* A pod `namespace/name` with this uid, resource version and value of spec.n. The caller owns
 * the reference. */
struct inf_object *pod(const char *key, const char *uid, uint64_t version, int n);

/* An object from JSON; invalid JSON ends the test program. */
struct inf_object *object_from(const char *text);

/* A path or a selector from its text; one that is refused ends the test program. */
typedef struct inf_selector *selector_parse_fn(const char *text, struct inf_error *err);
struct inf_path *path_from(const char *text);
struct inf_selector *selector_from(selector_parse_fn *parse, const char *text);

#endif
