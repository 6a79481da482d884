// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory that the target may reach, and the memory for capsules.
 *
 * Registering memory for a request costs a work request before and often one after it. So each
 * queue has a slot per tag, registered once when the queue connects: small I/O is copied through it
 * and costs nothing but its capsule. For I/O that is too large to be copied, each tag has a memory
 * region (MR) of its own that is registered for that request alone.
 *
 * All of it belongs to the queue's RDMA half: made before the queue pair carries anything, freed
 * after it was drained and destroyed. MRs go before the pages they lead to; that of a request which
 * the connection did not outlive goes as soon as the queue pair is drained. A tag's slot belongs to
 * the submitter until the capsule is posted, to the device until the response was reaped, then to
 * the reaper; each change of hands is a pol_mem_sync_*().
 */
#include <linux/bvec.h>
#include <linux/completion.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "host/host.h"
#include "host/limits.h"

#define POLH_REGISTER_TIMEOUT	msecs_to_jiffies(10000)

static unsigned int registration_pages;
module_param(registration_pages, uint, 0644);
MODULE_PARM_DESC(registration_pages, "pages of 4 KiB that one registration may have at most, where a device copes with less than it says (default 0: what it says)");

/**
 * polh_memory_pages() - pages that one registration may have
 * @ib: device
 *
 * Context: any.
 */
u32 polh_memory_pages(const struct ib_device *ib)
{
	u32 most = ib->attrs.max_fast_reg_page_list_len, wanted = READ_ONCE(registration_pages);

	return wanted ? min(most, wanted) : most;
}

static void polh_slots_free(struct polh_slots *slots)
{
	while (slots->nr_mrs)
		ib_dereg_mr(slots->mrs[--slots->nr_mrs]);
	kfree(slots->mrs);
	while (slots->nr_regions)
		pol_region_free(&slots->regions[--slots->nr_regions]);
	kfree(slots->regions);
	memset(slots, 0, sizeof(*slots));
}

/* Slots of exactly @size bytes, a power of two. */
static int polh_slots_alloc(struct polh_queue *queue, size_t size)
{
	struct polh_ctrl *ctrl = queue->ctrl;
	struct ib_device *ib = ctrl->device->ib;
	struct polh_slots *slots = &queue->slots;
	size_t total = roundup_pow_of_two(queue->nr_tags * size);
	size_t mr_bytes = (size_t)rounddown_pow_of_two(polh_memory_pages(ib)) * POLH_PAGE;
	unsigned int nr_mrs, nr_regions;
	struct ib_mr *mr;
	int err;

	slots->size = size;
	slots->mr_bytes = clamp_t(size_t, mr_bytes, PAGE_SIZE, max(total, PAGE_SIZE));
	slots->region_bytes = polh_limits_region_bytes(queue->nr_tags, size, PAGE_SIZE);
	slots->region_bytes = min3(slots->region_bytes, slots->mr_bytes, pol_region_max(ib));
	if (size > slots->region_bytes)
		return -EINVAL;

	nr_regions = DIV_ROUND_UP(queue->nr_tags * size, slots->region_bytes);
	nr_mrs = DIV_ROUND_UP(nr_regions * slots->region_bytes, slots->mr_bytes);
	slots->regions = kcalloc(nr_regions, sizeof(*slots->regions), GFP_KERNEL);
	slots->mrs = kcalloc(nr_mrs, sizeof(*slots->mrs), GFP_KERNEL);
	if (!slots->regions || !slots->mrs) {
		err = -ENOMEM;
		goto err_slots;
	}
	for (; slots->nr_regions < nr_regions; slots->nr_regions++) {
		err = pol_region_alloc(&slots->regions[slots->nr_regions], ib,
				       ctrl->nvme.numa_node, slots->region_bytes);
		if (err)
			goto err_slots;
	}
	for (; slots->nr_mrs < nr_mrs; slots->nr_mrs++) {
		mr = ib_alloc_mr(ctrl->pd, IB_MR_TYPE_MEM_REG, slots->mr_bytes / POLH_PAGE);
		if (IS_ERR(mr)) {
			err = PTR_ERR(mr);
			goto err_slots;
		}
		slots->mrs[slots->nr_mrs] = mr;
	}
	return 0;

err_slots:
	polh_slots_free(slots);
	return err;
}

/* Gives the tags their slots, once the registrations' addresses are known. */
static void polh_slots_hand_out(struct polh_queue *queue)
{
	struct polh_slots *slots = &queue->slots;
	struct polh_tag *tag;
	size_t offset;
	struct ib_mr *mr;

	for (unsigned int i = 0; slots->size && i < queue->nr_tags; i++) {
		tag = &queue->tags[i];
		offset = i * slots->size;
		mr = slots->mrs[offset / slots->mr_bytes];
		tag->slot_region = &slots->regions[offset / slots->region_bytes];
		tag->slot_offset = offset % slots->region_bytes;
		tag->slot = tag->slot_region->virt + tag->slot_offset;
		tag->slot_addr = mr->iova + offset % slots->mr_bytes;
		tag->slot_rkey = mr->rkey;
		tag->sge[1].addr = tag->slot_region->dma + tag->slot_offset;
	}
}

/* Describes the pages of registration @index to its MR. */
static int polh_slots_map(struct polh_queue *queue, unsigned int index, struct scatterlist *sg)
{
	struct polh_slots *slots = &queue->slots;
	unsigned int per_mr = slots->mr_bytes / slots->region_bytes;
	unsigned int first = index * per_mr;
	unsigned int count = min(per_mr, slots->nr_regions - first);
	struct ib_mr *mr = slots->mrs[index];
	int mapped;

	sg_init_table(sg, count);
	for (unsigned int i = 0; i < count; i++) {
		const struct pol_region *region = &slots->regions[first + i];

		sg_set_page(&sg[i], region->page, region->len, 0);
		sg_dma_address(&sg[i]) = region->dma;
		sg_dma_len(&sg[i]) = region->len;
	}
	mapped = ib_map_mr_sg(mr, sg, count, NULL, POLH_PAGE);
	if (mapped != count)
		return mapped < 0 ? mapped : -EINVAL;
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	return 0;
}

static void polh_memory_registered(struct ib_cq *cq, struct ib_wc *wc)
{
	struct polh_queue *queue = container_of(wc->wr_cqe, struct polh_queue, registration.cqe);

	polh_queue_assert_reaper(queue);
	/* All registrations report here when one fails; the first report counts. */
	if (queue->registration.status == IB_WC_SUCCESS)
		queue->registration.status = wc->status;
	complete(&queue->registration.done);
}

static int polh_memory_wait_registered(struct polh_queue *queue)
{
	unsigned long end = jiffies + POLH_REGISTER_TIMEOUT;

	if (!test_bit(POLH_QUEUE_POLLED, &queue->flags)) {
		if (!wait_for_completion_timeout(&queue->registration.done, POLH_REGISTER_TIMEOUT))
			return -ETIMEDOUT;
	} else {
		while (!try_wait_for_completion(&queue->registration.done)) {
			if (time_after(jiffies, end))
				return -ETIMEDOUT;
			if (ib_process_cq_direct(queue->cq, 1) <= 0)
				usleep_range(20, 100);
		}
	}
	return queue->registration.status == IB_WC_SUCCESS ? 0 : -EIO;
}

/**
 * polh_memory_register() - register the slots of a queue
 * @queue: a queue whose queue pair is connected and carries nothing else yet
 *
 * Context: process context, under the controller's lock; waits for the device.
 * Return: 0, or an error with which the queue is of no use.
 */
int polh_memory_register(struct polh_queue *queue)
{
	struct polh_slots *slots = &queue->slots;
	const struct ib_send_wr *bad;
	struct scatterlist *sg;
	struct ib_reg_wr *wrs;
	int err = 0;

	if (!slots->nr_mrs)
		return 0;
	sg = kcalloc(slots->mr_bytes / slots->region_bytes, sizeof(*sg), GFP_KERNEL);
	wrs = kcalloc(slots->nr_mrs, sizeof(*wrs), GFP_KERNEL);
	if (!sg || !wrs) {
		err = -ENOMEM;
		goto err_map;
	}
	for (unsigned int i = 0; i < slots->nr_mrs; i++) {
		err = polh_slots_map(queue, i, sg);
		if (err)
			goto err_map;
		wrs[i].wr.opcode = IB_WR_REG_MR;
		wrs[i].wr.wr_cqe = &queue->registration.cqe;
		wrs[i].mr = slots->mrs[i];
		wrs[i].key = slots->mrs[i]->rkey;
		wrs[i].access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ |
				IB_ACCESS_REMOTE_WRITE;
		if (i)
			wrs[i - 1].wr.next = &wrs[i].wr;
	}
	wrs[slots->nr_mrs - 1].wr.send_flags = IB_SEND_SIGNALED;

	queue->registration.cqe.done = polh_memory_registered;
	queue->registration.status = IB_WC_SUCCESS;
	init_completion(&queue->registration.done);
	queue->drain = true;
	local_bh_disable();
	err = ib_post_send(queue->qp, &wrs[0].wr, &bad);
	local_bh_enable();
	if (!err)
		err = polh_memory_wait_registered(queue);
	if (!err)
		polh_slots_hand_out(queue);
err_map:
	kfree(wrs);
	kfree(sg);
	return err;
}

static void polh_memory_free_tags(struct polh_queue *queue)
{
	if (queue->tags) {
		for (unsigned int i = 0; i < queue->nr_tags; i++)
			if (queue->tags[i].mr)
				ib_dereg_mr(queue->tags[i].mr);
	}
	kvfree(queue->scatter);
	kvfree(queue->tags);
	queue->scatter = NULL;
	queue->tags = NULL;
}

static int polh_memory_alloc_tags(struct polh_queue *queue)
{
	struct polh_ctrl *ctrl = queue->ctrl;
	unsigned int pages = ctrl->pages_max;

	queue->tags = kvcalloc(queue->nr_tags, sizeof(*queue->tags), GFP_KERNEL);
	queue->scatter = kvcalloc(array_size(queue->nr_tags, pages), sizeof(*queue->scatter),
				  GFP_KERNEL);
	if (!queue->tags || !queue->scatter)
		goto err_tags;
	for (unsigned int i = 0; i < queue->nr_tags; i++) {
		struct polh_tag *tag = &queue->tags[i];
		struct ib_mr *mr = ib_alloc_mr(ctrl->pd, IB_MR_TYPE_MEM_REG, pages);

		if (IS_ERR(mr)) {
			polh_memory_free_tags(queue);
			return PTR_ERR(mr);
		}
		tag->mr = mr;
		tag->queue = queue;
		tag->sg = queue->scatter + i * pages;
		tag->sge[0].addr = queue->capsules.dma + i * POLH_CAPSULE_STRIDE;
		tag->sge[0].length = sizeof(struct nvme_command);
		tag->sge[0].lkey = ctrl->pd->local_dma_lkey;
		tag->sge[1].lkey = ctrl->pd->local_dma_lkey;
	}
	return 0;

err_tags:
	polh_memory_free_tags(queue);
	return -ENOMEM;
}

static size_t polh_region_bytes(size_t bytes)
{
	return roundup_pow_of_two(max(bytes, PAGE_SIZE));
}

/**
 * polh_memory_slot_bytes() - memory that a queue's slots take
 * @queue: the queue
 *
 * Context: process context, under the controller's lock.
 */
u64 polh_memory_slot_bytes(const struct polh_queue *queue)
{
	return (u64)queue->slots.nr_regions * queue->slots.region_bytes;
}

/**
 * polh_memory_bytes() - all memory that a queue takes of its own while it is connected
 * @queue: the queue
 *
 * Slots, capsules, responses, and what is kept for each tag; not what the device's driver takes.
 *
 * Context: process context, under the controller's lock.
 */
u64 polh_memory_bytes(const struct polh_queue *queue)
{
	size_t per_tag = sizeof(*queue->tags) + sizeof(*queue->receives) +
			 queue->ctrl->pages_max * sizeof(*queue->scatter);

	if (!queue->tags)
		return 0;
	return polh_memory_slot_bytes(queue) + queue->capsules.len + queue->responses.len +
	       (u64)queue->nr_tags * per_tag;
}

/**
 * polh_memory_create() - allocate what a queue needs besides its queue pair
 * @queue: queue with @nr_tags set, on the controller's device
 * @slot_size: wanted bytes per slot, a power of two or 0
 *
 * Where memory is short or the device's registrations are too small the slots get smaller, in the
 * end there are none and all data is registered per request; queue->slots.size says what it was.
 *
 * Context: process context, under the controller's lock.
 * Return: 0 or -errno with nothing left behind.
 */
int polh_memory_create(struct polh_queue *queue, size_t slot_size)
{
	struct ib_device *ib = queue->ctrl->device->ib;
	int node = queue->ctrl->nvme.numa_node;
	int err;

	err = pol_region_alloc(&queue->capsules, ib, node,
			       polh_region_bytes(queue->nr_tags * POLH_CAPSULE_STRIDE));
	if (err)
		return err;
	err = pol_region_alloc(&queue->responses, ib, node,
			       polh_region_bytes(queue->nr_tags * POLH_RESPONSE_STRIDE));
	if (err)
		goto err_responses;
	queue->receives = kvcalloc(queue->nr_tags, sizeof(*queue->receives), GFP_KERNEL);
	if (!queue->receives) {
		err = -ENOMEM;
		goto err_receives;
	}
	err = polh_memory_alloc_tags(queue);
	if (err)
		goto err_tags;

	while (slot_size >= POLH_SLOT_MIN && polh_slots_alloc(queue, slot_size))
		slot_size /= 2;
	for (unsigned int i = 0; i < queue->nr_tags; i++) {
		queue->receives[i].queue = queue;
		queue->receives[i].index = i;
		queue->receives[i].cqe.done = polh_request_responded;
	}
	polh_request_init_tags(queue);
	return 0;

err_tags:
	kvfree(queue->receives);
err_receives:
	pol_region_free(&queue->responses);
err_responses:
	pol_region_free(&queue->capsules);
	return err;
}

/**
 * polh_memory_destroy() - undo polh_memory_create()
 * @queue: a queue whose queue pair is gone
 *
 * Context: process context, under the controller's lock.
 */
void polh_memory_destroy(struct polh_queue *queue)
{
	polh_slots_free(&queue->slots);
	polh_memory_free_tags(queue);
	kvfree(queue->receives);
	queue->receives = NULL;
	pol_region_free(&queue->responses);
	pol_region_free(&queue->capsules);
}

/**
 * polh_memory_map() - let the peer reach a request's own pages
 * @tag: the request's tag; prepares its @reg
 * @rq: a request that carries data
 *
 * Context: any, does not sleep.
 * Return: 0 or -errno; -ENOMEM and -EAGAIN are worth another try later.
 */
int polh_memory_map(struct polh_tag *tag, struct request *rq)
{
	struct ib_device *ib = tag->queue->qp->device;
	struct ib_mr *mr = tag->mr;
	int nents, mapped;

	if (blk_rq_nr_phys_segments(rq) > tag->queue->ctrl->pages_max)
		return -EINVAL;
	/* The DMA layer leaves marks in the entries. */
	sg_init_table(tag->sg, blk_rq_nr_phys_segments(rq));
	nents = pol_compat_rq_map_sg(rq, tag->sg);
	tag->dma_dir = rq_dma_dir(rq);
	mapped = ib_dma_map_sg(ib, tag->sg, nents, tag->dma_dir);
	if (!mapped)
		return -ENOMEM;
	tag->nr_sg = nents;

	nents = ib_map_mr_sg(mr, tag->sg, mapped, NULL, POLH_PAGE);
	if (nents != mapped) {
		polh_memory_unmap(tag);
		return nents < 0 ? nents : -EINVAL;
	}
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	tag->reg.key = mr->rkey;
	tag->reg.access = tag->dma_dir == DMA_FROM_DEVICE ?
			  IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE : IB_ACCESS_REMOTE_READ;
	return 0;
}

/**
 * polh_memory_unmap() - take a request's pages back
 * @tag: a tag that polh_memory_map() was called for, its MR not valid any more, or gone
 *
 * Context: any, does not sleep.
 */
void polh_memory_unmap(struct polh_tag *tag)
{
	ib_dma_unmap_sg(tag->queue->qp->device, tag->sg, tag->nr_sg, tag->dma_dir);
}

/**
 * polh_memory_revoke() - make the peer's key to a request's pages void for good
 * @tag: a tag whose queue pair is drained and carries nothing any more
 *
 * Context: process context, under the controller's lock; sleeps.
 */
void polh_memory_revoke(struct polh_tag *tag)
{
	ib_dereg_mr(tag->mr);
	tag->mr = NULL;
}

/**
 * polh_memory_copy_in() - copy a request's data into its slot and hand the slot to the device
 * @tag: the request's tag, with @len set
 * @rq: the request
 *
 * Context: any, does not sleep.
 */
void polh_memory_copy_in(struct polh_tag *tag, struct request *rq)
{
	struct req_iterator iter;
	char *to = tag->slot;
	struct bio_vec bvec;

	if (rq->rq_flags & RQF_SPECIAL_PAYLOAD) {
		memcpy_from_bvec(to, &rq->special_vec);
	} else {
		rq_for_each_segment(bvec, rq, iter) {
			memcpy_from_bvec(to, &bvec);
			to += bvec.bv_len;
		}
	}
	pol_mem_sync_for_device(tag->slot_region, tag->slot_offset, tag->len);
}

/**
 * polh_memory_copy_out() - take a slot back from the device and copy its data to the request
 * @tag: the request's tag
 * @rq: the request
 *
 * Context: any, does not sleep.
 */
void polh_memory_copy_out(struct polh_tag *tag, struct request *rq)
{
	struct req_iterator iter;
	char *from = tag->slot;
	struct bio_vec bvec;

	pol_mem_sync_for_cpu(tag->slot_region, tag->slot_offset, tag->len);
	rq_for_each_segment(bvec, rq, iter) {
		memcpy_to_bvec(&bvec, from);
		from += bvec.bv_len;
	}
}
