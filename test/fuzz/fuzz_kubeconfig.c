/*
 * fuzz_kubeconfig.c - any text as a kubeconfig: either an error with its position, or a configuration
 * with all required parts.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "kube/config/kubeconfig.h"

static void check(const struct kubeconfig *c)
{
    MUST(c->origin && c->context && c->cluster && c->server && c->host && c->namespace);
    MUST(c->https || !(c->token || c->token_file || c->basic || c->exec || c->cert_pem));
    MUST(!c->cert_pem == !c->key_pem);
    MUST(!(c->insecure && c->ca_pem));
    MUST(!(c->basic && (c->token || c->token_file)));
    MUST(!c->exec || (c->exec->argv[0] && c->exec->api_version && c->exec->env));
    MUST(kubeconfig_equal(c, c));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct kubeconfig c;
    struct inf_error err;
    char path[64];
    int fd = memfd_create("kubeconfig", MFD_CLOEXEC), rc;
    MUST(fd >= 0);
    MUST(write(fd, bytes, len) == (ssize_t)len);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    rc = kubeconfig_load(&(struct kubeconfig_choice){.path = path}, &c, &err);
    MUST(rc == 0 || (rc == -INF_ECONF && err.code == INF_ECONF && strstr(err.text, path)));
    if (rc == 0) {
        check(&c);
        kubeconfig_free(&c);
    }
    close(fd);
    return 0;
}
