// SPDX-License-Identifier: GPL-2.0-only
/* 6.11: what a queue can do is in its limits. */
#include <linux/blkdev.h>

bool probe(struct request_queue *q)
{
	return q->limits.features & BLK_FEAT_POLL;
}
