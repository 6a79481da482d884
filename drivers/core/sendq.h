/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gathers the send work requests of one queue pair during a pass of its poll group and posts them
 * in one ib_post_send() chain: one doorbell instead of one per work request.
 *
 * Owned by the group's thread. Work requests posted here must carry a wr_cqe each, unsignalled ones
 * too, and stay valid until they have been posted (the device copies them then).
 */
#ifndef POL_CORE_SENDQ_H
#define POL_CORE_SENDQ_H

#include <linux/list.h>
#include <rdma/ib_verbs.h>

struct pol_group;

#define POL_SENDQ_FLUSH_WRS	32		/* post when so many are gathered ... */
#define POL_SENDQ_FLUSH_NS	20000		/* ... or when the oldest has waited so long */

/**
 * struct pol_sendq - the gathered work requests of one queue pair
 * @qp: where they go
 * @group: whose thread owns this
 * @touched: link in the group's list while something is gathered
 * @first: head of the chain
 * @tail: where the next one is linked
 * @count: how many are in the chain
 * @closed: nothing more is posted; what is added fails at once
 * @failed: called in the thread for every work request that was not posted (chain from @bad on),
 *	with its wr_cqe untouched; the queue is fatal from here on
 */
struct pol_sendq {
	struct ib_qp *qp;
	struct pol_group *group;
	struct list_head touched;
	struct ib_send_wr *first;
	struct ib_send_wr **tail;
	unsigned int count;
	bool closed;
	void (*failed)(struct pol_sendq *sendq, struct ib_send_wr *bad, int error);
};

void pol_sendq_init(struct pol_sendq *sendq, struct ib_qp *qp, struct pol_group *group,
		    void (*failed)(struct pol_sendq *sendq, struct ib_send_wr *bad, int error));
void pol_sendq_add(struct pol_sendq *sendq, struct ib_send_wr *first, struct ib_send_wr *last,
		   unsigned int count);
void pol_sendq_flush(struct pol_sendq *sendq);
void pol_sendq_close(struct pol_sendq *sendq);

#endif
