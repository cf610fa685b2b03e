/*
 * test_text_format.c - lines of the format short, as a terminal shows them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "changes.h"
#include "daemon/journal/record_format.h"

static const struct watch_id pods = {.name = "pods"};

static void put(struct buf *out, const char *before, const char *after,
                const struct record_options *options)
{
    struct sample sample;
    struct change change;
    sample_pod(&sample, before, after);
    change_init(&change, &pods, &sample.event, sample.diff);
    text_format.put_change(out, &change, options);
    sample_free(&sample);
}

static void put_object(struct buf *out, const char *text, const struct record_options *options)
{
    struct sample sample;
    struct change change;
    sample_make(&sample, NULL, text);
    change_init(&change, &pods, &sample.event, NULL);
    text_format.put_change(out, &change, options);
    sample_free(&sample);
}

static void put_note(struct buf *out, const struct note *note, const struct watch_id *watch,
                     const struct record_options *options)
{
    const struct stamp stamp = {.time_us = INT64_C(1767269071000042)};
    text_format.put_note(out, note, &stamp, watch, options);
}

static void assert_shown(struct buf *out, const char *expected)
{
    buf_putc(out, '\0');
    assert_string_equal(out->bytes, expected);
    buf_free(out);
}

#define EVENT                                                                              \
    "{'kind':'Event','apiVersion':'v1','metadata':{'name':'web-0.17','namespace':'shop'}," \
    "'involvedObject':{'kind':'Pod','namespace':'shop','name':'web-0'},'reason':'BackOff',"

static void lines_have_columns(void **state)
{
    const struct record_options plain = {.width = 0};
    struct buf out = {0};
    (void)state;
    put(&out, NULL, "'spec':{}", &plain);
    put(&out, "'status':{'phase':'Pending'}", "'status':{'phase':'Running','podIP':'10.1.2.3'}",
        &plain);
    put_object(&out, EVENT "'message':'Back-off restarting','count':12,'type':'Warning'}", &plain);
    put_object(
        &out,
        "{'kind':'Deployment','apiVersion':'apps/v1','metadata':{'name':'a-deployment-with-a-"
        "long-name','namespace':'kube-system'}}",
        &plain);
    put(&out, "'spec':{}", NULL, &plain);
    put_note(&out, &(struct note){.type = NOTE_RELIST, .level = INF_LOG_INFO, .msg = "too old"},
             &pods, &plain);
    put_note(&out, &(struct note){.type = NOTE_SYNCED, .level = INF_LOG_INFO, .msg = "pods: all"},
             &pods, &plain);
    put_note(&out, &(struct note){.type = NOTE_SYNCED, .level = INF_LOG_INFO, .msg = "podsy: all"},
             &pods, &plain);
    put_note(&out, &(struct note){.type = NOTE_START, .level = INF_LOG_INFO, .msg = "started"},
             NULL, &plain);
    assert_shown(
        &out,
        "12:04:31 ADDED    pod shop/web-0                    (kubelet)\n"
        "12:04:31 MODIFIED pod shop/web-0                    status.phase Pending -> Running, "
        "status.podIP -> 10.1.2.3  (kubelet)\n"
        "12:04:31 ADDED    event pod shop/web-0              BackOff: Back-off restarting (x12)\n"
        "12:04:31 ADDED    deployment kube-system/a-deployment-with-a-long-name\n"
        "12:04:31 DELETED  pod shop/web-0\n"
        "12:04:31 RELIST   pods                              too old\n"
        "12:04:31 SYNCED   pods                              all\n"
        "12:04:31 SYNCED   pods                              podsy: all\n"
        "12:04:31 START    started\n");
}

static void writes_colours_if_enabled(void **state)
{
    const struct record_options options = {.colour = true};
    struct buf out = {0};
    (void)state;
    put(&out, "'a':1", "'a':2", &options);
    put(&out, "'a':1", NULL, &options);
    put_note(&out, &(struct note){.type = NOTE_GAP, .level = INF_LOG_WARN, .msg = "hole"}, NULL,
             &options);
    assert_shown(&out, "\x1b[2m12:04:31\x1b[0m \x1b[33mMODIFIED\x1b[0m pod shop/web-0              "
                       "      a 1 -> 2\x1b[2m  (kubelet)\x1b[0m\n"
                       "\x1b[2m12:04:31\x1b[0m \x1b[31mDELETED\x1b[0m  pod shop/web-0\n"
                       "\x1b[2m12:04:31\x1b[0m \x1b[1m\x1b[31mGAP\x1b[0m      hole\n");
}

/* Counted in characters, not in bytes. */
static void a_line_is_cut_at_its_width(void **state)
{
    struct buf out = {0};
    (void)state;
    put(&out, "'a':''", "'a':'\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc'",
        &(struct record_options){.width = 65});
    put(&out, "'a':1", "'a':2", &(struct record_options){.width = 20});
    put(&out, "'a':1", "'a':2", &(struct record_options){.width = 1});
    put(&out, "'a':1", "'a':2", &(struct record_options){.width = 71});
    put(&out, "'a':1", NULL, &(struct record_options){.width = 32}); /* no blanks at the end */
    put(&out, "'a':1", NULL, &(struct record_options){.width = 31});
    put(&out, "'a':1", "'a':2", &(struct record_options){.width = 120}); /* room for longer names */
    put(&out, "'a':1", "'a':2", &(struct record_options){.width = 40});  /* cut between columns */
    put(&out, "'a':1", "'a':2",
        &(struct record_options){.width = 32}); /* full to the last character */
    assert_shown(&out, "12:04:31 MODIFIED pod shop/web-0                    a \"\" -> "
                       "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xe2\x80\xa6\n"
                       "12:04:31 MODIFIED p\xe2\x80\xa6\n"
                       "\xe2\x80\xa6\n"
                       "12:04:31 MODIFIED pod shop/web-0                    a 1 -> 2  (kubelet)\n"
                       "12:04:31 DELETED  pod shop/web-0\n"
                       "12:04:31 DELETED  pod shop/web\xe2\x80\xa6\n"
                       "12:04:31 MODIFIED pod shop/web-0                            a 1 -> 2  "
                       "(kubelet)\n"
                       "12:04:31 MODIFIED pod shop/web-0       \xe2\x80\xa6\n"
                       "12:04:31 MODIFIED pod shop/web-0\n");
}

static void control_characters_are_made_visible(void **state)
{
    const struct record_options plain = {.width = 0};
    struct buf out = {0};
    (void)state;
    put(&out, "'a':1", "'a':'x\x7f\xc2\x9b\xe2\x80\xae\\u001b[2J\\ny'", &plain);
    put_object(&out, EVENT "'message':'a\\nb\\u001b[2J'}", &plain);
    assert_shown(&out, "12:04:31 MODIFIED pod shop/web-0                    a 1 -> "
                       "x\\u007f\\u009b\\u202e\\u001b[2J y  (kubelet)\n"
                       "12:04:31 ADDED    event pod shop/web-0              BackOff: "
                       "a\\nb\\u001b[2J\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_columns),
        cmocka_unit_test(writes_colours_if_enabled),
        cmocka_unit_test(a_line_is_cut_at_its_width),
        cmocka_unit_test(control_characters_are_made_visible),
    };
    setenv("TZ", "UTC", 1);
    tzset();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
