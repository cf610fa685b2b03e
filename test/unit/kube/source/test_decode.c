/*
 * test_decode.c - one line of a watch becomes one event or an error with a reason.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "kube/source/decode.h"
#include "recording.h"

static const char *type_name(enum source_type type)
{
    switch (type) {
    case SOURCE_ADDED: return "ADDED";
    case SOURCE_MODIFIED: return "MODIFIED";
    case SOURCE_DELETED: return "DELETED";
    case SOURCE_BOOKMARK: return "BOOKMARK";
    case SOURCE_PAGE_END:
    case SOURCE_TEXT:
    case SOURCE_SKIPPED: break; /* not results of the decoder */
    }
    return "?";
}

static char *described(const struct source_event *e)
{
    if (e->object)
        return xasprintf("%s %s %s/%s %s%s", type_name(e->type), inf_object_kind(e->object),
                         inf_object_namespace(e->object), inf_object_name(e->object),
                         e->resource_version, e->initial_end ? " end" : "");
    return xasprintf("%s %s%s", type_name(e->type), e->resource_version,
                     e->initial_end ? " end" : "");
}

/* The result for @text, in memory of its exact size: "ADDED Pod shop/a 5" or "INF_EDECODE: ...". */
static char *decoded_str(struct str text)
{
    struct decoder decoder = {.version = ""};
    struct source_event event = {.type = SOURCE_BOOKMARK};
    struct inf_error err = {0};
    char *block = xmalloc(text.len), *what;
    int rc;
    memcpy(block, text.at, text.len);
    rc = decode_event(&decoder, (struct str){block, text.len}, &event, &err);
    free(block); /* the event must not use it any more */
    if (rc == 0) {
        what = described(&event);
        inf_object_unref(event.object);
    } else {
        assert_int_equal(rc, -err.code);
        assert_null(event.object);
        what = xasprintf("%s: %s", inf_error_name(rc), err.text);
    }
    decoder_free(&decoder);
    return what;
}

static void assert_decodes(const char *text, const char *expected)
{
    char *what = decoded_str(str_of(text));
    assert_string_equal(what, expected);
    free(what);
}

static void assert_refused(const char *text, const char *part)
{
    char *what = decoded_str(str_of(text));
    if (strncmp(what, "INF_EDECODE: ", 13) != 0 || !strstr(what, part))
        fail_msg("%s\n -> %s\n    and not: %s", text, what, part);
    free(what);
}

#define POD                                                                                        \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"namespace\":\"shop\"," \
    "\"uid\":\"u\",\"resourceVersion\":\"5\"}}"

static void decodes_every_event_type(void **state)
{
    (void)state;
    assert_decodes("{\"type\":\"ADDED\",\"object\":" POD "}", "ADDED Pod shop/a 5");
    assert_decodes("{\"type\":\"MODIFIED\",\"object\":" POD "}", "MODIFIED Pod shop/a 5");
    assert_decodes("{\"type\":\"DELETED\",\"object\":" POD "}", "DELETED Pod shop/a 5");
    assert_decodes("{\"type\":\"BOOKMARK\",\"object\":" POD "}", "BOOKMARK 5");
}

static void accepts_members_in_any_order(void **state)
{
    (void)state;
    assert_decodes("{\"object\":" POD ",\"type\":\"ADDED\"}", "ADDED Pod shop/a 5");
    assert_decodes(" { \"more\" : [ {\"type\":1} ] , \"object\" :\t" POD
                   " , \"type\" : \"ADDED\" } ",
                   "ADDED Pod shop/a 5");
    assert_decodes("{\"ty\\u0070e\":\"ADDED\",\"\\u006fbject\":" POD "}", "ADDED Pod shop/a 5");
}

static void decodes_recorded_watches(void **state)
{
    static const char *const names[] = {"secrets-watchlist", "widgets-watchlist", "pods-watchlist",
                                        "pods-watchlist-metadata", "pods-watch-lifecycle"};
    struct buf all = {0};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct recording r;
        struct str line;
        recording_open(&r, names[i]);
        while (recording_next(&r, &line)) {
            char *what = decoded_str(line);
            buf_printf(&all, "%s\n", what);
            free(what);
        }
        recording_close(&r);
    }
    buf_putc(&all, '\0');
    assert_string_equal(all.bytes,
                        "ADDED Secret default/db-password 508\n"
                        "BOOKMARK 583 end\n"
                        "ADDED Widget default/widget-1 505\n"
                        "ADDED Widget default/widget-2 506\n"
                        "ADDED Widget default/widget-3 507\n"
                        "BOOKMARK 580 end\n"
                        "ADDED Pod default/web-frontend-66b99d9c48-m42qs 282\n"
                        "BOOKMARK 582 end\n"
                        "ADDED PartialObjectMetadata default/web-frontend-66b99d9c48-m42qs 282\n"
                        "BOOKMARK 610 end\n"
                        "ADDED Pod default/curl-deployment-7775d66994-54zsw 588\n"
                        "MODIFIED Pod default/curl-deployment-7775d66994-54zsw 591\n"
                        "MODIFIED Pod default/curl-deployment-7775d66994-54zsw 599\n"
                        "MODIFIED Pod default/curl-deployment-7775d66994-54zsw 600\n"
                        "MODIFIED Pod default/curl-deployment-7775d66994-54zsw 605\n"
                        "MODIFIED Pod default/curl-deployment-7775d66994-54zsw 606\n"
                        "DELETED Pod default/curl-deployment-7775d66994-54zsw 607\n"
                        "BOOKMARK 607\n");
    buf_free(&all);
}

#define BOOKMARK(metadata) "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{" metadata "}}}"
#define END_IS(value) \
    BOOKMARK("\"annotations\":{\"k8s.io/initial-events-end\":" value "},\"resourceVersion\":\"7\"")

static void only_the_annotated_bookmark_ends_the_initial_objects(void **state)
{
    (void)state;
    assert_decodes(END_IS("\"true\""), "BOOKMARK 7 end");
    assert_decodes(END_IS("\"tru\\u0065\""), "BOOKMARK 7 end");
    assert_decodes(END_IS("\"false\""), "BOOKMARK 7");
    assert_decodes(END_IS("\"True\""), "BOOKMARK 7");
    assert_decodes(END_IS("\"\""), "BOOKMARK 7");
    assert_decodes(END_IS("true"), "BOOKMARK 7");
    assert_decodes(END_IS("null"), "BOOKMARK 7");
    assert_decodes(BOOKMARK("\"resourceVersion\":\"7\",\"annotations\":{}"), "BOOKMARK 7");
    assert_decodes(BOOKMARK("\"resourceVersion\":\"7\",\"annotations\":null"), "BOOKMARK 7");
    assert_decodes(BOOKMARK("\"resourceVersion\":\"7\",\"annotations\":\"true\""), "BOOKMARK 7");
}

/* The user decides how to handle a bookmark without a version. */
static void a_bookmark_may_lack_its_version(void **state)
{
    (void)state;
    assert_decodes(BOOKMARK(""), "BOOKMARK ");
    assert_decodes(BOOKMARK("\"resourceVersion\":null"), "BOOKMARK ");
    assert_decodes(BOOKMARK("\"resourceVersion\":\"\""), "BOOKMARK ");
}

static void checks_the_version_of_a_bookmark(void **state)
{
    char longest[OBJECT_NAME_MAX + 1] = "", *text, *expected;
    (void)state;
    memset(longest, '1', OBJECT_NAME_MAX);
    text = xasprintf(BOOKMARK("\"resourceVersion\":\"%s\""), longest);
    expected = xasprintf("BOOKMARK %s", longest);
    assert_decodes(text, expected);
    free(text);
    free(expected);
    text = xasprintf(BOOKMARK("\"resourceVersion\":\"%s1\""), longest);
    assert_refused(text, "'resourceVersion' has 1025 bytes");
    free(text);
    assert_refused(BOOKMARK("\"resourceVersion\":\"1\\u00002\""), "control characters");
    assert_refused(BOOKMARK("\"resourceVersion\":\"1\\n2\""), "control characters");
    assert_refused(BOOKMARK("\"resourceVersion\":7"), "'resourceVersion' is not a string");
    assert_refused("{\"type\":\"BOOKMARK\",\"object\":{}}", "bookmark: no metadata");
    assert_refused("{\"type\":\"BOOKMARK\",\"object\":7}", "bookmark: no metadata");
    assert_refused("{\"type\":\"BOOKMARK\",\"object\":[}}", "bookmark");
}

#define EVENT(type, object) "{\"type\":" type ",\"object\":" object "}"

static void names_an_unknown_event_type(void **state)
{
    (void)state;
    assert_refused(EVENT("\"PATCHED\"", POD), "unknown type \"PATCHED\"");
    assert_refused(EVENT("\"added\"", POD), "unknown type \"added\"");
    assert_refused(EVENT("\"\"", POD), "unknown type \"\"");
    assert_refused(EVENT("1", POD), "unknown type 1");
    assert_refused(EVENT("null", POD), "unknown type null");
    assert_refused(EVENT("\"\x1b[2J\"", POD),
                   "unknown type \" [2J\""); /* control characters are removed */
}

static void an_error_event_reports_the_error_of_the_server(void **state)
{
    struct recording r;
    struct str line;
    char *what;
    (void)state;
    recording_open(&r, "pods-watch-too-old-410");
    assert_true(recording_next(&r, &line));
    what = decoded_str(line);
    assert_string_equal(what,
                        "INF_EGONE: server error: too old resource version: 2 (533) (410 Expired)");
    free(what);
    recording_close(&r);
    assert_refused(EVENT("\"ERROR\"", "{}"), "ERROR event without a Status");
    assert_refused(EVENT("\"ERROR\"", "null"), "ERROR event without a Status");
    assert_refused(EVENT("\"ERROR\"", "[}"), "ERROR event without a Status");
    assert_refused(EVENT("\"ERROR\"", POD), "ERROR event without a Status");
}

static const char *const garbage[] = {
    "",
    " ",
    "{",
    "}",
    "{}",
    "[]",
    "null",
    "<html>",
    "\x1f\x8b\x08",
    "{\"type\":\"ADDED\"}",
    "{\"object\":" POD "}",
    "{\"type\":\"ADDED\",\"object\":}",
    "{\"type\":,\"object\":" POD "}",
    "{\"type\":\"ADDED\",\"object\":" POD,
    "{\"type\":\"ADDED\",\"object\":" POD "} {}",
    "{\"type\":\"ADDED\",\"object\":" POD ",}",
    "{\"type\":\"ADDED\";\"object\":" POD "}",
    "{\"type\" \"ADDED\",\"object\":" POD "}",
    "[{\"type\":\"ADDED\",\"object\":" POD "}]",
    "{\"type\":\"ADDED\",\"object\":[" POD "]}",
    "{\"type\":\"ADDED\",\"object\":\"" POD "\"}",
    "{\"type\":\"ADDED\",\"object\":null}",
    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}]}}",
    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\" \"uid\":\"u\"}}}",
    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"\xff\"}}}",
    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"},\"n\":01}}",
};

static void refuses_garbage_without_repeating_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(garbage); i++) {
        char *what = decoded_str(str_of(garbage[i]));
        if (strncmp(what, "INF_EDECODE: ", 13) != 0 || strlen(what) > 160)
            fail_msg("%s -> %s", garbage[i], what);
        free(what);
    }
}

static void refuses_every_prefix_of_an_event(void **state)
{
    struct recording r;
    struct str line;
    (void)state;
    recording_open(&r, "secrets-watchlist");
    while (recording_next(&r, &line))
        for (size_t len = 0; len < line.len; len++) {
            char *what = decoded_str((struct str){line.at, len});
            if (strncmp(what, "INF_EDECODE: ", 13) != 0)
                fail_msg("%.*s -> %s", (int)len, line.at, what);
            assert_null(strstr(what, "aHVudGVyMg")); /* the message does not contain the secret */
            free(what);
        }
    recording_close(&r);
}

#define ADDED(metadata) "{\"type\":\"ADDED\",\"object\":{\"metadata\":{" metadata "}}}"

static void an_object_needs_a_name_that_can_be_printed(void **state)
{
    (void)state;
    assert_refused("{\"type\":\"ADDED\",\"object\":{}}", "metadata is missing");
    assert_refused("{\"type\":\"ADDED\",\"object\":{\"metadata\":[]}}", "metadata is missing");
    assert_refused(ADDED(""), "metadata.name is missing");
    assert_refused("{\"type\":\"ADDED\",\"object\":{\"kind\":\"Table\",\"metadata\":{}}}",
                   "watch event: a Table instead of an object");
    assert_refused(ADDED("\"name\":\"\""), "metadata.name is missing");
    assert_refused(ADDED("\"name\":null"), "metadata.name is missing");
    assert_refused(ADDED("\"name\":5"), "'name' is not a string");
    assert_refused(ADDED("\"name\":\"a\\u0000b\""), "'name' contains control characters");
    assert_refused(ADDED("\"name\":\"a\\nb\""), "'name' contains control characters");
    assert_refused(ADDED("\"name\":\"a\\u007fb\""), "'name' contains control characters");
    assert_refused(ADDED("\"name\":\"a\",\"namespace\":\"\\t\""), "'namespace' contains control");
    assert_refused(ADDED("\"name\":\"a\",\"uid\":\"\\u001b[2J\""), "'uid' contains control");
    assert_refused(ADDED("\"name\":\"a\",\"resourceVersion\":\"\\r\""),
                   "'resourceVersion' contains");
    assert_decodes(ADDED("\"name\":\"system:node\""), "ADDED  /system:node ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_every_event_type),
        cmocka_unit_test(accepts_members_in_any_order),
        cmocka_unit_test(decodes_recorded_watches),
        cmocka_unit_test(only_the_annotated_bookmark_ends_the_initial_objects),
        cmocka_unit_test(a_bookmark_may_lack_its_version),
        cmocka_unit_test(checks_the_version_of_a_bookmark),
        cmocka_unit_test(names_an_unknown_event_type),
        cmocka_unit_test(an_error_event_reports_the_error_of_the_server),
        cmocka_unit_test(refuses_garbage_without_repeating_it),
        cmocka_unit_test(refuses_every_prefix_of_an_event),
        cmocka_unit_test(an_object_needs_a_name_that_can_be_printed),
    };
    return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
