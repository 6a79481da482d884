/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command in flight: what it still waits for, and which response is its.
 *
 * A command ends when it has been posted, its response has arrived and been checked, the peer's key
 * to its pages, if it had one, is void, and the SEND of its capsule has completed, if it asked for
 * a completion. They come in any order, on several CPUs maybe; whoever takes the last one away ends
 * the command.
 *
 * Everything in a response is the peer's word: the identifier must be that of a command in flight
 * that has not been answered, and only the key of that very command may have been invalidated. A
 * peer can guess an identifier and answer before the command has gone out. So nothing is done for a
 * response until the submitter is done with the tag's work requests: the tag does not go to another
 * command, and an invalidation is not posted before the registration that it is for.
 *
 * Nothing here sleeps, locks or allocates: compiled as it is by the unit tests and fuzzers.
 */
#ifndef POLH_FLIGHT_H
#define POLH_FLIGHT_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/nvme.h>
#include <linux/types.h>

/* What a command still waits for: it ends when nothing is left. */
#define POLH_WAIT_SEND		BIT(0)	/* completion of the capsule's SEND */
#define POLH_WAIT_RESPONSE	BIT(1)	/* the response's arrival */
#define POLH_WAIT_CHECK		BIT(2)	/* that the response has been looked at */
#define POLH_WAIT_INVALIDATE	BIT(3)	/* that the peer's key to the data is void */
#define POLH_WAIT_POST		BIT(4)	/* that the submitter has posted it */

/* nvme-core's identifiers: the request's tag, below four bits of a counter of the tag's uses. */
#define POLH_FLIGHT_CID_TAG	GENMASK(11, 0)

/**
 * struct polh_flight - what a response to a command is held against
 * @waiting: POLH_WAIT_*, 0 while there is no command
 * @command_id: of the command, generation included
 * @status: from the response, as on the wire
 * @rkey: the peer's key to the command's own pages, while POLH_WAIT_INVALIDATE is set
 * @result: from the response
 *
 * Until polh_flight_begin() the submitter owns it, from then on whoever takes something away.
 */
struct polh_flight {
	atomic_t waiting;
	u16 command_id;
	__le16 status;
	u32 rkey;
	union nvme_result result;
};

/**
 * enum polh_verdict - what a response is
 * @POLH_ANSWER_COMPLETE: the command's; the peer has no key to its pages
 * @POLH_ANSWER_KEY_LEFT: the command's; the peer's key is still valid
 * @POLH_ANSWER_UNKNOWN: to a command that is not in flight
 * @POLH_ANSWER_FOREIGN_KEY: came with a key invalidated that is not the command's
 */
enum polh_verdict {
	POLH_ANSWER_COMPLETE,
	POLH_ANSWER_KEY_LEFT,
	POLH_ANSWER_UNKNOWN,
	POLH_ANSWER_FOREIGN_KEY,
};

/**
 * enum polh_flight_next - what there is to do when something that a command waited for is over
 * @POLH_FLIGHT_WAIT: nothing, others come
 * @POLH_FLIGHT_REVOKE: make the peer's key void: it has been left valid
 * @POLH_FLIGHT_END: end the command, it waits for nothing any more
 */
enum polh_flight_next {
	POLH_FLIGHT_WAIT,
	POLH_FLIGHT_REVOKE,
	POLH_FLIGHT_END,
};

/**
 * polh_flight_tag() - which tag a response names
 * @cqe: the response, out of the peer's reach
 * @nr_tags: tags that the queue has
 *
 * Context: any.
 * Return: 0 to @nr_tags - 1; -1 when the queue has no such tag.
 */
static inline int polh_flight_tag(const struct nvme_completion *cqe, unsigned int nr_tags)
{
	unsigned int tag = cqe->command_id & POLH_FLIGHT_CID_TAG;

	return tag < nr_tags ? tag : -1;
}

/**
 * polh_flight_begin() - a command is about to be posted
 * @flight: the tag's; everything else in it is filled in
 * @waiting: POLH_WAIT_* that it waits for, besides POLH_WAIT_POST
 *
 * From here on a response may come, on any CPU.
 *
 * Context: any.
 */
static inline void polh_flight_begin(struct polh_flight *flight, int waiting)
{
	atomic_set_release(&flight->waiting, waiting | POLH_WAIT_POST);
}

/**
 * polh_flight_done() - something that a command waited for is over
 * @flight: the tag's
 * @what: POLH_WAIT_*; what the command did not wait for has no effect
 *
 * Of all callers one is told to end the command, and one at most, before that, to revoke the key:
 * whoever is last of the post and a check that left POLH_WAIT_INVALIDATE.
 *
 * Context: any, several at a time for one command. Fully ordered.
 * Return: what the caller has to do.
 */
static inline enum polh_flight_next polh_flight_done(struct polh_flight *flight, int what)
{
	int before = atomic_fetch_andnot(what, &flight->waiting);
	int over = before & what, left = before & ~what;

	if (!over)
		return POLH_FLIGHT_WAIT;
	if (!left)
		return POLH_FLIGHT_END;
	if ((over & (POLH_WAIT_POST | POLH_WAIT_CHECK)) && (left & POLH_WAIT_INVALIDATE) &&
	    !(left & (POLH_WAIT_POST | POLH_WAIT_CHECK)))
		return POLH_FLIGHT_REVOKE;
	return POLH_FLIGHT_WAIT;
}

enum polh_verdict polh_flight_answer(struct polh_flight *flight,
				     const struct nvme_completion *cqe,
				     bool invalidated, u32 rkey);

#endif
