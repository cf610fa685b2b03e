#include "core/diff_align.h"

#include <string.h>

#include "core/json.h"

enum {
    KEYS_MAX = 32,    /* members of an object ... */
    CHANGES_MAX = 16, /* ... and those that differ; with more, pairing is worth its price */
};

struct align {
    struct json_walk old_walk;
    struct json_walk new_walk;
    struct json_member old_member; /* where the walks stand */
    struct json_member new_member;
    struct str keys[KEYS_MAX]; /* seen so far, in both */
    size_t n_keys;
    struct {
        struct json_member old_member;
        struct json_member new_member;
    } changes[CHANGES_MAX];
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

static bool note_key(struct align *a)
{
    struct str key = a->old_member.key;
    if (a->n_keys == KEYS_MAX || memchr(key.at, '\\', key.len))
        return false;
    a->keys[a->n_keys++] = key;
    return true;
}

/* To the next member of the old text that does not read the same in the new one; the new walk comes
 * along. Returns 1 if there is one, 0 if not, -1 if there is no going on. */
static int skip_the_same(struct align *a)
{
    size_t old_left = (size_t)(a->old_walk.end - a->old_walk.at);
    size_t new_left = (size_t)(a->new_walk.end - a->new_walk.at);
    const char *from = a->old_walk.at, *same;
    same = from + common_bytes(from, a->new_walk.at, old_left < new_left ? old_left : new_left);
    while (json_walk_next(&a->old_walk, &a->old_member)) {
        if (!note_key(a))
            return -1;
        if (a->old_walk.at >= same) /* what follows it must be the same too: 1 is not 12 */
            return 1;
        a->new_walk.at += a->old_walk.at - from;
        from = a->old_walk.at;
    }
    return 0;
}

static bool note_change(struct align *a, bool versions)
{
    if (str_eq(a->old_member.value, a->new_member.value) ||
        (!versions && diff_pair_is_version(a->old_member.key)))
        return true;
    if (a->n_changes == CHANGES_MAX)
        return false;
    a->changes[a->n_changes].old_member = a->old_member;
    a->changes[a->n_changes++].new_member = a->new_member;
    return true;
}

static bool walk_both(struct align *a, bool versions)
{
    int rc;
    while ((rc = skip_the_same(a)) > 0) {
        if (!json_walk_next(&a->new_walk, &a->new_member) ||
            !str_eq(a->old_member.key, a->new_member.key) || !note_change(a, versions))
            return false;
    }
    return rc == 0 && !json_walk_next(&a->new_walk, &a->new_member);
}

/* With a key that is there twice nobody could say which one is meant. */
static bool are_unique(const struct str *keys, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (str_eq(keys[i], keys[k]))
                return false;
    return true;
}

static void make_pairs(const struct align *a, struct diff_pairing *p, struct arena *memory)
{
    size_t n = a->n_changes;
    *p = (struct diff_pairing){.by = DIFF_BY_MEMBER, .old_count = n, .new_count = n};
    p->old_items = arena_alloc(memory, 2 * n * sizeof(*p->old_items));
    p->new_items = p->old_items + n;
    for (size_t i = 0; i < n; i++) {
        struct str step = diff_pair_step(memory, a->changes[i].old_member.key);
        p->old_items[i] =
            (struct diff_item){step, a->changes[i].old_member.value, &p->new_items[i]};
        p->new_items[i] =
            (struct diff_item){step, a->changes[i].new_member.value, &p->old_items[i]};
    }
}

bool diff_align_members(struct diff_pairing *p, struct arena *memory, size_t *room,
                        struct str old_text, struct str new_text, bool versions)
{
    struct align a;
    a.n_keys = a.n_changes = 0;
    json_walk_start(&a.old_walk, old_text);
    json_walk_start(&a.new_walk, new_text);
    if (!walk_both(&a, versions) || !are_unique(a.keys, a.n_keys) || *room < 2 * a.n_changes)
        return false;
    *room -= 2 * a.n_changes;
    make_pairs(&a, p, memory);
    return true;
}
