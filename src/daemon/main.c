#include <malloc.h>

#include "daemon/check.h"
#include "daemon/options.h"
#include "daemon/watch.h"

/*
 * glibc keeps small freed pieces aside and puts them together all at once when a large one is freed:
 * after a relist of 100,000 objects that holds the loop for 5 to 10 ms. Without that it is done piece
 * by piece (test/bench/bench_engine.c shows both).
 */
static void keep_malloc_even(void)
{
    mallopt(M_MXFAST, 0);
}

int main(int argc, char **argv)
{
    struct options options;
    int rc;
    keep_malloc_even();
    rc = options_parse(argc, argv, &options);
    if (rc || options.command == COMMAND_DONE)
        return rc;
    return options.command == COMMAND_WATCH ? watch_run(&options) : check_run(&options);
}
