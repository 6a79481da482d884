/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMA devices as Pollard sees them. The core is the only ib_client; target and initiator register
 * here and are told when a device goes, so that one removal is one path.
 *
 * A pol_device is found from its ib_device while the device is there. Removal: the device is marked
 * gone (no new user can find it), every client's device_gone() runs and returns only when it has
 * destroyed every verbs object it had on the device, then ib_core may free it. References taken
 * with pol_device_get() keep the structure, not the ib_device.
 */
#ifndef POL_CORE_DEVICE_H
#define POL_CORE_DEVICE_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>

/**
 * struct pol_device - an RDMA device
 * @ib: the verbs device; good while clients may have objects on it, not as long as this structure
 * @entry: link in the list of devices that are there
 * @ref: what pol_device_get() takes
 * @gone: it is being removed: nothing new may be made on it; READ_ONCE
 * @name: what it was called when it arrived
 * @memory_bytes: registered memory in use on it
 * @cqs: completion queues of groups on it
 * @queues: queue pairs of target and initiator on it
 */
struct pol_device {
	struct ib_device *ib;
	struct list_head entry;
	struct kref ref;
	bool gone;
	char name[IB_DEVICE_NAME_MAX];
	atomic_long_t memory_bytes;
	atomic_t cqs;
	atomic_t queues;
};

/**
 * struct pol_client - a module that uses RDMA devices
 * @name: for messages
 * @api: must be POL_API, so that modules of different builds refuse each other
 * @device_added: a device has arrived. Process context, may sleep. May be NULL; may be called
 *	twice for a device that arrives while the client registers
 * @device_gone: destroy every object on the device before returning. Process context, may sleep;
 *	may not wait for anything a peer or a disk controls
 * @entry: the core's
 * @users: the core's: 1, and 1 for each call that is running
 * @idle: the core's: the last call has returned
 */
struct pol_client {
	const char *name;
	unsigned int api;
	void (*device_added)(struct pol_device *device);
	void (*device_gone)(struct pol_device *device);
	struct list_head entry;
	refcount_t users;
	struct completion idle;
};

#define POL_API 1	/* pol_client.api: grows when what the core offers to modules changes */

int pol_client_register(struct pol_client *client);
void pol_client_unregister(struct pol_client *client);
struct pol_device *pol_device_get(struct ib_device *ib);
void pol_device_put(struct pol_device *device);
int pol_device_for_each(int (*visit)(struct pol_device *device, void *arg), void *arg);

int pol_devices_init(void);
void pol_devices_exit(void);

#endif
