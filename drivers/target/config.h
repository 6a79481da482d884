/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the administrator configures: subsystems, their namespaces and allowed hosts, ports, and
 * links that say which subsystem is offered on which port.
 *
 * One mutex (polt_config_lock) for changes, RCU to find, references to use:
 *  - a subsystem is kept by kref (controllers and links hold one);
 *  - a namespace is used by I/O under its percpu_ref (polt_namespace_get/put), which is what its
 *    removal waits for - in a worker, never in a netlink request;
 *  - a port is kept by kref; its listener is started and stopped outside the mutex.
 *
 * Deleting an object takes it out of what RCU finds and marks it. What uses it is ended by the
 * reaper (polt_config_reap), which also notices when nobody is left, tells netlink and lets go.
 *
 * Order of locks: polt_config_lock, then a subsystem's ctrl_lock. Whoever adds a controller checks
 * `dead`, polt_subsystem_allows() and polt_port_exports() with ctrl_lock held: the reaper takes
 * ctrl_lock after the object is out of the lists, so it finds every controller that got in before.
 */
#ifndef POLT_CONFIG_H
#define POLT_CONFIG_H

#include <linux/atomic.h>
#include <linux/idr.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/percpu-refcount.h>
#include <linux/rcupdate.h>
#include <linux/socket.h>
#include <linux/uuid.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <linux/nvme.h>
#include <rdma/ib_verbs.h>

#include "target/backend.h"
#include "target/limits.h"

struct polt_listener;

/**
 * enum polt_kind - what there is to be configured
 * @POLT_SUBSYSTEM: struct polt_subsystem
 * @POLT_NAMESPACE: struct polt_namespace
 * @POLT_HOST: struct polt_host
 * @POLT_PORT: struct polt_port
 * @POLT_LINK: struct polt_port_link
 * @POLT_KINDS: how many there are
 */
enum polt_kind {
	POLT_SUBSYSTEM,
	POLT_NAMESPACE,
	POLT_HOST,
	POLT_PORT,
	POLT_LINK,
	POLT_KINDS,
};

/**
 * struct polt_object - what all configured objects have in common
 * @all: link in polt_objects[@kind], in order of @id, until the object is gone
 * @kind: what the object is
 * @deleting: not found any more, its users are being ended
 * @ended: the reaper has told its users
 * @id: never used twice, grows; what a dump goes by
 * @version: number of the change that touched the object last; what a transaction goes by
 *
 * Everything under polt_config_lock.
 */
struct polt_object {
	struct list_head all;
	enum polt_kind kind;
	bool deleting;
	bool ended;
	u64 id;
	u64 version;
};

/**
 * struct polt_subsystem - a subsystem
 * @object: as all have; that of the discovery subsystem is in no list
 * @ref: of the configuration, children and controllers
 * @rcu: to free it
 * @entry: link in polt_subsystems; RCU
 * @nqn: its NQN, fixed
 * @discovery: the well-known discovery subsystem
 * @allow_any_host: every host may connect; READ_ONCE
 * @dead: deleted: no new controller; written under @ctrl_lock
 * @serial: NUL-terminated
 * @model: NUL-terminated
 * @cntlid_min: lowest controller ID to be given
 * @cntlid_max: highest, at most POLT_CNTLID_MAX
 * @namespaces: nsid -> polt_namespace hosts may see; RCU to read
 * @namespace_list: polt_namespace.entry, all of them; config lock
 * @hosts: polt_host.entry, those allowed; RCU
 * @links: polt_port_link.subsystem_entry; config lock
 * @children: namespaces, hosts and links not gone yet; config lock
 * @ctrl_lock: guards what follows, see ctrl.c
 * @ctrls: polt_ctrl.entry, live and dying
 * @cntlids: controller IDs in use
 *
 * @serial to @cntlid_max change only while there is no controller.
 */
struct polt_subsystem {
	struct polt_object object;
	struct kref ref;
	struct rcu_head rcu;
	struct list_head entry;
	char nqn[POLT_NQN_SIZE];
	bool discovery;
	bool allow_any_host;
	bool dead;
	char serial[POLT_SERIAL_SIZE + 1];
	char model[POLT_MODEL_SIZE + 1];
	u16 cntlid_min;
	u16 cntlid_max;
	struct xarray namespaces;
	struct list_head namespace_list;
	struct list_head hosts;
	struct list_head links;
	unsigned int children;

	/* controllers: ctrl.c */
	struct mutex ctrl_lock;
	struct list_head ctrls;
	struct ida cntlids;
};

/**
 * struct polt_host - a host that may use a subsystem
 * @object: as all have
 * @entry: link in polt_subsystem.hosts; RCU
 * @rcu: to free it
 * @subsystem: whose list it is on; reference
 * @nqn: its NQN, fixed
 */
struct polt_host {
	struct polt_object object;
	struct list_head entry;
	struct rcu_head rcu;
	struct polt_subsystem *subsystem;
	char nqn[POLT_NQN_SIZE];
};

/**
 * struct polt_namespace_counters - commands that were given to a namespace
 * @reads: Read commands
 * @writes: Write commands
 * @others: all others
 * @bytes_read: data of @reads
 * @bytes_written: data of @writes
 * @errors: commands that failed, whoever is to blame
 * @media_errors: of these, what SMART calls so
 * @worker_submits: commands a worker submitted
 * @nowait_misses: of these, commands that would have blocked the thread
 */
struct polt_namespace_counters {
	u64 reads;
	u64 writes;
	u64 others;
	u64 bytes_read;
	u64 bytes_written;
	u64 errors;
	u64 media_errors;
	u64 worker_submits;
	u64 nowait_misses;
};

/**
 * struct polt_namespace - a namespace of a subsystem
 * @object: as all have
 * @entry: link in polt_subsystem.namespace_list
 * @subsystem: whose it is; reference
 * @nsid: its namespace ID, 1 to POLT_NSID_MAX
 * @enabled: hosts may see it: it is in polt_subsystem.namespaces
 * @ref: taken by every command; killed by deleting
 * @rcu: to free it
 * @release: closes the back end, tells netlink
 * @backend: its storage; NULL before it is open and once it is closed
 * @counters: what hosts have done with it
 * @uuid: its UUID
 * @nguid: its NGUID; all zero: none
 * @path: as the administrator gave it, NULL for RAM
 * @shared: its device was not claimed exclusively
 * @opened_read_only: the back end cannot write
 * @submit: as asked for
 */
struct polt_namespace {
	struct polt_object object;
	struct list_head entry;
	struct polt_subsystem *subsystem;
	u32 nsid;
	bool enabled;
	struct percpu_ref ref;
	struct rcu_head rcu;
	struct work_struct release;
	struct polt_backend *backend;
	struct polt_namespace_counters __percpu *counters;
	uuid_t uuid;
	u8 nguid[16];
	char *path;
	bool shared;
	bool opened_read_only;
	enum polt_submit_mode submit;
};

/* Count something of a namespace. Any context. */
#define polt_namespace_count(namespace, what, n) this_cpu_add((namespace)->counters->what, n)

/**
 * enum polt_port_state - how it goes with a port's listener
 * @POLT_PORT_STARTING: the worker is setting up the listener
 * @POLT_PORT_LISTENING: hosts can connect
 * @POLT_PORT_FAILED: no address, no device, ...: tried again every second
 * @POLT_PORT_DELETING: the port is being deleted
 */
enum polt_port_state {
	POLT_PORT_STARTING,
	POLT_PORT_LISTENING,
	POLT_PORT_FAILED,
	POLT_PORT_DELETING,
};

/**
 * struct polt_port - an address that hosts connect to
 * @object: as all have
 * @ref: of the configuration, links, queues, controllers and a work that is queued
 * @entry: link in polt_ports; RCU to read, config lock to change
 * @rcu: to free it
 * @id: the administrator's number for it
 * @addr: where to listen
 * @traddr: the same as text, as the administrator gave it
 * @trsvcid: its number as text
 * @adrfam: NVMF_ADDR_FAMILY_IP4 or _IP6
 * @inline_data_size: bytes of in-capsule data taken, 0 to POLT_INLINE_MAX; READ_ONCE
 * @max_queue_depth: entries of I/O queues, at most POLT_DEPTH_MAX; READ_ONCE
 * @state: port.c changes it; config lock
 * @error: why it is FAILED, 0 or -errno; config lock
 * @links: polt_port_link.port_entry; RCU
 * @listener: listener.c's
 * @work: starts and stops the listener
 * @listening: the worker's own
 * @restart: the listener is of no use any more
 * @stopped: the worker is done with a port being deleted; config lock
 * @device: listener.c's: RDMA device of the address, empty: not known; others may look at it
 *	while the port is LISTENING
 * @queues: queues that came through it and have an RDMA half
 * @accepted: connections accepted: listener.c
 * @rejected: connections rejected: listener.c
 */
struct polt_port {
	struct polt_object object;
	struct kref ref;
	struct list_head entry;
	struct rcu_head rcu;
	u16 id;
	struct sockaddr_storage addr;
	char traddr[NVMF_TRADDR_SIZE];
	char trsvcid[NVMF_TRSVCID_SIZE];
	u8 adrfam;
	u32 inline_data_size;
	u16 max_queue_depth;
	enum polt_port_state state;
	int error;
	struct list_head links;
	struct polt_listener *listener;
	struct delayed_work work;
	bool listening;
	bool restart;
	bool stopped;
	char device[IB_DEVICE_NAME_MAX];
	atomic_t queues;
	atomic64_t accepted;
	atomic64_t rejected;
};

/**
 * struct polt_port_link - a subsystem is offered on a port
 * @object: as all have
 * @port: reference
 * @subsystem: reference
 * @port_entry: link in polt_port.links; RCU
 * @subsystem_entry: link in polt_subsystem.links; config lock
 * @rcu: to free it
 */
struct polt_port_link {
	struct polt_object object;
	struct polt_port *port;
	struct polt_subsystem *subsystem;
	struct list_head port_entry;
	struct list_head subsystem_entry;
	struct rcu_head rcu;
};

extern struct mutex polt_config_lock;
extern struct workqueue_struct *polt_config_wq;	/* unbound; works that may sleep long */
extern struct list_head polt_subsystems;
extern struct list_head polt_ports;
extern struct list_head polt_objects[POLT_KINDS];
extern struct polt_subsystem *polt_discovery_subsystem;

/*
 * Finding: take RCU themselves, return with a reference; NULL when there is none (or it is dead).
 */
struct polt_subsystem *polt_subsystem_find(const char *nqn);
struct polt_subsystem *polt_subsystem_get(struct polt_subsystem *subsystem);
void polt_subsystem_put(struct polt_subsystem *subsystem);
bool polt_subsystem_allows(struct polt_subsystem *subsystem, const char *hostnqn);
bool polt_port_exports(struct polt_port *port, struct polt_subsystem *subsystem);
struct polt_port *polt_port_get(struct polt_port *port);
void polt_port_put(struct polt_port *port);

/* I/O path: RCU inside, takes the percpu reference; NULL when there is no such live namespace. */
struct polt_namespace *polt_namespace_get(struct polt_subsystem *subsystem, u32 nsid);

/* Give the reference back. Any context. */
static inline void polt_namespace_put(struct polt_namespace *namespace)
{
	percpu_ref_put(&namespace->ref);
}

/* Discovery generation counter. */
u64 polt_config_generation(void);
void polt_config_discovery_changed(void);

/* Something has ended that objects being deleted may wait for. */
void polt_config_reap(void);

/* Making: process context, no lock. What was never added is freed by polt_object_free(). */
struct polt_subsystem *polt_subsystem_alloc(const char *nqn);
struct polt_namespace *polt_namespace_alloc(void);
struct polt_host *polt_host_alloc(const char *nqn);
struct polt_port *polt_port_alloc(u16 id);
struct polt_port_link *polt_link_alloc(void);
void polt_object_init(struct polt_object *object, enum polt_kind kind);
void polt_object_free(struct polt_object *object);

/* With polt_config_lock held. These cannot fail, since polt_namespace_reserve() has made room. */
void polt_object_add(struct polt_object *object);
void polt_object_changed(struct polt_object *object);
void polt_subsystem_add(struct polt_subsystem *subsystem);
void polt_subsystem_delete(struct polt_subsystem *subsystem);
void polt_namespace_add(struct polt_namespace *namespace, struct polt_subsystem *subsystem,
			u32 nsid);
void polt_namespace_delete(struct polt_namespace *namespace);
int polt_namespace_reserve(struct polt_subsystem *subsystem, u32 nsid);
void polt_namespace_show(struct polt_namespace *namespace);
void polt_namespace_hide(struct polt_namespace *namespace);
void polt_host_add(struct polt_host *host, struct polt_subsystem *subsystem);
void polt_host_delete(struct polt_host *host);
void polt_link_add(struct polt_port_link *link, struct polt_port *port,
		   struct polt_subsystem *subsystem);
void polt_link_delete(struct polt_port_link *link);

/* port.c; polt_port_kept() is config.c's part of polt_port_alloc() */
void polt_port_kept(struct polt_port *port);
int polt_port_set_address(struct polt_port *port, const char *traddr, u16 trsvcid);
bool polt_port_same_address(const struct polt_port *a, const struct polt_port *b);
void polt_port_add(struct polt_port *port);
void polt_port_delete(struct polt_port *port);
bool polt_port_drained(struct polt_port *port);
void polt_ports_retry_locked(void);

/* port.c, for listener.c and queue.c */
void polt_port_queue_added(struct polt_port *port);
void polt_port_queue_gone(struct polt_port *port);
void polt_port_restart(struct polt_port *port);
void polt_ports_retry(void);

int polt_config_init(void);
void polt_config_exit(void);

#endif
