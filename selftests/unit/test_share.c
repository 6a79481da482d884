// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sharing buffers: never more is granted than there is, a member's own part is always there for it,
 * all is used when few want it, and nobody who came late is left without.
 */
#include <pthread.h>
#include <stdlib.h>

#include "tap.h"
#include "target/share.h"

#define MEMBERS	64

static struct polt_share share;
static atomic_t members;
static unsigned int claimed[MEMBERS];
static bool contended;

static void begin(unsigned int nr, unsigned int least, int count)
{
	memset(&share, 0xa5, sizeof(share));
	polt_share_init(&share, nr, least);
	atomic_set(&members, count);
	memset(claimed, 0, sizeof(claimed));
	contended = false;
}

static bool claim(unsigned int member, unsigned int count)
{
	return polt_share_claim(&share, &members, &claimed[member], count, contended);
}

static void release(unsigned int member, unsigned int count)
{
	polt_share_release(&share, &claimed[member], count);
}

/* As the control side does it. */
static bool join(void)
{
	if (polt_share_admits(&share, atomic_inc_return(&members)))
		return true;
	atomic_dec(&members);
	return false;
}

static unsigned int granted(void)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < MEMBERS; i++)
		sum += claimed[i];
	return sum;
}

/* How much a member gets by asking again and again. */
static unsigned int take_all(unsigned int member, unsigned int count)
{
	while (claim(member, count))
		;
	return claimed[member];
}

TEST(one_member_may_have_all_but_the_part_of_another)
{
	begin(128, 8, 1);
	CHECK_EQ(take_all(0, 8), 120);
	release(0, 120);
	CHECK(atomic_read(&share.borrowed) == 0);
	CHECK_EQ(take_all(0, 1), 120);
	begin(8, 8, 1);
	CHECK_EQ(take_all(0, 8), 8);
}

TEST(idle_members_keep_no_more_than_their_own_part)
{
	begin(128, 8, 12);
	CHECK(take_all(0, 8) == 128 - 11 * 8);
}

TEST(a_members_own_part_is_always_there)
{
	begin(128, 8, 12);
	take_all(0, 8);
	for (unsigned int i = 1; i < 12; i++)
		CHECK(claim(i, 8));
	CHECK(granted() == 128);
	for (unsigned int i = 0; i < 12; i++)
		CHECK(!claim(i, 1));
}

/* Of 96 that may be lent to two of twelve, and to one that takes them by eights. */
TEST(while_somebody_waits_those_who_want_more_get_the_same)
{
	bool any;

	begin(384, 8, 12);
	contended = true;
	CHECK_EQ(take_all(0, 1), 8 + 384 - 13 * 8);
	CHECK(claim(1, 8));
	CHECK(!claim(0, 1) && !claim(1, 8));
	/* What the first gives back goes to the second until both have the same. */
	do {
		release(0, 8);
		any = claim(0, 1);
	} while (!any && claim(1, 8));
	CHECK(claimed[0] >= 136 && claimed[0] <= 152);
	CHECK(claimed[1] >= 136 && claimed[1] <= 152);
}

TEST(while_nobody_waits_one_may_have_what_the_others_do_not_use)
{
	begin(1024, 32, 12);
	for (unsigned int i = 1; i < 12; i++)
		CHECK(claim(i, 1));
	CHECK_EQ(take_all(0, 1), 32 + 1024 - 13 * 32);
}

TEST(nobody_is_taken_in_whose_part_is_lent)
{
	begin(128, 8, 1);
	take_all(0, 8);
	CHECK(join());
	CHECK(!join());
	CHECK(!claim(0, 1));
	release(0, 7);
	CHECK(!join());
	release(0, 1);
	CHECK(join());
	CHECK(!claim(0, 1));
	CHECK(claim(1, 8) && claim(2, 8));
	CHECK_EQ(granted(), 128);
}

TEST(there_is_a_limit_to_members_so_that_some_can_be_lent)
{
	unsigned int n = 1;

	begin(128, 8, 1);
	while (join())
		n++;
	CHECK(n == 12);
	begin(8, 8, 1);
	CHECK(!join());
	CHECK_EQ(take_all(0, 8), 8);
	begin(1, 1, 1);
	CHECK(!join());
	CHECK(claim(0, 1) && !claim(0, 1));
}

TEST(whatever_happens_claims_can_be_met)
{
	unsigned int least, nr, i, count, step;
	int n;

	srandom(1);
	for (unsigned int round = 0; round < 200; round++) {
		least = 1 + random() % 8;
		nr = least * (1 + random() % 40) + random() % least;
		n = 1;
		begin(nr, least, n);
		for (step = 0; step < 2000; step++) {
			i = random() % n;
			count = 1 + random() % least;
			contended = random() % 2;
			switch (random() % 8) {
			case 0:
				if (n < MEMBERS && join())
					n++;
				break;
			case 1:
				if (n > 1 && !claimed[n - 1]) {
					n--;
					atomic_dec(&members);
				}
				break;
			case 2 ... 4:
				if (claimed[i] + count <= least)
					CHECK(claim(i, count));
				else if (!claimed[i])
					CHECK(claim(i, count));
				else
					claim(i, count);
				break;
			default:
				release(i, random() % (claimed[i] + 1));
				break;
			}
			CHECK(granted() <= nr);
		}
		for (i = 0; i < n; i++)
			release(i, claimed[i]);
		CHECK(atomic_read(&share.borrowed) == 0 && share.active == 0);
	}
}

/*
 * Two members come and go in another thread. Each side has a number that is odd while it has what
 * the other must then not get: the third member its place, the first one more than leaves room for
 * it.
 */
static unsigned int placed, lent;

static void turn(unsigned int *number)
{
	__atomic_add_fetch(number, 1, __ATOMIC_SEQ_CST);
}

static unsigned int look(unsigned int *number)
{
	return __atomic_load_n(number, __ATOMIC_SEQ_CST);
}

static void *come_and_go(void *arg)
{
	unsigned int *both = arg, before;

	for (unsigned int i = 0; i < 200000; i++) {
		/* What the first one is about to be refused may look as if it were lent. */
		if (!join())
			continue;
		before = look(&lent);
		if (!join()) {
			atomic_dec(&members);
			continue;
		}
		*both += before % 2 && look(&lent) == before;
		turn(&placed);
		turn(&placed);
		atomic_sub(2, &members);
	}
	return NULL;
}

TEST(a_member_is_not_taken_in_while_its_part_is_being_lent)
{
	unsigned int before, both_there = 0, both_here = 0, often = 0;
	pthread_t thread;

	begin(32, 8, 1);
	pthread_create(&thread, NULL, come_and_go, &both_there);
	for (unsigned int i = 0; i < 200000; i++) {
		before = look(&placed);
		take_all(0, 4);
		if (claimed[0] > 16) {
			often++;
			both_here += before % 2 && look(&placed) == before;
			turn(&lent);
			turn(&lent);
		}
		release(0, claimed[0]);
	}
	pthread_join(thread, NULL);
	CHECK_EQ(both_there, 0);
	CHECK_EQ(both_here, 0);
	CHECK(often > 0 && placed > 0);
}
