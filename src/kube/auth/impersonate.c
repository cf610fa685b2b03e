/*
 * impersonate.c - builds the Impersonate-* headers, the user first.
 *
 * Every value is checked before it becomes a header; the first bad one is the error. There are at
 * most IMPERSONATE_MAX headers.
 */
#include "kube/auth/impersonate.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "kube/config/kubeconfig_entry.h"

#define IMPERSONATE_USER  "Impersonate-User"
#define IMPERSONATE_GROUP "Impersonate-Group"

/* Takes ownership of @name. */
static void add_header(struct kubeconfig *c, char *name, const char *value)
{
    size_t size = (c->n_impersonate + 1) * sizeof(c->impersonate[0]);
    c->impersonate = xrealloc(c->impersonate, size);
    c->impersonate[c->n_impersonate++] = (struct named_value){name, xstrdup(value)};
}

/* @field is the field in the file, @value one of its strings. Takes ownership of @name. */
static int add_header_of(struct kubeconfig *c, const struct user_entry *e,
                         const struct yaml_node *field, char *name, const struct yaml_node *value,
                         struct inf_error *err)
{
    int rc = 0;
    if (str_has_control(str_of(value->text)))
        rc = entry_error(&e->entry, field, err, "must not contain control characters");
    else if (c->n_impersonate >= IMPERSONATE_MAX)
        rc = entry_error(&e->entry, field, err, "too many groups and extras; at most %d",
                         IMPERSONATE_MAX);
    if (rc) {
        free(name);
        return rc;
    }
    add_header(c, name, value->text);
    return 0;
}

/* Characters of @key that header names can't have are written %XX. */
static char *extra_name(const char *key)
{
    struct buf name = {0};
    buf_puts(&name, "Impersonate-Extra-");
    for (; *key; key++) {
        if (isalnum((unsigned char)*key) || strchr("!#$&'*+-.^_`|~", *key))
            buf_putc(&name, *key);
        else
            buf_printf(&name, "%%%02X", (unsigned char)*key);
    }
    buf_putc(&name, '\0');
    return name.bytes;
}

/* One header for each value of the key that @values belongs to. */
static int add_extra(const struct user_entry *e, const struct yaml_node *values,
                     struct kubeconfig *c, struct inf_error *err)
{
    int rc = 0;
    bool valid = values->key->text[0] && values->kind == YAML_SEQUENCE;
    for (const struct yaml_node *n = values->first; n && valid && !rc; n = n->next) {
        valid = n->kind == YAML_SCALAR;
        if (valid)
            rc = add_header_of(c, e, e->as_user_extra, extra_name(values->key->text), n, err);
    }
    return valid ? rc
                 : entry_error(&e->entry, e->as_user_extra, err,
                               "must map names to lists of strings");
}

int impersonate_read(const struct user_entry *e, struct kubeconfig *c, struct inf_error *err)
{
    const struct yaml_node *more = e->as_uid ? e->as_uid : e->as_groups;
    int rc = 0;
    more = more ? more : e->as_user_extra;
    if (more && !e->as)
        return entry_error(&e->entry, more, err, "requires 'as', the user to impersonate");
    if (e->as)
        rc = add_header_of(c, e, e->as, xstrdup(IMPERSONATE_USER), e->as, err);
    if (!rc && e->as_uid)
        rc = add_header_of(c, e, e->as_uid, xstrdup("Impersonate-Uid"), e->as_uid, err);
    for (const struct yaml_node *n = e->as_groups ? e->as_groups->first : NULL; n && !rc;
         n = n->next)
        rc = add_header_of(c, e, e->as_groups, xstrdup(IMPERSONATE_GROUP), n, err);
    for (const struct yaml_node *n = e->as_user_extra ? e->as_user_extra->first : NULL; n && !rc;
         n = n->next)
        rc = add_extra(e, n, c, err);
    return rc;
}

int impersonate_user(struct kubeconfig *c, const char *user, struct inf_error *err)
{
    if (!user[0] || str_has_control(str_of(user)))
        return err_set(err, INF_ECONF, "as: must be a user name without control characters");
    if (c->n_impersonate) /* the first header is always the user */
        str_replace(&c->impersonate[0].value, user);
    else
        add_header(c, xstrdup(IMPERSONATE_USER), user);
    return 0;
}

static void remove_headers(struct kubeconfig *c, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->n_impersonate; i++) {
        if (strcmp(c->impersonate[i].name, name) != 0) {
            c->impersonate[kept++] = c->impersonate[i];
            continue;
        }
        free(c->impersonate[i].name);
        free(c->impersonate[i].value);
    }
    c->n_impersonate = kept;
}

int impersonate_groups(struct kubeconfig *c, const char *const *groups, struct inf_error *err)
{
    remove_headers(c, IMPERSONATE_GROUP);
    for (; *groups; groups++) {
        if (!(*groups)[0] || str_has_control(str_of(*groups)))
            return err_set(err, INF_ECONF,
                           "as_groups: must be group names without control characters");
        if (c->n_impersonate >= IMPERSONATE_MAX)
            return err_set(err, INF_ECONF, "as_groups: too many groups; at most %d",
                           IMPERSONATE_MAX);
        add_header(c, xstrdup(IMPERSONATE_GROUP), *groups);
    }
    return 0;
}
