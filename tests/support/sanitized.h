/*
 * sanitized.h - whether a sanitizer is built in that makes code several times as slow, or does not
 * bear what a test does.
 */
#ifndef BENCH_TESTS_SANITIZED_H
#define BENCH_TESTS_SANITIZED_H

#ifdef __has_feature
#define BUILT_WITH(sanitizer) __has_feature(sanitizer)
#else
#define BUILT_WITH(sanitizer) 0
#endif
/* Of threads. */
#if defined(__SANITIZE_THREAD__) || BUILT_WITH(thread_sanitizer)
#define RACES_SOUGHT 1
#else
#define RACES_SOUGHT 0
#endif
/* Of threads or addresses. */
#if RACES_SOUGHT || defined(__SANITIZE_ADDRESS__) || BUILT_WITH(address_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Of any kind, which the Makefile tells: code takes longer. */
#ifdef BENCH_SANITIZER
#define SLOWED 1
#else
#define SLOWED 0
#endif

#endif
