/*
 * diff.c - walks two JSON texts side by side and records where they differ.
 *
 * Normal path: equal bytes are never examined. If two objects or two lists differ, their members or
 * items are paired (diff_pair.h). Pairs that differ are descended into; members and items without a
 * partner are recorded as removed or added. Values of different kinds, and scalars, are a replace.
 *
 * The number of changes is limited on the way down. Each part has a ceiling: the number of changes
 * that may exist when it is done, with room for at least one. It first counts the changes of its
 * own level. If they don't fit, it records one replace of the whole part. If they do, each pair
 * that is descended into may use what the later pairs don't need. So no recorded change has to be
 * removed, and the diff is always correct. Depth, path length and the number of items are limited
 * in the same way.
 *
 * Most texts differ in a few spots only (diff_spot.h). Then only these are descended into, with the
 * same result, unless a limit is reached; then the whole is done as above.
 *
 * The bytes of values are limited last: values that don't fit are left out, with their sizes.
 */
#include "core/diff/diff.h"

#include "base/alloc.h"
#include "base/err.h"
#include "base/json_string.h"
#include "core/diff/diff_pair.h"
#include "core/diff/diff_spot.h"
#include "core/object/path.h"

enum {
    INDEX_STEP_MAX = sizeof("[999999]"), /* DIFF_ITEMS_MAX is less than a million */
};

struct differ {
    struct inf_diff *diff;
    struct arena scratch;
    struct buf path;   /* of the part we are in */
    size_t depth;      /* its steps */
    size_t items_left; /* of DIFF_ITEMS_MAX */
    bool all;
};

static void diff_part(struct differ *d, struct str old_text, struct str new_text, size_t ceiling);

/* ---- telling ---- */

static struct inf_change *add_change(struct inf_diff *diff)
{
    if (diff->count == diff->cap) {
        diff->cap = diff->cap ? diff->cap * 2 : 8;
        diff->changes = xrealloc(diff->changes, diff->cap * sizeof(*diff->changes));
    }
    return &diff->changes[diff->count++];
}

/* A text without bytes is none. */
static void tell(struct differ *d, enum inf_diff_op op, struct str old_text, struct str new_text)
{
    struct str path = d->path.len ? (struct str){d->path.bytes, d->path.len} : STR(".");
    *add_change(d->diff) = (struct inf_change){
        .op = op,
        .path = arena_copy(&d->diff->memory, path).at,
        .old_value = {old_text.at, old_text.len},
        .new_value = {new_text.at, new_text.len},
        .at = INF_DIFF_END,
    };
}

/* A limit makes us say less. */
static void tell_coarsely(struct differ *d, struct str old_text, struct str new_text)
{
    d->diff->truncated = true;
    tell(d, INF_DIFF_REPLACE, old_text, new_text);
}

/* ---- a pairing ---- */

static bool has_changed(const struct diff_item *old_item)
{
    return old_item->mate && !str_eq(old_item->value, old_item->mate->value);
}

/* Goes one step down; returns the length to go back to. */
static size_t enter(struct differ *d, const struct diff_pairing *p, const struct diff_item *item)
{
    const struct diff_item *first = item < p->new_items ? p->old_items : p->new_items;
    size_t before = d->path.len;
    if (p->by == DIFF_BY_PLACE) {
        buf_printf(&d->path, "[%zu]", (size_t)(item - first));
    } else {
        if (before && *item->step.at != '[')
            buf_putc(&d->path, '.');
        buf_put(&d->path, item->step.at, item->step.len);
    }
    d->depth++;
    return before;
}

static void leave(struct differ *d, size_t before)
{
    d->path.len = before;
    d->depth--;
}

/* How many changes the pairing itself has: one for each item that came, went or differs. */
static size_t count_changes(const struct diff_pairing *p)
{
    size_t changes = p->reordered;
    for (size_t i = 0; i < p->old_count; i++)
        changes += !p->old_items[i].mate || has_changed(&p->old_items[i]);
    for (size_t i = 0; i < p->new_count; i++)
        changes += !p->new_items[i].mate;
    return changes;
}

static bool paths_fit(const struct differ *d, const struct diff_pairing *p)
{
    size_t longest = p->by == DIFF_BY_PLACE ? INDEX_STEP_MAX : 0;
    for (size_t i = 0; i < p->old_count + p->new_count && p->by != DIFF_BY_PLACE; i++) {
        const struct diff_item *item = &p->old_items[i];
        if ((!item->mate || has_changed(item)) && item->step.len + 1 > longest)
            longest = item->step.len + 1; /* and a dot */
    }
    return d->path.len + longest <= PATH_TEXT_MAX;
}

static void tell_changed(struct differ *d, const struct diff_pairing *p, size_t ceiling)
{
    size_t others = count_changes(p);
    for (size_t i = 0; i < p->old_count; i++) {
        const struct diff_item *item = &p->old_items[i];
        size_t before;
        if (!has_changed(item))
            continue;
        others--;
        before = enter(d, p, item);
        diff_part(d, item->value, item->mate->value, ceiling - others);
        leave(d, before);
    }
}

static void tell_removed(struct differ *d, const struct diff_pairing *p)
{
    for (size_t i = 0; i < p->old_count; i++) {
        size_t backwards = p->old_count - 1 - i;
        const struct diff_item *item = &p->old_items[p->by == DIFF_BY_PLACE ? backwards : i];
        size_t before;
        if (item->mate)
            continue;
        before = enter(d, p, item);
        tell(d, INF_DIFF_REMOVE, item->value, (struct str){0});
        leave(d, before);
    }
}

static void tell_added(struct differ *d, const struct diff_pairing *p)
{
    size_t behind_pairs = p->new_count; /* an item from here on goes to the end */
    while (behind_pairs && !p->new_items[behind_pairs - 1].mate)
        behind_pairs--;
    for (size_t i = 0; i < p->new_count; i++) {
        size_t before;
        if (p->new_items[i].mate)
            continue;
        before = enter(d, p, &p->new_items[i]);
        tell(d, INF_DIFF_ADD, (struct str){0}, p->new_items[i].value);
        if (p->by == DIFF_BY_KEY && i < behind_pairs)
            d->diff->changes[d->diff->count - 1].at = i;
        leave(d, before);
    }
}

/* ["name=web","name=db"]: those that are in both lists */
static struct str spell_order(struct differ *d, const struct diff_item *items, size_t count)
{
    struct buf order = {0};
    struct str kept;
    for (size_t i = 0; i < count; i++) {
        if (!items[i].mate)
            continue;
        buf_putc(&order, order.len ? ',' : '[');
        json_put_string(&order, (struct str){items[i].step.at + 1, items[i].step.len - 2});
    }
    buf_putc(&order, ']');
    kept = arena_copy(&d->diff->memory, (struct str){order.bytes, order.len});
    buf_free(&order);
    return kept;
}

static void tell_pairing(struct differ *d, const struct diff_pairing *p, size_t ceiling)
{
    tell_changed(d, p, ceiling);
    tell_removed(d, p);
    if (p->reordered)
        tell(d, INF_DIFF_REORDER, spell_order(d, p->old_items, p->old_count),
             spell_order(d, p->new_items, p->new_count));
    tell_added(d, p);
}

/* ---- going down ---- */

static bool pair(struct differ *d, struct diff_pairing *p, struct str old_text, struct str new_text)
{
    bool versions = d->all || !str_eq((struct str){d->path.bytes, d->path.len}, STR("metadata"));
    p->over_limit = d->depth == PATH_STEPS_MAX;
    if (p->over_limit)
        return false;
    if (*old_text.at == '[')
        return diff_pair_lists(p, &d->scratch, &d->items_left, old_text, new_text);
    return diff_pair_members(p, &d->scratch, &d->items_left, old_text, new_text, versions);
}

/* Two objects, or two lists. */
static void diff_container(struct differ *d, struct str old_text, struct str new_text,
                           size_t ceiling)
{
    struct diff_pairing p;
    bool paired = pair(d, &p, old_text, new_text);
    if (paired && count_changes(&p) <= ceiling - d->diff->count && paths_fit(d, &p))
        tell_pairing(d, &p, ceiling);
    else if (paired || p.over_limit)
        tell_coarsely(d, old_text, new_text);
    else
        tell(d, INF_DIFF_REPLACE, old_text, new_text);
}

/* Afterwards there are at most @ceiling changes; there is room for one. */
static void diff_part(struct differ *d, struct str old_text, struct str new_text, size_t ceiling)
{
    if (str_eq(old_text, new_text))
        return;
    if (*old_text.at == *new_text.at && (*old_text.at == '{' || *old_text.at == '['))
        diff_container(d, old_text, new_text, ceiling);
    else
        tell(d, INF_DIFF_REPLACE, old_text, new_text);
}

/* ---- texts that are alike ---- */

/* False: a limit came into play. Which part it is that then says less depends on the whole. */
static bool tell_spots(struct differ *d, const struct diff_spots *s, size_t ceiling)
{
    for (size_t i = 0; i < s->count && !d->diff->truncated; i++) {
        const struct diff_spot *spot = &s->spots[i];
        size_t others = s->count - i - 1 + s->ignored;
        buf_clear(&d->path);
        d->depth = diff_spots_put_path(s, spot, &d->path);
        if (d->diff->count + others >= ceiling || d->path.len >= PATH_TEXT_MAX)
            return false;
        diff_part(d, spot->old_text, spot->new_text, ceiling - others);
    }
    return !d->diff->truncated;
}

static bool diff_alike(struct differ *d, struct str old_text, struct str new_text, size_t ceiling)
{
    struct diff_spots spots;
    if (str_eq(old_text, new_text))
        return true;
    if (!diff_spots_find(&spots, old_text, new_text, d->all) || spots.parts > d->items_left)
        return false;
    d->items_left -= spots.parts;
    return tell_spots(d, &spots, ceiling);
}

static void start_over(struct differ *d)
{
    buf_clear(&d->path);
    d->depth = 0;
    d->items_left = DIFF_ITEMS_MAX;
    d->diff->count = 0;
    d->diff->truncated = false;
}

/* ---- the whole ---- */

static void leave_out_values(struct inf_diff *diff, size_t left)
{
    for (size_t i = 0; i < diff->count; i++) {
        struct inf_change *change = &diff->changes[i];
        size_t bytes = change->old_value.len + change->new_value.len;
        if (bytes <= left) {
            left -= bytes;
        } else {
            change->old_value.json = NULL;
            change->new_value.json = NULL;
            diff->truncated = true;
        }
    }
}

static struct inf_diff *make(struct str old_text, struct str new_text,
                             const struct inf_diff_options *options, bool by_pairs_only)
{
    struct inf_diff_options o = options ? *options : (struct inf_diff_options){0};
    size_t ceiling = o.changes_max ? o.changes_max : INF_DIFF_CHANGES_DEFAULT;
    struct differ d = {.diff = NEW(struct inf_diff), .all = o.all};
    start_over(&d);
    if (by_pairs_only || !diff_alike(&d, old_text, new_text, ceiling)) {
        start_over(&d);
        diff_part(&d, old_text, new_text, ceiling);
    }
    leave_out_values(d.diff, o.bytes_max ? o.bytes_max : INF_DIFF_BYTES_DEFAULT);
    arena_free(&d.scratch);
    buf_free(&d.path);
    return d.diff;
}

struct inf_diff *diff_make(struct str old_text, struct str new_text,
                           const struct inf_diff_options *options)
{
    return make(old_text, new_text, options, false);
}

struct inf_diff *diff_make_by_pairs(struct str old_text, struct str new_text,
                                    const struct inf_diff_options *options)
{
    return make(old_text, new_text, options, true);
}

static struct str text_of(const struct inf_object *object)
{
    struct str text;
    text.at = inf_object_json(object, &text.len);
    return text;
}

struct inf_diff *inf_diff_make(const struct inf_object *old_object,
                               const struct inf_object *new_object,
                               const struct inf_diff_options *options, struct inf_error *err)
{
    if (!old_object || !new_object) {
        err_set(err, INF_EINVAL, "diff: two objects are required");
        return NULL;
    }
    return diff_make(text_of(old_object), text_of(new_object), options);
}
