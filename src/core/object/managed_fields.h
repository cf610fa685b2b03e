/*
 * managed_fields.h - metadata.managedFields: the last writers of an object, and the position of the
 * field in its text.
 *
 * The field is nearly half of what a server sends, and few users keep it. Cutting it out before the
 * text is parsed saves the parsing:
 *
 *     {"metadata":{"name":"web-0","managedFields":[{"manager":"kubelet",...}]},"spec":...
 *                                ------------------- cut ---------------------
 *
 * The cut value is not validated. It has as many closing brackets as opening ones, so the rest is valid
 * JSON exactly if the text with any valid value in its place is.
 */
#ifndef CORE_OBJECT_MANAGED_FIELDS_H
#define CORE_OBJECT_MANAGED_FIELDS_H

#include <stdbool.h>

#include "base/str.h"

/* Strings are empty where nothing is known; all point into the text. */
struct last_writers {
    struct str manager; /* of the last write that was not to the status */
    struct str subresource;
    struct str time;
    struct str status_manager; /* of the last write to the status */
    struct str status_time;

    /* Whether all entries for the status, or all others, have one manager. Entries of other
     * subresources count as both, because they may write to either (approval of a
     * CertificateSigningRequest writes conditions), except `scale`, which writes spec.replicas. */
    bool sole_status;
    bool sole_other;
};

struct managed {
    struct last_writers writers;
    struct str cut; /* the first managedFields with their key and one comma; empty: none to cut */
};

/*
 * Reads the managedFields of @object, which need not be JSON.
 *
 * The newest entries determine `writers`. Times have a resolution of one second, so two entries may be
 * the newest: one for the status and one other are then both kept, and the caller decides by what
 * changed. Two of the same sort leave that sort unknown.
 */
void managed_read(struct str object, struct managed *ret);

#endif
