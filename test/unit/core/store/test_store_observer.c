/*
 * test_store_observer.c - observers of a store: called inside each change, with the forms that the cache
 * holds, until the store ends or is redefined.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"
#include "builders.h"
#include "core/store/store.h"

struct fixture {
    struct inf_store *store;
    struct inf_store_observer observer;
    struct buf
        seen; /* "+a@5 " added at version 5, "~", "-"; "{" a new list, "}" its end; "." the end */
};

static void see_change(struct inf_store_observer *observer, const struct inf_store_change *change)
{
    struct fixture *f = container_of(observer, struct fixture, observer);
    enum inf_verb verb = change->event->verb;
    assert_int_equal(change->old_held != NULL, verb != INF_ADDED);
    assert_int_equal(change->new_held != NULL, verb != INF_DELETED);
    buf_printf(&f->seen, "%c%s@%s ",
               verb == INF_ADDED      ? '+'
               : verb == INF_MODIFIED ? '~'
                                      : '-',
               inf_object_name(inf_event_object(change->event)),
               inf_store_resource_version(f->store));
}

static void see_replaced(struct inf_store_observer *observer, bool begins)
{
    buf_puts(&container_of(observer, struct fixture, observer)->seen, begins ? "{ " : "} ");
}

static void see_end(struct inf_store_observer *observer)
{
    buf_puts(&container_of(observer, struct fixture, observer)->seen, ". ");
}

static int set_up(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));
    f->store = store_new(&(struct siphash_key){1, 2}, NULL, 0);
    f->observer = (struct inf_store_observer){
        .on_change = see_change, .on_replaced = see_replaced, .on_end = see_end};
    inf_store_observe(f->store, &f->observer);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    while (f->store && !store_free_some(f->store, 1))
        continue;
    buf_free(&f->seen);
    test_free(f);
    return 0;
}

static void assert_seen(struct fixture *f, const char *expected)
{
    buf_putc(&f->seen, '\0');
    assert_string_equal(f->seen.bytes, expected);
    buf_clear(&f->seen);
}

/* The observer was called before. */
static void ignore_event(void *ctx, const struct inf_event *event)
{
    struct fixture *f = ctx;
    (void)event;
    assert_true(f->seen.len > 0 || !f->observer.internal[0]);
}

static void put(struct fixture *f, const char *key, uint64_t version)
{
    struct inf_object *object = pod(key, "u", version, 0);
    store_put(f->store, object, INF_LIVE, ignore_event, f);
    inf_object_unref(object);
}

static void take_out(struct fixture *f, const char *key, uint64_t version)
{
    struct inf_object *object = pod(key, "u", version, 0);
    store_delete(f->store, object, ignore_event, f);
    inf_object_unref(object);
}

/* ---- tests ---- */

static void each_change_is_seen_at_the_version_of_the_store(void **state)
{
    struct fixture *f = *state;
    put(f, "n/a", 5);
    put(f, "n/a", 6);
    put(f, "n/a", 6); /* nothing changed */
    take_out(f, "n/a", 7);
    assert_seen(f, "+a@5 ~a@6 -a@7 ");
}

static void a_new_list_is_seen_with_its_beginning_and_end(void **state)
{
    struct fixture *f = *state;
    struct generation *next;
    struct inf_object *object = pod("n/b", "u", 8, 0);
    put(f, "n/a", 5);
    next = generation_new(f->store);
    generation_put(next, object);
    inf_object_unref(object);
    store_flip(f->store, next, "9", INF_RELIST);
    while (!store_emit_some(f->store, 1, ignore_event, f))
        continue;
    assert_seen(f, "+a@5 { -a@9 +b@9 } ");
}

static void a_removed_observer_sees_nothing(void **state)
{
    struct fixture *f = *state;
    put(f, "n/a", 5);
    inf_store_unobserve(&f->observer);
    inf_store_unobserve(&f->observer);
    put(f, "n/a", 6);
    assert_seen(f, "+a@5 ");
}

static void it_ends_with_the_store(void **state)
{
    struct fixture *f = *state;
    while (!store_free_some(f->store, 1))
        continue;
    f->store = NULL;
    assert_seen(f, ". ");
    inf_store_unobserve(&f->observer);
}

static void it_ends_when_objects_change_without_events(void **state)
{
    struct fixture *f = *state;
    struct inf_store *other = store_new(&(struct siphash_key){1, 2}, NULL, 0);
    store_redefine(f->store);
    inf_store_observe(f->store, &f->observer);
    store_forget(f->store, "");
    inf_store_observe(f->store, &f->observer);
    store_copy(f->store, other, "");
    put(f, "n/a", 5);
    assert_seen(f, ". . . ");
    while (!store_free_some(other, 1))
        continue;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_change_is_seen_at_the_version_of_the_store, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_new_list_is_seen_with_its_beginning_and_end, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_removed_observer_sees_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_ends_with_the_store, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_ends_when_objects_change_without_events, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("store_observer", tests, NULL, NULL);
}
