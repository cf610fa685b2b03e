/*
 * test_command.c - the command line: commands, flags, and the configuration of `informerd watch`.
 *
 * test/cli/test_cli.py tests what is refused, and with which message.
 */
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/cli/command_watch.h"

enum {
    ARGUMENTS_MAX = 16,
};

/* Parses arguments separated by blanks, in which '_' stands for a blank. The caller frees the
 * options. */
static const struct command *parse(const char *line, void **ret_options)
{
    static char text[512];                /* the options point into it */
    static char *argv[ARGUMENTS_MAX + 1]; /* so do they */
    char *rest = text;
    const struct command *command = NULL;
    int argc = 0;
    strncpy(text, line, sizeof(text) - 1);
    memset(argv, 0, sizeof(argv));
    while (argc < ARGUMENTS_MAX && (argv[argc] = strsep(&rest, " ")))
        argc++;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = text[i] == '_' ? ' ' : text[i];
    optind = 0; /* glibc: start from scratch */
    assert_int_equal(command_line_parse(argc, argv, &command, ret_options), 0);
    return command;
}

static struct watch_options parse_watch(const char *line)
{
    struct watch_options options;
    void *parsed = NULL;
    assert_ptr_equal(parse(line, &parsed), &command_watch);
    options = *(struct watch_options *)parsed;
    free(parsed);
    return options;
}

static void finds_the_command(void **state)
{
    static const struct {
        const char *line;
        const struct command *command;
    } rows[] = {
        {"informerd -c x.conf", &command_service},
        {"informerd --check-config -c x.conf", &command_service},
        {"informerd -c x.conf --print-config", &command_service},
        {"informerd rbac -c x.conf", &command_rbac},
        {"informerd -c x.conf rbac --user jane", &command_rbac},
        {"informerd watch pods", &command_watch},
        {"informerd -A watch pods", &command_watch},
        {"informerd help", &command_help},
        {"informerd help watch", &command_help},
        {"informerd watch --help", &command_help},
        {"informerd --help watch --group x", &command_help},
        {"informerd version", &command_version},
        {"informerd rbac -V", &command_version},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *options = NULL;
        assert_ptr_equal(parse(rows[i].line, &options), rows[i].command);
        free(options);
    }
}

static void stores_the_flags_of_watch(void **state)
{
    struct watch_options o = parse_watch("informerd watch pods,nodes -n shop -l a=b "
                                         "--field-selector=c=d --context x -o full -v");
    (void)state;
    assert_int_equal(o.argc, 1);
    assert_int_equal(o.ns.count, 1);
    assert_string_equal(o.ns.items[0], "shop");
    assert_string_equal(o.label_selector, "a=b");
    assert_string_equal(o.field_selector, "c=d");
    assert_string_equal(o.context, "x");
    assert_string_equal(o.output, "full");
    assert_true(o.verbose);
    assert_false(o.every_update);
    o = parse_watch("informerd -A watch pods");
    assert_true(o.all_namespaces);
    assert_int_equal(o.ns.count, 0);
}

static void a_repeatable_flag_keeps_all_values(void **state)
{
    struct watch_options o =
        parse_watch("informerd watch pods -n a --namespace=b,c --name x --name y "
                    "--context p --context q");
    (void)state;
    assert_int_equal(o.ns.count, 2);
    assert_string_equal(o.ns.items[0], "a");
    assert_string_equal(o.ns.items[1], "b,c");
    assert_int_equal(o.names.count, 2);
    assert_string_equal(o.context, "q"); /* not repeatable: the last one counts */
}

/* The command line is split before the command is known. */
static void a_flag_has_one_syntax_in_all_commands(void **state)
{
    (void)state;
    for (size_t i = 0; command_program.commands[i]; i++)
        for (const struct flag *a = command_program.commands[i]->flags; a->name; a++)
            for (size_t k = 0; command_program.commands[k]; k++)
                for (const struct flag *b = command_program.commands[k]->flags; b->name; b++) {
                    bool same = strcmp(a->name, b->name) == 0;
                    if (same ? a->letter != b->letter || !a->value != !b->value
                             : a->letter && a->letter == b->letter)
                        fail_msg("--%s of '%s' and --%s of '%s'", a->name,
                                 command_program.commands[i]->name, b->name,
                                 command_program.commands[k]->name);
                }
}

/* ---- the configuration of a command line ---- */

static struct conf conf_of(const char *line)
{
    struct watch_options options = parse_watch(line);
    struct conf conf = {0};
    assert_int_equal(watch_conf(&options, &conf), 0);
    return conf;
}

static void each_resource_becomes_a_watch(void **state)
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
    assert_string_equal(conf.event_logs[0].format, "jsonl");
    assert_int_equal(conf.event_logs[0].object, CONF_OBJECT_DIFF);
    conf_free(&conf);
}

static void a_named_object_becomes_a_watch(void **state)
{
    struct conf conf = conf_of("informerd watch pods web-0 system:x -n shop -o jsonl");
    (void)state;
    assert_int_equal(conf.n_watches, 2);
    assert_string_equal(conf.watches[0].name, "pods/web-0");
    assert_string_equal(conf.watches[0].field_selector, "metadata.name=web-0");
    assert_string_equal(conf.watches[1].name, "pods/system:x");
    assert_string_equal(conf.watches[1].field_selector, "metadata.name=system:x");
    conf_free(&conf);
}

static void namespaces_and_filters_become_options(void **state)
{
    struct conf conf =
        conf_of("informerd watch pods,nodes -n a,b -n c --name ^x{2}$ --verb added,DELETED "
                "--changed status.phase --ignore heartbeats --only-changes");
    const struct conf_event_log *log = &conf.event_logs[0];
    (void)state;
    assert_int_equal(conf.watches[0].namespaces.count, 3);
    assert_string_equal(conf.watches[0].namespaces.items[2], "c");
    assert_int_equal(conf.watches[0].ignore.count, 1);
    assert_string_equal(conf.watches[0].ignore.items[0], "heartbeats");
    assert_int_equal(conf.watches[1].namespaces.count, 0); /* nodes are cluster-scoped */
    assert_false(conf.watches[0].ns_is_default);           /* refused if pods were cluster-scoped */
    assert_true(conf.watches[1].ns_is_default);
    assert_int_equal(log->filter.names.count, 1);
    assert_string_equal(log->filter.names.items[0], "^x{2}$");
    assert_int_equal(log->filter.verbs, 1u << INF_ADDED | 1u << INF_DELETED);
    assert_string_equal(log->filter.changed.items[0], "status.phase");
    assert_false(log->filter.initial);
    conf_free(&conf);
}

static void output_format_and_verbosity_become_options(void **state)
{
    struct conf conf = conf_of("informerd watch pods -A -o short");
    (void)state;
    assert_string_equal(conf.event_logs[0].format, "short");
    assert_int_equal(conf.log.level, INF_LOG_WARN); /* only warnings between the lines of text */
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
        cmocka_unit_test(finds_the_command),
        cmocka_unit_test(stores_the_flags_of_watch),
        cmocka_unit_test(a_repeatable_flag_keeps_all_values),
        cmocka_unit_test(a_named_object_becomes_a_watch),
        cmocka_unit_test(namespaces_and_filters_become_options),
        cmocka_unit_test(a_flag_has_one_syntax_in_all_commands),
        cmocka_unit_test(each_resource_becomes_a_watch),
        cmocka_unit_test(output_format_and_verbosity_become_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
