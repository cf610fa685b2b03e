/*
 * document.c - requests a document of the server for the user. It is delivered as it is; a failure is
 * reported, nothing is retried.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "lib/request.h"

struct document_request {
    struct request request;
    inf_document_cb *on_done;
    char *accept;     /* NULL: the default */
    const char *text; /* valid during the report */
};

static void document_request_report(struct request *request, const struct inf_error *why)
{
    struct document_request *r = container_of(request, struct document_request, request);
    r->on_done(request->user, why ? NULL : r->text, why ? 0 : strlen(r->text), why);
}

static void document_request_on_end(struct document *document, const char *text,
                                    const struct inf_error *why)
{
    struct document_request *r = container_of(document, struct document_request, request.document);
    struct inf_error other;
    if (text && *text != '{') {
        err_set(&other, INF_EPROTO, "the server sent something else than a JSON object");
        text = NULL;
        why = &other;
    }
    r->text = text;
    request_end(&r->request, text ? NULL : why);
}

static void document_request_stop(struct request *request)
{
    (void)request; /* only the document is in progress */
}

static void document_request_free(struct request *request)
{
    struct document_request *r = container_of(request, struct document_request, request);
    free(r->accept);
    free(r);
}

static const struct request_ops document_request_ops = {.stop = document_request_stop,
                                                        .report = document_request_report,
                                                        .free = document_request_free};

/* Whether @text can be sent as a part of a head. */
static bool is_printable(const char *text, char first)
{
    for (; *text; text++)
        if ((unsigned char)*text < (unsigned char)first || *text == 0x7f)
            return false;
    return true;
}

int inf_document_request(struct inf_client *client, struct inf_request *request, const char *path,
                         const char *accept, inf_document_cb *on_done)
{
    struct document_request *r;
    int rc;
    if (path[0] != '/' || !is_printable(path, '!') || (accept && !is_printable(accept, ' ')))
        return -INF_EINVAL;
    r = NEW(struct document_request);
    rc = request_start(&r->request, &document_request_ops, client, request);
    if (rc < 0)
        return rc;
    r->on_done = on_done;
    r->accept = accept ? xstrdup(accept) : NULL;
    r->request.document.accept = r->accept;
    r->request.document.any_type = true; /* kube-apiserver sends /openapi/v3 as text/plain */
    r->request.document.on_end = document_request_on_end;
    document_start(&r->request.document, &client->server, path, NULL);
    return 0;
}
