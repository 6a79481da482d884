// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completion queues of poll groups: room in them is reserved before a queue pair is made, so that a
 * completion queue can never overflow whatever peers do.
 *
 * A (group, device) pair starts with one completion queue and gets another when none has room (a
 * software device offers 32767 entries at most). One that nobody uses any more is destroyed.
 * Reserving and releasing happen in process context under the group's mutex; polling and arming
 * belong to the group's thread, which learns of new and old queues by messages.
 *
 * The queues come from ib_create_cq(): those of ib_alloc_cq(IB_POLL_DIRECT) may not be armed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/sched/clock.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "core/device.h"
#include "core/group.h"
#include "core/sendq.h"

#define POL_CQ_ENTRIES	16384U	/* wanted size; less where the device has less */

/* Called by devices under their own locks, in any context: say so and wake, nothing else. */
static void pol_cq_completed(struct ib_cq *ib_cq, void *context)
{
	struct pol_cq *cq = context;

	WRITE_ONCE(cq->armed, false);
	/*
	 * Pairs with smp_store_mb() of the thread going to sleep: it finds the queue not armed, or
	 * does not clear what is set here.
	 */
	smp_mb();
	WRITE_ONCE(cq->group->signalled, true);
	smp_mb();	/* pairs with set_current_state() of the thread going to sleep */
	pol_poll_wake(cq->group);
}

static void pol_cq_event(struct ib_event *event, void *context)
{
	struct pol_cq *cq = context;

	WRITE_ONCE(cq->broken, true);
	pr_err_ratelimited("group %u: completion queue on %s: %s\n", cq->group->id,
			   cq->device->name, ib_event_msg(event->event));
}

static void pol_cq_attach(struct pol_group *group, void *arg)
{
	struct pol_cq *cq = arg;

	pol_group_assert_owned(group);
	list_add_tail(&cq->entry, &group->cqs);
}

static void pol_cq_detach(struct pol_group *group, void *arg)
{
	struct pol_cq *cq = arg;

	pol_group_assert_owned(group);
	list_del(&cq->entry);
}

static struct pol_cq *pol_cq_create(struct pol_group *group, struct pol_device *device,
				    unsigned int entries, unsigned int shared)
{
	struct ib_device *ib = device->ib;
	unsigned int limit = min_t(unsigned int, ib->attrs.max_cqe, S32_MAX);
	struct ib_cq_init_attr attr = {
		.comp_vector = group->cpu % max(ib->num_comp_vectors, 1),
	};
	struct pol_cq *cq;

	if (entries > limit || shared > limit - entries)
		return ERR_PTR(-ENOSPC);
	cq = kzalloc_node(sizeof(*cq), GFP_KERNEL, group->node);
	if (!cq)
		return ERR_PTR(-ENOMEM);
	cq->group = group;
	cq->device = device;
	attr.cqe = min(limit, max(POL_CQ_ENTRIES, entries + shared));
	cq->capacity = attr.cqe - shared;
	cq->cq = ib_create_cq(ib, pol_cq_completed, pol_cq_event, cq, &attr);
	if (IS_ERR(cq->cq)) {
		int error = PTR_ERR(cq->cq);

		kfree(cq);
		return ERR_PTR(error);
	}
	atomic_inc(&device->cqs);
	pol_group_call(group, pol_cq_attach, cq);
	list_add_tail(&cq->link, &group->all_cqs);
	return cq;
}

/**
 * pol_cq_reserve - room in a completion queue for a new queue pair
 * @group: the group that will poll it; the caller is a user of the group
 * @device: where the queue pair will be made; the caller keeps it from going away
 * @entries: the most completions the queue pair can have outstanding
 * @shared: completions that arrive here whichever queue pair causes them (a shared receive queue's
 *	size): counted once for each completion queue
 * @owner: of the shared receive queue: who shares the entries set aside for it; NULL without
 *
 * Process context, may sleep; not for the group's thread.
 *
 * Return: the completion queue, or ERR_PTR(-ENOSPC) when the device cannot make one so large,
 * -ENOMEM or the device's error.
 */
struct pol_cq *pol_cq_reserve(struct pol_group *group, struct pol_device *device,
			      unsigned int entries, unsigned int shared, const void *owner)
{
	unsigned int noio = memalloc_noio_save();
	struct pol_cq *cq;

	mutex_lock(&group->lock);
	list_for_each_entry(cq, &group->all_cqs, link) {
		if (cq->device == device && !READ_ONCE(cq->broken) &&
		    (!shared || (cq->owner == owner && cq->shared >= shared)) &&
		    cq->capacity - cq->reserved >= entries)
			goto found;
	}
	cq = pol_cq_create(group, device, entries, shared);
	if (IS_ERR(cq))
		goto unlock;
	cq->shared = shared;
	cq->owner = owner;
found:
	cq->reserved += entries;
	cq->queue_pairs++;
unlock:
	mutex_unlock(&group->lock);
	memalloc_noio_restore(noio);
	return cq;
}
EXPORT_SYMBOL_GPL(pol_cq_reserve);

/**
 * pol_cq_release - give reserved room back
 * @cq: what pol_cq_reserve() returned; gone after this when nobody else uses it
 * @entries: as reserved
 *
 * Process context, may sleep; the queue pair must have been destroyed.
 */
void pol_cq_release(struct pol_cq *cq, unsigned int entries)
{
	unsigned int noio = memalloc_noio_save();
	struct pol_group *group = cq->group;

	mutex_lock(&group->lock);
	WARN_ON_ONCE(cq->reserved < entries);
	cq->reserved -= entries;
	cq->queue_pairs--;
	if (!cq->reserved) {
		list_del(&cq->link);
		pol_group_call(group, pol_cq_detach, cq);
		ib_destroy_cq(cq->cq);
		atomic_dec(&cq->device->cqs);
		kfree(cq);
	}
	mutex_unlock(&group->lock);
	memalloc_noio_restore(noio);
}
EXPORT_SYMBOL_GPL(pol_cq_release);

static void pol_batches_end(struct pol_group *group)
{
	struct pol_batch *batch;

	while (!list_empty(&group->batches)) {
		batch = list_first_entry(&group->batches, struct pol_batch, entry);
		list_del_init(&batch->entry);
		batch->end(batch);
	}
}

static void pol_cq_poll(struct pol_group *group, struct pol_cq *cq, unsigned int *found)
{
	unsigned int budget = POL_GROUP_POLL_BUDGET;
	int i, n;

	do {
		n = ib_poll_cq(cq->cq, min_t(int, budget, POL_GROUP_POLL_BATCH), group->wcs);
		for (i = 0; i < n; i++) {
			struct ib_wc *wc = &group->wcs[i];

			wc->wr_cqe->done(cq->cq, wc);
		}
		pol_batches_end(group);
		if (n <= 0)
			break;
		*found += n;
		budget -= n;
		pol_group_count(group, completions, n);
		if (group->gathering_since &&
		    local_clock() - group->gathering_since > POL_SENDQ_FLUSH_NS)
			pol_poll_flush(group);
	} while (n == POL_GROUP_POLL_BATCH && budget);
}

/**
 * pol_cq_poll_all - reap each completion queue once, within its budget
 * @group: the group whose thread calls
 * @found: increased by the number of completions
 */
void pol_cq_poll_all(struct pol_group *group, unsigned int *found)
{
	struct pol_cq *cq;

	pol_group_assert_owned(group);
	list_for_each_entry(cq, &group->cqs, entry)
		pol_cq_poll(group, cq, found);
}

/**
 * pol_cq_arm_all - have every completion queue raise an event for its next completion
 * @group: the group whose thread calls
 *
 * A queue whose last arming has not fired yet is still armed. The caller polls once more
 * afterwards.
 */
void pol_cq_arm_all(struct pol_group *group)
{
	struct pol_cq *cq;

	pol_group_assert_owned(group);
	list_for_each_entry(cq, &group->cqs, entry) {
		if (READ_ONCE(cq->armed))
			continue;
		WRITE_ONCE(cq->armed, true);
		ib_req_notify_cq(cq->cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS);
		pol_group_count(group, arms, 1);
	}
}
