#include "daemon/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "daemon/conf_logs.h"
#include "daemon/online.h"
#include "daemon/terminal.h"

int check_load(const char *path, struct conf *ret)
{
    struct conf_errors errors = {0};
    int rc = conf_load(path, ret, &errors);
    if (rc == 0) {
        rc = conf_logs_check(ret, &errors);
        if (rc)
            conf_free(ret);
    }
    if (rc)
        fwrite(errors.text.bytes, 1, errors.text.len, stderr);
    conf_errors_free(&errors);
    return rc ? EX_CONFIG : 0;
}

static void put_verdict(const struct conf *conf, const char *path, struct buf *out)
{
    buf_printf(out, "%s: ok, %zu watch%s, %zu event log%s\n", path, conf->n_watches,
               conf->n_watches == 1 ? "" : "es", conf->n_event_logs,
               conf->n_event_logs == 1 ? "" : "s");
}

int check_run(const struct options *options)
{
    struct buf out = {0};
    struct conf conf;
    int rc = check_load(options->conf, &conf);
    if (rc)
        return rc;
    if (options->command == COMMAND_CHECK)
        put_verdict(&conf, options->conf, &out);
    else
        conf_print(&conf, &out);
    if (options->online)
        rc = online_check(&conf, options->conf, terminal_has_colours(STDOUT_FILENO), &out);
    if (fwrite(out.bytes, 1, out.len, stdout) != out.len || fflush(stdout) != 0) {
        fprintf(stderr, "informerd: stdout: %s\n", strerror(errno));
        rc = EX_IOERR;
    }
    buf_free(&out);
    conf_free(&conf);
    return rc;
}
