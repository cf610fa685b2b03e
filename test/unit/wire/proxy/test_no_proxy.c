/*
 * test_no_proxy.c - NO_PROXY as Go's programs read it: compared with what the package that kubectl
 * uses returns for 800 lists and 40 hosts (test/data/no_proxy, where generate.go is).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "wire/proxy/proxy_url.h"

enum {
    HOSTS = 40,
    LISTS = 800,
};

struct table {
    FILE *file;
    struct {
        char *name;
        uint16_t port;
    } hosts[HOSTS];
    size_t n_hosts;
    size_t cases, differences;
};

/* "host NAME:PORT" */
static void read_host(struct table *t, char *line)
{
    char *colon = strrchr(line, ':');
    assert_true(t->n_hosts < HOSTS);
    t->hosts[t->n_hosts].port = (uint16_t)atoi(colon + 1);
    t->hosts[t->n_hosts++].name = xstrndup(line, (size_t)(colon - line));
}

/* "\x09" becomes a tab. */
static void unescape(char *text)
{
    char *to = text;
    while (*text) {
        if (strncmp(text, "\\x", 2) == 0) {
            char digits[] = {text[2], text[3], '\0'};
            *to++ = (char)strtoul(digits, NULL, 16);
            text += 4;
        } else {
            *to++ = *text++;
        }
    }
    *to = '\0';
}

static bool is_direct(const struct table *t, size_t host)
{
    struct proxy proxy;
    bool direct;
    assert_int_equal(proxy_from_env(true, t->hosts[host].name, t->hosts[host].port, &proxy, NULL),
                     0);
    direct = !proxy.host;
    proxy_free(&proxy);
    return direct;
}

/* "0110... LIST|" */
static void check_list(struct table *t, char *line)
{
    char *list = line + HOSTS + 1;
    assert_int_equal(t->n_hosts, HOSTS);
    *strrchr(list, '|') = '\0';
    unescape(list);
    setenv("NO_PROXY", list, 1);
    for (size_t i = 0; i < HOSTS; i++, t->cases++)
        if (is_direct(t, i) != (line[i] == '1')) {
            t->differences++;
            print_error("'%s' and %s:%u: Go says %s\n", list, t->hosts[i].name, t->hosts[i].port,
                        line[i] == '1' ? "direct" : "by proxy");
        }
}

static void no_proxy_has_the_same_meaning_as_in_go(void **state)
{
    struct table t = {.n_hosts = 0};
    char *path = xasprintf("%s/no_proxy/cases.txt", getenv("TEST_DATA")), line[1024];
    (void)state;
    t.file = fopen(path, "r");
    assert_non_null(t.file);
    setenv("HTTPS_PROXY", "http://p:1", 1);
    unsetenv("no_proxy");
    while (fgets(line, sizeof(line), t.file)) {
        if (strncmp(line, "host ", 5) == 0)
            read_host(&t, line + 5);
        else if (line[0] != '#')
            check_list(&t, line);
    }
    assert_int_equal(t.cases, HOSTS * LISTS);
    assert_int_equal(t.differences, 0);
    for (size_t i = 0; i < HOSTS; i++)
        free(t.hosts[i].name);
    fclose(t.file);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_proxy_has_the_same_meaning_as_in_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
