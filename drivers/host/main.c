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
struct workqueue_struct *polh_reconnect_wq;
struct workqueue_struct *polh_drain_wq;

static struct pol_client polh_client = {
	.name		= "pollard-host",
	.api		= POL_API,
	.device_gone	= polh_recovery_device_gone,
};

static void polh_destroy_workqueues(void)
{
	if (polh_reconnect_wq)
		destroy_workqueue(polh_reconnect_wq);
	if (polh_wq)
		destroy_workqueue(polh_wq);
	if (polh_drain_wq)
		destroy_workqueue(polh_drain_wq);
}

/*
 * On the way of write-back: memory is got by cleaning pages, which may need a reconnect. Then each
 * of these has one thread, so no work may wait for another of its own queue.
 */
static int __init polh_create_workqueues(void)
{
	polh_wq = alloc_workqueue("pollard-host", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	polh_reconnect_wq = alloc_workqueue("pollard-host-reconnect", WQ_MEM_RECLAIM | WQ_UNBOUND,
					    0);
	polh_drain_wq = alloc_workqueue("pollard-host-drain", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (polh_wq && polh_reconnect_wq && polh_drain_wq)
		return 0;
	polh_destroy_workqueues();
	return -ENOMEM;
}

static int __init polh_init(void)
{
	int err;

	err = polh_create_workqueues();
	if (err)
		return err;
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
	polh_destroy_workqueues();
	return err;
}

static void __exit polh_exit(void)
{
	polh_transport_exit();
	polh_ctrls_delete_all();
	polh_netlink_exit();
	pol_client_unregister(&polh_client);
	pol_groups_sync();
	polh_destroy_workqueues();
}

module_init(polh_init);
module_exit(polh_exit);

MODULE_DESCRIPTION("Pollard: polled NVMe over RDMA, initiator");
MODULE_LICENSE("GPL");
MODULE_ALIAS("nvme-pollard");
