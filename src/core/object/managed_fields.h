/*
 * managed_fields.h - metadata.managedFields: who wrote an object last, and where they stand in its
 * text.
 *
 * They are nearly half of what a server sends, and few users keep them. Cutting them out before the
 * text is parsed saves the parsing:
 *
 *     {"metadata":{"name":"web-0","managedFields":[{"manager":"kubelet",...}]},"spec":...
 *                                ------------------- cut ---------------------
 *
 * The rest is JSON exactly if the whole was, whatever stood in the cut value: that is not checked,
 * but that it has as many closing brackets as opening ones, so the end of the rest is that of the
 * whole.
 */
#ifndef CORE_OBJECT_MANAGED_FIELDS_H
#define CORE_OBJECT_MANAGED_FIELDS_H

#include <stdbool.h>

#include "base/str.h"

/* Empty strings where nothing is known; all lent from the text. */
struct who {
    struct str manager; /* of the last write that was not to the status */
    struct str subresource;
    struct str time;
    struct str status_manager; /* of the last write to the status */
    struct str status_time;

    /* Whether all entries of a sort are of one manager. Entries of other subresources than the status
     * are of both sorts, for they may write to either (approval of a CertificateSigningRequest writes
     * conditions); but those of `scale` are not, which writes spec.replicas. */
    bool sole_status;
    bool sole_other;
};

struct managed {
    struct who who;
    struct str cut; /* the first managedFields with their key and one comma; empty: none to cut */
};

/*
 * Looks into @object, which need not be JSON.
 *
 * The newest entries determine `who`. Times have a resolution of one second, so two entries may be
 * the newest: one for the status and one other are then both kept, and the caller decides by what
 * changed. Two of the same sort leave that sort unknown.
 */
void managed_read(struct str object, struct managed *ret);

#endif
