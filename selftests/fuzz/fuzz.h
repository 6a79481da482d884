/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the fuzz targets share. A target checks what must hold whatever came in - a crash or a read
 * out of bounds is found by the sanitizers, a wrong answer only by a MUST.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Not through stderr, which a target may have made something else. */
#define MUST(cond) do {							\
	if (!(cond)) {							\
		dprintf(STDERR_FILENO, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #cond); \
		abort();						\
	}								\
} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
