// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of what the administrator configures: how subsystems, namespaces, hosts and links are
 * made, found, put into effect and deleted. What may be changed is decided in change.c; ports,
 * which have a listener to start and stop, have their own part in port.c.
 *
 * An object is in polt_objects[] from the change that made it until it is gone, so that dumps show
 * it also while it is being deleted; the lists and the xarray that RCU readers walk hold it only as
 * long as it is in effect. Deleting takes three steps: the change takes it out of what readers find
 * (polt_*_delete, under the mutex, never waits); the reaper tells its users to end; once nobody is
 * left - the reaper looks whenever polt_config_reap() says that something ended, a namespace's own
 * work when its last command has left the disk - netlink is told and the memory is freed after RCU.
 */
#include <linux/jhash.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "target/config.h"
#include "target/ctrl.h"
#include "target/netlink.h"
#include "target/txn.h"

DEFINE_MUTEX(polt_config_lock);
struct workqueue_struct *polt_config_wq;
LIST_HEAD(polt_subsystems);
LIST_HEAD(polt_ports);
struct list_head polt_objects[POLT_KINDS];
struct polt_subsystem *polt_discovery_subsystem;

static atomic64_t polt_ids;		/* last id given to an object */
static u64 polt_changes;		/* changes made; config lock */
static atomic64_t polt_generation = ATOMIC64_INIT(1);

/* Module exit waits for objects to be gone, and for the memory of those kept by kref to be free. */
static atomic_t polt_kept;
static DECLARE_WAIT_QUEUE_HEAD(polt_idle);

static void polt_namespace_free(struct polt_namespace *namespace);
static void polt_config_reap_work(struct work_struct *work);
static DECLARE_WORK(polt_reap_work, polt_config_reap_work);

/**
 * polt_config_reap - look again, in a worker, whether objects being deleted are gone
 *
 * To be called when a controller or a port has lost its last RDMA half, a port its listener, or a
 * subsystem a namespace: that is what such objects wait for (polt_ctrl_any()).
 *
 * Context: any.
 */
void polt_config_reap(void)
{
	queue_work(polt_config_wq, &polt_reap_work);
}

/**
 * polt_config_generation - changes with every change that a discovery log page could show
 *
 * It is GENCTR of that page (NVMe over Fabrics, "Discovery Log Page").
 *
 * Context: any.
 */
u64 polt_config_generation(void)
{
	return atomic64_read(&polt_generation);
}

/**
 * polt_config_discovery_changed - something that a discovery log page shows has changed
 *
 * Context: process context, under polt_config_lock.
 */
void polt_config_discovery_changed(void)
{
	lockdep_assert_held(&polt_config_lock);
	atomic64_inc(&polt_generation);
	polt_aen_discovery_changed();
}

static void polt_kept_put(void)
{
	if (atomic_dec_and_test(&polt_kept))
		wake_up(&polt_idle);
}

/* All objects */

/**
 * polt_object_init - begin to make an object: it has an id from here on
 * @object: all zeroes
 * @kind: what it is part of
 *
 * Context: any.
 */
void polt_object_init(struct polt_object *object, enum polt_kind kind)
{
	INIT_LIST_HEAD(&object->all);
	object->kind = kind;
	object->id = atomic64_inc_return(&polt_ids);
}

/**
 * polt_object_changed - an object has changed: netlink hears of it
 * @object: one that has been added
 *
 * It has a new version, so that a transaction which has seen the old one cannot set or delete it
 * (but for a port).
 *
 * Context: process context, sleeps; under polt_config_lock, without a ctrl_lock.
 */
void polt_object_changed(struct polt_object *object)
{
	lockdep_assert_held(&polt_config_lock);
	object->version = ++polt_changes;
	polt_netlink_changed(object);
}

/**
 * polt_object_add - an object is in effect: dumps show it, netlink hears of it
 * @object: linked in and complete
 *
 * Context: as polt_object_changed().
 */
void polt_object_add(struct polt_object *object)
{
	struct polt_object *before;

	lockdep_assert_held(&polt_config_lock);
	/* A transaction may put an object into effect long after it was made. */
	list_for_each_entry_reverse(before, &polt_objects[object->kind], all)
		if (before->id < object->id)
			break;
	list_add(&object->all, &before->all);
	polt_object_changed(object);
}

/* Nothing uses a deleted object any more. */
static void polt_object_gone(struct polt_object *object)
{
	lockdep_assert_held(&polt_config_lock);
	list_del(&object->all);
	polt_netlink_gone(object);
	wake_up(&polt_idle);
}

/**
 * polt_object_free - free an object that was never put into effect
 * @object: the object, may be NULL
 *
 * Context: process context, may sleep (closes a namespace's back end).
 */
void polt_object_free(struct polt_object *object)
{
	if (!object)
		return;
	switch (object->kind) {
	case POLT_SUBSYSTEM:
		polt_subsystem_put(container_of(object, struct polt_subsystem, object));
		break;
	case POLT_NAMESPACE:
		polt_namespace_free(container_of(object, struct polt_namespace, object));
		break;
	case POLT_PORT:
		polt_port_put(container_of(object, struct polt_port, object));
		break;
	case POLT_HOST:
		kfree(container_of(object, struct polt_host, object));
		break;
	case POLT_LINK:
		kfree(container_of(object, struct polt_port_link, object));
		break;
	case POLT_KINDS:
		break;
	}
}

/* Subsystems */

/* Makes two halves of a serial number of one NQN. Changing it changes everybody's disks. */
#define POLT_SERIAL_SEED	0x504f4c4c

/* The same serial number each time the subsystem is configured, other ones for other NQNs. */
static void polt_subsystem_make_serial(struct polt_subsystem *subsystem)
{
	size_t len = strlen(subsystem->nqn);

	snprintf(subsystem->serial, sizeof(subsystem->serial), "%08x%08x",
		 jhash(subsystem->nqn, len, 0), jhash(subsystem->nqn, len, POLT_SERIAL_SEED));
}

/**
 * polt_subsystem_alloc - make a subsystem that is not in effect yet
 * @nqn: its NQN, POLT_NQN_MAX characters at most; the serial number is made of it
 *
 * Context: process context, sleeps.
 * Return: the subsystem with a reference, open to no host; NULL without memory.
 */
struct polt_subsystem *polt_subsystem_alloc(const char *nqn)
{
	struct polt_subsystem *subsystem = kzalloc(sizeof(*subsystem), GFP_KERNEL);

	if (!subsystem)
		return NULL;
	polt_object_init(&subsystem->object, POLT_SUBSYSTEM);
	kref_init(&subsystem->ref);
	strscpy(subsystem->nqn, nqn, sizeof(subsystem->nqn));
	polt_subsystem_make_serial(subsystem);
	strscpy(subsystem->model, "Pollard", sizeof(subsystem->model));
	subsystem->cntlid_min = 1;
	subsystem->cntlid_max = POLT_CNTLID_MAX;
	xa_init(&subsystem->namespaces);
	INIT_LIST_HEAD(&subsystem->namespace_list);
	INIT_LIST_HEAD(&subsystem->hosts);
	INIT_LIST_HEAD(&subsystem->links);
	mutex_init(&subsystem->ctrl_lock);
	INIT_LIST_HEAD(&subsystem->ctrls);
	ida_init(&subsystem->cntlids);
	atomic_inc(&polt_kept);
	return subsystem;
}

static void polt_subsystem_release(struct kref *ref)
{
	struct polt_subsystem *subsystem = container_of(ref, struct polt_subsystem, ref);

	xa_destroy(&subsystem->namespaces);
	ida_destroy(&subsystem->cntlids);
	kfree_rcu(subsystem, rcu);
	polt_kept_put();
}

/**
 * polt_subsystem_get - take another reference
 * @subsystem: a subsystem the caller has a reference of
 *
 * Context: any.
 * Return: @subsystem.
 */
struct polt_subsystem *polt_subsystem_get(struct polt_subsystem *subsystem)
{
	kref_get(&subsystem->ref);
	return subsystem;
}

/**
 * polt_subsystem_put - give a reference back
 * @subsystem: the subsystem
 *
 * Context: any.
 */
void polt_subsystem_put(struct polt_subsystem *subsystem)
{
	kref_put(&subsystem->ref, polt_subsystem_release);
}

/**
 * polt_subsystem_find - find a subsystem a host asks for
 * @nqn: its NQN, compared byte for byte; the well-known discovery NQN is found too
 *
 * Context: any.
 * Return: the subsystem with a reference, NULL when there is none.
 */
struct polt_subsystem *polt_subsystem_find(const char *nqn)
{
	struct polt_subsystem *subsystem;

	rcu_read_lock();
	list_for_each_entry_rcu(subsystem, &polt_subsystems, entry)
		if (!strcmp(subsystem->nqn, nqn) && kref_get_unless_zero(&subsystem->ref))
			goto found;
	subsystem = NULL;
found:
	rcu_read_unlock();
	return subsystem;
}

/**
 * polt_subsystem_allows - may a host use a subsystem?
 * @subsystem: the subsystem
 * @hostnqn: the NQN the host says it has
 *
 * Context: any; who adds a controller asks with ctrl_lock held.
 */
bool polt_subsystem_allows(struct polt_subsystem *subsystem, const char *hostnqn)
{
	struct polt_host *host;
	bool allowed = false;

	if (READ_ONCE(subsystem->allow_any_host))
		return true;
	rcu_read_lock();
	list_for_each_entry_rcu(host, &subsystem->hosts, entry)
		if (!strcmp(host->nqn, hostnqn)) {
			allowed = true;
			break;
		}
	rcu_read_unlock();
	return allowed;
}

/**
 * polt_subsystem_add - put a subsystem into effect
 * @subsystem: not added yet; its reference is the configuration's now
 *
 * Context: process context, sleeps; under polt_config_lock.
 */
void polt_subsystem_add(struct polt_subsystem *subsystem)
{
	lockdep_assert_held(&polt_config_lock);
	list_add_tail_rcu(&subsystem->entry, &polt_subsystems);
	polt_object_add(&subsystem->object);
}

/**
 * polt_subsystem_delete - take a subsystem out of effect, with its links, hosts and namespaces
 * @subsystem: one in effect, not the discovery subsystem
 *
 * Hosts lose their connections. Waits for none of them, nor for a disk: the reaper does.
 *
 * Context: process context, sleeps; under polt_config_lock, takes ctrl_lock.
 */
void polt_subsystem_delete(struct polt_subsystem *subsystem)
{
	struct polt_namespace *namespace;
	struct polt_port_link *link, *next_link;
	struct polt_host *host, *next_host;

	lockdep_assert_held(&polt_config_lock);
	list_del_rcu(&subsystem->entry);
	mutex_lock(&subsystem->ctrl_lock);
	subsystem->dead = true;
	mutex_unlock(&subsystem->ctrl_lock);
	subsystem->object.deleting = true;
	/* Before the namespaces: hosts are to lose the connection, not to hear of no disk. */
	polt_ctrl_fail_subsystem(subsystem);

	list_for_each_entry_safe(link, next_link, &subsystem->links, subsystem_entry)
		polt_link_delete(link);
	list_for_each_entry_safe(host, next_host, &subsystem->hosts, entry)
		polt_host_delete(host);
	list_for_each_entry(namespace, &subsystem->namespace_list, entry)
		if (!namespace->object.deleting)
			polt_namespace_delete(namespace);
	polt_object_changed(&subsystem->object);
	polt_config_reap();
}

/* A child keeps its subsystem's memory, and keeps the subsystem from being reported gone. */
static void polt_child_add(struct polt_object *object, struct polt_subsystem **parent,
			   struct polt_subsystem *subsystem)
{
	*parent = polt_subsystem_get(subsystem);
	subsystem->children++;
	polt_object_add(object);
}

static void polt_child_gone(struct polt_object *object, struct polt_subsystem *subsystem)
{
	polt_object_gone(object);
	subsystem->children--;
	polt_subsystem_put(subsystem);
}

/* Namespaces */

static void polt_namespace_free(struct polt_namespace *namespace)
{
	if (namespace->backend)
		polt_backend_close(namespace->backend);
	percpu_ref_exit(&namespace->ref);
	free_percpu(namespace->counters);
	kfree(namespace->path);
	kfree_rcu(namespace, rcu);
}

/* The last command has left a deleted namespace. */
static void polt_namespace_release(struct work_struct *work)
{
	struct polt_namespace *namespace = container_of(work, struct polt_namespace, release);
	struct polt_backend *backend = namespace->backend;

	/* Dumps look at it under the mutex. */
	mutex_lock(&polt_config_lock);
	namespace->backend = NULL;
	mutex_unlock(&polt_config_lock);
	polt_backend_close(backend);

	mutex_lock(&polt_config_lock);
	list_del(&namespace->entry);
	polt_child_gone(&namespace->object, namespace->subsystem);
	mutex_unlock(&polt_config_lock);
	polt_namespace_free(namespace);
	polt_config_reap();
}

static void polt_namespace_drained(struct percpu_ref *ref)
{
	struct polt_namespace *namespace = container_of(ref, struct polt_namespace, ref);

	queue_work(polt_config_wq, &namespace->release);
}

/**
 * polt_namespace_alloc - make a namespace that is not in effect yet, and has no back end
 *
 * Context: process context, sleeps.
 * Return: the namespace, or NULL without memory.
 */
struct polt_namespace *polt_namespace_alloc(void)
{
	struct polt_namespace *namespace = kzalloc(sizeof(*namespace), GFP_KERNEL);

	if (!namespace)
		return NULL;
	namespace->counters = alloc_percpu(struct polt_namespace_counters);
	if (!namespace->counters)
		goto err_counters;
	if (percpu_ref_init(&namespace->ref, polt_namespace_drained, 0, GFP_KERNEL))
		goto err_ref;
	polt_object_init(&namespace->object, POLT_NAMESPACE);
	INIT_WORK(&namespace->release, polt_namespace_release);
	return namespace;

err_ref:
	free_percpu(namespace->counters);
err_counters:
	kfree(namespace);
	return NULL;
}

/**
 * polt_namespace_get - look a namespace up for a command
 * @subsystem: the subsystem of the command's controller
 * @nsid: namespace ID, any value
 *
 * Context: any; does not sleep.
 * Return: the namespace with its percpu reference, to be given back with polt_namespace_put() when
 * the command has left the back end; NULL when hosts may see no such namespace.
 */
struct polt_namespace *polt_namespace_get(struct polt_subsystem *subsystem, u32 nsid)
{
	struct polt_namespace *namespace;

	rcu_read_lock();
	namespace = xa_load(&subsystem->namespaces, nsid);
	if (namespace && !percpu_ref_tryget_live_rcu(&namespace->ref))
		namespace = NULL;
	rcu_read_unlock();
	return namespace;
}

/**
 * polt_namespace_reserve - make room for a namespace where commands look it up
 * @subsystem: in effect or being made
 * @nsid: 1 to POLT_NSID_MAX
 *
 * So showing it cannot fail. The room is kept until the subsystem goes.
 *
 * Context: process context, sleeps; under polt_config_lock.
 * Return: 0 or -ENOMEM.
 */
int polt_namespace_reserve(struct polt_subsystem *subsystem, u32 nsid)
{
	return xa_reserve(&subsystem->namespaces, nsid, GFP_KERNEL);
}

/**
 * polt_namespace_show - let hosts see a namespace, and tell them
 * @namespace: one that is linked in, with room for it reserved, that hosts do not see
 *
 * Context: process context, sleeps; under polt_config_lock.
 */
void polt_namespace_show(struct polt_namespace *namespace)
{
	struct polt_subsystem *subsystem = namespace->subsystem;

	lockdep_assert_held(&polt_config_lock);
	namespace->enabled = true;
	WARN_ON(xa_is_err(xa_store(&subsystem->namespaces, namespace->nsid, namespace,
				   GFP_KERNEL)));
	polt_aen_namespace_changed(subsystem, namespace->nsid);
}

/**
 * polt_namespace_hide - let hosts see a namespace no more, and tell them
 * @namespace: one in effect; nothing happens when hosts do not see it
 *
 * Commands that have found it run to their ends.
 *
 * Context: process context, sleeps; under polt_config_lock.
 */
void polt_namespace_hide(struct polt_namespace *namespace)
{
	struct polt_subsystem *subsystem = namespace->subsystem;

	lockdep_assert_held(&polt_config_lock);
	if (!namespace->enabled)
		return;
	namespace->enabled = false;
	xa_store(&subsystem->namespaces, namespace->nsid, XA_ZERO_ENTRY, GFP_KERNEL);
	if (!subsystem->dead)
		polt_aen_namespace_changed(subsystem, namespace->nsid);
}

/**
 * polt_namespace_add - put a namespace into effect
 * @namespace: complete, with a back end; shown at once when it is enabled
 * @subsystem: where to, in effect
 * @nsid: 1 to POLT_NSID_MAX, of no other namespace in effect there, room reserved
 *
 * Context: process context, sleeps; under polt_config_lock.
 */
void polt_namespace_add(struct polt_namespace *namespace, struct polt_subsystem *subsystem,
			u32 nsid)
{
	bool show = namespace->enabled;

	lockdep_assert_held(&polt_config_lock);
	namespace->nsid = nsid;
	list_add_tail(&namespace->entry, &subsystem->namespace_list);
	polt_child_add(&namespace->object, &namespace->subsystem, subsystem);
	if (show)
		polt_namespace_show(namespace);
}

/**
 * polt_namespace_delete - take a namespace out of effect
 * @namespace: one in effect
 *
 * When its last command has left the disk a work closes the back end and lets go.
 *
 * Context: process context, sleeps, but not for that; under polt_config_lock.
 */
void polt_namespace_delete(struct polt_namespace *namespace)
{
	lockdep_assert_held(&polt_config_lock);
	namespace->object.deleting = true;
	polt_namespace_hide(namespace);
	polt_object_changed(&namespace->object);
	percpu_ref_kill(&namespace->ref);
}

/* Hosts */

/**
 * polt_host_alloc - make an entry of a subsystem's list of hosts, not in effect yet
 * @nqn: the host's NQN, POLT_NQN_MAX characters at most
 *
 * Context: process context, sleeps.
 * Return: the host, or NULL without memory.
 */
struct polt_host *polt_host_alloc(const char *nqn)
{
	struct polt_host *host = kzalloc(sizeof(*host), GFP_KERNEL);

	if (!host)
		return NULL;
	polt_object_init(&host->object, POLT_HOST);
	strscpy(host->nqn, nqn, sizeof(host->nqn));
	return host;
}

/**
 * polt_host_add - allow a host to use a subsystem
 * @host: not added yet
 * @subsystem: in effect, without this host
 *
 * Context: process context, sleeps; under polt_config_lock.
 */
void polt_host_add(struct polt_host *host, struct polt_subsystem *subsystem)
{
	lockdep_assert_held(&polt_config_lock);
	list_add_tail_rcu(&host->entry, &subsystem->hosts);
	polt_child_add(&host->object, &host->subsystem, subsystem);
	polt_config_discovery_changed();
}

/**
 * polt_host_delete - take a host off its subsystem's list
 * @host: one in effect
 *
 * The reaper ends its controllers, unless it is allowed again or any host is.
 *
 * Context: process context, sleeps; under polt_config_lock.
 */
void polt_host_delete(struct polt_host *host)
{
	lockdep_assert_held(&polt_config_lock);
	list_del_rcu(&host->entry);
	host->object.deleting = true;
	polt_object_changed(&host->object);
	polt_config_discovery_changed();
	polt_config_reap();
}

/* Returns true when the host is gone: no controller of it is left, or it is allowed again. */
static bool polt_host_reap(struct polt_host *host)
{
	struct polt_subsystem *subsystem = host->subsystem;

	if (!subsystem->dead && polt_subsystem_allows(subsystem, host->nqn))
		return true;
	if (!host->object.ended)
		polt_ctrl_fail_host(subsystem, host->nqn);
	host->object.ended = true;
	return !polt_ctrl_any(subsystem, host->nqn, NULL);
}

/* Links of ports and subsystems */

/**
 * polt_link_alloc - make a link of a port and a subsystem, not in effect yet
 *
 * Context: process context, sleeps.
 * Return: the link, or NULL without memory.
 */
struct polt_port_link *polt_link_alloc(void)
{
	struct polt_port_link *link = kzalloc(sizeof(*link), GFP_KERNEL);

	if (link)
		polt_object_init(&link->object, POLT_LINK);
	return link;
}

/**
 * polt_port_exports - is a subsystem offered on a port?
 * @port: the port
 * @subsystem: the subsystem; the discovery subsystem is offered on every port until that is deleted
 *
 * Context: any; who adds a controller asks with ctrl_lock held.
 */
bool polt_port_exports(struct polt_port *port, struct polt_subsystem *subsystem)
{
	struct polt_port_link *link;
	bool found = false;

	if (subsystem->discovery)
		return !READ_ONCE(port->object.deleting);
	rcu_read_lock();
	list_for_each_entry_rcu(link, &port->links, port_entry)
		if (link->subsystem == subsystem) {
			found = true;
			break;
		}
	rcu_read_unlock();
	return found;
}

/**
 * polt_link_add - offer a subsystem on a port
 * @link: not added yet
 * @port: in effect
 * @subsystem: in effect, not offered there
 *
 * Context: process context, sleeps; under polt_config_lock.
 */
void polt_link_add(struct polt_port_link *link, struct polt_port *port,
		   struct polt_subsystem *subsystem)
{
	lockdep_assert_held(&polt_config_lock);
	link->port = polt_port_get(port);
	link->subsystem = subsystem;
	list_add_tail(&link->subsystem_entry, &subsystem->links);
	list_add_tail_rcu(&link->port_entry, &port->links);
	polt_child_add(&link->object, &link->subsystem, subsystem);
	polt_config_discovery_changed();
}

/**
 * polt_link_delete - offer a subsystem on a port no more
 * @link: one in effect
 *
 * The reaper ends its controllers that came through the port, unless it is offered again.
 *
 * Context: process context, sleeps; under polt_config_lock.
 */
void polt_link_delete(struct polt_port_link *link)
{
	lockdep_assert_held(&polt_config_lock);
	list_del(&link->subsystem_entry);
	list_del_rcu(&link->port_entry);
	link->object.deleting = true;
	polt_object_changed(&link->object);
	polt_config_discovery_changed();
	polt_config_reap();
}

/* Returns true when the link is gone: it carries no controller, or it was made again. */
static bool polt_link_reap(struct polt_port_link *link)
{
	if (polt_port_exports(link->port, link->subsystem))
		return true;
	if (!link->object.ended)
		polt_ctrl_fail_port(link->port, link->subsystem);
	link->object.ended = true;
	return !polt_ctrl_any(link->subsystem, NULL, link->port);
}

/* Returns true when a deleted subsystem is gone: it has no children and no controllers. */
static bool polt_subsystem_reap(struct polt_subsystem *subsystem)
{
	return !subsystem->children && !polt_ctrl_any(subsystem, NULL, NULL);
}

static void polt_config_reap_work(struct work_struct *work)
{
	struct polt_subsystem *subsystem, *next_subsystem;
	struct polt_port_link *link, *next_link;
	struct polt_host *host, *next_host;
	struct polt_port *port, *next_port;

	mutex_lock(&polt_config_lock);
	list_for_each_entry_safe(host, next_host, &polt_objects[POLT_HOST], object.all) {
		if (!host->object.deleting || !polt_host_reap(host))
			continue;
		polt_child_gone(&host->object, host->subsystem);
		kfree_rcu(host, rcu);
	}
	list_for_each_entry_safe(link, next_link, &polt_objects[POLT_LINK], object.all) {
		if (!link->object.deleting || !polt_link_reap(link))
			continue;
		polt_child_gone(&link->object, link->subsystem);
		polt_port_put(link->port);
		kfree_rcu(link, rcu);
	}
	list_for_each_entry_safe(port, next_port, &polt_objects[POLT_PORT], object.all) {
		if (!port->object.deleting || !polt_port_drained(port))
			continue;
		polt_object_gone(&port->object);
		polt_port_put(port);
		polt_ports_retry_locked();
	}
	list_for_each_entry_safe(subsystem, next_subsystem, &polt_objects[POLT_SUBSYSTEM],
				 object.all) {
		if (!subsystem->object.deleting || !polt_subsystem_reap(subsystem))
			continue;
		polt_object_gone(&subsystem->object);
		polt_subsystem_put(subsystem);
	}
	mutex_unlock(&polt_config_lock);
}

/* Ports' memory; the rest of their life is in port.c. */

/**
 * polt_port_get - take another reference
 * @port: a port that is not gone: it listens, or the caller has a reference or polt_config_lock
 *
 * Context: any.
 * Return: @port.
 */
struct polt_port *polt_port_get(struct polt_port *port)
{
	kref_get(&port->ref);
	return port;
}

static void polt_port_release(struct kref *ref)
{
	kfree_rcu(container_of(ref, struct polt_port, ref), rcu);
	polt_kept_put();
}

/**
 * polt_port_put - give a reference back
 * @port: the port
 *
 * Context: any.
 */
void polt_port_put(struct polt_port *port)
{
	kref_put(&port->ref, polt_port_release);
}

/**
 * polt_port_kept - config.c's part of polt_port_alloc(): the reference of who makes a port
 * @port: all zeroes but for its object
 *
 * Context: any.
 */
void polt_port_kept(struct polt_port *port)
{
	kref_init(&port->ref);
	atomic_inc(&polt_kept);
}

/* Set-up and the end of everything */

static bool polt_config_empty(void)
{
	int kind;

	for (kind = 0; kind < POLT_KINDS; kind++)
		if (!list_empty(&polt_objects[kind]))
			return false;
	return true;
}

static void polt_config_delete_all(void)
{
	struct polt_subsystem *subsystem, *next_subsystem;
	struct polt_port *port, *next_port;

	mutex_lock(&polt_config_lock);
	list_for_each_entry_safe(port, next_port, &polt_ports, entry)
		polt_port_delete(port);
	list_for_each_entry_safe(subsystem, next_subsystem, &polt_subsystems, entry)
		if (!subsystem->discovery)
			polt_subsystem_delete(subsystem);
	mutex_unlock(&polt_config_lock);
}

static int polt_discovery_init(void)
{
	polt_discovery_subsystem = polt_subsystem_alloc(NVME_DISC_SUBSYS_NAME);
	if (!polt_discovery_subsystem)
		return -ENOMEM;
	polt_discovery_subsystem->discovery = true;
	polt_discovery_subsystem->allow_any_host = true;
	list_add_tail_rcu(&polt_discovery_subsystem->entry, &polt_subsystems);
	return 0;
}

static void polt_discovery_exit(void)
{
	list_del_rcu(&polt_discovery_subsystem->entry);
	mutex_lock(&polt_discovery_subsystem->ctrl_lock);
	polt_discovery_subsystem->dead = true;
	mutex_unlock(&polt_discovery_subsystem->ctrl_lock);
	polt_ctrl_fail_subsystem(polt_discovery_subsystem);
	polt_subsystem_put(polt_discovery_subsystem);
}

/**
 * polt_config_init - set the configuration up, without any object but the discovery subsystem
 *
 * polt_netlink_init() opens it to the administrator once everything that objects use is ready.
 * Context: module init.
 * Return: 0 or -errno.
 */
int polt_config_init(void)
{
	int kind, err;

	for (kind = 0; kind < POLT_KINDS; kind++)
		INIT_LIST_HEAD(&polt_objects[kind]);
	polt_config_wq = alloc_workqueue("pollard-config", WQ_UNBOUND, 0);
	if (!polt_config_wq)
		return -ENOMEM;
	err = polt_discovery_init();
	if (err)
		goto err_discovery;
	err = polt_txns_init();
	if (err)
		goto err_txns;
	return 0;

err_txns:
	polt_discovery_exit();
	wait_event(polt_idle, !atomic_read(&polt_kept));
err_discovery:
	destroy_workqueue(polt_config_wq);
	return err;
}

/**
 * polt_config_exit - delete everything configured and wait until it is gone
 *
 * polt_netlink_exit() has closed it to the administrator. Also waits until the last controller and
 * queue have let go of their subsystem and port, so the last command has left the disk; listeners
 * and controllers must still work.
 * Context: module exit.
 */
void polt_config_exit(void)
{
	polt_txns_exit();
	polt_config_delete_all();
	wait_event(polt_idle, polt_config_empty());
	polt_discovery_exit();
	wait_event(polt_idle, !atomic_read(&polt_kept));
	destroy_workqueue(polt_config_wq);
}
