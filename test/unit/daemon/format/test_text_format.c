/*
 * test_text_format.c - lines of the format short, as a terminal shows them.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "changes.h"
#include "daemon/format/record_format.h"

static const struct watch_id pods = {.name = "pods"};

static void put(struct buf *out, const char *before, const char *after,
                const struct record_options *options)
{
    struct sample sample;
    struct change change;
    sample_pod(&sample, before, after);
    sample_change(&change, &pods, &sample.event, sample.diff);
    text_format.put_change(out, &change, options);
    sample_free(&sample);
}

static void put_object(struct buf *out, const char *text, const struct record_options *options)
{
    struct sample sample;
    struct change change;
    sample_make(&sample, NULL, text);
    sample_change(&change, &pods, &sample.event, NULL);
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
    put_object(&out, EVENT "'message':'earlier','lastTimestamp':'2026-01-01T10:00:07Z'}", &plain);
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
        "10:00:07 ADDED    event pod shop/web-0              BackOff: earlier\n"
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

static void the_verb_has_the_colour_of_the_level(void **state)
{
    static const enum inf_log_level levels[] = {INF_LOG_INFO, INF_LOG_WARN, INF_LOG_ERROR};
    const struct record_options options = {.colour = true, .width = 60};
    struct buf out = {0};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct sample sample;
        struct change change;
        sample_pod(&sample, "'a':1", NULL);
        sample_change(&change, &pods, &sample.event, sample.diff);
        change.level = levels[i];
        text_format.put_change(&out, &change, &options);
        sample_free(&sample);
    }
    assert_shown(&out, "\x1b[2m12:04:31\x1b[0m \x1b[31mDELETED\x1b[0m  pod shop/web-0\n"
                       "\x1b[2m12:04:31\x1b[0m \x1b[1m\x1b[33mDELETED\x1b[0m  pod shop/web-0\n"
                       "\x1b[2m12:04:31\x1b[0m \x1b[1m\x1b[31mDELETED\x1b[0m  pod shop/web-0\n");
}

/* Counted in columns, not in bytes. */
static void a_line_is_not_longer_than_its_width(void **state)
{
    struct buf out = {0};
    (void)state;
    put(&out, "'a':''", "'a':'\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc'",
        &(struct record_options){.width = 33});
    put(&out, "'a':''", "'a':'\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad'",
        &(struct record_options){.width = 33}); /* two columns each */
    put(&out, "'a':1", "'a':2", &(struct record_options){.width = 11});
    put(&out, "'a':1", "'a':2", &(struct record_options){.width = 1});
    put(&out, "'a':1", "'a':2", &(struct record_options){.width = 59});
    put(&out, "'a':1", "'a':2",
        &(struct record_options){.width = 58});                      /* no room for the manager */
    put(&out, "'a':1", NULL, &(struct record_options){.width = 23}); /* no blanks at the end */
    put(&out, "'a':1", NULL, &(struct record_options){.width = 22});
    put(&out, "'a':1", "'a':2", &(struct record_options){.width = 120}); /* room for longer names */
    put(&out, "'a':1", "'a':2", &(struct record_options){.width = 24});  /* cut between columns */
    put(&out, "'a':1", "'a':2",
        &(struct record_options){.width = 23}); /* full to the last character */
    assert_shown(&out, "MODIFIED pod …op/web-0 a -> üüü…\n"
                       "MODIFIED pod …op/web-0 a -> 中…\n"
                       "MODIFIED p…\n"
                       "…\n"
                       "12:04:31 MODIFIED pod shop/web-0  a 1 -> 2  (kubelet)\n"
                       "12:04:31 MODIFIED pod shop/web-0  a 1 -> 2  (kubelet)\n"
                       "DELETED  pod shop/web-0\n"
                       "DELETED  pod …op/web-0\n"
                       "12:04:31 MODIFIED pod shop/web-0                          a 1 -> 2  "
                       "(kubelet)\n"
                       "MODIFIED pod …op/web-0 …\n"
                       "MODIFIED pod …op/web-0\n");
}

/* Less than TEXT_TIME_MIN columns: no time, and only the new value. */
static void narrow_lines_have_only_the_new_value(void **state)
{
    static const char before[] = "'status':{'phase':'Pending'}";
    static const char after[] = "'status':{'phase':'Running','podIP':'10.1.2.3'}";
    struct buf out = {0};
    (void)state;
    put(&out, before, after, &(struct record_options){.width = 30});
    put(&out, before, after, &(struct record_options){.width = 40});
    put(&out, before, after, &(struct record_options){.width = 49});
    put(&out, before, after, &(struct record_options){.width = 50});
    put(&out, before, "'status':{}", &(struct record_options){.width = 40});
    put_note(&out, &(struct note){.type = NOTE_SYNCED, .level = INF_LOG_INFO, .msg = "pods: all"},
             &pods, &(struct record_options){.width = 40});
    assert_shown(&out, "MODIFIED pod …op/web-0 …e -> …\n"
                       "MODIFIED pod …op/web-0 …phase -> Running\n"
                       "MODIFIED pod shop/web-0  …hase -> Running, 1 more\n"
                       "12:04:31 MODIFIED pod …op/web-0 …phase -> Running\n"
                       "MODIFIED pod …op/web-0 …phase removed\n"
                       "SYNCED   pods          all\n");
}

#define LONG_NAME                                                                            \
    "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'checkout-service-7d9f8b6c5-x2x4q'," \
    "'namespace':'payments'},"

/* The end of a name and the values stay visible. */
static void paths_and_names_are_shortened(void **state)
{
    static const struct {
        const char *before, *after;
        unsigned width;
    } rows[] = {
        {"'status':{'containerStatuses':[{'name':'web','restartCount':0}]}}",
         "'status':{'containerStatuses':[{'name':'web','restartCount':1}]}}", 160},
        {"'status':{'containerStatuses':[{'name':'web','restartCount':0}]}}",
         "'status':{'containerStatuses':[{'name':'web','restartCount':1}]}}", 80},
        {"'status':{'containerStatuses':[{'name':'web','restartCount':0}]}}",
         "'status':{'containerStatuses':[{'name':'web','restartCount':1}]}}", 60},
        {"'spec':{'image':'registry.example.com/shop/web:1.2.3'}}",
         "'spec':{'image':'registry.example.com/shop/web:1.2.4'}}", 80},
        {"'a':1,'b':1,'c':1,'d':'0123456789'}", "'a':2,'b':2,'c':2,'d':'9876543210'}", 80},
        {"'a':1}", "'a':2,'b':'\xe4\xb8\xad\xe4\xb8\xad'}", 80},
    };
    struct buf out = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sample sample;
        struct change change;
        char before[512], after[512];
        snprintf(before, sizeof(before), LONG_NAME "%s", rows[i].before);
        snprintf(after, sizeof(after), LONG_NAME "%s", rows[i].after);
        sample_make(&sample, before, after);
        sample_change(&change, &pods, &sample.event, sample.diff);
        text_format.put_change(
            &out, &change,
            &(struct record_options){.width = rows[i].width, .charset = RECORD_TERMINAL});
        sample_free(&sample);
    }
    assert_shown(
        &out, "12:04:31 MODIFIED pod payments/checkout-service-7d9f8b6c5-x2x4q           "
              "status.containerStatuses[name=web].restartCount 0 → 1\n"
              "12:04:31 MODIFIED pod paym…d9f8b6c5-x2x4q …[web].restartCount 0 → 1\n"
              "12:04:31 MODIFIED pod p…6c5-x2x4q …[web].restartCount 0 → 1\n"
              "12:04:31 MODIFIED pod paym…d9f8b6c5-x2x4q spec.image …p/web:1.2.3 → …p/web:1.2.4\n"
              "12:04:31 MODIFIED pod paym…d9f8b6c5-x2x4q a 1 → 2, b 1 → 2, c 1 → 2, 1 more\n"
              "12:04:31 MODIFIED pod paym…d9f8b6c5-x2x4q a 1 → 2, b → 中中\n");
}

/* A terminal without UTF-8 gets only ASCII. */
static void other_characters_are_escaped_for_ascii(void **state)
{
    const struct record_options options = {.charset = RECORD_ASCII, .width = 66};
    struct buf out = {0};
    (void)state;
    put(&out, "'a':1", "'a':'\xc3\xbc\xf0\x9f\x98\x80'", &options);
    put(&out, "'a':1", "'a':'0123456789012345678901234567890123456789'", &options);
    assert_shown(&out, "12:04:31 MODIFIED pod shop/web-0     a 1 -> \\u00fc\\U0001f600\n"
                       "12:04:31 MODIFIED pod shop/web-0     a 1 -> 012345678901234567...\n");
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

static void put_in(const struct record_format *format, struct buf *out, const char *before,
                   const char *after, bool initial, const struct record_options *options)
{
    struct record_options with_state = *options;
    struct line_diffs *lines;
    struct sample sample;
    struct change change;
    assert_int_equal(record_format_prepare(format, NULL, &with_state.state, NULL), 0);
    sample_make(&sample, before, after);
    sample.event.origin = initial ? INF_INITIAL : INF_LIVE;
    sample_change(&change, &pods, &sample.event, sample.diff);
    change.lines = lines = sample.diff ? line_diffs_make(sample.diff, &sample.event) : NULL;
    format->put_change(out, &change, &with_state);
    line_diffs_free(lines);
    record_format_release(format, with_state.state);
    sample_free(&sample);
}

#define MANAGED                                                                                       \
    "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'web-0','namespace':'shop','managedFields':[" \
    "{'manager':'kubelet','operation':'Update','time':'2026-01-01T12:04:31Z'}]}}"

static void an_object_that_existed_before_shows_no_manager(void **state)
{
    const struct record_options plain = {.width = 0};
    struct buf out = {0};
    (void)state;
    put_in(&text_format, &out, NULL, MANAGED, /* initial= */ false, &plain);
    put_in(&text_format, &out, NULL, MANAGED, /* initial= */ true, &plain);
    assert_shown(&out, "12:04:31 ADDED    pod shop/web-0                    (kubelet)\n"
                       "12:04:31 ADDED    pod shop/web-0\n");
}

#define OWNED(rest)                                                                       \
    "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'web-0','namespace':'shop',"      \
    "'ownerReferences':[{'apiVersion':'apps/v1','kind':'StatefulSet','name':'web','uid':" \
    "'u','controller':true}]},'spec':{'nodeName':'node-1'}" rest "}"

static void wide_lines_have_node_and_owner(void **state)
{
    const struct record_options narrow = {.width = 40};
    struct buf out = {0};
    (void)state;
    put_in(&wide_format, &out, OWNED(",'a':1"), OWNED(",'a':2"), false, &narrow);
    put_in(&wide_format, &out, NULL, "{'kind':'Node','apiVersion':'v1','metadata':{'name':'n'}}",
           false, &narrow);
    wide_format.put_note(
        &out, &(struct note){.type = NOTE_SYNCED, .level = INF_LOG_INFO, .msg = "complete"},
        &(struct stamp){.time_us = INT64_C(1767269071000042)}, &pods, &narrow);
    assert_shown(
        &out, "12:04:31 MODIFIED pod shop/web-0                              node-1              "
              "statefulset web                 a 1 -> 2\n"
              "12:04:31 ADDED    node n                                      -                   "
              "-\n"
              "12:04:31 SYNCED   pods                              complete\n");
}

#define CONFIG(rest) "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'c'}," rest "}"

#define TEN  "0123456789"
#define LONG TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static void a_line_that_starts_with_a_hash_is_a_changed_line(void **state)
{
    const struct record_options plain = {0};
    struct buf out = {0};
    (void)state;
    put_in(&diff_format, &out, CONFIG("'data':{'f':'a\\nfoo\\nb'}"),
           CONFIG("'data':{'f':'a\\n#foo\\nb'}"), false, &plain);
    assert_shown(&out, "12:04:31 MODIFIED configmap c\n"
                       "  - data.f: |-\n"
                       "  -   a\n"
                       "  -   foo\n"
                       "  -   b\n"
                       "  + data.f: |-\n"
                       "  +   a\n"
                       "  +   #foo\n"
                       "  +   b\n");
    buf_free(&out);
}

static void diffs_have_old_and_new_values(void **state)
{
    const struct record_options plain = {0};
    struct buf out = {0};
    (void)state;
    put_in(&diff_format, &out, NULL, CONFIG("'data':{'a':'1'}"), true, &plain);
    put_in(&diff_format, &out, NULL, CONFIG("'data':{'a':'1'}"), false, &plain);
    put_in(&diff_format, &out,
           CONFIG("'data':{'a':'1','gone':'x','f':'1\\n" LONG "\\n3\\n4\\n5\\n6\\n7\\n'}"),
           CONFIG("'data':{'a':'2','f':'1\\n" LONG
                  "\\n3\\nfour\\n4.5\\n5\\n6\\n\\ttab\\n'},'conditions':[{'type':"
                  "'Ready','status':'True','list':[1,{'b':'\\u001b[2J'}]}]"),
           false, &plain);
    put_in(&diff_format, &out, CONFIG("'l':[{'name':'a'},{'name':'b'}]"),
           CONFIG("'l':[{'name':'b'},{'name':'a'}]"), false, &plain);
    put_in(&diff_format, &out, CONFIG("'data':{}"), NULL, false,
           &(struct record_options){.width = 12, .colour = true});
    assert_shown(&out, "12:04:31 ADDED    configmap c\n"
                       "12:04:31 ADDED    configmap c\n"
                       "  + apiVersion: v1\n"
                       "  + data:\n"
                       "  +   a: \"1\"\n"
                       "  + kind: ConfigMap\n"
                       "  + metadata:\n"
                       "  +   name: c\n"
                       "12:04:31 MODIFIED configmap c\n"
                       "  - data.a: \"1\"\n"
                       "  + data.a: \"2\"\n"
                       "  ~ data.f:\n"
                       "    @@ -4,1 +4,2 @@\n"
                       "    -4\n"
                       "    +four\n"
                       "    +4.5\n"
                       "    @@ -7,1 +8,1 @@\n"
                       "    -7\n"
                       "    +\\u0009tab\n"
                       "  - data.gone: x\n"
                       "  + conditions:\n"
                       "  + - list:\n"
                       "  +   - 1\n"
                       "  +   - b: \"\\u001b[2J\"\n"
                       "  +   status: \"True\"\n"
                       "  +   type: Ready\n"
                       "12:04:31 MODIFIED configmap c\n"
                       "  ~ l: reordered\n"
                       "\x1b[31mDELETED\x1b[0m  \x1b[1mco…\x1b[0m\n"
                       "\x1b[31m  - apiVers…\x1b[0m\n"
                       "\x1b[31m  - data: {}\x1b[0m\n"
                       "\x1b[31m  - kind: C…\x1b[0m\n"
                       "\x1b[31m  - metadat…\x1b[0m\n"
                       "\x1b[31m  -   name:…\x1b[0m\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_columns),
        cmocka_unit_test(writes_colours_if_enabled),
        cmocka_unit_test(the_verb_has_the_colour_of_the_level),
        cmocka_unit_test(a_line_is_not_longer_than_its_width),
        cmocka_unit_test(narrow_lines_have_only_the_new_value),
        cmocka_unit_test(paths_and_names_are_shortened),
        cmocka_unit_test(other_characters_are_escaped_for_ascii),
        cmocka_unit_test(control_characters_are_made_visible),
        cmocka_unit_test(an_object_that_existed_before_shows_no_manager),
        cmocka_unit_test(wide_lines_have_node_and_owner),
        cmocka_unit_test(a_line_that_starts_with_a_hash_is_a_changed_line),
        cmocka_unit_test(diffs_have_old_and_new_values),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    setenv("TZ", "UTC", 1);
    tzset();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
