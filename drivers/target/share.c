// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sharing buffers between queues. See share.h.
 *
 * What holds at any time: @least for every member and what is borrowed are together not more than
 * there is. Whoever borrows adds first and then looks at the number of members, whoever takes in a
 * member counts it first and then looks at what is borrowed; both give way when it does not fit.
 */
#include <linux/minmax.h>

#include "target/share.h"

/**
 * polt_share_init - begin with nobody having anything
 * @share: the buffers
 * @nr: how many there are, at least @least
 * @least: how many each member may always have, at least 1
 */
void polt_share_init(struct polt_share *share, unsigned int nr, unsigned int least)
{
	unsigned int most = nr / least;

	share->nr = nr;
	share->least = least;
	/* A quarter is for those who want more. */
	share->most_members = most - most / 4;
	share->active = 0;
	atomic_set(&share->borrowed, 0);
}

/**
 * polt_share_admits - does a new member find its part?
 * @share: the buffers
 * @members: how many there are with it: it has been counted already. Any context
 */
bool polt_share_admits(const struct polt_share *share, int members)
{
	return members <= share->most_members &&
	       members * share->least + atomic_read(&share->borrowed) <= share->nr;
}

static unsigned int polt_share_beyond(const struct polt_share *share, unsigned int count)
{
	return count > share->least ? count - share->least : 0;
}

/* What is not lent: the parts of all members, and of one that may come. */
static unsigned int polt_share_kept(const struct polt_share *share, const atomic_t *members)
{
	return min_t(unsigned int, atomic_read(members) + 1, share->most_members) * share->least;
}

/**
 * polt_share_claim - may a member have some more?
 * @share: the buffers; the thread they belong to calls
 * @members: number of members, this one among them
 * @claimed: how many this one has; increased by @count if it may
 * @count: how many it wants, at most @least of the share
 * @contended: does another member wait for some?
 *
 * A member that has none may always have some.
 *
 * Return: whether it may: then the buffers are there.
 */
bool polt_share_claim(struct polt_share *share, const atomic_t *members, unsigned int *claimed,
		      unsigned int count, bool contended)
{
	unsigned int had = *claimed, has = had + count;
	unsigned int more = polt_share_beyond(share, has) - polt_share_beyond(share, had);

	if (more) {
		unsigned int most = share->nr - polt_share_kept(share, members);
		unsigned int borrowed;

		if (contended && has > share->least + most / max(share->active, 1U))
			return false;
		borrowed = atomic_add_return(more, &share->borrowed);
		if (borrowed + polt_share_kept(share, members) > share->nr) {
			atomic_sub(more, &share->borrowed);
			return false;
		}
	}
	share->active += !had;
	*claimed = has;
	return true;
}

/**
 * polt_share_release - a member does not need some any more
 * @share: the buffers; the thread they belong to calls
 * @claimed: how many it has; decreased by @count
 * @count: how many it gives back
 */
void polt_share_release(struct polt_share *share, unsigned int *claimed, unsigned int count)
{
	unsigned int had = *claimed, has = had - count;
	unsigned int less = polt_share_beyond(share, had) - polt_share_beyond(share, has);

	if (less)
		atomic_sub(less, &share->borrowed);
	if (had && !has)
		share->active--;
	*claimed = has;
}
