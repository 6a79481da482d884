// SPDX-License-Identifier: GPL-2.0-only
/* What a target says of its limits: each with both neighbours, and where sums would wrap. */
#include "tap.h"
#include "host/limits.h"

#define OFFSET	(1U << 20)

TEST(depth)
{
	static const struct {
		u16 sqsize, maxcmd;
		u32 max_tags;
		u16 want;
	} depths[] = {
		{ 127, 0, 1024, 127 }, { 127, 129, 1024, 127 }, { 127, 128, 1024, 127 },
		{ 127, 127, 1024, 126 }, { 127, 2, 1024, 1 }, { 127, 1, 1024, 0 },
		{ 127, 0xffff, 1024, 127 }, { 127, 0, 129, 127 }, { 127, 0, 128, 127 },
		{ 127, 0, 127, 126 }, { 127, 64, 32, 31 }, { 127, 32, 64, 31 }, { 127, 0, 1, 0 },
		{ 0, 0, 1024, 0 }, { 0xffff, 0, 0x10000, 0xffff },
		{ 0xffff, 0xffff, 0xffffffff, 0xfffe },
	};
	unsigned int i;

	for (i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
		CHECK_EQ(polh_limits_sqsize(depths[i].sqsize, depths[i].maxcmd, depths[i].max_tags),
			 depths[i].want);
}

TEST(data_in_capsules)
{
	static const struct {
		u32 ioccsz;
		u16 icdoff;
		u32 sgls, copy_max, want;
	} capsules[] = {
		{ 260, 0, OFFSET, 16384, 4096 }, { 260, 0, OFFSET, 4096, 4096 },
		{ 260, 0, OFFSET, 4095, 4095 }, { 260, 0, OFFSET, 0, 0 },
		{ 260, 1, OFFSET, 16384, 0 }, { 260, 0xffff, OFFSET, 16384, 0 },
		{ 260, 0, ~OFFSET, 16384, 0 }, { 260, 0, ~0U, 16384, 4096 },
		{ 0, 0, OFFSET, 16384, 0 }, { 3, 0, OFFSET, 16384, 0 }, { 4, 0, OFFSET, 16384, 0 },
		{ 5, 0, OFFSET, 16384, 16 },
		/* Times 16 is more than 32 bits hold. */
		{ 0x0fffffff, 0, OFFSET, 16384, 16384 }, { 0x10000000, 0, OFFSET, 16384, 16384 },
		{ 0x10000005, 0, OFFSET, 16384, 16384 }, { 0xffffffff, 0, OFFSET, 16384, 16384 },
		{ 0xffffffff, 0, OFFSET, 0xffffffff, 0xffffffff },
	};
	unsigned int i;

	for (i = 0; i < sizeof(capsules) / sizeof(capsules[0]); i++)
		CHECK_EQ(polh_limits_in_capsule(capsules[i].ioccsz, capsules[i].icdoff,
						capsules[i].sgls, capsules[i].copy_max),
			 capsules[i].want);
}
