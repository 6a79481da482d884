// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data buffers of commands: who gets them when there are not enough.
 *
 * A command takes all its buffers or none. Its queue has to be entitled to them (share.h): up to
 * one longest transfer, and a number of small ones, always, and more as long as that leaves the
 * other queues of the pair theirs. What it may not have now waits in the queue's own list, first
 * come first served; the queues with such commands take turns when buffers come back. So no queue
 * waits for what another one's host or disk does not return.
 *
 * Everything here runs in the thread of the queue's group.
 */
#include "target/receive.h"

static unsigned int polt_buffers_size(const struct polt_command *command)
{
	return command->data_len <= POL_BUFFER_SMALL ? POLT_BUFFERS_SMALL : POLT_BUFFERS_LARGE;
}

/* All the command needs, if its queue may have it. */
static bool polt_buffers_try(struct polt_command *command)
{
	struct polt_queue *queue = command->queue;
	struct polt_pair *pair = queue->pair;
	unsigned int size = polt_buffers_size(command);
	unsigned int wanted = pol_pool_buffers_for(command->data_len);
	bool contended = pair->nr_waiting > !list_empty(&queue->held);

	pol_group_assert_owned(pair->group);
	if (!polt_share_claim(&pair->shares[size], &pair->members, &queue->claimed[size], wanted,
			      contended))
		return false;
	if (WARN_ON_ONCE(pol_pool_take(pair->pool, command->data_len, command->buffers,
				       POLT_COMMAND_BUFFERS) != wanted)) {
		polt_share_release(&pair->shares[size], &queue->claimed[size], wanted);
		return false;
	}
	command->nr_buffers = wanted;
	return true;
}

/**
 * polt_buffers_take - go on with polt_command_has_buffers() when there are buffers
 * @command: a command with data_len set
 */
void polt_buffers_take(struct polt_command *command)
{
	struct polt_queue *queue = command->queue;
	struct polt_pair *pair = queue->pair;

	pol_group_assert_owned(pair->group);
	if (likely(list_empty(&queue->held) && polt_buffers_try(command))) {
		polt_command_has_buffers(command);
		return;
	}
	if (list_empty(&queue->held)) {
		list_add_tail(&queue->waiting_entry, &pair->waiting);
		pair->nr_waiting++;
	}
	list_add_tail(&command->entry, &queue->held);
	polt_command_set_state(command, POLT_COMMAND_WAITING);
	command->since = pol_group_now(queue->group);
	queue->buffer_waits++;
	polt_transfer_reclaim(queue);
}

/**
 * polt_buffers_unwait - take back a command that waits for buffers
 * @command: a command in state WAITING; others may be served now (polt_buffers_serve())
 */
void polt_buffers_unwait(struct polt_command *command)
{
	struct polt_queue *queue = command->queue;

	pol_group_assert_owned(queue->group);
	list_del_init(&command->entry);
	if (list_empty(&queue->held)) {
		list_del_init(&queue->waiting_entry);
		queue->pair->nr_waiting--;
	}
}

/**
 * polt_buffers_serve - give commands that wait what has become free, one queue after the other
 * @pair: the pair
 */
void polt_buffers_serve(struct polt_pair *pair)
{
	unsigned int left = pair->nr_waiting;
	struct polt_command *command;
	struct polt_queue *queue;

	pol_group_assert_owned(pair->group);
	/* What is started below may give buffers back and come here again. */
	if (pair->serving)
		return;
	pair->serving = true;
	while (left && !list_empty(&pair->waiting)) {
		queue = list_first_entry(&pair->waiting, struct polt_queue, waiting_entry);
		list_move_tail(&queue->waiting_entry, &pair->waiting);
		command = list_first_entry(&queue->held, struct polt_command, entry);
		if (!polt_buffers_try(command)) {
			left--;
			continue;
		}
		polt_buffers_unwait(command);
		pol_latency_add(pair->group, command->class, POL_LATENCY_QUEUED,
				pol_group_now(pair->group) - command->since);
		polt_command_has_buffers(command);
		left = pair->nr_waiting;
	}
	pair->serving = false;
}

/**
 * polt_buffers_give - the data of a command is not needed any more
 * @command: a command, with buffers or without
 */
void polt_buffers_give(struct polt_command *command)
{
	struct polt_queue *queue = command->queue;
	struct polt_pair *pair = queue->pair;
	unsigned int size = polt_buffers_size(command);

	pol_group_assert_owned(pair->group);
	if (!command->nr_buffers)
		return;
	pol_pool_give(pair->pool, command->buffers, command->nr_buffers);
	polt_share_release(&pair->shares[size], &queue->claimed[size], command->nr_buffers);
	command->nr_buffers = 0;
	polt_buffers_serve(pair);
}
