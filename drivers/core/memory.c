// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regions: physically contiguous pages mapped for a device once. See memory.h for the rule of
 * hand-overs, and for what a DEBUG build does to catch a missing one.
 *
 * Regions are zeroed when they are allocated: what a peer may ever see of them was written for it.
 */
#include <linux/dma-mapping.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sizes.h>

#include "core/device.h"
#include "core/fault.h"
#include "core/memory.h"

#define POL_REGION_GFP	(GFP_KERNEL | __GFP_ZERO | __GFP_COMP | __GFP_NOWARN | __GFP_NORETRY)

/**
 * pol_device_mapping_max - the longest piece of memory that can be mapped for a device
 * @ib: the device
 *
 * Return: bytes.
 */
size_t pol_device_mapping_max(struct ib_device *ib)
{
	return ib_uses_virt_dma(ib) ? SIZE_MAX : dma_max_mapping_size(ib->dma_device);
}
EXPORT_SYMBOL_GPL(pol_device_mapping_max);

/**
 * pol_region_max - the longest region a device can take
 * @ib: the device
 *
 * Return: bytes, a power of two.
 */
size_t pol_region_max(struct ib_device *ib)
{
	size_t max = min_t(size_t, SZ_2M, pol_device_mapping_max(ib));

	return rounddown_pow_of_two(max_t(size_t, max, PAGE_SIZE));
}
EXPORT_SYMBOL_GPL(pol_region_max);

/*
 * The pages the device is to see: the region's own, or in a DEBUG build the other side of a bounce.
 */
static int pol_region_device_page(struct pol_region *region, int node, struct page **page)
{
#ifdef POLLARD_DEBUG
	region->device_page = alloc_pages_node(node, POL_REGION_GFP, get_order(region->len));
	*page = region->device_page;
	return *page ? 0 : -ENOMEM;
#else
	*page = region->page;
	return 0;
#endif
}

static void pol_region_free_device_page(struct pol_region *region)
{
#ifdef POLLARD_DEBUG
	if (region->device_page)
		__free_pages(region->device_page, get_order(region->len));
	region->device_page = NULL;
#endif
}

/**
 * pol_region_alloc - allocate and map a region
 * @region: result
 * @ib: the device
 * @node: where to allocate
 * @len: bytes, a power of two from PAGE_SIZE to pol_region_max()
 *
 * Process context, may sleep. The memory is zero on both sides.
 *
 * Return: 0 or -ENOMEM (also when the device could not map it).
 */
int pol_region_alloc(struct pol_region *region, struct ib_device *ib, int node, size_t len)
{
	struct pol_device *device;
	struct page *page;
	int error = -ENOMEM;

	memset(region, 0, sizeof(*region));
	region->ib = ib;
	region->len = len;
	region->page = alloc_pages_node(node, POL_REGION_GFP, get_order(len));
	if (!region->page)
		return -ENOMEM;
	region->virt = page_address(region->page);
	error = pol_region_device_page(region, node, &page);
	if (error)
		goto err_device_page;
	region->dma = ib_dma_map_page(ib, page, 0, len, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(ib, region->dma)) {
		error = -ENOMEM;
		goto err_map;
	}
	device = pol_device_get(ib);
	if (device) {
		region->device = device;
		atomic_long_add(len, &device->memory_bytes);
	}
	return 0;

err_map:
	pol_region_free_device_page(region);
err_device_page:
	__free_pages(region->page, get_order(len));
	region->page = NULL;
	return error;
}
EXPORT_SYMBOL_GPL(pol_region_alloc);

/**
 * pol_region_unmap - take a region away from its device
 * @region: a region, mapped or not
 *
 * The device has finished with it. The pages stay until pol_region_free(): a disk may still use
 * them, so they must not be overwritten now with what a bounce buffer or a cache still holds. All
 * that the device wrote has been handed over by pol_mem_sync_for_cpu().
 */
void pol_region_unmap(struct pol_region *region)
{
	if (!region->ib)
		return;
	if (!ib_uses_virt_dma(region->ib))
		dma_unmap_page_attrs(region->ib->dma_device, region->dma, region->len,
				     DMA_BIDIRECTIONAL, DMA_ATTR_SKIP_CPU_SYNC);
	pol_region_free_device_page(region);
	if (region->device) {
		atomic_long_sub(region->len, &region->device->memory_bytes);
		pol_device_put(region->device);
		region->device = NULL;
	}
	region->ib = NULL;
	region->dma = 0;
}
EXPORT_SYMBOL_GPL(pol_region_unmap);

/**
 * pol_region_free - unmap and free a region
 * @region: from pol_region_alloc(), or zeroed memory
 */
void pol_region_free(struct pol_region *region)
{
	if (!region->page)
		return;
	pol_region_unmap(region);
	__free_pages(region->page, get_order(region->len));
	region->page = NULL;
}
EXPORT_SYMBOL_GPL(pol_region_free);

/**
 * pol_mem_sync_for_device - hand part of a region to the device
 * @region: the region
 * @offset: first byte
 * @len: how many bytes
 *
 * After the CPU (or a disk) wrote what the device is to read, and before a device is to write. Any
 * context.
 */
void pol_mem_sync_for_device(const struct pol_region *region, size_t offset, size_t len)
{
	if (unlikely(!region->ib))
		return;
#ifdef POLLARD_DEBUG
	if (!pol_fault_sync(len))
		memcpy(page_address(region->device_page) + offset, region->virt + offset, len);
#endif
	ib_dma_sync_single_for_device(region->ib, region->dma + offset, len, DMA_BIDIRECTIONAL);
}
EXPORT_SYMBOL_GPL(pol_mem_sync_for_device);

/**
 * pol_mem_sync_for_cpu - hand part of a region to the CPU
 * @region: the region
 * @offset: first byte
 * @len: how many bytes
 *
 * After the device wrote what the CPU (or a disk) is to read. Any context.
 */
void pol_mem_sync_for_cpu(const struct pol_region *region, size_t offset, size_t len)
{
	if (unlikely(!region->ib))
		return;
	ib_dma_sync_single_for_cpu(region->ib, region->dma + offset, len, DMA_BIDIRECTIONAL);
#ifdef POLLARD_DEBUG
	if (!pol_fault_sync(len))
		memcpy(region->virt + offset, page_address(region->device_page) + offset, len);
#endif
}
EXPORT_SYMBOL_GPL(pol_mem_sync_for_cpu);
