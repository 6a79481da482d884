// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control side of poll groups: making, finding, choosing and deleting them, their modes, and
 * keeping each on its CPU.
 *
 * pol_groups_lock guards the list of groups and serialises every change of a group. An initiator
 * that reconnects takes it, so memory is allocated without I/O while it is held. A group in use
 * (users > 0) cannot be deleted; deleting turns users from 0 to -1, after which nobody can become a
 * user. The lock is not held while sysfs is taken down, since that waits for writers who want the
 * lock; meanwhile the group stays on the list as "stopping", which keeps its number taken, and its
 * thread still runs. The structure is freed with its kobject.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "core/group.h"
#include "core/netlink.h"
#include "core/sysfs.h"
#include "core/trace.h"

static LIST_HEAD(pol_groups);
static DEFINE_MUTEX(pol_groups_lock);
static enum cpuhp_state pol_groups_hotplug;

static bool default_groups = true;
module_param(default_groups, bool, 0444);
MODULE_PARM_DESC(default_groups, "make one adaptive poll group for each online CPU at load (default Y)");

static const char * const pol_group_state_names[] = {
	[POL_GROUP_NEW] = "new",
	[POL_GROUP_RUNNING] = "running",
	[POL_GROUP_STOPPING] = "stopping",
	[POL_GROUP_GONE] = "gone",
};

/* To take the lock where memory is allocated under it. */
static unsigned int pol_groups_enter(void)
{
	unsigned int noio = memalloc_noio_save();

	mutex_lock(&pol_groups_lock);
	return noio;
}

static void pol_groups_leave(unsigned int noio)
{
	mutex_unlock(&pol_groups_lock);
	memalloc_noio_restore(noio);
}

static void pol_group_set_state(struct pol_group *group, enum pol_group_state state)
{
	static const u8 allowed[] = {
		[POL_GROUP_NEW] = BIT(POL_GROUP_RUNNING) | BIT(POL_GROUP_GONE),
		[POL_GROUP_RUNNING] = BIT(POL_GROUP_STOPPING),
		[POL_GROUP_STOPPING] = BIT(POL_GROUP_GONE),
		[POL_GROUP_GONE] = 0,
	};

	lockdep_assert_held(&pol_groups_lock);
	WARN_ON_ONCE(!pol_state_may(allowed, group->state, state));
	trace_pol_group_state(group->id, group->state, state);
	WRITE_ONCE(group->state, state);
}

/**
 * pol_group_state_name - a group's state for people
 * @group: the group
 */
const char *pol_group_state_name(const struct pol_group *group)
{
	return pol_group_state_names[READ_ONCE(group->state)];
}

/**
 * pol_group_mode - the name of a spin time
 * @spin_us: a group's spin_us
 */
const char *pol_group_mode(u32 spin_us)
{
	switch (spin_us) {
	case POL_GROUP_SPIN_EVENT:
		return "event";
	case POL_GROUP_SPIN_BUSY:
		return "busy";
	default:
		return "adaptive";
	}
}
EXPORT_SYMBOL_GPL(pol_group_mode);

/**
 * pol_group_parse_mode - the spin time that goes with the name of a mode
 * @text: the name, as written to sysfs
 * @spin_us: the time, of "adaptive" its default
 *
 * Return: 0 or -EINVAL.
 */
int pol_group_parse_mode(const char *text, u32 *spin_us)
{
	static const u32 modes[] = {
		POL_GROUP_SPIN_EVENT, POL_GROUP_SPIN_ADAPTIVE, POL_GROUP_SPIN_BUSY,
	};

	for (int i = 0; i < ARRAY_SIZE(modes); i++) {
		if (sysfs_streq(text, pol_group_mode(modes[i]))) {
			*spin_us = modes[i];
			return 0;
		}
	}
	return -EINVAL;
}
EXPORT_SYMBOL_GPL(pol_group_parse_mode);

/**
 * pol_group_free - the last reference of a group's kobject is gone
 * @group: deleted, its thread has ended
 */
void pol_group_free(struct pol_group *group)
{
	kvfree(group->latency);
	kfree(group);
}

static struct pol_group *pol_group_find(unsigned int id)
{
	struct pol_group *group;

	lockdep_assert_held(&pol_groups_lock);
	list_for_each_entry(group, &pol_groups, entry)
		if (group->id == id)
			return group;
	return NULL;
}

/* The longest that a group may come to spin, whoever uses it. */
static u32 pol_group_spin_most(const struct pol_group *group)
{
	return max(group->spin_us, group->wished_us);
}

/*
 * Would a CPU without a busy group be left if this group (NULL: a new one) spun for ever on `cpu`?
 * Somebody has to run everything else.
 */
static bool pol_group_busy_fits(const struct pol_group *self, int cpu)
{
	const struct pol_group *group;
	cpumask_var_t left;
	bool fits;

	lockdep_assert_held(&pol_groups_lock);
	if (!zalloc_cpumask_var(&left, GFP_KERNEL))
		return false;
	cpumask_copy(left, cpu_online_mask);
	cpumask_clear_cpu(cpu, left);
	list_for_each_entry(group, &pol_groups, entry)
		if (group != self && pol_group_spin_most(group) == POL_GROUP_SPIN_BUSY)
			cpumask_clear_cpu(group->cpu, left);
	fits = !cpumask_empty(left);
	free_cpumask_var(left);
	return fits;
}

static int pol_group_check(const struct pol_group *self, int cpu, u32 spin_us)
{
	if (cpu < 0 || cpu >= nr_cpu_ids || !cpu_possible(cpu))
		return -EINVAL;
	if (spin_us > POL_GROUP_SPIN_MAX && spin_us != POL_GROUP_SPIN_BUSY)
		return -ERANGE;
	if (spin_us == POL_GROUP_SPIN_BUSY && !pol_group_busy_fits(self, cpu))
		return -EBUSY;
	return 0;
}

static void pol_group_stop_thread(struct pol_group *group)
{
	kthread_stop(group->thread);
	put_task_struct(group->thread);
}

/* A group that nobody knows yet, with a thread that has not run. */
static struct pol_group *pol_group_alloc(unsigned int id, int cpu, u32 spin_us)
{
	struct pol_group *group;
	int error = -ENOMEM;

	group = kzalloc_node(sizeof(*group), GFP_KERNEL, cpu_to_node(cpu));
	if (!group)
		return ERR_PTR(-ENOMEM);
	group->id = id;
	group->cpu = cpu;
	group->node = cpu_to_node(cpu);
	group->spin_us = spin_us;
	INIT_LIST_HEAD(&group->cqs);
	INIT_LIST_HEAD(&group->sendqs);
	INIT_LIST_HEAD(&group->batches);
	INIT_LIST_HEAD(&group->pollers);
	INIT_LIST_HEAD(&group->all_cqs);
	INIT_LIST_HEAD(&group->wishes);
	timerqueue_init_head(&group->timers);
	init_llist_head(&group->inbox);
	mutex_init(&group->lock);
	group->latency = kvzalloc_node(sizeof(*group->latency), GFP_KERNEL, group->node);
	if (!group->latency)
		goto err_latency;
	group->thread = kthread_create_on_node(pol_poll_thread, group, group->node,
					       "pollard/%u", id);
	if (IS_ERR(group->thread)) {
		error = PTR_ERR(group->thread);
		goto err_thread;
	}
	get_task_struct(group->thread);
	/* Not kthread_bind(): the thread has to survive its CPU going offline. */
	set_cpus_allowed_ptr(group->thread, cpumask_of(cpu));
	return group;

err_thread:
	kvfree(group->latency);
err_latency:
	kfree(group);
	return ERR_PTR(error);
}

/**
 * pol_group_add - make a poll group and start its thread
 * @id: number the administrator will use, not taken yet
 * @cpu: a possible CPU; while it is offline the thread runs elsewhere
 * @spin_us: 0 to POL_GROUP_SPIN_MAX microseconds, or POL_GROUP_SPIN_BUSY
 *
 * Return: 0, -EEXIST (id), -EINVAL (cpu), -ERANGE (spin_us), -EBUSY when every CPU would have a
 * busy group, -ENOMEM.
 */
int pol_group_add(unsigned int id, int cpu, u32 spin_us)
{
	struct pol_group *group;
	unsigned int noio;
	int error;

	if (cpu < 0 || cpu >= nr_cpu_ids || !cpu_possible(cpu))
		return -EINVAL;
	/* The thread first, it sleeps still: who makes threads may wait for write-back. */
	group = pol_group_alloc(id, cpu, spin_us);
	if (IS_ERR(group))
		return PTR_ERR(group);

	noio = pol_groups_enter();
	error = pol_group_check(NULL, cpu, spin_us);
	if (!error && pol_group_find(id))
		error = -EEXIST;
	if (error)
		goto err_check;
	error = pol_sysfs_add_group(group);
	if (error)
		goto err_sysfs;
	pol_debugfs_add_group(group);
	list_add_tail(&group->entry, &pol_groups);
	pol_group_set_state(group, POL_GROUP_RUNNING);
	wake_up_process(group->thread);
	pol_groups_leave(noio);
	return 0;

err_sysfs:
	pol_group_set_state(group, POL_GROUP_GONE);
	pol_groups_leave(noio);
	pol_group_stop_thread(group);
	kobject_put(&group->kobj);	/* frees */
	return error;
err_check:
	pol_groups_leave(noio);
	pol_group_stop_thread(group);
	pol_group_free(group);
	return error;
}
EXPORT_SYMBOL_GPL(pol_group_add);

/* Take a group that has no users apart: the mirror of pol_group_add(). */
static void pol_group_dismantle(struct pol_group *group)
{
	pol_debugfs_remove_group(group);
	pol_sysfs_hide_group(group);
	pol_group_stop_thread(group);

	mutex_lock(&pol_groups_lock);
	list_del(&group->entry);
	pol_group_set_state(group, POL_GROUP_GONE);
	mutex_unlock(&pol_groups_lock);
	pol_netlink_group_gone(group);
	kobject_put(&group->kobj);	/* frees */
}

static int pol_group_retire(struct pol_group *group)
{
	lockdep_assert_held(&pol_groups_lock);
	if (group->state != POL_GROUP_RUNNING)
		return -ENOENT;
	if (atomic_cmpxchg(&group->users, 0, -1) != 0)
		return -EBUSY;
	pol_group_set_state(group, POL_GROUP_STOPPING);
	return 0;
}

/**
 * pol_group_delete - stop a group's thread and forget it
 * @id: its number
 *
 * Process context, may sleep.
 *
 * Return: 0, -ENOENT, or -EBUSY while queues are placed in it.
 */
int pol_group_delete(unsigned int id)
{
	struct pol_group *group;
	int error = -ENOENT;

	mutex_lock(&pol_groups_lock);
	group = pol_group_find(id);
	if (group)
		error = pol_group_retire(group);
	mutex_unlock(&pol_groups_lock);
	if (!error)
		pol_group_dismantle(group);
	return error;
}
EXPORT_SYMBOL_GPL(pol_group_delete);

static void pol_group_nudge(struct pol_group *group, void *arg)
{
}

/**
 * pol_group_sync - wait until a group has handled all that it has reaped
 * @group: a group the caller is a user of, or iterates over
 *
 * What is called for a completion, and at the end of its batch, runs no more for those that the
 * group had seen before, and it has seen changes of its settings. Process context, may sleep.
 */
void pol_group_sync(struct pol_group *group)
{
	pol_group_call(group, pol_group_nudge, NULL);
}
EXPORT_SYMBOL_GPL(pol_group_sync);

/**
 * pol_group_set_spin - change a group's mode
 * @group: a group the caller is a user of, or iterates over
 * @spin_us: 0 to POL_GROUP_SPIN_MAX microseconds, or POL_GROUP_SPIN_BUSY
 *
 * Takes effect within one pass, with queues and I/O in place. May sleep.
 *
 * Return: 0, -ERANGE, or -EBUSY when every CPU would have a busy group.
 */
int pol_group_set_spin(struct pol_group *group, u32 spin_us)
{
	unsigned int noio;
	int error;

	noio = pol_groups_enter();
	error = pol_group_check(group, group->cpu, spin_us);
	if (!error)
		WRITE_ONCE(group->spin_us, spin_us);
	pol_groups_leave(noio);
	if (!error)
		pol_group_sync(group);
	return error;
}
EXPORT_SYMBOL_GPL(pol_group_set_spin);

/* Whoever listens is told, and the thread sees it within one pass. */
static void pol_group_wishes_changed(struct pol_group *group)
{
	pol_group_sync(group);
	pol_netlink_group_changed(group->id);
}

static void pol_group_weigh_wishes(struct pol_group *group)
{
	const struct pol_wish *wish;
	u32 most = 0;

	lockdep_assert_held(&pol_groups_lock);
	list_for_each_entry(wish, &group->wishes, entry)
		most = max(most, wish->spin_us);
	WRITE_ONCE(group->wished_us, most);
}

/**
 * pol_group_wish - wish that a group spins for some time, instead of what it is set to
 * @group: a group the caller is a user of
 * @wish: the caller's; one that is there already is changed
 * @spin_us: 0 to POL_GROUP_SPIN_MAX microseconds, or POL_GROUP_SPIN_BUSY
 *
 * Nothing but a longer time can be refused. Process context, may sleep.
 *
 * Return: 0; -ERANGE, or -EBUSY when every CPU would have a busy group, and the wish is as it was.
 */
int pol_group_wish(struct pol_group *group, struct pol_wish *wish, u32 spin_us)
{
	unsigned int noio;
	int error;

	noio = pol_groups_enter();
	error = pol_group_check(group, group->cpu, spin_us);
	if (!error) {
		wish->spin_us = spin_us;
		if (list_empty(&wish->entry)) {
			list_add(&wish->entry, &group->wishes);
			WRITE_ONCE(group->nr_wishes, group->nr_wishes + 1);
		}
		pol_group_weigh_wishes(group);
	}
	pol_groups_leave(noio);
	if (!error)
		pol_group_wishes_changed(group);
	return error;
}
EXPORT_SYMBOL_GPL(pol_group_wish);

/**
 * pol_group_unwish - wish for nothing any more
 * @group: a group the caller is a user of
 * @wish: the caller's, initialised; there need not be a wish. Process context, may sleep
 */
void pol_group_unwish(struct pol_group *group, struct pol_wish *wish)
{
	if (list_empty(&wish->entry))
		return;
	mutex_lock(&pol_groups_lock);
	list_del_init(&wish->entry);
	WRITE_ONCE(group->nr_wishes, group->nr_wishes - 1);
	pol_group_weigh_wishes(group);
	mutex_unlock(&pol_groups_lock);
	pol_group_wishes_changed(group);
}
EXPORT_SYMBOL_GPL(pol_group_unwish);

/**
 * pol_group_set_cpu - move a group's thread to another CPU
 * @group: a group the caller is a user of
 * @cpu: a possible CPU
 *
 * Memory stays on the node where it was allocated. May sleep.
 *
 * Return: 0, -EINVAL, or -EBUSY when every CPU would have a busy group.
 */
int pol_group_set_cpu(struct pol_group *group, int cpu)
{
	unsigned int noio;
	int error;

	noio = pol_groups_enter();
	error = pol_group_check(group, cpu, pol_group_spin_most(group));
	if (!error) {
		WRITE_ONCE(group->cpu, cpu);
		/* An offline CPU is refused here; the hotplug callback moves the thread later. */
		set_cpus_allowed_ptr(group->thread, cpumask_of(cpu));
	}
	pol_groups_leave(noio);
	return error;
}
EXPORT_SYMBOL_GPL(pol_group_set_cpu);

/**
 * pol_group_for_each - look at every group
 * @visit: called with the list locked; must not add, delete or change groups
 * @arg: given to @visit
 *
 * Return: 0, or what the first @visit that returned something else returned.
 */
int pol_group_for_each(int (*visit)(struct pol_group *group, void *arg), void *arg)
{
	struct pol_group *group;
	int result = 0;

	mutex_lock(&pol_groups_lock);
	list_for_each_entry(group, &pol_groups, entry) {
		if (group->state != POL_GROUP_RUNNING)
			continue;
		result = visit(group, arg);
		if (result)
			break;
	}
	mutex_unlock(&pol_groups_lock);
	return result;
}
EXPORT_SYMBOL_GPL(pol_group_for_each);

/**
 * pol_group_get - become a user of a group
 * @id: its number
 *
 * Return: the group, to be given back with pol_group_put(), or NULL.
 */
struct pol_group *pol_group_get(unsigned int id)
{
	struct pol_group *group;

	mutex_lock(&pol_groups_lock);
	group = pol_group_find(id);
	if (group && !atomic_inc_unless_negative(&group->users))
		group = NULL;
	mutex_unlock(&pol_groups_lock);
	return group;
}
EXPORT_SYMBOL_GPL(pol_group_get);

/**
 * pol_group_choose - become a user of the group a new queue should go to
 * @cpu: where the queue's submitter runs, or -1: prefer the group of this CPU
 *
 * Otherwise the group with the fewest queues.
 *
 * Return: the group, to be given back with pol_group_put(), or NULL when there is none.
 */
struct pol_group *pol_group_choose(int cpu)
{
	struct pol_group *group, *best = NULL;

	mutex_lock(&pol_groups_lock);
	list_for_each_entry(group, &pol_groups, entry) {
		if (group->state != POL_GROUP_RUNNING)
			continue;
		if (group->cpu == cpu) {
			best = group;
			break;
		}
		if (!best || pol_group_queues(group) < pol_group_queues(best))
			best = group;
	}
	if (best)
		atomic_inc(&best->users);
	mutex_unlock(&pol_groups_lock);
	return best;
}
EXPORT_SYMBOL_GPL(pol_group_choose);

/**
 * pol_group_put - no longer be a user of a group
 * @group: from pol_group_get() or pol_group_choose(). Any context
 */
void pol_group_put(struct pol_group *group)
{
	WARN_ON_ONCE(atomic_dec_return(&group->users) < 0);
}
EXPORT_SYMBOL_GPL(pol_group_put);

/**
 * pol_group_queues - how many users a group has
 * @group: the group
 */
unsigned int pol_group_queues(const struct pol_group *group)
{
	return max(atomic_read(&group->users), 0);
}
EXPORT_SYMBOL_GPL(pol_group_queues);

static int pol_group_sync_one(struct pol_group *group, void *arg)
{
	pol_group_sync(group);
	return 0;
}

/**
 * pol_groups_sync - wait until every group has finished a pass
 *
 * For a module that gave groups functions of its own: after it, nothing that was posted before
 * still runs. Process context, may sleep.
 */
void pol_groups_sync(void)
{
	pol_group_for_each(pol_group_sync_one, NULL);
}
EXPORT_SYMBOL_GPL(pol_groups_sync);

/*
 * The scheduler moved the thread away when its CPU went offline; bring it home. Kernels from 6.14
 * on place all threads of the node anew whenever a CPU comes, so bring all of them home. A group
 * that stops may have no thread any more.
 */
static int pol_groups_cpu_online(unsigned int cpu)
{
	struct pol_group *group;

	mutex_lock(&pol_groups_lock);
	list_for_each_entry(group, &pol_groups, entry)
		if (group->state == POL_GROUP_RUNNING)
			set_cpus_allowed_ptr(group->thread, cpumask_of(group->cpu));
	mutex_unlock(&pol_groups_lock);
	return 0;
}

/**
 * pol_groups_init - start watching CPUs and make the default groups
 */
int __init pol_groups_init(void)
{
	int cpu, error;

	error = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "pollard:online",
					  pol_groups_cpu_online, NULL);
	if (error < 0)
		return error;
	pol_groups_hotplug = error;
	if (!default_groups)
		return 0;
	for_each_online_cpu(cpu) {
		error = pol_group_add(cpu, cpu, POL_GROUP_SPIN_ADAPTIVE);
		if (error) {
			pol_groups_exit();
			return error;
		}
	}
	return 0;
}

/**
 * pol_groups_exit - delete every group; no module uses them any more
 */
void pol_groups_exit(void)
{
	struct pol_group *group;

	cpuhp_remove_state_nocalls(pol_groups_hotplug);
	while ((group = list_first_entry_or_null(&pol_groups, struct pol_group, entry)))
		if (WARN_ON(pol_group_delete(group->id)))
			break;
}
