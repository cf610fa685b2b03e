/*
 * page.c - encodes and decodes continue tokens: base64url of a JSON object with version and key, as
 * in the API server.
 */
#include "page.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>
#include <yyjson.h>

#include "base/alloc.h"
#include "base/text/base64.h"
#include "base/text/json_string.h"

/* Translates between the two alphabets of base64. */
static void translate(char *text, const char *from, const char *to)
{
    for (; *text; text++) {
        const char *at = strchr(from, *text);
        if (at)
            *text = to[at - from];
    }
}

void page_put(struct buf *out, int64_t rv, const char *after)
{
    struct buf json = {0};
    char *text;
    buf_printf(&json, "{\"v\":\"meta.k8s.io/v1\",\"rv\":%lld,\"start\":", (long long)rv);
    json_put_string(&json, str_of(after));
    json.len--; /* the next page starts after this key: appends a NUL */
    buf_puts(&json, "\\u0000\"}");
    text = xmalloc(json.len * 4 / 3 + 5);
    EVP_EncodeBlock((unsigned char *)text, (const unsigned char *)json.bytes, (int)json.len);
    text[strcspn(text, "=")] = '\0';
    translate(text, "+/", "-_");
    buf_puts(out, text);
    free(text);
    buf_free(&json);
}

static bool read_json(struct page *ret, const char *json, size_t len)
{
    yyjson_doc *doc = yyjson_read(json, len, 0);
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_val *rv = yyjson_obj_get(root, "rv"), *start = yyjson_obj_get(root, "start");
    bool fine = yyjson_is_int(rv) && yyjson_is_str(start);
    if (fine)
        *ret = (struct page){yyjson_get_sint(rv), xstrdup(yyjson_get_str(start))};
    yyjson_doc_free(doc);
    return fine;
}

bool page_read(struct page *ret, const char *token)
{
    size_t len = strlen(token), json_len;
    char *padded = xasprintf("%s%s", token, len % 4 == 2 ? "==" : len % 4 == 3 ? "=" : ""), *json;
    bool fine = false;
    translate(padded, "-_", "+/");
    if (base64_decode(padded, strlen(padded), &json, &json_len) == 0) {
        fine = read_json(ret, json, json_len);
        free(json);
    }
    free(padded);
    return fine;
}
