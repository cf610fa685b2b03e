/*
 * test_auth_exec.c - credentials from an exec plugin: when it is run, its environment, and what
 * happens to its output. The tests play the plugin (fake_spawner.h).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "certs.h"
#include "fake_spawner.h"
#include "kube/auth/auth.h"
#include "kube/auth/tls_reloader.h"
#include "kube/config/kubeconfig.h"
#include "pipe_stream.h"
#include "sim.h"

#define V1              "client.authentication.k8s.io/v1"
#define CREDENTIAL(x)   "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":{" x "}}"
#define TOKEN(t)        CREDENTIAL("\"token\":\"" t "\"")
#define UNTIL(t, until) CREDENTIAL("\"token\":\"" t "\",\"expirationTimestamp\":\"" until "\"")
#define RUN_MANUALLY    "; it wrote nothing to stderr; run it manually to find the cause"
#define READ_STDERR     "; its stderr is logged at level debug (watch -v)"
#define INSTALL         "; check that it is installed and that this process can find and execute it"

enum {
    STDERR_MAX = 4096, /* bytes of stderr that are kept */
};

struct world {
    struct log log; /* first */
    struct buf logged;
    struct sim sim;
    struct pipe_dialer pipes;
    struct fake_spawner plugin;
    struct kubeconfig config;
    struct tls_reloader tls;
    struct auth *auth;
};

static void world_on_log(struct log *log, enum log_level level, const char *line)
{
    struct world *w = container_of(log, struct world, log);
    buf_printf(&w->logged, "%s%s\n", level == LOG_WARN ? "" : "debug: ", line);
}

static int make_world(void **state)
{
    struct world *w = NEW(struct world);
    struct exec_plugin *exec = NEW(struct exec_plugin);
    struct inf_error err;
    w->log = (struct log){.level = LOG_DEBUG, .emit = world_on_log};
    exec->api_version = xstrdup(V1);
    exec->name = xstrdup("get-token");
    exec->argv = xcalloc(3, sizeof(char *));
    exec->argv[0] = xstrdup("get-token");
    exec->argv[1] = xstrdup("--now");
    exec->env = xcalloc(2, sizeof(char *));
    exec->env[0] = xstrdup("REGION=eu");
    exec->install_hint = xstrdup("apt install get-token --password hunter2");
    w->config = (struct kubeconfig){.exec = exec,
                                    .insecure = true,
                                    .server = xstrdup("https://h:6443/k8s"),
                                    .origin = xstrdup("config"),
                                    .context = xstrdup("c")};
    sim_init(&w->sim);
    pipe_dialer_init(&w->pipes, &w->sim);
    fake_spawner_init(&w->plugin);
    assert_int_equal(tls_reloader_open(&w->tls, &w->config, NULL, &err), 0);
    tls_reloader_start(&w->tls, &w->sim.clock, &w->pipes.dialer);
    w->auth = auth_new(&(struct auth_settings){.clock = &w->sim.clock,
                                               .log = &w->log,
                                               .config = &w->config,
                                               .spawner = &w->plugin.spawner,
                                               .tls = &w->tls});
    *state = w;
    return 0;
}

static int drop_world(void **state)
{
    struct world *w = *state;
    auth_free(w->auth);
    tls_reloader_stop(&w->tls);
    tls_reloader_close(&w->tls);
    fake_spawner_done(&w->plugin);
    sim_done(&w->sim);
    pipe_dialer_done(&w->pipes);
    kubeconfig_free(&w->config);
    buf_free(&w->logged);
    free(w);
    return 0;
}

/* A request that needs headers. */
struct requester {
    struct auth_waiter waiter;
    struct auth *auth;
    struct inf_error err;
    struct auth_headers headers;
    int rc;
};

static void requester_on_ready(struct auth_waiter *waiter, const struct inf_error *why)
{
    struct requester *a = container_of(waiter, struct requester, waiter);
    if (why)
        a->err = *why;
    a->rc = why ? -why->code : auth_get(a->auth, &a->waiter, &a->headers, &a->err);
}

static int request_headers(struct world *w, struct requester *a)
{
    *a = (struct requester){.waiter = {.on_ready = requester_on_ready}, .auth = w->auth};
    a->rc = auth_get(w->auth, &a->waiter, &a->headers, &a->err);
    return a->rc;
}

static void assert_token(const struct requester *a, const char *token)
{
    assert_int_equal(a->rc, 0);
    assert_int_equal(a->headers.count, 1);
    assert_string_equal(a->headers.list[0].name, "Authorization");
    assert_string_equal(a->headers.list[0].value, token);
}

static void waiters_get_the_credentials_of_a_changed_config(void **state)
{
    struct world *w = *state;
    struct kubeconfig token = {.token = (char[]){"t"}};
    struct requester a;
    assert_int_equal(request_headers(w, &a), AUTH_LATER);
    auth_change(w->auth, &token, &w->tls, NULL);
    assert_token(&a, "Bearer t");
    auth_change(w->auth, &w->config, &w->tls, NULL);
    assert_int_equal(request_headers(w, &a),
                     AUTH_LATER); /* a new method: no pause after the last run */
    assert_int_equal(w->plugin.runs, 2);
    auth_stop_waiting(&a.waiter);
}

static void runs_the_plugin_once_for_all_waiters(void **state)
{
    struct world *w = *state;
    struct requester a, b, gone;
    assert_int_equal(request_headers(w, &a), AUTH_LATER);
    assert_int_equal(request_headers(w, &b), AUTH_LATER);
    assert_int_equal(request_headers(w, &gone), AUTH_LATER);
    auth_stop_waiting(&gone.waiter);
    auth_stop_waiting(&gone.waiter);
    assert_int_equal(w->plugin.runs, 1);
    assert_string_equal(w->plugin.argv.bytes, "get-token --now");
    assert_int_equal(w->plugin.timeout_ms, 60000);
    assert_int_equal(w->plugin.output_max, 256 * 1024);
    fake_spawner_exit(&w->plugin, TOKEN("one"));
    assert_token(&a, "Bearer one");
    assert_token(&b, "Bearer one");
    assert_int_equal(gone.rc, AUTH_LATER);
    sim_advance(&w->sim, 1000u * 86400 * 365);
    assert_int_equal(request_headers(w, &a), 0); /* never expires */
    assert_int_equal(w->plugin.runs, 1);
}

static void passes_exec_info_to_the_plugin(void **state)
{
    struct world *w = *state;
    struct requester a;
    request_headers(w, &a);
    assert_string_equal(w->plugin.env.bytes,
                        "REGION=eu\nKUBERNETES_EXEC_INFO={\"kind\":\"ExecCredential\","
                        "\"apiVersion\":\"" V1 "\",\"spec\":{\"interactive\":false}}\n");
    fake_spawner_exit(&w->plugin, TOKEN("one"));
}

static void passes_the_cluster_if_provide_cluster_info_is_set(void **state)
{
    struct world *w = *state;
    struct requester a;
    w->config.exec->cluster_info = true;
    request_headers(w, &a);
    assert_non_null(strstr(w->plugin.env.bytes,
                           "\"spec\":{\"interactive\":false,\"cluster\":{\"server\":"
                           "\"https://h:6443/k8s\",\"insecure-skip-tls-verify\":true,"
                           "\"config\":null}}}\n"));
    fake_spawner_exit(&w->plugin, UNTIL("one", "2026-01-01T00:00:10Z"));
    w->config.insecure = false;
    w->config.ca_pem = xstrdup("the ca\n");
    w->config.tls_server_name = xstrdup("k\"8s");
    w->config.proxy_url = xstrdup("http://p:3128");
    w->config.no_compression = true;
    w->config.exec_extension = xstrdup("{\"a\":1}");
    sim_advance(&w->sim, 10000);
    request_headers(w, &a);
    assert_non_null(
        strstr(w->plugin.env.bytes,
               "\"cluster\":{\"server\":\"https://h:6443/k8s\",\"tls-server-name\":\"k\\\"8s\","
               "\"certificate-authority-data\":\"dGhlIGNhCg==\","
               "\"proxy-url\":\"http://p:3128\",\"disable-compression\":true,"
               "\"config\":{\"a\":1}}}}\n"));
    fake_spawner_exit(&w->plugin, TOKEN("two"));
}

static void runs_the_plugin_again_when_its_credential_expires(void **state)
{
    struct world *w = *state;
    struct requester a;
    request_headers(w, &a);
    fake_spawner_exit(&w->plugin, UNTIL("one", "2026-01-01T00:01:00Z")); /* in a minute */
    sim_advance(&w->sim, 59999);
    assert_int_equal(request_headers(w, &a), 0);
    sim_advance(&w->sim, 1);
    assert_int_equal(request_headers(w, &a), AUTH_LATER);
    fake_spawner_exit(&w->plugin, UNTIL("two", "2026-01-01T01:00:00Z"));
    assert_token(&a, "Bearer two");
    assert_int_equal(w->plugin.runs, 2);
}

/* Otherwise a plugin with a wrong clock would run in a tight loop. */
static void uses_an_already_expired_credential_for_five_seconds(void **state)
{
    struct world *w = *state;
    struct requester a;
    request_headers(w, &a);
    fake_spawner_exit(&w->plugin, UNTIL("one", "1999-01-01T00:00:00Z"));
    assert_token(&a, "Bearer one");
    sim_advance(&w->sim, 4999);
    assert_int_equal(request_headers(w, &a), 0);
    sim_advance(&w->sim, 1);
    assert_int_equal(request_headers(w, &a), AUTH_LATER);
    fake_spawner_exit(&w->plugin, TOKEN("two"));
}

static void runs_the_plugin_again_when_its_credential_is_rejected(void **state)
{
    struct world *w = *state;
    struct requester a, b;
    request_headers(w, &a);
    fake_spawner_exit(&w->plugin, TOKEN("one"));
    assert_false(
        auth_refused(w->auth, a.headers.generation)); /* pausing: a run would return the same */
    sim_advance(&w->sim, 5000);
    assert_true(auth_refused(w->auth, a.headers.generation));
    assert_int_equal(w->plugin.runs, 1); /* runs at the next request */
    assert_int_equal(request_headers(w, &b), AUTH_LATER);
    assert_true(auth_refused(w->auth, a.headers.generation)); /* the plugin is running */
    fake_spawner_exit(&w->plugin, TOKEN("two"));
    assert_token(&b, "Bearer two");
    assert_true(auth_refused(w->auth, a.headers.generation)); /* a late response */
    assert_int_equal(request_headers(w, &b), 0);
    assert_int_equal(w->plugin.runs, 2);
}

static void reports_a_failed_run_to_all_waiters_and_pauses(void **state)
{
    const struct {
        struct child_end end;
        const char *text;
    } cases[] = {
        {{.fate = CHILD_EXITED, .code = 3, .how = "exit code 3", .output = STR("s3cr3t")},
         "exec plugin 'get-token': exit code 3" RUN_MANUALLY},
        {{.fate = CHILD_TIMED_OUT, .how = "not done after 60s", .output = STR("s3cr3t")},
         "exec plugin 'get-token': not done after 60s" RUN_MANUALLY},
        {{.fate = CHILD_TOO_MUCH, .how = "too much", .output = STR("s3cr3t")},
         "exec plugin 'get-token': too much" RUN_MANUALLY},
        {{.fate = CHILD_EXITED, .output = STR("s3cr3t")},
         "exec plugin 'get-token': invalid ExecCredential: not a JSON object"},
        {{.fate = CHILD_EXITED,
          .output =
              STR(CREDENTIAL("\"clientCertificateData\":\"s3cr3t\",\"clientKeyData\":\"x\""))},
         "exec plugin 'get-token': client-certificate: no certificate in PEM format found"},
    };
    struct world *w = *state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct requester a, b;
        assert_int_equal(request_headers(w, &a), AUTH_LATER);
        fake_spawner_end(&w->plugin, &cases[i].end);
        assert_int_equal(a.rc, -INF_EUNAUTHORIZED);
        assert_string_equal(a.err.text, cases[i].text);
        sim_advance(&w->sim, 4999);
        assert_int_equal(request_headers(w, &b), -INF_EUNAUTHORIZED);
        assert_string_equal(b.err.text, cases[i].text);
        assert_int_equal(w->plugin.runs, i + 1);
        sim_advance(&w->sim, 1);
    }
    assert_int_equal(w->logged.len, 0);
}

/* The error does not contain it, and parts that may be a token are not logged either. */
static void logs_the_end_of_stderr_at_level_debug(void **state)
{
    const struct child_end end = {.fate = CHILD_EXITED,
                                  .code = 1,
                                  .how = "exit code 1",
                                  .output = STR("s3cr3t"),
                                  .errors =
                                      STR("1\n2\n3\n4\n5\n6\n7\n8\n\033[31msession expired\r\n\n"
                                          "old: eyJhbGciOiJS.s3cr3t-s3cr3t-s3cr3t.x\nrun 'login'")};
    struct world *w = *state;
    struct requester a;
    request_headers(w, &a);
    fake_spawner_end(&w->plugin, &end);
    assert_string_equal(a.err.text, "exec plugin 'get-token': exit code 1" READ_STDERR);
    buf_putc(&w->logged, '\0');
    assert_null(strstr(w->logged.bytes, " stderr: 1\n")); /* only the last ten lines */
    assert_string_equal(strstr(w->logged.bytes, "debug: exec plugin 'get-token' stderr: 8\n"),
                        "debug: exec plugin 'get-token' stderr: 8\n"
                        "debug: exec plugin 'get-token' stderr: \\u001b[31msession expired\n"
                        "debug: exec plugin 'get-token' stderr: old: [...]\n"
                        "debug: exec plugin 'get-token' stderr: run 'login'\n");
}

/* Runs the plugin; it fails and @errors is written to its stderr, of which the end is kept. */
static void fail_with_stderr(struct world *w, const struct buf *errors)
{
    struct requester a;
    request_headers(w, &a);
    assert_int_equal(w->plugin.errors_max, STDERR_MAX);
    fake_spawner_end(
        &w->plugin,
        &(struct child_end){.fate = CHILD_EXITED,
                            .code = 1,
                            .how = "exit code 1",
                            .errors = {errors->bytes + errors->len - STDERR_MAX, STDERR_MAX}});
}

/* Secrets may contain slashes, and need not contain digits. */
static void logs_no_secret_from_stderr(void **state)
{
    static const char *const secrets[] = {"hunter", "K7MDENG", "EXAMPLEKEY", "qrst"};
    struct world *w = *state;
    struct buf errors = {0};
    while (errors.len < STDERR_MAX)
        buf_puts(&errors, "password: hunter hunter hunter hunter hunter hunter\n");
    buf_puts(&errors, "key wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY refused\n"
                      "letters abcdEFGHijklMNOP/qrstUVWXyzabCDEF\n");
    fail_with_stderr(w, &errors);
    buf_putc(&w->logged, '\0');
    for (size_t i = 0; i < ARRAY_LEN(secrets); i++)
        assert_null(strstr(w->logged.bytes, secrets[i]));
    assert_non_null(strstr(w->logged.bytes, "stderr: key [...] refused\n"));
    buf_clear(&w->logged);
    buf_clear(&errors);
    buf_puts(&errors, "hunter\n"); /* a line whose beginning was dropped is not logged */
    while (errors.len < STDERR_MAX)
        buf_puts(&errors, "\n");
    sim_advance(&w->sim, 5000);
    fail_with_stderr(w, &errors);
    assert_int_equal(w->logged.len, 0);
    buf_free(&errors);
}

static void logs_the_install_hint_at_most_ten_times_an_hour(void **state)
{
    struct world *w = *state;
    struct requester a;
    size_t line = strlen("exec plugin 'get-token' not found; install hint: apt install "
                         "get-token --password [...]\n");
    for (int i = 0; i < 12; i++) {
        request_headers(w, &a);
        fake_spawner_end(
            &w->plugin,
            &(struct child_end){.fate = CHILD_UNSTARTED, .code = ENOENT, .how = "No such file"});
        assert_string_equal(a.err.text, "exec plugin 'get-token': No such file" INSTALL);
        sim_advance(&w->sim, 5000);
    }
    assert_int_equal(w->logged.len, 10 * line);
    sim_advance(&w->sim, 3600 * 1000);
    request_headers(w, &a);
    fake_spawner_end(&w->plugin,
                     &(struct child_end){.fate = CHILD_UNSTARTED, .code = ENOENT, .how = "x"});
    assert_int_equal(w->logged.len, 11 * line);
}

/* The members of status as JSON, with escaped line ends. */
static char *cert_status(const struct cert *cert)
{
    struct buf out = {0};
    const char *const parts[] = {cert->pem, cert->key_pem};
    for (int i = 0; i < 2; i++) {
        buf_puts(&out, i ? "\",\"clientKeyData\":\"" : "\"clientCertificateData\":\"");
        for (const char *at = parts[i]; *at; at++)
            *at == '\n' ? buf_puts(&out, "\\n") : buf_putc(&out, *at);
    }
    buf_puts(&out, "\"}}");
    buf_putc(&out, '\0');
    return out.bytes;
}

static void presents_a_certificate_instead_of_a_token(void **state)
{
    struct cert *cert = cert_make(&(struct cert_spec){.cn = "robot"});
    char *status = cert_status(cert);
    char *credential =
        xasprintf("{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":{"
                  "\"expirationTimestamp\":\"2026-01-01T00:01:00Z\",%s",
                  status);
    struct world *w = *state;
    struct tls_context *before = w->tls.context;
    struct requester a;
    request_headers(w, &a);
    fake_spawner_exit(&w->plugin, credential);
    assert_int_equal(a.rc, 0);
    assert_int_equal(a.headers.count, 0);
    assert_string_equal(w->tls.cert_pem, cert->pem);
    assert_ptr_not_equal(w->tls.context, before);
    sim_advance(&w->sim, 60000);
    request_headers(w, &a);
    fake_spawner_exit(&w->plugin, TOKEN("one")); /* a token this time */
    assert_token(&a, "Bearer one");
    assert_null(w->tls.cert_pem);
    sim_run(&w->sim);
    free(credential);
    free(status);
    cert_free(cert);
}

static void can_be_freed_while_the_plugin_runs(void **state)
{
    struct world *w = *state;
    struct requester a;
    request_headers(w, &a);
    auth_stop_waiting(&a.waiter);
    auth_free(w->auth);
    w->auth = NULL;
    assert_null(w->plugin.running);
}

int main(void)
{
#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, drop_world)
    const struct CMUnitTest tests[] = {
        WITH_WORLD(waiters_get_the_credentials_of_a_changed_config),
        WITH_WORLD(runs_the_plugin_once_for_all_waiters),
        WITH_WORLD(passes_exec_info_to_the_plugin),
        WITH_WORLD(passes_the_cluster_if_provide_cluster_info_is_set),
        WITH_WORLD(runs_the_plugin_again_when_its_credential_expires),
        WITH_WORLD(uses_an_already_expired_credential_for_five_seconds),
        WITH_WORLD(runs_the_plugin_again_when_its_credential_is_rejected),
        WITH_WORLD(reports_a_failed_run_to_all_waiters_and_pauses),
        WITH_WORLD(logs_the_end_of_stderr_at_level_debug),
        WITH_WORLD(logs_no_secret_from_stderr),
        WITH_WORLD(logs_the_install_hint_at_most_ten_times_an_hour),
        WITH_WORLD(presents_a_certificate_instead_of_a_token),
        WITH_WORLD(can_be_freed_while_the_plugin_runs),
    };
    return cmocka_run_group_tests_name("auth_exec", tests, NULL, NULL);
}
