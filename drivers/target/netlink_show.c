// SPDX-License-Identifier: GPL-2.0-only
/*
 * Showing configured objects to user space: one object (get), all of a kind (dump), and events. All
 * three carry what polt_fill_*() writes.
 *
 * A dump goes through polt_objects[] in the order of ids and remembers the last id it has shown, so
 * that it misses and repeats nothing, whatever is added and deleted between two of its messages.
 * Everything is read under polt_config_lock.
 */
#include <linux/slab.h>
#include <uapi/linux/pollard_target.h>

#include "compat/genetlink.h"
#include "core/attrs.h"
#include "target/ctrl.h"
#include "target/netlink.h"
#include "target/txn.h"

#define A_SUBSYSTEM(name)	POLLARD_TARGET_A_SUBSYSTEM_##name
#define A_NAMESPACE(name)	POLLARD_TARGET_A_NAMESPACE_##name
#define A_COUNTERS(name)	POLLARD_TARGET_A_NAMESPACE_COUNTERS_##name
#define A_HOST(name)		POLLARD_TARGET_A_HOST_##name
#define A_PORT(name)		POLLARD_TARGET_A_PORT_##name
#define A_LINK(name)		POLLARD_TARGET_A_PORT_SUBSYSTEM_##name

/* The longest message: a namespace with the longest path. */
#define POLT_MESSAGE_MAX	(PATH_MAX + 2048)

#define to_subsystem(object)	container_of(object, struct polt_subsystem, object)
#define to_namespace(object)	container_of(object, struct polt_namespace, object)
#define to_host(object)		container_of(object, struct polt_host, object)
#define to_port(object)		container_of(object, struct polt_port, object)
#define to_link(object)		container_of(object, struct polt_port_link, object)

static int polt_fill_state(struct sk_buff *skb, int attr, const struct polt_object *object)
{
	return nla_put_u32(skb, attr, object->deleting ? POLLARD_TARGET_OBJECT_STATE_DELETING :
							 POLLARD_TARGET_OBJECT_STATE_ACTIVE);
}

/* Subsystems */

static int polt_key_subsystem(struct sk_buff *skb, struct polt_object *object)
{
	return nla_put_string(skb, A_SUBSYSTEM(NQN), to_subsystem(object)->nqn);
}

static u32 polt_count(const struct list_head *list)
{
	const struct list_head *entry;
	u32 nr = 0;

	list_for_each(entry, list)
		nr++;
	return nr;
}

static u32 polt_count_namespaces(const struct polt_subsystem *subsystem)
{
	const struct polt_namespace *namespace;
	u32 nr = 0;

	list_for_each_entry(namespace, &subsystem->namespace_list, entry)
		nr += !namespace->object.deleting;
	return nr;
}

struct polt_ctrl_count {
	const char *hostnqn;
	u32 nr;
};

static int polt_count_ctrl(const struct polt_ctrl_info *info, void *arg)
{
	struct polt_ctrl_count *count = arg;

	count->nr += !count->hostnqn || !strcmp(count->hostnqn, info->hostnqn);
	return 0;
}

/* How many controllers a subsystem has, of one host or, when that is NULL, of all. */
static u32 polt_count_ctrls(struct polt_subsystem *subsystem, const char *hostnqn)
{
	struct polt_ctrl_count count = { .hostnqn = hostnqn };

	polt_ctrl_for_each(subsystem, polt_count_ctrl, &count);
	return count.nr;
}

static int polt_fill_subsystem(struct sk_buff *skb, struct polt_object *object)
{
	struct polt_subsystem *subsystem = to_subsystem(object);

	if (nla_put_u8(skb, A_SUBSYSTEM(ALLOW_ANY_HOST), subsystem->allow_any_host) ||
	    nla_put_string(skb, A_SUBSYSTEM(SERIAL), subsystem->serial) ||
	    nla_put_string(skb, A_SUBSYSTEM(MODEL), subsystem->model) ||
	    nla_put_u16(skb, A_SUBSYSTEM(CNTLID_MIN), subsystem->cntlid_min) ||
	    nla_put_u16(skb, A_SUBSYSTEM(CNTLID_MAX), subsystem->cntlid_max) ||
	    polt_fill_state(skb, A_SUBSYSTEM(STATE), object) ||
	    nla_put_u32(skb, A_SUBSYSTEM(NAMESPACES), polt_count_namespaces(subsystem)) ||
	    nla_put_u32(skb, A_SUBSYSTEM(HOSTS), polt_count(&subsystem->hosts)) ||
	    nla_put_u32(skb, A_SUBSYSTEM(PORTS), polt_count(&subsystem->links)) ||
	    nla_put_u32(skb, A_SUBSYSTEM(CONTROLLERS), polt_count_ctrls(subsystem, NULL)))
		return -EMSGSIZE;
	return 0;
}

/* Namespaces */

static int polt_key_namespace(struct sk_buff *skb, struct polt_object *object)
{
	const struct polt_namespace *namespace = to_namespace(object);

	return nla_put_string(skb, A_NAMESPACE(SUBSYSTEM), namespace->subsystem->nqn) ?:
	       nla_put_u32(skb, A_NAMESPACE(NSID), namespace->nsid);
}

static int polt_put_u64(struct sk_buff *skb, int attr, u64 value)
{
	BUILD_BUG_ON((int)A_NAMESPACE(PAD) != A_COUNTERS(PAD));
	BUILD_BUG_ON((int)A_NAMESPACE(PAD) != A_PORT(PAD));
	return nla_put_u64_64bit(skb, attr, value, A_NAMESPACE(PAD));
}

static int polt_fill_counters(struct sk_buff *skb, const struct polt_namespace *namespace)
{
	struct polt_namespace_counters sum = {};
	struct nlattr *nest;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct polt_namespace_counters *one = per_cpu_ptr(namespace->counters, cpu);

		sum.reads += READ_ONCE(one->reads);
		sum.writes += READ_ONCE(one->writes);
		sum.others += READ_ONCE(one->others);
		sum.bytes_read += READ_ONCE(one->bytes_read);
		sum.bytes_written += READ_ONCE(one->bytes_written);
		sum.errors += READ_ONCE(one->errors);
		sum.worker_submits += READ_ONCE(one->worker_submits);
		sum.nowait_misses += READ_ONCE(one->nowait_misses);
	}
	nest = nla_nest_start(skb, A_NAMESPACE(COUNTERS));
	if (!nest ||
	    polt_put_u64(skb, A_COUNTERS(READS), sum.reads) ||
	    polt_put_u64(skb, A_COUNTERS(WRITES), sum.writes) ||
	    polt_put_u64(skb, A_COUNTERS(OTHERS), sum.others) ||
	    polt_put_u64(skb, A_COUNTERS(BYTES_READ), sum.bytes_read) ||
	    polt_put_u64(skb, A_COUNTERS(BYTES_WRITTEN), sum.bytes_written) ||
	    polt_put_u64(skb, A_COUNTERS(ERRORS), sum.errors) ||
	    polt_put_u64(skb, A_COUNTERS(WORKER_SUBMITS), sum.worker_submits) ||
	    polt_put_u64(skb, A_COUNTERS(NOWAIT_MISSES), sum.nowait_misses))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* What only the back end knows; it is closed some time before the namespace is gone. */
static int polt_fill_backend(struct sk_buff *skb, const struct polt_backend *backend)
{
	if (!backend)
		return 0;
	return nla_put_u32(skb, A_NAMESPACE(BLOCK_SIZE), 1U << backend->block_shift) ?:
	       nla_put_u8(skb, A_NAMESPACE(READ_ONLY), READ_ONCE(backend->read_only)) ?:
	       nla_put_u32(skb, A_NAMESPACE(SUBMIT_USED), READ_ONCE(backend->submit)) ?:
	       polt_put_u64(skb, A_NAMESPACE(SIZE_BYTES),
			    READ_ONCE(backend->blocks) << backend->block_shift);
}

static int polt_fill_namespace(struct sk_buff *skb, struct polt_object *object)
{
	const struct polt_namespace *namespace = to_namespace(object);

	if ((namespace->path && nla_put_string(skb, A_NAMESPACE(DEVICE), namespace->path)) ||
	    nla_put_u32(skb, A_NAMESPACE(BACKEND), namespace->path ?
			POLLARD_TARGET_BACKEND_BDEV : POLLARD_TARGET_BACKEND_RAM) ||
	    polt_fill_backend(skb, namespace->backend) ||
	    nla_put(skb, A_NAMESPACE(UUID), sizeof(namespace->uuid), &namespace->uuid) ||
	    (memchr_inv(namespace->nguid, 0, sizeof(namespace->nguid)) &&
	     nla_put(skb, A_NAMESPACE(NGUID), sizeof(namespace->nguid), namespace->nguid)) ||
	    nla_put_u8(skb, A_NAMESPACE(ENABLED), namespace->enabled) ||
	    nla_put_u8(skb, A_NAMESPACE(SHARED), namespace->shared) ||
	    nla_put_u32(skb, A_NAMESPACE(SUBMIT), namespace->submit) ||
	    polt_fill_state(skb, A_NAMESPACE(STATE), object) ||
	    polt_fill_counters(skb, namespace))
		return -EMSGSIZE;
	return 0;
}

/* Hosts */

static int polt_key_host(struct sk_buff *skb, struct polt_object *object)
{
	const struct polt_host *host = to_host(object);

	return nla_put_string(skb, A_HOST(SUBSYSTEM), host->subsystem->nqn) ?:
	       nla_put_string(skb, A_HOST(NQN), host->nqn);
}

static int polt_fill_host(struct sk_buff *skb, struct polt_object *object)
{
	const struct polt_host *host = to_host(object);

	return polt_fill_state(skb, A_HOST(STATE), object) ?:
	       nla_put_u32(skb, A_HOST(CONTROLLERS),
			   polt_count_ctrls(host->subsystem, host->nqn));
}

/* Ports */

static int polt_key_port(struct sk_buff *skb, struct polt_object *object)
{
	return nla_put_u16(skb, A_PORT(ID), to_port(object)->id);
}

static u16 polt_port_trsvcid(const struct polt_port *port)
{
	/* sin_port and sin6_port are at the same place. */
	return be16_to_cpu(((const struct sockaddr_in *)&port->addr)->sin_port);
}

static int polt_fill_port(struct sk_buff *skb, struct polt_object *object)
{
	static const u32 states[] = {
		[POLT_PORT_STARTING] = POLLARD_TARGET_PORT_STATE_STARTING,
		[POLT_PORT_LISTENING] = POLLARD_TARGET_PORT_STATE_LISTENING,
		[POLT_PORT_FAILED] = POLLARD_TARGET_PORT_STATE_FAILED,
		[POLT_PORT_DELETING] = POLLARD_TARGET_PORT_STATE_DELETING,
	};
	const struct polt_port *port = to_port(object);

	if (nla_put_u32(skb, A_PORT(ADRFAM), port->adrfam) ||
	    nla_put_string(skb, A_PORT(TRADDR), port->traddr) ||
	    nla_put_u16(skb, A_PORT(TRSVCID), polt_port_trsvcid(port)) ||
	    nla_put_u32(skb, A_PORT(INLINE_DATA_SIZE), port->inline_data_size) ||
	    nla_put_u32(skb, A_PORT(MAX_QUEUE_DEPTH), port->max_queue_depth) ||
	    nla_put_u32(skb, A_PORT(STATE), states[port->state]) ||
	    (port->error && nla_put_u32(skb, A_PORT(LAST_ERROR), -port->error)) ||
	    (port->state == POLT_PORT_LISTENING && port->device[0] &&
	     nla_put_string(skb, A_PORT(DEVICE), port->device)) ||
	    nla_put_u32(skb, A_PORT(QUEUES), atomic_read(&port->queues)) ||
	    polt_put_u64(skb, A_PORT(ACCEPTED), atomic64_read(&port->accepted)) ||
	    polt_put_u64(skb, A_PORT(REJECTED), atomic64_read(&port->rejected)))
		return -EMSGSIZE;
	return 0;
}

/* Links of ports and subsystems */

static int polt_key_link(struct sk_buff *skb, struct polt_object *object)
{
	const struct polt_port_link *link = to_link(object);

	return nla_put_u16(skb, A_LINK(PORT), link->port->id) ?:
	       nla_put_string(skb, A_LINK(SUBSYSTEM), link->subsystem->nqn);
}

static int polt_fill_link(struct sk_buff *skb, struct polt_object *object)
{
	return polt_fill_state(skb, A_LINK(STATE), object);
}

/**
 * struct polt_shown - what is different from kind to kind
 * @key: write what the object is called; returns 0 or -EMSGSIZE
 * @fill: write the rest
 * @get: command that asks for it
 * @changed: event
 * @gone: event, with the key only
 * @last_key: the highest attribute of the key
 * @filter: attribute by which a dump picks objects, 0 for none
 */
struct polt_shown {
	int (*key)(struct sk_buff *skb, struct polt_object *object);
	int (*fill)(struct sk_buff *skb, struct polt_object *object);
	u8 get;
	u8 changed;
	u8 gone;
	u8 last_key;
	u8 filter;
};

static const struct polt_shown polt_shown[POLT_KINDS] = {
	[POLT_SUBSYSTEM] = {
		.key = polt_key_subsystem,
		.fill = polt_fill_subsystem,
		.get = POLLARD_TARGET_CMD_SUBSYSTEM_GET,
		.changed = POLLARD_TARGET_CMD_SUBSYSTEM_NTF,
		.gone = POLLARD_TARGET_CMD_SUBSYSTEM_DEL_NTF,
		.last_key = A_SUBSYSTEM(NQN),
	},
	[POLT_NAMESPACE] = {
		.key = polt_key_namespace,
		.fill = polt_fill_namespace,
		.get = POLLARD_TARGET_CMD_NAMESPACE_GET,
		.changed = POLLARD_TARGET_CMD_NAMESPACE_NTF,
		.gone = POLLARD_TARGET_CMD_NAMESPACE_DEL_NTF,
		.last_key = A_NAMESPACE(NSID),
		.filter = A_NAMESPACE(SUBSYSTEM),
	},
	[POLT_HOST] = {
		.key = polt_key_host,
		.fill = polt_fill_host,
		.get = POLLARD_TARGET_CMD_HOST_GET,
		.changed = POLLARD_TARGET_CMD_HOST_NTF,
		.gone = POLLARD_TARGET_CMD_HOST_DEL_NTF,
		.last_key = A_HOST(NQN),
		.filter = A_HOST(SUBSYSTEM),
	},
	[POLT_PORT] = {
		.key = polt_key_port,
		.fill = polt_fill_port,
		.get = POLLARD_TARGET_CMD_PORT_GET,
		.changed = POLLARD_TARGET_CMD_PORT_NTF,
		.gone = POLLARD_TARGET_CMD_PORT_DEL_NTF,
		.last_key = A_PORT(ID),
	},
	[POLT_LINK] = {
		.key = polt_key_link,
		.fill = polt_fill_link,
		.get = POLLARD_TARGET_CMD_PORT_SUBSYSTEM_GET,
		.changed = POLLARD_TARGET_CMD_PORT_SUBSYSTEM_NTF,
		.gone = POLLARD_TARGET_CMD_PORT_SUBSYSTEM_DEL_NTF,
		.last_key = A_LINK(SUBSYSTEM),
		.filter = A_LINK(PORT),
	},
};

static enum polt_kind polt_kind_of(u8 command)
{
	enum polt_kind kind;

	for (kind = 0; kind < POLT_KINDS; kind++)
		if (polt_shown[kind].get == command)
			break;
	return kind;
}

static int polt_show(struct sk_buff *skb, u32 portid, u32 seq, int flags, u8 command,
		     struct polt_object *object)
{
	const struct polt_shown *shown = &polt_shown[object->kind];
	void *header = genlmsg_put(skb, portid, seq, &polt_family, flags, command);

	if (!header)
		return -EMSGSIZE;
	if (shown->key(skb, object) || (command != shown->gone && shown->fill(skb, object))) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

/* Events */

static void polt_netlink_event(struct polt_object *object, u8 command)
{
	struct sk_buff *skb;

	lockdep_assert_held(&polt_config_lock);
	if (!polt_netlink_wanted())
		return;
	skb = genlmsg_new(POLT_MESSAGE_MAX, GFP_KERNEL);
	if (!skb || polt_show(skb, 0, 0, 0, command, object)) {
		/* Whoever listens learns that something is missing (ENOBUFS), and asks. */
		nlmsg_free(skb);
		polt_netlink_lost();
		return;
	}
	polt_netlink_multicast(skb);
}

/**
 * polt_netlink_changed - tell user space that an object was made or has changed
 * @object: one that has been added
 *
 * Context: process context, sleeps; under polt_config_lock. Takes the ctrl_lock of a subsystem
 * whose controllers are counted.
 */
void polt_netlink_changed(struct polt_object *object)
{
	polt_netlink_event(object, polt_shown[object->kind].changed);
}

/**
 * polt_netlink_gone - tell user space that an object is gone
 * @object: nothing of it is shown but what it is called
 *
 * Context: process context, sleeps; under polt_config_lock.
 */
void polt_netlink_gone(struct polt_object *object)
{
	polt_netlink_event(object, polt_shown[object->kind].gone);
}

/* Finding what a request is about */

static struct polt_subsystem *polt_find_subsystem(const struct nlattr *attr, int *err,
						  struct netlink_ext_ack *extack)
{
	struct polt_subsystem *subsystem;
	char nqn[POLT_NQN_SIZE];

	*err = polt_parse_nqn(attr, nqn, extack);
	if (*err)
		return NULL;
	subsystem = polt_subsystem_lookup(nqn);
	if (subsystem && !subsystem->discovery)
		return subsystem;
	NL_SET_ERR_MSG_ATTR(extack, attr, "there is no such subsystem");
	*err = -ENOENT;
	return NULL;
}

static struct polt_port *polt_find_port(const struct nlattr *attr, int *err,
					struct netlink_ext_ack *extack)
{
	struct polt_port *port = polt_port_lookup(nla_get_u16(attr));

	if (port)
		return port;
	NL_SET_ERR_MSG_ATTR(extack, attr, "there is no such port");
	*err = -ENOENT;
	return NULL;
}

static struct polt_object *polt_find_namespace(struct genl_info *info, int *err)
{
	struct nlattr *nsid = info->attrs[A_NAMESPACE(NSID)];
	struct polt_namespace *namespace;
	struct polt_subsystem *subsystem;

	subsystem = polt_find_subsystem(info->attrs[A_NAMESPACE(SUBSYSTEM)], err, info->extack);
	if (!subsystem)
		return NULL;
	namespace = polt_namespace_lookup(subsystem, nla_get_u32(nsid));
	if (namespace)
		return &namespace->object;
	NL_SET_ERR_MSG_ATTR(info->extack, nsid, "the subsystem has no such namespace");
	*err = -ENOENT;
	return NULL;
}

static struct polt_object *polt_find_host(struct genl_info *info, int *err)
{
	struct nlattr *nqn = info->attrs[A_HOST(NQN)];
	struct polt_subsystem *subsystem;
	char hostnqn[POLT_NQN_SIZE];
	struct polt_host *host;

	subsystem = polt_find_subsystem(info->attrs[A_HOST(SUBSYSTEM)], err, info->extack);
	if (!subsystem)
		return NULL;
	*err = polt_parse_nqn(nqn, hostnqn, info->extack);
	if (*err)
		return NULL;
	host = polt_host_lookup(subsystem, hostnqn);
	if (host)
		return &host->object;
	NL_SET_ERR_MSG_ATTR(info->extack, nqn, "the host is not on the subsystem's list");
	*err = -ENOENT;
	return NULL;
}

static struct polt_object *polt_find_link(struct genl_info *info, int *err)
{
	struct nlattr *nqn = info->attrs[A_LINK(SUBSYSTEM)];
	struct polt_subsystem *subsystem;
	struct polt_port_link *link;
	struct polt_port *port;

	port = polt_find_port(info->attrs[A_LINK(PORT)], err, info->extack);
	if (!port)
		return NULL;
	subsystem = polt_find_subsystem(nqn, err, info->extack);
	if (!subsystem)
		return NULL;
	link = polt_link_lookup(port, subsystem);
	if (link)
		return &link->object;
	NL_SET_ERR_MSG_ATTR(info->extack, nqn, "the subsystem is not offered on the port");
	*err = -ENOENT;
	return NULL;
}

/* Are the attributes there that name an object of the kind? */
static int polt_key_missing(enum polt_kind kind, struct genl_info *info)
{
	struct netlink_ext_ack *extack = info->extack;
	struct nlattr **attrs = info->attrs;

	switch (kind) {
	case POLT_SUBSYSTEM:
		return pol_attrs_required(attrs, A_SUBSYSTEM(NQN), extack);
	case POLT_NAMESPACE:
		return pol_attrs_required(attrs, A_NAMESPACE(SUBSYSTEM), extack) ?:
		       pol_attrs_required(attrs, A_NAMESPACE(NSID), extack);
	case POLT_HOST:
		return pol_attrs_required(attrs, A_HOST(SUBSYSTEM), extack) ?:
		       pol_attrs_required(attrs, A_HOST(NQN), extack);
	case POLT_PORT:
		return pol_attrs_required(attrs, A_PORT(ID), extack);
	case POLT_LINK:
		return pol_attrs_required(attrs, A_LINK(PORT), extack) ?:
		       pol_attrs_required(attrs, A_LINK(SUBSYSTEM), extack);
	default:
		return -EOPNOTSUPP;
	}
}

static struct polt_object *polt_find(enum polt_kind kind, struct genl_info *info, int *err)
{
	struct polt_subsystem *subsystem;
	struct polt_port *port;

	switch (kind) {
	case POLT_SUBSYSTEM:
		subsystem = polt_find_subsystem(info->attrs[A_SUBSYSTEM(NQN)], err, info->extack);
		return subsystem ? &subsystem->object : NULL;
	case POLT_NAMESPACE:
		return polt_find_namespace(info, err);
	case POLT_HOST:
		return polt_find_host(info, err);
	case POLT_PORT:
		port = polt_find_port(info->attrs[A_PORT(ID)], err, info->extack);
		return port ? &port->object : NULL;
	case POLT_LINK:
		return polt_find_link(info, err);
	default:
		return NULL;
	}
}

/**
 * polt_netlink_get - answer a request for one object
 * @skb: the request
 * @info: its attributes, of which those that name the object have to be there
 *
 * Context: a generic netlink request, in parallel to others; takes polt_config_lock.
 * Return: 0; -EINVAL when an attribute is missing or malformed; -ENOENT when there is no such
 * object; -ENOMEM, ...
 */
int polt_netlink_get(struct sk_buff *skb, struct genl_info *info)
{
	enum polt_kind kind = polt_kind_of(info->genlhdr->cmd);
	struct polt_object *object;
	struct sk_buff *reply;
	int err;

	err = polt_key_missing(kind, info);
	if (err)
		return err;
	reply = genlmsg_new(POLT_MESSAGE_MAX, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	mutex_lock(&polt_config_lock);
	object = polt_find(kind, info, &err);
	if (object)
		err = polt_show(reply, info->snd_portid, info->snd_seq, 0, info->genlhdr->cmd,
				object);
	mutex_unlock(&polt_config_lock);
	if (err) {
		nlmsg_free(reply);
		return err;
	}
	return genlmsg_reply(reply, info);
}

/* Dumps */

/**
 * struct polt_dump - how far a dump is
 * @parent: id of the subsystem or port whose objects are asked for, 0 for all
 * @last: id of the last object shown
 * @kind: what is shown
 */
struct polt_dump {
	u64 parent;
	u64 last;
	enum polt_kind kind;
};

static struct polt_dump *polt_dump_of(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct polt_dump) > sizeof(cb->ctx));
	return (struct polt_dump *)cb->ctx;
}

/**
 * polt_netlink_dump_start - begin a dump of all objects of a kind, or of those of one parent
 * @cb: the dump; what of the key does not pick a parent is refused
 *
 * Context: a generic netlink request; takes polt_config_lock.
 * Return: 0; -EINVAL when the list cannot be picked by an attribute, or it is malformed; -ENOENT
 * when there is no such parent.
 */
int polt_netlink_dump_start(struct netlink_callback *cb)
{
	const struct genlmsghdr *header = nlmsg_data(cb->nlh);
	struct nlattr **attrs = pol_compat_dump_attrs(cb);
	enum polt_kind kind = polt_kind_of(header->cmd);
	struct polt_dump *dump = polt_dump_of(cb);
	int filter = polt_shown[kind].filter, attr, err = 0;
	struct polt_subsystem *subsystem;
	struct polt_port *port;

	/* The policy is that of the get, which takes the whole key. */
	for (attr = 1; attr <= polt_shown[kind].last_key; attr++) {
		if (!attrs[attr] || attr == filter)
			continue;
		NL_SET_ERR_MSG_ATTR(cb->extack, attrs[attr], "the list cannot be picked by this");
		return -EINVAL;
	}
	dump->kind = kind;
	cb->min_dump_alloc = POLT_MESSAGE_MAX;
	if (!filter || !attrs[filter])
		return 0;

	mutex_lock(&polt_config_lock);
	if (kind == POLT_LINK) {
		port = polt_find_port(attrs[filter], &err, cb->extack);
		dump->parent = port ? port->object.id : 0;
	} else {
		subsystem = polt_find_subsystem(attrs[filter], &err, cb->extack);
		dump->parent = subsystem ? subsystem->object.id : 0;
	}
	mutex_unlock(&polt_config_lock);
	return err;
}

static u64 polt_parent_id(const struct polt_object *object)
{
	switch (object->kind) {
	case POLT_NAMESPACE:
		return to_namespace(object)->subsystem->object.id;
	case POLT_HOST:
		return to_host(object)->subsystem->object.id;
	case POLT_LINK:
		return to_link(object)->port->object.id;
	default:
		return 0;
	}
}

/**
 * polt_netlink_dump - write the next message of a dump
 * @skb: the message
 * @cb: the dump, as polt_netlink_dump_start() has begun it
 *
 * Context: a generic netlink request; takes polt_config_lock.
 * Return: bytes written, 0 at the end; -EMSGSIZE when not one object fits.
 */
int polt_netlink_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct polt_dump *dump = polt_dump_of(cb);
	struct polt_object *object;
	int err = 0;

	mutex_lock(&polt_config_lock);
	list_for_each_entry(object, &polt_objects[dump->kind], all) {
		if (object->id <= dump->last ||
		    (dump->parent && polt_parent_id(object) != dump->parent))
			continue;
		err = polt_show(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, NLM_F_MULTI,
				polt_shown[dump->kind].get, object);
		if (err)
			break;
		dump->last = object->id;
	}
	mutex_unlock(&polt_config_lock);
	return skb->len ?: err;
}
