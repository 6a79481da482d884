// SPDX-License-Identifier: GPL-2.0-only
/*
 * The work requests that move data and responses.
 *
 * Each queue has a fixed number of them (credits); a command takes what it needs before it posts
 * and returns them when its last work request completes. Without enough it waits in the queue's
 * list. The queue pair can therefore never overflow, nor its completion queue.
 *
 * Everything here runs in the thread of the queue's group.
 */
#include "target/receive.h"
#include "target/trace.h"

#define POLT_STALL_TIMEOUT	(POLT_STALL_TIMEOUT_S * (u64)NSEC_PER_SEC)
#define POLT_STALL_SECOND_LOOK	(500 * (u64)NSEC_PER_MSEC)
/* The longest a response waits for a completion. */
#define POLT_TAIL_DELAY		(100 * (u64)NSEC_PER_MSEC)

/*
 * Does the queue pair still work? Posts a work request that does nothing. On a queue pair in error
 * it fails, and the queue with it.
 */
static void polt_transfer_probe(struct polt_queue *queue)
{
	pol_group_assert_owned(queue->group);
	/* What is posted and has not completed tells as much. */
	if (queue->tail_posted || !queue->send_credits || !polt_queue_is_live(queue))
		return;
	queue->tail_posted = true;
	queue->tail_number = queue->last_number;
	queue->unsignalled = 0;
	queue->send_credits--;
	pol_sendq_add(&queue->sendq, &queue->tail_wr.wr, &queue->tail_wr.wr, 1);
}

/**
 * polt_transfer_doubt - find out whether a queue pair still works, now and a little later
 * @queue: a queue whose receive may be the one that has failed; its group's thread calls
 *
 * A device may complete the receive before its queue pair is in error, as soft-RoCE does: what is
 * posted in between can succeed.
 */
void polt_transfer_doubt(struct polt_queue *queue)
{
	polt_transfer_probe(queue);
	if (!polt_queue_is_open(queue))
		return;
	queue->doubted = true;
	pol_timer_cancel(queue->group, &queue->tail_timer);
	pol_timer_arm(queue->group, &queue->tail_timer, POLT_TAIL_DELAY);
}

/**
 * polt_transfer_reclaim - ask for a completion of what has been posted without one
 * @queue: a queue that has fallen silent, or waits for what those commands hold; its group's thread
 *	   calls
 */
void polt_transfer_reclaim(struct polt_queue *queue)
{
	if (queue->unsignalled)
		polt_transfer_probe(queue);
}

/* Send work requests */

static void polt_transfer_with_credits(struct polt_command *command, unsigned int wanted,
				       void (*resume)(struct polt_command *command))
{
	struct polt_queue *queue = command->queue;

	pol_group_assert_owned(queue->group);
	if (likely(list_empty(&queue->starved) && queue->send_credits >= wanted)) {
		queue->send_credits -= wanted;
		command->credits = wanted;
		resume(command);
		return;
	}
	command->credits_wanted = wanted;
	command->resume = resume;
	list_add_tail(&command->entry, &queue->starved);
	polt_transfer_reclaim(queue);
}

/*
 * A command's work requests have completed. Those that wait for credits go on with
 * polt_queue_serve().
 */
static void polt_transfer_release_credits(struct polt_command *command)
{
	pol_group_assert_owned(command->queue->group);
	command->queue->send_credits += command->credits;
	command->credits = 0;
}

/**
 * polt_transfer_serve_credits - let commands that wait for credits post
 * @queue: the queue
 */
void polt_transfer_serve_credits(struct polt_queue *queue)
{
	struct polt_command *command;

	pol_group_assert_owned(queue->group);
	while (!list_empty(&queue->starved)) {
		command = list_first_entry(&queue->starved, struct polt_command, entry);
		if (command->credits_wanted > queue->send_credits)
			break;
		list_del_init(&command->entry);
		queue->send_credits -= command->credits_wanted;
		command->credits = command->credits_wanted;
		command->resume(command);
	}
}

/* Work requests of the command are about to be posted: watch that they complete. */
static void polt_transfer_watch(struct polt_command *command)
{
	struct polt_queue *queue = command->queue;

	pol_group_assert_owned(queue->group);
	command->since = pol_group_now(queue->group);
	command->number = ++queue->last_number;
	list_add_tail(&command->posted, &queue->posted);
	if (unlikely(!pol_timer_armed(&queue->stall_timer)) && polt_queue_is_open(queue))
		pol_timer_arm(queue->group, &queue->stall_timer, POLT_STALL_TIMEOUT);
}

/*
 * The timer of a queue: has the oldest work request been posted for too long? If this thread did
 * not run for a while, its completion may lie in the completion queue: before the queue ends there
 * is a second look, after those have been reaped.
 */
static void polt_transfer_stalled(struct pol_group *group, struct pol_timer *timer)
{
	struct polt_queue *queue = container_of(timer, struct polt_queue, stall_timer);
	struct polt_command *oldest;
	s64 left;

	pol_group_assert_owned(group);
	if (list_empty(&queue->posted))
		return;
	oldest = list_first_entry(&queue->posted, struct polt_command, posted);
	left = oldest->since + POLT_STALL_TIMEOUT - pol_group_now(group);
	if (left > 0) {
		pol_timer_arm(group, timer, left);
	} else if (queue->stalled_number != oldest->number) {
		queue->stalled_number = oldest->number;
		pol_timer_arm(group, timer, POLT_STALL_SECOND_LOOK);
	} else {
		polt_queue_fail(queue, "a work request does not complete");
	}
}

/* A work request has completed: so have all that were posted before it. */
static void polt_transfer_done_before(struct polt_queue *queue, u64 number)
{
	struct polt_command *command;

	pol_group_assert_owned(queue->group);
	while (!list_empty(&queue->posted)) {
		command = list_first_entry(&queue->posted, struct polt_command, posted);
		if (command->number >= number)
			break;
		list_del_init(&command->posted);
		polt_transfer_release_credits(command);
		polt_command_release(command);
	}
}

static void polt_transfer_tail_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct polt_queue *queue = container_of(wc->wr_cqe, struct polt_queue, tail_cqe);

	pol_group_assert_owned(queue->group);
	queue->tail_posted = false;
	queue->send_credits++;
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		polt_queue_fail_wc(queue, wc->status);
		return;
	}
	polt_transfer_done_before(queue, queue->tail_number + 1);
	polt_queue_serve(queue);
	/* Something still waits for what has been posted since. */
	if (!list_empty(&queue->starved) || !list_empty(&queue->early) || !list_empty(&queue->held))
		polt_transfer_reclaim(queue);
}

/* The timer of a queue with responses that asked for no completion, or that may be in error. */
static void polt_transfer_tail_due(struct pol_group *group, struct pol_timer *timer)
{
	struct polt_queue *queue = container_of(timer, struct polt_queue, tail_timer);
	u64 age = pol_group_now(group) - queue->unsignalled_since;

	pol_group_assert_owned(group);
	if (unlikely(queue->doubted)) {
		queue->doubted = false;
		polt_transfer_probe(queue);
	}
	if (!queue->unsignalled)
		return;
	if (age >= POLT_TAIL_DELAY) {
		polt_transfer_reclaim(queue);
		/* There is one on its way already, for what was posted before: look again. */
		if (!queue->unsignalled)
			return;
		age = 0;
	}
	pol_timer_arm(group, timer, POLT_TAIL_DELAY - age);
}

/*
 * Does the response need a completion of its own? Not if the command holds little, and there is
 * enough of everything for those that come before the next completion.
 */
static bool polt_transfer_signal(struct polt_command *command)
{
	struct polt_queue *queue = command->queue;
	const struct polt_pair *pair = queue->pair;

	if (queue->unsignalled + 1 >= POLT_SIGNAL_EVERY ||
	    (command->nr_buffers && command->buffers[0]->size > POL_BUFFER_SMALL) ||
	    queue->send_credits < queue->max_credits / 2 || !list_empty(&queue->starved) ||
	    !list_empty(&queue->early) || !list_empty(&queue->held) ||
	    !list_empty(&pair->waiting) ||
	    pair->pool->small.nr_free < pair->pool->small.nr / 4 || !queue->connected) {
		queue->unsignalled = 0;
		return true;
	}
	if (!queue->unsignalled++)
		queue->unsignalled_since = pol_group_now(queue->group);
	if (!pol_timer_armed(&queue->tail_timer) && polt_queue_is_open(queue))
		pol_timer_arm(queue->group, &queue->tail_timer, POLT_TAIL_DELAY);
	return false;
}

/*
 * Where the data is on both sides: pieces of host memory and buffers of ours, each cut by the
 * other.
 */
struct polt_cursor {
	const struct polt_command *command;
	unsigned int segment;
	u32 in_segment;			/* bytes of it done */
	unsigned int piece;
	u32 in_piece;
	u32 left;			/* bytes of the whole transfer */
};

/*
 * One work request's worth: from one piece of host memory, with at most @max_sge of our buffers.
 * Fills @wr and @sge unless they are NULL. Returns the number of scatter elements.
 */
static unsigned int polt_transfer_step(struct polt_cursor *at, unsigned int max_sge,
				       struct ib_rdma_wr *wr, struct ib_sge *sge)
{
	const struct polt_command *command = at->command;
	const struct polt_segment *segment = &command->transfer.segments[at->segment];
	unsigned int nr_sge = 0;

	if (wr) {
		wr->remote_addr = segment->addr + at->in_segment;
		wr->rkey = segment->rkey;
	}
	while (at->left && nr_sge < max_sge && at->in_segment < segment->len) {
		const struct pol_buffer *buffer = command->buffers[at->piece];
		u32 len = min3(segment->len - at->in_segment, buffer->size - at->in_piece,
			       at->left);

		if (sge) {
			sge[nr_sge].addr = buffer->dma + at->in_piece;
			sge[nr_sge].length = len;
			sge[nr_sge].lkey = command->queue->pair->pd->local_dma_lkey;
		}
		nr_sge++;
		at->left -= len;
		at->in_segment += len;
		at->in_piece += len;
		if (at->in_piece == buffer->size) {
			at->piece++;
			at->in_piece = 0;
		}
	}
	if (at->in_segment == segment->len) {
		at->segment++;
		at->in_segment = 0;
	}
	return nr_sge;
}

/* How many work requests the transfer takes. */
static unsigned int polt_transfer_count(const struct polt_command *command, unsigned int max_sge)
{
	struct polt_cursor at = { .command = command, .left = command->data_len };
	unsigned int count = 0;

	if (command->transfer.nr_segments == 1 && command->nr_buffers <= max_sge)
		return 1;
	while (at.left) {
		polt_transfer_step(&at, max_sge, NULL, NULL);
		count++;
	}
	return count;
}

/*
 * Build the chain of work requests that moves the data. One fits into the command; of more, the
 * pair's are used, which have to be posted at once. Returns the last.
 */
static struct ib_rdma_wr *polt_transfer_build(struct polt_command *command, unsigned int count,
					      enum ib_wr_opcode opcode, unsigned int max_sge,
					      struct ib_rdma_wr **first)
{
	struct polt_cursor at = { .command = command, .left = command->data_len };
	struct polt_pair *pair = command->queue->pair;
	struct ib_rdma_wr *wr = count == 1 ? &command->data_wr : pair->wrs;
	struct ib_sge *sge = count == 1 ? command->data_sge : pair->sges;

	*first = wr;
	for (;; wr++) {
		wr->wr.wr_cqe = &command->data_cqe;
		wr->wr.opcode = opcode;
		wr->wr.send_flags = 0;
		wr->wr.sg_list = sge;
		wr->wr.num_sge = polt_transfer_step(&at, max_sge, wr, sge);
		sge += wr->wr.num_sge;
		if (!--count)
			return wr;
		wr->wr.next = &wr[1].wr;
	}
}

static void polt_transfer_post(struct polt_command *command, struct ib_send_wr *first,
			       struct ib_send_wr *last, unsigned int data_wrs)
{
	struct pol_sendq *sendq = &command->queue->sendq;

	polt_transfer_watch(command);
	pol_sendq_add(sendq, first, last, command->credits);
	/* The command may be gone now. The pair's work requests are needed for the next one. */
	if (data_wrs > 1)
		pol_sendq_flush(sendq);
}

static void polt_transfer_sync_for_device(const struct polt_command *command)
{
	u32 left = command->data_len;
	unsigned int i;

	for (i = 0; i < command->nr_buffers; i++) {
		u32 len = min(left, command->buffers[i]->size);

		pol_buffer_sync_for_device(command->buffers[i], 0, len);
		left -= len;
	}
}

static void polt_transfer_sync_for_cpu(const struct polt_command *command)
{
	u32 left = command->data_len;
	unsigned int i;

	for (i = 0; i < command->nr_buffers; i++) {
		u32 len = min(left, command->buffers[i]->size);

		pol_buffer_sync_for_cpu(command->buffers[i], 0, len);
		left -= len;
	}
}

/* RDMA READ of the host's data, with credits. */
static void polt_transfer_post_fetch(struct polt_command *command)
{
	struct polt_queue *queue = command->queue;
	struct ib_rdma_wr *first, *last;

	polt_transfer_sync_for_device(command);
	last = polt_transfer_build(command, command->credits, IB_WR_RDMA_READ,
				   queue->max_read_sge, &first);
	last->wr.wr_cqe = &command->fetch_cqe;
	last->wr.send_flags = IB_SEND_SIGNALED;
	queue->fetches++;
	polt_transfer_post(command, &first->wr, &last->wr, command->credits);
}

/**
 * polt_transfer_fetch - get the host's data into the command's buffers
 * @command: a command that has its buffers; goes on with polt_command_execute()
 */
void polt_transfer_fetch(struct polt_command *command)
{
	polt_command_set_state(command, POLT_COMMAND_FETCHING);
	command->since = pol_group_now(command->queue->group);
	polt_transfer_with_credits(command,
				   polt_transfer_count(command, command->queue->max_read_sge),
				   polt_transfer_post_fetch);
}

static void polt_transfer_fetched(struct ib_cq *cq, struct ib_wc *wc)
{
	struct polt_command *command = container_of(wc->wr_cqe, struct polt_command, fetch_cqe);
	struct polt_queue *queue = command->queue;
	struct pol_group *group = queue->group;

	pol_group_assert_owned(group);
	if (unlikely(command->state != POLT_COMMAND_FETCHING))
		return;
	polt_transfer_done_before(queue, command->number);
	list_del_init(&command->posted);
	polt_transfer_release_credits(command);
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		polt_queue_fail_wc(queue, wc->status);
		polt_command_release(command);
		return;
	}
	polt_transfer_sync_for_cpu(command);
	queue->bytes_written += command->data_len;
	pol_group_count(group, bytes_written, command->data_len);
	pol_latency_add(group, command->class, POL_LATENCY_FETCH,
			pol_group_now(group) - command->since);
	polt_command_execute(command);
	polt_queue_serve(queue);
}

/* An unsignalled work request completes only in error. The command's last one completes as well. */
static void polt_transfer_data_failed(struct ib_cq *cq, struct ib_wc *wc)
{
	struct polt_command *command = container_of(wc->wr_cqe, struct polt_command, data_cqe);

	pol_group_assert_owned(command->queue->group);
	if (wc->status != IB_WC_SUCCESS)
		polt_queue_fail_wc(command->queue, wc->status);
}

/* Data, if any goes to the host, and response in one chain, with credits. */
static void polt_transfer_post_response(struct polt_command *command)
{
	struct polt_queue *queue = command->queue;
	u64 age = pol_group_now(queue->group) - command->arrived;
	struct ib_send_wr *response = &command->send_wr;
	unsigned int data_wrs = command->credits - 1;
	struct ib_rdma_wr *first, *last;

	if (unlikely(age > POLT_SLOW_COMMAND_NS && queue->qid))
		trace_polt_command_slow(command, age);
	command->cqe->sq_head = cpu_to_le16(queue->sqhd);
	command->cqe->sq_id = cpu_to_le16(queue->qid);
	command->cqe->command_id = command->sqe.common.command_id;
	command->cqe->status = cpu_to_le16(command->status << 1);
	pol_mem_sync_for_device(&queue->responses, (void *)command->cqe - queue->responses.virt,
				sizeof(*command->cqe));

	if (command->transfer.invalidate && queue->can_invalidate) {
		response->opcode = IB_WR_SEND_WITH_INV;
		response->ex.invalidate_rkey = command->transfer.invalidate_rkey;
		queue->invalidates++;
	} else {
		response->opcode = IB_WR_SEND;
	}
	response->send_flags = polt_transfer_signal(command) ? IB_SEND_SIGNALED : 0;
	queue->outstanding--;
	queue->commands_done++;
	if (command->status)
		queue->commands_failed++;

	if (data_wrs) {
		polt_transfer_sync_for_device(command);
		last = polt_transfer_build(command, data_wrs, IB_WR_RDMA_WRITE, queue->max_sge,
					   &first);
		last->wr.next = response;
		queue->bytes_read += command->data_len;
		pol_group_count(queue->group, bytes_read, command->data_len);
		polt_transfer_post(command, &first->wr, response, data_wrs);
	} else {
		polt_transfer_post(command, response, response, 0);
	}
}

/**
 * polt_transfer_respond - return data and response to the host
 * @command: a command with its status set; it is released when the response's SEND has completed
 */
void polt_transfer_respond(struct polt_command *command)
{
	bool returns = command->to_host && !command->status && command->nr_buffers;
	unsigned int credits = 1;

	polt_command_set_state(command,
			       returns ? POLT_COMMAND_RETURNING : POLT_COMMAND_RESPONDING);
	if (returns)
		credits += polt_transfer_count(command, command->queue->max_sge);
	polt_transfer_with_credits(command, credits, polt_transfer_post_response);
}

static void polt_transfer_responded(struct ib_cq *cq, struct ib_wc *wc)
{
	struct polt_command *command = container_of(wc->wr_cqe, struct polt_command, send_cqe);
	struct polt_queue *queue = command->queue;
	struct pol_group *group = queue->group;
	u64 now = pol_group_now(group);

	pol_group_assert_owned(group);
	/* Comes for responses that asked for it, and for those that failed. */
	if (unlikely(command->state != POLT_COMMAND_RETURNING &&
		     command->state != POLT_COMMAND_RESPONDING))
		return;
	polt_transfer_done_before(queue, command->number);
	list_del_init(&command->posted);
	polt_transfer_release_credits(command);
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		polt_queue_fail_wc(queue, wc->status);
	} else {
		pol_latency_add(group, command->class, POL_LATENCY_RETURN,
				now - command->since);
		pol_latency_add(group, command->class, POL_LATENCY_TOTAL,
				now - command->arrived);
	}
	polt_command_release(command);
	polt_queue_serve(queue);
}

/**
 * polt_transfer_failed - work requests were not posted
 * @sendq: the queue's
 * @bad: first of those that were not
 * @error: why; -ESHUTDOWN when the queue is being stopped
 *
 * The commands stay in the queue's list until the queue pair has been drained: work requests before
 * @bad may still read their buffers.
 */
void polt_transfer_failed(struct pol_sendq *sendq, struct ib_send_wr *bad, int error)
{
	pol_group_assert_owned(sendq->group);
	polt_queue_fail(container_of(sendq, struct polt_queue, sendq), "posting failed");
}

/**
 * polt_transfer_init_queue - prepare the tail of a new queue
 * @queue: the queue
 */
void polt_transfer_init_queue(struct polt_queue *queue)
{
	pol_timer_init(&queue->stall_timer, polt_transfer_stalled);
	pol_timer_init(&queue->tail_timer, polt_transfer_tail_due);
	queue->tail_cqe.done = polt_transfer_tail_done;
	queue->tail_wr.wr.wr_cqe = &queue->tail_cqe;
	queue->tail_wr.wr.opcode = IB_WR_RDMA_WRITE;
	queue->tail_wr.wr.send_flags = IB_SEND_SIGNALED;
}

/**
 * polt_transfer_stop - no timer of the queue fires any more
 * @queue: a queue that is being stopped
 */
void polt_transfer_stop(struct polt_queue *queue)
{
	pol_group_assert_owned(queue->group);
	pol_timer_cancel(queue->group, &queue->stall_timer);
	pol_timer_cancel(queue->group, &queue->tail_timer);
	pol_sendq_close(&queue->sendq);
}

/**
 * polt_transfer_init - prepare what stays the same in a command's work requests
 * @command: a command with queue and cqe set
 */
void polt_transfer_init(struct polt_command *command)
{
	struct polt_queue *queue = command->queue;

	command->data_cqe.done = polt_transfer_data_failed;
	command->fetch_cqe.done = polt_transfer_fetched;
	command->send_cqe.done = polt_transfer_responded;
	command->send_sge.addr = queue->responses.dma +
				 ((void *)command->cqe - queue->responses.virt);
	command->send_sge.length = sizeof(*command->cqe);
	command->send_sge.lkey = queue->pair->pd->local_dma_lkey;
	command->send_wr.wr_cqe = &command->send_cqe;
	command->send_wr.sg_list = &command->send_sge;
	command->send_wr.num_sge = 1;
	INIT_LIST_HEAD(&command->posted);
}
