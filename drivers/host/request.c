// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a request: from blk-mq to the wire on the submitter's CPU, and back on the CPU that
 * reaps.
 *
 * The two sides run at the same time on different CPUs and share no lock. What they have in common
 * is the request's tag: until the post the submitter owns it, from then on the completions do. What
 * a request waits for, the end of the post itself included, and which response is its, is in
 * flight.h.
 *
 * What a small command needs is the tag's as long as the connection lives: its capsule and its slot
 * stay mapped, so the device may read them again after the response, for a packet that got lost and
 * that a target which has answered will drop. So most of their SENDs need no completion. One in
 * signal_every of a tag has one, and is waited for: this says that the tag's earlier work requests
 * have left the send queue, which is as long as all tags can make it meanwhile.
 *
 * A response that fits no command makes the queue fatal, and the controller connects anew.
 */
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>

#include "compat/unaligned.h"
#include "host/host.h"

#define POLH_SGL_IN_CAPSULE	((NVME_SGL_FMT_DATA_DESC << 4) | NVME_SGL_FMT_OFFSET)
#define POLH_SGL_KEYED		((NVME_KEY_SGL_FMT_DATA_DESC << 4) | NVME_SGL_FMT_ADDRESS)
#define POLH_SGL_KEYED_INVALIDATE \
	((NVME_KEY_SGL_FMT_DATA_DESC << 4) | NVME_SGL_FMT_INVALIDATE)

#define polh_submitted(queue, what, n)	this_cpu_add((queue)->submitted->what, n)

static struct nvme_command *polh_request_capsule(struct polh_tag *tag)
{
	struct polh_queue *queue = tag->queue;

	return queue->capsules.virt + (tag - queue->tags) * POLH_CAPSULE_STRIDE;
}

static void polh_request_sync_capsule(struct polh_tag *tag)
{
	struct polh_queue *queue = tag->queue;

	pol_mem_sync_for_device(&queue->capsules, (tag - queue->tags) * POLH_CAPSULE_STRIDE,
				sizeof(struct nvme_command));
}

static void polh_request_keyed(struct nvme_command *command, u64 addr, u32 len, u32 rkey, u8 type)
{
	struct nvme_keyed_sgl_desc *sgl = &command->common.dptr.ksgl;

	sgl->addr = cpu_to_le64(addr);
	put_unaligned_le24(len, sgl->length);
	put_unaligned_le32(rkey, sgl->key);
	sgl->type = type;
}

/* Chooses the way of the request's data and describes it in the capsule. */
static int polh_request_data(struct polh_tag *tag, struct request *rq, struct nvme_command *command)
{
	struct polh_queue *queue = tag->queue;
	bool write = rq_data_dir(rq) == WRITE;
	u32 len = blk_rq_nr_phys_segments(rq) ? blk_rq_payload_bytes(rq) : 0;
	int err;

	tag->len = len;
	tag->send.num_sge = 1;
	command->common.flags |= NVME_CMD_SGL_METABUF;
	if (!len) {
		tag->data = POLH_DATA_NONE;
		polh_request_keyed(command, 0, 0, 0, POLH_SGL_KEYED);
		return 0;
	}

	if (len > queue->copy_max) {
		err = polh_memory_map(tag, rq);
		if (err)
			return err;
		tag->data = POLH_DATA_MAPPED;
		tag->flight.rkey = tag->mr->rkey;
		polh_request_keyed(command, tag->mr->iova, len, tag->mr->rkey,
				   POLH_SGL_KEYED_INVALIDATE);
		return 0;
	}

	if (write) {
		polh_memory_copy_in(tag, rq);
	} else {
		/* A target may return less than a log page or the like is long. */
		if (blk_rq_is_passthrough(rq))
			memset(tag->slot, 0, len);
		pol_mem_sync_for_device(tag->slot_region, tag->slot_offset, len);
	}
	if (write && len <= queue->in_capsule_max) {
		struct nvme_sgl_desc *sgl = &command->common.dptr.sgl;

		tag->data = POLH_DATA_CAPSULE;
		memset(sgl, 0, sizeof(*sgl));
		sgl->length = cpu_to_le32(len);
		sgl->type = POLH_SGL_IN_CAPSULE;
		tag->sge[1].length = len;
		tag->send.num_sge = 2;
	} else {
		tag->data = POLH_DATA_SLOT;
		polh_request_keyed(command, tag->slot_addr, len, tag->slot_rkey, POLH_SGL_KEYED);
	}
	return 0;
}

static void polh_request_count(struct polh_tag *tag, bool write)
{
	struct polh_queue *queue = tag->queue;

	polh_submitted(queue, commands, 1);
	if (write)
		polh_submitted(queue, bytes_written, tag->len);
	else
		polh_submitted(queue, bytes_read, tag->len);
	switch (tag->data) {
	case POLH_DATA_NONE:
		break;
	case POLH_DATA_CAPSULE:
		polh_submitted(queue, in_capsule, 1);
		break;
	case POLH_DATA_SLOT:
		polh_submitted(queue, copies, 1);
		break;
	case POLH_DATA_MAPPED:
		polh_submitted(queue, zero_copy, 1);
		polh_submitted(queue, registrations, 1);
		break;
	}
}

/*
 * From here on the command may be answered. The work requests stay as they are until the post has
 * returned; from then on the tag's completions own it.
 */
static void polh_request_begin(struct polh_tag *tag)
{
	int waiting = POLH_WAIT_RESPONSE | POLH_WAIT_CHECK;

	if (tag->data == POLH_DATA_MAPPED || ++tag->unsignalled >= tag->queue->signal_every) {
		tag->unsignalled = 0;
		tag->send.send_flags = IB_SEND_SIGNALED;
		waiting |= POLH_WAIT_SEND;
	} else {
		tag->send.send_flags = 0;
	}
	if (tag->data == POLH_DATA_MAPPED)
		waiting |= POLH_WAIT_INVALIDATE;
	polh_flight_begin(&tag->flight, waiting);
}

/**
 * polh_request_chain() - put a command's work requests at the end of a chain
 * @chain: chain of the tag's queue, zeroed before the first
 * @tag: what polh_request_prepare() has prepared
 */
void polh_request_chain(struct polh_chain *chain, struct polh_tag *tag)
{
	struct ib_send_wr *first = &tag->send;

	tag->send.next = NULL;
	chain->count++;
	if (tag->data == POLH_DATA_MAPPED) {
		tag->reg.wr.next = &tag->send;
		first = &tag->reg.wr;
		chain->count++;
	}
	if (chain->first)
		chain->last->next = first;
	else
		chain->first = first;
	chain->last = &tag->send;
}

/* Whether the times of the tag's next command are taken. Nobody may write those of a poll queue. */
static bool polh_request_measured(struct polh_tag *tag)
{
	return tag->queue->qid && tag->queue->group && !(tag->turn++ % POLH_MEASURE_EVERY);
}

/* Clocks of two CPUs may differ a little. */
static u64 polh_request_took(u64 from, u64 to)
{
	return to > from ? to - from : 0;
}

/* The group's thread keeps the times of a command that is about to end, if it is who ends it. */
static void polh_request_measure(struct polh_tag *tag, struct request *rq)
{
	struct polh_request *request = blk_mq_rq_to_pdu(rq);
	struct pol_group *group = tag->queue->group;
	enum pol_latency_class class = POL_LATENCY_OTHER;
	u64 now = local_clock();

	if (request->command.common.opcode == nvme_cmd_read)
		class = POL_LATENCY_READ;
	else if (request->command.common.opcode == nvme_cmd_write)
		class = POL_LATENCY_WRITE;
	pol_latency_add(group, class, POL_LATENCY_HOST_PREPARE,
			polh_request_took(tag->begun, tag->ready));
	pol_latency_add(group, class, POL_LATENCY_HOST_EXCHANGE,
			polh_request_took(tag->ready, tag->answered));
	pol_latency_add(group, class, POL_LATENCY_HOST_FINISH,
			polh_request_took(tag->answered, now));
	pol_latency_add(group, class, POL_LATENCY_HOST_TOTAL,
			polh_request_took(tag->begun, now));
}

static void polh_request_complete_batch(struct io_comp_batch *batch)
{
	polh_nvme_complete_batch(batch);
}

/**
 * polh_request_finish() - end what has been collected of a queue
 * @finishing: the queue's
 *
 * Context: the poll group's thread.
 */
void polh_request_finish(struct pol_batch *finishing)
{
	struct polh_queue *queue = container_of(finishing, struct polh_queue, finishing);
	struct io_comp_batch batch = queue->finished;

	memset(&queue->finished, 0, sizeof(queue->finished));
	batch.complete(&batch);
}

/* Where the caller collects finished requests; NULL: each ends by itself. */
static struct io_comp_batch *polh_request_batch(struct polh_queue *queue)
{
	if (READ_ONCE(queue->poller) == current)
		return queue->batch;
	return queue->group && pol_group_owns(queue->group) ? &queue->finished : NULL;
}

/*
 * Ends the request of a tag that waits for nothing any more. The tag may be in use again at once.
 * Mostly whoever reaps comes here, and the submitter where the response was faster than the post.
 */
static void polh_request_end(struct polh_tag *tag)
{
	struct polh_queue *queue = tag->queue;
	union nvme_result result = tag->flight.result;
	__le16 status = tag->flight.status;
	struct request *rq = tag->rq;
	struct io_comp_batch *batch;

	if (!rq) {
		nvme_complete_async_event(&queue->ctrl->nvme, status, &result);
		return;
	}
	if (tag->data == POLH_DATA_MAPPED)
		polh_memory_unmap(tag);
	else if (tag->data == POLH_DATA_SLOT && rq_data_dir(rq) == READ &&
		 !(le16_to_cpu(status) >> 1))
		polh_memory_copy_out(tag, rq);
	if (tag->begun && likely(pol_group_owns(queue->group)))
		polh_request_measure(tag, rq);

	polh_nvme_set_result(rq, status, result);
	if (unlikely(blk_should_fake_timeout(rq->q)))
		return;
	blk_mq_set_request_complete(rq);
	batch = polh_request_batch(queue);
	if (!blk_mq_add_to_batch(rq, batch, !!polh_nvme_request(rq)->status,
				 polh_request_complete_batch))
		nvme_complete_rq(rq);
	else if (batch == &queue->finished)
		pol_batch_add(queue->group, &queue->finishing);
}

/*
 * The peer left its key to the request's pages valid: make it void before they are given back. On a
 * queue that is being drained nothing may be posted any more: there polh_request_release() does it.
 */
static void polh_request_revoke(struct polh_tag *tag)
{
	struct polh_queue *queue = tag->queue;
	const struct ib_send_wr *bad;
	int err;

	rcu_read_lock();
	if (!polh_request_connected(queue))
		goto unlock;
	tag->invalidate.ex.invalidate_rkey = tag->flight.rkey;
	polh_submitted(queue, posts, 1);
	polh_submitted(queue, work_requests, 1);
	polh_submitted(queue, invalidations, 1);
	local_bh_disable();
	err = ib_post_send(queue->qp, &tag->invalidate, &bad);
	local_bh_enable();
	if (err)
		polh_queue_fail(queue, "posting an invalidation failed", err);
unlock:
	rcu_read_unlock();
}

static void polh_request_done(struct polh_tag *tag, int what)
{
	switch (polh_flight_done(&tag->flight, what)) {
	case POLH_FLIGHT_WAIT:
		break;
	case POLH_FLIGHT_REVOKE:
		polh_request_revoke(tag);
		break;
	case POLH_FLIGHT_END:
		polh_request_end(tag);
		break;
	}
}

/**
 * polh_request_post() - post a chain
 * @chain: chain, maybe empty; it is empty afterwards
 *
 * Where posting fails the queue pair is of no use, and nobody knows what of the chain went out: the
 * requests stay where they are, and recovery ends them when the queue pair is drained.
 *
 * Context: under RCU, since before the queue was seen connected.
 */
void polh_request_post(struct polh_chain *chain)
{
	const struct ib_send_wr *wr, *next, *bad;
	int err;

	if (!chain->first)
		return;
	polh_submitted(chain->queue, posts, 1);
	polh_submitted(chain->queue, work_requests, chain->count);
	local_bh_disable();
	err = ib_post_send(chain->queue->qp, chain->first, &bad);
	local_bh_enable();
	if (err)
		polh_queue_fail(chain->queue, "posting failed", err);
	/* Each tag may be in use again as soon as it is let go. */
	for (wr = chain->first; wr; wr = next) {
		next = wr->next;
		if (wr->opcode == IB_WR_SEND)
			polh_request_done(container_of(wr, struct polh_tag, send), POLH_WAIT_POST);
	}
	chain->first = NULL;
	chain->count = 0;
}

/**
 * polh_request_post_pending() - post what waits for the end of its batch
 * @queue: queue
 *
 * Whoever comes first takes all: those who have added something come themselves when their batch
 * ends, and then find nothing, or what others have added since. On a queue that is not connected
 * any more the requests stay where they are, see polh_request_forget_pending().
 *
 * Context: under RCU.
 */
void polh_request_post_pending(struct polh_queue *queue)
{
	struct polh_chain chain = { .queue = queue };
	struct llist_node *pending;
	struct polh_tag *tag;

	if (llist_empty(&queue->pending) || !polh_request_connected(queue))
		return;
	pending = llist_reverse_order(llist_del_all(&queue->pending));
	llist_for_each_entry(tag, pending, pending)
		polh_request_chain(&chain, tag);
	polh_request_post(&chain);
}

/**
 * polh_request_forget_pending() - nobody shall post what has not been posted
 * @queue: queue that has not been connected for a grace period
 *
 * The requests themselves are in flight as those are whose post failed: polh_request_release()
 * takes back what they have, polh_ctrl_cancel() ends them.
 */
void polh_request_forget_pending(struct polh_queue *queue)
{
	llist_del_all(&queue->pending);
}

/**
 * polh_request_prepare() - make a request ready to be posted
 * @queue: its queue
 * @rq: a request that blk-mq has given to the driver
 *
 * Context: under RCU, since before the queue was seen connected.
 * Return: BLK_STS_OK: the request is in flight and its tag is to be posted. Anything else leaves it
 * as it was.
 */
blk_status_t polh_request_prepare(struct polh_queue *queue, struct request *rq)
{
	struct polh_request *request = blk_mq_rq_to_pdu(rq);
	struct polh_tag *tag = &queue->tags[rq->tag];
	struct nvme_command *command = polh_request_capsule(tag);
	blk_status_t status;
	int err;

	pol_debug_assert(!atomic_read(&tag->flight.waiting));
	tag->begun = polh_request_measured(tag) ? local_clock() : 0;
	status = nvme_setup_cmd(rq->q->queuedata, rq);
	if (status != BLK_STS_OK)
		return status;
	memcpy(command, &request->command, sizeof(*command));
	err = polh_request_data(tag, rq, command);
	if (err) {
		nvme_cleanup_cmd(rq);
		return err == -ENOMEM || err == -EAGAIN ? BLK_STS_RESOURCE : BLK_STS_IOERR;
	}
	polh_request_sync_capsule(tag);
	tag->rq = rq;
	tag->flight.command_id = command->common.command_id;
	polh_request_count(tag, rq_data_dir(rq) == WRITE);
	polh_compat_start_request(rq);
	if (tag->begun)
		tag->ready = local_clock();
	polh_request_begin(tag);
	return BLK_STS_OK;
}

/* Of those that asked for it, and of any that failed. */
static void polh_request_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct polh_tag *tag = container_of(wc->wr_cqe, struct polh_tag, sent);

	polh_queue_assert_reaper(tag->queue);
	polh_reaped(tag->queue, completions, 1);
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		polh_queue_fail(tag->queue, ib_wc_status_msg(wc->status), wc->status);
		return;
	}
	polh_request_done(tag, POLH_WAIT_SEND);
}

/* Unsignalled: reports failure only. */
static void polh_request_registered(struct ib_cq *cq, struct ib_wc *wc)
{
	struct polh_tag *tag = container_of(wc->wr_cqe, struct polh_tag, registered);

	polh_queue_assert_reaper(tag->queue);
	polh_reaped(tag->queue, completions, 1);
	if (wc->status != IB_WC_SUCCESS)
		polh_queue_fail(tag->queue, ib_wc_status_msg(wc->status), wc->status);
}

static void polh_request_invalidated(struct ib_cq *cq, struct ib_wc *wc)
{
	struct polh_tag *tag = container_of(wc->wr_cqe, struct polh_tag, invalidated);

	polh_queue_assert_reaper(tag->queue);
	polh_reaped(tag->queue, completions, 1);
	if (wc->status != IB_WC_SUCCESS) {
		polh_queue_fail(tag->queue, ib_wc_status_msg(wc->status), wc->status);
		return;
	}
	polh_request_done(tag, POLH_WAIT_INVALIDATE);
}

static void polh_request_answer(struct polh_queue *queue, const struct nvme_completion *cqe,
				bool invalidated, u32 rkey)
{
	enum polh_verdict answer = POLH_ANSWER_UNKNOWN;
	int index = polh_flight_tag(cqe, queue->nr_tags);
	struct polh_tag *tag = NULL;

	if (likely(index >= 0)) {
		tag = &queue->tags[index];
		answer = polh_flight_answer(&tag->flight, cqe, invalidated, rkey);
	}
	if (unlikely(answer == POLH_ANSWER_UNKNOWN)) {
		polh_queue_fail(queue, "response to a command that is not in flight",
				cqe->command_id);
		return;
	}
	if (unlikely(answer == POLH_ANSWER_FOREIGN_KEY)) {
		polh_queue_fail(queue, "the target invalidated a key that is not the command's",
				rkey);
		return;
	}
	if (tag->begun)
		tag->answered = local_clock();
	if (invalidated)
		polh_reaped(queue, remote_invalidations, 1);
	polh_request_done(tag, answer == POLH_ANSWER_COMPLETE ?
				       POLH_WAIT_CHECK | POLH_WAIT_INVALIDATE : POLH_WAIT_CHECK);
}

/**
 * polh_request_responded() - completion of a receive buffer
 * @cq: completion queue
 * @wc: what came
 *
 * Context: the poll group's thread, ->poll, or whoever drains a polled queue.
 */
void polh_request_responded(struct ib_cq *cq, struct ib_wc *wc)
{
	struct polh_response *response = container_of(wc->wr_cqe, struct polh_response, cqe);
	struct polh_queue *queue = response->queue;
	size_t offset = response->index * POLH_RESPONSE_STRIDE;
	bool invalidated = wc->wc_flags & IB_WC_WITH_INVALIDATE;
	struct nvme_completion cqe;
	int err;

	polh_queue_assert_reaper(queue);
	polh_reaped(queue, completions, 1);
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		polh_queue_fail(queue, ib_wc_status_msg(wc->status), wc->status);
		return;
	}
	if (unlikely(wc->opcode != IB_WC_RECV || wc->byte_len != sizeof(cqe))) {
		polh_queue_fail(queue, "response of the wrong length", wc->byte_len);
		return;
	}
	pol_mem_sync_for_cpu(&queue->responses, offset, sizeof(cqe));
	memcpy(&cqe, queue->responses.virt + offset, sizeof(cqe));

	/*
	 * The command's end may let the next one out: the buffer for its response is there first.
	 * Behind the marker by which a queue pair is drained nothing may be posted: nobody would
	 * wait for it before the buffers go.
	 */
	rcu_read_lock();
	err = polh_request_connected(queue) ? polh_queue_post_receive(queue, response) : 0;
	rcu_read_unlock();
	if (unlikely(err)) {
		polh_queue_fail(queue, "posting a receive buffer failed", err);
		return;
	}
	polh_request_answer(queue, &cqe, invalidated, invalidated ? wc->ex.invalidate_rkey : 0);
}

/**
 * polh_request_async_event() - nvme_ctrl_ops.submit_async_event
 * @nvme: a live controller
 *
 * The command has no request; it uses the last tag of the admin queue, which blk-mq does not have.
 * nvme-core asks for it when the one before has been answered and when it has connected, and once
 * more after a firmware's activation, during which the connection may have been lost: there is one
 * at a time all the same.
 */
void polh_request_async_event(struct nvme_ctrl *nvme)
{
	struct polh_queue *queue = &polh_ctrl_of(nvme)->queues[0];
	struct polh_chain chain = { .queue = queue };
	struct nvme_command *command;
	struct polh_tag *tag;

	rcu_read_lock();
	if (test_bit(POLH_QUEUE_LIVE, &queue->flags) && polh_request_connected(queue) &&
	    !atomic_read(&queue->tags[POLH_NVME_EVENT_CID].flight.waiting)) {
		tag = &queue->tags[POLH_NVME_EVENT_CID];
		command = polh_request_capsule(tag);
		memset(command, 0, sizeof(*command));
		command->common.opcode = nvme_admin_async_event;
		command->common.command_id = POLH_NVME_EVENT_CID;
		command->common.flags |= NVME_CMD_SGL_METABUF;
		polh_request_keyed(command, 0, 0, 0, POLH_SGL_KEYED);
		polh_request_sync_capsule(tag);
		tag->rq = NULL;
		tag->len = 0;
		tag->data = POLH_DATA_NONE;
		tag->flight.command_id = POLH_NVME_EVENT_CID;
		tag->send.num_sge = 1;
		polh_request_count(tag, false);
		polh_request_begin(tag);
		polh_request_chain(&chain, tag);
		polh_request_post(&chain);
	}
	rcu_read_unlock();
}

/**
 * polh_request_init_tags() - fill in what stays the same in the work requests of a queue
 * @queue: a queue that is being connected
 */
void polh_request_init_tags(struct polh_queue *queue)
{
	for (unsigned int i = 0; i < queue->nr_tags; i++) {
		struct polh_tag *tag = &queue->tags[i];

		tag->sent.done = polh_request_sent;
		tag->send.wr_cqe = &tag->sent;
		tag->send.sg_list = tag->sge;
		tag->send.opcode = IB_WR_SEND;

		tag->registered.done = polh_request_registered;
		tag->reg.wr.wr_cqe = &tag->registered;
		tag->reg.wr.opcode = IB_WR_REG_MR;
		tag->reg.mr = tag->mr;

		tag->invalidated.done = polh_request_invalidated;
		tag->invalidate.wr_cqe = &tag->invalidated;
		tag->invalidate.opcode = IB_WR_LOCAL_INV;
		tag->invalidate.send_flags = IB_SEND_SIGNALED;
	}
}

/**
 * polh_request_unanswered() - does a command wait for its response?
 * @queue: the queue, connected or not
 *
 * The asynchronous event command does not count: it may wait for ever.
 *
 * Context: process context, under the controller's lock.
 */
bool polh_request_unanswered(const struct polh_queue *queue)
{
	lockdep_assert_held(&queue->ctrl->lock);
	if (!test_bit(POLH_QUEUE_CONNECTED, &queue->flags))
		return false;
	for (unsigned int i = 0; i < queue->nr_tags; i++) {
		if (!queue->qid && i == POLH_NVME_EVENT_CID)
			continue;
		if (atomic_read(&queue->tags[i].flight.waiting) & POLH_WAIT_RESPONSE)
			return true;
	}
	return false;
}

/**
 * polh_request_release() - take back what requests in flight had been given
 * @queue: a queue whose queue pair is drained
 *
 * The peer's keys to the requests' pages work on every queue pair of the controller, and the admin
 * queue's may still be connected: the keys go before the pages.
 *
 * The requests themselves are ended by polh_ctrl_cancel() when all queues have come this far.
 *
 * Context: process context, under the controller's lock; sleeps.
 */
void polh_request_release(struct polh_queue *queue)
{
	for (unsigned int i = 0; i < queue->nr_tags; i++) {
		struct polh_tag *tag = &queue->tags[i];

		if (atomic_xchg(&tag->flight.waiting, 0) && tag->data == POLH_DATA_MAPPED) {
			polh_memory_revoke(tag);
			polh_memory_unmap(tag);
		}
		tag->rq = NULL;
	}
}
