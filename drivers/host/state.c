// SPDX-License-Identifier: GPL-2.0-only
/*
 * How far a queue is: the arrows of the picture in host.h, and those of rdma_cm. Whoever takes a
 * queue further does so here, where a DEBUG build looks whether there is such an arrow.
 *
 * The state is kept as flags, since the I/O path asks for one of them at a time; they change in one
 * step.
 */
#include "host/host.h"

#define POLH_STATE_FLAGS	(BIT(POLH_QUEUE_CONNECTED) | BIT(POLH_QUEUE_LIVE) | \
				 BIT(POLH_QUEUE_STOPPING) | BIT(POLH_QUEUE_LEFT_OUT))

static const unsigned long polh_state_flags[POLH_STATES] = {
	[POLH_STATE_IDLE] = 0,
	[POLH_STATE_CONNECTED] = BIT(POLH_QUEUE_CONNECTED),
	[POLH_STATE_LIVE] = BIT(POLH_QUEUE_CONNECTED) | BIT(POLH_QUEUE_LIVE),
	[POLH_STATE_STOPPING] = BIT(POLH_QUEUE_STOPPING),
	[POLH_STATE_LEFT_OUT] = BIT(POLH_QUEUE_LEFT_OUT),
};

/* May a queue that had such flags be in that state now? */
static bool polh_state_may_follow(unsigned long flags, enum polh_state state)
{
	static const u8 allowed[] = {
		/* polh_request_refuse() may have taken "left out" back. */
		[POLH_STATE_IDLE] = BIT(POLH_STATE_IDLE) | BIT(POLH_STATE_CONNECTED) |
				    BIT(POLH_STATE_LEFT_OUT),
		[POLH_STATE_CONNECTED] = BIT(POLH_STATE_LIVE) | BIT(POLH_STATE_STOPPING) |
					 BIT(POLH_STATE_IDLE),
		[POLH_STATE_LIVE] = BIT(POLH_STATE_STOPPING),
		[POLH_STATE_STOPPING] = BIT(POLH_STATE_IDLE),
		[POLH_STATE_LEFT_OUT] = BIT(POLH_STATE_IDLE),
	};

	for (unsigned int i = 0; i < POLH_STATES; i++)
		if (polh_state_flags[i] == (flags & POLH_STATE_FLAGS))
			return pol_state_may(allowed, i, state);
	return false;
}

/**
 * polh_state_set() - take a queue one arrow further
 * @queue: the queue
 * @state: where to
 *
 * Context: process context, under the controller's lock. Fully ordered.
 */
void polh_state_set(struct polh_queue *queue, enum polh_state state)
{
	unsigned long old;

	lockdep_assert_held(&queue->ctrl->lock);
	old = set_mask_bits(&queue->flags, POLH_STATE_FLAGS, polh_state_flags[state]);
	pol_debug_assert(polh_state_may_follow(old, state));
}

/**
 * polh_state_go_live() - the Connect command of a queue has been accepted
 * @queue: the queue
 *
 * Context: process context, takes the controller's lock.
 * Return: 0, or -ECONNRESET when it has been stopped since.
 */
int polh_state_go_live(struct polh_queue *queue)
{
	struct polh_ctrl *ctrl = queue->ctrl;
	int err = -ECONNRESET;

	mutex_lock(&ctrl->lock);
	if (test_bit(POLH_QUEUE_CONNECTED, &queue->flags)) {
		polh_state_set(queue, POLH_STATE_LIVE);
		err = 0;
	}
	mutex_unlock(&ctrl->lock);
	return err;
}

/**
 * polh_state_set_phase() - rdma_cm has taken a queue further, or its identifier is gone
 * @queue: the queue
 * @phase: how far it is
 *
 * Context: the CM handler, of which there is one at a time; or process context, once there is no
 * identifier.
 */
void polh_state_set_phase(struct polh_queue *queue, enum polh_cm_phase phase)
{
	static const u8 allowed[] = {
		[POLH_CM_IDLE] = BIT(POLH_CM_ADDRESS) | BIT(POLH_CM_IDLE),
		[POLH_CM_ADDRESS] = BIT(POLH_CM_ROUTE) | BIT(POLH_CM_IDLE),
		[POLH_CM_ROUTE] = BIT(POLH_CM_ESTABLISHED) | BIT(POLH_CM_IDLE),
		[POLH_CM_ESTABLISHED] = BIT(POLH_CM_IDLE),
	};

	pol_debug_assert(pol_state_may(allowed, queue->cm_phase, phase));
	WRITE_ONCE(queue->cm_phase, phase);
}
