// SPDX-License-Identifier: GPL-2.0-only
/*
 * pollard-host.ko: an initiator transport for nvme-fabrics. Loading and unloading.
 *
 * Unloading deletes all controllers first, as `nvme disconnect-all` would.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include "host/host.h"
#include "host/netlink.h"

struct workqueue_struct *polh_wq;
struct workqueue_struct *polh_drain_wq;

static struct pol_client polh_client = {
	.name		= "pollard-host",
	.api		= POL_API,
	.device_gone	= polh_recovery_device_gone,
};

static int __init polh_init(void)
{
	int err;

	/* On the way of write-back: memory is got by cleaning pages, which may need a reconnect. */
	polh_wq = alloc_workqueue("pollard-host", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!polh_wq)
		return -ENOMEM;
	err = -ENOMEM;
	polh_drain_wq = alloc_workqueue("pollard-host-drain", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!polh_drain_wq)
		goto err_drain_wq;
	err = pol_client_register(&polh_client);
	if (err)
		goto err_client;
	err = polh_netlink_init();
	if (err)
		goto err_netlink;
	err = polh_transport_init();
	if (err)
		goto err_transport;
	return 0;

err_transport:
	polh_netlink_exit();
err_netlink:
	pol_client_unregister(&polh_client);
err_client:
	destroy_workqueue(polh_drain_wq);
err_drain_wq:
	destroy_workqueue(polh_wq);
	return err;
}

static void __exit polh_exit(void)
{
	polh_transport_exit();
	polh_ctrls_delete_all();
	polh_netlink_exit();
	pol_client_unregister(&polh_client);
	pol_groups_sync();
	destroy_workqueue(polh_wq);
	destroy_workqueue(polh_drain_wq);
}

module_init(polh_init);
module_exit(polh_exit);

MODULE_DESCRIPTION("Pollard: polled NVMe over RDMA, initiator");
MODULE_LICENSE("GPL");
MODULE_ALIAS("nvme-pollard");
