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

struct polt_subsystem {
	struct polt_object object;
	struct kref ref;
	struct rcu_head rcu;
	struct list_head entry;		/* polt_subsystems; RCU */
	char nqn[POLT_NQN_SIZE];
	bool discovery;			/* the well-known discovery subsystem */
	bool allow_any_host;
	bool dead;			/* deleted: no new controller; written under ctrl_lock */
	/* these four change only while there is no controller */
	char serial[POLT_SERIAL_SIZE + 1];
	char model[POLT_MODEL_SIZE + 1];
	u16 cntlid_min;
	u16 cntlid_max;
	struct xarray namespaces;	/* nsid -> polt_namespace hosts may see; RCU to read */
	struct list_head namespace_list; /* polt_namespace.entry, all of them; config lock */
	struct list_head hosts;		/* polt_host; RCU */
	struct list_head links;		/* polt_port_link.subsystem_entry; config lock */
	unsigned int children;		/* namespaces, hosts and links not gone yet; config lock */

	/* controllers: ctrl.c */
	struct mutex ctrl_lock;
	struct list_head ctrls;		/* polt_ctrl.entry, live and dying */
	struct ida cntlids;
};

struct polt_host {
	struct polt_object object;
	struct list_head entry;		/* polt_subsystem.hosts; RCU */
	struct rcu_head rcu;
	struct polt_subsystem *subsystem;	/* reference */
	char nqn[POLT_NQN_SIZE];
};

struct polt_namespace_counters {
	u64 reads;
	u64 writes;
	u64 others;
	u64 bytes_read;
	u64 bytes_written;
	u64 errors;			/* commands that failed, whoever is to blame */
	u64 media_errors;		/* of these, what SMART calls so */
	u64 worker_submits;		/* commands a worker submitted */
	u64 nowait_misses;		/* of these, commands that would have blocked the thread */
};

struct polt_namespace {
	struct polt_object object;
	struct list_head entry;		/* polt_subsystem.namespace_list */
	struct polt_subsystem *subsystem;	/* reference */
	u32 nsid;
	bool enabled;			/* hosts may see it: it is in polt_subsystem.namespaces */
	struct percpu_ref ref;
	struct rcu_head rcu;
	struct work_struct release;	/* closes the back end, tells netlink */
	struct polt_backend *backend;
	struct polt_namespace_counters __percpu *counters;
	uuid_t uuid;
	u8 nguid[16];			/* all zero: none */
	char *path;			/* as the administrator gave it, NULL for RAM */
	bool shared;
	bool opened_read_only;		/* the back end cannot write */
	enum polt_submit_mode submit;	/* as asked for */
};

/* Count something of a namespace. Any context. */
#define polt_namespace_count(namespace, what, n) this_cpu_add((namespace)->counters->what, n)

enum polt_port_state {
	POLT_PORT_STARTING,		/* the worker is setting up the listener */
	POLT_PORT_LISTENING,
	POLT_PORT_FAILED,		/* no address, no device, ...: tried again every second */
	POLT_PORT_DELETING,
};

struct polt_port {
	struct polt_object object;
	struct kref ref;
	struct list_head entry;		/* polt_ports; RCU to read, config lock to change */
	struct rcu_head rcu;
	u16 id;
	struct sockaddr_storage addr;
	char traddr[NVMF_TRADDR_SIZE];
	char trsvcid[NVMF_TRSVCID_SIZE];
	u8 adrfam;			/* NVMF_ADDR_FAMILY_IP4 or _IP6 */
	/* bytes of in-capsule data taken, 0 to POLT_INLINE_MAX; READ_ONCE */
	u32 inline_data_size;
	u16 max_queue_depth;		/* READ_ONCE */
	enum polt_port_state state;	/* port.c changes it; config lock */
	int error;			/* why it is FAILED, 0 or -errno; config lock */
	struct list_head links;		/* polt_port_link.port_entry; RCU */
	struct polt_listener *listener;	/* listener.c */
	struct delayed_work work;	/* starts and stops the listener */
	bool listening;			/* the worker's own */
	bool restart;			/* the listener is of no use any more */
	/* the worker is done with a port being deleted; config lock */
	bool stopped;
	/* listener.c: RDMA device of the address, empty: not known. LISTENING, others look at it */
	char device[IB_DEVICE_NAME_MAX];
	atomic_t queues;		/* queues that came through it and have an RDMA half */
	atomic64_t accepted;		/* connections accepted and rejected: listener.c */
	atomic64_t rejected;
};

struct polt_port_link {
	struct polt_object object;
	struct polt_port *port;		/* reference */
	struct polt_subsystem *subsystem;	/* reference */
	struct list_head port_entry;	/* polt_port.links; RCU */
	struct list_head subsystem_entry;	/* polt_subsystem.links; config lock */
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
