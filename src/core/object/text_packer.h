/*
 * text_packer.h - compresses the texts of similar objects, each on its own, with a shared dictionary.
 *
 * The objects of one resource resemble each other. A dictionary is made of a few whole samples; a
 * text that is compressed with it takes about a tenth of its size, and can be expanded without any
 * other text.
 *
 * A context has the working memory of the compressor. One context serves all dictionaries of a
 * client. Both are reference-counted, because packed objects refer to their dictionary.
 */
#ifndef CORE_OBJECT_TEXT_PACKER_H
#define CORE_OBJECT_TEXT_PACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/siphash.h"
#include "base/str.h"

struct pack_context;
struct pack_dictionary;
struct page_stock;

/* @key is used for pack_hash(). The caller gets one reference. */
struct pack_context *pack_context_new(const struct siphash_key *key);
struct pack_context *pack_context_ref(struct pack_context *context);
void pack_context_unref(struct pack_context *context); /* NULL is allowed */

/* A hash of @text. Texts of equal length and hash are taken as equal: the key is secret, so that no
 * peer can choose texts that collide. */
uint64_t pack_hash(const struct pack_context *context, struct str text);

/* Makes a dictionary from @n samples; takes about 1 ms. The caller gets one reference. NULL if the
 * samples are not suitable (for example, too short). */
struct pack_dictionary *pack_dictionary_new(struct pack_context *context, const struct str *samples,
                                            size_t n);

/* Makes the tables for pack_compress(), which does so itself when they are missing; takes about 3 ms
 * for a dictionary of 0.7 MB. */
void pack_dictionary_prepare(struct pack_dictionary *dictionary);

struct pack_dictionary *pack_dictionary_ref(struct pack_dictionary *dictionary);
void pack_dictionary_unref(struct pack_dictionary *dictionary); /* NULL is allowed */

/* A dictionary as bytes, borrowed; the dictionary of such bytes (one reference; NULL if they are
 * damaged); and a number that differs between dictionaries with different bytes. */
struct str pack_dictionary_bytes(const struct pack_dictionary *dictionary);
struct pack_dictionary *pack_dictionary_load(struct pack_context *context, struct str bytes);
uint64_t pack_dictionary_id(
    struct pack_dictionary *dictionary); /* the first call takes 0.3 ms for 0.7 MB */

struct pack_context *pack_dictionary_context(const struct pack_dictionary *dictionary);

/* Memory for an object of @size bytes that is packed with @dictionary, and its return. Each dictionary has
 * pages of its own: when all objects were repacked with another one, nothing is left of them. */
void *pack_memory_take(struct pack_dictionary *dictionary, size_t size);
void pack_memory_give(struct pack_dictionary *dictionary, void *memory, size_t size);

/* Lends this memory to another thread, which only calls pack_memory_take_lent(): meanwhile the owner returns memory,
 * but takes none. @stock: where pages come from, also lent. */
void pack_memory_lend(struct pack_dictionary *dictionary, struct page_stock *stock);

bool pack_memory_is_lent(const struct pack_dictionary *dictionary);

/* NULL: objects of this size have no pages; pack_memory_take() gives memory for them, also while it is lent. */
void *pack_memory_take_lent(struct pack_dictionary *dictionary, size_t size);

/* The other thread has ended; it has made @objects that refer to @dictionary: references of their own. */
void pack_memory_end_lending(struct pack_dictionary *dictionary, unsigned objects);

/* Memory that is used before more is mapped. The user that fills it also clears it. */
struct page_stock *pack_memory_stock(struct pack_context *context);

/* Compresses @text. Returns the frame, valid until the next call with the same context; an empty
 * one if it would be longer than @max. */
struct str pack_compress(struct pack_dictionary *dictionary, struct str text, size_t max);

/* Expands @frame, which pack_compress() made with @dictionary from a text of @len bytes, to @out.
 * Returns false if it is damaged. */
bool pack_expand(struct pack_dictionary *dictionary, struct str frame, char *out, size_t len);

#endif
