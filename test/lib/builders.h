/*
 * builders.h - objects for tests, in one line.
 */
#ifndef TEST_BUILDERS_H
#define TEST_BUILDERS_H

#include <stdint.h>

#include "core/object/object.h"

/* A pod `namespace/name` with this uid, resource version and value of spec.n. One reference, the
 * caller's. */
struct inf_object *pod(const char *key, const char *uid, uint64_t version, int n);

/* An object from its text; a text that is none ends the test program. */
struct inf_object *object_from(const char *text);

#endif
