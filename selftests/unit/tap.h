/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The smallest harness that prints TAP: a test is a function that puts itself into a list before
 * main() runs; a failed check is printed with both values and the test goes on, so that one run
 * shows all that is wrong. Include it in exactly one file of a test program.
 */
#ifndef TAP_H
#define TAP_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TAP_MESSAGES_MAX 10	/* of one test, later failures are only counted */

struct tap_test {
	const char *name;
	void (*run)(void);
	struct tap_test *next;
};

static struct tap_test *tap_first, **tap_end = &tap_first;
static unsigned int tap_failures;

#define TEST(test_name)							\
	static void test_name(void);					\
	__attribute__((constructor)) static void tap_add_##test_name(void) \
	{								\
		static struct tap_test test = { #test_name, test_name, NULL }; \
									\
		*tap_end = &test;					\
		tap_end = &test.next;					\
	}								\
	static void test_name(void)

/* Count a failure; true when it shall still be printed. */
static inline bool tap_fail(const char *file, int line)
{
	if (++tap_failures > TAP_MESSAGES_MAX)
		return false;
	printf("# %s:%d: ", file, line);
	return true;
}

#define CHECK(cond) do {						\
	if (!(cond) && tap_fail(__FILE__, __LINE__))			\
		printf("%s\n", #cond);					\
} while (0)

/* The values are compared and printed as 64 bits, negative ones sign-extended. */
#define CHECK_EQ(got, want) do {					\
	uint64_t tap_got = (uint64_t)(got), tap_want = (uint64_t)(want); \
									\
	if (tap_got != tap_want && tap_fail(__FILE__, __LINE__))	\
		printf("%s is %" PRId64 " (0x%" PRIx64 "), "		\
		       "want %s = %" PRId64 " (0x%" PRIx64 ")\n", #got, \
		       (int64_t)tap_got, tap_got, #want, (int64_t)tap_want, tap_want); \
} while (0)

#define CHECK_STR(got, want) do {					\
	const char *tap_got = (got), *tap_want = (want);		\
									\
	if (strcmp(tap_got, tap_want) && tap_fail(__FILE__, __LINE__))	\
		printf("%s is \"%s\", want \"%s\"\n", #got, tap_got, tap_want); \
} while (0)

#define CHECK_MEM(got, want, len) do {					\
	const uint8_t *tap_got = (const void *)(got), *tap_want = (const void *)(want); \
	size_t tap_at = 0, tap_len = (len);				\
									\
	while (tap_at < tap_len && tap_got[tap_at] == tap_want[tap_at])	\
		tap_at++;						\
	if (tap_at < tap_len && tap_fail(__FILE__, __LINE__))		\
		printf("%s: byte %zu is 0x%02x, want 0x%02x\n", #got, tap_at, \
		       tap_got[tap_at], tap_want[tap_at]);		\
} while (0)

int main(void)
{
	unsigned int nr = 0, failed = 0;
	struct tap_test *test;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (test = tap_first; test; test = test->next)
		nr++;
	printf("TAP version 13\n1..%u\n", nr);
	for (nr = 1, test = tap_first; test; nr++, test = test->next) {
		tap_failures = 0;
		test->run();
		if (tap_failures > TAP_MESSAGES_MAX)
			printf("# %u more\n", tap_failures - TAP_MESSAGES_MAX);
		printf("%s %u %s\n", tap_failures ? "not ok" : "ok", nr, test->name);
		failed += !!tap_failures;
	}
	return failed ? 1 : 0;
}

#endif
