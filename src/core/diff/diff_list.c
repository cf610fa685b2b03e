/*
 * diff_list.c - pairs the items of two lists.
 *
 * A pairing by merge key is tried for each key that every item has as a string or a number, until
 * one is found that no two items of a list share. The types of Kubernetes state which key a list has
 * (patchMergeKey, x-kubernetes-list-map-keys); objects don't carry that, custom resources often
 * don't have it, and a wrong guess is harmless here: the diff is correct whichever key is used. So
 * the usual keys in a fixed order are enough. `name` comes before others that Kubernetes prefers
 * (containerPort, port, uid) since it is more readable; mountPath comes before `name`, which in
 * a mount is the volume's. Keys of two fields (port and protocol) have no path: such items go by
 * their text or place.
 */
#include "core/diff/diff_list.h"

#include "base/base.h"
#include "base/buf.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "core/diff/diff_pair.h"
#include "core/object/path.h"

enum {
    KEY_MAX = 256, /* LIMIT: bytes of a value, as written, that can identify an item */
};

#define KEY(name)              \
    {                          \
        name, sizeof(name) - 1 \
    }
static const struct str merge_keys[] = {
    KEY("mountPath"),     /* volumeMounts */
    KEY("devicePath"),    /* volumeDevices */
    KEY("name"),          /* containers, volumes, env, containerStatuses, named ports ... */
    KEY("type"),          /* conditions, addresses of nodes */
    KEY("ip"),            /* podIPs, hostIPs, hostAliases, endpoints */
    KEY("containerPort"), /* ports of containers without names */
    KEY("port"),          /* ports of services without names */
    KEY("uid"),           /* ownerReferences */
    KEY("key"),           /* taints, matchExpressions, items of volumes */
    KEY("topologyKey"),   /* topologySpreadConstraints */
    KEY("address"),       /* addresses of nodes with two of a type */
};
_Static_assert((1U << ARRAY_LEN(merge_keys)) - 1 == DIFF_LIST_KEYS, "a bit for each");

static bool collect_items(struct buf *items, size_t *room, struct str list)
{
    struct json_walk walk;
    struct str item;
    json_items_start(&walk, list);
    while (json_items_next(&walk, &item))
        if (!diff_pair_collect(items, room, (struct diff_item){.value = item}))
            return false;
    return true;
}

/* ---- by merge key ---- */

bool diff_list_identifies(struct str value)
{
    char c = *value.at;
    return value.len <= KEY_MAX && (c == '"' || c == '-' || (c >= '0' && c <= '9'));
}

struct str diff_list_first_key(unsigned keys)
{
    return merge_keys[__builtin_ctz(keys)];
}

unsigned diff_list_key(struct str key, unsigned keys)
{
    for (; keys; keys &= keys - 1)
        if (str_eq(key, diff_list_first_key(keys)))
            return keys & -keys;
    return 0;
}

static unsigned key_bit(struct str key)
{
    if (!memchr(key.at, '\\', key.len))
        return diff_list_key(key, DIFF_LIST_KEYS);
    for (size_t i = 0; i < ARRAY_LEN(merge_keys); i++)
        if (json_text_is(key, merge_keys[i]))
            return 1U << i;
    return 0;
}

/* The merge keys of an item. A duplicate key, or one whose value can't identify the item, does not
 * count. */
static unsigned keys_of(struct str item)
{
    struct json_walk walk;
    struct json_member member;
    unsigned found = 0, bad = 0;
    json_walk_start(&walk, item);
    while (json_walk_next(&walk, &member)) {
        unsigned bit = key_bit(member.key);
        if ((found & bit) || !diff_list_identifies(member.value))
            bad |= bit;
        found |= bit;
    }
    return found & ~bad;
}

/* The steps are one after the other in one text: those of old items, then those of new ones. */
static void place_steps(struct diff_pairing *p, const char *text)
{
    for (size_t i = 0; i < p->old_count + p->new_count; i++) {
        p->old_items[i].step.at = text;
        text += p->old_items[i].step.len;
    }
}

/* [name=web] for each item. */
static void format_steps(struct diff_pairing *p, struct buf *out, struct str key)
{
    struct path_step step = {.kind = PATH_WHERE, .key = key};
    struct buf text = {0};
    buf_clear(out);
    for (size_t i = 0; i < p->old_count + p->new_count; i++) {
        struct str value = {0};
        size_t from = out->len;
        json_member_get(p->old_items[i].value, key, &value);
        buf_clear(&text);
        json_value_put(&text, value);
        step.value = (struct str){text.bytes, text.len};
        path_put_step(out, &step);
        p->old_items[i].step.len = out->len - from;
    }
    place_steps(p, out->bytes);
    buf_free(&text);
}

static bool pair_by_key(struct diff_pairing *p, struct arena *memory)
{
    unsigned keys = ~0U; /* those that all items have */
    struct buf steps = {0};
    bool found = false;
    for (size_t i = 0; i < p->old_count + p->new_count && keys; i++)
        keys &= keys_of(p->old_items[i].value);
    for (size_t i = 0; i < ARRAY_LEN(merge_keys) && !found; i++) {
        if (!(keys >> i & 1))
            continue;
        format_steps(p, &steps, merge_keys[i]);
        found = diff_pair_match(p);
    }
    if (found) {
        p->by = DIFF_BY_KEY;
        p->reordered = !diff_pair_in_order(p);
        place_steps(p, arena_copy(memory, (struct str){steps.bytes, steps.len}).at);
    }
    buf_free(&steps);
    return found;
}

/* ---- by text and place ---- */

static bool pair_by_text(struct diff_pairing *p)
{
    for (size_t i = 0; i < p->old_count + p->new_count; i++)
        p->old_items[i].step = p->old_items[i].value;
    return diff_pair_match(p) && diff_pair_in_order(p);
}

static void join_items(struct diff_item *old_item, struct diff_item *new_item)
{
    old_item->mate = new_item;
    new_item->mate = old_item;
}

static void pair_ends(struct diff_pairing *p)
{
    size_t least = p->old_count < p->new_count ? p->old_count : p->new_count, front = 0, back = 0;
    for (size_t i = 0; i < p->old_count + p->new_count; i++)
        p->old_items[i].mate = NULL;
    while (front < least && str_eq(p->old_items[front].value, p->new_items[front].value)) {
        join_items(&p->old_items[front], &p->new_items[front]);
        front++;
    }
    while (back < least - front) {
        struct diff_item *a = &p->old_items[p->old_count - 1 - back];
        struct diff_item *b = &p->new_items[p->new_count - 1 - back];
        if (!str_eq(a->value, b->value))
            break;
        join_items(a, b);
        back++;
    }
}

/* Before the first added or removed item, two items without partners at the same place are a pair. */
static void pair_in_place(struct diff_pairing *p)
{
    for (size_t i = 0; i < p->old_count && i < p->new_count; i++) {
        struct diff_item *a = &p->old_items[i], *b = &p->new_items[i];
        if (!a->mate && !b->mate)
            join_items(a, b);
        else if (a->mate != b)
            break;
    }
}

static bool have_pairs(const struct diff_pairing *p)
{
    for (size_t i = 0; i < p->old_count; i++)
        if (p->old_items[i].mate)
            return true;
    return false;
}

static bool only_scalars(const struct diff_pairing *p)
{
    for (size_t i = 0; i < p->old_count + p->new_count; i++)
        if (*p->old_items[i].value.at == '{' || *p->old_items[i].value.at == '[')
            return false;
    return true;
}

/* Scalars are a set (finalizers, groups) or a sequence (args): added and removed items are reported if
 * the others kept their order. */
static bool pair_items(struct diff_pairing *p, struct arena *memory)
{
    if (only_scalars(p)) {
        if (!pair_by_text(p) || (p->old_count && p->new_count && !have_pairs(p)))
            return false;
    } else if (pair_by_key(p, memory)) {
        return true;
    } else if (!pair_by_text(p)) {
        pair_ends(p);
    }
    pair_in_place(p);
    return true;
}

bool diff_pair_lists(struct diff_pairing *p, struct arena *memory, size_t *room,
                     struct str old_text, struct str new_text)
{
    struct buf items = {0};
    size_t old_count;
    *p = (struct diff_pairing){.by = DIFF_BY_PLACE};
    p->over_limit = !collect_items(&items, room, old_text);
    old_count = items.len / sizeof(struct diff_item);
    p->over_limit = p->over_limit || !collect_items(&items, room, new_text);
    diff_pair_settle(p, memory, &items, old_count);
    return !p->over_limit && pair_items(p, memory);
}
