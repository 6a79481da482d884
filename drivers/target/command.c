// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a command: from the capsule that a host sent to the response that it gets. command.h
 * has the picture; transfer.c moves the data.
 *
 * A command belongs to its queue and is worked on by the thread of the queue's group alone, except
 * while it executes: then it is the back end's or a worker's, and comes back as a message. Whatever
 * the thread finds when it comes back - the queue failed, its queue pair gone - the command is
 * released then, and not before: its buffers are in use.
 *
 * Nothing here allocates, locks or sleeps.
 */
#include <linux/sched/clock.h>

#include "target/ctrl.h"
#include "target/receive.h"
#include "target/sqe.h"

/*
 * Of an opcode and of the type of a Fabrics command: the data, if there is any, goes to the host
 * (NVMe Base Specification, "Data Transfer").
 */
#define POLT_OPCODE_TO_HOST	(1 << 1)

/* NVMe Base Specification, "Status Code Type". */
#define POLT_SCT_MASK		0x700
#define POLT_SCT_MEDIA		0x200	/* Media and Data Integrity Errors */

/**
 * polt_command_init - prepare a command of a new queue
 * @queue: the queue; its responses' memory is there
 * @command: zeroed
 * @index: which of the queue's commands this is
 */
void polt_command_init(struct polt_queue *queue, struct polt_command *command, unsigned int index)
{
	command->queue = queue;
	command->cqe = queue->responses.virt + index * sizeof(*command->cqe);
	INIT_LIST_HEAD(&command->bdev.lane_entry);
	polt_transfer_init(command);
	list_add_tail(&command->entry, &queue->free_commands);
}

#ifdef POLLARD_DEBUG
/**
 * polt_command_check_state - is this an arrow of the picture in command.h?
 * @command: a command
 * @state: what it is about to become. The group's thread calls
 */
void polt_command_check_state(const struct polt_command *command, enum polt_command_state state)
{
	/* Each may also be let go, when its queue has failed. */
	static const u8 allowed[] = {
		[POLT_COMMAND_FREE] = BIT(POLT_COMMAND_RECEIVED),
		[POLT_COMMAND_RECEIVED] = BIT(POLT_COMMAND_WAITING) | BIT(POLT_COMMAND_FETCHING) |
					  BIT(POLT_COMMAND_EXECUTING) |
					  BIT(POLT_COMMAND_RESPONDING) | BIT(POLT_COMMAND_FREE),
		[POLT_COMMAND_WAITING] = BIT(POLT_COMMAND_FETCHING) | BIT(POLT_COMMAND_EXECUTING) |
					 BIT(POLT_COMMAND_RESPONDING) | BIT(POLT_COMMAND_FREE),
		[POLT_COMMAND_FETCHING] = BIT(POLT_COMMAND_EXECUTING) | BIT(POLT_COMMAND_FREE),
		[POLT_COMMAND_EXECUTING] = BIT(POLT_COMMAND_RETURNING) |
					   BIT(POLT_COMMAND_RESPONDING) | BIT(POLT_COMMAND_FREE),
		[POLT_COMMAND_RETURNING] = BIT(POLT_COMMAND_FREE),
		[POLT_COMMAND_RESPONDING] = BIT(POLT_COMMAND_FREE),
	};

	pol_group_assert_owned(command->queue->group);
	WARN(!pol_state_may(allowed, command->state, state), "command of queue %u goes from %u to %u\n",
	     command->queue->qid, command->state, state);
}
#endif

static bool polt_command_is_fabrics(const struct polt_command *command)
{
	return command->sqe.common.opcode == nvme_fabrics_command;
}

static bool polt_command_is_connect(const struct polt_command *command)
{
	return polt_command_is_fabrics(command) &&
	       command->sqe.fabrics.fctype == nvme_fabrics_type_connect;
}

/* The capsule is not needed any more: its buffer can take another one. */
static void polt_command_drop_receive(struct polt_command *command)
{
	command->inline_data = NULL;
	if (command->receive)
		polt_receive_repost(command->receive);
	command->receive = NULL;
}

/**
 * polt_command_release - a command is over
 * @command: a command that nobody but the thread knows any more
 */
void polt_command_release(struct polt_command *command)
{
	struct polt_queue *queue = command->queue;

	pol_group_assert_owned(queue->group);
	polt_command_drop_receive(command);
	if (command->namespace)
		polt_namespace_put(command->namespace);
	command->namespace = NULL;
	polt_command_set_state(command, POLT_COMMAND_FREE);
	list_add(&command->entry, &queue->free_commands);
	queue->in_use--;
	polt_buffers_give(command);
	polt_queue_command_freed(queue);
}

/*
 * A queue that is ending gives no error any more. It might be about what is going away with the
 * queue, the controller first of all, and would be final where a lost connection has the host try
 * again or take another path.
 */
static bool polt_command_keeps_quiet(const struct polt_command *command)
{
	const struct polt_queue *queue = command->queue;

	if (unlikely(!polt_queue_is_live(queue)))
		return true;
	if (likely(!command->status))
		return false;
	smp_rmb();	/* pairs with polt_ctrl_end() */
	return test_bit(POLT_QUEUE_ENDING, &queue->flags);
}

static void polt_command_count_error(const struct polt_command *command)
{
	polt_namespace_count(command->namespace, errors, 1);
	if ((command->status & POLT_SCT_MASK) == POLT_SCT_MEDIA)
		polt_namespace_count(command->namespace, media_errors, 1);
}

/* Executed or refused: go on with data and response. */
static void polt_command_complete(struct polt_command *command, u16 status)
{
	struct polt_queue *queue = command->queue;

	pol_group_assert_owned(queue->group);
	command->status = status;
	if (command->namespace) {
		if (unlikely(status))
			polt_command_count_error(command);
		polt_namespace_put(command->namespace);
		command->namespace = NULL;
	}
	if (unlikely(polt_command_keeps_quiet(command))) {
		polt_command_release(command);
		return;
	}
	if (unlikely(polt_command_is_connect(command) && !status && queue->ctrl))
		polt_queue_connected(queue, le16_to_cpu(command->sqe.connect.sqsize));
	/* That a reset has aborted something is no news to the host who asked for it. */
	if (unlikely(status) && status != NVME_SC_ABORT_QUEUE && queue->connected)
		polt_ctrl_log_error(queue->ctrl, queue->qid, &command->sqe, status);
	polt_command_drop_receive(command);
	if (!command->to_host || status)
		polt_buffers_give(command);
	polt_transfer_respond(command);
}

static void polt_command_count_backend(struct polt_command *command, u64 now)
{
	pol_latency_add(command->queue->group, command->class, POL_LATENCY_BACKEND,
			now - command->since);
}

/**
 * polt_command_finish - what the thread itself executed is done
 * @command: a command that is executing
 * @status: NVMe status, not shifted
 *
 * The group's thread, but no callback of storage: those use polt_command_executed().
 */
void polt_command_finish(struct polt_command *command, u16 status)
{
	if (command->namespace)
		polt_command_count_backend(command, local_clock());
	polt_command_complete(command, status);
}

static void polt_command_handback(struct pol_group *group, struct pol_message *message)
{
	struct polt_command *command = container_of(message, struct polt_command, handback);

	/* It may have been submitted in this very pass. */
	if (command->namespace)
		polt_command_count_backend(command, max(pol_group_now(group), command->since));
	polt_command_complete(command, command->status);
}

/**
 * polt_command_executed - the back end or a worker is done with a command
 * @command: a command that is executing; not the caller's any more
 * @status: NVMe status, not shifted: NVME_SC_*, with NVME_STATUS_DNR where it is no use to try
 *	again
 *
 * The response goes out from the group's thread, with the data if the command returns any and
 * @status is 0. Any context, interrupts too.
 */
void polt_command_executed(struct polt_command *command, u16 status)
{
	command->status = status;
	command->handback.handle = polt_command_handback;
	pol_group_post(command->queue->group, &command->handback);
}

static void polt_command_admin_work(struct work_struct *work)
{
	struct polt_command *command = container_of(work, struct polt_command, work);

	if (polt_command_is_fabrics(command))
		polt_fabrics_execute(command);
	else
		polt_admin_execute(command);
}

static bool polt_command_is_io(const struct polt_command *command)
{
	return command->queue->qid && !polt_command_is_fabrics(command);
}

/**
 * polt_command_execute - all data is here: do what the command says
 * @command: a checked command
 */
void polt_command_execute(struct polt_command *command)
{
	polt_command_set_state(command, POLT_COMMAND_EXECUTING);
	if (likely(polt_command_is_io(command))) {
		command->since = local_clock();
		polt_io_execute(command);
		return;
	}
	/* What a host reads back must not be what another one left behind. */
	if (command->to_host && command->data_len)
		polt_command_zero(command, 0, command->data_len);
	INIT_WORK(&command->work, polt_command_admin_work);
	queue_work(polt_admin_wq, &command->work);
}

/**
 * polt_command_has_buffers - go on with a command that has got its data buffers
 * @command: the command
 */
void polt_command_has_buffers(struct polt_command *command)
{
	pol_group_assert_owned(command->queue->group);
	if (command->to_host) {
		polt_command_execute(command);
		return;
	}
	if (command->transfer.kind == POLT_TRANSFER_KEYED) {
		polt_transfer_fetch(command);
		return;
	}
	polt_command_copy_to(command, 0, command->receive->capsule + sizeof(command->sqe) +
			     command->transfer.offset, command->data_len);
	polt_command_drop_receive(command);
	polt_command_execute(command);
}

/* Data that came in the capsule: used where it is when it lies well. */
static void polt_command_take_inline(struct polt_command *command)
{
	struct polt_queue *queue = command->queue;
	void *data = command->receive->capsule + sizeof(command->sqe) + command->transfer.offset;
	u32 alignment = command->namespace ? READ_ONCE(command->namespace->backend->alignment) : 1;
	u32 len = command->data_len;

	queue->in_capsule++;
	queue->bytes_written += len;
	pol_group_count(queue->group, bytes_written, len);
	if (IS_ALIGNED((unsigned long)data, alignment)) {
		command->inline_data = data;
		polt_command_execute(command);
		return;
	}
	polt_buffers_take(command);
}

/* Checks that need no more than the SQE; says how much data the command has to carry. */
static u16 polt_command_check(struct polt_command *command, u32 *len)
{
	struct polt_queue *queue = command->queue;
	const struct nvme_command *sqe = &command->sqe;

	/* Asked here: what comes after Connect in a worker may rely on all that it has set. */
	if (unlikely(!queue->connected && !polt_command_is_connect(command)))
		return NVME_SC_CMD_SEQ_ERROR | NVME_STATUS_DNR;
	if (polt_command_is_fabrics(command)) {
		command->to_host = sqe->fabrics.fctype & POLT_OPCODE_TO_HOST;
		return polt_sqe_check_fabrics(sqe, len);
	}
	command->to_host = sqe->common.opcode & POLT_OPCODE_TO_HOST;
	if (queue->qid)
		return polt_io_check(command, len);
	return polt_sqe_check_admin(sqe, queue->subsystem->discovery, POLT_MDTS_BYTES, len);
}

/* A capsule has become a command: check it and find out what it needs. */
static void polt_command_parse(struct polt_command *command, struct polt_receive *receive)
{
	struct polt_queue *queue = command->queue;
	u32 len = 0;
	u16 status;

	command->receive = receive;
	memcpy(&command->sqe, receive->capsule, sizeof(command->sqe));
	status = polt_sgl_parse(receive->capsule, receive->arrived, POLT_MDTS_BYTES,
				&command->transfer);
	if (command->transfer.kind != POLT_TRANSFER_INLINE || status)
		polt_command_drop_receive(command);
	if (likely(queue->connected))
		polt_ctrl_alive(queue->ctrl);
	if (likely(!status))
		status = polt_command_check(command, &len);
	if (likely(!status) && unlikely(len != command->transfer.len))
		status = NVME_SC_SGL_INVALID_DATA | NVME_STATUS_DNR;
	if (unlikely(status)) {
		polt_command_complete(command, status);
		return;
	}
	/* Answered here, however busy the workers are. */
	if (!queue->qid && command->sqe.common.opcode == nvme_admin_keep_alive) {
		polt_command_complete(command, NVME_SC_SUCCESS);
		return;
	}

	command->data_len = len;
	if (!len)
		polt_command_execute(command);
	else if (command->transfer.kind == POLT_TRANSFER_INLINE)
		polt_command_take_inline(command);
	else
		polt_buffers_take(command);
}

static void polt_command_start(struct polt_queue *queue, struct polt_receive *receive)
{
	struct polt_command *command = list_first_entry(&queue->free_commands,
							struct polt_command, entry);

	list_del_init(&command->entry);
	queue->in_use++;
	if (++queue->sqhd >= queue->sq_entries)
		queue->sqhd = 0;
	command->arrived = pol_group_now(queue->group);
	command->class = POL_LATENCY_OTHER;
	command->status = 0;
	command->data_len = 0;
	command->to_host = false;
	memset(command->cqe, 0, sizeof(*command->cqe));
	polt_command_set_state(command, POLT_COMMAND_RECEIVED);
	polt_command_parse(command, receive);
}

/**
 * polt_command_receive - a capsule has arrived
 * @queue: the queue, connecting or live; its group's thread calls
 * @receive: the capsule, 64 bytes and up
 */
void polt_command_receive(struct polt_queue *queue, struct polt_receive *receive)
{
	u16 limit = likely(queue->connected) ? queue->depth :
					       min_t(u16, queue->depth, POLT_STRANGER_COMMANDS);

	pol_group_assert_owned(queue->group);
	queue->commands_received++;
	if (unlikely(queue->outstanding >= limit)) {
		polt_queue_fail(queue, "more commands than the submission queue holds");
		polt_receive_repost(receive);
		return;
	}
	queue->outstanding++;
	if (unlikely(!polt_queue_is_live(queue) || !list_empty(&queue->early) ||
		     list_empty(&queue->free_commands))) {
		list_add_tail(&receive->entry, &queue->early);
		polt_transfer_reclaim(queue);
		return;
	}
	polt_command_start(queue, receive);
}

/**
 * polt_command_abort - answer a command that waits for buffers with Command Abort Requested
 * @command: a command in state WAITING
 */
void polt_command_abort(struct polt_command *command)
{
	polt_buffers_unwait(command);
	polt_command_complete(command, NVME_SC_ABORT_REQ);
	polt_buffers_serve(command->queue->pair);
}

/**
 * polt_queue_serve - go on with what waited for send credits or a free command
 * @queue: the queue; its group's thread calls
 */
void polt_queue_serve(struct polt_queue *queue)
{
	struct polt_receive *receive;

	pol_group_assert_owned(queue->group);
	/* What is started below may free something and come here again. */
	if (queue->serving)
		return;
	queue->serving = true;
	if (unlikely(!list_empty(&queue->starved)) && polt_queue_is_live(queue))
		polt_transfer_serve_credits(queue);
	while (unlikely(!list_empty(&queue->early)) && polt_queue_is_live(queue) &&
	       !list_empty(&queue->free_commands)) {
		receive = list_first_entry(&queue->early, struct polt_receive, entry);
		list_del_init(&receive->entry);
		polt_command_start(queue, receive);
	}
	queue->serving = false;
}

/**
 * polt_queue_drop - let go of everything that waits
 * @queue: a queue that is being stopped; its group's thread calls
 *
 * What is executing comes back by itself, what is posted is drained.
 */
void polt_queue_drop(struct polt_queue *queue)
{
	struct polt_receive *receive, *next;
	struct polt_command *command;
	unsigned int i;

	pol_group_assert_owned(queue->group);
	list_for_each_entry_safe(receive, next, &queue->early, entry) {
		list_del_init(&receive->entry);
		polt_receive_repost(receive);
	}
	/* Those first: what is released below gives buffers back, to commands of other queues. */
	for (i = 0; i < queue->nr_commands; i++) {
		command = &queue->commands[i];
		if (command->state != POLT_COMMAND_WAITING)
			continue;
		polt_buffers_unwait(command);
		polt_command_release(command);
	}
	while (!list_empty(&queue->starved)) {
		command = list_first_entry(&queue->starved, struct polt_command, entry);
		list_del_init(&command->entry);
		polt_command_release(command);
	}
	polt_buffers_serve(queue->pair);
}

/**
 * polt_queue_drop_posted - let go of commands whose work requests will not complete
 * @queue: a queue whose queue pair has been drained; its group's thread calls
 *
 * They were gathered but not posted.
 */
void polt_queue_drop_posted(struct polt_queue *queue)
{
	struct polt_command *command;

	pol_group_assert_owned(queue->group);
	while (!list_empty(&queue->posted)) {
		command = list_first_entry(&queue->posted, struct polt_command, posted);
		list_del_init(&command->posted);
		polt_command_release(command);
	}
}

/* Data of admin commands */

/* Call @each for the contiguous pieces of [@offset, @offset + @len) of the command's data. */
static u16 polt_command_walk(struct polt_command *command, u32 offset, void *buf, u32 len,
			     void (*each)(void *data, void *buf, u32 len))
{
	unsigned int i, pieces = polt_command_pieces(command);

	if (offset > command->data_len || len > command->data_len - offset)
		return NVME_SC_SGL_INVALID_DATA | NVME_STATUS_DNR;
	for (i = 0; i < pieces && len; i++) {
		u32 have, take;
		void *data = polt_command_piece(command, i, &have);

		if (offset >= have) {
			offset -= have;
			continue;
		}
		take = min(len, have - offset);
		each(data + offset, buf, take);
		if (buf)
			buf += take;
		len -= take;
		offset = 0;
	}
	return NVME_SC_SUCCESS;
}

static void polt_command_put_piece(void *data, void *buf, u32 len)
{
	memcpy(data, buf, len);
}

static void polt_command_get_piece(void *data, void *buf, u32 len)
{
	memcpy(buf, data, len);
}

static void polt_command_zero_piece(void *data, void *buf, u32 len)
{
	memset(data, 0, len);
}

/**
 * polt_command_copy_to - write to a command's data
 * @command: a command that has all its data buffers
 * @offset: where in the data, in bytes
 * @from: what to write
 * @len: its bytes
 *
 * Any context, of whoever has the command: the group's thread, or while it executes a worker.
 *
 * Return: NVMe status: success, or SGL Data Block Length Invalid when the data ends before; then
 * nothing is written.
 */
u16 polt_command_copy_to(struct polt_command *command, u32 offset, const void *from, u32 len)
{
	return polt_command_walk(command, offset, (void *)from, len, polt_command_put_piece);
}

/**
 * polt_command_copy_from - read from a command's data
 * @command: a command that has all its data buffers, or its data in the capsule
 * @offset: where in the data, in bytes
 * @to: where to put it
 * @len: bytes to read
 *
 * Context and return value are those of polt_command_copy_to().
 */
u16 polt_command_copy_from(struct polt_command *command, u32 offset, void *to, u32 len)
{
	return polt_command_walk(command, offset, to, len, polt_command_get_piece);
}

/**
 * polt_command_zero - fill a part of a command's data with zeroes
 * @command: a command that has all its data buffers
 * @offset: where in the data, in bytes
 * @len: bytes to fill
 *
 * Context and return value are those of polt_command_copy_to().
 */
u16 polt_command_zero(struct polt_command *command, u32 offset, u32 len)
{
	return polt_command_walk(command, offset, NULL, len, polt_command_zero_piece);
}
