/*
 * test_auth_exec.c - credentials from a program: when it is run, what it is told, what becomes of
 * what it says. The program is the test.
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
#include "kube/auth/auth_exec.h"
#include "kube/auth/exec_stderr.h"
#include "kube/auth/tls_reloader.h"
#include "kube/config/kubeconfig.h"
#include "pipe_stream.h"
#include "sim.h"

#define V1              "client.authentication.k8s.io/v1"
#define SAYS(x)         "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":{" x "}}"
#define TOKEN(t)        SAYS("\"token\":\"" t "\"")
#define UNTIL(t, until) SAYS("\"token\":\"" t "\",\"expirationTimestamp\":\"" until "\"")
#define BY_HAND         "; it wrote nothing to stderr; run it manually to find the cause"
#define SAYS_WHY        "; its stderr is logged at level debug (watch -v)"
#define INSTALL         "; check that it is installed and that this process can find and execute it"

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

/* One who needs headers. */
struct asker {
    struct auth_waiter waiter;
    struct auth *auth;
    struct inf_error err;
    struct auth_headers headers;
    int rc;
};

static void asker_on_ready(struct auth_waiter *waiter, const struct inf_error *why)
{
    struct asker *a = container_of(waiter, struct asker, waiter);
    if (why)
        a->err = *why;
    a->rc = why ? -why->code : auth_get(a->auth, &a->waiter, &a->headers, &a->err);
}

static int ask(struct world *w, struct asker *a)
{
    *a = (struct asker){.waiter = {.on_ready = asker_on_ready}, .auth = w->auth};
    a->rc = auth_get(w->auth, &a->waiter, &a->headers, &a->err);
    return a->rc;
}

static void assert_token(const struct asker *a, const char *token)
{
    assert_int_equal(a->rc, 0);
    assert_int_equal(a->headers.count, 1);
    assert_string_equal(a->headers.list[0].name, "Authorization");
    assert_string_equal(a->headers.list[0].value, token);
}

static void who_waits_gets_the_credentials_that_replace_it(void **state)
{
    struct world *w = *state;
    struct kubeconfig token = {.token = (char[]){"t"}};
    struct asker a;
    assert_int_equal(ask(w, &a), AUTH_LATER);
    auth_change(w->auth, &token, &w->tls, NULL);
    assert_token(&a, "Bearer t");
    auth_change(w->auth, &w->config, &w->tls, NULL);
    assert_int_equal(ask(w, &a), AUTH_LATER); /* another run, though the last one is not long ago */
    assert_int_equal(w->plugin.runs, 2);
    auth_stop_waiting(&a.waiter);
}

static void it_is_run_once_for_all_who_wait(void **state)
{
    struct world *w = *state;
    struct asker a, b, gone;
    assert_int_equal(ask(w, &a), AUTH_LATER);
    assert_int_equal(ask(w, &b), AUTH_LATER);
    assert_int_equal(ask(w, &gone), AUTH_LATER);
    auth_stop_waiting(&gone.waiter);
    auth_stop_waiting(&gone.waiter);
    assert_int_equal(w->plugin.runs, 1);
    assert_string_equal(w->plugin.words.bytes, "get-token --now");
    assert_int_equal(w->plugin.timeout_ms, 60000);
    assert_int_equal(w->plugin.output_max, 256 * 1024);
    fake_spawner_says(&w->plugin, TOKEN("one"));
    assert_token(&a, "Bearer one");
    assert_token(&b, "Bearer one");
    assert_int_equal(gone.rc, AUTH_LATER);
    sim_advance(&w->sim, 1000u * 86400 * 365);
    assert_int_equal(ask(w, &a), 0); /* without expiry, for ever */
    assert_int_equal(w->plugin.runs, 1);
}

static void it_is_told_who_asks(void **state)
{
    struct world *w = *state;
    struct asker a;
    ask(w, &a);
    assert_string_equal(w->plugin.env.bytes,
                        "REGION=eu\nKUBERNETES_EXEC_INFO={\"kind\":\"ExecCredential\","
                        "\"apiVersion\":\"" V1 "\",\"spec\":{\"interactive\":false}}\n");
    fake_spawner_says(&w->plugin, TOKEN("one"));
}

static void and_for_which_cluster_if_it_wants_to_know(void **state)
{
    struct world *w = *state;
    struct asker a;
    w->config.exec->cluster_info = true;
    ask(w, &a);
    assert_non_null(strstr(w->plugin.env.bytes,
                           "\"spec\":{\"interactive\":false,\"cluster\":{\"server\":"
                           "\"https://h:6443/k8s\",\"insecure-skip-tls-verify\":true,"
                           "\"config\":null}}}\n"));
    fake_spawner_says(&w->plugin, UNTIL("one", "2026-01-01T00:00:10Z"));
    w->config.insecure = false;
    w->config.ca_pem = xstrdup("the ca\n");
    w->config.tls_server_name = xstrdup("k\"8s");
    w->config.proxy_url = xstrdup("http://p:3128");
    w->config.no_compression = true;
    w->config.exec_extension = xstrdup("{\"a\":1}");
    sim_advance(&w->sim, 10000);
    ask(w, &a);
    assert_non_null(
        strstr(w->plugin.env.bytes,
               "\"cluster\":{\"server\":\"https://h:6443/k8s\",\"tls-server-name\":\"k\\\"8s\","
               "\"certificate-authority-data\":\"dGhlIGNhCg==\","
               "\"proxy-url\":\"http://p:3128\",\"disable-compression\":true,"
               "\"config\":{\"a\":1}}}}\n"));
    fake_spawner_says(&w->plugin, TOKEN("two"));
}

static void it_is_run_again_when_its_credential_expires(void **state)
{
    struct world *w = *state;
    struct asker a;
    ask(w, &a);
    fake_spawner_says(&w->plugin, UNTIL("one", "2026-01-01T00:01:00Z")); /* in a minute */
    sim_advance(&w->sim, 59999);
    assert_int_equal(ask(w, &a), 0);
    sim_advance(&w->sim, 1);
    assert_int_equal(ask(w, &a), AUTH_LATER);
    fake_spawner_says(&w->plugin, UNTIL("two", "2026-01-01T01:00:00Z"));
    assert_token(&a, "Bearer two");
    assert_int_equal(w->plugin.runs, 2);
}

/* A plugin with a wrong clock would be run without a pause otherwise. */
static void what_has_expired_already_is_used_for_a_moment(void **state)
{
    struct world *w = *state;
    struct asker a;
    ask(w, &a);
    fake_spawner_says(&w->plugin, UNTIL("one", "1999-01-01T00:00:00Z"));
    assert_token(&a, "Bearer one");
    sim_advance(&w->sim, 4999);
    assert_int_equal(ask(w, &a), 0);
    sim_advance(&w->sim, 1);
    assert_int_equal(ask(w, &a), AUTH_LATER);
    fake_spawner_says(&w->plugin, TOKEN("two"));
}

static void it_is_run_again_when_its_credential_is_refused(void **state)
{
    struct world *w = *state;
    struct asker a, b;
    ask(w, &a);
    fake_spawner_says(&w->plugin, TOKEN("one"));
    assert_false(auth_refused(w->auth, a.headers.generation)); /* it would say the same */
    sim_advance(&w->sim, 5000);
    assert_true(auth_refused(w->auth, a.headers.generation));
    assert_int_equal(w->plugin.runs, 1); /* for who asks */
    assert_int_equal(ask(w, &b), AUTH_LATER);
    assert_true(auth_refused(w->auth, a.headers.generation)); /* another one: it is on its way */
    fake_spawner_says(&w->plugin, TOKEN("two"));
    assert_token(&b, "Bearer two");
    assert_true(auth_refused(w->auth, a.headers.generation)); /* and one that is late */
    assert_int_equal(ask(w, &b), 0);
    assert_int_equal(w->plugin.runs, 2);
}

static void a_failure_is_told_to_all_and_rests(void **state)
{
    const struct {
        struct child_end end;
        const char *text;
    } cases[] = {
        {{.fate = CHILD_EXITED, .code = 3, .how = "exit code 3", .output = STR("s3cr3t")},
         "exec plugin 'get-token': exit code 3" BY_HAND},
        {{.fate = CHILD_TIMED_OUT, .how = "not done after 60s", .output = STR("s3cr3t")},
         "exec plugin 'get-token': not done after 60s" BY_HAND},
        {{.fate = CHILD_TOO_MUCH, .how = "too much", .output = STR("s3cr3t")},
         "exec plugin 'get-token': too much" BY_HAND},
        {{.fate = CHILD_EXITED, .output = STR("s3cr3t")},
         "exec plugin 'get-token': invalid ExecCredential: not a JSON object"},
        {{.fate = CHILD_EXITED,
          .output = STR(SAYS("\"clientCertificateData\":\"s3cr3t\",\"clientKeyData\":\"x\""))},
         "exec plugin 'get-token': client-certificate: no certificate in PEM format found"},
    };
    struct world *w = *state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct asker a, b;
        assert_int_equal(ask(w, &a), AUTH_LATER);
        fake_spawner_end(&w->plugin, &cases[i].end);
        assert_int_equal(a.rc, -INF_EUNAUTHORIZED);
        assert_string_equal(a.err.text, cases[i].text);
        sim_advance(&w->sim, 4999);
        assert_int_equal(ask(w, &b), -INF_EUNAUTHORIZED);
        assert_string_equal(b.err.text, cases[i].text);
        assert_int_equal(w->plugin.runs, i + 1);
        sim_advance(&w->sim, 1);
    }
    assert_int_equal(w->logged.len, 0);
}

/* Not in the error, which is told to anybody, and not what may be a token. */
static void its_reasons_are_for_who_wants_details(void **state)
{
    const struct child_end end = {.fate = CHILD_EXITED,
                                  .code = 1,
                                  .how = "exit code 1",
                                  .output = STR("s3cr3t"),
                                  .errors =
                                      STR("1\n2\n3\n4\n5\n6\n7\n8\n\033[31msession expired\r\n\n"
                                          "old: eyJhbGciOiJS.s3cr3t-s3cr3t-s3cr3t.x\nrun 'login'")};
    struct world *w = *state;
    struct asker a;
    ask(w, &a);
    fake_spawner_end(&w->plugin, &end);
    assert_string_equal(a.err.text, "exec plugin 'get-token': exit code 1" SAYS_WHY);
    buf_putc(&w->logged, '\0');
    assert_null(strstr(w->logged.bytes, " stderr: 1\n")); /* ten lines are enough */
    assert_string_equal(strstr(w->logged.bytes, "debug: exec plugin 'get-token' stderr: 8\n"),
                        "debug: exec plugin 'get-token' stderr: 8\n"
                        "debug: exec plugin 'get-token' stderr: \\u001b[31msession expired\n"
                        "debug: exec plugin 'get-token' stderr: old: [...]\n"
                        "debug: exec plugin 'get-token' stderr: run 'login'\n");
}

/* In any form: a slash ends no secret, and one without digits is one too. */
static void no_secret_of_its_reasons_is_logged(void **state)
{
    struct world *w = *state;
    struct buf errors = {0};
    struct asker a;
    while (errors.len < EXEC_STDERR_MAX)
        buf_puts(&errors, "password: hunter hunter hunter hunter hunter hunter\n");
    buf_puts(&errors, "key wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY refused\n"
                      "letters abcdEFGHijklMNOP/qrstUVWXyzabCDEF\n");
    ask(w, &a);
    fake_spawner_end(&w->plugin,
                     &(struct child_end){
                         .fate = CHILD_EXITED,
                         .code = 1,
                         .how = "exit code 1",
                         .errors = {errors.bytes + errors.len - EXEC_STDERR_MAX, EXEC_STDERR_MAX}});
    buf_putc(&w->logged, '\0');
    assert_null(strstr(w->logged.bytes, "hunter"));
    assert_null(strstr(w->logged.bytes, "K7MDENG"));
    assert_null(strstr(w->logged.bytes, "EXAMPLEKEY"));
    assert_null(strstr(w->logged.bytes, "qrst"));
    assert_non_null(strstr(w->logged.bytes, "stderr: key [...] refused\n"));
    buf_clear(&w->logged);
    buf_clear(&errors);
    buf_puts(&errors, "hunter\n"); /* and of a line whose beginning is lost, nothing */
    while (errors.len < EXEC_STDERR_MAX)
        buf_puts(&errors, "\n");
    sim_advance(&w->sim, 5000);
    ask(w, &a);
    fake_spawner_end(&w->plugin, &(struct child_end){.fate = CHILD_EXITED,
                                                     .code = 1,
                                                     .how = "exit code 1",
                                                     .errors = {errors.bytes, EXEC_STDERR_MAX}});
    assert_int_equal(w->logged.len, 0);
    buf_free(&errors);
}

static void a_missing_program_is_hinted_at_ten_times_an_hour(void **state)
{
    struct world *w = *state;
    struct asker a;
    size_t line = strlen("exec plugin 'get-token' not found; install hint: apt install "
                         "get-token --password [...]\n");
    for (int i = 0; i < 12; i++) {
        ask(w, &a);
        fake_spawner_end(
            &w->plugin,
            &(struct child_end){.fate = CHILD_UNSTARTED, .code = ENOENT, .how = "No such file"});
        assert_string_equal(a.err.text, "exec plugin 'get-token': No such file" INSTALL);
        sim_advance(&w->sim, 5000);
    }
    assert_int_equal(w->logged.len, 10 * line);
    sim_advance(&w->sim, 3600 * 1000);
    ask(w, &a);
    fake_spawner_end(&w->plugin,
                     &(struct child_end){.fate = CHILD_UNSTARTED, .code = ENOENT, .how = "x"});
    assert_int_equal(w->logged.len, 11 * line);
}

/* With its line ends written out, as it is in JSON. */
static char *says_cert(const struct cert *cert)
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

static void a_certificate_is_shown_instead_of_a_token(void **state)
{
    struct cert *cert = cert_make(&(struct cert_spec){.cn = "robot"});
    char *status = says_cert(cert);
    char *says = xasprintf("{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":{"
                           "\"expirationTimestamp\":\"2026-01-01T00:01:00Z\",%s",
                           status);
    struct world *w = *state;
    struct tls_context *before = w->tls.context;
    struct asker a;
    ask(w, &a);
    fake_spawner_says(&w->plugin, says);
    assert_int_equal(a.rc, 0);
    assert_int_equal(a.headers.count, 0);
    assert_string_equal(w->tls.cert_pem, cert->pem);
    assert_ptr_not_equal(w->tls.context, before);
    sim_advance(&w->sim, 60000);
    ask(w, &a);
    fake_spawner_says(&w->plugin, TOKEN("one")); /* it has changed its mind */
    assert_token(&a, "Bearer one");
    assert_null(w->tls.cert_pem);
    sim_run(&w->sim);
    free(says);
    free(status);
    cert_free(cert);
}

static void it_may_be_closed_while_it_runs(void **state)
{
    struct world *w = *state;
    struct asker a;
    ask(w, &a);
    auth_stop_waiting(&a.waiter);
    auth_free(w->auth);
    w->auth = NULL;
    assert_null(w->plugin.running);
}

int main(void)
{
#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, drop_world)
    const struct CMUnitTest tests[] = {
        WITH_WORLD(who_waits_gets_the_credentials_that_replace_it),
        WITH_WORLD(it_is_run_once_for_all_who_wait),
        WITH_WORLD(it_is_told_who_asks),
        WITH_WORLD(and_for_which_cluster_if_it_wants_to_know),
        WITH_WORLD(it_is_run_again_when_its_credential_expires),
        WITH_WORLD(what_has_expired_already_is_used_for_a_moment),
        WITH_WORLD(it_is_run_again_when_its_credential_is_refused),
        WITH_WORLD(a_failure_is_told_to_all_and_rests),
        WITH_WORLD(its_reasons_are_for_who_wants_details),
        WITH_WORLD(no_secret_of_its_reasons_is_logged),
        WITH_WORLD(a_missing_program_is_hinted_at_ten_times_an_hour),
        WITH_WORLD(a_certificate_is_shown_instead_of_a_token),
        WITH_WORLD(it_may_be_closed_while_it_runs),
    };
    return cmocka_run_group_tests_name("auth_exec", tests, NULL, NULL);
}
