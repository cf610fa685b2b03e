/*
 * test_auth.c - the authentication headers for a token, a password and a token file, and that
 * credentials never appear in messages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "kube/auth/auth.h"
#include "kube/config/kubeconfig.h"
#include "sim.h"

#define TEXT(literal) ((char[]){literal}) /* writable, like the strings of a kubeconfig */

/* A directory for the file "token", a simulated clock, and the log. */
struct place {
    struct log log; /* first */
    char dir[32];
    char *path;
    struct sim sim;
    struct buf logged;
    struct kubeconfig config;
    struct auth *auth;
};

static void place_on_log(struct log *log, enum log_level level, const char *line)
{
    struct place *p = container_of(log, struct place, log);
    assert_int_equal(level, LOG_WARN);
    buf_printf(&p->logged, "%s\n", line);
}

static int make_place(void **state)
{
    struct place *p = NEW(struct place);
    strcpy(p->dir, "/tmp/test_auth.XXXXXX");
    if (!mkdtemp(p->dir))
        return -1;
    p->path = xasprintf("%s/token", p->dir);
    p->log = (struct log){.level = LOG_DEBUG, .emit = place_on_log};
    sim_init(&p->sim);
    *state = p;
    return 0;
}

static int drop_place(void **state)
{
    struct place *p = *state;
    unlink(p->path);
    rmdir(p->dir);
    sim_done(&p->sim);
    buf_free(&p->logged);
    free(p->path);
    free(p);
    return 0;
}

static void put_file(const struct place *p, struct str text)
{
    FILE *f = fopen(p->path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text.at, 1, text.len, f), text.len);
    assert_int_equal(fclose(f), 0);
}

static struct auth *auth_open(struct place *p, struct kubeconfig config)
{
    p->config = config;
    p->auth = auth_new(
        &(struct auth_settings){.clock = &p->sim.clock, .log = &p->log, .config = &p->config});
    return p->auth;
}

static void auth_done(struct place *p)
{
    auth_free(p->auth);
    p->auth = NULL;
}

/* Expects exactly this header and returns its generation. */
static uint64_t assert_header(struct place *p, const char *expected)
{
    struct auth_headers headers;
    struct inf_error err;
    assert_int_equal(auth_get(p->auth, NULL, &headers, &err), 0);
    assert_int_equal(headers.count, 1);
    assert_string_equal(headers.list[0].name, "Authorization");
    assert_string_equal(headers.list[0].value, expected);
    return headers.generation;
}

/* Expects -INF_EIO and a message with the path and @part, but not the contents. */
static void assert_no_header(struct place *p, const char *part)
{
    struct auth_headers headers;
    struct inf_error err;
    auth_open(p, (struct kubeconfig){.token_file = p->path});
    assert_int_equal(auth_get(p->auth, NULL, &headers, &err), -INF_EIO);
    assert_int_equal(err.code, INF_EIO);
    assert_non_null(strstr(err.text, p->path));
    assert_non_null(strstr(err.text, part));
    assert_null(strstr(err.text, "s3cr3t"));
    auth_done(p);
}

static void assert_logged(struct place *p, const char *expected)
{
    buf_putc(&p->logged, '\0');
    assert_string_equal(p->logged.bytes, expected);
    buf_clear(&p->logged);
}

static void no_credentials_mean_no_headers(void **state)
{
    struct place *p = *state;
    struct auth_headers headers;
    struct inf_error err;
    assert_int_equal(auth_get(NULL, NULL, &headers, &err), 0);
    assert_int_equal(headers.count, 0);
    assert_false(auth_refused(NULL, 0));
    auth_open(p, (struct kubeconfig){.token = NULL});
    assert_int_equal(auth_get(p->auth, NULL, &headers, &err), 0);
    assert_int_equal(headers.count, 0);
    assert_false(auth_refused(p->auth, headers.generation));
    auth_done(p);
}

static void sends_a_token_as_bearer(void **state)
{
    struct place *p = *state;
    uint64_t generation;
    auth_open(p, (struct kubeconfig){.token = TEXT("s3cr3t")});
    generation = assert_header(p, "Bearer s3cr3t");
    assert_false(auth_refused(p->auth, generation));
    auth_done(p);
}

static void sends_a_password_as_basic(void **state)
{
    struct place *p = *state;
    auth_open(p, (struct kubeconfig){.basic = TEXT("bWU6cHc=")});
    assert_header(p, "Basic bWU6cHc=");
    auth_done(p);
}

static void sends_impersonation_headers_with_and_without_a_token(void **state)
{
    struct named_value as[] = {{TEXT("Impersonate-User"), TEXT("jane")},
                               {TEXT("Impersonate-Group"), TEXT("dev")}};
    struct place *p = *state;
    struct auth_headers headers;
    struct inf_error err;
    auth_open(p, (struct kubeconfig){.impersonate = as, .n_impersonate = 2});
    assert_int_equal(auth_get(p->auth, NULL, &headers, &err), 0);
    assert_int_equal(headers.count, 2);
    assert_string_equal(headers.list[0].value, "jane");
    assert_string_equal(headers.list[1].name, "Impersonate-Group");
    auth_done(p);
    auth_open(p, (struct kubeconfig){.token = TEXT("t"), .impersonate = as, .n_impersonate = 2});
    assert_int_equal(auth_get(p->auth, NULL, &headers, &err), 0);
    assert_int_equal(headers.count, 3);
    assert_string_equal(headers.list[0].value, "Bearer t");
    assert_string_equal(headers.list[1].value, "jane");
    auth_done(p);
}

static void trims_white_space_around_the_token_in_a_file(void **state)
{
    static const char *const texts[] = {"s3cr3t", "s3cr3t\n", "s3cr3t\r\n", "\n\t s3cr3t \n\n"};
    struct place *p = *state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        put_file(p, str_of(texts[i]));
        auth_open(p, (struct kubeconfig){.token_file = p->path});
        assert_header(p, "Bearer s3cr3t");
        auth_done(p);
    }
}

static void uses_the_token_until_the_token_file_has_been_read(void **state)
{
    struct place *p = *state;
    auth_open(p, (struct kubeconfig){.token = TEXT("s3cr3t"), .token_file = p->path});
    assert_header(p, "Bearer s3cr3t");
    put_file(p, STR("two words"));
    assert_header(p, "Bearer s3cr3t");
    put_file(p, STR("from-file\n"));
    assert_header(p, "Bearer from-file");
    unlink(p->path);
    sim_advance(&p->sim, 60 * 1000);
    assert_header(p, "Bearer from-file");
    auth_done(p);
}

static void reads_the_token_file_once_a_minute(void **state)
{
    struct place *p = *state;
    uint64_t monday;
    put_file(p, STR("monday"));
    auth_open(p, (struct kubeconfig){.token_file = p->path});
    monday = assert_header(p, "Bearer monday");
    put_file(p, STR("tuesday"));
    sim_advance(&p->sim, 49999);
    assert_int_equal(assert_header(p, "Bearer monday"), monday);
    sim_advance(&p->sim, 1);
    assert_true(assert_header(p, "Bearer tuesday") > monday);
    auth_done(p);
}

static void reads_the_token_file_again_after_a_rejected_token(void **state)
{
    struct place *p = *state;
    uint64_t monday, tuesday;
    put_file(p, STR("monday"));
    auth_open(p, (struct kubeconfig){.token_file = p->path});
    monday = assert_header(p, "Bearer monday");
    assert_false(auth_refused(p->auth, monday));
    put_file(p, STR("tuesday"));
    assert_true(auth_refused(p->auth, monday));
    tuesday = assert_header(p, "Bearer tuesday");
    put_file(p, STR("wednesday"));
    assert_true(auth_refused(p->auth, monday)); /* a slower request: the token has changed since */
    assert_int_equal(assert_header(p, "Bearer tuesday"), tuesday);
    auth_done(p);
}

static void keeps_the_previous_token_and_warns_once(void **state)
{
    struct place *p = *state;
    char *line = xasprintf("token file '%s': No such file or directory; keeping the previous "
                           "token\n",
                           p->path);
    put_file(p, STR("monday"));
    auth_open(p, (struct kubeconfig){.token_file = p->path});
    assert_header(p, "Bearer monday");
    unlink(p->path);
    sim_advance(&p->sim, 50 * 1000);
    assert_header(p, "Bearer monday");
    assert_logged(p, line);
    sim_advance(&p->sim, 50 * 1000);
    assert_false(auth_refused(p->auth, assert_header(p, "Bearer monday")));
    assert_logged(p, "");
    put_file(p, STR("tuesday"));
    sim_advance(&p->sim, 10 * 1000);
    assert_header(p, "Bearer tuesday");
    unlink(p->path);
    sim_advance(&p->sim, 50 * 1000);
    assert_header(p, "Bearer tuesday");
    assert_logged(p, line); /* readable in between, so a second warning */
    auth_done(p);
    free(line);
}

static void refuses_a_token_file_without_a_single_token(void **state)
{
    static const struct str wrong[] = {{"", 0},
                                       {" \n\t\r\n", 5},
                                       {"s3cr3t s3cr3t", 13},
                                       {"s3cr3t\ns3cr3t\n", 14},
                                       {"s3cr3t\0s3cr3t", 13},
                                       {"\0s3cr3t", 7},
                                       {"s3cr3t\n\0", 8},
                                       {"s3c\x1br3t", 7},
                                       {"s3cr3t\x7f", 7}};
    struct place *p = *state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        put_file(p, wrong[i]);
        assert_no_header(p, "expected a single token without white space");
    }
}

/* A missing file must not look like a missing resource, nor a large one like a large event
 * (core/reflector/fault.c). */
static void an_unreadable_token_file_is_always_an_io_error(void **state)
{
    struct place *p = *state;
    char *large = xcalloc(1, 64 * 1024 + 1);
    unlink(p->path);
    assert_no_header(p, "No such file or directory");
    assert_int_equal(mkdir(p->path, 0700), 0);
    assert_no_header(p, "is a directory");
    rmdir(p->path);
    memset(large, 's', 64 * 1024 + 1);
    put_file(p, (struct str){large, 64 * 1024 + 1});
    assert_no_header(p, "larger than 65536 bytes");
    free(large);
}

/* A user's tokenFile may contain the token itself by mistake. */
static void does_not_show_a_path_that_was_never_readable(void **state)
{
    struct place *p = *state;
    struct auth_headers headers;
    struct inf_error err;
    char *name;
    auth_open(p, (struct kubeconfig){.token_file = TEXT("/nowhere/s3cr3t"), .user = TEXT("u")});
    assert_int_equal(auth_get(p->auth, NULL, &headers, &err), -INF_EIO);
    assert_string_equal(err.text, "tokenFile of user 'u': No such file or directory");
    name = auth_describe(p->auth);
    assert_string_equal(name, "the token of user 'u'");
    free(name);
    auth_done(p);
}

static void describes_credentials_without_their_value(void **state)
{
    struct exec_plugin plugin = {.name = TEXT("get-token")};
    const struct {
        struct kubeconfig config;
        const char *name;
    } cases[] = {
        {{.token = TEXT("s3cr3t"), .user = TEXT("u")}, "the token of user 'u'"},
        {{.token = TEXT("s3cr3t"), .token_file = TEXT("/t")}, "the token in '/t'"},
        {{.basic = TEXT("s3cr3t"), .user = TEXT("u")}, "the name and password of user 'u'"},
        {{.cert_pem = TEXT("x"), .user = TEXT("u")}, "the client certificate of user 'u'"},
        {{.exec = &plugin}, "the credential of exec plugin 'get-token'"},
    };
    struct place *p = *state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct auth *auth =
            auth_new(&(struct auth_settings){.clock = &p->sim.clock, .config = &cases[i].config});
        char *name = auth_describe(auth);
        assert_string_equal(name, cases[i].name);
        free(name);
        auth_free(auth);
    }
    assert_null(auth_describe(NULL));
}

static void changed_credentials_apply_to_the_next_request(void **state)
{
    struct place *p = *state;
    struct named_value as[] = {{TEXT("Impersonate-User"), TEXT("jane")}};
    struct kubeconfig file = {.token_file = p->path};
    struct kubeconfig jane = {.basic = TEXT("dTpw"), .impersonate = as, .n_impersonate = 1};
    struct auth_headers headers;
    struct inf_error err;
    uint64_t before;
    put_file(p, STR("tuesday"));
    auth_open(p, (struct kubeconfig){.token = TEXT("monday")});
    before = assert_header(p, "Bearer monday");
    auth_change(p->auth, &file, NULL, NULL);
    assert_true(assert_header(p, "Bearer tuesday") > before);
    assert_true(auth_refused(p->auth, before)); /* a 401 for the old header: retry */
    auth_change(p->auth, &jane, NULL, NULL);
    assert_int_equal(auth_get(p->auth, NULL, &headers, &err), 0);
    assert_int_equal(headers.count, 2);
    assert_string_equal(headers.list[0].value, "Basic dTpw");
    assert_string_equal(headers.list[1].value, "jane");
    auth_done(p);
}

static void renew_reads_a_token_file_before_it_is_due(void **state)
{
    struct place *p = *state;
    put_file(p, STR("monday"));
    auth_open(p, (struct kubeconfig){.token_file = p->path});
    assert_header(p, "Bearer monday");
    put_file(p, STR("tuesday"));
    assert_header(p, "Bearer monday");
    auth_renew(p->auth);
    assert_header(p, "Bearer tuesday");
    auth_done(p);
}

int main(void)
{
#define WITH_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, drop_place)
    const struct CMUnitTest tests[] = {
        WITH_PLACE(no_credentials_mean_no_headers),
        WITH_PLACE(describes_credentials_without_their_value),
        WITH_PLACE(changed_credentials_apply_to_the_next_request),
        WITH_PLACE(renew_reads_a_token_file_before_it_is_due),
        WITH_PLACE(sends_a_token_as_bearer),
        WITH_PLACE(sends_a_password_as_basic),
        WITH_PLACE(sends_impersonation_headers_with_and_without_a_token),
        WITH_PLACE(trims_white_space_around_the_token_in_a_file),
        WITH_PLACE(uses_the_token_until_the_token_file_has_been_read),
        WITH_PLACE(reads_the_token_file_once_a_minute),
        WITH_PLACE(reads_the_token_file_again_after_a_rejected_token),
        WITH_PLACE(keeps_the_previous_token_and_warns_once),
        WITH_PLACE(refuses_a_token_file_without_a_single_token),
        WITH_PLACE(an_unreadable_token_file_is_always_an_io_error),
        WITH_PLACE(does_not_show_a_path_that_was_never_readable),
    };
    return cmocka_run_group_tests_name("auth", tests, NULL, NULL);
}
