/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A target queue: one NVMe queue, one RDMA queue pair, placed in one poll group for life.
 *
 * It has two halves with separate lives. The RDMA half (QP, cm_id, work requests) ends in bounded
 * time whatever host or disk do. The storage half (commands in a disk, their buffers' pages) ends
 * when the disk answers. Each half holds a reference; the last one frees the queue.
 *
 *	connecting -> live -> failed -> draining -> dead
 *	     '-----------------^
 */
#ifndef POLT_QUEUE_H
#define POLT_QUEUE_H

#include <linux/completion.h>
#include <linux/inet.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/nvme.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "core/group.h"
#include "core/memory.h"
#include "core/sendq.h"
#include "target/config.h"

struct polt_command;
struct polt_ctrl;
struct polt_pair;

#define POLT_CONNECT_TIMEOUT_S	10	/* from accept to a successful Fabrics Connect */
#define POLT_STALL_TIMEOUT_S	10	/* longest a posted work request may take */
#define POLT_STRANGER_COMMANDS	8	/* at a time, of a queue without Fabrics Connect */
#define POLT_PENDING_MAX	256	/* connections without a successful Fabrics Connect */
#define POLT_PENDING_HOST_MAX	64	/* of these, from one address */
#define POLT_DISCOVERY_MAX	256	/* discovery controllers */
#define POLT_DISCOVERY_HOST_MAX	32	/* of these, of one address */
#define POLT_RECEIVE_SPARE	2	/* receives besides one for each command */
#define POLT_SEND_SPARE		32	/* send work requests besides two for each command */

enum {
	POLT_BUFFERS_SMALL,
	POLT_BUFFERS_LARGE,
	POLT_BUFFERS_SIZES
};

enum polt_queue_state {
	POLT_QUEUE_CONNECTING,		/* accepted, not established: capsules are kept */
	POLT_QUEUE_LIVE,
	POLT_QUEUE_FAILED,		/* something went wrong; the worker is on its way */
	POLT_QUEUE_DRAINING,		/* the group posts and parses nothing more */
	POLT_QUEUE_DEAD,		/* the RDMA half is gone */
};

/* polt_queue.flags, atomic bits */
enum {
	POLT_QUEUE_ATTACHED,		/* the group knows it */
	POLT_QUEUE_DOOMED,		/* is to end; ends once it is attached */
	POLT_QUEUE_ENDING,		/* end_work is queued or has run */
	POLT_QUEUE_ESTABLISHED,		/* the CM said so */
	POLT_QUEUE_PENDING,		/* counted as a connection without Fabrics Connect */
	POLT_QUEUE_DISCOVERY,		/* counted as one of a discovery controller */
	POLT_QUEUE_JOINING,		/* a Connect is executing or has succeeded: fabrics.c */
	POLT_QUEUE_LEFT_CTRL,		/* polt_ctrl_queue_gone() has been called */
};

struct polt_queue {
	/* the group's thread */
	struct pol_group *group;
	struct polt_pair *pair;
	struct hlist_node pair_entry;	/* in the pair's table of queue pairs */
	struct pol_sendq sendq;
	enum polt_queue_state state;
	struct polt_command *commands;	/* nr_commands of them */
	struct list_head free_commands;
	/* receives that wait: not established, or no free command */
	struct list_head early;
	struct list_head starved;	/* commands that wait for send credits */
	struct list_head held;		/* commands that wait for buffers */
	struct list_head waiting_entry;	/* in the pair's list while there are any */
	struct list_head posted;	/* commands with work requests posted, oldest first */
	unsigned int in_use;		/* commands not free */
	unsigned int outstanding;	/* capsules that have no response yet: at most depth */
	unsigned int send_credits;	/* send work requests that still fit */
	unsigned int claimed[POLT_BUFFERS_SIZES]; /* buffers its commands have */
	u16 sqhd;
	u16 sq_entries;			/* what SQHD wraps at */
	bool connected;			/* Fabrics Connect succeeded */
	bool serving;			/* polt_queue_serve() is running */
	bool tail_posted;
	bool doubted;			/* probe it once more when tail_timer is due */
	unsigned int unsignalled;	/* responses posted since the last one with a completion */
	u64 unsignalled_since;		/* the first of them; local_clock() */
	u64 last_number;		/* of the command posted last */
	u64 stalled_number;		/* of the command found posted for too long */
	u64 tail_number;		/* last_number when the tail was posted */
	struct ib_rdma_wr tail_wr;	/* empty: its completion says that all before it are done */
	struct ib_cqe tail_cqe;
	struct pol_timer tail_timer;
	struct pol_timer stall_timer;
	struct pol_timer connect_timer;
	struct polt_subsystem *subsystem; /* of ctrl, once connected */

	/* counters: written by the thread, read by anybody with READ_ONCE() */
	u64 commands_received;
	u64 commands_done;		/* responses sent */
	u64 commands_failed;		/* of these, with an error status */
	u64 invalidates;		/* responses that invalidated a key of the host */
	u64 fetches;			/* commands whose data was fetched by RDMA READ */
	u64 in_capsule;			/* commands whose data came in the capsule */
	u64 buffer_waits;		/* commands that had to wait for buffers */
	u64 bytes_read;
	u64 bytes_written;

	/* fixed once made */
	u16 qid;
	u16 depth;			/* entries of the submission queue, as agreed */
	u16 nr_commands;
	u16 nr_receives;		/* of the shared ones, or its own */
	u32 inline_size;		/* in-capsule data taken, bytes */
	u64 admitted_bytes;		/* memory counted for it: admission.c */
	unsigned int max_credits;
	unsigned int max_sge;		/* scatter elements of a work request */
	unsigned int max_read_sge;
	bool can_invalidate;		/* the device sends with invalidate */
	struct polt_port *port;		/* reference */
	struct polt_ctrl *ctrl;		/* reference; set by Connect (worker), read in the thread */
	struct sockaddr_storage host;	/* the host's address */
	char peer[INET6_ADDRSTRLEN + 8]; /* the host's address and port, for messages */
	char local[INET6_ADDRSTRLEN];	/* the address of ours that the host has connected to */

	/* fixed, for who looks when group and device may have gone */
	u64 id;				/* grows from queue to queue in the list of all */
	unsigned int group_id;
	char device[IB_DEVICE_NAME_MAX];

	/* control side: queue.c */
	struct ib_qp *qp;
	u32 qp_num;
	struct rdma_cm_id *cm_id;
	struct pol_cq *cq;
	unsigned int cq_entries;	/* reserved in cq */
	struct pol_region responses;	/* nvme_completion of each command */
	struct list_head receives;	/* without SRQ: its receive buffers */
	struct kref ref;
	struct list_head entry;		/* list of all queues, until it is freed */
	struct pol_message established;
	struct work_struct notify_work;	/* COMM_EST -> rdma_notify() */
	struct work_struct end_work;
	struct work_struct free_work;
	struct completion last_wqe;
	unsigned long flags;
};

static inline bool polt_queue_is_live(const struct polt_queue *queue)
{
	return queue->state == POLT_QUEUE_LIVE;
}

/* Does what is posted still go out? */
static inline bool polt_queue_is_open(const struct polt_queue *queue)
{
	return queue->state <= POLT_QUEUE_LIVE;
}

/* Bytes of the region for its responses, one for each command there can be. */
static inline size_t polt_queue_responses_len(const struct polt_queue *queue)
{
	size_t len = queue->nr_commands * sizeof(struct nvme_completion);

	return roundup_pow_of_two(max_t(size_t, len, PAGE_SIZE));
}

/* queue.c - any context */
bool polt_queue_end(struct polt_queue *queue, const char *why);
void polt_queue_fail(struct polt_queue *queue, const char *why);
void polt_queue_fail_wc(struct polt_queue *queue, enum ib_wc_status status);
void polt_queue_put(struct polt_queue *queue);
/* queue.c - process context */
int polt_queue_for_each(int (*visit)(struct polt_queue *queue, void *arg), void *arg);
bool polt_queue_abort(struct polt_queue *queue, u16 command_id);
const char *polt_queue_state_name(enum polt_queue_state state);

/* admission.c */
bool polt_admission_discover(struct polt_queue *queue);
int polt_admission_take(struct polt_queue *queue);
void polt_admission_connected(struct polt_queue *queue);
void polt_admission_give(struct polt_queue *queue);
int polt_admission_take_memory(u64 bytes);
void polt_admission_add_memory(u64 bytes);
void polt_admission_give_memory(u64 bytes);

/* queue.c, for command.c; thread */
void polt_queue_connected(struct polt_queue *queue, u16 sqsize);
void polt_queue_command_freed(struct polt_queue *queue);

/* queue.c, for listener.c; a CM handler */
struct pol_wire_request;
struct polt_queue *polt_queue_create(struct rdma_cm_id *cm_id, struct polt_port *port,
				     const struct pol_wire_request *request);
int polt_queue_accept(struct polt_queue *queue, const struct rdma_conn_param *asked);

/* process context: end the queues of a port that have no controller yet */
void polt_queue_end_pending(struct polt_port *port);

int polt_queues_init(void);
void polt_queues_exit(void);

/* listener.c - the port's worker, may sleep */
int polt_listener_start(struct polt_port *port);
void polt_listener_stop(struct polt_port *port);

/* debugfs.c */
void polt_debugfs_init(void);
void polt_debugfs_exit(void);

#endif
