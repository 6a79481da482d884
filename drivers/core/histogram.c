// SPDX-License-Identifier: GPL-2.0-only
/*
 * Log-linear latency histograms: where a value goes, what a bucket stands for, quantiles.
 *
 * Only arithmetic: nothing here sleeps, locks or allocates, and nothing depends on the context. The
 * poll group's thread owns the histogram it adds to. A reader merges it into one of its own and
 * computes on that copy.
 */
#include <linux/bitops.h>
#include <linux/export.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "core/histogram.h"

#define SUB_BUCKETS	(1U << POL_HISTOGRAM_SUB_BITS)
#define LAST_BUCKET	(POL_HISTOGRAM_BUCKETS - 1)

#define PER_100K_ALL	100000U

/**
 * pol_histogram_reset - forget everything
 * @histogram: the histogram to empty
 *
 * An all-zero histogram is an empty one, so fresh zeroed memory needs no reset.
 */
void pol_histogram_reset(struct pol_histogram *histogram)
{
	memset(histogram, 0, sizeof(*histogram));
}
EXPORT_SYMBOL_GPL(pol_histogram_reset);

/**
 * pol_histogram_bucket_of - the bucket that counts a value
 * @ns: a duration in nanoseconds, any value
 *
 * Return: a bucket below POL_HISTOGRAM_BUCKETS. It never decreases when @ns grows.
 */
unsigned int pol_histogram_bucket_of(u64 ns)
{
	unsigned int shift;

	if (ns < SUB_BUCKETS)
		return ns;
	if (ns >> POL_HISTOGRAM_MAX_BITS)
		return LAST_BUCKET;

	/* The bits below the leading one and its POL_HISTOGRAM_SUB_BITS followers are dropped. */
	shift = fls64(ns) - 1 - POL_HISTOGRAM_SUB_BITS;
	return (shift << POL_HISTOGRAM_SUB_BITS) + (unsigned int)(ns >> shift);
}
EXPORT_SYMBOL_GPL(pol_histogram_bucket_of);

/**
 * pol_histogram_bucket_floor - the smallest value a bucket counts
 * @bucket: a bucket; anything past the last bucket is taken as the last one
 *
 * Return: nanoseconds.
 */
u64 pol_histogram_bucket_floor(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < SUB_BUCKETS)
		return bucket;
	if (bucket >= LAST_BUCKET)
		return 1ULL << POL_HISTOGRAM_MAX_BITS;

	shift = (bucket >> POL_HISTOGRAM_SUB_BITS) - 1;
	return (u64)(SUB_BUCKETS + (bucket & (SUB_BUCKETS - 1))) << shift;
}
EXPORT_SYMBOL_GPL(pol_histogram_bucket_floor);

/**
 * pol_histogram_add - count one value
 * @histogram: where to count it, owned by the caller
 * @ns: a duration in nanoseconds, any value
 */
void pol_histogram_add(struct pol_histogram *histogram, u64 ns)
{
	if (!histogram->count || ns < histogram->min_ns)
		histogram->min_ns = ns;
	if (ns > histogram->max_ns)
		histogram->max_ns = ns;
	histogram->sum_ns += ns;
	histogram->bucket[pol_histogram_bucket_of(ns)]++;
	histogram->count++;
}
EXPORT_SYMBOL_GPL(pol_histogram_add);

/**
 * pol_histogram_merge - add all of one histogram to another
 * @into: receives the sum, owned by the caller
 * @from: read only; its owner may be adding to it
 */
void pol_histogram_merge(struct pol_histogram *into, const struct pol_histogram *from)
{
	unsigned int i;

	if (!from->count)
		return;
	if (!into->count || from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
	if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
	into->sum_ns += from->sum_ns;
	into->count += from->count;
	for (i = 0; i < POL_HISTOGRAM_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
}

/**
 * pol_histogram_quantile - the value that a share of all values does not exceed
 * @histogram: a histogram nobody adds to, normally a merged copy
 * @per_100k: the share in 1/100000: 50000 is the median, 99900 is p99.9; more than 100000 is
 *	taken as 100000
 *
 * The ranks are exact (nearest rank, rounded up); the value is the middle of the bucket that holds
 * the rank, within the smallest and largest value seen, so it is at most 1/64 off below
 * 2^POL_HISTOGRAM_MAX_BITS ns. The first and the last rank give the exact minimum and maximum.
 *
 * Return: nanoseconds, 0 for an empty histogram.
 */
u64 pol_histogram_quantile(const struct pol_histogram *histogram, u32 per_100k)
{
	u64 floor, rank, seen = 0;
	unsigned int i;

	if (!histogram->count)
		return 0;

	/* Rounding down what lies above rounds the rank up. */
	per_100k = min(per_100k, PER_100K_ALL);
	rank = histogram->count -
	       mul_u64_u32_div(histogram->count, PER_100K_ALL - per_100k, PER_100K_ALL);
	if (rank <= 1)
		return histogram->min_ns;
	if (rank == histogram->count)
		return histogram->max_ns;

	for (i = 0; i < LAST_BUCKET; i++) {
		seen += histogram->bucket[i];
		if (seen < rank)
			continue;
		floor = pol_histogram_bucket_floor(i);
		floor += (pol_histogram_bucket_floor(i + 1) - floor) / 2;
		return clamp(floor, histogram->min_ns, histogram->max_ns);
	}
	/* The last bucket has no upper end: the maximum is all that is known. */
	return histogram->max_ns;
}
EXPORT_SYMBOL_GPL(pol_histogram_quantile);

/**
 * pol_histogram_mean - the arithmetic mean of all values
 * @histogram: a histogram nobody adds to, normally a merged copy
 *
 * Return: nanoseconds, rounded down; 0 for an empty histogram.
 */
u64 pol_histogram_mean(const struct pol_histogram *histogram)
{
	if (!histogram->count)
		return 0;
	return div64_u64(histogram->sum_ns, histogram->count);
}
EXPORT_SYMBOL_GPL(pol_histogram_mean);
