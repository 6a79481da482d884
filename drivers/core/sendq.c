// SPDX-License-Identifier: GPL-2.0-only
/*
 * Posting of gathered send work requests. See sendq.h for who owns what.
 */
#include <linux/sched/clock.h>

#include "core/group.h"
#include "core/sendq.h"
#include "core/trace.h"

static void pol_sendq_reset(struct pol_sendq *sendq)
{
	sendq->first = NULL;
	sendq->tail = &sendq->first;
	sendq->count = 0;
}

/**
 * pol_sendq_init - prepare a send queue
 * @sendq: memory of the caller
 * @qp: an established or establishing queue pair
 * @group: the group that owns the queue
 * @failed: see struct pol_sendq
 */
void pol_sendq_init(struct pol_sendq *sendq, struct ib_qp *qp, struct pol_group *group,
		    void (*failed)(struct pol_sendq *sendq, struct ib_send_wr *bad, int error))
{
	sendq->qp = qp;
	sendq->group = group;
	sendq->failed = failed;
	sendq->closed = false;
	INIT_LIST_HEAD(&sendq->touched);
	pol_sendq_reset(sendq);
}
EXPORT_SYMBOL_GPL(pol_sendq_init);

/**
 * pol_sendq_add - gather a chain of work requests
 * @sendq: the queue
 * @first: first of the chain, linked by ->next
 * @last: last of it; its ->next is overwritten
 * @count: how many there are
 *
 * Group's thread only. They are posted in order, at the end of the pass at the latest.
 */
void pol_sendq_add(struct pol_sendq *sendq, struct ib_send_wr *first, struct ib_send_wr *last,
		   unsigned int count)
{
	struct pol_group *group = sendq->group;

	pol_group_assert_owned(group);
	last->next = NULL;
	if (unlikely(sendq->closed)) {
		sendq->failed(sendq, first, -ESHUTDOWN);
		return;
	}
	if (list_empty(&sendq->touched)) {
		list_add_tail(&sendq->touched, &group->sendqs);
		if (!group->gathering_since)
			group->gathering_since = local_clock();
	}
	*sendq->tail = first;
	sendq->tail = &last->next;
	sendq->count += count;
	if (sendq->count >= POL_SENDQ_FLUSH_WRS)
		pol_sendq_flush(sendq);
}
EXPORT_SYMBOL_GPL(pol_sendq_add);

/**
 * pol_sendq_flush - post what has been gathered
 * @sendq: the queue
 *
 * Group's thread only. Soft interrupts are off while posting: a software device's tasklet then runs
 * when they are turned on again, instead of waking ksoftirqd.
 */
void pol_sendq_flush(struct pol_sendq *sendq)
{
	struct pol_group *group = sendq->group;
	struct ib_send_wr *first = sendq->first;
	const struct ib_send_wr *bad = NULL;
	unsigned int count = sendq->count;
	int error;

	pol_group_assert_owned(group);
	list_del_init(&sendq->touched);
	if (!first)
		return;
	pol_sendq_reset(sendq);

	local_bh_disable();
	error = ib_post_send(sendq->qp, first, &bad);
	local_bh_enable();
	pol_group_count(group, post_chains, 1);
	pol_group_count(group, work_requests, count);
	if (unlikely(error)) {
		trace_pol_sendq_failed(group->id, sendq->qp->qp_num, error);
		sendq->failed(sendq, (struct ib_send_wr *)bad, error);
	}
}
EXPORT_SYMBOL_GPL(pol_sendq_flush);

/**
 * pol_sendq_close - post nothing more
 * @sendq: the queue
 *
 * Group's thread only. What is gathered, and all that is added later, is handed to failed().
 */
void pol_sendq_close(struct pol_sendq *sendq)
{
	struct ib_send_wr *first = sendq->first;

	pol_group_assert_owned(sendq->group);
	sendq->closed = true;
	list_del_init(&sendq->touched);
	pol_sendq_reset(sendq);
	if (first)
		sendq->failed(sendq, first, -ESHUTDOWN);
}
EXPORT_SYMBOL_GPL(pol_sendq_close);
