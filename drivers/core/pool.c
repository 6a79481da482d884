// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pools of data buffers in two sizes, cut from regions when a (group, device) pair is made. Taking
 * is all or nothing and never allocates; the caller keeps who waits and who may have how many.
 */
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "core/group.h"
#include "core/memory.h"

/* What is asked for at a time; less where memory is in pieces or the device maps less. */
#define POL_POOL_REGION	SZ_1M

static void pol_pool_class_destroy(struct pol_pool_class *class)
{
	unsigned int i;

	for (i = 0; i < class->nr_regions; i++)
		pol_region_free(&class->regions[i]);
	kvfree(class->regions);
	kvfree(class->buffers);
	memset(class, 0, sizeof(*class));
}

static int pol_pool_class_fill(struct pol_pool_class *class, struct ib_device *ib, int node,
			       u32 size, unsigned int nr, size_t region_len)
{
	unsigned int per_region = region_len / size;
	unsigned int nr_regions = DIV_ROUND_UP(nr, per_region);
	unsigned int i;
	int error = -ENOMEM;

	INIT_LIST_HEAD(&class->free);
	class->regions = kvcalloc(nr_regions, sizeof(*class->regions), GFP_KERNEL);
	class->buffers = kvcalloc(nr, sizeof(*class->buffers), GFP_KERNEL);
	if (!class->regions || !class->buffers)
		goto err_alloc;
	for (i = 0; i < nr_regions; i++) {
		error = pol_region_alloc(&class->regions[i], ib, node, region_len);
		if (error)
			goto err_alloc;
		class->nr_regions++;
	}
	for (i = 0; i < nr; i++) {
		struct pol_buffer *buffer = &class->buffers[i];

		buffer->region = &class->regions[i / per_region];
		buffer->offset = (size_t)(i % per_region) * size;
		buffer->size = size;
		buffer->virt = buffer->region->virt + buffer->offset;
		buffer->dma = buffer->region->dma + buffer->offset;
		list_add_tail(&buffer->entry, &class->free);
	}
	class->nr = nr;
	class->nr_free = nr;
	return 0;

err_alloc:
	pol_pool_class_destroy(class);
	return error;
}

static int pol_pool_class_create(struct pol_pool_class *class, struct ib_device *ib, int node,
				 u32 size, unsigned int nr)
{
	size_t len = clamp_t(size_t, pol_region_max(ib), PAGE_SIZE, POL_POOL_REGION);
	int error;

	do {
		if (len < size)
			return -ENOMEM;
		error = pol_pool_class_fill(class, ib, node, size, nr, len);
		len /= 2;
	} while (error == -ENOMEM);
	return error;
}

/**
 * pol_pool_create - make a pool
 * @ib: the device its buffers are mapped for
 * @group: whose thread will take and give back; memory is allocated on its node
 * @nr_small: buffers of POL_BUFFER_SMALL bytes, at least 1
 * @nr_large: buffers of POL_BUFFER_LARGE bytes, at least as many as the longest command needs
 *
 * Process context, may sleep.
 *
 * Return: the pool or ERR_PTR(-ENOMEM).
 */
struct pol_pool *pol_pool_create(struct ib_device *ib, const struct pol_group *group,
				 unsigned int nr_small, unsigned int nr_large)
{
	struct pol_pool *pool;
	int node = group->node;
	int error;

	pool = kzalloc_node(sizeof(*pool), GFP_KERNEL, node);
	if (!pool)
		return ERR_PTR(-ENOMEM);
	pool->group = group;
	error = pol_pool_class_create(&pool->small, ib, node, POL_BUFFER_SMALL, nr_small);
	if (error)
		goto err_small;
	error = pol_pool_class_create(&pool->large, ib, node, POL_BUFFER_LARGE, nr_large);
	if (error)
		goto err_large;
	return pool;

err_large:
	pol_pool_class_destroy(&pool->small);
err_small:
	kfree(pool);
	return ERR_PTR(error);
}
EXPORT_SYMBOL_GPL(pol_pool_create);

/**
 * pol_pool_unmap - take all buffers away from the device
 * @pool: nothing of it is in a work request any more
 *
 * The pages stay: commands that are still in a disk hold some. Process context.
 */
void pol_pool_unmap(struct pol_pool *pool)
{
	unsigned int i;

	for (i = 0; i < pool->small.nr_regions; i++)
		pol_region_unmap(&pool->small.regions[i]);
	for (i = 0; i < pool->large.nr_regions; i++)
		pol_region_unmap(&pool->large.regions[i]);
}
EXPORT_SYMBOL_GPL(pol_pool_unmap);

/**
 * pol_pool_destroy - free a pool
 * @pool: every buffer has been given back. Process context
 */
void pol_pool_destroy(struct pol_pool *pool)
{
	WARN_ON_ONCE(pool->small.nr_free != pool->small.nr ||
		     pool->large.nr_free != pool->large.nr);
	pol_pool_class_destroy(&pool->small);
	pol_pool_class_destroy(&pool->large);
	kfree(pool);
}
EXPORT_SYMBOL_GPL(pol_pool_destroy);

/**
 * pol_pool_buffers_for - how many buffers a transfer takes
 * @bytes: its length
 */
unsigned int pol_pool_buffers_for(u32 bytes)
{
	return bytes <= POL_BUFFER_SMALL ? !!bytes : DIV_ROUND_UP(bytes, POL_BUFFER_LARGE);
}
EXPORT_SYMBOL_GPL(pol_pool_buffers_for);

/**
 * pol_pool_take - take all buffers of a transfer, or none
 * @pool: the pool; caller is the group's thread
 * @bytes: length of the transfer, not 0
 * @buffers: result, filled in the order of the data
 * @max_buffers: room in @buffers
 *
 * Return: the number of buffers, -EAGAIN when there are not enough now, -E2BIG when @max_buffers or
 * the whole pool is too small.
 */
int pol_pool_take(struct pol_pool *pool, u32 bytes, struct pol_buffer **buffers,
		  unsigned int max_buffers)
{
	unsigned int count = pol_pool_buffers_for(bytes);
	struct pol_pool_class *class = bytes <= POL_BUFFER_SMALL ? &pool->small : &pool->large;
	unsigned int i;

	pol_group_assert_owned(pool->group);
	if (count > max_buffers || count > class->nr)
		return -E2BIG;
	if (class->nr_free < count)
		return -EAGAIN;
	for (i = 0; i < count; i++) {
		buffers[i] = list_first_entry(&class->free, struct pol_buffer, entry);
		list_del(&buffers[i]->entry);
	}
	class->nr_free -= count;
	return count;
}
EXPORT_SYMBOL_GPL(pol_pool_take);

/**
 * pol_pool_give - give buffers back
 * @pool: the pool; caller is the group's thread
 * @buffers: from pol_pool_take()
 * @count: how many
 *
 * The most recently used go out first: they are the ones in the caches.
 */
void pol_pool_give(struct pol_pool *pool, struct pol_buffer **buffers, unsigned int count)
{
	unsigned int i;

	pol_group_assert_owned(pool->group);
	for (i = 0; i < count; i++) {
		struct pol_buffer *buffer = buffers[i];
		struct pol_pool_class *class =
			buffer->size == POL_BUFFER_SMALL ? &pool->small : &pool->large;

		list_add(&buffer->entry, &class->free);
		class->nr_free++;
	}
}
EXPORT_SYMBOL_GPL(pol_pool_give);

/**
 * pol_pool_bytes - memory of a pool
 * @pool: the pool
 */
size_t pol_pool_bytes(const struct pol_pool *pool)
{
	return (size_t)pool->small.nr * POL_BUFFER_SMALL +
	       (size_t)pool->large.nr * POL_BUFFER_LARGE;
}
EXPORT_SYMBOL_GPL(pol_pool_bytes);

/**
 * pol_buffer_sync_for_device - hand part of a buffer to the device
 * @buffer: the buffer
 * @offset: first byte in it
 * @len: bytes
 */
void pol_buffer_sync_for_device(const struct pol_buffer *buffer, u32 offset, u32 len)
{
	pol_mem_sync_for_device(buffer->region, buffer->offset + offset, len);
}
EXPORT_SYMBOL_GPL(pol_buffer_sync_for_device);

/**
 * pol_buffer_sync_for_cpu - hand part of a buffer to the CPU
 * @buffer: the buffer
 * @offset: first byte in it
 * @len: bytes
 */
void pol_buffer_sync_for_cpu(const struct pol_buffer *buffer, u32 offset, u32 len)
{
	pol_mem_sync_for_cpu(buffer->region, buffer->offset + offset, len);
}
EXPORT_SYMBOL_GPL(pol_buffer_sync_for_cpu);
