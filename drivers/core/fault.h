/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Faults on purpose, in a DEBUG build on a kernel with fault injection: what the tests have to
 * notice is left out. The controls are the kernel's usual ones (Documentation/fault-injection in
 * its sources), in /sys/kernel/debug/pollard; nothing fails until they say so.
 *
 *	fail_wake	a group that sleeps is not woken
 *	fail_sync	a hand-over between device and CPU does not copy between the two sides of
 *			the emulated bounce buffer, if it is of min-bytes or more: by default it
 *			is data that is meant, and neither capsules nor responses
 */
#ifndef POL_CORE_FAULT_H
#define POL_CORE_FAULT_H

#include <linux/types.h>

struct dentry;

#if defined(POLLARD_DEBUG) && defined(CONFIG_FAULT_INJECTION_DEBUG_FS)

void pol_fault_init(struct dentry *dir);
bool pol_fault_wake(void);
bool pol_fault_sync(size_t len);

#else

static inline void pol_fault_init(struct dentry *dir)
{
}

static inline bool pol_fault_wake(void)
{
	return false;
}

static inline bool pol_fault_sync(size_t len)
{
	return false;
}

#endif

#endif
