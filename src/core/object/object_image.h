/*
 * object_image.h - a stored object as bytes that can be written to a file and read again.
 *
 * An image has everything but the dictionary: names, versions, last writers, the hash of the text,
 * and the text or its frame. A packed object is written and read without being expanded. The owner of
 * images also keeps their dictionaries (pack_dictionary_bytes()), by pack_dictionary_id().
 * Hashes depend on the key of the pack_context: it must be the same when the image is read.
 */
#ifndef CORE_OBJECT_IMAGE_H
#define CORE_OBJECT_IMAGE_H

#include "informer/object.h"

#include "base/buf.h"
#include "base/str.h"

struct pack_dictionary;
struct packed_parts;

/* Receives an object that was loaded, with a reference, and the text of its metadata.labels as it was
 * saved: empty if it has none; NULL: not known. */
typedef void saved_object_fn(void *ctx, const struct inf_object *object, const struct str *labels);

/* Appends the image of @held, packed or not, to @out. */
void object_image_put(struct buf *out, const struct inf_object *held);

/* The same for @object, an ordinary one, in the form of @parts (core/object/object_packer.h). */
void object_image_put_parts(struct buf *out, const struct inf_object *object,
                            const struct packed_parts *parts);

/* The dictionary that the image of @held needs, borrowed; NULL if it is not packed. */
struct pack_dictionary *object_image_dictionary(const struct inf_object *held);

/* Makes the object of @image, which needs @dictionary (NULL: none; takes a reference). Does not
 * expand it. Returns one reference; NULL if @image is damaged or does not match @dictionary. */
const struct inf_object *object_image_load(struct str image, struct pack_dictionary *dictionary);

/* The same for an image of which object_image_key() has found that it is not damaged. */
const struct inf_object *object_image_load_checked(struct str image,
                                                   struct pack_dictionary *dictionary);

/* The same on another thread, to which the memory of @dictionary is lent (core/object/text_packer.h). It has no
 * reference to @dictionary yet: see pack_memory_end_lending(). NULL also if it is not made there: it is not packed, or
 * large. */
const struct inf_object *object_image_make_lent(struct str image,
                                                struct pack_dictionary *dictionary);

/* The key (core/object/object.h) of the object of @image, borrowed; empty if it is damaged. */
struct str object_image_key(struct str image);

/* The ordinary form of a loaded object, with one reference for the caller; NULL if its frame is
 * damaged. Once it has succeeded for an object, object_unpack() does, too. */
const struct inf_object *object_image_expand(const struct inf_object *loaded);

#endif
