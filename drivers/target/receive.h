/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What queues of one poll group share on one RDMA device: protection domain, shared receive queue
 * with its buffers, data buffers, and the table that finds a queue by its queue pair. For each
 * in-capsule size there is a pair of its own, and another one when it is full.
 *
 * Made with the first queue, its RDMA objects destroyed with the last one's RDMA half; the pages
 * stay until the last queue is freed, for commands may still be in a disk.
 */
#ifndef POLT_RECEIVE_H
#define POLT_RECEIVE_H

#include <linux/hash.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <rdma/ib_verbs.h>

#include "core/device.h"
#include "core/group.h"
#include "core/memory.h"
#include "target/command.h"
#include "target/share.h"

#define POLT_PAIR_HASH_BITS	6	/* of the table of queue pairs */
#define POLT_PAIR_LANES		8	/* polled disks one group has I/O in at a time */
#define POLT_SRQ_MAX		4096U	/* receives of a shared receive queue, at most */

/*
 * Where the capsule starts in its slot: the data behind the 64-byte SQE is then aligned well enough
 * for any disk, and can be written from where it arrived.
 */
#define POLT_RECEIVE_ALIGN	512
#define POLT_RECEIVE_OFFSET	(POLT_RECEIVE_ALIGN - sizeof(struct nvme_command))

/**
 * struct polt_receive - a buffer for one capsule
 * @entry: where it waits while it is not posted
 * @cqe: its completion
 * @wr: its work request, built once
 * @sge: its memory, built once
 * @pair: what it belongs to
 * @queue: without SRQ: the queue it is posted to, NULL: the SRQ
 * @region: memory it was cut from
 * @offset: of the capsule in @region
 * @capsule: address of the capsule
 * @arrived: bytes of the capsule that arrived
 */
struct polt_receive {
	struct list_head entry;
	struct ib_cqe cqe;
	struct ib_recv_wr wr;
	struct ib_sge sge;
	struct polt_pair *pair;
	struct polt_queue *queue;
	struct pol_region *region;
	size_t offset;
	void *capsule;
	u32 arrived;
};

/**
 * struct polt_receive_chunk - receives in one region
 * @entry: link in a list of them
 * @region: their memory
 * @count: how many
 * @receives: these
 */
struct polt_receive_chunk {
	struct list_head entry;
	struct pol_region region;
	unsigned int count;
	struct polt_receive receives[];
};

/**
 * struct polt_lane - a disk with polled queues in which the group has I/O
 * @poller: asks it; on the group's list while there are commands
 * @backend: the disk, NULL: the lane is free
 * @commands: polt_bdev_io.lane_entry
 *
 * One started bio of it is polled in every pass. Thread only.
 */
struct polt_lane {
	struct pol_poller poller;
	struct polt_backend *backend;
	struct list_head commands;
};

/**
 * struct polt_pair - what queues of a group share on a device
 * @group: the group
 * @queues: polt_queue.pair_entry, by queue pair
 * @pool: data buffers
 * @shares: who may have how many of them, by size
 * @waiting: queues with commands that wait for buffers
 * @nr_waiting: how many
 * @serving: waiting commands are being given buffers
 * @closed: the receive queue is about to go
 * @lent_out: at that time a disk still has buffers
 * @spare: receives the device did not take
 * @wrs: for a transfer of more than one
 * @sges: their gather lists
 * @lanes: polled disks
 * @device: the device; reference
 * @pd: protection domain
 * @srq: shared receive queue, NULL: every queue has its own receives
 * @srq_size: receives it has room for
 * @inline_size: bytes of in-capsule data that receives have room for
 * @admitted_bytes: counted as memory that hosts have taken
 * @entry: link in the list of pairs with RDMA objects
 * @users: queues with an RDMA half
 * @members: queues not freed yet, and one that asks to be let in
 * @wanted: receives all its queues may hold: at most @srq_size
 * @nr_receives: receives there are in the SRQ
 * @chunks: these
 * @ref: of the RDMA objects, and of each queue that is not freed
 */
struct polt_pair {
	/* the group's thread */
	struct pol_group *group;
	struct hlist_head queues[1 << POLT_PAIR_HASH_BITS];
	struct pol_pool *pool;
	struct polt_share shares[POLT_BUFFERS_SIZES];
	struct list_head waiting;
	unsigned int nr_waiting;
	bool serving;
	bool closed;
	bool lent_out;
	struct list_head spare;
	struct ib_rdma_wr wrs[POLT_TRANSFER_WRS];
	struct ib_sge sges[POLT_TRANSFER_WRS];
	struct polt_lane lanes[POLT_PAIR_LANES];

	/* fixed once made */
	struct pol_device *device;
	struct ib_pd *pd;
	struct ib_srq *srq;
	unsigned int srq_size;
	u32 inline_size;
	u64 admitted_bytes;

	/* polt_pairs_lock; @members is read by the thread without it */
	struct list_head entry;
	unsigned int users;
	atomic_t members;
	unsigned int wanted;
	unsigned int nr_receives;
	struct list_head chunks;

	struct kref ref;
};

struct polt_pair *polt_pair_get(struct pol_group *group, struct pol_device *device,
				u32 inline_size, unsigned int receives);
void polt_pair_leave(struct polt_pair *pair);
void polt_pair_put(struct polt_pair *pair, unsigned int receives);
bool polt_pair_device_idle(struct pol_device *device);
int polt_pair_for_each(int (*visit)(struct polt_pair *pair, void *arg), void *arg);
extern wait_queue_head_t polt_pairs_wait;
extern unsigned int polt_pairs_gone;

size_t polt_receive_bytes(struct ib_device *ib, u32 inline_size, unsigned int count);
int polt_receives_alloc(struct list_head *chunks, struct polt_pair *pair,
			struct polt_queue *queue, unsigned int count);
void polt_receives_unmap(struct list_head *chunks);
void polt_receives_free(struct list_head *chunks);

/* thread */
void polt_receives_post(struct list_head *chunks);
void polt_receive_repost(struct polt_receive *receive);
void polt_pair_attach(struct polt_pair *pair, struct polt_queue *queue);
void polt_pair_detach(struct polt_pair *pair, struct polt_queue *queue);

#endif
