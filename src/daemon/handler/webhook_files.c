/*
 * webhook_files.c - reads and compares the texts. A file that can't be read is an error that names the
 * option and the file.
 */
#include "daemon/handler/webhook_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/err.h"
#include "base/str.h"
#include "daemon/handler/option_file.h"

static int read_all(const struct conf_webhook *conf, struct webhook_texts *t, struct inf_error *err)
{
    if (option_file_line("url_file", conf->url_file, WEBHOOK_FILE_MAX, &t->url, err) < 0 ||
        option_file_text("ca_file", conf->ca_file, WEBHOOK_CA_FILE_MAX, &t->ca, err) < 0 ||
        option_file_text("cert_file", conf->cert_file, WEBHOOK_FILE_MAX, &t->cert, err) < 0 ||
        option_file_text("key_file", conf->key_file, WEBHOOK_FILE_MAX, &t->key, err) < 0 ||
        option_file_line("signature_key_file", conf->signature_key_file, WEBHOOK_FILE_MAX,
                         &t->signature_key, err) < 0)
        return -err->code;
    for (size_t i = 0; i < conf->header_files.count && i < WEBHOOK_HEADER_FILES_MAX; i++)
        if (option_file_line("header_files", conf->header_files.items[i].path, WEBHOOK_FILE_MAX,
                             &t->headers[i], err) < 0)
            return -err->code;
    return 0;
}

int webhook_texts_read(const struct conf_webhook *conf, struct webhook_texts *ret,
                       struct inf_error *err)
{
    struct webhook_texts texts = {0};
    int rc = read_all(conf, &texts, err);
    if (rc < 0)
        webhook_texts_free(&texts);
    *ret = texts;
    return rc;
}

bool webhook_texts_equal(const struct webhook_texts *a, const struct webhook_texts *b)
{
    for (size_t i = 0; i < WEBHOOK_HEADER_FILES_MAX; i++)
        if (!cstr_eq(a->headers[i], b->headers[i]))
            return false;
    return cstr_eq(a->url, b->url) && cstr_eq(a->ca, b->ca) && cstr_eq(a->cert, b->cert) &&
           cstr_eq(a->key, b->key) && cstr_eq(a->signature_key, b->signature_key);
}

void webhook_texts_free(struct webhook_texts *texts)
{
    secret_free(texts->url);
    free(texts->ca);
    secret_free(texts->cert);
    secret_free(texts->key);
    secret_free(texts->signature_key);
    for (size_t i = 0; i < WEBHOOK_HEADER_FILES_MAX; i++)
        secret_free(texts->headers[i]);
    *texts = (struct webhook_texts){0};
}

/* ---- the options ---- */

static void copy_names(const struct conf_indexes *from, struct conf_indexes *to)
{
    *to = (struct conf_indexes){.items = xcalloc(from->count ? from->count : 1, sizeof(*to->items)),
                                .count = from->count};
    for (size_t i = 0; i < from->count; i++)
        to->items[i] = (struct inf_index){.name = xstrdup(from->items[i].name),
                                          .path = xstrdup(from->items[i].path)};
}

static void free_names(struct conf_indexes *names)
{
    for (size_t i = 0; i < names->count; i++) {
        free((char *)(uintptr_t)names->items[i].name);
        free((char *)(uintptr_t)names->items[i].path);
    }
    free(names->items);
}

void webhook_conf_copy(const struct conf_webhook *conf, struct conf_webhook *ret)
{
    *ret = (struct conf_webhook){
        .url = xstrdup_or_null(conf->url),
        .url_file = xstrdup_or_null(conf->url_file),
        .signature_key_file = xstrdup_or_null(conf->signature_key_file),
        .ca_file = xstrdup_or_null(conf->ca_file),
        .cert_file = xstrdup_or_null(conf->cert_file),
        .key_file = xstrdup_or_null(conf->key_file),
        .proxy = xstrdup_or_null(conf->proxy),
    };
    copy_names(&conf->headers, &ret->headers);
    copy_names(&conf->header_files, &ret->header_files);
}

void webhook_conf_free(struct conf_webhook *copy)
{
    free(copy->url);
    free(copy->url_file);
    free(copy->signature_key_file);
    free(copy->ca_file);
    free(copy->cert_file);
    free(copy->key_file);
    secret_free(copy->proxy); /* may contain a password */
    free_names(&copy->headers);
    free_names(&copy->header_files);
    *copy = (struct conf_webhook){0};
}
