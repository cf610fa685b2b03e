/*
 * Requests for single objects: get, create, replace, delete.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "table.h"

static void answer_object(struct conn *c, int code, const struct object *o)
{
    struct head head = {.code = code};
    struct buf body = {0};
    enum form form = accepted_form(&c->request, FORM_WHOLE);
    enum table_object table;
    struct status s;
    if (!table_object_read(&c->request, &table, &s)) {
        reply_status(c, &s);
        return;
    }
    if (form == FORM_TABLE)
        table_put_one(&body, o, table, 0, true);
    else
        object_put(&body, o, form, 0);
    buf_putc(&body, '\n');
    reply_whole(c, &head, &body);
}

static void answer_get(struct conn *c, const struct route *route, struct status *s)
{
    struct object *o = resource_find(route->resource, route->ns, route->name);
    if (o) {
        answer_object(c, 200, o);
    } else {
        status_not_found(s, route->resource, route->name);
        reply_status(c, s);
    }
}

static void answer_put(struct conn *c, const struct route *route, bool create, struct status *s)
{
    const struct request *q = &c->request;
    const char *ns = route->ns[0] ? route->ns : NULL, *name = create ? NULL : route->name;
    struct object *o = store_put(route->resource, create ? PUT_CREATE : PUT_REPLACE, ns, name,
                                 q->body, q->body_len, s);
    if (o)
        answer_object(c, create ? 201 : 200, o);
    else
        reply_status(c, s);
}

static void answer_delete(struct conn *c, const struct route *route, struct status *s)
{
    if (store_delete(route->resource, route->ns, route->name, s)) {
        status_set(s, 200, NULL, "%s", "");
        snprintf(s->name, sizeof(s->name), "%s", route->name);
        snprintf(s->group, sizeof(s->group), "%s", route->resource->group);
        snprintf(s->kind, sizeof(s->kind), "%s", route->resource->plural);
    }
    reply_status(c, s);
}

void object_answer(struct conn *c, const struct route *route)
{
    const char *method = c->request.method;
    struct status s;
    bool one = route->name[0] != '\0';
    if (one && (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0)) {
        answer_get(c, route, &s);
        return;
    }
    if (!one && strcmp(method, "POST") == 0) {
        answer_put(c, route, true, &s);
        return;
    }
    if (one && strcmp(method, "PUT") == 0) {
        answer_put(c, route, false, &s);
        return;
    }
    if (one && strcmp(method, "DELETE") == 0) {
        answer_delete(c, route, &s);
        return;
    }
    status_set(&s, 405, "MethodNotAllowed",
               "the server does not allow this method on the requested resource");
    reply_status(c, &s);
}
