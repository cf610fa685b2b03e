/*
 * http.c - parses the head of a request: method, target, and the few headers that the simulator
 * uses. Anything else is ignored; an invalid or too large request closes the connection.
 */
#include "http.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/str.h"

/* Like the API server, accepts only the bare token: "a, gzip;q=0" contains a, but not gzip. */
static bool has_token(const char *list, const char *token)
{
    size_t len = strlen(token);
    while (*list) {
        size_t word = strcspn(list, ",");
        while (word && (*list == ' ' || *list == '\t'))
            list++, word--;
        while (word && (list[word - 1] == ' ' || list[word - 1] == '\t'))
            word--;
        if (word == len && strncasecmp(list, token, len) == 0)
            return true;
        list += strcspn(list, ",");
        list += *list == ',';
    }
    return false;
}

static bool is(struct str name, const char *word)
{
    return name.len == strlen(word) && strncasecmp(name.at, word, name.len) == 0;
}

/* False for a body that is not supported. */
static bool take_header(struct request *r, struct str name, const char *value)
{
    uint64_t length = 0;
    if (is(name, "authorization")) /* of another scheme, with its name: "Basic dTpw" */
        str_replace(&r->token, strncasecmp(value, "Bearer ", 7) == 0 ? value + 7 : value);
    if (is(name, "accept"))
        str_replace(&r->accept, value);
    if (is(name, "accept-encoding"))
        r->gzip = has_token(value, "gzip");
    if (is(name, "connection"))
        r->close = has_token(value, "close");
    if (is(name, "content-length")) {
        if (!parse_number(value, &length) || length > BODY_MAX)
            return false;
        r->body_len = (size_t)length;
    }
    return !is(name, "transfer-encoding");
}

static bool read_header(struct request *r, const char *line, size_t len)
{
    const char *colon = memchr(line, ':', len), *end = line + len, *at;
    char *value;
    bool fine;
    if (!colon)
        return false;
    for (at = colon + 1; at < end && (*at == ' ' || *at == '\t'); at++)
        ;
    value = xstrndup(at, (size_t)(end - at));
    fine = take_header(r, (struct str){line, (size_t)(colon - line)}, value);
    free(value);
    return fine;
}

/* GET /path?query HTTP/1.1 */
static bool read_line(struct request *r, const char *line, size_t len)
{
    const char *end = line + len, *space = memchr(line, ' ', len), *last, *question;
    if (!space)
        return false;
    last = memchr(space + 1, ' ', (size_t)(end - space - 1));
    if (!last || end - last != 9 || memcmp(last, " HTTP/1.", 8) != 0)
        return false;
    r->method = xstrndup(line, (size_t)(space - line));
    r->target = xstrndup(space + 1, (size_t)(last - space - 1));
    question = strchr(r->target, '?');
    r->path = xstrndup(r->target, question ? (size_t)(question - r->target) : strlen(r->target));
    if (question)
        params_parse(&r->query, question + 1, strlen(question + 1), '&');
    r->close = end[-1] == '0';
    return true;
}

static bool read_head(struct request *r, const char *at, const char *end)
{
    bool first = true;
    while (at < end) {
        const char *stop = memmem(at, (size_t)(end - at), "\r\n", 2);
        size_t len = (size_t)(stop - at);
        if (first ? !read_line(r, at, len) : !read_header(r, at, len))
            return false;
        first = false;
        at = stop + 2;
    }
    return true;
}

enum parse_result http_parse(struct request *r, const char *bytes, size_t len, size_t *ret_used)
{
    const char *blank = memmem(bytes, len, "\r\n\r\n", 4);
    size_t head = blank ? (size_t)(blank - bytes) + 4 : 0;
    if (!blank)
        return len > HEAD_MAX ? PARSE_INVALID : PARSE_PARTIAL;
    *r = (struct request){.accept = xstrdup("")};
    if (!read_head(r, bytes, blank + 2)) {
        request_free(r);
        return PARSE_INVALID;
    }
    if (len - head < r->body_len) {
        request_free(r);
        return PARSE_PARTIAL;
    }
    r->body = xstrndup(bytes + head, r->body_len);
    *ret_used = head + r->body_len;
    return PARSE_DONE;
}

void request_free(struct request *r)
{
    free(r->method);
    free(r->target);
    free(r->path);
    params_free(&r->query);
    free(r->token);
    free(r->accept);
    free(r->body);
    *r = (struct request){0};
}
