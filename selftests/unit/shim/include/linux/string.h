/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_STRING_H
#define SHIM_LINUX_STRING_H

#include <errno.h>
#include <string.h>
#include <linux/types.h>

static inline ssize_t strscpy(char *to, const char *from, size_t size)
{
	size_t len = strnlen(from, size);

	if (!size)
		return -E2BIG;
	if (len == size) {
		memcpy(to, from, size - 1);
		to[size - 1] = 0;
		return -E2BIG;
	}
	memcpy(to, from, len + 1);
	return len;
}

static inline void *memchr_inv(const void *start, int c, size_t bytes)
{
	const u8 *at = start;

	for (; bytes; at++, bytes--)
		if (*at != (u8)c)
			return (void *)at;
	return NULL;
}

#endif
