// SPDX-License-Identifier: GPL-2.0-only
/* Buckets are contiguous and narrow enough, quantiles are true, merging is adding. */
#include <stdlib.h>

#include "tap.h"
#include "core/histogram.h"

#define LAST	(POL_HISTOGRAM_BUCKETS - 1)
#define TOP	(1ULL << POL_HISTOGRAM_MAX_BITS)

/* Deterministic, so that a failure can be repeated. */
static u64 random_state = 88172645463325252ULL;

static u64 random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* All magnitudes alike, as latencies are: log-uniform from 1 to 2^bits. */
static u64 random_latency(unsigned int bits)
{
	unsigned int width = 1 + random_u64() % bits;

	return random_u64() >> (64 - width) | 1ULL << (width - 1);
}

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

TEST(small_values_have_their_own_bucket)
{
	unsigned int v;

	for (v = 0; v < 64; v++) {
		CHECK_EQ(pol_histogram_bucket_of(v), v);
		CHECK_EQ(pol_histogram_bucket_floor(v), v);
	}
	CHECK_EQ(pol_histogram_bucket_of(64), 64);
	CHECK_EQ(pol_histogram_bucket_of(65), 64);
	CHECK_EQ(pol_histogram_bucket_of(66), 65);
}

TEST(buckets_leave_no_gap_and_are_narrow)
{
	u64 floor, next;
	unsigned int b;

	for (b = 0; b < LAST; b++) {
		floor = pol_histogram_bucket_floor(b);
		next = pol_histogram_bucket_floor(b + 1);
		CHECK(next > floor);
		CHECK_EQ(pol_histogram_bucket_of(floor), b);
		CHECK_EQ(pol_histogram_bucket_of(next - 1), b);
		CHECK_EQ(pol_histogram_bucket_of(next), b + 1);
		/* One value, or at most 1/32 of the smallest one. */
		CHECK(next - floor == 1 || (next - floor) * 32 <= floor);
	}
}

TEST(powers_of_two_and_their_neighbours_are_monotonic)
{
	unsigned int shift, below, at, above;

	for (shift = 1; shift < 64; shift++) {
		below = pol_histogram_bucket_of((1ULL << shift) - 1);
		at = pol_histogram_bucket_of(1ULL << shift);
		above = pol_histogram_bucket_of((1ULL << shift) + 1);
		CHECK(below <= at && at <= above && above <= LAST);
		if (shift <= POL_HISTOGRAM_MAX_BITS)
			CHECK_EQ(at, below + 1);
	}
}

TEST(random_values_are_monotonic_and_within_their_bucket)
{
	unsigned int i, b;
	u64 a, c;

	for (i = 0; i < 200000; i++) {
		a = random_latency(64);
		c = random_latency(64);
		b = pol_histogram_bucket_of(a);
		CHECK(b < POL_HISTOGRAM_BUCKETS);
		CHECK(pol_histogram_bucket_floor(b) <= a);
		if (b < LAST)
			CHECK(a < pol_histogram_bucket_floor(b + 1));
		CHECK((a <= c) ? b <= pol_histogram_bucket_of(c) : b >= pol_histogram_bucket_of(c));
	}
}

TEST(last_bucket_takes_all_above)
{
	CHECK_EQ(pol_histogram_bucket_of(TOP - 1), LAST - 1);
	CHECK_EQ(pol_histogram_bucket_of(TOP), LAST);
	CHECK_EQ(pol_histogram_bucket_of(TOP + 1), LAST);
	CHECK_EQ(pol_histogram_bucket_of(~0ULL), LAST);
	CHECK_EQ(pol_histogram_bucket_floor(LAST), TOP);
	CHECK_EQ(pol_histogram_bucket_floor(LAST + 1), TOP);
	CHECK_EQ(pol_histogram_bucket_floor(~0U), TOP);
}

TEST(empty_histogram)
{
	static struct pol_histogram h, other;
	static const struct pol_histogram zero;

	memset(&h, 0xa5, sizeof(h));
	pol_histogram_reset(&h);
	CHECK_MEM(&h, &zero, sizeof(h));
	CHECK_EQ(pol_histogram_quantile(&h, 50000), 0);
	CHECK_EQ(pol_histogram_mean(&h), 0);
	pol_histogram_merge(&h, &other);
	CHECK_MEM(&h, &zero, sizeof(h));
}

TEST(one_value_is_every_quantile)
{
	static const u64 values[] = { 0, 1, 31, 32, 33, 1000, 123456789, TOP - 1, TOP, ~0ULL };
	static struct pol_histogram h;
	unsigned int i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		pol_histogram_reset(&h);
		pol_histogram_add(&h, values[i]);
		CHECK_EQ(h.count, 1);
		CHECK_EQ(h.min_ns, values[i]);
		CHECK_EQ(h.max_ns, values[i]);
		CHECK_EQ(pol_histogram_mean(&h), values[i]);
		CHECK_EQ(pol_histogram_quantile(&h, 0), values[i]);
		CHECK_EQ(pol_histogram_quantile(&h, 1), values[i]);
		CHECK_EQ(pol_histogram_quantile(&h, 50000), values[i]);
		CHECK_EQ(pol_histogram_quantile(&h, 100000), values[i]);
		CHECK_EQ(pol_histogram_quantile(&h, ~0U), values[i]);
	}
}

TEST(zero_is_a_value_like_any_other)
{
	static struct pol_histogram h;

	pol_histogram_add(&h, 0);
	pol_histogram_add(&h, 20);
	CHECK_EQ(h.min_ns, 0);
	CHECK_EQ(pol_histogram_quantile(&h, 50000), 0);
	CHECK_EQ(pol_histogram_quantile(&h, 50001), 20);
	CHECK_EQ(pol_histogram_mean(&h), 10);
	pol_histogram_add(&h, 0);
	pol_histogram_add(&h, 0);
	CHECK_EQ(pol_histogram_quantile(&h, 75000), 0);
	CHECK_EQ(pol_histogram_quantile(&h, 75001), 20);
}

/* Below 64 ns buckets are exact, so the ranks show: nearest rank, rounded up. */
TEST(ranks_are_exact)
{
	static struct pol_histogram h;
	unsigned int v;

	for (v = 1; v <= 20; v++)
		pol_histogram_add(&h, v);
	CHECK_EQ(pol_histogram_quantile(&h, 0), 1);
	CHECK_EQ(pol_histogram_quantile(&h, 5000), 1);
	CHECK_EQ(pol_histogram_quantile(&h, 5001), 2);
	CHECK_EQ(pol_histogram_quantile(&h, 49999), 10);
	CHECK_EQ(pol_histogram_quantile(&h, 50000), 10);
	CHECK_EQ(pol_histogram_quantile(&h, 50001), 11);
	CHECK_EQ(pol_histogram_quantile(&h, 95000), 19);
	CHECK_EQ(pol_histogram_quantile(&h, 95001), 20);
	CHECK_EQ(pol_histogram_quantile(&h, 99999), 20);
	CHECK_EQ(pol_histogram_quantile(&h, 100000), 20);
	CHECK_EQ(pol_histogram_quantile(&h, 100001), 20);
	CHECK_EQ(pol_histogram_quantile(&h, 200000), 20);
	CHECK_EQ(pol_histogram_quantile(&h, ~0U), 20);
}

TEST(first_and_last_rank_are_exact_in_a_wide_bucket)
{
	static struct pol_histogram h;

	pol_histogram_add(&h, 1000001);
	pol_histogram_add(&h, 1000002);
	pol_histogram_add(&h, 1000003);
	CHECK_EQ(pol_histogram_bucket_of(1000001), pol_histogram_bucket_of(1000003));
	CHECK_EQ(pol_histogram_quantile(&h, 33333), 1000001);
	CHECK_EQ(pol_histogram_quantile(&h, 66667), 1000003);
}

static void check_accuracy(size_t nr, unsigned int bits)
{
	static const u32 shares[] = { 1, 100, 1000, 10000, 25000, 50000, 75000, 90000, 95000,
				      99000, 99900, 99990, 99999, 100000 };
	static struct pol_histogram h;
	u64 *values = calloc(nr, sizeof(*values)), sum = 0, exact, got, error;
	size_t i, rank;

	pol_histogram_reset(&h);
	for (i = 0; i < nr; i++) {
		values[i] = random_latency(bits);
		sum += values[i];
		pol_histogram_add(&h, values[i]);
	}
	qsort(values, nr, sizeof(*values), compare_u64);

	CHECK_EQ(h.count, nr);
	CHECK_EQ(h.min_ns, values[0]);
	CHECK_EQ(h.max_ns, values[nr - 1]);
	CHECK_EQ(pol_histogram_mean(&h), sum / nr);
	for (i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		rank = (nr * shares[i] + 99999) / 100000;
		exact = values[rank ? rank - 1 : 0];
		got = pol_histogram_quantile(&h, shares[i]);
		error = got > exact ? got - exact : exact - got;
		/* 3.2 % is promised; the middle of a bucket is at most half of 1/32 off. */
		CHECK(error * 64 <= exact);
		CHECK(got >= h.min_ns && got <= h.max_ns);
	}
	free(values);
}

TEST(quantiles_are_near_the_sorted_values)
{
	check_accuracy(2, 36);
	check_accuracy(3, 30);
	check_accuracy(997, 20);
	check_accuracy(1000, 36);
	check_accuracy(100000, 36);
	check_accuracy(100001, 24);
}

TEST(quantiles_do_not_overflow)
{
	static struct pol_histogram h;

	h.count = 1ULL << 60;
	h.bucket[10] = 1ULL << 59;
	h.bucket[20] = 1ULL << 59;
	h.min_ns = 10;
	h.max_ns = 20;
	CHECK_EQ(pol_histogram_quantile(&h, 50000), 10);
	CHECK_EQ(pol_histogram_quantile(&h, 50001), 20);
	CHECK_EQ(pol_histogram_quantile(&h, 99999), 20);
}

TEST(quantile_in_the_last_bucket_is_the_maximum)
{
	static struct pol_histogram h;

	pol_histogram_add(&h, 5);
	pol_histogram_add(&h, TOP);
	pol_histogram_add(&h, TOP * 2);
	pol_histogram_add(&h, TOP * 4);
	CHECK_EQ(pol_histogram_quantile(&h, 25000), 5);
	CHECK_EQ(pol_histogram_quantile(&h, 50000), TOP * 4);
}

TEST(reader_that_sees_count_before_bucket_gets_the_maximum)
{
	static struct pol_histogram h;

	pol_histogram_add(&h, 5);
	pol_histogram_add(&h, 7);
	h.count += 2;
	CHECK_EQ(pol_histogram_quantile(&h, 75000), 7);
}

TEST(merging_is_adding)
{
	static struct pol_histogram one, two, both, merged;
	unsigned int i;
	u64 ns;

	for (i = 0; i < 50000; i++) {
		ns = i % 100 ? random_latency(40) : 0;
		pol_histogram_add(i % 3 ? &one : &two, ns);
		pol_histogram_add(&both, ns);
	}
	pol_histogram_merge(&merged, &one);
	CHECK_MEM(&merged, &one, sizeof(one));
	pol_histogram_merge(&merged, &two);
	CHECK_MEM(&merged, &both, sizeof(both));
}

TEST(merging_keeps_extremes_either_way)
{
	static struct pol_histogram inner, outer, a, b;

	pol_histogram_add(&inner, 50);
	pol_histogram_add(&outer, 3);
	pol_histogram_add(&outer, 900);

	pol_histogram_merge(&a, &inner);
	pol_histogram_merge(&a, &outer);
	pol_histogram_merge(&b, &outer);
	pol_histogram_merge(&b, &inner);
	CHECK_EQ(a.min_ns, 3);
	CHECK_EQ(a.max_ns, 900);
	CHECK_EQ(a.sum_ns, 953);
	CHECK_MEM(&a, &b, sizeof(a));
}
