/*
 * test_secret_filter.c - messages of programs are shown without the secrets in them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/rng.h"
#include "base/text/base64.h"
#include "kube/auth/secret_filter.h"

static char *filtered(const char *line)
{
    struct buf out = {0};
    secret_filter_put(&out, str_of(line));
    buf_putc(&out, '\0');
    return out.bytes;
}

static void assert_filtered(const char *line, const char *expected)
{
    char *text = filtered(line);
    assert_string_equal(text, expected);
    free(text);
}

/* ---- visible ---- */

static void leaves_ordinary_messages_unchanged(void **state)
{
    static const char *const lines[] = {
        "",
        "Error loading SSO Token: not found, run aws sso login --profile prod",
        "The security token included in the request is expired",
        "An error occurred (AccessDenied) when calling the AssumeRole operation",
        "User: arn:aws:iam::123456789012:user/ci is not authorized to perform: sts:AssumeRole",
        "Unable to connect to the server: dial tcp 10.0.0.1:443: i/o timeout",
        "could not get token: RequestError: send request failed",
        "ERROR: (gcloud.config.config-helper) There was a problem refreshing your current auth tokens",
        "time=2026-11-17T03:45:00Z level=error msg=\"session expired\" attempt=3 elapsed=1500ms",
        "open /var/lib/ci/.kube/cache/oidc-login/config.json: no such file or directory",
        "panic: runtime error: invalid memory address or nil pointer dereference",
        "main.go:123 +0x45",
        "x509: certificate signed by unknown authority",
        "AADSTS50020: User account from identity provider does not exist in tenant",
        "the server responded with 401 Unauthorized; see https://docs.example.com/login/help.html",
        "kubelogin v0.1.4 on linux/amd64, OAuth2 and OIDC, api client.authentication.k8s.io/v1beta1",
        "operator@example.com has no access to us-east-1",
        "Zugriff verweigert f\xc3\xbcr diesen Benutzer",
        "UnrecognizedClientException, ExpiredTokenException, InvalidClientTokenId",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (!strstr(lines[i], "oken: "))
            assert_filtered(lines[i], lines[i]);
    assert_filtered(lines[1],
                    "Error loading SSO Token: [...] found, run aws sso login --profile prod");
    assert_filtered("\033[31msession expired\033[0m", "\033[31msession expired\033[0m");
}

/* ---- redacted ---- */

/* Documented examples, and generated ones of the same form. */
static const char *const secrets[] = {
    /* AWS: secret access keys, key ids, session tokens */
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY",
    "abcdEFGHijklMNOP/qrstUVWXyzabCDEFghijKLMN",
    "AKIAIOSFODNN7EXAMPLE",
    "IQoJb3JpZ2luX2VjEJr//////////wEaCXVzLWVhc3QtMSJHMEUCIQDsomeBytes+Of/It==",
    "FwoGZXIvYXdzEBYaDHqa0AP/LcKpTbM+EXAMPLE",
    /* JWT */
    "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQifQ.c2ln-bm_F0dXJl",
    "eyJhbGciOiJub25lIn0.e30.",
    /* Google, Azure, GitHub, others */
    "ya29.a0AfH6SMBx3Jd-kQe_9vKzLwPq",
    "1//0gFakeRefreshTokenCgYIARAAGBASNwF-L9Ir",
    "Q~8Qabc~XyZ.1mNOpqRstUvWxYz0123456789",
    "550e8400-e29b-41d4-a716-446655440000",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz",
    "glpat-xYz12AbC_dEfGhIjKlM",
    "xoxb-123456789012-AbCdEfGhIjKl",
    "k8s-aws-v1.aHR0cHM6Ly9zdHMuYW1hem9uYXdzLmNvbS8",
    /* base64 with and without padding, hex, letters only */
    "c2VjcmV0LXBhc3N3b3Jk",
    "aHVudGVyMg==",
    "cGFzc3dvcmQ=",
    "5f4dcc3b5aa765d61d8327deb882cf99",
    "DEADBEEF00112233",
    "xkqzvwpjhgtrbnmd",
    "QWERTZXCVBNMLKJH",
    "aBcDeFgHiJkLmNoP",
};

static void hides_secrets_in_any_surroundings(void **state)
{
    static const struct {
        const char *before, *behind;
    } forms[] = {{"", ""},
                 {"got ", " from cache"},
                 {"\"", "\""},
                 {"(", ")"},
                 {"value=", ""},
                 {"{\"a\":\"", "\",\"b\":1}"},
                 {"[", ", next]"},
                 {"x: ", "."},
                 {"id:", ";"},
                 {"{\\\"a\\\":\\\"", "\\\"}"},
                 {"/tmp/cache/", ".json"}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(secrets) * ARRAY_LEN(forms); i++) {
        const char *secret = secrets[i / ARRAY_LEN(forms)];
        char *line = xasprintf("%s%s%s", forms[i % ARRAY_LEN(forms)].before, secret,
                               forms[i % ARRAY_LEN(forms)].behind);
        char *text = filtered(line);
        for (const char *at = secret; strlen(at) >= 8; at++) { /* no part of it either */
            char fragment[9];
            memcpy(fragment, at, 8);
            fragment[8] = '\0';
            if (strstr(text, fragment))
                assert_string_equal(text, "[...]");
        }
        assert_non_null(strstr(text, "[...]"));
        free(text);
        free(line);
    }
}

static void hides_values_with_a_secret_name(void **state)
{
    static const char *const lines[][2] = {
        {"password=hunter2", "password=[...]"},
        {"PASSWORD: correct horse battery", "PASSWORD: [...]"},
        {"login with --password hunter2 failed", "login with --password [...]"},
        {"--client-secret=abc --user me", "--client-secret=[...]"},
        {"{\"password\":\"a b\",\"user\":\"me\"}", "{\"password\":\"[...]\",\"user\":\"me\"}"},
        {"{\"password\" : \"a\\\"b c\", \"user\":1}", "{\"password\" : \"[...]\", \"user\":1}"},
        {"{\\\"password\\\":\\\"hunter2\\\"}", "{\\\"password\\\":\\\"[...]"},
        {"\"credentials\": {\"a\": \"b\"}", "\"credentials\": {\"[...]"},
        {"'token': 'abc', next", "'token': '[...]', next"},
        {"token: abc expired", "token: [...] expired"},
        {"error:token=abc rest", "error:token=[...] rest"},
        {"AWS_SECRET_ACCESS_KEY=abc", "AWS_SECRET_ACCESS_KEY=[...]"},
        {"aws_access_key_id = abc now", "aws_access_key_id = [...] now"},
        {"Authorization: Bearer abc def", "Authorization: [...]"},
        {"Set-Cookie: a=b; c=d", "Set-Cookie: [...]"},
        {"dial https://me:hunter2@proxy:3128/x failed", "dial [...] failed"},
        {"dial me:hunter2@proxy", "dial [...]"},
        {"POST https://h/token?code=abc&x=y failed", "POST https://h/token?code=[...] failed"},
        {"GET https://h/x?sig=abc&token=def failed", "GET [...]=[...] failed"},
        {"the token is expired", "the token is expired"},
        {"no password", "no password"},
        {"password:", "password:"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        assert_filtered(lines[i][0], lines[i][1]);
}

/* Nearly none of the random keys is shown, and never a long part of one. */
static void hides_random_keys(void **state)
{
    static const struct {
        const char *alphabet;
        size_t len, shown_max; /* of a thousand */
    } kinds[] = {
        {"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/", 40, 0},
        {"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", 22, 0},
        {"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", 20, 0},
        {"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!%*#@:./", 16, 10},
        {"0123456789abcdef", 32, 0},
        {"abcdefghijklmnopqrstuvwxyz234567", 16, 2},
        {"abcdefghijklmnopqrstuvwxyz", 16, 10},
        {"0123456789", 16, 0},
    };
    struct rng rng = {.state = 5};
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        size_t shown = 0;
        for (int n = 0; n < 1000; n++) {
            char key[64] = "", *text;
            for (size_t i = 0; i < kinds[k].len; i++)
                key[i] = kinds[k].alphabet[rng_below(&rng, strlen(kinds[k].alphabet))];
            text = filtered(key);
            shown += strcmp(text, key) == 0;
            free(text);
        }
        assert_in_range(shown, 0, kinds[k].shown_max);
    }
}

/* Words, values and quotes at the end of the text; sanitizers detect accesses beyond it. */
static void filters_any_bytes_without_failing(void **state)
{
    static const char alphabet[] = "token=:\"' \\{[?@-a1\033m\xc3";
    struct rng rng = {.state = 6};
    (void)state;
    for (int n = 0; n < 20000; n++) {
        size_t len = rng_below(&rng, 24);
        char *text = xmalloc(len ? len : 1);
        struct buf out = {0};
        for (size_t i = 0; i < len; i++)
            text[i] = alphabet[rng_below(&rng, sizeof(alphabet) - 1)];
        secret_filter_put(&out, (struct str){text, len});
        buf_free(&out);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_ordinary_messages_unchanged),
        cmocka_unit_test(hides_secrets_in_any_surroundings),
        cmocka_unit_test(hides_values_with_a_secret_name),
        cmocka_unit_test(hides_random_keys),
        cmocka_unit_test(filters_any_bytes_without_failing),
    };
    return cmocka_run_group_tests_name("secret_filter", tests, NULL, NULL);
}
