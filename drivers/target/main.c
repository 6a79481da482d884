// SPDX-License-Identifier: GPL-2.0-only
/*
 * pollard-target.ko: NVMe over RDMA targets whose queues are driven by the core's poll groups.
 */
#include <linux/module.h>
#include <linux/workqueue.h>

#include "core/group.h"
#include "target/command.h"
#include "target/config.h"
#include "target/ctrl.h"
#include "target/netlink.h"
#include "target/queue.h"

struct workqueue_struct *polt_admin_wq;

static int __init polt_init(void)
{
	int error;

	polt_admin_wq = alloc_workqueue("pollard-admin", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!polt_admin_wq)
		return -ENOMEM;
	error = polt_ctrls_init();
	if (error)
		goto err_ctrls;
	error = polt_queues_init();
	if (error)
		goto err_queues;
	error = polt_config_init();
	if (error)
		goto err_config;
	error = polt_netlink_init();
	if (error)
		goto err_netlink;
	polt_debugfs_init();
	return 0;

err_netlink:
	polt_config_exit();
err_config:
	polt_queues_exit();
err_queues:
	polt_ctrls_exit();
err_ctrls:
	destroy_workqueue(polt_admin_wq);
	return error;
}

/*
 * Everything configured is deleted, which ends every queue; the last command may be in a disk, this
 * is the one place that waits for it. Then no poll group calls into this module any more.
 */
static void __exit polt_exit(void)
{
	polt_debugfs_exit();
	polt_netlink_exit();
	polt_config_exit();
	polt_queues_exit();
	pol_groups_sync();
	polt_ctrls_exit();
	destroy_workqueue(polt_admin_wq);
}

module_init(polt_init);
module_exit(polt_exit);
MODULE_DESCRIPTION("Pollard: polled NVMe over RDMA, target");
MODULE_LICENSE("GPL");
