/*
 * test_options.c - the command line: words, and the conf that `informerd watch` makes of them.
 *
 * What is refused, and with which sentence, test/cli/test_cli.py says.
 */
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/cli/adhoc.h"

enum {
    WORDS_MAX = 16,
};

/* Of words with blanks between them; ' ' is written as '_'. */
static struct options parse(const char *line)
{
    static char text[512]; /* the options point into it */
    char *argv[WORDS_MAX + 1] = {NULL}, *rest = text;
    struct options options;
    int argc = 0;
    strncpy(text, line, sizeof(text) - 1);
    while (argc < WORDS_MAX && (argv[argc] = strsep(&rest, " ")))
        argc++;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = text[i] == '_' ? ' ' : text[i];
    optind = 0; /* glibc: begin anew */
    assert_int_equal(options_parse(argc, argv, &options), 0);
    return options;
}

static void words(void **state)
{
    struct options o = parse("informerd -c x.conf");
    (void)state;
    assert_int_equal(o.command, COMMAND_RUN);
    assert_string_equal(o.conf, "x.conf");
    assert_int_equal(parse("informerd --check-config -c x.conf").command, COMMAND_CHECK);
    assert_int_equal(parse("informerd -c x.conf --print-config").command, COMMAND_PRINT);
    o = parse("informerd watch pods,nodes -n shop -l a=b --field-selector=c=d --context x -o full "
              "-v");
    assert_int_equal(o.command, COMMAND_WATCH);
    assert_string_equal(o.resource, "pods,nodes");
    assert_string_equal(o.ns, "shop");
    assert_string_equal(o.label_selector, "a=b");
    assert_string_equal(o.field_selector, "c=d");
    assert_string_equal(o.context, "x");
    assert_int_equal(o.format, FORMAT_FULL);
    assert_true(o.verbose);
    assert_string_equal(parse("informerd watch pod,pods,nodes").resource, "pod,pods,nodes");
    o = parse("informerd -A watch pods");
    assert_true(o.all_namespaces);
    assert_null(o.ns);
}

/* ---- the conf of a command line ---- */

static struct conf conf_of(const char *line)
{
    struct options options = parse(line);
    struct conf conf = {0};
    assert_int_equal(adhoc_conf(&options, &conf), 0);
    return conf;
}

static void each_resource_is_a_watch(void **state)
{
    struct conf conf = conf_of("informerd watch pods,deployments.apps/v1 -n shop "
                               "-l app_in_(web,api) --field-selector spec.nodeName=$HOME -o jsonl");
    (void)state;
    assert_int_equal(conf.n_watches, 2);
    assert_string_equal(conf.watches[0].resource, "pods");
    assert_string_equal(conf.watches[1].resource, "deployments.apps/v1");
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(conf.watches[i].namespaces.count, 1);
        assert_string_equal(conf.watches[i].namespaces.items[0], "shop");
        assert_string_equal(conf.watches[i].field_selector, "spec.nodeName=$HOME");
    }
    assert_int_equal(conf.n_event_logs, 1);
    assert_string_equal(conf.event_logs[0].path, "stdout");
    assert_string_equal(record_format_names[conf.event_logs[0].format], "jsonl");
    assert_int_equal(conf.event_logs[0].object, CONF_OBJECT_DIFF);
    conf_free(&conf);
}

static void formats_and_levels(void **state)
{
    struct conf conf = conf_of("informerd watch pods -A -o short");
    (void)state;
    assert_string_equal(record_format_names[conf.event_logs[0].format], "short");
    assert_int_equal(conf.log.level, INF_LOG_WARN); /* only what matters, between lines to read */
    assert_int_equal(conf.watches[0].namespaces.count, 0);
    conf_free(&conf);
    conf = conf_of("informerd watch pods -A -o full -v");
    assert_int_equal(conf.event_logs[0].object, CONF_OBJECT_FULL);
    assert_int_equal(conf.log.level, INF_LOG_DEBUG);
    conf_free(&conf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),
        cmocka_unit_test(each_resource_is_a_watch),
        cmocka_unit_test(formats_and_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
