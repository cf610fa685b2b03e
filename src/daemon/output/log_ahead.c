/*
 * log_ahead.c - reads records at the end of a log, from the last one backwards, until one that the state
 * has. What can't be read as a record, such as a line of another program, is skipped.
 *
 * The objects are in a tree by cluster, watch, namespace and name. Nothing here fails.
 */
#include "daemon/output/log_ahead.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/json/json.h"
#include "base/text/json_decode.h"

enum {
    NAMES_MAX = 20, /* that log_ahead_forget_watch() lists */
};

struct ahead_entry {
    struct tree_node node;
    struct str key; /* cluster, watch, namespace and name, each with its NUL */
    const char *uid, *rv;
    bool deleted;
    char texts[];
};

static struct ahead_entry *entry_at(const struct tree_node *node)
{
    return container_of(node, struct ahead_entry, node);
}

static int by_key(const struct tree_node *a, const struct tree_node *b)
{
    return str_cmp(entry_at(a)->key, entry_at(b)->key);
}

static int key_to_node(const void *key, const struct tree_node *node)
{
    return str_cmp(*(const struct str *)key, entry_at(node)->key);
}

struct log_ahead *log_ahead_new(const char *log, uint64_t from)
{
    struct log_ahead *ahead = NEW(struct log_ahead);
    ahead->log = xstrdup(log);
    ahead->from = from;
    tree_init(&ahead->by_key, by_key);
    return ahead;
}

static void remove_entry(struct log_ahead *ahead, struct ahead_entry *e)
{
    tree_remove(&ahead->by_key, &e->node);
    ahead->count--;
    free(e);
}

void log_ahead_free(struct log_ahead *ahead)
{
    struct tree_node *node;
    if (!ahead)
        return;
    while ((node = tree_first(&ahead->by_key)))
        remove_entry(ahead, entry_at(node));
    free(ahead->last_rv);
    free(ahead->log);
    free(ahead);
}

static struct ahead_entry *find_entry(const struct log_ahead *ahead, struct str key)
{
    struct tree_node *node = tree_at_least(&ahead->by_key, key_to_node, &key);
    return node && key_to_node(&key, node) == 0 ? entry_at(node) : NULL;
}

/* ---- reading ---- */

enum field {
    FIELD_SEQ,
    FIELD_LOG,
    FIELD_TYPE,
    FIELD_CLUSTER,
    FIELD_WATCH,
    FIELD_NAMESPACE,
    FIELD_NAME,
    FIELD_UID,
    FIELD_RV, /* the last one in a line */
    FIELDS,
};

/* The values as written; empty: missing. Returns false if @line is no record about an object. */
static bool read_fields(struct str line, struct str ret_values[FIELDS])
{
    static const char *const names[FIELDS] = {"seq",       "log",  "type", "cluster", "watch",
                                              "namespace", "name", "uid",  "rv"};
    struct json_walk walk;
    struct json_member member;
    memset(ret_values, 0, FIELDS * sizeof(*ret_values));
    json_walk_start(&walk, line);
    while (!ret_values[FIELD_RV].len && json_walk_next(&walk, &member))
        for (size_t i = 0; i < FIELDS; i++)
            if (json_key_is(member.key, names[i]))
                ret_values[i] = member.value;
    return ret_values[FIELD_SEQ].len && ret_values[FIELD_LOG].len;
}

static uint64_t read_number(struct str value)
{
    char text[24];
    json_value_copy(value, text, sizeof(text));
    return strtoull(text, NULL, 10);
}

static void put_text(struct buf *out, struct str value)
{
    json_value_put(out, value);
    buf_putc(out, '\0');
}

/* Adds the object of a record, unless a later record of it was read. */
static void add_entry(struct log_ahead *ahead, const struct str values[FIELDS])
{
    struct buf texts = {0};
    struct ahead_entry *e;
    size_t key_len, uid_len;
    for (size_t i = FIELD_CLUSTER; i <= FIELD_NAME; i++)
        put_text(&texts, values[i]);
    key_len = texts.len;
    if (!find_entry(ahead, (struct str){texts.bytes, key_len})) {
        put_text(&texts, values[FIELD_UID]);
        uid_len = texts.len - key_len;
        put_text(&texts, values[FIELD_RV]);
        e = xmalloc(sizeof(*e) + texts.len);
        memcpy(e->texts, texts.bytes, texts.len);
        e->key = (struct str){e->texts, key_len};
        e->uid = e->texts + key_len;
        e->rv = e->uid + uid_len;
        e->deleted = json_value_is(values[FIELD_TYPE], STR("DELETED"));
        tree_add(&ahead->by_key, &e->node);
        ahead->count++;
    }
    buf_free(&texts);
}

static bool is_change(struct str type)
{
    return json_value_is(type, STR("ADDED")) || json_value_is(type, STR("MODIFIED")) ||
           json_value_is(type, STR("DELETED"));
}

/* Returns false if the state has the record, and so all before it. */
static bool read_line(struct log_ahead *ahead, struct str line)
{
    struct str values[FIELDS];
    if (!read_fields(line, values) || !json_value_is(values[FIELD_LOG], str_of(ahead->log)))
        return true;
    if (read_number(values[FIELD_SEQ]) < ahead->from)
        return false;
    if (is_change(values[FIELD_TYPE]) && values[FIELD_RV].len)
        add_entry(ahead, values);
    return true;
}

bool log_ahead_read(struct log_ahead *ahead, struct str *tail, bool cut, size_t n)
{
    const char *newline = tail->len ? memrchr(tail->at, '\n', tail->len) : NULL;
    for (; newline && n; n--) { /* the end of a line */
        const char *before = memrchr(tail->at, '\n', (size_t)(newline - tail->at));
        const char *line = before ? before + 1 : tail->at;
        if ((!before && cut) || !read_line(ahead, (struct str){line, (size_t)(newline - line)})) {
            ahead->partial = !before && cut;
            return false;
        }
        tail->len = (size_t)(line - tail->at);
        newline = before;
    }
    return newline;
}

/* ---- changes ---- */

static void put_key(struct buf *out, const struct watch_id *watch, const struct inf_object *object)
{
    const char *parts[] = {watch->cluster ? watch->cluster : "", watch->name ? watch->name : "",
                           object ? inf_object_namespace(object) : NULL,
                           object ? inf_object_name(object) : NULL};
    for (size_t i = 0; i < ARRAY_LEN(parts) && parts[i]; i++)
        buf_put(out, parts[i], strlen(parts[i]) + 1);
}

/* The log reports a uid before it reports another one of the same name. */
static enum log_ahead_verdict compare_deletion(const struct ahead_entry *e, const char *uid)
{
    return strcmp(e->uid, uid) != 0 || e->deleted ? LOG_AHEAD_WRITTEN : LOG_AHEAD_NOT;
}

static enum log_ahead_verdict compare(const struct ahead_entry *e, const struct change *change)
{
    const char *uid = inf_object_uid(change->object);
    const char *rv = inf_object_resource_version(change->object);
    if (change->event->origin == INF_INITIAL) /* the watch starts from scratch */
        return LOG_AHEAD_NOT;
    if (change->event->verb == INF_DELETED)
        return compare_deletion(e, uid);
    if (inf_resource_version_is_older(rv, e->rv) || strcmp(rv, e->rv) == 0)
        return LOG_AHEAD_WRITTEN;
    return e->deleted || strcmp(e->uid, uid) != 0 ? LOG_AHEAD_NOT : LOG_AHEAD_UNKNOWN;
}

/* Whether nothing older can follow: the change is the record, or a later one. */
static bool is_settled(const struct ahead_entry *e, const struct change *change,
                       enum log_ahead_verdict verdict)
{
    if (verdict != LOG_AHEAD_WRITTEN)
        return true;
    if (strcmp(e->uid, inf_object_uid(change->object)) != 0)
        return false;
    return e->deleted ? change->event->verb == INF_DELETED
                      : strcmp(e->rv, inf_object_resource_version(change->object)) == 0;
}

enum log_ahead_verdict log_ahead_check(struct log_ahead *ahead, const struct change *change,
                                       const char **ret_rv)
{
    enum log_ahead_verdict verdict;
    struct buf key = {0};
    struct ahead_entry *e;
    if (!ahead || !ahead->count)
        return LOG_AHEAD_NOT;
    put_key(&key, change->watch, change->object);
    e = find_entry(ahead, (struct str){key.bytes, key.len});
    buf_free(&key);
    if (!e)
        return LOG_AHEAD_NOT;
    verdict = compare(e, change);
    str_replace(&ahead->last_rv, e->rv);
    *ret_rv = ahead->last_rv;
    if (is_settled(e, change, verdict))
        remove_entry(ahead, e);
    return verdict;
}

size_t log_ahead_forget_watch(struct log_ahead *ahead, const struct watch_id *watch,
                              struct buf *names)
{
    struct buf prefix = {0};
    struct tree_node *node, *next;
    size_t left = 0;
    put_key(&prefix, watch, NULL);
    node = tree_at_least(&ahead->by_key, key_to_node, &(struct str){prefix.bytes, prefix.len});
    for (; node; node = next) {
        struct ahead_entry *e = entry_at(node);
        const char *ns = e->texts + prefix.len;
        if (e->key.len < prefix.len || memcmp(e->texts, prefix.bytes, prefix.len) != 0)
            break;
        next = tree_next(node);
        if (!e->deleted && ++left <= NAMES_MAX)
            buf_printf(names, "%s%s%s%s", left > 1 ? ", " : "", ns, ns[0] ? "/" : "",
                       ns + strlen(ns) + 1);
        remove_entry(ahead, e);
    }
    if (left > NAMES_MAX)
        buf_puts(names, ", ...");
    buf_free(&prefix);
    return left;
}
