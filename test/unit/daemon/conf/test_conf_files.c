/*
 * test_conf_files.c - conf.d, environment variables, --print-config, and the files of conf/.
 *
 * Every test runs in an empty directory of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text/yaml.h"
#include "conf_world.h"
#include "daemon/conf/conf_dirs.h"
#include "daemon/conf/conf_doc.h"

/* ---- conf.d ---- */

static void merges_files_in_the_order_of_their_names(void **state)
{
    struct conf conf;
    (void)state;
    conf_world_put("x.conf", "log: {level: debug, format: json}\nwatches: [{resource: pods}]\n");
    conf_world_put("conf.d/20-b.conf", "log: {level: error}\nwatches: [{resource: services}]\n");
    conf_world_put("conf.d/10-a.conf", "log: {level: warn}\nwatches: [{resource: nodes}]\n"
                                       "event_logs: [{path: stdout, watches: [services]}]\n");
    conf_world_put("conf.d/30-empty.conf", "# nothing\n");
    conf_world_put("conf.d/.hidden.conf", "{{{");
    conf_world_put("conf.d/old.conf~", "{{{");
    conf_world_put("conf.d/README", "{{{");
    conf = conf_world_file();
    assert_int_equal(conf.log.level, INF_LOG_ERROR);
    assert_int_equal(conf.log.format, CONF_JSON); /* only the first file has it */
    assert_int_equal(conf.n_watches, 3);
    assert_string_equal(conf.watches[0].name, "pods");
    assert_string_equal(conf.watches[1].name, "nodes");
    assert_string_equal(conf.watches[2].name, "services");
    assert_int_equal(conf.n_event_logs, 1);
    assert_int_equal(conf.n_files, 4);
    assert_string_equal(conf.files[1]->file, "conf.d/10-a.conf");
    conf_free(&conf);
}

static void paths_are_relative_to_their_file(void **state)
{
    struct conf conf;
    char *a = xasprintf("%s/state", (char *)*state);
    char *b = xasprintf("%s/conf.d/events", (char *)*state);
    conf_world_put("x.conf", "state_dir: state\n");
    conf_world_put("conf.d/a.conf", "event_logs: [{path: events}]\n");
    conf = conf_world_file();
    assert_string_equal(conf.state_dir, a);
    assert_string_equal(conf.event_logs[0].path, b);
    conf_free(&conf);
    free(a);
    free(b);
}

static void reports_the_errors_of_all_files(void **state)
{
    char *errors;
    (void)state;
    conf_world_put("x.conf", "watches: [{resource: pods}]\nstat_dir: x\n");
    conf_world_put("conf.d/a.conf", "- {\n");
    conf_world_put("conf.d/b.conf", "watches: [{resource: nodes}, {resource: pods}]\n");
    mkdir("conf.d/c.conf", 0700);
    errors = conf_world_file_errors();
    assert_string_equal(errors,
                        "conf.d/a.conf:2:1: did not find expected node content, while parsing a "
                        "flow node that begins on line 2\n"
                        "configuration file 'conf.d/c.conf': is a directory\n"
                        "x.conf:2:1: unknown key 'stat_dir'; did you mean 'state_dir'?\n"
                        "conf.d/b.conf:1:30: watches[1]: duplicate watch name 'pods', first used "
                        "at x.conf:1:11; choose another name, for example 'name: more'\n");
    free(errors);
}

static void reports_a_missing_file(void **state)
{
    char *errors = conf_world_file_errors();
    (void)state;
    assert_string_equal(errors, "configuration file 'x.conf': No such file or directory\n");
    free(errors);
}

static void reports_a_conf_d_that_is_not_a_directory(void **state)
{
    char *errors;
    (void)state;
    conf_world_put("x.conf", "");
    conf_world_put("conf.d", "");
    errors = conf_world_file_errors();
    assert_string_equal(errors, "directory 'conf.d': Not a directory\n");
    free(errors);
}

static void limits_the_number_of_files(void **state)
{
    char *errors;
    (void)state;
    conf_world_put("x.conf", "");
    for (int i = 0; i <= CONF_FILES_MAX; i++) {
        char *name = xasprintf("conf.d/%03d.conf", i);
        conf_world_put(name, "");
        free(name);
    }
    errors = conf_world_file_errors();
    assert_string_equal(errors, "conf.d: more than 256 files\n");
    free(errors);
}

/* ---- the environment ---- */

static void expands_environment_variables_in_values(void **state)
{
    struct conf conf;
    (void)state;
    setenv("T_DIR", "/srv", 1);
    setenv("T_LEVEL", "debug", 1);
    setenv("T_EMPTY", "", 1);
    setenv("T_TRUE", "true", 1);
    unsetenv("T_NONE");
    conf = conf_world_text("state_dir: ${T_DIR}/a$$b/$x/${T_NONE:-${/}\n"
                           "log: {level: \"${T_LEVEL:-warn}\"}\n"
                           "core_dumps: '${T_TRUE}'\n"
                           "drain_timeout: ${T_EMPTY:-7s}\n"
                           "watches:\n"
                           "  - resource: pods\n"
                           "    namespaces: ['${T_LEVEL}', 'a${T_NONE:-}b']\n"
                           "    indexes: {node: 'spec.${T_NONE:-nodeName}'}\n");
    assert_string_equal(conf.state_dir, "/srv/a$b/$x/${/");
    assert_int_equal(conf.log.level, INF_LOG_DEBUG);
    assert_true(conf.core_dumps);
    assert_int_equal(conf.drain_timeout_ms, 7000);
    assert_string_equal(conf.watches[0].namespaces.items[0], "debug");
    assert_string_equal(conf.watches[0].namespaces.items[1], "ab");
    assert_string_equal(conf.watches[0].indexes.items[0].path, "spec.nodeName");
    conf_free(&conf);
}

static void assert_errors(const char *text, const char *expected)
{
    char *errors = conf_world_text_errors(text);
    assert_string_equal(errors, expected);
    free(errors);
}

static void reports_errors_of_environment_variables(void **state)
{
    (void)state;
    setenv("T_EMPTY", "", 1);
    setenv("T_TEN", "ten", 1);
    setenv("T_LATIN", "/caf\xe9", 1);
    unsetenv("T_NONE");
    assert_errors("drain_timeout: ${T_NONE}\n",
                  "x.conf:1:16: drain_timeout: environment variable T_NONE is not set; set it or "
                  "write ${T_NONE:-default}\n");
    assert_errors("drain_timeout: ${T_TEN}\n",
                  "x.conf:1:16: drain_timeout: 'ten' is not a duration; write it like 30s, 5m or "
                  "500ms\n");
    assert_errors("drain_timeout: ${T_EMPTY}\n",
                  "x.conf:1:16: drain_timeout: has no value; set one or remove the key\n");
    assert_errors("state_dir: ${T_LATIN}\n",
                  "x.conf:1:12: state_dir: contains an invalid character: a line break, a control "
                  "character or invalid UTF-8\n");
    assert_errors("state_dir: ${T_TEN\n",
                  "x.conf:1:12: state_dir: '${' has no closing '}'; write $$ for a literal dollar "
                  "sign\n");
    assert_errors("state_dir: ${}\n",
                  "x.conf:1:12: state_dir: '${' must be followed by a variable name\n");
    assert_errors("state_dir: ${1X}\n",
                  "x.conf:1:12: state_dir: '${' must be followed by a variable name\n");
    assert_errors("state_dir: ${T_TEN-x}\n",
                  "x.conf:1:12: state_dir: invalid variable reference; write ${T_TEN} or "
                  "${T_TEN:-default}\n");
    /* keys are not expanded */
    assert_errors("log: {\"${T_TEN}\": 1}\n",
                  "x.conf:1:7: log: unknown key '${T_TEN}'; valid keys: level, format\n");
}

static void limits_the_length_of_a_value(void **state)
{
    char *large = xcalloc(1, 40001);
    (void)state;
    memset(large, 'x', 40000);
    setenv("T_LARGE", large, 1);
    free(large);
    assert_errors("state_dir: /${T_LARGE}${T_LARGE}\n",
                  "x.conf:1:12: state_dir: is longer than 65536 bytes after expanding environment "
                  "variables\n");
    unsetenv("T_LARGE");
}

/* ---- --print-config ---- */

static void assert_has(const char *text, const char *line)
{
    if (!strstr(text, line))
        fail_msg("no line '%s' in:\n%s", line, text);
}

static void prints_the_origin_of_each_value(void **state)
{
    struct conf conf;
    char *text;
    (void)state;
    setenv("T_LEVEL", "warn", 1);
    unsetenv("T_NONE");
    setenv("STATE_DIRECTORY", "/state/first:/state/second", 1);
    setenv("RUNTIME_DIRECTORY", "/run/x", 1);
    conf_world_put("x.conf", "log:\n  level: info\nwatches:\n  - resource: pods\n"
                             "    namespaces: ['${T_LEVEL}', 'a${T_LEVEL}${T_NONE:-}']\n");
    conf_world_put("conf.d/10-x.conf", "\nlog:\n  level: ${T_LEVEL}\n");
    conf = conf_world_file();
    text = conf_world_print(&conf);
    unsetenv("STATE_DIRECTORY");
    unsetenv("RUNTIME_DIRECTORY");
    assert_has(text,
               "state_dir: /state/first                   # default, from $STATE_DIRECTORY\n");
    assert_has(text, "socket:\n  path: /run/x/informerd.sock             # default, from "
                     "$RUNTIME_DIRECTORY\n");
    assert_has(text, "\nlog:\n"
                     "  level: warn                             # conf.d/10-x.conf:3, from "
                     "${T_LEVEL}, instead of x.conf:2\n"
                     "  format: logfmt                          # default\n");
    assert_has(text, "  - resource: pods                        # x.conf:4\n"
                     "    name: pods                            # default\n");
    assert_has(text, "    namespaces: [warn, awarn]             # x.conf:5, from ${T_LEVEL}, "
                     "${T_NONE}\n");
    assert_has(text, "\n#http:\n  #listen:                                # default: off\n");
    assert_has(text, "\nevent_logs: []                            # default\n");
    free(text);
    conf_free(&conf);
}

static void paths_of_a_file_replace_those_of_the_environment(void **state)
{
    struct conf conf;
    (void)state;
    setenv("STATE_DIRECTORY", "relative", 1); /* does not count */
    setenv("RUNTIME_DIRECTORY", "/run/x", 1);
    conf_world_put("x.conf", "socket: {path: /tmp/sock}\n");
    conf = conf_world_file();
    assert_string_equal(conf.socket.path, "/tmp/sock");
    assert_int_equal(conf.state_dir[0], '/');
    assert_true(conf_state_dir_is_default(&conf));
    conf_free(&conf);
    setenv("STATE_DIRECTORY", "/state", 1);
    conf_world_put("x.conf", "state_dir: /mine\n");
    conf = conf_world_file();
    unsetenv("STATE_DIRECTORY");
    unsetenv("RUNTIME_DIRECTORY");
    assert_string_equal(conf.state_dir, "/mine");
    assert_false(conf_state_dir_is_default(&conf));
    assert_string_equal(conf.socket.path, "/run/x/informerd.sock");
    conf_free(&conf);
}

/* The printed configuration loads to the same values. */
static void assert_round_trip(const char *text)
{
    struct conf conf = conf_world_text(text), again;
    char *printed = conf_world_print(&conf), *effect = conf_world_effect(&conf), *effect_again;
    again = conf_world_text(printed);
    effect_again = conf_world_effect(&again);
    assert_string_equal(effect_again, effect);
    free(effect_again);
    conf_free(&again);
    free(effect);
    free(printed);
    conf_free(&conf);
}

static void the_printed_configuration_loads_again(void **state)
{
    (void)state;
    assert_round_trip("");
    assert_round_trip("watches: [{resource: pods}]\nevent_logs: [{path: stdout}]\n");
    assert_round_trip(
        "state_dir: \"/a b/$${X}/: #\\\"'\\\\/\\u00e4\\U0001f600-\"\n"
        "socket: {path: 'null', mode: 7, group: \"~\"}\n"
        "http: {listen: '0.0.0.0:0'}\n"
        "log: {level: error, format: json}\n"
        "core_dumps: true\n"
        "drain_timeout: 90s\n"
        "clusters: [{name: a, context: 'x: y', kubeconfig: '- k'}, {name: b, stale_after: 61s}]\n"
        "watches:\n"
        "  - resource: pods\n"
        "    cluster: a\n"
        "    namespaces: ['null', 'true', '1']\n"
        "    label_selector: '!a, b in (c,)'\n"
        "    field_selector: 'a=\\,'\n"
        "    drop: []\n"
        "    redact: ['metadata.annotations[\"a#b\"]', 'spec[*]']\n"
        "    ignore: [heartbeats]\n"
        "    indexes: {'null': spec, true: 'a[\"b:\"]', '1': status}\n"
        "  - {resource: deployments.apps/v1, cluster: b, keep: metadata, reveal: true}\n"
        "event_logs:\n"
        "  - {path: ./stdout, watches: [deployments.apps/v1], verbs: [DELETED], object: none,\n"
        "     max_line: 4097, rotate: {size: 1G, keep: 0}, initial: false, format: short}\n"
        "  - {path: stdout, namespaces: [a], changed: [spec], label_selector: 'a,b'}\n");
}

/* [] allows no plugin; unset allows any. */
static void prints_an_explicit_empty_list(void **state)
{
    struct conf conf = conf_world_text("clusters: [{exec_allow: []}]\n");
    char *text = conf_world_print(&conf);
    (void)state;
    assert_has(text, "    exec_allow: []                        # x.conf:1\n");
    free(text);
    conf_free(&conf);
}

/* ---- conf/ ---- */

static char *read_conf(const char *name)
{
    char *path = xasprintf("%s/../../conf/%s", getenv("TEST_DATA"), name), *text = NULL;
    struct inf_error err;
    size_t len;
    if (file_read(path, YAML_TEXT_MAX, &text, &len, &err) < 0)
        fail_msg("%s", err.text);
    free(path);
    return text;
}

static char *effect_of(const char *text)
{
    struct conf conf = conf_world_text(text);
    char *effect = conf_world_effect(&conf);
    conf_free(&conf);
    return effect;
}

/* If this fails: build/src/conf_doc sample > conf/informerd.conf (see src/meson.build). */
static void the_sample_is_up_to_date(void **state)
{
    struct buf sample = {0};
    char *text = read_conf("informerd.conf");
    (void)state;
    conf_doc_sample(&sample);
    buf_putc(&sample, '\0');
    assert_string_equal(text, sample.bytes);
    buf_free(&sample);
    free(text);
}

static void the_sample_has_all_defaults(void **state)
{
    char *text = read_conf("informerd.conf"), *sample = effect_of(text);
    char *least = effect_of(
        "watches: [{resource: pods}]\nevent_logs: [{path: stdout}]\n"
        "handlers: [{name: syslog, exec: [/usr/bin/logger, -t, informerd]}]\n"
        "sinks: [{name: stream, nats: {url: 'tls://nats.example.com:4222', stream: K8S}}]\n"
        "levels: [{name: crash-loop, level: error}]\n"
        "api: {readers: [{uid: 1000, name: ops}]}\n");
    (void)state;
    assert_string_equal(sample, least);
    free(least);
    free(sample);
    free(text);
}

/* An option that excludes another one stays a comment. */
static void keep_comment(char *text, const char *option)
{
    char *mark = strstr(text, option);
    assert_non_null(mark);
    mark[1] = ' ';
}

/* With its options uncommented, the sample is a configuration too. */
static struct conf examples(char *text)
{
    for (char *mark = text; (mark = strchr(mark, '#')); mark++)
        if (mark[1] != ' ' && mark[1] != '\n')
            *mark = ' ';
    for (char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        size_t indent = strspn(line, " ");
        if (indent % 2) /* the blank in place of the comment mark */
            memmove(line, line + 1, strlen(line));
    }
    return conf_world_text(text);
}

/* Of the credentials of a sink only one kind is possible. */
static void keep_credentials(char *text)
{
    keep_comment(text, "#nkey_file:");
    keep_comment(text, "#user: informerd");
    keep_comment(text, "#password_file:");
    keep_comment(text, "#token_file: /etc/informerd/nats.token");
}

/* Options in comments have valid examples. */
static void the_examples_of_the_sample_are_valid(void **state)
{
    char *text = read_conf("informerd.conf"), *other = xstrdup(text);
    struct conf conf;
    (void)state;
    keep_comment(text, "#url:");
    keep_comment(text, "#url_file:");
    keep_comment(text, "#reader: kafka");
    keep_comment(other, "#url:");
    keep_comment(other, "#url_file:");
    keep_comment(other, "#reader: kafka");
    keep_comment(text, "#exclude_namespaces:");
    keep_comment(text, "#namespace_selector:");
    keep_comment(text, "#changed:");
    keep_comment(text, "#group: operators");
    keep_comment(text, "#token_file: /etc/informerd/ci.token");
    keep_credentials(text);
    keep_credentials(other);
    conf = examples(text);
    assert_string_equal(conf.http.listen, "127.0.0.1:9470");
    assert_string_equal(conf.socket.group, "informerd");
    assert_string_equal(conf.watches[0].namespaces.items[1], "billing");
    assert_string_equal(conf.event_logs[0].filter.label_selector, "app=web");
    conf_free(&conf);
    keep_comment(other, "#namespaces: [shop, billing]");
    keep_comment(other, "#group: operators");
    keep_comment(other, "#token_file: /etc/informerd/ci.token");
    keep_comment(strstr(other, "\nlevels:"), "#when:");
    conf = examples(other);
    assert_string_equal(conf.watches[0].exclude_namespaces.items[1], "*-test");
    assert_string_equal(conf.watches[0].namespace_selector, "team=shop");
    conf_free(&conf);
    free(other);
    free(text);
}

static void the_minimal_configuration_is_valid(void **state)
{
    char *text = read_conf("minimal.conf");
    struct conf conf = conf_world_text(text);
    size_t lines = 0;
    (void)state;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 3);
    assert_int_equal(conf.n_watches, 1);
    assert_int_equal(conf.n_event_logs, 1);
    conf_free(&conf);
    free(text);
}

#define TEST_HERE(name) cmocka_unit_test_setup_teardown(name, conf_world_setup, conf_world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_HERE(merges_files_in_the_order_of_their_names),
        TEST_HERE(paths_are_relative_to_their_file),
        TEST_HERE(reports_the_errors_of_all_files),
        TEST_HERE(reports_a_missing_file),
        TEST_HERE(reports_a_conf_d_that_is_not_a_directory),
        TEST_HERE(limits_the_number_of_files),
        TEST_HERE(expands_environment_variables_in_values),
        TEST_HERE(reports_errors_of_environment_variables),
        TEST_HERE(limits_the_length_of_a_value),
        TEST_HERE(prints_the_origin_of_each_value),
        TEST_HERE(paths_of_a_file_replace_those_of_the_environment),
        TEST_HERE(the_printed_configuration_loads_again),
        TEST_HERE(prints_an_explicit_empty_list),
        TEST_HERE(the_sample_is_up_to_date),
        TEST_HERE(the_sample_has_all_defaults),
        TEST_HERE(the_examples_of_the_sample_are_valid),
        TEST_HERE(the_minimal_configuration_is_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
