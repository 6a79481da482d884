// SPDX-License-Identifier: GPL-2.0-only
/* 6.13, and stable kernels: lists of requests have a type of their own. */
#include <linux/blk-mq.h>

static void probe(struct rq_list *list)
{
	rq_list_pop(list);
}

const struct blk_mq_ops ops = { .queue_rqs = probe };
