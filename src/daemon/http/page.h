/*
 * page.h - the web page, at api.listen: its files, and the login.
 *
 *     GET  /, /page/NAME              a file of src/daemon/http/page; the same for every client
 *     POST /informerd/v1/session      a one-time code in the body; the answer is the token of a session
 *
 * Files contain no data, so they need no token. Everything that the page shows it requests from the local
 * API, with its token, under the rules for readers.
 */
#ifndef DAEMON_HTTP_PAGE_H
#define DAEMON_HTTP_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/http/http_server.h"

#define PAGE_LOGIN_PATH "/informerd/v1/session"

struct daemon;

/* A file, compiled into the program: see page/embed.py. */
struct page_file {
    const char *path;
    const char *type;
    const char *etag; /* with its quotes */
    const unsigned char *bytes;
    size_t len;
};

extern const struct page_file page_files[]; /* ends with a zeroed one */

/* Responds to a request for a file or a login. Returns false if @request is neither. */
bool page_respond(struct daemon *d, const struct http_server_request *request,
                  struct http_exchange *exchange);

#endif
