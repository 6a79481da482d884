/* SPDX-License-Identifier: GPL-2.0-only */
/* The block layer as a blk-mq driver sees it. */
#ifndef POL_COMPAT_BLK_MQ_H
#define POL_COMPAT_BLK_MQ_H

#include <linux/blk-mq.h>
#include "compat/compat_config.h"

/* The last argument of blk_mq_ops.init_request. */
#ifdef POL_HAVE_INIT_REQUEST_INT_NODE
typedef int pol_compat_node_t;
#else
typedef unsigned int pol_compat_node_t;
#endif

/* A list of requests, which ->queue_rqs is given a pointer to. */
#ifdef POL_HAVE_RQ_LIST
typedef struct rq_list pol_compat_rq_list;
#else
typedef struct request *pol_compat_rq_list;
#endif

/* Take the first request off a list. Return: NULL when it is empty. */
static inline struct request *pol_compat_rq_list_pop(pol_compat_rq_list *list)
{
	return rq_list_pop(list);
}

/**
 * pol_compat_rq_list_restore - put requests that were taken back in front of a list
 * @list: the list, as ->queue_rqs was given it
 * @taken: requests in the order in which they were popped
 * @count: their number
 *
 * The caller of ->queue_rqs submits one by one what it finds in the list afterwards.
 */
static inline void pol_compat_rq_list_restore(pol_compat_rq_list *list, struct request **taken,
					      unsigned int count)
{
	while (count--)
#ifdef POL_HAVE_RQ_LIST
		rq_list_add_head(list, taken[count]);
#else
		rq_list_add(list, taken[count]);
#endif
}

/**
 * pol_compat_rq_map_sg - fill a scatter list with a request's data
 * @rq: request
 * @sg: initialised list with room for blk_rq_nr_phys_segments() entries
 *
 * Return: number of entries used.
 */
static inline int pol_compat_rq_map_sg(struct request *rq, struct scatterlist *sg)
{
#ifdef POL_HAVE_RQ_MAP_SG_TWO_ARGS
	return blk_rq_map_sg(rq, sg);
#else
	return blk_rq_map_sg(rq->q, rq, sg);
#endif
}

#endif
