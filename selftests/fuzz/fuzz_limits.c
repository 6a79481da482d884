// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: what a target says - MAXCMD (2 bytes), IOCCSZ (4), ICDOFF (2), SGLS (4) - and what the
 * host wants and can - SQSIZE (2), tags (4), bytes that are copied (4).
 */
#include "fuzz.h"
#include "host/limits.h"

#define PAGE	4096

static u64 round_to_slot(u64 bytes)
{
	u64 size = POLH_SLOT_MIN;

	while (size < bytes)
		size *= 2;
	return size;
}

struct input {
	u16 maxcmd;
	u32 ioccsz;
	u16 icdoff;
	u32 sgls;
	u16 sqsize;
	u32 max_tags;
	u32 copy_max;
} __attribute__((packed));

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in;
	u32 bytes, queues[POLH_MAPS];
	u16 depth;

	if (size != sizeof(in))
		return -1;
	memcpy(&in, data, sizeof(in));
	in.max_tags += !in.max_tags;

	depth = polh_limits_sqsize(in.sqsize, in.maxcmd, in.max_tags);
	MUST(depth <= in.sqsize && depth < in.max_tags);
	MUST(!in.maxcmd || depth < in.maxcmd);
	MUST(depth == in.sqsize || depth + 1U == in.max_tags || depth + 1U == in.maxcmd);

	bytes = polh_limits_in_capsule(in.ioccsz, in.icdoff, in.sgls, in.copy_max);
	MUST(bytes <= in.copy_max);
	MUST(!bytes || 64 + (u64)bytes <= 16ULL * in.ioccsz);
	MUST(!bytes || (!in.icdoff && in.sgls >> 20 & 1));

	/* These say as well how many queues there are and are wanted. */
	polh_limits_spread(in.maxcmd, in.sqsize, in.icdoff, in.copy_max, queues);
	MUST((u64)queues[POLH_MAP_DEFAULT] + queues[POLH_MAP_READ] + queues[POLH_MAP_POLL] <=
	     in.maxcmd);
	MUST(queues[POLH_MAP_DEFAULT] || !in.maxcmd || !in.sqsize);

	bytes = polh_limits_copy_max(in.copy_max % (1U << 20), in.sqsize, depth + 1, in.ioccsz,
				     PAGE);
	MUST(bytes <= in.copy_max);
	MUST((u64)bytes * in.sqsize * (depth + 1) <= in.ioccsz);
	MUST(!bytes || in.sqsize * polh_limits_slot_bytes(depth + 1, round_to_slot(bytes), PAGE) <=
	     in.ioccsz);
	return 0;
}
