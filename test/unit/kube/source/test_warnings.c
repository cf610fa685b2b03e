/*
 * test_warnings.c - Warning headers, each text once.
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
#include "base/buf.h"
#include "kube/source/warnings.h"
#include "source_world.h"

/* A log that keeps its lines. */
struct notebook {
    struct log log;
    struct buf lines;
};

static void emit(struct log *log, enum log_level level, const char *line)
{
    struct notebook *n = container_of(log, struct notebook, log);
    assert_int_equal(level, LOG_WARN);
    buf_printf(&n->lines, "%s\n", line);
}

static void noted(struct notebook *n, const char *expected)
{
    buf_putc(&n->lines, '\0');
    assert_string_equal(n->lines.bytes, expected);
    buf_clear(&n->lines);
}

static void read_warning(struct warnings *w, const char *value)
{
    struct http_header headers[] = {{"Audit-Id", "299 - \"x\""}, {"warning", value}};
    warnings_log_new(w, "k", &(struct http_head){200, headers, ARRAY_LEN(headers)});
}

static void reads_warning_headers(void **state)
{
    static const struct {
        const char *value, *lines;
    } cases[] = {
        {"299 - \"v1beta1 is deprecated\"", "warning from k: v1beta1 is deprecated\n"},
        {"299 - \"a\", 299 kube:6443 \"b\" \"Mon, 16 Nov 2026 00:00:00 GMT\",299 - \"c\"",
         "warning from k: a\nwarning from k: b\nwarning from k: c\n"},
        {"299 - \"say \\\"hi\\\" \\\\ , 299\"", "warning from k: say \"hi\" \\ , 299\n"},
        {"299 - \"a\tb\x01"
         "c\x7f\"",
         "warning from k: a b c \n"},
        {"110 proxy \"stale\", 299 - \"a\"", "warning from k: a\n"},
        {"299 - \"\"", "warning from k: \n"},
        {"299 - \"a\" nonsense, 299 - \"b\"", "warning from k: a\n"},
        {"299 - \"never closed", ""},
        {"299 - \"ends in a \\", ""},
        {"299 - \"a\" \"never closed", ""},
        {"299 -", ""},
        {"299", ""},
        {"", ""},
        {"nonsense", ""},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct notebook n = {.log = {.emit = emit}};
        struct warnings w;
        warnings_init(&w, &n.log);
        read_warning(&w, cases[i].value);
        noted(&n, cases[i].lines);
        warnings_free(&w);
        buf_free(&n.lines);
    }
}

static void logs_a_warning_once_and_limits_their_number(void **state)
{
    struct notebook n = {.log = {.emit = emit}};
    struct warnings w;
    char value[32];
    (void)state;
    warnings_init(&w, &n.log);
    read_warning(&w, "299 - \"0\", 299 - \"0\"");
    noted(&n, "warning from k: 0\n");
    for (int i = 0; i < WARNINGS_MAX; i++) {
        snprintf(value, sizeof(value), "299 - \"%d\"", i);
        read_warning(&w, value);
    }
    buf_clear(&n.lines);
    read_warning(&w, "299 - \"one more\"");
    noted(&n, "k sent more than 64 different warnings; further ones are not logged\n");
    read_warning(&w, "299 - \"and another\", 299 - \"7\"");
    noted(&n, "");
    warnings_free(&w);
    buf_free(&n.lines);
}

static void shortens_a_long_warning(void **state)
{
    struct notebook n = {.log = {.emit = emit}};
    struct warnings w;
    struct buf value = {0};
    (void)state;
    warnings_init(&w, &n.log);
    buf_printf(&value, "299 - \"%05000d\", 299 - \"short\"%c", 0, '\0');
    read_warning(&w, value.bytes);
    assert_int_equal(strcspn(n.lines.bytes, "\n"), strlen("warning from k: ") + WARNING_TEXT_MAX);
    assert_non_null(strstr(n.lines.bytes, "warning from k: short\n"));
    warnings_free(&w);
    buf_free(&value);
    buf_free(&n.lines);
}

static void reads_warnings_of_any_response(void **state)
{
    struct notebook n = {.log = {.emit = emit}};
    struct warnings warnings;
    struct source_world w;
    (void)state;
    warnings_init(&warnings, &n.log);
    source_world_init(&w, "pods", NULL);
    w.server.warnings = &warnings;
    for (int i = 0; i < 2; i++) {
        pipe_sends(source_world_connect(&w),
                   "HTTP/1.1 403 No\r\nWarning: 299 - \"not long now\"\r\n"
                   "Warning: 299 - \"really\"\r\nContent-Length: 0\r\n\r\n");
        sim_run(&w.sim);
    }
    noted(&n, "warning from kube.test:6443: not long now\nwarning from kube.test:6443: really\n");
    source_world_done(&w);
    warnings_free(&warnings);
    buf_free(&n.lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_warning_headers),
        cmocka_unit_test(logs_a_warning_once_and_limits_their_number),
        cmocka_unit_test(shortens_a_long_warning),
        cmocka_unit_test(reads_warnings_of_any_response),
    };
    return cmocka_run_group_tests_name("warnings", tests, NULL, NULL);
}
