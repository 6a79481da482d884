/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Block devices as a user of them sees them: opening, and what their queues can do. An open device
 * is a file from 6.9 on, a device with a mode before.
 */
#ifndef POL_COMPAT_BDEV_H
#define POL_COMPAT_BDEV_H

#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/err.h>
#include <linux/file.h>
#include "compat/compat_config.h"

#ifndef BLK_POLL_NOSLEEP
#define BLK_POLL_NOSLEEP 0	/* before 6.5 ->poll might sleep unless told not to */
#endif

/**
 * struct pol_compat_bdev - an open block device
 * @bdev: the device; NULL once it is closed
 * @file: what it is open as, on newer kernels
 * @mode: how it was opened, on older ones
 *
 * Filled and emptied by the two functions below only.
 */
struct pol_compat_bdev {
	struct block_device *bdev;
#ifdef POL_HAVE_BDEV_FILE_OPEN
	struct file *file;
#else
	fmode_t mode;
#endif
};

/**
 * pol_compat_bdev_open - open a block device
 * @handle: becomes the open device
 * @path: its path, looked up in the caller's file system name space
 * @write: for reading and writing, else for reading only
 * @holder: claims the device for itself, so that nobody else can; NULL: shares it
 *
 * May sleep. Return: 0; -EBUSY if somebody else holds it; -ENOTBLK, -EROFS, -ENOENT, ...
 */
static inline int pol_compat_bdev_open(struct pol_compat_bdev *handle, const char *path, bool write,
				       void *holder)
{
#ifdef POL_HAVE_BDEV_FILE_OPEN
	blk_mode_t mode = BLK_OPEN_READ | (write ? BLK_OPEN_WRITE : 0);
	struct file *file = bdev_file_open_by_path(path, mode, holder, NULL);

	if (IS_ERR(file))
		return PTR_ERR(file);
	handle->file = file;
	handle->bdev = file_bdev(file);
#else
	fmode_t mode = FMODE_READ | (write ? FMODE_WRITE : 0) | (holder ? FMODE_EXCL : 0);
	struct block_device *bdev = blkdev_get_by_path(path, mode, holder);

	if (IS_ERR(bdev))
		return PTR_ERR(bdev);
	handle->bdev = bdev;
	handle->mode = mode;
#endif
	return 0;
}

/**
 * pol_compat_bdev_close - close what pol_compat_bdev_open() opened
 * @handle: no I/O of its user may be in flight any more
 *
 * May sleep. The device can be claimed again when this returns.
 */
static inline void pol_compat_bdev_close(struct pol_compat_bdev *handle)
{
#ifdef POL_HAVE_BDEV_FILE_OPEN
	bdev_fput(handle->file);
#else
	blkdev_put(handle->bdev, handle->mode);
#endif
	handle->bdev = NULL;
}

/**
 * pol_compat_bdev_polls - whether REQ_POLLED works
 * @bdev: open block device
 *
 * Without polled queues REQ_POLLED is ignored by old kernels and an error to new ones.
 */
static inline bool pol_compat_bdev_polls(struct block_device *bdev)
{
	struct request_queue *q = bdev_get_queue(bdev);

#ifdef POL_HAVE_BLK_FEAT_POLL
	return q->limits.features & BLK_FEAT_POLL;
#else
	return test_bit(QUEUE_FLAG_POLL, &q->queue_flags);
#endif
}

/**
 * pol_compat_bdev_blocks - whether a driver may sleep when it is given a bio
 * @bdev: open block device
 *
 * Seen for drivers that sit on blk-mq; a stacked device (dm, md) does not tell.
 */
static inline bool pol_compat_bdev_blocks(struct block_device *bdev)
{
	struct request_queue *q = bdev_get_queue(bdev);

	return q->tag_set && q->tag_set->flags & BLK_MQ_F_BLOCKING;
}

#endif
