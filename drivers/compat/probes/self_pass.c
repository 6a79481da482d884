// SPDX-License-Identifier: GPL-2.0-only
/* Checks the probes: this must compile. */
#include <linux/module.h>
#include <linux/blk-mq.h>
#include <rdma/ib_verbs.h>

int probe(struct ib_device *device);
int probe(struct ib_device *device)
{
	return device->phys_port_cnt;
}
