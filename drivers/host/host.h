/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The initiator's objects.
 *
 * A controller (struct polh_ctrl) lives from `nvme connect` to its deletion and owns an array of
 * queues of fixed length. A queue (struct polh_queue) lives as long; what belongs to RDMA in it -
 * CM identifier, queue pair, memory, tags - comes with polh_queue_connect() and goes with every
 * reset, lost connection or removed device. The mutex polh_ctrl.lock covers the coming and going.
 *
 * The I/O path takes no lock. It may touch the RDMA half of a queue in two ways only:
 *  - inside an RCU section in which POLH_QUEUE_CONNECTED was seen (submission, ->poll);
 *  - from a completion of that very queue, which draining the queue pair waits for.
 * Whoever takes a queue down clears the bit, waits for a grace period and drains.
 */
#ifndef POLH_HOST_H
#define POLH_HOST_H

#include <linux/atomic.h>
#include <linux/blk-mq.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "core/device.h"
#include "core/group.h"
#include "core/memory.h"
#include "host/flight.h"
#include "host/private/nvme_compat.h"

/* Bytes of a request that are copied, and of all slots of a controller. */
#define POLH_COPY_MAX_DEFAULT	SZ_16K
#define POLH_COPY_MAX_LIMIT	SZ_1M
#define POLH_SLOT_MEM_DEFAULT	SZ_64M
#define POLH_PAGE		SZ_4K	/* page size of registrations */
#define POLH_PAGES_MAX		257	/* of one request: 1 MiB that begins inside a page */
#define POLH_SENDS_PER_TAG	3	/* registration, capsule, local invalidation */
#define POLH_SIGNAL_EVERY	4	/* small commands of a tag for one completion of a SEND */
#define POLH_MEASURE_EVERY	4	/* I/O commands of a tag for one whose times are taken */
#define POLH_MODE_DEFAULT	(U32_MAX - 1)	/* mode: what the groups are set to */

struct polh_ctrl;
struct polh_queue;

/**
 * enum polh_data - where a command's data is
 * @POLH_DATA_NONE: there is none
 * @POLH_DATA_CAPSULE: write data in the capsule, from the slot
 * @POLH_DATA_SLOT: copied through the slot
 * @POLH_DATA_MAPPED: the request's own pages, registered for it
 */
enum polh_data {
	POLH_DATA_NONE,
	POLH_DATA_CAPSULE,
	POLH_DATA_SLOT,
	POLH_DATA_MAPPED,
};

/**
 * struct polh_tag - what a queue keeps for each of its tags while it is connected
 * @flight: the command in flight, and its response
 * @data: where the data of the command in flight is
 * @unsignalled: SENDs since the last one that asked for a completion
 * @len: bytes of data
 * @rq: request in flight; NULL for the asynchronous event command
 * @slot: the tag's slot, NULL without
 * @slot_region: what the slot is part of
 * @slot_offset: where in it
 * @slot_addr: the slot's address for the peer
 * @slot_rkey: the peer's key to it
 * @mr: for data that is registered per request
 * @sg: scatter list for that data
 * @nr_sg: its entries in use
 * @dma_dir: direction it was mapped for
 * @turn: commands the tag has carried; one in POLH_MEASURE_EVERY is measured
 * @begun: local_clock() when its submission began; 0: this command is not measured
 * @ready: local_clock() when capsule and data were ready to be sent
 * @answered: local_clock() when its response was reaped
 * @sge: capsule and in-capsule data
 * @send: posts the capsule
 * @reg: registers @mr
 * @invalidate: makes @mr's key void where the peer did not
 * @sent: completion of @send
 * @registered: completion of @reg, which is reported if it failed only
 * @invalidated: completion of @invalidate
 * @queue: the tag's queue
 * @pending: link in the queue's list of the same name
 *
 * From queue_rq until the post has returned the submitter owns it, from then on its completions do.
 */
struct polh_tag {
	struct polh_flight flight;
	enum polh_data data;
	u8 unsignalled;
	u32 len;
	struct request *rq;

	void *slot;
	struct pol_region *slot_region;
	size_t slot_offset;
	u64 slot_addr;
	u32 slot_rkey;

	struct ib_mr *mr;
	struct scatterlist *sg;
	int nr_sg;
	enum dma_data_direction dma_dir;

	u8 turn;
	u64 begun;
	u64 ready;
	u64 answered;

	struct ib_sge sge[2];
	struct ib_send_wr send;
	struct ib_reg_wr reg;
	struct ib_send_wr invalidate;
	struct ib_cqe sent;
	struct ib_cqe registered;
	struct ib_cqe invalidated;
	struct polh_queue *queue;
	struct llist_node pending;
};

/**
 * struct polh_response - a receive buffer for one response
 * @cqe: its completion
 * @queue: the queue it is posted to
 * @index: where it is in the queue's @responses
 */
struct polh_response {
	struct ib_cqe cqe;
	struct polh_queue *queue;
	unsigned int index;
};

/**
 * struct polh_slots - the slots of a queue
 * @size: bytes of one slot; 0: none
 * @region_bytes: bytes of a region
 * @mr_bytes: bytes that one registration covers
 * @regions: memory that the slots are in
 * @nr_regions: how many
 * @mrs: registrations through which the peer reaches it
 * @nr_mrs: how many
 *
 * All sizes are powers of two, so a slot lies in one region and in one registration.
 */
struct polh_slots {
	size_t size;
	size_t region_bytes;
	size_t mr_bytes;
	struct pol_region *regions;
	unsigned int nr_regions;
	struct ib_mr **mrs;
	unsigned int nr_mrs;
};

/**
 * struct polh_submitted - what is counted by whoever posts, on several CPUs at once
 * @commands: commands prepared
 * @posts: ib_post_send() calls
 * @work_requests: work requests in them
 * @registrations: of these, registrations of a request's pages
 * @invalidations: of these, local invalidations
 * @copies: commands whose data goes through the slot, but for those in the capsule
 * @zero_copy: commands whose pages are registered
 * @in_capsule: commands with their data in the capsule
 * @bytes_read: data asked of the target
 * @bytes_written: data given to it
 */
struct polh_submitted {
	u64 commands;
	u64 posts;
	u64 work_requests;
	u64 registrations;
	u64 invalidations;
	u64 copies;
	u64 zero_copy;
	u64 in_capsule;
	u64 bytes_read;
	u64 bytes_written;
};

/**
 * struct polh_reaped - what is counted where completions are reaped
 * @completions: completions reaped
 * @remote_invalidations: of these, responses that came with the peer's key made void
 * @timeouts: requests that took too long; counted by who looks for them
 */
struct polh_reaped {
	u64 completions;
	u64 remote_invalidations;
	u64 timeouts;
};

/**
 * struct polh_counters - the sum of both, as it is shown
 * @commands: see struct polh_submitted
 * @posts: the same
 * @work_requests: the same
 * @completions: see struct polh_reaped
 * @registrations: see struct polh_submitted
 * @invalidations: the same
 * @remote_invalidations: see struct polh_reaped
 * @copies: see struct polh_submitted
 * @zero_copy: the same
 * @in_capsule: the same
 * @timeouts: see struct polh_reaped
 * @bytes_read: see struct polh_submitted
 * @bytes_written: the same
 */
struct polh_counters {
	u64 commands;
	u64 posts;
	u64 work_requests;
	u64 completions;
	u64 registrations;
	u64 invalidations;
	u64 remote_invalidations;
	u64 copies;
	u64 zero_copy;
	u64 in_capsule;
	u64 timeouts;
	u64 bytes_read;
	u64 bytes_written;
};

/**
 * enum polh_queue_flag - bits of polh_queue.flags
 * @POLH_QUEUE_CONNECTED: commands may be posted (under RCU)
 * @POLH_QUEUE_LIVE: and the Connect command has been accepted
 * @POLH_QUEUE_POLLED: completions are reaped by ->poll
 * @POLH_QUEUE_STOPPING: being drained
 * @POLH_QUEUE_LEFT_OUT: not connected: no CPU that it is for was online
 */
enum polh_queue_flag {
	POLH_QUEUE_CONNECTED,
	POLH_QUEUE_LIVE,
	POLH_QUEUE_POLLED,
	POLH_QUEUE_STOPPING,
	POLH_QUEUE_LEFT_OUT,
};

/**
 * enum polh_state - how far a queue is, which its flags say together (state.c)
 * @POLH_STATE_IDLE: without a connection
 * @POLH_STATE_CONNECTED: Connect and nothing else may be sent
 * @POLH_STATE_LIVE: in use
 * @POLH_STATE_STOPPING: being drained
 * @POLH_STATE_LEFT_OUT: not connected: the controller does without it
 * @POLH_STATES: how many there are
 *
 *	idle -> connected -> live -> stopping -> idle
 *	 |        |  '------------------^
 *	 |        '-> idle (the connection was lost at once)
 *	 '-> left out -> idle
 */
enum polh_state {
	POLH_STATE_IDLE,
	POLH_STATE_CONNECTED,
	POLH_STATE_LIVE,
	POLH_STATE_STOPPING,
	POLH_STATE_LEFT_OUT,
	POLH_STATES
};

/**
 * enum polh_cm_phase - how far rdma_cm has got with a queue
 * @POLH_CM_IDLE: nowhere, or it has failed
 * @POLH_CM_ADDRESS: the address is resolved
 * @POLH_CM_ROUTE: and the route
 * @POLH_CM_ESTABLISHED: the connection is there
 *
 * One after the other, and from any back to idle.
 */
enum polh_cm_phase {
	POLH_CM_IDLE,
	POLH_CM_ADDRESS,
	POLH_CM_ROUTE,
	POLH_CM_ESTABLISHED,
};

/**
 * struct polh_queue - one NVMe queue, one RDMA queue pair
 * @ctrl: its controller
 * @qid: queue identifier, 0 for the admin queue
 * @flags: enum polh_queue_flag
 * @nr_tags: tags there is room for
 * @signal_every: small commands of a tag for one completion of a SEND
 * @sends: work requests that may be in the send queue without having completed
 * @tags: one per tag
 * @pending: tags whose requests wait for the end of their batch, the last one first
 * @in_capsule_max: bytes of data that may travel in a capsule
 * @copy_max: bytes of data that are copied
 * @qp: queue pair
 * @cq: its completion queue
 * @capsules: the commands on their way out, POLH_CAPSULE_STRIDE apart
 * @responses: receive buffers, POLH_RESPONSE_STRIDE apart
 * @receives: one per receive buffer
 * @slots: the slots
 * @scatter: the scatter lists of all tags
 * @group: poll group that reaps the queue, NULL for a polled queue
 * @wish: how the group shall wait, where the controller has a mode of its own
 * @pol_cq: what @cq is a share of, NULL for a polled queue
 * @cq_entries: the share
 * @cm_id: connection
 * @cm_phase: how far the connection has got
 * @cm_error: why it has not got further
 * @granted: entries that the target gave the queue
 * @drain: something has been posted, the queue pair must be drained
 * @drain_work: drains a polled queue
 * @registration: waits for the registration of the slots
 * @poller: task inside ->poll
 * @batch: where ->poll collects finished requests
 * @finished: where the group's thread does
 * @finishing: ends those
 * @polling: held by the one CPU that polls
 * @submitted: counters of whoever posts
 * @reaped: counters of the reaper
 */
struct polh_queue {
	struct polh_ctrl *ctrl;
	u16 qid;
	unsigned long flags;
	unsigned int nr_tags;
	unsigned int signal_every;
	unsigned int sends;
	struct polh_tag *tags;
	struct llist_head pending;
	u32 in_capsule_max;
	u32 copy_max;
	struct ib_qp *qp;
	struct ib_cq *cq;
	struct pol_region capsules;
	struct pol_region responses;
	struct polh_response *receives;
	struct polh_slots slots;
	struct scatterlist *scatter;

	struct pol_group *group;
	struct pol_wish wish;
	struct pol_cq *pol_cq;
	unsigned int cq_entries;
	struct rdma_cm_id *cm_id;
	enum polh_cm_phase cm_phase;
	int cm_error;
	u32 granted;
	bool drain;
	struct work_struct drain_work;
	struct {
		struct ib_cqe cqe;
		struct completion done;
		enum ib_wc_status status;
	} registration;

	struct task_struct *poller;
	struct io_comp_batch *batch;
	struct io_comp_batch finished;
	struct pol_batch finishing;
	spinlock_t polling;

	struct polh_submitted __percpu *submitted;
	struct polh_reaped reaped;
};

/**
 * enum polh_ctrl_flag - bits of polh_ctrl.flags
 * @POLH_CTRL_FAILED: a queue is of no use any more
 * @POLH_CTRL_CREATED: nvme connect has been told of success
 * @POLH_CTRL_BUSY: a reset or attempt to reconnect: of no use to a deletion
 */
enum polh_ctrl_flag {
	POLH_CTRL_FAILED,
	POLH_CTRL_CREATED,
	POLH_CTRL_BUSY,
};

/**
 * struct polh_ctrl - a controller
 * @nvme: nvme-core's part
 * @entry: link in the list of all controllers
 * @flags: enum polh_ctrl_flag
 * @freed: told when the controller has been freed, where somebody waits for that
 * @addr: the target's address
 * @src_addr: the address to come from, with NVMF_OPT_HOST_TRADDR
 * @queues: all queues there can be, the admin queue first
 * @nr_queues: their number
 * @sqsize: depth of I/O queues to ask for, 0's based: the user's, then that of the first connect
 * @io_queues: of the I/O queues in use how many are for which map
 * @admin_set: tags of the admin queue
 * @io_set: tags of the I/O queues
 * @lock: the RDMA half of all queues, @mode, and what follows down to @max_tags
 * @admin_set_ready: @admin_set may be looked through
 * @io_set_ready: @io_set may be looked through
 * @device: device that the queues are on, NULL without a queue
 * @pd: protection domain of this controller alone
 * @pd_users: queues that use it
 * @pages_max: pages of the largest request
 * @bytes_max: its bytes
 * @max_sends: work requests that the device has room for in a send queue
 * @max_tags: tags per queue that it has room for
 * @copy_max: bytes up to which I/O shall be copied, asked for by the user
 * @copy_now: bytes up to which it is, since the last connect
 * @slot_mem_max: bytes that the slots of the I/O queues may take, asked for by the user
 * @mode: spin time that the user wants of the groups, or POLH_MODE_DEFAULT
 * @cm_wait: where a connecting queue waits for rdma_cm
 * @removals: removals of @device under way: nobody may wait for a peer
 * @removed: device whose removal rdma_cm announced
 * @recovery_work: takes everything down after a failure
 * @reconnect_work: tries to connect again
 * @removal_work: gives up the objects on @removed
 * @silence_work: gives up a peer that does not answer
 * @silence_seen: completions when @silence_work last heard something, or nothing was to be heard
 * @silence_since: when that was, in jiffies
 * @state_wait: is told of each change of the controller's state
 * @deadline_work: gives up the connection when a deletion does not get on
 * @reconnects: times the connection was made again
 */
struct polh_ctrl {
	struct nvme_ctrl nvme;
	struct list_head entry;
	unsigned long flags;
	struct completion *freed;
	struct sockaddr_storage addr;
	struct sockaddr_storage src_addr;

	struct polh_queue *queues;
	unsigned int nr_queues;
	u16 sqsize;
	u32 io_queues[HCTX_MAX_TYPES];
	struct blk_mq_tag_set admin_set;
	struct blk_mq_tag_set io_set;

	struct mutex lock;
	bool admin_set_ready;
	bool io_set_ready;
	struct pol_device *device;
	struct ib_pd *pd;
	unsigned int pd_users;
	u32 pages_max;
	u32 bytes_max;
	u32 max_sends;
	u32 max_tags;
	u32 copy_max;
	u32 copy_now;
	u64 slot_mem_max;
	u32 mode;

	wait_queue_head_t cm_wait;
	atomic_t removals;
	struct ib_device *removed;
	struct work_struct recovery_work;
	struct delayed_work reconnect_work;
	struct work_struct removal_work;
	struct delayed_work silence_work;
	u64 silence_seen;
	unsigned long silence_since;
	struct wait_queue_entry state_wait;
	struct delayed_work deadline_work;
	u64 reconnects;
};

/**
 * struct polh_request - what blk-mq keeps with each request
 * @nvme: first: nvme-core looks for it there
 * @command: the command, before it is in the capsule
 */
struct polh_request {
	struct nvme_request nvme;
	struct nvme_command command;
};

/* The controller that nvme-core's part is in. */
static inline struct polh_ctrl *polh_ctrl_of(struct nvme_ctrl *nvme)
{
	return container_of(nvme, struct polh_ctrl, nvme);
}

/* main.c */
extern struct workqueue_struct *polh_wq;
extern struct workqueue_struct *polh_reconnect_wq;	/* reconnect_work: waits for polh_wq's */
extern struct workqueue_struct *polh_drain_wq;		/* drain_work: polh_wq's waits for it */

/* transport.c */
int polh_transport_init(void);
void polh_transport_exit(void);

/* ctrl.c */
void polh_ctrls_init(const char *name);
struct nvme_ctrl *polh_ctrl_create(struct device *dev, struct nvmf_ctrl_options *opts);
void polh_ctrl_changed(struct polh_ctrl *ctrl);
void polh_ctrls_delete_all(void);
int polh_ctrl_for_each(int (*visit)(struct polh_ctrl *ctrl, void *arg), void *arg);
int polh_ctrl_setup(struct polh_ctrl *ctrl, bool first);
void polh_ctrl_cancel(struct polh_ctrl *ctrl, unsigned int first);
void polh_ctrl_drop(struct polh_ctrl *ctrl, unsigned int first);

/* recovery.c */
void polh_recovery_init(struct polh_ctrl *ctrl);
void polh_recovery_begin(struct polh_ctrl *ctrl);
void polh_recovery_fail(struct polh_ctrl *ctrl);
void polh_recovery_stop(struct polh_ctrl *ctrl);
void polh_recovery_exit(struct polh_ctrl *ctrl);
void polh_recovery_again(struct polh_ctrl *ctrl, int status);
void polh_recovery_watch(struct polh_ctrl *ctrl);
void polh_recovery_unwatch(struct polh_ctrl *ctrl);
void polh_recovery_device_gone(struct pol_device *device);

/* queue.c */
int polh_queue_connect(struct polh_queue *queue, unsigned int nr_tags, u32 copy_max);
void polh_queue_leave_out(struct polh_queue *queue);
void polh_queues_stop(struct polh_ctrl *ctrl, unsigned int first);
void polh_queues_disconnect(struct polh_ctrl *ctrl, unsigned int first);
void polh_queue_fail(struct polh_queue *queue, const char *why, int detail);
void polh_queue_sum(const struct polh_queue *queue, struct polh_counters *sum);
int polh_queues_set_mode(struct polh_ctrl *ctrl, u32 mode);
int polh_queue_post_receive(struct polh_queue *queue, struct polh_response *response);

/* A queue that is not polled is reaped by its group's thread and nobody else. */
static inline void polh_queue_assert_reaper(const struct polh_queue *queue)
{
	pol_debug_assert(!queue->group || pol_group_owns(queue->group));
}

/* state.c */
void polh_state_set(struct polh_queue *queue, enum polh_state state);
int polh_state_go_live(struct polh_queue *queue);
void polh_state_set_phase(struct polh_queue *queue, enum polh_cm_phase phase);

/* blkmq.c */
extern const struct blk_mq_ops polh_admin_ops;
extern const struct blk_mq_ops polh_io_ops;
void polh_requests_cancel(struct blk_mq_tag_set *set);
void polh_spread_queues(const struct polh_ctrl *ctrl, unsigned int nr, u32 *queues);
void polh_map_cpus(struct blk_mq_queue_map *map);

/* request.c */

/* Only who reaps a queue counts this way, and the one who looks for requests that take too long. */
#define polh_reaped(queue, what, n)	\
	WRITE_ONCE((queue)->reaped.what, (queue)->reaped.what + (n))

/**
 * struct polh_chain - work requests of several requests of one queue, to be posted with one call
 * @queue: the queue
 * @first: first of them, linked by ->next; NULL: there is none
 * @last: last of them
 * @count: how many
 */
struct polh_chain {
	struct polh_queue *queue;
	struct ib_send_wr *first;
	struct ib_send_wr *last;
	unsigned int count;
};

/*
 * Under RCU: whether the RDMA half of the queue may be used. It is seen as it was when it was
 * complete.
 */
static inline bool polh_request_connected(const struct polh_queue *queue)
{
	return test_bit_acquire(POLH_QUEUE_CONNECTED, &queue->flags);
}

blk_status_t polh_request_prepare(struct polh_queue *queue, struct request *rq);
void polh_request_chain(struct polh_chain *chain, struct polh_tag *tag);
void polh_request_post(struct polh_chain *chain);
void polh_request_post_pending(struct polh_queue *queue);
void polh_request_forget_pending(struct polh_queue *queue);
void polh_request_init_tags(struct polh_queue *queue);
void polh_request_release(struct polh_queue *queue);
bool polh_request_unanswered(const struct polh_queue *queue);
void polh_request_async_event(struct nvme_ctrl *nvme);
void polh_request_responded(struct ib_cq *cq, struct ib_wc *wc);
void polh_request_finish(struct pol_batch *finishing);

/* memory.c */
#define POLH_CAPSULE_STRIDE	64	/* one submission queue entry, and a cache line */
#define POLH_RESPONSE_STRIDE	64	/* a completion queue entry in a cache line of its own */

u32 polh_memory_pages(const struct ib_device *ib);
u64 polh_memory_slot_bytes(const struct polh_queue *queue);
u64 polh_memory_bytes(const struct polh_queue *queue);
int polh_memory_create(struct polh_queue *queue, size_t slot_size);
void polh_memory_destroy(struct polh_queue *queue);
int polh_memory_register(struct polh_queue *queue);
int polh_memory_map(struct polh_tag *tag, struct request *rq);
void polh_memory_unmap(struct polh_tag *tag);
void polh_memory_revoke(struct polh_tag *tag);
void polh_memory_copy_in(struct polh_tag *tag, struct request *rq);
void polh_memory_copy_out(struct polh_tag *tag, struct request *rq);

/* sysfs.c */
int polh_sysfs_add(struct polh_ctrl *ctrl);
void polh_sysfs_remove(struct polh_ctrl *ctrl);

#endif
