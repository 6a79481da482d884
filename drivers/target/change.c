// SPDX-License-Identifier: GPL-2.0-only
/*
 * What may be changed in the configuration: one check and one apply per kind of object and verb.
 *
 * A check sees the configuration as it will be when the changes before it in the transaction have
 * taken effect: every object is looked up in what is in effect and then in the transaction
 * (polt_view). It changes nothing but what it has found, in the change itself. A change that is
 * checked again, at the commit, must find what it found before: else somebody else was there.
 * Everything here but the prepare functions runs under polt_config_lock.
 */
#include <linux/bitmap.h>
#include <linux/slab.h>
#include <uapi/linux/pollard_target.h>

#include "target/ctrl.h"
#include "target/txn.h"

/* Refuse a change: a reason, and the attribute of the request that is to blame. */
#define polt_refuse(change, extack, attr, message) \
	NL_SET_ERR_MSG_ATTR(extack, (change)->attrs ? (change)->attrs[attr] : NULL, message)

/* Finding what is in effect */

/**
 * polt_subsystem_lookup - find a subsystem in effect
 * @nqn: compared byte for byte; the discovery subsystem is found too
 *
 * Context: under polt_config_lock.
 * Return: the subsystem, good as long as the lock is held; NULL when there is none.
 */
struct polt_subsystem *polt_subsystem_lookup(const char *nqn)
{
	struct polt_subsystem *subsystem;

	lockdep_assert_held(&polt_config_lock);
	list_for_each_entry(subsystem, &polt_subsystems, entry)
		if (!strcmp(subsystem->nqn, nqn))
			return subsystem;
	return NULL;
}

/**
 * polt_namespace_lookup - find a namespace in effect, whether hosts may see it or not
 * @subsystem: its subsystem, in effect or being made
 * @nsid: namespace ID, any value
 *
 * Context: under polt_config_lock.
 * Return: the namespace, good as long as the lock is held; NULL when there is none.
 */
struct polt_namespace *polt_namespace_lookup(struct polt_subsystem *subsystem, u32 nsid)
{
	struct polt_namespace *namespace;

	lockdep_assert_held(&polt_config_lock);
	list_for_each_entry(namespace, &subsystem->namespace_list, entry)
		if (namespace->nsid == nsid && !namespace->object.deleting)
			return namespace;
	return NULL;
}

/**
 * polt_host_lookup - find a host on a subsystem's list
 * @subsystem: the subsystem, in effect or being made
 * @nqn: compared byte for byte
 *
 * Context: under polt_config_lock.
 * Return: the host, good as long as the lock is held; NULL when it is not on the list.
 */
struct polt_host *polt_host_lookup(struct polt_subsystem *subsystem, const char *nqn)
{
	struct polt_host *host;

	lockdep_assert_held(&polt_config_lock);
	list_for_each_entry(host, &subsystem->hosts, entry)
		if (!strcmp(host->nqn, nqn))
			return host;
	return NULL;
}

/**
 * polt_port_lookup - find a port in effect
 * @id: its number
 *
 * Context: under polt_config_lock.
 * Return: the port, in any state but deleting, good as long as the lock is held; NULL when there is
 * none.
 */
struct polt_port *polt_port_lookup(u16 id)
{
	struct polt_port *port;

	lockdep_assert_held(&polt_config_lock);
	list_for_each_entry(port, &polt_ports, entry)
		if (port->id == id)
			return port;
	return NULL;
}

/**
 * polt_link_lookup - find what offers a subsystem on a port
 * @port: the port, in effect or being made
 * @subsystem: the subsystem, the same
 *
 * Context: under polt_config_lock.
 * Return: the link, good as long as the lock is held; NULL when there is none.
 */
struct polt_port_link *polt_link_lookup(struct polt_port *port, struct polt_subsystem *subsystem)
{
	struct polt_port_link *link;

	lockdep_assert_held(&polt_config_lock);
	list_for_each_entry(link, &port->links, port_entry)
		if (link->subsystem == subsystem)
			return link;
	return NULL;
}

/* Finding what will be in effect */

static struct polt_object *polt_view(struct polt_txn *txn, const struct polt_key *key,
				     struct polt_object *now)
{
	struct polt_change *change = polt_txn_find(txn, key);

	if (!change)
		return now;
	return change->ops->verb == POLT_NEW ? change->made : NULL;
}

#define polt_object_of(pointer) ((pointer) ? &(pointer)->object : NULL)

static struct polt_object *polt_view_subsystem(struct polt_txn *txn, const struct polt_key *key)
{
	return polt_view(txn, key, polt_object_of(polt_subsystem_lookup(key->name)));
}

static struct polt_object *polt_view_port(struct polt_txn *txn, const struct polt_key *key)
{
	return polt_view(txn, key, polt_object_of(polt_port_lookup(key->number)));
}

/* Must the change see the same thing as when it was accepted? Then does it? */
static int polt_check_seen(struct polt_change *change, u64 *seen, u64 now,
			   struct netlink_ext_ack *extack)
{
	if (!change->accepted)
		*seen = now;
	if (*seen == now)
		return 0;
	NL_SET_ERR_MSG(extack, "an object of the transaction was changed by somebody else");
	return -EBUSY;
}

/* Find the subsystem a change is about or on. @attr: the attribute that names it */
static int polt_check_subsystem(struct polt_txn *txn, struct polt_change *change, int attr,
				struct netlink_ext_ack *extack)
{
	struct polt_key key = { .kind = POLT_SUBSYSTEM, .name = change->asked.nqn };
	struct polt_object *object = polt_view_subsystem(txn, &key);

	if (!object) {
		polt_refuse(change, extack, attr, "there is no such subsystem");
		return -ENOENT;
	}
	change->on_subsystem = container_of(object, struct polt_subsystem, object);
	if (change->on_subsystem->discovery) {
		polt_refuse(change, extack, attr, "the discovery subsystem cannot be configured");
		return -EPERM;
	}
	return polt_check_seen(change, &change->seen_subsystem, object->id, extack);
}

static int polt_check_port(struct polt_txn *txn, struct polt_change *change, int attr,
			   struct netlink_ext_ack *extack)
{
	struct polt_key key = { .kind = POLT_PORT, .number = change->asked.port };
	struct polt_object *object = polt_view_port(txn, &key);

	if (!object) {
		polt_refuse(change, extack, attr, "there is no such port");
		return -ENOENT;
	}
	change->on_port = container_of(object, struct polt_port, object);
	return polt_check_seen(change, &change->seen_port, object->id, extack);
}

/*
 * The object of a POLT_SET or POLT_DEL was found: it must not have changed since it was accepted.
 */
static int polt_check_object(struct polt_change *change, struct polt_object *object,
			     struct netlink_ext_ack *extack)
{
	change->object = object;
	return polt_check_seen(change, &change->seen_version, object->version, extack);
}

/* Subsystems */

static int polt_subsystem_new_check(struct polt_txn *txn, struct polt_change *change,
				    struct netlink_ext_ack *extack)
{
	struct polt_subsystem *made = container_of(change->made, struct polt_subsystem, object);

	change->key = (struct polt_key){ .kind = POLT_SUBSYSTEM, .name = made->nqn };
	if (polt_view_subsystem(txn, &change->key)) {
		polt_refuse(change, extack, POLLARD_TARGET_A_SUBSYSTEM_NQN,
			    "there is a subsystem of this NQN already");
		return -EEXIST;
	}
	if (made->cntlid_min > made->cntlid_max) {
		polt_refuse(change, extack, POLLARD_TARGET_A_SUBSYSTEM_CNTLID_MIN,
			    "the lowest controller ID is above the highest");
		return -EINVAL;
	}
	return 0;
}

static void polt_subsystem_new_apply(struct polt_change *change)
{
	struct polt_subsystem *made = container_of(change->made, struct polt_subsystem, object);

	change->made = NULL;
	polt_subsystem_add(made);
}

const struct polt_change_ops polt_subsystem_new_ops = {
	.kind = POLT_SUBSYSTEM,
	.verb = POLT_NEW,
	.check = polt_subsystem_new_check,
	.apply = polt_subsystem_new_apply,
};

#define POLT_SUBSYSTEM_IDENTITY	(BIT(POLLARD_TARGET_A_SUBSYSTEM_SERIAL) | \
				 BIT(POLLARD_TARGET_A_SUBSYSTEM_MODEL) | \
				 BIT(POLLARD_TARGET_A_SUBSYSTEM_CNTLID_MIN) | \
				 BIT(POLLARD_TARGET_A_SUBSYSTEM_CNTLID_MAX))

static void polt_cntlids_set(const struct polt_request *asked, u16 *min, u16 *max)
{
	if (polt_request_has(asked, POLLARD_TARGET_A_SUBSYSTEM_CNTLID_MIN))
		*min = asked->cntlid_min;
	if (polt_request_has(asked, POLLARD_TARGET_A_SUBSYSTEM_CNTLID_MAX))
		*max = asked->cntlid_max;
}

/*
 * The range of controller IDs that results from all changes of it up to @change must not be empty.
 */
static bool polt_cntlids_valid(struct polt_txn *txn, const struct polt_change *change)
{
	u16 min = change->on_subsystem->cntlid_min, max = change->on_subsystem->cntlid_max;
	const struct polt_change *each;

	list_for_each_entry(each, &txn->changes, entry) {
		if (each == change)
			break;
		if (each->ops != &polt_subsystem_set_ops ||
		    each->seen_subsystem != change->on_subsystem->object.id)
			continue;
		polt_cntlids_set(&each->asked, &min, &max);
	}
	polt_cntlids_set(&change->asked, &min, &max);
	return min <= max;
}

/**
 * polt_subsystem_identify - give a subsystem the identity asked for
 * @subsystem: under its ctrl_lock, or not added yet; without controllers, if anything is given
 * @asked: serial, model and controller IDs, checked; what is not given stays
 */
void polt_subsystem_identify(struct polt_subsystem *subsystem, const struct polt_request *asked)
{
	if (polt_request_has(asked, POLLARD_TARGET_A_SUBSYSTEM_SERIAL))
		strscpy(subsystem->serial, asked->serial, sizeof(subsystem->serial));
	if (polt_request_has(asked, POLLARD_TARGET_A_SUBSYSTEM_MODEL))
		strscpy(subsystem->model, asked->model, sizeof(subsystem->model));
	polt_cntlids_set(asked, &subsystem->cntlid_min, &subsystem->cntlid_max);
}

static int polt_subsystem_set_check(struct polt_txn *txn, struct polt_change *change,
				    struct netlink_ext_ack *extack)
{
	struct polt_subsystem *subsystem;
	bool in_use;
	int err;

	err = polt_check_subsystem(txn, change, POLLARD_TARGET_A_SUBSYSTEM_NQN, extack);
	if (err)
		return err;
	subsystem = change->on_subsystem;
	if (!polt_cntlids_valid(txn, change)) {
		polt_refuse(change, extack, POLLARD_TARGET_A_SUBSYSTEM_CNTLID_MIN,
			    "the lowest controller ID is above the highest");
		return -EINVAL;
	}
	if (change->asked.given & POLT_SUBSYSTEM_IDENTITY) {
		mutex_lock(&subsystem->ctrl_lock);
		in_use = !list_empty(&subsystem->ctrls);
		mutex_unlock(&subsystem->ctrl_lock);
		if (in_use) {
			polt_refuse(change, extack, POLLARD_TARGET_A_SUBSYSTEM_NQN,
				    "serial, model and controller IDs are fixed while hosts are connected");
			return -EBUSY;
		}
	}
	return polt_check_object(change, &subsystem->object, extack);
}

static void polt_subsystem_set_apply(struct polt_change *change)
{
	const struct polt_request *asked = &change->asked;
	struct polt_subsystem *subsystem = change->on_subsystem;

	mutex_lock(&subsystem->ctrl_lock);
	polt_subsystem_identify(subsystem, asked);
	mutex_unlock(&subsystem->ctrl_lock);
	if (polt_request_has(asked, POLLARD_TARGET_A_SUBSYSTEM_ALLOW_ANY_HOST)) {
		WRITE_ONCE(subsystem->allow_any_host, asked->allow_any_host);
		polt_ctrl_fail_host(subsystem, NULL);	/* spares those still allowed */
		polt_config_discovery_changed();
	}
	polt_object_changed(&subsystem->object);
}

const struct polt_change_ops polt_subsystem_set_ops = {
	.kind = POLT_SUBSYSTEM,
	.verb = POLT_SET,
	.check = polt_subsystem_set_check,
	.apply = polt_subsystem_set_apply,
};

static int polt_subsystem_del_check(struct polt_txn *txn, struct polt_change *change,
				    struct netlink_ext_ack *extack)
{
	int err = polt_check_subsystem(txn, change, POLLARD_TARGET_A_SUBSYSTEM_NQN, extack);

	if (err)
		return err;
	change->key = (struct polt_key){ .kind = POLT_SUBSYSTEM, .name = change->asked.nqn };
	return polt_check_object(change, &change->on_subsystem->object, extack);
}

static void polt_subsystem_del_apply(struct polt_change *change)
{
	polt_subsystem_delete(change->on_subsystem);
}

const struct polt_change_ops polt_subsystem_del_ops = {
	.kind = POLT_SUBSYSTEM,
	.verb = POLT_DEL,
	.check = polt_subsystem_del_check,
	.apply = polt_subsystem_del_apply,
};

/* Namespaces */

static struct polt_object *polt_view_namespace(struct polt_txn *txn,
					       struct polt_subsystem *subsystem,
					       const struct polt_key *key)
{
	return polt_view(txn, key,
			 polt_object_of(polt_namespace_lookup(subsystem, key->number)));
}

/* Return: the lowest namespace ID nobody will have, 0 when there is none. */
static u32 polt_nsid_choose(struct polt_txn *txn, struct polt_subsystem *subsystem)
{
	DECLARE_BITMAP(used, POLT_NSID_MAX + 1) = { 1 };
	const struct polt_namespace *namespace;
	const struct polt_change *change;
	unsigned long nsid;

	list_for_each_entry(namespace, &subsystem->namespace_list, entry)
		if (!namespace->object.deleting)
			__set_bit(namespace->nsid, used);
	list_for_each_entry(change, &txn->changes, entry) {
		if (change->ops->kind != POLT_NAMESPACE ||
		    change->seen_subsystem != subsystem->object.id)
			continue;
		if (change->ops->verb == POLT_NEW)
			__set_bit(change->asked.nsid, used);
		else if (change->ops->verb == POLT_DEL)
			__clear_bit(change->asked.nsid, used);
	}
	nsid = find_first_zero_bit(used, POLT_NSID_MAX + 1);
	return nsid <= POLT_NSID_MAX ? nsid : 0;
}

/* Will another namespace of the subsystem have this UUID? */
static bool polt_uuid_taken(struct polt_txn *txn, struct polt_subsystem *subsystem,
			    const struct polt_change *asks, const uuid_t *uuid)
{
	struct polt_key key = { .kind = POLT_NAMESPACE, .parent = subsystem->object.id };
	const struct polt_namespace *namespace;
	const struct polt_change *change;

	list_for_each_entry(namespace, &subsystem->namespace_list, entry) {
		key.number = namespace->nsid;
		if (!namespace->object.deleting && uuid_equal(&namespace->uuid, uuid) &&
		    polt_view_namespace(txn, subsystem, &key) == &namespace->object)
			return true;
	}
	list_for_each_entry(change, &txn->changes, entry) {
		if (change == asks)
			break;
		if (change->ops != &polt_namespace_new_ops ||
		    change->seen_subsystem != subsystem->object.id)
			continue;
		namespace = container_of(change->made, struct polt_namespace, object);
		if (uuid_equal(&namespace->uuid, uuid) &&
		    polt_view_namespace(txn, subsystem, &change->key) == change->made)
			return true;
	}
	return false;
}

static int polt_namespace_new_check(struct polt_txn *txn, struct polt_change *change,
				    struct netlink_ext_ack *extack)
{
	struct polt_namespace *made = container_of(change->made, struct polt_namespace, object);
	u32 nsid = change->asked.nsid;
	int err;

	err = polt_check_subsystem(txn, change, POLLARD_TARGET_A_NAMESPACE_SUBSYSTEM, extack);
	if (err)
		return err;
	if (!nsid) {
		nsid = polt_nsid_choose(txn, change->on_subsystem);
		if (!nsid) {
			polt_refuse(change, extack, POLLARD_TARGET_A_NAMESPACE_SUBSYSTEM,
				    "the subsystem has no namespace ID left");
			return -ENOSPC;
		}
	}
	change->key = (struct polt_key){
		.kind = POLT_NAMESPACE,
		.parent = change->on_subsystem->object.id,
		.number = nsid,
	};
	if (polt_view_namespace(txn, change->on_subsystem, &change->key)) {
		polt_refuse(change, extack, POLLARD_TARGET_A_NAMESPACE_NSID,
			    "the subsystem has a namespace of this ID already");
		return -EEXIST;
	}
	if (polt_uuid_taken(txn, change->on_subsystem, change, &made->uuid)) {
		polt_refuse(change, extack, POLLARD_TARGET_A_NAMESPACE_UUID,
			    "the subsystem has a namespace of this UUID already");
		return -EEXIST;
	}
	if (made->backend)
		change->asked.nsid = nsid;
	return polt_namespace_reserve(change->on_subsystem, nsid);
}

static int polt_namespace_new_prepare(struct polt_change *change, struct netlink_ext_ack *extack)
{
	struct polt_namespace *made = container_of(change->made, struct polt_namespace, object);
	int attr = change->params.device ? POLLARD_TARGET_A_NAMESPACE_DEVICE :
					   POLLARD_TARGET_A_NAMESPACE_RAM_BYTES;
	struct polt_backend *backend = polt_backend_open(&change->params, extack);

	if (IS_ERR(backend)) {
		NL_SET_BAD_ATTR(extack, change->attrs[attr]);
		return PTR_ERR(backend);
	}
	made->backend = backend;
	made->opened_read_only = backend->read_only;
	return 0;
}

static void polt_namespace_new_apply(struct polt_change *change)
{
	struct polt_namespace *made = container_of(change->made, struct polt_namespace, object);

	change->made = NULL;
	polt_namespace_add(made, change->on_subsystem, change->asked.nsid);
}

const struct polt_change_ops polt_namespace_new_ops = {
	.kind = POLT_NAMESPACE,
	.verb = POLT_NEW,
	.prepare = polt_namespace_new_prepare,
	.check = polt_namespace_new_check,
	.apply = polt_namespace_new_apply,
};

/* Find the namespace of a POLT_SET or POLT_DEL. */
static int polt_check_namespace(struct polt_txn *txn, struct polt_change *change,
				struct netlink_ext_ack *extack)
{
	struct polt_object *object;
	int err;

	err = polt_check_subsystem(txn, change, POLLARD_TARGET_A_NAMESPACE_SUBSYSTEM, extack);
	if (err)
		return err;
	change->key = (struct polt_key){
		.kind = POLT_NAMESPACE,
		.parent = change->on_subsystem->object.id,
		.number = change->asked.nsid,
	};
	object = polt_view_namespace(txn, change->on_subsystem, &change->key);
	if (!object) {
		polt_refuse(change, extack, POLLARD_TARGET_A_NAMESPACE_NSID,
			    "the subsystem has no such namespace");
		return -ENOENT;
	}
	return polt_check_object(change, object, extack);
}

static int polt_namespace_set_check(struct polt_txn *txn, struct polt_change *change,
				    struct netlink_ext_ack *extack)
{
	const struct polt_request *asked = &change->asked;
	const struct polt_namespace *namespace;
	int err = polt_check_namespace(txn, change, extack);

	if (err)
		return err;
	namespace = container_of(change->object, struct polt_namespace, object);
	if (polt_request_has(asked, POLLARD_TARGET_A_NAMESPACE_READ_ONLY) && !asked->read_only &&
	    (namespace->opened_read_only || !polt_backend_writable(namespace->backend))) {
		polt_refuse(change, extack, POLLARD_TARGET_A_NAMESPACE_READ_ONLY,
			    "the device is read-only, or was opened for reading only; delete the namespace and add it again");
		return -EROFS;
	}
	if (polt_request_has(asked, POLLARD_TARGET_A_NAMESPACE_SUBMIT) &&
	    asked->submit == POLT_SUBMIT_INLINE && !namespace->backend->inline_possible) {
		polt_refuse(change, extack, POLLARD_TARGET_A_NAMESPACE_SUBMIT,
			    "device may block: submit inline is not possible");
		return -EOPNOTSUPP;
	}
	return polt_namespace_reserve(change->on_subsystem, asked->nsid);
}

static void polt_namespace_set_apply(struct polt_change *change)
{
	struct polt_namespace *namespace = container_of(change->object, struct polt_namespace,
							object);
	const struct polt_request *asked = &change->asked;
	struct polt_backend *backend = namespace->backend;
	bool changed = false;

	if (polt_request_has(asked, POLLARD_TARGET_A_NAMESPACE_SUBMIT)) {
		namespace->submit = asked->submit;
		WRITE_ONCE(backend->submit, polt_backend_submit(backend, asked->submit));
	}
	if (polt_request_has(asked, POLLARD_TARGET_A_NAMESPACE_READ_ONLY) &&
	    backend->read_only != asked->read_only) {
		WRITE_ONCE(backend->read_only, asked->read_only);
		changed = true;
	}
	if (backend->ops->rescan)
		changed |= backend->ops->rescan(backend);
	if (polt_request_has(asked, POLLARD_TARGET_A_NAMESPACE_ENABLED) &&
	    asked->enabled != namespace->enabled) {
		if (asked->enabled)
			polt_namespace_show(namespace);
		else
			polt_namespace_hide(namespace);
	} else if (changed && namespace->enabled) {
		polt_aen_namespace_changed(namespace->subsystem, namespace->nsid);
	}
	polt_object_changed(&namespace->object);
}

const struct polt_change_ops polt_namespace_set_ops = {
	.kind = POLT_NAMESPACE,
	.verb = POLT_SET,
	.check = polt_namespace_set_check,
	.apply = polt_namespace_set_apply,
};

static void polt_namespace_del_apply(struct polt_change *change)
{
	polt_namespace_delete(container_of(change->object, struct polt_namespace, object));
}

const struct polt_change_ops polt_namespace_del_ops = {
	.kind = POLT_NAMESPACE,
	.verb = POLT_DEL,
	.check = polt_check_namespace,
	.apply = polt_namespace_del_apply,
};

/* Hosts */

/* Find the subsystem of a host, and the host itself as it will be. */
static int polt_check_host(struct polt_txn *txn, struct polt_change *change,
			   struct netlink_ext_ack *extack)
{
	int err = polt_check_subsystem(txn, change, POLLARD_TARGET_A_HOST_SUBSYSTEM, extack);

	if (err)
		return err;
	change->key = (struct polt_key){
		.kind = POLT_HOST,
		.parent = change->on_subsystem->object.id,
		.name = change->asked.hostnqn,
	};
	change->object = polt_view(txn, &change->key,
				   polt_object_of(polt_host_lookup(change->on_subsystem,
								   change->asked.hostnqn)));
	return 0;
}

static int polt_host_new_check(struct polt_txn *txn, struct polt_change *change,
			       struct netlink_ext_ack *extack)
{
	int err = polt_check_host(txn, change, extack);

	if (err || !change->object)
		return err;
	polt_refuse(change, extack, POLLARD_TARGET_A_HOST_NQN,
		    "the host is on the subsystem's list already");
	return -EEXIST;
}

static void polt_host_new_apply(struct polt_change *change)
{
	struct polt_host *made = container_of(change->made, struct polt_host, object);

	change->made = NULL;
	polt_host_add(made, change->on_subsystem);
}

const struct polt_change_ops polt_host_new_ops = {
	.kind = POLT_HOST,
	.verb = POLT_NEW,
	.check = polt_host_new_check,
	.apply = polt_host_new_apply,
};

static int polt_host_del_check(struct polt_txn *txn, struct polt_change *change,
			       struct netlink_ext_ack *extack)
{
	int err = polt_check_host(txn, change, extack);

	if (err)
		return err;
	if (change->object)
		return polt_check_object(change, change->object, extack);
	polt_refuse(change, extack, POLLARD_TARGET_A_HOST_NQN,
		    "the host is not on the subsystem's list");
	return -ENOENT;
}

static void polt_host_del_apply(struct polt_change *change)
{
	polt_host_delete(container_of(change->object, struct polt_host, object));
}

const struct polt_change_ops polt_host_del_ops = {
	.kind = POLT_HOST,
	.verb = POLT_DEL,
	.check = polt_host_del_check,
	.apply = polt_host_del_apply,
};

/* Ports */

/* Will another port listen on the address? */
static bool polt_address_taken(struct polt_txn *txn, const struct polt_change *asks,
			       const struct polt_port *made)
{
	struct polt_key key = { .kind = POLT_PORT };
	const struct polt_change *change;
	const struct polt_port *port;

	list_for_each_entry(port, &polt_ports, entry) {
		key.number = port->id;
		if (polt_port_same_address(port, made) &&
		    polt_view_port(txn, &key) == &port->object)
			return true;
	}
	list_for_each_entry(change, &txn->changes, entry) {
		if (change == asks)
			break;
		if (change->ops != &polt_port_new_ops)
			continue;
		port = container_of(change->made, struct polt_port, object);
		if (polt_port_same_address(port, made) &&
		    polt_view_port(txn, &change->key) == change->made)
			return true;
	}
	return false;
}

static int polt_port_new_check(struct polt_txn *txn, struct polt_change *change,
			       struct netlink_ext_ack *extack)
{
	const struct polt_port *made = container_of(change->made, struct polt_port, object);

	change->key = (struct polt_key){ .kind = POLT_PORT, .number = made->id };
	if (polt_view_port(txn, &change->key)) {
		polt_refuse(change, extack, POLLARD_TARGET_A_PORT_ID,
			    "there is a port of this number already");
		return -EEXIST;
	}
	if (polt_address_taken(txn, change, made)) {
		polt_refuse(change, extack, POLLARD_TARGET_A_PORT_TRADDR,
			    "another port has this address already");
		return -EADDRINUSE;
	}
	return 0;
}

static void polt_port_new_apply(struct polt_change *change)
{
	struct polt_port *made = container_of(change->made, struct polt_port, object);

	change->made = NULL;
	polt_port_add(made);
}

const struct polt_change_ops polt_port_new_ops = {
	.kind = POLT_PORT,
	.verb = POLT_NEW,
	.check = polt_port_new_check,
	.apply = polt_port_new_apply,
};

static int polt_port_set_check(struct polt_txn *txn, struct polt_change *change,
			       struct netlink_ext_ack *extack)
{
	int err = polt_check_port(txn, change, POLLARD_TARGET_A_PORT_ID, extack);

	if (err)
		return err;
	change->key = (struct polt_key){ .kind = POLT_PORT, .number = change->asked.port };
	/* A port changes its version by itself, with its state: its identity is what counts. */
	change->object = &change->on_port->object;
	return 0;
}

static void polt_port_set_apply(struct polt_change *change)
{
	const struct polt_request *asked = &change->asked;
	struct polt_port *port = change->on_port;

	if (polt_request_has(asked, POLLARD_TARGET_A_PORT_INLINE_DATA_SIZE))
		WRITE_ONCE(port->inline_data_size, asked->inline_data_size);
	if (polt_request_has(asked, POLLARD_TARGET_A_PORT_MAX_QUEUE_DEPTH))
		WRITE_ONCE(port->max_queue_depth, asked->max_queue_depth);
	polt_object_changed(&port->object);
}

const struct polt_change_ops polt_port_set_ops = {
	.kind = POLT_PORT,
	.verb = POLT_SET,
	.check = polt_port_set_check,
	.apply = polt_port_set_apply,
};

static void polt_port_del_apply(struct polt_change *change)
{
	polt_port_delete(change->on_port);
}

const struct polt_change_ops polt_port_del_ops = {
	.kind = POLT_PORT,
	.verb = POLT_DEL,
	.check = polt_port_set_check,
	.apply = polt_port_del_apply,
};

/* Links of ports and subsystems */

static int polt_check_link(struct polt_txn *txn, struct polt_change *change,
			   struct netlink_ext_ack *extack)
{
	int err;

	err = polt_check_port(txn, change, POLLARD_TARGET_A_PORT_SUBSYSTEM_PORT, extack);
	if (err)
		return err;
	err = polt_check_subsystem(txn, change, POLLARD_TARGET_A_PORT_SUBSYSTEM_SUBSYSTEM, extack);
	if (err)
		return err;
	change->key = (struct polt_key){
		.kind = POLT_LINK,
		.parent = change->on_port->object.id,
		.number = change->on_subsystem->object.id,
	};
	change->object = polt_view(txn, &change->key,
				   polt_object_of(polt_link_lookup(change->on_port,
								   change->on_subsystem)));
	return 0;
}

static int polt_link_new_check(struct polt_txn *txn, struct polt_change *change,
			       struct netlink_ext_ack *extack)
{
	int err = polt_check_link(txn, change, extack);

	if (err || !change->object)
		return err;
	polt_refuse(change, extack, POLLARD_TARGET_A_PORT_SUBSYSTEM_SUBSYSTEM,
		    "the subsystem is offered on the port already");
	return -EEXIST;
}

static void polt_link_new_apply(struct polt_change *change)
{
	struct polt_port_link *made = container_of(change->made, struct polt_port_link, object);

	change->made = NULL;
	polt_link_add(made, change->on_port, change->on_subsystem);
}

const struct polt_change_ops polt_link_new_ops = {
	.kind = POLT_LINK,
	.verb = POLT_NEW,
	.check = polt_link_new_check,
	.apply = polt_link_new_apply,
};

static int polt_link_del_check(struct polt_txn *txn, struct polt_change *change,
			       struct netlink_ext_ack *extack)
{
	int err = polt_check_link(txn, change, extack);

	if (err)
		return err;
	if (change->object)
		return polt_check_object(change, change->object, extack);
	polt_refuse(change, extack, POLLARD_TARGET_A_PORT_SUBSYSTEM_SUBSYSTEM,
		    "the subsystem is not offered on the port");
	return -ENOENT;
}

static void polt_link_del_apply(struct polt_change *change)
{
	polt_link_delete(container_of(change->object, struct polt_port_link, object));
}

const struct polt_change_ops polt_link_del_ops = {
	.kind = POLT_LINK,
	.verb = POLT_DEL,
	.check = polt_link_del_check,
	.apply = polt_link_del_apply,
};
