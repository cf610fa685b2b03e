#include "index_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/json/json.h"
#include "builders.h"
#include "core/store/index.h"
#include "core/store/store.h"

struct inf_object *thing(const char *key, uint64_t version, const char *labels, const char *node,
                         const char *tags)
{
    const char *slash = strchr(key, '/');
    const char *name = slash ? slash + 1 : key;
    char *text = xasprintf("{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%.*s\",\"uid\":\"u\","
                           "\"resourceVersion\":\"%d\"%s%s},"
                           "\"spec\":{\"node\":\"%s\",\"tags\":\"%s\"}}",
                           name, slash ? (int)(slash - key) : 0, key, (int)version,
                           *labels ? ",\"labels\":" : "", labels, node, tags);
    struct inf_object *object = object_from(text);
    free(text);
    return object;
}

static struct str member(struct str object, const char *name)
{
    struct json_walk walk;
    struct json_member m;
    json_walk_start(&walk, object);
    while (json_walk_next(&walk, &m))
        if (json_key_is(m.key, name))
            return m.value;
    return STR("");
}

static struct str spec_string(const struct inf_object *object, const char *name)
{
    struct str text, value;
    text.at = inf_object_json(object, &text.len);
    value = member(member(text, "spec"), name);
    return (struct str){value.at + 1, value.len - 2};
}

static void node_of(const struct index_def *def, const struct inf_object *object,
                    index_value_fn each, void *ctx)
{
    struct str node = spec_string(object, def->data);
    if (node.len)
        each(ctx, node);
}

static void tags_of(const struct index_def *def, const struct inf_object *object,
                    index_value_fn each, void *ctx)
{
    struct str left = spec_string(object, def->data);
    while (left.len) {
        const char *comma = memchr(left.at, ',', left.len);
        size_t len = comma ? (size_t)(comma - left.at) : left.len;
        each(ctx, (struct str){left.at, len});
        left.at += len + (comma != NULL);
        left.len -= len + (comma != NULL);
    }
}

static const struct index_def defs[] = {
    {"tag", tags_of, "tags"},
    {"node", node_of, "node"},
};

/* ---- a store, and all its query results as text ---- */

int index_world_set_up(void **state)
{
    struct index_world *f = test_calloc(1, sizeof(*f));
    f->store = store_new(&(struct siphash_key){3, 4}, defs, 2);
    *state = f;
    return 0;
}

int index_world_tear_down(void **state)
{
    struct index_world *f = *state;
    while (!store_free_some(f->store, 3))
        continue;
    buf_free(&f->out);
    test_free(f);
    return 0;
}

void silent(void *ctx, const struct inf_event *event)
{
    (void)ctx;
    (void)event;
}

void put(struct index_world *f, const char *key, const char *labels, const char *node,
         const char *tags)
{
    struct inf_object *object = thing(key, ++f->version, labels, node, tags);
    store_put(f->store, object, INF_LIVE, silent, NULL);
    inf_object_unref(object);
}

void take_out(struct index_world *f, const char *key)
{
    struct inf_object *object = thing(key, ++f->version, "", "", "");
    store_delete(f->store, object, silent, NULL);
    inf_object_unref(object);
}

bool print_key(void *ctx, const struct inf_object *object)
{
    struct index_world *f = ctx;
    buf_printf(&f->out, "%.*s ", STR_FMT(object_key(object)));
    return true;
}

bool print_value(void *ctx, const char *value, size_t count)
{
    struct index_world *f = ctx;
    buf_printf(&f->out, "%s:%zu ", value, count);
    return true;
}

void assert_out(struct index_world *f, const char *expected)
{
    buf_putc(&f->out, '\0');
    assert_string_equal(f->out.bytes, expected);
    buf_clear(&f->out);
}

void assert_indexed(struct index_world *f, const char *index, const char *value,
                    const char *expected)
{
    assert_int_equal(inf_store_by_index(f->store, index, value, print_key, f), 0);
    assert_out(f, expected);
}

static bool count_one(void *ctx, const char *value, size_t count)
{
    (void)value;
    (void)count;
    ++*(size_t *)ctx;
    return true;
}

static size_t count_values(const struct inf_store *store, const char *index)
{
    size_t n = 0;
    inf_store_index_values(store, index, count_one, &n);
    return n;
}

void assert_values(struct index_world *f, const char *index, const char *expected)
{
    assert_int_equal(inf_store_index_values(f->store, index, print_value, f), 0);
    assert_int_equal(inf_store_index_count(f->store, index), count_values(f->store, index));
    assert_out(f, expected);
}

bool contains(const void *selector, struct str labels)
{
    struct selector *s = (struct selector *)(uintptr_t)selector;
    s->evaluated++;
    return memmem(labels.at, labels.len, s->word, strlen(s->word)) != NULL;
}

void select_some(struct index_world *f, const char *ns, const char *word, size_t slice)
{
    struct selector s = {word, 0};
    struct label_query query = {ns, contains, &s};
    struct inf_cursor cursor = INF_CURSOR_START;
    size_t budget;
    do
        budget = slice;
    while (!store_by_labels(f->store, &query, &cursor, &budget, print_key, f));
    inf_cursor_end(&cursor);
    f->evaluated = s.evaluated;
}

void assert_selected(struct index_world *f, const char *ns, const char *word, const char *expected)
{
    struct selector s = {word, 0};
    struct label_query query = {ns, contains, &s};
    select_some(f, ns, word, SIZE_MAX);
    assert_out(f, expected);
    if (store_few_by_labels(f->store, &query, print_key, f))
        assert_out(f, expected); /* the other algorithm, if it applies, gives the same result */
}
