/*
 * version.h - resource versions: opaque names of states, which of one resource are mostly numbers.
 *
 * Kubernetes makes them decimal integers without leading zeros, of any length; those can be
 * compared. Other servers may use anything; those can only be equal or not.
 */
#ifndef CORE_OBJECT_VERSION_H
#define CORE_OBJECT_VERSION_H

#include <stdbool.h>

/* Whether @version is certainly older than @than. False also where they can't be compared. */
bool version_is_older(const char *version, const char *than);

#endif
