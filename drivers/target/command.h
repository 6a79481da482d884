/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command from capsule to response.
 *
 *	received -> parsed -> [waiting for buffers] -> [fetching: RDMA READ] -> executing
 *	  -> [returning: RDMA WRITE] -> responding: SEND (with invalidate) -> free
 *
 * Every arrow is one function of command.c and runs in the queue's group thread. While a command is
 * "executing" it belongs to the back end or to a worker, who end it with polt_command_executed().
 */
#ifndef POLT_COMMAND_H
#define POLT_COMMAND_H

#include <linux/bio.h>
#include <linux/nvme.h>
#include <linux/workqueue.h>

#include "core/group.h"
#include "core/memory.h"
#include "target/queue.h"
#include "target/sgl.h"

#define POLT_COMMAND_BUFFERS	(POLT_MDTS_BYTES / POL_BUFFER_LARGE)

enum polt_command_state {
	POLT_COMMAND_FREE,
	POLT_COMMAND_RECEIVED,
	POLT_COMMAND_WAITING,
	POLT_COMMAND_FETCHING,
	POLT_COMMAND_EXECUTING,
	POLT_COMMAND_RETURNING,
	POLT_COMMAND_RESPONDING,
};

struct polt_receive;

struct polt_command {
	struct polt_queue *queue;
	struct nvme_command sqe;		/* copied out of the capsule */
	struct nvme_completion *cqe;		/* in registered memory; result is the back end's or admin's to set */
	enum polt_command_state state;
	u16 status;				/* NVMe status, not shifted; DNR is 0x4000 */
	struct polt_transfer transfer;
	struct polt_namespace *namespace;	/* I/O: percpu reference held */
	u32 data_len;				/* bytes in the buffers */
	unsigned int nr_buffers;
	struct pol_buffer *buffers[POLT_COMMAND_BUFFERS];
	struct pol_message handback;		/* brings it back to the thread */
	struct work_struct work;		/* admin, and I/O that may block */
	/* followed by what command.c and the back ends need */
};

/*
 * polt_command_executed - the back end or a worker is done with a command
 * Any context (interrupts too). @status is an NVMe status without the phase bit shift
 * (NVME_SC_*, | NVME_SC_DNR / NVME_STATUS_DNR); the response, and the data if the command returns
 * any and @status is 0, go out from the thread.
 */
void polt_command_executed(struct polt_command *command, u16 status);

/* The command's data buffers, for admin commands in a worker. Offsets and lengths are checked. */
u16 polt_command_copy_to(struct polt_command *command, u32 offset, const void *from, u32 len);
u16 polt_command_copy_from(struct polt_command *command, u32 offset, void *to, u32 len);
u16 polt_command_zero(struct polt_command *command, u32 offset, u32 len);

#endif
