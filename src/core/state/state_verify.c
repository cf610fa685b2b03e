/*
 * state_verify.c - verifies the records of a piece and makes its objects. A record whose end is not read yet is left
 * for the next piece.
 */
#include "core/state/state_verify.h"

#include "core/object/object_image.h"
#include "core/state/state_record.h"

static const struct inf_object *make_object(struct piece_work *w, const struct record *record)
{
    uint32_t number = object_refs_of(record->number).dictionary;
    for (unsigned i = 0; i < w->n_lent; i++) {
        struct lent_dictionary *lent = &w->lent[i];
        const struct inf_object *object;
        if (lent->number != number)
            continue;
        object = object_image_make_lent(record->body, lent->dictionary);
        lent->made += object != NULL;
        return object;
    }
    return NULL;
}

static void check_image(struct piece_work *w)
{
    struct checked_image image = {.offset = (uint32_t)(w->offset + w->verified)};
    struct record record;
    struct str key;
    size_t size;
    record_peek((struct str){w->bytes + w->verified, w->have - w->verified}, &record, &size);
    key = object_image_key(record.body);
    if (!key.len)
        return;
    image.hash = siphash13(&w->key, key.at, key.len);
    image.object = make_object(w, &record);
    image.number = record.number;
    image.owner = record.owner;
    image.len = (uint32_t)size;
    buf_put(&w->images, (const char *)&image, sizeof(image));
}

void piece_verify(void *piece_work, size_t len)
{
    struct piece_work *w = piece_work;
    enum record_result result = RECORD_OK;
    w->have += len;
    while (result == RECORD_OK) {
        struct record_group group;
        result =
            record_read_group((struct str){w->bytes + w->verified, w->have - w->verified}, &group);
        for (unsigned i = 0; i < group.count; i++) {
            if (group.types[i] == RECORD_OBJECT && w->checks_images)
                check_image(w);
            w->verified += group.sizes[i];
            if (group.types[i] == RECORD_BATCH_END)
                w->complete = w->verified;
        }
    }
    w->bad = result == RECORD_BAD;
    if (w->region)
        page_region_touch(w->region);
}
