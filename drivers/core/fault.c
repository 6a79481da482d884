// SPDX-License-Identifier: GPL-2.0-only
/* Faults on purpose. See fault.h; compiled where they can be asked for only. */
#include <linux/debugfs.h>
#include <linux/fault-inject.h>

#include "core/fault.h"

static DECLARE_FAULT_ATTR(pol_fault_wake_attr);
static DECLARE_FAULT_ATTR(pol_fault_sync_attr);
static u32 pol_fault_sync_min = 512;

/**
 * pol_fault_init - show the controls
 * @dir: directory in debugfs; they go with it
 */
void pol_fault_init(struct dentry *dir)
{
	struct dentry *sync;

	fault_create_debugfs_attr("fail_wake", dir, &pol_fault_wake_attr);
	sync = fault_create_debugfs_attr("fail_sync", dir, &pol_fault_sync_attr);
	if (!IS_ERR(sync))
		debugfs_create_u32("min-bytes", 0600, sync, &pol_fault_sync_min);
}

/**
 * pol_fault_wake - is a sleeping group not to be woken?
 *
 * Any context.
 */
bool pol_fault_wake(void)
{
	return should_fail(&pol_fault_wake_attr, 1);
}

/**
 * pol_fault_sync - is a hand-over to be left out?
 * @len: its bytes. Any context
 */
bool pol_fault_sync(size_t len)
{
	return len >= READ_ONCE(pol_fault_sync_min) && should_fail(&pol_fault_sync_attr, len);
}
