/*
 * self_review.c - builds the review requests and parses the responses.
 *
 * A response of an unexpected kind, or without the expected field, is INF_EDECODE.
 */
#include "kube/discovery/self_review.h"

#include <stdlib.h>
#include <string.h>

#include <yyjson.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/text/json_string.h"

/* ---- reading ---- */

static const char *text_of(yyjson_val *object, const char *field)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, field));
    return text ? text : "";
}

/* The status of a review. If @text is not a review, sets @err and leaves @ret_doc; otherwise the
 * caller frees @ret_doc. */
static yyjson_val *read_review_status(const char *text, const char *kind, yyjson_doc **ret_doc,
                                      struct inf_error *err)
{
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);
    yyjson_val *root = yyjson_doc_get_root(doc);
    if (strcmp(text_of(root, "kind"), kind) != 0) {
        err_set(err, INF_EDECODE, "the server sent an unexpected response to a %s", kind);
        yyjson_doc_free(doc);
        return NULL;
    }
    *ret_doc = doc;
    return yyjson_obj_get(root, "status");
}

/* ---- identity ---- */

char *self_review_identity_path(const char *version)
{
    return xasprintf("/apis/authentication.k8s.io/%s/selfsubjectreviews", version);
}

char *self_review_identity_body(const char *version)
{
    return xasprintf("{\"kind\":\"SelfSubjectReview\",\"apiVersion\":\"authentication.k8s.io/%s\"}",
                     version);
}

int self_review_identity_read(const char *text, struct self_review_identity *ret,
                              struct inf_error *err)
{
    yyjson_doc *doc = NULL;
    yyjson_val *status = read_review_status(text, "SelfSubjectReview", &doc, err), *info, *group;
    size_t i, n;
    if (!doc)
        return -INF_EDECODE;
    info = yyjson_obj_get(status, "userInfo");
    *ret = (struct self_review_identity){.user = xstrdup(text_of(info, "username"))};
    ret->groups = xcalloc(SELF_REVIEW_GROUPS_MAX, sizeof(char *));
    yyjson_arr_foreach(yyjson_obj_get(info, "groups"), i, n, group)
    {
        if (yyjson_is_str(group) && ret->n_groups < SELF_REVIEW_GROUPS_MAX)
            ret->groups[ret->n_groups++] = xstrdup(yyjson_get_str(group));
    }
    yyjson_doc_free(doc);
    return 0;
}

void self_review_identity_free(struct self_review_identity *identity)
{
    for (size_t i = 0; i < identity->n_groups; i++)
        free(identity->groups[i]);
    free(identity->groups);
    free(identity->user);
    *identity = (struct self_review_identity){.user = NULL};
}

/* ---- permissions ---- */

const char self_review_access_path[] = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

static void put_member(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, ",\"%s\":", name);
    json_put_string(out, str_of(value));
}

char *self_review_access_body(const struct resource *resource, const char *ns, const char *verb,
                              const char *name)
{
    struct buf out = {0};
    buf_puts(&out, "{\"kind\":\"SelfSubjectAccessReview\","
                   "\"apiVersion\":\"authorization.k8s.io/v1\","
                   "\"spec\":{\"resourceAttributes\":{\"verb\":");
    json_put_string(&out, str_of(verb));
    put_member(&out, "group", resource->group);
    put_member(&out, "version", resource->version);
    put_member(&out, "resource", resource->name);
    if (ns)
        put_member(&out, "namespace", ns);
    if (name)
        put_member(&out, "name", name);
    buf_puts(&out, "}}}");
    buf_putc(&out, '\0');
    return out.bytes;
}

int self_review_access_read(const char *text, bool *ret_allowed, char **ret_reason,
                            struct inf_error *err)
{
    yyjson_doc *doc = NULL;
    yyjson_val *status = read_review_status(text, "SelfSubjectAccessReview", &doc, err);
    const char *reason;
    if (!doc)
        return -INF_EDECODE;
    reason = text_of(status, "reason");
    *ret_allowed = yyjson_get_bool(yyjson_obj_get(status, "allowed"));
    *ret_reason = xstrdup(reason[0] ? reason : text_of(status, "evaluationError"));
    yyjson_doc_free(doc);
    return 0;
}

/* ---- the server ---- */

int self_review_uid_read(const char *text, char **ret_uid, struct inf_error *err)
{
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);
    const char *uid = text_of(yyjson_obj_get(yyjson_doc_get_root(doc), "metadata"), "uid");
    int rc = 0;
    if (uid[0])
        *ret_uid = xstrdup(uid);
    else
        rc = err_set(err, INF_EDECODE, "the server sent an object without a uid");
    yyjson_doc_free(doc);
    return rc;
}

int self_review_version_read(const char *text, char **ret_version, struct inf_error *err)
{
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);
    const char *version = text_of(yyjson_doc_get_root(doc), "gitVersion");
    int rc = 0;
    if (version[0])
        *ret_version = xstrdup(version);
    else
        rc = err_set(err, INF_EDECODE, "the response contains no gitVersion; is it an API server?");
    yyjson_doc_free(doc);
    return rc;
}
