// SPDX-License-Identifier: GPL-2.0-only
/* What a target says of its limits: each with both neighbours, and where sums would wrap. */
#include "tap.h"
#include "bytes.h"
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

TEST(queues_for_each_map)
{
	static const struct {
		u32 nr, io, write, poll, want[POLH_MAPS];
	} spreads[] = {
		{ 1, 1, 0, 0, { 1, 0, 0 } }, { 4, 4, 0, 0, { 4, 0, 0 } },
		/* The default queues come first. */
		{ 3, 4, 0, 0, { 3, 0, 0 } }, { 3, 4, 0, 2, { 3, 0, 0 } },
		{ 4, 4, 0, 2, { 4, 0, 0 } }, { 5, 4, 0, 2, { 4, 0, 1 } },
		{ 6, 4, 0, 2, { 4, 0, 2 } }, { 7, 4, 0, 2, { 4, 0, 2 } },
		/* With write queues the I/O queues are for reads, unless there are none besides. */
		{ 1, 1, 1, 1, { 1, 0, 0 } }, { 2, 1, 1, 1, { 1, 1, 0 } },
		{ 3, 1, 1, 1, { 1, 1, 1 } }, { 4, 1, 1, 1, { 1, 1, 1 } },
		{ 2, 3, 2, 1, { 2, 0, 0 } }, { 3, 3, 2, 1, { 3, 0, 0 } },
		{ 4, 3, 2, 1, { 1, 3, 0 } }, { 5, 3, 2, 1, { 2, 3, 0 } },
		{ 6, 3, 2, 1, { 2, 3, 1 } },
		{ 0, 1, 1, 1, { 0, 0, 0 } }, { 0, 0, 0, 0, { 0, 0, 0 } },
		{ 0xffffffff, 1, 0xffffffff, 0xffffffff, { 0xfffffffe, 1, 0 } },
		{ 0xffffffff, 0x80000000, 0x7ffffffe, 2, { 0x7ffffffe, 0x80000000, 1 } },
	};
	unsigned int i, map;
	u32 *queues;

	for (i = 0; i < sizeof(spreads) / sizeof(spreads[0]); i++) {
		queues = dirty(POLH_MAPS * sizeof(*queues));
		polh_limits_spread(spreads[i].nr, spreads[i].io, spreads[i].write, spreads[i].poll,
				   queues);
		for (map = 0; map < POLH_MAPS; map++)
			CHECK_EQ(queues[map], spreads[i].want[map]);
		free(queues);
	}
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

TEST(memory_of_slots)
{
	static const struct {
		u32 nr_tags;
		u64 size, page, region, want;
	} slots[] = {
		{ 128, 16384, 4096, 65536, 2097152 }, { 33, 16384, 4096, 65536, 9 * 65536 },
		{ 32, 16384, 4096, 65536, 8 * 65536 }, { 36, 16384, 4096, 65536, 9 * 65536 },
		{ 37, 16384, 4096, 65536, 10 * 65536 },
		/* As much as they take in all where that is less, but whole pages. */
		{ 1, 512, 4096, 4096, 4096 }, { 8, 512, 4096, 4096, 4096 },
		{ 9, 512, 4096, 8192, 8192 }, { 127, 512, 4096, 65536, 65536 },
		{ 128, 512, 4096, 65536, 65536 }, { 129, 512, 4096, 65536, 2 * 65536 },
		{ 1, 512, 65536, 65536, 65536 }, { 2, 65536, 65536, 65536, 2 * 65536 },
		/* A slot is in one piece. */
		{ 3, 65536, 4096, 65536, 3 * 65536 }, { 3, 131072, 4096, 131072, 3 * 131072 },
		{ 1, 1048576, 4096, 1048576, 1048576 },
		{ 0x10000, 1048576, 4096, 1048576, 1ULL << 36 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		CHECK_EQ(polh_limits_region_bytes(slots[i].nr_tags, slots[i].size, slots[i].page),
			 slots[i].region);
		CHECK_EQ(polh_limits_slot_bytes(slots[i].nr_tags, slots[i].size, slots[i].page),
			 slots[i].want);
	}
}

TEST(copies_fit_into_memory)
{
	static const struct {
		u32 wanted, nr, nr_tags;
		u64 mem_max;
		u32 want;
	} copies[] = {
		{ 16384, 2, 128, 4194304, 16384 }, { 16384, 2, 128, 4194303, 8192 },
		{ 16384, 2, 128, 1048576, 4096 }, { 16384, 2, 128, 1048575, 2048 },
		{ 16384, 2, 128, 131072, 512 }, { 16384, 2, 128, 131071, 0 },
		{ 16384, 2, 128, 0, 0 }, { 0, 2, 128, 4194304, 0 },
		/* What is left over at the end of each queue's memory counts. */
		{ 16384, 2, 33, 2 * 33 * 16384, 8192 }, { 16384, 2, 33, 2 * 9 * 65536 - 1, 8192 },
		{ 16384, 2, 33, 2 * 9 * 65536, 16384 },
		{ 512, 1, 1, 4096, 512 }, { 512, 1, 1, 4095, 0 },
		/* Slots are powers of two. */
		{ 10000, 1, 1, 16384, 10000 }, { 10000, 1, 1, 16383, 8192 },
		{ 511, 1, 1, 4096, 511 }, { 257, 1, 1, 4096, 257 }, { 256, 1, 1, 4096, 0 },
		/* All of it is more than 32 bits hold. */
		{ 1048576, 0x10000, 0x10000, 1ULL << 52, 1048576 },
		{ 1048576, 0x10000, 0x10000, (1ULL << 52) - 1, 524288 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(copies) / sizeof(copies[0]); i++)
		CHECK_EQ(polh_limits_copy_max(copies[i].wanted, copies[i].nr, copies[i].nr_tags,
					      copies[i].mem_max, 4096), copies[i].want);
}
