/*
 * death.h - what aborts, aborts in a child of its own, and the parent reads its last words.
 */
#ifndef TEST_DEATH_H
#define TEST_DEATH_H

/* Calls @act(@arg) in a child; the test fails unless that aborts, having said exactly @words on
 * stderr. */
void assert_aborts(void (*act)(void *arg), void *arg, const char *words);

#endif
