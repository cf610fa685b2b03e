/*
 * test_watch_target.c - the arguments of `informerd watch` as resources and names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "daemon/cli/watch_target.h"

enum {
    ARGUMENTS_MAX = 80,
};

/* Parses arguments separated by blanks. The result is "resource|name ...", or the error. */
static void expect_targets(const char *line, const char *expected)
{
    char text[1024], *argv[ARGUMENTS_MAX], *rest = text;
    struct watch_targets targets = {0};
    struct inf_error err = {0};
    struct buf out = {0};
    int argc = 0;
    snprintf(text, sizeof(text), "%s", line);
    while (argc < ARGUMENTS_MAX && rest && (argv[argc] = strsep(&rest, " ")))
        argc++;
    if (watch_targets_parse(argc, argv, &targets, &err) < 0)
        buf_puts(&out, err.text);
    for (size_t i = 0; i < targets.count; i++)
        buf_printf(&out, "%s%s|%s", i ? " " : "", targets.items[i].resource,
                   targets.items[i].name ? targets.items[i].name : "");
    buf_putc(&out, '\0');
    if (!strstr(out.bytes, expected) || (!err.code && strcmp(out.bytes, expected) != 0))
        fail_msg("'%s': '%s', expected '%s'", line, out.bytes, expected);
    buf_free(&out);
    watch_targets_free(&targets);
}

static void arguments_are_those_of_kubectl(void **state)
{
    static const struct {
        const char *line, *targets;
    } rows[] = {
        {"pods", "pods|"},
        {"pods,svc", "pods| svc|"},
        {"pods web-0", "pods|web-0"},
        {"pods web-0 web-1", "pods|web-0 pods|web-1"},
        {"pods/web-0", "pods|web-0"},
        {"pods/web-0,svc/web", "pods|web-0 svc|web"},
        {"pods/web-0 deployments/web", "pods|web-0 deployments|web"},
        {"deployments.apps/v1", "deployments.apps/v1|"},
        {"deployments.apps/v2beta1", "deployments.apps/v2beta1|"},
        {"deployments.apps/v1 web", "deployments.apps/v1|web"},
        {"deployments.apps/v1/web", "deployments.apps/v1|web"},
        {"deployments.apps/web", "deployments.apps|web"},
        {"deployments.apps/vienna", "deployments.apps|vienna"},
        {"deployments.apps/v1beta", "deployments.apps|v1beta"},
        {"deployments.apps/v1gamma1", "deployments.apps|v1gamma1"},
        {"pods/v1", "pods|v1"},
        {"deployments.apps v1", "deployments.apps|v1"},
        {"clusterroles system:node", "clusterroles|system:node"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect_targets(rows[i].line, rows[i].targets);
}

static void refuses_what_has_no_meaning(void **state)
{
    static const struct {
        const char *line, *message;
    } rows[] = {
        {"", "missing resource"},
        {"pods,,nodes", "empty resource name in 'pods,,nodes'"},
        {"/web", "empty resource name in '/web'"},
        {"pods/", "empty object name"},
        {"pods,Pods", "duplicate resource 'Pods'; name each resource once"},
        {"pods web web", "duplicate resource 'pods/web'; name each object once"},
        {"pods/web,pods", "duplicate resource 'pods'"},
        {"pods,svc web", "names need one resource: write 'pods web', or RESOURCE/NAME"},
        {"pods/web svc", "'svc' has no name; after 'pods/web' write RESOURCE/NAME"},
        {"pods a/b", "'a/b' is not the name of an object"},
        {"pods a,b", "'a,b' is not the name of an object; write names as separate arguments"},
        {"pods a=b", "'a=b' is not the name"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect_targets(rows[i].line, rows[i].message);
}

static void the_number_of_names_is_limited(void **state)
{
    struct buf line = {0};
    (void)state;
    buf_puts(&line, "pods");
    for (int i = 0; i < WATCH_TARGETS_MAX + 1; i++)
        buf_printf(&line, " n%d", i);
    buf_putc(&line, '\0');
    expect_targets(line.bytes, "more than 64 resources and names; select names with --name REGEX");
    buf_free(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_those_of_kubectl),
        cmocka_unit_test(refuses_what_has_no_meaning),
        cmocka_unit_test(the_number_of_names_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
