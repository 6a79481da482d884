// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arrival and removal of RDMA devices. The core is the only ib_client; see device.h for the promise
 * that clients make.
 *
 * pol_devices_lock guards both lists and the marks `gone`. It is never held while a client is
 * called: clients wait for CM handlers, and those look devices up. A client that is being called is
 * pinned by its use count instead, which its unregistering waits for.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "core/device.h"
#include "core/netlink.h"

static LIST_HEAD(pol_devices);
static LIST_HEAD(pol_clients);
static DEFINE_MUTEX(pol_devices_lock);

static int pol_device_arrived(struct ib_device *ib);
static void pol_device_removed(struct ib_device *ib, void *data);

static struct ib_client pol_ib_client = {
	.name = "pollard",
	.add = pol_device_arrived,
	.remove = pol_device_removed,
};

static void pol_device_free(struct kref *ref)
{
	kfree(container_of(ref, struct pol_device, ref));
}

/**
 * pol_device_put - drop a reference
 * @device: from pol_device_get(). Any context
 */
void pol_device_put(struct pol_device *device)
{
	kref_put(&device->ref, pol_device_free);
}
EXPORT_SYMBOL_GPL(pol_device_put);

/**
 * pol_device_get - find Pollard's view of an RDMA device
 * @ib: a device the caller knows to exist (a cm_id is bound to it, say)
 *
 * Process context, may sleep.
 *
 * Return: the device with a reference, or NULL when it is going away.
 */
struct pol_device *pol_device_get(struct ib_device *ib)
{
	struct pol_device *device;

	mutex_lock(&pol_devices_lock);
	list_for_each_entry(device, &pol_devices, entry) {
		if (device->ib == ib) {
			kref_get(&device->ref);
			mutex_unlock(&pol_devices_lock);
			return device;
		}
	}
	mutex_unlock(&pol_devices_lock);
	return NULL;
}
EXPORT_SYMBOL_GPL(pol_device_get);

/**
 * pol_device_for_each - look at every device that is there
 * @visit: called with the list locked
 * @arg: given to @visit
 *
 * Return: 0, or what the first @visit that returned something else returned.
 */
int pol_device_for_each(int (*visit)(struct pol_device *device, void *arg), void *arg)
{
	struct pol_device *device;
	int result = 0;

	mutex_lock(&pol_devices_lock);
	list_for_each_entry(device, &pol_devices, entry) {
		result = visit(device, arg);
		if (result)
			break;
	}
	mutex_unlock(&pol_devices_lock);
	return result;
}
EXPORT_SYMBOL_GPL(pol_device_for_each);

static void pol_client_unpin(struct pol_client *client)
{
	if (refcount_dec_and_test(&client->users))
		complete(&client->idle);
}

/* The next client that is not leaving, pinned; `previous` (pinned, or NULL to begin) is let go. */
static struct pol_client *pol_client_next(struct pol_client *previous)
{
	struct pol_client *client = previous;

	mutex_lock(&pol_devices_lock);
	client = list_prepare_entry(client, &pol_clients, entry);
	list_for_each_entry_continue(client, &pol_clients, entry)
		if (refcount_inc_not_zero(&client->users))
			goto found;
	client = NULL;
found:
	mutex_unlock(&pol_devices_lock);
	if (previous)
		pol_client_unpin(previous);
	return client;
}

static int pol_device_arrived(struct ib_device *ib)
{
	struct pol_device *device;
	struct pol_client *client = NULL;

	device = kzalloc(sizeof(*device), GFP_KERNEL);
	if (!device) {
		/* What this returns is seen by nobody. */
		pr_warn("no memory to use %s; it is left alone until it comes again\n",
			dev_name(&ib->dev));
		return -ENOMEM;
	}
	device->ib = ib;
	kref_init(&device->ref);
	strscpy(device->name, dev_name(&ib->dev), sizeof(device->name));
	ib_set_client_data(ib, &pol_ib_client, device);
	mutex_lock(&pol_devices_lock);
	list_add_tail(&device->entry, &pol_devices);
	mutex_unlock(&pol_devices_lock);

	while ((client = pol_client_next(client)))
		if (client->device_added)
			client->device_added(device);
	pol_netlink_device_changed(device);
	return 0;
}

static void pol_device_removed(struct ib_device *ib, void *data)
{
	struct pol_device *device = data;
	struct pol_client *client = NULL;

	mutex_lock(&pol_devices_lock);
	WRITE_ONCE(device->gone, true);
	list_del(&device->entry);
	mutex_unlock(&pol_devices_lock);

	while ((client = pol_client_next(client)))
		client->device_gone(device);
	WARN_ONCE(atomic_read(&device->cqs) || atomic_read(&device->queues),
		  "%s: %d completion queues and %d queue pairs left behind\n", device->name,
		  atomic_read(&device->cqs), atomic_read(&device->queues));
	pol_netlink_device_gone(device);
	pol_device_put(device);
}

/**
 * pol_client_register - be told of devices
 * @client: memory of the module; stays registered until pol_client_unregister()
 *
 * device_added() is called for the devices that are there already. Process context, may sleep.
 *
 * Return: 0; -EPROTO when the module was built against another core; -ENOMEM.
 */
int pol_client_register(struct pol_client *client)
{
	struct pol_device *device, **found;
	unsigned int nr = 0, i, noio;

	if (client->api != POL_API) {
		pr_err("%s was built for another version of the core (%u, this is %u)\n",
		       client->name, client->api, POL_API);
		return -EPROTO;
	}
	refcount_set(&client->users, 1);
	init_completion(&client->idle);

	/*
	 * Devices that arrive from here on tell the client themselves; those here are told below.
	 */
	mutex_lock(&pol_devices_lock);
	list_for_each_entry(device, &pol_devices, entry)
		nr++;
	/* An initiator that reconnects waits for this lock, and write-back may wait for it. */
	noio = memalloc_noio_save();
	found = kcalloc(nr, sizeof(*found), GFP_KERNEL);
	memalloc_noio_restore(noio);
	if (!found) {
		mutex_unlock(&pol_devices_lock);
		return -ENOMEM;
	}
	nr = 0;
	list_for_each_entry(device, &pol_devices, entry) {
		kref_get(&device->ref);
		found[nr++] = device;
	}
	list_add_tail(&client->entry, &pol_clients);
	mutex_unlock(&pol_devices_lock);

	for (i = 0; i < nr; i++) {
		if (client->device_added && !READ_ONCE(found[i]->gone))
			client->device_added(found[i]);
		pol_device_put(found[i]);
	}
	kfree(found);
	return 0;
}
EXPORT_SYMBOL_GPL(pol_client_register);

/**
 * pol_client_unregister - not be told any more
 * @client: a registered client
 *
 * Waits for calls that are running; none comes afterwards. Process context, may sleep.
 */
void pol_client_unregister(struct pol_client *client)
{
	pol_client_unpin(client);
	wait_for_completion(&client->idle);
	mutex_lock(&pol_devices_lock);
	list_del(&client->entry);
	mutex_unlock(&pol_devices_lock);
}
EXPORT_SYMBOL_GPL(pol_client_unregister);

/**
 * pol_devices_init - begin to know RDMA devices
 *
 * Those of this machine are known when it returns. Module init, before the first client.
 *
 * Return: 0 or -errno.
 */
int __init pol_devices_init(void)
{
	return ib_register_client(&pol_ib_client);
}

/**
 * pol_devices_exit - know no device any more
 *
 * Every device is removed as if it had gone. No client is registered any more. Process context, may
 * sleep.
 */
void pol_devices_exit(void)
{
	ib_unregister_client(&pol_ib_client);
}
