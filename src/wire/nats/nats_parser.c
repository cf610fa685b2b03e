/*
 * nats_parser.c - a line, and after MSG and HMSG as many bytes as it says.
 *
 * Normal path: take_line() collects a line, read_line() recognizes its operation, take_body() collects the
 * message. What is returned points into the two buffers; they are emptied by the next call.
 */
#include "wire/nats/nats_parser.h"

#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "base/err.h"

enum {
    FIELDS_MAX = 5, /* of a line: HMSG subject sid reply headers total, without the operation */
};

/* ---- lines ---- */

/* Adds to the line up to its end. Returns 1 if it is complete, then without its line end. */
static int take_line(struct nats_parser *p, struct str *input, struct inf_error *err)
{
    const char *end = input->len ? memchr(input->at, '\n', input->len) : NULL;
    size_t len = end ? (size_t)(end - input->at) + 1 : input->len;
    if (buf_append(&p->line, input->at, len, NATS_LINE_MAX) < 0)
        return err_set(err, INF_ETOOBIG, "the server sent a line of more than %d bytes",
                       NATS_LINE_MAX);
    *input = (struct str){input->at + len, input->len - len};
    if (!end)
        return 0;
    p->line.len--;
    if (p->line.len && p->line.bytes[p->line.len - 1] == '\r')
        p->line.len--;
    return 1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct str take_word(struct str *rest)
{
    struct str word;
    size_t len = 0;
    while (rest->len && is_blank(rest->at[0]))
        *rest = (struct str){rest->at + 1, rest->len - 1};
    while (len < rest->len && !is_blank(rest->at[len]))
        len++;
    word = (struct str){rest->at, len};
    *rest = (struct str){rest->at + len, rest->len - len};
    return word;
}

static bool read_size(struct str word, size_t *ret)
{
    size_t value = 0;
    for (size_t i = 0; i < word.len; i++) {
        unsigned digit = (unsigned char)word.at[i] - (unsigned)'0';
        if (digit > 9 || value > NATS_MESSAGE_MAX)
            return false;
        value = 10 * value + digit;
    }
    *ret = value;
    return word.len > 0;
}

/* MSG subject sid [reply] total, HMSG subject sid [reply] headers total. */
static int begin_body(struct nats_parser *p, struct str rest, bool has_headers,
                      struct inf_error *err)
{
    struct str fields[FIELDS_MAX + 1];
    size_t n = 0, sizes = has_headers ? 2 : 1;
    while (n <= FIELDS_MAX && (fields[n] = take_word(&rest)).len)
        n++;
    p->headers_len = 0;
    if ((n != 2 + sizes && n != 3 + sizes) || !read_size(fields[n - 1], &p->total_len) ||
        (has_headers && !read_size(fields[n - 2], &p->headers_len)) ||
        p->headers_len > p->total_len)
        return err_set(err, INF_EPROTO, "the server sent a message with an invalid first line");
    if (p->total_len > NATS_MESSAGE_MAX)
        return err_set(err, INF_ETOOBIG, "the server sent a message of more than %d bytes",
                       NATS_MESSAGE_MAX);
    p->in_body = true;
    return 0;
}

static struct str without_quotes(struct str text)
{
    struct str word = text;
    while (word.len && is_blank(word.at[0]))
        word = (struct str){word.at + 1, word.len - 1};
    if (word.len >= 2 && word.at[0] == '\'' && word.at[word.len - 1] == '\'')
        word = (struct str){word.at + 1, word.len - 2};
    return word;
}

static const struct {
    const char *name;
    enum nats_op op;
    bool has_headers;
} operations[] = {
    {"INFO", NATS_INFO, false}, {"MSG", NATS_MSG, false},   {"HMSG", NATS_MSG, true},
    {"PING", NATS_PING, false}, {"PONG", NATS_PONG, false}, {"+OK", NATS_OK, false},
    {"-ERR", NATS_ERR, false},
};

/* Returns 1 if the line is a whole message, 0 if its body follows. */
static int read_line(struct nats_parser *p, struct nats_message *ret, struct inf_error *err)
{
    struct str rest = {p->line.bytes, p->line.len}, word = take_word(&rest);
    for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
        if (strlen(operations[i].name) != word.len ||
            strncasecmp(operations[i].name, word.at, word.len) != 0)
            continue;
        *ret = (struct nats_message){.op = operations[i].op, .text = without_quotes(rest)};
        if (ret->op == NATS_MSG)
            return begin_body(p, rest, operations[i].has_headers, err);
        return 1;
    }
    return err_set(err, INF_EPROTO, "the peer is no NATS server: it sent an unknown operation");
}

/* ---- messages ---- */

/* Adds to the body up to its line end. Returns 1 if it is complete. */
static int take_body(struct nats_parser *p, struct str *input, struct nats_message *ret,
                     struct inf_error *err)
{
    struct str line = {p->line.bytes, p->line.len};
    size_t missing = p->total_len + 2 - p->body.len;
    size_t len = missing < input->len ? missing : input->len;
    if (len)
        buf_put(&p->body, input->at, len);
    *input = (struct str){input->at + len, input->len - len};
    if (len < missing)
        return 0;
    if (memcmp(p->body.bytes + p->total_len, "\r\n", 2) != 0)
        return err_set(err, INF_EPROTO, "the server sent a message without a line end");
    take_word(&line);
    *ret = (struct nats_message){
        .op = NATS_MSG,
        .subject = take_word(&line),
        .headers = {p->body.bytes, p->headers_len},
        .payload = {p->body.bytes + p->headers_len, p->total_len - p->headers_len},
    };
    p->in_body = false;
    return 1;
}

static void forget_delivered(struct nats_parser *p)
{
    if (!p->delivered)
        return;
    p->delivered = false;
    buf_clear(&p->line);
    if (p->body.cap > NATS_LINE_MAX)
        buf_free(&p->body);
    buf_clear(&p->body);
}

int nats_parser_next(struct nats_parser *parser, struct str *input, struct nats_message *ret,
                     struct inf_error *err)
{
    int rc = 0;
    forget_delivered(parser);
    if (!parser->in_body) {
        rc = take_line(parser, input, err);
        if (rc == 1)
            rc = read_line(parser, ret, err);
    }
    if (rc == 0 && parser->in_body)
        rc = take_body(parser, input, ret, err);
    parser->delivered = rc == 1;
    return rc;
}

void nats_parser_free(struct nats_parser *parser)
{
    buf_free(&parser->line);
    buf_free(&parser->body);
    *parser = (struct nats_parser){0};
}

/* ---- headers ---- */

static struct str take_header_line(struct str *rest)
{
    const char *end = rest->len ? memchr(rest->at, '\n', rest->len) : NULL;
    size_t len = end ? (size_t)(end - rest->at) : rest->len, skip = end ? len + 1 : len;
    struct str line = {rest->at, len};
    line.len -= line.len && line.at[line.len - 1] == '\r';
    *rest = (struct str){rest->at + skip, rest->len - skip};
    return line;
}

int nats_headers_status(struct str headers)
{
    struct str line = take_header_line(&headers), word;
    size_t status;
    take_word(&line);
    word = take_word(&line);
    return word.len == 3 && read_size(word, &status) ? (int)status : 0;
}

bool nats_headers_get(struct str headers, const char *name, struct str *ret)
{
    size_t len = strlen(name);
    take_header_line(&headers);
    while (headers.len) {
        struct str line = take_header_line(&headers);
        if (line.len <= len || line.at[len] != ':' || memcmp(line.at, name, len) != 0)
            continue;
        line = (struct str){line.at + len + 1, line.len - len - 1};
        while (line.len && is_blank(line.at[0]))
            line = (struct str){line.at + 1, line.len - 1};
        *ret = line;
        return true;
    }
    return false;
}
