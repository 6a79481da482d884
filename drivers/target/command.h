/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command from capsule to response.
 *
 *	received -> [waiting for buffers] -> [fetching: RDMA READ] -> executing -.
 *	    free <- returning: RDMA WRITE and SEND in one chain <----------------|
 *	    free <- responding: SEND alone <-------------------------------------'
 *
 * What is refused, or aborted while it waits, goes to responding at once; all are let go when their
 * queue fails. Every arrow is one function (command.c: the life, transfer.c: data and work
 * requests) and runs in the queue's group thread. While a command is "executing" it belongs to the
 * back end or to a worker, who end it with polt_command_executed().
 */
#ifndef POLT_COMMAND_H
#define POLT_COMMAND_H

#include <linux/atomic.h>
#include <linux/bio.h>
#include <linux/nvme.h>
#include <linux/workqueue.h>

#include "core/group.h"
#include "core/latency.h"
#include "core/memory.h"
#include "target/queue.h"
#include "target/sgl.h"

#define POLT_SIGNAL_EVERY	8	/* responses for one completion of what was sent */
#define POLT_SLOW_COMMAND_NS	(100 * (u64)NSEC_PER_MSEC)	/* worth a tracepoint */

#define POLT_COMMAND_BUFFERS	(POLT_MDTS_BYTES / POL_BUFFER_LARGE)
#define POLT_COMMAND_BIOS	4	/* bios of a command that may be in a disk at a time */
#define POLT_COMMAND_VECS	(POLT_COMMAND_BUFFERS + POLT_COMMAND_BIOS - 1)

/* Worst case of work requests that move one command's data: segments and buffers cut each other. */
#define POLT_TRANSFER_WRS	(POLT_MSDBD + POLT_COMMAND_BUFFERS)

/**
 * enum polt_command_state - where a command is in the picture above
 * @POLT_COMMAND_FREE: nowhere
 * @POLT_COMMAND_RECEIVED: being parsed
 * @POLT_COMMAND_WAITING: for data buffers
 * @POLT_COMMAND_FETCHING: its data, by RDMA READ, or waits for credits to do so
 * @POLT_COMMAND_EXECUTING: the back end or a worker has it
 * @POLT_COMMAND_RETURNING: its data and response are sent, or wait for credits
 * @POLT_COMMAND_RESPONDING: its response is, alone
 */
enum polt_command_state {
	POLT_COMMAND_FREE,
	POLT_COMMAND_RECEIVED,
	POLT_COMMAND_WAITING,
	POLT_COMMAND_FETCHING,
	POLT_COMMAND_EXECUTING,
	POLT_COMMAND_RETURNING,
	POLT_COMMAND_RESPONDING,
};

struct polt_lane;
struct polt_receive;

/**
 * struct polt_bdev_io - what bdev.c needs of a command that is in a disk
 * @bios: a wave of them
 * @vecs: their pages
 * @nr_bios: bios of this wave
 * @pending: bios not ended, and the submitter
 * @error: of a bio of this wave; one to try again gives way
 * @done: bytes of waves before this one
 * @wave: bytes of this wave
 * @retried: it would have blocked: a worker submits
 * @lane: where it is polled, NULL: by interrupt
 * @lane_entry: link in the lane's list
 *
 * A command is cut into bios by the disk's limits; a wave is as many of them as there is room for.
 */
struct polt_bdev_io {
	struct bio bios[POLT_COMMAND_BIOS];
	struct bio_vec vecs[POLT_COMMAND_VECS];
	unsigned int nr_bios;
	atomic_t pending;
	blk_status_t error;
	u32 done;
	u32 wave;
	bool retried;
	struct polt_lane *lane;
	struct list_head lane_entry;
};

/**
 * struct polt_command - a command, or room for one
 * @entry: where it waits; while executing: the executor's to use
 * @posted: link in the queue's list while work requests are posted
 * @queue: the queue it belongs to, for life
 * @state: where it is
 * @status: NVMe status, not shifted; DNR is NVME_STATUS_DNR
 * @class: for the latency histograms
 * @sqe: copied out of the capsule
 * @cqe: the response, in registered memory; result is the back end's or admin's to set
 * @transfer: where the host's data is
 * @namespace: I/O: percpu reference held
 * @lba: I/O: checked
 * @data_len: bytes of data, as the command says; 0: none
 * @to_host: the data goes to the host
 * @receive: the capsule, while its data is needed
 * @inline_data: data is used where it arrived
 * @nr_buffers: how many it has
 * @buffers: its data buffers, all of one size
 * @number: in the order of posting
 * @credits: send work requests it has posted
 * @credits_wanted: what it waits for in the queue's list
 * @resume: what to do when it has them
 * @data_cqe: unsignalled ones: completes only in error
 * @fetch_cqe: the last RDMA READ
 * @send_cqe: the response, if it asked for a completion
 * @data_wr: when one is enough
 * @data_sge: its gather list
 * @send_wr: the response
 * @send_sge: its gather list
 * @arrived: when its capsule was reaped
 * @since: when the stage that it is in began
 * @handback: brings it back to the thread
 * @work: admin, and I/O that may block
 * @bdev: bdev.c's
 */
struct polt_command {
	struct list_head entry;
	struct list_head posted;
	struct polt_queue *queue;
	enum polt_command_state state;
	u16 status;
	enum pol_latency_class class;
	struct nvme_command sqe;
	struct nvme_completion *cqe;

	/* data */
	struct polt_transfer transfer;
	struct polt_namespace *namespace;
	u64 lba;
	u32 data_len;
	bool to_host;
	struct polt_receive *receive;
	void *inline_data;
	unsigned int nr_buffers;
	struct pol_buffer *buffers[POLT_COMMAND_BUFFERS];

	/* work requests */
	u64 number;
	unsigned int credits;
	unsigned int credits_wanted;
	void (*resume)(struct polt_command *command);
	struct ib_cqe data_cqe;
	struct ib_cqe fetch_cqe;
	struct ib_cqe send_cqe;
	struct ib_rdma_wr data_wr;
	struct ib_sge data_sge[POLT_COMMAND_BUFFERS];
	struct ib_send_wr send_wr;
	struct ib_sge send_sge;

	/* times, nanoseconds of local_clock() */
	u64 arrived;
	u64 since;

	/* execution */
	struct pol_message handback;
	struct work_struct work;
	struct polt_bdev_io bdev;
};

/* command.c, for those who execute: any context, and the thread */
void polt_command_executed(struct polt_command *command, u16 status);
void polt_command_finish(struct polt_command *command, u16 status);
u16 polt_command_copy_to(struct polt_command *command, u32 offset, const void *from, u32 len);
u16 polt_command_copy_from(struct polt_command *command, u32 offset, void *to, u32 len);
u16 polt_command_zero(struct polt_command *command, u32 offset, u32 len);

/* Data as contiguous pieces in order: piece @i of polt_command_pieces(). */
static inline unsigned int polt_command_pieces(const struct polt_command *command)
{
	return command->inline_data ? 1 : command->nr_buffers;
}

/**
 * polt_command_piece - a contiguous piece of a command's data
 * @command: a command that has all its data buffers, or its data in the capsule
 * @i: which one, in order: 0 to polt_command_pieces() - 1
 * @len: result: its bytes
 *
 * Any context, of whoever has the command.
 *
 * Return: its address.
 */
static inline void *polt_command_piece(const struct polt_command *command, unsigned int i, u32 *len)
{
	u32 before;

	if (command->inline_data) {
		*len = command->data_len;
		return command->inline_data;
	}
	/* All but the last are full, and all are of one size. */
	before = i * command->buffers[0]->size;
	*len = min(command->buffers[i]->size, command->data_len - before);
	return command->buffers[i]->virt;
}

extern struct workqueue_struct *polt_admin_wq;	/* unbound: admin and Fabrics commands */

/* command.c - thread */
#ifdef POLLARD_DEBUG
void polt_command_check_state(const struct polt_command *command, enum polt_command_state state);
#else
static inline void polt_command_check_state(const struct polt_command *command,
					    enum polt_command_state state)
{
}
#endif

/* One arrow of the picture above. Thread only. */
static inline void polt_command_set_state(struct polt_command *command,
					  enum polt_command_state state)
{
	polt_command_check_state(command, state);
	command->state = state;
}

void polt_command_init(struct polt_queue *queue, struct polt_command *command, unsigned int index);
void polt_command_receive(struct polt_queue *queue, struct polt_receive *receive);
void polt_command_release(struct polt_command *command);
void polt_command_abort(struct polt_command *command);
void polt_command_has_buffers(struct polt_command *command);
void polt_command_execute(struct polt_command *command);
void polt_queue_serve(struct polt_queue *queue);
void polt_queue_drop(struct polt_queue *queue);
void polt_queue_drop_posted(struct polt_queue *queue);

/* buffers.c - thread */
void polt_buffers_take(struct polt_command *command);
void polt_buffers_give(struct polt_command *command);
void polt_buffers_unwait(struct polt_command *command);
void polt_buffers_serve(struct polt_pair *pair);

/* transfer.c - thread */
void polt_transfer_serve_credits(struct polt_queue *queue);
void polt_transfer_fetch(struct polt_command *command);
void polt_transfer_respond(struct polt_command *command);
void polt_transfer_failed(struct pol_sendq *sendq, struct ib_send_wr *bad, int error);
void polt_transfer_init_queue(struct polt_queue *queue);
void polt_transfer_stop(struct polt_queue *queue);
void polt_transfer_doubt(struct polt_queue *queue);
void polt_transfer_reclaim(struct polt_queue *queue);
void polt_transfer_init(struct polt_command *command);

/* io.c - thread */
u16 polt_io_check(struct polt_command *command, u32 *len);
void polt_io_execute(struct polt_command *command);

#endif
