/*
 * mutant.h - named faults of the engine, to prove that the tests detect them.
 *
 * In a build with -DINF_MUTANTS the environment variable INFORMER_MUTANT selects one. In other
 * builds every MUTANT() is a constant 0 and adds no code. `grep MUTANT( src` lists them.
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
