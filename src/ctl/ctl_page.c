/*
 * ctl_page.c - `informerctl page`: the address of the web page, with a one-time code.
 *
 * The code comes over the Unix socket and is in the fragment of the address, which browsers do not send;
 * the page exchanges it for a session. If there is a display, the address is also opened in a browser: the
 * command becomes xdg-open, whose output is discarded. Other users can read the arguments of a program,
 * so xdg-open gets a file that only this user can read, which redirects to the address.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "ctl/ctl.h"

struct page_options {
    const char *socket; /* the first member: see FLAG_SOCKET */
    bool no_open;
};

static const struct flag page_flags[] = {
    {0, "no-open", NULL, offsetof(struct page_options, no_open),
     .help = "only print the address, also if there is a display"},
    FLAG_SOCKET(struct page_options),
    {0},
};

static bool has_display(void)
{
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return (x && x[0]) || (wayland && wayland[0]);
}

/* Writes the file that redirects to @url into the user's directory for such files. The next call replaces
 * it. Returns its path, or NULL if there is no such directory; the caller frees it. */
static char *write_redirect(const char *url)
{
    const char *dir = getenv("XDG_RUNTIME_DIR");
    char *path = dir && dir[0] == '/' ? xasprintf("%s/informerd-page.html", dir) : NULL;
    struct buf html = {.secret = true};
    int fd = -1;
    bool written;
    if (!path)
        return NULL;
    buf_printf(&html, "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=%s\">\n", url);
    unlink(path); /* a new file has our owner and mode */
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    written = fd >= 0 && write(fd, html.bytes, html.len) == (ssize_t)html.len;
    if (fd >= 0)
        close(fd);
    buf_free(&html);
    if (written)
        return path;
    free(path);
    return NULL;
}

/* Does not return if there is an xdg-open and a directory for the file. */
static void open_browser(const char *url)
{
    char *path = write_redirect(url);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (path && null >= 0) {
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execlp("xdg-open", "xdg-open", path, (char *)NULL);
    }
    free(path);
}

/* Requests the address and a code. Returns 0, or prints the error and returns the exit code. */
static int fetch_url(struct client *client, char **ret)
{
    struct ctl_answer access = {0}, code = {0};
    char *address, *server, *text;
    int rc = ctl_fetch(client, "/informerd/v1/access", NULL, &access);
    if (rc == 0)
        rc = ctl_fetch(client, "/informerd/v1/code", NULL, &code);
    if (rc == 0) {
        address = ctl_json_text(access.root, "address");
        server = ctl_server_url(address);
        text = ctl_json_text(code.root, "code");
        *ret = xasprintf("%s/#code=%s", server, text);
        secret_free(text);
        free(server);
        free(address);
    }
    ctl_answer_free(&access);
    ctl_answer_free(&code);
    return rc;
}

static int page_run(const void *options)
{
    const struct page_options *o = options;
    struct client *client = NULL;
    struct buf out = {.secret = true};
    char *url = NULL;
    int rc = ctl_connect(o->socket, &client);
    if (rc == 0)
        rc = fetch_url(client, &url);
    if (rc == 0) {
        buf_printf(&out, "%s\n", url);
        rc = command_print(&out);
    }
    client_close(client);
    buf_free(&out);
    if (rc == 0 && !o->no_open && has_display())
        open_browser(url);
    secret_free(url);
    return rc;
}

const struct command ctl_page = {
    .name = "page",
    .arguments = "[--no-open]",
    .summary = "print the address of the web page and open it",
    .description = "Print the address of informerd's web page with a code that is valid once, "
                   "within 60 seconds. If there is a display, the page is opened in a browser.",
    .flags = page_flags,
    .notes = "The page is served at api.listen with a certificate that informerd has\n"
             "signed itself. Browsers do not know it: accept it once.\n",
    .size = sizeof(struct page_options),
    .parse = ctl_plain_parse,
    .run = page_run,
};
