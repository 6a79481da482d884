/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Changes of the configuration, and transactions that hold them until they take effect together.
 *
 * A change goes through
 *	prepare	whatever may sleep, wait or fail for want of memory, without the mutex: it makes the
 *		object, opens the device;
 *	check	under the mutex, against the state as it will be once the changes before it in the
 *		transaction have taken effect. Looks only; done when the change is requested and
 *		again at the commit, for every change before the first one is applied;
 *	apply	under the mutex; links the object in, cannot fail;
 *	discard	without the mutex, frees what was prepared and not applied.
 * A change outside of a transaction is a transaction of its own and takes the same way.
 */
#ifndef POLT_TXN_H
#define POLT_TXN_H

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/netlink.h>
#include <linux/workqueue.h>

#include "target/config.h"
#include "target/netlink_parse.h"

/**
 * enum polt_verb - what a change does to an object
 * @POLT_NEW: makes it
 * @POLT_SET: changes it
 * @POLT_DEL: deletes it
 */
enum polt_verb {
	POLT_NEW,
	POLT_SET,
	POLT_DEL,
};

struct polt_txn;
struct polt_change;

/**
 * struct polt_change_ops - one kind of change
 * @kind: of object that it is about
 * @verb: what it does
 * @prepare: optional; process context, may sleep, without polt_config_lock: get what applying needs
 * @check: under polt_config_lock; may it be applied after those before it? Changes nothing but what
 *	it has found, in the change
 * @apply: under polt_config_lock; cannot fail
 *
 * Reasons of a refusal go to extack.
 */
struct polt_change_ops {
	enum polt_kind kind;
	enum polt_verb verb;
	int (*prepare)(struct polt_change *change, struct netlink_ext_ack *extack);
	int (*check)(struct polt_txn *txn, struct polt_change *change,
		     struct netlink_ext_ack *extack);
	void (*apply)(struct polt_change *change);
};

/**
 * struct polt_key - what an object is called
 * @kind: kind of the object
 * @parent: id of the object it belongs to, 0 for none
 * @number: its number, or the id of the other object it links
 * @name: its name, may be NULL
 */
struct polt_key {
	enum polt_kind kind;
	u64 parent;
	u64 number;
	const char *name;
};

/**
 * struct polt_change - one requested change
 * @entry: link in the transaction, in order
 * @node: link in the transaction's index, newest first
 * @ops: what to do
 * @key: the object it makes or deletes, as check has found
 * @accepted: was checked once, and has to see the same when it is checked again
 * @seen_subsystem: id of the subsystem it is about or on, as seen then
 * @seen_port: id of the port
 * @seen_version: version of the object to be set or deleted
 * @attrs: attributes of the request for error messages, NULL later
 * @asked: what the request says; @asked.nsid of a new namespace is chosen if it was 0
 * @params: back end to open; @params.device is the namespace's path
 * @made: POLT_NEW: the object, ours until it is applied
 * @on_subsystem: the subsystem that check has found, like what follows good as long as the mutex is
 *	held
 * @on_port: the port
 * @object: the object itself
 */
struct polt_change {
	struct list_head entry;
	struct hlist_node node;
	const struct polt_change_ops *ops;
	struct polt_key key;
	bool accepted;
	u64 seen_subsystem;
	u64 seen_port;
	u64 seen_version;
	struct nlattr **attrs;

	struct polt_request asked;
	struct polt_backend_params params;
	struct polt_object *made;

	struct polt_subsystem *on_subsystem;
	struct polt_port *on_port;
	struct polt_object *object;
};

/**
 * struct polt_txn - changes that take effect together
 * @entry: link in the list of open transactions
 * @work: frees it
 * @id: never used twice
 * @portid: netlink address of the socket that owns it
 * @nr: number of changes
 * @changes: the changes in order
 * @index: changes that make or delete an object, by its key
 */
struct polt_txn {
	struct list_head entry;
	struct work_struct work;
	u32 id;
	u32 portid;
	unsigned int nr;
	struct list_head changes;
	DECLARE_HASHTABLE(index, 7);
};

/* change.c: what a mutator of netlink.c is about */
extern const struct polt_change_ops polt_subsystem_new_ops;
extern const struct polt_change_ops polt_subsystem_set_ops;
extern const struct polt_change_ops polt_subsystem_del_ops;
extern const struct polt_change_ops polt_namespace_new_ops;
extern const struct polt_change_ops polt_namespace_set_ops;
extern const struct polt_change_ops polt_namespace_del_ops;
extern const struct polt_change_ops polt_host_new_ops;
extern const struct polt_change_ops polt_host_del_ops;
extern const struct polt_change_ops polt_port_new_ops;
extern const struct polt_change_ops polt_port_set_ops;
extern const struct polt_change_ops polt_port_del_ops;
extern const struct polt_change_ops polt_link_new_ops;
extern const struct polt_change_ops polt_link_del_ops;

/* change.c: finding what is in effect, with polt_config_lock held */
struct polt_subsystem *polt_subsystem_lookup(const char *nqn);
struct polt_namespace *polt_namespace_lookup(struct polt_subsystem *subsystem, u32 nsid);
struct polt_host *polt_host_lookup(struct polt_subsystem *subsystem, const char *nqn);
struct polt_port *polt_port_lookup(u16 id);
struct polt_port_link *polt_link_lookup(struct polt_port *port, struct polt_subsystem *subsystem);

/* change.c: used for objects that are being made, too */
void polt_subsystem_identify(struct polt_subsystem *subsystem, const struct polt_request *asked);

struct polt_change *polt_change_alloc(const struct polt_change_ops *ops);
void polt_change_free(struct polt_change *change);

struct polt_change *polt_txn_find(struct polt_txn *txn, const struct polt_key *key);
int polt_txn_begin(u32 portid, u32 *id, struct netlink_ext_ack *extack);
int polt_txn_commit(u32 portid, struct netlink_ext_ack *extack);
int polt_txn_abort(u32 portid, struct netlink_ext_ack *extack);
int polt_txn_submit(u32 portid, struct polt_change *change, u32 *nsid,
		    struct netlink_ext_ack *extack);

int polt_txns_init(void);
void polt_txns_exit(void);

#endif
