// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compiled against the original header and against the generated one, PREFIX apart: writes every
 * bit field (whose place no assertion can check) and returns the memory that results.
 */
#include HEADER
#include <string.h>

#define PASTE(a, b) a##b
#define NAME(prefix, name) PASTE(prefix, name)

size_t NAME(PREFIX, _layout)(unsigned char *out);
size_t NAME(PREFIX, _layout)(unsigned char *out)
{
	struct {
		struct nvme_bits bits;
		struct nvme_packed packed;
		union nvme_either either;
	} all;

	memset(&all, 0, sizeof(all));
	all.bits.first = 5;
	all.bits.second = 2;
	all.bits.third = 0x555;
	all.bits.whole = 0xabcd;
	all.bits.fourth = 0x2aaaaaaa;
	all.bits.fifth = 0x155;
	all.bits.sixth = 0xa5a5a5a5a5ULL;
	all.bits.last = 0x77;
	all.bits.flag = 1;
	all.packed.few = 0x15;
	all.packed.more = 0x1555;
	all.packed.end = 0x33;
	all.either.high = 0x155;
	memcpy(out, &all, sizeof(all));
	return sizeof(all);
}
