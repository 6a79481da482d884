/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the administrator configures: subsystems, their namespaces and allowed hosts, and ports.
 *
 * One mutex (polt_config_lock) for changes, RCU to find, references to use:
 *  - a subsystem is kept by kref (controllers and links hold one);
 *  - a namespace is used by I/O under its percpu_ref (polt_namespace_get/put), which is what its
 *    removal waits for - in a worker, never in a netlink request;
 *  - a port is kept by kref; its listener is started and stopped outside the mutex.
 */
#ifndef POLT_CONFIG_H
#define POLT_CONFIG_H

#include <linux/completion.h>
#include <linux/idr.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu-refcount.h>
#include <linux/rcupdate.h>
#include <linux/socket.h>
#include <linux/uuid.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <linux/nvme.h>

#include "target/backend.h"

#define POLT_NQN_MAX		223		/* characters, without the NUL */
#define POLT_NQN_SIZE		(POLT_NQN_MAX + 1)
#define POLT_NSID_MAX		1024U
#define POLT_SERIAL_SIZE	20
#define POLT_MODEL_SIZE		40
#define POLT_MDTS_BYTES		SZ_1M		/* longest data transfer of a command */
#define POLT_IO_QUEUES_MAX	128
#define POLT_ADMIN_DEPTH_MAX	32
#define POLT_DEPTH_MAX		256		/* I/O queue entries, limit of port's max-queue-depth */
#define POLT_DEPTH_DEFAULT	128
#define POLT_INLINE_DEFAULT	SZ_4K
#define POLT_INLINE_MAX		SZ_16K

struct polt_listener;

struct polt_subsystem {
	struct kref ref;
	struct rcu_head rcu;
	struct list_head entry;		/* polt_subsystems; RCU */
	char nqn[POLT_NQN_SIZE];
	bool discovery;			/* the well-known discovery subsystem */
	bool allow_any_host;
	bool dead;			/* deleted: no new controller */
	char serial[POLT_SERIAL_SIZE + 1];
	char model[POLT_MODEL_SIZE + 1];
	u16 cntlid_min;
	u16 cntlid_max;
	struct xarray namespaces;	/* nsid -> polt_namespace; RCU to read, config lock to change */
	struct list_head hosts;		/* polt_host_entry; RCU */
	struct list_head links;		/* polt_port_link.subsystem_entry; config lock */

	/* controllers: ctrl.c */
	struct mutex ctrl_lock;
	struct list_head ctrls;		/* polt_ctrl.entry, live and dying */
	struct ida cntlids;
};

struct polt_host_entry {
	struct list_head entry;
	struct rcu_head rcu;
	char nqn[POLT_NQN_SIZE];
};

struct polt_namespace {
	struct polt_subsystem *subsystem;
	u32 nsid;
	struct percpu_ref ref;
	struct completion drained;	/* ref is zero */
	struct rcu_head rcu;
	struct work_struct release;	/* waits, closes the back end, tells netlink */
	struct polt_backend *backend;
	uuid_t uuid;
	u8 nguid[16];
	char *path;			/* as the administrator gave it, NULL for RAM */
};

enum polt_port_state {
	POLT_PORT_DOWN,			/* no listener: no address, device gone, ... retried */
	POLT_PORT_LISTENING,
	POLT_PORT_STOPPING,
};

struct polt_port {
	struct kref ref;
	struct list_head entry;		/* polt_ports; config lock */
	struct rcu_head rcu;
	u16 id;
	struct sockaddr_storage addr;
	char traddr[NVMF_TRADDR_SIZE];
	char trsvcid[NVMF_TRSVCID_SIZE];
	u8 adrfam;			/* NVMF_ADDR_FAMILY_IP4 or _IP6 */
	u32 inline_data_size;		/* bytes of in-capsule data taken, 0 to POLT_INLINE_MAX */
	u16 max_queue_depth;
	enum polt_port_state state;
	int error;			/* why it is DOWN, 0 or -errno */
	struct list_head links;		/* polt_port_link.port_entry; RCU */
	struct polt_listener *listener;	/* listener.c */
};

struct polt_port_link {
	struct polt_port *port;
	struct polt_subsystem *subsystem;
	struct list_head port_entry;
	struct list_head subsystem_entry;
	struct rcu_head rcu;
};

extern struct mutex polt_config_lock;
extern struct list_head polt_subsystems;
extern struct list_head polt_ports;
extern struct polt_subsystem *polt_discovery_subsystem;

/* Finding: take RCU themselves, return with a reference; NULL when there is none (or it is dead). */
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

/* Discovery generation counter: changes with every change a discovery log page could show. */
u64 polt_config_generation(void);

int polt_config_init(void);
void polt_config_exit(void);

#endif
