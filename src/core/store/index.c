/*
 * index.c - keeps the buckets of all indexes of a generation up to date. See index.h.
 *
 * Values beyond INDEX_VALUES_MAX and values that contain NUL are not indexed; nothing else fails.
 */
#include "core/store/index.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/json/json.h"
#include "core/object/object.h"

struct more_members {
    struct member member;
    struct more_members *next;
    bool kept; /* during an update: the object still has this value */
};

struct str entry_key(const struct entry *entry)
{
    return object_key(entry->object);
}

/* ---- buckets ---- */

static struct str value_of(const struct index_bucket *bucket)
{
    return (struct str){bucket->value, bucket->len};
}

static int by_value(const struct tree_node *a, const struct tree_node *b)
{
    return str_cmp(value_of(container_of(a, struct index_bucket, in_index)),
                   value_of(container_of(b, struct index_bucket, in_index)));
}

static int value_to_bucket(const void *value, const struct tree_node *node)
{
    const struct str *v = value;
    return str_cmp(*v, value_of(container_of(node, struct index_bucket, in_index)));
}

/* The bucket of @value; NULL if there is none, then @ret_next is where it belongs. */
static struct index_bucket *seek_bucket(const struct tree *index, struct str value,
                                        struct tree_node **ret_next)
{
    struct tree_node *node = tree_at_least(index, value_to_bucket, &value);
    struct index_bucket *bucket = node ? container_of(node, struct index_bucket, in_index) : NULL;
    *ret_next = node;
    return bucket && str_eq(value_of(bucket), value) ? bucket : NULL;
}

struct index_bucket *index_bucket(const struct tree *index, struct str value)
{
    struct tree_node *next;
    return seek_bucket(index, value, &next);
}

/* Not in the tree yet. */
static struct index_bucket *bucket_make(struct tree *index, struct str value)
{
    struct index_bucket *bucket = xcalloc(1, sizeof(*bucket) + value.len + 1);
    bucket->index = index;
    bucket->len = value.len;
    if (value.len)
        memcpy(bucket->value, value.at, value.len);
    list_init(&bucket->members);
    return bucket;
}

static struct index_bucket *bucket_new(struct tree *index, struct str value)
{
    struct index_bucket *bucket = bucket_make(index, value);
    tree_add(index, &bucket->in_index);
    return bucket;
}

static void bucket_release(struct index_bucket *bucket)
{
    if (--bucket->count > 0)
        return;
    tree_remove(bucket->index, &bucket->in_index);
    free(bucket);
}

static void member_leave(struct member *member)
{
    list_remove(&member->in_bucket);
    bucket_release(member->bucket);
    member->bucket = NULL;
}

/* ---- updating: the values of an object in one index, compared with the memberships of its entry ----
 */

struct index_update {
    struct index_set *set;
    struct tree *index;
    struct entry *entry;
    struct member *first;
    bool first_kept;
    struct more_members **more; /* where the further memberships in this index start in the list */
    struct more_members **next; /* all before it are kept */
    size_t values;
};

static bool is_in(const struct more_members *more, const struct tree *index)
{
    return more && more->member.bucket->index == index;
}

static void keep_member(struct index_update *u, struct member *member)
{
    if (member == u->first)
        u->first_kept = true;
    else
        container_of(member, struct more_members, member)->kept = true;
}

/* The next membership whose value was not given yet; NULL if there is none. */
static struct member *next_member(struct index_update *u)
{
    if (u->first->bucket && !u->first_kept)
        return u->first;
    while (is_in(*u->next, u->index) && (*u->next)->kept)
        u->next = &(*u->next)->next;
    return is_in(*u->next, u->index) ? &(*u->next)->member : NULL;
}

/* The membership of the entry in @bucket; NULL if it has none. */
static struct member *member_in(const struct index_update *u, const struct index_bucket *bucket)
{
    if (u->first->bucket == bucket)
        return u->first;
    for (struct more_members *more = *u->more; is_in(more, u->index); more = more->next)
        if (more->member.bucket == bucket)
            return &more->member;
    return NULL;
}

/* Usually the value is that of the next membership. If not, it may be a duplicate, or the order has
 * changed; else it is new and takes over the next membership. If the value of that one follows
 * later, it is then added again. */
static void update_value(void *ctx, struct str value)
{
    struct index_update *u = ctx;
    struct member *next = next_member(u), *mine;
    struct index_bucket *bucket;
    if (u->values++ >= INDEX_VALUES_MAX || (value.len && memchr(value.at, '\0', value.len))) {
        u->set->incomplete = true;
        return;
    }
    if (next && str_eq(value_of(next->bucket), value)) {
        keep_member(u, next);
        return;
    }
    bucket = index_bucket(u->index, value);
    mine = bucket ? member_in(u, bucket) : NULL;
    if (!mine) {
        if (next) {
            member_leave(next);
            mine = next;
        } else if (!u->first->bucket) {
            mine = u->first;
        } else {
            struct more_members *more = NEW(struct more_members);
            more->member.entry = u->entry;
            more->next = *u->next;
            *u->next = more;
            mine = &more->member;
        }
        mine->bucket = bucket ? bucket : bucket_new(u->index, value);
        mine->bucket->count++;
        list_push(&mine->bucket->members, &mine->in_bucket);
    }
    keep_member(u, mine);
}

/* Ends the memberships whose value was not given. Returns where those of the next index start. */
static struct more_members **drop_unkept(struct index_update *u)
{
    struct more_members **link = u->more;
    if (u->first->bucket && !u->first_kept)
        member_leave(u->first);
    while (is_in(*link, u->index)) {
        struct more_members *more = *link;
        if (more->kept) {
            more->kept = false;
            link = &more->next;
        } else {
            *link = more->next;
            member_leave(&more->member);
            free(more);
        }
    }
    return link;
}

/* ---- values ---- */

/* The text of metadata.labels as received: the server sorts by key, so the same labels have the same
 * text. An object without labels has no value. */
static void each_label_set(const struct inf_object *object, index_value_fn each, void *ctx)
{
    struct json_walk walk;
    struct str text, labels;
    text.at = inf_object_json(object, &text.len);
    json_walk_start(&walk, text);
    if (!json_walk_to(&walk, "metadata") || !json_walk_pass(&walk, '{') ||
        !json_walk_to(&walk, "labels"))
        return;
    labels = json_walk_value(&walk);
    if (!str_eq(labels, STR("{}")) && !str_eq(labels, STR("null")))
        each(ctx, labels);
}

static size_t tree_count(const struct index_set *set)
{
    return INDEX_DEFS + set->n_defs;
}

/* The list of an entry's second and further values, in the order of the indexes. Without index
 * definitions an entry has no such list: returns @none. */
static struct more_members **more_of(const struct index_set *set, const struct entry *entry,
                                     struct more_members **none)
{
    const struct member *end = &entry->members[tree_count(set)];
    return set->n_defs ? (struct more_members **)(uintptr_t)end : none;
}

void index_update(struct index_set *set, struct entry *entry, const struct inf_object *object)
{
    struct more_members *none = NULL, **more = more_of(set, entry, &none);
    set->last_labels = NULL; /* it may be freed */
    for (size_t i = 0; i < tree_count(set); i++) {
        const struct index_def *def = i < INDEX_DEFS ? NULL : &set->defs[i - INDEX_DEFS];
        struct index_update u = {.set = set,
                                 .index = &set->trees[i],
                                 .entry = entry,
                                 .first = &entry->members[i],
                                 .more = more,
                                 .next = more};
        if (def)
            def->values(def, object, update_value, &u);
        else
            each_label_set(object, update_value, &u);
        more = drop_unkept(&u);
    }
}

/* ---- entries ---- */

/* Objects that follow each other in a list mostly have the same namespace, and often the same labels. */
static struct index_bucket *find_bucket(struct tree *index, struct index_bucket **last,
                                        struct str value)
{
    struct tree_node *next;
    if (*last && str_eq(value_of(*last), value))
        return *last;
    *last = seek_bucket(index, value, &next);
    if (*last)
        return *last;
    *last = bucket_make(index, value);
    tree_add_before(index, next, &(*last)->in_index);
    return *last;
}

/* An entry that is in the index of namespaces only. */
static struct entry *entry_new(struct index_set *set, const struct inf_object *held)
{
    struct entry *entry = memset(slots_take(&set->entries), 0, set->entries.size);
    struct str ns = str_of(inf_object_namespace(held));
    entry->object = held;
    for (size_t i = 0; i < tree_count(set); i++)
        entry->members[i].entry = entry;
    find_bucket(&set->namespaces, &set->last_namespace, ns)->count++;
    return entry;
}

struct entry *index_entry_new(struct index_set *set, const struct inf_object *held,
                              const struct inf_object *object)
{
    struct entry *entry = entry_new(set, held);
    index_update(set, entry, object);
    return entry;
}

static void join_labels(struct index_set *set, struct member *member, struct str labels)
{
    assert(!set->n_defs);
    if (!labels.len)
        return;
    member->bucket = find_bucket(&set->trees[INDEX_LABELS], &set->last_labels, labels);
    member->bucket->count++;
    list_push(&member->bucket->members, &member->in_bucket);
}

struct entry *index_entry_new_labelled(struct index_set *set, const struct inf_object *held,
                                       struct str labels)
{
    struct entry *entry = entry_new(set, held);
    join_labels(set, &entry->members[INDEX_LABELS], labels);
    return entry;
}

void index_update_labelled(struct index_set *set, struct entry *entry, struct str labels)
{
    struct member *member = &entry->members[INDEX_LABELS];
    if (str_eq(index_entry_labels(entry), labels))
        return;
    if (member->bucket) {
        set->last_labels = NULL; /* it may be freed */
        member_leave(member);
    }
    join_labels(set, member, labels);
}

struct str index_entry_labels(const struct entry *entry)
{
    const struct index_bucket *bucket = entry->members[INDEX_LABELS].bucket;
    return bucket ? value_of(bucket) : (struct str){"", 0};
}

size_t index_entry_free(struct index_set *set, struct entry *entry)
{
    struct more_members *none = NULL, **list = more_of(set, entry, &none), *more;
    size_t further = 0;
    set->last_namespace = set->last_labels = NULL; /* they may be freed */
    for (size_t i = 0; i < tree_count(set); i++)
        if (entry->members[i].bucket)
            member_leave(&entry->members[i]);
    while ((more = *list)) {
        *list = more->next;
        member_leave(&more->member);
        free(more);
        further++;
    }
    bucket_release(index_bucket(&set->namespaces, str_of(inf_object_namespace(entry->object))));
    slots_give(&set->entries, entry);
    return further;
}

/* ---- the set ---- */

const struct tree *index_named(const struct index_set *set, const char *name)
{
    if (strcmp(name, "namespace") == 0)
        return &set->namespaces;
    for (size_t i = 0; i < set->n_defs; i++)
        if (strcmp(name, set->defs[i].name) == 0)
            return &set->trees[INDEX_DEFS + i];
    return NULL;
}

bool index_is_in(const struct index_set *set, const struct entry *entry,
                 const struct index_bucket *bucket)
{
    struct more_members *none = NULL, *more = *more_of(set, entry, &none);
    if (entry->members[bucket->index - set->trees].bucket == bucket)
        return true;
    while (more && more->member.bucket != bucket)
        more = more->next;
    return more != NULL;
}

static int by_object_key(const void *a, const void *b)
{
    return str_cmp(object_key(*(const struct inf_object *const *)a),
                   object_key(*(const struct inf_object *const *)b));
}

size_t index_collect(const struct index_bucket *bucket, const struct inf_object **out)
{
    size_t n = 0;
    list_for_each(node, &bucket->members)
        out[n++] = container_of(node, struct member, in_bucket)->entry->object;
    return n;
}

void index_sort(const struct inf_object **objects, size_t n)
{
    qsort(objects, n, sizeof(*objects), by_object_key);
}

void index_set_init(struct index_set *set, const struct index_def *defs, size_t n_defs)
{
    *set = (struct index_set){.defs = defs, .n_defs = n_defs};
    page_pool_init(&set->pages, NULL);
    slots_init(&set->entries,
               sizeof(struct entry) + tree_count(set) * sizeof(struct member) +
                   (n_defs ? sizeof(struct more_members *) : 0),
               &set->pages);
    set->trees = xcalloc(tree_count(set), sizeof(struct tree));
    tree_init(&set->namespaces, by_value);
    for (size_t i = 0; i < tree_count(set); i++)
        tree_init(&set->trees[i], by_value);
}

void index_set_free(struct index_set *set)
{
    assert(!tree_first(&set->namespaces));
    free(set->trees);
    *set = (struct index_set){0};
}
