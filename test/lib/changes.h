/*
 * changes.h - an event from the texts of two states, for tests of change reports.
 */
#ifndef TEST_CHANGES_H
#define TEST_CHANGES_H

#include "informer/diff.h"
#include "informer/event.h"

#include "daemon/record/change.h"

struct sample {
    struct inf_object *before; /* NULL: added */
    struct inf_object *after;  /* NULL: deleted */
    struct inf_diff *diff;     /* of both, or NULL */
    struct inf_event event;    /* live, at 2026-01-01T12:04:31.000042Z */
};

/* Texts are JSON with ' for "; each is NULL or an object. */
void sample_make(struct sample *sample, const char *before, const char *after);
void sample_free(struct sample *sample);

/* A Pod shop/web-0, uid u-1, of version @version, with @rest ("'spec':{}"; may be "") after its
 * metadata. Its last manager is kubelet, which wrote the status. The caller frees the text. */
char *pod_text(int version, const char *rest);

/* A sample change of such a pod, from one rest to another; the second one has version @version. */
void sample_pod_at(struct sample *sample, const char *before, const char *after, int version);

/* The same at version 8. */
void sample_pod(struct sample *sample, const char *before, const char *after);

/* change_init() with all parts of the context; no owner can be looked up. */
void sample_change(struct change *ret, const struct watch_id *watch, const struct inf_event *event,
                   struct inf_diff *diff);

/* @text with " for each '; the caller frees it. */
char *with_quotes(const char *text);

#endif
