/*
 * test_full_further.c - test_further.c with four times the nights.
 *
 * needs: nothing
 */
#define TIMES 4
#include "tests/results/nights/test_further.c"
