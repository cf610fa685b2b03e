/*
 * test_certificate.c - the authority of api.listen in its files: made, kept, renewed, refused.
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

#include "base/file.h"
#include "conf_world.h"
#include "daemon/access/certificate.h"
#include "sim.h"

#define DAY_US (INT64_C(24) * 3600 * 1000000)

static char *read_text(const char *name)
{
    struct inf_error err;
    char *text = NULL;
    size_t len;
    assert_int_equal(file_read(name, 1 << 20, &text, &len, &err), 0);
    return text;
}

/* Opens at @now_us and returns the certificate of the authority. */
static char *open_at(const char *dir, int64_t now_us)
{
    struct conf conf = conf_world_text(
        "api: {listen: '192.0.2.7:6444'}\nhttp: {allowed_hosts: [api.example.com]}\n");
    struct api_certificate c = {0};
    struct inf_error err = {0};
    char *pem;
    if (api_certificate_open(dir, &conf, now_us, &c, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(c.n_names, 5);
    assert_string_equal(c.names[3], "192.0.2.7");
    assert_string_equal(c.names[4], "api.example.com");
    assert_non_null(c.context);
    assert_true(c.renew_us == now_us + TLS_SERVER_DAYS * DAY_US * 2 / 3);
    pem = strdup(c.authority.cert_pem);
    api_certificate_close(&c);
    conf_free(&conf);
    return pem;
}

static void keeps_its_authority_and_renews_it_with_its_key(void **state)
{
    int64_t half = SIM_START_US + TLS_AUTHORITY_DAYS / 2 * DAY_US;
    char *first = open_at(*state, SIM_START_US), *key = read_text("api-ca.key"), *later, *renewed;
    struct stat st;
    assert_int_equal(stat("api-ca.key", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    later = open_at(*state, half - DAY_US);
    assert_string_equal(later, first);
    renewed = open_at(*state, half + DAY_US);
    assert_string_not_equal(renewed, first);
    free(later);
    later = read_text("api-ca.key");
    assert_string_equal(later, key);
    free(later);
    later = read_text("api-ca.crt");
    assert_string_equal(later, renewed);
    free(later);
    free(renewed);
    free(first);
    free(key);
}

static void refuses_files_that_it_did_not_make(void **state)
{
    struct conf conf = conf_world_text("api: {listen: '[::1]:6444'}\n");
    struct api_certificate c = {0};
    struct inf_error err = {0};
    free(open_at(*state, SIM_START_US));
    chmod("api-ca.key", 0640);
    assert_true(api_certificate_open(*state, &conf, SIM_START_US, &c, &err) < 0);
    assert_non_null(strstr(err.text, "readable by other users (mode 0640)"));
    chmod("api-ca.key", 0600);
    conf_world_put("api-ca.crt", "nothing\n");
    assert_true(api_certificate_open(*state, &conf, SIM_START_US, &c, &err) < 0);
    assert_non_null(strstr(err.text, "remove both to make a new authority"));
    assert_null(c.context);
    unlink("api-ca.crt");
    assert_int_equal(api_certificate_open(*state, &conf, SIM_START_US, &c, &err), 0);
    api_certificate_close(&c);
    conf_free(&conf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keeps_its_authority_and_renews_it_with_its_key,
                                        conf_world_setup, conf_world_teardown),
        cmocka_unit_test_setup_teardown(refuses_files_that_it_did_not_make, conf_world_setup,
                                        conf_world_teardown),
    };
    return cmocka_run_group_tests_name("certificate", tests, NULL, NULL);
}
