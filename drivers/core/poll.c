// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thread of a poll group: what one pass does, and how the thread goes to sleep without missing
 * the event that should have kept it awake.
 *
 * One pass: reap the completion queues, take what was handed over in the inbox, ask the pollers
 * (disks with polled queues), fire timers that are due, post what was gathered. A pass that found
 * nothing leads to spinning or sleeping, by the group's spin_us.
 *
 * Sleeping is a race against everybody who has news for the thread. `signalled` is cleared, with a
 * full barrier; completion queues are armed and polled once more whatever arming said (some devices
 * report no missed events); then `sleeping` is set, and after a full barrier inbox and `signalled`
 * are looked at again. A producer does the opposite: publish, full barrier, look at `sleeping`. One
 * of the two sees the other.
 *
 * Everything in this file except pol_poll_wake(), pol_group_post(), pol_group_call() and
 * pol_timer_init() runs in the thread of the group it is given.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/stat.h>

#include "core/fault.h"
#include "core/group.h"
#include "core/sendq.h"
#include "core/trace.h"

/**
 * pol_poll_wake - let the thread go round if it sleeps
 * @group: the group
 *
 * Call it after the news has been published with a full barrier. Any context.
 */
void pol_poll_wake(struct pol_group *group)
{
	if (READ_ONCE(group->sleeping) && !pol_fault_wake())
		wake_up_process(group->thread);
}

/**
 * pol_group_post - hand something to a group's thread
 * @group: the group; the caller knows it cannot go away (it is a user, or the thread itself)
 * @message: what to do; belongs to the thread until its handle() is called
 *
 * Any context, interrupts included. Messages of one producer are handled in the order posted.
 */
void pol_group_post(struct pol_group *group, struct pol_message *message)
{
	/* llist_add() is a full barrier; only the first one on the list needs to wake. */
	if (llist_add(&message->node, &group->inbox))
		pol_poll_wake(group);
}
EXPORT_SYMBOL_GPL(pol_group_post);

struct pol_call {
	struct pol_message message;
	void (*call)(struct pol_group *group, void *arg);
	void *arg;
	struct completion done;
};

static void pol_call_handle(struct pol_group *group, struct pol_message *message)
{
	struct pol_call *call = container_of(message, struct pol_call, message);

	call->call(group, call->arg);
	complete(&call->done);
}

/**
 * pol_group_call - run a function in a group's thread and wait for it
 * @group: the group
 * @call: runs in the thread, so it may not sleep
 * @arg: given to @call
 *
 * Process context, may sleep; bounded by one pass of the group. Called from the group's own thread
 * it runs @call at once.
 */
void pol_group_call(struct pol_group *group, void (*call)(struct pol_group *group, void *arg),
		    void *arg)
{
	struct pol_call request = {
		.message.handle = pol_call_handle,
		.call = call,
		.arg = arg,
	};

	if (pol_group_owns(group)) {
		call(group, arg);
		return;
	}
	init_completion(&request.done);
	pol_group_post(group, &request.message);
	wait_for_completion(&request.done);
}
EXPORT_SYMBOL_GPL(pol_group_call);

/**
 * pol_timer_init - prepare a timer
 * @timer: the timer
 * @fire: called in the group's thread when it is due
 */
void pol_timer_init(struct pol_timer *timer,
		    void (*fire)(struct pol_group *group, struct pol_timer *timer))
{
	timerqueue_init(&timer->node);
	timer->fire = fire;
}
EXPORT_SYMBOL_GPL(pol_timer_init);

/**
 * pol_timer_arm - let a timer fire once
 * @group: the group whose thread calls
 * @timer: an initialised timer; one that is armed already gets the new time
 * @ns: from now, in nanoseconds
 */
void pol_timer_arm(struct pol_group *group, struct pol_timer *timer, u64 ns)
{
	pol_group_assert_owned(group);
	pol_timer_cancel(group, timer);
	timer->node.expires = local_clock() + ns;
	timerqueue_add(&group->timers, &timer->node);
}
EXPORT_SYMBOL_GPL(pol_timer_arm);

/**
 * pol_timer_cancel - make sure a timer does not fire
 * @group: the group whose thread calls
 * @timer: an initialised timer, armed or not
 */
void pol_timer_cancel(struct pol_group *group, struct pol_timer *timer)
{
	pol_group_assert_owned(group);
	if (pol_timer_armed(timer))
		timerqueue_del(&group->timers, &timer->node);
}
EXPORT_SYMBOL_GPL(pol_timer_cancel);

/**
 * pol_poller_add - have a source asked in every pass, and keep the thread awake
 * @group: the group whose thread calls
 * @poller: not on a list yet
 */
void pol_poller_add(struct pol_group *group, struct pol_poller *poller)
{
	pol_group_assert_owned(group);
	list_add_tail(&poller->entry, &group->pollers);
}
EXPORT_SYMBOL_GPL(pol_poller_add);

/**
 * pol_poller_remove - stop asking a source
 * @group: the group whose thread calls
 * @poller: on the list; its own poll() may remove it
 */
void pol_poller_remove(struct pol_group *group, struct pol_poller *poller)
{
	pol_group_assert_owned(group);
	list_del_init(&poller->entry);
}
EXPORT_SYMBOL_GPL(pol_poller_remove);

/**
 * pol_poll_flush - post everything that has been gathered
 * @group: the group whose thread calls
 */
void pol_poll_flush(struct pol_group *group)
{
	pol_group_assert_owned(group);
	while (!list_empty(&group->sendqs))
		pol_sendq_flush(list_first_entry(&group->sendqs, struct pol_sendq, touched));
	group->gathering_since = 0;
}

static unsigned int pol_poll_inbox(struct pol_group *group)
{
	struct llist_node *node;
	unsigned int found = 0;

	if (llist_empty(&group->inbox))
		return 0;
	node = llist_reverse_order(llist_del_all(&group->inbox));
	while (node) {
		struct pol_message *message = llist_entry(node, struct pol_message, node);

		node = node->next;	/* handle() may free the message or post it again */
		message->handle(group, message);
		found++;
	}
	pol_group_count(group, messages, found);
	return found;
}

static unsigned int pol_poll_timers(struct pol_group *group)
{
	struct timerqueue_node *node;
	unsigned int found = 0;

	while ((node = timerqueue_getnext(&group->timers)) && node->expires <= group->now) {
		struct pol_timer *timer = container_of(node, struct pol_timer, node);

		timerqueue_del(&group->timers, node);
		timer->fire(group, timer);
		found++;
	}
	return found;
}

/* One round over everything that can have work. Returns how much there was. */
static unsigned int pol_poll_pass(struct pol_group *group)
{
	struct pol_poller *poller, *next;
	unsigned int found = 0;

	group->now = local_clock();
	pol_cq_poll_all(group, &found);
	found += pol_poll_inbox(group);
	list_for_each_entry_safe(poller, next, &group->pollers, entry)
		found += poller->poll(group, poller);
	found += pol_poll_timers(group);
	pol_poll_flush(group);

	pol_group_count(group, passes, 1);
	if (found)
		pol_group_count(group, busy_passes, 1);
	return found;
}

static bool pol_poll_has_news(const struct pol_group *group)
{
	return READ_ONCE(group->signalled) || !llist_empty(&group->inbox) || kthread_should_stop();
}

/* Sleep until a producer, an armed completion queue or the next timer wakes the thread. */
static void pol_poll_sleep(struct pol_group *group)
{
	struct timerqueue_node *timer;
	unsigned int found = 0;
	int woken = 1;

	/*
	 * A completion queue's event may come for completions that have been reaped, so polling
	 * once more would not tell of it. Cleared before `armed` is read: an event that `armed`
	 * does not show yet sets `signalled` after this. Pairs with the first smp_mb() of
	 * pol_cq_completed().
	 */
	smp_store_mb(group->signalled, false);
	pol_cq_arm_all(group);
	pol_cq_poll_all(group, &found);
	if (found) {
		pol_poll_flush(group);
		return;
	}

	WRITE_ONCE(group->sleeping, true);
	set_current_state(TASK_IDLE);
	if (!pol_poll_has_news(group)) {
		pol_group_count(group, sleeps, 1);
		timer = timerqueue_getnext(&group->timers);
		if (timer) {
			s64 left = timer->expires - local_clock();
			ktime_t timeout = ns_to_ktime(max_t(s64, left, 1));

			woken = schedule_hrtimeout(&timeout, HRTIMER_MODE_REL);
		} else {
			schedule();
		}
		if (woken)
			pol_group_count(group, wakeups, 1);
	}
	__set_current_state(TASK_RUNNING);
	WRITE_ONCE(group->sleeping, false);
}

/*
 * Nothing was found in this pass: go round again, give way, or sleep. Spinning is only for a CPU
 * nobody else wants: a software RDMA device does its work in threads of these very CPUs.
 */
static void pol_poll_idle(struct pol_group *group)
{
	u32 spin_us = pol_group_spin(group);
	bool alone = single_task_running();

	if (!list_empty(&group->pollers) || (spin_us == POL_GROUP_SPIN_BUSY &&
					     !list_empty(&group->cqs))) {
		if (alone) {
			cpu_relax();
		} else {
			pol_group_count(group, yields, 1);
			yield();
		}
		return;
	}

	if (!group->idle_since)
		group->idle_since = group->now;
	if (alone && spin_us && spin_us != POL_GROUP_SPIN_BUSY &&
	    group->now - group->idle_since < (u64)spin_us * NSEC_PER_USEC) {
		cpu_relax();
		return;
	}
	pol_poll_sleep(group);
	group->idle_since = 0;
}

/**
 * pol_poll_thread - a group's thread
 * @data: the group
 *
 * Runs until kthread_stop(); by then the group has no queue, no completion queue and no poller.
 */
int pol_poll_thread(void *data)
{
	struct pol_group *group = data;
	int cpu;

	/* Kernels from 6.14 on place a new thread anew when it begins to run. */
	do {
		cpu = READ_ONCE(group->cpu);
		set_cpus_allowed_ptr(current, cpumask_of(cpu));
	} while (cpu != READ_ONCE(group->cpu));
	while (!kthread_should_stop()) {
		if (pol_poll_pass(group))
			group->idle_since = 0;
		else
			pol_poll_idle(group);
		cond_resched_tasks_rcu_qs();
	}
	/* What was posted before the stop has been promised an answer. */
	pol_poll_inbox(group);
	return 0;
}
