/*
 * state_lend.c - lends the memory of dictionaries to the pool while a piece is read, and takes its objects.
 *
 * Normal path: when the head of the first segment was applied, which has the key of the dictionaries, the newest ones
 * are made and lent with each piece. From then on the loop makes no object whose dictionary is lent: the pool has read
 * the record of each one that the loop has not applied before. A dictionary that is damaged is not lent: it may not be
 * needed. Nothing here fails.
 */
#include <string.h>

#include "base/page_pool.h"
#include "core/state/state_load.h"

enum {
    REGIONS_FROM = 2 * 1024 * 1024, /* bytes of objects; fewer need no prepared memory */
    STOCK_FIRST = 4,                /* regions that wait for the index and the first entries; */
    STOCK_LATER = 1,                /* for entries */
    STOCK_LENT = 3,    /* for the objects of a piece, each size of which begins a page */
    IMAGES = 8 * 1024, /* of a piece; if there are more, the pool makes more room */
};

static void add_dictionary(struct loader *l, struct state_dictionary *d)
{
    struct piece_work *w = &l->work;
    if (w->n_lent == LENT_MAX) {
        pack_dictionary_unref(w->lent[0].dictionary);
        memmove(w->lent, w->lent + 1, --w->n_lent * sizeof(w->lent[0]));
    }
    w->lent[w->n_lent++] =
        (struct lent_dictionary){d->number, 0, pack_dictionary_ref(d->dictionary)};
}

/* Records that were read but not applied are read by the pool again, with the next piece. */
void loader_begin_lending(struct inf_state *state)
{
    struct loader *l = state->loader;
    struct state_dictionary *found;
    l->work.checks_images = true;
    buf_room(&l->work.images, IMAGES * sizeof(struct checked_image));
    l->verified = l->at;
    list_for_each(node, &state->dictionaries) {
        struct state_dictionary *d = container_of(node, struct state_dictionary, node);
        if (!state_find_dictionary(state, d->number, &found))
            add_dictionary(l, found);
    }
}

void loader_lend(struct inf_state *state)
{
    struct loader *l = state->loader;
    struct piece_work *w = &l->work;
    struct page_stock *stock = pack_memory_stock(state->context);
    bool many = l->total > REGIONS_FROM;
    w->key = state->key;
    w->offset = l->verified;
    w->bytes = l->bytes + (l->verified - l->base);
    w->have = l->have - l->verified;
    w->verified = w->complete = 0;
    w->bad = false;
    if (many && stock->count < (l->expecting ? STOCK_LATER : STOCK_FIRST))
        w->region = page_region_new();
    while (many && w->stock.count < STOCK_LENT)
        page_stock_add(&w->stock, page_region_new());
    for (unsigned i = 0; i < w->n_lent; i++)
        pack_memory_lend(w->lent[i].dictionary, &w->stock);
}

/* Those of a batch wait for its end. */
static void take_images(struct loader *l)
{
    buf_consume(&l->images, l->next_image);
    l->next_image = 0;
    buf_put(&l->images, l->work.images.bytes, l->work.images.len);
    buf_clear(&l->work.images);
}

void loader_take_back(struct inf_state *state)
{
    struct loader *l = state->loader;
    struct piece_work *w = &l->work;
    for (unsigned i = 0; i < w->n_lent; i++) {
        pack_memory_end_lending(w->lent[i].dictionary, w->lent[i].made);
        w->lent[i].made = 0;
    }
    take_images(l);
    if (!w->region || state_phase(state) != STATE_LOADING)
        return; /* loader_free_work() frees it */
    page_stock_add(pack_memory_stock(state->context), w->region);
    w->region = NULL;
}

static bool read_image(const struct loader *l, size_t at, struct checked_image *ret_image)
{
    if (l->images.len < at + sizeof(*ret_image))
        return false;
    memcpy(ret_image, l->images.bytes + at, sizeof(*ret_image));
    return true;
}

bool loader_next_image(struct loader *l, struct checked_image *ret_image)
{
    if (!read_image(l, l->next_image, ret_image) || ret_image->offset != l->at)
        return false;
    l->next_image += sizeof(*ret_image);
    return true;
}

bool loader_peek_image(const struct loader *l, size_t ahead, struct checked_image *ret_image)
{
    return read_image(l, l->next_image + ahead * sizeof(*ret_image), ret_image);
}

void loader_drop_images(struct loader *l)
{
    struct checked_image image;
    for (; read_image(l, l->next_image, &image); l->next_image += sizeof(image))
        inf_object_unref(image.object);
    buf_clear(&l->images);
    l->next_image = 0;
}

void loader_free_work(struct loader *l)
{
    loader_drop_images(l);
    buf_free(&l->images);
    buf_free(&l->work.images);
    page_region_free(l->work.region);
    page_stock_clear(&l->work.stock);
    for (unsigned i = 0; i < l->work.n_lent; i++)
        pack_dictionary_unref(l->work.lent[i].dictionary);
}
