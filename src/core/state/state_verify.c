/*
 * state_verify.c - verifies the records of a piece. A record whose end is not read yet is left for the next
 * piece.
 */
#include "core/state/state_verify.h"

#include "base/page_pool.h"
#include "core/object/object_image.h"
#include "core/state/state_record.h"

static void check_image(struct piece_work *w, struct str record)
{
    struct str key =
        object_image_key((struct str){record.at + RECORD_HEAD, record.len - RECORD_HEAD});
    if (!key.len || w->n_images == PIECE_IMAGES)
        return;
    w->images[w->n_images++] = (struct checked_image){siphash13(&w->key, key.at, key.len),
                                                      (uint32_t)(w->offset + w->verified)};
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
            if (group.types[i] == RECORD_OBJECT)
                check_image(w, (struct str){w->bytes + w->verified, group.sizes[i]});
            w->verified += group.sizes[i];
            if (group.types[i] == RECORD_BATCH_END)
                w->complete = w->verified;
        }
    }
    w->bad = result == RECORD_BAD;
    if (w->region)
        page_region_touch(w->region);
}
