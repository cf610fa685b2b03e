/*
 * object_packer.c - packs and unpacks objects, and decides when to make a dictionary.
 *
 * Normal path: object_pack() offers the object as a sample, makes a dictionary if one is due, and
 * compresses the text. Nothing here fails: an object that does not get clearly smaller stays as it
 * is, and samples that give no dictionary are replaced by later ones.
 */
#include "core/object/object_packer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/text/json_string.h"
#include "core/object/object_layout.h"

static const struct pack_limits default_limits = {
    .text_min = 512,
    .objects = 64,
    .bytes = 1024 * 1024,
    .window = 1000,
};

/* Dictionaries while the number of objects grows. Of 200 deployments of pods, 14 samples give frames of
 * 1,110 bytes, 48 of 930, and 96 of 760, which are not slower to make or to read; but a dictionary
 * takes three times the size of its samples (test/bench/bench_memory.c). */
static const struct growth {
    unsigned factor; /* of limits.objects */
    unsigned samples;
} growth[] = {{1, 14}, {8, 14}, {128, 48}, {1024, 96}};

_Static_assert(PACK_SAMPLES_MAX >= 96, "room for the samples of every step");

enum {
    GROWTH_STEPS = sizeof(growth) / sizeof(growth[0]),
    STAGE_DISTANCE = 16, /* objects between the stages in which a dictionary is made */
    UNSEEN_SHARE = 8, /* another dictionary is made if more of a list is newer than the last one */
    REPACK_SHARE =
        4, /* a dictionary is replaced after this many times the objects repacked for it */
};

static const double DRIFT = 1.3; /* a window this much worse than the first: a new dictionary */

/* ---- layout ---- */

static struct packed_text packed_text_of(const struct inf_object *object)
{
    struct packed_text packed;
    memcpy(&packed, object->bytes + object->at[PART_TEXT], sizeof(packed));
    return packed;
}

static struct str text_of(const struct inf_object *object)
{
    return (struct str){object->bytes + object->at[PART_TEXT], object->text_len};
}

static size_t head_size(const struct inf_object *object)
{
    return sizeof(*object) + object->at[PART_TEXT];
}

size_t inf_object_size(const struct inf_object *object)
{
    size_t text = object->packed ? sizeof(struct packed_text) + packed_text_of(object).frame_len
                                 : (size_t)object->text_len + 1;
    return head_size(object) + text;
}

/* Writes the header and the names of @object to @copy, which has room for its text. */
static void copy_head(struct inf_object *copy, const struct inf_object *object)
{
    memcpy(copy, object, head_size(object));
    copy->refs = 1;
    copy->damaged = false;
}

void object_free_packed(struct inf_object *packed)
{
    struct pack_dictionary *dictionary = packed_text_of(packed).dictionary;
    pack_memory_give(dictionary, packed, inf_object_size(packed));
    pack_dictionary_unref(dictionary);
}

/* ---- dictionaries ---- */

/* How many samples are collected: those of the step that comes next, from half way on. */
static unsigned samples_wanted(const struct object_packer *p)
{
    unsigned samples = growth[0].samples;
    for (size_t i = 1; i < GROWTH_STEPS; i++)
        if (p->objects * 2 >= p->limits.objects * growth[i].factor)
            samples = growth[i].samples;
    return samples;
}

/* Where to keep a text of @len bytes as a sample, with the same probability as every other one seen so
 * far; NULL: it is not kept. */
static struct pack_sample *choose_sample(struct object_packer *p, size_t len)
{
    unsigned wanted = samples_wanted(p);
    size_t at = p->n_samples < wanted ? p->n_samples++ : (size_t)rng_below(&p->rng, p->seen + 1);
    p->seen++;
    p->seen_bytes += len;
    return at < p->n_samples ? &p->samples[at] : NULL;
}

static void clear_sample(struct pack_sample *sample)
{
    pack_dictionary_unref(sample->dictionary);
    sample->dictionary = NULL;
    buf_clear(&sample->bytes);
}

static void keep_sample(struct pack_sample *sample, struct str text)
{
    clear_sample(sample);
    buf_put(&sample->bytes, text.at, text.len < PACK_SAMPLE_MAX ? text.len : PACK_SAMPLE_MAX);
}

/* A damaged frame gives no sample. */
static void expand_sample(struct pack_sample *sample)
{
    struct buf frame = sample->bytes;
    char *text;
    if (!sample->dictionary)
        return;
    text = xmalloc(sample->text_len + 1);
    sample->bytes = (struct buf){0};
    if (pack_expand(sample->dictionary, (struct str){frame.bytes, frame.len}, text,
                    sample->text_len))
        keep_sample(sample, (struct str){text, sample->text_len});
    else
        clear_sample(sample);
    free(text);
    buf_free(&frame);
}

static void offer_sample(struct object_packer *p, struct str text)
{
    struct pack_sample *sample = choose_sample(p, text.len);
    if (sample)
        keep_sample(sample, text);
}

static void restart_window(struct object_packer *p)
{
    p->packed = p->packed_text = p->packed_frame = 0;
}

/* The first of two stages of about a millisecond each, not in the same tick. The first one after a start takes
 * another millisecond. */
static void draft_dictionary(struct object_packer *p)
{
    struct str texts[PACK_SAMPLES_MAX];
    for (size_t i = 0; i < p->n_samples; i++) {
        expand_sample(&p->samples[i]);
        texts[i] = (struct str){p->samples[i].bytes.bytes, p->samples[i].bytes.len};
    }
    p->draft = pack_dictionary_new(p->context, texts, p->n_samples);
    p->draft_age = 0;
    p->drafts++; /* also if these samples were not suitable: try again with others later */
    p->first_ratio = 0;
    p->since = p->repacked = 0;
    restart_window(p);
}

static void complete_dictionary(struct object_packer *p)
{
    pack_dictionary_unref(p->dictionary);
    p->dictionary = p->draft;
    p->draft = NULL;
    pack_dictionary_prepare(p->dictionary);
    p->dictionaries++;
    restart_window(p);
}

/* Every object is repacked for a new dictionary. Texts can be chosen such that each window differs
 * from the one before: this limits the work for them. */
static bool may_replace_dictionary(const struct object_packer *p)
{
    return p->since >= p->objects / 2 && p->since >= REPACK_SHARE * p->repacked;
}

/* Whether texts have changed so much that the dictionary no longer suits them. Then later samples
 * get a larger weight. */
static bool has_drifted(struct object_packer *p)
{
    double ratio;
    if (p->packed < p->limits.window)
        return false;
    ratio = (double)p->packed_frame / (double)p->packed_text;
    restart_window(p);
    if (p->first_ratio <= 0)
        p->first_ratio = ratio;
    if (ratio <= DRIFT * p->first_ratio || !may_replace_dictionary(p))
        return false;
    p->seen /= 2;
    return true;
}

static bool has_grown(struct object_packer *p)
{
    if (p->step == GROWTH_STEPS || p->objects < p->limits.objects * growth[p->step].factor ||
        p->n_samples < growth[p->step].samples || p->seen_bytes < p->limits.bytes)
        return false;
    while (p->step < GROWTH_STEPS && p->objects >= p->limits.objects * growth[p->step].factor)
        p->step++;
    return true;
}

void object_packer_list_ended(struct object_packer *packer, size_t objects)
{
    packer->objects = objects;
    if (packer->dictionary && !packer->draft && packer->since > objects / UNSEEN_SHARE)
        draft_dictionary(packer);
}

bool object_packer_continue(struct object_packer *packer)
{
    if (!packer->draft)
        return false;
    complete_dictionary(packer);
    return true;
}

static void make_dictionary_if_due(struct object_packer *p)
{
    if (p->draft && ++p->draft_age >= STAGE_DISTANCE)
        complete_dictionary(p);
    else if (!p->draft && (has_grown(p) || (p->dictionary && has_drifted(p))))
        draft_dictionary(p);
}

/* ---- objects ---- */

/* Compresses the text of @object, if that makes it clearly smaller. While saved objects are loaded, there may be no
 * memory for it (pack_memory_lend()): it is repacked later. */
static struct packed_parts compress_text(const struct object_packer *packer,
                                         const struct inf_object *object)
{
    struct packed_parts parts = {.frame = {"", 0}};
    struct str text = text_of(object);
    if (packer->dictionary && !pack_memory_is_lent(packer->dictionary) &&
        text.len >= packer->limits.text_min)
        parts.frame = pack_compress(packer->dictionary, text, text.len / 4 * 3);
    if (!parts.frame.len)
        return parts;
    parts.dictionary = packer->dictionary;
    parts.hash = pack_hash(pack_dictionary_context(packer->dictionary), text);
    return parts;
}

/* @object, or the packed copy of it that @parts are of; with one reference. */
static const struct inf_object *join_parts(const struct inf_object *object,
                                           const struct packed_parts *parts)
{
    struct packed_text packed = {.dictionary = parts->dictionary,
                                 .hash = parts->hash,
                                 .frame_len = (uint32_t)parts->frame.len};
    struct inf_object *copy;
    if (!parts->frame.len)
        return inf_object_ref(object);
    copy =
        pack_memory_take(parts->dictionary, head_size(object) + sizeof(packed) + parts->frame.len);
    copy_head(copy, object);
    copy->packed = true;
    pack_dictionary_ref(parts->dictionary);
    memcpy(copy->bytes + copy->at[PART_TEXT], &packed, sizeof(packed));
    memcpy(copy->bytes + copy->at[PART_TEXT] + sizeof(packed), parts->frame.at, parts->frame.len);
    return copy;
}

void object_pack_parts(struct object_packer *packer, const struct inf_object *object,
                       size_t objects, struct packed_parts *ret_parts)
{
    assert(!object->packed);
    *ret_parts = (struct packed_parts){.frame = {"", 0}};
    packer->objects = objects;
    if (!packer->context || object->text_len < packer->limits.text_min)
        return;
    offer_sample(packer, text_of(object));
    make_dictionary_if_due(packer);
    *ret_parts = compress_text(packer, object);
    packer->since++;
    packer->packed++;
    packer->packed_text += object->text_len;
    packer->packed_frame += ret_parts->frame.len ? ret_parts->frame.len : object->text_len;
}

const struct inf_object *object_pack(struct object_packer *packer, const struct inf_object *object,
                                     size_t objects)
{
    struct packed_parts parts;
    object_pack_parts(packer, object, objects, &parts);
    return join_parts(object, &parts);
}

/* Keeps the dictionary of the majority, if there is one: each other one takes a vote from it. */
static void adopt_dictionary(struct object_packer *p, struct pack_dictionary *dictionary)
{
    if (dictionary == p->dictionary) {
        p->adopted++;
    } else if (p->adopted) {
        p->adopted--;
    } else {
        pack_dictionary_unref(p->dictionary);
        p->dictionary = pack_dictionary_ref(dictionary);
        p->adopted = 1;
    }
}

/* A sample is copied, but not expanded: most of the 300 that are chosen of 100,000 objects are replaced by later
 * ones. That took 11 of the 172 million
 * instructions of restoring them (callgrind of bench_state start). */
static void offer_frame(struct object_packer *p, const struct inf_object *restored)
{
    struct pack_sample *sample = choose_sample(p, restored->text_len);
    struct packed_text packed = packed_text_of(restored);
    if (!sample)
        return;
    clear_sample(sample);
    buf_put(&sample->bytes, restored->bytes + restored->at[PART_TEXT] + sizeof(packed),
            packed.frame_len);
    sample->dictionary = pack_dictionary_ref(packed.dictionary);
    sample->text_len = restored->text_len;
}

/* A dictionary that would be due for the number of objects is taken as made: otherwise all of them would be
 * packed again after every start. */
void object_packer_adopt(struct object_packer *packer, const struct inf_object *restored,
                         size_t objects)
{
    packer->objects = objects;
    offer_frame(packer, restored);
    has_grown(packer);
    adopt_dictionary(packer, packed_text_of(restored).dictionary);
}

void object_packer_prefetch(const struct inf_object *restored)
{
    __builtin_prefetch(restored->bytes + restored->at[PART_TEXT]);
}

const struct inf_object *object_pack_restored(struct object_packer *packer,
                                              const struct inf_object *restored,
                                              const struct inf_object *object, size_t objects)
{
    if (!packer->context || !restored->packed)
        return object_pack(packer, object, objects);
    object_packer_adopt(packer, restored, objects);
    return inf_object_ref(restored);
}

bool object_repack_is_due(const struct object_packer *packer, const struct inf_object *held)
{
    if (held->damaged)
        return false;
    if (held->packed)
        return packed_text_of(held).dictionary != packer->dictionary;
    return packer->dictionary && held->text_len >= packer->limits.text_min;
}

const struct inf_object *object_repack(struct object_packer *packer, const struct inf_object *held)
{
    const struct inf_object *object = object_unpack(held), *repacked;
    struct packed_parts parts;
    if (held->damaged) { /* found just now: it stays as it is */
        inf_object_unref(object);
        return inf_object_ref(held);
    }
    parts = compress_text(packer, object);
    packer->repacked++;
    repacked = join_parts(object, &parts);
    inf_object_unref(object);
    return repacked;
}

bool object_is_packed(const struct inf_object *object)
{
    return object->packed;
}

const struct inf_object *object_try_unpack(const struct inf_object *object)
{
    struct packed_text packed;
    struct inf_object *copy;
    struct str frame;
    if (!object->packed)
        return inf_object_ref(object);
    packed = packed_text_of(object);
    frame = (struct str){object->bytes + object->at[PART_TEXT] + sizeof(packed), packed.frame_len};
    copy = xmalloc(head_size(object) + object->text_len + 1);
    copy_head(copy, object);
    copy->packed = false;
    copy->bytes[copy->at[PART_TEXT] + object->text_len] = '\0';
    if (pack_expand(packed.dictionary, frame, copy->bytes + copy->at[PART_TEXT], object->text_len))
        return copy;
    free(copy);
    return NULL;
}

bool object_is_damaged(const struct inf_object *object)
{
    return object->damaged;
}

static void put_name(struct buf *text, const char *field, const char *value)
{
    if (!value[0])
        return;
    json_put_key(text, field);
    json_put_string(text, str_of(value));
    buf_putc(text, ',');
}

/* What is known of an object without its text. */
static void put_identity(struct buf *text, const struct inf_object *object)
{
    buf_putc(text, '{');
    put_name(text, "kind", inf_object_kind(object));
    put_name(text, "apiVersion", inf_object_api_version(object));
    json_put_key(text, "metadata");
    buf_putc(text, '{');
    put_name(text, "namespace", inf_object_namespace(object));
    put_name(text, "uid", inf_object_uid(object));
    put_name(text, "resourceVersion", inf_object_resource_version(object));
    json_put_key(text, "name");
    json_put_string(text, str_of(inf_object_name(object)));
    buf_puts(text, "}}");
}

/* The mark is the only change of an object after it was made: no reader depends on it. */
static const struct inf_object *stand_in_for(const struct inf_object *object)
{
    struct buf text = {0};
    struct inf_object *copy;
    put_identity(&text, object);
    copy = xmalloc(head_size(object) + text.len + 1);
    copy_head(copy, object);
    copy->packed = false;
    copy->damaged = true;
    copy->text_len = (uint32_t)text.len;
    memcpy(copy->bytes + copy->at[PART_TEXT], text.bytes, text.len);
    copy->bytes[copy->at[PART_TEXT] + text.len] = '\0';
    ((struct inf_object *)(uintptr_t)object)->damaged = true;
    buf_free(&text);
    return copy;
}

const struct inf_object *object_unpack(const struct inf_object *object)
{
    const struct inf_object *copy = object_try_unpack(object);
    return copy ? copy : stand_in_for(object);
}

/* The hash of the text with the key of @context. It is stored in an object that was packed in that
 * context; one of another context, such as a restored object, has to be expanded. */
static uint64_t hash_of(const struct inf_object *object, const struct pack_context *context)
{
    const struct inf_object *ordinary;
    uint64_t hash;
    if (!object->packed)
        return pack_hash(context, text_of(object));
    if (pack_dictionary_context(packed_text_of(object).dictionary) == context)
        return packed_text_of(object).hash;
    ordinary = object_unpack(object);
    hash = pack_hash(context, text_of(ordinary));
    inf_object_unref(ordinary);
    return hash;
}

/* Of two objects whose texts have the same length. */
static bool has_same_text(const struct inf_object *a, const struct inf_object *b)
{
    const struct inf_object *packed = a->packed ? a : b;
    const struct pack_context *context;
    if (!packed->packed)
        return memcmp(text_of(a).at, text_of(b).at, a->text_len) == 0;
    context = pack_dictionary_context(packed_text_of(packed).dictionary);
    return hash_of(a, context) == hash_of(b, context);
}

bool object_equal(const struct inf_object *a, const struct inf_object *b)
{
    return a == b || (a->text_len == b->text_len && /* mostly they differ here already */
                      !a->damaged && !b->damaged &&
                      strcmp(inf_object_resource_version(a), inf_object_resource_version(b)) == 0 &&
                      strcmp(inf_object_uid(a), inf_object_uid(b)) == 0 && has_same_text(a, b));
}

/* ---- life ---- */

void object_packer_resume(struct object_packer *packer, struct pack_dictionary *dictionary)
{
    pack_dictionary_unref(packer->dictionary);
    packer->dictionary = pack_dictionary_ref(dictionary);
    packer->dictionaries++;
    packer->step = GROWTH_STEPS;
    restart_window(packer);
}

void object_packer_init(struct object_packer *packer, struct pack_context *context,
                        const struct pack_limits *limits, uint64_t seed)
{
    *packer =
        (struct object_packer){.limits = limits ? *limits : default_limits, .rng.state = seed};
    if (context)
        packer->context = pack_context_ref(context);
}

void object_packer_free(struct object_packer *packer)
{
    for (size_t i = 0; i < PACK_SAMPLES_MAX; i++) {
        clear_sample(&packer->samples[i]);
        buf_free(&packer->samples[i].bytes);
    }
    pack_dictionary_unref(packer->draft);
    pack_dictionary_unref(packer->dictionary);
    packer->draft = NULL;
    pack_context_unref(packer->context);
    packer->dictionary = NULL;
    packer->context = NULL;
}
