/*
 * decode.h - one watch event or one item of a list, from its text to a source_event.
 */
#ifndef KUBE_SOURCE_DECODE_H
#define KUBE_SOURCE_DECODE_H

#include "base/str.h"
#include "core/object/object.h"
#include "core/select/shard.h"
#include "seam/source.h"

struct decoder {
    struct object_maker maker;
    char version[OBJECT_NAME_MAX + 1]; /* of the last bookmark */
};

/*
 * Parses `{"type":T,"object":{...}}`, with members in any order. On success @ret_event has a
 * reference to its object, if it has one. An ERROR event is a failure with the code and text of
 * its Status.
 */
int decode_event(struct decoder *decoder, struct str text, struct source_event *ret_event,
                 struct inf_error *err);

/*
 * The fast path for nearly all events: one with an object, in the form that API servers write,
 * without counting its brackets. True means that @text is exactly one complete event. False
 * means that it must be decoded by decode_event().
 */
bool decode_guess(struct decoder *decoder, struct str text, struct source_event *ret_event);

/*
 * @text could not be decoded. If it is an event and contains the name of its object, returns true and
 * the event as SOURCE_SKIPPED, or as SOURCE_DELETED, for which an identity is enough. @cut: its end is
 * missing. Returns false if it is not an event, or an ERROR: then it is unknown what was lost.
 */
bool decode_unreadable(struct str text, bool cut, struct source_event *ret_event);

/* The same for an item of a list. False if neither it nor its list has a kind. */
bool decode_unreadable_item(struct str text, const struct object_defaults *defaults,
                            struct source_event *ret_event);

/*
 * Whether @text, an event as decode_guess() takes it, is of an object that belongs to another shard.
 * Makes no object. False if that can't be seen, or if @text is not one event.
 */
bool decode_is_other_shard(struct str text, struct shard shard);

/* Decodes an item of a list as SOURCE_ADDED. @defaults are the kind and version of the list. */
int decode_item(struct decoder *decoder, struct str text, const struct object_defaults *defaults,
                struct source_event *ret_event, struct inf_error *err);

void decoder_free(struct decoder *decoder);

#endif
