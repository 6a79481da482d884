/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Poll groups: one kernel thread, pinned to one CPU, that does all the work of the queues placed in
 * it.
 *
 * What belongs to a group is touched by its thread only, so the I/O path needs no lock and no
 * shared atomic. Everybody else reaches a group through messages on one lock-free list:
 * pol_group_post() from any context, pol_group_call() from process context when the caller needs
 * the acknowledgement.
 *
 * Life: a group is made by pol_group_add(), handed out (with a use count that keeps it from being
 * deleted) by pol_group_choose() or pol_group_get(), and given back by pol_group_put().
 *
 * How long a group spins is its own setting, spin_us, or what its users wish for: a user may wish
 * for a time of its own, all others want what the group is set to, and the group does what the most
 * impatient of them wants.
 */
#ifndef POL_CORE_GROUP_H
#define POL_CORE_GROUP_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/kobject.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/timerqueue.h>
#include <rdma/ib_verbs.h>

#include "core/latency.h"
#include "core/mode.h"

struct pol_group;
struct pol_device;

#define POL_GROUP_POLL_BATCH	16	/* completions reaped by one ib_poll_cq() */
#define POL_GROUP_POLL_BUDGET	64	/* completions reaped from one queue in a pass */

/**
 * struct pol_message - something to be done by a group's thread
 * @node: link in the group's inbox
 * @handle: called once in the thread; may free or post the message again
 *
 * The poster owns the memory until @handle runs. A message may be on one inbox at a time.
 */
struct pol_message {
	struct llist_node node;
	void (*handle)(struct pol_group *group, struct pol_message *message);
};

/**
 * struct pol_timer - a one-shot timer that fires in the group's thread
 * @node: expiry in nanoseconds of local_clock() and the link in the group's queue
 * @fire: called in the thread after the timer has been taken off; may arm it again
 */
struct pol_timer {
	struct timerqueue_node node;
	void (*fire)(struct pol_group *group, struct pol_timer *timer);
};

/**
 * struct pol_poller - a source that has to be asked, e.g. a disk with polled queues
 * @entry: link in the group's list
 * @poll: called once a pass in the thread while on the list; returns true if it found something
 *
 * While a poller is on the list the group does not sleep: add it with the first request in flight
 * and remove it with the last.
 */
struct pol_poller {
	struct list_head entry;
	bool (*poll)(struct pol_group *group, struct pol_poller *poller);
};

/**
 * struct pol_batch - what is cheaper to do once for several completions than for each
 * @entry: link in the group's list, empty while there is nothing to do
 * @end: called in the thread when the completions that were reaped together have been handled;
 *	the batch is off the list by then
 *
 * Belongs to whose completions they are; pol_batch_init() prepares it. It may go after a
 * pol_group_sync() that follows the last completion.
 */
struct pol_batch {
	struct list_head entry;
	void (*end)(struct pol_batch *batch);
};

/**
 * struct pol_cq - a completion queue of a group
 * @cq: the verbs object
 * @group: whose thread polls it
 * @device: the device it lives on
 * @entry: link in the group's list of queues to poll (thread only)
 * @link: link in the group's list of all completion queues (under the group's lock)
 * @capacity: entries there are for queue pairs, besides the shared ones
 * @shared: entries set aside once for completions of a shared receive queue
 * @owner: whose receive queue that is; compared, never looked at
 * @reserved: entries promised to queue pairs (under the group's lock)
 * @queue_pairs: how many these are (under the group's lock)
 * @armed: the device will raise an event for the next completion; cleared by that event
 * @broken: the device reported an error of it; nothing more is placed here
 */
struct pol_cq {
	struct ib_cq *cq;
	struct pol_group *group;
	struct pol_device *device;
	struct list_head entry;
	struct list_head link;
	unsigned int capacity;
	unsigned int shared;
	const void *owner;
	unsigned int reserved;
	unsigned int queue_pairs;
	bool armed;
	bool broken;
};

/**
 * struct pol_group_counters - exact work counters of a group
 * @passes: rounds of the thread
 * @busy_passes: rounds that found something to do
 * @sleeps: times the thread went to sleep
 * @wakeups: times somebody woke it
 * @yields: times it gave way to another task of its CPU
 * @arms: completion queues armed
 * @completions: work completions reaped
 * @receives: of these, capsules that arrived
 * @messages: messages taken from the inbox
 * @post_chains: ib_post_send() calls
 * @work_requests: send work requests in them
 * @receive_posts: receive buffers posted
 * @bytes_read: bytes sent to hosts for commands
 * @bytes_written: bytes fetched from hosts for commands
 *
 * Written by the group's thread alone, read by anybody with READ_ONCE(). The initiator's submitters
 * post their own work requests; those are counted in its queues.
 */
struct pol_group_counters {
	u64 passes;
	u64 busy_passes;
	u64 sleeps;
	u64 wakeups;
	u64 yields;
	u64 arms;
	u64 completions;
	u64 receives;
	u64 messages;
	u64 post_chains;
	u64 work_requests;
	u64 receive_posts;
	u64 bytes_read;
	u64 bytes_written;
};

/**
 * struct pol_wish - how long a user of a group wants it to spin
 * @entry: link in the group's list, empty while there is no wish
 * @spin_us: what is wished for
 *
 * Belongs to the user; pol_wish_init() prepares it.
 */
struct pol_wish {
	struct list_head entry;
	u32 spin_us;
};

/**
 * enum pol_group_state - where a group is in its life, one after the other
 * @POL_GROUP_NEW: nobody knows it
 * @POL_GROUP_RUNNING: queues may be placed in it
 * @POL_GROUP_STOPPING: it is being deleted, its number is still taken
 * @POL_GROUP_GONE: its thread has ended; also what could not be made
 */
enum pol_group_state {
	POL_GROUP_NEW,
	POL_GROUP_RUNNING,
	POL_GROUP_STOPPING,
	POL_GROUP_GONE,
};

/**
 * struct pol_group - a poll group
 * @cqs: pol_cq.entry
 * @sendqs: pol_sendq.touched: work requests gathered, not posted yet
 * @batches: pol_batch.entry
 * @pollers: pol_poller.entry
 * @timers: timers that are armed
 * @now: local_clock() of this pass
 * @idle_since: local_clock() when work ran out, 0: there was some
 * @wcs: where completions are reaped into
 * @gathering_since: local_clock() of the oldest gathered work request, 0: none
 * @counters: what the thread has done
 * @latency: where commands' time went
 * @inbox: messages for the thread, the last one first
 * @signalled: a completion queue has something
 * @sleeping: the thread wants to be woken
 * @thread: the thread; kept until the group is gone
 * @spin_us: as the group is set: microseconds, or POL_GROUP_SPIN_BUSY
 * @wished_us: the longest of the wishes, 0 without any
 * @nr_wishes: users that have a wish
 * @wishes: pol_wish.entry
 * @id: the administrator's number for it
 * @cpu: where the thread runs while that CPU is online
 * @node: where its memory is
 * @state: where it is in its life
 * @lock: guards @all_cqs and what is reserved in them
 * @all_cqs: pol_cq.link
 * @entry: link in the list of groups
 * @users: queues placed here; -1 once deletion is decided
 * @kobj: its directory in sysfs; the last reference frees the group
 * @debugfs: its directory there
 *
 * What the control side has changes under the lock of the list of groups, apart from what @lock
 * guards and @users, which is atomic.
 */
struct pol_group {
	/* the thread's own */
	struct list_head cqs;
	struct list_head sendqs;
	struct list_head batches;
	struct list_head pollers;
	struct timerqueue_head timers;
	u64 now;
	u64 idle_since;
	struct ib_wc wcs[POL_GROUP_POLL_BATCH];
	u64 gathering_since;
	struct pol_group_counters counters;
	struct pol_latency *latency;

	/* written by producers */
	struct llist_head inbox ____cacheline_aligned_in_smp;
	bool signalled;
	bool sleeping;

	/* control side */
	struct task_struct *thread ____cacheline_aligned_in_smp;
	u32 spin_us;
	u32 wished_us;
	unsigned int nr_wishes;
	struct list_head wishes;
	unsigned int id;
	int cpu;
	int node;
	enum pol_group_state state;
	struct mutex lock;
	struct list_head all_cqs;
	struct list_head entry;
	atomic_t users;
	struct kobject kobj;
	struct dentry *debugfs;
};

/* Is the caller this group's thread? An interrupt that borrowed `current` is not. */
static inline bool pol_group_owns(const struct pol_group *group)
{
	return in_task() && current == group->thread;
}

/**
 * pol_group_spin - how long a group spins without work now: its effective mode
 * @group: the group. Any context; setting, wishes and users may be changing
 */
static inline u32 pol_group_spin(const struct pol_group *group)
{
	unsigned int wishes = READ_ONCE(group->nr_wishes);
	u32 wished = READ_ONCE(group->wished_us);

	if (wishes && atomic_read(&group->users) <= wishes)
		return wished;
	return max(wished, READ_ONCE(group->spin_us));
}

/* Prepare a wish: there is none yet. */
static inline void pol_wish_init(struct pol_wish *wish)
{
	INIT_LIST_HEAD(&wish->entry);
}

/* What has to hold anyway, and is looked at in a DEBUG build only. */
#ifdef POLLARD_DEBUG
#define pol_debug_assert(condition)	WARN_ON_ONCE(!(condition))
#else
#define pol_debug_assert(condition)	do { if (false) (void)(condition); } while (0)
#endif

/* At the beginning of whatever touches what is the thread's own. */
#define pol_group_assert_owned(group)	pol_debug_assert(pol_group_owns(group))

/*
 * May something go from one state to another? @allowed has for each state the bits of those that
 * may follow: the arrows of the picture.
 */
#define pol_state_may(allowed, from, to)	(!!((allowed)[from] & BIT(to)))

/* Time of the pass that is running, nanoseconds of local_clock(). Thread only. */
static inline u64 pol_group_now(const struct pol_group *group)
{
	return group->now;
}

/* Count some work. Thread only. */
#define pol_group_count(group, what, n)						\
	do {									\
		pol_group_assert_owned(group);					\
		WRITE_ONCE((group)->counters.what, (group)->counters.what + (n));	\
	} while (0)

/**
 * pol_latency_add - keep the time that a stage of a command took
 * @group: the group whose thread calls
 * @class: what kind of command
 * @stage: which part of its life
 * @ns: nanoseconds
 */
static inline void pol_latency_add(struct pol_group *group, enum pol_latency_class class,
				   enum pol_latency_stage stage, u64 ns)
{
	pol_group_assert_owned(group);
	pol_histogram_add(&group->latency->stage[class][stage], ns);
}

/* Control side: process context, may sleep. */
int pol_group_add(unsigned int id, int cpu, u32 spin_us);
int pol_group_delete(unsigned int id);
int pol_group_set_spin(struct pol_group *group, u32 spin_us);
int pol_group_set_cpu(struct pol_group *group, int cpu);
int pol_group_wish(struct pol_group *group, struct pol_wish *wish, u32 spin_us);
void pol_group_unwish(struct pol_group *group, struct pol_wish *wish);
int pol_group_for_each(int (*visit)(struct pol_group *group, void *arg), void *arg);
struct pol_group *pol_group_get(unsigned int id);
struct pol_group *pol_group_choose(int cpu);
void pol_group_put(struct pol_group *group);
unsigned int pol_group_queues(const struct pol_group *group);
const char *pol_group_mode(u32 spin_us);
int pol_group_parse_mode(const char *text, u32 *spin_us);

void pol_group_post(struct pol_group *group, struct pol_message *message);
void pol_group_call(struct pol_group *group, void (*call)(struct pol_group *group, void *arg),
		    void *arg);
void pol_group_sync(struct pol_group *group);
void pol_groups_sync(void);

void pol_timer_init(struct pol_timer *timer,
		    void (*fire)(struct pol_group *group, struct pol_timer *timer));
void pol_timer_arm(struct pol_group *group, struct pol_timer *timer, u64 ns);
void pol_timer_cancel(struct pol_group *group, struct pol_timer *timer);

/* Is it waiting to fire? Thread only. */
static inline bool pol_timer_armed(const struct pol_timer *timer)
{
	return !RB_EMPTY_NODE(&timer->node.node);
}

/* Prepare a batch: there is nothing to be done yet. */
static inline void pol_batch_init(struct pol_batch *batch, void (*end)(struct pol_batch *batch))
{
	INIT_LIST_HEAD(&batch->entry);
	batch->end = end;
}

/* There is something to be done at the end of the batch. Thread only, for a completion. */
static inline void pol_batch_add(struct pol_group *group, struct pol_batch *batch)
{
	pol_group_assert_owned(group);
	if (list_empty(&batch->entry))
		list_add_tail(&batch->entry, &group->batches);
}

void pol_poller_add(struct pol_group *group, struct pol_poller *poller);
void pol_poller_remove(struct pol_group *group, struct pol_poller *poller);

struct pol_cq *pol_cq_reserve(struct pol_group *group, struct pol_device *device,
			      unsigned int entries, unsigned int shared, const void *owner);
void pol_cq_release(struct pol_cq *cq, unsigned int entries);

/* Between the core's own files. */
int pol_poll_thread(void *group);
void pol_poll_wake(struct pol_group *group);
void pol_poll_flush(struct pol_group *group);
void pol_cq_poll_all(struct pol_group *group, unsigned int *found);
void pol_cq_arm_all(struct pol_group *group);
int pol_groups_init(void);
void pol_groups_exit(void);

#endif
