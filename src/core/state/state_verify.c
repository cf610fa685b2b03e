/*
 * state_verify.c - verifies the records of a piece. A record whose end is not read yet is left for the next
 * piece.
 */
#include "core/state/state_verify.h"

#include "base/page_pool.h"
#include "core/state/state_record.h"

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
            w->verified += group.sizes[i];
            if (group.types[i] == RECORD_BATCH_END)
                w->complete = w->verified;
        }
    }
    w->bad = result == RECORD_BAD;
    if (w->region)
        page_region_touch(w->region);
}
