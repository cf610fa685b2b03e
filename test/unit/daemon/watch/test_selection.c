/*
 * test_selection.c - why an object was reported as deleted, and when that is unknown.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "changes.h"
#include "daemon/format/record_format.h"
#include "daemon/record/change.h"

#define LABELS(app) "'labels':{'app':'" app "'}"
#define DELETION    "'deletionTimestamp':'2026-01-01T00:00:00Z'"

static char *pod(const char *metadata)
{
    char text[512];
    snprintf(text, sizeof(text),
             "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'web-0','namespace':'shop',"
             "'uid':'u','resourceVersion':'7',%s}}",
             metadata);
    return with_quotes(text);
}

static void make_gone(struct sample *sample, const char *metadata)
{
    char *text = pod(metadata);
    sample_make(sample, text, NULL);
    free(text);
}

static const char *why(const char *labels, const char *fields, const char *drop,
                       const char *metadata)
{
    char *paths[] = {(char *)(uintptr_t)drop};
    struct conf_watch watch = {.label_selector = (char *)(uintptr_t)labels,
                               .field_selector = (char *)(uintptr_t)fields,
                               .drop = {.items = paths, .count = drop != NULL}};
    struct selection selection;
    struct sample sample;
    const char *word;
    make_gone(&sample, metadata);
    selection_init(&selection, &watch);
    assert_int_equal(selection.selects, (labels && labels[0]) || fields);
    word = selection_why(&selection, sample.before);
    selection_done(&selection);
    sample_free(&sample);
    return word ? word : "?";
}

static void finds_the_reason_of_a_deletion(void **state)
{
    static const char is[] = LABELS("web"), was[] = LABELS("old");
    static const char ending[] = LABELS("web") "," DELETION;
    static const struct {
        const char *labels, *fields, *drop, *metadata, *why;
    } rows[] = {
        {"app=web", NULL, NULL, is, "?"},
        {"app=web", NULL, NULL, ending, "deleted"},
        {"app=web", NULL, NULL, was, "left"},
        {"app=web", NULL, NULL, LABELS("web") ",'deletionTimestamp':null", "?"},
        /* a field may have changed while it ended, unless it is one that never does */
        {NULL, "status.phase=Running", NULL, ending, "?"},
        {NULL, "metadata.name=web-0", NULL, ending, "deleted"},
        {NULL, "metadata.name=a\\,b,metadata.namespace!=x", NULL, ending, "deleted"},
        {NULL, "metadata.name=web-0,spec.nodeName=n", NULL, ending, "?"},
        {NULL, "metadata.nam=web-0", NULL, ending, "?"},
        /* labels that are not kept prove nothing */
        {"app=web", NULL, "metadata.labels", was, "?"},
        {"app=web", NULL, "metadata", was, "?"},
        {"app=web", NULL, "metadata.managedFields", was, "left"},
        {"app=web", NULL, "metadata.annotations.x", was, "left"},
        {"app=web", NULL, "spec", was, "left"},
        {"", NULL, NULL, was, "?"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(why(rows[i].labels, rows[i].fields, rows[i].drop, rows[i].metadata),
                            rows[i].why);
}

/* The watch's own copy is at version 9. */
static bool was_left(const char *gone, bool final, const char *now, const char *now_version)
{
    struct conf_watch watch = {.label_selector = (char *)(uintptr_t) "app=web"};
    struct selection selection;
    struct sample last, other;
    bool left;
    make_gone(&last, gone);
    last.event.final = final;
    sample_make(&other, now, NULL);
    selection_init(&selection, &watch);
    left = selection_was_left(&selection, &last.event, "9", other.before, now_version);
    selection_done(&selection);
    sample_free(&other);
    sample_free(&last);
    return left;
}

/* Issue 14, 26. The object was reported as deleted at version 7. */
static void a_cache_of_all_objects_proves_that_an_object_exists(void **state)
{
    char *other_labels = pod(LABELS("db")), *same_labels = pod(LABELS("web"));
    char *another = with_quotes("{'kind':'Pod','apiVersion':'v1','metadata':{'name':'web-0',"
                                "'namespace':'shop','uid':'v','resourceVersion':'8'}}");
    (void)state;
    assert_true(was_left(LABELS("web"), true, other_labels, "7"));
    assert_true(was_left(LABELS("web"), true, other_labels, "12"));
    assert_false(was_left(LABELS("web"), true, other_labels, "6")); /* it is behind */
    assert_false(was_left(LABELS("web"), true, other_labels, ""));
    assert_false(was_left(LABELS("web"), true, other_labels, "x"));
    assert_false(was_left(LABELS("web"), true, same_labels, "8"));
    assert_false(was_left(LABELS("web"), true, another, "8"));
    assert_true(was_left(LABELS("web"), false, other_labels, "9")); /* missing in a list at 9 */
    assert_false(was_left(LABELS("web"), false, other_labels, "8"));
    free(another);
    free(same_labels);
    free(other_labels);
}

/* ---- records ---- */

static void assert_reported(const char *metadata, bool final, const char *sentence,
                            const char *line, const char *field)
{
    struct conf_watch conf = {.label_selector = (char *)(uintptr_t) "app=web"};
    struct selection selection;
    struct watch_id id = {.name = "pods", .selection = &selection};
    struct sample sample;
    struct change change;
    struct buf out = {0};
    selection_init(&selection, &conf);
    make_gone(&sample, metadata);
    sample.event.final = final;
    sample_change(&change, &id, &sample.event, NULL);
    change.stamp.log = "l";
    change_put_sentence(&out, &change, true, 200);
    buf_putc(&out, '\0');
    assert_string_equal(out.bytes, sentence);
    buf_clear(&out);
    text_format.put_change(&out, &change, &(struct record_options){0});
    buf_putc(&out, '\0');
    assert_non_null(strstr(out.bytes, line));
    buf_clear(&out);
    jsonl_format.put_change(
        &out, &change,
        &(struct record_options){.object = RECORD_DIFF, .max_line = RECORD_LINE_DEFAULT});
    buf_putc(&out, '\0');
    if (field)
        assert_non_null(strstr(out.bytes, field));
    else
        assert_null(strstr(out.bytes, "\"why\""));
    buf_free(&out);
    sample_free(&sample);
    selection_done(&selection);
}

static void records_have_the_reason_of_a_deletion(void **state)
{
    (void)state;
    assert_reported(LABELS("web"), true, "Pod shop/web-0 deleted or left the selection",
                    "  or left the selection\n", NULL);
    assert_reported(LABELS("web"), false,
                    "Pod shop/web-0 deleted or left the selection, last state unknown",
                    "  or left the selection, last state unknown\n", NULL);
    assert_reported(LABELS("web") "," DELETION, true, "Pod shop/web-0 deleted", "pod shop/web-0\n",
                    "\"final\":true,\"why\":\"deleted\",");
    assert_reported(LABELS("old"), true, "Pod shop/web-0 left the selection",
                    "  left the selection\n", "\"final\":true,\"why\":\"left\",");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_reason_of_a_deletion),
        cmocka_unit_test(a_cache_of_all_objects_proves_that_an_object_exists),
        cmocka_unit_test(records_have_the_reason_of_a_deletion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
