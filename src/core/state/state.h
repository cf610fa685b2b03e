/*
 * state.h - state on disk for the library: the public functions (informer/state.h) that need neither a
 * loop nor an informer are implemented in this directory; lib/ adds the others.
 *
 * Files of the directory, all of mode 0600:
 *
 *     00000007.seg 00000008.seg   records (state_record.h), appended to the last file
 *     00000003.dict               a dictionary of packed objects (core/object/text_packer.h)
 *
 * Records are grouped in batches. A batch counts only with its end record, and is never split over
 * files. Each file starts with the definitions of all streams and queues. Recovery reads all files in
 * order, applies whole batches, and cuts off what follows the last one in the last file. Any other
 * damage discards everything.
 *
 * Compaction copies what is still needed from the oldest file to the end of the last one, syncs it,
 * and removes the oldest file. Because files are removed in order, records of deletions need not be
 * copied.
 *
 * Objects are written in the form in which a store holds them, so that a change costs no
 * compression. Their hashes depend on the key of a pack_context: the state has one, with a key that
 * is kept in the files. Stores whose objects are noted use it, too: state_pack_context().
 *
 * A start reads all segments. There is no file of hints beside them: a cache holds the frames of all
 * objects, so everything is read in any case, and what else a store needs (keys, versions, label sets)
 * is in the records.
 */
#ifndef CORE_STATE_H
#define CORE_STATE_H

#include "informer/state.h"

#include "base/siphash.h"
#include "core/object/object_image.h"
#include "core/object/text_packer.h"
#include "seam/clock.h"
#include "seam/disk.h"

struct generation;
struct inf_store;

/*
 * Opens a state on @disk, as inf_state_open(). @key is for hashes that are not written, and the key
 * of a new pack_context if the files have none. Fails as inf_state_open().
 *
 * @on_free, which may be NULL, is called with @owner when the state was closed and neither @disk nor
 * @clock are used any more: that may be long after on_closed() if an operation hangs.
 */
struct inf_state *state_new(struct disk *disk, struct clock *clock, const struct siphash_key *key,
                            const struct inf_state_settings *settings, void (*on_free)(void *owner),
                            void *owner, struct inf_error *err);

/* The context for stores whose objects are noted here, borrowed. Call it after on_loaded(). An object
 * that was packed with another one is expanded and packed again when it is noted. */
struct pack_context *state_pack_context(struct inf_state *state);

/* Adds @object, ordinary or packed, to the current batch: it replaces the object with its key. An
 * ordinary one is packed by a packer of the stream. @labels is the text of its metadata.labels, empty if
 * it has none; NULL: not known, then it has to be expanded when it is restored. */
void state_put(struct inf_state_stream *stream, const struct inf_object *object,
               const struct str *labels);

/* Adds the deletion of the object with the key of @object, if the stream has one. */
void state_delete(struct inf_state_stream *stream, const struct inf_object *object);

/* Moves all objects that were loaded to a generation for @store, which has no objects. Returns false while they
 * are sorted: then it is called again. If the store holds objects in another form, *@ret_generation is NULL, and
 * the objects are still there. Else the stream is not restored any more, the caller owns the generation, and the
 * texts of *@ret_damaged of them are damaged, which is otherwise not set. */
bool state_stream_move(struct inf_state_stream *stream, struct inf_store *store,
                       struct generation **ret_generation, size_t *ret_damaged);

/* Hands up to @n objects that were loaded to @take, in the order of their keys; none while they are sorted.
 * Their labels are valid until the next call for the stream. @take must not change the stream. Returns false if
 * there were no more: then the stream is not restored any more. */
bool state_stream_take(struct inf_state_stream *stream, size_t n, saved_object_fn *take, void *ctx);

/* The dictionary of the stream's newest packed object when it was loaded, borrowed while the stream is
 * restored; NULL: none. For object_packer_resume(). */
struct pack_dictionary *state_stream_dictionary(struct inf_state_stream *stream);

/* The @owner of state_new(). */
void *state_owner(const struct inf_state *state);

struct inf_state *state_of_stream(struct inf_state_stream *stream);

#endif
