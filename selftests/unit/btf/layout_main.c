// SPDX-License-Identifier: GPL-2.0-only
/* Succeeds if both headers put the bit fields into the same places. */
#include <string.h>

size_t original_layout(unsigned char *out);
size_t generated_layout(unsigned char *out);

int main(void)
{
	static unsigned char a[4096], b[4096];
	size_t size = original_layout(a);

	return size != generated_layout(b) || memcmp(a, b, size);
}
