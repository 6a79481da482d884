// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transactions: a message cannot hold a whole target, so changes are collected on a socket and take
 * effect together, or not at all.
 *
 * A transaction belongs to the socket that began it, known by its netlink address, and ends with
 * the commit, the abort, or the socket. The list of open transactions and everything in them is
 * under polt_config_lock. What a transaction that ends without effect has prepared (open devices)
 * is given back in a worker: closing a socket does not wait for a disk.
 */
#include <linux/jhash.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "target/txn.h"

#define POLT_TXNS_MAX		16	/* open at a time */
#define POLT_TXN_CHANGES_MAX	4096	/* in one transaction */

static LIST_HEAD(polt_txns);		/* polt_txn.entry */
static unsigned int polt_nr_txns;
static u32 polt_txn_ids;

/**
 * polt_change_alloc - begin a change
 * @ops: what it is to do
 *
 * Context: process context, sleeps.
 * Return: the change, to be given to polt_txn_submit() or polt_change_free(); NULL without memory.
 */
struct polt_change *polt_change_alloc(const struct polt_change_ops *ops)
{
	struct polt_change *change = kzalloc(sizeof(*change), GFP_KERNEL);

	if (change)
		change->ops = ops;
	return change;
}

/**
 * polt_change_free - free a change, and what it has prepared that was not applied
 * @change: the change, of no transaction any more
 *
 * Context: process context, may sleep (closes a namespace's back end); without polt_config_lock.
 */
void polt_change_free(struct polt_change *change)
{
	polt_object_free(change->made);
	kfree(change);
}

static void polt_txn_free(struct polt_txn *txn)
{
	struct polt_change *change, *next;

	list_for_each_entry_safe(change, next, &txn->changes, entry)
		polt_change_free(change);
	kfree(txn);
}

static void polt_txn_free_work(struct work_struct *work)
{
	polt_txn_free(container_of(work, struct polt_txn, work));
}

static struct polt_txn *polt_txn_alloc(u32 portid)
{
	struct polt_txn *txn = kzalloc(sizeof(*txn), GFP_KERNEL);

	if (!txn)
		return NULL;
	txn->portid = portid;
	INIT_LIST_HEAD(&txn->changes);
	INIT_WORK(&txn->work, polt_txn_free_work);
	hash_init(txn->index);
	return txn;
}

static u32 polt_key_hash(const struct polt_key *key)
{
	u32 hash = jhash_3words(key->kind, (u32)key->parent, (u32)key->number, 0);

	return key->name ? jhash(key->name, strlen(key->name), hash) : hash;
}

static bool polt_key_equal(const struct polt_key *a, const struct polt_key *b)
{
	return a->kind == b->kind && a->parent == b->parent && a->number == b->number &&
	       !strcmp(a->name ?: "", b->name ?: "");
}

/**
 * polt_txn_find - what a transaction does to an object
 * @txn: the transaction
 * @key: the object's key
 *
 * Context: process context, under polt_config_lock.
 * Return: the last change, of those checked so far, that makes or deletes the object; NULL if there
 * is none.
 */
struct polt_change *polt_txn_find(struct polt_txn *txn, const struct polt_key *key)
{
	struct polt_change *change;

	/* The newest change is the first of its bucket. */
	hash_for_each_possible(txn->index, change, node, polt_key_hash(key))
		if (polt_key_equal(&change->key, key))
			return change;
	return NULL;
}

static int polt_txn_check(struct polt_txn *txn, struct polt_change *change,
			  struct netlink_ext_ack *extack)
{
	int err = change->ops->check(txn, change, extack);

	if (err)
		return err;
	if (change->ops->verb != POLT_SET)
		hash_add(txn->index, &change->node, polt_key_hash(&change->key));
	return 0;
}

/* All or nothing: whatever can go wrong goes wrong in the first loop, which changes nothing. */
static int polt_txn_apply(struct polt_txn *txn, struct netlink_ext_ack *extack)
{
	struct polt_change *change;
	int err;

	lockdep_assert_held(&polt_config_lock);
	hash_init(txn->index);
	list_for_each_entry(change, &txn->changes, entry) {
		err = polt_txn_check(txn, change, extack);
		if (err)
			/* It was right once: somebody else's change has come in between. */
			return change->accepted && err != -ENOMEM ? -EBUSY : err;
	}
	list_for_each_entry(change, &txn->changes, entry)
		change->ops->apply(change);
	return 0;
}

static struct polt_txn *polt_txn_of(u32 portid)
{
	struct polt_txn *txn;

	lockdep_assert_held(&polt_config_lock);
	list_for_each_entry(txn, &polt_txns, entry)
		if (txn->portid == portid)
			return txn;
	return NULL;
}

static void polt_txn_close(struct polt_txn *txn)
{
	lockdep_assert_held(&polt_config_lock);
	list_del(&txn->entry);
	WRITE_ONCE(polt_nr_txns, polt_nr_txns - 1);
}

/**
 * polt_txn_begin - open a transaction
 * @portid: the socket's netlink address
 * @id: the transaction's number
 * @extack: why not
 *
 * Context: process context.
 * Return: 0; -EALREADY when the socket has one open; -EMFILE when too many are open; -ENOMEM.
 */
int polt_txn_begin(u32 portid, u32 *id, struct netlink_ext_ack *extack)
{
	struct polt_txn *txn = polt_txn_alloc(portid);
	int err = 0;

	if (!txn)
		return -ENOMEM;
	mutex_lock(&polt_config_lock);
	if (polt_txn_of(portid)) {
		NL_SET_ERR_MSG(extack, "a transaction is open on this socket already");
		err = -EALREADY;
	} else if (polt_nr_txns >= POLT_TXNS_MAX) {
		NL_SET_ERR_MSG(extack, "too many transactions are open");
		err = -EMFILE;
	} else {
		txn->id = ++polt_txn_ids;
		*id = txn->id;
		list_add_tail(&txn->entry, &polt_txns);
		WRITE_ONCE(polt_nr_txns, polt_nr_txns + 1);
	}
	mutex_unlock(&polt_config_lock);
	if (err)
		polt_txn_free(txn);
	return err;
}

static int polt_txn_end(u32 portid, bool apply, struct netlink_ext_ack *extack)
{
	struct polt_txn *txn;
	int err = 0;

	mutex_lock(&polt_config_lock);
	txn = polt_txn_of(portid);
	if (!txn) {
		NL_SET_ERR_MSG(extack, "no transaction is open on this socket");
		err = -ENOENT;
		goto unlock;
	}
	if (apply)
		err = polt_txn_apply(txn, extack);
	polt_txn_close(txn);
	queue_work(polt_config_wq, &txn->work);
unlock:
	mutex_unlock(&polt_config_lock);
	return err;
}

/**
 * polt_txn_commit - make all changes of a socket's transaction take effect, or none, and end it
 * @portid: the socket's netlink address
 * @extack: why not
 *
 * Context: process context.
 * Return: 0; -ENOENT when no transaction is open; -EBUSY when somebody else's changes stand in the
 * way; -ENOMEM.
 */
int polt_txn_commit(u32 portid, struct netlink_ext_ack *extack)
{
	return polt_txn_end(portid, true, extack);
}

/**
 * polt_txn_abort - drop a socket's transaction
 * @portid: the socket's netlink address
 * @extack: why not
 *
 * Context: process context.
 * Return: 0; -ENOENT when no transaction is open.
 */
int polt_txn_abort(u32 portid, struct netlink_ext_ack *extack)
{
	return polt_txn_end(portid, false, extack);
}

static int polt_txn_join(struct polt_txn *txn, struct polt_change *change,
			 struct netlink_ext_ack *extack)
{
	int err;

	if (txn->nr >= POLT_TXN_CHANGES_MAX) {
		NL_SET_ERR_MSG(extack, "too many changes in one transaction");
		return -E2BIG;
	}
	err = polt_txn_check(txn, change, extack);
	if (err)
		return err;
	change->accepted = true;
	change->attrs = NULL;
	list_add_tail(&change->entry, &txn->changes);
	txn->nr++;
	return 0;
}

/**
 * polt_txn_submit - check and prepare a change, and let it take effect now or with the commit
 * @portid: netlink address of the socket that asks for it
 * @change: the change; not the caller's any more, however this ends
 * @nsid: namespace ID that the change has found for a new namespace
 * @extack: why not
 *
 * Context: process context, may sleep (opens devices) but not for I/O.
 * Return: 0 or -errno.
 */
int polt_txn_submit(u32 portid, struct polt_change *change, u32 *nsid,
		    struct netlink_ext_ack *extack)
{
	struct polt_txn *alone = polt_txn_alloc(portid), *txn;
	bool kept = false;
	int err = -ENOMEM;
	u32 id;

	if (!alone)
		goto free;

	/* First without opening anything, for the sake of a fitting error message. */
	mutex_lock(&polt_config_lock);
	txn = polt_txn_of(portid);
	id = txn ? txn->id : 0;
	err = change->ops->check(txn ?: alone, change, extack);
	mutex_unlock(&polt_config_lock);
	if (!err && change->ops->prepare)
		err = change->ops->prepare(change, extack);
	if (err)
		goto free;

	mutex_lock(&polt_config_lock);
	txn = polt_txn_of(portid);
	if ((txn ? txn->id : 0) != id) {
		NL_SET_ERR_MSG(extack, "a transaction began or ended during this request");
		err = -ECANCELED;
	} else if (txn) {
		err = polt_txn_join(txn, change, extack);
		kept = !err;
	} else {
		list_add_tail(&change->entry, &alone->changes);
		err = polt_txn_apply(alone, extack);
	}
	*nsid = change->asked.nsid;
	mutex_unlock(&polt_config_lock);
free:
	if (!kept)
		polt_change_free(change);
	kfree(alone);
	return err;
}

/* A socket was closed: its transaction has no effect. */
static int polt_txn_notify(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct netlink_notify *notify = data;
	struct polt_txn *txn;

	if (event != NETLINK_URELEASE || notify->protocol != NETLINK_GENERIC ||
	    !net_eq(notify->net, &init_net) || !READ_ONCE(polt_nr_txns))
		return NOTIFY_DONE;
	mutex_lock(&polt_config_lock);
	txn = polt_txn_of(notify->portid);
	if (txn) {
		polt_txn_close(txn);
		queue_work(polt_config_wq, &txn->work);
	}
	mutex_unlock(&polt_config_lock);
	return NOTIFY_DONE;
}

static struct notifier_block polt_txn_notifier = {
	.notifier_call = polt_txn_notify,
};

/**
 * polt_txns_init - begin to hear of sockets that are closed: their transactions end
 *
 * Context: module init.
 * Return: 0 or -errno.
 */
int polt_txns_init(void)
{
	return netlink_register_notifier(&polt_txn_notifier);
}

/**
 * polt_txns_exit - drop the transactions that are open
 *
 * After polt_netlink_exit(): none can begin any more. What they have prepared is given back in
 * polt_config_wq.
 *
 * Context: process context, sleeps; without polt_config_lock.
 */
void polt_txns_exit(void)
{
	struct polt_txn *txn, *next;

	netlink_unregister_notifier(&polt_txn_notifier);
	mutex_lock(&polt_config_lock);
	list_for_each_entry_safe(txn, next, &polt_txns, entry) {
		polt_txn_close(txn);
		queue_work(polt_config_wq, &txn->work);
	}
	mutex_unlock(&polt_config_lock);
}
