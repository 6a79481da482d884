// SPDX-License-Identifier: GPL-2.0-only
/*
 * A namespace on a block device, driven so that the group's thread neither sleeps nor allocates.
 *
 *  - Bios are part of the command. They are cut to the disk's limits here: a bio that the block
 *    layer would have to split ends BLK_STS_AGAIN when it may not wait. A command of more bios than
 *    there are goes in waves.
 *  - REQ_SYNC and REQ_IDLE keep write-back throttling from putting the thread to sleep, REQ_NOWAIT
 *    keeps the rest of the block layer from it. What would have had to wait comes back with
 *    BLK_STS_AGAIN and is submitted again by a worker, once, without REQ_NOWAIT.
 *  - A disk that knows no REQ_NOWAIT, or whose driver may sleep by nature, is always given its bios
 *    by workers. What it knows may change while it is in use (a device mapper's table, for one): it
 *    is asked each time, and what it refuses as not supported gets the same second try.
 *  - A disk with polled queues is polled by the group while it has I/O there (unless the group is
 *    one that waits for events): one started bio per group and disk in each pass.
 *
 * Ends of bios only count down; the last of a wave brings the command back to the thread.
 */
#include <linux/blk-integrity.h>
#include <linux/netlink.h>
#include <linux/slab.h>

#include "compat/bdev.h"
#include "target/receive.h"

struct polt_bdev {
	struct polt_backend backend;
	struct pol_compat_bdev handle;
	struct workqueue_struct *wq;	/* its own: a disk that hangs holds up no other */
};

static struct polt_bdev *polt_bdev_of(struct polt_command *command)
{
	return container_of(command->namespace->backend, struct polt_bdev, backend);
}

/* Polling */

static bool polt_bdev_poll(struct pol_group *group, struct pol_poller *poller)
{
	struct polt_lane *lane = container_of(poller, struct polt_lane, poller);
	struct polt_command *command = list_first_entry(&lane->commands, struct polt_command,
							bdev.lane_entry);
	struct polt_bdev_io *io = &command->bdev;
	unsigned int i;

	pol_group_assert_owned(group);
	/* Next time another one: this one's bios may have ended, or not have been started. */
	list_move_tail(&io->lane_entry, &lane->commands);
	/*
	 * The first one that was started and has not ended: a stacked disk ends nothing but the bio
	 * that is polled. One that ends meanwhile stays what it is until the thread ends the wave.
	 */
	for (i = 0; i < io->nr_bios; i++) {
		if (READ_ONCE(io->bios[i].bi_cookie) == BLK_QC_T_NONE)
			continue;
		/*
		 * What it returns says nothing on older kernels; ends of bios arrive as messages.
		 */
		bio_poll(&io->bios[i], NULL, BLK_POLL_ONESHOT | BLK_POLL_NOSLEEP);
		break;
	}
	return false;
}

/* The group's lane for a disk; NULL when it has I/O in too many of them. */
static struct polt_lane *polt_bdev_lane(struct polt_pair *pair, struct polt_backend *backend)
{
	struct polt_lane *lane, *unused = NULL;
	unsigned int i;

	pol_group_assert_owned(pair->group);
	for (i = 0; i < POLT_PAIR_LANES; i++) {
		lane = &pair->lanes[i];
		if (lane->backend == backend)
			return lane;
		if (!lane->backend)
			unused = lane;
	}
	if (unused) {
		unused->backend = backend;
		unused->poller.poll = polt_bdev_poll;
		pol_poller_add(pair->group, &unused->poller);
	}
	return unused;
}

static void polt_bdev_leave_lane(struct polt_command *command)
{
	struct polt_lane *lane = command->bdev.lane;

	pol_group_assert_owned(command->queue->group);
	if (!lane)
		return;
	command->bdev.lane = NULL;
	list_del_init(&command->bdev.lane_entry);
	if (list_empty(&lane->commands)) {
		pol_poller_remove(command->queue->group, &lane->poller);
		lane->backend = NULL;
	}
}

static bool polt_bdev_wants_polling(struct polt_bdev *bdev, struct polt_command *command,
				    blk_opf_t opf)
{
	return command->data_len && !(opf & (REQ_PREFLUSH | REQ_FUA)) &&
	       pol_compat_bdev_polls(bdev->handle.bdev) &&
	       pol_group_spin(command->queue->group) != POL_GROUP_SPIN_EVENT;
}

/* Building bios */

/* Bytes from @sector on that one bio may have, whatever its memory is like. */
static u32 polt_bdev_max_bytes(const struct queue_limits *limits, sector_t sector)
{
	unsigned int physical = limits->physical_block_size >> SECTOR_SHIFT;
	unsigned int logical = limits->logical_block_size >> SECTOR_SHIFT;
	unsigned int max = min(limits->max_sectors, POLT_MDTS_BYTES >> SECTOR_SHIFT);
	unsigned int start, end;

	if (limits->chunk_sectors) {
		unsigned int chunk = limits->chunk_sectors;
		sector_t into = sector;

		max = min_t(unsigned int, max, chunk - sector_div(into, chunk));
	}
	/* A cut is made between physical blocks, where possible. */
	start = sector & (physical - 1);
	end = round_down(start + max, physical);
	if (end > start)
		return (end - start) << SECTOR_SHIFT;
	return round_down(max, logical) << SECTOR_SHIFT;
}

/* Bytes of @len at @data that fit into one segment of the disk's. */
static u32 polt_bdev_segment(const struct queue_limits *limits, const void *data, u32 len)
{
	unsigned long mask = limits->seg_boundary_mask;
	unsigned long to_boundary = mask - (mask & (unsigned long)virt_to_phys((void *)data));

	len = min(len, limits->max_segment_size);
	/* to_boundary + 1 would wrap for "no boundary". */
	return len - 1 > to_boundary ? to_boundary + 1 : len;
}

/*
 * Fill a bio with the data of the command from byte @offset on, as much as the disk takes in one.
 * Returns the bytes, 0 if not one block fits. Buffers are whole numbers of blocks.
 */
static u32 polt_bdev_fill(struct polt_bdev *bdev, struct polt_command *command, struct bio *bio,
			  u32 offset)
{
	struct block_device *device = bdev->handle.bdev;
	const struct queue_limits *limits = &bdev_get_queue(device)->limits;
	u32 max = polt_bdev_max_bytes(limits, get_start_sect(device) + bio->bi_iter.bi_sector);
	unsigned int segments = 0, i, pieces = polt_command_pieces(command);
	u32 block = 1U << bdev->backend.block_shift;
	u32 at = 0, filled = 0;

	max = min(max, command->data_len - offset);
	for (i = 0; i < pieces && filled < max; i++) {
		u32 len, skip, part = 0;
		void *data = polt_command_piece(command, i, &len);

		skip = offset > at ? min(offset - at, len) : 0;
		at += len;
		data += skip;
		len = min(len - skip, max - filled);
		if (!len)
			continue;
		/* A gap between two pieces ends the bio where the disk knows none. */
		if (filled && limits->virt_boundary_mask &&
		    ((unsigned long)data & limits->virt_boundary_mask))
			break;
		while (part < len && segments < limits->max_segments) {
			part += polt_bdev_segment(limits, data + part, len - part);
			segments++;
		}
		part = round_down(filled + part, block) - filled;
		if (!part)
			break;
		if (bio_add_page(bio, virt_to_page(data), part, offset_in_page(data)) != part)
			break;
		filled += part;
		if (part < len)
			break;
	}
	return filled;
}

/* Ends of bios */

static void polt_bdev_wave_done(struct polt_command *command);

static void polt_bdev_wave_message(struct pol_group *group, struct pol_message *message)
{
	polt_bdev_wave_done(container_of(message, struct polt_command, handback));
}

static void polt_bdev_hand_back(struct polt_command *command)
{
	command->handback.handle = polt_bdev_wave_message;
	pol_group_post(command->queue->group, &command->handback);
}

/* May it work from a worker, without REQ_NOWAIT and REQ_POLLED? */
static bool polt_bdev_retries(blk_status_t error)
{
	return error == BLK_STS_AGAIN || error == BLK_STS_NOTSUPP;
}

static void polt_bdev_bio_end(struct bio *bio)
{
	struct polt_command *command = bio->bi_private;

	/* Any failure stands for the wave; one that is tried again gives way to another. */
	if (unlikely(bio->bi_status) &&
	    (!command->bdev.error || polt_bdev_retries(command->bdev.error)))
		WRITE_ONCE(command->bdev.error, bio->bi_status);
	/* Others of the command are to be polled now: see polt_bdev_poll(). */
	WRITE_ONCE(bio->bi_cookie, BLK_QC_T_NONE);
	if (atomic_dec_and_test(&command->bdev.pending))
		polt_bdev_hand_back(command);
}

static u16 polt_bdev_status(const struct polt_command *command, blk_status_t error)
{
	switch (error) {
	case BLK_STS_OK:
		return NVME_SC_SUCCESS;
	case BLK_STS_NOSPC:
		return NVME_SC_CAP_EXCEEDED | NVME_STATUS_DNR;
	case BLK_STS_TARGET:
		return NVME_SC_LBA_RANGE | NVME_STATUS_DNR;
	case BLK_STS_NOTSUPP:
		return NVME_SC_INVALID_OPCODE | NVME_STATUS_DNR;
	case BLK_STS_MEDIUM:
		return (command->to_host ? NVME_SC_READ_ERROR : NVME_SC_WRITE_FAULT) |
		       NVME_STATUS_DNR;
	case BLK_STS_PROTECTION:
		return NVME_SC_GUARD_CHECK | NVME_STATUS_DNR;
	case BLK_STS_AGAIN:
	case BLK_STS_RESOURCE:
	case BLK_STS_DEV_RESOURCE:
	case BLK_STS_TIMEOUT:
		return NVME_SC_CMD_INTERRUPTED;
	default:
		return NVME_SC_INTERNAL;
	}
}

/* Submission */

static blk_opf_t polt_bdev_opf(const struct polt_command *command)
{
	blk_opf_t opf = REQ_SYNC | REQ_IDLE;

	switch (command->sqe.common.opcode) {
	case nvme_cmd_read:
		return opf | REQ_OP_READ;
	case nvme_cmd_write:
		if (command->sqe.rw.control & cpu_to_le16(NVME_RW_FUA))
			opf |= REQ_FUA;
		return opf | REQ_OP_WRITE;
	default:
		return opf | REQ_OP_WRITE | REQ_PREFLUSH;
	}
}

/*
 * Prepare the bios of the next wave. Returns false if the disk's limits leave no room for a block.
 */
static bool polt_bdev_build(struct polt_bdev *bdev, struct polt_command *command, blk_opf_t opf)
{
	struct polt_bdev_io *io = &command->bdev;
	sector_t sector = command->lba << (bdev->backend.block_shift - SECTOR_SHIFT);
	unsigned int vecs = 0;

	io->nr_bios = 0;
	io->wave = 0;
	io->error = BLK_STS_OK;
	do {
		struct bio *bio = &io->bios[io->nr_bios];
		u32 offset = io->done + io->wave;
		u32 bytes;

		bio_init(bio, bdev->handle.bdev, &io->vecs[vecs], POLT_COMMAND_VECS - vecs, opf);
		bio->bi_private = command;
		bio->bi_end_io = polt_bdev_bio_end;
		io->nr_bios++;
		if (!command->data_len)
			return true;
		bio->bi_iter.bi_sector = sector + (offset >> SECTOR_SHIFT);
		bytes = polt_bdev_fill(bdev, command, bio, offset);
		if (!bytes)
			return false;
		vecs += bio->bi_vcnt;
		io->wave += bytes;
	} while (io->done + io->wave < command->data_len && io->nr_bios < POLT_COMMAND_BIOS &&
		 vecs < POLT_COMMAND_VECS);
	return true;
}

static void polt_bdev_uninit(struct polt_bdev_io *io)
{
	unsigned int i;

	for (i = 0; i < io->nr_bios; i++)
		bio_uninit(&io->bios[i]);
}

/* One wave, from the thread (without waiting) or from a worker. */
static void polt_bdev_submit(struct polt_command *command, bool in_thread)
{
	struct polt_bdev *bdev = polt_bdev_of(command);
	struct polt_bdev_io *io = &command->bdev;
	blk_opf_t opf = polt_bdev_opf(command);
	unsigned int i;

	if (in_thread) {
		pol_group_assert_owned(command->queue->group);
		opf |= REQ_NOWAIT;
		if (polt_bdev_wants_polling(bdev, command, opf))
			io->lane = polt_bdev_lane(command->queue->pair, &bdev->backend);
		if (io->lane) {
			opf |= REQ_POLLED;
			list_add_tail(&io->lane_entry, &io->lane->commands);
		}
	}
	if (unlikely(!polt_bdev_build(bdev, command, opf))) {
		io->error = BLK_STS_IOERR;
		atomic_set(&io->pending, 1);
	} else {
		unsigned int nr_bios = io->nr_bios;

		atomic_set(&io->pending, nr_bios + 1);
		for (i = 0; i < nr_bios; i++)
			submit_bio(&io->bios[i]);
	}
	/* A disk that ends bios while they are submitted lets the thread finish at once. */
	if (atomic_dec_and_test(&io->pending)) {
		if (in_thread && io->done + io->wave == command->data_len)
			polt_bdev_wave_done(command);
		else
			polt_bdev_hand_back(command);
	}
}

static void polt_bdev_work(struct work_struct *work)
{
	polt_bdev_submit(container_of(work, struct polt_command, work), false);
}

static void polt_bdev_submit_in_worker(struct polt_command *command)
{
	polt_namespace_count(command->namespace, worker_submits, 1);
	INIT_WORK(&command->work, polt_bdev_work);
	queue_work(polt_bdev_of(command)->wq, &command->work);
}

static void polt_bdev_next_wave(struct polt_command *command)
{
	struct polt_bdev *bdev = polt_bdev_of(command);

	if (command->bdev.retried || READ_ONCE(bdev->backend.submit) == POLT_SUBMIT_WORKER ||
	    unlikely(!bdev_nowait(bdev->handle.bdev)))
		polt_bdev_submit_in_worker(command);
	else
		polt_bdev_submit(command, true);
}

/* All bios of a wave have ended; the group's thread. */
static void polt_bdev_wave_done(struct polt_command *command)
{
	struct polt_bdev_io *io = &command->bdev;

	pol_group_assert_owned(command->queue->group);
	polt_bdev_uninit(io);
	polt_bdev_leave_lane(command);
	if (unlikely(polt_bdev_retries(io->error) && !io->retried)) {
		io->retried = true;
		polt_namespace_count(command->namespace, nowait_misses, 1);
		polt_bdev_submit_in_worker(command);
		return;
	}
	io->done += io->wave;
	if (unlikely(!io->error && io->done < command->data_len)) {
		polt_bdev_next_wave(command);
		return;
	}
	polt_command_finish(command, polt_bdev_status(command, io->error));
}

static void polt_bdev_execute(struct polt_backend *backend, struct polt_command *command)
{
	const struct polt_bdev *bdev = container_of(backend, struct polt_bdev, backend);
	struct polt_bdev_io *io = &command->bdev;

	/* Without a volatile cache everything that has been answered is safe. */
	if (command->sqe.common.opcode == nvme_cmd_flush && !bdev_write_cache(bdev->handle.bdev)) {
		polt_command_finish(command, NVME_SC_SUCCESS);
		return;
	}
	io->done = 0;
	io->retried = false;
	io->lane = NULL;
	polt_bdev_next_wave(command);
}

/* Opening and closing */

static u64 polt_bdev_blocks(const struct polt_bdev *bdev)
{
	return bdev_nr_bytes(bdev->handle.bdev) >> bdev->backend.block_shift;
}

/* What the disk likes best. Where its blocks do not begin with ours, there is nothing to align. */
static void polt_bdev_note_limits(struct polt_bdev *bdev)
{
	struct block_device *device = bdev->handle.bdev;
	struct polt_backend *backend = &bdev->backend;
	u32 granule = 0, optimal = 0;

	if (!bdev_alignment_offset(device)) {
		granule = max_t(u32, bdev_physical_block_size(device), bdev_io_min(device));
		optimal = bdev_io_opt(device);
	}
	WRITE_ONCE(backend->alignment, bdev_dma_alignment(device) + 1);
	WRITE_ONCE(backend->granule_blocks, granule >> backend->block_shift);
	WRITE_ONCE(backend->optimal_blocks, optimal >> backend->block_shift);
}

static bool polt_bdev_writable(struct polt_backend *backend)
{
	const struct polt_bdev *bdev = container_of(backend, struct polt_bdev, backend);

	return !bdev_read_only(bdev->handle.bdev);
}

static bool polt_bdev_rescan(struct polt_backend *backend)
{
	struct polt_bdev *bdev = container_of(backend, struct polt_bdev, backend);
	bool volatile_cache = bdev_write_cache(bdev->handle.bdev);
	/* A disk that has gone has none: its errors say so, which hosts may try again after. */
	u64 blocks = polt_bdev_blocks(bdev) ?: backend->blocks;
	bool changed = blocks != backend->blocks || volatile_cache != backend->volatile_cache;

	/* The block layer would let writes through. It stays so until somebody says otherwise. */
	if (!backend->read_only && !polt_bdev_writable(backend)) {
		WRITE_ONCE(backend->read_only, true);
		changed = true;
	}
	WRITE_ONCE(backend->blocks, blocks);
	WRITE_ONCE(backend->volatile_cache, volatile_cache);
	polt_bdev_note_limits(bdev);
	return changed;
}

static int polt_bdev_learn(struct polt_bdev *bdev, const struct polt_backend_params *params,
			   struct netlink_ext_ack *extack)
{
	struct block_device *device = bdev->handle.bdev;
	struct polt_backend *backend = &bdev->backend;

	if (bdev_is_zoned(device)) {
		NL_SET_ERR_MSG_MOD(extack, "zoned devices are not supported");
		return -EOPNOTSUPP;
	}
	backend->block_shift = ilog2(bdev_logical_block_size(device));
	backend->blocks = polt_bdev_blocks(bdev);
	if (!backend->blocks) {
		NL_SET_ERR_MSG_MOD(extack, "device has no medium or no capacity");
		return -ENOMEDIUM;
	}
	backend->read_only = params->read_only || bdev_read_only(device);
	backend->volatile_cache = bdev_write_cache(device);
	polt_bdev_note_limits(bdev);
	/* With a protection information format the block layer allocates for every bio. */
	backend->inline_possible = bdev_nowait(device) && !pol_compat_bdev_blocks(device) &&
				   !blk_get_integrity(device->bd_disk);
	if (params->submit == POLT_SUBMIT_INLINE && !backend->inline_possible) {
		NL_SET_ERR_MSG_MOD(extack, "device may block: submit inline is not possible");
		return -EOPNOTSUPP;
	}
	backend->submit = polt_backend_submit(backend, params->submit);
	return 0;
}

static struct polt_backend *polt_bdev_open(const struct polt_backend_params *params,
					   struct netlink_ext_ack *extack)
{
	struct polt_bdev *bdev = kzalloc(sizeof(*bdev), GFP_KERNEL);
	int error;

	if (!bdev)
		return ERR_PTR(-ENOMEM);
	bdev->wq = alloc_workqueue("pollard-bdev", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!bdev->wq) {
		error = -ENOMEM;
		goto err_wq;
	}
	error = pol_compat_bdev_open(&bdev->handle, params->device, !params->read_only,
				     params->shared ? NULL : bdev);
	if (error) {
		if (error == -EBUSY)
			NL_SET_ERR_MSG_MOD(extack, "device is in use (mounted, or claimed by another driver)");
		else if (error == -ENOTBLK)
			NL_SET_ERR_MSG_MOD(extack, "not a block device");
		else if (error == -EACCES || error == -EROFS)
			NL_SET_ERR_MSG_MOD(extack, "device is read-only: add it with read-only on");
		else
			NL_SET_ERR_MSG_MOD(extack, "cannot open the device");
		goto err_open;
	}
	error = polt_bdev_learn(bdev, params, extack);
	if (error)
		goto err_learn;
	return &bdev->backend;

err_learn:
	pol_compat_bdev_close(&bdev->handle);
err_open:
	destroy_workqueue(bdev->wq);
err_wq:
	kfree(bdev);
	return ERR_PTR(error);
}

static void polt_bdev_close(struct polt_backend *backend)
{
	struct polt_bdev *bdev = container_of(backend, struct polt_bdev, backend);

	pol_compat_bdev_close(&bdev->handle);
	destroy_workqueue(bdev->wq);
	kfree(bdev);
}

const struct polt_backend_ops polt_bdev_ops = {
	.name = "bdev",
	.open = polt_bdev_open,
	.close = polt_bdev_close,
	.execute = polt_bdev_execute,
	.writable = polt_bdev_writable,
	.rescan = polt_bdev_rescan,
};
