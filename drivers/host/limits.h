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
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/nvme.h>
#include <linux/sizes.h>
#include <linux/types.h>

#define POLH_SLOT_MIN		512	/* bytes of a slot that is worth having */
/* wanted size of the regions that hold slots */
#define POLH_REGION_BYTES	SZ_64K

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
 * enum polh_map - blk-mq's maps, in its order
 * @POLH_MAP_DEFAULT: for all that the others are not for
 * @POLH_MAP_READ: for reads
 * @POLH_MAP_POLL: for polled I/O
 * @POLH_MAPS: how many there are
 */
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

/**
 * polh_limits_region_bytes() - how much memory at a time a queue's slots are made of
 * @nr_tags: slots, at least 1
 * @size: bytes of one, a power of two
 * @page: of the machine, a power of two
 *
 * Return: bytes, a power of two. A device may want smaller ones.
 */
static inline u64 polh_limits_region_bytes(u32 nr_tags, u64 size, u64 page)
{
	u64 all = max_t(u64, roundup_pow_of_two(nr_tags * size), page);

	return min_t(u64, max_t(u64, size, POLH_REGION_BYTES), all);
}

/**
 * polh_limits_slot_bytes() - memory that a queue's slots take
 * @nr_tags: slots, at least 1
 * @size: bytes of one, a power of two
 * @page: of the machine, a power of two
 *
 * Return: bytes; on a device that wants smaller regions it may be less.
 */
static inline u64 polh_limits_slot_bytes(u32 nr_tags, u64 size, u64 page)
{
	return round_up(nr_tags * size, polh_limits_region_bytes(nr_tags, size, page));
}

/**
 * polh_limits_copy_max() - how much of each request may be copied
 * @wanted: bytes the user wants
 * @nr: queues
 * @nr_tags: slots of each, at least 1
 * @mem_max: bytes of memory that all slots may take
 * @page: of the machine, a power of two
 *
 * Return: bytes, at most @wanted; 0 for nothing.
 */
static inline u32 polh_limits_copy_max(u32 wanted, u32 nr, u32 nr_tags, u64 mem_max, u64 page)
{
	u64 size = wanted ? roundup_pow_of_two(wanted) : 0;

	while (size >= POLH_SLOT_MIN && nr * polh_limits_slot_bytes(nr_tags, size, page) > mem_max)
		size /= 2;
	return size < POLH_SLOT_MIN ? 0 : min_t(u64, wanted, size);
}

#endif
