/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wire data by byte offsets: tests write and expect what a specification's table says, and do not
 * use the structures that the code under test uses.
 */
#ifndef BYTES_H
#define BYTES_H

#include <stdlib.h>
#include <string.h>
#include <linux/nvme.h>

#define DNR	NVME_STATUS_DNR

static inline void put_le(void *bytes, size_t at, uint64_t value, unsigned int width)
{
	uint8_t *to = (uint8_t *)bytes + at;

	for (; width--; value >>= 8)
		*to++ = value;
}

static inline uint64_t get_le(const void *bytes, size_t at, unsigned int width)
{
	const uint8_t *from = (const uint8_t *)bytes + at;
	uint64_t value = 0;

	while (width--)
		value = value << 8 | from[width];
	return value;
}

/* An ASCII field, padded with spaces. */
static inline void put_text(void *bytes, size_t at, size_t width, const char *text)
{
	memset((uint8_t *)bytes + at, ' ', width);
	memcpy((uint8_t *)bytes + at, text, strlen(text));
}

/* Memory full of what nobody wrote, of the exact size for the address sanitizer. */
static inline void *dirty(size_t size)
{
	return memset(malloc(size), 0xa5, size);
}

#endif
