/*
 * object_who.h - who wrote an object last, read from its managedFields before they are cut.
 */
#ifndef CORE_OBJECT_WHO_H
#define CORE_OBJECT_WHO_H

#include "base/str.h"

struct yyjson_val;

/* Empty strings where nothing is known; all lent from the document. */
struct who {
    struct str manager; /* of the last write that was not to the status */
    struct str subresource;
    struct str time;
    struct str status_manager; /* of the last write to the status */
    struct str status_time;
};

/*
 * The newest entries of metadata.managedFields. Their times have a grain of one second, so two may
 * be the newest: then one to the status and one other are both kept, and who asks decides by what
 * changed. Two of the same sort leave that sort unknown.
 */
void who_read(struct yyjson_val *metadata, struct who *ret);

#endif
