/*
 * noise.h - what a watch ignores, beyond heartbeats and unchanged updates: presets and field paths.
 *
 * An update is ignored if each of its changes is covered by one of the entries of the option `ignore`.
 * Anything unexpected is not covered, so that a real change is never ignored.
 */
#ifndef DAEMON_JOURNAL_NOISE_H
#define DAEMON_JOURNAL_NOISE_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/diff.h"
#include "informer/error.h"

struct noise;

/* The names of all presets, `heartbeats` and `unchanged` included; ends with NULL. */
extern const char *const noise_presets[];

/* Returns 0 if @text is a preset or a field path; else -INF_EINVAL with an error that describes both. */
int noise_check(const char *text, struct inf_error *err);

/* Makes a filter of checked entries. Returns NULL if there are only `heartbeats` and `unchanged`, or
 * none. */
struct noise *noise_make(char *const *entries, size_t n);

/* NULL is allowed. */
void noise_free(struct noise *noise);

/* Whether every change of @diff, of an object of @kind, is covered; false for a diff without changes,
 * and for a truncated one, which may hide changes. @noise may be NULL: no. */
bool noise_is(const struct noise *noise, const char *kind, const struct inf_diff *diff);

#endif
