// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much of this machine hosts may take by connecting.
 *
 * Before a Fabrics Connect nothing is known of a host, so few connections may be at that stage at a
 * time, of one address fewer still, and not for long (POLT_CONNECT_TIMEOUT_S). Afterwards a host
 * that is allowed to connect may still do so again and again: the memory of all queues together has
 * a limit. What a queue takes is known when it is made and does not grow later. Data buffers are
 * the groups', whatever hosts do; those that a group gets besides, for the number of its queues, or
 * that a disk keeps when all connections have gone, count as theirs. The discovery service lets
 * everybody in, so of its controllers there is only a number.
 *
 * Two counters, of any context; who owns a queue's share is the queue.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <net/ipv6.h>

#include "target/receive.h"

static atomic_t polt_admission_pending = ATOMIC_INIT(0);
static atomic64_t polt_admission_bytes = ATOMIC64_INIT(0);

static unsigned int queue_memory_max_mb;
module_param(queue_memory_max_mb, uint, 0644);
MODULE_PARM_DESC(queue_memory_max_mb,
		 "memory of all queues of hosts together, in MiB (default 0: a quarter of the machine's)");

static u64 polt_admission_limit(void)
{
	unsigned int mb = READ_ONCE(queue_memory_max_mb);

	return mb ? (u64)mb << 20 : (u64)totalram_pages() * PAGE_SIZE / 4;
}

static bool polt_admission_same_host(const struct sockaddr_storage *a,
				     const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET6)
		return ipv6_addr_equal(&((const struct sockaddr_in6 *)a)->sin6_addr,
				       &((const struct sockaddr_in6 *)b)->sin6_addr);
	return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
	       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
}

struct polt_admission_count {
	const struct sockaddr_storage *host;
	int flag;
	unsigned int of_host;
	unsigned int all;
};

static int polt_admission_count_one(struct polt_queue *queue, void *arg)
{
	struct polt_admission_count *count = arg;

	if (test_bit(count->flag, &queue->flags)) {
		count->all++;
		count->of_host += polt_admission_same_host(&queue->host, count->host);
	}
	return 0;
}

/* Queues with a flag set. Some more get through when several ask at the same moment. */
static struct polt_admission_count polt_admission_count(const struct sockaddr_storage *host,
							int flag)
{
	struct polt_admission_count count = { .host = host, .flag = flag };

	polt_queue_for_each(polt_admission_count_one, &count);
	return count;
}

/**
 * polt_admission_discover - may this queue be the admin queue of one more discovery controller?
 * @queue: a queue that is not connected yet; process context
 *
 * Return: whether it may; it is counted until it is freed.
 */
bool polt_admission_discover(struct polt_queue *queue)
{
	struct polt_admission_count count;

	count = polt_admission_count(&queue->host, POLT_QUEUE_DISCOVERY);
	if (count.of_host >= POLT_DISCOVERY_HOST_MAX || count.all >= POLT_DISCOVERY_MAX)
		return false;
	set_bit(POLT_QUEUE_DISCOVERY, &queue->flags);
	return true;
}

/**
 * polt_admission_take_memory - may hosts cause this much memory to be taken?
 * @bytes: how much. Any context
 *
 * Return: 0, to be given back with polt_admission_give_memory(), or -EBUSY.
 */
int polt_admission_take_memory(u64 bytes)
{
	if (atomic64_add_return(bytes, &polt_admission_bytes) <= polt_admission_limit())
		return 0;
	polt_admission_give_memory(bytes);
	return -EBUSY;
}

/**
 * polt_admission_add_memory - memory that is there already counts as taken by hosts from now on
 * @bytes: how much, to be given back with polt_admission_give_memory(). Any context
 */
void polt_admission_add_memory(u64 bytes)
{
	atomic64_add(bytes, &polt_admission_bytes);
}

/**
 * polt_admission_give_memory - memory that hosts have caused to be taken is free
 * @bytes: how much; 0 does nothing. Any context
 */
void polt_admission_give_memory(u64 bytes)
{
	atomic64_sub(bytes, &polt_admission_bytes);
}

/*
 * What a queue takes: its own objects, and about what the RDMA device needs for its work requests
 * (the largest part of what is not ours; a header and the gather list of each).
 */
static u64 polt_admission_queue_bytes(const struct polt_queue *queue)
{
	size_t send_wr = sizeof(struct ib_rdma_wr) + queue->max_sge * sizeof(struct ib_sge);

	return sizeof(*queue) + (u64)queue->nr_commands * sizeof(struct polt_command) +
	       polt_queue_responses_len(queue) +
	       polt_receive_bytes(queue->cm_id->device, queue->inline_size, queue->nr_receives) +
	       (u64)(queue->max_credits + 1) * send_wr;
}

/**
 * polt_admission_take - may this queue be made?
 * @queue: a queue with its limits set; process context
 *
 * Counts it as one whose host has not shown yet that it means it.
 *
 * Return: 0, to be given back with polt_admission_give(), or -EBUSY.
 */
int polt_admission_take(struct polt_queue *queue)
{
	u64 bytes = polt_admission_queue_bytes(queue);

	if (polt_admission_count(&queue->host, POLT_QUEUE_PENDING).of_host >= POLT_PENDING_HOST_MAX)
		return -EBUSY;
	if (atomic_inc_return(&polt_admission_pending) > POLT_PENDING_MAX)
		goto err_pending;
	if (polt_admission_take_memory(bytes))
		goto err_pending;
	queue->admitted_bytes = bytes;
	set_bit(POLT_QUEUE_PENDING, &queue->flags);
	return 0;

err_pending:
	atomic_dec(&polt_admission_pending);
	return -EBUSY;
}

/**
 * polt_admission_connected - the host has been let in, or never will be
 * @queue: a queue that was admitted. Any context; the first call counts
 */
void polt_admission_connected(struct polt_queue *queue)
{
	if (test_and_clear_bit(POLT_QUEUE_PENDING, &queue->flags))
		atomic_dec(&polt_admission_pending);
}

/**
 * polt_admission_give - the memory of a queue is being freed
 * @queue: a queue that was admitted
 */
void polt_admission_give(struct polt_queue *queue)
{
	polt_admission_connected(queue);
	polt_admission_give_memory(queue->admitted_bytes);
}
