/* cmocka.h requires these headers before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/rng.h"
#include "core/store/store.h"
#include "index_world.h"
#include "tier.h"

/* ---- random changes, compared with a model that examines every object for each query ---- */

enum {
    NAMES = 30,
    STEPS = 1500,
};

static const char *const namespaces[] = {"a", "a-b", "b"};
static const char *const label_sets[] = {"", "{}", "{\"app\":\"web\"}", "{\"app\":\"db\"}",
                                         "{\"app\":\"web\",\"tier\":\"1\"}"};
static const char *const nodes[] = {"", "n1", "n2", "n3"};
static const char *const tag_names[] = {"q", "r", "s", "t", "u"};

struct model_thing {
    bool there;
    char key[16];
    const char *labels;
    const char *node;
    char tags[32];
    uint64_t version;
};

struct model {
    struct rng rng;
    struct model_thing things[NAMES]; /* by key */
};

static const char *any_of(struct rng *rng, const char *const *words, size_t count)
{
    return words[rng_below(rng, count)];
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct model_thing *)a)->key, ((const struct model_thing *)b)->key);
}

static void model_init(struct model *m, uint64_t seed)
{
    *m = (struct model){.rng = {seed}};
    for (int i = 0; i < NAMES; i++)
        snprintf(m->things[i].key, sizeof(m->things[i].key), "%s/%02d", namespaces[i % 3], i);
    qsort(m->things, NAMES, sizeof(m->things[0]), by_key);
}

/* Changes an object, often in one respect only. */
static void model_change(struct model *m, struct model_thing *t, uint64_t version)
{
    uint64_t what = rng_below(&m->rng, 4);
    t->version = version;
    if (!t->there || what == 0)
        t->labels = any_of(&m->rng, label_sets, 5);
    if (!t->there || what == 1)
        t->node = any_of(&m->rng, nodes, 4);
    if (!t->there || what == 2) {
        t->tags[0] = '\0';
        for (uint64_t n = rng_below(&m->rng, 7); n > 0; n--) {
            strcat(t->tags, any_of(&m->rng, tag_names, 5));
            strcat(t->tags, n > 1 ? "," : "");
        }
    }
    t->there = true;
}

static struct inf_object *object_of(const struct model_thing *t)
{
    return thing(t->key, t->version, t->labels, t->node, t->tags);
}

static bool has(const struct model_thing *t, const char *index, const char *value)
{
    size_t len = strlen(value);
    if (strcmp(index, "node") == 0)
        return strcmp(t->node, value) == 0;
    if (strcmp(index, "tag") == 0)
        return strstr(t->tags, value) != NULL;
    return strncmp(t->key, value, len) == 0 && t->key[len] == '/';
}

/* The expected result of the store, by index. */
static void check_value(struct index_world *f, struct model *m, const char *index,
                        const char *value, struct buf *values)
{
    struct buf keys = {0};
    size_t count = 0;
    for (int i = 0; i < NAMES; i++) {
        if (!m->things[i].there || !has(&m->things[i], index, value))
            continue;
        buf_printf(&keys, "%s ", m->things[i].key);
        count++;
    }
    buf_putc(&keys, '\0');
    assert_indexed(f, index, value, keys.bytes);
    if (count)
        buf_printf(values, "%s:%zu ", value, count);
    buf_free(&keys);
}

static void check_index(struct index_world *f, struct model *m, const char *index,
                        const char *const *words, size_t count)
{
    struct buf values = {0};
    for (size_t i = 0; i < count; i++)
        check_value(f, m, index, words[i], &values);
    buf_putc(&values, '\0');
    assert_values(f, index, values.bytes);
    buf_free(&values);
}

static void check_labels(struct index_world *f, struct model *m, const char *ns, const char *word)
{
    struct buf keys = {0};
    for (int i = 0; i < NAMES; i++) {
        const struct model_thing *t = &m->things[i];
        if (t->there && (!*ns || has(t, "namespace", ns)) && strstr(t->labels, word))
            buf_printf(&keys, "%s ", t->key);
    }
    buf_putc(&keys, '\0');
    select_some(f, ns, word, 1 + rng_below(&m->rng, 40));
    assert_out(f, keys.bytes);
    assert_selected(f, ns, word, keys.bytes);
    buf_free(&keys);
}

static void check(struct index_world *f, struct model *m)
{
    check_index(f, m, "node", nodes + 1, 3);
    check_index(f, m, "tag", tag_names, 5);
    check_index(f, m, "namespace", namespaces, 3);
    check_labels(f, m, "", "web");
    check_labels(f, m, any_of(&m->rng, namespaces, 3), "app");
    check_labels(f, m, "a", "tier");
}

/* Stages the objects of the model, some of them twice, and one that is deleted again. */
static struct generation *stage(struct index_world *f, struct model *m)
{
    struct generation *next = generation_new(f->store);
    for (int i = 0; i < NAMES; i++) {
        struct inf_object *object = thing(m->things[i].key, 1, "{\"x\":\"y\"}", "n0", "z,q");
        bool before = rng_below(&m->rng, 4) == 0;
        if (before)
            generation_put(next, object);
        if (before && !m->things[i].there)
            generation_delete(next, object);
        inf_object_unref(object);
        if (!m->things[i].there)
            continue;
        object = object_of(&m->things[i]);
        generation_put(next, object);
        inf_object_unref(object);
    }
    return next;
}

static void relist(struct index_world *f, struct model *m)
{
    size_t slice = 1 + rng_below(&m->rng, 40);
    for (int i = 0; i < NAMES; i++) {
        if (rng_below(&m->rng, 5) == 0)
            model_change(m, &m->things[i], ++f->version);
        else if (rng_below(&m->rng, 5) == 0)
            m->things[i].there = false;
    }
    store_flip(f->store, stage(f, m), "1", INF_RELIST);
    check(f, m);
    while (!store_emit_some(f->store, slice, silent, NULL))
        continue;
}

static void step(struct index_world *f, struct model *m)
{
    struct model_thing *t = &m->things[rng_below(&m->rng, NAMES)];
    struct inf_object *object;
    uint64_t what = rng_below(&m->rng, 20);
    if (what == 0)
        relist(f, m);
    else if (what == 1)
        store_discard(f->store, stage(f, m));
    else if (what == 2)
        store_sweep(f->store, rng_below(&m->rng, 50));
    else if (what < 13) {
        model_change(m, t, ++f->version);
        object = object_of(t);
        store_put(f->store, object, INF_LIVE, silent, NULL);
        inf_object_unref(object);
    } else {
        t->there = false;
        take_out(f, t->key);
    }
}

static void equals_a_model_after_random_changes(void **state)
{
    struct index_world *f = *state;
    for (uint64_t seed = 1; seed <= (tier_is_full() ? 5 : 2); seed++) {
        struct model m;
        model_init(&m, seed);
        store_flip(f->store, generation_new(f->store), "1", INF_RELIST);
        while (!store_emit_some(f->store, 100, silent, NULL))
            continue;
        for (int i = 0; i < STEPS; i++) {
            step(f, &m);
            check(f, &m);
        }
    }
}

#define IN_STORE(test) \
    cmocka_unit_test_setup_teardown(test, index_world_set_up, index_world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_STORE(equals_a_model_after_random_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
