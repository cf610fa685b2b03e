/*
 * access.h - questions to a server before anything is watched: who is it, who are we to it, what does
 * a word mean there, and may we?
 *
 *     inf_identity_ask(client, on_identity, ctx);
 *     inf_access_ask(client, "deploy", "shop", on_access, ctx, &err);
 *     uv_run(loop, UV_RUN_DEFAULT);
 *
 * Each is answered once, from the loop, and gone by then; or it is closed before. Nothing is tried
 * again: an error is an answer. A server that is silent is given a minute; who has less patience
 * closes the question.
 */
#ifndef INFORMER_ACCESS_H
#define INFORMER_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "informer/error.h"
#include "informer/informer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct inf_question;

/** Gives up a question that is not answered yet: on_answer is not called any more. inf_client_close()
 * does it too. NULL is fine. */
INF_API void inf_question_close(struct inf_question *question);

/* Whom we speak to, and as whom. Lent until on_answer returns. */
struct inf_identity {
    const char *version; /* of the server, "v1.36.0"; NULL: it does not tell us */
    const char *user;    /* as it knows us; NULL: it does not tell us, or can't (before 1.27) */
    const char *const *groups;
    size_t n_groups;
};

/** @on_answer gets @why if the server can't be reached or does not know us; then @identity is NULL. */
INF_API struct inf_question *inf_identity_ask(struct inf_client *client,
                                              void (*on_answer)(void *ctx,
                                                                const struct inf_identity *identity,
                                                                const struct inf_error *why),
                                              void *ctx);

/**
 * Which cluster is it? @on_answer gets the uid of its namespace kube-system, which two servers have in common exactly if they
 * are of the same cluster; or @why that can't be known: INF_EFORBIDDEN, we may not get that namespace.
 */
INF_API struct inf_question *inf_cluster_uid_ask(struct inf_client *client,
                                                 void (*on_answer)(void *ctx, const char *uid,
                                                                   const struct inf_error *why),
                                                 void *ctx);

/* What a watch needs. Lent until on_answer returns. */
struct inf_access {
    struct inf_resource resource; /* what the word means; without a kind if we may not ask */
    bool namespaced;              /* its objects are in namespaces; false if that is not known */
    bool list;                    /* we may */
    bool watch;
    const char *reason; /* what the server says about what we may not, often "" */
};

/**
 * May we list and watch @resource (a word as in `struct inf_watch`) in @ns, or in all namespaces if
 * that is NULL?
 *
 * @on_answer gets @why if that is not known: INF_ENOTFOUND, the server has no such resource;
 * INF_EINVAL, the word means several, or @ns is given for one that is in none; or what else went
 * wrong. NULL, with @err (which may be NULL), if @resource or @ns can't be a name.
 */
INF_API struct inf_question *inf_access_ask(
    struct inf_client *client, const char *resource, const char *ns,
    void (*on_answer)(void *ctx, const struct inf_access *access, const struct inf_error *why),
    void *ctx, struct inf_error *err);

/** The same without the last part: which resource is it? `list` and `watch` are false. */
INF_API struct inf_question *inf_resource_ask(
    struct inf_client *client, const char *resource, const char *ns,
    void (*on_answer)(void *ctx, const struct inf_access *access, const struct inf_error *why),
    void *ctx, struct inf_error *err);

/**
 * Which resource @text means if no server has to be asked for that: its group and version are named,
 * or it is the plural of one of the core group. NULL if one has, or @text can't be a resource. One
 * piece of memory, without a kind, the caller's to free().
 */
INF_API struct inf_resource *inf_resource_known(const char *text);

#ifdef __cplusplus
}
#endif

#endif
