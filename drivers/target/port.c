// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ports: an address, and the listener that is kept up on it.
 *
 * Setting up a listener sleeps and may fail for reasons that pass (the address or the RDMA device
 * is not there yet), so each port has a work that owns the listener: it starts it, tries again
 * every second while that fails, starts it again when the address was lost, and stops it for good
 * when the port is deleted. How it went is the port's state and an event. The state changes only in
 * polt_port_set_state(), under polt_config_lock.
 */
#include <linux/inet.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>

#include "target/config.h"
#include "target/ctrl.h"
#include "target/queue.h"

#define POLT_PORT_RETRY		HZ	/* pause before a failed listener is tried again */

static void polt_port_work(struct work_struct *work);

/* Which states may follow a state. */
static const unsigned long polt_port_next[] = {
	[POLT_PORT_STARTING] = BIT(POLT_PORT_LISTENING) | BIT(POLT_PORT_FAILED) |
			       BIT(POLT_PORT_DELETING),
	[POLT_PORT_LISTENING] = BIT(POLT_PORT_STARTING) | BIT(POLT_PORT_DELETING),
	[POLT_PORT_FAILED] = BIT(POLT_PORT_LISTENING) | BIT(POLT_PORT_FAILED) |
			     BIT(POLT_PORT_DELETING),
	[POLT_PORT_DELETING] = 0,
};

/* A work that is queued holds the port: it may be queued once more while it stops the port. */
static void polt_port_kick(struct polt_port *port)
{
	polt_port_get(port);
	if (mod_delayed_work(polt_config_wq, &port->work, 0))
		polt_port_put(port);
}

/* The same after a while, unless it is to come sooner. */
static void polt_port_kick_later(struct polt_port *port)
{
	polt_port_get(port);
	if (!queue_delayed_work(polt_config_wq, &port->work, POLT_PORT_RETRY))
		polt_port_put(port);
}

static void polt_port_set_state(struct polt_port *port, enum polt_port_state state, int error)
{
	lockdep_assert_held(&polt_config_lock);
	if (WARN_ON(!pol_state_may(polt_port_next, port->state, state)))
		return;
	port->state = state;
	port->error = error;
	polt_object_changed(&port->object);
	polt_config_discovery_changed();
}

/**
 * polt_port_alloc - make a port that is not in effect yet, and has no address
 * @id: its number
 *
 * Context: process context, sleeps.
 * Return: the port with a reference; NULL without memory.
 */
struct polt_port *polt_port_alloc(u16 id)
{
	struct polt_port *port = kzalloc(sizeof(*port), GFP_KERNEL);

	if (!port)
		return NULL;
	polt_object_init(&port->object, POLT_PORT);
	polt_port_kept(port);
	port->id = id;
	port->inline_data_size = POLT_INLINE_DEFAULT;
	port->max_queue_depth = POLT_DEPTH_DEFAULT;
	INIT_LIST_HEAD(&port->links);
	INIT_DELAYED_WORK(&port->work, polt_port_work);
	return port;
}

static bool polt_address_usable(const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *in6 = (const void *)addr;
	const struct sockaddr_in *in4 = (const void *)addr;

	if (addr->ss_family == AF_INET)
		return !ipv4_is_multicast(in4->sin_addr.s_addr) &&
		       !ipv4_is_lbcast(in4->sin_addr.s_addr);
	if (ipv6_addr_is_multicast(&in6->sin6_addr) || ipv6_addr_v4mapped(&in6->sin6_addr))
		return false;
	return !(ipv6_addr_type(&in6->sin6_addr) & IPV6_ADDR_LINKLOCAL) || in6->sin6_scope_id;
}

/**
 * polt_port_set_address - give a port that is being made its address
 * @port: the port
 * @traddr: numeric IPv4 or IPv6 address; a link-local one with its interface: fe80::1%eth0
 * @trsvcid: port number
 *
 * Context: process context.
 * Return: 0; -EINVAL when @traddr is no address or not one to listen on.
 */
int polt_port_set_address(struct polt_port *port, const char *traddr, u16 trsvcid)
{
	snprintf(port->trsvcid, sizeof(port->trsvcid), "%u", trsvcid);
	if (inet_pton_with_scope(&init_net, AF_UNSPEC, traddr, port->trsvcid, &port->addr) ||
	    !polt_address_usable(&port->addr))
		return -EINVAL;
	strscpy(port->traddr, traddr, sizeof(port->traddr));
	port->adrfam = port->addr.ss_family == AF_INET ? NVMF_ADDR_FAMILY_IP4 :
							 NVMF_ADDR_FAMILY_IP6;
	return 0;
}

/**
 * polt_port_same_address - would two ports listen on one address?
 * @a: a port with an address
 * @b: another one
 *
 * Context: any.
 */
bool polt_port_same_address(const struct polt_port *a, const struct polt_port *b)
{
	const struct sockaddr_in6 *a6 = (const void *)&a->addr, *b6 = (const void *)&b->addr;
	const struct sockaddr_in *a4 = (const void *)&a->addr, *b4 = (const void *)&b->addr;

	if (a->addr.ss_family != b->addr.ss_family)
		return false;
	if (a->addr.ss_family == AF_INET)
		return a4->sin_port == b4->sin_port && a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return a6->sin6_port == b6->sin6_port && a6->sin6_scope_id == b6->sin6_scope_id &&
	       ipv6_addr_equal(&a6->sin6_addr, &b6->sin6_addr);
}

/**
 * polt_port_add - put a port into effect; its work begins to listen
 * @port: not added yet, with an address; its reference is the configuration's now
 *
 * Context: process context, sleeps; under polt_config_lock.
 */
void polt_port_add(struct polt_port *port)
{
	lockdep_assert_held(&polt_config_lock);
	list_add_tail_rcu(&port->entry, &polt_ports);
	polt_object_add(&port->object);
	polt_port_kick(port);
}

/**
 * polt_port_delete - take a port out of effect, with its links
 * @port: one in effect
 *
 * Its work stops the listener, and ends connections without a controller and discovery controllers;
 * all others go with the links. Waits for nothing.
 *
 * Context: process context, sleeps; under polt_config_lock.
 */
void polt_port_delete(struct polt_port *port)
{
	struct polt_port_link *link, *next;

	lockdep_assert_held(&polt_config_lock);
	list_del_rcu(&port->entry);
	list_for_each_entry_safe(link, next, &port->links, port_entry)
		polt_link_delete(link);
	WRITE_ONCE(port->object.deleting, true);
	polt_port_set_state(port, POLT_PORT_DELETING, 0);
	polt_port_kick(port);
}

/**
 * polt_port_drained - is nothing left of a port but its memory?
 * @port: one being deleted
 *
 * When that may have become true polt_config_reap() is called.
 *
 * Context: process context, under polt_config_lock.
 */
bool polt_port_drained(struct polt_port *port)
{
	lockdep_assert_held(&polt_config_lock);
	return port->stopped && !atomic_read(&port->queues);
}

/* The port is deleted: no listener, and nothing that came through it goes on. */
static void polt_port_stop(struct polt_port *port)
{
	if (port->listening)
		polt_listener_stop(port);
	port->listening = false;
	polt_queue_end_pending(port);

	mutex_lock(&polt_config_lock);
	/* Other subsystems' controllers go with the link that offers them here. */
	polt_ctrl_fail_port(port, polt_discovery_subsystem);
	port->stopped = true;
	mutex_unlock(&polt_config_lock);
	polt_config_reap();
}

static void polt_port_start(struct polt_port *port)
{
	int err = polt_listener_start(port);

	port->listening = !err;
	mutex_lock(&polt_config_lock);
	/* A port deleted meanwhile has its work queued again and will be stopped there. */
	if (port->object.deleting)
		goto unlock;
	if (!err)
		polt_port_set_state(port, POLT_PORT_LISTENING, 0);
	else if (port->state != POLT_PORT_FAILED || port->error != err)
		polt_port_set_state(port, POLT_PORT_FAILED, err);
	if (err)
		polt_port_kick_later(port);
unlock:
	mutex_unlock(&polt_config_lock);
}

static void polt_port_look(struct polt_port *port)
{
	bool deleting, stopped;

	mutex_lock(&polt_config_lock);
	deleting = port->object.deleting;
	stopped = port->stopped;
	mutex_unlock(&polt_config_lock);
	if (stopped)
		return;
	if (deleting) {
		polt_port_stop(port);
		return;
	}
	if (xchg(&port->restart, false) && port->listening) {
		/* First: while it is LISTENING others look at what the listener has noted down. */
		mutex_lock(&polt_config_lock);
		if (!port->object.deleting)
			polt_port_set_state(port, POLT_PORT_STARTING, 0);
		mutex_unlock(&polt_config_lock);
		polt_listener_stop(port);
		port->listening = false;
	}
	if (!port->listening)
		polt_port_start(port);
}

static void polt_port_work(struct work_struct *work)
{
	struct polt_port *port = container_of(to_delayed_work(work), struct polt_port, work);

	polt_port_look(port);
	polt_port_put(port);
}

/**
 * polt_port_restart - a listener is of no use any more: its address or its device went
 * @port: the port it is of
 *
 * The port's work stops it and starts it again, every second until it succeeds.
 *
 * Context: any, but not after polt_listener_stop() has returned.
 */
void polt_port_restart(struct polt_port *port)
{
	WRITE_ONCE(port->restart, true);
	/* One being deleted stops anyway. */
	if (!READ_ONCE(port->object.deleting))
		polt_port_kick(port);
}

/**
 * polt_ports_retry_locked - try the failed ports now: an address that was in use may be free
 *
 * Context: process context, under polt_config_lock.
 */
void polt_ports_retry_locked(void)
{
	struct polt_port *port;

	lockdep_assert_held(&polt_config_lock);
	list_for_each_entry(port, &polt_ports, entry)
		if (port->state == POLT_PORT_FAILED)
			polt_port_kick(port);
}

/**
 * polt_ports_retry - try the failed ports now: an RDMA device has come
 *
 * Context: process context, takes polt_config_lock.
 */
void polt_ports_retry(void)
{
	mutex_lock(&polt_config_lock);
	polt_ports_retry_locked();
	mutex_unlock(&polt_config_lock);
}

/**
 * polt_port_queue_added - a queue that came through a port has an RDMA half
 * @port: the port, of which the queue has a reference
 *
 * Context: any.
 */
void polt_port_queue_added(struct polt_port *port)
{
	atomic_inc(&port->queues);
}

/**
 * polt_port_queue_gone - a queue's RDMA half is gone
 * @port: the port it came through; the queue's reference stays
 *
 * Context: any.
 */
void polt_port_queue_gone(struct polt_port *port)
{
	if (atomic_dec_and_test(&port->queues))
		polt_config_reap();
}
