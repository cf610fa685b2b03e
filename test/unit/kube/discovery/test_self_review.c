/*
 * test_self_review.c - SelfSubjectReview and SelfSubjectAccessReview: the requests, and answers
 * of servers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "kube/discovery/self_review.h"

static void writes_the_review_request(void **state)
{
    struct resource pods = {(char[]){""}, (char[]){"v1"}, (char[]){"pods"}};
    char *text = self_review_access_body(&pods, "shop", "list", NULL);
    (void)state;
    assert_string_equal(
        text, "{\"kind\":\"SelfSubjectAccessReview\",\"apiVersion\":\"authorization.k8s.io/v1\","
              "\"spec\":{\"resourceAttributes\":{\"verb\":\"list\",\"group\":\"\","
              "\"version\":\"v1\",\"resource\":\"pods\",\"namespace\":\"shop\"}}}");
    free(text);
    text = self_review_access_body(&pods, NULL, "watch", NULL);
    assert_null(strstr(text, "namespace"));
    free(text);
    text = self_review_access_body(&pods, "shop", "get", "web-0");
    assert_non_null(strstr(text, "\"namespace\":\"shop\",\"name\":\"web-0\"}"));
    free(text);
    text = self_review_identity_path("v1");
    assert_string_equal(text, "/apis/authentication.k8s.io/v1/selfsubjectreviews");
    free(text);
    text = self_review_identity_body("v1beta1");
    assert_string_equal(text, "{\"kind\":\"SelfSubjectReview\","
                              "\"apiVersion\":\"authentication.k8s.io/v1beta1\"}");
    free(text);
}

static void reads_user_name_and_groups(void **state)
{
    struct self_review_identity self;
    (void)state;
    assert_int_equal(
        self_review_identity_read("{\"kind\":\"SelfSubjectReview\",\"status\":{\"userInfo\":{"
                                  "\"username\":\"jane\",\"groups\":[\"dev\",7,\"all\"]}}}",
                                  &self, NULL),
        0);
    assert_string_equal(self.user, "jane");
    assert_int_equal(self.n_groups, 2);
    assert_string_equal(self.groups[1], "all");
    self_review_identity_free(&self);
    self_review_identity_free(&self);
}

static void limits_the_number_of_groups(void **state)
{
    struct self_review_identity self;
    struct buf text = {0};
    (void)state;
    buf_puts(&text, "{\"kind\":\"SelfSubjectReview\",\"status\":{\"userInfo\":{\"groups\":[\"g\"");
    for (int i = 0; i < SELF_REVIEW_GROUPS_MAX; i++)
        buf_puts(&text, ",\"g\"");
    buf_puts(&text, "]}}}");
    buf_putc(&text, '\0');
    assert_int_equal(self_review_identity_read(text.bytes, &self, NULL), 0);
    assert_int_equal(self.n_groups, SELF_REVIEW_GROUPS_MAX);
    assert_string_equal(self.user, "");
    self_review_identity_free(&self);
    buf_free(&text);
}

static void reads_whether_access_is_allowed(void **state)
{
    static const struct {
        const char *status;
        bool allowed;
        const char *reason;
    } rows[] = {
        {"{\"allowed\":true,\"reason\":\"RBAC: allowed\"}", true, "RBAC: allowed"},
        {"{\"allowed\":false}", false, ""},
        {"{\"allowed\":false,\"evaluationError\":\"no role\"}", false, "no role"},
        {"{}", false, ""},
        {"7", false, ""},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf text = {0};
        bool allowed = !rows[i].allowed;
        char *reason = NULL;
        buf_printf(&text, "{\"kind\":\"SelfSubjectAccessReview\",\"status\":%s}", rows[i].status);
        buf_putc(&text, '\0');
        assert_int_equal(self_review_access_read(text.bytes, &allowed, &reason, NULL), 0);
        assert_int_equal(allowed, rows[i].allowed);
        assert_string_equal(reason, rows[i].reason);
        free(reason);
        buf_free(&text);
    }
}

static void reads_the_uid_of_the_cluster(void **state)
{
    char *version = NULL;
    (void)state;
    assert_int_equal(
        self_review_version_read("{\"major\":\"1\",\"gitVersion\":\"v1.36.0\"}", &version, NULL),
        0);
    assert_string_equal(version, "v1.36.0");
    free(version);
}

static void refuses_other_review_texts(void **state)
{
    static const char *const texts[] = {"", "x", "7", "null", "[]", "{}", "{\"kind\":\"Status\"}"};
    struct self_review_identity self;
    bool allowed;
    char *text;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct inf_error err;
        assert_int_equal(self_review_identity_read(texts[i], &self, &err), -INF_EDECODE);
        assert_int_equal(self_review_access_read(texts[i], &allowed, &text, &err), -INF_EDECODE);
        assert_int_equal(self_review_version_read(texts[i], &text, &err), -INF_EDECODE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_the_review_request),
        cmocka_unit_test(reads_user_name_and_groups),
        cmocka_unit_test(limits_the_number_of_groups),
        cmocka_unit_test(reads_whether_access_is_allowed),
        cmocka_unit_test(reads_the_uid_of_the_cluster),
        cmocka_unit_test(refuses_other_review_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
