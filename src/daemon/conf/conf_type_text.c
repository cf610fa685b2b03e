/*
 * conf_type_text.c - the text types: a string and a check of its syntax.
 *
 * Normal path: conf_text_read() reads a scalar, checks it against the character set or the check
 * function of the type, and stores it, a file path as an absolute one. Where the library has a
 * check, it is used. A long value is not repeated in the error message, and a proxy URL never is.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "informer/informer.h"
#include "informer/path.h"
#include "informer/selector.h"

#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/text/json_string.h"
#include "daemon/conf/conf_table.h"
#include "daemon/format/record_format.h"
#include "daemon/handler/webhook_preset.h"
#include "daemon/journal/filter.h"
#include "daemon/journal/noise.h"
#include "daemon/output/sink.h"
#include "daemon/rule/condition.h"
#include "wire/http/http_url.h"

enum {
    NAMESPACE_MAX = 63,   /* LIMIT: DNS label */
    HOST_MAX = 253,       /* LIMIT: DNS name */
    HEADER_MAX = 64,      /* LIMIT: name of an HTTP header */
    NAME_MAX_BYTES = 384, /* LIMIT: a resource with group and version is also a name */
};

#define DIGITS "0123456789"
#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* "'x' is not ...", or "a value of 80 bytes is not ...". */
static int value_error(const char *text, const char *why, struct inf_error *err)
{
    char *shown = conf_show(text);
    int rc = err_set(err, INF_ECONF, "%s %s", shown, why);
    free(shown);
    return rc;
}

/* ---- characters ---- */

/* Bytes of the character at @text; 0: not allowed in a value, or invalid UTF-8. */
static size_t character_len(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    size_t len = c[0] < 0x80 ? 1 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
    uint32_t code = len == 1 ? c[0] : c[0] & (0x7fu >> len);
    static const uint32_t smallest[] = {0, 0x20, 0xa0, 0x800, 0x10000};
    if ((c[0] >= 0x80 && c[0] < 0xc0) || c[0] > 0xf4 || c[0] == 0x7f)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (c[i] & 0x3f);
    }
    if (code < smallest[len] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ||
        code == 0xfeff || code == 0xfffe || code == 0xffff)
        return 0;
    return len;
}

/* ---- values parsed by the library ---- */

/* The error of the library. Its messages repeat the text, which is removed if it is long. */
static int library_error(const char *text, struct inf_error *why, struct inf_error *err)
{
    char *shown = conf_show(text);
    const char *column = strstr(why->text, "': column ");
    int rc = shown[0] == '\'' || !column ? err_set(err, INF_ECONF, "%s", why->text)
                                         : err_set(err, INF_ECONF, "%s", column + strlen("': "));
    free(shown);
    return rc;
}

static int check_selector(struct inf_selector *(*parse)(const char *text, struct inf_error *err),
                          const char *text, struct inf_error *err)
{
    struct inf_error why = {0};
    struct inf_selector *selector = parse(text, &why);
    if (!selector)
        return library_error(text, &why, err);
    inf_selector_free(selector);
    return 0;
}

static int check_label_selector(const char *text, struct inf_error *err)
{
    return check_selector(inf_selector_parse_labels, text, err);
}

static int check_field_selector(const char *text, struct inf_error *err)
{
    return check_selector(inf_selector_parse_fields, text, err);
}

static int check_field_path(const char *text, struct inf_error *err)
{
    struct inf_error why = {0};
    struct inf_path *path = inf_path_parse(text, &why);
    if (!path)
        return library_error(text, &why, err);
    inf_path_free(path);
    return 0;
}

static int check_regex(const char *text, struct inf_error *err)
{
    struct inf_error why = {0};
    regex_t regex;
    if (filter_regex_parse(text, &regex, &why) < 0)
        return err_set(err, INF_ECONF, "%s", why.text);
    regfree(&regex);
    return 0;
}

static int check_condition(const char *text, struct inf_error *err)
{
    struct inf_error why = {0};
    struct condition *condition = condition_parse(text, &why);
    if (!condition)
        return library_error(text, &why, err);
    condition_free(condition);
    return 0;
}

static int check_when(const char *text, struct inf_error *err)
{
    struct inf_error why = {0};
    enum inf_log_level level;
    struct condition *condition;
    if (filter_when_parse(text, &level, &condition, &why) < 0)
        return library_error(text, &why, err);
    condition_free(condition);
    return 0;
}

static int check_noise(const char *text, struct inf_error *err)
{
    struct inf_error why = {0};
    return noise_check(text, &why) == 0 ? 0 : library_error(text, &why, err);
}

static int check_resource(const char *text, struct inf_error *err)
{
    struct inf_error why = {0};
    if (inf_resource_check(text, &why) == 0)
        return 0;
    if (strlen(text) > NAME_MAX_BYTES)
        return value_error(text, "is not a resource; write it like pods or deployments.apps/v1",
                           err);
    return err_set(err, INF_ECONF, "%s", why.text);
}

/* The value is not shown: it may contain a password. */
static int check_proxy(const char *text, struct inf_error *err)
{
    struct inf_error why = {0};
    if (inf_proxy_check(text, &why) == 0)
        return 0;
    return err_set(err, INF_ECONF, "%s", why.text);
}

/* The value is not shown: it may contain a token. */
static int check_url(const char *text, struct inf_error *err)
{
    struct inf_error why = {0};
    struct http_url url;
    if (http_url_parse(text, &url, &why) < 0)
        return err_set(err, INF_ECONF, "%s", why.text);
    http_url_free(&url);
    return 0;
}

static int check_webhook_preset(const char *text, struct inf_error *err)
{
    struct inf_error why = {0};
    return webhook_preset_find(text, &why) ? 0 : value_error(text, why.text, err);
}

static int check_record_format(const char *text, struct inf_error *err)
{
    struct inf_error why = {0};
    if (strcmp(text, "full") == 0)
        return err_set(err, INF_ECONF,
                       "'full' is for the command line; use format: jsonl with object: full");
    if (record_format_check(text, &why) == 0)
        return 0;
    return err_set(err, INF_ECONF, "%s", why.text);
}

/* ---- addresses ---- */

/* Whether @text is an IP address, or "localhost", the only name that needs no lookup. */
static bool is_host_address(const char *text, size_t len)
{
    bool brackets = len > 2 && text[0] == '[' && text[len - 1] == ']';
    char *host = brackets ? xstrndup(text + 1, len - 2) : xstrndup(text, len);
    unsigned char ignored[sizeof(struct in6_addr)];
    bool valid = inet_pton(brackets ? AF_INET6 : AF_INET, host, ignored) == 1 ||
                 (!brackets && strcmp(host, "localhost") == 0);
    free(host);
    return valid;
}

static int check_address(const char *text, struct inf_error *err)
{
    const char *colon = strrchr(text, ':');
    size_t digits = colon ? strspn(colon + 1, DIGITS) : 0;
    if (digits && digits <= 5 && !colon[1 + digits] && atoi(colon + 1) <= 65535 &&
        is_host_address(text, (size_t)(colon - text)))
        return 0;
    return value_error(text,
                       "is not an address and port; write it like 127.0.0.1:9470 or "
                       "[::1]:9470",
                       err);
}

/* The largest number is not a user: for system calls it means "no change". */
static int check_uid(const char *text, struct inf_error *err)
{
    size_t digits = strspn(text, DIGITS);
    if (digits && digits <= 10 && !text[digits] && (text[0] != '0' || digits == 1) &&
        strtoull(text, NULL, 10) < UINT32_MAX)
        return 0;
    return value_error(text, "is not the number of a user; `id -u NAME` prints it", err);
}

/* ---- reading and writing ---- */

int conf_text_check(const struct conf_type *type, const char *text, struct inf_error *err)
{
    const struct conf_charset *charset = type->charset;
    size_t len = strlen(text);
    if (charset) {
        if (len && len <= charset->max && strspn(text, charset->inner) == len &&
            strchr(charset->ends, text[0]) && strchr(charset->ends, text[len - 1]))
            return 0;
        return value_error(text, charset->error, err);
    }
    /* before the check: the library repeats the text in its errors */
    for (const char *at = text; *at; at += len)
        if (!(len = character_len(at)))
            return err_set(err, INF_ECONF,
                           "contains an invalid character: a line break, a control character or "
                           "invalid UTF-8");
    return type->check ? type->check(text, err) : 0;
}

char *conf_text_read(struct conf_reader *reader, const struct conf_type *type,
                     const struct yaml_node *node)
{
    char *text = conf_scalar_read(reader, node);
    struct inf_error err = {0};
    if (text && conf_text_check(type, text, &err) < 0)
        conf_reader_error(reader, node, "%s", err.text);
    if (text && type->resolve) {
        char *resolved = type->resolve(node, text);
        free(text);
        text = resolved;
    }
    return text;
}

static void text_read(struct conf_reader *reader, const struct conf_option *option,
                      const struct yaml_node *node, void *member)
{
    char *text = conf_text_read(reader, option->type, node);
    if (!text)
        return;
    free(*(char **)member);
    *(char **)member = text;
}

/* Whether @text needs no quotes, also inside a list, and is not a YAML null. */
static bool is_plain(const char *text)
{
    static const char letters[] = LOWER UPPER DIGITS "_./-";
    struct yaml_node node = {.kind = YAML_SCALAR, .plain = true};
    char *copy;
    bool plain;
    if (strspn(text, letters) != strlen(text) || text[0] == '-')
        return false;
    copy = node.text = xstrdup(text);
    plain = !yaml_is_null(&node);
    free(copy);
    return plain;
}

void conf_text_write(const char *text, struct buf *out)
{
    struct buf doubled = {0};
    if (is_plain(text)) {
        buf_puts(out, text);
        return;
    }
    for (; *text; text++) /* dollar signs are doubled, as they could start a reference */
        buf_puts(&doubled, *text == '$' ? "$$" : (char[]){*text, '\0'});
    json_put_string(out, (struct str){doubled.bytes, doubled.len}); /* also a YAML scalar */
    buf_free(&doubled);
}

static void text_write(const struct conf_option *option, const void *member, struct buf *out)
{
    (void)option;
    conf_text_write(*(char *const *)member, out);
}

static bool text_equal(const struct conf_option *option, const void *a, const void *b)
{
    const char *one = *(char *const *)a, *other = *(char *const *)b;
    (void)option;
    return one && other ? strcmp(one, other) == 0 : one == other;
}

static bool text_is_set(const struct conf_option *option, const void *member)
{
    (void)option;
    return *(char *const *)member != NULL;
}

static void text_free(void *member)
{
    free(*(char **)member);
    *(char **)member = NULL;
}

/* ---- the types ---- */

#define TEXT_TYPE                                                                       \
    .read = text_read, .write = text_write, .equal = text_equal, .is_set = text_is_set, \
    .free = text_free

const struct conf_type conf_type_text = {TEXT_TYPE, .form = "string"};

static char *resolve_file(const struct yaml_node *node, const char *text)
{
    return path_beside(node->file, text);
}

const struct conf_type conf_type_file = {TEXT_TYPE, .form = "file path", .resolve = resolve_file};

static char *resolve_log_file(const struct yaml_node *node, const char *text)
{
    return sink_type_for(text) == &sink_file ? resolve_file(node, text) : xstrdup(text);
}

const struct conf_type conf_type_log_file = {TEXT_TYPE, .form = "file path or stdout",
                                             .resolve = resolve_log_file};

const struct conf_type conf_type_name = {
    TEXT_TYPE,
    .form = "name",
    .charset =
        &(const struct conf_charset){
            NAME_MAX_BYTES, LOWER DIGITS "-_./", LOWER DIGITS,
            "is not a valid name; use lower case letters, digits, '-', '_', '.' and '/', "
            "with a letter or digit at both ends"},
};

const struct conf_type conf_type_namespace = {
    TEXT_TYPE,
    .form = "namespace",
    .charset =
        &(const struct conf_charset){
            NAMESPACE_MAX, LOWER DIGITS "-", LOWER DIGITS,
            "is not a valid namespace; use at most 63 lower case letters, digits and '-', with a "
            "letter or digit at both ends"},
};

/* A DNS label that is no namespace. */
const struct conf_type conf_type_label = {
    TEXT_TYPE,
    .form = "DNS label",
    .charset =
        &(const struct conf_charset){
            NAMESPACE_MAX, LOWER DIGITS "-", LOWER DIGITS,
            "is not a valid name; use at most 63 lower case letters, digits and '-', with a letter "
            "or digit at both ends"},
};

const struct conf_type conf_type_namespace_pattern = {
    TEXT_TYPE,
    .form = "namespace pattern",
    .charset =
        &(const struct conf_charset){
            NAMESPACE_MAX, LOWER DIGITS "-*?", LOWER DIGITS "*?",
            "is not a valid namespace or pattern; use at most 63 lower case letters, digits, '*', "
            "'?' and '-', without '-' at either end"},
};

/* A name as in a Host header, without port. IP addresses are always allowed and need no entry. */
const struct conf_type conf_type_host = {
    TEXT_TYPE,
    .form = "host name",
    .charset =
        &(const struct conf_charset){
            HOST_MAX, LOWER UPPER DIGITS "-._", LOWER UPPER DIGITS,
            "is not a host name; write it without scheme, port and path, like "
            "metrics.example.com"},
};

const struct conf_type conf_type_header = {
    TEXT_TYPE,
    .form = "header name",
    .charset = &(
        const struct conf_charset){HEADER_MAX, LOWER UPPER DIGITS "-_", LOWER UPPER DIGITS,
                                   "is not the name of a header; use letters, digits, '-' and '_'"},
};

const struct conf_type conf_type_address = {TEXT_TYPE, .form = "address:port",
                                            .check = check_address};
const struct conf_type conf_type_uid = {TEXT_TYPE, .form = "number", .check = check_uid};
const struct conf_type conf_type_resource = {TEXT_TYPE, .form = "resource",
                                             .check = check_resource};
const struct conf_type conf_type_label_selector = {TEXT_TYPE, .form = "label selector",
                                                   .check = check_label_selector};
const struct conf_type conf_type_field_selector = {TEXT_TYPE, .form = "field selector",
                                                   .check = check_field_selector};
const struct conf_type conf_type_record_format = {TEXT_TYPE, .form = "record format",
                                                  .check = check_record_format};
const struct conf_type conf_type_url = {TEXT_TYPE, .form = "URL", .check = check_url};
const struct conf_type conf_type_webhook_preset = {TEXT_TYPE, .form = "preset",
                                                   .check = check_webhook_preset};
const struct conf_type conf_type_field_path = {TEXT_TYPE, .form = "field path",
                                               .check = check_field_path};
const struct conf_type conf_type_regex = {TEXT_TYPE, .form = "regular expression",
                                          .check = check_regex};
const struct conf_type conf_type_noise = {TEXT_TYPE, .form = "preset or field path",
                                          .check = check_noise};
const struct conf_type conf_type_condition = {TEXT_TYPE, .form = "condition",
                                              .check = check_condition};

const struct conf_type conf_type_when = {TEXT_TYPE, .form = "condition", .check = check_when};

const struct conf_type conf_type_kind = {
    TEXT_TYPE,
    .form = "kind",
    .charset =
        &(const struct conf_charset){
            NAMESPACE_MAX, LOWER UPPER DIGITS, LOWER UPPER DIGITS,
            "is not a kind; use letters and digits only, like Pod or PersistentVolumeClaim"},
};

/* Hides the login, so the value does not read as the same. */
static void proxy_write(const struct conf_option *option, const void *member, struct buf *out)
{
    const char *url = *(char *const *)member;
    const char *login = strstr(url, "://"), *at = strrchr(url, '@');
    char *shown = login && at ? xasprintf("%.*s***%s", (int)(login + 3 - url), url, at) : NULL;
    (void)option;
    conf_text_write(shown ? shown : url, out);
    free(shown);
}

const struct conf_type conf_type_proxy = {
    .read = text_read,
    .write = proxy_write,
    .equal = text_equal,
    .is_set = text_is_set,
    .free = text_free,
    .form = "URL, none or env",
    .check = check_proxy,
};
