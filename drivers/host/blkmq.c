// SPDX-License-Identifier: GPL-2.0-only
/*
 * What blk-mq calls: it gives requests to queues, one by one or in batches, polls queues, and says
 * when a request has taken too long. The request's own way is in request.c.
 *
 * Requests of a batch go out with one post, so one doorbell. Where blk-mq hands them over as a
 * list, ->queue_rqs, the chain is built from that. Where it hands them over one by one and says
 * which is the last (with an I/O scheduler, and on kernels before 6.7), they wait in the queue's
 * lockless list until the last of the batch comes, or ->commit_rqs because that does not come.
 *
 * Nothing is owned here: a request is blk-mq's until it is prepared, then its tag's, and when its
 * queue has been stopped again nobody's: then it is ended from here.
 */
#include <linux/cpumask.h>
#include <linux/rcupdate.h>
#include <linux/sched/isolation.h>

#include "host/host.h"
#include "host/limits.h"

/* requests of one ->queue_rqs that are left to ->queue_rq */
#define POLH_TAKE_BACK_MAX	32
#define POLH_POLL_BUDGET	64	/* completions one call of ->poll reaps at most */

/*
 * What becomes of a request that cannot be sent now: nvme-core has it tried again later, or ends
 * it. It would have an authentication command tried again until the queue is connected; but whoever
 * sent that is the one who connects, and waits for the command.
 */
static blk_status_t polh_request_refuse(struct polh_queue *queue, struct request *rq)
{
	struct polh_request *request = blk_mq_rq_to_pdu(rq);
	struct polh_ctrl *ctrl = queue->ctrl;

	/* A CPU that the queue is for has come back: connect anew, with the queue. */
	if (test_bit(POLH_QUEUE_LEFT_OUT, &queue->flags) &&
	    cpumask_intersects(rq->mq_hctx->cpumask, cpu_online_mask) &&
	    polh_nvme_state(&ctrl->nvme) == NVME_CTRL_LIVE &&
	    test_and_clear_bit(POLH_QUEUE_LEFT_OUT, &queue->flags)) {
		dev_info(ctrl->nvme.device, "queue %u: a CPU of it is online again\n", queue->qid);
		polh_recovery_fail(ctrl);
	}
	/*
	 * Live without a connection: recovery is about to begin, or somebody else made the
	 * controller live that it had found in another state, as nvme-core does when a firmware has
	 * been activated.
	 */
	if (unlikely(!test_bit(POLH_QUEUE_CONNECTED, &queue->flags) &&
		     test_bit(POLH_CTRL_FAILED, &ctrl->flags) &&
		     polh_nvme_state(&ctrl->nvme) == NVME_CTRL_LIVE))
		polh_recovery_fail(ctrl);
	if (blk_rq_is_passthrough(rq) && nvme_is_fabrics(&request->command) &&
	    !test_bit(POLH_QUEUE_CONNECTED, &queue->flags))
		return BLK_STS_TRANSPORT;
	return nvme_fail_nonready_command(&ctrl->nvme, rq);
}

static blk_status_t polh_queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	struct polh_queue *queue = hctx->driver_data;
	struct polh_tag *tag = NULL;
	blk_status_t status;

	rcu_read_lock();
	if (!polh_request_connected(queue) ||
	    !polh_compat_check_ready(&queue->ctrl->nvme, bd->rq,
				     test_bit(POLH_QUEUE_LIVE, &queue->flags))) {
		/*
		 * Refused may mean ended, and a batch whose last request was ended is not
		 * committed.
		 */
		polh_request_post_pending(queue);
		rcu_read_unlock();
		return polh_request_refuse(queue, bd->rq);
	}
	status = polh_request_prepare(queue, bd->rq);
	if (status == BLK_STS_OK)
		tag = &queue->tags[bd->rq->tag];
	if (tag && bd->last && llist_empty(&queue->pending)) {
		struct polh_chain chain = { .queue = queue };

		polh_request_chain(&chain, tag);
		polh_request_post(&chain);
	} else {
		if (tag)
			llist_add(&tag->pending, &queue->pending);
		if (bd->last)
			polh_request_post_pending(queue);
	}
	rcu_read_unlock();
	return status;
}

/* The last one that was handed over was not the last of its batch, but no more come. */
static void polh_commit_rqs(struct blk_mq_hw_ctx *hctx)
{
	rcu_read_lock();
	polh_request_post_pending(hctx->driver_data);
	rcu_read_unlock();
}

/* Requests of one disk, maybe for several queues; what is left in the list goes to queue_rq. */
static void polh_queue_rqs(pol_compat_rq_list *list)
{
	struct request *taken[POLH_TAKE_BACK_MAX];
	struct polh_chain chain = { };
	unsigned int nr_taken = 0;
	struct polh_queue *queue;
	struct request *rq;

	rcu_read_lock();
	while (nr_taken < ARRAY_SIZE(taken) && (rq = pol_compat_rq_list_pop(list))) {
		queue = rq->mq_hctx->driver_data;
		if (queue != chain.queue)
			polh_request_post(&chain);
		chain.queue = queue;
		if (!test_bit(POLH_QUEUE_LIVE, &queue->flags) ||
		    !polh_request_connected(queue) ||
		    polh_nvme_state(&queue->ctrl->nvme) != NVME_CTRL_LIVE ||
		    polh_request_prepare(queue, rq) != BLK_STS_OK)
			taken[nr_taken++] = rq;
		else
			polh_request_chain(&chain, &queue->tags[rq->tag]);
	}
	polh_request_post(&chain);
	rcu_read_unlock();
	pol_compat_rq_list_restore(list, taken, nr_taken);
}

/*
 * blk-mq calls this with what a bio was submitted to, which may have become another kind of queue
 * in a reconnect: then its completion queue is its group's.
 */
static int polh_poll(struct blk_mq_hw_ctx *hctx, struct io_comp_batch *batch)
{
	struct polh_queue *queue = hctx->driver_data;
	int found = 0;

	rcu_read_lock();
	if (polh_request_connected(queue) &&
	    test_bit(POLH_QUEUE_POLLED, &queue->flags) && spin_trylock(&queue->polling)) {
		queue->batch = batch;
		WRITE_ONCE(queue->poller, current);
		found = ib_process_cq_direct(queue->cq, POLH_POLL_BUDGET);
		WRITE_ONCE(queue->poller, NULL);
		spin_unlock(&queue->polling);
	}
	rcu_read_unlock();
	return max(found, 0);
}

/*
 * Nobody looks into a polled queue when its user does not, be it that it has been stopped: the
 * response may have been there for long. All that is there is reaped now, for once.
 */
static bool polh_request_was_answered(struct request *rq)
{
	struct polh_queue *queue = rq->mq_hctx->driver_data;
	unsigned int reaped = 0;
	int found;

	/* If somebody is reaping just now, let that come to its end. */
	spin_lock(&queue->polling);
	spin_unlock(&queue->polling);
	while (reaped < queue->cq_entries && blk_mq_rq_state(rq) == MQ_RQ_IN_FLIGHT) {
		found = polh_poll(rq->mq_hctx, NULL);
		if (!found)
			break;
		reaped += found;
	}
	return blk_mq_rq_state(rq) != MQ_RQ_IN_FLIGHT;
}

/*
 * A command takes too long. On a live controller the connection is given up and everything in
 * flight ends with it; otherwise whoever connects, resets or deletes waits for this very command,
 * and all that is in flight ends now. Both happen in a worker, which drains every queue of the
 * controller before it ends the first request: until then the target may still work on it.
 */
static enum blk_eh_timer_return polh_timeout(struct request *rq)
{
	struct polh_queue *queue = rq->mq_hctx->driver_data;
	struct polh_request *request = blk_mq_rq_to_pdu(rq);

	if (test_bit(POLH_QUEUE_POLLED, &queue->flags) && polh_request_was_answered(rq))
		return BLK_EH_DONE;
	polh_reaped(queue, timeouts, 1);
	dev_warn_ratelimited(queue->ctrl->nvme.device, "queue %u: command %#x (opcode %#x) timed out\n",
		 queue->qid, request->command.common.command_id, request->command.common.opcode);
	polh_recovery_fail(queue->ctrl);
	return BLK_EH_RESET_TIMER;
}

static bool polh_request_cancel(struct request *rq, void *data)
{
	if (blk_mq_rq_state(rq) == MQ_RQ_IN_FLIGHT) {
		polh_nvme_set_aborted(rq);
		blk_mq_complete_request_direct(rq, nvme_complete_rq);
	}
	return true;
}

/**
 * polh_requests_cancel() - end the requests that were in flight
 * @set: tags of queues that have been stopped
 *
 * Others are refused meanwhile, or have been collected by ->poll, and are just being ended. To
 * blk-mq they are started until they have ended, which may be between its look at them and ours;
 * but they are not in flight. They belong to who ends them, and are waited for.
 *
 * Context: process context, under the controller's lock.
 */
void polh_requests_cancel(struct blk_mq_tag_set *set)
{
	blk_mq_tagset_busy_iter(set, polh_request_cancel, NULL);
	blk_mq_tagset_wait_completed_request(set);
}

static int polh_init_request(struct blk_mq_tag_set *set, struct request *rq, unsigned int hctx_idx,
			     pol_compat_node_t node)
{
	struct polh_request *request = blk_mq_rq_to_pdu(rq);

	request->nvme.ctrl = set->driver_data;
	request->nvme.cmd = &request->command;
	return 0;
}

static int polh_init_admin_hctx(struct blk_mq_hw_ctx *hctx, void *data, unsigned int index)
{
	hctx->driver_data = &polh_ctrl_of(data)->queues[0];
	return 0;
}

static int polh_init_io_hctx(struct blk_mq_hw_ctx *hctx, void *data, unsigned int index)
{
	hctx->driver_data = &polh_ctrl_of(data)->queues[index + 1];
	return 0;
}

/**
 * polh_spread_queues() - which I/O queues are for which of blk-mq's maps
 * @ctrl: controller
 * @nr: I/O queues there are
 * @queues: becomes the number for each map
 *
 * Context: any.
 */
void polh_spread_queues(const struct polh_ctrl *ctrl, unsigned int nr, u32 *queues)
{
	const struct nvmf_ctrl_options *opts = ctrl->nvme.opts;

	static_assert(POLH_MAP_DEFAULT == (int)HCTX_TYPE_DEFAULT);
	static_assert(POLH_MAP_READ == (int)HCTX_TYPE_READ);
	static_assert(POLH_MAP_POLL == (int)HCTX_TYPE_POLL);
	static_assert(POLH_MAPS == (int)HCTX_MAX_TYPES);
	polh_limits_spread(nr, opts->nr_io_queues, opts->nr_write_queues, opts->nr_poll_queues,
			   queues);
}

static bool polh_cpu_counts(unsigned int cpu)
{
	return cpu_online(cpu) && !cpu_is_isolated(cpu);
}

static bool polh_map_counts(const struct blk_mq_queue_map *map, unsigned int queue)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (map->mq_map[cpu] == queue && polh_cpu_counts(cpu))
			return true;
	return false;
}

/**
 * polh_map_cpus() - give each CPU its queue
 * @map: with the number of queues and the first of them
 *
 * blk-mq does not count isolated CPUs among those of a queue, though what runs there uses it. A
 * queue that none but such CPUs had could not carry its Connect command, so they use those of
 * others, and it is nobody's.
 *
 * Context: process context.
 */
void polh_map_cpus(struct blk_mq_queue_map *map)
{
	unsigned int cpu, other = 0, tries;

	blk_mq_map_queues(map);
	for_each_possible_cpu(cpu) {
		if (!cpu_is_isolated(cpu) || polh_map_counts(map, map->mq_map[cpu]))
			continue;
		for (tries = 0; tries < nr_cpu_ids; tries++) {
			other = (other + 1) % nr_cpu_ids;
			if (polh_cpu_counts(other))
				break;
		}
		if (tries < nr_cpu_ids)
			map->mq_map[cpu] = map->mq_map[other];
	}
}

/*
 * Queue 1 on: those of the default map, those for reads if there are any, those that are polled.
 * Of so many as blk-mq has: when it lacks the memory for all there are, it maps what it had again.
 */
static void polh_map_queues(struct blk_mq_tag_set *set)
{
	u32 queues[HCTX_MAX_TYPES];
	unsigned int offset = 0;

	polh_spread_queues(polh_ctrl_of(set->driver_data), set->nr_hw_queues, queues);
	for (unsigned int type = 0; type < set->nr_maps; type++) {
		struct blk_mq_queue_map *map = &set->map[type];
		bool shared = type == HCTX_TYPE_READ && !queues[type];

		map->nr_queues = shared ? queues[HCTX_TYPE_DEFAULT] : queues[type];
		map->queue_offset = shared ? 0 : offset;
		if (!shared)
			offset += map->nr_queues;
		if (map->nr_queues)
			polh_map_cpus(map);
	}
}

const struct blk_mq_ops polh_admin_ops = {
	.queue_rq	= polh_queue_rq,
	.commit_rqs	= polh_commit_rqs,
	.complete	= nvme_complete_rq,
	.init_request	= polh_init_request,
	.init_hctx	= polh_init_admin_hctx,
	.timeout	= polh_timeout,
};

const struct blk_mq_ops polh_io_ops = {
	.queue_rq	= polh_queue_rq,
	.commit_rqs	= polh_commit_rqs,
	.queue_rqs	= polh_queue_rqs,
	.complete	= nvme_complete_rq,
	.init_request	= polh_init_request,
	.init_hctx	= polh_init_io_hctx,
	.map_queues	= polh_map_queues,
	.poll		= polh_poll,
	.timeout	= polh_timeout,
};
