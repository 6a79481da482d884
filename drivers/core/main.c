// SPDX-License-Identifier: GPL-2.0-only
/*
 * pollard.ko: what target and initiator share. Poll groups, RDMA devices, registered memory,
 * latency histograms and the wire format of connection set-up. It does nothing by itself: a group
 * sleeps until a queue is placed in it.
 */
#include <linux/module.h>

#include "core/device.h"
#include "core/group.h"
#include "core/netlink.h"
#include "core/sysfs.h"

static int __init pol_init(void)
{
	int error;

	error = pol_sysfs_init();
	if (error)
		return error;
	pol_debugfs_init();
	error = pol_groups_init();
	if (error)
		goto err_groups;
	error = pol_devices_init();
	if (error)
		goto err_devices;
	error = pol_netlink_init();
	if (error)
		goto err_netlink;
	return 0;

err_netlink:
	pol_devices_exit();
err_devices:
	pol_groups_exit();
err_groups:
	pol_debugfs_exit();
	pol_sysfs_exit();
	return error;
}

static void __exit pol_exit(void)
{
	pol_netlink_exit();
	pol_devices_exit();
	pol_groups_exit();
	pol_debugfs_exit();
	pol_sysfs_exit();
}

module_init(pol_init);
module_exit(pol_exit);
MODULE_DESCRIPTION("Pollard: polled NVMe over RDMA, core");
MODULE_LICENSE("GPL");
