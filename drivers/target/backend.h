/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The seam between the target and storage. A back end is one file: it opens what a namespace is
 * made of, says its geometry, and executes Read, Write and Flush of commands.
 */
#ifndef POLT_BACKEND_H
#define POLT_BACKEND_H

#include <linux/types.h>

struct netlink_ext_ack;
struct polt_backend;
struct polt_command;

/**
 * enum polt_submit_mode - where I/O is given to a disk
 * @POLT_SUBMIT_AUTO: inline where the disk cannot block, else worker; only to be asked for
 * @POLT_SUBMIT_INLINE: in the group's thread
 * @POLT_SUBMIT_WORKER: in workers
 */
enum polt_submit_mode {
	POLT_SUBMIT_AUTO,
	POLT_SUBMIT_INLINE,
	POLT_SUBMIT_WORKER,
};

/**
 * struct polt_backend_params - what the administrator asked for
 * @device: path of a block device, NULL for RAM
 * @ram_bytes: size of a RAM disk
 * @block_size: logical block size of a RAM disk, 0 for the default
 * @submit: where I/O is submitted
 * @shared: do not claim the block device exclusively
 * @read_only: open read-only and refuse writes
 */
struct polt_backend_params {
	const char *device;
	u64 ram_bytes;
	u32 block_size;
	enum polt_submit_mode submit;
	bool shared;
	bool read_only;
};

/**
 * struct polt_backend_ops - one kind of storage
 * @name: as shown to the administrator
 * @open: process context, may sleep, called without the configuration mutex. Sets block_shift,
 *	capacity, volatile_cache, ... of the result. ERR_PTR on failure, the reason in @extack
 * @close: process context, may sleep; nothing is in flight any more
 * @execute: group's thread; never sleeps, never blocks. Starts a command whose range, length and
 *	buffers are checked and ready (opcode Read, Write or Flush). It ends from any context with
 *	polt_command_executed(), or in the thread with polt_command_finish(), at once or later
 * @writable: optional; any context: can it be written just now? Always, where there is none
 * @rescan: optional; process context under the configuration mutex, no I/O: take note of what has
 *	changed of the storage, its size first of all (WRITE_ONCE). Returns true if hosts must know
 */
struct polt_backend_ops {
	const char *name;
	struct polt_backend *(*open)(const struct polt_backend_params *params,
				     struct netlink_ext_ack *extack);
	void (*close)(struct polt_backend *backend);
	void (*execute)(struct polt_backend *backend, struct polt_command *command);
	bool (*writable)(struct polt_backend *backend);
	bool (*rescan)(struct polt_backend *backend);
};

/**
 * struct polt_backend - the storage of a namespace, open
 * @ops: what kind it is
 * @blocks: capacity in logical blocks
 * @block_shift: log2 of the logical block size
 * @alignment: what addresses of data must be multiples of
 * @granule_blocks: multiples of this are written best; 0: not known
 * @optimal_blocks: best size of I/O; 0: not known
 * @read_only: refuse writes; changes under load
 * @volatile_cache: Flush means something; for Identify
 * @submit: as decided: INLINE or WORKER; changes under load
 * @inline_possible: submitting never sleeps: INLINE can be had, AUTO is it
 */
struct polt_backend {
	const struct polt_backend_ops *ops;
	u64 blocks;
	u8 block_shift;
	u32 alignment;
	u32 granule_blocks;
	u32 optimal_blocks;
	bool read_only;
	bool volatile_cache;
	enum polt_submit_mode submit;
	bool inline_possible;
};

extern const struct polt_backend_ops polt_bdev_ops;
extern const struct polt_backend_ops polt_ram_ops;

struct polt_backend *polt_backend_open(const struct polt_backend_params *params,
				       struct netlink_ext_ack *extack);
void polt_backend_close(struct polt_backend *backend);

/* Can it be written just now? Any context. */
static inline bool polt_backend_writable(struct polt_backend *backend)
{
	return !backend->ops->writable || backend->ops->writable(backend);
}

/**
 * polt_backend_submit - what a mode comes to with a back end
 * @backend: an open back end
 * @asked: the mode; POLT_SUBMIT_INLINE must be possible
 *
 * Return: POLT_SUBMIT_INLINE or POLT_SUBMIT_WORKER.
 */
static inline enum polt_submit_mode polt_backend_submit(const struct polt_backend *backend,
							enum polt_submit_mode asked)
{
	if (asked == POLT_SUBMIT_AUTO)
		return backend->inline_possible ? POLT_SUBMIT_INLINE : POLT_SUBMIT_WORKER;
	return asked;
}

#endif
