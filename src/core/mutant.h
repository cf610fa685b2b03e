/*
 * mutant.h - engines that are wrong on purpose, to prove that the tests would notice.
 *
 * In a build with -DINF_MUTANTS the environment variable INFORMER_MUTANT names one; otherwise every
 * MUTANT() is a constant 0 and nothing of this is in the program. `grep MUTANT( src` is the list.
 */
#ifndef CORE_MUTANT_H
#define CORE_MUTANT_H

#ifdef INF_MUTANTS
#include <stdlib.h>
#include <string.h>

static inline int mutant_is(const char *name)
{
    const char *chosen = getenv("INFORMER_MUTANT");
    return chosen && strcmp(chosen, name) == 0;
}
#define MUTANT(name) mutant_is(name)
#else
#define MUTANT(name) 0
#endif

#endif
