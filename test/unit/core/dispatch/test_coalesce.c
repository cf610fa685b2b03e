/* cmocka.h requires these headers before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"
#include "builders.h"
#include "core/dispatch/coalescer.h"
#include "core/dispatch/event.h"
#include "core/dispatch/fifo.h"
#include "core/store/store.h"

/*
 * A sequence is a string of events that the server sends for one name: "A" is an object with uid
 * A, added or changed; "a" is its deletion. The first letter is what was known before, '-' for
 * nothing. "Aaab" is a known A that is deleted, then B that is added and deleted. Reports: "+A2
 * " added at version 2, "~A3 " modified, "-A4 " deleted, "?A1 " deleted with an unknown last
 * state (final: false).
 */
enum {
    LENGTH_MAX = 6,
};

static const struct siphash_key key = {1, 2};

static struct inf_object *object_of(char letter, uint64_t version)
{
    char uid[] = {(char)(letter & ~0x20), '\0'};
    return pod("n/x", uid, version, 0);
}

static void report(void *ctx, const struct inf_event *event)
{
    const struct inf_object *o = inf_event_object(event);
    char mark = event->verb == INF_ADDED ? '+' : event->verb == INF_MODIFIED ? '~' : '-';
    buf_printf(ctx, "%c%s%s ", event->final ? mark : '?', inf_object_uid(o),
               inf_object_resource_version(o));
}

static bool is_end(char letter)
{
    return letter >= 'a';
}

static void apply(struct inf_store *store, enum delta_type type, const struct inf_object *object,
                  store_emit_fn emit, void *ctx)
{
    if (type == DELTA_DELETED)
        store_delete(store, object, emit, ctx);
    else
        store_put(store, object, INF_LIVE, emit, ctx);
}

static struct inf_store *store_with(char letter)
{
    struct inf_store *store = store_new(&key, NULL, 0);
    struct buf ignored = {0};
    struct inf_object *object = letter == '-' ? NULL : object_of(letter, 1);
    if (object)
        store_put(store, object, INF_INITIAL, report, &ignored);
    inf_object_unref(object);
    buf_free(&ignored);
    return store;
}

static void store_free(struct inf_store *store)
{
    while (!store_free_some(store, 1))
        continue;
}

/* The informer coalesces: the FIFO merges the events of one read, the store compares. */
static void run_fifo(const char *sequence, struct buf *out)
{
    struct inf_store *store = store_with(sequence[0]);
    struct fifo fifo = {0};
    struct delta delta;
    fifo_coalesce(&fifo, &key);
    for (size_t i = 1; sequence[i]; i++)
        fifo_push(&fifo,
                  &(struct delta){.type = is_end(sequence[i]) ? DELTA_DELETED : DELTA_UPDATED,
                                  .object = object_of(sequence[i], i + 1)});
    while (fifo_pop(&fifo, &delta)) {
        apply(store, delta.type, delta.object, report, out);
        delta_done(&delta);
    }
    fifo_free(&fifo);
    store_free(store);
}

static void put_in(void *ctx, const struct inf_event *event)
{
    coalescer_put(ctx, event);
}

/* One handler coalesces: the store gets every event, the handler those that the coalescer keeps. */
static void run_coalescer(const char *sequence, struct buf *out)
{
    struct inf_store *store = store_with(sequence[0]);
    struct coalescer c;
    struct inf_event events[2];
    size_t n;
    coalescer_init(&c, &key);
    for (size_t i = 1; sequence[i]; i++) {
        struct inf_object *object = object_of(sequence[i], i + 1);
        apply(store, is_end(sequence[i]) ? DELTA_DELETED : DELTA_UPDATED, object, put_in, &c);
        inf_object_unref(object);
    }
    while ((n = coalescer_take(&c, events)))
        for (size_t i = 0; i < n; i++) {
            report(out, &events[i]);
            event_done(&events[i]);
        }
    coalescer_free(&c);
    store_free(store);
}

static void assert_reports(const char *sequence, const char *expected,
                           void (*run)(const char *sequence, struct buf *out))
{
    struct buf out = {0};
    run(sequence, &out);
    buf_putc(&out, '\0');
    if (strcmp(out.bytes, expected) != 0)
        fail_msg("%s: \"%s\" was reported, not \"%s\"", sequence, out.bytes, expected);
    buf_free(&out);
}

/* ---- the table of core/dispatch/coalescer.h ---- */

static const struct {
    const char *sequence;
    const char *reported;
} table[] = {
    {"-Aa", ""},          {"-AaBb", ""},       {"-A", "+A2 "},     {"-AA", "+A3 "},
    {"-AaB", "+B4 "},     {"-AB", "+B3 "},     {"-AaA", "+A4 "},   {"Aa", "-A2 "},
    {"AAa", "-A3 "},      {"AaAa", "-A4 "},    {"AA", "~A2 "},     {"AAA", "~A3 "},
    {"AaA", "~A3 "},      {"AaBbA", "~A5 "},   {"AaB", "?A +B3 "}, {"AaBB", "?A +B4 "},
    {"AaBbC", "?A +C5 "}, {"AB", "?A +B2 "},   {"AaBb", "?A "},    {"AaBbCc", "?A "},
    {"ABb", "?A "},       {"AaBbAaBb", "?A "}, {"AaBbAa", "-A6 "},
};

/* "?A" in the table has the version of the last known state: that of the store for the FIFO, the
 * state before the deletion for the coalescer, which has received it. */
static void strip_unseen_versions(struct buf *out)
{
    size_t to = 0;
    bool unseen = false;
    for (size_t i = 0; i < out->len; i++) {
        char c = out->bytes[i];
        unseen = c == '?' || (unseen && c != ' ');
        if (!unseen || c < '0' || c > '9')
            out->bytes[to++] = c;
    }
    out->len = to;
}

static void fifo_stripped(const char *sequence, struct buf *out)
{
    run_fifo(sequence, out);
    strip_unseen_versions(out);
}

static void coalescer_stripped(const char *sequence, struct buf *out)
{
    run_coalescer(sequence, out);
    strip_unseen_versions(out);
}

static void merges_events_of_one_read_as_in_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        assert_reports(table[i].sequence, table[i].reported, fifo_stripped);
}

static void merges_events_for_a_slow_handler_as_in_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        assert_reports(table[i].sequence, table[i].reported, coalescer_stripped);
}

/* ---- all sequences, against the rule ---- */

/* The report depends on what was known, what exists now, and whether the last deletion was that of
 * the known object. */
static void expect_by_rule(const char *sequence, struct buf *out)
{
    size_t len = strlen(sequence);
    char known = sequence[0], last = sequence[len - 1];
    bool gone = len == 1 || is_end(last);
    bool same = (last & ~0x20) == known;
    if (known != '-' && !same)
        buf_printf(out, "?%c ", known);
    else if (known != '-' && gone)
        buf_printf(out, "-%c%zu ", known, len);
    if (!gone)
        buf_printf(out, "%c%c%zu ", known != '-' && same ? '~' : '+', last, len);
}

static size_t try_all(char *sequence, size_t len, char present)
{
    static const char uids[] = "ABC";
    size_t tried = 0;
    if (len > 1) {
        struct buf expected = {0};
        expect_by_rule(sequence, &expected);
        buf_putc(&expected, '\0');
        assert_reports(sequence, expected.bytes, fifo_stripped);
        assert_reports(sequence, expected.bytes, coalescer_stripped);
        buf_free(&expected);
        tried++;
    }
    if (len == LENGTH_MAX)
        return tried;
    sequence[len + 1] = '\0';
    for (size_t i = 0; i < sizeof(uids); i++) {
        if (!uids[i] && !present)
            break;
        sequence[len] = uids[i] ? uids[i] : (char)(present | 0x20);
        tried += try_all(sequence, len + 1, uids[i]);
    }
    sequence[len] = '\0';
    return tried;
}

static void all_short_sequences_follow_the_rule(void **state)
{
    char unknown[LENGTH_MAX + 1] = "-", known[LENGTH_MAX + 1] = "A";
    (void)state;
    assert_true(try_all(unknown, 1, '\0') > 100);
    assert_true(try_all(known, 1, 'A') > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_events_of_one_read_as_in_the_table),
        cmocka_unit_test(merges_events_for_a_slow_handler_as_in_the_table),
        cmocka_unit_test(all_short_sequences_follow_the_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
