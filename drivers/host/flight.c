// SPDX-License-Identifier: GPL-2.0-only
/* Is this response the command's? See flight.h. */
#include "host/flight.h"

/**
 * polh_flight_answer() - hold a response against the command that it names
 * @flight: what polh_flight_tag() leads to, with or without a command
 * @cqe: the response, out of the peer's reach
 * @invalidated: the peer's SEND has invalidated a key
 * @rkey: that key
 *
 * With the first two answers the response has been taken: @flight has status and result, and does
 * not wait for POLH_WAIT_RESPONSE any more, but still for POLH_WAIT_CHECK, which is the caller's to
 * take away. With the others nothing has changed, and the queue is of no use any more.
 *
 * Context: any, also two at a time for one command.
 */
enum polh_verdict polh_flight_answer(struct polh_flight *flight,
				     const struct nvme_completion *cqe,
				     bool invalidated, u32 rkey)
{
	int waiting = atomic_read_acquire(&flight->waiting);
	bool keyed = waiting & POLH_WAIT_INVALIDATE;

	if (unlikely(!(waiting & POLH_WAIT_RESPONSE) || flight->command_id != cqe->command_id))
		return POLH_ANSWER_UNKNOWN;
	if (unlikely(invalidated && (!keyed || rkey != flight->rkey)))
		return POLH_ANSWER_FOREIGN_KEY;
	/* Of two responses to one command, on two CPUs maybe, one gets past here. */
	if (unlikely(!(atomic_fetch_andnot(POLH_WAIT_RESPONSE, &flight->waiting) &
		       POLH_WAIT_RESPONSE)))
		return POLH_ANSWER_UNKNOWN;

	flight->status = cqe->status;
	flight->result = cqe->result;
	return keyed && !invalidated ? POLH_ANSWER_KEY_LEFT : POLH_ANSWER_COMPLETE;
}
