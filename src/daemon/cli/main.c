/*
 * main.c - entry point of informerd: parses the command line and runs the command. Each command
 * prints its own errors and returns its exit code.
 */
#include <malloc.h>

#include "daemon/cli/adhoc.h"
#include "daemon/cli/check.h"
#include "daemon/cli/options.h"
#include "daemon/cli/rbac.h"
#include "daemon/daemon.h"
#include "daemon/signals.h"

/*
 * Disables the fast bins of glibc. With them, small freed chunks are merged all at once when a
 * large one is freed; after a relist of 100,000 objects that blocks the loop for 5 to 10 ms.
 * Without them each chunk is merged when it is freed (test/bench/bench_engine.c shows both).
 */
static void disable_malloc_fast_bins(void)
{
    mallopt(M_MXFAST, 0);
}

int main(int argc, char **argv)
{
    struct options options;
    struct conf conf;
    int rc;
    signals_hold(); /* until the daemon has installed its handlers */
    disable_malloc_fast_bins();
    rc = options_parse(argc, argv, &options);
    if (rc)
        return rc;
    switch (options.command) {
    case COMMAND_RUN:
        rc = check_load(options.conf, &conf);
        return rc ? rc : daemon_run(&conf, &(struct daemon_options){.conf_path = options.conf});
    case COMMAND_WATCH:
        rc = adhoc_conf(&options, &conf);
        return rc ? rc : daemon_run(&conf, &(struct daemon_options){.ad_hoc = true});
    case COMMAND_CHECK:
    case COMMAND_PRINT: signals_release(); return check_run(&options);
    case COMMAND_RBAC: signals_release(); return rbac_run(&options);
    case COMMAND_DONE: break;
    }
    return 0;
}
