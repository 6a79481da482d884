// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receive buffers, and the (group, device) pair that owns them.
 *
 * Receives of all queues of a pair sit in one shared receive queue, so memory grows with what hosts
 * may have outstanding, not with the number of queues times the worst case; a completion's queue is
 * found by looking its queue pair up in the pair's table, and one that is not there any more (or
 * not yet) costs nothing but posting the buffer again. A shared receive queue always has as many
 * receives as all of its queues together may have commands, so that no host can take those of
 * another; when it cannot grow any more, the next queue gets another pair. Where there is no SRQ
 * (the device has none, or it is soft-RoCE, or use_srq says so) every queue has receives of its
 * own, and everything else is the same.
 *
 * polt_pairs_lock guards the list of pairs and what they hold for their queues. What the group's
 * thread uses of a pair is told apart in receive.h.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "target/receive.h"

static LIST_HEAD(polt_pairs);
static DEFINE_MUTEX(polt_pairs_lock);
DECLARE_WAIT_QUEUE_HEAD(polt_pairs_wait);	/* a pair has gone ... */
unsigned int polt_pairs_gone;			/* ... so many so far; polt_pairs_lock to write */

static unsigned int small_buffers = 1024;
module_param(small_buffers, uint, 0644);
MODULE_PARM_DESC(small_buffers, "8 KiB data buffers of a poll group on a device (default 1024, at least 32)");

static unsigned int large_buffers = 128;
module_param(large_buffers, uint, 0644);
MODULE_PARM_DESC(large_buffers, "128 KiB data buffers of a poll group on a device (default 128, at least 8)");

static int use_srq = -1;
module_param(use_srq, int, 0644);
MODULE_PARM_DESC(use_srq,
		 "queues share receive buffers: 1, 0, or -1: except on soft-RoCE (default -1)");

#define POLT_RECEIVE_REGION	SZ_128K		/* memory allocated at a time */
#define POLT_BUFFERS_MAX	65536U
#define POLT_SHARE_SMALL	32U	/* a queue can always have this part of the small ones */

static struct hlist_head *polt_pair_bucket(struct polt_pair *pair, const struct ib_qp *qp)
{
	return &pair->queues[hash_ptr(qp, POLT_PAIR_HASH_BITS)];
}

/* The queue of a queue pair, which may have been destroyed: it is only compared. */
static struct polt_queue *polt_pair_find(struct polt_pair *pair, const struct ib_qp *qp)
{
	struct polt_queue *queue;

	pol_group_assert_owned(pair->group);
	hlist_for_each_entry(queue, polt_pair_bucket(pair, qp), pair_entry)
		if (queue->qp == qp)
			return queue;
	return NULL;
}

/**
 * polt_pair_attach - have a queue's completions found
 * @pair: the pair; its group's thread calls
 * @queue: a queue whose queue pair has been made
 */
void polt_pair_attach(struct polt_pair *pair, struct polt_queue *queue)
{
	pol_group_assert_owned(pair->group);
	hlist_add_head(&queue->pair_entry, polt_pair_bucket(pair, queue->qp));
}

/**
 * polt_pair_detach - completions of a queue are not to be found any more
 * @pair: the pair; its group's thread calls
 * @queue: an attached queue
 */
void polt_pair_detach(struct polt_pair *pair, struct polt_queue *queue)
{
	pol_group_assert_owned(pair->group);
	hlist_del_init(&queue->pair_entry);
}

static int polt_receive_post(struct polt_receive *receive)
{
	struct polt_queue *queue = receive->queue;

	pol_mem_sync_for_device(receive->region, receive->offset, receive->sge.length);
	pol_group_count(receive->pair->group, receive_posts, 1);
	if (queue)
		return ib_post_recv(queue->qp, &receive->wr, NULL);
	return ib_post_srq_recv(receive->pair->srq, &receive->wr, NULL);
}

/**
 * polt_receive_repost - have a buffer receive another capsule
 * @receive: a buffer nobody looks at any more; the group's thread calls
 *
 * Does nothing once what it was posted to is about to go.
 */
void polt_receive_repost(struct polt_receive *receive)
{
	struct polt_pair *pair = receive->pair;
	struct polt_queue *queue = receive->queue;
	int error;

	pol_group_assert_owned(pair->group);
	if (queue ? queue->state >= POLT_QUEUE_DRAINING : pair->closed)
		return;
	list_add_tail(&receive->entry, &pair->spare);
	while (!list_empty(&pair->spare)) {
		receive = list_first_entry(&pair->spare, struct polt_receive, entry);
		error = polt_receive_post(receive);
		if (unlikely(error)) {
			pr_warn_ratelimited("%s: receive buffer not taken: %d\n",
					    pair->device->name, error);
			if (!receive->queue)
				break;
			polt_queue_fail(receive->queue, "receive buffer not taken");
		}
		list_del_init(&receive->entry);
	}
}

/*
 * A receive has failed. One of a shared receive queue does not say whose it was, and a device need
 * not say anything else about the queue pair: ask all of them.
 */
static void polt_receive_failed(struct polt_receive *receive, enum ib_wc_status status)
{
	struct polt_pair *pair = receive->pair;
	struct polt_queue *queue;
	unsigned int i;

	if (receive->queue) {
		polt_queue_fail_wc(receive->queue, status);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(pair->queues); i++)
		hlist_for_each_entry(queue, &pair->queues[i], pair_entry)
			polt_transfer_doubt(queue);
}

static void polt_receive_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct polt_receive *receive = container_of(wc->wr_cqe, struct polt_receive, cqe);
	struct polt_pair *pair = receive->pair;
	struct polt_queue *queue;

	pol_group_assert_owned(pair->group);
	/* In an error nothing but wr_cqe and status is valid. */
	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		polt_receive_failed(receive, wc->status);
		/* A queue pair in error would only return it once more. */
		if (!receive->queue)
			polt_receive_repost(receive);
		return;
	}

	pol_group_count(pair->group, receives, 1);
	queue = polt_pair_find(pair, wc->qp);
	if (unlikely(!queue || queue->state > POLT_QUEUE_LIVE)) {
		polt_receive_repost(receive);
		return;
	}
	receive->arrived = wc->byte_len;
	if (unlikely(wc->opcode != IB_WC_RECV || receive->arrived < sizeof(struct nvme_command) ||
		     receive->arrived > receive->sge.length)) {
		polt_queue_fail(queue, "not a command capsule");
		polt_receive_repost(receive);
		return;
	}
	pol_mem_sync_for_cpu(receive->region, receive->offset, receive->arrived);
	polt_command_receive(queue, receive);
}

static size_t polt_receive_stride(u32 inline_size)
{
	return ALIGN(POLT_RECEIVE_ALIGN + inline_size, POLT_RECEIVE_ALIGN);
}

/* The region for so many buffers, or for as many of them as fit. */
static size_t polt_receive_region_len(struct ib_device *ib, size_t stride, unsigned int wanted)
{
	return min3(roundup_pow_of_two(max_t(size_t, PAGE_SIZE, wanted * stride)),
		    pol_region_max(ib), (size_t)POLT_RECEIVE_REGION);
}

/**
 * polt_receive_bytes - what receive buffers take of memory
 * @ib: the device they are for
 * @inline_size: bytes of in-capsule data each has room for
 * @count: how many
 */
size_t polt_receive_bytes(struct ib_device *ib, u32 inline_size, unsigned int count)
{
	size_t stride = polt_receive_stride(inline_size);
	size_t bytes = count * sizeof(struct polt_receive);

	while (count) {
		size_t len = polt_receive_region_len(ib, stride, count);

		bytes += sizeof(struct polt_receive_chunk) + len;
		/* Where not even one fits, none will be made. */
		count -= min_t(size_t, count, max_t(size_t, len / stride, 1));
	}
	return bytes;
}

static struct polt_receive_chunk *polt_receive_chunk_alloc(struct polt_pair *pair,
							   struct polt_queue *queue,
							   unsigned int wanted)
{
	size_t stride = polt_receive_stride(pair->inline_size);
	size_t len = polt_receive_region_len(pair->device->ib, stride, wanted);
	unsigned int count = min_t(size_t, wanted, len / stride);
	struct polt_receive_chunk *chunk;
	unsigned int i;

	if (!count)
		return NULL;
	chunk = kvzalloc_node(struct_size(chunk, receives, count), GFP_KERNEL, pair->group->node);
	if (!chunk)
		return NULL;
	if (pol_region_alloc(&chunk->region, pair->device->ib, pair->group->node, len)) {
		kvfree(chunk);
		return NULL;
	}
	chunk->count = count;
	for (i = 0; i < count; i++) {
		struct polt_receive *receive = &chunk->receives[i];

		receive->pair = pair;
		receive->queue = queue;
		receive->region = &chunk->region;
		receive->offset = i * stride + POLT_RECEIVE_OFFSET;
		receive->capsule = chunk->region.virt + receive->offset;
		receive->cqe.done = polt_receive_done;
		receive->sge.addr = chunk->region.dma + receive->offset;
		receive->sge.length = sizeof(struct nvme_command) + pair->inline_size;
		receive->sge.lkey = pair->pd->local_dma_lkey;
		receive->wr.wr_cqe = &receive->cqe;
		receive->wr.sg_list = &receive->sge;
		receive->wr.num_sge = 1;
		INIT_LIST_HEAD(&receive->entry);
	}
	return chunk;
}

/**
 * polt_receives_alloc - allocate receive buffers
 * @chunks: list they are added to
 * @pair: what they belong to
 * @queue: without SRQ, the queue they will be posted to; else NULL
 * @count: how many
 *
 * Process context. Return: 0, or -ENOMEM, @chunks is then as before.
 */
int polt_receives_alloc(struct list_head *chunks, struct polt_pair *pair,
			struct polt_queue *queue, unsigned int count)
{
	struct polt_receive_chunk *chunk;
	LIST_HEAD(new);

	while (count) {
		chunk = polt_receive_chunk_alloc(pair, queue, count);
		if (!chunk) {
			polt_receives_free(&new);
			return -ENOMEM;
		}
		list_add_tail(&chunk->entry, &new);
		count -= chunk->count;
	}
	list_splice_tail(&new, chunks);
	return 0;
}

/**
 * polt_receives_unmap - take receive buffers away from the device
 * @chunks: buffers that are in no receive queue any more. The pages stay
 */
void polt_receives_unmap(struct list_head *chunks)
{
	struct polt_receive_chunk *chunk;

	list_for_each_entry(chunk, chunks, entry)
		pol_region_unmap(&chunk->region);
}

/**
 * polt_receives_free - free receive buffers
 * @chunks: buffers that nobody uses. Process context
 */
void polt_receives_free(struct list_head *chunks)
{
	struct polt_receive_chunk *chunk, *next;

	list_for_each_entry_safe(chunk, next, chunks, entry) {
		list_del(&chunk->entry);
		pol_region_free(&chunk->region);
		kvfree(chunk);
	}
}

/**
 * polt_receives_post - post new receive buffers
 * @chunks: buffers as allocated; the group's thread calls
 */
void polt_receives_post(struct list_head *chunks)
{
	struct polt_receive_chunk *chunk;
	unsigned int i;

	list_for_each_entry(chunk, chunks, entry)
		for (i = 0; i < chunk->count; i++)
			polt_receive_repost(&chunk->receives[i]);
}

static void polt_pair_post_new(struct pol_group *group, void *arg)
{
	polt_receives_post(arg);
}

/* As many receives in the SRQ as its queues may need. */
static int polt_pair_grow(struct polt_pair *pair)
{
	LIST_HEAD(new);
	int error;

	if (!pair->srq || pair->wanted <= pair->nr_receives)
		return 0;
	error = polt_receives_alloc(&new, pair, NULL, pair->wanted - pair->nr_receives);
	if (error)
		return error;
	pair->nr_receives = pair->wanted;
	pol_group_call(pair->group, polt_pair_post_new, &new);
	list_splice_tail(&new, &pair->chunks);
	return 0;
}

/*
 * soft-RoCE loses the receive of a shared receive queue when a queue pair ends in the middle of a
 * SEND: nobody completes it. Whoever may connect could so take away all of them, one by one.
 */
static bool polt_pair_wants_srq(const struct ib_device *ib)
{
	int use = READ_ONCE(use_srq);

	return use < 0 ? ib->ops.driver_id != RDMA_DRIVER_RXE : use;
}

static int polt_pair_create_srq(struct polt_pair *pair)
{
	const struct ib_device_attr *attrs = &pair->device->ib->attrs;
	struct ib_srq_init_attr init = {
		.srq_type = IB_SRQT_BASIC,
		.attr.max_sge = 1,
	};
	struct ib_srq *srq;

	/* One that has not even room for the longest queue is not worth having. */
	if (!attrs->max_srq || attrs->max_srq_wr < POLT_DEPTH_MAX + POLT_RECEIVE_SPARE ||
	    !polt_pair_wants_srq(pair->device->ib))
		return 0;
	init.attr.max_wr = min_t(unsigned int, attrs->max_srq_wr, POLT_SRQ_MAX);
	srq = ib_create_srq(pair->pd, &init);
	if (IS_ERR(srq))
		return PTR_ERR(srq);
	pair->srq = srq;
	/* The device may have made it larger. */
	pair->srq_size = min(init.attr.max_wr, POLT_SRQ_MAX);
	return 0;
}

/*
 * @another: there is one already of this group, device and in-capsule size; then it is hosts who
 * cause its memory to be taken, and it counts as theirs.
 */
static struct polt_pair *polt_pair_create(struct pol_group *group, struct pol_device *device,
					  u32 inline_size, bool another)
{
	unsigned int nr_small = clamp(READ_ONCE(small_buffers), POLT_SHARE_SMALL, POLT_BUFFERS_MAX);
	unsigned int nr_large = clamp(READ_ONCE(large_buffers), (unsigned int)POLT_COMMAND_BUFFERS,
				      POLT_BUFFERS_MAX);
	struct polt_pair *pair;
	unsigned int i;
	int error;

	pair = kvzalloc_node(sizeof(*pair), GFP_KERNEL, group->node);
	if (!pair)
		return ERR_PTR(-ENOMEM);
	pair->group = group;
	pair->device = device;
	pair->inline_size = inline_size;
	kref_init(&pair->ref);
	INIT_LIST_HEAD(&pair->waiting);
	INIT_LIST_HEAD(&pair->spare);
	INIT_LIST_HEAD(&pair->chunks);
	for (i = 0; i < POLT_PAIR_LANES; i++)
		INIT_LIST_HEAD(&pair->lanes[i].commands);

	if (another) {
		pair->admitted_bytes = (u64)nr_small * POL_BUFFER_SMALL +
				       (u64)nr_large * POL_BUFFER_LARGE;
		error = polt_admission_take_memory(pair->admitted_bytes);
		if (error)
			goto err_admission;
	}
	pair->pd = ib_alloc_pd(device->ib, 0);
	if (IS_ERR(pair->pd)) {
		error = PTR_ERR(pair->pd);
		goto err_pd;
	}
	error = polt_pair_create_srq(pair);
	if (error)
		goto err_srq;
	polt_share_init(&pair->shares[POLT_BUFFERS_SMALL], nr_small,
			nr_small / POLT_SHARE_SMALL);
	polt_share_init(&pair->shares[POLT_BUFFERS_LARGE], nr_large, POLT_COMMAND_BUFFERS);
	pair->pool = pol_pool_create(device->ib, group, nr_small, nr_large);
	if (IS_ERR(pair->pool)) {
		error = PTR_ERR(pair->pool);
		goto err_pool;
	}
	return pair;

err_pool:
	if (pair->srq)
		ib_destroy_srq(pair->srq);
err_srq:
	ib_dealloc_pd(pair->pd);
err_pd:
	polt_admission_give_memory(pair->admitted_bytes);
err_admission:
	kvfree(pair);
	return ERR_PTR(error);
}

static void polt_pair_close(struct pol_group *group, void *arg)
{
	struct polt_pair *pair = arg;

	pol_group_assert_owned(group);
	pair->closed = true;
	pair->lent_out = pair->pool->small.nr_free < pair->pool->small.nr ||
			 pair->pool->large.nr_free < pair->pool->large.nr;
}

/*
 * The RDMA objects go; pages that a disk still uses stay. They are not what the next queue finds,
 * so from now on they count as taken by hosts.
 */
static void polt_pair_end(struct polt_pair *pair)
{
	pol_group_call(pair->group, polt_pair_close, pair);
	if (pair->lent_out && !pair->admitted_bytes) {
		pair->admitted_bytes = pol_pool_bytes(pair->pool);
		polt_admission_add_memory(pair->admitted_bytes);
	}
	if (pair->srq)
		ib_destroy_srq(pair->srq);
	polt_receives_unmap(&pair->chunks);
	pol_pool_unmap(pair->pool);
	ib_dealloc_pd(pair->pd);
	list_del(&pair->entry);
	WRITE_ONCE(polt_pairs_gone, polt_pairs_gone + 1);
}

static void polt_pair_free(struct kref *ref)
{
	struct polt_pair *pair = container_of(ref, struct polt_pair, ref);

	polt_receives_free(&pair->chunks);
	pol_pool_destroy(pair->pool);
	polt_admission_give_memory(pair->admitted_bytes);
	pol_device_put(pair->device);
	kvfree(pair);
}

static void polt_pair_serve(struct pol_group *group, void *arg)
{
	polt_buffers_serve(arg);
}

/**
 * polt_pair_put - a queue does not use anything of its pair any more
 * @pair: the pair; none of the queue's commands uses its memory. Process context
 * @receives: as given to polt_pair_get()
 */
void polt_pair_put(struct polt_pair *pair, unsigned int receives)
{
	mutex_lock(&polt_pairs_lock);
	atomic_dec(&pair->members);
	pair->wanted -= receives;
	mutex_unlock(&polt_pairs_lock);
	/* What was kept for it may be lent. */
	pol_group_call(pair->group, polt_pair_serve, pair);
	kref_put(&pair->ref, polt_pair_free);
}

/* Takes one more queue in, if there are receives for it, and buffers that it can always have. */
static bool polt_pair_admit(struct polt_pair *pair, unsigned int receives)
{
	int members = atomic_inc_return(&pair->members);

	if (polt_share_admits(&pair->shares[POLT_BUFFERS_SMALL], members) &&
	    polt_share_admits(&pair->shares[POLT_BUFFERS_LARGE], members) &&
	    (!pair->srq || receives <= pair->srq_size - pair->wanted))
		return true;
	atomic_dec(&pair->members);
	return false;
}

/**
 * polt_pair_get - find or make the pair for a new queue
 * @group: where the queue is placed; the caller is a user of it
 * @device: a device that the caller keeps from going away
 * @inline_size: in-capsule data the queue takes; pairs with other sizes are other pairs
 * @receives: what the queue needs, at most POLT_DEPTH_MAX + POLT_RECEIVE_SPARE
 *
 * Process context, may sleep.
 *
 * Return: the pair, to be given back with polt_pair_leave() when the RDMA half ends and then
 * polt_pair_put() when the queue is freed, or ERR_PTR (-ENODEV: the device is going away, -EBUSY:
 * hosts have taken the memory that they may).
 */
struct polt_pair *polt_pair_get(struct pol_group *group, struct pol_device *device,
				u32 inline_size, unsigned int receives)
{
	struct polt_pair *pair;
	bool another = false;
	int error;

	mutex_lock(&polt_pairs_lock);
	if (READ_ONCE(device->gone)) {
		pair = ERR_PTR(-ENODEV);
		goto unlock;
	}
	list_for_each_entry(pair, &polt_pairs, entry) {
		if (pair->group != group || pair->device != device ||
		    pair->inline_size != inline_size)
			continue;
		if (polt_pair_admit(pair, receives))
			goto found;
		another = true;
	}
	pair = polt_pair_create(group, device, inline_size, another);
	if (IS_ERR(pair))
		goto unlock;
	kref_get(&device->ref);
	atomic_set(&pair->members, 1);
	list_add_tail(&pair->entry, &polt_pairs);
found:
	pair->users++;
	pair->wanted += receives;
	kref_get(&pair->ref);
	error = polt_pair_grow(pair);
	mutex_unlock(&polt_pairs_lock);
	if (error) {
		polt_pair_leave(pair);
		polt_pair_put(pair, receives);
		return ERR_PTR(error);
	}
	return pair;

unlock:
	mutex_unlock(&polt_pairs_lock);
	return pair;
}

/**
 * polt_pair_leave - a queue's RDMA half is gone
 * @pair: its pair; the reference stays, and receives that commands in a disk hold
 *
 * With the last one the RDMA objects of the pair are destroyed. Process context, may sleep.
 */
void polt_pair_leave(struct polt_pair *pair)
{
	bool last;

	mutex_lock(&polt_pairs_lock);
	last = !--pair->users;
	if (last)
		polt_pair_end(pair);
	mutex_unlock(&polt_pairs_lock);
	if (last) {
		wake_up_all(&polt_pairs_wait);
		kref_put(&pair->ref, polt_pair_free);
	}
}

/**
 * polt_pair_device_idle - does the target have no object on a device?
 * @device: the device. Process context; polt_pairs_gone grows when this may have changed
 */
bool polt_pair_device_idle(struct pol_device *device)
{
	struct polt_pair *pair;
	bool idle = true;

	mutex_lock(&polt_pairs_lock);
	list_for_each_entry(pair, &polt_pairs, entry)
		if (pair->device == device)
			idle = false;
	mutex_unlock(&polt_pairs_lock);
	return idle;
}

/**
 * polt_pair_for_each - look at every pair with RDMA objects
 * @visit: called with the list locked
 * @arg: given to @visit
 *
 * Return: 0, or what the first @visit that returned something else returned.
 */
int polt_pair_for_each(int (*visit)(struct polt_pair *pair, void *arg), void *arg)
{
	struct polt_pair *pair;
	int result = 0;

	mutex_lock(&polt_pairs_lock);
	list_for_each_entry(pair, &polt_pairs, entry) {
		result = visit(pair, arg);
		if (result)
			break;
	}
	mutex_unlock(&polt_pairs_lock);
	return result;
}
