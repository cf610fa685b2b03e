/*
 * object_packer.h - packed objects: the identity as it is, the text compressed.
 *
 * Only the store holds packed objects; readers and handlers get ordinary ones. The getters of
 * names, uid and versions work for both; inf_object_json() and everything that reads the text need
 * an ordinary one.
 *
 * A packer decides for one store. The first objects stay as they are, because a dictionary needs
 * samples and costs about 0.3 MB. Then a dictionary is made from a random selection of the objects
 * seen so far; again, and with more samples, when there are many more objects, because a list is
 * sorted by namespace and begins with objects that are alike; and again when objects compress clearly
 * worse than the first ones with it, but at most once for a number of changes that is in proportion
 * to the objects that must be repacked. Objects that were packed with an earlier dictionary remain
 * readable; the store repacks them in slices.
 */
#ifndef CORE_OBJECT_PACKER_H
#define CORE_OBJECT_PACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/object.h"

#include "base/buf.h"
#include "base/rng.h"
#include "core/object/text_packer.h"

enum {
    PACK_SAMPLES_MAX = 96,       /* of a dictionary */
    PACK_SAMPLE_MAX = 16 * 1024, /* bytes of a text that are used as a sample */
};

struct pack_limits {
    size_t text_min; /* shorter texts are not packed */
    size_t objects;  /* the first dictionary is made after this number of objects ... */
    size_t bytes;    /* ... with texts of this total size */
    size_t window;   /* objects over which the mean size is observed */
};

/* The beginning of a text; or, of a restored object, the frame of all of it. */
struct pack_sample {
    struct buf bytes;
    struct pack_dictionary *dictionary; /* of the frame: a reference; NULL: it is a text */
    size_t text_len;                    /* of the frame */
};

struct object_packer {
    struct pack_context *context; /* a reference; NULL: nothing is packed */
    struct pack_limits limits;
    struct rng rng;
    struct pack_dictionary *dictionary; /* a reference; NULL: not made yet */
    unsigned dictionaries;              /* made so far */
    size_t adopted; /* how many more restored objects have `dictionary` than another one */
    struct pack_dictionary *draft; /* a reference; the next one, not prepared yet */
    unsigned draft_age;            /* objects since then */
    unsigned drafts;               /* so far */

    size_t objects; /* in the store */
    unsigned step;  /* of growth: the next one */
    struct pack_sample samples[PACK_SAMPLES_MAX];
    size_t n_samples;
    size_t seen; /* objects that were offered as samples */
    size_t seen_bytes;

    size_t since;    /* objects that were packed since the last draft, */
    size_t repacked; /* and objects that were packed again */

    /* of the current window */
    size_t packed;
    size_t packed_text;  /* sum of the texts */
    size_t packed_frame; /* sum of the frames */
    double first_ratio;  /* frame to text in the first window of the dictionary; 0: not known yet */
};

/* @context is referenced; NULL: the packer returns every object as it is. @limits NULL: the default.
 * @seed selects the samples. */
void object_packer_init(struct object_packer *packer, struct pack_context *context,
                        const struct pack_limits *limits, uint64_t seed);
void object_packer_free(struct object_packer *packer);

/* The form of @object, an ordinary one, in which the store holds it, with one reference for the
 * caller. It is @object itself if packing does not pay. The store has @objects objects. */
const struct inf_object *object_pack(struct object_packer *packer, const struct inf_object *object,
                                     size_t objects);

/* The same as parts, without making an object: for state on disk. Valid until the next call with the same
 * context. */
struct packed_parts {
    struct str frame;                   /* empty: packing does not pay */
    uint64_t hash;                      /* of the text */
    struct pack_dictionary *dictionary; /* borrowed */
};
void object_pack_parts(struct object_packer *packer, const struct inf_object *object,
                       size_t objects, struct packed_parts *ret_parts);

/* A list of @objects objects is complete: a dictionary that was made from the first part of it is
 * replaced. */
void object_packer_list_ended(struct object_packer *packer, size_t objects);

/* Completes a dictionary of which one stage is done, also if no more objects come. Returns whether there
 * was one. */
bool object_packer_continue(struct object_packer *packer);

/* The store holds @restored, a packed object of an earlier process, as it is. The packer uses the
 * dictionary that most of them have for later objects, and some of them as samples: these are expanded when
 * another dictionary is made. */
void object_packer_adopt(struct object_packer *packer, const struct inf_object *restored,
                         size_t objects);

/* Fetches the memory that object_packer_adopt() needs. */
void object_packer_prefetch(const struct inf_object *restored);

/* The form in which the store holds @restored, an object of an earlier process, whose ordinary form is
 * @object; with one reference for the caller. A packed one stays as it is, see
 * object_packer_adopt(). */
const struct inf_object *object_pack_restored(struct object_packer *packer,
                                              const struct inf_object *restored,
                                              const struct inf_object *object, size_t objects);

/* Whether @held, as the store holds it, is not in the form that the packer now gives objects; and
 * that form, with one reference for the caller. */
bool object_repack_is_due(const struct object_packer *packer, const struct inf_object *held);
const struct inf_object *object_repack(struct object_packer *packer, const struct inf_object *held);

bool object_is_packed(const struct inf_object *object);

/* The ordinary form of @object, with one reference for the caller. If its frame is damaged, @object is
 * marked, and the result has only its kind, names, uid and version. */
const struct inf_object *object_unpack(const struct inf_object *object);

/* Whether that was found out about @object, or it is such a result. It does not equal any other object. */
bool object_is_damaged(const struct inf_object *object);

/* The same, but NULL if its frame is damaged. */
const struct inf_object *object_try_unpack(const struct inf_object *object);

/* Packs with @dictionary (takes a reference), of objects that were packed before a restart. */
void object_packer_resume(struct object_packer *packer, struct pack_dictionary *dictionary);

/* For inf_object_unref(). */
void object_free_packed(struct inf_object *packed);

#endif
