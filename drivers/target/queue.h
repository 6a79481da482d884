/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A target queue: one NVMe queue, one RDMA queue pair, placed in one poll group for life.
 *
 * It has two halves with separate lives. The RDMA half (QP, cm_id, work requests) ends in bounded
 * time whatever host or disk do. The storage half (commands in a disk, their buffers' pages) ends
 * when the disk answers; the last command frees the queue.
 */
#ifndef POLT_QUEUE_H
#define POLT_QUEUE_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "core/group.h"
#include "core/sendq.h"
#include "target/config.h"

struct polt_command;
struct polt_ctrl;
struct polt_pair;

enum polt_queue_state {
	POLT_QUEUE_CONNECTING,		/* accepted, not established: capsules are kept */
	POLT_QUEUE_LIVE,
	POLT_QUEUE_FAILED,		/* something went wrong; the worker is on its way */
	POLT_QUEUE_DRAINING,		/* the group posts and parses nothing more */
	POLT_QUEUE_DEAD,		/* the RDMA half is gone */
};

struct polt_queue {
	/* the group's thread */
	struct pol_group *group;
	struct polt_pair *pair;
	struct pol_sendq sendq;
	enum polt_queue_state state;
	struct polt_command *commands;	/* depth of them */
	struct list_head free_commands;
	unsigned int in_use;		/* commands not free */
	u16 sqhd;
	u16 depth;			/* entries of the submission queue, as agreed */
	unsigned int send_credits;	/* send work requests that still fit */
	u32 buffers_held;		/* data buffers its commands hold: fair share */
	bool connected;			/* Fabrics Connect succeeded */
	struct list_head early;		/* capsules that came before ESTABLISHED */
	u64 commands_done;
	u64 commands_failed;
	u64 bytes_read;
	u64 bytes_written;

	/* fixed once made */
	u16 qid;
	u32 inline_size;		/* in-capsule data taken, bytes */
	struct polt_port *port;		/* reference */
	struct polt_ctrl *ctrl;		/* reference; set by Connect (worker), read in the thread */
	char peer[INET6_ADDRSTRLEN + 8]; /* the host's address, for messages */

	/* control side: queue.c */
	struct ib_qp *qp;
	struct rdma_cm_id *cm_id;
	struct kref ref;
	struct list_head entry;		/* list of all queues */
	struct work_struct end_work;
	unsigned long flags;
};

/* any context: something is wrong with the queue; marks it and queues its worker. Idempotent */
void polt_queue_fail(struct polt_queue *queue, const char *why);
/* process context: the queue's RDMA half is gone when this returns. Bounded */
void polt_queue_end_wait(struct polt_queue *queue);
void polt_queue_get(struct polt_queue *queue);
void polt_queue_put(struct polt_queue *queue);
int polt_queue_for_each(int (*visit)(struct polt_queue *queue, void *arg), void *arg);
/* process context (Abort): tells how it went. Return: true if the command will not be executed */
bool polt_queue_abort(struct polt_queue *queue, u16 command_id);

/* listener.c - process context, may sleep */
int polt_listener_start(struct polt_port *port);
void polt_listener_stop(struct polt_port *port);

#endif
