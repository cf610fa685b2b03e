/*
 * text_packer.c - the only file that uses zstd.
 *
 * Frames have no checksum, size or dictionary id: their owner knows all of these. Normal path:
 * pack_dictionary_new() once per resource, then pack_compress() and pack_expand() per object, without
 * allocations. Compression fails only if the output is too small, which the caller handles;
 * expanding fails only for frames that were damaged on a disk.
 */
#include "core/object/text_packer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zdict.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/slots.h"
#include "base/text_hash.h"

enum {
    LEVEL = 1,         /* the fastest: higher levels gain less than 10 % here */
    HEADER_MAX = 1024, /* entropy tables of a dictionary: zstd needs at most 256 bytes */
    CLASS_STEP = 64,   /* packed objects take memory in multiples of it, ... */
    CLASSES = 64,      /* ... or directly from malloc(), if they are larger than 4 KB */
    STATISTICS = 14,   /* samples for these tables; more only take time */
};

struct pack_context {
    unsigned refs;
    struct text_hash_key key;
    ZSTD_CCtx *compressor;
    ZSTD_DCtx *expander;
    struct buf frame; /* result of the last pack_compress() */
    struct page_stock stock;
};

struct pack_dictionary {
    unsigned refs;
    struct pack_context *context;
    char *bytes; /* the other two have copies of their own: zstd has no stable interface without */
    size_t len;
    uint64_t id;                   /* 0: not computed yet */
    ZSTD_CDict *compressing;       /* NULL until it is used for the first time */
    ZSTD_DDict *expanding;         /* the same */
    struct page_pool pages;        /* memory of packed objects, ... */
    struct slots classes[CLASSES]; /* ... by size */
    bool lent;                     /* these two belong to another thread */
    struct given_memory *given;    /* meanwhile */
};

/* Memory that was returned while its pages were lent. */
struct given_memory {
    struct given_memory *next;
    size_t class;
};

/* zstd returns NULL only without memory; see base/alloc.h. */
static void *not_null(void *p)
{
    if (!p)
        abort();
    return p;
}

/* ---- contexts ---- */

struct pack_context *pack_context_new(const struct siphash_key *key)
{
    struct pack_context *c = NEW(struct pack_context);
    c->refs = 1;
    text_hash_key_init(&c->key, key);
    page_stock_init(&c->stock);
    return c;
}

struct pack_context *pack_context_ref(struct pack_context *context)
{
    context->refs++;
    return context;
}

void pack_context_unref(struct pack_context *context)
{
    if (!context || --context->refs > 0)
        return;
    ZSTD_freeCCtx(context->compressor);
    ZSTD_freeDCtx(context->expander);
    buf_free(&context->frame);
    page_stock_clear(&context->stock);
    free(context);
}

/* A client whose caches are all small needs no working memory: it is allocated with the first
 * dictionary. */
static void context_prepare(struct pack_context *c)
{
    if (c->compressor)
        return;
    c->compressor = not_null(ZSTD_createCCtx());
    c->expander = not_null(ZSTD_createDCtx());
    ZSTD_CCtx_setParameter(c->compressor, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(c->compressor, ZSTD_c_contentSizeFlag, 0);
    ZSTD_CCtx_setParameter(c->compressor, ZSTD_c_dictIDFlag, 0);
}

uint64_t pack_hash(const struct pack_context *context, struct str text)
{
    return text_hash(&context->key, text.at, text.len);
}

/* ---- dictionaries ---- */

/* Takes over @bytes. */
static struct pack_dictionary *dictionary_from(struct pack_context *context, char *bytes,
                                               size_t len)
{
    struct pack_dictionary *d = NEW(struct pack_dictionary);
    context_prepare(context);
    d->refs = 1;
    d->context = pack_context_ref(context);
    d->bytes = bytes;
    d->len = len;
    page_pool_init(&d->pages, &context->stock);
    for (size_t i = 0; i < CLASSES; i++)
        slots_init(&d->classes[i], (i + 1) * CLASS_STEP, &d->pages);
    return d;
}

struct pack_dictionary *pack_dictionary_new(struct pack_context *context, const struct str *samples,
                                            size_t n)
{
    ZDICT_params_t params = {.compressionLevel = LEVEL};
    size_t *sizes = xcalloc(n + 1, sizeof(*sizes)), capacity, len;
    struct pack_dictionary *d = NULL;
    struct buf joined = {0};
    char *bytes;
    for (size_t i = 0; i < n; i++) {
        buf_put(&joined, samples[i].at, samples[i].len);
        sizes[i] = samples[i].len;
    }
    capacity = joined.len + HEADER_MAX;
    bytes = xmalloc(capacity);
    len = ZDICT_finalizeDictionary(bytes, capacity, joined.bytes, joined.len, joined.bytes, sizes,
                                   n < STATISTICS ? (unsigned)n : STATISTICS, params);
    if (ZDICT_isError(len))
        free(bytes);
    else
        d = dictionary_from(context, bytes, len);
    buf_free(&joined);
    free(sizes);
    return d;
}

struct pack_dictionary *pack_dictionary_load(struct pack_context *context, struct str bytes)
{
    struct pack_dictionary *d;
    char *copy;
    if (!bytes.len || ZSTD_getDictID_fromDict(bytes.at, bytes.len) == 0) /* not one of zstd */
        return NULL;
    copy = xmalloc(bytes.len);
    memcpy(copy, bytes.at, bytes.len);
    d = dictionary_from(context, copy, bytes.len);
    d->expanding = ZSTD_createDDict(d->bytes, d->len);
    if (d->expanding)
        return d;
    pack_dictionary_unref(d);
    return NULL;
}

void pack_dictionary_prepare(struct pack_dictionary *d)
{
    if (!d->compressing)
        d->compressing = not_null(ZSTD_createCDict(d->bytes, d->len, LEVEL));
}

struct str pack_dictionary_bytes(const struct pack_dictionary *dictionary)
{
    return (struct str){dictionary->bytes, dictionary->len};
}

uint64_t pack_dictionary_id(struct pack_dictionary *dictionary)
{
    static const struct siphash_key no_secret = {0, 0};
    if (!dictionary->id)
        dictionary->id = siphash13(&no_secret, dictionary->bytes, dictionary->len);
    return dictionary->id;
}

struct pack_dictionary *pack_dictionary_ref(struct pack_dictionary *dictionary)
{
    dictionary->refs++;
    return dictionary;
}

void pack_dictionary_unref(struct pack_dictionary *dictionary)
{
    if (!dictionary || --dictionary->refs > 0)
        return;
    ZSTD_freeCDict(dictionary->compressing);
    ZSTD_freeDDict(dictionary->expanding);
    free(dictionary->bytes);
    pack_context_unref(dictionary->context);
    free(dictionary);
}

struct pack_context *pack_dictionary_context(const struct pack_dictionary *dictionary)
{
    return dictionary->context;
}

/* ---- memory of packed objects ---- */

struct page_stock *pack_memory_stock(struct pack_context *context)
{
    return &context->stock;
}

void *pack_memory_take(struct pack_dictionary *dictionary, size_t size)
{
    size_t class = (size - 1) / CLASS_STEP;
    if (class >= CLASSES)
        return xmalloc(size);
    assert(!dictionary->lent);
    return slots_take(&dictionary->classes[class]);
}

void pack_memory_give(struct pack_dictionary *dictionary, void *memory, size_t size)
{
    size_t class = (size - 1) / CLASS_STEP;
    struct given_memory *given = memory;
    if (class >= CLASSES) {
        free(memory);
    } else if (dictionary->lent) {
        *given = (struct given_memory){dictionary->given, class};
        dictionary->given = given;
    } else {
        slots_give(&dictionary->classes[class], memory);
    }
}

void pack_memory_lend(struct pack_dictionary *dictionary, struct page_stock *stock)
{
    dictionary->lent = true;
    dictionary->pages.stock = stock;
}

bool pack_memory_is_lent(const struct pack_dictionary *dictionary)
{
    return dictionary->lent;
}

void *pack_memory_take_lent(struct pack_dictionary *dictionary, size_t size)
{
    size_t class = (size - 1) / CLASS_STEP;
    return class < CLASSES ? slots_take(&dictionary->classes[class]) : NULL;
}

void pack_memory_end_lending(struct pack_dictionary *dictionary, unsigned objects)
{
    struct given_memory *given;
    dictionary->refs += objects;
    dictionary->lent = false;
    dictionary->pages.stock = &dictionary->context->stock;
    while ((given = dictionary->given)) {
        dictionary->given = given->next;
        slots_give(&dictionary->classes[given->class], given);
    }
}

/* ---- frames ---- */

struct str pack_compress(struct pack_dictionary *dictionary, struct str text, size_t max)
{
    struct pack_context *c = dictionary->context;
    size_t len;
    char *room;
    pack_dictionary_prepare(dictionary);
    buf_clear(&c->frame);
    room = buf_room(&c->frame, max);
    ZSTD_CCtx_refCDict(c->compressor, dictionary->compressing);
    len = ZSTD_compress2(c->compressor, room, max, text.at, text.len);
    return ZSTD_isError(len) ? (struct str){"", 0} : (struct str){room, len};
}

bool pack_expand(struct pack_dictionary *dictionary, struct str frame, char *out, size_t len)
{
    if (!dictionary->expanding)
        dictionary->expanding = not_null(ZSTD_createDDict(dictionary->bytes, dictionary->len));
    return ZSTD_decompress_usingDDict(dictionary->context->expander, out, len, frame.at, frame.len,
                                      dictionary->expanding) == len;
}
