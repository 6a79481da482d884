/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Latency histograms of fixed size: log-linear buckets, about 3 % resolution.
 *
 * A value (nanoseconds) below 2^POL_HISTOGRAM_SUB_BITS has a bucket of its own. Above that every
 * power of two is cut into 2^POL_HISTOGRAM_SUB_BITS equal buckets, so a bucket is never wider than
 * 1/32 of its lower bound. The last bucket takes everything from 2^POL_HISTOGRAM_MAX_BITS ns
 * (about 69 s) up.
 *
 * This file and histogram.c only compute: they are compiled as they are in user space by the unit
 * tests. A histogram has one writer (the poll group's thread); readers see counters that may be one
 * addition apart, which statistics can bear.
 */
#ifndef POL_CORE_HISTOGRAM_H
#define POL_CORE_HISTOGRAM_H

#include <linux/types.h>

/* See above. */
#define POL_HISTOGRAM_SUB_BITS	5
#define POL_HISTOGRAM_MAX_BITS	36
#define POL_HISTOGRAM_BUCKETS	\
	(((POL_HISTOGRAM_MAX_BITS - POL_HISTOGRAM_SUB_BITS + 1) << POL_HISTOGRAM_SUB_BITS) + 1)

/**
 * struct pol_histogram - how often which time was taken
 * @count: values added
 * @sum_ns: their sum, nanoseconds; may wrap
 * @min_ns: the smallest, 0 without any
 * @max_ns: the largest
 * @bucket: how many of each size
 */
struct pol_histogram {
	u64 count;
	u64 sum_ns;
	u64 min_ns;
	u64 max_ns;
	u64 bucket[POL_HISTOGRAM_BUCKETS];
};

void pol_histogram_reset(struct pol_histogram *histogram);
void pol_histogram_add(struct pol_histogram *histogram, u64 ns);
void pol_histogram_merge(struct pol_histogram *into, const struct pol_histogram *from);
unsigned int pol_histogram_bucket_of(u64 ns);
u64 pol_histogram_bucket_floor(unsigned int bucket);
u64 pol_histogram_quantile(const struct pol_histogram *histogram, u32 per_100k);
u64 pol_histogram_mean(const struct pol_histogram *histogram);

#endif
