/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a target says of its limits in Identify Controller, and how many queues it grants, against
 * what we can do and the user wants. The target's numbers are the peer's word: whatever they are,
 * what comes out is within our own limits.
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

/* blk-mq's maps, in its order. */
enum polh_map {
	POLH_MAP_DEFAULT,
	POLH_MAP_READ,
	POLH_MAP_POLL,
	POLH_MAPS
};

/**
 * polh_limits_spread() - which of the I/O queues that there are, are for what
 * @nr: their number
 * @io: I/O queues the user wants; with write queues these carry reads
 * @write: write queues
 * @poll: polled queues
 * @queues: becomes the number for each of the POLH_MAPS maps, @nr together at most. A map without a
 * queue shares the default one's
 */
static inline void polh_limits_spread(u32 nr, u32 io, u32 write, u32 poll, u32 *queues)
{
	if (write && io < nr) {
		queues[POLH_MAP_READ] = io;
		queues[POLH_MAP_DEFAULT] = min_t(u32, write, nr - io);
	} else {
		queues[POLH_MAP_READ] = 0;
		queues[POLH_MAP_DEFAULT] = min_t(u32, io, nr);
	}
	nr -= queues[POLH_MAP_DEFAULT] + queues[POLH_MAP_READ];
	queues[POLH_MAP_POLL] = min_t(u32, poll, nr);
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
