/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a target says of its limits in Identify Controller, against what we can do. Every number is
 * the peer's word: whatever it is, what comes out is within our own limits.
 *
 * Only computes: compiled as it is by the unit tests and fuzzers.
 */
#ifndef POLH_LIMITS_H
#define POLH_LIMITS_H

#include <linux/bits.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/nvme.h>
#include <linux/types.h>

/* SGLS, Base Specification, "Identify Controller Data Structure" */
#define POLH_SGLS_KEYED		BIT(2)	/* keyed data block descriptors */
#define POLH_SGLS_OFFSET	BIT(20)	/* the address may be an offset into the capsule */

/**
 * polh_limits_sqsize() - how deep I/O queues may be
 * @sqsize: wanted, 0's based
 * @maxcmd: commands the target takes at a time, 0 when it does not say
 * @max_tags: commands there is room for, at least 1
 *
 * Return: depth, 0's based, at most @sqsize; 0 is no queue.
 */
static inline u16 polh_limits_sqsize(u16 sqsize, u16 maxcmd, u32 max_tags)
{
	if (maxcmd)
		sqsize = min_t(u32, sqsize, maxcmd - 1);
	return min_t(u32, sqsize, max_tags - 1);
}

/**
 * polh_limits_in_capsule() - how much data may travel in a capsule
 * @ioccsz: size of the capsules of I/O queues in units of 16 bytes
 * @icdoff: where the data begins behind the command, in units of 16 bytes
 * @sgls: SGLS
 * @copy_max: most that is wanted
 *
 * Return: bytes. Only data that begins right behind the command is sent that way.
 */
static inline u32 polh_limits_in_capsule(u32 ioccsz, u16 icdoff, u32 sgls, u32 copy_max)
{
	u64 capsule = (u64)ioccsz * 16;

	if (capsule <= sizeof(struct nvme_command) || icdoff || !(sgls & POLH_SGLS_OFFSET))
		return 0;
	return min_t(u64, capsule - sizeof(struct nvme_command), copy_max);
}

#endif
