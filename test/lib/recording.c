#include "recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/file.h"

enum {
    RECORDING_MAX = 1024 * 1024,
};

static void read_wire(struct recording *r, const char *name)
{
    const char *data = getenv("TEST_DATA");
    char *path = xasprintf("%s/recordings/%s.http", data ? data : "test/data", name), *text;
    struct inf_error err;
    size_t len;
    if (file_read(path, RECORDING_MAX, &text, &len, &err) < 0)
        fail_msg("%s (TEST_DATA names the directory)", err.text);
    r->wire = (struct buf){.bytes = text, .len = len, .cap = len};
    free(path);
}

/* The value of a header, which the caller frees; NULL: none. The head ends in an empty line, so
 * each header ends in "\r\n". */
static char *header(struct str head, const char *name)
{
    char *copy = xstrndup(head.at, head.len), *start = xasprintf("\r\n%s: ", name);
    char *at = strstr(copy, start), *value = NULL;
    if (at) {
        at += strlen(start);
        value = xstrndup(at, strcspn(at, "\r"));
    }
    free(copy);
    free(start);
    return value;
}

static void join_chunks(struct recording *r, const char *at)
{
    char *data;
    size_t len;
    r->edges = xcalloc(r->wire.len, sizeof(*r->edges)); /* a chunk has more than two bytes */
    while ((len = strtoul(at, &data, 16))) {
        buf_put(&r->body, data + 2, len);
        r->edges[r->n_edges++] = (size_t)(data + 2 - r->wire.bytes);
        at = data + 2 + len + 2;
        r->edges[r->n_edges++] = (size_t)(at - r->wire.bytes);
    }
}

void recording_open(struct recording *r, const char *name)
{
    const char *end;
    char *chunked;
    struct str head;
    *r = (struct recording){.at = 0};
    read_wire(r, name);
    end = strstr(r->wire.bytes, "\r\n\r\n");
    assert_non_null(end);
    head = (struct str){r->wire.bytes, (size_t)(end - r->wire.bytes) + 2};
    end += 4;
    r->status = atoi(r->wire.bytes + strlen("HTTP/1.1 "));
    r->retry_after = header(head, "Retry-After");
    chunked = header(head, "Transfer-Encoding");
    if (chunked)
        join_chunks(r, end);
    else
        buf_put(&r->body, end, r->wire.len - (size_t)(end - r->wire.bytes));
    free(chunked);
}

void recording_close(struct recording *r)
{
    buf_free(&r->wire);
    buf_free(&r->body);
    free(r->edges);
    free(r->retry_after);
}

bool recording_next(struct recording *r, struct str *ret_line)
{
    while (r->at < r->body.len) {
        const char *line = r->body.bytes + r->at;
        const char *end = memchr(line, '\n', r->body.len - r->at);
        size_t len = end ? (size_t)(end - line) : r->body.len - r->at;
        r->at += len + 1;
        *ret_line = (struct str){line, len};
        if (len)
            return true;
    }
    return false;
}
