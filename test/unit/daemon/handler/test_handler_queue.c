/*
 * test_handler_queue.c - the records of a handler over crashes, and logs that can't be read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "daemon/handler/handler_queue.h"
#include "state_world.h"

struct world {
    struct state_world *state;
    struct handler_queue queue;
    bool intact; /* result of the last restore */
};

static void open_queue(struct world *w)
{
    struct siphash_key key = {1, 2};
    handler_queue_init(&w->queue, &key);
    w->intact = handler_queue_restore(&w->queue, inf_state_queue(w->state->state, "q"));
}

static int set_up(void **state)
{
    struct world *w = NEW(struct world);
    w->state = NEW(struct state_world);
    state_world_init(w->state);
    state_world_open(w->state);
    open_queue(w);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    handler_queue_free(&w->queue);
    state_world_done(w->state);
    free(w->state);
    free(w);
    return 0;
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static void flush(struct world *w)
{
    inf_state_flush(w->state->state);
    sim_run(&w->state->sim);
}

static void crash(struct world *w)
{
    handler_queue_free(&w->queue);
    state_world_crash(w->state, NULL);
    open_queue(w);
}

static void ignore(void *ctx, struct handler_record *record)
{
    (void)ctx, (void)record;
}

static struct handler_record *add(struct world *w, const char *key, const char *line)
{
    return handler_queue_add(&w->queue, key, 7, STR("A=1\0B=2\0"), str_of(line));
}

static void save(struct world *w)
{
    handler_queue_save(&w->queue);
    flush(w);
    handler_queue_release(&w->queue, ignore, NULL);
}

/* "key=line " for each record, with a * if it is parked. */
static void assert_queue(struct world *w, const char *expected)
{
    struct buf out = {0};
    list_for_each(node, &w->queue.records) {
        struct handler_record *r = container_of(node, struct handler_record, node);
        buf_printf(&out, "%s%s=%.*s ", r->state == RECORD_PARKED ? "*" : "", r->object->key,
                   STR_FMT(handler_record_line(r)));
    }
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, expected);
    buf_free(&out);
}

static struct handler_record *find(struct world *w, const char *line)
{
    list_for_each(node, &w->queue.records) {
        struct handler_record *r = container_of(node, struct handler_record, node);
        if (str_eq(handler_record_line(r), str_of(line)))
            return r;
    }
    fail_msg("no record %s", line);
    return NULL;
}

static void park(struct world *w, struct handler_record *r)
{
    handler_queue_move(&w->queue, r, RECORD_RUNNING);
    r->runs++;
    handler_queue_park(&w->queue, r, "exit code 3", 99);
}

/* ---- crashes ---- */

static void records_survive_a_crash_once_they_are_saved(void **state)
{
    struct world *w = *state;
    add(w, "web", "1");
    add(w, "db", "2");
    save(w);
    add(w, "web", "3"); /* collected, not saved */
    crash(w);
    assert_true(w->intact);
    assert_queue(w, "web=1 db=2 ");
    assert_memory_equal(find(w, "1")->text, "A=1\0B=2\0", 8);
    assert_int_equal(find(w, "1")->time_us, 7);
    assert_int_equal(find(w, "1")->state, RECORD_WAITING);
}

static void a_removed_record_stays_removed_also_if_an_older_one_is_needed(void **state)
{
    struct world *w = *state;
    add(w, "old", "1");
    add(w, "web", "2");
    add(w, "web", "3");
    save(w);
    handler_queue_remove(&w->queue, find(w, "2"));
    flush(w);
    crash(w);
    assert_queue(w, "old=1 web=3 ");
    assert_int_equal(w->queue.next_id, 4);
}

static void a_running_record_waits_after_a_crash(void **state)
{
    struct world *w = *state;
    add(w, "web", "1");
    save(w);
    handler_queue_move(&w->queue, find(w, "1"), RECORD_RUNNING);
    flush(w);
    crash(w);
    assert_int_equal(find(w, "1")->state, RECORD_WAITING);
}

static void a_parked_record_stays_parked_until_it_is_unparked(void **state)
{
    struct world *w = *state;
    add(w, "web", "1");
    add(w, "web", "2");
    save(w);
    park(w, find(w, "1"));
    flush(w);
    crash(w);
    assert_queue(w, "*web=1 web=2 ");
    assert_string_equal(find(w, "1")->why, "exit code 3");
    assert_int_equal(find(w, "1")->runs, 1);
    assert_int_equal(find(w, "1")->parked_us, 99);
    assert_ptr_equal(handler_object_first(handler_queue_find(&w->queue, "web")), find(w, "2"));
    assert_int_equal(handler_queue_unpark(&w->queue, 0, ignore, NULL), 1);
    assert_ptr_equal(handler_queue_first(&w->queue), find(w, "1"));
    flush(w);
    crash(w);
    assert_queue(w, "web=1 web=2 ");
}

/* A record of the object `web` with this sequence number, which is also its line. */
static struct handler_record *add_numbered(struct world *w, int seq)
{
    char env[64], line[16];
    int len = snprintf(env, sizeof(env), "INFORMERD_SEQ=%d%cINFORMERD_TYPE=ADDED", seq, '\0');
    snprintf(line, sizeof(line), "%d", seq);
    return handler_queue_add(&w->queue, "web", 7, (struct str){env, (size_t)len + 1}, str_of(line));
}

static void single_parked_records_are_unparked_and_dropped_by_their_number(void **state)
{
    struct world *w = *state;
    for (int seq = 11; seq <= 14; seq++)
        add_numbered(w, seq);
    save(w);
    park(w, find(w, "11"));
    park(w, find(w, "12"));
    park(w, find(w, "13"));
    assert_string_equal(handler_record_variable(find(w, "14"), "TYPE"), "ADDED");
    assert_string_equal(handler_record_variable(find(w, "14"), "TYP"), "");
    assert_int_equal(handler_queue_unpark(&w->queue, 12, ignore, NULL), 1);
    assert_int_equal(handler_queue_unpark(&w->queue, 14, ignore, NULL), 0); /* not parked */
    assert_int_equal(handler_queue_drop_parked(&w->queue, 13), 1);
    assert_int_equal(handler_queue_drop_parked(&w->queue, 14), 0);
    flush(w);
    crash(w);
    assert_queue(w, "*web=11 web=12 web=14 ");
    assert_int_equal(handler_queue_drop_parked(&w->queue, 0), 1);
    assert_queue(w, "web=12 web=14 ");
}

static void a_long_reason_is_cut(void **state)
{
    struct world *w = *state;
    char why[1000];
    memset(why, 'x', sizeof(why));
    why[sizeof(why) - 1] = '\0';
    add(w, "web", "1");
    save(w);
    handler_queue_move(&w->queue, find(w, "1"), RECORD_RUNNING);
    handler_queue_park(&w->queue, find(w, "1"), why, 99);
    flush(w);
    crash(w);
    assert_int_equal(strlen(find(w, "1")->why), HANDLER_WHY_MAX);
}

static void the_log_does_not_grow_while_an_old_record_is_needed(void **state)
{
    struct world *w = *state;
    const char *bytes;
    size_t len = 0;
    char line[1001];
    memset(line, 'x', sizeof(line));
    line[1000] = '\0';
    add(w, "old", "1");
    for (int i = 0; i < 1000; i++) {
        struct handler_record *r = add(w, "web", line);
        save(w);
        handler_queue_remove(&w->queue, r);
    }
    flush(w);
    handler_queue_free(&w->queue);
    state_world_crash(w->state, NULL);
    inf_state_queue_pending(inf_state_queue(w->state->state, "q"), &bytes, &len, &(uint64_t){0});
    assert_in_range(len, 1, 3 * HANDLER_QUEUE_SLACK);
    open_queue(w);
    assert_queue(w, "old=1 ");
}

static void an_empty_queue_leaves_nothing_on_disk(void **state)
{
    struct world *w = *state;
    const char *bytes;
    size_t len;
    add(w, "web", "1");
    save(w);
    handler_queue_remove(&w->queue, find(w, "1"));
    flush(w);
    handler_queue_free(&w->queue);
    state_world_crash(w->state, NULL);
    assert_false(inf_state_queue_pending(inf_state_queue(w->state->state, "q"), &bytes, &len,
                                         &(uint64_t){0}));
    open_queue(w);
}

static void records_are_saved_again_in_a_state_that_was_emptied(void **state)
{
    struct world *w = *state;
    add(w, "web", "1");
    add(w, "db", "2");
    save(w);
    park(w, find(w, "2"));
    inf_state_queue_confirm(w->queue.on_disk, inf_state_queue_end(w->queue.on_disk));
    handler_queue_rewrite(&w->queue);
    flush(w);
    crash(w);
    assert_queue(w, "web=1 *db=2 ");
}

/* ---- counts ---- */

static void counts_follow_the_states(void **state)
{
    struct world *w = *state;
    struct handler_record *r = add(w, "web", "1");
    assert_int_equal(handler_queue_length(&w->queue), 1);
    assert_true(w->queue.bytes > 0);
    save(w);
    park(w, r);
    assert_int_equal(handler_queue_length(&w->queue), 0);
    assert_int_equal(w->queue.bytes, 0);
    assert_true(w->queue.parked_bytes > 0);
    assert_null(handler_queue_first(&w->queue));
    handler_queue_remove(&w->queue, r);
    assert_int_equal(w->queue.parked_bytes, 0);
    assert_null(handler_queue_find(&w->queue, "web"));
}

static void an_object_that_is_not_idle_is_kept_without_records(void **state)
{
    struct world *w = *state;
    struct handler_object *object = add(w, "web", "1")->object;
    object->state = OBJECT_READY;
    handler_queue_remove(&w->queue, find(w, "1"));
    assert_ptr_equal(handler_queue_find(&w->queue, "web"), object);
    object->state = OBJECT_IDLE;
    handler_object_release(&w->queue, object);
    assert_null(handler_queue_find(&w->queue, "web"));
}

/* ---- logs that can't be read ---- */

/* Loads @bytes as the log of a queue. */
static void load(struct world *w, const char *bytes, size_t len)
{
    handler_queue_free(&w->queue);
    inf_state_queue_drop(inf_state_queue(w->state->state, "q"));
    inf_state_queue_add(inf_state_queue(w->state->state, "q"), bytes, len);
    flush(w);
    state_world_crash(w->state, NULL);
    open_queue(w);
}

static void reading_ends_at_what_is_no_entry(void **state)
{
    static const char good[] = "R 1 5 3 4 2\nwebA=1\0x\n";
    static const char *const bad[] = {
        "X 2\n",
        "R",
        "R 2",
        "D x\n",
        "D 99999999999999999999\n",
        "R 2 5 3\n",
        "R 2 5 3 4 200\nwebA=1",
        "R 2 5 3 2 1\nwebA=x",
        "R 2 5 -1 0 0\n",
        "P \n",
        "P 1 2 3\n",
        "P 1 2 3 4\nwhy",
        "P 1 2 3 161\n",
        "D 1 \n",
    };
    struct world *w = *state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct buf log = {0};
        buf_put(&log, good, sizeof(good) - 1);
        buf_puts(&log, bad[i]);
        load(w, log.bytes, log.len);
        assert_false(w->intact);
        assert_queue(w, "web=x\n ");
        buf_free(&log);
    }
}

static void a_log_cut_at_any_byte_yields_its_whole_entries(void **state)
{
    static const char log[] = "R 1 5 3 0 1\nwebaR 2 5 2 0 1\ndbbD 1\nP 2 3 4 3\nwhy";
    struct world *w = *state;
    for (size_t len = 1; len < sizeof(log) - 1; len++) {
        load(w, log, len);
        assert_queue(w, len < 16 ? "" : len < 31 ? "web=a " : len < 35 ? "web=a db=b " : "db=b ");
    }
    load(w, log, sizeof(log) - 1);
    assert_true(w->intact);
    assert_queue(w, "*db=b ");
    assert_string_equal(find(w, "b")->why, "why");
}

static void an_entry_of_an_earlier_version_has_no_reason(void **state)
{
    static const char log[] = "R 1 5 3 0 1\nwebaP 1\n";
    struct world *w = *state;
    load(w, log, sizeof(log) - 1);
    assert_true(w->intact);
    assert_queue(w, "*web=a ");
    assert_null(find(w, "a")->why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(records_survive_a_crash_once_they_are_saved),
        IN_WORLD(a_removed_record_stays_removed_also_if_an_older_one_is_needed),
        IN_WORLD(a_running_record_waits_after_a_crash),
        IN_WORLD(a_parked_record_stays_parked_until_it_is_unparked),
        IN_WORLD(single_parked_records_are_unparked_and_dropped_by_their_number),
        IN_WORLD(a_long_reason_is_cut),
        IN_WORLD(the_log_does_not_grow_while_an_old_record_is_needed),
        IN_WORLD(an_empty_queue_leaves_nothing_on_disk),
        IN_WORLD(records_are_saved_again_in_a_state_that_was_emptied),
        IN_WORLD(counts_follow_the_states),
        IN_WORLD(an_object_that_is_not_idle_is_kept_without_records),
        IN_WORLD(reading_ends_at_what_is_no_entry),
        IN_WORLD(a_log_cut_at_any_byte_yields_its_whole_entries),
        IN_WORLD(an_entry_of_an_earlier_version_has_no_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
