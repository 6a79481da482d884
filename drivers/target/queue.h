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

/**
 * enum polt_queue_state - where a queue is in the picture above
 * @POLT_QUEUE_CONNECTING: accepted, not established: capsules are kept
 * @POLT_QUEUE_LIVE: commands are executed
 * @POLT_QUEUE_FAILED: something went wrong; the worker is on its way
 * @POLT_QUEUE_DRAINING: the group posts and parses nothing more
 * @POLT_QUEUE_DEAD: the RDMA half is gone
 */
enum polt_queue_state {
	POLT_QUEUE_CONNECTING,
	POLT_QUEUE_LIVE,
	POLT_QUEUE_FAILED,
	POLT_QUEUE_DRAINING,
	POLT_QUEUE_DEAD,
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

/**
 * struct polt_queue - a queue of the target
 * @group: where it is placed; a user of it until it is freed
 * @pair: what it shares with others there
 * @pair_entry: link in the pair's table of queue pairs
 * @sendq: work requests gathered
 * @state: where it is; READ_ONCE outside of the thread
 * @commands: @nr_commands of them
 * @free_commands: polt_command.entry
 * @early: receives that wait: not established, or no free command
 * @starved: commands that wait for send credits
 * @held: commands that wait for buffers
 * @waiting_entry: link in the pair's list while there are any
 * @posted: commands with work requests posted, oldest first
 * @in_use: commands not free
 * @outstanding: capsules that have no response yet: at most @depth
 * @send_credits: send work requests that still fit
 * @claimed: buffers its commands have
 * @sqhd: SQHD: how far the submission queue has been taken from
 * @sq_entries: what SQHD wraps at
 * @connected: Fabrics Connect succeeded
 * @serving: polt_queue_serve() is running
 * @tail_posted: @tail_wr is posted
 * @doubted: probe it once more when @tail_timer is due
 * @unsignalled: responses posted since the last one with a completion
 * @unsignalled_since: when the first of them was; local_clock()
 * @last_number: of the command posted last
 * @stalled_number: of the command found posted for too long
 * @tail_number: @last_number when the tail was posted
 * @tail_wr: empty: its completion says that all before it are done
 * @tail_cqe: its completion
 * @tail_timer: responses wait for a completion, or the queue is doubted
 * @stall_timer: looks whether what is posted completes
 * @connect_timer: ends it if no Fabrics Connect succeeds
 * @subsystem: of @ctrl, once connected
 * @commands_received: capsules that arrived
 * @commands_done: responses sent
 * @commands_failed: of these, with an error status
 * @invalidates: responses that invalidated a key of the host
 * @fetches: commands whose data was fetched by RDMA READ
 * @in_capsule: commands whose data came in the capsule
 * @buffer_waits: commands that had to wait for buffers
 * @bytes_read: data sent to the host
 * @bytes_written: data that came from it
 * @qid: queue identifier, 0 is the admin queue
 * @depth: entries of the submission queue, as agreed
 * @nr_commands: commands there is room for, more than @depth
 * @nr_receives: of the shared ones, or its own
 * @inline_size: in-capsule data taken, bytes
 * @admitted_bytes: memory counted for it: admission.c
 * @max_credits: send work requests there is room for
 * @max_sge: scatter elements of a work request
 * @max_read_sge: of an RDMA READ
 * @can_invalidate: the device sends with invalidate
 * @port: that it came through; reference
 * @ctrl: reference; set by Connect (worker), read in the thread
 * @host: the host's address
 * @peer: the host's address and port, for messages
 * @local: the address of ours that the host has connected to
 * @id: grows from queue to queue in the list of all
 * @group_id: number of its group
 * @device: name of its RDMA device
 * @qp: queue pair
 * @qp_num: its number
 * @cm_id: connection
 * @cq: completion queue, of the group
 * @cq_entries: reserved in it
 * @responses: nvme_completion of each command
 * @receives: without SRQ: its receive buffers
 * @ref: of the RDMA half and the storage half, and of who keeps it
 * @entry: link in the list of all queues, until it is freed
 * @established: message: the CM said so
 * @notify_work: COMM_EST -> rdma_notify()
 * @end_work: ends the RDMA half
 * @free_work: frees it
 * @last_wqe: the device said LAST_WQE_REACHED
 * @flags: POLT_QUEUE_ATTACHED and so on, atomic bits
 */
struct polt_queue {
	/* the group's thread */
	struct pol_group *group;
	struct polt_pair *pair;
	struct hlist_node pair_entry;
	struct pol_sendq sendq;
	enum polt_queue_state state;
	struct polt_command *commands;
	struct list_head free_commands;
	struct list_head early;
	struct list_head starved;
	struct list_head held;
	struct list_head waiting_entry;
	struct list_head posted;
	unsigned int in_use;
	unsigned int outstanding;
	unsigned int send_credits;
	unsigned int claimed[POLT_BUFFERS_SIZES];
	u16 sqhd;
	u16 sq_entries;
	bool connected;
	bool serving;
	bool tail_posted;
	bool doubted;
	unsigned int unsignalled;
	u64 unsignalled_since;
	u64 last_number;
	u64 stalled_number;
	u64 tail_number;
	struct ib_rdma_wr tail_wr;
	struct ib_cqe tail_cqe;
	struct pol_timer tail_timer;
	struct pol_timer stall_timer;
	struct pol_timer connect_timer;
	struct polt_subsystem *subsystem;

	/* counters: written by the thread, read by anybody with READ_ONCE() */
	u64 commands_received;
	u64 commands_done;
	u64 commands_failed;
	u64 invalidates;
	u64 fetches;
	u64 in_capsule;
	u64 buffer_waits;
	u64 bytes_read;
	u64 bytes_written;

	/* fixed once made */
	u16 qid;
	u16 depth;
	u16 nr_commands;
	u16 nr_receives;
	u32 inline_size;
	u64 admitted_bytes;
	unsigned int max_credits;
	unsigned int max_sge;
	unsigned int max_read_sge;
	bool can_invalidate;
	struct polt_port *port;
	struct polt_ctrl *ctrl;
	struct sockaddr_storage host;
	char peer[INET6_ADDRSTRLEN + 8];
	char local[INET6_ADDRSTRLEN];

	/* fixed, for who looks when group and device may have gone */
	u64 id;
	unsigned int group_id;
	char device[IB_DEVICE_NAME_MAX];

	/* control side: queue.c */
	struct ib_qp *qp;
	u32 qp_num;
	struct rdma_cm_id *cm_id;
	struct pol_cq *cq;
	unsigned int cq_entries;
	struct pol_region responses;
	struct list_head receives;
	struct kref ref;
	struct list_head entry;
	struct pol_message established;
	struct work_struct notify_work;
	struct work_struct end_work;
	struct work_struct free_work;
	struct completion last_wqe;
	unsigned long flags;
};

/* Are commands executed? */
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
