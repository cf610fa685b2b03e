/*
 * death.h - runs code that must abort in a child process, and checks its output.
 */
#ifndef TEST_DEATH_H
#define TEST_DEATH_H

/* Calls @act(@arg) in a child process; the test fails unless it aborts with exactly @words on
 * stderr. */
void assert_aborts(void (*act)(void *arg), void *arg, const char *words);

#endif
