/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that is mapped for a device once and used for years: regions, and pools of data buffers
 * cut from them.
 *
 * A region is a physically contiguous run of pages on one node, mapped DMA_BIDIRECTIONAL. Between a
 * DMA map and its unmap the CPU and the device may only look at it after a hand-over, so every
 * change of hands goes through pol_mem_sync_for_device() / pol_mem_sync_for_cpu(). In a DEBUG build
 * the device side of a region is a second run of pages and the sync functions copy between the two,
 * as a bounce buffer would: a missing sync then shows as wrong data on any device.
 *
 * Who owns what: regions belong to whoever allocated them; a pool and its free lists belong to the
 * thread of one poll group.
 */
#ifndef POL_CORE_MEMORY_H
#define POL_CORE_MEMORY_H

#include <linux/list.h>
#include <rdma/ib_verbs.h>

struct pol_device;
struct pol_group;

/**
 * struct pol_region - pages mapped for a device
 * @ib: the device, NULL once unmapped
 * @page: first page, as the CPU sees it
 * @virt: its address
 * @dma: its address for the device (with the PD's local_dma_lkey)
 * @len: bytes, a power of two, at least PAGE_SIZE
 * @device: whose memory_bytes it counts in
 * @device_page: in a DEBUG build the pages the device sees
 */
struct pol_region {
	struct ib_device *ib;
	struct page *page;
	void *virt;
	u64 dma;
	size_t len;
	struct pol_device *device;
#ifdef POLLARD_DEBUG
	struct page *device_page;
#endif
};

size_t pol_device_mapping_max(struct ib_device *ib);
size_t pol_region_max(struct ib_device *ib);
int pol_region_alloc(struct pol_region *region, struct ib_device *ib, int node, size_t len);
void pol_region_free(struct pol_region *region);
void pol_region_unmap(struct pol_region *region);
void pol_mem_sync_for_device(const struct pol_region *region, size_t offset, size_t len);
void pol_mem_sync_for_cpu(const struct pol_region *region, size_t offset, size_t len);

/* Bytes of a buffer of either class. */
#define POL_BUFFER_SMALL	SZ_8K
#define POL_BUFFER_LARGE	SZ_128K

/**
 * struct pol_buffer - a data buffer of a pool
 * @entry: link in the pool's free list
 * @region: what it was cut from
 * @offset: where in the region
 * @size: bytes, the size of its class
 * @virt: address for the CPU
 * @dma: address for the device
 */
struct pol_buffer {
	struct list_head entry;
	struct pol_region *region;
	size_t offset;
	u32 size;
	void *virt;
	u64 dma;
};

/**
 * struct pol_pool_class - buffers of one size
 * @free: pol_buffer.entry of those that nobody has
 * @nr_free: how many these are; READ_ONCE outside of the thread
 * @nr: how many there are in all
 * @nr_regions: regions they are cut from
 * @regions: these
 * @buffers: all buffers
 */
struct pol_pool_class {
	struct list_head free;
	unsigned int nr_free;
	unsigned int nr;
	unsigned int nr_regions;
	struct pol_region *regions;
	struct pol_buffer *buffers;
};

/**
 * struct pol_pool - data buffers of a (group, device) pair in two classes
 * @group: whose thread takes and gives back
 * @small: buffers of POL_BUFFER_SMALL bytes
 * @large: buffers of POL_BUFFER_LARGE bytes
 *
 * Taking and giving back: the group's thread only. Making and destroying: process context.
 */
struct pol_pool {
	const struct pol_group *group;
	struct pol_pool_class small;
	struct pol_pool_class large;
};

struct pol_pool *pol_pool_create(struct ib_device *ib, const struct pol_group *group,
				 unsigned int nr_small, unsigned int nr_large);
void pol_pool_unmap(struct pol_pool *pool);
void pol_pool_destroy(struct pol_pool *pool);
unsigned int pol_pool_buffers_for(u32 bytes);
int pol_pool_take(struct pol_pool *pool, u32 bytes, struct pol_buffer **buffers,
		  unsigned int max_buffers);
void pol_pool_give(struct pol_pool *pool, struct pol_buffer **buffers, unsigned int count);
size_t pol_pool_bytes(const struct pol_pool *pool);
void pol_buffer_sync_for_device(const struct pol_buffer *buffer, u32 offset, u32 len);
void pol_buffer_sync_for_cpu(const struct pol_buffer *buffer, u32 offset, u32 len);

#endif
