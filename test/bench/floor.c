/*
 * floor.c - the least that a client can do, as the floor of the benchmark:  floor KUBECONFIG
 *
 * It reads one watch of all pods with blocking reads, decrypts (OpenSSL), takes the chunks apart
 * (llhttp), parses each event (yyjson), removes the managedFields and keeps the text in a map. It
 * writes no log, has no timers, checks nothing and recovers from nothing: when the connection ends it
 * lists again. The protocol with the driver is in tally.h.
 *
 * The driver always sends `expect` before the changes, so commands are only read before a change is
 * counted, and only after SIGIO: a steady change costs no system call but its read.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <llhttp.h>
#include <openssl/ssl.h>
#include <yyjson.h>

#include "base/alloc.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/hashmap.h"
#include "tally.h"

enum {
    READ = 64 * 1024,
    KEY_MAX = 512,
};

struct entry {
    struct hash_node node;
    char *text;
    size_t len;
    char key[];
};

struct floor {
    char ca[256];
    unsigned port;
    SSL_CTX *tls;
    llhttp_t http;
    llhttp_settings_t settings;
    struct buf event; /* the beginning of an event */
    struct hashmap objects;
    struct tally tally;
    bool synced;
};

static volatile sig_atomic_t has_command;

static void on_sigio(int number)
{
    (void)number;
    has_command = 1;
}

static void die(const char *what)
{
    fprintf(stderr, "floor: %s\n", what);
    exit(EXIT_FAILURE);
}

/* ---- objects ---- */

static uint64_t hash_of(const char *key)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (; *key; key++)
        hash = (hash ^ (unsigned char)*key) * 1099511628211u;
    return hash;
}

static bool same_key(const void *key, const struct hash_node *node)
{
    return strcmp(key, container_of(node, const struct entry, node)->key) == 0;
}

static struct entry *entry_of(struct floor *f, const char *key)
{
    uint64_t hash = hash_of(key);
    struct hash_node *found = hashmap_find(&f->objects, hash, same_key, key);
    struct entry *made;
    if (found)
        return container_of(found, struct entry, node);
    made = xmalloc(sizeof(*made) + strlen(key) + 1);
    made->text = NULL;
    strcpy(made->key, key);
    hashmap_add(&f->objects, &made->node, hash);
    return made;
}

/* The end of the JSON array that begins at @at. */
static const char *array_end(const char *at)
{
    int depth = 0;
    for (bool quoted = false;; at++) {
        if (quoted && *at == '\\')
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (!quoted && *at == '[')
            depth++;
        else if (!quoted && *at == ']' && --depth == 0)
            return at + 1;
    }
}

/* Keeps the event without its managedFields. */
static void keep(struct entry *entry, const char *text, size_t len)
{
    static const char name[] = "\"managedFields\":";
    const char *at = memmem(text, len, name, sizeof(name) - 1), *end = text + len;
    const char *after = at ? array_end(at + sizeof(name) - 1) : end;
    size_t before = at ? (size_t)(at - text) : len;
    free(entry->text);
    entry->len = before + (size_t)(end - after);
    entry->text = xmalloc(entry->len);
    memcpy(entry->text, text, before);
    memcpy(entry->text + before, after, (size_t)(end - after));
}

/* ---- events ---- */

static void read_command(struct floor *f)
{
    char line[64];
    ssize_t n = read(STDIN_FILENO, line, sizeof(line) - 1);
    has_command = 0;
    if (n == 0)
        exit(EXIT_SUCCESS);
    line[n > 0 ? n : 0] = '\0';
    tally_run_command(&f->tally, line);
}

static void take_event(struct floor *f, const char *text, size_t len)
{
    yyjson_doc *doc = yyjson_read(text, len, 0);
    yyjson_val *root = yyjson_doc_get_root(doc), *object = yyjson_obj_get(root, "object");
    yyjson_val *meta = yyjson_obj_get(object, "metadata");
    const char *type = yyjson_get_str(yyjson_obj_get(root, "type"));
    const char *sent = yyjson_get_str(yyjson_obj_get(yyjson_obj_get(object, "status"), "message"));
    char key[KEY_MAX];
    if (!doc)
        die("an event is not JSON");
    if (strcmp(type, "BOOKMARK") == 0) {
        if (!f->synced)
            printf("synced\n");
        f->synced = true;
    } else {
        snprintf(key, sizeof(key), "%s/%s", yyjson_get_str(yyjson_obj_get(meta, "namespace")),
                 yyjson_get_str(yyjson_obj_get(meta, "name")));
        keep(entry_of(f, key), text, len);
    }
    if (has_command)
        read_command(f);
    if (strcmp(type, "MODIFIED") == 0)
        tally_add(&f->tally, sent);
    yyjson_doc_free(doc);
}

static int on_body(llhttp_t *http, const char *bytes, size_t len)
{
    struct floor *f = http->data;
    const char *end;
    while ((end = memchr(bytes, '\n', len))) {
        size_t line = (size_t)(end - bytes) + 1;
        if (f->event.len) {
            buf_put(&f->event, bytes, line);
            take_event(f, f->event.bytes, f->event.len);
            buf_clear(&f->event);
        } else {
            take_event(f, bytes, line);
        }
        bytes += line;
        len -= line;
    }
    buf_put(&f->event, bytes, len);
    return 0;
}

/* ---- the connection ---- */

static void read_kubeconfig(struct floor *f, const char *path)
{
    char text[4096];
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    const char *server, *ca;
    text[n] = '\0';
    server = strstr(text, "https://127.0.0.1:");
    ca = strstr(text, "certificate-authority: ");
    if (!server || sscanf(server, "https://127.0.0.1:%u", &f->port) != 1 || !ca ||
        sscanf(ca, "certificate-authority: %255[^ }]", f->ca) != 1)
        die("usage: floor KUBECONFIG, as bench.py writes it");
    fclose(file);
}

static SSL *connect_to(struct floor *f)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((uint16_t)f->port)};
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    SSL *ssl = SSL_new(f->tls);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || !SSL_set_fd(ssl, fd) ||
        SSL_connect(ssl) != 1)
        die("can't connect");
    return ssl;
}

/* Watches until the connection ends. */
static void watch(struct floor *f)
{
    static const char request[] =
        "GET /api/v1/pods?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&"
        "resourceVersionMatch=NotOlderThan HTTP/1.1\r\nHost: bench\r\n\r\n";
    static char bytes[READ];
    SSL *ssl = connect_to(f);
    int n;
    llhttp_init(&f->http, HTTP_RESPONSE, &f->settings);
    f->http.data = f;
    buf_clear(&f->event);
    SSL_write(ssl, request, sizeof(request) - 1);
    while ((n = SSL_read(ssl, bytes, sizeof(bytes))) > 0)
        if (llhttp_execute(&f->http, bytes, (size_t)n) != HPE_OK)
            die("the response is not HTTP");
    close(SSL_get_fd(ssl));
    SSL_free(ssl);
}

int main(int argc, char **argv)
{
    static struct floor f;
    struct sigaction action = {.sa_handler = on_sigio, .sa_flags = SA_RESTART};
    if (argc < 2)
        die("usage: floor KUBECONFIG");
    read_kubeconfig(&f, argv[1]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    sigaction(SIGIO, &action, NULL);
    fcntl(STDIN_FILENO, F_SETOWN, getpid());
    fcntl(STDIN_FILENO, F_SETFL, O_ASYNC | O_NONBLOCK);
    llhttp_settings_init(&f.settings);
    f.settings.on_body = on_body;
    f.tls = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_verify(f.tls, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_read_ahead(f.tls, 1); /* one read for a header and its record */
    SSL_CTX_set_default_read_buffer_len(f.tls, READ);
    if (SSL_CTX_load_verify_locations(f.tls, f.ca, NULL) != 1)
        die("can't read the certificate authority");
    for (;;)
        watch(&f);
}
