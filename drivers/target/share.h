/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who may have how many of a fixed number of buffers, so that all of them are in use when few want
 * them and nobody is kept waiting by others when many do.
 *
 * Each member - a queue - has a number of buffers that is always there for it, whatever the others
 * do. What is left may be borrowed, but for the part of one member more. A member that comes while
 * its part is lent is not taken in. While somebody waits, nobody borrows more than an equal part.
 *
 * A claim that is granted can be met at once. Claims belong to one thread; members come and go in
 * others.
 *
 * Nothing here sleeps, locks or allocates: compiled as it is by the unit tests.
 */
#ifndef POLT_SHARE_H
#define POLT_SHARE_H

#include <linux/atomic.h>
#include <linux/types.h>

/**
 * struct polt_share - buffers of one size
 * @nr: how many there are
 * @least: how many each member may always have; at least 1
 * @most_members: how many members there may be, so that something is left to be borrowed
 * @active: members that have any now
 * @borrowed: buffers that members have beyond @least
 */
struct polt_share {
	unsigned int nr;
	unsigned int least;
	unsigned int most_members;
	unsigned int active;
	atomic_t borrowed;
};

void polt_share_init(struct polt_share *share, unsigned int nr, unsigned int least);
bool polt_share_admits(const struct polt_share *share, int members);
bool polt_share_claim(struct polt_share *share, const atomic_t *members, unsigned int *claimed,
		      unsigned int count, bool contended);
void polt_share_release(struct polt_share *share, unsigned int *claimed, unsigned int count);

#endif
