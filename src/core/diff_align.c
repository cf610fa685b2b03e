#include "core/diff_align.h"

#include <string.h>

#include "core/diff_list.h"
#include "core/json.h"
#include "core/json_text.h"
#include "core/path.h"

enum {
    PARTS_MAX = 32,   /* members of an object or items of a list ... */
    CHANGES_MAX = 16, /* ... and those that differ; with more, pairing is worth its price */
};

/* A member, or an item: then its key is that of the list's merge key. */
struct change {
    struct str key;
    struct str old_value;
    struct str new_value;
};

struct align {
    struct json_walk old_walk;
    struct json_walk new_walk;
    const char *same; /* the old text up to here is the new one's, from where the walks stand */
    struct str parts[PARTS_MAX]; /* the old ones seen so far: keys of members, or items */
    size_t n_parts;
    struct change changes[CHANGES_MAX];
    size_t n_changes;
};

/* How many bytes the two have in common from their beginning on. */
static size_t common_bytes(const char *a, const char *b, size_t len)
{
    enum {
        BLOCK = 64
    };
    size_t n = 0;
    while (len - n >= BLOCK && memcmp(a + n, b + n, BLOCK) == 0)
        n += BLOCK;
    while (n < len && a[n] == b[n])
        n++;
    return n;
}

static void measure_the_same(struct align *a)
{
    size_t old_left = (size_t)(a->old_walk.end - a->old_walk.at);
    size_t new_left = (size_t)(a->new_walk.end - a->new_walk.at);
    a->same = a->old_walk.at + common_bytes(a->old_walk.at, a->new_walk.at,
                                            old_left < new_left ? old_left : new_left);
}

/* The old walk has passed a part that began at @from. If the new text has it too, the new walk comes
 * along. (So must what follows: 1 is not 12.) */
static bool pass_the_same(struct align *a, const char *from)
{
    if (a->old_walk.at >= a->same)
        return false;
    a->new_walk.at += a->old_walk.at - from;
    return true;
}

static bool note_part(struct align *a, struct str part)
{
    if (a->n_parts == PARTS_MAX)
        return false;
    a->parts[a->n_parts++] = part;
    return true;
}

static bool note_change(struct align *a, struct change change)
{
    if (str_eq(change.old_value, change.new_value))
        return true;
    if (a->n_changes == CHANGES_MAX)
        return false;
    a->changes[a->n_changes++] = change;
    return true;
}

static bool are_unique(const struct str *texts, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (str_eq(texts[i], texts[k]))
                return false;
    return true;
}

/* Makes pairs of the changes, with their keys as steps. False: there is no room for them. */
static bool make_pairs(const struct align *a, struct diff_pairing *p, struct arena *memory,
                       size_t *room)
{
    size_t n = a->n_changes;
    if (*room < 2 * n)
        return false;
    *room -= 2 * n;
    p->old_count = p->new_count = n;
    p->old_items = arena_alloc(memory, 2 * n * sizeof(*p->old_items));
    p->new_items = p->old_items + n;
    for (size_t i = 0; i < n; i++) {
        const struct change *c = &a->changes[i];
        p->old_items[i] = (struct diff_item){c->key, c->old_value, &p->new_items[i]};
        p->new_items[i] = (struct diff_item){c->key, c->new_value, &p->old_items[i]};
    }
    return true;
}

/* ---- members ---- */

/* Whether both have the same keys, none of them twice or with escapes. */
static bool walk_members(struct align *a, bool versions)
{
    const char *from = a->old_walk.at;
    struct json_member was, is;
    measure_the_same(a);
    for (; json_walk_next(&a->old_walk, &was); from = a->old_walk.at) {
        if (!note_part(a, was.key) || memchr(was.key.at, '\\', was.key.len))
            return false;
        if (pass_the_same(a, from))
            continue;
        if (!json_walk_next(&a->new_walk, &is) || !str_eq(was.key, is.key))
            return false;
        if ((versions || !diff_pair_is_version(was.key)) &&
            !note_change(a, (struct change){was.key, was.value, is.value}))
            return false;
        measure_the_same(a);
    }
    return !json_walk_next(&a->new_walk, &is) && are_unique(a->parts, a->n_parts);
}

bool diff_align_members(struct diff_pairing *p, struct arena *memory, size_t *room,
                        struct str old_text, struct str new_text, bool versions)
{
    struct align a;
    a.n_parts = a.n_changes = 0;
    json_walk_start(&a.old_walk, old_text);
    json_walk_start(&a.new_walk, new_text);
    if (!walk_members(&a, versions))
        return false;
    for (size_t i = 0; i < a.n_changes; i++)
        a.changes[i].key = diff_pair_step(memory, a.changes[i].key);
    *p = (struct diff_pairing){.by = DIFF_BY_MEMBER};
    return make_pairs(&a, p, memory, room);
}

/* ---- items ---- */

static bool walk_items(struct align *a)
{
    const char *from = a->old_walk.at;
    struct str was, is;
    measure_the_same(a);
    for (; json_items_next(&a->old_walk, &was); from = a->old_walk.at) {
        if (!note_part(a, was) || *was.at != '{')
            return false;
        if (pass_the_same(a, from))
            continue;
        if (!json_items_next(&a->new_walk, &is) || *is.at != '{' ||
            !note_change(a, (struct change){.old_value = was, .new_value = is}))
            return false;
        measure_the_same(a);
    }
    return !json_items_next(&a->new_walk, &is);
}

/* The first merge key that all items have. */
static struct str common_key(const struct align *a)
{
    unsigned keys = ~0U;
    for (size_t i = 0; i < a->n_parts && keys; i++)
        keys &= diff_list_keys(a->parts[i]);
    for (size_t i = 0; i < a->n_changes && keys; i++)
        keys &= diff_list_keys(a->changes[i].new_value);
    return diff_list_first_key(keys);
}

/* What a key's value says: 80 and "80" are the same. False: it has escapes. */
static bool identify(struct str item, struct str key, struct str *ret)
{
    json_member_get(item, key, ret);
    if (*ret->at == '"')
        *ret = (struct str){ret->at + 1, ret->len - 2};
    return !memchr(ret->at, '\\', ret->len);
}

/* Whether @key identifies all items, and those that differ are the same one in both. */
static bool are_the_same(const struct align *a, struct str key)
{
    struct str names[PARTS_MAX], was, is;
    for (size_t i = 0; i < a->n_parts; i++)
        if (!identify(a->parts[i], key, &names[i]))
            return false;
    for (size_t i = 0; i < a->n_changes; i++)
        if (!identify(a->changes[i].old_value, key, &was) ||
            !identify(a->changes[i].new_value, key, &is) || !str_eq(was, is))
            return false;
    return are_unique(names, a->n_parts);
}

/* [name=web] */
static struct str spell_step(struct arena *memory, struct str item, struct str key)
{
    struct path_step step = {.kind = PATH_WHERE, .key = key};
    struct buf text = {0};
    struct str kept;
    identify(item, key, &step.value);
    path_put_step(&text, &step);
    kept = arena_copy(memory, (struct str){text.bytes, text.len});
    buf_free(&text);
    return kept;
}

bool diff_align_items(struct diff_pairing *p, struct arena *memory, size_t *room,
                      struct str old_text, struct str new_text)
{
    struct align a;
    struct str key;
    a.n_parts = a.n_changes = 0;
    json_items_start(&a.old_walk, old_text);
    json_items_start(&a.new_walk, new_text);
    if (!walk_items(&a))
        return false;
    key = common_key(&a);
    if (!key.len || !are_the_same(&a, key))
        return false;
    for (size_t i = 0; i < a.n_changes; i++)
        a.changes[i].key = spell_step(memory, a.changes[i].old_value, key);
    *p = (struct diff_pairing){.by = DIFF_BY_KEY};
    return make_pairs(&a, p, memory, room);
}
